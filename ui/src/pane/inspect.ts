// SPDX-License-Identifier: BSD-2-Clause
//
// What is chosen: a node with all its attributes, ports, forwarding table and neighbours; a link; several nodes; or the
// fabric when nothing is. Properties can be edited here.
import type { App } from '../app.ts';
import type { Actions } from '../commands.ts';
import { keyText } from '../commands.ts';
import { fill, h } from '../dom.ts';
import { TABLE_MOST, linkKey } from '../model/document.ts';
import { LINK_STATE, NODE_TYPE, SM_STATE, guidText, portsText, rateText } from '../model/iba.ts';
import type { View } from '../view/view.ts';
import { type Pane, type Tab, errorText, fieldRow, kv } from './pane.ts';

/* What a live fabric does not offer: the twin does. */
const NOT_LIVE = new Set(['power', 'cut', 'cut-off', 'loss', 'manager', 'kill', 'pause-manager', 'move-manager', 'delete']);

interface PortReply {
	port: number;
	state?: string;
	phys?: string;
	lid?: number;
	rate?: string;
	width?: string;
	speed?: string;
	peer?: number | null;
	peer_port?: number;
	link?: number;
	fields?: [string, string][];
}
interface NodeReply {
	index: number;
	guid: string;
	lid?: number;
	lmc?: number;
	groups?: { name: string; fields: [string, string][] }[];
	ports?: PortReply[];
	lft?: [number, number, number][];
	given?: { vfs: number; linear: number; random: number; mcast: number };
	manager?: { number: number; state: string; phase: string; priority: number; fields?: [string, string][] } | null;
}

export class Inspect implements Tab {
	readonly id = 'inspect';
	readonly title = 'Inspect';
	private reply: NodeReply | null = null;
	private replyFor = -1;
	private asking = false;
	private error = '';
	private mad = '';
	pane!: Pane;

	constructor(private readonly app: App, private readonly actions: Actions, private readonly view: View) {
		app.on(['select'], () => {
			this.mad = '';
			this.reply = null;
			this.replyText = '';
			this.pane?.update('inspect');
		});
		app.on(['fabric', 'doc', 'run', 'setup', 'changes'], () => this.pane?.update('inspect'));
		/* What is shown follows the run twice a second. */
		setInterval(() => {
			if (app.run.speed > 0)
				this.pane?.update('inspect');
		}, 500);
	}

	showMad(text: string): void {
		this.mad = text;
		this.pane.open('inspect');
	}

	render(body: HTMLElement): void {
		const { app } = this, f = app.fabric;
		if (!f)
			fill(body, h('p', { class: 'dim' }, 'No fabric is open.'));
		else if (app.nodes.size > 1)
			this.several(body);
		else if (app.node >= 0)
			this.node(body, app.node);
		else if (app.link >= 0)
			this.link(body, app.link);
		else
			this.whole(body);
		if (this.mad)
			body.prepend(h('div', { class: 'card' }, h('h2', {}, 'Message'), madTable(this.mad)));
	}

	private chips(...ids: (string | false)[]): HTMLElement {
		return h('div', { class: 'chips' }, ids.filter((i): i is string => i !== false && !(this.app.isLive && NOT_LIVE.has(i))).map((id) => {
			const a = this.actions.get(id);
			return h('button', { type: 'button', class: /power|cut|kill|delete/.test(id) ? 'danger' : '', title: a.keys?.[0] ? keyText(a.keys[0]) : '', onclick: () => this.actions.run(id) }, a.title);
		}));
	}

	ref(node: number, text?: string): HTMLElement {
		return h('button', { type: 'button', class: 'ref', onclick: () => {
			this.app.select([node]);
			this.view.reveal([node]);
		} }, text ?? this.app.fabric!.f.name[node] ?? '?');
	}

	private whole(body: HTMLElement): void {
		const f = this.app.fabric!, count = (t: number): number => f.f.type.reduce((n, x) => n + (x === t ? 1 : 0), 0);
		const s = this.app.lastState, up = s ? s.node.reduce((n, v) => n + ((v & 3) === 3 ? 1 : 0), 0) : 0, states = [0, 0, 0, 0, 0];
		for (let l = 0; s && l < f.nlinks; l++)
			states[s.link[3 * l]!]!++;
		fill(body, h('h2', {}, this.app.name || 'Fabric'),
			kv([['Switches', String(count(2))], ['Hosts', String(count(1))], ['Routers', String(count(3))], ['Links', String(f.nlinks)], ['Pods and planes', String(f.f.ngroups)]]),
			s && (this.app.run.started || this.app.isLive) ? [h('h3', {}, 'Now'), kv([['Nodes with LID', `${up} of ${f.nnodes}`], ...LINK_STATE.map((t, i) => [`Links ${t}`, String(states[i])] as [string, string])])] : null,
			h('h3', {}, 'Next'), h('p', { class: 'dim' }, 'Click a node or a link. ', h('kbd', {}, '/'), ' searches, ', h('kbd', {}, '?'), ' lists all keys.'));
	}

	private several(body: HTMLElement): void {
		const f = this.app.fabric!, list = [...this.app.nodes];
		fill(body, h('h2', {}, `${list.length} nodes`),
			this.chips(list.length === 2 && 'route', 'copy', 'power', 'cut-off', 'delete'),
			this.severalForm(list),
			h('table', {}, h('tbody', {}, list.slice(0, 300).map((n) => h('tr', {}, h('td', {}, this.ref(n)), h('td', { class: 'dim' }, NODE_TYPE[f.f.type[n]!]!), h('td', { class: 'num' }, guidText(f.f.guid[n]!)))))),
			list.length > 300 ? h('p', { class: 'dim' }, `and ${list.length - 300} more`) : null);
	}

	/* A value that is given counts for all; empty: each keeps its own. */
	private severalForm(list: number[]): HTMLElement | null {
		if (this.app.isLive)
			return null;
		const f = this.app.fabric!.f, guids = list.map((n) => this.app.guid(n)), hosts = list.every((n) => f.type[n] === 1);
		const field = (max: number, min: number, same: number[], set: (v: number) => Parameters<typeof this.app.editor.setNode>[1]): HTMLInputElement => {
			const one = new Set(same).size === 1, el = h('input', { type: 'number', min, max, value: one ? String(same[0]) : '', placeholder: one ? '' : 'various' });
			el.addEventListener('change', () => void this.edit(() => this.app.editor.edit(`change ${guids.length} nodes`, () => {
				for (const g of el.value === '' ? [] : guids)
					this.app.editor.setNode(g, set(Math.min(max, Math.max(min, Number(el.value)))));
			})));
			return el;
		};
		const doc = this.app.docLoaded ? this.app.editor.doc.nodes : null;
		return h('section', {}, h('h3', {}, 'Properties of all'), fieldRow('Ports', field(254, 1, list.map((n) => f.nports[n]!), (ports) => ({ ports }))),
			hosts ? fieldRow('Virtual functions', field(252, 0, guids.map((g) => doc?.get(g)?.vfs ?? 0), (vfs) => ({ vfs }))) : null);
	}

	// ---- a link ----

	private link(body: HTMLElement, l: number): void {
		const f = this.app.fabric!.f, a = f.a[l]!, b = f.b[l]!, s = this.app.lastState, state = LINK_STATE[s?.link[3 * l] ?? 0]!;
		const loads = this.app.loads;
		fill(body, h('h2', {}, 'Link'),
			kv([['From', h('span', {}, this.ref(a), ` port ${f.pa[l]}`)], ['To', h('span', {}, this.ref(b), ` port ${f.pb[l]}`)], ['Rate', rateText(f.width[l]!, f.speed[l]!)],
				['State', h('span', { class: `st ${state}` }, state)], ...(this.app.isLive ? [] : [['Busy', s ? `${Math.round((100 * s.link[3 * l + 1]!) / 255)} %` : '–'], ['Buffers', s ? `${Math.round((100 * s.link[3 * l + 2]!) / 255)} %` : '–']] as [string, string][]),
				...(loads ? [['Routes', `${loads.ab[l]} → · ← ${loads.ba[l]}`] as [string, string]] : [])]),
			this.chips('cut', 'users', this.app.isLive && 'whatif', 'delete'), this.wireForm(l), this.linkForm(l));
	}

	/* What happens on the wire while it runs; the last values that were given on this page. */
	private readonly wire = new Map<string, { loss: string; latency: string }>();
	private wireForm(l: number): HTMLElement | null {
		if (this.app.isLive || !this.app.run.started)
			return null;
		const word = this.app.linkWord(l), was = this.wire.get(word) ?? { loss: '0', latency: '0' };
		const loss = h('input', { type: 'number', min: 0, max: 100, step: 'any', value: was.loss }), latency = h('input', { type: 'number', min: 0, max: 1000000, step: 'any', value: was.latency });
		const event = (text: string): void => {
			this.wire.set(word, { loss: loss.value, latency: latency.value });
			void this.app.event(text).catch((e: Error) => this.app.report(e.message, true));
		};
		loss.addEventListener('change', () => event(`loss ${Math.min(100, Math.max(0, Number(loss.value)))}% ${word}`));
		latency.addEventListener('change', () => event(`latency ${Math.round(1000 * Math.max(0, Number(latency.value)))}ns ${word}`));
		return h('section', {}, h('h3', {}, 'On the wire, from now on'), fieldRow('SMPs lost, %', loss), fieldRow('Delay, µs', latency));
	}

	private linkForm(l: number): HTMLElement | null {
		const f = this.app.fabric!.f;
		if (this.app.isLive)
			return null;
		const ends = [{ node: this.app.guid(f.a[l]!), port: f.pa[l]! }, { node: this.app.guid(f.b[l]!), port: f.pb[l]! }].sort((p, q) => (p.node < q.node ? -1 : 1));
		const key = linkKey({ a: ends[0]!, b: ends[1]! }), known = this.app.docLoaded ? this.app.editor.doc.links.get(key) : undefined;
		const rate = h('select', {}, ['4xSDR', '4xDDR', '4xQDR', '4xFDR10', '4xFDR', '4xEDR', '4xHDR', '4xNDR', '4xXDR', '1xSDR', '12xQDR', '2xHDR'].map((r) => h('option', {}, r)));
		rate.value = known?.rate || rateText(f.width[l]!, f.speed[l]!);
		const length = h('input', { value: known?.length ?? '', placeholder: 'such as 3m' });
		const change = (props: { rate?: string; length?: string }): void => void this.edit(() => this.app.editor.setLink(key, props));
		rate.addEventListener('change', () => change({ rate: rate.value }));
		length.addEventListener('change', () => {
			if (/^$|^\d+(\.\d+)?(cm|m|km)$/.test(length.value.trim()))
				change({ length: length.value.trim() });
			else
				this.app.report('A length is a number with cm, m or km.', true);
		});
		return h('section', {}, h('h3', {}, 'Properties'), fieldRow('Rate', rate), fieldRow('Length', length));
	}

	private async edit(fn: () => void): Promise<void> {
		try {
			await this.app.ensureDoc();
			fn();
		} catch (e) {
			this.app.report(errorText(e), true);
		}
	}

	// ---- a node ----

	private node(body: HTMLElement, n: number): void {
		const f = this.app.fabric!, state = this.app.lastState?.node[n], r = this.replyFor === n ? this.reply : null, manager = this.app.managerAt(n);
		fill(body, h('h2', {}, f.f.name[n] || this.app.guid(n)),
			h('p', { class: 'dim' }, `${NODE_TYPE[f.f.type[n]!]}, ${portsText(f.f.nports[n]!)}`, state === undefined ? '' : state & 1 ? (state & 2 ? ', has LID' : ', no LID') : ', no power'),
			this.chips('route', 'tree', this.app.isLive && 'whatif', 'power', !this.app.run.started && 'manager', manager >= 0 && 'kill', manager >= 0 && 'pause-manager', manager >= 0 && 'move-manager', !this.app.isLive && 'delete'),
			kv([['GUID', this.app.guid(n)], ['LID', r?.lid ? `${r.lid}${r.lmc ? ` (LMC ${r.lmc})` : ''}` : '–']]),
			manager >= 0 ? this.manager(n, manager) : null, this.error ? h('p', { class: 'bad' }, this.error) : null, this.machines(n), r ? this.details(r) : this.neighbours(n), this.nodeForm(n));
		void this.ask(n);
	}

	private manager(n: number, number: number): HTMLElement {
		const m = this.app.run.managers[number], r = this.replyFor === n ? this.reply?.manager : null;
		const word = m ? (m.flags & 2 ? 'stopped' : m.flags & 1 ? 'paused' : SM_STATE[m.state]!) : 'placed';
		return h('div', { class: 'card' }, h('b', {}, `Manager ${number} `), h('span', { class: `st ${word}` }, word),
			kv([['Phase', m ? (this.app.run.phases[m.phase] ?? '–') : '–'], ['Priority', String(m?.priority ?? '–')], ...((r?.fields ?? []) as [string, string][])]));
	}

	private machines(n: number): HTMLElement | null {
		const list = this.app.isLive ? this.app.live.vms.filter((v) => v.running && v.node === n) : [];
		return list.length === 0 ? null : h('section', {}, h('h3', {}, list.length === 1 ? 'One virtual machine' : `${list.length} virtual machines`),
			h('table', {}, h('tbody', {}, list.map((v) => h('tr', { title: v.guid }, h('td', {}, v.vm), h('td', { class: 'num' }, `LID ${v.lid}`), h('td', { class: 'num' }, `VF ${v.host?.vf ?? ''}`))))));
	}

	private async ask(n: number): Promise<void> {
		if (this.app.fabric?.f.version === 0xffffffff)
			return;
		if (this.asking) {
			this.again = true;
			return;
		}
		this.asking = true;
		this.again = false;
		try {
			const reply = (await this.app.command({ cmd: 'node', node: this.app.guid(n), guid: this.app.guid(n) }))['node'] as NodeReply | undefined;
			const text = JSON.stringify(reply ?? null);
			if (this.app.node === n && (this.replyFor !== n || text !== this.replyText)) {
				this.reply = reply ?? null;
				this.replyText = text;
				this.replyFor = n;
				this.error = '';
				this.pane.update('inspect');
			}
		} catch (e) {
			this.again ||= this.error !== errorText(e);
			this.error = errorText(e);
		} finally {
			this.asking = false;
			if (this.app.node !== n || this.again)
				this.pane.update('inspect');
		}
	}
	private replyText = '';
	/* What is shown was to be asked for while a question was under way. */
	private again = false;

	private neighbours(n: number): HTMLElement {
		const f = this.app.fabric!, s = this.app.lastState;
		return this.portTable([...f.links(n)].map((l) => ({ port: f.portAt(l, n), state: LINK_STATE[s?.link[3 * l] ?? 0], peer: f.peer(l, n), peer_port: f.portAt(l, f.peer(l, n)), link: l, rate: rateText(f.f.width[l]!, f.f.speed[l]!).replace('?', '–') })));
	}

	private portTable(ports: PortReply[]): HTMLElement {
		return h('section', {}, h('h3', {}, 'Ports'), h('table', {}, h('thead', {}, h('tr', {}, ['Port', 'State', 'Rate', 'Peer'].map((t) => h('th', {}, t)))),
			h('tbody', {}, ports.sort((p, q) => p.port - q.port).map((p) => h('tr', {},
				h('td', { class: 'num' }, p.link !== undefined && p.link >= 0 ? h('button', { type: 'button', class: 'ref', onclick: () => this.app.select([], p.link) }, String(p.port)) : String(p.port)),
				h('td', {}, h('span', { class: `st ${(p.state ?? '').replace(/^Initialize$/, 'Init')}` }, p.state ?? '–')), h('td', {}, p.rate ?? (p.width && p.speed ? `${String(p.width).replace(/^(\d+)$/, '$1x')}${p.speed}` : '–')),
				h('td', {}, p.peer !== null && p.peer !== undefined && p.peer >= 0 ? [this.ref(p.peer), h('span', { class: 'dim num' }, ` ${p.peer_port ?? ''}`)] : '–'))))));
	}

	private details(r: NodeReply): HTMLElement {
		const groups = (r.groups ?? []).map((g) => h('details', { open: this.opened.has(g.name), ontoggle: (e: Event) => this.toggled(e, g.name) }, h('summary', {}, g.name), kv(g.fields)));
		const infos = (r.ports ?? []).filter((p) => p.fields?.length).map((p) => h('details', { open: this.opened.has(`p${p.port}`), ontoggle: (e: Event) => this.toggled(e, `p${p.port}`) }, h('summary', {}, `PortInfo ${p.port}`), kv(p.fields!)));
		const lft = r.lft?.length ? h('details', { open: this.opened.has('lft'), ontoggle: (e: Event) => this.toggled(e, 'lft') }, h('summary', {}, `Forwarding table (${r.lft.length} ranges)`),
			h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'LIDs'), h('th', {}, 'Port'))), h('tbody', {}, r.lft.slice(0, 2000).map(([a, b, p]) => h('tr', {}, h('td', { class: 'num' }, a === b ? `${a}` : `${a}–${b}`), h('td', { class: 'num' }, String(p))))))) : null;
		return h('section', {}, this.portTable(r.ports ?? []), groups, lft, infos);
	}
	private readonly opened = new Set<string>(['NodeInfo']);
	private toggled(e: Event, name: string): void {
		if ((e.target as HTMLDetailsElement).open)
			this.opened.add(name);
		else
			this.opened.delete(name);
	}

	private nodeForm(n: number): HTMLElement | null {
		if (this.app.isLive)
			return null;
		const f = this.app.fabric!.f, guid = this.app.guid(n), doc = this.app.docLoaded ? this.app.editor.doc.nodes.get(guid) : undefined;
		const name = h('input', { value: f.name[n]! }), ports = h('input', { type: 'number', min: 1, max: 254, value: f.nports[n]! });
		if (this.app.addedAt.has(guid))
			return h('p', { class: 'dim' }, 'Added while the run is on: it is in the journal, and not in the fabric that a new start has.');
		/* An HCA with virtual functions is a switch with a host for each of them: what devices show. */
		const given = doc ?? (this.replyFor === n ? this.reply?.given : undefined), hca = doc ? doc.type === 1 : f.type[n] === 1 || (given?.vfs ?? 0) > 0;
		const vfs = h('input', { type: 'number', min: 0, max: 252, value: given?.vfs ?? 0 });
		const on = (el: HTMLInputElement, fn: () => void): void => el.addEventListener('change', () => void this.edit(fn));
		on(name, () => this.app.editor.setNode(guid, { name: name.value.slice(0, 64) }));
		on(ports, () => this.app.editor.setNode(guid, { ports: Number(ports.value) }));
		on(vfs, () => this.app.editor.setNode(guid, { vfs: Math.min(252, Math.max(0, Number(vfs.value))) }));
		return h('section', {}, h('h3', {}, 'Properties'), fieldRow('Name', name), hca && given?.vfs ? null : fieldRow('Ports', ports), hca ? fieldRow('Virtual functions', vfs) : null,
			f.type[n] === 2 && !hca ? this.tableSizes(guid, given ?? { linear: 0, random: 0, mcast: 0 }) : null);
	}

	/* Empty: as the simulator has them. A random table takes the place of the linear one. */
	private tableSizes(guid: string, given: { linear: number; random: number; mcast: number }): HTMLElement {
		const field = (key: keyof typeof TABLE_MOST, usual: string): HTMLInputElement => {
			const el = h('input', { type: 'number', min: 0, max: TABLE_MOST[key], value: given[key] || '', placeholder: usual });
			el.addEventListener('change', () => void this.edit(() => this.app.editor.setNode(guid, { [key]: Number(el.value), ...(key !== 'mcast' && Number(el.value) ? { [key === 'linear' ? 'random' : 'linear']: 0 } : {}) })));
			return el;
		};
		return h('section', {}, h('h3', {}, 'Table sizes'), fieldRow('Linear table', field('linear', given.random ? 'none' : '49152')), fieldRow('Random table', field('random', 'none')), fieldRow('Multicast table', field('mcast', '1024')));
	}
}

/* A decoded MAD: headings, and below each its fields; lines that are neither are shown as they are. */
function madTable(text: string): HTMLElement {
	const out = h('div', { class: 'mad' });
	let rows: [string, string][] = [];
	const end = (): void => {
		if (rows.length)
			out.append(kv(rows));
		rows = [];
	};
	for (const line of text.split('\n').filter((l) => l.trim())) {
		const field = /^\s+(\S+)\s{2,}(.+)$/.exec(line) ?? /^\s+(\S+) (.+)$/.exec(line);
		if (field)
			rows.push([field[1]!, field[2]!]);
		else {
			end();
			out.append(/^\s/.test(line) ? h('pre', {}, line.trim()) : h('h3', {}, line));
		}
	}
	end();
	return out;
}
