// SPDX-License-Identifier: BSD-2-Clause
//
// Virtual machines of a live subnet, by host, and their moves as they happen.
import { fill, h } from '../dom.ts';
import type { Vm } from '../model/live.ts';
import type { Pane, Tab } from './pane.ts';
import type { PaneParts } from './registry.ts';

const SHOWN = 300;

export class Vms implements Tab {
	readonly id = 'vms';
	readonly title = 'VMs';
	pane!: Pane;
	private list: Vm[] | null = null;
	private filter = '';

	constructor(private readonly p: PaneParts) {
		p.app.on(['live'], () => {
			if (p.app.live.vms !== this.list)
				this.pane?.update('vms');
			this.list = p.app.live.vms;
		});
	}

	shown = (): boolean => this.p.app.isLive;

	render(body: HTMLElement): void {
		const { live } = this.p.app, filter = h('input', { type: 'search', 'aria-label': 'Name, GUID or LID', placeholder: 'name, GUID or LID', value: this.filter });
		const table = h('div', {});
		filter.addEventListener('input', () => {
			this.filter = filter.value;
			fill(table, this.table());
		});
		fill(body, h('h2', {}, live.vms.length === 1 ? '1 virtual machine' : `${live.vms.length} virtual machines`),
			live.vms.length ? filter : h('p', { class: 'dim' }, 'None. ', h('code', {}, 'weft vm create'), ' and ', h('code', {}, 'weft vm start'), ' make one on a host with virtual functions.'),
			live.moves.length ? [h('h3', {}, 'Moves'), h('table', {}, h('tbody', {}, [...live.moves].reverse().slice(0, 30).map((m) => h('tr', {},
				h('td', { class: 'num dim' }, m.at.toTimeString().slice(0, 8)), h('td', {}, m.vm), h('td', {}, m.node === null ? m.text : this.p.inspect.ref(m.node, m.text))))))] : null,
			table);
		fill(table, this.table());
	}

	private table(): HTMLElement | null {
		const { live } = this.p.app, list = this.filter ? live.findVms(this.filter, SHOWN) : live.vms.slice(0, SHOWN);
		return live.vms.length === 0 ? null : h('section', {}, h('h3', {}, 'All'), h('table', {}, h('thead', {}, h('tr', {}, ['VM', 'LID', 'Host', 'VF'].map((t) => h('th', {}, t)))), h('tbody', {}, list.map((v) => h('tr', { title: v.guid },
			h('td', {}, v.vm), h('td', { class: 'num' }, v.lid ? String(v.lid) : '–'), h('td', {}, !v.running || !v.host ? 'stopped' : v.node === null ? v.host.name || v.host.guid : this.p.inspect.ref(v.node, v.host.name || undefined)), h('td', { class: 'num' }, v.running && v.host ? String(v.host.vf) : ''))))),
			!this.filter && live.vms.length > SHOWN ? h('p', { class: 'dim' }, `The first ${SHOWN}; a name, GUID or LID above finds others.`) : null);
	}
}
