// SPDX-License-Identifier: BSD-2-Clause
//
// The state of the page and what changes it: the connection, the fabric, the run, the document, what is chosen. Parts of
// the window listen (on) and ask for changes by methods; they do not talk to each other.
import { CommandError, type Command, type Json, type Link, type LinkState } from './wire/engine.ts';
import * as W from './wire/frames.ts';
import { Fabric } from './model/fabric.ts';
import { guidText, ident } from './model/iba.ts';
import { Editor, type Doc, type Edit, emptyDoc } from './model/document.ts';
import { normal, parseNetlist, writeNetlist } from './model/netlist.ts';
import { fabricOfDoc } from './model/doc_fabric.ts';
import { Run } from './model/run.ts';

export type Topic = 'link' | 'fabric' | 'state' | 'run' | 'select' | 'hover' | 'overlay' | 'log' | 'series' | 'doc' | 'hello' | 'live' | 'flights' | 'mad' | 'setup';

export interface Hello {
	version: string;
	session: string;
	source: 'engine' | 'live';
	live: string | null;
	file: string | null;
	changes: boolean;
}

/* What is lit in the picture. */
export interface Overlay {
	title: string;
	nodes: Set<number>;
	links: Set<number>;
}

export interface Setup {
	traffic: string;
	load: number;
	traps: boolean;
	seed: number;
	log: boolean;
}

export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 200000, 1000000];

export class App {
	fabric: Fabric | null = null;
	name = '';
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
	live: { status: Json | null; changes: Json[]; vms: Json[]; events: Json[] } = { status: null, changes: [], vms: [], events: [] };
	lastState: W.StateFrame | null = null;
	lastFlights: { smps: W.Flights | null; packets: W.Flights | null; from: number; to: number } = { smps: null, packets: null, from: 0, to: 0 };
	chosenSpeed = 200;
	report: (text: string, bad: boolean) => void = () => {};
	fit: () => void = () => {};
	private previousNow = 0;
	private fitNext = true;
	private pendingAt: Map<string, { x: number; y: number }> | null = null;
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

	command(c: Command): Promise<Json> {
		return this.connection.command(c);
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
			this.emit('hello');
		} else if (j['journal']) {
			const e = j['journal'] as { at: string | number; text: string };
			this.addJournal(BigInt(e.at), e.text);
		} else if (j['engine'] === 'ended')
			this.report(`The engine ended: ${String(j['why'] ?? '')}. Open a fabric to start another one.`, true);
		else if (j['paused']) {
			this.run.speed = 0;
			this.arrived?.();
			this.emit('run');
		} else if (j['error'])
			this.report(String(j['error']), true);
		else if (j['status'] || j['changes'] || j['vms'] || j['event'] || j['live'])
			this.liveFrame(j);
	}

	private liveFrame(j: Json): void {
		if (j['status'])
			this.live.status = j['status'] as Json;
		if (Array.isArray(j['changes']))
			this.live.changes = j['changes'] as Json[];
		if (Array.isArray(j['vms']))
			this.live.vms = j['vms'] as Json[];
		if (j['event'])
			this.live.events = [...this.live.events.slice(-499), j['event'] as Json];
		if (j['live'] === 'lost')
			this.report(`The manager does not answer: ${String(j['why'] ?? '')}`, true);
		this.emit('live');
	}

	private fabricFrame(f: W.FabricFrame): void {
		const at = this.pendingAt ?? this.editor.doc.at;
		for (let i = 0; at.size && i < f.nnodes; i++) {
			const p = at.get(guidText(f.guid[i]!));
			if (p) {
				f.x[i] = p.x;
				f.y[i] = p.y;
			}
		}
		if (at.size)
			fitGroups(f);
		this.showFabric(new Fabric(f));
		/* A file that the server opened. */
		if (!this.opening && !this.docLoaded && !this.isLive && !this.editor.doc.managers.size) {
			this.name ||= this.hello?.file ?? '';
			this.defaultManagers();
		}
	}
	private opening = false;

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
		this.emit('state');
	}

	// ---- opening ----

	private async replaceFabric(c: Command, name: string, words: string, managers: Doc['managers'] | null): Promise<void> {
		this.fitNext = true;
		this.run.clear();
		this.editor.replace({ ...emptyDoc(), managers: managers ?? new Map() });
		this.docLoaded = false;
		this.opening = true;
		const reply = await this.command(c).finally(() => {
			this.pendingAt = null;
			this.opening = false;
		});
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
			await this.sendDoc(e);
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
		if (this.editor.doc.at.size === 0) {
			void this.sendDoc(null);
			return;
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

	/* The document goes to the engine. A run that is on is repeated up to the moment, where what is new gets its power. */
	private async sendDoc(e: Edit | null): Promise<void> {
		const doc = this.editor.doc;
		if (!this.docLoaded)
			await this.ensureDoc();
		const now = this.run.now, on = this.run.started, speed = this.run.speed;
		const journal = this.run.journal.map((j) => ({ at: j.at, text: j.text }));
		this.showFabric(new Fabric(fabricOfDoc(doc, this.fabric)));
		if (doc.nodes.size === 0)
			return;
		try {
			await this.command({ cmd: 'open', netlist: writeNetlist(doc), name: this.name });
			if (on)
				await this.replay([...born(e, doc), ...journal, ...switchedOn(e, doc, now)], BigInt(now), speed);
		} catch (x) {
			this.report(x instanceof Error ? x.message : String(x), true);
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
		await this.command(this.setupCommand());
		this.overlay = null;
		const reply = await this.command({ cmd: 'start' });
		this.run.reset((reply['series'] as string[] | undefined) ?? [], (reply['phases'] as string[] | undefined) ?? []);
		if (this.setup.log)
			await this.command({ cmd: 'log', on: true });
		await this.setSpeed(this.chosenSpeed);
	}

	/* The page was loaded again and the engine still has its run: it pauses, and goes on when the person says so. */
	async attach(): Promise<boolean> {
		try {
			const reply = await this.command({ cmd: 'series' });
			this.run.reset((reply['series'] as string[] | undefined) ?? [], (reply['phases'] as string[] | undefined) ?? []);
			for (const j of (reply['journal'] as { at: string; text: string }[] | undefined) ?? [])
				this.addJournal(BigInt(j.at), j.text);
			await this.command({ cmd: 'speed', speed: 0 });
			await this.command({ cmd: 'series' });
		} catch {
			return false;
		}
		this.emit('run');
		return true;
	}

	async replay(journal: { at: bigint; text: string }[], at: bigint, speed: number): Promise<void> {
		await this.command(this.setupCommand());
		const reply = await this.command({ cmd: 'start' });
		this.run.reset((reply['series'] as string[] | undefined) ?? [], (reply['phases'] as string[] | undefined) ?? []);
		await this.command({ cmd: 'speed', speed: 0 });
		if (this.setup.log)
			await this.command({ cmd: 'log', on: true });
		if (journal.length)
			await this.command({ cmd: 'journal', events: journal.map((j) => ({ at: String(j.at), text: j.text })) });
		this.run.journal = journal;
		if (at > 0n)
			await this.goTo(at);
		await this.setSpeed(speed);
		this.emit('run');
	}

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
		await this.goTo(BigInt(Math.max(0, Math.floor(at))));
		await this.command({ cmd: 'series' }).catch(() => {});
	}

	/* The reply comes at once; a frame says when the run is there. */
	private arrived: (() => void) | null = null;
	private async goTo(at: bigint): Promise<void> {
		const there = new Promise<void>((resolve) => {
			this.arrived = resolve;
			setTimeout(resolve, 30000);
		});
		await this.command({ cmd: 'go', at: String(at) });
		await there;
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
		await this.command({ cmd: 'event', text });
		this.report(text, false);
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
		return this.run.started ? this.run.managers.findIndex((m) => m.node === node) : [...this.editor.doc.managers.keys()].indexOf(this.guid(node));
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

/* New nodes have no power before the moment when they were added, new cables between old nodes are not plugged. */
function added(e: Edit | null, doc: Doc): { nodes: string[]; links: string[] } {
	const fresh = new Set((e?.changes ?? []).filter((c) => c.table === 'nodes' && c.before === undefined && doc.nodes.has(c.key)).map((c) => c.key));
	const links = (e?.changes ?? []).filter((c) => c.table === 'links' && c.before === undefined && doc.links.has(c.key)).map((c) => doc.links.get(c.key)!)
		.filter((l) => !fresh.has(l.a.node) && !fresh.has(l.b.node));
	const word = (guid: string): string => ident(doc.nodes.get(guid)!.type, BigInt(guid));
	return { nodes: [...fresh].map(word), links: links.map((l) => `${word(l.a.node)}[${l.a.port}]`) };
}
function born(e: Edit | null, doc: Doc): { at: bigint; text: string }[] {
	const a = added(e, doc);
	return [...a.nodes.map((n) => ({ at: 0n, text: `off ${n}` })), ...a.links.map((l) => ({ at: 0n, text: `unlink ${l}` }))];
}
function switchedOn(e: Edit | null, doc: Doc, now: number): { at: bigint; text: string }[] {
	const a = added(e, doc);
	return [...a.nodes.map((n) => ({ at: BigInt(now), text: `on ${n}` })), ...a.links.map((l) => ({ at: BigInt(now), text: `relink ${l}` }))];
}
