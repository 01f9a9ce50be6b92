// SPDX-License-Identifier: BSD-2-Clause
//
// Writes what scale.mjs, scrub.mjs and reaction.mjs measure into docs/results/window.md: the tables between its marks, with
// date, revision and machine. All of them have to be measured on a machine that has nothing else to do.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { UI } from './harness.mjs';

const REPO = join(UI, '..'), FILE = join(REPO, 'docs/results/window.md');
const QUIET = 1;

/* Why figures of now would be wrong; '': they would not. */
export function notQuiet() {
	const load = loadavg()[0];
	return load > QUIET ? `the machine is not quiet: load ${load.toFixed(1)}, expected less than ${QUIET}` : '';
}

export function measureRuns(weft) {
	const lines = (...args) => execFileSync(process.execPath, args, { cwd: UI, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim().split('\n').map((l) => JSON.parse(l));
	return {
		small: lines('test/scrub.mjs', weft)[0],
		large: lines('test/scrub.mjs', weft, '11000000', '20', 'mtree 36 3', '', '100')[0],
		reaction: lines('test/reaction.mjs', weft),
	};
}

const n = (v) => String(v).replace(/\B(?=(\d{3})+$)/g, ',');
const NAME = { 'pods 36 18': '36-port 3-tree, 11,664 hosts', 'pods 56 28': '56-port 3-tree' };

function frames(rows) {
	const out = ['| fabric | zoom | nodes in view | script and draw calls, ms: median, 95 % | until the renderer has finished, ms: median | processor time, ms: page, renderer |', '|---|---|---:|---:|---:|---:|'];
	let last = '';
	for (const r of rows.filter((x) => x.zoom)) {
		out.push(`| ${r.fabric === last ? '' : `${NAME[r.fabric] ?? r.fabric}, ${n(r.nodes)} nodes`} | ${r.zoom} | ${n(r.seen)} | ${r.script.join(', ')} | ${r.whole[0]} | ${r.cpu.join(', ')} |`);
		last = r.fabric;
	}
	return out;
}

function memory(rows) {
	const out = ['| fabric | first picture after its data, ms | script memory, MB | memory of the page\'s process, MB |', '|---|---:|---:|---:|'];
	for (const r of rows.filter((x) => x.heap !== undefined)) {
		const of = rows.find((x) => x.zoom && x.fabric === r.fabric);
		out.push(`| ${n(of.nodes)} nodes | ${of.first} | ${r.heap} | ${r.process} |`);
	}
	return out;
}

function moments({ small, large }) {
	const row = (name, r) => `| ${name} | ${n(r.events)} | ${r.first_s} | ${r.median_s} | ${r.longest_s} |`;
	return ['| fabric | events | to the end, s | a moment, s: median | longest |', '|---|---:|---:|---:|---:|', row('128 hosts under traffic', small), row('11,664 hosts', large)];
}

function reaction(list) {
	return ['| live page | a manager\'s round, s: median | longest |', '|---|---:|---:|', ...list.map((r) => `| ${r.page ? 'one' : 'none'} | ${r.median_s.toFixed(3)} | ${r.longest_s.toFixed(3)} |`)];
}

export function writeDocs(rows, runs) {
	const git = (...args) => execFileSync('git', args, { cwd: REPO, encoding: 'utf8' }).trim();
	const run = [`Run of ${new Date().toISOString().slice(0, 10)}, revision ${git('rev-parse', '--short', 'HEAD')}, ${cpus().length} cores (${cpus()[0].model.trim()}), no GPU, nothing else at work.`];
	const parts = { run, frames: frames(rows), memory: memory(rows), moments: moments(runs), reaction: reaction(runs.reaction) };
	let text = readFileSync(FILE, 'utf8');
	for (const [name, lines] of Object.entries(parts)) {
		const part = new RegExp(`(<!-- measured: ${name} -->\n)[^]*?(<!-- end -->)`);
		if (!part.test(text))
			throw new Error(`${FILE} has no part "measured: ${name}"`);
		text = text.replace(part, (_, a, b) => `${a}\n${lines.join('\n')}\n\n${b}`);
	}
	writeFileSync(FILE, text);
}
