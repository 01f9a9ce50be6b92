// SPDX-License-Identifier: BSD-2-Clause
//
// What surrounds an engine that has no server: slices of work, images of its memory, going to any moment of a run. The same
// rules as src/web/engine_process.c and frame_source.c, without processes. It has no timer: the worker calls turn().
import { EngineEnded, EngineModule, type Fault } from './engine_module.ts';
import { Images, putPages, takePages } from './images.ts';

const KIND_JSON = 1, KIND_FABRIC = 2;
const SLICE_MS = 33.3, WORK_MS = 20, WALL_MOST_MS = 100, WATCHED = 65536, PARSED = 2 << 20;
const EVENTS_LEAST = 64, EVENTS_MOST = 200000;

export interface HostOptions {
	module: WebAssembly.Module;
	emit: (frame: Uint8Array<ArrayBuffer>) => void;
	clock: () => number; /* milliseconds */
	/* A what-if takes long: another engine, made of this memory, answers it. */
	whatIf: (pages: Uint32Array[], command: string, id: unknown) => void;
	/* Ends those with this name; how many. */
	cancel?: (job: unknown) => number;
	images?: Images;
}

export class Host {
	readonly images: Images;
	private engine: EngineModule;
	/* Kept here: an image knows only what was to come when it was made. */
	private journal: Fault[] = [];
	private savedEvents = 0;
	private hasRun = false;
	private budget = 20000;
	private sliceAt: number;
	private busy = false;
	private going = false;
	private muted = false;
	private newFabric = false;
	private accepted = false;

	constructor(private readonly o: HostOptions) {
		this.images = o.images ?? new Images();
		this.sliceAt = o.clock();
		this.engine = this.fresh();
		this.json({ hello: { version: '', session: 'static', source: 'engine', live: null, file: null, changes: false, running: true } });
	}

	get memory(): { engine: number; images: number; count: number } {
		return { engine: this.engine.bytes, images: this.images.bytes(), count: this.images.length };
	}
	get events(): number {
		return this.engine.events();
	}

	get now(): bigint {
		return this.engine.now();
	}

	private fresh(): EngineModule {
		const engine = new EngineModule(this.o.module);
		engine.onFrame = (f) => this.frame(f);
		return engine;
	}

	private json(value: unknown): void {
		this.o.emit(jsonFrame(value));
	}

	// ---- frames ----

	private frame(f: Uint8Array<ArrayBuffer>): void {
		this.newFabric ||= f[4] === KIND_FABRIC;
		if (this.muted)
			return;
		if (f[4] === KIND_JSON && f.length <= WATCHED)
			this.watch(JSON.parse(new TextDecoder().decode(f.subarray(8))) as Record<string, unknown>);
		this.o.emit(f);
	}

	private watch(j: Record<string, unknown>): void {
		if ('re' in j)
			this.accepted = !('error' in j);
	}

	/* Faults from this number on are new: later images belong to another course of the run. */
	private newFaults(faults: Fault[], from: number): void {
		this.images.cut(this.engine.now(), from);
		for (let i = from; i < faults.length; i++)
			this.images.cut(faults[i]!.at, i);
		this.journal = faults;
	}

	// ---- images ----

	private save(): void {
		this.savedEvents = this.engine.events();
		this.images.take(this.engine, this.engine.now(), this.savedEvents, this.engine.journal().happened);
	}

	/* Not at the very moment of an event that is still to come: it could be on either side. */
	private saveIfDue(): void {
		if (this.hasRun && this.engine.events() >= this.savedEvents + this.images.interval && this.engine.nextFault() !== this.engine.now())
			this.save();
	}

	private newRun(hasRun: boolean): void {
		this.images.reset();
		this.journal = hasRun ? this.engine.journal().faults : [];
		this.hasRun = hasRun;
		if (hasRun)
			this.save();
	}

	/* The engine becomes what it was at an image, with the journal's rest to come. */
	private wake(at: bigint): void {
		const m = this.images.find(at);
		if (!m)
			return;
		putPages(this.engine, m.pages);
		this.savedEvents = m.events;
		const events = this.journal.slice(m.done);
		this.muted = true;
		this.engine.command(JSON.stringify({ cmd: 'journal', events: events.map((e) => ({ at: String(e.at), text: e.text })) }));
		this.muted = false;
	}

	/* Before the first image there is nothing. From a moment between now and a later image the run just goes on. */
	private goCommand(command: Record<string, unknown>, at: bigint): string {
		const start = this.images.start?.at ?? 0n, now = this.engine.now();
		let to = at;
		if (this.images.length && to < start)
			to = start;
		const m = this.images.find(to);
		if (m && (to < now || m.at > now))
			this.wake(to);
		return JSON.stringify({ ...command, at: String(to) });
	}

	// ---- commands ----

	command(text: string): void {
		this.guard(() => this.run(text), parsed(text)?.['id']);
	}

	private run(text: string): void {
		const a = parsed(text), cmd = a?.['cmd'], at = cmd === 'go' ? time(a!['at']) : null;
		if (cmd === 'whatif') {
			this.o.whatIf(takePages(this.engine, this.images.find(this.engine.now())?.pages ?? []), text, a!['id'] ?? null);
			return;
		}
		if (cmd === 'cancel') {
			this.json({ re: a!['id'] ?? null, ok: true, cancelled: this.o.cancel?.(a!['job']) ?? 0 });
			return;
		}
		const runs = this.engine.runs, faults = cmd === 'event' || cmd === 'journal';
		this.newFabric = this.accepted = false;
		this.engine.command(at === null ? text : this.goCommand(a!, at));
		if (this.engine.runs !== runs)
			this.newRun(true);
		else if (this.newFabric && !faults)
			this.newRun(false);
		else if (faults && this.accepted) {
			const j = this.engine.journal();
			this.newFaults(j.faults, cmd === 'event' ? j.happened - 1 : j.happened);
		}
		this.going = this.engine.going;
		this.busy = true;
	}

	/* An engine that gave up is replaced by a new one; its run is lost. */
	private guard(run: () => void, id: unknown = undefined): void {
		try {
			run();
		} catch (e) {
			if (!(e instanceof EngineEnded))
				throw e;
			this.muted = this.busy = this.going = false;
			this.engine = this.fresh();
			this.newRun(false);
			if (id !== undefined)
				this.json({ re: id, error: `the engine ended: ${e.message}` });
			this.json({ engine: 'ended', why: e.message });
		}
	}

	// ---- work ----

	/* Milliseconds until the next slice is due; Infinity: none. */
	wait(): number {
		if (!this.busy)
			return Infinity;
		return this.going ? 0 : Math.max(0, SLICE_MS - (this.o.clock() - this.sliceAt));
	}

	turn(): void {
		const begin = this.o.clock(), wall = Math.min(begin - this.sliceAt, WALL_MOST_MS);
		this.sliceAt = begin;
		this.guard(() => {
			this.busy = this.engine.work(wall * 1000, this.budget);
			const took = this.o.clock() - begin;
			if (took > WORK_MS)
				this.budget = Math.max(Math.floor(this.budget * WORK_MS / took), EVENTS_LEAST);
			else if (took < WORK_MS / 2)
				this.budget = Math.min(this.budget * 2, EVENTS_MOST);
			this.going = this.engine.going;
			this.saveIfDue();
		});
	}
}

/* In an engine of its own: the answer's frame. */
export function answerWhatIf(module: WebAssembly.Module, pages: Uint32Array[], command: string, id: unknown, progress: (frame: Uint8Array<ArrayBuffer>) => void = () => {}): Uint8Array<ArrayBuffer> {
	const engine = new EngineModule(module);
	let answer: Uint8Array<ArrayBuffer> | null = null;
	engine.onFrame = (f) => {
		if (f[4] !== KIND_JSON)
			return;
		if (isReply(f))
			answer = f;
		else
			progress(f);
	};
	try {
		putPages(engine, pages);
		engine.command(command);
	} catch (e) {
		return jsonFrame({ re: id, error: `the what-if ended without a result: ${(e as Error).message}` });
	}
	return answer ?? jsonFrame({ re: id, error: 'the what-if ended without a result' });
}

/* Other frames of a what-if tell its progress. */
export function isReply(f: Uint8Array): boolean {
	return new TextDecoder().decode(f.subarray(8, 13)) === '{"re"';
}

export function jsonFrame(value: unknown): Uint8Array<ArrayBuffer> {
	const text = new TextEncoder().encode(JSON.stringify(value)), f = new Uint8Array(8 + text.length);
	new DataView(f.buffer).setUint32(0, f.length, true);
	f[4] = KIND_JSON;
	f.set(text, 8);
	return f;
}

/* Only short commands are looked at; a fabric of 60 MB is not read twice. */
function parsed(text: string): Record<string, unknown> | null {
	if (text.length > PARSED) {
		const id = /"id":(\d+)\}$/.exec(text.slice(-40));
		return id ? { id: Number(id[1]) } : null;
	}
	try {
		const j: unknown = JSON.parse(text);
		return j && typeof j === 'object' ? (j as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

/* Picoseconds, as the engine takes them; null: it is the engine that refuses it. */
function time(v: unknown): bigint | null {
	if (typeof v === 'string' && /^\d{1,20}$/.test(v))
		return BigInt(v) < 1n << 64n ? BigInt(v) : null;
	return typeof v === 'number' && Number.isSafeInteger(v) && v >= 0 ? BigInt(v) : null;
}
