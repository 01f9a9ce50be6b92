// SPDX-License-Identifier: BSD-2-Clause
//
// The fabric on screen: a FABRIC frame with what drawing and picking need. Immutable but for x and y, which a person
// may change; call moved() after that.
import { type FabricFrame, NONE } from '../wire/frames.ts';

export interface Box {
	x0: number;
	y0: number;
	x1: number;
	y1: number;
}

/* Half of the box that is drawn for a switch, in units; the layout keeps 5 by 2 free for it. */
export const SWITCH_W = 1.9, SWITCH_H = 0.62;

export class Fabric {
	readonly firstLink: Uint32Array;
	readonly linksOf: Uint32Array;
	readonly byGuid = new Map<bigint, number>();
	readonly groupDepth: Uint8Array;
	readonly groupCount: Uint32Array;
	/* The box of a host; a switch has SWITCH_W by SWITCH_H of them. */
	unit = 1;
	bounds: Box = { x0: 0, y0: 0, x1: 1, y1: 1 };
	private grid!: Grid;

	constructor(readonly f: FabricFrame) {
		const { nnodes, nlinks } = f;
		this.firstLink = new Uint32Array(nnodes + 1);
		for (let i = 0; i < nlinks; i++) {
			this.firstLink[f.a[i]! + 1]!++;
			this.firstLink[f.b[i]! + 1]!++;
		}
		for (let i = 0; i < nnodes; i++)
			this.firstLink[i + 1]! += this.firstLink[i]!;
		const at = this.firstLink.slice();
		this.linksOf = new Uint32Array(2 * nlinks);
		for (let i = 0; i < nlinks; i++) {
			this.linksOf[at[f.a[i]!]!++] = i;
			this.linksOf[at[f.b[i]!]!++] = i;
		}
		for (let i = nnodes - 1; i >= 0; i--)
			this.byGuid.set(f.guid[i]!, i);
		[this.groupDepth, this.groupCount] = groupFigures(f);
		this.moved();
	}

	get nnodes(): number {
		return this.f.nnodes;
	}
	get nlinks(): number {
		return this.f.nlinks;
	}

	moved(): void {
		this.bounds = boundsOf(this.f);
		this.grid = new Grid(this.f.x, this.f.y, this.bounds);
		this.unit = Math.min(1, this.grid.spacing(this.f.x, this.f.y));
	}

	/* The other end of a link. */
	peer(link: number, node: number): number {
		return this.f.a[link] === node ? this.f.b[link]! : this.f.a[link]!;
	}

	portAt(link: number, node: number): number {
		return this.f.a[link] === node ? this.f.pa[link]! : this.f.pb[link]!;
	}

	links(node: number): Uint32Array {
		return this.linksOf.subarray(this.firstLink[node]!, this.firstLink[node + 1]!);
	}

	/* The link at a port, or -1. */
	linkAt(node: number, port: number): number {
		for (const l of this.links(node)) {
			if ((this.f.a[l] === node && this.f.pa[l] === port) || (this.f.b[l] === node && this.f.pb[l] === port))
				return l;
		}
		return -1;
	}

	/* Lowest port without a cable, or 0. */
	freePort(node: number): number {
		const used = new Set<number>();
		for (const l of this.links(node)) {
			if (this.f.a[l] === node)
				used.add(this.f.pa[l]!);
			if (this.f.b[l] === node)
				used.add(this.f.pb[l]!);
		}
		for (let p = 1; p <= this.f.nports[node]!; p++) {
			if (!used.has(p))
				return p;
		}
		return 0;
	}

	nodeNear(x: number, y: number, radius: number): number {
		return this.grid.near(this.f.x, this.f.y, x, y, radius);
	}

	/* The node whose shape is at this place, with some tolerance. */
	nodeAt(x: number, y: number, slack: number): number {
		const w = SWITCH_W * this.unit + slack, h = SWITCH_H * this.unit + slack, r = 0.5 * this.unit + slack;
		let best = -1, bestD = Infinity;
		for (const i of this.nodesIn({ x0: x - w, y0: y - Math.max(h, r), x1: x + w, y1: y + Math.max(h, r) })) {
			const dx = Math.abs(this.f.x[i]! - x), dy = Math.abs(this.f.y[i]! - y), d = dx * dx + dy * dy;
			if ((this.f.type[i] === 2 ? dx <= w && dy <= h : d <= r * r) && d < bestD) {
				best = i;
				bestD = d;
			}
		}
		return best;
	}

	nodesIn(box: Box): number[] {
		return this.grid.inside(this.f.x, this.f.y, box);
	}

	linkNear(x: number, y: number, radius: number): number {
		const { a, b } = this.f, X = this.f.x, Y = this.f.y;
		let best = -1, bestD = radius * radius;
		for (let i = 0; i < this.nlinks; i++) {
			const ax = X[a[i]!]!, ay = Y[a[i]!]!, dx = X[b[i]!]! - ax, dy = Y[b[i]!]! - ay;
			const n = dx * dx + dy * dy;
			const t = n > 0 ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / n)) : 0;
			const ex = ax + t * dx - x, ey = ay + t * dy - y, d = ex * ex + ey * ey;
			if (d < bestD) {
				bestD = d;
				best = i;
			}
		}
		return best;
	}

	/* The nearest node in a direction, for arrow keys: the angle counts twice. */
	nodeTowards(node: number, dx: number, dy: number): number {
		let best = -1, bestCost = Infinity;
		const x = this.f.x[node]!, y = this.f.y[node]!;
		for (let i = 0; i < this.nnodes; i++) {
			const ex = this.f.x[i]! - x, ey = this.f.y[i]! - y;
			const along = ex * dx + ey * dy;
			if (i === node || along <= 1e-6)
				continue;
			const cost = along + 3 * Math.abs(ex * dy - ey * dx);
			if (cost < bestCost) {
				bestCost = cost;
				best = i;
			}
		}
		return best;
	}

	find(text: string, most: number): number[] {
		const t = text.trim().toLowerCase();
		if (!t)
			return [];
		const found: number[] = [], later: number[] = [];
		const asGuid = /^(0x|[shr]-)?[0-9a-f]{4,16}$/.test(t) ? t.replace(/^(0x|[shr]-)/, '') : '';
		for (let i = 0; i < this.nnodes && found.length < most; i++) {
			const name = this.f.name[i]!.toLowerCase();
			if (name === t)
				found.unshift(i);
			else if (name.startsWith(t))
				found.push(i);
			else if (name.includes(t) || (asGuid && this.f.guid[i]!.toString(16).padStart(16, '0').includes(asGuid)))
				later.push(i);
		}
		return [...found, ...later].slice(0, most);
	}
}

function boundsOf(f: FabricFrame): Box {
	const b = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
	for (let i = 0; i < f.nnodes; i++) {
		b.x0 = Math.min(b.x0, f.x[i]!);
		b.x1 = Math.max(b.x1, f.x[i]!);
		b.y0 = Math.min(b.y0, f.y[i]!);
		b.y1 = Math.max(b.y1, f.y[i]!);
	}
	for (const g of f.groups) {
		b.x0 = Math.min(b.x0, g.x0);
		b.x1 = Math.max(b.x1, g.x1);
		b.y0 = Math.min(b.y0, g.y0);
		b.y1 = Math.max(b.y1, g.y1);
	}
	return b.x0 <= b.x1 ? b : { x0: -5, y0: -5, x1: 5, y1: 5 };
}

/* Depth of each group (0: no parent) and how many nodes it has, those of its children too. */
function groupFigures(f: FabricFrame): [Uint8Array, Uint32Array] {
	const depth = new Uint8Array(f.ngroups), count = new Uint32Array(f.ngroups);
	for (let g = 0; g < f.ngroups; g++) {
		for (let p = f.groups[g]!.parent, n = 0; p !== NONE && n < 16; p = f.groups[p]!.parent, n++)
			depth[g]!++;
	}
	for (let i = 0; i < f.nnodes; i++) {
		for (let g = f.group[i]!, n = 0; g !== NONE && n < 16; g = f.groups[g]!.parent, n++)
			count[g]!++;
	}
	return [depth, count];
}

/* Nodes by square, about two in each. */
class Grid {
	private readonly cell: number;
	private readonly w: number;
	private readonly h: number;
	private readonly first: Uint32Array;
	private readonly items: Uint32Array;

	constructor(x: Float32Array, y: Float32Array, private readonly b: Box) {
		const n = Math.max(1, x.length), area = Math.max(1e-6, (b.x1 - b.x0) * (b.y1 - b.y0));
		this.cell = Math.max(Math.sqrt((2 * area) / n), Math.max(b.x1 - b.x0, b.y1 - b.y0) / 2000, 1e-6);
		this.w = Math.floor((b.x1 - b.x0) / this.cell) + 1;
		this.h = Math.floor((b.y1 - b.y0) / this.cell) + 1;
		this.first = new Uint32Array(this.w * this.h + 1);
		const where = new Uint32Array(x.length);
		for (let i = 0; i < x.length; i++) {
			where[i] = this.row(y[i]!) * this.w + this.column(x[i]!);
			this.first[where[i]! + 1]!++;
		}
		for (let c = 0; c < this.w * this.h; c++)
			this.first[c + 1]! += this.first[c]!;
		const at = this.first.slice();
		this.items = new Uint32Array(x.length);
		for (let i = 0; i < x.length; i++)
			this.items[at[where[i]!]!++] = i;
	}

	private column(x: number): number {
		return Math.min(this.w - 1, Math.max(0, Math.floor((x - this.b.x0) / this.cell)));
	}
	private row(y: number): number {
		return Math.min(this.h - 1, Math.max(0, Math.floor((y - this.b.y0) / this.cell)));
	}

	inside(x: Float32Array, y: Float32Array, b: Box): number[] {
		const out: number[] = [];
		for (let r = this.row(b.y0); r <= this.row(b.y1); r++) {
			for (let k = this.first[r * this.w + this.column(b.x0)]!; k < this.first[r * this.w + this.column(b.x1) + 1]!; k++) {
				const i = this.items[k]!;
				if (x[i]! >= b.x0 && x[i]! <= b.x1 && y[i]! >= b.y0 && y[i]! <= b.y1)
					out.push(i);
			}
		}
		return out;
	}

	near(x: Float32Array, y: Float32Array, px: number, py: number, radius: number): number {
		let best = -1, bestD = radius * radius;
		for (const i of this.inside(x, y, { x0: px - radius, y0: py - radius, x1: px + radius, y1: py + radius })) {
			const d = (x[i]! - px) ** 2 + (y[i]! - py) ** 2;
			if (d <= bestD) {
				bestD = d;
				best = i;
			}
		}
		return best;
	}

	/* A low quantile of the distances to the nearest other node, of a sample. */
	spacing(x: Float32Array, y: Float32Array): number {
		const n = x.length, found: number[] = [];
		if (n < 2)
			return 1;
		for (let k = 0; k < Math.min(n, 400); k++) {
			const i = Math.floor((k * n) / Math.min(n, 400));
			let d = Infinity;
			for (let r = this.cell; d === Infinity && r < this.cell * 4096; r *= 2) {
				for (const j of this.inside(x, y, { x0: x[i]! - r, y0: y[i]! - r, x1: x[i]! + r, y1: y[i]! + r })) {
					if (j !== i)
						d = Math.min(d, Math.hypot(x[j]! - x[i]!, y[j]! - y[i]!));
				}
			}
			if (d > 0 && d < Infinity)
				found.push(d);
		}
		found.sort((p, q) => p - q);
		return found[Math.floor(found.length / 5)] ?? 1;
	}
}
