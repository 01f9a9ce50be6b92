// SPDX-License-Identifier: BSD-2-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fabric } from '../src/model/fabric.ts';
import { type Member, groupName, notReached, treeOf } from '../src/model/groups.ts';
import { KEPT, type SaCounters, SaLoad } from '../src/model/sa_load.ts';
import { decodeFabric } from '../src/wire/frames.ts';
import { encodeFabric } from './mock/encode.ts';
import { tree2 } from './mock/fabrics.ts';

test('groups of IP over InfiniBand have names', () => {
	assert.equal(groupName('ff12:401b:ffff:0:0:0:ffff:ffff'), 'IPv4 broadcast');
	assert.equal(groupName('ff12:401b:8010:0:0:0:0:1'), 'IPv4 224.0.0.1');
	assert.equal(groupName('ff12:401b:8010:0:0:0:fff:fffa'), 'IPv4 239.255.255.250');
	assert.equal(groupName('ff12:601b:ffff:0:0:0:0:1'), 'IPv6 all nodes');
	assert.equal(groupName('ff12:601b:ffff:0:0:1:ff00:11'), 'IPv6 ff02::1:ff00:11');
	assert.equal(groupName('ff12:a01b:fe80:0:0:0:0:1'), '');
	assert.equal(groupName('a:b'), '');
});

const fabric = (): Fabric => new Fabric(decodeFabric(encodeFabric(tree2(4, 2, 2))));
const guid = (f: Fabric, n: number): string => `0x${f.f.guid[n]!.toString(16)}`;

test('a tree is the links of its ports; members that it misses are found', () => {
	const f = fabric();
	const some = f.f.type.findIndex((t, n) => t === 2 && [...f.links(n)].some((l) => f.f.type[f.peer(l, n)] === 1)), l = [...f.links(some)].find((x) => f.f.type[f.peer(x, some)] === 1)!;
	const host = f.peer(l, some), other = f.f.type.findIndex((t, n) => t === 1 && n !== host);
	const t = treeOf(f, [{ guid: guid(f, some), ports: [0, f.portAt(l, some), 250] }, { guid: '0x99', ports: [1] }]);
	assert.deepEqual([...t.links], [l]);
	assert.deepEqual([...t.nodes].sort(), [some, host].sort());
	assert.equal(t.switches, 1);
	const m = (n: number, full: boolean): Member => ({ guid: '0x1', name: `n${n}`, node: guid(f, n), full, non_member: false, send_only: !full });
	assert.deepEqual(notReached(f, t, [m(host, true), m(other, true), m(other, false), { ...m(other, true), node: null }]).map((x) => x.name), [`n${other}`]);
});

const counters = (by: Record<string, number>): SaCounters => ({ by_attribute: Object.fromEntries(Object.entries(by).map(([k, n]) => [k, { requests: n, answered: n, refused: 0, untrusted: 0, dropped: 0 }])) }) as SaCounters;

test('requests a second by attribute', () => {
	const s = new SaLoad();
	s.add(counters({ A: 10 }), 1);
	assert.deepEqual(s.at, []);
	s.add(counters({ A: 30, B: 4 }), 3);
	assert.deepEqual([s.rate('A'), s.rate('B')], [10, 2]);
	s.add(counters({ A: 30, B: 4, C: 1 }), 4);
	assert.deepEqual([s.rates.get('A'), s.rates.get('B'), s.rates.get('C')], [[10, 0], [2, 0], [0, 1]]);
	assert.deepEqual(s.order(), ['A', 'B', 'C']);
	s.add(counters({ A: 31 }), 4);
	assert.equal(s.at.length, 2);
});

test('a manager that was started again gives no negative rate; the past is bounded', () => {
	const s = new SaLoad();
	s.add(counters({ A: 100 }), 1);
	s.add(counters({ A: 200 }), 2);
	s.add(counters({ A: 5 }), 3);
	s.add(counters({ A: 6 }), 4);
	assert.deepEqual(s.rates.get('A'), [100, 1]);
	for (let i = 0; i < 2 * KEPT; i++)
		s.add(counters({ A: 7 + i }), 5 + i);
	assert.equal(s.at.length, KEPT);
	assert.equal(s.rates.get('A')!.length, KEPT);
});
