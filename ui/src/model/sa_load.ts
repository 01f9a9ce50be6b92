// SPDX-License-Identifier: BSD-2-Clause
//
// The load of subnet administration over time: counters by attribute, read again and again, as requests a second. No DOM.

export interface AttributeCount {
	requests: number;
	answered: number;
	refused: number;
	untrusted: number;
	dropped: number;
}

export interface SaCounters {
	serving: boolean;
	requests: number;
	responses: number;
	busy: number;
	silent: number;
	bad: number;
	segments: number;
	transfers: number;
	transfers_failed: number;
	groups: number;
	members: number;
	services: number;
	subscriptions: number;
	reports: number;
	reports_waiting: number;
	reports_unanswered: number;
	errors: Record<string, number>;
	by_attribute: Record<string, AttributeCount>;
}

export const KEPT = 600;

export class SaLoad {
	last: SaCounters | null = null;
	/* Seconds; requests a second by attribute since the reading before. */
	at: number[] = [];
	readonly rates = new Map<string, number[]>();
	private lastAt = 0;

	clear(): void {
		this.last = null;
		this.at = [];
		this.rates.clear();
	}

	/* A manager that was started again counts from 0: then this reading begins again. */
	add(c: SaCounters, seconds: number): void {
		const before = this.last, passed = seconds - this.lastAt;
		if (before && passed <= 0)
			return;
		const again = before !== null && Object.keys(before.by_attribute).some((k) => (c.by_attribute[k]?.requests ?? 0) < before.by_attribute[k]!.requests);
		this.last = c;
		this.lastAt = seconds;
		if (!before || again)
			return;
		this.at.push(seconds);
		for (const k of new Set([...Object.keys(c.by_attribute), ...this.rates.keys()])) {
			const list = this.rates.get(k) ?? new Array<number>(this.at.length - 1).fill(0);
			list.push(((c.by_attribute[k]?.requests ?? 0) - (before.by_attribute[k]?.requests ?? 0)) / passed);
			this.rates.set(k, list);
		}
		if (this.at.length <= KEPT)
			return;
		this.at.shift();
		for (const list of this.rates.values())
			list.shift();
	}

	rate(attribute: string): number {
		return this.rates.get(attribute)?.at(-1) ?? 0;
	}

	/* Those with the most requests that were seen come first, then the rest by their counters. */
	order(): string[] {
		const seen = (k: string): number => this.rates.get(k)?.reduce((n, x) => n + x, 0) ?? 0, all = this.last?.by_attribute ?? {};
		return Object.keys(all).sort((p, q) => seen(q) - seen(p) || all[q]!.requests - all[p]!.requests || (p < q ? -1 : 1));
	}
}
