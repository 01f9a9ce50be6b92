// SPDX-License-Identifier: BSD-2-Clause
//
// The page on the mock engine in a real browser: what a person does with pointer and keyboard, and what axe-core says.
// Pictures of each scene go to build/shots.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UI, browse, ready, serve, sleep } from './harness.mjs';

const shots = join(UI, 'build/shots');
mkdirSync(shots, { recursive: true });
const { server, url } = await serve(join(UI, 'build/mock'));
const { browser, page, errors } = await browse();
const shot = (name) => page.screenshot({ path: join(shots, `${name}.png`) });
const until = async (what, fn, ms = 120000) => {
	const end = Date.now() + ms;
	while (!(await page.evaluate(fn))) {
		assert.ok(Date.now() < end, `${what}: not within ${ms} ms`);
		await sleep(50);
	}
	console.log(`ok - ${what}`);
};
/* Where a node or the middle of a link is on screen. */
const nodeAt = (name) => page.evaluate((n) => {
	const { app, view } = weft, f = app.fabric.f, i = f.name.indexOf(n), r = document.getElementById('gl').getBoundingClientRect(), [x, y] = view.camera.toScreen(f.x[i], f.y[i]);
	return { x: x + r.left, y: y + r.top };
}, name);
const linkAt = (l) => page.evaluate((i) => {
	const { app, view } = weft, f = app.fabric.f, r = document.getElementById('gl').getBoundingClientRect();
	const [x, y] = view.camera.toScreen(f.x[f.a[i]] * 0.7 + f.x[f.b[i]] * 0.3, f.y[f.a[i]] * 0.7 + f.y[f.b[i]] * 0.3);
	return { x: x + r.left, y: y + r.top };
}, l);
const click = async (at, options) => page.mouse.click(at.x, at.y, options);

async function axe(name) {
	await page.evaluate(readFileSync(join(UI, 'node_modules/axe-core/axe.min.js'), 'utf8'));
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
	const bad = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
	assert.deepEqual(bad.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 100)).join(' | ')}`), [], `axe: ${name}`);
	console.log(`ok - axe-core finds nothing serious: ${name}`);
}

// A first-time user.
await page.goto(url);
await ready(page);
await until('a fabric comes up by itself', () => weft.app.run.started && weft.app.run.managers.some((m) => m.state === 3));
assert.equal(await page.$eval('#hint', (e) => e.hidden), false);
await until('messages appear in the log', () => document.querySelectorAll('.ln').length > 3);
await shot('first');
await axe('dark');
await page.evaluate(() => document.querySelector('#hint button').click());

// Break: a link by its menu, a node and a manager by keys.
await until('all links are active', () => weft.app.lastState.link.filter((_, i) => i % 3 === 0).every((s) => s === 3));
await click(await linkAt(0), { button: 'right' });
await until('the menu of a link is open', () => !document.getElementById('menu').hidden);
await page.keyboard.press('Enter');
await until('the link is cut', () => weft.app.lastState.link[0] === 4);
await click(await nodeAt('root2'));
await until('a switch is chosen', () => weft.app.node >= 0 && weft.app.fabric.f.name[weft.app.node] === 'root2');
await page.keyboard.press('p');
await until('it has no power', () => weft.app.lastState.node[weft.app.node] === 0);
await until('the journal has both', () => weft.app.run.journal.length === 2);
await shot('broken');

// Read: a log line, a route, a tree, loads.
await page.evaluate(() => document.querySelector('.ln').click());
await until('a line opens its MAD', () => document.querySelector('#pane .mad')?.textContent.includes('MgmtClass'));
await click(await nodeAt('host 4'));
await page.keyboard.press('r');
await click(await nodeAt('host 20'));
await until('a route is lit', () => weft.app.overlay?.links.size >= 4);
await shot('route');
await page.keyboard.press('Escape');
await page.keyboard.press('o');
await until('loads are colours', () => weft.view.showLoads && weft.app.loads);
await shot('loads');
await page.keyboard.press('o');

// Share: what a link restores.
await page.evaluate(() => weft.app.go(5e8));
const before = await page.evaluate(() => ({ nodes: weft.app.fabric.nnodes, now: weft.app.run.now, journal: weft.app.run.journal.map((j) => j.text), x: weft.view.camera.x }));
await page.evaluate(() => { Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (t) => { window.copied = t; } } }); });
await page.keyboard.down('Control');
await page.keyboard.down('Shift');
await page.keyboard.press('L');
await page.keyboard.up('Shift');
await page.keyboard.up('Control');
await until('a link is copied', () => window.copied?.includes('#g=mtree'));
const fragment = await page.evaluate(() => location.hash);
await page.goto('about:blank');
await page.goto(url + fragment);
await ready(page);
await until('the link restores the moment', () => weft.app.run.started && weft.app.run.now === 5e8);
const after = await page.evaluate(() => ({ nodes: weft.app.fabric.nnodes, now: weft.app.run.now, journal: weft.app.run.journal.map((j) => j.text), x: weft.view.camera.x }));
assert.deepEqual({ ...after, x: 0 }, { ...before, x: 0 });
assert.ok(Math.abs(after.x - before.x) < 1e-3);

// Build by clicks: two switches, five hosts, three managers.
await page.keyboard.down('Alt');
await page.keyboard.press('n');
await page.keyboard.up('Alt');
await until('the document is empty', () => weft.app.fabric.nnodes === 0);
const box = await page.evaluate(() => { const r = document.getElementById('gl').getBoundingClientRect(); return { x: r.left, y: r.top, w: r.width, h: r.height }; });
const at = (x, y) => ({ x: box.x + box.w * x, y: box.y + box.h * y });
await page.keyboard.press('2');
for (const [x, y] of [[0.35, 0.5], [0.65, 0.5]])
	await click(at(x, y));
await page.keyboard.press('3');
for (const [x, y] of [[0.2, 0.25], [0.2, 0.75], [0.5, 0.25], [0.8, 0.25], [0.8, 0.75]])
	await click(at(x, y));
await until('seven nodes are placed', () => weft.app.fabric.nnodes === 7);
await page.keyboard.press('5');
for (const [a, b] of [['switch 1', 'switch 2'], ['switch 1', 'host 1'], ['switch 1', 'host 2'], ['switch 1', 'host 3'], ['switch 2', 'host 4'], ['switch 2', 'host 5']]) {
	await click(await nodeAt(a));
	await click(await nodeAt(b));
	await sleep(60);
}
await until('six links are drawn', () => weft.app.fabric.nlinks === 6);
await page.keyboard.press('6');
for (const n of ['host 1', 'switch 1', 'switch 2'])
	await click(await nodeAt(n));
await until('three managers are placed', () => weft.app.editor.doc.managers.size === 3);
await page.keyboard.press('Escape');
await page.keyboard.down('Control');
await page.keyboard.press('z');
await until('undo takes one back', () => weft.app.editor.doc.managers.size === 2);
await page.keyboard.press('y');
await page.keyboard.up('Control');
await until('redo brings it again', () => weft.app.editor.doc.managers.size === 3);
await page.keyboard.press('Space');
await until('one master and two standbys', () => weft.app.run.managers.map((m) => m.state).sort().join() === '2,2,3');
await shot('built');
await page.keyboard.press('k');
await until('another manager takes over when the master is killed', () => weft.app.run.managers[0].flags === 2 && weft.app.run.managers[1].state === 3);

// Add a node while it runs: an event of the journal.
await page.keyboard.press('3');
await click(at(0.5, 0.8));
await until('a node is added while it runs', () => weft.app.fabric.nnodes === 8 && weft.app.run.journal.some((j) => j.text.startsWith('add host')));

// Keyboard alone.
await page.keyboard.press('Escape');
await page.keyboard.press('Escape');
await page.keyboard.press('ArrowRight');
await until('arrows choose a node', () => weft.app.node >= 0);
await page.keyboard.press('?');
await until('help is open', () => document.getElementById('help').open);
await shot('help');
await axe('help');
await page.keyboard.press('Escape');
await page.keyboard.press('/');
await page.keyboard.type('host 3');
await page.keyboard.press('Enter');
await until('search finds a host', () => weft.app.fabric.f.name[weft.app.node] === 'host 3');
await page.keyboard.press('d');
await until('the theme is light', () => document.documentElement.classList.contains('light'));
await axe('light');
await shot('light');
const svg = await page.evaluate(() => new Promise((resolve) => {
	const make = URL.createObjectURL;
	URL.createObjectURL = (b) => (b.text().then(resolve), make(b));
	document.dispatchEvent(new KeyboardEvent('keydown', { key: 's', altKey: true, bubbles: true }));
	document.getElementById('gl').dispatchEvent(new KeyboardEvent('keydown', { key: 's', altKey: true, bubbles: true }));
}));
assert.match(svg, /^<svg .*[\s\S]*switch 1[\s\S]*<\/svg>/);
console.log('ok - the picture can be saved as SVG');

assert.deepEqual(errors, []);
console.log('ok - no errors on the console');
await browser.close();
server.close();
