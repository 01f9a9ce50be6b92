// SPDX-License-Identifier: BSD-2-Clause
//
// Routes: the path between two nodes, the tree of a destination, the users of a link, and loads of all links as colours.
import type { App } from '../app.ts';
import { fill, h } from '../dom.ts';
import type { Colouring, View } from '../view/view.ts';
import type { Inspect } from './inspect.ts';
import type { Pane, Tab } from './pane.ts';

interface Hop {
	node: number;
	in: number;
	out: number;
	link: number;
	vl?: number | null; /* on the link that it leaves by; null: not known */
}

type Result = { kind: 'route'; from: number; to: number; hops: Hop[]; lid: unknown; sl: unknown; ends: string }
	| { kind: 'tree'; node: number; lid: unknown; switches: number; hosts: number }
	| { kind: 'users'; link: number; count: number; routes: [number, number][]; lids: number[] };

const laneWord = (x: Hop): string => (x.vl === undefined ? '' : x.vl === null ? '–' : x.vl === 15 ? '15 (discards)' : String(x.vl));
/* One number where all links use the same lane. */
const laneWords = (hops: Hop[]): string => {
	const words = hops.filter((x) => x.vl !== undefined).map((x) => String(x.vl ?? '–'));
	return new Set(words).size > 1 ? words.join(' ') : words[0] ?? '–';
};

export class Routes implements Tab {
	readonly id = 'routes';
	readonly title = 'Routes';
	private result: Result | null = null;
	pane!: Pane;

	constructor(private readonly app: App, private readonly view: View, private readonly inspect: Inspect) {
		app.on(['fabric'], () => {
			this.result = null;
			this.pane?.update('routes');
		});
		/* Loads on screen follow the subnet. */
		app.on(['changes'], () => {
			if (this.view.showLoads)
				void this.safe(this.app.command({ cmd: 'loads' }).then(() => {}));
		});
		app.on(['overlay', 'select'], () => this.pane?.update('routes'));
	}

	async route(from: number, to: number): Promise<void> {
		const r = await this.app.command({ cmd: 'route', from: this.app.guid(from), to: this.app.guid(to) });
		const vls = [...((r['vls'] ?? []) as (number | null)[])];
		const hops = ((r['hops'] ?? []) as Hop[]).map((x) => ({ ...x, link: x.link ?? (x.out ? this.app.fabric!.linkAt(x.node, x.out) : -1), vl: x.out ? vls.shift() ?? null : undefined }));
		this.result = { kind: 'route', from, to, hops, lid: r['lid'], sl: r['sl'], ends: String(r['ends'] ?? '') };
		this.app.setOverlay({ title: 'route', nodes: new Set([from, to, ...hops.map((x) => x.node)]), links: new Set(hops.map((x) => x.link).filter((l) => l >= 0)) });
		this.view.reveal([from, to, ...hops.map((x) => x.node)]);
		this.pane.open('routes');
	}

	async tree(node: number): Promise<void> {
		const r = await this.app.command({ cmd: 'tree', node: this.app.guid(node) }), out = (r['out'] ?? []) as [number, number][];
		const f = this.app.fabric!, links = new Set<number>(), nodes = new Set<number>([node]);
		for (const [n, port] of out) {
			const l = f.linkAt(n, port);
			nodes.add(n);
			if (l >= 0)
				links.add(l);
		}
		let hosts = 0;
		for (const n of [...nodes]) {
			for (const l of f.f.type[n] === 2 ? f.links(n) : []) {
				const peer = f.peer(l, n);
				if (f.f.type[peer] === 1 && !nodes.has(peer)) {
					nodes.add(peer);
					hosts++;
				}
			}
		}
		this.result = { kind: 'tree', node, lid: r['lid'], switches: out.length, hosts };
		this.app.setOverlay({ title: 'tree', nodes, links });
		this.pane.open('routes');
	}

	async users(link: number): Promise<void> {
		const f = this.app.fabric!.f;
		const r = await this.app.command({ cmd: 'users', port: { node: this.app.guid(f.a[link]!), port: f.pa[link]! }, link });
		const routes = (r['routes'] ?? []) as [number, number][];
		this.result = { kind: 'users', link, count: Number(r['count'] ?? 0), routes, lids: (r['lids'] ?? []) as number[] };
		this.app.setOverlay({ title: 'users', nodes: new Set([f.a[link]!, f.b[link]!, ...routes.flat()]), links: new Set([link]) });
		this.pane.open('routes');
	}

	async loads(): Promise<void> {
		await this.colours(this.view.showLoads ? 'states' : 'routes');
		this.pane.open('routes');
	}

	async colours(to: Colouring): Promise<void> {
		if (to === 'routes')
			await this.app.command({ cmd: 'loads' });
		this.view.setColours(to);
	}

	clear(): void {
		this.result = null;
		this.app.setOverlay(null);
	}

	render(body: HTMLElement): void {
		const { app } = this;
		fill(body, this.resultView(), h('h3', {}, 'Ask'),
			h('div', { class: 'chips' },
				h('button', { type: 'button', disabled: app.nodes.size !== 2, onclick: () => void this.pair() }, 'Path between two nodes'),
				h('button', { type: 'button', disabled: app.node < 0, onclick: () => void this.safe(this.tree(app.node)) }, 'Tree of a destination'),
				h('button', { type: 'button', disabled: app.link < 0, onclick: () => void this.safe(this.users(app.link)) }, 'Users of a link'),
				h('button', { type: 'button', 'aria-pressed': String(this.view.showLoads), onclick: () => void this.safe(this.loads()) }, 'Routes as colours')),
			h('p', { class: 'dim' }, 'Choose two nodes with Shift, one node, or a link. ', h('kbd', {}, 'r'), ' on a node, then a click on the other end, shows the path.'),
			this.view.showLoads ? this.loadTable() : null);
	}

	private async pair(): Promise<void> {
		const [a, b] = [...this.app.nodes];
		if (a !== undefined && b !== undefined)
			await this.safe(this.route(a, b));
	}
	private async safe(p: Promise<void>): Promise<void> {
		try {
			await p;
		} catch (e) {
			this.app.report(e instanceof Error ? e.message : String(e), true);
		}
	}

	private resultView(): Node | null {
		const r = this.result, f = this.app.fabric;
		if (!r || !f)
			return h('h2', {}, 'Routes');
		const clear = h('button', { type: 'button', class: 'line', onclick: () => this.clear() }, 'Clear');
		if (r.kind === 'route')
			return h('section', {}, h('h2', {}, `${f.f.name[r.from]} → ${f.f.name[r.to]}`),
				h('p', { class: r.ends === 'reached' ? 'dim' : 'bad' }, r.ends === 'reached' ? `${Math.max(0, r.hops.length - 1)} links · LID ${String(r.lid ?? '–')} · SL ${String(r.sl ?? '–')} · VL ${laneWords(r.hops)}` : r.ends),
				h('table', {}, h('thead', {}, h('tr', {}, ['In', 'Node', 'Out', 'VL'].map((t) => h('th', {}, t)))),
					h('tbody', {}, r.hops.map((x) => h('tr', {}, h('td', { class: 'num' }, x.in || ''), h('td', {}, this.inspect.ref(x.node)), h('td', { class: 'num' }, x.out || ''), h('td', { class: 'num' }, laneWord(x)))))), h('div', { class: 'chips' }, clear));
		if (r.kind === 'tree')
			return h('section', {}, h('h2', {}, `Tree of ${f.f.name[r.node]}`), h('p', { class: 'dim' }, `LID ${String(r.lid ?? '–')}: ${r.switches} switches forward to it, ${r.hosts} hosts are below them.`), h('div', { class: 'chips' }, clear));
		return h('section', {}, h('h2', {}, `Users of ${this.app.linkWord(r.link)}`), h('p', { class: 'dim' }, `${r.count} routes`),
			h('table', {}, h('tbody', {}, r.routes.slice(0, 500).map(([a, b]) => h('tr', {}, h('td', {}, this.inspect.ref(a)), h('td', { class: 'dim' }, '→'), h('td', {}, this.inspect.ref(b)))))), h('div', { class: 'chips' }, clear));
	}

	private loadTable(): Node | null {
		const l = this.app.loads, f = this.app.fabric?.f;
		if (!l || !f)
			return null;
		const order = [...l.ab.keys()].sort((p, q) => Math.max(l.ab[q]!, l.ba[q]!) - Math.max(l.ab[p]!, l.ba[p]!)).slice(0, 30);
		return h('section', {}, h('h3', {}, 'Links with the most routes'), h('table', {}, h('tbody', {}, order.map((i) => h('tr', {},
			h('td', {}, h('button', { type: 'button', class: 'ref', onclick: () => this.app.select([], i) }, `${f.name[f.a[i]!]} – ${f.name[f.b[i]!]}`)), h('td', { class: 'num' }, `${l.ab[i]} / ${l.ba[i]}`))))));
	}
}
