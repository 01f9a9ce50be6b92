// SPDX-License-Identifier: BSD-2-Clause
//
// The load of subnet administration of a live manager: requests a second by attribute over the last minutes, counters, what was
// refused and why. The counters are read while the page is seen, whether this pane is open or not, so that it has a past.
import uPlot from 'uplot';
import { fill, h } from '../dom.ts';
import { countText } from '../model/iba.ts';
import { type SaCounters, SaLoad } from '../model/sa_load.ts';
import { Repeat, control } from './asking.ts';
import { type Pane, type Tab, errorText, kv } from './pane.ts';
import type { PaneParts } from './registry.ts';

const COLOUR = ['--smp-request', '--active', '--packet', '--init', '--cut'];
const SECONDS = 2, HEIGHT = 130, SPAN = 120;
const perSecond = (n: number): string => (n === 0 ? '0' : n < 10 ? n.toFixed(1) : countText(Math.round(n)));
const REFUSED: Record<string, string> = { general: 'malformed', no_resources: 'no resources', invalid_request: 'invalid request', no_records: 'no records', too_many_records: 'too many records', invalid_gid: 'invalid GID', few_components: 'insufficient components', denied: 'denied', priority: 'priority' };

export class SaLoadPane implements Tab {
	readonly id = 'sa';
	readonly title = 'SA load';
	pane!: Pane;
	private readonly load = new SaLoad();
	private error = '';
	private readonly box = h('div', { class: 'sa-plot', role: 'img' });
	private plot: uPlot | null = null;
	private built = '';
	private readonly repeat: Repeat;

	constructor(private readonly p: PaneParts) {
		const { app } = p;
		this.repeat = new Repeat(() => app.isLive && !app.live.lost, SECONDS, () => this.read());
		app.on(['live'], () => app.live.lost && this.pane?.update(this.id));
	}

	shown = (): boolean => this.p.app.isLive;

	private async read(): Promise<void> {
		try {
			this.load.add((await control(this.p.app, { cmd: 'sa' })) as unknown as SaCounters, performance.now() / 1000);
			this.error = '';
		} catch (e) {
			this.error = errorText(e);
		}
		this.pane.update(this.id);
	}

	render(body: HTMLElement): void {
		const c = this.load.last;
		if (!c)
			this.repeat.soon(true);
		fill(body, h('h2', {}, 'Subnet administration'), this.error ? h('p', { class: 'bad' }, this.error) : null,
			c ? [h('p', { class: c.serving ? 'dim' : 'bad' }, c.serving ? 'Requests of hosts a second, by attribute.' : 'It does not serve: the manager is not master, or has no subnet yet.'), this.box, this.attributes(c), this.refusals(c), this.figures(c)] : h('p', { class: 'dim' }, 'The manager is asked.'));
		if (c)
			this.draw();
	}

	private shownLines(): string[] {
		return this.load.order().slice(0, COLOUR.length);
	}

	/* The chart is kept; it is made again when lines, width or theme are others. */
	private draw(): void {
		const names = this.shownLines(), style = getComputedStyle(document.documentElement), css = (v: string): string => style.getPropertyValue(v).trim();
		const width = Math.max(120, this.box.clientWidth), key = `${names.join()} ${width} ${css('--bg')}`, now = performance.now() / 1000;
		const data = [this.load.at.map((t) => t - now), ...names.map((k) => this.load.rates.get(k) ?? this.load.at.map(() => 0))] as uPlot.AlignedData;
		this.box.setAttribute('aria-label', `Requests a second: ${names.map((k) => `${k} ${perSecond(this.load.rate(k))}`).join(', ') || 'none'}`);
		if (key !== this.built) {
			this.plot?.destroy();
			this.built = key;
			const large = innerWidth >= 2400, font = `${large ? 13.5 : 10.5}px ${css('--sans')}`, line = { stroke: css('--line'), width: 1 };
			this.plot = new uPlot({
				width, height: large ? HEIGHT * 1.5 : HEIGHT, padding: [6, 16, 0, 0], legend: { show: false }, cursor: { show: false },
				scales: { x: { time: false, range: () => [-Math.max(SPAN, -(this.load.at[0] ?? 0) + performance.now() / 1000), 0] }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.12 : 1] } },
				axes: [
					{ size: 20, gap: 2, font, stroke: css('--dim'), grid: line, ticks: { show: false }, space: 60, values: (_u, ticks) => ticks.map((t) => (t === 0 ? 'now' : t > -120 ? `${t} s` : `${+(t / 60).toFixed(1)} min`)) },
					{ size: 44, gap: 4, font, stroke: css('--dim'), grid: { show: false }, ticks: { show: false }, space: 30, values: (_u, ticks) => ticks.map((t) => (t >= 1e4 ? `${t / 1e3}k` : String(+t.toPrecision(3)))) },
				],
				series: [{}, ...names.map((_, i) => ({ stroke: css(COLOUR[i]!), width: 1.4, points: { show: false } }))],
			}, data, this.box);
		} else
			this.plot?.setData(data);
	}

	private attributes(c: SaCounters): HTMLElement {
		const list = this.load.order();
		return h('section', {}, h('h3', {}, 'Attributes'), list.length === 0 ? h('p', { class: 'dim' }, 'No host has asked yet.')
			: h('table', {}, h('thead', {}, h('tr', {}, ['Attribute', 'a second', 'Requests', 'Refused'].map((t) => h('th', {}, t)))), h('tbody', {}, list.map((k, i) => {
				const x = c.by_attribute[k]!, swatch = h('i', { class: `swatch line-${i < COLOUR.length ? i : 'none'}` });
				return h('tr', { title: `${countText(x.answered)} answered, ${countText(x.untrusted)} dropped for a wrong SM_Key, ${countText(x.dropped)} dropped for want of room` }, h('td', {}, swatch, k.replace(/Record$/, '')), h('td', { class: 'num' }, perSecond(this.load.rate(k))), h('td', { class: 'num' }, countText(x.requests)), h('td', { class: x.refused || x.dropped ? 'num bad' : 'num' }, countText(x.refused + x.dropped + x.untrusted)));
			}))));
	}

	private refusals(c: SaCounters): HTMLElement | null {
		const list = Object.entries(c.errors);
		return list.length === 0 ? null : h('section', {}, h('h3', {}, 'Refused because'), kv(list.map(([k, n]) => [REFUSED[k] ?? k, countText(n)])));
	}

	private figures(c: SaCounters): HTMLElement {
		return h('section', {}, h('h3', {}, 'All'), kv([['Requests, responses', `${countText(c.requests)}, ${countText(c.responses)}`], ['Malformed', countText(c.bad)], ['Answered "busy"', countText(c.busy)], ['Left to the master', countText(c.silent)],
			['RMPP: now, failed', `${countText(c.transfers)}, ${countText(c.transfers_failed)}`], ['RMPP: segments', countText(c.segments)],
			['Groups, members', `${countText(c.groups)}, ${countText(c.members)}`], ['Services', countText(c.services)], ['Subscriptions', countText(c.subscriptions)],
			['Notices sent', countText(c.reports)], ['Waiting, unanswered', `${countText(c.reports_waiting)}, ${countText(c.reports_unanswered)}`]]));
	}
}
