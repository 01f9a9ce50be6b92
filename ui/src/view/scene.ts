// SPDX-License-Identifier: BSD-2-Clause
//
// The picture in WebGL2: groups, links and nodes into a layer that is kept while nothing changes, messages above it in
// each frame. Far out, groups and bundles of links stand for their members. While the view moves, only as many links are
// drawn as the budget allows (in an order like a shuffled deck); when it rests, all of them, or more of them where no GPU helps.
import { type Box, type Fabric, SWITCH_H, SWITCH_W } from '../model/fabric.ts';
import type { ManagerRecord } from '../wire/frames.ts';
import { NONE } from '../wire/frames.ts';
import type { Camera } from './camera.ts';
import { FlightStore } from './flights.ts';
import { Corners, Instances, Layer, Program } from './gl.ts';
import * as S from './shaders.ts';

/* A bit of a node's state: the master knows it. */
const KNOWN = 4;

export const FLAG = { chosen: 1, hover: 2, lit: 4, dim: 8 } as const;

/* CSS properties of the palette, by place. */
export const PALETTE = ['down', 'init', 'armed', 'active', 'cut', 'switch', 'host', 'router', 'hollow', 'strong', 'route', 'select',
	'load-low', 'load-mid', 'load-high', 'sm-off', 'sm-discovering', 'sm-standby', 'sm-master', 'group', 'group-line',
	'smp-request', 'smp-response', 'packet'];

export interface SceneStats {
	frames: number;
	scriptMs: number;
	links: number;
	fullRedraws: number;
}

export class Scene {
	readonly flights = new FlightStore();
	readonly stats: SceneStats = { frames: 0, scriptMs: 0, links: 0, fullRedraws: 0 };
	/* What is drawn; owned here, written through the setters. */
	private fabric: Fabric | null = null;
	private nodeWhat = new Uint8Array(0);
	private linkWhat = new Uint8Array(0);
	private order: Uint32Array = new Uint32Array(0);
	private place = new Uint32Array(0);
	private groupWhat = new Uint8Array(0);
	private bundleOf = new Int32Array(0);
	private bundleWhat = new Uint8Array(0);
	private readonly gl: WebGL2RenderingContext;
	private readonly programs: Record<'link' | 'node' | 'group' | 'point' | 'copy', Program>;
	private readonly links: Instances;
	private readonly bundles: Instances;
	private readonly nodes: Instances;
	private readonly special: Instances;
	private readonly nearNodes: Instances;
	private readonly nearLinks: Instances;
	private readonly groups: Instances;
	private readonly points: Instances;
	private readonly layer: Layer;
	private palette = new Float32Array(3 * S.PALETTE_SIZE);
	private background: [number, number, number] = [0, 0, 0];
	private stale = true;
	private whole = false;
	private dirtyNodes = false;
	private dirtyLinks = false;
	loads = false;
	/* Pixels of links that a frame may fill: while something moves, and at rest. */
	readonly software: boolean;
	private readonly budget: number;
	private readonly restBudget: number;

	constructor(readonly canvas: HTMLCanvasElement) {
		const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, depth: false, stencil: false, powerPreference: 'high-performance' });
		if (!gl)
			throw new Error('this browser has no WebGL2');
		this.gl = gl;
		this.programs = {
			link: new Program(gl, S.LINK_VS, S.LINK_FS), node: new Program(gl, S.NODE_VS, S.NODE_FS),
			group: new Program(gl, S.GROUP_VS, S.GROUP_FS), point: new Program(gl, S.POINT_VS, S.POINT_FS), copy: new Program(gl, S.COPY_VS, S.COPY_FS),
		};
		const info = gl.getExtension('WEBGL_debug_renderer_info');
		const renderer = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
		this.software = /swiftshader|llvmpipe|software/i.test(renderer);
		const corners = this.software ? new Corners(gl) : null;
		this.links = new Instances(gl, 4, true, corners);
		this.bundles = new Instances(gl, 4, true, corners);
		this.nodes = new Instances(gl, 2, true, corners);
		this.special = new Instances(gl, 2, true, corners);
		this.nearNodes = new Instances(gl, 2, true, corners);
		this.nearLinks = new Instances(gl, 4, true, corners);
		this.groups = new Instances(gl, 4, true, corners);
		this.points = new Instances(gl, 4, false, corners);
		this.layer = new Layer(gl);
		this.budget = this.software ? 8e5 : 4e7;
		this.restBudget = this.software ? 6e6 : 1e9;
		gl.disable(gl.DEPTH_TEST);
		gl.enable(gl.BLEND);
		gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
	}

	setTheme(colour: (name: string) => [number, number, number]): void {
		PALETTE.forEach((name, i) => this.palette.set(colour('--' + name), 3 * i));
		this.background = colour('--canvas');
		this.stale = true;
	}

	setFabric(f: Fabric): void {
		this.fabric = f;
		this.nodeWhat = new Uint8Array(4 * f.nnodes);
		this.linkWhat = new Uint8Array(4 * f.nlinks);
		for (let i = 0; i < f.nnodes; i++) {
			this.nodeWhat[4 * i] = f.f.type[i]!;
			this.nodeWhat[4 * i + 1] = 1;
		}
		this.order = shuffled(f.nlinks);
		this.place = new Uint32Array(f.nlinks);
		this.order.forEach((l, k) => (this.place[l] = k));
		for (let k = 0; k < f.nlinks; k++)
			this.linkWhat[4 * k + 3] = 1;
		this.flights.clear();
		this.makeGroups(f);
		this.setPositions();
	}

	/* After x and y of the fabric changed. */
	setPositions(): void {
		const f = this.fabric;
		if (!f)
			return;
		const at = new Float32Array(2 * f.nnodes), ends = new Float32Array(4 * f.nlinks), { x, y, a, b } = f.f;
		for (let i = 0; i < f.nnodes; i++) {
			at[2 * i] = x[i]!;
			at[2 * i + 1] = y[i]!;
		}
		for (let k = 0; k < f.nlinks; k++) {
			const l = this.order[k]!;
			ends[4 * k] = x[a[l]!]!;
			ends[4 * k + 1] = y[a[l]!]!;
			ends[4 * k + 2] = x[b[l]!]!;
			ends[4 * k + 3] = y[b[l]!]!;
		}
		this.nodes.setFixed(at);
		this.links.setFixed(ends);
		this.dirtyNodes = this.dirtyLinks = this.stale = true;
	}

	private makeGroups(f: Fabric): void {
		const g = f.f.groups, boxes = new Float32Array(4 * g.length);
		/* Parents first: children lie above them. */
		this.groupOrder = g.map((_, i) => i).sort((p, q) => f.groupDepth[p]! - f.groupDepth[q]! || p - q);
		this.groupOrder.forEach((i, k) => boxes.set([g[i]!.x0, g[i]!.y0, g[i]!.x1, g[i]!.y1], 4 * k));
		this.groups.setFixed(boxes);
		this.groupWhat = new Uint8Array(4 * g.length);
		this.makeBundles(f);
		this.paintGroups();
	}
	private groupOrder: number[] = [];

	/* Links between two groups become one line. */
	private makeBundles(f: Fabric): void {
		const { a, b, group, groups } = f.f, seen = new Map<number, number>(), ends: number[] = [], count: number[] = [];
		const centre = (g: number, n: number): [number, number] => g === NONE ? [f.f.x[n]!, f.f.y[n]!]
			: [(groups[g]!.x0 + groups[g]!.x1) / 2, (groups[g]!.y0 + groups[g]!.y1) / 2];
		this.bundleOf = new Int32Array(f.nlinks).fill(-1);
		for (let l = 0; l < f.nlinks && groups.length > 1; l++) {
			const ga = group[a[l]!]!, gb = group[b[l]!]!;
			if (ga === gb || ga === NONE || gb === NONE)
				continue;
			const key = Math.min(ga, gb) * groups.length + Math.max(ga, gb);
			let k = seen.get(key);
			if (k === undefined) {
				k = count.length;
				seen.set(key, k);
				count.push(0);
				ends.push(...centre(ga, a[l]!), ...centre(gb, b[l]!));
			}
			count[k]!++;
			this.bundleOf[l] = k;
		}
		this.bundles.setFixed(new Float32Array(ends));
		this.bundleEnds = ends;
		this.bundleCount = new Uint32Array(count);
		this.bundleWhat = new Uint8Array(4 * count.length);
		count.forEach((n, k) => (this.bundleWhat[4 * k + 3] = Math.min(4, 1 + Math.log2(n) / 4)));
		this.meanLength = 0;
		for (let l = 0; l < f.nlinks; l++)
			this.meanLength += Math.hypot(f.f.x[a[l]!]! - f.f.x[b[l]!]!, f.f.y[a[l]!]! - f.f.y[b[l]!]!) / f.nlinks;
	}
	private bundleEnds: number[] = [];
	private bundleCount = new Uint32Array(0);
	private meanLength = 0;

	/* How many nodes of a group are up, and the worst and most frequent state of bundles. */
	private paintGroups(): void {
		const f = this.fabric;
		if (!f || f.f.ngroups === 0)
			return;
		const up = new Uint32Array(f.f.ngroups), { group, groups } = f.f;
		for (let i = 0; i < f.nnodes; i++) {
			if ((this.nodeWhat[4 * i + 1]! & 3) !== 3)
				continue;
			for (let g = group[i]!, n = 0; g !== NONE && n < 16; g = groups[g]!.parent, n++)
				up[g]!++;
		}
		this.groupOrder.forEach((g, k) => {
			this.groupWhat[4 * k] = f.groupDepth[g]!;
			this.groupWhat[4 * k + 1] = f.groupCount[g] ? Math.round((255 * up[g]!) / f.groupCount[g]!) : 0;
		});
		this.groups.setChanging(this.groupWhat);
		this.paintBundles(f);
	}

	private paintBundles(f: Fabric): void {
		const n = this.bundleCount.length, active = new Uint32Array(n), cut = new Uint32Array(n), load = new Float64Array(n), flags = new Uint8Array(n).fill(255);
		const lit = new Uint8Array(n);
		for (let l = 0; l < f.nlinks; l++) {
			const k = this.bundleOf[l]!;
			if (k < 0)
				continue;
			const o = 4 * this.place[l]!, s = this.linkWhat[o]!;
			active[k]! += s === 3 ? 1 : 0;
			cut[k]! += s === 4 ? 1 : 0;
			load[k]! += this.linkWhat[o + 1]!;
			flags[k]! &= this.linkWhat[o + 2]!;
			lit[k]! |= this.linkWhat[o + 2]! & FLAG.lit;
		}
		for (let k = 0; k < n; k++) {
			const c = this.bundleCount[k]!;
			this.bundleWhat[4 * k] = cut[k]! * 2 > c ? 4 : active[k] === 0 ? 0 : active[k]! < c ? 2 : 3;
			this.bundleWhat[4 * k + 1] = load[k]! / c;
			this.bundleWhat[4 * k + 2] = lit[k] ? FLAG.lit : flags[k]! & FLAG.dim;
		}
		this.bundles.setChanging(this.bundleWhat);
	}

	/* States from a STATE frame; returns whether the picture differs. */
	setState(node: Uint8Array, link: Uint8Array, managers: ManagerRecord[]): boolean {
		let nodes = false, links = false;
		/* Without a master no node counts as cut off. */
		const master = managers.some((m) => m.state === 3 && !(m.flags & 2)) && node.some((v) => v & KNOWN);
		this.cutOff = 0;
		for (let i = 0; i < node.length; i++) {
			const bits = master ? node[i]! : node[i]! | KNOWN;
			this.cutOff += (bits & (1 | 2 | KNOWN)) === 3 ? 1 : 0;
			if (this.nodeWhat[4 * i + 1] !== bits) {
				this.nodeWhat[4 * i + 1] = bits;
				nodes = true;
			}
		}
		nodes = this.setManagers(managers) || nodes;
		for (let l = 0, n = link.length / 3; l < n; l++) {
			const o = 4 * this.place[l]!, load = this.loads ? this.linkWhat[o + 1]! : link[3 * l + (this.measure === 2 ? 2 : 1)]!;
			if (this.linkWhat[o] !== link[3 * l] || this.linkWhat[o + 1] !== load) {
				this.linkWhat[o] = link[3 * l]!;
				this.linkWhat[o + 1] = load;
				links = true;
			}
		}
		this.dirtyNodes ||= nodes;
		this.dirtyLinks ||= links;
		this.stale ||= nodes || links;
		return nodes || links;
	}

	/* Nodes with power and LID that the master does not reach. */
	cutOff = 0;
	private managerNodes: number[] = [];
	private setManagers(managers: ManagerRecord[]): boolean {
		const before = this.managerNodes.map((n) => [n, this.nodeWhat[4 * n + 3]!] as const);
		for (const n of this.managerNodes)
			this.nodeWhat[4 * n + 3] = 0;
		for (const m of managers)
			this.nodeWhat[4 * m.node + 3] = m.flags & 2 ? 1 : m.state + 1;
		this.managerNodes = managers.map((m) => m.node);
		return before.length !== managers.length || before.some(([n, v]) => this.nodeWhat[4 * n + 3] !== v);
	}

	/* Values 0 to 255 by link instead of the load of STATE; null: the load again. */
	setLoads(value: Uint8Array | null): void {
		this.loads = value !== null;
		for (let l = 0; value && l < value.length; l++)
			this.linkWhat[4 * this.place[l]! + 1] = value[l]!;
		this.dirtyLinks = this.stale = true;
	}
	/* Of STATE: 1 the share of time that a link was busy, 2 its buffers; 0: colours are states. */
	measure = 0;

	setFlags(node: (i: number) => number, link: (i: number) => number): void {
		const f = this.fabric;
		if (!f)
			return;
		for (let i = 0; i < f.nnodes; i++)
			this.nodeWhat[4 * i + 2] = node(i);
		for (let l = 0; l < f.nlinks; l++)
			this.linkWhat[4 * this.place[l]! + 2] = link(l);
		this.dirtyNodes = this.dirtyLinks = this.stale = true;
	}

	setNodeFlag(i: number, flag: number, on: boolean): void {
		this.nodeWhat[4 * i + 2] = on ? this.nodeWhat[4 * i + 2]! | flag : this.nodeWhat[4 * i + 2]! & ~flag;
		this.dirtyNodes = this.stale = true;
	}
	setLinkFlag(l: number, flag: number, on: boolean): void {
		const o = 4 * this.place[l]! + 2;
		this.linkWhat[o] = on ? this.linkWhat[o]! | flag : this.linkWhat[o]! & ~flag;
		this.dirtyLinks = this.stale = true;
	}
	setGroupHover(group: number): void {
		this.groupOrder.forEach((g, k) => (this.groupWhat[4 * k + 2] = g === group ? FLAG.hover : 0));
		this.groups.setChanging(this.groupWhat);
		this.stale = true;
	}

	/* Colours of links are those of the ramp. */
	get ramps(): boolean {
		return this.loads || this.measure > 0;
	}
	/* For pictures in other formats; at most 20,000. */
	eachBundle(fn: (ax: number, ay: number, bx: number, by: number, state: number, value: number, width: number) => void): void {
		for (let k = 0; k < Math.min(20000, this.bundleCount.length); k++) {
			const e = this.bundleEnds, w = this.bundleWhat;
			fn(e[4 * k]!, e[4 * k + 1]!, e[4 * k + 2]!, e[4 * k + 3]!, w[4 * k]!, w[4 * k + 1]!, w[4 * k + 3]!);
		}
	}

	nodeState(i: number): number {
		return this.nodeWhat[4 * i + 1] ?? 0;
	}
	linkState(l: number): number {
		return this.linkWhat[4 * this.place[l]!] ?? 0;
	}
	linkValue(l: number): number {
		return this.linkWhat[4 * this.place[l]! + 1] ?? 0;
	}
	linkFlags(l: number): number {
		return this.linkWhat[4 * this.place[l]! + 2] ?? 0;
	}
	nodeFlags(i: number): number {
		return this.nodeWhat[4 * i + 2] ?? 0;
	}

	markStale(): void {
		this.stale = true;
	}

	/* How much of the members is to be seen: 0 groups alone, 1 all links and nodes. */
	detail(c: Camera): number {
		const f = this.fabric;
		if (!f || f.f.ngroups < 2 || f.nlinks < 2000)
			return 1;
		const s = f.unit * c.scale;
		return Math.min(1, Math.max(0, (s - 1.2) / 1.8));
	}

	/* Half of a node's shape on screen, CSS pixels. */
	halfSize(c: Camera, type: number): [number, number] {
		const px = (this.fabric?.unit ?? 1) * c.scale, host = Math.min(0.36 * px, 16);
		return type === 2 ? [SWITCH_W * px, SWITCH_H * px] : [host, host];
	}

	/* One frame. moving: the view changes, details may wait. Returns whether details wait. */
	draw(c: Camera, clock: number, dpr: number, moving: boolean): boolean {
		const began = performance.now(), gl = this.gl, w = this.canvas.width, h = this.canvas.height;
		this.upload();
		if (this.stale || (!moving && !this.whole)) {
			this.layer.begin(w, h);
			gl.clearColor(...this.background, 1);
			gl.clear(gl.COLOR_BUFFER_BIT);
			if (this.fabric)
				this.drawLayer(c, dpr, moving);
			this.stale = false;
			this.stats.fullRedraws++;
		}
		this.layer.show(this.programs.copy);
		this.drawPoints(c, clock, dpr);
		this.stats.frames++;
		this.stats.scriptMs = performance.now() - began;
		return !this.whole;
	}

	private upload(): void {
		if (this.dirtyNodes) {
			this.nodes.setChanging(this.nodeWhat);
			this.pickSpecial();
		}
		if (this.dirtyLinks)
			this.links.setChanging(this.linkWhat);
		if (this.dirtyNodes || this.dirtyLinks)
			this.paintGroups();
		this.dirtyNodes = this.dirtyLinks = false;
	}

	/* Nodes that are seen at every zoom: chosen, lit, with a manager. */
	private pickSpecial(): void {
		const f = this.fabric!.f, at: number[] = [], what: number[] = [];
		for (let i = 0; i < f.nnodes && at.length < 8192; i++) {
			if ((this.nodeWhat[4 * i + 2]! & (FLAG.chosen | FLAG.hover | FLAG.lit)) || this.nodeWhat[4 * i + 3]) {
				at.push(f.x[i]!, f.y[i]!);
				what.push(...this.nodeWhat.subarray(4 * i, 4 * i + 4));
			}
		}
		this.special.setFixed(new Float32Array(at));
		this.special.setChanging(new Uint8Array(what));
	}

	private use(p: Program, c: Camera, dpr: number): Program {
		const gl = this.gl;
		gl.useProgram(p.id);
		gl.uniform2f(p.u('uCentre'), c.x, c.y);
		gl.uniform2f(p.u('uView'), this.canvas.width, this.canvas.height);
		gl.uniform1f(p.u('uScale'), c.scale * dpr);
		gl.uniform1f(p.u('uDpr'), dpr);
		gl.uniform3fv(p.u('uPal'), this.palette);
		return p;
	}

	private drawLayer(c: Camera, dpr: number, moving: boolean): void {
		const gl = this.gl, f = this.fabric!, detail = this.detail(c), s = f.unit * c.scale;
		const g = this.use(this.programs.group, c, dpr);
		gl.uniform1f(g.u('uAlpha'), 1 - detail);
		gl.uniform1f(g.u('uPad'), Math.min(0.4 * s, 10) * dpr);
		this.groups.draw();
		const p = this.use(this.programs.link, c, dpr);
		gl.uniform1f(p.u('uMode'), this.ramps ? 1 : 0);
		if (detail < 1) {
			gl.uniform1f(p.u('uAlpha'), 1 - detail);
			gl.uniform1f(p.u('uFade'), Math.min(0.75, Math.max(0.1, 9 / Math.sqrt(this.bundleCount.length))));
			gl.uniform1f(p.u('uWidth'), 1);
			this.bundles.draw();
		}
		this.whole = true;
		const near = detail > 0 && this.pickNear(c, moving);
		if (detail > 0)
			this.drawLinks(p, c, dpr, moving, detail, near);
		const n = this.use(this.programs.node, c, dpr);
		gl.uniform1f(n.u('uUnit'), s * dpr);
		gl.uniform2f(n.u('uSwitch'), SWITCH_W, SWITCH_H);
		gl.uniform1f(n.u('uMin'), f.nnodes > 5000 ? 0.5 : 1.6);
		gl.uniform1f(n.u('uAlpha'), detail);
		(near ? this.nearNodes : detail > 0 ? this.nodes : this.special).draw();
	}

	private drawLinks(p: Program, c: Camera, dpr: number, moving: boolean, detail: number, near: boolean): void {
		const gl = this.gl, f = this.fabric!, s = f.unit * c.scale;
		/* Pixels that all links would fill, by their mean length, at most across the view. */
		const each = Math.min(this.meanLength * c.scale, c.width) * dpr * 3;
		const most = moving ? this.budget : this.restBudget, count = Math.min(f.nlinks, Math.max(500, Math.floor(most / Math.max(1, each))));
		this.whole = !moving || count >= f.nlinks;
		const crowd = (n: number): number => Math.min(1, Math.max(0.14, 24 / Math.sqrt(Math.max(1, n / Math.max(1, s / 2)))));
		gl.uniform1f(p.u('uAlpha'), detail);
		gl.uniform1f(p.u('uWidth'), Math.min(2, 0.9 + s / 70));
		/* Links that only cross the view wait until it rests. */
		if (!near || !moving) {
			gl.uniform1f(p.u('uFade'), Math.min(1, crowd(f.nlinks) * (near ? 1 : Math.sqrt(f.nlinks / Math.max(1, count)))));
			this.links.draw(count);
		}
		if (near) {
			const all = this.nearLinks.count, drawn = moving && this.software ? this.nearWithin(this.budget / (3 * dpr)) : all;
			gl.uniform1f(p.u('uFade'), Math.min(1, crowd(all) * Math.sqrt(all / Math.max(1, drawn))));
			this.nearLinks.draw(drawn);
			this.whole &&= !moving;
			this.stats.links = drawn;
		} else
			this.stats.links = count;
	}

	/* In a large fabric, when few nodes are in view: these and all their links. */
	private pickNear(c: Camera, moving: boolean): boolean {
		const fab = this.fabric!, f = fab.f;
		if (f.nnodes < 3000)
			return false;
		const seen = fab.nodesIn(c.box(60));
		if (seen.length > 3000)
			return false;
		const at = new Float32Array(2 * seen.length), what = new Uint8Array(4 * seen.length);
		let links: number[] = [];
		this.stamp = (this.stamp + 1) % 0xffffffff;
		if (this.stamps.length !== f.nlinks)
			this.stamps = new Uint32Array(f.nlinks);
		seen.forEach((n, k) => {
			at[2 * k] = f.x[n]!;
			at[2 * k + 1] = f.y[n]!;
			what.set(this.nodeWhat.subarray(4 * n, 4 * n + 4), 4 * k);
			for (const l of fab.links(n)) {
				if (this.stamps[l] !== this.stamp && links.length < 12000)
					links.push(l);
				this.stamps[l] = this.stamp;
			}
		});
		if (moving && this.software)
			links = this.orderNear(links, c.box(0), c.scale);
		const ends = new Float32Array(4 * links.length), state = new Uint8Array(4 * links.length);
		links.forEach((l, k) => {
			ends.set([f.x[f.a[l]!]!, f.y[f.a[l]!]!, f.x[f.b[l]!]!, f.y[f.b[l]!]!], 4 * k);
			state.set(this.linkWhat.subarray(4 * this.place[l]!, 4 * this.place[l]! + 4), 4 * k);
		});
		this.nearNodes.setFixed(at);
		this.nearNodes.setChanging(what);
		this.nearLinks.setFixed(ends);
		this.nearLinks.setChanging(state);
		return true;
	}
	private stamp = 0;
	private stamps: Uint32Array = new Uint32Array(0);

	/* What stands out first, then short ones: most links for the pixels that they fill. Same lengths as a shuffled deck. */
	private orderNear(links: number[], view: Box, scale: number): number[] {
		const { a, b, x, y } = this.fabric!.f, STEP = 64, SHIFT = 2 ** 32;
		const keys = Float64Array.from(links, (l) => {
			const k = this.place[l]!, o = 4 * k, out = this.linkWhat[o] === 4 || this.linkWhat[o + 2]! & (FLAG.chosen | FLAG.hover | FLAG.lit);
			return (out ? 0 : 1 + Math.floor((scale * lengthIn(view, x[a[l]!]!, y[a[l]!]!, x[b[l]!]!, y[b[l]!]!)) / STEP)) * SHIFT + k;
		}).sort();
		let sum = 0;
		this.nearPixels = new Float32Array(keys.length);
		return Array.from(keys, (key, i) => {
			this.nearPixels[i] = sum += Math.max(0, Math.floor(key / SHIFT) - 0.5) * STEP;
			return this.order[key % SHIFT]!;
		});
	}
	/* CSS pixels along the links up to each of them. */
	private nearPixels = new Float32Array(0);

	/* How many of them have this length together. */
	private nearWithin(most: number): number {
		let lo = 0, hi = this.nearPixels.length;
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (this.nearPixels[mid]! <= most)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo;
	}

	private drawPoints(c: Camera, clock: number, dpr: number): void {
		const f = this.fabric;
		if (!f || this.flights.n === 0)
			return;
		const n = this.flights.prepare(clock, f.f.a, f.f.b, f.f.x, f.f.y);
		if (n === 0)
			return;
		const gl = this.gl, p = this.use(this.programs.point, c, dpr);
		this.points.setFixed(this.flights.ends.subarray(0, 4 * n));
		this.points.setChanging(this.flights.time.subarray(0, 4 * n));
		gl.viewport(0, 0, this.canvas.width, this.canvas.height);
		gl.uniform1f(p.u('uNow'), 0);
		gl.uniform1f(p.u('uBase'), Math.min(5, Math.max(1.7, 1.6 + f.unit * c.scale * 0.05)));
		this.points.draw(n);
	}

	/* Waits for the renderer; for measurements. */
	finish(): void {
		const px = new Uint8Array(4);
		this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, px);
	}
}

/* Of the part of a line that is in a box. */
function lengthIn(b: Box, x0: number, y0: number, x1: number, y1: number): number {
	const dx = x1 - x0, dy = y1 - y0;
	let from = 0, to = 1;
	for (const [d, lo, hi] of [[dx, b.x0 - x0, b.x1 - x0], [dy, b.y0 - y0, b.y1 - y0]] as const) {
		if (d === 0 ? lo > 0 || hi < 0 : false)
			return 0;
		if (d !== 0) {
			from = Math.max(from, Math.min(lo / d, hi / d));
			to = Math.min(to, Math.max(lo / d, hi / d));
		}
	}
	return to > from ? (to - from) * Math.hypot(dx, dy) : 0;
}

/* A permutation that is the same each time (Lehmer steps). */
function shuffled(n: number): Uint32Array {
	const order = new Uint32Array(n);
	let seed = 12345;
	for (let i = 0; i < n; i++)
		order[i] = i;
	for (let i = n - 1; i > 0; i--) {
		seed = (seed * 48271) % 2147483647;
		const j = seed % (i + 1), t = order[i]!;
		order[i] = order[j]!;
		order[j] = t;
	}
	return order;
}
