// SPDX-License-Identifier: BSD-2-Clause
//
// Six scenes at 1280×720 and on a 4K screen, dark and light: nothing is cut off, bars and panes have room for what they show,
// text is large enough. Pictures of all of them are kept.
import { Window, background, env, eventually, ok, run, same, serve, sleep, test } from './lib.mjs';

const NAME = env.IBSIM_SOCKNAME;
const SIZES = [[1280, 720], [3840, 2160]];
const rest = () => {
	const r = weft.app.run, m = r.managers.find((x) => x.state === 3 && !(x.flags & 2));
	return m !== undefined && r.phases[m.phase] === 'ready';
};

/* What is cut off: text of bars, panes and buttons that has no room, and elements outside of the window. */
const faults = () => {
	const bad = [], visible = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
	for (const e of document.querySelectorAll('button, h2, h3, th, label, summary, .chips, .go, .legend, [role=tab], #bar, header')) {
		const r = e.getBoundingClientRect();
		if (!visible(e) || !r.width || e.closest('.log, .body, dialog:not([open])'))
			continue;
		if (e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX !== 'visible' && getComputedStyle(e).overflowX !== 'auto')
			bad.push(`cut off: ${e.tagName} ${e.className} "${e.textContent.trim().slice(0, 40)}" ${e.scrollWidth} > ${e.clientWidth}`);
		if (r.right > innerWidth + 1 || r.bottom > innerHeight + 1 || r.left < -1 || r.top < -1)
			bad.push(`outside: ${e.tagName} ${e.className} "${e.textContent.trim().slice(0, 40)}"`);
	}
	const body = document.querySelector('#pane .body');
	if (body && body.scrollWidth > body.clientWidth + 1)
		bad.push(`the pane is ${body.scrollWidth} wide, its place ${body.clientWidth}`);
	if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
		bad.push('the page scrolls');
	return bad;
};

// Each scene at one size in one theme, the next one at the other; ALL_THEMES=1: each at both sizes in both themes.
let looks = 0;

async function look(w, scene) {
	looks++;
	for (const [width, height] of env.ALL_THEMES ? SIZES : [SIZES[looks % 2]])
		for (const theme of env.ALL_THEMES ? ['dark', 'light'] : [looks % 3 ? 'dark' : 'light']) {
			await w.page.setViewport({ width, height });
			await w.page.focus('#gl');
			if ((await w.get(() => document.documentElement.classList.contains('light'))) !== (theme === 'light'))
				await w.keys('d');
			await w.keys('f');
			await sleep(500);
			await w.shot(`${scene}-${height}-${theme}`);
			same(`${scene}, ${width}×${height}, ${theme}: nothing is cut off`, await w.get(faults), []);
		}
	await w.page.setViewport({ width: 1280, height: 720 });
}

async function simulated() {
	const w = await Window.open(await serve());
	await w.until('a fabric comes up', () => weft.app.run.started);
	await w.keys('Alt+n');
	await w.until('an empty fabric', () => weft.app.fabric.nnodes === 0);
	await w.page.focus('#gl');
	await w.keys('g');
	await w.type('torus 4 4');
	await w.keys('Enter');
	await w.until('a torus', () => weft.app.words === 'torus 4 4');
	await w.page.focus('#gl');
	await w.find('sw1_1');
	await look(w, 'build');
	await w.keys('g');
	await w.type('mtree 8 3');
	await w.keys('Enter');
	await w.until('a tree', () => weft.app.words === 'mtree 8 3');
	await w.pane('Managers');
	await w.field('#pane input[aria-label="A packet every"]', '20us');
	await w.page.focus('#gl');
	await w.speed(20000);
	await w.keys('Space');
	await w.until('it runs', () => weft.app.run.started);
	await w.pause();
	await w.advance('it is up', 5e9, rest);
	await w.keys('C');
	await look(w, 'run');
	await w.keys('C', 'C');
	await w.find('mid0_1');
	await w.keys('p');
	await w.until('a switch is off', () => weft.app.run.journal.length === 1);
	await w.get(() => weft.app.go(weft.app.run.now + 3e8));
	await w.pane('Inspect');
	await look(w, 'broken');
	await w.page.focus('#gl');
	await w.keys('l', 'ArrowUp', 'ArrowUp');
	await w.until('the log leads to its lines', () => weft.app.node >= 0 && weft.app.fabric.f.name[weft.app.node] !== 'mid0_1' && /Message/.test(document.getElementById('pane').textContent));
	await look(w, 'log');
	await w.find('mid0_2');
	await w.keys('w');
	await w.until('what-if can be cancelled', () => {
		const b = [...document.querySelectorAll('#pane button')].find((x) => x.textContent === 'Cancel');
		b?.click();
		return b !== undefined;
	});
	await w.until('it ends, and says so', () => !document.querySelector('#pane progress') && document.getElementById('toast').textContent.includes('cancelled'));
	same('without an answer', await w.get(() => [document.querySelector('#pane .figures'), document.querySelector('#pane button.main').disabled]), [null, false]);
	await w.page.focus('#gl');
	await w.keys('w');
	await w.until('what-if shows how far it is', () => document.querySelector('#pane progress')?.value > 0 || document.querySelector('#pane .figures'));
	await w.until('what-if has an answer', () => document.querySelector('#pane .figures') && document.querySelector('#pane pre')?.textContent.includes('weft sim change'));
	await look(w, 'whatif');
	same('two ways to a moment at once both end, soon', await w.get(async () => {
		const began = performance.now(), { app } = weft;
		await Promise.all([app.go(1e9), app.go(2e9)]);
		return performance.now() - began < 20000;
	}), true);
	w.quiet();
}

async function live() {
	run('topo', 'gen', 'mtree', '8', '3', '-o', 'tree.net');
	background('fabric', 'tree.net', '--no-console', '-q');
	await eventually('the emulator serves', () => run('ctl', '--name', NAME, 'fabric', 'stat'));
	background('sm', '--server', NAME, '--state', '');
	run('ctl', '--name', NAME, 'wait');
	const w = await Window.open(await serve('--live', NAME));
	await w.until('the live page shows the fabric', () => weft.app.isLive && weft.app.fabric.nnodes === 208);
	const cable = await w.get(() => `"${weft.app.nodeWord(weft.app.fabric.f.name.indexOf('root0_0'))}"[2]`);
	run('ctl', '--name', NAME, 'fabric', 'unlink', cable);
	await w.until('a link is cut', () => weft.app.lastState?.link.some((s, i) => i % 3 === 0 && s === 4));
	await w.until('which is told', () => document.getElementById('pane').textContent.includes('down'));
	await look(w, 'live');
	for (const title of await w.get(() => [...document.querySelectorAll('#pane [role=tab]')].map((b) => b.textContent))) {
		await w.pane(title);
		await sleep(400);
		same(`pane ${title}: nothing is cut off`, await w.get(faults), []);
	}
	w.quiet();
}

test(async () => {
	await simulated();
	await live();
	ok('all scenes');
});
