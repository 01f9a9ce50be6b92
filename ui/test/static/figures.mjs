// SPDX-License-Identifier: BSD-2-Clause
//
// Figures of docs/window-static.md: node figures.mjs HOST.mjs ENGINE.wasm FRAMES [EVENTS]. CPU time of the same run in both
// engines, the best of three; then a run with images as the page keeps them, and 20 moments in no order.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [hostFile, wasm, frames, events = '10000000'] = process.argv.slice(2), total = Number(events);
const { EngineModule, Host } = await import(pathToFileURL(resolve(hostFile)).href);
const module = new WebAssembly.Module(readFileSync(wasm));
const begin = [{ cmd: 'generate', words: 'mtree 8 3' }, { cmd: 'setup', traffic: '20us' }, { cmd: 'speed', speed: 'max' }, { cmd: 'start' }].map((c) => JSON.stringify(c));
const cpu = () => process.cpuUsage().user / 1e6;

function once() {
	const engine = new EngineModule(module);
	begin.forEach((c) => engine.command(c));
	const from = cpu();
	while (engine.events() < total && engine.work(33333, 100000));
	return { s: cpu() - from, mib: engine.bytes / 1048576 };
}
const native = () => Number(String(spawnSync(frames, { input: [...begin, `work 33333 100000 ${total / 100000}`].join('\n'), maxBuffer: 1 << 30 }).stderr));
const best = (run) => Math.min(run(), run(), run()), a = best(() => once().s), b = best(native), rate = (s) => `${(total / s / 1e6).toFixed(2)} million events a CPU second`;
console.log(`128 hosts, traffic 20us, ${total} events: WebAssembly ${a.toFixed(2)} s, ${rate(a)}; native ${b.toFixed(2)} s, ${rate(b)}; memory ${once().mib} MiB`);

let random = 1;
const host = new Host({ module, clock: () => performance.now(), whatIf: () => {}, emit: () => {} }), from = cpu();
begin.forEach((c) => host.command(c));
while (host.events < total)
	host.turn();
console.log(`with images: ${(cpu() - from).toFixed(2)} s; ${host.memory.count} images in ${(host.memory.images / 1048576).toFixed(0)} MiB, engine ${(host.memory.engine / 1048576).toFixed(0)} MiB`);
host.command('{"cmd":"speed","speed":0}');
const end = host.now, times = [], walls = [];
for (let i = 0; i < 20; i++) {
	random = random * 48271 % 2147483647;
	const c = cpu(), w = performance.now();
	host.command(JSON.stringify({ cmd: 'go', at: String(end * BigInt(random) / 2147483647n) }));
	while (host.wait() !== Infinity)
		host.turn();
	times.push(cpu() - c);
	walls.push((performance.now() - w) / 1000);
}
const figures = (t) => `${Math.min(...t).toFixed(2)} to ${Math.max(...t).toFixed(2)} s`;
console.log(`20 moments: CPU ${figures(times)}, elapsed ${figures(walls)}`);
