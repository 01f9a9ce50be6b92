// SPDX-License-Identifier: BSD-2-Clause
//
// What the page remembers of a run: time, managers and their states over time, series, messages, the journal. Moments
// that were seen once stay when the person goes back; they are dropped when the journal changes, for then the future does.
import type { LogLine, ManagerRecord, SeriesPoint, StateFrame } from '../wire/frames.ts';

export interface JournalEntry {
	at: bigint;
	text: string;
}

/* A manager was in a state from a time on. */
export interface LaneStep {
	at: number;
	state: number;
	phase: number;
	flags: number;
}

export const MAX_LOG = 100000;
export const MAX_POINTS = 40000;

export class Run {
	started = false;
	now = 0;
	/* The latest moment that was seen. */
	end = 0;
	events = 0;
	/* simulated microseconds for each second; 0: paused */
	speed = 0;
	managers: ManagerRecord[] = [];
	lanes: LaneStep[][] = [];
	journal: JournalEntry[] = [];
	phases: string[] = [];
	readonly series = new Series();
	readonly log = new Log();

	/* No run is on. */
	clear(): void {
		this.reset([], []);
		this.started = false;
		this.speed = 0;
	}

	reset(seriesNames: string[], phases: string[]): void {
		this.started = true;
		this.now = this.end = this.events = 0;
		this.managers = [];
		this.lanes = [];
		this.journal = [];
		this.phases = phases;
		this.series.reset(seriesNames);
		this.log.clear();
	}

	state(s: StateFrame): void {
		this.now = Number(s.now);
		this.events = Number(s.events);
		this.managers = s.managers;
		if (this.now < this.end)
			return;
		this.end = this.now;
		s.managers.forEach((m, i) => {
			const lane = (this.lanes[i] ??= []), last = lane.at(-1);
			if (!last || last.state !== m.state || last.phase !== m.phase || last.flags !== m.flags)
				lane.push({ at: this.now, state: m.state, phase: m.phase, flags: m.flags });
		});
	}

	/* States of managers up to this moment as the engine kept them: [manager, from, state, phase, flags]. What was seen of later
	 * moments stays, and what the engine has dropped. */
	setLanes(steps: [number, string, number, number, number][]): void {
		const first = Number(steps[0]?.[1] ?? 0), lanes: LaneStep[][] = [];
		for (const [i, at, state, phase, flags] of steps)
			(lanes[i] ??= []).push({ at: Number(at), state, phase, flags });
		for (let i = 0; i < lanes.length; i++) {
			const seen = this.lanes[i] ?? [];
			this.lanes[i] = [...seen.filter((s) => s.at < first), ...(lanes[i] ?? []), ...seen.filter((s) => s.at > this.now)];
		}
	}

	/* What comes after this moment is no longer true. */
	forgetFuture(at: number): void {
		this.end = Math.min(this.end, at);
		this.lanes = this.lanes.map((l) => l.filter((s) => s.at <= at));
		this.series.forget(at);
		this.log.forget(at);
		this.journal = this.journal.filter((j) => Number(j.at) <= at);
	}
}

/* Points over time; when there are too many, every second one is dropped. */
export class Series {
	names: string[] = [];
	at: number[] = [];
	values: number[][] = [];
	version = 0;

	reset(names: string[]): void {
		this.names = names;
		this.at = [];
		this.values = names.map(() => []);
		this.version++;
	}

	/* whole: all that the engine has kept, in place of what is known of that time. */
	add(points: SeriesPoint[], whole = false): void {
		if (whole && points.length)
			this.cut(Number(points[0]!.at), Number(points.at(-1)!.at), points);
		for (const p of points) {
			const at = Number(p.at);
			if (this.at.length && at <= this.at.at(-1)!)
				continue;
			this.at.push(at);
			this.values.forEach((v, i) => v.push(p.values[i] ?? 0));
		}
		if (this.at.length > MAX_POINTS) {
			const even = (_: unknown, i: number): boolean => i % 2 === 0;
			this.at = this.at.filter(even);
			this.values = this.values.map((v) => v.filter(even));
		}
		this.version++;
	}

	private cut(from: number, to: number, points: SeriesPoint[]): void {
		const keep = (i: number): boolean => this.at[i]! < from, later = (i: number): boolean => this.at[i]! > to;
		const pick = (list: number[], own: (p: SeriesPoint) => number): number[] => [...list.filter((_, i) => keep(i)), ...points.map(own), ...list.filter((_, i) => later(i))];
		this.values = this.values.map((v, k) => pick(v, (p) => p.values[k] ?? 0));
		this.at = pick(this.at, (p) => Number(p.at));
	}

	forget(after: number): void {
		let n = this.at.length;
		while (n > 0 && this.at[n - 1]! > after)
			n--;
		this.at.length = n;
		this.values.forEach((v) => (v.length = n));
		this.version++;
	}
}

export interface LogFilter {
	node: number;
	kind: number;
	method: number;
	attribute: number;
	text: string;
}

export const NO_FILTER: LogFilter = { node: -1, kind: -1, method: -1, attribute: -1, text: '' };

export class Log {
	lines: LogLine[] = [];
	version = 0;

	clear(): void {
		this.lines = [];
		this.version++;
	}

	/* Lines that were seen before (when a moment is run again) have a number that is known. Lines of an earlier moment, which the
	 * run went past without them, take their place. */
	add(lines: LogLine[]): void {
		const newest = this.lines.at(-1)?.seq ?? -1, older = lines.filter((l) => l.seq <= newest && !this.has(l.seq));
		let last = newest;
		for (const l of lines) {
			if (l.seq > last) {
				this.lines.push(l);
				last = l.seq;
			}
		}
		if (older.length)
			this.lines = [...this.lines, ...older].sort((p, q) => p.seq - q.seq);
		if (this.lines.length > MAX_LOG)
			this.lines = this.lines.slice(-Math.floor(MAX_LOG * 0.9));
		this.version++;
	}

	private has(seq: number): boolean {
		let lo = 0, hi = this.lines.length;
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (this.lines[mid]!.seq < seq)
				lo = mid + 1;
			else
				hi = mid;
		}
		return this.lines[lo]?.seq === seq;
	}

	forget(after: number): void {
		const at = BigInt(Math.floor(after));
		this.lines = this.lines.filter((l) => l.at <= at);
		this.version++;
	}

	filtered(f: LogFilter): LogLine[] {
		const text = f.text.toLowerCase();
		if (f.node < 0 && f.kind < 0 && f.method < 0 && f.attribute < 0 && !text)
			return this.lines;
		return this.lines.filter((l) => (f.node < 0 || l.node === f.node) && (f.kind < 0 || l.kind === f.kind) &&
			(f.method < 0 || l.method === f.method) && (f.attribute < 0 || l.attribute === f.attribute) &&
			(!text || l.text.toLowerCase().includes(text)));
	}

	/* Of the last line at or before a time; -1: none. Lines are in order of time. */
	static indexAt(lines: LogLine[], at: number): number {
		let lo = 0, hi = lines.length;
		const t = BigInt(Math.floor(at));
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (lines[mid]!.at <= t)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo - 1;
	}
}
