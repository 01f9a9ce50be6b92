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
}

const CELL = 24, MOST = 600;

export class Labels {
	private taken = new Set<number>();
	private columns = 1;

	/* What is to be written, in order of importance. */
	place(f: Fabric, scene: Scene, c: Camera, managers: ManagerRecord[], col: LabelColours, chosen: Iterable<number>, hover: number): PlacedLabel[] {
		const out: PlacedLabel[] = [], detail = scene.detail(c), s = f.spacing * c.scale, r = scene.nodeSize(c) / 2;
		this.taken.clear();
		this.columns = Math.ceil(c.width / CELL) + 2;
		managers.forEach((m, i) => this.manager(out, f, c, m, i, r, col));
		for (const n of chosen)
			this.node(out, f, c, n, r, col.accent, true);
		if (hover >= 0)
			this.node(out, f, c, hover, r, col.text, true);
		this.groups(out, f, c, detail, s, col);
		if (s > 26)
			this.names(out, f, scene, c, r, s, col);
		if (s > 130)
			this.ports(out, f, c, r, col);
		return out;
	}

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

	private manager(out: PlacedLabel[], f: Fabric, c: Camera, m: ManagerRecord, i: number, r: number, col: LabelColours): void {
		const [x, y] = c.toScreen(f.f.x[m.node]!, f.f.y[m.node]!);
		if (x < -40 || y < -20 || x > c.width + 40 || y > c.height + 20)
			return;
		const text = `SM ${i} ${m.flags & 2 ? 'stopped' : m.flags & 1 ? 'paused' : SM_STATE[m.state] ?? m.state}`;
		const w = text.length * 6.2 + 12;
		this.claim(x - w / 2, y - r - 22, w, 16, true);
		out.push({ text, x, y: y - r - 16, size: 11, align: 'center', colour: col.halo, pill: col.manager[m.flags & 2 ? 0 : m.state] ?? col.dim });
	}

	private node(out: PlacedLabel[], f: Fabric, c: Camera, n: number, r: number, colour: string, force: boolean): boolean {
		const [x, y] = c.toScreen(f.f.x[n]!, f.f.y[n]!), text = f.f.name[n]!;
		if (x < -60 || y < -20 || x > c.width + 60 || y > c.height + 20 || !text)
			return false;
		const w = text.length * 6.4;
		if (!this.claim(x - w / 2, y + r + 2, w, 12, force))
			return false;
		out.push({ text, x, y: y + r + 10, size: 11, align: 'center', colour });
		return true;
	}

	private groups(out: PlacedLabel[], f: Fabric, c: Camera, detail: number, s: number, col: LabelColours): void {
		f.f.groups.forEach((g, i) => {
			const [x0, y0] = c.toScreen(g.x0, g.y0), [x1, y1] = c.toScreen(g.x1, g.y1);
			if (!g.name || x1 < 0 || y1 < 0 || x0 > c.width || y0 > c.height || x1 - x0 < 5 * g.name.length || out.length > MOST)
				return;
			if (x1 - x0 > 2.5 * c.width && y1 - y0 > 2.5 * c.height)
				return;
			const inside = detail < 0.6 && y1 - y0 > 18, x = (Math.max(x0, 0) + Math.min(x1, c.width)) / 2;
			const y = inside && f.groupDepth[i] === 0 ? (y0 + y1) / 2 : y0 - Math.min(0.45 * s, 14) - 8;
			const count = f.groupCount[i]!, text = inside && y1 - y0 > 30 && x1 - x0 > 70 ? `${g.name} · ${count}` : g.name;
			const w = text.length * 6.6;
			if (w > x1 - x0 + 20 || !this.claim(x - w / 2, y - 7, w, 14, false))
				return;
			out.push({ text, x, y, size: 12, align: 'center', colour: detail < 0.6 ? col.text : col.dim });
		});
	}

	private names(out: PlacedLabel[], f: Fabric, scene: Scene, c: Camera, r: number, s: number, col: LabelColours): void {
		const seen = f.nodesIn(c.box(40));
		seen.sort((p, q) => (f.f.type[q]! > 1 ? 1 : 0) - (f.f.type[p]! > 1 ? 1 : 0) || p - q);
		for (const n of seen) {
			if (out.length > MOST)
				return;
			if (f.f.type[n] === 1 && s < 34)
				continue;
			const flags = scene.nodeFlags(n);
			if (!(flags & FLAG.chosen))
				this.node(out, f, c, n, r * (f.f.type[n] === 1 ? 0.72 : 1), flags & FLAG.dim ? col.dim : col.text, false);
		}
	}

	/* Numbers beside the cables, where they leave a node. */
	private ports(out: PlacedLabel[], f: Fabric, c: Camera, r: number, col: LabelColours): void {
		for (const n of f.nodesIn(c.box(0))) {
			if (f.f.type[n] === 1 && f.f.nports[n] === 1)
				continue;
			for (const l of f.links(n)) {
				if (out.length > MOST)
					return;
				const m = f.peer(l, n), [x, y] = c.toScreen(f.f.x[n]!, f.f.y[n]!);
				const dx = f.f.x[m]! - f.f.x[n]!, dy = f.f.y[m]! - f.f.y[n]!, d = Math.hypot(dx, dy) || 1;
				const px = x + (dx / d) * (r + 12), py = y + (dy / d) * (r + 12);
				if (this.claim(px - 6, py - 5, 12, 10, false))
					out.push({ text: String(f.portAt(l, n)), x: px, y: py, size: 9, align: 'center', colour: col.dim });
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
				const w = ctx.measureText(l.text).width + 12;
				ctx.fillStyle = l.pill;
				ctx.beginPath();
				ctx.roundRect(l.x - w / 2, l.y - 8, w, 16, 3);
				ctx.fill();
			} else {
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
