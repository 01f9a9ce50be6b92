// SPDX-License-Identifier: BSD-2-Clause
//
// A tree of 128 hosts under load loses a switch; a link to share restores the moment; pictures; the run back and forward;
// what was clicked replays with `weft sim trial`; what-if has the figures of `weft sim change`; a capture is opened.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Window, assert, ok, run, same, serve, test } from './lib.mjs';

const REPO = join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), '../../..');
const rest = () => {
	const r = weft.app.run, m = r.managers.find((x) => x.state === 3 && !(x.flags & 2));
	return m !== undefined && r.phases[m.phase] === 'ready';
};
/* A series has a value above 0 after a time. */
const rises = (name, after) => {
	const s = weft.app.run.series;
	return (s.values[s.names.indexOf(name)] ?? []).some((x, i) => s.at[i] > after && x > 0);
};
const values = (w, name) => w.get((x) => {
	const s = weft.app.run.series;
	return [...(s.values[s.names.indexOf(x)] ?? [])];
}, name);

async function generate(w, words) {
	await w.keys('g');
	await w.type(words);
	await w.keys('Enter');
	await w.until(`${words} is on screen`, (x) => weft.app.words === x, words);
	await w.page.focus('#gl');
}

/* Lanes of moments that were not shown; what colours mean. */
async function colours(w) {
	same('the lane has the way to Master, though no frame showed it', await w.get(() => {
		const { lanes, now } = weft.app.run, master = lanes[0].find((s) => s.state === 3);
		return lanes[0].length > 4 && master.at < now && lanes[0].every((s, i) => i === 0 || s.at >= lanes[0][i - 1].at);
	}), true);
	await w.page.focus('#gl');
	await w.keys('C');
	await w.until('colours are the load, and the legend says so', () => weft.view.colouring === 'busy' && /busy/.test(document.getElementById('legend').textContent) && !document.querySelector('#legend .c-armed'));
	same('of each link as the state says', await w.get(() => weft.app.lastState.link.every((v, i) => i % 3 !== 1 || weft.view.scene.linkValue((i - 1) / 3) === v)), true);
	await w.keys('C');
	await w.until('colours are buffers', () => weft.view.scene.measure === 2 && /buffers: empty/.test(document.getElementById('legend').textContent));
	await w.keys('C');
	await w.until('and states again', () => weft.view.scene.measure === 0 && document.querySelector('#legend .c-armed') !== null);
}

/* 128 hosts, load, a switch fails. */
async function underLoad(w) {
	await generate(w, 'mtree 8 3');
	same('it has 128 hosts', await w.get(() => weft.app.fabric.f.type.filter((t) => t === 1).length), 128);
	await w.pane('Managers');
	await w.field('#pane input[aria-label="A packet every"]', '20us');
	await w.page.focus('#gl');
	await w.speed(20000);
	await w.keys('Space');
	await w.until('SMPs move along the links', () => weft.view.scene.flights.n > 0 && weft.app.run.log.lines.length > 0);
	await w.pause();
	await w.advance('the subnet comes up', 5e9, rest);
	await w.advance('packets are delivered', 5e9, rises, 'delivered', 0);
	await colours(w);
	await w.speed(500);
	await w.keys('Space');
	await w.find('mid0_1');
	const before = await w.get(() => weft.app.run.now);
	await w.keys('p');
	await w.until('a switch loses its power', () => weft.app.run.journal.some((j) => j.text.startsWith('off ')));
	await w.until('packets are lost', rises, 'lost', before);
	await w.shot('load');
	await w.pause();
	await w.advance('all other nodes are known, one is not', 5e9, () => weft.app.lastState.node.filter((s) => s & 4).length === weft.app.fabric.nnodes - 1);
	await w.advance('the manager is at rest again', 5e9, rest);
	await w.until('and every pair that has a path has a route', () => {
		const s = weft.app.run.series, v = s.values[s.names.indexOf('connectivity')] ?? [];
		return v.at(-1) === 100;
	});
	const at = await w.get((t) => weft.app.run.series.at.findIndex((x) => x > t), before);
	assert.ok((await values(w, 'SMPs')).slice(at).some((x) => x > 0), 'no SMPs after the failure');
	ok('the series show SMPs of the repair');
}

/* Back and forward: the same state. */
async function backAndForward(w) {
	const last = await w.moment(), middle = Number(last.now) / 2;
	await w.get((t) => weft.app.go(t), middle);
	await w.until('the run goes back', (t) => weft.app.run.now === Math.floor(t), middle);
	const half = await w.moment();
	assert.notDeepEqual(half, last);
	await w.keys('End');
	await w.until('and to its end', (t) => String(weft.app.lastState.now) === t, last.now);
	same('where all is as it was', await w.moment(), last);
	await w.keys('Home');
	await w.until('to its beginning', () => weft.app.run.now === 0);
	await w.get((t) => weft.app.go(t), middle);
	await w.until('and to the middle', (t) => weft.app.run.now === Math.floor(t), middle);
	same('which is the same again', await w.moment(), half);
	await w.keys('End');
	await w.until('the end', (t) => String(weft.app.lastState.now) === t, last.now);
}

/* What was clicked, saved, replays to the same hash. */
async function script(w) {
	await w.keys('Space');
	await w.until('the small tree runs', () => weft.app.run.started);
	await w.pause();
	await w.advance('it comes up', 5e9, rest);
	await w.find('root1');
	await w.keys('p');
	await w.until('a root loses its power', () => weft.app.run.journal.length === 1);
	await w.get(() => weft.app.go(weft.app.run.now + 3e9));
	const hash = (await w.get(() => weft.app.command({ cmd: 'script' }))).hash;
	await w.keys('Ctrl+Shift+s');
	const file = await w.saved(/\.schedule$/), answer = JSON.parse(run('sim', 'trial', '--replay', file, '--json'));
	same('the script replays with weft sim trial to the same hash', answer.faults_trace_hash.replace(/^0x/, ''), hash);
}

/* A link opens elsewhere with fabric, moment and view; pictures. */
async function share(w, url) {
	const before = await w.moment();
	await w.keys('+', '+', 'Shift+ArrowLeft');
	await w.until('the view moves', () => !weft.view.camera.gliding);
	await w.keys('Ctrl+Shift+l');
	await w.until('the address holds the fabric', () => location.hash.includes('g=mtree'));
	await w.get(() => document.querySelector('dialog[open]')?.close());
	const hash = await w.get(() => location.hash), view = await w.get(() => [weft.view.camera.x, weft.view.camera.y, weft.view.camera.scale]);
	same('the token is not in the link', hash.includes(new URL(url).searchParams.get('token')), false);
	const other = await w.tab(`${url}&session=shared${hash}`);
	await other.until('a link restores the moment', (t) => weft.app.lastState !== null && String(weft.app.lastState.now) === t, before.now);
	same('with the same state', await other.moment(), before);
	const there = await other.get(() => [weft.view.camera.x, weft.view.camera.y, weft.view.camera.scale]);
	assert.ok(there.every((v, i) => Math.abs(v - view[i]) < 1e-3 * Math.max(1, Math.abs(view[i]))), `the view is ${there}, expected ${view}`);
	ok('and the same view');
	await other.close();
	await w.keys('Alt+p', 'Alt+s');
	const png = readFileSync(await w.saved(/\.png$/)), svg = readFileSync(await w.saved(/\.svg$/), 'utf8');
	same('the PNG is one', png.subarray(1, 4).toString(), 'PNG');
	const size = await w.get(() => [document.getElementById('gl').width, document.getElementById('gl').height]);
	same('of the size of the stage', [png.readUInt32BE(16), png.readUInt32BE(20)], size);
	same('the SVG has the selected switch and no fault', await w.get((t) => {
		const d = new DOMParser().parseFromString(t, 'image/svg+xml');
		return d.querySelector('parsererror') === null && d.documentElement.textContent.includes('mid0_1');
	}, svg), true);
}

/* The figures of what-if are those of the command that it shows. */
async function whatIf(w) {
	await generate(w, 'mtree 4 2');
	await w.find('leaf1');
	await w.keys('w');
	await w.until('what-if has an answer', () => document.querySelector('#pane .figures') && document.querySelector('#pane pre')?.textContent.includes('weft sim change'));
	await w.get(() => document.querySelector('#pane details').setAttribute('open', ''));
	await w.shot('whatif');
	const shown = Object.fromEntries(await w.get(() => [...document.querySelectorAll('#pane section .figures > div')].map((d) => [d.querySelector('span').textContent, d.querySelector('b').textContent])));
	const line = await w.get(() => [...document.querySelectorAll('#pane pre')].map((p) => p.textContent).find((t) => t.includes('weft sim change')).split('\n').find((t) => t.startsWith('weft sim change')));
	run('topo', 'gen', 'mtree', '4', '2', '-o', 'fabric.net');
	const c = JSON.parse(run(...line.split(' ').slice(1), '--json')), d = c.packets.discarded, us = (s) => `${(1e6 * s).toFixed(3)} us`;
	const expected = { rounds: c.change.rounds, SMPs: c.change.smps.total, 'table entries changed': c.change.tables.entries_changed, 'packets sent': c.packets.sent,
		'packets lost': d.total, 'packets lost to hosts that are gone': c.packets.futile, 'packets lost: unroutable': d.unroutable };
	for (const [name, value] of Object.entries(expected))
		same(`what-if and weft sim change agree: ${name}`, shown[name], String(value));
	same('and: connectivity', parseFloat(shown['connectivity at least']), 100 * c.connectivity_min);
	same('and: the time of the reaction', shown['time of the reaction'].replace(/\d us$/, ''), us(c.change.time_s.total).replace(/\d us$/, ''));
}

/* A capture of ibnetdiscover, with its usual errors. */
async function capture(w) {
	const file = join(REPO, 'tests/data/cluster-hdr.net');
	await w.openFile(file);
	await w.until('a capture is opened', () => weft.app.fabric.nnodes === 40 && weft.app.fabric.nlinks === 57);
	same('with its name', await w.get(() => weft.app.name), basename(file));
	await w.keys('Space');
	await w.until('it runs', () => weft.app.run.started);
	await w.pause();
	await w.advance('the fabric of the capture comes up', 5e9, rest);
	await w.shot('capture');
}

test(async () => {
	const url = await serve(), w = await Window.open(url);
	await w.until('a fabric comes up by itself', () => weft.app.run.started);
	await underLoad(w);
	await backAndForward(w);
	await share(w, url);
	await whatIf(w);
	await script(w);
	await capture(w);
	w.quiet();
});
