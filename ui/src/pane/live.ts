// SPDX-License-Identifier: BSD-2-Clause
//
// A running manager: its state, all managers of the subnet, the subnet in numbers, its log. Shown only on a live fabric.
import { fill, h } from '../dom.ts';
import { countText } from '../model/iba.ts';
import type { Json } from '../wire/engine.ts';
import { type Pane, type Tab, kv } from './pane.ts';
import type { PaneParts } from './registry.ts';

const num = (o: Json | undefined, key: string): string => (typeof o?.[key] === 'number' ? countText(o[key] as number) : '–');

function uptime(s: number): string {
	const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
	return d ? `${d} d ${h} h` : h ? `${h} h ${m} min` : m ? `${m} min` : `${Math.floor(s)} s`;
}

export class Live implements Tab {
	readonly id = 'live';
	readonly title = 'Live';
	pane!: Pane;

	constructor(private readonly p: PaneParts) {
		p.app.on(['live'], () => this.pane?.update('live'));
	}

	shown = (): boolean => this.p.app.isLive;

	render(body: HTMLElement): void {
		const { app } = this.p, l = app.live, s = l.status;
		fill(body, h('h2', {}, `Manager ${app.hello?.live ?? ''}`),
			l.lost ? h('p', { class: 'bad' }, `The manager does not answer: ${l.lost}`) : null,
			s ? this.overview(s) : h('p', { class: 'dim' }, 'Waiting for its status.'),
			this.managers(), this.log());
	}

	private overview(s: Json): HTMLElement {
		const net = s['subnet'] as Json | undefined, state = String(s['state'] ?? '–'), last = s['last_change'] as Json | null;
		return h('section', {},
			kv([['State', h('span', { class: `st ${state.replace('NotActive', 'Not-active')}` }, state)], ['Phase', `${String(s['phase'] ?? '–')}${s['change_pending'] ? ', a change is under way' : ''}`],
				['Mechanism', String(s['mechanism'] ?? '–')], ['Routes by', String(s['engine'] ?? '–')], ['Port', String((s['port'] as Json | undefined)?.['name'] ?? '–')], ['Running for', uptime(Number(s['uptime_s'] ?? 0))],
				['Switches', num(net, 'switches')], ['Hosts', num(net, 'hosts')], ['Links', num(net, 'links')], ['LIDs', num(net, 'lids')],
				['Changes', num(s, 'changes')], ['Last change', last ? `${String(last['cause'])}, ${Number(last['time_s']).toFixed(3)} s` : '–'],
				['SMPs', num(s['smps'] as Json | undefined, 'all')], ['Retries, timeouts', `${num(s, 'retries')}, ${num(s, 'timeouts')}`]]));
	}

	private managers(): HTMLElement {
		const { app, inspect } = this.p, f = app.fabric, list = app.live.managers;
		/* STATE has the managers of the picture in the same order, with their nodes. */
		const nodes = app.run.managers.map((m) => m.node);
		return h('section', {}, h('h3', {}, list.length === 1 ? 'One manager' : `${list.length} managers`),
			h('table', {}, h('thead', {}, h('tr', {}, ['Where', 'State', 'Priority'].map((t) => h('th', {}, t)))),
				h('tbody', {}, list.map((m, i) => h('tr', {},
					h('td', {}, f && list.length === nodes.length && nodes[i]! < f.nnodes ? inspect.ref(nodes[i]!) : m.name || m.guid, m.own ? h('span', { class: 'dim' }, ' this one') : null),
					h('td', {}, h('span', { class: `st ${m.answers === false ? 'stopped' : m.state.replace('NotActive', 'Not-active')}` }, m.answers === false ? 'silent' : m.state),
						m.guid === app.live.master ? h('span', { class: 'dim' }, ' in charge') : null),
					h('td', { class: 'num' }, String(m.priority)))))));
	}

	private log(): HTMLElement | null {
		const list = this.p.app.live.events.slice(-60).reverse();
		return list.length === 0 ? null : h('section', {}, h('h3', {}, 'Log'), h('table', { class: 'log-live' }, h('tbody', {}, list.map((e) => h('tr', {},
			h('td', { class: 'num dim' }, String(e['time'] ?? '').slice(11, 23)), h('td', {}, String(e['text'] ?? e['message'] ?? e['event'] ?? JSON.stringify(e))))))));
	}
}
