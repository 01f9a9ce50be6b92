// SPDX-License-Identifier: BSD-2-Clause
//
// The page without a server in Chromium: node page.mjs DIR. Pictures go to ui/build/shots. Output: TAP.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UI, browse, ready, sleep } from '../browser/harness.mjs';

const dir = process.argv[2], shots = join(UI, 'build/shots'), TYPE = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm' };
mkdirSync(shots, { recursive: true });
/* Files and nothing else, below a path, as a site would have them. What else is asked for is a fault. */
const refused = [];
const server = createServer((req, res) => {
	const name = new URL(req.url, 'http://x').pathname.replace(/^\/demo\/$/, '/demo/index.html').slice('/demo/'.length);
	if (req.method !== 'GET' || !/^[\w.]+$/.test(name) || !existsSync(join(dir, name))) {
		refused.push(`${req.method} ${req.url}`);
		res.writeHead(404).end('not found');
		return;
	}
	res.writeHead(200, { 'Content-Type': TYPE[name.split('.').pop()] ?? 'text/plain' }).end(readFileSync(join(dir, name)));
});
await new Promise((r) => server.listen(0, '127.0.0.1', r));
const url = `http://127.0.0.1:${server.address().port}/demo/`, { browser, page, errors } = await browse();
let number = 0;
const ok = (text) => console.log(`ok ${++number} - page: ${text}`);
const until = async (what, fn, arg, ms = 180000) => {
	const end = Date.now() + ms;
	while (!(await page.evaluate(fn, arg))) {
		assert.ok(Date.now() < end, `${what}: not within ${ms} ms`);
		await sleep(50);
	}
};

await page.goto(url);
await ready(page);
await until('a master', () => weft.app.run.started && weft.app.run.managers.some((m) => m.state === 3));
await until('all links are active', () => weft.app.lastState?.link.filter((_, i) => i % 3 === 0).every((s) => s === 3));
await page.screenshot({ path: join(shots, 'static-first.png') });
ok('the first fabric comes up by itself, without a server');

const hash = () => page.evaluate(async () => {
	await weft.app.command({ cmd: 'speed', speed: 0 });
	const s = await weft.app.command({ cmd: 'script' });
	return { at: s.at, hash: s.hash, text: s.text };
});
await page.evaluate(() => weft.app.event(`unlink ${weft.app.linkWord(40)}`));
await until('the link is cut', () => weft.app.lastState.link[120] === 4 || weft.app.lastState.link[120] === 0);
await page.evaluate(() => weft.app.setSpeed(1000));
await sleep(300);
const end = await hash();
await page.evaluate((at) => weft.app.go(at), Math.floor(Number(end.at) / 3));
const third = await hash();
assert.ok(Number(third.at) < Number(end.at));
await page.evaluate((at) => weft.app.go(at), Number(end.at));
assert.deepEqual(await hash(), end);
ok(`back to ${third.at} ps and forth to ${end.at} ps: the same hash, ${end.hash}`);

const figures = await page.evaluate(async () => (await weft.app.command({ cmd: 'whatif', kill: weft.app.fabric.f.type.indexOf(2), load: 0 })).figures);
assert.ok(figures.length > 3);
assert.deepEqual(await hash(), end);
ok(`a what-if in another thread: ${figures[1].join(' ')}`);

await page.evaluate(() => weft.app.generate('mtree 36 3'));
await until('11,664 hosts', () => weft.app.fabric?.nnodes === 13284);
await page.evaluate(async () => {
	await weft.app.start();
	await weft.app.go(20e9);
});
await until('the manager has begun', () => weft.app.lastState?.events > 10000);
const memory = await page.evaluate(() => weft.app.connection.memory / 1048576);
await page.screenshot({ path: join(shots, 'static-large.png') });
ok(`11,664 hosts: engine and images have ${memory.toFixed(0)} MiB`);

const bad = await page.evaluate(() => weft.app.open('Switch 3 "S-1"\n[9]', 'bad').then(() => '', (e) => e.message));
assert.match(bad, /line/);
assert.deepEqual(errors, []);
assert.deepEqual(refused, []);
ok('a bad file is refused with its line; no error in the console, nothing else was asked for');
console.log(`1..${number}`);
await browser.close();
server.close();
