// SPDX-License-Identifier: BSD-2-Clause
//
// What the page remembers of a running manager: its status, its changes, virtual machines and their moves, its log. No DOM.
import type { Json } from '../wire/engine.ts';

export interface End {
	name: string;
	guid: string;
	port: number;
}

/* A link or node that went or came. */
export interface ChangeItem {
	event: string;
	text: string;
	a?: End;
	b?: End;
	guid?: string;
	name?: string;
}

export interface Change {
	number: number;
	began: string;
	cause: string;
	time_s: number;
	smps: Record<string, number>;
	entries: number;
	restarts: number;
	clean: boolean;
	links: ChangeItem[];
	nodes: ChangeItem[];
	unlisted: number;
}

export interface Vm {
	vm: string;
	guid: string;
	running: boolean;
	lid: number;
	host: { guid: string; name: string; vf: number } | null;
	/* in the picture */
	node: number | null;
}

export interface Move {
	at: Date;
	vm: string;
	text: string;
	node: number | null;
}

export interface LiveManager {
	guid: string;
	name: string;
	priority: number;
	state: string;
	answers: boolean;
	own: boolean;
}

const KEPT = 50;
const place = (v: Vm | undefined): string => (v?.running && v.host ? `${v.host.name || v.host.guid} VF ${v.host.vf}` : '');

export class LiveState {
	status: Json | null = null;
	changes: Change[] = [];
	vms: Vm[] = [];
	moves: Move[] = [];
	events: Json[] = [];
	lost = '';
	private known = false;

	/* True: there are changes that were not there before. */
	take(j: Json): boolean {
		const before = this.changes.at(-1)?.number ?? 0;
		if (j['status'])
			this.status = j['status'] as Json;
		if (Array.isArray(j['changes']))
			this.addChanges(j['changes'] as Change[]);
		if (Array.isArray(j['vms']))
			this.setVms(j['vms'] as Vm[]);
		if (j['event'])
			this.events = [...this.events.slice(-499), j['event'] as Json];
		if (j['live'])
			this.lost = j['live'] === 'lost' ? String(j['why'] ?? '') || 'no answer' : '';
		return (this.changes.at(-1)?.number ?? 0) !== before;
	}

	/* A manager that was started again counts from 1 again. */
	private addChanges(list: Change[]): void {
		const last = list.at(-1)?.number ?? 0;
		if (last && last < (this.changes.at(-1)?.number ?? 0) && !this.changes.some((c) => c.number === last && c.began === list.at(-1)!.began))
			this.changes = [];
		const all = new Map(this.changes.map((c) => [c.number, c]));
		for (const c of list)
			all.set(c.number, c);
		this.changes = [...all.values()].sort((p, q) => p.number - q.number).slice(-KEPT);
	}

	private setVms(list: Vm[]): void {
		const was = new Map(this.vms.map((v) => [v.vm, v]));
		for (const v of this.known ? list : []) {
			const [from, to] = [place(was.get(v.vm)), place(v)];
			if (from !== to)
				this.moved(v.vm, from && to ? `${from} → ${to}` : to ? `started on ${to}` : `stopped on ${from}`, v.node);
			was.delete(v.vm);
		}
		for (const v of this.known ? was.values() : [])
			this.moved(v.vm, 'destroyed', null);
		this.vms = list;
		this.known = true;
	}

	private moved(vm: string, text: string, node: number | null): void {
		this.moves = [...this.moves.slice(-(KEPT - 1)), { at: new Date(), vm, text, node }];
	}

	get managers(): LiveManager[] {
		return (this.status?.['managers'] ?? []) as LiveManager[];
	}
	get master(): string {
		return String(this.status?.['master'] ?? '');
	}

	/* By name, GUID or LID. */
	findVms(text: string, most: number): Vm[] {
		const t = text.trim().toLowerCase(), lid = /^(0x[0-9a-f]{1,4}|\d{1,5})$/.test(t) ? Number(t) : -1;
		return t ? this.vms.filter((v) => v.vm.toLowerCase().includes(t) || v.guid.toLowerCase().includes(t) || v.lid === lid).slice(0, most) : [];
	}
}
