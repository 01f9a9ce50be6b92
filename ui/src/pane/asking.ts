// SPDX-License-Identifier: BSD-2-Clause
//
// What panes ask a live manager again and again while they are open. It is asked for lists in pieces, one after another, and
// nothing while the page is hidden.
import type { App } from '../app.ts';
import type { Json } from '../wire/engine.ts';
import type { PaneParts } from './registry.ts';

export const PIECE = 500;

export async function control(app: App, request: Json): Promise<Json> {
	return ((await app.command({ cmd: 'control', request }))['answer'] ?? {}) as Json;
}

/* The rows of a list up to so many, and how many there are. A manager that works on a change is asked again later: null. */
export async function rows<T>(app: App, request: Json, key: string, most = Infinity): Promise<{ rows: T[]; all: number } | null> {
	const out: T[] = [];
	for (let first = 0;;) {
		const a = await control(app, { ...request, first, count: Math.min(PIECE, most - out.length) });
		if (a['busy'])
			return null;
		const next = Number(a['next'] ?? 0), all = Number(a['records'] ?? a['switches'] ?? 0);
		out.push(...((a[key] ?? []) as T[]));
		if (next >= all || next <= first || out.length >= most)
			return { rows: out, all };
		first = next;
	}
}

/* A port by its node, to click; by its GUID where it is not in the picture. */
export function placeOf(p: PaneParts, x: { guid: string; name: string; node?: string | null }): Node | string {
	const n = x.node ? p.app.fabric?.byGuid.get(BigInt(x.node)) : undefined;
	return n === undefined ? `${x.name || x.guid} (not in the subnet)` : p.inspect.ref(n, x.name || undefined);
}

/* Calls read() every so many seconds while wanted() is true, never twice at once. */
export class Repeat {
	private busy = false;
	private due = 0;

	constructor(private readonly wanted: () => boolean, private readonly seconds: number, private readonly read: () => Promise<void>) {
		setInterval(() => this.soon(), 500);
	}

	/* Now, unless it has just been read. */
	soon(now = false): void {
		if (this.busy || document.hidden || !this.wanted() || (!now && performance.now() < this.due))
			return;
		this.busy = true;
		void this.read().finally(() => {
			this.busy = false;
			this.due = performance.now() + this.seconds * 1000;
		});
	}
}
