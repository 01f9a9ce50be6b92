// SPDX-License-Identifier: BSD-2-Clause
//
// A running manager: its status, changes as they happen, virtual machines. Shown only on a live fabric.
import type { App } from '../app.ts';
import { fill, h } from '../dom.ts';
import type { Json } from '../wire/engine.ts';
import { type Pane, type Tab, kv } from './pane.ts';

const flat = (v: unknown): string => (typeof v === 'object' && v !== null ? JSON.stringify(v) : String(v));

function table(rows: Json[], most: number): HTMLElement {
	const keys = [...new Set(rows.flatMap((r) => Object.keys(r)))].slice(0, 5);
	return h('table', {}, h('thead', {}, h('tr', {}, keys.map((k) => h('th', {}, k.replace(/_/g, ' '))))),
		h('tbody', {}, rows.slice(-most).reverse().map((r) => h('tr', {}, keys.map((k) => h('td', { class: 'num' }, r[k] === undefined ? '' : flat(r[k])))))));
}

export class Live implements Tab {
	readonly id = 'live';
	readonly title = 'Live';
	pane!: Pane;

	constructor(private readonly app: App) {
		app.on(['live'], () => this.pane?.update('live'));
	}

	shown = (): boolean => this.app.isLive;

	render(body: HTMLElement): void {
		const l = this.app.live;
		fill(body, h('h2', {}, `Manager ${this.app.hello?.live ?? ''}`),
			l.status ? kv(Object.entries(l.status).map(([k, v]) => [k.replace(/_/g, ' '), flat(v)])) : h('p', { class: 'dim' }, 'Waiting for its status.'),
			h('h3', {}, 'Changes'), l.changes.length ? table(l.changes, 50) : h('p', { class: 'dim' }, 'None yet.'),
			l.vms.length ? [h('h3', {}, 'Virtual machines'), table(l.vms, 200)] : null,
			l.events.length ? [h('h3', {}, 'Log'), h('pre', {}, l.events.slice(-60).map(flat).reverse().join('\n'))] : null);
	}
}
