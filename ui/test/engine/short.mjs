// SPDX-License-Identifier: BSD-2-Clause
//
// One short run against an engine under sanitizers: a fabric comes up, loses a switch, goes back in time; the program ends
// without a report of theirs.
import { Window, run, same, serve, test } from './lib.mjs';

test(async () => {
	run('topo', 'gen', 'mtree', '4', '2', '-o', 'tree.net');
	const w = await Window.open(await serve('tree.net'));
	await w.until('the file is on screen', () => weft.app.fabric?.nnodes === 14);
	await w.speed(20000);
	await w.keys('Space');
	await w.until('it comes up', () => weft.app.run.managers.some((m) => m.state === 3) && weft.app.lastState.link.filter((_, i) => i % 3 === 0).every((s) => s === 3));
	await w.find('root1');
	await w.keys('p');
	await w.until('a switch loses its power', () => weft.app.lastState.node[weft.app.node] === 0);
	await w.pause();
	const last = await w.moment();
	await w.keys('Home');
	await w.until('the run goes back', () => weft.app.run.now === 0);
	await w.keys('End');
	await w.until('and forward', (t) => String(weft.app.lastState.now) === t, last.now);
	same('to the same moment', await w.moment(), last);
	await w.page.reload();
	await w.until('a page that is loaded again finds its run', (t) => weft.app.run.started && String(weft.app.lastState?.now) === t, last.now);
	same('as it was', await w.moment(), last);
	w.quiet();
});
