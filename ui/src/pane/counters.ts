// SPDX-License-Identifier: BSD-2-Clause
//
// Port counters of a live subnet: of the chosen node, or of several, ranked by traffic and by errors. Devices are asked when
// the person asks, one at a time; nothing is collected in between.
import { fill, h } from '../dom.ts';
import { countText } from '../model/iba.ts';
import type { Json } from '../wire/engine.ts';
import { type Pane, type Tab, errorText, kv } from './pane.ts';
import type { PaneParts } from './registry.ts';

interface PortCounters {
	node: number;
	port: number;
	at: number;
	all: [string, number][];
	data: number;
	errors: number;
}

const MOST = 64;
const DATA = ['xmit_data', 'rcv_data'];
const NO_ERROR = /^(xmit|rcv)_(data|pkts|wait)$|^(uni|multi)_/;
const sum = (all: [string, number][], wanted: (name: string) => boolean): number => all.reduce((n, [k, v]) => n + (wanted(k) ? v : 0), 0);

/* Counters of data are in words of four bytes. */
export function bytesText(words: number): string {
	let n = words * 4;
	for (const unit of ['B', 'KB', 'MB', 'GB', 'TB'])
		if (n < 1000 || unit === 'TB')
			return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`;
		else
			n /= 1000;
	return '';
}

export function portCounters(node: number, answer: Json, at: number): PortCounters[] {
	return ((answer['ports'] ?? []) as { port: number; counters: [string, string][] }[]).map((p) => {
		const all = p.counters.map(([k, v]) => [k, Number(v)] as [string, number]);
		return { node, port: p.port, at, all, data: sum(all, (k) => DATA.includes(k)), errors: sum(all, (k) => !NO_ERROR.test(k)) };
	});
}

export class Counters implements Tab {
	readonly id = 'counters';
	readonly title = 'Counters';
	pane!: Pane;
	private rows: PortCounters[] = [];
	private before = new Map<string, PortCounters>();
	private asking = '';
	private error = '';
	private stop = false;

	constructor(private readonly p: PaneParts) {
		p.app.on(['select'], () => this.pane?.update('counters'));
		p.app.on(['fabric'], () => {
			this.rows = [];
			this.before.clear();
			this.pane?.update('counters');
		});
	}

	shown = (): boolean => this.p.app.isLive;

	/* Of these nodes, one after another. */
	async read(nodes: number[]): Promise<void> {
		const { app } = this.p, f = app.fabric;
		if (!f || this.asking)
			return;
		this.before = new Map(this.rows.map((r) => [`${r.node}.${r.port}`, r]));
		this.rows = [];
		this.error = '';
		this.stop = false;
		for (const [i, n] of nodes.entries()) {
			this.asking = nodes.length > 1 ? `${i + 1} of ${nodes.length}` : f.f.name[n]!;
			this.pane.update('counters');
			try {
				const r = await app.command({ cmd: 'counters', node: app.guid(n) });
				this.rows.push(...portCounters(n, (r['answer'] ?? {}) as Json, performance.now()));
			} catch (e) {
				this.error = `${f.f.name[n]}: ${errorText(e)}`;
			}
			if (this.stop || app.fabric !== f)
				break;
			if (nodes.length > 1)
				await new Promise((done) => setTimeout(done, 60));
		}
		this.asking = '';
		this.pane.update('counters');
	}

	render(body: HTMLElement): void {
		const { app } = this.p, chosen = this.chosen();
		fill(body, h('h2', {}, 'Port counters'),
			h('div', { class: 'chips' },
				this.asking ? h('button', { type: 'button', onclick: () => { this.stop = true; } }, `asking ${this.asking} … stop`)
					: h('button', { type: 'button', class: 'main', disabled: chosen.length === 0, onclick: () => void this.read(chosen) }, this.label(chosen))),
			h('p', { class: 'dim' }, chosen.length ? 'The devices are asked now, through the manager.' : `Choose a node, a link or up to ${MOST} nodes. In fabrics of up to ${MOST} switches nothing needs to be chosen.`),
			this.error ? h('p', { class: 'bad' }, this.error) : null,
			app.node >= 0 || app.link >= 0 ? this.ofSelection() : null, this.ranked('Busiest ports', (r) => this.flow(r), (r) => this.flowText(r)), this.ranked('Ports with errors', (r) => r.errors, (r) => this.errorsText(r)));
	}

	/* The chosen nodes; the ends of the chosen link; else all switches, if they are few. */
	private chosen(): number[] {
		const { app } = this.p, f = app.fabric?.f;
		if (!f)
			return [];
		if (app.nodes.size)
			return [...app.nodes].slice(0, MOST);
		if (app.link >= 0)
			return [f.a[app.link]!, f.b[app.link]!];
		const state = app.lastState?.node, switches = [...f.type.keys()].filter((n) => f.type[n] === 2 && (!state || state[n]! & 1));
		return switches.length <= MOST ? switches : [];
	}

	private label(nodes: number[]): string {
		const f = this.p.app.fabric?.f;
		return nodes.length === 0 ? 'Read counters' : nodes.length === 1 ? `Read counters of ${f!.name[nodes[0]!]}` : `Read counters of ${nodes.length} nodes`;
	}

	/* Since the reading before, else since they were cleared. */
	private flow(r: PortCounters): number {
		const b = this.before.get(`${r.node}.${r.port}`);
		return b && r.at > b.at && r.data >= b.data ? (r.data - b.data) / ((r.at - b.at) / 1000) : r.data;
	}
	private flowText(r: PortCounters): string {
		const b = this.before.get(`${r.node}.${r.port}`);
		return b && r.data >= b.data ? `${bytesText(this.flow(r))}/s` : bytesText(r.data);
	}
	private errorsText(r: PortCounters): string {
		return r.all.filter(([k, v]) => v > 0 && !NO_ERROR.test(k)).sort((p, q) => q[1] - p[1]).slice(0, 3).map(([k, v]) => `${k} ${countText(v)}`).join(', ');
	}

	private place(r: PortCounters): HTMLElement {
		const { app, view } = this.p, f = app.fabric!, link = f.linkAt(r.node, r.port);
		return h('button', { type: 'button', class: 'ref', onclick: () => {
			if (link >= 0)
				app.select([], link);
			else
				app.select([r.node]);
			view.reveal([r.node]);
		} }, `${f.f.name[r.node]} [${r.port}]`);
	}

	private ranked(title: string, value: (r: PortCounters) => number, text: (r: PortCounters) => string): HTMLElement | null {
		const list = this.rows.filter((r) => value(r) > 0).sort((p, q) => value(q) - value(p)).slice(0, 12);
		if (this.rows.length === 0)
			return null;
		return h('section', {}, h('h3', {}, title), list.length ? h('table', {}, h('tbody', {}, list.map((r) => h('tr', {}, h('td', {}, this.place(r)), h('td', { class: 'num' }, text(r)))))) : h('p', { class: 'dim' }, 'None.'));
	}

	private ofSelection(): HTMLElement | null {
		const { app } = this.p, f = app.fabric!.f, l = app.link;
		const rows = this.rows.filter((r) => r.node === app.node || (l >= 0 && ((r.node === f.a[l] && r.port === f.pa[l]) || (r.node === f.b[l] && r.port === f.pb[l]))));
		return rows.length === 0 ? null : h('section', {}, rows.map((r) => h('details', { open: l >= 0 }, h('summary', {}, `${f.name[r.node]} port ${r.port}`, h('span', { class: r.errors ? 'bad' : 'dim' }, ` ${bytesText(r.data)}${r.errors ? `, ${countText(r.errors)} errors` : ''}`)),
			kv(r.all.map(([k, v]) => [k, countText(v)])))));
	}
}
