// SPDX-License-Identifier: BSD-2-Clause
//
// The state of the page and what changes it: the connection, the fabric, the run, the document, what is chosen. Parts of
// the window listen (on) and ask for changes by methods; they do not talk to each other.
import { CommandError, type Command, type Json, type Link, type LinkState, type Progress } from './wire/engine.ts';
import * as W from './wire/frames.ts';
import { Fabric } from './model/fabric.ts';
import { guidText, ident } from './model/iba.ts';
import { Editor, type Doc, type Edit, emptyDoc } from './model/document.ts';
import { normal, parseNetlist, writeNetlist } from './model/netlist.ts';
import { fabricOfDoc } from './model/doc_fabric.ts';
import { LiveState } from './model/live.ts';
import { Run } from './model/run.ts';
import { parseSchedule } from './model/schedule.ts';

export type Topic = 'link' | 'fabric' | 'state' | 'run' | 'select' | 'hover' | 'overlay' | 'log' | 'series' | 'doc' | 'hello' | 'live' | 'flights' | 'mad' | 'setup' | 'changes';

export interface Hello {
	version: string;
	session: string;
	source: 'engine' | 'live';
	live: string | null;
	file: string | null;
	changes: boolean;
	running?: boolean;
}

/* What is lit in the picture. */
export interface Overlay {
	title: string;
	nodes: Set<number>;
	links: Set<number>;
	/* Colours of these links, 0 to 255, instead of light. */
	heat?: Map<number, number>;
}

export interface Setup {
	traffic: string;
	load: number;
	traps: boolean;
	seed: number;
	log: boolean;
}

export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 200000, 1000000];

/* Messages that are shown of the time before a moment that was gone to. */
const BEFORE = 1000;

export class App {
	fabric: Fabric | null = null;
	name = '';
	/* Of routes, which a manager can use; as the engine of the page says. */
	engines: string[] = [];
	/* words of the generator, if the fabric is still what they made */
	words = '';
	/* netlist that was opened, for links */
	readonly run = new Run();
	readonly editor = new Editor();
	docLoaded = false;
	setup: Setup = { traffic: '', load: 0, traps: true, seed: 1, log: true };
	nodes = new Set<number>();
	link = -1;
	overlay: Overlay | null = null;
	hello: Hello | null = null;
	linkState: LinkState = 'connecting';
	linkWhy = '';
	loads: W.LoadsFrame | null = null;
	readonly live = new LiveState();
	lastState: W.StateFrame | null = null;
	lastFlights: { smps: W.Flights | null; packets: W.Flights | null; from: number; to: number } = { smps: null, packets: null, from: 0, to: 0 };
	chosenSpeed = 200;
	/* The last error that is no answer to a request: why the file of the server could not be opened. */
	refused = '';
	/* Why the engine ended; '': it has not. */
	ended = '';
	/* Links of the fabric as it was opened; cables that a run plugs come after them. */
	baseLinks = 0;
	/* Where nodes stand that a run adds. */
	readonly addedAt = new Map<string, { x: number; y: number }>();
	/* Faults that were taken back, the last one first. */
	private takenBack: { at: bigint; text: string }[] = [];
	report: (text: string, bad: boolean) => void = () => {};
	onProgress: (p: Progress) => void = () => {};
	fit: () => void = () => {};
	private previousNow = 0;
	private fitNext = true;
	pendingAt: Map<string, { x: number; y: number }> | null = null;
	private readonly listeners = new Map<Topic, (() => void)[]>();

	constructor(readonly connection: Link) {
		connection.onFrame = (f) => {
			try {
				this.frame(f);
			} catch (e) {
				this.report(e instanceof Error ? e.message : String(e), true);
			}
		};
		connection.onState = (s, why) => {
			this.linkState = s;
			this.linkWhy = why;
			this.emit('link');
		};
		this.editor.onChange = (e) => void this.docChanged(e);
	}

	on(topics: Topic[], fn: () => void): void {
		for (const t of topics)
			this.listeners.set(t, [...(this.listeners.get(t) ?? []), fn]);
	}
	emit(t: Topic): void {
		for (const fn of this.listeners.get(t) ?? [])
			fn();
	}

	async command(c: Command): Promise<Json> {
		const reply = await this.connection.command(c);
		if (Array.isArray(reply['lanes'])) {
			this.run.setLanes(reply['lanes'] as [number, string, number, number, number][]);
			this.emit('run');
		}
		if (Array.isArray(reply['engines']))
			this.engines = reply['engines'] as string[];
		return reply;
	}

	get isLive(): boolean {
		return this.hello?.source === 'live';
	}

	// ---- frames ----

	private frame(f: Uint8Array): void {
		const kind = W.frameKind(f), fab = this.fabric;
		if (kind === W.KIND.JSON)
			this.jsonFrame(W.decodeJson(f));
		else if (kind === W.KIND.FABRIC)
			this.fabricFrame(W.decodeFabric(f));
		else if (!fab)
			return;
		else if (kind === W.KIND.STATE)
			this.stateFrame(f, fab);
		else if (kind === W.KIND.SMPS || kind === W.KIND.PACKETS) {
			this.lastFlights = { smps: null, packets: null, from: this.previousNow, to: this.run.now };
			this.lastFlights[kind === W.KIND.SMPS ? 'smps' : 'packets'] = W.decodeFlights(f, fab.nlinks);
			this.emit('flights');
		} else if (kind === W.KIND.LOG) {
			this.run.log.add(W.decodeLog(f));
			this.emit('log');
		} else if (kind === W.KIND.SERIES) {
			this.run.series.add(W.decodeSeries(f, this.run.series.names.length), (f[5]! & 1) !== 0);
			this.emit('series');
		} else if (kind === W.KIND.LOADS) {
			this.loads = W.decodeLoads(f, fab.nlinks);
			this.emit('overlay');
		}
	}

	private jsonFrame(j: Json): void {
		if (j['hello']) {
			this.hello = j['hello'] as Hello;
			this.ended = this.hello.running === false ? 'it ended before this page was opened' : '';
			if (this.isLive) {
				this.name = this.hello.live ?? '';
				void this.liveLists();
			}
			this.emit('hello');
		} else if (j['journal']) {
			const e = j['journal'] as { at: string | number; text: string };
			this.addJournal(BigInt(e.at), e.text);
		} else if (j['engine'] === 'ended') {
			this.ended = String(j['why'] ?? 'the engine ended');
			this.run.speed = 0;
			this.arrived?.();
			this.emit('link');
			this.emit('run');
		} else if (j['engine'] === 'started') {
			this.ended = '';
			this.emit('link');
		}
		else if (j['paused']) {
			this.run.speed = 0;
			this.arrived?.();
			this.emit('run');
		} else if (j['progress'])
			this.onProgress(j['progress'] as Progress);
		else if (j['error']) {
			this.refused = String(j['error']);
			this.report(this.refused, true);
		}
		else if (j['status'] || j['changes'] || j['vms'] || j['event'] || j['live'])
			this.liveFrame(j);
	}

	private liveFrame(j: Json): void {
		if (j['live'] === 'lost' && !this.live.lost)
			this.report(`The manager does not answer: ${String(j['why'] ?? '')}`, true);
		const changed = this.live.take(j);
		this.emit('live');
		if (changed)
			this.emit('changes');
	}

	/* What was before this page was opened. */
	private async liveLists(): Promise<void> {
		for (const cmd of ['changes', 'vms'])
			await this.command({ cmd }).then((r) => this.liveFrame({ [cmd]: r[cmd] }), () => {});
	}

	private fabricFrame(f: W.FabricFrame): void {
		if (this.opening)
			this.replaced?.();
		this.laid = { x: f.x.slice(), y: f.y.slice() };
		const at = this.pendingAt ?? this.editor.doc.at, was = this.run.started && !this.opening ? this.fabric : null;
		for (let i = 0; (at.size || was) && i < f.nnodes; i++) {
			/* What is there does not move because a node is added. */
			const old = was?.byGuid.get(f.guid[i]!), guid = guidText(f.guid[i]!);
			const p = old !== undefined ? { x: was!.f.x[old]!, y: was!.f.y[old]! } : this.addedAt.get(guid) ?? at.get(guid);
			if (p) {
				f.x[i] = p.x;
				f.y[i] = p.y;
			}
		}
		if (at.size || was)
			fitGroups(f);
		if (!was)
			this.baseLinks = f.nlinks;
		this.showFabric(new Fabric(f));
		/* A file that the server opened. */
		if (!this.opening && !this.docLoaded && !this.isLive && !this.editor.doc.managers.size) {
			this.name ||= this.hello?.file ?? '';
			this.defaultManagers();
		}
	}
	private opening = false;
	/* The engine's layout of this fabric. */
	private laid: { x: Float32Array; y: Float32Array } | null = null;
	/* Forgets the fabric and the run of before: when the new one comes, for a file that is refused replaces nothing. */
	private replaced: (() => void) | null = null;

	private showFabric(fab: Fabric): void {
		const was = this.fabric, keep = [...this.nodes].map((n) => was?.f.guid[n]);
		const keepLink = was && this.link >= 0 ? [was.f.guid[was.f.a[this.link]!]!, was.f.pa[this.link]!] as const : null;
		this.fabric = fab;
		this.nodes = new Set(keep.flatMap((g) => g !== undefined && fab.byGuid.has(g) ? [fab.byGuid.get(g)!] : []));
		this.link = keepLink && fab.byGuid.has(keepLink[0]) ? fab.linkAt(fab.byGuid.get(keepLink[0])!, keepLink[1]) : -1;
		this.overlay = null;
		this.loads = null;
		this.lastState = null;
		this.emit('fabric');
		if (this.fitNext)
			this.fit();
		this.fitNext = false;
		this.emit('select');
	}

	private stateFrame(f: Uint8Array, fab: Fabric): void {
		const version = new DataView(f.buffer, f.byteOffset).getUint32(24, true);
		/* Before the start nothing has power in the engine; on screen it is what will be. */
		if (version !== fab.f.version || (!this.run.started && !this.isLive))
			return;
		const s = W.decodeState(f, fab.nnodes, fab.nlinks);
		this.previousNow = this.run.now;
		this.lastState = s;
		this.run.state(s);
		this.shown?.();
		this.emit('state');
	}

	// ---- opening ----

	private async replaceFabric(c: Command, name: string, words: string, managers: Doc['managers'] | null): Promise<void> {
		await this.revive();
		this.opening = true;
		this.replaced = () => {
			this.replaced = null;
			this.fitNext = true;
			this.run.clear();
			this.addedAt.clear();
			this.takenBack = [];
			this.editor.replace({ ...emptyDoc(), managers: managers ?? new Map() });
			this.docLoaded = false;
		};
		let reply: Json;
		try {
			reply = await this.command(c);
			this.replaced?.();
		} finally {
			this.replaced = this.pendingAt = null;
			this.opening = false;
		}
		this.name = String(reply['name'] ?? name) || name;
		this.words = words;
		if (!managers)
			this.defaultManagers();
		this.emit('doc');
		this.emit('run');
	}

	generate(words: string, managers: Doc['managers'] | null = null): Promise<void> {
		const clean = words.trim().replace(/\s+/g, ' ');
		return this.replaceFabric({ cmd: 'generate', words: clean }, clean, clean, managers);
	}

	async open(netlist: string, name: string, managers: Doc['managers'] | null = null): Promise<void> {
		const at = new Map<string, { x: number; y: number }>();
		for (const m of netlist.matchAll(/^# weft-ui at (0x[0-9a-f]+) (-?[\d.]+) (-?[\d.]+)$/gm))
			at.set(normal(m[1]!), { x: Number(m[2]), y: Number(m[3]) });
		this.pendingAt = at;
		this.netlist = netlist;
		await this.replaceFabric({ cmd: 'open', netlist, name }, name, '', managers);
		this.editor.doc.at = at;
	}

	newDocument(): void {
		this.editor.replace(emptyDoc());
		this.docLoaded = true;
		this.words = '';
		this.name = 'untitled';
		this.run.clear();
		this.fitNext = true;
		this.showFabric(new Fabric(fabricOfDoc(this.editor.doc, null)));
		this.emit('doc');
		this.emit('run');
	}

	/* One manager, on the first host: without it nothing comes up. */
	private defaultManagers(): void {
		const f = this.fabric?.f;
		if (!f || this.isLive || this.editor.doc.managers.size || f.nnodes === 0)
			return;
		const first = f.type.findIndex((t) => t === 1), node = guidText(f.guid[first < 0 ? 0 : first]!);
		this.editor.doc.managers.set(node, { node, priority: 0, mechanism: 'weft', start_us: 0, options: '' });
		this.emit('setup');
	}

	// ---- document ----

	/* The document of the fabric on screen; positions stay as they are seen. */
	async ensureDoc(): Promise<void> {
		if (this.docLoaded)
			return;
		const text = String((await this.command({ cmd: 'netlist' }))['text'] ?? '');
		const doc = parseNetlist(text), f = this.fabric?.f;
		doc.managers = this.editor.doc.managers;
		for (let i = 0; f && i < f.nnodes; i++)
			doc.at.set(guidText(f.guid[i]!), { x: f.x[i]!, y: f.y[i]! });
		this.editor.replace(doc);
		this.docLoaded = true;
	}

	private async docChanged(e: Edit): Promise<void> {
		const tables = new Set(e.changes.map((c) => c.table));
		this.emit('doc');
		if (tables.has('nodes') || tables.has('links')) {
			this.words = '';
			await this.sendDoc();
			return;
		}
		if (tables.has('at'))
			this.applyPositions();
		if (tables.has('managers')) {
			this.emit('setup');
			if (this.run.started)
				this.report('Managers change with the next start (Shift+Space).', false);
		}
	}

	private applyPositions(): void {
		const fab = this.fabric;
		if (!fab)
			return;
		if (this.editor.doc.at.size === 0 && (this.docLoaded || this.laid?.x.length !== fab.nnodes)) {
			void this.sendDoc();
			return;
		}
		if (this.editor.doc.at.size === 0) {
			fab.f.x.set(this.laid!.x);
			fab.f.y.set(this.laid!.y);
		}
		for (const [guid, p] of this.editor.doc.at) {
			const i = fab.byGuid.get(BigInt(guid));
			if (i !== undefined) {
				fab.f.x[i] = p.x;
				fab.f.y[i] = p.y;
			}
		}
		fitGroups(fab.f);
		fab.moved();
		this.emit('fabric');
	}

	/* The document goes to the engine. A run that is on is repeated on it, up to the moment. */
	private async sendDoc(): Promise<void> {
		if (!this.docLoaded)
			await this.ensureDoc();
		const doc = this.editor.doc;
		const now = this.run.now, on = this.run.started, speed = this.run.speed, journal = this.run.journal;
		this.opening = true;
		this.showFabric(new Fabric(fabricOfDoc(doc, this.fabric)));
		try {
			if (doc.nodes.size === 0)
				return;
			await this.command({ cmd: 'open', netlist: writeNetlist(doc), name: this.name });
			this.opening = false;
			if (on)
				await this.replay(journal, BigInt(now), speed);
		} catch (x) {
			this.report(x instanceof Error ? x.message : String(x), true);
		} finally {
			this.opening = false;
		}
	}

	// ---- the run ----

	setupCommand(): Command {
		const { traffic, load, traps, seed } = this.setup;
		const managers = [...this.editor.doc.managers.values()].map(({ options, ...m }) => ({ ...m, ...optionWords(options) }));
		return { cmd: 'setup', managers, traffic, load, traps, seed };
	}

	async start(): Promise<void> {
		if (this.isLive)
			throw new CommandError('the live fabric is not simulated: take it as a twin first');
		if (!this.fabric || this.fabric.nnodes === 0)
			throw new CommandError('there is no fabric: open one, or place nodes');
		if (this.editor.doc.managers.size === 0)
			throw new CommandError('no manager is placed: choose a node and press m');
		if (this.ended)
			throw new CommandError('the engine ended: bring the run back first');
		await this.command(this.setupCommand());
		this.overlay = null;
		this.takenBack = [];
		await this.begin([]);
		await this.setSpeed(this.chosenSpeed);
	}

	/* A new run with these faults. */
	private async begin(journal: { at: bigint; text: string }[]): Promise<void> {
		const events = journal.map((j) => ({ at: String(j.at), text: j.text }));
		const reply = await this.command(events.length ? { cmd: 'start', events } : { cmd: 'start' });
		this.run.reset((reply['series'] as string[] | undefined) ?? [], (reply['phases'] as string[] | undefined) ?? []);
		this.run.journal = [...journal];
		if (this.setup.log)
			await this.command({ cmd: 'log', on: true });
	}

	/* The page was loaded again: what the engine has is shown, running or paused as it is. False: it has no run. */
	async attach(): Promise<boolean> {
		const s = parseSchedule(String((await this.command({ cmd: 'script' }))['text'] ?? ''));
		this.words = s.words.replace(/ seed 0$/, '');
		this.name ||= this.words || s.netlist;
		this.setup = { ...this.setup, seed: s.seed, traps: s.traps, traffic: s.traffic };
		this.editor.doc.managers = new Map(s.managers.map((m) => [normal(m.node), { ...m, node: normal(m.node) }]));
		this.emit('setup');
		this.emit('doc');
		let reply: Json;
		try {
			reply = await this.command({ cmd: 'series' });
		} catch {
			return false;
		}
		this.run.reset((reply['series'] as string[] | undefined) ?? [], (reply['phases'] as string[] | undefined) ?? []);
		this.run.journal = ((reply['journal'] ?? []) as { at: string; text: string }[]).map((j) => ({ at: BigInt(j.at), text: j.text }));
		this.setup.log = reply['log'] !== false;
		const speed = reply['speed'] === 'max' ? Infinity : Number(reply['speed'] ?? 0);
		this.run.speed = speed;
		this.chosenSpeed = speed || this.chosenSpeed;
		await this.command({ cmd: 'series' });
		if (this.setup.log)
			await this.command({ cmd: 'log', on: true, last: 5000 });
		if (speed === 0)
			await this.command({ cmd: 'speed', speed: 0 });
		this.emit('run');
		return true;
	}

	/* The setup and these faults from time 0, silently to a moment. */
	async replay(journal: { at: bigint; text: string }[], at: bigint, speed: number): Promise<void> {
		await this.command(this.setupCommand());
		await this.command({ cmd: 'speed', speed: 0 });
		await this.begin(journal);
		if (at > 0n)
			await this.goTo(at);
		await this.command({ cmd: 'series' }).catch(() => {});
		await this.setSpeed(speed);
		this.emit('run');
	}

	/* The last fault never happened; the run is repeated without it. Null: there is none. */
	async takeBack(): Promise<string | null> {
		const last = this.run.journal.at(-1);
		if (!last || !this.run.started)
			return null;
		const speed = this.run.speed, now = BigInt(Math.floor(this.run.now));
		this.takenBack.push(last);
		await this.replay(this.run.journal.slice(0, -1), now, speed);
		return last.text;
	}
	async doAgain(): Promise<string | null> {
		const last = this.takenBack.pop();
		if (!last || !this.run.started)
			return null;
		const now = BigInt(Math.floor(this.run.now));
		await this.replay([...this.run.journal, last], last.at > now ? last.at : now, this.run.speed);
		return last.text;
	}
	get canTakeBack(): boolean {
		return this.run.started && this.run.journal.length > 0;
	}
	get canDoAgain(): boolean {
		return this.run.started && this.takenBack.length > 0;
	}

	/* A new process, if the engine ended. */
	private async revive(): Promise<void> {
		if (!this.ended)
			return;
		await this.connection.restart?.();
		this.ended = '';
		this.emit('link');
	}

	/* After the engine ended: another process repeats the run up to the moment that was seen last. */
	async bringBack(leaveOut: number): Promise<void> {
		const { journal, now, started } = this.run, words = this.words, name = this.name;
		const netlist = this.docLoaded ? writeNetlist(this.editor.doc) : this.netlist;
		const kept = journal.slice(0, journal.length - leaveOut), managers = this.editor.doc.managers;
		await this.revive();
		this.opening = true;
		try {
			if (words)
				await this.command({ cmd: 'generate', words });
			else if (netlist)
				await this.command({ cmd: 'open', netlist, name });
		} finally {
			this.opening = false;
		}
		this.editor.doc.managers = managers;
		if (started)
			await this.replay(kept, BigInt(Math.floor(now)), 0);
		this.report(started ? 'The run is back.' : 'The fabric is back.', false);
	}
	/* The text that was opened, for a process that has to begin again. */
	private netlist = '';

	async setSpeed(speed: number): Promise<void> {
		if (!this.run.started) {
			this.chosenSpeed = speed || this.chosenSpeed;
			this.emit('run');
			return;
		}
		if (speed > 0)
			this.chosenSpeed = speed;
		this.run.speed = speed;
		this.emit('run');
		await this.command({ cmd: 'speed', speed: speed === Infinity ? 'max' : speed });
	}

	async step(what: 'event' | 'smp' | 'phase'): Promise<void> {
		if (!this.run.started) {
			const speed = this.chosenSpeed;
			this.chosenSpeed = 0;
			await this.start();
			this.chosenSpeed = speed;
		}
		this.run.speed = 0;
		this.emit('run');
		await this.command({ cmd: 'step', what });
	}

	async go(at: number): Promise<void> {
		if (!this.run.started)
			return;
		this.run.speed = 0;
		this.emit('run');
		await this.command({ cmd: 'speed', speed: 0 });
		const mine = ++this.goes;
		await this.goTo(BigInt(Math.max(0, Math.floor(at))));
		await this.command({ cmd: 'series' }).catch(() => {});
		/* The way there was silent: the messages just before this moment come now. */
		if (this.setup.log && mine === this.goes)
			await this.command({ cmd: 'log', on: true, last: BEFORE }).catch(() => {});
	}
	private goes = 0;

	/* The reply comes at once; a frame says when the run is there. An earlier way to another moment ends with this one. */
	private arrived: (() => void) | null = null;
	private async goTo(at: bigint): Promise<void> {
		this.arrived?.();
		let mine: () => void = () => {};
		const there = new Promise<void>((resolve) => {
			this.arrived = mine = resolve;
			setTimeout(resolve, 30000);
		});
		await this.command({ cmd: 'go', at: String(at) });
		await there;
		if (this.arrived === mine)
			this.arrived = null;
	}

	async event(text: string): Promise<void> {
		if (this.isLive)
			throw new CommandError('the live fabric cannot be broken from here: take it as a twin (What if)');
		if (!this.run.started)
			throw new CommandError('start the run first (Space)');
		if (this.run.now < this.run.end) {
			this.run.forgetFuture(this.run.now);
			this.emit('log');
			this.emit('series');
		}
		this.takenBack = [];
		if (!text.startsWith('add ')) {
			await this.command({ cmd: 'event', text });
			this.report(text, false);
			return;
		}
		/* The engine repeats the run on the larger fabric; then the state of this moment comes. */
		const there = new Promise<void>((resolve) => {
			this.shown = resolve;
			setTimeout(resolve, 30000);
		});
		await this.command({ cmd: 'event', text });
		await there;
		this.shown = null;
		this.report(text, false);
	}
	private shown: (() => void) | null = null;

	/* GUID and name that no node has; as generators number them. */
	freeIdent(type: 1 | 2 | 3): { guid: string; name: string } {
		const f = this.fabric?.f, stem = ['', 'host', 'switch', 'router'][type]!, names = new Set(f?.name ?? []);
		const base = BigInt(type) << 48n, step = type === 2 ? 1n : 256n;
		let g = base + step, i = 1;
		for (const x of f?.guid ?? [])
			if (x >> 48n === BigInt(type) && x >= g)
				g = ((x - base) / step + 1n) * step + base;
		while (names.has(`${stem} ${i}`))
			i++;
		return { guid: guidText(g), name: `${stem} ${i}` };
	}

	/* A port without a cable now; 0: none. */
	freePort(node: number): number {
		const fab = this.fabric!, used = new Set<number>();
		for (const l of fab.links(node))
			if ((this.lastState?.link[3 * l] ?? 0) !== 4)
				used.add(fab.portAt(l, node));
		for (let p = 1; p <= fab.f.nports[node]!; p++)
			if (!used.has(p))
				return p;
		return 0;
	}
	portWord(node: number, port: number): string {
		return `${this.nodeWord(node)}[${port}]`;
	}

	private addJournal(at: bigint, text: string): void {
		if (!this.run.journal.some((j) => j.at === at && j.text === text))
			this.run.journal.push({ at, text });
		this.run.journal.sort((p, q) => (p.at < q.at ? -1 : p.at > q.at ? 1 : 0));
		this.emit('run');
	}

	// ---- words of schedules ----

	nodeWord(n: number): string {
		const f = this.fabric!.f;
		return ident(f.type[n]!, f.guid[n]!);
	}
	/* A link is named by its port at a switch, if it has one. */
	linkWord(l: number): string {
		const f = this.fabric!.f, atA = f.type[f.a[l]!] === 2 || f.type[f.b[l]!] !== 2;
		return `${this.nodeWord(atA ? f.a[l]! : f.b[l]!)}[${atA ? f.pa[l] : f.pb[l]}]`;
	}
	guid(n: number): string {
		return guidText(this.fabric!.f.guid[n]!);
	}
	managerAt(node: number): number {
		return this.run.started || this.isLive ? this.run.managers.findIndex((m) => m.node === node) : [...this.editor.doc.managers.keys()].indexOf(this.guid(node));
	}

	/* The managers of a live fabric as a document places them: the first one is the master. */
	liveManagers(): { node: string; priority: number; mechanism: string; start_us: number; options: string }[] {
		return [...this.run.managers].sort((p, q) => q.state - p.state).map((m) => ({ node: this.guid(m.node), priority: m.priority, mechanism: String(this.live.status?.['mechanism'] ?? 'weft'), start_us: 0, options: '' }));
	}

	// ---- what is chosen ----

	select(nodes: Iterable<number>, link = -1): void {
		this.nodes = new Set(nodes);
		this.link = link;
		this.emit('select');
	}
	get node(): number {
		return this.nodes.size === 1 ? [...this.nodes][0]! : -1;
	}

	setOverlay(o: Overlay | null): void {
		this.overlay = o;
		this.emit('overlay');
	}
}

/* "lmc 1 by-lid on" as the engine takes them: {lmc: "1", by_lid: "on"}. */
function optionWords(text: string): Record<string, string> {
	const words = text.trim().split(/\s+/), out: Record<string, string> = {};
	for (let i = 0; i + 1 < words.length; i += 2)
		out[words[i]!.replace(/-/g, '_')] = words[i + 1]!;
	return out;
}

/* Rectangles of groups follow their nodes when a person moved some. */
function fitGroups(f: W.FabricFrame): void {
	const boxes = f.groups.map(() => ({ x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity }));
	for (let i = 0; i < f.nnodes; i++) {
		for (let g = f.group[i]!, n = 0; g !== W.NONE && n < 16; g = f.groups[g]!.parent, n++) {
			const b = boxes[g]!;
			b.x0 = Math.min(b.x0, f.x[i]!);
			b.y0 = Math.min(b.y0, f.y[i]!);
			b.x1 = Math.max(b.x1, f.x[i]!);
			b.y1 = Math.max(b.y1, f.y[i]!);
		}
	}
	boxes.forEach((b, g) => {
		if (b.x0 <= b.x1)
			Object.assign(f.groups[g]!, b);
	});
}
