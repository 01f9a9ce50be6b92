// SPDX-License-Identifier: BSD-2-Clause
//
// The message log: every line of SM, SMI and SMA, with filters. Only the rows on screen exist as elements. A click goes to
// the moment and place of a line and shows its MAD.
import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { ATTRIBUTE, LOG_KIND, METHOD, attributeName, clockText, countText, methodName } from '../model/iba.ts';
import { Log, type LogFilter, NO_FILTER } from '../model/run.ts';
import type { LogLine } from '../wire/frames.ts';

export class LogView {
	readonly lines = h('div', { class: 'lines', tabindex: 0, role: 'listbox', 'aria-label': 'Messages' });
	private readonly space = h('div', { class: 'space', role: 'presentation' });
	private readonly count = h('span', { class: 'dim num' });
	private readonly follow = h('input', { type: 'checkbox', checked: true });
	private readonly only = h('input', { type: 'checkbox' });
	private readonly search = h('input', { type: 'search', placeholder: 'text', 'aria-label': 'Text in messages' });
	private readonly kind: HTMLSelectElement;
	private readonly method: HTMLSelectElement;
	private readonly attribute: HTMLSelectElement;
	private filter: LogFilter = { ...NO_FILTER };
	private shown: LogLine[] = [];
	private chosen = -1;
	private asked = false;
	private rows: HTMLElement[] = [];
	onOpen: (line: LogLine) => void = () => {};

	constructor(root: HTMLElement, private readonly app: App) {
		const options = (words: [number, string][], any: string): HTMLOptionElement[] => [h('option', { value: -1 }, any), ...words.map(([v, t]) => h('option', { value: v }, t))];
		this.kind = h('select', { 'aria-label': 'Where' }, options(LOG_KIND.map((t, i) => [i, t]), 'everywhere'));
		this.method = h('select', { 'aria-label': 'Method' }, options(Object.entries(METHOD).map(([v, t]) => [Number(v), t]), 'any method'));
		this.attribute = h('select', { 'aria-label': 'Attribute' }, options(Object.entries(ATTRIBUTE).map(([v, t]) => [Number(v), t]), 'any attribute'));
		for (const el of [this.kind, this.method, this.attribute, this.search, this.only])
			el.addEventListener('input', () => this.filters());
		root.append(h('div', { class: 'logs' },
			h('div', { class: 'filters' }, this.kind, this.method, this.attribute, this.search, h('label', {}, this.only, 'selection'), h('label', {}, this.follow, 'follow'), h('span', { class: 'grow' }), this.count), this.lines));
		this.lines.append(this.space);
		this.lines.addEventListener('scroll', () => this.ask());
		this.lines.addEventListener('wheel', () => (this.follow.checked = false), { passive: true });
		this.lines.addEventListener('keydown', (e) => this.key(e));
		this.lines.addEventListener('click', (e) => {
			const row = (e.target as HTMLElement).closest<HTMLElement>('.ln');
			if (row)
				this.choose(Number(row.dataset['i']));
		});
		new ResizeObserver(() => this.ask()).observe(this.lines);
		app.on(['log', 'run', 'fabric', 'state'], () => this.ask());
		app.on(['select'], () => this.only.checked && this.filters());
		this.ask();
	}

	private filters(): void {
		this.filter = { node: this.only.checked ? this.app.node : -1, kind: Number(this.kind.value), method: Number(this.method.value), attribute: Number(this.attribute.value), text: this.search.value.trim() };
		this.filteredAt = -1;
		this.ask();
	}

	private filteredAt = -1;

	private ask(): void {
		if (this.asked)
			return;
		this.asked = true;
		setTimeout(() => requestAnimationFrame(() => {
			this.asked = false;
			this.draw();
		}), 30);
	}

	private get rowHeight(): number {
		return matchMedia('(min-width: 2400px)').matches ? 23 : 18;
	}

	private draw(): void {
		const log = this.app.run.log, row = this.rowHeight;
		if (this.filteredAt !== log.version) {
			this.filteredAt = log.version;
			this.shown = log.filtered(this.filter);
			this.space.style.height = `${Math.max(1, this.shown.length) * row}px`;
			this.count.textContent = this.shown.length === log.lines.length ? `${countText(log.lines.length)} lines` : `${countText(this.shown.length)} of ${countText(log.lines.length)}`;
		}
		const now = this.app.run.now, here = Log.indexAt(this.shown, now);
		if (this.follow.checked)
			this.lines.scrollTop = (here + 1) * row - this.lines.clientHeight;
		const first = Math.max(0, Math.floor(this.lines.scrollTop / row) - 2), n = Math.min(this.shown.length - first, Math.ceil(this.lines.clientHeight / row) + 4);
		while (this.rows.length < n)
			this.rows.push(this.row());
		this.space.replaceChildren(...this.rows.slice(0, Math.max(0, n)));
		/* A list box without options is none. */
		this.lines.setAttribute('role', n > 0 ? 'listbox' : 'group');
		if (n <= 0)
			this.space.append(h('p', { class: 'none' }, this.app.run.log.lines.length ? 'No message matches.' : this.app.run.started ? 'No message up to this moment.' : 'Messages appear when the run starts.'));
		for (let k = 0; k < n; k++)
			this.fillRow(this.rows[k]!, first + k, this.shown[first + k]!, row, first + k > here);
	}

	private row(): HTMLElement {
		return h('div', { class: 'ln', role: 'option' }, h('span', { class: 't' }), h('span'), h('span', { class: 'dim' }), h('span', { class: 'k' }), h('span'), h('span'), h('span', { class: 'x' }));
	}

	private fillRow(el: HTMLElement, i: number, l: LogLine, row: number, future: boolean): void {
		el.style.top = `${i * row}px`;
		el.dataset['i'] = String(i);
		el.className = `ln k${l.kind}${l.seq === this.chosen ? ' on' : ''}${future ? ' future' : ''}`;
		el.setAttribute('aria-selected', String(l.seq === this.chosen));
		const name = this.app.fabric?.f.name[l.node] ?? '', c = el.children;
		const texts = [clockText(Number(l.at)), name, l.port ? String(l.port) : '', LOG_KIND[l.kind] ?? '', methodName(l.method), attributeName(l.attribute), l.text];
		texts.forEach((t, k) => {
			if (c[k]!.textContent !== t)
				c[k]!.textContent = t;
		});
	}

	private key(e: KeyboardEvent): void {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[e.key];
		if (step === undefined)
			return;
		e.preventDefault();
		e.stopPropagation();
		const at = this.shown.findIndex((l) => l.seq === this.chosen);
		const next = at < 0 ? Log.indexAt(this.shown, this.app.run.now) : Math.min(this.shown.length - 1, Math.max(0, at + step));
		const row = this.rowHeight;
		if (next * row < this.lines.scrollTop || (next + 1) * row > this.lines.scrollTop + this.lines.clientHeight)
			this.lines.scrollTop = next * row - this.lines.clientHeight / 2;
		this.choose(next);
	}

	private choose(i: number): void {
		const l = this.shown[i];
		if (!l)
			return;
		this.follow.checked = false;
		this.chosen = l.seq;
		this.ask();
		this.onOpen(l);
	}
}
