// SPDX-License-Identifier: BSD-2-Clause
//
// The document: edits, undo and redo, copy and paste, netlist text in and out, links that restore it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Doc, Editor } from '../src/model/document.ts';
import { parseNetlist, writeNetlist } from '../src/model/netlist.ts';
import { fabricOfDoc } from '../src/model/doc_fabric.ts';
import { Fabric } from '../src/model/fabric.ts';
import { fromFragment, toFragment } from '../src/model/share.ts';
import { Log, Run } from '../src/model/run.ts';
import { keyName } from '../src/commands.ts';
import { clockText, scheduleTime, timeText } from '../src/model/iba.ts';

const plain = (d: Doc): unknown => [[...d.nodes], [...d.links], [...d.managers], [...d.at]];

function sample(): Editor {
	const e = new Editor();
	const s = e.addNode(2, { x: 0, y: 0 }), a = e.addNode(1, { x: -1, y: 1 }), b = e.addNode(1, { x: 1, y: 1 });
	e.addLink({ node: s.guid, port: 0 }, { node: a.guid, port: 0 });
	e.addLink({ node: s.guid, port: 5 }, { node: b.guid, port: 1 }, '4xEDR', '3m');
	e.setManager(a.guid, { priority: 3 });
	return e;
}

test('each edit can be undone and redone', () => {
	const e = sample(), states = [plain(structuredClone(e.doc))], titles: string[] = [];
	while (e.canUndo) {
		titles.push(e.undo()!);
		states.push(plain(structuredClone(e.doc)));
	}
	assert.deepEqual(titles, ['add a manager', 'add a link', 'add a link', 'add host 2', 'add host 1', 'add switch 1']);
	assert.equal(e.doc.nodes.size, 0);
	for (let i = states.length - 2; i >= 0; i--) {
		e.redo();
		assert.deepEqual(plain(e.doc), states[i]);
	}
	assert.equal(e.redo(), null);
});

test('a new edit drops what was undone', () => {
	const e = sample();
	e.undo();
	e.addNode(3, null);
	assert.equal(e.canRedo, null);
});

test('a node takes its links, manager and position with it, and undo brings them back', () => {
	const e = sample(), before = plain(structuredClone(e.doc)), host = [...e.doc.managers.keys()][0]!;
	e.removeNode(host);
	assert.equal(e.doc.links.size, 1);
	assert.equal(e.doc.managers.size, 0);
	e.undo();
	assert.deepEqual(plain(e.doc), before);
});

test('what cannot be is refused with a sentence, and nothing changes', () => {
	const e = sample(), [s, a, b] = [...e.doc.nodes.keys()] as [string, string, string], before = plain(structuredClone(e.doc));
	assert.throws(() => e.addLink({ node: a, port: 0 }, { node: b, port: 0 }), /host 1 has no free port/);
	assert.throws(() => e.addLink({ node: s, port: 1 }, { node: s, port: 2 }), /needs two nodes/);
	assert.throws(() => e.addLink({ node: s, port: 5 }, { node: e.freeGuid(1), port: 0 }), /port 5 of switch 1 has a cable/);
	assert.throws(() => e.setNode(s, { ports: 4 }), /port 5 has a cable/);
	assert.throws(() => e.edit('both', () => {
		e.removeNode(a);
		throw new Error('no');
	}), /no/);
	assert.deepEqual(plain(e.doc), before);
});

test('copies have GUIDs and names of their own', () => {
	const e = sample(), all = [...e.doc.nodes.keys()], made = e.paste(e.copy(all), { x: 5, y: 5 });
	assert.equal(e.doc.nodes.size, 6);
	assert.equal(e.doc.links.size, 4);
	assert.equal(e.doc.managers.size, 2);
	assert.equal(new Set([...e.doc.nodes.values()].map((n) => n.name)).size, 6);
	assert.deepEqual(e.doc.at.get(made[0]!), { x: 5, y: 5 });
	e.undo();
	assert.equal(e.doc.nodes.size, 3);
});

test('a manager on what is no node of the document is not copied', () => {
	const e = sample(), vf = '0x00010000000000f1';
	e.setManager(vf, {});
	e.paste(e.copy([...e.doc.nodes.keys(), vf]), { x: 5, y: 5 });
	assert.equal(e.doc.managers.size, 3);
	assert.ok([...e.doc.managers.values()].every((m) => typeof m.node === 'string'));
});

test('a netlist is read back as it was written', () => {
	const e = sample();
	e.setNode([...e.doc.nodes.keys()][1]!, { name: 'node "x"', vfs: 4, lmc: 2 });
	const text = writeNetlist(e.doc), back = parseNetlist(text);
	assert.equal(writeNetlist(back), text);
	assert.equal(back.links.size, 2);
	assert.deepEqual([...back.links.values()].find((l) => l.rate === '4xEDR')?.length, '3m');
	assert.deepEqual([...back.nodes.values()].map((n) => [n.type, n.ports, n.vfs]), [[2, 8, 0], [1, 1, 4], [1, 1, 0]]);
	assert.deepEqual(back.at, e.doc.at);
});

test('sizes of tables are written and read, and bounded', () => {
	const e = sample(), sw = [...e.doc.nodes.values()].find((n) => n.type === 2)!.guid;
	e.setNode(sw, { linear: 1024, mcast: 64 });
	assert.match(writeNetlist(e.doc), /\nlinearcap=1024\nmcastcap=64\nSwitch\t/);
	e.setNode(sw, { linear: 0, random: 32 });
	const n = parseNetlist(writeNetlist(e.doc)).nodes.get(sw)!;
	assert.deepEqual([n.linear, n.random, n.mcast], [0, 32, 64]);
	assert.throws(() => e.setNode(sw, { linear: 49153 }), /1 to 49152/);
	assert.throws(() => e.setNode(sw, { mcast: -1 }), /1 to 16384/);
	assert.throws(() => e.setNode(sw, { random: NaN }), /1 to 65535/);
});

test('text of weft topo gen is read', () => {
	const doc = parseNetlist(`# 1 switches, 1 hosts, 0 routers, 1 links

vendid=0x0
devid=0x0
sysimgguid=0x2000000000001
switchguid=0x2000000000001(2000000000001)
Switch	4 "S-0002000000000001"		# "leaf0" base port 0 lid 0 lmc 0
[1]	"H-0001000000000010"[1](1000000000011)		# "host 0" lid 0 4xQDR 2m

vendid=0x0
devid=0x0
sysimgguid=0x1000000000013
caguid=0x1000000000010
sriov=vswitch vfs=2
Ca	1 "H-0001000000000010"		# "host 0"
[1](1000000000011)	"S-0002000000000001"[1]		# lid 0 lmc 1 "leaf0" lid 0 4xQDR 2m
`);
	assert.deepEqual([...doc.nodes.values()].map((n) => [n.guid, n.name, n.ports, n.vfs, n.lmc]), [['0x0002000000000001', 'leaf0', 4, 0, 0], ['0x0001000000000010', 'host 0', 1, 2, 1]]);
	assert.deepEqual([...doc.links.values()], [{ a: { node: '0x0001000000000010', port: 1 }, b: { node: '0x0002000000000001', port: 1 }, rate: '4xQDR', length: '2m' }]);
});

test('a document can be drawn', () => {
	const f = new Fabric(fabricOfDoc(sample().doc, null));
	assert.equal(f.nnodes, 3);
	assert.equal(f.freePort(0), 2);
	assert.equal(f.linkAt(0, 5), 1);
	assert.deepEqual(f.find('host', 5), [1, 2]);
	assert.equal(f.nodeNear(0.9, 1.1, 0.5), 2);
	assert.equal(f.nodeTowards(0, 1, 0), 2);
	assert.equal(f.linkNear(-0.5, 0.5, 0.1), 0);
});

test('a link restores all that it holds, and a damaged one is refused', async () => {
	const shared = { netlist: 'Switch 4 "S"\n'.repeat(500), name: 'a b&c', setup: '{"managers":[]}', journal: [{ at: '12500000', text: 'unlink S-0002000000000001[3]' }, { at: '99', text: 'off X' }], at: '99000', view: [1.5, -2, 30] as [number, number, number], select: '0x01' };
	const f = await toFragment(shared);
	assert.ok(f.length < 400, `${f.length}`);
	assert.deepEqual(await fromFragment(f), shared);
	assert.deepEqual(await fromFragment('#g=mtree+8+2'), { words: 'mtree 8 2' });
	assert.equal(await fromFragment(''), null);
	await assert.rejects(async () => fromFragment(f.replace('n=', 'n=AAAA')));
});

test('a run forgets the future when the journal changes', () => {
	const r = new Run();
	r.reset(['SMPs'], []);
	r.series.add([{ at: 10n, values: Float32Array.of(1) }, { at: 20n, values: Float32Array.of(2) }, { at: 20n, values: Float32Array.of(9) }]);
	const line = { seq: 1, at: 5n, node: 0, port: 0, kind: 0, method: 1, attribute: 0x11, text: 'x' };
	r.log.add([line, { ...line, seq: 2, at: 15n }, { ...line, seq: 3, at: 25n }]);
	r.log.add([{ ...line, seq: 2, at: 15n }]);
	assert.equal(r.log.lines.length, 3);
	assert.equal(Log.indexAt(r.log.lines, 15), 1);
	r.forgetFuture(15);
	assert.deepEqual(r.series.at, [10]);
	assert.deepEqual(r.log.lines.map((l) => l.seq), [1, 2]);
	r.series.add([{ at: 20n, values: Float32Array.of(2) }, { at: 30n, values: Float32Array.of(3) }]);
	r.series.add([{ at: 5n, values: Float32Array.of(7) }, { at: 20n, values: Float32Array.of(8) }], true);
	assert.deepEqual([r.series.at, r.series.values[0]], [[5, 20, 30], [7, 8, 3]]);
});

test('lines of a moment before those that are known take their place', () => {
	const r = new Run(), line = { seq: 1, at: 5n, node: 0, port: 0, kind: 0, method: 1, attribute: 0x11, text: 'x' };
	const lines = (...seq: number[]): (typeof line)[] => seq.map((n) => ({ ...line, seq: n, at: BigInt(10 * n) }));
	r.log.add(lines(7, 8, 9));
	r.log.add(lines(2, 3, 8, 9, 10));
	r.log.add(lines(3, 4));
	assert.deepEqual(r.log.lines.map((l) => l.seq), [2, 3, 4, 7, 8, 9, 10]);
});

test('names of keys, texts of times', () => {
	const key = (k: string, mods = ''): string => keyName({ key: k, ctrlKey: mods.includes('c'), metaKey: false, altKey: mods.includes('a'), shiftKey: mods.includes('s') });
	assert.deepEqual([key('z', 'c'), key('Z', 'cs'), key('?', 's'), key(' ', 's'), key('ArrowUp', 's'), key('n', 'a')], ['Ctrl+Z', 'Ctrl+Shift+Z', '?', 'Shift+Space', 'Shift+ArrowUp', 'Alt+N']);
	assert.equal(timeText(12345678), '12.35 µs');
	assert.equal(clockText(12345678000), '0.012 345 678 s');
	assert.equal(scheduleTime(12500000000n), '12500us');
});
