// SPDX-License-Identifier: BSD-2-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { FAMILIES, wordsOf } from '../src/generate.ts';
import { parseSchedule, timePs } from '../src/model/schedule.ts';

test('times', () => {
	assert.equal(timePs('2.5ms'), 2500000000n);
	assert.equal(timePs('1489389ns'), 1489389000n);
	assert.equal(timePs('7ps'), 7n);
	assert.equal(timePs('1s'), 1000000000000n);
	assert.throws(() => timePs('noon'));
});

test('a script tells what a run was made with', () => {
	const s = parseSchedule('fabric ring 4 ports 6 seed 0\nseed 7\ntraps off\ntraffic 20us\nuntil 9ms\nmanager 0x0001000000000010 priority 3 start 20ms mechanism basic lmc 1\nat 1.5ms add switch 0x99 8 "x  y"\nat 2ms off 0x0001000000000010\n');
	assert.equal(s.words, 'ring 4 ports 6 seed 0');
	assert.deepEqual([s.seed, s.traps, s.traffic], [7, false, '20us']);
	assert.deepEqual(s.managers, [{ node: '0x0001000000000010', priority: 3, mechanism: 'basic', start_us: 20000, options: 'lmc 1' }]);
	assert.deepEqual(s.journal, [{ at: 1500000000n, text: 'add switch 0x99 8 "x  y"' }, { at: 2000000000n, text: 'off 0x0001000000000010' }]);
	assert.equal(parseSchedule('netlist "a.net"\n').netlist, 'a.net');
});

test('words of a generator', () => {
	const mesh = FAMILIES.find((f) => f.kind === 'mesh')!;
	assert.equal(wordsOf(mesh, ['4', '', '3'], new Map([['hosts', '2'], ['ports', '']])), 'mesh 4 hosts 2');
	assert.equal(new Set(FAMILIES.map((f) => f.kind)).size, 12);
});
