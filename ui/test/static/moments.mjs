// SPDX-License-Identifier: BSD-2-Clause
//
// The host of the page without a server: going to any moment of a run gives what a run without images gives, also around
// faults and what-ifs; images stay within their bounds. node moments.mjs HOST.mjs ENGINE.wasm [EVENTS]. Output: TAP.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [hostFile, wasm, count = '2000000'] = process.argv.slice(2);
const { EngineModule, Host, Images, answerWhatIf } = await import(pathToFileURL(resolve(hostFile)).href);
const module = new WebAssembly.Module(readFileSync(wasm));
let number = 0;
const ok = (text) => console.log(`ok ${++number} - ${text}`);
const text = (f) => JSON.parse(new TextDecoder().decode(f.subarray(8)));

/* A host with a clock that stands still but for the slices: 33 ms each. */
function newHost(images) {
	const t = { ms: 0, frames: [], replies: [], whatIf: [] };
	const host = new Host({ module, images, clock: () => t.ms, whatIf: (...w) => t.whatIf.push(w), emit: (f) => {
		t.frames.push(f);
		if (f[4] === 1 && 're' in text(f))
			t.replies.push(text(f));
	} });
	const ask = (cmd, more = {}) => {
		host.command(JSON.stringify({ cmd, ...more, id: t.replies.length }));
		return t.replies.at(-1);
	};
	const work = (until) => {
		while (host.wait() !== Infinity && !until?.()) {
			t.ms += host.wait();
			host.turn();
		}
	};
	const go = (at) => {
		assert.equal(ask('go', { at: String(at) }).ok, true);
		work();
		return ask('script');
	};
	return { host, t, ask, work, go };
}

/* The hash at a moment: an engine that never goes back. */
function straight(setup, journal, at) {
	const engine = new EngineModule(module);
	let last = null;
	engine.onFrame = (f) => {
		if (f[4] === 1)
			last = text(f);
	};
	for (const c of [...setup, { cmd: 'start' }, { cmd: 'journal', events: journal }, { cmd: 'go', at: String(at) }])
		engine.command(JSON.stringify(c));
	while (engine.work(0, 200000));
	engine.command('{"cmd":"script"}');
	return last;
}

const setup = [{ cmd: 'generate', words: 'mtree 8 2' }, { cmd: 'setup', traffic: '20us', seed: 7, managers: [{ node: 0, priority: 3 }, { node: 4 }] }, { cmd: 'speed', speed: 'max' }];
const images = new Images(8, 64 << 20, Math.floor(Number(count) / 20)), { host, t, ask, work, go } = newHost(images);
assert.equal(text(t.frames[0]).hello.source, 'engine');
for (const c of [...setup, { cmd: 'start' }])
	assert.equal(ask(c.cmd, c).ok, true);
work(() => host.events > Number(count) / 4);
assert.equal(ask('event', { text: 'off S-0002000000000003' }).ok, true);
work(() => host.events > Number(count) / 2);
assert.equal(ask('event', { text: 'crash 0' }).ok, true);
work(() => host.events > Number(count));
assert.equal(ask('speed', { speed: 0 }).ok, true);
const end = ask('script'), journal = [...end.text.matchAll(/^at (\d+)ps (.*)$/gm)].map((m) => ({ at: m[1], text: m[2] }));
assert.equal(journal.length, 2, end.text);
ok(`a run of ${host.events} events, ${host.images.length} images of ${(host.memory.images / 1048576).toFixed(0)} MiB, engine ${(host.memory.engine / 1048576).toFixed(0)} MiB`);
assert.ok(host.images.length >= 3 && host.images.length <= 8 && host.memory.images <= 64 << 20);

// Back and forth, to moments in no order, at and beside the faults.
const last = BigInt(end.at), fault = BigInt(journal[1].at);
let longest = 0;
for (const at of [last / 2n, 0n, last, last / 3n, fault, fault - 1n, fault + 1n, last / 10n, 5n, last * 9n / 10n, last]) {
	const begin = performance.now(), here = go(at), took = performance.now() - begin, there = straight(setup, journal, at);
	longest = Math.max(longest, took);
	/* At a fault the script goes to the next picosecond: what follows it in its own has no place in a schedule. */
	assert.equal(here.at, String(at === fault ? at + 1n : at));
	assert.equal(here.hash, there.hash, `at ${at}`);
	assert.equal(here.text, there.text, `at ${at}`);
}
assert.equal(ask('script').hash, end.hash);
ok(`eleven moments have the hash of a run without images; the longest way took ${longest.toFixed(0)} ms`);

// A fault in the past makes another course of the run.
go(last / 2n);
assert.equal(ask('event', { text: 'unlink S-0002000000000001[1]' }).ok, true);
const other = [journal[0], { at: String(last / 2n), text: 'unlink S-0002000000000001[1]' }].sort((a, b) => (BigInt(a.at) < BigInt(b.at) ? -1 : 1)).filter((j) => BigInt(j.at) <= last / 2n);
if (fault < last / 2n)
	other.splice(-1, 0, journal[1]);
assert.equal(go(last).hash, straight(setup, other, last).hash);
assert.equal(go(last / 4n).hash, straight(setup, other, last / 4n).hash);
ok('a fault in the past makes another course of the run');

// What-ifs leave the run alone and are answered by another engine.
const before = ask('script');
host.command('{"cmd":"whatif","kill":2,"load":0,"id":"w"}');
assert.equal(t.whatIf.length, 1);
const [pages, command, id] = t.whatIf[0], figures = text(answerWhatIf(module, pages, command, id));
assert.equal(figures.re, 'w');
assert.ok(Array.isArray(figures.figures), JSON.stringify(figures));
assert.deepEqual({ ...ask('script'), re: 0 }, { ...before, re: 0 });
ok(`a what-if: ${figures.figures.slice(0, 2).map((f) => f.join(' ')).join(', ')}`);

// What is not a command, and what comes without a run.
for (const bad of ['', '{', 'null', '[]', '7', '{"cmd":"go","at":-1}', '{"cmd":"go","at":1e30}', '{"cmd":"go","at":"99999999999999999999"}', '{"cmd":"go"}', '{"cmd":"whatif"}']) {
	const n = t.frames.length;
	host.command(bad);
	if (bad === '{"cmd":"whatif"}')
		assert.ok(text(answerWhatIf(module, ...t.whatIf.at(-1))).error);
	else
		assert.ok(text(t.frames[n]).error, bad);
}
const idle = newHost();
assert.ok(idle.ask('go', { at: '5' }).error);
assert.equal(idle.ask('generate', { words: 'ring 3' }).ok, true);
assert.ok(idle.ask('go', { at: '5' }).error);
idle.work();
ok('bad commands are answered with an error');

// A new run forgets the images of the old one.
assert.equal(ask('start').ok, true);
assert.equal(host.images.length, 1);
work(() => host.events > 50000);
const again = ask('script');
assert.equal(again.hash, straight(setup, [], BigInt(again.at)).hash);
ok('a new run');
console.log(`1..${number}`);
