// SPDX-License-Identifier: BSD-2-Clause
//
// Run, pause, step, speed, the clock; below it the lanes: each manager's state over time, what was done, and a cursor that
// can be dragged to any moment.
import { type App, SPEEDS } from '../app.ts';
import type { Actions } from '../commands.ts';
import { keyText } from '../commands.ts';
import { fill, h, icon } from '../dom.ts';
import { SM_STATE, clockText, countText, timeText } from '../model/iba.ts';
import type { Theme } from '../theme.ts';

export const ICON = {
	run: 'M4.5 2.8v10.4l8.5-5.2z', pause: 'M5 3v10M11 3v10', stop: 'M3.5 3.5h9v9h-9z', event: 'M3.5 8h5M6.5 5.5 9 8l-2.5 2.5M12 4v8',
	smp: 'M2.5 5h11v6h-11zM2.5 5 8 9l5.5-4', phase: 'M3 3.5 7.5 8 3 12.5M8 3.5 12.5 8 8 12.5', back: 'M12 3.2v9.6L4.5 8zM4 3v10', end: 'M4 3.2v9.6L11.5 8zM12 3v10',
};

export function button(actions: Actions, id: string, path: string, text = ''): HTMLButtonElement {
	const a = actions.get(id), keys = a.keys?.[0] ? ` (${keyText(a.keys[0])})` : '';
	return h('button', { type: 'button', title: a.title + keys, 'aria-label': a.title, onclick: () => actions.run(id) }, icon(path), text);
}

export function speedText(speed: number): string {
	return speed === Infinity ? 'as fast as it can' : `${timeText(speed * 1e6, 3)} / s`;
}

export class Transport {
	private readonly clock = h('span', { class: 'clock', 'aria-label': 'Simulated time' }, '–');
	private readonly play: HTMLButtonElement;
	private readonly range = h('input', { type: 'range', class: 'speed', min: 0, max: SPEEDS.length, step: 1, 'aria-label': 'Speed' });
	private readonly speed = h('span', { class: 'speed-text' });
	private readonly figures = h('span', { class: 'dim num' });
	private readonly state = h('span', { class: 'dim' });

	constructor(root: HTMLElement, private readonly app: App, actions: Actions) {
		this.play = button(actions, 'run', ICON.run, 'Run');
		this.play.classList.add('main');
		this.range.addEventListener('input', () => {
			const i = Number(this.range.value), speed = i >= SPEEDS.length ? Infinity : SPEEDS[i]!;
			if (this.app.run.speed > 0)
				void this.app.setSpeed(speed);
			else {
				this.app.chosenSpeed = speed;
				this.show();
			}
		});
		root.append(h('div', { class: 'go' }, button(actions, 'begin', ICON.back), this.play, button(actions, 'step', ICON.event, 'Event'), button(actions, 'step-smp', ICON.smp, 'SMP'),
			button(actions, 'step-phase', ICON.phase, 'Phase'), button(actions, 'end', ICON.end), this.clock, this.range, this.speed, h('span', { class: 'grow' }), this.state, this.figures));
		app.on(['run', 'state', 'fabric', 'hello'], () => this.show());
		this.show();
	}

	private show(): void {
		const r = this.app.run, on = r.speed > 0;
		this.clock.textContent = r.started ? clockText(r.now) : '–';
		fill(this.play, icon(on ? ICON.pause : ICON.run), on ? 'Pause' : r.started ? 'Go on' : 'Run');
		this.play.setAttribute('aria-label', on ? 'Pause' : 'Run');
		const i = SPEEDS.indexOf(this.app.chosenSpeed);
		this.range.value = String(i < 0 ? SPEEDS.length : i);
		this.speed.textContent = speedText(this.app.chosenSpeed);
		this.range.setAttribute('aria-valuetext', this.speed.textContent);
		this.figures.textContent = r.started ? `${countText(r.events)} events` : '';
		const master = r.managers.findIndex((m) => m.state === 3 && !(m.flags & 2));
		this.state.textContent = !r.started ? '' : master < 0 ? 'no master' : `SM ${master}: ${r.phases[r.managers[master]!.phase] ?? ''}`;
	}
}


export class Lanes {
	private readonly canvas = h('canvas', { tabindex: 0, role: 'slider', 'aria-label': 'Moment', 'aria-valuemin': 0 });
	private readonly box = h('div', { class: 'lanes' }, this.canvas);
	private asked = false;
	private dragging = false;
	private waiting = false;
	private wanted = -1;
	private zoom = 1;

	constructor(root: HTMLElement, private readonly app: App, private readonly theme: Theme) {
		root.append(this.box);
		new ResizeObserver(() => this.ask()).observe(this.box);
		app.on(['run', 'state', 'fabric'], () => this.ask());
		this.canvas.addEventListener('pointerdown', (e) => {
			this.dragging = true;
			this.canvas.setPointerCapture(e.pointerId);
			this.goTo(e);
		});
		this.canvas.addEventListener('pointermove', (e) => this.dragging && this.goTo(e));
		this.canvas.addEventListener('pointerup', () => (this.dragging = false));
		this.canvas.addEventListener('keydown', (e) => {
			const step = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1 }[e.key];
			if (step === undefined)
				return;
			e.preventDefault();
			e.stopPropagation();
			this.ask();
			void this.seek(this.app.run.now + step * this.span());
		});
		this.ask();
	}

	private lane_h = 13;
	private axis_h = 18;

	private span(): number {
		return Math.max(this.app.run.end, this.app.run.now, 1e8) * this.zoom;
	}

	private get width(): number {
		return this.box.clientWidth - 72;
	}
	private x(at: number): number {
		return 64 + (at / this.span()) * this.width;
	}

	private goTo(e: PointerEvent): void {
		const x = e.clientX - this.canvas.getBoundingClientRect().left;
		void this.seek(((x - 64) / this.width) * this.span());
	}

	/* One request at a time: the last place that was asked for counts. */
	private async seek(at: number): Promise<void> {
		this.wanted = Math.min(Math.max(0, at), Math.max(this.app.run.end, this.app.run.now));
		if (this.waiting || !this.app.run.started)
			return;
		this.waiting = true;
		try {
			while (this.wanted >= 0) {
				const to = this.wanted;
				this.wanted = -1;
				await this.app.go(to);
			}
		} catch (x) {
			this.app.report(x instanceof Error ? x.message : String(x), true);
		} finally {
			this.waiting = false;
		}
	}

	ask(): void {
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			this.draw();
		});
	}

	private draw(): void {
		const k = innerWidth >= 2400 ? 1.35 : 1, LANE = (this.lane_h = 13 * k), AXIS = (this.axis_h = 18 * k);
		const run = this.app.run, n = Math.max(1, Math.min(6, run.lanes.length)), height = AXIS + n * LANE + 6, dpr = devicePixelRatio || 1, w = this.box.clientWidth;
		if (this.box.clientHeight !== height + 1)
			this.box.style.height = `${height + 1}px`;
		this.canvas.width = w * dpr;
		this.canvas.height = height * dpr;
		const c = this.canvas.getContext('2d')!, css = (v: string): string => this.theme.css(v);
		c.setTransform(dpr, 0, 0, dpr, 0, 0);
		c.clearRect(0, 0, w, height);
		c.font = `${11 * k}px ${css('--sans')}`;
		c.textBaseline = 'middle';
		this.axis(c, w, height, css);
		run.lanes.slice(0, 6).forEach((lane, i) => this.lane(c, lane, i, css));
		for (const j of run.journal) {
			c.fillStyle = css('--bad');
			c.fillRect(this.x(Number(j.at)) - 1, 2, 2, height - 4);
		}
		if (run.started) {
			const x = this.x(run.now);
			c.fillStyle = css('--strong');
			c.fillRect(x - 0.75, 0, 1.5, height);
			c.beginPath();
			c.moveTo(x - 5, 0);
			c.lineTo(x + 5, 0);
			c.lineTo(x, 6);
			c.fill();
		}
		this.canvas.setAttribute('aria-valuenow', String(Math.round(run.now / 1e6)));
		this.canvas.setAttribute('aria-valuemax', String(Math.round(Math.max(run.end, 1e6) / 1e6)));
		this.canvas.setAttribute('aria-valuetext', timeText(run.now));
	}

	private axis(c: CanvasRenderingContext2D, w: number, height: number, css: (v: string) => string): void {
		const span = this.span(), step = nice(span / Math.max(2, w / 110)), AXIS = this.axis_h;
		c.textAlign = 'center';
		for (let t = 0; t <= span; t += step) {
			const x = this.x(t);
			c.fillStyle = css('--line');
			c.fillRect(x, AXIS - 4, 1, height - AXIS + 2);
			c.fillStyle = css('--dim');
			if (x < w - 20)
				c.fillText(timeText(t, 3), x, AXIS * 0.45);
		}
	}

	private lane(c: CanvasRenderingContext2D, lane: { at: number; state: number; phase: number; flags: number }[], i: number, css: (v: string) => string): void {
		const LANE = this.lane_h, y = this.axis_h + i * LANE, run = this.app.run, colour = ['--sm-off', '--sm-discovering', '--sm-standby', '--sm-master'];
		c.fillStyle = css('--dim');
		c.textAlign = 'right';
		c.fillText(`SM ${i}`, 58, y + LANE * 0.4);
		let shown = -1;
		lane.forEach((s, k) => {
			const x0 = this.x(s.at), x1 = this.x(lane[k + 1]?.at ?? run.end);
			c.globalAlpha = s.flags & 3 ? 0.3 : s.state === 3 ? 1 : 0.75;
			c.fillStyle = css(colour[s.flags & 2 ? 0 : s.state] ?? '--sm-off');
			c.fillRect(x0, y, Math.max(0.6, x1 - x0), LANE - 3);
			c.globalAlpha = 1;
			if (x1 - x0 > 0.5 && k > 0)
				c.clearRect(x0, y, 0.7, LANE - 3);
			const text = s.flags & 2 ? 'stopped' : s.flags & 1 ? 'paused' : s.state === 3 ? (run.phases[s.phase] ?? 'Master') : SM_STATE[s.state] ?? '';
			if (x1 - x0 > text.length * 6 + 8 && x0 > shown) {
				c.fillStyle = s.flags & 3 ? css('--text') : css('--canvas');
				c.textAlign = 'left';
				c.fillText(text, x0 + 5, y + LANE * 0.42);
				shown = x0;
			}
		});
	}
}

function nice(x: number): number {
	const p = 10 ** Math.floor(Math.log10(x)), m = x / p;
	return (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p;
}
