// SPDX-License-Identifier: BSD-2-Clause
//
// Puts the page together on a connection: parts, keys, the first fabric.
import { ActionTable } from './actions.ts';
import { App, type Setup } from './app.ts';
import { Actions } from './commands.ts';
import { byId, fill, h } from './dom.ts';
import type { Doc, DocManager } from './model/document.ts';
import { fromFragment } from './model/share.ts';
import { Inspect } from './pane/inspect.ts';
import { Managers } from './pane/managers.ts';
import { Pane } from './pane/pane.ts';
import { PANES } from './pane/registry.ts';
import { Routes } from './pane/routes.ts';
import { WhatIf } from './pane/whatif.ts';
import { Shell } from './shell.ts';
import { Theme } from './theme.ts';
import { Lanes, Transport } from './time/transport.ts';
import { LogView } from './time/log_view.ts';
import { Plots } from './time/plots.ts';
import { type Colouring, View } from './view/view.ts';
import type { Link } from './wire/engine.ts';
import type { LogLine } from './wire/frames.ts';

/* What a person sees who starts without a file. */
const FIRST_FABRIC = 'mtree 8 2';
const FIRST_SPEED = 5000; /* it is up within three seconds */

export function startPage(connection: Link, twin: (netlist: string, setup: string) => void, connect: ((session: string) => Link) | null = null): { app: App; view: View } {
	const theme = new Theme(), app = new App(connection), view = new View(app, theme);
	const actions = new Actions((text, bad) => app.report(text, bad));
	let shell: Shell, pane: Pane;
	const inspect = new Inspect(app, actions, view), routes = new Routes(app, view, inspect), managers = new Managers(app, inspect), whatif = new WhatIf(app);
	const restore = (fragment: string): Promise<boolean> => restoreLink(app, view, fragment);
	const table = new ActionTable({ app, view, theme, shell: () => shell, pane: () => pane, routes: () => routes, whatif: () => whatif, restore }, actions);
	shell = new Shell(app, actions, view);
	pane = new Pane(byId('pane'), [inspect, routes, managers, whatif, ...PANES.map((make) => make({ app, view, inspect }))]);
	app.report = (text, bad) => shell.toast(text, bad);
	const time = byId('time');
	new Transport(time, app, actions);
	const lanes = new Lanes(time, app, theme), plots = new Plots(time, app, theme), log = new LogView(time, app);
	theme.onChange = () => {
		view.readTheme();
		lanes.ask();
		plots.build(true);
	};
	whatif.connect = connect;
	whatif.onTwin = async () => twin(String((await app.command({ cmd: 'netlist' }))['text'] ?? ''), JSON.stringify({ managers: app.liveManagers() }));
	managers.onMove = (node) => {
		app.select([node]);
		actions.run('move-manager');
		byId('gl').focus();
	};
	legend(app, view, routes);
	pointer(app, view, table, routes);
	keyboard(actions);
	log.onOpen = (line) => void openLine(app, view, inspect, line).catch((e: Error) => app.report(e.message, true));
	dropFiles(table);
	first(app, view, shell, pane, restore);
	connection.open();
	return { app, view };
}

/* Faults and states of managers have no MAD. A line that is chosen meanwhile takes the place of this one. */
let lines = 0;
async function openLine(app: App, view: View, inspect: Inspect, { seq, at, node, kind }: LogLine): Promise<void> {
	const mine = ++lines;
	await app.go(Number(at));
	if (mine !== lines)
		return;
	if (app.fabric && node < app.fabric.nnodes) {
		app.select([node]);
		view.reveal([node]);
	}
	if (kind > 2)
		return;
	const reply = await app.command({ cmd: 'mad', seq });
	if (mine === lines)
		inspect.showMad(String(reply['text'] ?? ''));
}

function pointer(app: App, view: View, table: ActionTable, routes: Routes): void {
	const safe = (p: Promise<void>): void => void p.catch((e: Error) => app.report(e.message, true));
	view.onMenu = (t, x, y) => table.contextMenu(t, x, y);
	view.onLinked = (a, b) => a !== b && safe(table.connect(a, b));
	view.onMoved = (nodes) => {
		const f = app.fabric!.f;
		app.editor.move(new Map(nodes.map((n) => [app.guid(n), { x: f.x[n]!, y: f.y[n]! }])));
	};
	view.onClick = (t, e) => {
		if (view.tool === 'switch' || view.tool === 'host' || view.tool === 'router') {
			if (t.node >= 0)
				app.select([t.node]);
			else
				safe(table.place(t.x, t.y));
		} else if (view.tool === 'link') {
			if (t.node >= 0 && view.linkFrom >= 0 && view.linkFrom !== t.node) {
				safe(table.connect(view.linkFrom, t.node));
				view.linkFrom = -1;
			} else
				view.linkFrom = t.node;
		} else if (view.tool === 'manager' && t.node >= 0)
			safe(table.clickManager(t.node));
		else if (table.moving && t.node >= 0)
			safe(table.endMove(t.node));
		else if (view.tool === 'cut' && t.link >= 0)
			safe(table.cut(t.link));
		else if (view.tool === 'power' && t.node >= 0)
			safe(table.power([t.node]));
		else if (t.node >= 0 && table.routeFrom >= 0) {
			safe(routes.route(table.routeFrom, t.node));
			table.routeFrom = -1;
		} else if (t.node >= 0 && (e.shiftKey || e.ctrlKey || e.metaKey)) {
			const next = new Set(app.nodes);
			if (!next.delete(t.node))
				next.add(t.node);
			app.select(next);
		} else
			app.select(t.node >= 0 ? [t.node] : [], t.node >= 0 ? -1 : t.link);
	};
}

function keyboard(actions: Actions): void {
	document.addEventListener('keydown', (e) => {
		const el = e.target as HTMLElement, typing = /^(INPUT|SELECT|TEXTAREA)$/.test(el.tagName) && (el as HTMLInputElement).type !== 'checkbox' && (el as HTMLInputElement).type !== 'range';
		if (document.querySelector('dialog[open]') || !byId('menu').hidden)
			return;
		if (typing) {
			if (e.key === 'Escape')
				byId('gl').focus();
			return;
		}
		/* Buttons keep Space and Enter, sliders their arrows. */
		if ((e.key === ' ' || e.key === 'Enter') && /^(BUTTON|SUMMARY|A)$/.test(el.tagName) && el.id !== 'gl')
			return;
		if (e.key.startsWith('Arrow') && (el as HTMLInputElement).type === 'range')
			return;
		if (actions.key(e))
			e.preventDefault();
	});
}

/* What colours mean now, and the choice of another meaning. */
function legend(app: App, view: View, routes: Routes): void {
	const items = h('span', { class: 'items' }), chosen = h('select', { 'aria-label': 'Colours of links', title: 'Colours of links (C)', onchange: () => void routes.colours(chosen.value as Colouring).catch((e: Error) => {
		app.report(e.message, true);
		show();
	}) }, Object.entries(COLOURS).map(([id, [title]]) => h('option', { value: id }, title)));
	const show = (): void => {
		const item = (c: string, text: string, round = false): HTMLElement => h('span', { class: `c-${c}` }, h('i', { class: round ? 'round' : '' }), text);
		const ramp = app.overlay?.heat ? 'flows on the busiest links: few to many' : COLOURS[view.colouring][1];
		chosen.value = view.colouring;
		for (const o of chosen.options)
			o.hidden = app.isLive && (o.value === 'busy' || o.value === 'buffers');
		fill(items, ramp ? [item('ramp', ramp), item('cut', 'cut')] : ['active', 'armed', 'init', 'down', 'cut'].map((s) => item(s, s)),
			view.scene.cutOff ? item('init', 'cut off from the master', true) : null, app.isLive ? null : item('request', 'SMP', true), app.isLive ? null : item('response', 'response', true), app.setup.traffic || app.setup.load ? item('packet', 'data', true) : null);
	};
	fill(byId('legend'), chosen, items);
	app.on(['overlay', 'run', 'fabric', 'hello'], show);
	let cutOff = 0;
	app.on(['state'], () => {
		if (cutOff !== (cutOff = view.scene.cutOff))
			show();
	});
	show();
}

/* Titles, and what the ends of the ramp are. */
const COLOURS: Record<Colouring, [string, string]> = {
	states: ['States of ports', ''], busy: ['Load', 'busy: none to all of the time'], buffers: ['Buffers', 'buffers: empty to full'], routes: ['Routes', 'routes on a link: few to many'],
};

function dropFiles(table: ActionTable): void {
	addEventListener('dragover', (e) => e.preventDefault());
	addEventListener('drop', (e) => {
		e.preventDefault();
		const file = e.dataTransfer?.files[0];
		if (file)
			void table.read(file);
	});
}

/* Where a person put nodes is kept for this tab. */
function rememberPositions(app: App): void {
	const key = `weft-at-${app.hello?.session ?? ''}`;
	try {
		const kept = JSON.parse(sessionStorage.getItem(key) ?? '[]') as [string, { x: number; y: number }][];
		if (kept.length)
			app.pendingAt = new Map(kept);
	} catch {
		/* none */
	}
	app.on(['doc', 'fabric'], () => {
		const at = [...app.editor.doc.at, ...app.addedAt];
		try {
			if (at.length && at.length < 20000)
				sessionStorage.setItem(key, JSON.stringify(at));
			else if (app.docLoaded)
				sessionStorage.removeItem(key);
		} catch {
			/* not kept */
		}
	});
}

/* The server has opened a file, or the address holds a fabric, or this is the first time. */
function first(app: App, view: View, shell: Shell, pane: Pane, restore: (fragment: string) => Promise<boolean>): void {
	let done = false;
	app.on(['hello'], () => {
		document.body.dataset['source'] = app.isLive ? 'live' : 'engine';
		pane.open(app.isLive ? 'live' : 'inspect');
		if (done || app.isLive)
			return;
		done = true;
		rememberPositions(app);
		void (async () => {
			/* A damaged link is told; then the page begins as without one. */
			if (await restore(location.hash).catch((e: Error) => (app.report(e.message, true), false)))
				return;
			await new Promise((r) => setTimeout(r, 60));
			if (app.hello?.file && !(await fileOpened(app, app.hello.file)))
				return;
			if (app.fabric) {
				app.name ||= app.hello?.file ?? '';
				if (!(await app.attach()))
					app.report('Space starts the run.', false);
				return;
			}
			await app.generate(FIRST_FABRIC);
			await app.setSpeed(FIRST_SPEED);
			await app.start();
			shell.hint();
		})().catch((e: Error) => app.report(e.message, true));
	});
	addEventListener('hashchange', () => void restore(location.hash).catch((e: Error) => app.report(e.message, true)));
	void view;
}

/* The fabric of the file that the server opens comes as soon as it can be drawn, which takes seconds for a large one. Without it
 * there is a message, and no other fabric in its place. */
async function fileOpened(app: App, file: string): Promise<boolean> {
	for (let i = 1; !app.fabric && !app.ended && !app.refused; i++) {
		await new Promise((r) => setTimeout(r, 50));
		if (i % 80 === 40)
			app.report(`Opening ${file}: ${Math.round(i / 20)} s`, false);
	}
	return app.fabric !== null;
}

async function restoreLink(app: App, view: View, fragment: string): Promise<boolean> {
	const s = await fromFragment(fragment);
	if (!s)
		return false;
	const given = s.setup ? (JSON.parse(s.setup) as { managers?: DocManager[]; setup?: Setup }) : {};
	const managers: Doc['managers'] | null = given.managers ? new Map(given.managers.map((m) => [m.node, m])) : null;
	if (given.setup)
		app.setup = { ...app.setup, ...given.setup };
	if (s.words)
		await app.generate(s.words, managers);
	else
		await app.open(s.netlist ?? '', s.name ?? 'shared', managers);
	if (s.view)
		view.setView(s.view);
	if (s.at !== undefined)
		await app.replay((s.journal ?? []).map((j) => ({ at: BigInt(j.at), text: j.text })), BigInt(s.at), 0);
	const node = s.select ? app.fabric?.byGuid.get(BigInt(s.select)) : undefined;
	if (node !== undefined)
		app.select([node]);
	return true;
}
