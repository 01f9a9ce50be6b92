// SPDX-License-Identifier: BSD-2-Clause
//
// Elements without a framework. Text is always text: nothing from a fabric becomes markup.

type Props = Record<string, string | number | boolean | null | undefined | ((e: never) => void)>;
export type Child = Node | string | number | null | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: (Child | Child[])[]): HTMLElementTagNameMap[K] {
	const el = document.createElement(tag);
	for (const [key, value] of Object.entries(props)) {
		if (value === null || value === undefined || value === false)
			continue;
		if (typeof value === 'function')
			el.addEventListener(key.replace(/^on/, ''), value as EventListener);
		else if (key === 'class')
			el.className = String(value);
		else if (key === 'value' && 'value' in el)
			(el as { value: string }).value = String(value);
		else
			el.setAttribute(key, value === true ? '' : String(value));
	}
	append(el, children);
	return el;
}

function append(el: Node, children: (Child | Child[])[]): void {
	for (const c of children.flat()) {
		if (c !== null && c !== undefined && c !== false)
			el.appendChild(typeof c === 'object' ? c : document.createTextNode(String(c)));
	}
}

export function fill(el: Element, ...children: (Child | Child[])[]): void {
	el.replaceChildren();
	append(el, children);
}

const SVG = 'http://www.w3.org/2000/svg';

/* A 16 by 16 icon of strokes. */
export function icon(path: string): SVGSVGElement {
	const svg = document.createElementNS(SVG, 'svg');
	svg.setAttribute('viewBox', '0 0 16 16');
	svg.setAttribute('aria-hidden', 'true');
	svg.setAttribute('class', 'icon');
	const p = document.createElementNS(SVG, 'path');
	p.setAttribute('d', path);
	svg.appendChild(p);
	return svg;
}

export function byId<T extends HTMLElement>(id: string): T {
	const el = document.getElementById(id);
	if (!el)
		throw new Error(`the page has no #${id}`);
	return el as T;
}

export function download(name: string, type: string, data: BlobPart): void {
	const url = URL.createObjectURL(new Blob([data], { type }));
	const a = h('a', { href: url, download: name });
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}
