// SPDX-License-Identifier: BSD-2-Clause
//
// Text over the picture, on a 2-D canvas: groups far out, then names of nodes, then numbers of ports; managers at every
// zoom. A label that would lie over another one is left out; what is chosen comes first.
import { SM_STATE } from '../model/iba.ts';
import type { Fabric } from '../model/fabric.ts';
import type { ManagerRecord } from '../wire/frames.ts';
import type { Camera } from './camera.ts';
import { FLAG, type Scene } from './scene.ts';

export interface LabelColours {
	text: string;
	dim: string;
	halo: string;
	accent: string;
	cut: string;
	manager: string[];
	font: string;
}

export interface PlacedLabel {
	text: string;
	x: number;
	y: number;
	size: number;
	align: 'center' | 'left';
	colour: string;
	pill?: string;
	/* on a filled shape: no halo */
	plain?: boolean;
}

const CELL = 24, MOST = 600, LONGEST = 40, NAME = 14;

/* The end of a long name tells more than its middle. */
function short(name: string): string {
	return name.length > LONGEST ? `${name.slice(0, LONGEST - 13)}…${name.slice(-12)}` : name;
}

export class Labels {
	private taken = new Set<number>();
	private columns = 1;

	/* What is to be written, in order of importance. k: size of text, 1 on a usual screen. */
	place(f: Fabric, scene: Scene, c: Camera, managers: ManagerRecord[], col: LabelColours, chosen: Iterable<number>, hover: number, k: number): PlacedLabel[] {
		const out: PlacedLabel[] = [], detail = scene.detail(c), s = f.unit * c.scale;
		this.k = k;
		this.taken.clear();
		this.columns = Math.ceil(c.width / CELL) + 2;
		managers.forEach((m, i) => this.manager(out, f, scene, c, m, i, col));
		for (const n of chosen)
			this.node(out, f, scene, c, n, col.accent, true);
		if (hover >= 0)
			this.node(out, f, scene, c, hover, col.text, true);
		this.groups(out, f, c, detail, s, col);
		if (s > 5)
			this.names(out, f, scene, c, s, col);
		if (s > 34)
			this.ports(out, f, scene, c, col);
		return out;
	}
	private k = 1;

	/* True if nothing is there yet; marks it. */
	private claim(x: number, y: number, w: number, h: number, force: boolean): boolean {
		const x0 = Math.floor(x / CELL), x1 = Math.floor((x + w) / CELL), y0 = Math.floor((y * 2) / CELL), y1 = Math.floor(((y + h) * 2) / CELL);
		const cells: number[] = [];
		for (let j = y0; j <= y1; j++) {
			for (let i = x0; i <= x1; i++)
				cells.push(j * this.columns + i);
		}
		if (!force && cells.some((k) => this.taken.has(k)))
			return false;
		for (const k of cells)
			this.taken.add(k);
		return true;
	}

	private manager(out: PlacedLabel[], f: Fabric, scene: Scene, c: Camera, m: ManagerRecord, i: number, col: LabelColours): void {
		const [x, y] = c.toScreen(f.f.x[m.node]!, f.f.y[m.node]!), k = this.k, r = scene.halfSize(c, f.f.type[m.node]!)[1];
		if (x < -40 || y < -20 || x > c.width + 40 || y > c.height + 20)
			return;
		const text = `SM ${i}${m.flags & 2 ? ' stopped' : m.flags & 1 ? ' paused' : m.state === 0 ? '' : ` ${SM_STATE[m.state] ?? m.state}`}`;
		const w = (text.length * 6.2 + 12) * k, h = 16 * k, mid = r + 6 + 9 * k;
		/* Above the node, unless another one or its name is there: then below, at its right, at its left. */
		const places: [number, number][] = [[x, y - mid], [x, y + mid], [x + w / 2 + mid - h / 2, y], [x - w / 2 - mid + h / 2, y]];
		const free = ([cx, cy]: [number, number], more: number): boolean => cx - w / 2 > 2 && cx + w / 2 < c.width - 2 && cy - h / 2 > 2 && cy + h / 2 < c.height - 2 &&
			!this.overNode(f, scene, c, m.node, cx - w / 2, cy - h / 2 - more, w, h + more);
		const [px, py] = places.find((p, j) => free(p, j ? 0 : NAME * k)) ?? places.find((p) => free(p, 0)) ?? places[0]!;
		this.claim(px - w / 2, py - h / 2, w, h, true);
		out.push({ text, x: px, y: py, size: 11 * k, align: 'center', colour: col.halo, pill: col.manager[m.flags & 2 ? 0 : m.state] ?? col.dim });
	}

	/* In the box of a switch if it fits, else below the node. */
	private node(out: PlacedLabel[], f: Fabric, scene: Scene, c: Camera, n: number, colour: string, force: boolean): boolean {
		const [x, y] = c.toScreen(f.f.x[n]!, f.f.y[n]!), text = short(f.f.name[n]!), k = this.k;
		if (x < -60 || y < -20 || x > c.width + 60 || y > c.height + 20 || !text)
			return false;
		const [hw, hh] = scene.halfSize(c, f.f.type[n]!), w = text.length * 6.4 * k, inside = f.f.type[n] === 2 && w < 2 * hw - 4 && 2 * hh > 12 * k;
		const top = inside ? y - 6 * k : y + hh + 2;
		if (!force && !inside && this.overNode(f, scene, c, n, x - w / 2, top, w, 11 * k))
			return false;
		if (!this.claim(x - w / 2, top, w, 11 * k, force))
			return false;
		out.push({ text, x, y: top + (inside ? 6.5 : 8) * k, size: 11 * k, align: 'center', colour, plain: inside });
		return true;
	}

	/* A name below a node must not lie over another node. */
	private overNode(f: Fabric, scene: Scene, c: Camera, n: number, x: number, y: number, w: number, h: number): boolean {
		const [sw, sh] = scene.halfSize(c, 2), [x0, y0] = c.toWorld(x - sw, y - sh), [x1, y1] = c.toWorld(x + w + sw, y + h + sh);
		return f.nodesIn({ x0, y0, x1, y1 }).some((m) => {
			const [hw, hh] = scene.halfSize(c, f.f.type[m]!), [mx, my] = c.toScreen(f.f.x[m]!, f.f.y[m]!);
			return m !== n && mx + hw > x && mx - hw < x + w && my + hh > y && my - hh < y + h;
		});
	}

	private groups(out: PlacedLabel[], f: Fabric, c: Camera, detail: number, s: number, col: LabelColours): void {
		f.f.groups.forEach((g, i) => {
			const [x0, y0] = c.toScreen(g.x0, g.y0), [x1, y1] = c.toScreen(g.x1, g.y1);
			if (!g.name || x1 < 0 || y1 < 0 || x0 > c.width || y0 > c.height || x1 - x0 < 5 * this.k * g.name.length || out.length > MOST)
				return;
			if (x1 - x0 > 2.5 * c.width && y1 - y0 > 2.5 * c.height)
				return;
			const inside = detail < 0.6 && y1 - y0 > 18, x = (Math.max(x0, 0) + Math.min(x1, c.width)) / 2;
			const k = this.k, y = inside && f.groupDepth[i] === 0 ? (y0 + y1) / 2 : y0 - Math.min(0.4 * s, 10) - 8 * k;
			const count = f.groupCount[i]!, text = inside && y1 - y0 > 30 && x1 - x0 > 70 ? `${g.name} · ${count}` : g.name;
			const w = text.length * 6.6 * k;
			if (w > x1 - x0 + 20 || !this.claim(x - w / 2, y - 7 * k, w, 14 * k, false))
				return;
			out.push({ text, x, y, size: 12 * k, align: 'center', colour: detail < 0.6 ? col.text : col.dim });
		});
	}

	private names(out: PlacedLabel[], f: Fabric, scene: Scene, c: Camera, s: number, col: LabelColours): void {
		const seen = f.nodesIn(c.box(40));
		if (seen.length > 20000)
			return;
		seen.sort((p, q) => (f.f.type[q]! > 1 ? 1 : 0) - (f.f.type[p]! > 1 ? 1 : 0) || p - q);
		for (const n of seen) {
			if (out.length > MOST)
				return;
			if (f.f.type[n] === 1 && s < 22)
				continue;
			const flags = scene.nodeFlags(n);
			if (!(flags & FLAG.chosen))
				this.node(out, f, scene, c, n, flags & FLAG.dim ? col.dim : col.text, false);
		}
	}

	/* Numbers beside the cables, where they leave a node. */
	private ports(out: PlacedLabel[], f: Fabric, scene: Scene, c: Camera, col: LabelColours): void {
		for (const n of f.nodesIn(c.box(0))) {
			if (f.f.type[n] === 1 && f.f.nports[n] === 1)
				continue;
			const [hw, hh] = scene.halfSize(c, f.f.type[n]!), [x, y] = c.toScreen(f.f.x[n]!, f.f.y[n]!);
			for (const l of f.links(n)) {
				if (out.length > MOST)
					return;
				const m = f.peer(l, n), dx = f.f.x[m]! - f.f.x[n]!, dy = f.f.y[m]! - f.f.y[n]!;
				/* Where the cable leaves the box, and a little further. */
				const t = 1 / Math.max(Math.abs(dx) / hw, Math.abs(dy) / hh, 1e-9), d = Math.hypot(dx, dy) || 1, more = 9 * this.k;
				const px = x + dx * t + (dx / d) * more, py = y + dy * t + (dy / d) * more;
				if (this.claim(px - 6, py - 5, 12, 10, false))
					out.push({ text: String(f.portAt(l, n)), x: px, y: py, size: 9.5 * this.k, align: 'center', colour: col.dim });
			}
		}
	}

	draw(ctx: CanvasRenderingContext2D, placed: PlacedLabel[], cuts: [number, number][], col: LabelColours): void {
		ctx.textBaseline = 'middle';
		ctx.lineJoin = 'round';
		let size = 0;
		for (const l of [...placed].reverse()) {
			if (l.size !== size) {
				size = l.size;
				ctx.font = `${size}px ${col.font}`;
			}
			ctx.textAlign = l.align;
			if (l.pill) {
				const w = ctx.measureText(l.text).width + l.size, t = l.size * 0.75;
				ctx.fillStyle = l.pill;
				ctx.beginPath();
				ctx.roundRect(l.x - w / 2, l.y - t, w, 2 * t, 3);
				ctx.fill();
			} else if (!l.plain) {
				ctx.strokeStyle = col.halo;
				ctx.lineWidth = 3;
				ctx.strokeText(l.text, l.x, l.y);
			}
			ctx.fillStyle = l.colour;
			ctx.fillText(l.text, l.x, l.y);
		}
		ctx.strokeStyle = col.cut;
		ctx.lineWidth = 2;
		for (const [x, y] of cuts) {
			ctx.beginPath();
			ctx.moveTo(x - 4, y - 4);
			ctx.lineTo(x + 4, y + 4);
			ctx.moveTo(x + 4, y - 4);
			ctx.lineTo(x - 4, y + 4);
			ctx.stroke();
		}
	}
}
