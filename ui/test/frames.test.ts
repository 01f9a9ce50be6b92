// SPDX-License-Identifier: BSD-2-Clause
//
// Frames: what the engine writes is read as it was; damaged frames are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as W from '../src/wire/frames.ts';
import * as E from './mock/encode.ts';
import { generate } from './mock/fabrics.ts';
import { Replies } from '../src/wire/engine.ts';
import { Run } from '../src/model/run.ts';

const small: E.FabricData = {
	nodes: [
		{ guid: 0x0002000000000001n, x: 1.5, y: -2, name: 'leaf "0" ü', nports: 36, type: 2, level: 1, group: 0 },
		{ guid: 0xffffffffffffffffn, x: 0, y: 3, name: 'host 0', nports: 1, type: 1, level: 2, group: W.NONE },
	],
	links: [{ a: 0, b: 1, pa: 7, pb: 1, width: 2, speed: 5 }],
	groups: [{ x0: 0, y0: 1, x1: 2, y1: 3, name: 'pod 0', parent: W.NONE }],
};

test('a FABRIC frame gives nodes, links and groups', () => {
	const f = W.decodeFabric(E.encodeFabric(small, 9));
	assert.equal(f.version, 9);
	assert.deepEqual(f.name, ['leaf "0" ü', 'host 0']);
	assert.equal(f.guid[1], 0xffffffffffffffffn);
	assert.deepEqual([f.x[0], f.y[0], f.nports[0], f.type[0], f.level[0], f.group[0], f.group[1]], [1.5, -2, 36, 2, 1, 0, W.NONE]);
	assert.deepEqual([f.a[0], f.b[0], f.pa[0], f.pb[0], f.width[0], f.speed[0]], [0, 1, 7, 1, 2, 5]);
	assert.deepEqual(f.groups[0], { x0: 0, y0: 1, x1: 2, y1: 3, name: 'pod 0', parent: W.NONE });
});

test('a FABRIC frame that is cut short is refused', () => {
	const bytes = E.encodeFabric(small);
	for (let n = 8; n < bytes.length - 4; n += 5)
		assert.throws(() => W.decodeFabric(bytes.subarray(0, n)), W.FrameError);
});

test('a link to a node that does not exist is refused', () => {
	const bad = { ...small, links: [{ ...small.links[0]!, b: 2 }] };
	assert.throws(() => W.decodeFabric(E.encodeFabric(bad)), /joins nodes 0 and 2/);
});

test('a group that is its own parent, or has one that does not exist, has none', () => {
	const f = W.decodeFabric(E.encodeFabric({ ...small, groups: [{ ...small.groups[0]!, parent: 0 }, { ...small.groups[0]!, parent: 7 }] }));
	assert.deepEqual(f.groups.map((g) => g.parent), [W.NONE, W.NONE]);
});

test('a STATE frame gives states by node and link, and managers', () => {
	const node = Uint8Array.from([1, 3, 7]), link = Uint8Array.from([3, 10, 20, 4, 0, 0, 1, 2, 3]);
	const s = W.decodeState(E.encodeState(123456789012345n, 42n, 5, node, link, [{ node: 2, state: 3, phase: 4, flags: 1, priority: 9 }]), 3, 3);
	assert.equal(s.now, 123456789012345n);
	assert.equal(s.events, 42n);
	assert.deepEqual([...s.node], [1, 3, 7]);
	assert.deepEqual([...s.link], [...link]);
	assert.deepEqual(s.managers, [{ node: 2, state: 3, phase: 4, flags: 1, priority: 9 }]);
	assert.throws(() => W.decodeState(E.encodeState(0n, 0n, 0, node, link, []), 30, 30), W.FrameError);
});

test('SMPs on links that do not exist are left out', () => {
	const one = { start: 5000000n, ns: 300, link: 1, direction: 1, method: 0x81, attribute: 0x11, seq: 7 };
	const f = W.decodeFlights(E.encodeFlights(W.KIND.SMPS, [one, { ...one, link: 9 }]), 2);
	assert.equal(f.n, 1);
	assert.deepEqual([f.start[0], f.duration[0], f.link[0], f.direction[0], f.method[0], f.attribute[0], f.seq[0]], [5000000, 300000, 1, 1, 0x81, 0x11, 7]);
});

test('LOG, SERIES and LOADS frames', () => {
	const lines = [{ seq: 1, at: 10n, node: 3, port: 1, kind: 0, method: 1, attribute: 0x15, text: 'sent Get(PortInfo)' }, { seq: 2, at: 11n, node: 0, port: 0, kind: 4, method: 0, attribute: 0, text: 'é' }];
	assert.deepEqual(W.decodeLog(E.encodeLog(lines)), lines);
	const points = W.decodeSeries(E.encodeSeries([{ at: 1n, values: [1, 2] }, { at: 2n, values: [3, 4.5] }]), 2);
	assert.deepEqual(points.map((p) => [p.at, ...p.values]), [[1n, 1, 2], [2n, 3, 4.5]]);
	const loads = W.decodeLoads(E.encodeLoads(1, [5, 6], [7, 8]), 2);
	assert.deepEqual([[...loads.ab], [...loads.ba]], [[5, 6], [7, 8]]);
});

test('a stream in pieces of any size gives the same frames', () => {
	const frames = [E.encodeJson({ hello: 1 }), E.encodeFabric(small), E.encodeLog([])], all = new Uint8Array(frames.reduce((n, f) => n + f.length, 0));
	frames.reduce((at, f) => (all.set(f, at), at + f.length), 0);
	for (const size of [1, 3, 7, 64, 4096]) {
		const got: Uint8Array[] = [], s = new W.FrameSplitter((f) => got.push(f.slice()));
		for (let i = 0; i < all.length; i += size)
			s.push(all.slice(i, i + size));
		assert.deepEqual(got.map((f) => [...f]), frames.map((f) => [...f]));
	}
	assert.throws(() => new W.FrameSplitter(() => {}).push(new Uint8Array([1, 0, 0, 0, 1, 0, 0, 0])), W.FrameError);
	assert.throws(() => new W.FrameSplitter(() => {}).push(new Uint8Array(8).fill(255)), W.FrameError);
});

test('JSON frames must be objects', () => {
	assert.deepEqual(W.decodeJson(E.encodeJson({ a: 1 })), { a: 1 });
	assert.throws(() => W.decodeJson(E.encodeJson([1])), W.FrameError);
});

test('replies find their commands, errors reject', async () => {
	const r = new Replies(), a = r.add(), b = r.add(), c = r.add();
	assert.equal(r.take({ re: b.id, ok: true, x: 1 }), true);
	assert.equal(r.take({ re: a.id, error: 'no such node' }), true);
	assert.equal(r.take({ hello: {} }), false);
	assert.equal((await b.promise)['x'], 1);
	await assert.rejects(a.promise, /no such node/);
	r.failAll('closed');
	await assert.rejects(c.promise, /closed/);
});

test('made-up fabrics are whole', () => {
	const f = W.decodeFabric(E.encodeFabric(generate('pods 6 3')));
	assert.equal(f.type.filter((t) => t === 1).length, 54);
	assert.equal(f.nlinks, 54 * 3);
});

test('lanes of managers come from the engine up to the moment, and stay beyond it', () => {
	const r = new Run(), at = (now: bigint, state: number) => r.state({ now, events: 0n, version: 1, node: new Uint8Array(0), link: new Uint8Array(0), managers: [{ node: 0, state, phase: 0, flags: 0, priority: 0 }] });
	r.reset([], []);
	at(0n, 1);
	at(100n, 3);
	at(900n, 2);
	at(500n, 3);
	r.setLanes([[0, '0', 1, 0, 0], [0, '20', 1, 2, 0], [0, '60', 3, 4, 0]]);
	assert.deepEqual(r.lanes[0]!.map((s) => [s.at, s.state]), [[0, 1], [20, 1], [60, 3], [900, 2]]);
	r.setLanes([]);
	assert.equal(r.lanes[0]!.length, 4);
});
