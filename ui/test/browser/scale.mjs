// SPDX-License-Identifier: BSD-2-Clause
//
// How long a frame takes on large made-up fabrics: node test/browser/scale.mjs [WIDTH HEIGHT] [--write-docs [--busy]]
//
// --write-docs: also measures what it takes to go to a moment and what a live page costs (scrub.mjs, reaction.mjs, with
// build/src/cli/weft), and writes all of it into docs/results/window.md. It refuses on a machine that is not quiet; --busy: it measures anyway.
//
// One line of JSON for each fabric and zoom. seen: nodes in view; script: milliseconds of script and draw calls, median and 95 %;
// whole: the same until the renderer has
// finished; cpu: milliseconds of processor time of the page's and the renderer's process for each frame, which other load on the
// machine does not change; first: from the data to the first picture; heap: MB of script memory; process: MB of the page's process.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UI, browse, ready, serve } from './harness.mjs';
import { measureRuns, notQuiet, writeDocs } from './scale_docs.mjs';

const [width, height] = process.argv.slice(2).filter((a) => !a.startsWith('--')).map(Number), docs = process.argv.includes('--write-docs'), rows = [];
const tell = (row) => {
	rows.push(row);
	console.log(JSON.stringify(row));
};
if (docs) {
	const why = process.argv.includes('--busy') ? '' : notQuiet();
	if (why) {
		console.error(`scale.mjs: ${why}`);
		process.exit(1);
	}
	execFileSync(process.execPath, ['build.mjs', '--mock'], { cwd: UI, stdio: ['ignore', 'ignore', 'inherit'] });
}
const { server, url } = await serve(join(UI, 'build/mock'));
const { browser, page } = await browse({ width: width || 1280, height: height || 720 });
await page.goto(url);
await ready(page);
await page.evaluate(() => weft.app.setSpeed(0));

/* The view moves in every frame. */
const FRAMES = 24;
const measure = async (scale) => {
	const before = cpu(), figures = await moving(scale), after = cpu();
	/* Each step draws twice: the frame, and once more to wait for it. */
	return { ...figures, cpu: after.map((v, i) => Math.round((v - before[i]) / (2 * FRAMES))) };
};
const moving = (scale) => page.evaluate(async (s, frames) => {
	const { view, app } = weft, f = app.fabric, script = [], whole = [];
	/* In the middle of the lowest switches, with hosts in view. */
	const leaf = f.peer(f.links(f.f.type.length - 1)[0], f.f.type.length - 1);
	if (s)
		view.setView([s < 10 ? (f.bounds.x0 + f.bounds.x1) / 2 : f.f.x[leaf], s < 10 ? (f.bounds.y0 + f.bounds.y1) * 0.7 : f.f.y[leaf], s]);
	else
		view.fit(false);
	await new Promise((r) => setTimeout(r, 600));
	for (let i = 0; i < frames; i++) {
		view.panBy(i % 20 < 10 ? 9 : -9, i % 10 < 5 ? 3 : -3);
		const before = view.frameTimes.length, began = performance.now();
		await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
		if (view.frameTimes.length > before)
			script.push(view.frameTimes.at(-1));
		view.scene.finish();
		const t = performance.now();
		view.scene.markStale();
		view.scene.draw(view.camera, 0, 1, true);
		view.scene.finish();
		whole.push(performance.now() - t);
		void began;
	}
	const q = (l, p) => +[...l].sort((a, b) => a - b)[Math.min(l.length - 1, Math.floor(l.length * p))].toFixed(1);
	const box = document.getElementById('gl').getBoundingClientRect(), inside = (i) => {
		const [x, y] = view.camera.toScreen(f.f.x[i], f.f.y[i]);
		return x >= 0 && y >= 0 && x <= box.width && y <= box.height;
	};
	let seen = 0;
	for (let i = 0; i < f.nnodes; i++)
		seen += inside(i) ? 1 : 0;
	return { seen, links: view.scene.stats.links, script: [q(script, 0.5), q(script, 0.95)], whole: [q(whole, 0.5), q(whole, 0.95)] };
}, scale, FRAMES);

for (const words of ['pods 36 18', 'pods 56 28']) {
	const first = await page.evaluate(async (w) => {
		const { app, view } = weft;
		let at = 0;
		app.on(['fabric'], () => (at ||= performance.now()));
		await app.generate(w);
		await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
		view.scene.finish();
		return performance.now() - at;
	}, words);
	const nodes = await page.evaluate(() => weft.app.fabric.nnodes);
	for (const [zoom, scale] of [['whole', 0], ['pod', 4], ['switches', 20], ['ports', 60]])
		tell({ fabric: words, nodes, zoom, first: Math.round(first), ...(await measure(scale)) });
	await page.evaluate(() => globalThis.gc?.());
	const heap = (await page.metrics()).JSHeapUsedSize / 1e6, pids = await rendererSizes();
	tell({ fabric: words, heap: Math.round(heap), process: pids });
}
await browser.close();
server.close();
if (docs)
	writeDocs(rows, measureRuns(join(UI, '../build/src/cli/weft')));

/* Resident memory of the page's process: the largest renderer among the browser's children. */
async function rendererSizes() {
	const root = browser.process()?.pid;
	let most = 0;
	for (const pid of readdirSync('/proc').filter((d) => /^\d+$/.test(d))) {
		try {
			const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
			if (line.includes('--type=renderer') && ancestors(Number(pid)).includes(root))
				most = Math.max(most, Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
		} catch {
			/* it has ended */
		}
	}
	return Math.round(most);
}

/* Processor time so far, ms: the page's process, the renderer's (all of that type, of this browser). */
function cpu() {
	const root = browser.process()?.pid, sum = { renderer: 0, 'gpu-process': 0 };
	for (const pid of readdirSync('/proc').filter((d) => /^\d+$/.test(d))) {
		try {
			const type = /--type=(renderer|gpu-process)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1];
			if (!type || !ancestors(Number(pid)).includes(root))
				continue;
			const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
			sum[type] += (Number(stat[11]) + Number(stat[12])) * 10;
		} catch {
			/* it has ended */
		}
	}
	return [sum.renderer, sum['gpu-process']];
}

function ancestors(pid) {
	const out = [];
	while (pid > 1 && out.length < 20) {
		pid = Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
		out.push(pid);
	}
	return out;
}
