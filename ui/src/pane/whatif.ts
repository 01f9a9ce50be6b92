// SPDX-License-Identifier: BSD-2-Clause
//
// What if: what a failure would cost, computed beside the run that is on screen. On a live fabric also: take it as a twin.
import type { App } from '../app.ts';
import { fill, h } from '../dom.ts';
import type { Link, Progress } from '../wire/engine.ts';
import { KIND, decodeJson, frameKind } from '../wire/frames.ts';
import type { Pane, Tab } from './pane.ts';

interface Answer {
	target: string;
	figures: [string, string][];
	text: string;
}

/* Long times in milliseconds; the command shows microseconds as well. */
function figure(text: string): string {
	const us = /^(\d{5,})\.\d{3} us$/.exec(text);
	return us ? `${(Number(us[1]) / 1000).toFixed(us[1]!.length > 5 ? 1 : 3)} ms` : text;
}

/* What a person asks first comes first. */
const FIRST = ['pairs cut', 'time of the reaction', 'SMPs', 'packets lost', 'connectivity at least', 'time until at rest'];
const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
const inOrder = (list: [string, string][]): [string, string][] => [...list].sort((p, q) => rank(p[0]) - rank(q[0]));

export class WhatIf implements Tab {
	readonly id = 'whatif';
	readonly title = 'What if';
	private readonly answers: Answer[] = [];
	private busy = '';
	private job = '';
	private progress = 0; /* share of the events that are expected */
	private began = 0;
	private asked: { command: Link['command'] } | null = null;
	private cancelled = false;
	private readonly bar = h('progress', { max: 1, value: 0, 'aria-label': 'progress of the simulation' });
	private readonly words = h('span', { class: 'dim', role: 'status' });
	pane!: Pane;
	onTwin: () => Promise<void> = async () => {};
	/* An engine of its own, for a live fabric. */
	connect: ((session: string) => Link) | null = null;
	private twin: Link | null = null;
	private twinOf = '';

	constructor(private readonly app: App) {
		app.on(['select', 'fabric', 'hello'], () => this.pane?.update('whatif'));
		app.onProgress = (p) => this.takeProgress(p);
	}

	/* How far it is, and how long that may last at the rate so far. */
	private takeProgress(p: Progress): void {
		if (p.job !== this.job || !this.busy)
			return;
		this.progress = Math.max(this.progress, Math.min(0.99, p.events / Math.max(1, p.expected)));
		this.bar.value = this.progress;
		const passed = (performance.now() - this.began) / 1000, left = passed / this.progress - passed;
		this.words.textContent = `${Math.floor(100 * this.progress)} %, ${p.part === 'fails' ? 'after the failure' : 'comes up'}${passed > 1 ? `, about ${Math.max(1, Math.round(left))} s left` : ''}`;
	}

	/* A twin that is not there yet is not asked. */
	async cancel(): Promise<void> {
		this.cancelled = true;
		this.words.textContent = 'is cancelled';
		await this.asked?.command({ cmd: 'cancel', job: this.job });
	}

	/* The engine that answers: that of the run on screen, or one that has the live fabric and its managers. */
	private async engine(): Promise<{ command: Link['command'] }> {
		const { app } = this;
		if (!app.isLive || !this.connect)
			return app;
		const netlist = String((await app.command({ cmd: 'netlist' }))['text'] ?? '');
		if (!this.twin) {
			const link = this.connect(`whatif-${Date.now().toString(36)}`);
			await new Promise<void>((resolve, reject) => {
				link.onState = (s, why) => {
					if (s === 'open')
						resolve();
					else if (s === 'refused')
						reject(new Error(why));
					else if (s === 'lost')
						this.twinOf = '';
				};
				link.open();
			});
			link.onFrame = (f) => {
				const j = frameKind(f) === KIND.JSON ? decodeJson(f) : {};
				if (j['progress'])
					this.takeProgress(j['progress'] as Progress);
			};
			this.twin = link;
		}
		if (this.twinOf !== netlist)
			await this.twin.command({ cmd: 'open', netlist, name: 'live.net' });
		this.twinOf = netlist;
		const managers = app.liveManagers().slice(0, 1).map(({ node, priority, mechanism }) => ({ node, priority, mechanism }));
		await this.twin.command({ cmd: 'setup', managers });
		return this.twin;
	}

	async ask(): Promise<void> {
		const { app } = this, node = app.node, link = app.link;
		if (node < 0 && link < 0)
			throw new Error('choose a node or a link first');
		const target = node >= 0 ? app.nodeWord(node) : app.linkWord(link), name = node >= 0 ? app.fabric!.f.name[node]! : target;
		if (this.busy)
			throw new Error(`${this.busy} is being computed: wait for it, or cancel it`);
		const what = node >= 0 ? { kill: app.guid(node) } : { unlink: { node: app.guid(app.fabric!.f.a[link]!), port: app.fabric!.f.pa[link]! } };
		this.busy = name;
		this.cancelled = false;
		this.job = `whatif-${Date.now().toString(36)}`;
		this.progress = this.bar.value = 0;
		this.began = performance.now();
		this.words.textContent = 'begins';
		this.pane.open('whatif');
		try {
			const engine = await this.engine();
			if (this.cancelled)
				throw new Error('cancelled');
			this.asked = engine;
			const r = await engine.command({ cmd: 'whatif', job: this.job, ...what });
			this.answers.unshift({ target: node >= 0 ? `${name} fails` : `${target} is cut`, figures: inOrder((r['figures'] ?? []) as [string, string][]), text: String(r['text'] ?? '') });
		} catch (e) {
			if (!this.cancelled)
				throw e;
			app.report(`What if ${name} fails: cancelled.`, false);
		} finally {
			this.busy = '';
			this.asked = null;
			this.pane.update('whatif');
		}
	}

	render(body: HTMLElement): void {
		const { app } = this, name = app.node >= 0 ? app.fabric?.f.name[app.node] : app.link >= 0 ? app.linkWord(app.link) : '';
		fill(body, h('h2', {}, 'What if'),
			h('p', { class: 'dim' }, app.isLive ? 'A twin of the live fabric comes up in the simulator, with its manager and under load, then what you chose fails there. The live fabric is not touched.' : 'The fabric comes up in a simulation of its own, under load, then what you chose fails. The run on screen is not touched.'),
			h('div', { class: 'chips' }, h('button', { type: 'button', class: 'main', disabled: !name || this.busy !== '', onclick: () => void this.ask().catch((e: Error) => app.report(e.message, true)) },
				this.busy ? `Computing ${this.busy} …` : name ? `What if ${name} fails?` : 'Choose a node or a link'),
				this.busy ? h('button', { type: 'button', onclick: () => void this.cancel() }, 'Cancel') : null),
			this.busy ? h('div', { class: 'progress' }, this.bar, this.words) : null,
			app.isLive ? h('div', { class: 'chips' }, h('button', { type: 'button', onclick: () => void this.onTwin().catch((e: Error) => app.report(e.message, true)) }, 'Open the twin in the simulator')) : null,
			this.answers.slice(0, 20).map((a) => h('section', {}, h('h3', {}, a.target), h('div', { class: 'figures' }, a.figures.map(([k, v]) => h('div', {}, h('b', { title: v }, figure(v)), h('span', {}, k)))), a.text ? h('details', {}, h('summary', {}, 'Details'), h('pre', {}, a.text)) : null)));
	}
}
