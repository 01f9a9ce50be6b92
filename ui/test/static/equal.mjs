// SPDX-License-Identifier: BSD-2-Clause
//
// The engine as WebAssembly gives the frames of the native engine, byte for byte, for the same commands; its trace hash is
// that of `weft sim trial --replay`. node equal.mjs HOST.mjs ENGINE.wasm FRAMES WEFT (ui-static-test sets them). Output: TAP.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scenes } from './scenes.mjs';

const [hostFile, wasm, frames, weft] = process.argv.slice(2);
const { EngineModule } = await import(pathToFileURL(resolve(hostFile)).href);
const module = new WebAssembly.Module(readFileSync(wasm));
const dir = mkdtempSync(join(tmpdir(), 'weft-static-'));
let failed = 0, number = 0;
const ok = (good, text, why = '') => {
	failed += good ? 0 : 1;
	console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${text}${good ? '' : `\n# ${why}`}`);
};

function inWasm(lines) {
	const engine = new EngineModule(module), out = [];
	let spent = 0;
	engine.onFrame = (f) => out.push(f);
	for (const line of lines) {
		const work = /^work (\d+) (\d+) (\d+)$/.exec(line);
		if (!work) {
			engine.command(line);
			continue;
		}
		const begin = process.cpuUsage().user;
		for (let n = Number(work[3]); n > 0 && engine.work(Number(work[1]), Number(work[2])); n--);
		spent += (process.cpuUsage().user - begin) / 1e6;
	}
	return { out, spent, events: engine.events(), bytes: engine.bytes };
}

function inNative(lines) {
	const p = spawnSync(frames, { input: lines.join('\n'), maxBuffer: 1 << 30 });
	if (p.status !== 0)
		throw new Error(`${frames}: ${p.stderr}`);
	return { bytes: p.stdout, spent: Number(String(p.stderr).trim()) };
}

/* The first frame that is different, in words. */
function difference(out, native) {
	let at = 0;
	for (const [i, f] of out.entries()) {
		const other = native.subarray(at, at + f.length);
		if (Buffer.compare(f, other)) {
			const byte = f.findIndex((b, k) => b !== other[k]);
			return `frame ${i}, kind ${f[4]}, byte ${byte} of ${f.length}` + (f[4] === 1 ? `: ${Buffer.from(f.subarray(8))} ; native ${other.subarray(8)}` : '');
		}
		at += f.length;
	}
	return at === native.length ? '' : `${native.length - at} bytes more from the native engine`;
}

/* The run as a schedule, played by the program. */
function replayed(reply, netlist) {
	const file = join(dir, 'run.schedule');
	writeFileSync(file, reply.text);
	if (reply.netlist)
		writeFileSync(join(dir, reply.netlist), netlist);
	const p = spawnSync(weft, ['sim', 'trial', '--replay', file, '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
	return /"faults_trace_hash": "0x(\w+)"/.exec(p.stdout)?.[1] ?? `none: ${p.stderr}`;
}

for (const scene of scenes) {
	const lines = [...scene.lines, '{"cmd":"script","id":"script"}'], a = inWasm(lines), b = inNative(lines);
	const why = difference(a.out, b.bytes), sum = createHash('sha256').update(b.bytes).digest('hex').slice(0, 12);
	ok(!why, `${scene.name}: ${a.out.length} frames, ${b.bytes.length} bytes, ${a.events} events, ${sum}`, why);
	console.log(`# CPU seconds ${a.spent.toFixed(2)}, native ${b.spent.toFixed(2)}; memory ${(a.bytes / 1048576).toFixed(0)} MiB`);
	const last = JSON.parse(Buffer.from(a.out.filter((f) => f[4] === 1).at(-1).subarray(8)));
	if (scene.replay) {
		const hash = replayed(last, scene.netlist);
		ok(last.hash === hash, `${scene.name}: trace hash ${last.hash} is that of weft sim trial --replay`, hash);
	}
}
rmSync(dir, { recursive: true });
console.log(`1..${number}`);
process.exit(failed ? 1 : 0);
