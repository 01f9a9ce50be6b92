// SPDX-License-Identifier: BSD-2-Clause
//
// Changes of a live subnet as they happen, newest first: the cable or node behind each, what the manager did about it. A
// click shows the place.
import { fill, h } from '../dom.ts';
import { countText } from '../model/iba.ts';
import type { Change, ChangeItem } from '../model/live.ts';
import type { Pane, Tab } from './pane.ts';
import type { PaneParts } from './registry.ts';

const ITEMS = 12;

export class Changes implements Tab {
	readonly id = 'changes';
	readonly title = 'Changes';
	pane!: Pane;
	private last = -1;

	constructor(private readonly p: PaneParts) {
		p.app.on(['live', 'fabric'], () => {
			const n = p.app.live.changes.at(-1)?.number ?? 0;
			if (n !== this.last)
				this.pane?.update('changes');
			this.last = n;
		});
	}

	shown = (): boolean => this.p.app.isLive;

	render(body: HTMLElement): void {
		const list = [...this.p.app.live.changes].reverse();
		fill(body, h('h2', {}, list.length ? `Last ${list.length} changes` : 'Changes'),
			list.length ? list.map((c) => this.card(c)) : h('p', { class: 'dim' }, 'None yet. Each change of the subnet appears here, with the cable or node that caused it.'));
	}

	private card(c: Change): HTMLElement {
		const items = [...(c.nodes ?? []), ...(c.links ?? [])];
		return h('div', { class: 'card' }, h('b', {}, `${c.number} · ${c.cause}`), h('span', { class: 'dim num' }, ` ${c.began.slice(11, 19)}`),
			h('div', {}, items.slice(0, ITEMS).map((i) => this.item(i)), items.length > ITEMS ? h('div', { class: 'dim' }, `and ${items.length - ITEMS + (c.unlisted ?? 0)} more`) : null),
			h('div', { class: 'dim' }, `${Number(c.time_s).toFixed(3)} s, ${countText(c.smps?.['all'] ?? 0)} SMPs, ${countText(c.entries ?? 0)} table entries${c.restarts ? `, ${c.restarts} restarts` : ''}${c.clean === false ? ', not all devices answered' : ''}`));
	}

	private item(i: ChangeItem): HTMLElement {
		const { app, view } = this.p, f = app.fabric, gone = i.event === 'down' || i.event === 'gone';
		const end = i.a && f ? f.byGuid.get(BigInt(i.a.guid)) : undefined, node = i.guid && f ? f.byGuid.get(BigInt(i.guid)) : undefined;
		const link = end !== undefined ? f!.linkAt(end, i.a!.port) : -1;
		const text = i.a && i.b ? `${i.a.name || i.a.guid} [${i.a.port}] – ${i.b.name || i.b.guid} [${i.b.port}]` : i.name || i.text;
		const go = (): void => {
			if (link >= 0) {
				app.select([], link);
				view.reveal([f!.f.a[link]!, f!.f.b[link]!]);
			} else if (node !== undefined) {
				app.select([node]);
				view.reveal([node]);
			}
		};
		return h('div', {}, h('span', { class: `st ${gone ? 'Down' : 'Active'}` }, i.event), ' ',
			link >= 0 || node !== undefined ? h('button', { type: 'button', class: 'ref', title: i.text, onclick: go }, text) : h('span', { title: i.text }, text));
	}
}
