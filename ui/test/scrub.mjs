// SPDX-License-Identifier: BSD-2-Clause
//
// How long it takes to go to a moment of a long run: node test/scrub.mjs PATH/TO/weft [EVENTS [MOMENTS]]. A tree of 128 hosts under
// traffic runs to so many events (10 million), then goes to moments drawn from a fixed sequence. One line of JSON: seconds of
// the first run, median and longest of the moments.
import { spawn } from 'node:child_process';

const [weft, events = '10000000', moments = '20'] = process.argv.slice(2);
const p = spawn(weft, ['ui', '--no-browser'], { stdio: ['ignore', 'pipe', 'inherit'] });
const url = new URL(await new Promise((r) => p.stdout.once('data', (d) => r(String(d).trim()))));
const token = url.searchParams.get('token'), at = (path) => new URL(`${path}?token=${token}&session=scrub`, url);
const waits = new Map();
let state = { now: 0n, events: 0n }, arrived = () => {}, id = 0;

/* JSON frames answer commands; STATE has time and events. */
function frame(f) {
	const v = new DataView(f.buffer, f.byteOffset, f.length);
	if (f[4] === 3)
		state = { now: v.getBigUint64(8, true), events: v.getBigUint64(16, true) };
	if (f[4] !== 1)
		return;
	const j = JSON.parse(new TextDecoder().decode(f.subarray(8)));
	if (j.paused)
		setTimeout(() => arrived(), 0);
	waits.get(j.re)?.(j);
}
async function read(body) {
	let rest = Buffer.alloc(0);
	for await (const part of body) {
		rest = Buffer.concat([rest, part]);
		for (let n; rest.length >= 8 && rest.length >= (n = rest.readUInt32LE(0)); rest = rest.subarray(n))
			frame(rest.subarray(0, n));
	}
}
read((await fetch(at('/stream'))).body).catch(() => {});
function command(c) {
	const re = ++id, reply = new Promise((r) => waits.set(re, r));
	return fetch(at('/command'), { method: 'POST', body: JSON.stringify({ ...c, id: re }) }).then(() => reply);
}
async function go(ps) {
	const there = new Promise((r) => (arrived = r)), began = performance.now();
	const r = await command({ cmd: 'go', at: String(ps) });
	if (r.error)
		throw new Error(r.error);
	await there;
	return (performance.now() - began) / 1000;
}

await command({ cmd: 'generate', words: 'mtree 8 3' });
await command({ cmd: 'setup', traffic: '5us' });
await command({ cmd: 'speed', speed: 0 });
await command({ cmd: 'start' });
let first = 0, end = 0n;
while (state.events < BigInt(events))
	first += await go((end += 1000000000n));
const took = [], all = Number(state.events);
for (let i = 1; i <= Number(moments); i++)
	took.push(await go((end * BigInt((i * 7919) % 1000)) / 1000n));
took.sort((a, b) => a - b);
console.log(JSON.stringify({ events: all, end_ms: Number(end) / 1e9, first_s: +first.toFixed(1), median_s: +took[took.length >> 1].toFixed(2), longest_s: +took.at(-1).toFixed(2) }));
p.kill();
process.exit(0);
