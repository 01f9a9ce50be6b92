// SPDX-License-Identifier: BSD-2-Clause
//
// An engine of a few hundred lines that looks like the real one from the page: it fakes a discovery along a breadth-first
// tree, answers commands and sends frames. For tests of the page only; its figures mean nothing.
import { type Command, CommandError, type Json, type Link, type LinkState } from '../../src/wire/engine.ts';
import { KIND, type LogLine, type ManagerRecord } from '../../src/wire/frames.ts';
import * as E from './encode.ts';
import { fromNetlist, generate } from './fabrics.ts';

interface Step {
	at: number; /* ns */
	node: number;
	method: number;
	attribute: number;
	phase: number;
}

const SLICE_MS = 33, HOP_NS = 300;
const PHASES = ['idle', 'discovery', 'LIDs', 'routes', 'distribution', 'activation', 'at rest'];
const SERIES = ['SMPs', 'delivered', 'lost', 'connectivity', 'in flight'];

export class MockLink implements Link {
	onFrame: (frame: Uint8Array) => void = () => {};
	onState: (state: LinkState, why: string) => void = () => {};
	private fabric: E.FabricData = { nodes: [], links: [], groups: [] };
	private version = 0;
	private netlist = '';
	private setup: Json = {};
	private speed = 0;
	private now = 0; /* ns */
	private events = 0;
	private seq = 0;
	private steps: Step[] = [];
	private next = 0;
	private parent = new Int32Array(0);
	private parentLink = new Int32Array(0);
	private node = new Uint8Array(0);
	private link = new Uint8Array(0);
	private managers: ManagerRecord[] = [];
	private journal: { at: string; text: string }[] = [];
	private lost = 0;
	private log = new Map<number, LogLine>();

	open(): void {
		setTimeout(() => {
			this.onState('open', '');
			this.json({ hello: { version: '0.1.0', session: 'mock', source: 'engine', live: null, file: null, changes: true } });
			setInterval(() => this.work(), SLICE_MS);
		}, 5);
	}
	close(): void {}

	private json(j: object): void {
		this.onFrame(E.encodeJson(j));
	}

	command(c: Command): Promise<Json> {
		return new Promise((resolve, reject) => setTimeout(() => {
			try {
				resolve({ ok: true, ...this.answer(c) });
			} catch (e) {
				reject(new CommandError(e instanceof Error ? e.message : String(e)));
			}
		}, 2));
	}

	private answer(c: Command): object {
		switch (c.cmd) {
		case 'generate': return this.replace(generate(String(c['words'])), '');
		case 'open': return this.replace(fromNetlist(String(c['netlist'])), String(c['netlist']));
		case 'setup': this.setup = c; return {};
		case 'start': return this.start((c['events'] as { at: string; text: string }[] | undefined) ?? []);
		case 'speed': this.speed = c['speed'] === 'max' ? 1e6 : Number(c['speed']); return {};
		case 'step': return this.step(String(c['what']));
		case 'go': return this.go(Number(c['at']) / 1000);
		case 'event': return this.event(String(c['text']));
		case 'journal': this.journal = c['events'] as never; return {};
		case 'node': return { node: this.describe(this.index(c['node'] ?? c['guid'])) };
		case 'route': return this.route(this.index(c['from']), this.index(c['to']));
		case 'tree': return this.tree(this.index(c['node']));
		case 'users': return { count: 12, routes: [[0, 1], [1, 0]], lids: [1, 2] };
		case 'loads': return this.loads();
		case 'mad': return { seq: c['seq'], text: `BaseVersion 1\nMgmtClass 0x81\nseq ${String(c['seq'])}\n${this.log.get(Number(c['seq']))?.text ?? ''}` };
		case 'netlist': return { text: this.netlist || this.write() };
		case 'script': return { text: this.journal.map((j) => `at ${Number(j.at) / 1e6}us ${j.text}`).join('\n') + '\n' };
		case 'whatif': return { figures: [['pairs cut', '12'], ['time', '0.47 ms'], ['SMPs', '136'], ['packets lost', '83']], text: 'made up' };
		case 'find': return { nodes: [Number(c['text']) % Math.max(1, this.fabric.nodes.length)] };
		case 'log': return {};
		case 'series': return {};
		default: throw new Error(`no command '${c.cmd}'`);
		}
	}

	private index(v: unknown): number {
		const i = typeof v === 'number' ? v : this.fabric.nodes.findIndex((n) => n.guid === BigInt(String(v)));
		if (!this.fabric.nodes[i])
			throw new Error(`no node ${String(v)}`);
		return i;
	}

	private write(): string {
		const ident = (n: E.FabricData['nodes'][0]): string => (n.type === 2 ? 'S-' : 'H-') + n.guid.toString(16).padStart(16, '0');
		const lines = this.fabric.nodes.map((n) => [`${n.type === 2 ? 'switch' : 'ca'}guid=0x${n.guid.toString(16)}`, `${n.type === 2 ? 'Switch' : 'Ca'}\t${n.nports} "${ident(n)}"\t\t# "${n.name}"`]);
		for (const l of this.fabric.links) {
			const a = this.fabric.nodes[l.a]!, b = this.fabric.nodes[l.b]!;
			lines[l.a]!.push(`[${l.pa}]\t"${ident(b)}"[${l.pb}]\t\t# "${b.name}" lid 0 4xEDR`);
			lines[l.b]!.push(`[${l.pb}]\t"${ident(a)}"[${l.pa}]\t\t# "${a.name}" lid 0 4xEDR`);
		}
		return lines.map((l) => l.join('\n')).join('\n\n') + '\n';
	}

	private replace(f: E.FabricData, netlist: string): object {
		this.fabric = f;
		this.netlist = netlist;
		this.version++;
		this.speed = 0;
		this.steps = [];
		this.node = new Uint8Array(f.nodes.length).fill(1);
		this.link = new Uint8Array(3 * f.links.length);
		for (let l = 0; l < f.links.length; l++)
			this.link[3 * l] = 1;
		this.managers = [];
		this.onFrame(E.encodeFabric(f, this.version));
		return { name: 'mock', nodes: f.nodes.length, links: f.links.length };
	}

	private breadth(from: number): number[] {
		const n = this.fabric.nodes.length, near: [number, number][][] = Array.from({ length: n }, () => []);
		this.fabric.links.forEach((l, i) => {
			near[l.a]!.push([l.b, i]);
			near[l.b]!.push([l.a, i]);
		});
		this.parent = new Int32Array(n).fill(-1);
		this.parentLink = new Int32Array(n).fill(-1);
		const seen = new Uint8Array(n), order = [from];
		seen[from] = 1;
		for (const i of order) {
			for (const [j, l] of near[i]!) {
				if (!seen[j] && this.link[3 * l] !== 4 && this.node[j]! & 1) {
					seen[j] = 1;
					this.parent[j] = i;
					this.parentLink[j] = l;
					order.push(j);
				}
			}
		}
		return order;
	}

	private start(events: { at: string; text: string }[]): object {
		const list = (this.setup['managers'] as { node: unknown; priority?: number }[] | undefined) ?? [];
		this.managers = list.map((m) => ({ node: this.index(m.node), state: 1, phase: 1, flags: 0, priority: m.priority ?? 0 }));
		this.now = this.events = this.seq = this.next = this.lost = 0;
		this.journal = [...events];
		this.log.clear();
		this.node.fill(1);
		for (let l = 0; l < this.fabric.links.length; l++)
			this.link.set([1, 0, 0], 3 * l);
		this.plan(0);
		this.state();
		return { series: SERIES, phases: PHASES, managers: this.managers.length };
	}

	private plan(from: number): void {
		const master = this.managers[0]?.node ?? 0, order = this.breadth(master);
		const gap = Math.max(20, 4e5 / Math.max(1, order.length));
		let t = from + 500;
		const steps: Step[] = [];
		for (const [method, attribute, phase] of [[1, 0x11, 1], [1, 0x15, 1], [2, 0x15, 2], [2, 0x19, 4], [2, 0x15, 5]] as const) {
			for (const node of order) {
				if (attribute === 0x19 && this.fabric.nodes[node]!.type !== 2)
					continue;
				steps.push({ at: (t += gap), node, method, attribute, phase });
			}
		}
		this.steps = steps;
		this.next = 0;
	}

	private work(): void {
		if (this.speed > 0 && this.fabric.nodes.length)
			this.advance(this.now + (this.speed * 1000 * SLICE_MS) / 1000);
	}

	private advance(to: number): void {
		const smps: E.Flight[] = [], packets: E.Flight[] = [], log: LogLine[] = [];
		while (this.next < this.steps.length && this.steps[this.next]!.at <= to)
			this.take(this.steps[this.next++]!, smps, log);
		const traffic = this.setup['traffic'] && this.next >= this.steps.length;
		for (let i = 0; traffic && i < Math.min(400, this.fabric.links.length); i++) {
			const link = (i * 7919 + this.events) % this.fabric.links.length;
			if (this.link[3 * link] === 3)
				packets.push({ start: BigInt(Math.floor(this.now * 1000)), ns: HOP_NS, link, direction: i & 1, method: 0, attribute: 0, seq: 0 });
			this.events++;
		}
		for (let l = 0; traffic && l < this.fabric.links.length; l++)
			this.link[3 * l + 1] = (l * 2654435761) >>> 25;
		this.now = to;
		const master = this.managers.find((m) => m.state === 3), rest = this.next >= this.steps.length;
		if (rest && master)
			master.phase = 6;
		this.state();
		if (smps.length)
			this.onFrame(E.encodeFlights(KIND.SMPS, smps.slice(0, 4096)));
		if (packets.length)
			this.onFrame(E.encodeFlights(KIND.PACKETS, packets));
		if (log.length)
			this.onFrame(E.encodeLog(log));
		const lids = this.node.reduce((n, v) => n + (v & 2 ? 1 : 0), 0) / Math.max(1, this.node.length);
		this.onFrame(E.encodeSeries([{ at: BigInt(Math.floor(to * 1000)), values: [smps.length / 4, packets.length, this.lost, lids, smps.length] }]));
		this.lost = 0;
	}

	private take(s: Step, smps: E.Flight[], log: LogLine[]): void {
		const path: number[] = [], master = this.managers[0];
		for (let i = s.node; this.parent[i]! >= 0; i = this.parent[i]!)
			path.unshift(i);
		let at = s.at;
		const hop = (i: number, back: boolean, method: number): void => {
			const l = this.parentLink[i]!, forward = this.fabric.links[l]!.b === i;
			smps.push({ start: BigInt(Math.floor(at * 1000)), ns: HOP_NS, link: l, direction: forward === back ? 1 : 0, method, attribute: s.attribute, seq: this.seq });
			at += HOP_NS;
		};
		const from = master?.node ?? 0, name = this.fabric.nodes[s.node]!.name;
		const line = (node: number, kind: number, method: number, text: string): void => {
			const l = { seq: ++this.seq, at: BigInt(Math.floor(at * 1000)), node, port: 1, kind, method, attribute: s.attribute, text };
			this.log.set(l.seq, l);
			log.push(l);
		};
		const attr = { 0x11: 'NodeInfo', 0x15: 'PortInfo', 0x19: 'LinearForwardingTable' }[s.attribute] ?? '';
		line(from, 0, s.method, `sent ${s.method === 1 ? 'Get' : 'Set'}(${attr}) to ${name}`);
		path.forEach((i) => hop(i, false, s.method));
		line(s.node, 2, s.method, `received ${s.method === 1 ? 'Get' : 'Set'}(${attr})`);
		line(s.node, 2, 0x81, `sent GetResp(${attr})`);
		path.reverse().forEach((i) => hop(i, true, 0x81));
		line(from, 0, 0x81, `received GetResp(${attr}) from ${name}`);
		this.events += 2 * path.length + 2;
		this.effect(s, log);
	}

	private effect(s: Step, log: LogLine[]): void {
		const m = this.managers[0];
		if (m && s.phase > 1 && m.state !== 3) {
			m.state = 3;
			this.managers.slice(1).forEach((o) => (o.state = 2));
			log.push({ seq: ++this.seq, at: BigInt(Math.floor(s.at * 1000)), node: m.node, port: 0, kind: 4, method: 0, attribute: 0, text: 'manager 0 is Master' });
		}
		if (m)
			m.phase = s.phase;
		this.node[s.node]! |= s.phase >= 2 ? 6 : 4;
		const l = this.parentLink[s.node]!;
		if (s.phase === 4 || (s.phase === 2 && l >= 0 && this.link[3 * l] === 1))
			this.mark(s.node, 2);
		if (s.phase === 5)
			this.mark(s.node, 3);
	}

	private mark(node: number, state: number): void {
		this.fabric.links.forEach((l, i) => {
			if ((l.a === node || l.b === node) && this.link[3 * i] !== 4 && this.link[3 * i]! < state)
				this.link[3 * i] = state;
		});
	}

	private state(): void {
		this.onFrame(E.encodeState(BigInt(Math.floor(this.now * 1000)), BigInt(this.events), this.version, this.node, this.link, this.managers));
	}

	private step(what: string): object {
		this.speed = 0;
		const s = this.steps[this.next];
		const phase = this.steps.findIndex((x, i) => i > this.next && x.phase !== s?.phase);
		this.advance(what === 'phase' && phase > 0 ? this.steps[phase]!.at : s ? s.at : this.now + 1000);
		return {};
	}

	private go(at: number): object {
		if (at < this.now) {
			const journal = this.journal;
			this.start([]);
			this.journal = journal;
		}
		this.speed = 0;
		const emit = this.onFrame;
		this.onFrame = () => {};
		this.advance(at);
		this.onFrame = emit;
		this.json({ paused: { at: String(Math.floor(this.now * 1000)), why: 'arrived' } });
		this.state();
		return {};
	}

	private add(text: string): void {
		const m = /^add (\w+) (0x[0-9a-f]+) (\d+) "(.*)"$/.exec(text);
		if (!m)
			throw new Error(`expected a node, found ${text}`);
		this.fabric.nodes.push({ guid: BigInt(m[2]!), x: 0, y: 0, name: m[4]!, nports: Number(m[3]), type: ['', 'host', 'switch', 'router'].indexOf(m[1]!), level: 0, group: 0xffffffff });
		this.node = Uint8Array.from([...this.node, 1]);
		this.onFrame(E.encodeFabric(this.fabric, ++this.version));
	}

	private event(text: string): object {
		const [word, what = ''] = text.split(' ');
		const at = String(Math.floor(this.now * 1000));
		this.journal.push({ at, text });
		if (word === 'add')
			this.add(text);
		else if (word === 'crash' && this.managers[Number(what)]) {
			this.managers[Number(what)]!.flags = 2;
			const next = this.managers.findIndex((m) => m.flags === 0);
			if (next >= 0)
				this.managers[next]!.state = 3;
		} else if (word === 'off' || word === 'on') {
			const i = this.fabric.nodes.findIndex((n) => what.endsWith(n.guid.toString(16).padStart(16, '0')));
			this.node[i] = word === 'off' ? 0 : 1;
			this.fabric.links.forEach((l, k) => {
				if (l.a === i || l.b === i)
					this.link[3 * k] = word === 'off' ? 0 : 1;
			});
		} else if (word === 'unlink' || word === 'relink') {
			const m = /([0-9a-f]{16})"?\[(\d+)\]/.exec(what);
			const i = this.fabric.nodes.findIndex((n) => n.guid.toString(16).padStart(16, '0') === m?.[1]), p = Number(m?.[2]);
			const k = this.fabric.links.findIndex((l) => (l.a === i && l.pa === p) || (l.b === i && l.pb === p));
			if (k < 0)
				throw new Error(`no link at ${what}`);
			this.link[3 * k] = word === 'unlink' ? 4 : 1;
		}
		this.lost += 7;
		this.json({ journal: { at, text } });
		const order = this.breadth(this.managers.find((m) => m.state === 3)?.node ?? 0);
		void order;
		this.plan(this.now);
		this.state();
		return {};
	}

	private describe(i: number): object {
		const n = this.fabric.nodes[i]!;
		const ports = this.fabric.links.flatMap((l, k) => [[l.a, l.pa, l.b, l.pb, k], [l.b, l.pb, l.a, l.pa, k]])
			.filter(([a]) => a === i).map(([, port, peer, peerPort, k]) => ({ port, state: ['Down', 'Init', 'Armed', 'Active', 'Down'][this.link[3 * k!]!], phys: 'LinkUp', lid: i + 1, width: '4x', speed: 'EDR', peer, peer_port: peerPort, link: k, fields: [['M_KeyProtectBits', '0'], ['MTUCap', '4096']] }));
		const m = this.managers.findIndex((x) => x.node === i);
		return {
			index: i, guid: '0x' + n.guid.toString(16).padStart(16, '0'), name: n.name, type: n.type === 2 ? 'switch' : 'host', lid: i + 1, lmc: 0,
			groups: [{ name: 'NodeInfo', fields: [['NumPorts', String(n.nports)], ['VendorID', '0x0'], ['PartitionCap', '8']] }], ports,
			lft: n.type === 2 ? [[1, 4, 1], [5, 9, 2]] : [], manager: m < 0 ? null : { number: m, state: 'Master', phase: PHASES[this.managers[m]!.phase], priority: this.managers[m]!.priority, fields: [['SM_Key', '0x1']] },
		};
	}

	private route(from: number, to: number): object {
		this.breadth(to);
		const hops = [];
		for (let i = from, into = 0, n = 0; i >= 0 && n < 64; n++) {
			const l = this.parentLink[i]!, link = this.fabric.links[l];
			const out = link ? (link.a === i ? link.pa : link.pb) : 0;
			hops.push({ node: i, in: into, out, link: l });
			into = link ? (link.a === i ? link.pb : link.pa) : 0;
			i = this.parent[i]!;
		}
		this.breadth(this.managers[0]?.node ?? 0);
		return { hops, sl: 0, vls: [0], ends: 'reached' };
	}

	private tree(to: number): object {
		this.breadth(to);
		const out: number[][] = [];
		this.fabric.nodes.forEach((_, i) => {
			const link = this.fabric.links[this.parentLink[i]!];
			if (link)
				out.push([i, link.a === i ? link.pa : link.pb]);
		});
		this.breadth(this.managers[0]?.node ?? 0);
		return { node: to, lid: to + 1, out };
	}

	private loads(): object {
		this.onFrame(E.encodeLoads(this.version, this.fabric.links.map((_, i) => (i * 37) % 101), this.fabric.links.map((_, i) => (i * 53) % 97)));
		return {};
	}
}
