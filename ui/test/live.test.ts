// SPDX-License-Identifier: BSD-2-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveState, type Change, type Vm } from '../src/model/live.ts';
import { bytesText, portCounters } from '../src/pane/counters.ts';

const change = (number: number, began = `2026-01-01T00:00:${String(number).padStart(2, '0')}Z`): Change =>
	({ number, began, cause: 'trap', time_s: 0.1, smps: { all: 1 }, entries: 0, restarts: 0, clean: true, links: [], nodes: [], unlisted: 0 });
const vm = (name: string, host: string, vf: number, running = true): Vm =>
	({ vm: name, guid: '0x02aa', running, lid: 37, host: running ? { guid: `0x${host}`, name: host, vf } : null, node: running ? vf : null });

test('changes are kept once, in order, and as many as are shown', () => {
	const l = new LiveState();
	assert.equal(l.take({ changes: [change(1), change(2)] }), true);
	assert.equal(l.take({ changes: [change(2)] }), false);
	assert.equal(l.take({ changes: [change(3)] }), true);
	assert.deepEqual(l.changes.map((c) => c.number), [1, 2, 3]);
	l.take({ changes: Array.from({ length: 80 }, (_, i) => change(i + 4)) });
	assert.equal(l.changes.length, 50);
	assert.equal(l.changes.at(-1)!.number, 83);
});

test('a manager that was started again counts from 1', () => {
	const l = new LiveState();
	l.take({ changes: [change(7), change(8)] });
	l.take({ changes: [change(1, '2026-01-02T00:00:00Z')] });
	assert.deepEqual(l.changes.map((c) => c.number), [1]);
});

test('moves of virtual machines follow from their places', () => {
	const l = new LiveState();
	l.take({ vms: [vm('web1', 'h1', 1), vm('web2', 'h2', 2)] });
	assert.equal(l.moves.length, 0);
	l.take({ vms: [vm('web1', 'h3', 2), vm('web3', 'h2', 1)] });
	assert.deepEqual(l.moves.map((m) => `${m.vm}: ${m.text}`), ['web1: h1 VF 1 → h3 VF 2', 'web3: started on h2 VF 1', 'web2: destroyed']);
	l.take({ vms: [vm('web1', 'h3', 2, false), vm('web3', 'h2', 1)] });
	assert.equal(l.moves.at(-1)!.text, 'stopped on h3 VF 2');
	assert.deepEqual(l.findVms('WEB3', 5).map((v) => v.vm), ['web3']);
	assert.deepEqual(l.findVms('0x25', 5).length, 2);
	assert.deepEqual(l.findVms('37', 1).length, 1);
	assert.deepEqual(l.findVms('  ', 5), []);
});

test('the connection to the manager', () => {
	const l = new LiveState();
	l.take({ live: 'lost', why: 'gone' });
	assert.equal(l.lost, 'gone');
	l.take({ live: 'connected' });
	assert.equal(l.lost, '');
	assert.deepEqual(l.managers, []);
	assert.equal(l.master, '');
});

test('counters: data and errors', () => {
	const [p] = portCounters(4, { ports: [{ port: 2, counters: [['xmit_data', '250'], ['rcv_data', '250'], ['xmit_wait', '9'], ['uni_xmit', '3'], ['symbol_error', '2'], ['xmit_discards', '1']] }] }, 0);
	assert.deepEqual([p!.node, p!.port, p!.data, p!.errors], [4, 2, 500, 3]);
	assert.deepEqual(portCounters(4, {}, 0), []);
	assert.equal(bytesText(p!.data), '2.0 KB');
	assert.equal(bytesText(0), '0 B');
	assert.equal(bytesText(1e18), '4000000 TB');
});
