// SPDX-License-Identifier: BSD-2-Clause
//
// A fabric that changes while its run is on: nodes, cables and managers; each change is undone and done again, replayed by
// the program with the same hash, found by a page that is loaded again, and brought back after the engine was killed.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Window, assert, dir, eventually, programs, ready, run, same, serve, test } from './lib.mjs';

const known = (name) => ((weft.app.lastState?.node[weft.app.fabric.f.name.indexOf(name)] ?? 0) & 6) === 6;
const journal = () => weft.app.run.journal.map((j) => j.text);

/* The script's hash here and in `weft sim trial`. */
async function replays(w, what) {
	const s = await w.get(() => weft.app.command({ cmd: 'script' }));
	writeFileSync(join(dir, 'run.schedule'), s.text);
	let out;
	try {
		out = run('sim', 'trial', '--replay', 'run.schedule', '--json');
	} catch (e) {
		out = e.stdout; /* a check may fail; the run up to the last fault is what is compared */
	}
	same(what, JSON.parse(out).faults_trace_hash, `0x${s.hash}`);
	return s;
}

/* Processes of the engine: the web process's only child leads the group of all. */
function killEngine(pid) {
	const list = (...args) => {
		try {
			return execFileSync('pgrep', args, { encoding: 'utf8' }).trim().split('\n').map(Number);
		} catch {
			return [];
		}
	};
	for (const child of list('-P', String(pid)))
		for (const p of list('-g', String(child)))
			process.kill(p, 'SIGSEGV');
}

test(async () => {
	const w = await Window.open(await serve());
	await w.until('a fabric comes up', () => weft.app.run.started && weft.app.run.managers.some((m) => m.state === 3));
	await w.get(() => weft.app.generate('ring 4 ports 6'));
	await w.speed(20000);
	await w.get(() => weft.app.start());
	await w.until('another one does', () => weft.app.run.managers.some((m) => m.state === 3));

	await w.keys('2');
	await w.click(await w.place(0.12, 0.2));
	await w.until('a switch is added while it runs', () => weft.app.fabric.f.name.includes('switch 1') && !!weft.app.lastState);
	await w.keys('5');
	await w.click(await w.nodeAt('switch 1'));
	await w.click(await w.nodeAt('sw0'));
	await w.until('the manager finds it behind a new cable', known, 'switch 1');
	await w.keys('3');
	await w.click(await w.place(0.12, 0.8));
	await w.until('a host is added', () => weft.app.fabric.f.name.includes('host 4') && !!weft.app.lastState);
	await w.keys('Escape');
	await w.get(() => weft.app.select(['switch 1', 'host 4'].map((n) => weft.app.fabric.f.name.indexOf(n))));
	await w.keys('c');
	await w.until('and found', known, 'host 4');

	await w.find('host 0');
	await w.keys('f', 'M');
	await w.click(await w.nodeAt('host 2'));
	await w.until('the manager moves to another node, by pointer', () => weft.app.fabric.f.name[weft.app.run.managers[0].node] === 'host 2' && weft.app.run.managers[0].state === 3);
	await w.keys('M');
	await w.find('host 4');
	await w.keys('M');
	await w.until('and to a new one, by keyboard', () => weft.app.fabric.f.name[weft.app.run.managers[0].node] === 'host 4' && weft.app.run.managers[0].state === 3);
	await w.keys('v');
	await w.find('sw2');
	await w.keys('v');
	await w.until('its cable moves', () => weft.app.run.journal.at(-1).text.startsWith('move 0'));
	await w.find('host 4');
	await w.keys('K');
	await w.until('it is paused', () => weft.app.run.managers[0].flags === 1);
	await w.keys('K', 'k');
	await w.until('it is killed', () => weft.app.run.managers[0].flags === 2);
	await w.keys('k');
	await w.until('and started again', () => weft.app.run.managers[0].flags === 0);
	await w.get(() => weft.app.select([], 0));
	await w.until('the pane of a link has fields for loss and delay', () => !!document.querySelector('#pane input[aria-label="SMPs lost, %"]'));
	await w.field('#pane input[aria-label="SMPs lost, %"]', '30');
	await w.until('SMPs are lost on it', () => /^loss 30% /.test(weft.app.run.journal.at(-1).text));
	await w.keys('Escape');
	await w.shot('running');

	await w.pause();
	for (let i = 0; i < 9; i++)
		await w.get(() => weft.app.step('event'));
	await w.get(() => weft.app.event(`unlink ${weft.app.linkWord(1)}`));
	await replays(w, 'weft sim trial repeats it, with a click between two events');

	const done = await w.get(journal);
	await w.keys('Ctrl+Z');
	await w.until('undo takes the last event back', (n) => weft.app.run.journal.length === n && !!weft.app.lastState && weft.app.run.now > 0, done.length - 1);
	await w.keys('Ctrl+Y');
	await w.until('redo brings it again', (n) => weft.app.run.journal.length === n && !!weft.app.lastState && weft.app.run.now > 0, done.length);
	const before = await replays(w, 'both in the script');
	same('the journal is the same', await w.get(journal), done);

	const now = await w.get(() => weft.app.run.now);
	await w.page.reload();
	await ready(w.page);
	await w.until('a page that is loaded again finds its run, paused', () => weft.app.run.started && !!weft.app.lastState && weft.app.run.speed === 0);
	await w.until('at its moment, with its journal', (x) => weft.app.run.now === x.now && weft.app.run.journal.length === x.length, { now, length: done.length });
	same('event by event', await w.get(journal), done);

	killEngine(programs.at(-1).pid);
	await w.until('the page says why the engine ended', () => /SIGSEGV/.test(document.getElementById('alert').textContent));
	await w.shot('ended');
	await w.get(() => document.querySelector('#alert button.main').click());
	await w.until('and brings the run back', () => !weft.app.ended && weft.app.run.started && !!weft.app.lastState);
	await eventually('with the same hash', async () => (await w.get(() => weft.app.command({ cmd: 'script' }))).hash === before.hash);
	assert.equal(await w.get(() => document.getElementById('alert').hidden), true);
});
