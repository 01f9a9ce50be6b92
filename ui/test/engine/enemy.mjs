// SPDX-License-Identifier: BSD-2-Clause
//
// Fabrics and habits that no one plans for: odd fabrics of many seeds, switches with 254 ports, very long names; two pages on one
// server, a page that is loaded again while its run goes, a fault after going back, a journal given twice, what-ifs that are cancelled.
import { Client } from '../client.mjs';
import { Window, assert, ok, same, serve, test } from './lib.mjs';

const LONG = 'rack 17 '.repeat(500);
const wide = () => {
	const hosts = Array.from({ length: 250 }, (_, i) => (i + 1).toString(16).padStart(16, '0'));
	return `Switch\t254 "S-0002000000000001"\t# "${LONG}"\n${hosts.map((h, i) => `[${i + 1}]\t"H-${h}"[1]\n`).join('')}\n${hosts.map((h, i) => `Ca\t1 "H-${h}"\t# "${i === 7 ? LONG : `h ${i}`}"\n[1]\t"S-0002000000000001"[${i + 1}]\n`).join('\n')}`;
};

/* Without a browser: whatever the fabric is, the run begins, ends a while later, and goes back. */
async function oddFabrics(url) {
	const c = await new Client(url, 'odd').open();
	for (let seed = 1; seed <= 40; seed++) {
		const r = await c.ask({ cmd: 'generate', words: `odd 12 seed ${seed}` });
		assert.ok(!r.error, `odd --seed ${seed}: ${r.error}`);
		await c.command({ cmd: 'speed', speed: 0 });
		const s = await c.ask({ cmd: 'start' });
		assert.ok(!s.error || /host|manager|port/.test(s.error), `odd --seed ${seed}: ${s.error}`);
		if (s.error)
			continue;
		await c.go(20000000000n);
		await c.go(1000000000n);
		const q = await c.ask({ cmd: 'series' });
		assert.ok(Array.isArray(q.lanes) && q.lanes.length > 0, `odd --seed ${seed} has no lanes`);
	}
	c.close();
	ok('odd fabrics of 40 seeds run, and go back');
}

/* The same faults twice are there once; a fault after going back drops what came later. */
async function twice(url) {
	const c = await new Client(url, 'twice').open(), events = [{ at: '3000000000', text: 'off root0' }, { at: '5000000000', text: 'on root0' }];
	await c.begin('mtree 4 2');
	await c.command({ cmd: 'journal', events });
	await c.go(8000000000n);
	const hash = (await c.command({ cmd: 'script' })).hash;
	same('a journal that has happened has nothing to come', (await c.command({ cmd: 'journal', events: [...events, ...events] })).to_come, 0);
	await c.command({ cmd: 'start', events });
	await c.go(8000000000n);
	same('and gives the same run', (await c.command({ cmd: 'script' })).hash, hash);
	await c.go(4000000000n);
	await c.command({ cmd: 'event', text: 'off leaf1' });
	await c.go(8000000000n);
	same('another fault after going back drops the later one', (await c.command({ cmd: 'series' })).journal.map((j) => j.text.split(' ')[0]), ['off', 'off']);
	c.close();
}

/* What-ifs tell how far they are, can be cancelled, and keep nothing waiting. */
async function whatIfs(url) {
	const c = await new Client(url, 'whatifs').open(), kill = '0x0002000000000014', error = async (command) => (await c.ask(command)).error;
	await c.begin('mtree 16 3');
	same('names of jobs are text', await error({ cmd: 'whatif', kill, job: 7 }), 'job: expected text');
	same('and short', await error({ cmd: 'whatif', kill, job: 'x'.repeat(41) }), 'job: expected at most 40 characters');
	same('there is nothing to cancel', [(await c.command({ cmd: 'cancel' })).cancelled, (await c.command({ cmd: 'cancel', job: 'a' })).cancelled], [0, 0]);
	const five = Array.from({ length: 5 }, () => error({ cmd: 'whatif', kill, job: 'a' }));
	assert.match(await five[4], /too many/);
	ok('four at once, not five');
	await c.command({ cmd: 'go', at: '1000000' });
	same('all of a name are cancelled', (await c.command({ cmd: 'cancel', job: 'a' })).cancelled, 4);
	same('and say so', await Promise.all(five.slice(0, 4)), ['cancelled', 'cancelled', 'cancelled', 'cancelled']);
	const reply = await c.command({ cmd: 'whatif', kill, job: 'a"b' }), told = c.frames.map((f) => f.progress).filter((p) => p?.job === 'a"b');
	assert.ok(reply.figures.length > 5 && told.length > 2, `${told.length} frames of progress`);
	same('progress goes up to what is expected', told.every((p, i) => p.events < p.expected && (i === 0 || p.events > told[i - 1].events)), true);
	assert.ok(told[0].expected < 3 * told.at(-1).events && told[0].expected > told.at(-1).events / 3, `${told[0].expected} events expected, ${told.at(-1).events} seen`);
	ok('the guess is right within a factor of three');
	c.close();
}

test(async () => {
	const url = await serve(), w = await Window.open(url), { page } = w;
	await w.until('the first fabric comes up', () => weft.app.run.managers.some((m) => m.state === 3));
	await w.pause();
	const other = await w.tab(`${url}&session=second`);
	await other.until('another page has a run of its own', () => weft.app.run.started);
	await other.pause();
	const still = await other.get(() => weft.app.run.now);
	await oddFabrics(url);
	await twice(url);
	await whatIfs(url);
	same('a page that is paused stays where it is', await other.get(() => weft.app.run.now), still);
	await other.close();

	await page.reload();
	await w.until('a page that is loaded again finds its run', () => weft.app?.run.started && weft.app.run.lanes[0]?.some((s) => s.state === 3));
	await w.get((text) => weft.app.open(text, 'wide.net'), wide());
	await w.until('a switch with 254 ports and long names is there', () => weft.app.fabric.nnodes === 251);
	await w.keys('Space');
	await w.pause();
	await w.advance('it comes up', 2e10, () => weft.app.run.managers.some((m) => m.state === 3) && weft.app.lastState.node.every((v) => v & 2));
	await w.advance('connectivity is that of the subnet at rest', 2e10, () => weft.app.run.series.values[weft.app.run.series.names.indexOf('connectivity')].at(-1) === 100);
	same('labels stay short', await w.get(() => weft.view.placedLabels().every((l) => l.text.length <= 40)), true);
	await w.get(() => weft.app.select([0]));
	await w.until('the pane shows all ports', () => document.querySelectorAll('#pane tr').length > 250);
	same('and is no wider than its place', await w.get(() => document.querySelector('#pane .body').scrollWidth <= document.querySelector('#pane .body').clientWidth + 1), true);
	await w.shot('enemy');
	w.quiet();
});
