// SPDX-License-Identifier: BSD-2-Clause
//
// The sample of Kim et al. (Figs. 5 and 6), built by pointer and keys: one processor host, four I/O hosts, two switches,
// three managers. It runs, has one master and two standbys, its log has the lines of Fig. 6; a link is cut, the master is
// killed, a standby takes over.
import { Window, assert, ok, same, serve, test } from './lib.mjs';

/* Which nodes are linked, in the order of ports: as tests/golden/sample-three-managers.net. */
const LINKS = [['switch 1', 'host 2'], ['switch 1', 'host 1'], ['switch 1', 'host 3'], ['switch 2', 'host 4'], ['switch 2', 'host 5'], ['switch 1', 'switch 2']];
const MANAGERS = [['host 1', 3], ['host 2', 1], ['host 4', 1]];
const FIGURE_6 = [
	'SM 1 port 1 : received a message GetResp(PortInfo) from port 1 on node 1',
	'SM 1 port 1 : sent a message GetInfo(NodeInfo) to node 6',
	'SMI 1 : received a message DR outbound outgoing packet',
	'SMI 1 : sent a message through port 1',
	'SMI 6 : received a message DR inbound outgoing packet',
	'SMI 6 : sent a message - passing to the SMA on port 2',
	'SMA 6 : received a message GetInfo(NodeInfo)',
	'SMA 6 : sent a message GetResp(NodeInfo)',
	'SMI 6 : received a message DR outbound returning packet',
	'SMI 6 : sent a message through port 2',
	'SMI 1 : received a message DR inbound returning packet',
	'SM 1 port 1 : received a message GetResp(NodeInfo) from port 2 on node 6',
];

async function build(w) {
	await w.keys('Alt+n');
	await w.until('a new fabric is empty', () => weft.app.fabric.nnodes === 0);
	same('the hint about the first fabric is gone', await w.get(() => document.getElementById('hint').hidden), true);
	await w.keys('3');
	for (const [x, y] of [[0.25, 0.2], [0.2, 0.8], [0.4, 0.8], [0.6, 0.8], [0.8, 0.8]])
		await w.click(await w.place(x, y));
	await w.keys('2');
	for (const [x, y] of [[0.3, 0.5], [0.7, 0.5]])
		await w.click(await w.place(x, y));
	await w.until('five hosts and two switches are placed', () => weft.app.fabric.nnodes === 7);
	await w.keys('5');
	for (const [i, [a, b]] of LINKS.entries()) {
		await w.click(await w.nodeAt(a));
		await w.click(await w.nodeAt(b));
		await w.until(`${a} and ${b} are linked`, (k) => weft.app.fabric.nlinks === k + 1, i);
	}
	await w.keys('6');
	for (const [node] of MANAGERS)
		await w.click(await w.nodeAt(node));
	await w.until('three managers are placed', () => weft.app.editor.doc.managers.size === 3);
	await w.keys('Escape');
	await priorities(w);
}

async function priorities(w) {
	await w.pane('Managers');
	for (const [i, [node, priority]] of MANAGERS.entries()) {
		await w.field(`#pane .card:nth-of-type(${i + 1}) input[aria-label=Priority]`, String(priority));
		await w.until(`the manager on ${node} has priority ${priority}`, (k, p) => [...weft.app.editor.doc.managers.values()][k].priority === p, i, priority);
	}
	await w.page.focus('#gl');
}

async function figure6(w) {
	const lines = await w.get(() => weft.app.run.log.lines.map((l) => l.text));
	let at = 0;
	for (const l of lines)
		at += l === FIGURE_6[at];
	assert.equal(at, FIGURE_6.length, `the log has no line '${FIGURE_6[at]}' after the one before it`);
	ok('the log has the lines of Fig. 6');
	await w.page.type('.filters input[type=search]', 'GetInfo(NodeInfo) to node 6');
	await w.until('a filter shows one of them', () => [...document.querySelectorAll('.ln')].some((e) => e.textContent.includes('SM 1 port 1 : sent a message GetInfo(NodeInfo) to node 6')));
	await w.keys('Escape');
	await w.page.evaluate(() => {
		const e = document.querySelector('.filters input[type=search]');
		e.value = '';
		e.dispatchEvent(new Event('input'));
	});
}

async function breakLink(w) {
	await w.click(await w.linkAt('switch 1', 'host 3'), { button: 'right' });
	await w.until('the menu of a link opens', () => !document.getElementById('menu').hidden);
	await w.keys('Enter');
	await w.until('the link is cut', () => weft.app.run.journal.some((j) => j.text.startsWith('unlink')));
	await w.until('the master knows one node less', () => weft.app.lastState.node.filter((s) => s & 4).length === 6);
}

async function killMaster(w) {
	await w.keys('Escape', 'Escape');
	await w.keys('k');
	await w.until('the master is killed', () => weft.app.run.managers[0].flags & 2);
	await w.until('the standby with the lower GUID takes over', () => weft.app.run.managers[1].state === 3 && weft.app.run.phases[weft.app.run.managers[1].phase] === 'ready');
	same('the other one stays standby', await w.get(() => weft.app.run.managers[2].state), 2);
	await w.until('the lanes show it', () => weft.app.run.lanes[1].at(-1).state === 3 && weft.app.run.lanes[0].at(-1).flags === 2);
}

test(async () => {
	const w = await Window.open(await serve());
	await w.until('a fabric comes up by itself', () => weft.app.run.started && weft.app.run.managers.some((m) => m.state === 3));
	await w.shot('first');
	await w.pause();
	await build(w);
	await w.speed(2000);
	await w.keys('Space');
	await w.until('one master and two standbys', () => weft.app.run.managers.map((m) => m.state).join() === '3,2,2' && weft.app.run.phases[weft.app.run.managers[0].phase] === 'ready');
	await w.until('all links are active', () => weft.app.lastState.link.filter((_, i) => i % 3 === 0).every((s) => s === 3));
	await figure6(w);
	await w.speed(20000);
	await w.shot('sample');
	await breakLink(w);
	await killMaster(w);
	await w.shot('takeover');
	w.quiet();
});
