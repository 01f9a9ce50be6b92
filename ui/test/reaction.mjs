// SPDX-License-Identifier: BSD-2-Clause
//
// What an open live page costs the manager that it watches: node test/reaction.mjs PATH/TO/weft [WORDS [CHANGES]]. A tree (mtree 16 3)
// loses a link and gets it back, so many times (10), without a page and with one. One line of JSON for each: seconds of the
// manager's rounds, median and longest.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from './client.mjs';

const [program, words = 'mtree 16 3', changes = '10'] = process.argv.slice(2), weft = resolve(program);
const dir = mkdtempSync(join(tmpdir(), 'weft-reaction-')), name = `reaction-${process.pid}`;
const env = { ...process.env, RUNTIME_DIRECTORY: dir, XDG_RUNTIME_DIR: '', IBSIM_SOCKNAME: name };
const run = (...args) => execFileSync(weft, args, { cwd: dir, env, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
const ctl = (...args) => run('ctl', '--name', name, ...args);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const programs = [];
const start = (...args) => programs.push(spawn(weft, args, { cwd: dir, env, stdio: 'ignore' }));

run('topo', 'gen', ...words.split(' '), '-o', 'tree.net');
start('fabric', 'tree.net', '--name', name, '--no-console', '-q');
start('sm', '--server', name);
for (let i = 0; i < 100; i++) {
	await sleep(200);
	try {
		ctl('wait');
		break;
	} catch {
		/* not there yet */
	}
}
const port = /^Switch\s+\d+ "(S-\w+)"[^\n]*\n\[(\d+)\]\s+"S-/m.exec(run('topo', 'gen', ...words.split(' ')));
for (const page of [false, true]) {
	const c = page ? await (await Client.start(weft, ['--live', name], 'live', { cwd: dir, env })).open() : null;
	await sleep(1500);
	const before = JSON.parse(ctl('changes', '--json')).changes.at(-1)?.number ?? 0;
	for (let i = 0; i < Number(changes); i++) {
		ctl('fabric', `${i % 2 ? 'relink' : 'unlink'} ${port[1]}[${port[2]}]`);
		await sleep(300);
		ctl('wait');
	}
	const took = JSON.parse(ctl('changes', '--json')).changes.filter((x) => x.number > before).map((x) => Number(x.time_s)).sort((a, b) => a - b);
	console.log(JSON.stringify({ fabric: words, page, changes: took.length, median_s: took[took.length >> 1], longest_s: took.at(-1) }));
	c?.close();
}
for (const p of programs)
	p.kill();
await sleep(300);
rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
process.exit(0);
