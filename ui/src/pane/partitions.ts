// SPDX-License-Identifier: BSD-2-Clause
//
// Partitions of a live subnet: all of them, the members of the chosen one, lit on the fabric, and its multicast groups.
import { fill, h } from '../dom.ts';
import { groupName } from '../model/groups.ts';
import { countText } from '../model/iba.ts';
import { PIECE, Repeat, control, placeOf, rows } from './asking.ts';
import { type Pane, type Tab, errorText, kv } from './pane.ts';
import type { PaneParts } from './registry.ts';

interface Partition {
	pkey: string;
	name: string;
	ipoib: boolean;
	indx0: boolean;
	sl: number;
	mtu: number;
	rate: number;
	full: number;
	limited: number;
	groups: { mgid: string; mlid: string; ipoib: boolean }[];
	members: { guid: string; name: string; node?: string; port: number; as: string }[];
}

const MOST = 2000, OVERLAY = 'partition';
/* How many members of one partition are read, to be lit; and listed. */
const LIT = 20000, LISTED = 500;

export class Partitions implements Tab {
	readonly id = 'partitions';
	readonly title = 'Partitions';
	pane!: Pane;
	private list: Partition[] | null = null;
	private all = 0;
	private configured = false;
	private chosen = '';
	private members: Partition['members'] = [];
	private error = '';
	private text = '';
	/* Nothing is lit on another fabric; then it is lit again. */
	private lit = false;
	private readonly repeat: Repeat;

	constructor(private readonly p: PaneParts) {
		const { app } = p;
		this.repeat = new Repeat(() => app.isLive && !app.live.lost && this.pane?.open_id === this.id, 5, () => this.read());
		app.on(['changes'], () => this.repeat.soon(true));
		app.on(['fabric'], () => this.lit && this.light());
		app.on(['overlay'], () => {
			this.lit = app.overlay?.title === OVERLAY;
			this.pane?.update(this.id);
		});
	}

	shown = (): boolean => this.p.app.isLive;

	private async read(): Promise<void> {
		const { app } = this.p;
		try {
			const got = await rows<Partition>(app, { cmd: 'partitions', members: 0, at_rest: 1 }, 'partitions', MOST);
			this.list = got?.rows ?? this.list;
			this.all = got?.all ?? this.all;
			this.configured = (await control(app, { cmd: 'partitions', members: 0, first: 0, count: 1 }))['configured'] === true;
			this.error = '';
		} catch (e) {
			this.error = errorText(e);
		}
		const text = JSON.stringify([this.list, this.configured, this.error]), other = text !== this.text;
		this.text = text;
		if (other && this.chosen)
			await this.readMembers(false).catch(() => {});
		if (other)
			this.pane.update(this.id);
	}

	/* All members of the chosen partition, in pieces. */
	private async readMembers(light: boolean): Promise<void> {
		const { app } = this.p, pkey = this.chosen, members: Partition['members'] = [];
		for (let first = 0; members.length < LIT;) {
			const a = await control(app, { cmd: 'partitions', pkey, first, count: PIECE }), next = Number(a['next'] ?? 0);
			for (const x of (a['partitions'] ?? []) as Partition[])
				members.push(...x.members);
			if (next >= Number(a['records'] ?? 0) || next <= first)
				break;
			first = next;
		}
		if (pkey !== this.chosen)
			return;
		this.members = members;
		if (light || this.lit)
			this.light();
	}

	async choose(pkey: string): Promise<void> {
		this.chosen = pkey;
		this.members = [];
		this.pane.update(this.id);
		await this.readMembers(true).catch((e: unknown) => this.p.app.report(errorText(e), true));
		this.pane.update(this.id);
	}

	/* Its members, and the links of their ports. */
	private light(): void {
		const { app } = this.p, f = app.fabric, nodes = new Set<number>(), links = new Set<number>();
		for (const m of f ? this.members : []) {
			const n = m.node ? f!.byGuid.get(BigInt(m.node)) : undefined, l = n === undefined ? -1 : f!.linkAt(n, m.port);
			if (n !== undefined)
				nodes.add(n);
			if (l >= 0)
				links.add(l);
		}
		app.setOverlay({ title: OVERLAY, nodes, links });
	}

	render(body: HTMLElement): void {
		if (!this.list)
			this.repeat.soon(true);
		fill(body, h('h2', {}, this.list === null ? 'Partitions' : this.all === 1 ? '1 partition' : `${countText(this.all)} partitions`),
			this.error ? h('p', { class: 'bad' }, this.error) : null,
			this.list === null ? h('p', { class: 'dim' }, this.error ? '' : 'The manager is asked.') : [
				h('p', { class: 'dim' }, this.configured ? 'Choose a partition: its members are lit on the fabric.' : 'None is configured: all ports are full members of the default partition.'), this.detail(), this.table(this.list)]);
	}

	private table(list: Partition[]): HTMLElement {
		return h('section', {}, h('h3', {}, 'Partitions'), h('table', {}, h('thead', {}, h('tr', {}, ['Name', 'P_Key', 'Full', 'Limited'].map((x) => h('th', {}, x)))), h('tbody', {}, list.map((t) => h('tr', { class: t.pkey === this.chosen ? 'on' : null },
			h('td', {}, h('button', { type: 'button', class: 'ref', 'aria-pressed': String(t.pkey === this.chosen), onclick: () => void this.choose(t.pkey) }, t.name || t.pkey)),
			h('td', { class: 'num' }, t.pkey), h('td', { class: 'num' }, countText(t.full)), h('td', { class: 'num' }, countText(t.limited)))))),
			this.all > list.length ? h('p', { class: 'dim' }, `The first ${countText(list.length)}.`) : null);
	}

	private detail(): HTMLElement | null {
		const { app } = this.p, t = this.list?.find((x) => x.pkey === this.chosen), on = app.overlay?.title === OVERLAY;
		if (!t)
			return null;
		return h('section', { class: 'card' }, kv([['Partition', t.name || '–'], ['P_Key', t.pkey + (t.indx0 ? ', at index 0' : '')], ['SL, MTU, rate', `${t.sl}, ${t.mtu}, ${t.rate} Gb/s`], ['Members', `${countText(t.full)} full, ${countText(t.limited)} limited`],
			...t.groups.map((g): [string, string] => [groupName(g.mgid) || 'Group', `${g.mlid}${groupName(g.mgid) ? '' : ` ${g.mgid}`}`])]),
			h('div', { class: 'chips' }, h('button', { type: 'button', 'aria-pressed': String(on), disabled: !this.members.length, onclick: () => (on ? app.setOverlay(null) : this.light()) }, 'Members on the fabric')),
			this.memberTable());
	}

	private memberTable(): HTMLElement | null {
		return this.members.length === 0 ? null : h('section', {}, h('table', {}, h('tbody', {}, this.members.slice(0, LISTED).map((m) => h('tr', { title: m.guid },
			h('td', {}, placeOf(this.p, m)), h('td', { class: 'num' }, m.port ? `port ${m.port}` : ''), h('td', { class: 'dim' }, m.as))))),
			this.members.length > LISTED ? h('p', { class: 'dim' }, `The first ${LISTED} of ${countText(this.members.length)}.`) : null);
	}
}
