// SPDX-License-Identifier: BSD-2-Clause
//
// Commands for two engines whose frames must be the same: fabrics of each shape, managers, traffic, faults, questions.
import { readFileSync } from 'node:fs';

const c = (cmd, more = {}) => JSON.stringify({ cmd, id: cmd, ...more });
const work = (events, times, wall = 33333) => `work ${wall} ${events} ${times}`;
const max = c('speed', { speed: 'max' });
const questions = (n) => [c('node', { node: n }), c('route', { from: 0, to: n }), c('tree', { node: n }), c('loads'), c('series'),
	c('users', { port: { node: n, port: 1 } }), c('find', { text: '3' }), c('netlist')];

/* Every shape of fabric: layout, cold start, routes. */
const shapes = ['mtree 8 2', 'kary 3 3', 'clos 4 4 6', 'mesh 4 5', 'torus 4 4 3 hosts 1', 'hypercube 4', 'dragonfly 2 4 2', 'fullmesh 6', 'ring 7', 'star 5',
	'irregular 24 hosts 30 seed 7', 'irregular 60 ports 6 hosts 50 seed 11', 'odd 12 seed 3', 'mtree 4 2 vfs 2'];
export const scenes = shapes.map((words) => ({
	name: words,
	lines: [c('generate', { words }), max, c('log', { on: true }), c('start'), work(20000, 8), ...questions(2), c('mad', { seq: 5 })],
}));

scenes.push({
	name: 'tree under load, a switch and a link fail',
	lines: [c('generate', { words: 'mtree 8 3' }), c('setup', { load: 20, seed: 5 }), max, c('start'), work(100000, 3), c('event', { text: 'off S-0002000000000003' }), work(50000, 4),
		c('event', { text: 'unlink S-0002000000000009[1]' }), work(50000, 4), c('event', { text: 'on S-0002000000000003' }), work(100000, 3), ...questions(9)],
});
scenes.push({
	name: 'a switch fails and comes back under traffic',
	replay: true,
	lines: [c('generate', { words: 'mtree 4 3' }), c('setup', { traffic: '200us', seed: 3 }), max, c('start'), work(10000, 1), c('event', { text: 'off S-0002000000000003' }), work(10000, 1),
		c('event', { text: 'unlink S-0002000000000005[1]' }), work(5000, 2), c('event', { text: 'on S-0002000000000003' }), work(10000, 2), ...questions(9)],
});
scenes.push({
	name: 'three managers, losses, a crash, steps and speeds',
	replay: true,
	lines: [c('generate', { words: 'irregular 16 hosts 20 seed 4' }), c('setup', { managers: [{ node: 0, priority: 5 }, { node: 3, priority: 2, start_us: 300 }, { node: 6, mechanism: 'improved', poll: '5ms' }], traffic: '300us', seed: 9 }),
		c('speed', { speed: 500 }), c('start'), c('event', { text: 'loss 3%' }), ...Array.from({ length: 20 }, () => work(20000, 3)), c('step', { what: 'smp' }), work(1000, 2),
		c('step', { what: 'phase' }), work(100000, 9), c('step', { what: 'event' }), work(10, 1), c('event', { text: 'crash 0' }), max, work(50000, 8), c('event', { text: 'restart 0 with-lids' }),
		c('go', { at: '90000000000' }), work(50000, 100), c('event', { text: 'loss 0%' }), max, work(50000, 4), ...questions(1)],
});
const netlist = readFileSync(new URL('../../../tests/data/cluster-hdr.net', import.meta.url), 'utf8');
scenes.push({
	name: 'a file, and what is not a command',
	netlist,
	replay: true,
	lines: [c('open', { netlist, name: 'thesis.net' }), '{', '[]', '{"cmd":"nothing","id":7}', c('open', { netlist: 'Switch 3 "S-1"\n[9]' }), c('node', { node: 'none' }), '{"cmd":"go","at":-1}', '{"cmd":"speed","speed":1e400}',
		'{"cmd":"step","what":"\\u0000"}', '{"cmd":"start","cmd":"stop"}', c('open', { netlist, name: 'thesis.net' }), c('speed', { speed: 2500.5 }), c('start'), work(20000, 200), c('whatif', { kill: 3, load: 20 }), ...questions(4)],
});
