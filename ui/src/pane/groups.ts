// SPDX-License-Identifier: BSD-2-Clause
//
// Multicast groups of a live subnet: all of them, the members of the chosen one, and its tree on the fabric, by the tables that
// switches acknowledged.
import { fill, h } from '../dom.ts';
import { type Group, type Member, type Tree, type TreeRow, groupName, notReached, treeOf } from '../model/groups.ts';
import { countText } from '../model/iba.ts';
import { PIECE, Repeat, control, placeOf, rows } from './asking.ts';
import { type Pane, type Tab, errorText, kv } from './pane.ts';
import type { PaneParts } from './registry.ts';

const MOST_GROUPS = 2000, SHOWN = 300;
const OVERLAY = 'group';

export class Groups implements Tab {
	readonly id = 'groups';
	readonly title = 'Groups';
	pane!: Pane;
	private groups: Group[] | null = null;
	private all = 0;
	private chosen = '';
	private members: Member[] = [];
	private tree: Tree | null = null;
	private filter = '';
	private error = '';
	private text = '';
	/* Nothing is lit on another fabric; then it is lit again. */
	private lit = false;
	private readonly repeat: Repeat;

	constructor(private readonly p: PaneParts) {
		const { app } = p;
		this.repeat = new Repeat(() => app.isLive && !app.live.lost && this.pane?.open_id === this.id, 3, () => this.read());
		app.on(['changes'], () => this.repeat.soon(true));
		app.on(['fabric'], () => {
			this.tree = null;
			this.text = '';
			this.repeat.soon(true);
		});
		app.on(['overlay'], () => {
			this.lit = app.overlay?.title === OVERLAY;
			this.pane?.update(this.id);
		});
	}

	shown = (): boolean => this.p.app.isLive;

	/* Draws again only what is other than before. */
	private async read(): Promise<void> {
		const { app } = this.p;
		try {
			const list = await rows<Group>(app, { cmd: 'groups', members: 0, at_rest: 1 }, 'groups', MOST_GROUPS);
			if (list) {
				this.groups = list.rows;
				this.all = list.all;
			}
			this.error = '';
			await this.readChosen();
		} catch (e) {
			this.error = errorText(e);
		}
		const text = JSON.stringify([this.groups, this.all, this.members, this.error, this.tree && [...this.tree.links]]);
		if (text !== this.text)
			this.pane.update(this.id);
		this.text = text;
	}

	private async readChosen(): Promise<void> {
		const { app } = this.p, g = this.group(), f = app.fabric;
		if (!g || !f)
			return;
		const m = (await control(app, { cmd: 'groups', mgid: g.mgid, first: 0, count: PIECE, at_rest: 1 }))['groups'] as { members: Member[] }[] | undefined;
		const t = await rows<TreeRow>(app, { cmd: 'group_tree', mlid: g.mlid, at_rest: 1 }, 'tree');
		if (this.chosen !== g.mgid || app.fabric !== f)
			return;
		if (m)
			this.members = m[0]?.members ?? [];
		if (!t)
			return;
		const links = (x: Tree | null): string => (x ? [...x.links].join() : ''), tree = treeOf(f, t.rows), other = links(tree) !== links(this.tree);
		this.tree = tree;
		if (other && this.lit)
			this.light();
	}

	private group(): Group | undefined {
		return this.groups?.find((g) => g.mgid === this.chosen);
	}

	/* Its tree is lit; the view moves so that all of it is seen. */
	async choose(mgid: string): Promise<void> {
		const { app, view } = this.p;
		this.chosen = mgid;
		this.members = [];
		this.tree = null;
		this.pane.update(this.id);
		try {
			await this.readChosen();
			if (this.chosen === mgid)
				this.light();
			const seen = app.overlay?.title === OVERLAY ? [...app.overlay.nodes] : [];
			if (seen.length)
				view.reveal(seen);
		} catch (e) {
			app.report(errorText(e), true);
		}
		this.pane.update(this.id);
	}

	private light(): void {
		if (this.tree)
			this.p.app.setOverlay({ title: OVERLAY, nodes: this.tree.nodes, links: this.tree.links });
	}

	render(body: HTMLElement): void {
		if (!this.groups)
			this.repeat.soon(true);
		const filter = h('input', { type: 'search', 'aria-label': 'MGID, MLID or P_Key', placeholder: 'MGID, MLID or P_Key', value: this.filter }), table = h('div', {});
		filter.addEventListener('input', () => {
			this.filter = filter.value;
			fill(table, this.table());
		});
		fill(body, h('h2', {}, this.groups === null ? 'Multicast groups' : this.all === 1 ? '1 multicast group' : `${countText(this.all)} multicast groups`),
			this.error ? h('p', { class: 'bad' }, this.error) : null,
			this.groups === null ? h('p', { class: 'dim' }, 'The manager is asked.') : this.groups.length === 0 ? h('p', { class: 'dim' }, 'None: no host has joined one, and no partition has groups of IP over InfiniBand.') : [
				this.detail() ?? h('p', { class: 'dim' }, 'Choose a group: its tree is lit on the fabric.'), this.groups.length > 8 ? filter : null, table]);
		fill(table, this.table());
	}

	private table(): HTMLElement | null {
		const t = this.filter.trim().toLowerCase();
		const list = (this.groups ?? []).filter((g) => !t || [g.mgid, g.mlid, g.pkey, groupName(g.mgid).toLowerCase()].some((x) => x.includes(t)));
		return h('section', {}, h('h3', {}, 'Groups'), h('table', {}, h('thead', {}, h('tr', {}, ['Group', 'MLID', 'P_Key', 'Members'].map((x) => h('th', {}, x)))), h('tbody', {}, list.slice(0, SHOWN).map((g) => h('tr', { title: g.mgid, class: g.mgid === this.chosen ? 'on' : null },
			h('td', {}, h('button', { type: 'button', class: 'ref', 'aria-pressed': String(g.mgid === this.chosen), onclick: () => void this.choose(g.mgid) }, groupName(g.mgid) || g.mgid)),
			h('td', { class: 'num' }, g.mlid), h('td', { class: 'num' }, g.pkey), h('td', { class: 'num' }, countText(g.count)))))),
			list.length > SHOWN || this.all > (this.groups?.length ?? 0) ? h('p', { class: 'dim' }, `The first ${Math.min(SHOWN, list.length)} of ${countText(Math.max(list.length, this.all))}.`) : null);
	}

	private detail(): HTMLElement | null {
		const { app } = this.p, g = this.group(), t = this.tree, on = app.overlay?.title === OVERLAY, f = app.fabric;
		if (!g || !f)
			return null;
		const lost = t ? notReached(f, t, this.members) : [];
		return h('section', { class: 'card' }, kv([['Group', groupName(g.mgid) || g.mgid], ['MGID', g.mgid], ['MLID', g.mlid], ['P_Key, Q_Key', `${g.pkey}, ${g.qkey}`], ['SL, MTU, rate', `${g.sl}, ${g.mtu}, ${g.rate} Gb/s`],
			['Tree', !t ? 'is read' : t.links.size ? `${countText(t.switches)} ${t.switches === 1 ? 'switch' : 'switches'}, ${countText(t.links.size)} links` : 'none: fewer than two members']]),
			lost.length ? h('p', { class: 'bad' }, `The tree does not lead to ${lost.slice(0, 3).map((m) => m.name || m.guid).join(', ')}${lost.length > 3 ? ` and ${lost.length - 3} more` : ''}.`) : null,
			h('div', { class: 'chips' }, h('button', { type: 'button', 'aria-pressed': String(on), disabled: !t?.nodes.size, onclick: () => (on ? app.setOverlay(null) : this.light()) }, 'Tree on the fabric')),
			this.memberTable(g));
	}

	private memberTable(g: Group): HTMLElement {
		return h('section', {}, h('h3', {}, g.count === 1 ? '1 member' : `${countText(g.count)} members`), this.members.length === 0 ? null
			: h('table', {}, h('tbody', {}, this.members.map((m) => h('tr', { title: m.guid }, h('td', {}, placeOf(this.p, m)), h('td', { class: 'dim' }, m.full ? 'full' : m.non_member ? 'receives' : 'sends only'))))),
			this.members.length < g.count ? h('p', { class: 'dim' }, `The first ${countText(this.members.length)}.`) : null);
	}
}
