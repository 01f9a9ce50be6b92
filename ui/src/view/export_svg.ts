// SPDX-License-Identifier: BSD-2-Clause
//
// What is on screen as SVG: the same groups, links, nodes and labels, as shapes. At most MOST of each.
import type { App } from '../app.ts';
import type { Theme } from '../theme.ts';
import { FLAG, PALETTE } from './scene.ts';
import type { View } from './view.ts';

const MOST = 60000;
const escape = (s: string): string => s.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
const n1 = (v: number): string => String(Math.round(v * 10) / 10);

export function toSvg(app: App, view: View, theme: Theme): string {
	const f = app.fabric, c = view.camera, scene = view.scene, css = (n: string): string => theme.css(n), out: string[] = [];
	out.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${c.width}" height="${c.height}" viewBox="0 0 ${c.width} ${c.height}" font-family="sans-serif">`);
	out.push(`<title>${escape(app.name || 'fabric')}</title><rect width="100%" height="100%" fill="${css('--canvas')}"/>`);
	if (f) {
		groups(out, app, view, css);
		const detail = scene.detail(c), box = c.box(20);
		if (detail > 0.3)
			links(out, app, view, css);
		else
			bundles(out, view, css);
		for (const i of detail > 0.3 ? f.nodesIn(box).slice(0, MOST) : []) {
			const [x, y] = c.toScreen(f.f.x[i]!, f.f.y[i]!), type = f.f.type[i]!, state = scene.nodeState(i), flags = scene.nodeFlags(i);
			const colour = css(['--host', '--host', '--switch', '--router'][type] ?? '--host'), fill = (state & 3) !== 3 ? css('--hollow') : type === 2 ? blend(css('--hollow'), colour, 0.34) : colour;
			const line = flags & FLAG.chosen ? css('--select') : flags & FLAG.lit ? css('--route') : state & 1 ? colour : css('--cut');
			const [w, h] = scene.halfSize(c, type).map((v) => Math.max(v, 0.5)) as [number, number];
			const style = `fill="${fill}" stroke="${line}" stroke-width="1.2"${flags & FLAG.dim ? ' opacity=".25"' : ''}`;
			out.push(type === 2 ? `<rect x="${n1(x - w)}" y="${n1(y - h)}" width="${n1(2 * w)}" height="${n1(2 * h)}" rx="${n1(Math.min(4, h * 0.35))}" ${style}/>`
				: type === 3 ? `<path d="M${n1(x)} ${n1(y - h)}L${n1(x + h)} ${n1(y)}L${n1(x)} ${n1(y + h)}L${n1(x - h)} ${n1(y)}Z" ${style}/>` : `<circle cx="${n1(x)}" cy="${n1(y)}" r="${n1(h)}" ${style}/>`);
		}
		for (const [x, y] of view.cuts())
			out.push(`<path d="M${n1(x - 4)} ${n1(y - 4)}l8 8m0 -8l-8 8" stroke="${css('--cut')}" stroke-width="2"/>`);
		for (const l of view.placedLabels().reverse()) {
			if (l.pill)
				out.push(`<rect x="${n1(l.x - l.text.length * 3.2 - 6)}" y="${n1(l.y - 8)}" width="${n1(l.text.length * 6.4 + 12)}" height="16" rx="3" fill="${l.pill}"/>`);
			out.push(`<text x="${n1(l.x)}" y="${n1(l.y)}" font-size="${l.size}" text-anchor="middle" dominant-baseline="central" fill="${l.colour}">${escape(l.text)}</text>`);
		}
	}
	out.push('</svg>');
	return out.join('\n') + '\n';
}

function blend(a: string, b: string, t: number): string {
	const part = (c: string, i: number): number => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
	return '#' + [0, 1, 2].map((i) => Math.round(part(a, i) * (1 - t) + part(b, i) * t).toString(16).padStart(2, '0')).join('');
}

function groups(out: string[], app: App, view: View, css: (n: string) => string): void {
	for (const g of app.fabric!.f.groups) {
		const [x0, y0] = view.camera.toScreen(g.x0, g.y0), [x1, y1] = view.camera.toScreen(g.x1, g.y1), pad = Math.min(0.4 * app.fabric!.unit * view.camera.scale, 10);
		if (x1 >= 0 && y1 >= 0 && x0 <= view.camera.width && y0 <= view.camera.height)
			out.push(`<rect x="${n1(x0 - pad)}" y="${n1(y0 - pad)}" width="${n1(x1 - x0 + 2 * pad)}" height="${n1(y1 - y0 + 2 * pad)}" rx="5" fill="${css('--group')}" stroke="${css('--group-line')}"/>`);
	}
}

/* As the shader does: of a state, or along the ramp. */
function lineColour(view: View, state: number, value: number, css: (n: string) => string): string {
	if (!view.scene.ramps || state === 4)
		return css('--' + (PALETTE[state] ?? 'down'));
	const t = value / 255;
	return t < 0.5 ? blend(css('--load-low'), css('--load-mid'), 2 * t) : blend(css('--load-mid'), css('--load-high'), 2 * t - 1);
}

/* Far out: one line between two groups. */
function bundles(out: string[], view: View, css: (n: string) => string): void {
	view.scene.eachBundle((ax, ay, bx, by, state, value, width) => {
		const [px, py] = view.camera.toScreen(ax, ay), [qx, qy] = view.camera.toScreen(bx, by);
		out.push(`<path d="M${n1(px)} ${n1(py)}L${n1(qx)} ${n1(qy)}" stroke="${lineColour(view, state, value, css)}" stroke-width="${width}" opacity=".6"/>`);
	});
}

function links(out: string[], app: App, view: View, css: (n: string) => string): void {
	const f = app.fabric!, b = view.camera.box(20), { x, y, a, b: to } = f.f;
	let count = 0;
	for (let l = 0; l < f.nlinks && count < MOST; l++) {
		const ax = x[a[l]!]!, ay = y[a[l]!]!, bx = x[to[l]!]!, by = y[to[l]!]!;
		if (Math.max(ax, bx) < b.x0 || Math.min(ax, bx) > b.x1 || Math.max(ay, by) < b.y0 || Math.min(ay, by) > b.y1)
			continue;
		const [px, py] = view.camera.toScreen(ax, ay), [qx, qy] = view.camera.toScreen(bx, by), state = view.scene.linkState(l), flags = view.scene.linkFlags(l);
		const colour = flags & FLAG.chosen ? css('--select') : flags & FLAG.lit ? css('--route') : lineColour(view, state, view.scene.linkValue(l), css);
		out.push(`<path d="M${n1(px)} ${n1(py)}L${n1(qx)} ${n1(qy)}" stroke="${colour}" stroke-width="${flags & 5 ? 2.4 : 1}"${flags & FLAG.dim ? ' opacity=".2"' : ''}${state === 0 || state === 4 ? ' stroke-dasharray="4 3"' : ''}/>`);
		count++;
	}
}
