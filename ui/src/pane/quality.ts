// SPDX-License-Identifier: BSD-2-Clause
//
// Quality of routes: which engine computed them, what share of a link traffic patterns get, and the worst links, coloured. It is
// measured when the person asks, by the tables in force; the run and the live manager go on.
import { fill, h } from '../dom.ts';
import { countText } from '../model/iba.ts';
import { type Pane, type Tab, errorText, kv } from './pane.ts';
import type { PaneParts } from './registry.ts';

interface Pattern {
	pattern: string;
	flows: number;
	drawn?: number;
	no_path: number;
	mean: number;
	p5: number;
	worst: number;
	busiest: number;
}
interface Worst {
	link: number | null;
	from: number;
	port: number;
	flows: number;
	routes: number;
}
interface Measured {
	hosts: number;
	without_lid: number;
	links: number;
	hops: { max: number; mean: number } | null;
	patterns: Pattern[];
	worst: Worst[];
	engine?: string | null;
	mechanism?: string;
	manager?: number;
	instead?: boolean;
	lanes?: number;
}

/* Names of patterns as a person reads them. */
const TITLE: Record<string, [string, string]> = {
	bisection: ['Random pairs', 'hosts in pairs at random, both of a pair send to each other'],
	permutations: ['Permutations', 'each host sends to one and receives from one'],
	shifts: ['Shifts', 'host i sends to host i + k, for every k'],
	shifts_by_name: ['Shifts by name', 'the same, hosts in the order of their names'],
	all_to_all: ['All to all', 'each host sends to all others at once'],
	bit_complement: ['Bit complement', 'host i sends to host n - 1 - i'],
	tornado: ['Tornado', 'host i sends half way round'],
	ring: ['Ring', 'host i sends to host i + 1'],
	neighbours_2d: ['Neighbours, 2D', 'each host sends to its neighbours in a grid'],
	neighbours_3d: ['Neighbours, 3D', 'each host sends to its neighbours in a grid'],
	recursive_doubling: ['Recursive doubling', 'step k: host i sends to host i xor 2^k'],
	incast: ['Incast', 'all hosts send to the storage nodes'],
};
const percent = (share: number): string => `${Math.round(100 * share)} %`;

export class Quality implements Tab {
	readonly id = 'quality';
	readonly title = 'Quality';
	pane!: Pane;
	private result: Measured | null = null;
	private at = '';
	private busy = false;
	private error = '';

	constructor(private readonly p: PaneParts) {
		p.app.on(['fabric'], () => this.forget());
		p.app.on(['run', 'overlay'], () => this.pane?.update('quality'));
	}

	private forget(): void {
		this.result = null;
		this.error = '';
		this.pane?.update('quality');
	}

	async measure(): Promise<void> {
		const { app } = this.p, fabric = app.fabric;
		if (this.busy)
			return;
		this.busy = true;
		this.error = '';
		this.pane.update('quality');
		try {
			const got = (await app.command({ cmd: 'quality' }))['quality'] as Measured | undefined;
			if (app.fabric === fabric && got) {
				this.result = got;
				this.at = app.isLive ? new Date().toTimeString().slice(0, 8) : `${(app.run.now / 1e9).toFixed(3)} ms`;
				this.colour();
			}
		} catch (e) {
			this.error = errorText(e);
		} finally {
			this.busy = false;
			this.pane.update('quality');
		}
	}

	/* The worst links by their flows, all others dim. */
	private colour(): void {
		const r = this.result, heat = new Map<number, number>(), nodes = new Set<number>(), f = this.p.app.fabric?.f;
		if (!r || !f)
			return;
		const load = r.worst.map((w) => w.flows || w.routes), most = Math.max(...load, 1e-9), least = Math.min(...load, most);
		const colour = (v: number): number => Math.round(90 + (165 * (v - least)) / Math.max(most - least, 1e-9));
		for (const w of r.worst)
			if (w.link !== null && w.link < f.nlinks) {
				heat.set(w.link, Math.max(heat.get(w.link) ?? 0, colour(w.flows || w.routes)));
				nodes.add(f.a[w.link]!).add(f.b[w.link]!);
			}
		this.p.app.setOverlay({ title: 'quality', nodes, links: new Set(heat.keys()), heat });
	}

	render(body: HTMLElement): void {
		const { app } = this.p, r = this.result, on = app.overlay?.title === 'quality';
		fill(body, h('h2', {}, 'Quality of routes'),
			h('div', { class: 'chips' },
				h('button', { type: 'button', class: 'main', disabled: this.busy || !(app.isLive || app.run.started), onclick: () => void this.measure() }, this.busy ? 'measuring …' : r ? 'Measure again' : 'Measure'),
				r ? h('button', { type: 'button', 'aria-pressed': String(on), onclick: () => (on ? app.setOverlay(null) : this.colour()) }, 'Worst links as colours') : null),
			h('p', { class: 'dim' }, r ? `By the tables of ${this.at}. A share of 100 %: only the two hosts limit a flow, not the fabric.` : 'Traffic patterns are laid over the forwarding tables in force, without a simulation: what share of a link each flow gets.'),
			app.isLive || app.run.started ? null : h('p', {}, 'Start the run first (', h('kbd', {}, 'Space'), '): there are no tables yet.'),
			this.error ? h('p', { class: 'bad' }, this.error) : null, r ? [this.engine(r), this.patterns(r), this.worst(r)] : null);
	}

	private engine(r: Measured): HTMLElement {
		const { app } = this.p, live = app.live.status, engine = String(r.engine ?? live?.['engine'] ?? '–'), mechanism = r.mechanism ?? String(live?.['mechanism'] ?? '');
		const why = r.instead ? `fera, because ${engine} cannot route this fabric` : engine === 'fera' && mechanism === 'weft' ? 'fera, which the mechanism updates after changes' : engine;
		return kv([['Engine', why], ['Asked for by', r.manager === undefined ? `mechanism ${mechanism}` : `SM ${r.manager}, mechanism ${mechanism}`],
			...(app.isLive && live?.['routes_computed'] ? [['Computed', `${countText(Number(live['routes_computed']))} times, ${Number(live['compute_s'] ?? 0).toFixed(3)} s in all`] as [string, string]] : []),
			...(r.lanes ? [['Virtual lanes', String(r.lanes)] as [string, string]] : []),
			['Hosts', countText(r.hosts) + (r.without_lid ? `, and ${countText(r.without_lid)} without LID` : '')], ['Links of switches', countText(r.links)],
			...(r.hops ? [['Links of a path', `${r.hops.mean} mean, ${r.hops.max} most`] as [string, string]] : [])]);
	}

	private patterns(r: Measured): HTMLElement {
		return h('section', {}, h('h3', {}, `Share of a link that flows get${r.patterns[0]?.drawn ? ` (${countText(r.patterns[0].drawn)} patterns drawn)` : ''}`), h('table', {}, h('thead', {}, h('tr', {}, ['Pattern', 'Mean', 'Lowest 5 %', 'Worst'].map((t) => h('th', {}, t)))),
			h('tbody', {}, r.patterns.map((x) => h('tr', { title: `${TITLE[x.pattern]?.[1] ?? x.pattern}: ${countText(x.flows)} flows of ${countText(x.drawn ?? 1)} patterns, at most ${countText(x.busiest)} over a link` },
				h('td', {}, TITLE[x.pattern]?.[0] ?? x.pattern), h('td', { class: 'num' }, percent(x.mean)), h('td', { class: 'num' }, percent(x.p5)), h('td', { class: x.no_path ? 'num bad' : 'num' }, x.no_path ? `${countText(x.no_path)} no path` : percent(x.worst)))))));
	}

	private worst(r: Measured): HTMLElement {
		const { app, view } = this.p, f = app.fabric!;
		const name = (w: Worst): HTMLElement => {
			const link = w.link, to = link === null || link >= f.nlinks ? -1 : f.peer(link, w.from);
			return h('button', { type: 'button', class: 'ref', onclick: () => {
				app.select(link === null ? [w.from] : [], link ?? -1);
				view.reveal(to < 0 ? [w.from] : [w.from, to]);
			} }, `${f.f.name[w.from] ?? '?'} [${w.port}] → ${to < 0 ? '?' : f.f.name[to]!}`);
		};
		return h('section', {}, h('h3', {}, 'Busiest links between switches'), r.worst.length === 0 ? h('p', { class: 'dim' }, 'None has a route.')
			: h('table', {}, h('thead', {}, h('tr', {}, ['Link', 'Flows', 'Routes'].map((t) => h('th', {}, t)))),
				h('tbody', {}, r.worst.map((w) => h('tr', {}, h('td', {}, name(w)), h('td', { class: 'num', title: 'of random pairs, in the mean' }, w.flows.toFixed(2)), h('td', { class: 'num' }, w.routes ? countText(w.routes) : '–'))))));
	}
}
