// SPDX-License-Identifier: BSD-2-Clause
//
// Managers and the conditions of the run: priorities, mechanisms, starts; traffic, traps, seed. Below: what was done so far.
import type { App } from '../app.ts';
import { fill, h } from '../dom.ts';
import { SM_STATE, timeText } from '../model/iba.ts';
import type { Inspect } from './inspect.ts';
import { type Pane, type Tab, fieldRow } from './pane.ts';

const MECHANISMS = ['weft', 'basic', 'improved', 'improved+partial', 'improved+traps'];

export class Managers implements Tab {
	readonly id = 'managers';
	readonly title = 'Managers';
	pane!: Pane;

	constructor(private readonly app: App, private readonly inspect: Inspect) {
		app.on(['setup', 'run', 'fabric', 'doc'], () => this.pane?.update('managers'));
		let before = '';
		app.on(['state'], () => {
			const now = app.run.managers.map((m) => `${m.state}.${m.phase}.${m.flags}`).join();
			if (now !== before)
				this.pane?.update('managers');
			before = now;
		});
	}

	onMove: (node: number) => void = () => {};

	shown = (): boolean => !this.app.isLive;

	render(body: HTMLElement): void {
		const list = [...this.app.editor.doc.managers.values()];
		fill(body, h('h2', {}, list.length === 1 ? '1 manager' : `${list.length} managers`),
			list.length ? null : h('p', { class: 'dim' }, 'Choose a node and press ', h('kbd', {}, 'm'), ' to place one.'),
			list.map((m, i) => this.card(m.node, i)), this.setupForm(), this.journal());
	}

	private card(guid: string, i: number): HTMLElement {
		const m = this.app.editor.doc.managers.get(guid)!, run = this.app.run.started ? this.app.run.managers[i] : undefined, node = run?.node ?? this.app.fabric?.byGuid.get(BigInt(guid));
		const word = run ? (run.flags & 2 ? 'stopped' : run.flags & 1 ? 'paused' : SM_STATE[run.state]!) : 'placed';
		const priority = h('input', { type: 'number', min: 0, max: 15, value: m.priority }), start = h('input', { type: 'number', min: 0, value: m.start_us });
		const mechanism = h('select', {}, MECHANISMS.map((t) => h('option', {}, t)));
		const lmc = h('input', { type: 'number', min: 0, max: 7, value: /\blmc (\d)/.exec(m.options)?.[1] ?? '0' });
		lmc.addEventListener('change', () => this.app.editor.setManager(guid, { options: withOption(m.options, 'lmc', String(Math.min(7, Math.max(0, Number(lmc.value))))) }));
		const engines = [...new Set(['', ...this.app.engines, engineOf(m.options)])], engine = h('select', {}, engines.map((t) => h('option', { value: t }, t || 'as the mechanism')));
		engine.value = engineOf(m.options);
		engine.addEventListener('change', () => this.app.editor.setManager(guid, { options: withOption(m.options, 'routes', engine.value || '0') }));
		const options = h('input', { value: m.options, placeholder: 'such as sweep 20ms window 8' });
		options.addEventListener('change', () => this.app.editor.setManager(guid, { options: options.value.trim() }));
		mechanism.value = m.mechanism;
		priority.addEventListener('change', () => this.app.editor.setManager(guid, { priority: Math.min(15, Math.max(0, Number(priority.value))) }));
		start.addEventListener('change', () => this.app.editor.setManager(guid, { start_us: Math.max(0, Number(start.value)) }));
		mechanism.addEventListener('change', () => this.app.editor.setManager(guid, { mechanism: mechanism.value }));
		const event = (text: string, title: string): HTMLElement => h('button', { type: 'button', disabled: !this.app.run.started, onclick: () => void this.app.event(`${text} ${i}`).catch((e: Error) => this.app.report(e.message, true)) }, title);
		return h('div', { class: 'card' }, h('b', {}, `SM ${i} `), node === undefined ? guid : this.inspect.ref(node), ' ', h('span', { class: `st ${word}` }, word),
			run ? h('span', { class: 'dim' }, ` ${this.app.run.phases[run.phase] ?? ''}`) : null,
			fieldRow('Priority', priority), fieldRow('Mechanism', mechanism), fieldRow('Routes by', engine), fieldRow('Starts at, µs', start), fieldRow('LMC of LIDs', lmc), fieldRow('More', options),
			h('div', { class: 'chips' }, run && run.flags & 2 ? event('restart', 'Restart') : event('crash', 'Kill'), run && run.flags & 1 ? event('continue', 'Continue') : event('pause', 'Pause'), event('handover', 'Hand over'), h('button', { type: 'button', disabled: node === undefined, onclick: () => this.onMove(node!) }, 'Move…'), event('pull', 'Pull cable'), event('plug', 'Plug in'),
				h('button', { type: 'button', onclick: () => this.app.editor.setManager(guid, null) }, 'Remove')));
	}

	private setupForm(): HTMLElement {
		const s = this.app.setup, traffic = h('input', { value: s.traffic, placeholder: 'none; such as 20us' }), load = h('input', { type: 'number', min: 0, max: 100, value: s.load });
		const seed = h('input', { type: 'number', min: 0, value: s.seed }), traps = h('input', { type: 'checkbox', checked: s.traps }), log = h('input', { type: 'checkbox', checked: s.log });
		const read = (): void => {
			if (!/^$|^\d+(\.\d+)?(ns|us|ms|s)$/.test(traffic.value.trim()))
				this.app.report('Time between packets: a number with ns, us, ms or s.', true);
			else
				this.app.setup = { traffic: traffic.value.trim(), load: Number(load.value), traps: traps.checked, seed: Number(seed.value), log: log.checked };
		};
		for (const el of [traffic, load, seed, traps, log])
			el.addEventListener('change', read);
		return h('section', {}, h('h3', {}, 'Conditions of the next start'), fieldRow('A packet every', traffic), fieldRow('Load, %', load), fieldRow('Seed', seed), fieldRow('Traps', traps), fieldRow('Message log', log),
			h('div', { class: 'chips' }, h('button', { type: 'button', onclick: () => void this.app.start().catch((e: Error) => this.app.report(e.message, true)) }, 'Start again')));
	}

	private journal(): HTMLElement | null {
		const j = this.app.run.journal;
		if (!j.length)
			return null;
		return h('section', {}, h('h3', {}, 'What was done'), h('table', {}, h('tbody', {}, j.map((e) => h('tr', {},
			h('td', {}, h('button', { type: 'button', class: 'ref num', onclick: () => void this.app.go(Number(e.at)) }, timeText(Number(e.at)))), h('td', { class: 'num' }, e.text))))));
	}
}

function engineOf(options: string): string {
	return /(?:^|\s)routes (\S+)/.exec(options)?.[1] ?? '';
}

/* "sweep 20ms" with lmc 1: "sweep 20ms lmc 1"; 0 leaves it out. */
function withOption(text: string, word: string, value: string): string {
	const words = text.trim().split(/\s+/).filter(Boolean), out: string[] = [];
	for (let i = 0; i + 1 < words.length; i += 2)
		if (words[i] !== word)
			out.push(words[i]!, words[i + 1]!);
	return [...out, ...(value === '0' ? [] : [word, value])].join(' ');
}
