// SPDX-License-Identifier: BSD-2-Clause
//
// Schedules (docs/simulating.md) as the engine writes them: a page that is loaded again learns from the script what the run
// was made with. Reads, writes nothing.
import type { DocManager } from './document.ts';
import type { JournalEntry } from './run.ts';

export interface Schedule {
	/* words of the generator, or a netlist's file name */
	words: string;
	netlist: string;
	seed: number;
	traps: boolean;
	traffic: string;
	managers: DocManager[];
	journal: JournalEntry[];
}

const PS: Record<string, bigint> = { ps: 1n, ns: 1000n, us: 1000000n, ms: 1000000000n, s: 1000000000000n };

/* "2.5ms" in picoseconds. */
export function timePs(text: string): bigint {
	const m = /^(\d+)(?:\.(\d{1,12}))?(ps|ns|us|ms|s)?$/.exec(text);
	if (!m)
		throw new Error(`expected a time such as 2.5ms, found ${text}`);
	const unit = PS[m[3] ?? 's']!, part = m[2] ?? '';
	return BigInt(m[1]!) * unit + (part ? (BigInt(part) * unit) / 10n ** BigInt(part.length) : 0n);
}

function manager(words: string[]): DocManager {
	const m: DocManager = { node: words[0] ?? '', priority: 0, mechanism: 'weft', start_us: 0, options: '' };
	const more: string[] = [];
	for (let i = 1; i + 1 < words.length; i += 2) {
		const [key, value] = [words[i]!, words[i + 1]!];
		if (key === 'priority')
			m.priority = Number(value);
		else if (key === 'mechanism')
			m.mechanism = value;
		else if (key === 'start')
			m.start_us = Number(timePs(value)) / 1e6;
		else
			more.push(key, value);
	}
	m.options = more.join(' ');
	return m;
}

export function parseSchedule(text: string): Schedule {
	const s: Schedule = { words: '', netlist: '', seed: 1, traps: true, traffic: '', managers: [], journal: [] };
	for (const line of text.split('\n')) {
		const [word, ...rest] = line.trim().split(/\s+/), all = rest.join(' ');
		if (word === 'fabric')
			s.words = all;
		else if (word === 'netlist')
			s.netlist = all.replace(/^"|"$/g, '');
		else if (word === 'seed')
			s.seed = Number(all);
		else if (word === 'traps')
			s.traps = all !== 'off';
		else if (word === 'traffic')
			s.traffic = all;
		else if (word === 'manager')
			s.managers.push(manager(rest));
		else if (word === 'at')
			s.journal.push({ at: timePs(rest[0] ?? ''), text: line.trim().replace(/^at\s+\S+\s+/, '') });
	}
	return s;
}
