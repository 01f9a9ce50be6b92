// SPDX-License-Identifier: BSD-2-Clause
//
// The keyboard alone: the sample of Kim et al. is built, run, broken and read without the pointer; axe-core finds nothing
// serious in dark and light.
import { Window, assert, eventually, ok, serve, sleep, test } from './lib.mjs';

const LINKS = [['switch 1', 'host 2'], ['switch 1', 'host 1'], ['switch 1', 'host 3'], ['switch 2', 'host 4'], ['switch 2', 'host 5'], ['switch 1', 'switch 2']];

async function build(w) {
	await w.keys('Alt+n');
	await w.until('a new fabric', () => weft.app.fabric.nnodes === 0);
	for (const [key, n, all] of [['3', 5, 5], ['2', 2, 7]]) {
		await w.keys(key);
		for (let i = 0; i < n; i++) {
			await w.keys('a');
			await w.until(`node ${all - n + i + 1} is placed`, (k) => weft.app.fabric.nnodes === k, all - n + i + 1);
		}
	}
	await w.keys('Escape');
	for (const [i, [a, b]] of LINKS.entries()) {
		await w.find(a);
		await w.keys('c');
		await w.find(b);
		await w.keys('c');
		await w.until(`${a} and ${b} are linked`, (k) => weft.app.fabric.nlinks === k + 1, i);
	}
	for (const node of ['host 1', 'host 2', 'host 4']) {
		await w.find(node);
		await w.keys('m');
	}
	await w.until('three managers are placed', () => weft.app.editor.doc.managers.size === 3);
	await w.keys('O');
	await w.until('the fabric is laid out', () => weft.app.editor.doc.at.size === 0);
	const apart = await w.get(() => {
		const f = weft.app.fabric.f;
		return [...f.x].every((x, i) => [...f.x].every((y, j) => i === j || Math.hypot(x - y, f.y[i] - f.y[j]) > 0.9));
	});
	assert.ok(apart, 'nodes lie on each other');
	ok('no node hides another');
}

/* Tab until something has the focus. */
async function tabTo(w, what, is) {
	for (let i = 0; i < 120; i++) {
		if (await w.get(is))
			return ok(what);
		await w.keys('Tab');
	}
	assert.fail(`${what}: not with 120 times Tab`);
}

async function priority(w) {
	await eventually('the pane of managers opens', async () => {
		if (await w.get(() => document.querySelector('#pane [aria-selected=true]').textContent === 'Managers'))
			return true;
		await w.keys('i');
		return false;
	});
	await tabTo(w, 'Tab leads to a priority', () => document.activeElement.getAttribute('aria-label') === 'Priority');
	await w.keys('Ctrl+a');
	await w.type('3');
	await w.keys('Enter');
	await w.until('the first manager has priority 3', () => [...weft.app.editor.doc.managers.values()][0].priority === 3);
	await w.keys('Escape');
	await w.until('Escape leads back to the fabric', () => document.activeElement.id === 'gl');
}

async function cut(w) {
	await w.keys('Escape', 'Escape');
	await w.find('host 3');
	await eventually('the pane shows the node', async () => {
		if (await w.get(() => document.querySelector('#pane [aria-selected=true]').textContent === 'Inspect'))
			return true;
		await w.keys('i');
		return false;
	});
	await w.until('with its ports', () => [...document.querySelectorAll('#pane td .ref')].some((e) => e.textContent === '1'));
	await tabTo(w, 'Tab leads to its port', () => document.activeElement.matches('#pane td:first-child .ref') && document.activeElement.textContent === '1');
	await w.keys('Enter');
	await w.until('Enter chooses the link', () => weft.app.link >= 0);
	await w.keys('x');
	await w.until('x cuts it', () => weft.app.run.journal.some((j) => j.text.startsWith('unlink')) && weft.app.lastState.link[3 * weft.app.link] === 4);
}

async function read(w) {
	await w.keys('l');
	await w.until('l leads to the messages', () => document.activeElement.classList.contains('lines'));
	/* Faults and states of managers are lines, too, without a MAD. */
	await eventually('arrows choose a message, whose MAD is shown', async () => {
		if (await w.get(() => document.querySelector('#pane .mad')?.textContent.length > 100))
			return true;
		await w.keys('ArrowUp');
		await sleep(200);
		return false;
	});
	await w.until('no line was an error', () => document.querySelectorAll('#toast .bad').length === 0);
	await w.keys('Escape');
	await w.get(() => document.getElementById('gl').focus());
	await w.keys('End');
	await w.find('host 1');
	await w.keys('r');
	await w.find('host 5');
	await w.keys('r');
	await w.until('r on two nodes shows the route between them', () => weft.app.overlay?.links.size === 3);
	await w.keys('Escape');
}

test(async () => {
	const w = await Window.open(await serve());
	await w.until('a fabric comes up by itself', () => weft.app.run.started);
	await w.axe('dark, at the start');
	await w.pause();
	await build(w);
	await priority(w);
	await w.speed(20000);
	await w.keys('Space');
	await w.until('one master and two standbys', () => weft.app.run.managers.map((m) => m.state).join() === '3,2,2' && weft.app.run.phases[weft.app.run.managers[0].phase] === 'ready');
	await cut(w);
	await w.keys('Escape', 'Escape', 'k');
	await w.until('k kills the master', () => weft.app.run.managers[0].flags & 2);
	await w.until('a standby takes over', () => weft.app.run.managers[1].state === 3);
	await w.pause();
	await read(w);
	await w.axe('dark, with a message');
	await w.keys('?');
	await w.until('help opens', () => document.getElementById('help').open);
	await w.axe('help');
	await w.keys('Escape');
	await w.keys('d');
	await w.until('the theme is light', () => document.documentElement.classList.contains('light'));
	await w.axe('light');
	w.quiet();
});
