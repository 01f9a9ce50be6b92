// SPDX-License-Identifier: BSD-2-Clause
//
// The frame around the stage: top bar, tools, menus, help, messages, separators that can be moved.
import type { App } from './app.ts';
import { type Actions, keyText } from './commands.ts';
import { byId, fill, h, icon } from './dom.ts';
import { NODE_TYPE, countText, guidText } from './model/iba.ts';
import { store, stored } from './theme.ts';
import type { Tool, View } from './view/view.ts';

const PATH: Record<string, string> = {
	logo: 'M2 5h12M2 11h12M5 2v3.6M5 10.4V14M8 2v2.4M8 5.6V14M11 2v3.6M11 10.4V14', select: 'M4 2.5 12.5 8 8.6 8.9 6.8 12.9z', switch: 'M2.5 5.5h11v5h-11zM5 8h.01M8 8h.01M11 8h.01', host: 'M3 3.5h10v7H3zM6 13h4M8 10.5V13',
	router: 'M8 2 14 8 8 14 2 8zM5.8 8h4.4M8.6 6.4 10.2 8 8.6 9.6', link: 'M3.2 12.8a1.6 1.6 0 1 0 0-.01M12.8 3.2a1.6 1.6 0 1 0 0-.01M4.6 11.4 11.4 4.6', manager: 'M8 2l1.7 3.6 4 .5-3 2.7.8 3.9L8 10.8l-3.5 1.9.8-3.9-3-2.7 4-.5z',
	cut: 'M3 8h3M10 8h3M6.2 5.2l3.6 5.6M9.8 5.2 6.2 10.8', power: 'M8 2v5M5 3.8a5 5 0 1 0 6 0', fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10', theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5v11', help: 'M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1M8 11.5h.01M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8',
	undo: 'M5.5 4 3 6.5 5.5 9M3 6.5h6a3.5 3.5 0 0 1 0 7H7', redo: 'M10.5 4 13 6.5 10.5 9M13 6.5H7a3.5 3.5 0 0 0 0 7h2', file: 'M4 2h5l3 3v9H4zM9 2v3h3', share: 'M8 9V2.5M5.5 5 8 2.5 10.5 5M3.5 8.5V13h9V8.5',
};

export const GENERATORS = ['mtree 8 2', 'mtree 8 3', 'mtree 4 3', 'kary 4 3', 'clos 3 1 4', 'mesh 4 4', 'torus 4 4 4', 'hypercube 4', 'dragonfly 2 4 2', 'fullmesh 8', 'ring 6', 'star 8', 'irregular 16', 'odd 6'];
const TOOLS: [Tool, string][] = [['select', 'Select and move'], ['switch', 'Place switches'], ['host', 'Place hosts'], ['router', 'Place routers'], ['link', 'Draw links'], ['manager', 'Place managers'], ['cut', 'Cut and mend links'], ['power', 'Switch nodes off and on']];

export class Shell {
	private readonly docName = h('span', { class: 'doc-name' });
	private readonly state = h('span', { class: 'state', role: 'status' });
	private readonly search = h('input', { id: 'search', type: 'search', placeholder: 'name, GUID, LID, or > command', role: 'combobox', 'aria-label': 'Search', 'aria-expanded': 'false', 'aria-controls': 'found', autocomplete: 'off' });
	private readonly found = h('ul', { class: 'found', id: 'found', role: 'listbox', 'aria-label': 'Found', hidden: true });
	readonly words = h('input', { id: 'words', list: 'generators', 'aria-label': 'Generator and sizes', value: 'mtree 8 2' });
	private at = 0;
	private results: { text: string; note: string; keys?: string; go: () => void }[] = [];

	constructor(private readonly app: App, private readonly actions: Actions, private readonly view: View) {
		this.topBar();
		this.tools();
		this.searching();
		this.separator('split-pane', '--pane-w', 240, 900, (e) => (innerWidth - e.clientX) / this.big(1.45), false);
		this.separator('split-time', '--time-h', 120, 800, (e) => (innerHeight - e.clientY) / this.big(1.5), true);
		app.on(['fabric', 'doc', 'hello', 'link', 'run'], () => this.show());
		this.show();
	}

	private big(factor: number): number {
		return innerWidth >= 2400 ? factor : 1;
	}

	private iconButton(id: string, path: string, text = ''): HTMLButtonElement {
		const a = this.actions.get(id);
		return h('button', { type: 'button', title: `${a.title}${a.keys?.[0] ? ` (${keyText(a.keys[0])})` : ''}`, 'aria-label': a.title, onclick: () => this.actions.run(id) }, icon(PATH[path]!), text);
	}

	private topBar(): void {
		const menu = (id: string, title: string, path: string, ids: (string | null)[]): HTMLButtonElement => {
			const b = h('button', { type: 'button', id, 'aria-haspopup': 'menu', 'aria-expanded': 'false' }, icon(PATH[path]!), title);
			b.addEventListener('click', () => {
				const r = b.getBoundingClientRect();
				this.menu(r.left, r.bottom + 4, '', ids, b);
			});
			return b;
		};
		this.words.addEventListener('keydown', (e) => {
			if (e.key === 'Enter')
				this.actions.run('generate');
		});
		byId('bar').append(h('span', { class: 'brand' }, icon(PATH['logo']!), 'Weft'),
			menu('file-menu', 'File', 'file', ['new', 'open', 'open-link', null, 'save-netlist', 'save-script']), menu('share-menu', 'Share', 'share', ['share', 'png', 'svg', 'save-script']),
			h('span', { class: 'bar-sep' }), h('span', { class: 'gen' }, this.words, h('button', { type: 'button', class: 'line', title: 'Generate this fabric (Enter)', onclick: () => this.actions.run('generate') }, 'Generate'), h('button', { type: 'button', class: 'line', id: 'kinds', 'aria-label': 'All kinds of fabrics', title: 'All kinds of fabrics with their sizes (G)', onclick: () => this.actions.run('kinds') }, '…')),
			h('datalist', { id: 'generators' }, GENERATORS.map((g) => h('option', { value: g }))), this.docName, h('span', { class: 'grow' }),
			h('div', { class: 'search' }, this.search, h('kbd', {}, '/'), this.found), this.state, this.iconButton('theme', 'theme'), this.iconButton('help', 'help'));
	}

	private tools(): void {
		const nav = byId('tools');
		const buttons = TOOLS.map(([t, title], i) => h('button', { type: 'button', 'data-tool': t, 'aria-pressed': 'false', title: `${title} (${i + 1})`, 'aria-label': title, onclick: () => this.view.setTool(t) }, icon(PATH[t]!)));
		nav.append(...buttons.slice(0, 6), h('hr'), ...buttons.slice(6), h('hr'), this.iconButton('undo', 'undo'), this.iconButton('redo', 'redo'), this.iconButton('fit', 'fit'));
		const show = (): void => buttons.forEach((b) => b.setAttribute('aria-pressed', String(b.dataset['tool'] === this.view.tool)));
		this.view.onTool = show;
		show();
	}

	private show(): void {
		const f = this.app.fabric, hello = this.app.hello;
		fill(this.docName, this.app.name, f ? h('small', {}, `${countText(f.nnodes)} nodes, ${countText(f.nlinks)} links`) : null);
		this.docName.title = this.app.name;
		const s = this.app.linkState, live = hello?.source === 'live';
		const text = s === 'open' ? (live ? `live: ${hello?.live ?? ''}` : 'simulation') : s === 'connecting' ? 'connecting' : s === 'refused' ? 'no access' : 'connection lost';
		fill(this.state, h('span', { class: `dot ${s === 'open' ? (live ? 'live' : 'ok') : s === 'connecting' ? '' : 'bad'}` }), text);
		this.state.title = this.app.linkWhy;
		document.title = this.app.name ? `${this.app.name} – Weft` : 'Weft';
		this.alert();
		if (this.app.words && document.activeElement !== this.words)
			this.words.value = this.app.words;
		const empty = byId('empty');
		empty.hidden = !f || f.nnodes > 0;
		if (!empty.hidden)
			fill(empty, h('div', {}, 'An empty fabric.'), h('div', {}, h('kbd', {}, '2'), ' and a click places a switch, ', h('kbd', {}, '3'), ' a host, ', h('kbd', {}, '5'), ' draws links, ', h('kbd', {}, '6'), ' places managers.'));
		if (s === 'refused' && !f) {
			empty.hidden = false;
			fill(empty, h('div', {}, 'The server refuses this page.'), h('div', {}, 'Open the address that weft ui printed: it has a token.'));
		}
	}

	/* The engine ended: what happened, and the way back. */
	private alert(): void {
		const box = byId('alert'), { app } = this, n = app.run.started ? app.run.journal.length : 0;
		box.hidden = !app.ended;
		if (box.hidden)
			return;
		const again = (leaveOut: number) => (): void => void app.bringBack(leaveOut).catch((e: Error) => this.toast(e.message, true));
		fill(box, h('b', {}, 'The engine is gone.'), h('span', {}, app.ended), h('span', { class: 'grow' }),
			h('button', { type: 'button', class: 'main', onclick: again(0) }, app.run.started ? 'Bring the run back' : 'Start another one'),
			n ? h('button', { type: 'button', class: 'line', onclick: again(1) }, 'Without the last event') : null);
	}

	// ---- search ----

	focusSearch(text = ''): void {
		this.search.value = text;
		this.search.focus();
		this.search.select();
		this.look();
	}

	private searching(): void {
		this.search.addEventListener('input', () => this.look());
		this.search.addEventListener('blur', () => setTimeout(() => this.close(), 150));
		this.search.addEventListener('focus', () => this.look());
		this.search.addEventListener('keydown', (e) => {
			if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
				e.preventDefault();
				this.at = (this.at + (e.key === 'ArrowDown' ? 1 : -1) + this.results.length) % Math.max(1, this.results.length);
				this.showFound();
			} else if (e.key === 'Enter')
				this.take(this.at);
			else if (e.key === 'Escape') {
				this.close();
				byId('gl').focus();
			} else
				return;
			e.stopPropagation();
		});
	}

	private close(): void {
		this.found.hidden = true;
		this.search.setAttribute('aria-expanded', 'false');
	}

	private look(): void {
		const t = this.search.value, f = this.app.fabric;
		this.at = 0;
		if (t.startsWith('>')) {
			const q = t.slice(1).trim().toLowerCase();
			this.results = this.actions.list.filter((a) => a.title.toLowerCase().includes(q)).slice(0, 40).map((a) => ({ text: a.title, note: a.group, keys: a.keys?.[0], go: () => this.actions.run(a.id) }));
		} else
			this.results = [...(f?.find(t, 14) ?? []).map((n) => this.result(n, guidText(f!.f.guid[n]!))), ...this.machines(t)];
		this.showFound();
		if (f && /^(0x[0-9a-f]{1,4}|\d{1,5})$/i.test(t.trim()))
			void this.lookLid(t.trim());
	}

	private machines(text: string): { text: string; note: string; go: () => void }[] {
		return this.app.live.findVms(text, 10).flatMap((v) => (v.node === null ? [] : [{ ...this.result(v.node, ''), text: v.vm, note: `VM, LID ${v.lid}, on ${v.host?.name ?? ''}` }]));
	}

	private result(n: number, note: string): { text: string; note: string; go: () => void } {
		return { text: `${this.app.fabric!.f.name[n]}`, note: `${NODE_TYPE[this.app.fabric!.f.type[n]!]} ${note}`, go: () => {
			this.app.select([n]);
			this.view.reveal([n]);
			byId('gl').focus();
		} };
	}

	private async lookLid(text: string): Promise<void> {
		try {
			const r = await this.app.command({ cmd: 'find', text });
			if (this.search.value.trim() !== text)
				return;
			const nodes = ((r['nodes'] ?? []) as number[]).filter((n) => this.app.fabric!.f.name[n] !== undefined);
			this.results = [...nodes.map((n) => this.result(n, `LID ${text}`)), ...this.results];
			this.showFound();
		} catch {
			/* the engine does not know LIDs yet */
		}
	}

	private showFound(): void {
		this.found.hidden = this.results.length === 0 || document.activeElement !== this.search;
		this.search.setAttribute('aria-expanded', String(!this.found.hidden));
		fill(this.found, this.results.map((r, i) => h('li', { role: 'option', id: `found-${i}`, 'aria-selected': String(i === this.at), onpointerdown: (e: Event) => {
			e.preventDefault();
			this.take(i);
		} }, h('span', {}, r.text), r.keys ? h('kbd', {}, keyText(r.keys)) : h('span', { class: 'dim num' }, r.note))));
		this.search.setAttribute('aria-activedescendant', this.found.hidden ? '' : `found-${this.at}`);
		this.found.children[this.at]?.scrollIntoView({ block: 'nearest' });
	}

	private take(i: number): void {
		const r = this.results[i];
		if (!r)
			return;
		this.search.value = '';
		this.close();
		this.search.blur();
		r.go();
	}

	// ---- menus ----

	menu(x: number, y: number, head: string, ids: (string | null)[], opener: HTMLElement | null = null): void {
		const box = byId('menu'), before = document.activeElement as HTMLElement | null;
		const done = (focus: boolean): void => {
			box.hidden = true;
			opener?.setAttribute('aria-expanded', 'false');
			document.removeEventListener('pointerdown', outside, true);
			if (focus)
				(opener ?? before ?? byId('gl')).focus();
		};
		const outside = (e: Event): void => {
			if (!box.contains(e.target as Node))
				done(false);
		};
		fill(box, head ? h('div', { class: 'head' }, head) : null, ids.map((id) => {
			if (id === null)
				return h('hr');
			const a = this.actions.get(id);
			return h('button', { type: 'button', role: 'menuitem', onclick: () => {
				done(true);
				this.actions.run(id);
			} }, a.title, a.keys?.[0] ? h('kbd', {}, keyText(a.keys[0])) : null);
		}));
		box.hidden = false;
		opener?.setAttribute('aria-expanded', 'true');
		box.style.left = `${Math.max(4, Math.min(x, innerWidth - box.offsetWidth - 6))}px`;
		box.style.top = `${Math.max(4, Math.min(y, innerHeight - box.offsetHeight - 6))}px`;
		const items = [...box.querySelectorAll('button')];
		box.onkeydown = (e) => {
			const i = items.indexOf(document.activeElement as HTMLButtonElement);
			if (e.key === 'ArrowDown' || e.key === 'ArrowUp')
				items[(i + (e.key === 'ArrowDown' ? 1 : -1) + items.length) % items.length]?.focus();
			else if (e.key === 'Escape' || e.key === 'Tab')
				done(true);
			else if (e.key !== 'Enter' && e.key !== ' ')
				return;
			if (e.key !== 'Enter' && e.key !== ' ')
				e.preventDefault();
			e.stopPropagation();
		};
		items[0]?.focus();
		document.addEventListener('pointerdown', outside, true);
	}

	help(): void {
		const d = byId<HTMLDialogElement>('help'), groups = [...new Set(this.actions.list.map((a) => a.group))];
		fill(d, h('div', { class: 'head' }, h('h2', {}, 'Keys'), h('button', { type: 'button', class: 'line', onclick: () => d.close() }, 'Close', h('kbd', {}, 'Esc'))), h('div', { class: 'keys' }, groups.map((g) => h('section', {}, h('h3', {}, g), this.actions.list.filter((a) => a.group === g && a.keys?.length).map((a) =>
			h('div', {}, h('span', {}, a.title), h('span', {}, a.keys!.slice(0, 2).map((k) => h('kbd', {}, keyText(k)))))))),
			h('section', {}, h('h3', {}, 'Pointer'), [['Pan', 'drag'], ['Zoom', 'wheel'], ['Select', 'click'], ['Add to the selection', 'Shift+click'], ['Select an area', 'Shift+drag'], ['Actions', 'right click'], ['Into a group', 'double click']].map(([a, b]) => h('div', {}, h('span', {}, a!), h('span', {}, h('kbd', {}, b!)))))));
		d.showModal();
		d.scrollTop = 0;
	}

	ask(title: string, text: string, button: string): Promise<string | null> {
		const d = byId<HTMLDialogElement>('ask'), area = h('textarea', { 'aria-label': title });
		area.value = text;
		return new Promise((resolve) => {
			const done = (v: string | null): void => {
				d.close();
				resolve(v);
			};
			fill(d, h('h2', {}, title), area, h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => done(null) }, 'Cancel'), h('button', { type: 'button', class: 'main', onclick: () => done(area.value) }, button)));
			d.oncancel = () => resolve(null);
			d.showModal();
			area.select();
		});
	}

	toast(text: string, bad: boolean): void {
		const el = h('div', { class: bad ? 'bad' : '' }, text), box = byId('toast');
		box.append(el);
		while (box.children.length > 3)
			box.firstChild!.remove();
		setTimeout(() => el.remove(), bad ? 7000 : 2600);
	}

	hint(): void {
		const box = byId('hint');
		if (stored('weft-hint') === 'no')
			return;
		box.hidden = false;
		const words = this.app.words;
		/* It speaks of the first fabric. */
		this.app.on(['doc'], () => {
			if (this.app.words !== words)
				box.hidden = true;
		});
		const next = (key: string, text: string): HTMLElement => h('span', {}, h('kbd', {}, key), text);
		fill(box, h('b', {}, 'This fabric comes up.'), next('click', 'a switch, then Power'), next('right click', 'a link or the manager'), next('?', 'keys'), h('span', { class: 'grow' }),
			h('button', { type: 'button', class: 'line', onclick: () => {
				box.hidden = true;
				store('weft-hint', 'no');
				byId('gl').focus();
			} }, 'Got it'));
	}

	// ---- separators ----

	private separator(id: string, property: string, min: number, max: number, size: (e: PointerEvent) => number, tall: boolean): void {
		const el = byId(id), root = document.documentElement;
		const set = (px: number): void => {
			const v = Math.round(Math.min(max, Math.max(min, px)));
			root.style.setProperty(property, `${v}px`);
			el.setAttribute('aria-valuenow', String(v));
			store(`weft${property}`, String(v));
		};
		const before = Number(stored(`weft${property}`));
		el.setAttribute('aria-valuemin', String(min));
		el.setAttribute('aria-valuemax', String(max));
		el.setAttribute('aria-valuenow', String(parseInt(getComputedStyle(root).getPropertyValue(property), 10)));
		if (before >= min && before <= max)
			set(before);
		el.addEventListener('pointerdown', (e) => el.setPointerCapture(e.pointerId));
		el.addEventListener('pointermove', (e) => el.hasPointerCapture(e.pointerId) && set(size(e)));
		el.addEventListener('keydown', (e) => {
			const grow = e.key === (tall ? 'ArrowUp' : 'ArrowLeft'), shrink = e.key === (tall ? 'ArrowDown' : 'ArrowRight');
			if (!grow && !shrink)
				return;
			e.preventDefault();
			e.stopPropagation();
			set(parseInt(getComputedStyle(root).getPropertyValue(property), 10) + (grow ? 16 : -16));
		});
	}
}
