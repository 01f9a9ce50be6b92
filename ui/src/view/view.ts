// SPDX-License-Identifier: BSD-2-Clause
//
// The stage: canvases, camera, pointer and the frame loop. A frame is drawn when something moved or changed, not otherwise.
import type { App } from '../app.ts';
import { byId } from '../dom.ts';
import { NODE_TYPE, portsText, rateText } from '../model/iba.ts';
import type { Theme } from '../theme.ts';
import { Camera } from './camera.ts';
import { KIND_PACKET, KIND_REQUEST, KIND_RESPONSE, KIND_TRAP, MIN_MS } from './flights.ts';
import { Labels, type LabelColours, type PlacedLabel } from './labels.ts';
import { FLAG, Scene } from './scene.ts';

export type Tool = 'select' | 'switch' | 'host' | 'router' | 'link' | 'manager' | 'cut' | 'power';

export interface Target {
	node: number;
	link: number;
	group: number;
	x: number;
	y: number;
}

const REST_MS = 140;

export type Colouring = 'states' | 'busy' | 'buffers' | 'routes';

export class View {
	readonly camera = new Camera();
	scene: Scene;
	private readonly labels = new Labels();
	private readonly ink = byId<HTMLCanvasElement>('ink');
	private readonly ctx = this.ink.getContext('2d')!;
	private readonly stage = byId('stage');
	private readonly gl = byId<HTMLCanvasElement>('gl');
	private colours!: LabelColours;
	private dpr = 1;
	private asked = false;
	private inkStale = true;
	private movedAt = -1e9;
	private clock = 0;
	private lastFrame = 0;
	private stepUntil = 0;
	private drag: { x: number; y: number; kind: 'pan' | 'box' | 'nodes' | 'link'; moved: boolean; node: number; from: Map<number, [number, number]> } | null = null;
	private pointer = { x: 0, y: 0 };
	hover: Target = { node: -1, link: -1, group: -1, x: 0, y: 0 };
	tool: Tool = 'select';
	linkFrom = -1;
	colouring: Colouring = 'states';
	get showLoads(): boolean {
		return this.colouring === 'routes';
	}
	/* What colours of links mean. Those by routes need the command loads first. */
	setColours(to: Colouring): void {
		this.colouring = to;
		this.scene.measure = to === 'busy' ? 1 : to === 'buffers' ? 2 : 0;
		this.loadValues();
		const s = this.app.lastState;
		if (s)
			this.scene.setState(s.node, s.link, s.managers);
		this.scene.markStale();
		this.app.emit('overlay');
	}
	onTool: () => void = () => {};
	onClick: (t: Target, e: PointerEvent) => void = () => {};
	onMenu: (t: Target, x: number, y: number) => void = () => {};
	onMoved: (nodes: number[]) => void = () => {};
	onLinked: (a: number, b: number) => void = () => {};
	onFirst: () => void = () => {};
	frameTimes: number[] = [];

	constructor(private readonly app: App, private readonly theme: Theme) {
		this.scene = new Scene(this.gl);
		this.readTheme();
		new ResizeObserver(() => this.resize()).observe(this.stage);
		this.resize();
		this.listen();
		app.fit = () => this.fit(false);
		app.on(['fabric'], () => {
			if (app.fabric) {
				this.scene.setFabric(app.fabric);
				this.camera.minScale = Math.min(1, this.camera.fitting(app.fabric.bounds, 30)[2] / 2);
				this.camera.maxScale = 160 / app.fabric.unit;
				if (app.lastState)
					this.scene.setState(app.lastState.node, app.lastState.link, app.lastState.managers);
			}
			this.hover = { node: -1, link: -1, group: -1, x: 0, y: 0 };
			this.flags();
		});
		app.on(['state'], () => {
			const s = app.lastState!;
			if (this.scene.setState(s.node, s.link, s.managers))
				this.inkStale = true;
			this.ask();
		});
		app.on(['flights'], () => this.addFlights());
		app.on(['select', 'overlay', 'run', 'setup'], () => this.flags());
	}

	readTheme(): void {
		const css = (n: string): string => this.theme.css(n);
		this.scene?.setTheme(this.theme.rgb);
		this.colours = {
			text: css('--text'), dim: css('--dim'), halo: css('--canvas'), accent: css('--select'), cut: css('--cut'),
			manager: [css('--sm-off'), css('--sm-discovering'), css('--sm-standby'), css('--sm-master')], font: css('--sans'),
		};
		this.redraw();
	}

	private resize(): void {
		const w = this.stage.clientWidth, h = this.stage.clientHeight;
		this.dpr = Math.min(3, devicePixelRatio || 1);
		for (const c of [this.gl, this.ink]) {
			c.width = Math.max(1, Math.round(w * this.dpr));
			c.height = Math.max(1, Math.round(h * this.dpr));
		}
		this.camera.width = w;
		this.camera.height = h;
		this.redraw();
	}

	redraw(): void {
		this.scene?.markStale();
		this.inkStale = true;
		this.ask();
	}

	/* The camera moved. */
	private moved(): void {
		this.movedAt = performance.now();
		this.redraw();
	}

	private ask(): void {
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame((t) => this.frame(t));
	}

	private frame(t: number): void {
		this.asked = false;
		const began = performance.now(), dt = Math.min(100, Math.max(0, t - this.lastFrame));
		this.lastFrame = t;
		const running = this.app.run.speed > 0 || began < this.stepUntil;
		if (running)
			this.clock += dt;
		if (this.camera.advance(began))
			this.moved();
		const moving = began - this.movedAt < REST_MS;
		const waits = this.scene.draw(this.camera, this.clock, this.dpr, moving || running);
		if (this.inkStale)
			this.drawInk();
		this.inkStale = false;
		this.frameTimes.push(performance.now() - began);
		if (this.frameTimes.length > 600)
			this.frameTimes.splice(0, 300);
		if (this.app.fabric && document.body.dataset['ready'] !== 'true') {
			document.body.dataset['ready'] = 'true';
			this.onFirst();
		}
		if (moving || (waits && !running) || (running && this.scene.flights.n > 0))
			this.ask();
	}

	private addFlights(): void {
		const f = this.app.lastFlights, run = this.app.run;
		const stepping = run.speed === 0, lasts = stepping ? 600 : Math.min(200, ((f.to - f.from) / 1e6 / Math.max(1, run.speed)) * 1000);
		if (stepping)
			this.stepUntil = performance.now() + lasts + MIN_MS + 100;
		if (f.smps) {
			const m = f.smps.method;
			this.scene.flights.add(f.smps, (i) => (m[i]! & 0x80 ? KIND_RESPONSE : m[i] === 5 ? KIND_TRAP : KIND_REQUEST), f.from, f.to, this.clock, lasts);
		}
		if (f.packets)
			this.scene.flights.add(f.packets, () => KIND_PACKET, f.from, f.to, this.clock, lasts);
		this.ask();
	}

	placedLabels(): PlacedLabel[] {
		const f = this.app.fabric;
		if (!f)
			return [];
		const managers = this.app.run.started || this.app.isLive ? this.app.run.managers : this.plannedManagers();
		const named = [...this.app.nodes].slice(0, 60);
		const route = this.app.overlay && this.app.overlay.nodes.size < 40 ? [...this.app.overlay.nodes] : [];
		return this.labels.place(f, this.scene, this.camera, managers, this.colours, [...named, ...route], this.hover.node, this.textScale);
	}

	/* As the style sheet does on large screens. */
	private get textScale(): number {
		return innerWidth >= 2400 ? 1.35 : 1;
	}

	/* Before the start managers are where they are placed. */
	private plannedManagers() {
		const f = this.app.fabric!;
		return [...this.app.editor.doc.managers.values()].flatMap((m) => {
			const node = f.byGuid.get(BigInt(m.node));
			return node === undefined ? [] : [{ node, state: 0, phase: 0, flags: 0, priority: m.priority }];
		});
	}

	cuts(): [number, number][] {
		const f = this.app.fabric, out: [number, number][] = [];
		if (!f || this.scene.detail(this.camera) < 0.5)
			return out;
		for (let l = 0; l < f.nlinks && out.length < 400; l++) {
			if (this.scene.linkState(l) !== 4)
				continue;
			const a = f.f.a[l]!, b = f.f.b[l]!;
			out.push(this.camera.toScreen((f.f.x[a]! + f.f.x[b]!) / 2, (f.f.y[a]! + f.f.y[b]!) / 2));
		}
		return out;
	}

	private drawInk(): void {
		const c = this.ctx;
		c.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
		c.clearRect(0, 0, this.camera.width, this.camera.height);
		this.labels.draw(c, this.placedLabels(), this.cuts(), this.colours);
		const f = this.app.fabric;
		if (f && this.linkFrom >= 0) {
			const [x, y] = this.camera.toScreen(f.f.x[this.linkFrom]!, f.f.y[this.linkFrom]!);
			c.strokeStyle = this.colours.accent;
			c.setLineDash([5, 4]);
			c.lineWidth = 1.5;
			c.beginPath();
			c.moveTo(x, y);
			c.lineTo(this.pointer.x, this.pointer.y);
			c.stroke();
			c.setLineDash([]);
		}
		if (this.drag?.kind === 'box') {
			c.strokeStyle = this.colours.accent;
			c.lineWidth = 1;
			c.strokeRect(this.drag.x + 0.5, this.drag.y + 0.5, this.pointer.x - this.drag.x, this.pointer.y - this.drag.y);
		}
		this.tip(c);
	}

	/* What is under the pointer, in one line. */
	private tip(c: CanvasRenderingContext2D): void {
		const f = this.app.fabric, { node, link, group } = this.hover;
		if (!f || this.drag || (node < 0 && link < 0 && group < 0))
			return;
		const text = node >= 0 ? `${NODE_TYPE[f.f.type[node]!]} · ${portsText(f.f.nports[node]!)}`
			: link >= 0 ? `${f.f.name[f.f.a[link]!]} [${f.f.pa[link]}] — ${f.f.name[f.f.b[link]!]} [${f.f.pb[link]}] · ${rateText(f.f.width[link]!, f.f.speed[link]!)}${this.loadText(link)}`
				: `${f.f.groups[group]!.name} · ${f.groupCount[group]} nodes`;
		const k = this.textScale;
		c.font = `${11 * k}px ${this.colours.font}`;
		const w = c.measureText(text).width + 14, x = Math.min(this.pointer.x + 14, this.camera.width - w - 4), y = Math.min(this.pointer.y + 16, this.camera.height - 26);
		c.fillStyle = this.theme.css('--raised');
		c.strokeStyle = this.theme.css('--hard-line');
		c.lineWidth = 1;
		c.beginPath();
		c.roundRect(x, y, w, 20 * k, 3);
		c.fill();
		c.stroke();
		c.fillStyle = this.colours.text;
		c.textAlign = 'left';
		c.textBaseline = 'middle';
		c.fillText(text, x + 7, y + 10.5 * k);
	}

	private loadText(l: number): string {
		const r = this.app.loads, of = { busy: 'busy', buffers: 'of the buffers' }[this.colouring as string];
		if (of && this.app.lastState)
			return ` · ${Math.round(this.scene.linkValue(l) / 2.55)} % ${of}`;
		return r && this.showLoads ? ` · ${r.ab[l]} → · ← ${r.ba[l]} routes` : '';
	}

	/* What is chosen and lit, into the scene. */
	flags(): void {
		const { overlay, nodes, link } = this.app, o = overlay, h = this.hover;
		this.scene.setFlags(
			(i) => (nodes.has(i) ? FLAG.chosen : 0) | (i === h.node ? FLAG.hover : 0) | (o ? (o.nodes.has(i) ? FLAG.lit : FLAG.dim) : 0),
			(l) => (l === link ? FLAG.chosen : 0) | (l === h.link ? FLAG.hover : 0) | (o ? (o.links.has(l) ? (o.heat ? 0 : FLAG.lit) : FLAG.dim) : 0));
		if (!this.app.run.started && this.app.fabric && !this.app.isLive)
			this.scene.setState(new Uint8Array(0), new Uint8Array(0), this.plannedManagers());
		this.loadValues();
		this.inkStale = true;
		this.ask();
	}

	private loadValues(): void {
		const l = this.app.loads, heat = this.app.overlay?.heat;
		if (heat) {
			this.scene.setLoads(Uint8Array.from({ length: this.app.fabric?.nlinks ?? 0 }, (_, i) => heat.get(i) ?? 0));
			return;
		}
		if (!this.showLoads || !l) {
			if (this.scene.loads)
				this.scene.setLoads(null);
			return;
		}
		const both = l.ab.map((v, i) => Math.max(v, l.ba[i]!)), most = both.reduce((a, b) => Math.max(a, b), 1);
		this.scene.setLoads(Uint8Array.from(both, (v) => Math.round((255 * v) / most)));
	}

	// ---- camera ----

	fit(glide = true): void {
		const f = this.app.fabric;
		if (!f)
			return;
		const pad = 2.2 * f.unit, b = f.bounds;
		const to = this.camera.fitting({ x0: b.x0 - pad, y0: b.y0 - pad, x1: b.x1 + pad, y1: b.y1 + pad }, 34);
		to[2] = Math.min(to[2], 70 / f.unit);
		this.camera.minScale = Math.min(to[2] / 2, 1);
		if (glide)
			this.camera.glide(to, performance.now());
		else
			this.camera.set(to);
		this.moved();
	}

	/* Shows these nodes; comes nearer if they are too small to read. */
	reveal(nodes: number[]): void {
		const f = this.app.fabric;
		if (!f || nodes.length === 0)
			return;
		const b = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
		for (const n of nodes) {
			b.x0 = Math.min(b.x0, f.f.x[n]!);
			b.x1 = Math.max(b.x1, f.f.x[n]!);
			b.y0 = Math.min(b.y0, f.f.y[n]!);
			b.y1 = Math.max(b.y1, f.f.y[n]!);
		}
		const to = this.camera.fitting(b, 80), [x0, y0] = this.camera.toScreen(b.x0, b.y0), [x1, y1] = this.camera.toScreen(b.x1, b.y1);
		const near = Math.max(this.camera.scale, 14 / f.unit), scale = Math.min(near, to[2]);
		if (scale <= this.camera.scale && x0 > 30 && y0 > 30 && x1 < this.camera.width - 30 && y1 < this.camera.height - 30)
			return;
		this.camera.glide([to[0], to[1], scale], performance.now());
		this.moved();
	}

	zoomBy(factor: number): void {
		this.camera.zoom(factor, this.camera.width / 2, this.camera.height / 2);
		this.moved();
	}
	panBy(dx: number, dy: number): void {
		this.camera.pan(dx, dy);
		this.moved();
	}
	setView(v: [number, number, number]): void {
		this.camera.set(v);
		this.moved();
	}

	setTool(t: Tool): void {
		this.tool = t;
		this.linkFrom = -1;
		this.stage.className = t === 'select' ? '' : ['switch', 'host', 'router'].includes(t) ? 'tool-add' : `tool-${t}`;
		this.onTool();
		this.inkStale = true;
		this.ask();
	}

	// ---- pointer ----

	target(px: number, py: number): Target {
		const f = this.app.fabric, [x, y] = this.camera.toWorld(px, py), t: Target = { node: -1, link: -1, group: -1, x, y };
		if (!f)
			return t;
		const detail = this.scene.detail(this.camera), s = this.camera.scale;
		if (detail > 0.3)
			t.node = f.nodeAt(x, y, 4 / s);
		if (t.node < 0 && detail > 0.3)
			t.link = f.linkNear(x, y, 5 / s);
		if (t.node < 0 && t.link < 0 && detail < 1) {
			f.f.groups.forEach((g, i) => {
				const pad = 8 / s;
				if (x >= g.x0 - pad && x <= g.x1 + pad && y >= g.y0 - pad && y <= g.y1 + pad && (t.group < 0 || f.groupDepth[i]! > f.groupDepth[t.group]!))
					t.group = i;
			});
		}
		return t;
	}

	private at(e: PointerEvent | WheelEvent | MouseEvent): [number, number] {
		const r = this.gl.getBoundingClientRect();
		return [e.clientX - r.left, e.clientY - r.top];
	}

	private listen(): void {
		const g = this.gl;
		g.addEventListener('wheel', (e) => {
			e.preventDefault();
			const [x, y] = this.at(e), unit = e.deltaMode === 1 ? 16 : 1;
			this.camera.zoom(Math.exp(-e.deltaY * unit * (e.ctrlKey ? 0.01 : 0.0016)), x, y);
			this.moved();
		}, { passive: false });
		g.addEventListener('pointerdown', (e) => this.down(e));
		g.addEventListener('pointermove', (e) => this.move(e));
		g.addEventListener('pointerup', (e) => this.up(e));
		g.addEventListener('pointerleave', () => this.setHover({ node: -1, link: -1, group: -1, x: 0, y: 0 }));
		g.addEventListener('dblclick', (e) => {
			const t = this.target(...this.at(e));
			if (t.group >= 0)
				this.zoomToGroup(t.group);
		});
		g.addEventListener('contextmenu', (e) => {
			e.preventDefault();
			this.onMenu(this.target(...this.at(e)), e.clientX, e.clientY);
		});
		addEventListener('resize', () => this.resize());
		g.addEventListener('webglcontextlost', (e) => e.preventDefault());
		g.addEventListener('webglcontextrestored', () => this.rebuild());
	}

	/* The graphics driver has forgotten everything. */
	private rebuild(): void {
		this.scene = new Scene(this.gl);
		this.readTheme();
		this.app.emit('fabric');
	}

	zoomToGroup(group: number): void {
		const g = this.app.fabric?.f.groups[group];
		if (!g)
			return;
		this.camera.glide(this.camera.fitting(g, 60), performance.now());
		this.moved();
	}

	private down(e: PointerEvent): void {
		if (e.button !== 0 && e.button !== 1)
			return;
		this.gl.focus({ preventScroll: true });
		this.gl.setPointerCapture(e.pointerId);
		const [x, y] = this.at(e), t = this.target(x, y);
		let kind: 'pan' | 'box' | 'nodes' | 'link' = 'pan';
		if (e.button === 0 && e.shiftKey && this.tool === 'select' && t.node < 0)
			kind = 'box';
		else if (e.button === 0 && this.tool === 'select' && t.node >= 0 && !this.app.isLive)
			kind = 'nodes';
		else if (e.button === 0 && this.tool === 'link' && t.node >= 0)
			kind = 'link';
		const chosen = kind === 'nodes' ? (this.app.nodes.has(t.node) ? [...this.app.nodes] : [t.node]) : [];
		const f = this.app.fabric?.f;
		this.drag = { x, y, kind, moved: false, node: t.node, from: new Map(chosen.map((n) => [n, [f!.x[n]!, f!.y[n]!]])) };
		if (kind === 'link' && this.linkFrom < 0)
			this.linkFrom = t.node;
		this.pointer = { x, y };
	}

	private move(e: PointerEvent): void {
		const [x, y] = this.at(e), d = this.drag;
		const dx = x - this.pointer.x, dy = y - this.pointer.y;
		this.pointer = { x, y };
		if (!d) {
			this.setHover(this.target(x, y));
			if (this.linkFrom >= 0) {
				this.inkStale = true;
				this.ask();
			}
			return;
		}
		if (!d.moved && Math.hypot(x - d.x, y - d.y) < 4)
			return;
		d.moved = true;
		if (d.kind === 'pan') {
			this.stage.classList.add('panning');
			this.camera.pan(dx, dy);
			this.moved();
		} else if (d.kind === 'nodes')
			this.dragNodes(d.from, (x - d.x) / this.camera.scale, (y - d.y) / this.camera.scale);
		else {
			if (d.kind === 'link')
				this.setHover(this.target(x, y));
			this.inkStale = true;
			this.ask();
		}
	}

	private dragNodes(from: Map<number, [number, number]>, dx: number, dy: number): void {
		const f = this.app.fabric!.f;
		for (const [n, [x, y]] of from) {
			f.x[n] = x + dx;
			f.y[n] = y + dy;
		}
		this.scene.setPositions();
		this.inkStale = true;
		this.ask();
	}

	private up(e: PointerEvent): void {
		const d = this.drag, [x, y] = this.at(e);
		this.drag = null;
		this.stage.classList.remove('panning');
		if (!d)
			return;
		if (!d.moved) {
			if (e.button === 0)
				this.onClick(this.target(x, y), e);
		} else if (d.kind === 'nodes')
			this.onMoved([...d.from.keys()]);
		else if (d.kind === 'box')
			this.choose(d.x, d.y, x, y);
		else if (d.kind === 'link') {
			const t = this.target(x, y);
			if (t.node >= 0 && this.linkFrom >= 0)
				this.onLinked(this.linkFrom, t.node);
			this.linkFrom = -1;
		}
		this.inkStale = true;
		this.ask();
	}

	private choose(x0: number, y0: number, x1: number, y1: number): void {
		const [a, b] = this.camera.toWorld(Math.min(x0, x1), Math.min(y0, y1)), [c, d] = this.camera.toWorld(Math.max(x0, x1), Math.max(y0, y1));
		this.app.select(this.app.fabric?.nodesIn({ x0: a, y0: b, x1: c, y1: d }) ?? []);
	}

	private setHover(t: Target): void {
		const h = this.hover;
		this.inkStale ||= t.node >= 0 || t.link >= 0 || t.group >= 0;
		if (h.node !== t.node || h.link !== t.link || h.group !== t.group) {
			for (const [now, on] of [[h, false], [t, true]] as const) {
				if (now.node >= 0)
					this.scene.setNodeFlag(now.node, FLAG.hover, on);
				if (now.link >= 0)
					this.scene.setLinkFlag(now.link, FLAG.hover, on);
			}
			if (h.group !== t.group)
				this.scene.setGroupHover(t.group);
			this.stage.classList.toggle('over', t.node >= 0 || t.link >= 0 || t.group >= 0);
			this.inkStale = true;
		}
		this.hover = t;
		if (this.inkStale)
			this.ask();
	}

	// ---- pictures ----

	png(): Promise<Blob> {
		const out = document.createElement('canvas');
		out.width = this.gl.width;
		out.height = this.gl.height;
		const c = out.getContext('2d')!;
		this.scene.markStale();
		this.scene.draw(this.camera, this.clock, this.dpr, false);
		c.drawImage(this.gl, 0, 0);
		this.drawInk();
		c.drawImage(this.ink, 0, 0);
		return new Promise((resolve, reject) => out.toBlob((b) => (b ? resolve(b) : reject(new Error('the picture cannot be encoded'))), 'image/png'));
	}
}
