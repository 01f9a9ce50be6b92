// SPDX-License-Identifier: BSD-2-Clause
//
// The document: the fabric as a person edits it, with undo and redo. An edit is a list of changes (what, key, before,
// after); to undo it is to set what was before. Nothing here is drawn, and the engine gets it as a netlist.

export interface DocNode {
	guid: string;
	type: 1 | 2 | 3;
	name: string;
	ports: number;
	lmc: number;
	vfs: number;
	sriov: string;
	vendid: string;
	devid: string;
	enhanced: boolean;
	/* Entries of a switch's tables; 0: as the simulator has them. With a random table there is no linear one. */
	linear: number;
	random: number;
	mcast: number;
}

/* Most entries of these. */
export const TABLE_MOST = { linear: 49152, random: 65535, mcast: 16384 } as const;

export interface PortRef {
	node: string;
	port: number;
}

export interface DocLink {
	a: PortRef;
	b: PortRef;
	rate: string;
	length: string;
}

export interface DocManager {
	node: string;
	priority: number;
	mechanism: string;
	start_us: number;
	/* words of a schedule's manager line beyond these: "lmc 1 sweep 20ms" */
	options: string;
}

export interface Point {
	x: number;
	y: number;
}

export interface Doc {
	nodes: Map<string, DocNode>;
	links: Map<string, DocLink>;
	managers: Map<string, DocManager>;
	at: Map<string, Point>;
}

export function emptyDoc(): Doc {
	return { nodes: new Map(), links: new Map(), managers: new Map(), at: new Map() };
}

export function linkKey(l: { a: PortRef; b: PortRef }): string {
	return `${l.a.node}/${l.a.port}-${l.b.node}/${l.b.port}`;
}

type Table = keyof Doc;
interface Change {
	table: Table;
	key: string;
	before: unknown;
	after: unknown;
	/* Where it stood, if it was removed: order is part of the document (numbers of managers, LIDs). */
	place: number;
}
export interface Edit {
	title: string;
	changes: Change[];
}

/* What is copied: nodes, the links among them, their managers and positions. */
export interface Clip {
	nodes: DocNode[];
	links: DocLink[];
	managers: DocManager[];
	at: [string, Point][];
}

export const MAX_UNDO = 500;

function insertAt(map: Map<string, unknown>, place: number, key: string, value: unknown): void {
	const all = [...map];
	all.splice(place, 0, [key, value]);
	map.clear();
	for (const [k, v] of all)
		map.set(k, v);
}

export class Editor {
	doc = emptyDoc();
	onChange: (edit: Edit) => void = () => {};
	private undone: Edit[] = [];
	private done: Edit[] = [];
	private open: Edit | null = null;

	replace(doc: Doc): void {
		this.doc = doc;
		this.done = [];
		this.undone = [];
	}

	get canUndo(): string | null {
		return this.done.at(-1)?.title ?? null;
	}
	get canRedo(): string | null {
		return this.undone.at(-1)?.title ?? null;
	}

	/* All that fn changes is one edit. An exception leaves the document as it was. */
	edit(title: string, fn: () => void): void {
		if (this.open) {
			fn();
			return;
		}
		const e: Edit = { title, changes: [] };
		this.open = e;
		try {
			fn();
		} catch (x) {
			this.apply(e, false);
			throw x;
		} finally {
			this.open = null;
		}
		if (e.changes.length === 0)
			return;
		this.done.push(e);
		if (this.done.length > MAX_UNDO)
			this.done.shift();
		this.undone = [];
		this.onChange(e);
	}

	undo(): string | null {
		const e = this.done.pop();
		if (!e)
			return null;
		this.apply(e, false);
		this.undone.push(e);
		this.onChange(e);
		return e.title;
	}

	redo(): string | null {
		const e = this.undone.pop();
		if (!e)
			return null;
		this.apply(e, true);
		this.done.push(e);
		this.onChange(e);
		return e.title;
	}

	private apply(e: Edit, forward: boolean): void {
		const changes = forward ? e.changes : [...e.changes].reverse();
		for (const c of changes) {
			const value = forward ? c.after : c.before, map = this.doc[c.table] as Map<string, unknown>;
			if (value === undefined)
				map.delete(c.key);
			else if (!forward && c.after === undefined)
				insertAt(map, c.place, c.key, value);
			else
				map.set(c.key, value);
		}
	}

	private set(table: Table, key: string, after: unknown): void {
		const map = this.doc[table] as Map<string, unknown>;
		const place = after === undefined ? [...map.keys()].indexOf(key) : -1;
		this.open!.changes.push({ table, key, before: map.get(key), after, place });
		if (after === undefined)
			map.delete(key);
		else
			map.set(key, after);
	}

	/* A GUID that no node has: hosts from 0x0001..., switches from 0x0002..., routers from 0x0003..., as generators do. */
	freeGuid(type: 1 | 2 | 3): string {
		const step = type === 2 ? 1n : 4n;
		let g = (BigInt(type) << 48n) + (type === 2 ? 1n : 16n);
		for (const guid of this.doc.nodes.keys()) {
			const n = BigInt(guid);
			if (n >> 48n === BigInt(type) && n >= g)
				g = ((n - (BigInt(type) << 48n)) / step + 1n) * step + (BigInt(type) << 48n);
		}
		return '0x' + g.toString(16).padStart(16, '0');
	}

	private freeName(type: 1 | 2 | 3): string {
		const stem = ['', 'host', 'switch', 'router'][type]!;
		const used = new Set([...this.doc.nodes.values()].map((n) => n.name));
		for (let i = 1; ; i++) {
			if (!used.has(`${stem} ${i}`))
				return `${stem} ${i}`;
		}
	}

	addNode(type: 1 | 2 | 3, at: Point | null, props: Partial<DocNode> = {}): DocNode {
		const node: DocNode = {
			type, name: this.freeName(type), ports: type === 1 ? 1 : type === 2 ? 8 : 2, lmc: 0, vfs: 0, sriov: 'vswitch',
			vendid: '0x0', devid: '0x0', enhanced: false, linear: 0, random: 0, mcast: 0, ...props, guid: props.guid ?? this.freeGuid(type),
		};
		this.edit(`add ${node.name}`, () => {
			this.set('nodes', node.guid, node);
			if (at)
				this.set('at', node.guid, at);
		});
		return node;
	}

	removeNode(guid: string): void {
		const node = this.doc.nodes.get(guid);
		if (!node)
			return;
		this.edit(`remove ${node.name}`, () => {
			for (const [key, l] of [...this.doc.links]) {
				if (l.a.node === guid || l.b.node === guid)
					this.set('links', key, undefined);
			}
			if (this.doc.managers.has(guid))
				this.set('managers', guid, undefined);
			if (this.doc.at.has(guid))
				this.set('at', guid, undefined);
			this.set('nodes', guid, undefined);
		});
	}

	usedPorts(guid: string): Set<number> {
		const used = new Set<number>();
		for (const l of this.doc.links.values()) {
			if (l.a.node === guid)
				used.add(l.a.port);
			if (l.b.node === guid)
				used.add(l.b.port);
		}
		return used;
	}

	freePort(guid: string): number {
		const used = this.usedPorts(guid), n = this.doc.nodes.get(guid);
		for (let p = 1; n && p <= n.ports; p++) {
			if (!used.has(p))
				return p;
		}
		return 0;
	}

	/* Port 0: the lowest free one. Throws a sentence when the link cannot be. */
	addLink(a: PortRef, b: PortRef, rate = '4xQDR', length = ''): DocLink {
		const ends = [a, b].map((p) => this.checked(p, a.node === b.node));
		if (a.node === b.node)
			throw new Error('a link needs two nodes');
		const [p, q] = ends[0]!.node < ends[1]!.node ? ends : [ends[1], ends[0]];
		const link: DocLink = { a: p!, b: q!, rate, length };
		this.edit('add a link', () => this.set('links', linkKey(link), link));
		return link;
	}

	private checked(p: PortRef, same: boolean): PortRef {
		const n = this.doc.nodes.get(p.node);
		if (!n)
			throw new Error('that node is gone');
		const port = p.port || this.freePort(p.node);
		if (same)
			return { node: p.node, port };
		if (port === 0)
			throw new Error(`${n.name} has no free port (of ${n.ports})`);
		if (port > n.ports)
			throw new Error(`${n.name} has ${n.ports} ports`);
		if (this.usedPorts(p.node).has(port))
			throw new Error(`port ${port} of ${n.name} has a cable`);
		return { node: p.node, port };
	}

	removeLink(key: string): void {
		if (this.doc.links.has(key))
			this.edit('remove a link', () => this.set('links', key, undefined));
	}

	setLink(key: string, props: Partial<Pick<DocLink, 'rate' | 'length'>>): void {
		const l = this.doc.links.get(key);
		if (l)
			this.edit('change a link', () => this.set('links', key, { ...l, ...props }));
	}

	setNode(guid: string, props: Partial<Omit<DocNode, 'guid' | 'type'>>): void {
		const n = this.doc.nodes.get(guid);
		if (!n)
			return;
		if (props.ports !== undefined) {
			const most = Math.max(0, ...this.usedPorts(guid));
			if (!(props.ports >= Math.max(1, most) && props.ports <= 254))
				throw new Error(most > 1 ? `port ${most} has a cable: ${most} to 254 ports` : '1 to 254 ports');
		}
		for (const [k, most] of Object.entries(TABLE_MOST))
			if (!(Number(props[k as keyof typeof TABLE_MOST] ?? 0) >= 0 && Number(props[k as keyof typeof TABLE_MOST] ?? 0) <= most))
				throw new Error(`a table of 1 to ${most} entries; 0: as the simulator has it`);
		this.edit(`change ${n.name}`, () => this.set('nodes', guid, { ...n, ...props }));
	}

	move(to: Map<string, Point>): void {
		this.edit(to.size === 1 ? 'move a node' : `move ${to.size} nodes`, () => {
			for (const [guid, p] of to)
				this.set('at', guid, p);
		});
	}

	/* The engine's layout counts again. */
	clearPositions(): void {
		this.edit('lay out', () => {
			for (const guid of [...this.doc.at.keys()])
				this.set('at', guid, undefined);
		});
	}

	setManager(node: string, props: Partial<DocManager> | null): void {
		const was = this.doc.managers.get(node);
		this.edit(props ? (was ? 'change a manager' : 'add a manager') : 'remove a manager', () =>
			this.set('managers', node, props ? { priority: 0, mechanism: 'weft', start_us: 0, options: '', ...was, ...props, node } : undefined));
	}

	/* Its number, which is its place in the list, stays. */
	moveManager(from: string, to: string): void {
		const m = this.doc.managers.get(from);
		if (!m || this.doc.managers.has(to))
			return;
		this.edit('move a manager', () => {
			const all = [...this.doc.managers.values()].map((x) => (x === m ? { ...m, node: to } : x));
			for (const x of [...this.doc.managers.keys()])
				this.set('managers', x, undefined);
			for (const x of all)
				this.set('managers', x.node, x);
		});
	}

	copy(guids: Iterable<string>): Clip {
		const chosen = new Set(guids);
		return structuredClone({
			nodes: [...this.doc.nodes.values()].filter((n) => chosen.has(n.guid)),
			links: [...this.doc.links.values()].filter((l) => chosen.has(l.a.node) && chosen.has(l.b.node)),
			/* A manager can be on a virtual function, which is no node of the document. */
			managers: [...this.doc.managers.values()].filter((m) => chosen.has(m.node) && this.doc.nodes.has(m.node)),
			at: [...this.doc.at].filter(([g]) => chosen.has(g)),
		});
	}

	/* New GUIDs and names; positions move by an offset. Returns the GUIDs. */
	paste(clip: Clip, by: Point): string[] {
		const fresh = new Map<string, string>();
		this.edit(`paste ${clip.nodes.length} nodes`, () => {
			const at = new Map(clip.at);
			for (const n of clip.nodes) {
				const p = at.get(n.guid);
				const made = this.addNode(n.type, p ? { x: p.x + by.x, y: p.y + by.y } : null, { ...n, name: this.copyName(n.name), guid: this.freeGuid(n.type) });
				fresh.set(n.guid, made.guid);
			}
			for (const l of clip.links)
				this.addLink({ node: fresh.get(l.a.node)!, port: l.a.port }, { node: fresh.get(l.b.node)!, port: l.b.port }, l.rate, l.length);
			for (const m of clip.managers)
				this.setManager(fresh.get(m.node)!, { ...m, node: fresh.get(m.node)! });
		});
		return [...fresh.values()];
	}

	private copyName(name: string): string {
		const used = new Set([...this.doc.nodes.values()].map((n) => n.name));
		const m = /^(.*?)(\d+)$/.exec(name);
		for (let i = m ? Number(m[2]) + 1 : 2; ; i++) {
			const next = m ? `${m[1]}${i}` : `${name} ${i}`;
			if (!used.has(next))
				return next;
		}
	}
}
