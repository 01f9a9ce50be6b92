// SPDX-License-Identifier: BSD-2-Clause
//
// The table of all actions: what the keyboard, menus, panes and the palette can do.
import type { App } from './app.ts';
import { SPEEDS } from './app.ts';
import type { Actions } from './commands.ts';
import { byId, download, h } from './dom.ts';
import type { Clip } from './model/document.ts';
import { linkKey } from './model/document.ts';
import { chooseGenerator } from './generate.ts';
import { writeNetlist } from './model/netlist.ts';
import { fromFragment, toFragment } from './model/share.ts';
import type { Routes } from './pane/routes.ts';
import type { Pane } from './pane/pane.ts';
import type { WhatIf } from './pane/whatif.ts';
import type { Shell } from './shell.ts';
import type { Theme } from './theme.ts';
import { toSvg } from './view/export_svg.ts';
import type { Colouring, Target, Tool, View } from './view/view.ts';

export interface Parts {
	app: App;
	view: View;
	theme: Theme;
	shell: () => Shell;
	pane: () => Pane;
	routes: () => Routes;
	whatif: () => WhatIf;
	restore: (fragment: string) => Promise<boolean>;
}

export class ActionTable {
	private clip: Clip | null = null;
	private pastes = 0;
	/* The next node that is clicked, or that r is pressed on, is the end of a route. */
	routeFrom = -1;
	/* GUID of the node where a link begins that ends where c is pressed next. */
	private linkFrom = '';

	constructor(private readonly p: Parts, private readonly actions: Actions) {
		this.files();
		this.running();
		this.breaking();
		this.reading();
		this.editing();
		this.viewing();
	}

	private readonly needNode = (): string | null => (this.p.app.node >= 0 ? null : 'choose a node first');
	private readonly needLink = (): string | null => (this.p.app.link >= 0 ? null : 'choose a link first');
	private readonly needFabric = (): string | null => (this.p.app.fabric ? null : 'no fabric is open');
	private readonly needRun = (): string | null => (this.p.app.run.started ? null : 'start the run first (Space)');
	private readonly notLive = (): string | null => (this.p.app.isLive ? 'the live fabric cannot be edited here: take it as a twin (What if)' : null);

	private files(): void {
		const { app, view, theme } = this.p, g = 'File and share';
		this.actions.add(
			{ id: 'new', group: g, title: 'New fabric', keys: ['Alt+N'], unless: this.notLive, run: () => app.newDocument() },
			{ id: 'open', group: g, title: 'Open a file…', keys: ['Ctrl+O'], unless: this.notLive, run: () => this.openFile() },
			{ id: 'generate', group: g, title: 'Generate', unless: this.notLive, run: () => app.generate(this.p.shell().words.value) },
			{ id: 'generator', group: g, title: 'Choose a generator', keys: ['g'], run: () => this.p.shell().words.select() },
			{ id: 'kinds', group: g, title: 'All kinds of fabrics…', keys: ['G'], unless: this.notLive, run: () => this.kinds() },
			{ id: 'open-link', group: g, title: 'Open a shared link…', run: () => this.openLink() },
			{ id: 'save-netlist', group: g, title: 'Save as netlist', keys: ['Ctrl+S'], unless: this.needFabric, run: () => this.saveNetlist() },
			{ id: 'save-script', group: g, title: 'Save what was done as a script', keys: ['Ctrl+Shift+S'], run: () => this.saveScript() },
			{ id: 'share', group: g, title: 'Copy a link to this', keys: ['Ctrl+Shift+L'], unless: this.needFabric, run: () => this.share() },
			{ id: 'png', group: g, title: 'Picture as PNG', keys: ['Alt+P'], run: async () => download(`${this.fileName()}.png`, 'image/png', await view.png()) },
			{ id: 'svg', group: g, title: 'Picture as SVG', keys: ['Alt+S'], run: () => download(`${this.fileName()}.svg`, 'image/svg+xml', toSvg(app, view, theme)) },
		);
	}

	private running(): void {
		const { app } = this.p, g = 'Run';
		const speed = (by: number): void => {
			const i = SPEEDS.indexOf(app.chosenSpeed), at = i < 0 ? SPEEDS.length : i, to = Math.min(SPEEDS.length, Math.max(0, at + by)), next = to >= SPEEDS.length ? Infinity : SPEEDS[to]!;
			if (app.run.speed > 0)
				void app.setSpeed(next);
			else {
				app.chosenSpeed = next;
				app.emit('run');
			}
		};
		this.actions.add(
			{ id: 'run', group: g, title: 'Run or pause', keys: ['Space'], run: () => (app.run.started ? app.setSpeed(app.run.speed > 0 ? 0 : app.chosenSpeed) : app.start()) },
			{ id: 'restart', group: g, title: 'Start again from 0', keys: ['Shift+Space'], run: () => app.start() },
			{ id: 'step', group: g, title: 'One event', keys: ['.'], run: () => app.step('event') },
			{ id: 'step-smp', group: g, title: 'One SMP', keys: [','], run: () => app.step('smp') },
			{ id: 'step-phase', group: g, title: 'One phase', keys: [';'], run: () => app.step('phase') },
			{ id: 'slower', group: g, title: 'Slower', keys: ['['], run: () => speed(-1) },
			{ id: 'faster', group: g, title: 'Faster', keys: [']'], run: () => speed(1) },
			{ id: 'begin', group: g, title: 'To the beginning', keys: ['Home'], unless: this.needRun, run: () => app.go(0) },
			{ id: 'end', group: g, title: 'To the latest moment', keys: ['End'], unless: this.needRun, run: () => app.go(app.run.end) },
			{ id: 'previous', group: g, title: 'To the event before', keys: ['Alt+ArrowLeft'], unless: this.needRun, run: () => this.jump(-1) },
			{ id: 'next', group: g, title: 'To the event after', keys: ['Alt+ArrowRight'], unless: this.needRun, run: () => this.jump(1) },
		);
	}

	private jump(by: number): Promise<void> {
		const { run } = this.p.app, at = run.journal.map((j) => Number(j.at));
		const to = by > 0 ? at.find((t) => t > run.now) : at.filter((t) => t < run.now).at(-1);
		return this.p.app.go(to ?? (by > 0 ? run.end : 0));
	}

	private breaking(): void {
		const { app } = this.p, g = 'Break';
		const managerAct = (word: string, back: string, flag: number): (() => Promise<void>) => async () => {
			const i = this.manager();
			await app.event(`${app.run.managers[i]!.flags & flag ? back : word} ${i}`);
		};
		this.actions.add(
			{ id: 'power', group: g, title: 'Power off or on', keys: ['p'], unless: () => (app.nodes.size ? this.needRun() : 'choose a node first'), run: () => this.power([...app.nodes]) },
			{ id: 'cut', group: g, title: 'Cut or mend the link', keys: ['x'], unless: () => this.needLink() ?? this.needRun(), run: () => this.cut(app.link) },
			{ id: 'cut-off', group: g, title: 'Cut these nodes off', unless: () => (app.nodes.size ? this.needRun() : 'choose nodes first'), run: () => app.event(`cut ${[...app.nodes].slice(0, 200).map((n) => app.nodeWord(n)).join(' ')}`) },
			{ id: 'join', group: g, title: 'Join all that was cut', unless: this.needRun, run: () => app.event('join') },
			{ id: 'reboot', group: g, title: 'Reboot the node', keys: ['b'], unless: () => this.needNode() ?? this.needRun(), run: () => app.event(`reboot ${app.nodeWord(app.node)}`) },
			{ id: 'loss', group: g, title: 'Lose 20 % of SMPs on the link', unless: () => this.needLink() ?? this.needRun(), run: () => app.event(`loss 20% ${app.linkWord(app.link)}`) },
			{ id: 'loss-all', group: g, title: 'Lose 5 % of SMPs everywhere', unless: this.needRun, run: () => app.event('loss 5%') },
			{ id: 'loss-none', group: g, title: 'Lose no SMPs', unless: this.needRun, run: () => app.event('loss 0%') },
			{ id: 'kill', group: g, title: 'Kill or restart the manager', keys: ['k'], unless: this.needManager, run: managerAct('crash', 'restart', 2) },
			{ id: 'pause-manager', group: g, title: 'Pause or continue the manager', keys: ['K'], unless: this.needManager, run: managerAct('pause', 'continue', 1) },
			{ id: 'handover', group: g, title: 'Hand over', keys: ['h'], unless: this.needManager, run: () => app.event(`handover ${this.manager()}`) },
			{ id: 'pull', group: g, title: "Pull the manager's cable", unless: this.needManager, run: () => app.event(`pull ${this.manager()}`) },
			{ id: 'plug', group: g, title: "Plug the manager's cable", unless: this.needManager, run: () => app.event(`plug ${this.manager()}`) },
			{ id: 'move-manager', group: g, title: 'Move the manager to…', keys: ['M'], unless: this.notLive, run: () => this.move('manager') },
			{ id: 'move-cable', group: g, title: "Move the manager's cable to…", keys: ['v'], unless: this.notLive, run: () => this.move('cable') },
			{ id: 'latency', group: g, title: 'Delay packets on the link by 50 µs', unless: () => this.needLink() ?? this.needRun(), run: () => app.event(`latency 50us ${app.linkWord(app.link)}`) },
			{ id: 'well', group: g, title: 'No loss and no delay on the link', unless: () => this.needLink() ?? this.needRun(), run: async () => {
				await app.event(`loss 0% ${app.linkWord(app.link)}`);
				await app.event(`latency 0us ${app.linkWord(app.link)}`);
			} },
			{ id: 'event', group: g, title: 'Any event…', keys: ['e'], unless: this.needRun, run: () => this.anyEvent() },
		);
	}

	private readonly needManager = (): string | null => this.needRun() ?? (this.manager() >= 0 ? null : 'no manager is here');

	/* The chosen node's, else the master. */
	private manager(): number {
		const { app } = this.p;
		return app.node >= 0 ? app.managerAt(app.node) : app.run.managers.findIndex((m) => m.state === 3 && !(m.flags & 2));
	}

	async power(nodes: number[]): Promise<void> {
		const { app } = this.p;
		for (const n of nodes.slice(0, 100))
			await app.event(`${(app.lastState?.node[n] ?? 1) & 1 ? 'off' : 'on'} ${app.nodeWord(n)}`);
	}

	/* A cable that was plugged during the run is plugged again between its two ports. */
	async cut(link: number): Promise<void> {
		const { app } = this.p, f = app.fabric!.f;
		if ((app.lastState?.link[3 * link] ?? 0) !== 4)
			await app.event(`unlink ${app.linkWord(link)}`);
		else if (link < app.baseLinks)
			await app.event(`relink ${app.linkWord(link)}`);
		else
			await app.event(`link ${app.portWord(f.a[link]!, f.pa[link]!)} ${app.portWord(f.b[link]!, f.pb[link]!)}`);
	}

	// ---- moving managers ----

	/* The next node that is clicked, or that M or v is pressed on, is where the manager or its cable goes. */
	moving: { manager: number; from: string; what: 'manager' | 'cable' } | null = null;

	private beginMove(what: 'manager' | 'cable'): void {
		const { app } = this.p, guid = app.node >= 0 ? app.guid(app.node) : '';
		const manager = this.manager();
		this.moving = { manager, from: app.run.started ? app.guid(app.run.managers[manager]!.node) : guid, what };
		app.report(what === 'manager' ? 'Click the node that gets the manager, or choose it with arrows and press M.' : 'Click the switch that gets the cable, or choose it with arrows and press v.', false);
	}

	async endMove(node: number): Promise<void> {
		const { app } = this.p, m = this.moving!;
		this.moving = null;
		if (app.guid(node) === m.from)
			return;
		if (m.what === 'cable')
			await this.moveCable(m.manager, node);
		else if (app.managerAt(node) >= 0)
			throw new Error(`${app.fabric!.f.name[node]} has a manager`);
		else if (app.run.started)
			await app.event(`seat ${m.manager} ${app.nodeWord(node)}`);
		else
			app.editor.moveManager(m.from, app.guid(node));
		app.select([node]);
	}

	private async moveCable(manager: number, node: number): Promise<void> {
		const { app } = this.p, port = app.freePort(node);
		if (!port)
			throw new Error(`${app.fabric!.f.name[node]} has no free port`);
		await app.event(`move ${manager} ${app.portWord(node, port)}`);
	}

	private move(what: 'manager' | 'cable'): void | Promise<void> {
		const { app } = this.p;
		if (this.moving?.what === what && app.node >= 0)
			return this.endMove(app.node);
		const i = this.manager();
		if (i < 0 || (what === 'cable' && !app.run.started))
			throw new Error(i < 0 ? 'choose the node of a manager first' : 'start the run first (Space)');
		this.beginMove(what);
	}

	private async anyEvent(): Promise<void> {
		const { app } = this.p, what = app.node >= 0 ? ` ${app.nodeWord(app.node)}` : app.link >= 0 ? ` ${app.linkWord(app.link)}` : '';
		const text = await this.p.shell().ask('An event in the words of a schedule, such as: latency 5us PORT, delay 10%, dup 5%, rogue NODE, lie NODE 10%', what.trim(), 'Do it');
		if (text?.trim())
			await app.event(text.trim().replace(/\s+/g, ' '));
	}

	private reading(): void {
		const { app } = this.p, g = 'Read';
		this.actions.add(
			{ id: 'search', group: g, title: 'Search', keys: ['/', 'Ctrl+F'], run: () => this.p.shell().focusSearch() },
			{ id: 'palette', group: g, title: 'All commands', keys: ['Ctrl+K', ':'], run: () => this.p.shell().focusSearch('>') },
			{ id: 'route', group: g, title: 'Route from here to…', keys: ['r'], unless: () => (app.nodes.size === 1 || app.nodes.size === 2 ? null : 'choose one node or two'), run: () => this.route() },
			{ id: 'tree', group: g, title: 'Tree to this destination', keys: ['t'], unless: this.needNode, run: () => this.p.routes().tree(app.node) },
			{ id: 'users', group: g, title: 'Who uses this link', keys: ['u'], unless: this.needLink, run: () => this.p.routes().users(app.link) },
			{ id: 'colours', group: g, title: 'Next colours of links: states, load, buffers', keys: ['C'], unless: this.needFabric, run: () => this.nextColours() },
			{ id: 'loads', group: g, title: 'Routes as colours', keys: ['o'], unless: this.needFabric, run: () => this.p.routes().loads() },
			{ id: 'quality', group: g, title: 'Quality of routes', keys: ['q'], unless: this.needFabric, run: () => this.p.pane().open('quality') },
			{ id: 'whatif', group: g, title: 'What if this fails?', keys: ['w'], run: () => this.p.whatif().ask() },
			{ id: 'log', group: g, title: 'To the messages', keys: ['l'], run: () => document.querySelector<HTMLElement>('.lines')?.focus() },
			{ id: 'pane', group: g, title: 'Next pane', keys: ['i'], run: () => this.p.pane().next() },
		);
	}

	private async route(): Promise<void> {
		const { app } = this.p;
		if (app.nodes.size === 2) {
			const [a, b] = [...app.nodes];
			await this.p.routes().route(a!, b!);
			return;
		}
		if (this.routeFrom >= 0 && this.routeFrom !== app.node) {
			const from = this.routeFrom;
			this.routeFrom = -1;
			await this.p.routes().route(from, app.node);
			return;
		}
		this.routeFrom = app.node;
		app.report('Click the other end, or choose it with arrows or search and press r.', false);
	}

	private editing(): void {
		const { app } = this.p, ed = app.editor, g = 'Build';
		const tool = (t: Tool, i: number, title: string): void => this.actions.add({ id: `tool-${t}`, group: g, title, keys: [String(i)], run: () => this.p.view.setTool(t) });
		(['select', 'switch', 'host', 'router', 'link', 'manager', 'cut', 'power'] as Tool[]).forEach((t, i) => tool(t, i + 1, ['Select', 'Place switches', 'Place hosts', 'Place routers', 'Draw links', 'Place managers', 'Cut links', 'Switch power'][i]!));
		this.actions.add(
			{ id: 'add', group: g, title: 'Place at the centre', keys: ['a'], unless: this.notLive, run: () => this.placeAtCentre() },
			{ id: 'manager', group: g, title: 'Place or remove a manager', keys: ['m'], unless: () => this.notLive() ?? this.needNode(), run: () => this.toggleManager(app.node) },
			{ id: 'connect', group: g, title: 'Link two chosen nodes, or from here to…', keys: ['c'], unless: () => this.notLive() ?? (app.nodes.size === 1 || app.nodes.size === 2 ? null : 'choose one node or two'), run: () => this.link() },
			{ id: 'delete', group: g, title: 'Delete', keys: ['Delete', 'Backspace'], unless: this.notLive, run: () => this.remove() },
			{ id: 'undo', group: g, title: 'Undo', keys: ['Ctrl+Z'], run: async () => this.said('Undone', app.canTakeBack ? await app.takeBack() : ed.undo()) },
			{ id: 'redo', group: g, title: 'Redo', keys: ['Ctrl+Shift+Z', 'Ctrl+Y'], run: async () => this.said('Redone', app.canDoAgain ? await app.doAgain() : ed.redo()) },
			{ id: 'copy', group: g, title: 'Copy', keys: ['Ctrl+C'], unless: () => (app.nodes.size ? null : 'choose nodes first'), run: () => this.copy() },
			{ id: 'paste', group: g, title: 'Paste', keys: ['Ctrl+V'], unless: () => this.notLive() ?? (this.clip ? null : 'nothing is copied'), run: () => this.paste() },
			{ id: 'layout', group: g, title: 'Lay out', keys: ['O'], unless: this.notLive, run: () => ed.clearPositions() },
			{ id: 'all', group: g, title: 'Select all', keys: ['Ctrl+A'], run: () => app.select(Array.from({ length: app.fabric?.nnodes ?? 0 }, (_, i) => i)) },
			{ id: 'none', group: g, title: 'Select nothing', keys: ['Escape'], run: () => this.escape() },
		);
	}

	private said(word: string, title: string | null): void {
		this.p.app.report(title ? `${word}: ${title}` : 'Nothing more.', false);
	}

	private escape(): void {
		const { app, view } = this.p;
		this.routeFrom = -1;
		this.linkFrom = '';
		this.moving = null;
		if (view.linkFrom >= 0 || view.tool !== 'select')
			view.setTool('select');
		else if (app.overlay)
			this.p.routes().clear();
		else
			app.select([]);
	}

	private async link(): Promise<void> {
		const { app } = this.p, [a, b] = [...app.nodes], from = app.fabric!.byGuid.get(BigInt(this.linkFrom || 0));
		this.linkFrom = '';
		if (b !== undefined)
			await this.connect(a!, b);
		else if (from !== undefined && from !== a)
			await this.connect(from, a!);
		else {
			this.linkFrom = app.guid(a!);
			app.report('Choose the other end with arrows or search and press c.', false);
		}
	}

	/* Beside what is there already. */
	private placeAtCentre(): Promise<void> {
		const { x, y } = this.p.view.camera, f = this.p.app.fabric;
		for (let i = 0; i < 400; i++) {
			const [dx, dy] = [5 * ((i % 5) - 2), 3 * Math.floor(i / 5)];
			if (!f || f.nnodes === 0 || f.nodeNear(x + dx, y + dy, 2.5) < 0)
				return this.place(x + dx, y + dy);
		}
		return this.place(x, y);
	}

	async place(x: number, y: number): Promise<void> {
		const { app, view } = this.p, type = view.tool === 'host' ? 1 : view.tool === 'router' ? 3 : 2;
		if (app.run.started) {
			const { guid, name } = app.freeIdent(type);
			await this.addWhileItRuns(type, guid, type === 1 ? 1 : type === 2 ? 8 : 2, name, { x, y });
			this.chooseGuids([guid]);
			return;
		}
		await app.ensureDoc();
		const n = app.editor.addNode(type, { x, y });
		this.chooseGuids([n.guid]);
	}

	private async addWhileItRuns(type: 1 | 2 | 3, guid: string, ports: number, name: string, at: { x: number; y: number }): Promise<void> {
		this.p.app.addedAt.set(guid, at);
		await this.p.app.event(`add ${['', 'host', 'switch', 'router'][type]} ${guid} ${ports} "${name.replace(/["\r\n]/g, ' ').slice(0, 64)}"`);
	}

	private chooseGuids(guids: string[]): void {
		const { app } = this.p;
		app.select(guids.flatMap((g) => app.fabric?.byGuid.get(BigInt(g)) ?? []));
	}

	/* With the tool for managers: a manager that was clicked goes to the node that is clicked next. */
	async clickManager(node: number): Promise<void> {
		const { app } = this.p;
		if (this.moving)
			await this.endMove(node);
		else if (app.managerAt(node) >= 0 && app.run.started) {
			app.select([node]);
			this.beginMove('manager');
		} else
			await this.toggleManager(node);
	}

	async toggleManager(node: number): Promise<void> {
		const { app } = this.p, guid = app.guid(node);
		if (app.run.started)
			app.report('A run keeps its managers: move one here (M on its node), or start again with more.', false);
		app.editor.setManager(guid, app.editor.doc.managers.has(guid) ? null : {});
	}

	async connect(a: number, b: number): Promise<void> {
		const { app } = this.p, [ga, gb] = [app.guid(a), app.guid(b)];
		if (app.run.started) {
			const ports = [a, b].map((n) => app.freePort(n)), full = ports.indexOf(0);
			if (full >= 0)
				throw new Error(`${app.fabric!.f.name[full ? b : a]} has no free port`);
			await app.event(`link ${app.portWord(a, ports[0]!)} ${app.portWord(b, ports[1]!)}`);
			return;
		}
		await app.ensureDoc();
		app.editor.addLink({ node: ga, port: 0 }, { node: gb, port: 0 });
	}

	/* While a run is on, what is deleted loses its power or its cable: history stays true. */
	private async remove(): Promise<void> {
		const { app } = this.p;
		if (app.run.started) {
			if (app.nodes.size)
				await this.power([...app.nodes].filter((n) => (app.lastState?.node[n] ?? 1) & 1));
			else if (app.link >= 0)
				await this.cut(app.link);
			return;
		}
		const guids = [...app.nodes].map((n) => app.guid(n)), f = app.fabric?.f, l = app.link;
		const ends = f && l >= 0 ? [{ node: app.guid(f.a[l]!), port: f.pa[l]! }, { node: app.guid(f.b[l]!), port: f.pb[l]! }].sort((p, q) => (p.node < q.node ? -1 : 1)) : null;
		await app.ensureDoc();
		app.select([]);
		app.editor.edit(guids.length > 1 ? `remove ${guids.length} nodes` : 'remove', () => {
			guids.forEach((g) => app.editor.removeNode(g));
			if (ends && guids.length === 0)
				app.editor.removeLink(linkKey({ a: ends[0]!, b: ends[1]! }));
		});
	}

	private async copy(): Promise<void> {
		const { app } = this.p, guids = [...app.nodes].map((n) => app.guid(n));
		await app.ensureDoc();
		this.clip = app.editor.copy(guids);
		this.pastes = 0;
		app.report(`${guids.length} nodes copied`, false);
	}

	private async paste(): Promise<void> {
		const { app } = this.p, by = (app.fabric?.unit ?? 1) * 1.5 * ++this.pastes;
		if (app.run.started) {
			await this.pasteWhileItRuns(by);
			return;
		}
		await app.ensureDoc();
		this.chooseGuids(app.editor.paste(this.clip!, { x: by, y: by }));
	}

	private async pasteWhileItRuns(by: number): Promise<void> {
		const { app } = this.p, clip = this.clip!, fresh = new Map<string, string>(), at = new Map(clip.at);
		if (clip.nodes.length > 20)
			throw new Error('at most 20 nodes are pasted while a run is on');
		for (const n of clip.nodes) {
			const { guid, name } = app.freeIdent(n.type), p = at.get(n.guid) ?? { x: 0, y: 0 };
			await this.addWhileItRuns(n.type, guid, n.ports, name, { x: p.x + by, y: p.y + by });
			fresh.set(n.guid, guid);
		}
		const word = (p: { node: string; port: number }): string => app.portWord(app.fabric!.byGuid.get(BigInt(fresh.get(p.node)!))!, p.port);
		for (const l of clip.links)
			await app.event(`link ${word(l.a)} ${word(l.b)}`);
		this.chooseGuids([...fresh.values()]);
	}

	private viewing(): void {
		const { app, view, theme } = this.p, g = 'View';
		const arrow = (key: string, dx: number, dy: number, word: string): void => {
			this.actions.add(
				{ id: `towards-${key}`, group: g, title: `Node ${word}`, keys: [key], run: () => this.towards(dx, dy) },
				{ id: `pan-${key}`, group: g, title: `Pan ${word}`, keys: [`Shift+${key}`], run: () => view.panBy(-80 * dx, -80 * dy) });
		};
		this.actions.add(
			{ id: 'fit', group: g, title: 'Whole fabric', keys: ['0', 'f'], run: () => view.fit() },
			{ id: 'reveal', group: g, title: 'To the selection', keys: ['z'], run: () => view.reveal([...app.nodes]) },
			{ id: 'in', group: g, title: 'Nearer', keys: ['+', '='], run: () => view.zoomBy(1.25) },
			{ id: 'out', group: g, title: 'Further', keys: ['-'], run: () => view.zoomBy(0.8) },
			{ id: 'menu', group: g, title: 'Actions of the selection', keys: ['Enter', 'ContextMenu'], run: () => this.menuOfSelection() },
			{ id: 'theme', group: g, title: 'Dark or light', keys: ['d'], run: () => theme.toggle() },
			{ id: 'help', group: g, title: 'Keys', keys: ['?'], run: () => this.p.shell().help() },
		);
		arrow('ArrowLeft', -1, 0, 'to the left');
		arrow('ArrowRight', 1, 0, 'to the right');
		arrow('ArrowUp', 0, -1, 'above');
		arrow('ArrowDown', 0, 1, 'below');
	}

	private nextColours(): Promise<void> {
		const list: Colouring[] = this.p.app.isLive ? ['states', 'routes'] : ['states', 'busy', 'buffers'];
		return this.p.routes().colours(list[(list.indexOf(this.p.view.colouring) + 1) % list.length]!);
	}

	private towards(dx: number, dy: number): void {
		const { app, view } = this.p, f = app.fabric;
		if (!f || f.nnodes === 0)
			return;
		const from = [...app.nodes].at(-1) ?? f.nodeNear(view.camera.x, view.camera.y, Infinity), to = app.nodes.size ? f.nodeTowards(from, dx, dy) : Math.max(0, from);
		if (to < 0)
			return;
		app.select([to]);
		view.reveal([to]);
		byId('say').textContent = `${f.f.name[to]}`;
	}

	private menuOfSelection(): void {
		const { app, view } = this.p, f = app.fabric, r = byId('gl').getBoundingClientRect();
		if (!f || (app.nodes.size === 0 && app.link < 0))
			return;
		const n = app.nodes.size ? [...app.nodes][0]! : f.f.a[app.link]!, [x, y] = view.camera.toScreen(f.f.x[n]!, f.f.y[n]!);
		this.contextMenu({ node: app.nodes.size ? n : -1, link: app.link, group: -1, x: 0, y: 0 }, r.left + x + 10, r.top + y + 10);
	}

	contextMenu(t: Target, x: number, y: number): void {
		const { app } = this.p, f = app.fabric;
		if (!f)
			return;
		if (t.node >= 0 && !app.nodes.has(t.node))
			app.select([t.node]);
		else if (t.node < 0 && t.link >= 0)
			app.select([], t.link);
		const manager = t.node >= 0 && app.managerAt(t.node) >= 0;
		const ids = t.node >= 0 ? ['power', 'reboot', ...(manager ? [null, 'kill', 'pause-manager', 'handover', 'move-manager', 'move-cable', 'pull', 'plug'] : []), null, 'route', 'tree', 'whatif', null, 'manager', ...(app.nodes.size === 2 ? ['connect'] : []), 'copy', 'delete']
			: t.link >= 0 ? ['cut', 'loss', 'latency', 'well', null, 'users', 'whatif', null, 'delete'] : ['fit', 'loads', null, 'add', 'paste', 'layout', null, 'loss-all', 'loss-none', 'join', null, 'share', 'png', 'svg'];
		this.p.shell().menu(x, y, t.node >= 0 ? f.f.name[t.node]! : t.link >= 0 ? app.linkWord(t.link) : app.name, ids);
	}

	// ---- files ----

	private fileName(): string {
		return (this.p.app.name || 'fabric').replace(/[^\w.-]+/g, '-').slice(0, 60);
	}

	private openFile(): void {
		const input = h('input', { type: 'file', accept: '.net,.txt,.topo,.ibnetdiscover,text/plain' });
		input.addEventListener('change', () => {
			const file = input.files?.[0];
			if (file)
				void this.read(file);
		});
		input.click();
	}

	async read(file: File): Promise<void> {
		const { app } = this.p;
		if (file.size > 60 * 1024 * 1024) {
			app.report('The file is larger than 60 MB.', true);
			return;
		}
		try {
			await app.open(await file.text(), file.name);
		} catch (e) {
			app.report(e instanceof Error ? e.message : String(e), true);
		}
	}

	private async saveNetlist(): Promise<void> {
		const { app } = this.p;
		const text = app.docLoaded ? writeNetlist(app.editor.doc) : String((await app.command({ cmd: 'netlist' }))['text'] ?? '') + this.positions();
		download(`${this.fileName()}.net`, 'text/plain', text);
	}
	/* A script of an opened fabric names its netlist: both are saved, for one folder. */
	private async saveScript(): Promise<void> {
		const r = await this.p.app.command({ cmd: 'script' });
		download(`${this.fileName()}.schedule`, 'text/plain', String(r['text'] ?? ''));
		if (typeof r['netlist'] === 'string' && r['netlist'])
			download(r['netlist'], 'text/plain', String((await this.p.app.command({ cmd: 'netlist' }))['text'] ?? ''));
	}
	private positions(): string {
		return [...this.p.app.editor.doc.at].map(([g, p]) => `# weft-ui at ${g} ${+p.x.toFixed(3)} ${+p.y.toFixed(3)}\n`).join('');
	}

	async fragment(): Promise<string> {
		const { app, view } = this.p, c = view.camera;
		const netlist = app.words ? undefined : app.docLoaded ? writeNetlist(app.editor.doc) : String((await app.command({ cmd: 'netlist' }))['text'] ?? '') + this.positions();
		return toFragment({
			words: app.words || undefined, netlist, name: app.name, setup: JSON.stringify({ managers: [...app.editor.doc.managers.values()], setup: app.setup }),
			journal: app.run.started ? app.run.journal.map((j) => ({ at: String(j.at), text: j.text })) : [], at: app.run.started ? String(app.run.now) : undefined, view: [c.x, c.y, c.scale],
			select: app.node >= 0 ? app.guid(app.node) : undefined,
		});
	}

	private async share(): Promise<void> {
		const fragment = await this.fragment(), url = location.origin + location.pathname + fragment;
		history.replaceState(null, '', location.pathname + location.search + fragment);
		try {
			await navigator.clipboard.writeText(url);
			this.p.app.report(`The link is copied (${url.length} characters). It works in any window of weft ui.`, false);
		} catch {
			await this.p.shell().ask('The link', url, 'Close');
		}
	}

	private async kinds(): Promise<void> {
		const shell = this.p.shell(), words = await chooseGenerator(shell.words.value);
		if (words === null)
			return;
		shell.words.value = words;
		await this.p.app.generate(words);
	}

	private async openLink(): Promise<void> {
		const text = await this.p.shell().ask('Paste a link of weft ui', '', 'Open');
		const at = text?.indexOf('#') ?? -1;
		if (text && at >= 0 && (await fromFragment(text.slice(at).trim())))
			await this.p.restore(text.slice(at).trim());
		else if (text)
			this.p.app.report('That is no link with a fabric.', true);
	}
}
