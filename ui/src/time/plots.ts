// SPDX-License-Identifier: BSD-2-Clause
//
// Series of the run, one small chart below the other over one time axis: SMPs, packets lost, connectivity first, others
// below as there is room.
import uPlot from 'uplot';
import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { timeText } from '../model/iba.ts';
import type { Theme } from '../theme.ts';

const FIRST = [/^smps?/i, /lost|drop/i, /connect/i, /deliver/i, /flight/i];
const COLOUR = ['--smp-request', '--cut', '--active', '--packet', '--init'];

export class Plots {
	private readonly box = h('div', { class: 'plots', role: 'img', 'aria-label': 'Series over time: SMPs, packets lost, connectivity' });
	private charts: { plot: uPlot; series: number; name: HTMLElement }[] = [];
	private drawn = -1;
	private asked = false;

	constructor(root: HTMLElement, private readonly app: App, private readonly theme: Theme) {
		root.append(this.box);
		new ResizeObserver(() => this.build()).observe(this.box);
		app.on(['series', 'state'], () => this.ask());
		app.on(['run', 'fabric'], () => this.build());
	}

	private built = '';

	build(force = false): void {
		const names = this.app.run.series.names, w = this.box.clientWidth, height = this.box.clientHeight;
		const key = `${names.join()} ${w} ${height}`;
		if (key === this.built && !force)
			return;
		this.built = key;
		this.charts.forEach((c) => c.plot.destroy());
		this.charts = [];
		this.box.replaceChildren();
		if (names.length === 0 || w < 80 || height < 40) {
			if (names.length === 0)
				this.box.append(h('p', { class: 'none' }, 'Series appear when the run starts.'));
			return;
		}
		const order = names.map((n, i) => [i, FIRST.findIndex((r) => r.test(n))] as const).filter(([, p]) => p >= 0).sort((p, q) => p[1] - q[1]);
		const distinct = order.filter(([, p], k) => k === 0 || p !== order[k - 1]![1]);
		const n = Math.max(1, Math.min(distinct.length, Math.floor(height / 46))), each = Math.floor((height - 18) / n);
		distinct.slice(0, n).forEach(([series, place], k) => this.add(series, place, k, k === n - 1, w, each));
		this.drawn = -1;
		this.ask();
	}

	private add(series: number, place: number, k: number, last: boolean, width: number, each: number): void {
		const css = (v: string): string => this.theme.css(v), colour = css(COLOUR[place]!), line = { stroke: css('--line'), width: 1 };
		const font = `${innerWidth >= 2400 ? 13.5 : 10.5}px ${css('--sans')}`, pad = 52;
		const name = h('span', { class: 'name' });
		name.style.top = `${k * each + 3}px`;
		this.box.append(name);
		const plot = new uPlot({
			width, height: each + (last ? 18 : 0), padding: [6, 8, last ? 0 : 2, 0],
			cursor: { y: false, points: { size: 5 }, sync: { key: 'weft' }, drag: { x: true, y: false } },
			legend: { show: false },
			scales: { x: { time: false, auto: false, range: () => [0, Math.max(1e8, this.app.run.end)] }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.12 : 1] } },
			axes: [
				{ show: last, size: 18, gap: 2, font, stroke: css('--dim'), grid: line, ticks: { show: false }, values: (_u, ticks) => ticks.map((t) => timeText(t, 3)), space: 70 },
				{ size: pad, gap: 4, font, stroke: css('--dim'), grid: { show: false }, ticks: { show: false }, splits: (_u, _i, _min, max) => [tick(max)], values: (_u, ticks) => ticks.map(short) },
			],
			series: [{}, { stroke: colour, width: 1.2, fill: colour + '30', points: { show: false }, paths: uPlot.paths.stepped!({ align: -1 }) }],
			hooks: {
				setSelect: [(u) => {
					if (u.select.width > 1)
						void this.app.go(u.posToVal(u.select.left, 'x'));
					u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
				}],
				draw: [(u) => this.moment(u)],
			},
		}, [[], []], this.box);
		plot.over.addEventListener('click', (e) => void this.app.go(plot.posToVal(e.offsetX, 'x')));
		this.charts.push({ plot, series, name });
	}

	/* Where the run is. */
	private moment(u: uPlot): void {
		const x = u.valToPos(this.app.run.now, 'x', true), c = u.ctx;
		c.save();
		c.fillStyle = this.theme.css('--strong');
		c.fillRect(x - 0.5, u.bbox.top, 1, u.bbox.height);
		c.fillStyle = this.theme.css('--bad');
		for (const j of this.app.run.journal)
			c.fillRect(u.valToPos(Number(j.at), 'x', true) - 0.5, u.bbox.top, 1, u.bbox.height);
		c.restore();
	}

	/* Ten times a second is enough. */
	private ask(): void {
		if (this.asked)
			return;
		this.asked = true;
		setTimeout(() => {
			this.asked = false;
			this.draw();
		}, 100);
	}

	private draw(): void {
		const s = this.app.run.series, key = s.version + this.app.run.now;
		if (key === this.drawn)
			return;
		this.drawn = key;
		for (const c of this.charts) {
			c.plot.setData([s.at, s.values[c.series] ?? []]);
			const value = s.values[c.series]?.at(-1);
			c.name.replaceChildren(s.names[c.series] ?? '', h('b', {}, value === undefined ? '' : short(value)));
		}
	}
}

function short(v: number): string {
	const a = Math.abs(v);
	return a >= 1e6 ? `${+(v / 1e6).toPrecision(3)}M` : a >= 1e4 ? `${+(v / 1e3).toPrecision(3)}k` : String(+v.toPrecision(3));
}

/* One mark on the scale, at a round value. */
function tick(max: number): number {
	const p = 10 ** Math.floor(Math.log10(max)), m = max / p;
	return (m >= 5 ? 5 : m >= 2 ? 2 : 1) * p;
}
