// SPDX-License-Identifier: BSD-2-Clause
//
// How long it takes to go to a moment of a long run: node test/scrub.mjs PATH/TO/weft [EVENTS [MOMENTS [WORDS TRAFFIC STEP_MS]]]. A tree of 128
// hosts under traffic (or the fabric of WORDS) runs to so many events (10 million), then goes to moments drawn from a fixed sequence. One line of JSON: seconds of
// the first run, median and longest of the moments.
import { Client } from './client.mjs';

const [weft, events = '10000000', moments = '20', words = 'mtree 8 3', traffic = '5us', step = '1'] = process.argv.slice(2);
const c = await (await Client.start(weft)).open();
await c.begin(words, traffic ? { traffic } : {});
let first = 0, end = 0n;
while (c.state.events < BigInt(events))
	first += await c.go((end += 1000000000n * BigInt(step)));
const took = [], all = Number(c.state.events);
for (let i = 1; i <= Number(moments); i++)
	took.push(await c.go((end * BigInt((i * 7919) % 1000)) / 1000n));
took.sort((a, b) => a - b);
console.log(JSON.stringify({ events: all, end_ms: Number(end) / 1e9, first_s: +first.toFixed(1), median_s: +took[took.length >> 1].toFixed(2), longest_s: +took.at(-1).toFixed(2) }));
c.close();
process.exit(0);
