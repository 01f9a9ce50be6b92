// SPDX-License-Identifier: BSD-2-Clause
//
// What hosts have registered with a live subnet: services with their leases, and who is told of which notices.
import { fill, h } from '../dom.ts';
import { countText } from '../model/iba.ts';
import { Repeat, placeOf, rows } from './asking.ts';
import { type Pane, type Tab, errorText } from './pane.ts';
import type { PaneParts } from './registry.ts';

interface At {
	guid: string;
	name: string;
	node: string | null;
}
interface Service extends At {
	id: string;
	service: string;
	pkey: string;
	lease_s: number | string;
}
interface Subscription extends At {
	qpn: number;
	generic: boolean;
	trap: number | string;
}
type Rows<T> = { rows: T[]; all: number };

const MOST = 500;
/* Generic traps and notices (IBA 14.2.5.1). */
const TRAP: Record<string, string> = { 64: 'a port comes', 65: 'a port goes', 66: 'a group comes', 67: 'a group goes', 128: 'links change', 129: 'link integrity', 130: 'buffers overrun', 131: 'flow control', 144: 'capabilities', 145: 'system GUID', 256: 'bad M_Key', 257: 'bad P_Key', 258: 'bad Q_Key', 259: 'bad P_Key at a switch', all: 'everything' };

export class Services implements Tab {
	readonly id = 'services';
	readonly title = 'Services';
	pane!: Pane;
	private services: Rows<Service> | null = null;
	private subscriptions: Rows<Subscription> | null = null;
	private error = '';
	private text = '';
	private readonly repeat: Repeat;

	constructor(private readonly p: PaneParts) {
		const { app } = p;
		this.repeat = new Repeat(() => app.isLive && !app.live.lost && this.pane?.open_id === this.id, 3, () => this.read());
		app.on(['fabric'], () => this.pane?.update(this.id));
	}

	shown = (): boolean => this.p.app.isLive;

	private async read(): Promise<void> {
		const { app } = this.p;
		try {
			this.services = (await rows<Service>(app, { cmd: 'services', at_rest: 1 }, 'services', MOST)) ?? this.services;
			this.subscriptions = (await rows<Subscription>(app, { cmd: 'subscriptions', at_rest: 1 }, 'subscriptions', MOST)) ?? this.subscriptions;
			this.error = '';
		} catch (e) {
			this.error = errorText(e);
		}
		const text = JSON.stringify([this.services, this.subscriptions, this.error]);
		if (text !== this.text)
			this.pane.update(this.id);
		this.text = text;
	}

	render(body: HTMLElement): void {
		if (!this.services)
			this.repeat.soon(true);
		const n = this.services?.all ?? 0;
		fill(body, h('h2', {}, !this.services ? 'Services' : n === 1 ? '1 service' : `${countText(n)} services`), this.error ? h('p', { class: 'bad' }, this.error) : null,
			this.services ? this.serviceTable(this.services) : h('p', { class: 'dim' }, 'The manager is asked.'), this.subscriptions ? this.subscriptionTable(this.subscriptions) : null);
	}

	private serviceTable(s: Rows<Service>): HTMLElement {
		return h('section', {}, s.rows.length === 0 ? h('p', { class: 'dim' }, 'No host has registered one.')
			: h('table', {}, h('thead', {}, h('tr', {}, ['Service', 'At', 'Lease'].map((t) => h('th', {}, t)))), h('tbody', {}, s.rows.map((x) => h('tr', { title: `${x.id}, P_Key ${x.pkey}` },
				h('td', {}, x.service || h('span', { class: 'num' }, x.id)), h('td', {}, placeOf(this.p, x)), h('td', { class: 'num' }, typeof x.lease_s === 'number' ? `${countText(x.lease_s)} s` : x.lease_s))))), this.more(s));
	}

	private subscriptionTable(s: Rows<Subscription>): HTMLElement {
		return h('section', {}, h('h3', {}, s.all === 1 ? '1 subscription to notices' : `${countText(s.all)} subscriptions to notices`), s.rows.length === 0 ? h('p', { class: 'dim' }, 'No host has asked to be told.')
			: h('table', {}, h('thead', {}, h('tr', {}, ['Subscriber', 'Trap', 'QP'].map((t) => h('th', {}, t)))), h('tbody', {}, s.rows.map((x) => h('tr', { title: x.guid },
				h('td', {}, placeOf(this.p, x)), h('td', {}, h('span', { class: 'num' }, String(x.trap)), x.generic && TRAP[String(x.trap)] ? h('span', { class: 'dim' }, ` ${TRAP[String(x.trap)]}`) : null), h('td', { class: 'num' }, String(x.qpn)))))), this.more(s));
	}

	private more(s: Rows<unknown>): HTMLElement | null {
		return s.all > s.rows.length ? h('p', { class: 'dim' }, `The first ${countText(s.rows.length)} of ${countText(s.all)}.`) : null;
	}
}
