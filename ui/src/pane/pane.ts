// SPDX-License-Identifier: BSD-2-Clause
//
// The pane at the right: tabs, each made by one object. A new pane is a file with a class and a line in registry.ts.
import { fill, h } from '../dom.ts';

export interface Tab {
	id: string;
	title: string;
	/* Set when the tab is registered. */
	pane?: Pane;
	/* Whether it is offered now. */
	shown?: () => boolean;
	/* Fills the body; called when it is opened and when update() is. */
	render(body: HTMLElement): void;
}

export class Pane {
	private readonly bar = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Panes' });
	private readonly body = h('div', { class: 'body', role: 'tabpanel', id: 'pane-body', tabindex: 0 });
	private current = '';
	private asked = false;
	/* Something changed while the person typed: it is drawn when they are done. */
	private late = false;

	constructor(root: HTMLElement, readonly tabs: Tab[]) {
		root.append(this.bar, this.body);
		for (const t of tabs)
			t.pane = this;
		this.bar.addEventListener('keydown', (e) => {
			const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key], list = this.offered();
			if (!step)
				return;
			e.stopPropagation();
			const next = list[(list.findIndex((t) => t.id === this.current) + step + list.length) % list.length]!;
			this.open(next.id);
			this.bar.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
		});
		this.body.addEventListener('focusout', () => setTimeout(() => {
			if (this.late && !this.typing())
				this.draw(false);
		}, 0));
		this.open(tabs[0]!.id);
	}

	private offered(): Tab[] {
		return this.tabs.filter((t) => t.shown?.() ?? true);
	}

	get open_id(): string {
		return this.current;
	}

	open(id: string): void {
		this.current = id;
		fill(this.bar, this.offered().map((t) => h('button', {
			type: 'button', role: 'tab', 'aria-selected': String(t.id === id), 'aria-controls': 'pane-body', tabindex: t.id === id ? 0 : -1, onclick: () => this.open(t.id),
		}, t.title)));
		this.draw(true);
	}

	next(): void {
		const list = this.offered();
		this.open(list[(list.findIndex((t) => t.id === this.current) + 1) % list.length]!.id);
	}

	/* Something that a tab shows has changed; it is drawn soon, or when the person has left the field that they type in. */
	update(...ids: string[]): void {
		if (!ids.includes(this.current) || this.asked)
			return;
		this.asked = true;
		setTimeout(() => {
			this.asked = false;
			if (this.typing())
				this.late = true;
			else
				this.draw(false);
		}, 120);
	}

	private typing(): boolean {
		const a = document.activeElement;
		return a instanceof HTMLElement && this.body.contains(a) && /^(INPUT|SELECT|TEXTAREA)$/.test(a.tagName);
	}

	private draw(top: boolean): void {
		this.late = false;
		const at = this.body.scrollTop, inside = document.activeElement !== this.body && this.body.contains(document.activeElement);
		const path = inside ? indexIn(this.body, document.activeElement!) : -1;
		this.tabs.find((t) => t.id === this.current)?.render(this.body);
		this.body.scrollTop = top ? 0 : at;
		if (path >= 0)
			(focusable(this.body)[path] ?? this.body).focus({ preventScroll: true });
	}
}

function focusable(root: HTMLElement): HTMLElement[] {
	return [...root.querySelectorAll<HTMLElement>('button, input, select, summary')];
}
function indexIn(root: HTMLElement, el: Element): number {
	return focusable(root).indexOf(el as HTMLElement);
}

export function kv(rows: [string, string | Node][]): HTMLTableElement {
	return h('table', { class: 'kv' }, h('tbody', {}, rows.map(([k, v]) => h('tr', {}, h('td', {}, k), h('td', {}, v)))));
}

export function fieldRow(label: string, input: HTMLElement): HTMLElement {
	input.setAttribute('aria-label', label);
	return h('div', { class: 'row' }, h('label', {}, label), input);
}

export function errorText(e: unknown): string {
	return e instanceof Error ? e.message : String(e);
}
