// SPDX-License-Identifier: BSD-2-Clause
//
// Frame of the tests of `weft ui` in a browser, as TAP: the program with its real engine, a page, steps that wait until
// something is seen, what a person does with pointer and keyboard, and files that the page saves.
//
//	node NAME.mjs PATH/TO/weft DIRECTORY-FOR-PICTURES
//
// The first step that fails ends a test: what follows depends on it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UI, browse, ready, sleep } from '../browser/harness.mjs';

export { assert, ready, sleep };
export const weft = resolve(process.argv[2] ?? 'build/src/cli/weft');
export const shots = resolve(process.argv[3] ?? join(UI, 'build/shots'));
export const dir = mkdtempSync(join(tmpdir(), 'weft-window-'));
const WAIT_MS = 60000 * Number(process.env.MESON_TEST_SLOWER ?? 1);
export const env = { ...process.env, RUNTIME_DIRECTORY: join(dir, 'run'), XDG_RUNTIME_DIR: '', DISPLAY: '', IBSIM_SOCKNAME: process.env.WEFT_LIVE_NAME ?? `weft-window-${process.pid}` };
export const programs = [];
const pages = [];
let n = 0;

/* Without a GPU sixty frames a second take all cores, and engine and test have to wait. */
const TEN_FRAMES = () => {
	window.requestAnimationFrame = (fn) => setTimeout(() => fn(performance.now()), 100);
};

mkdirSync(env.RUNTIME_DIRECTORY, { recursive: true });
mkdirSync(shots, { recursive: true });

/* ---- steps ---- */

const began = Date.now();
export function ok(what) {
	if (process.env.TIMES)
		console.log(`# ${((Date.now() - began) / 1000).toFixed(1)} s`);
	console.log(`ok ${++n} - ${what}`);
}

export function same(what, got, expected) {
	assert.deepEqual(got, expected, what);
	ok(what);
}

export async function eventually(what, fn) {
	const end = Date.now() + WAIT_MS;
	let said = '';
	for (;;) {
		try {
			if (await fn())
				break;
		} catch (e) {
			said = String(e);
		}
		assert.ok(Date.now() < end, `${what}: not within ${WAIT_MS / 1000} s ${said}`);
		await sleep(40);
	}
	ok(what);
}

/* All of a test. */
export async function test(body) {
	let status = 0;
	try {
		await body();
	} catch (e) {
		status = 1;
		console.log(`not ok ${++n} - ${String(e.message ?? e).split('\n')[0]}`);
		console.log(String(e.stack ?? e).replace(/^/gm, '# '));
		for (const p of pages)
			await p.tell().catch(() => {});
	}
	for (const p of pages) {
		const gone = new Promise((r) => p.browser.process().once('exit', r));
		await Promise.all([p.browser.close(), gone]).catch(() => {});
	}
	for (const p of programs.reverse()) {
		const code = await ended(p);
		if (code !== 0 && status === 0) {
			status = 1;
			console.log(`not ok ${++n} - ${p.spawnargs.slice(1).join(' ')} ends with status ${code}`);
		}
	}
	console.log(`1..${n}`);
	process.chdir('/');
	rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
	process.exit(status);
}

/* ---- programs ---- */

/* A report of a sanitizer at the end is a status. */
function ended(p) {
	if (p.exitCode !== null)
		return p.exitCode;
	return new Promise((r) => {
		p.once('exit', (code, signal) => r(code ?? signal));
		p.kill();
	});
}

/* Runs it to its end in the test's directory; its output. */
export function run(...args) {
	return execFileSync(weft, args, { cwd: dir, env, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
}

export function background(...args) {
	const p = spawn(weft, args, { cwd: dir, env, stdio: ['ignore', 'pipe', args[0] === 'sm' ? 'ignore' : 'inherit'] });
	programs.push(p);
	return p;
}

/* The address that `weft ui` prints. */
export function serve(...args) {
	const p = background('ui', '--no-browser', ...args);
	return new Promise((resolve_, reject) => {
		let said = '';
		p.stdout.on('data', (d) => {
			said += d;
			if (said.includes('\n'))
				resolve_(said.trim());
		});
		p.on('exit', (code) => reject(new Error(`weft ui ended with status ${code}`)));
	});
}

/* ---- a page ---- */

export class Window {
	constructor({ browser, page, errors }) {
		Object.assign(this, { browser, page, errors, downloads: mkdtempSync(join(dir, 'saved-')) });
	}

	static async open(url, options) {
		const w = new Window(await browse(options));
		pages.push(w);
		await w.page.evaluateOnNewDocument(TEN_FRAMES);
		const cdp = await w.browser.target().createCDPSession();
		await cdp.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: w.downloads });
		await w.page.goto(url);
		await ready(w.page);
		return w;
	}

	/* Another tab, with storage of its own. */
	async tab(url) {
		const context = await this.browser.createBrowserContext(), page = await context.newPage();
		await page.setViewport({ width: 1280, height: 720 });
		await page.evaluateOnNewDocument(TEN_FRAMES);
		await page.goto(url);
		await ready(page);
		const w = new Window({ browser: this.browser, page, errors: this.errors });
		w.close = () => context.close();
		return w;
	}

	get(fn, ...args) {
		return this.page.evaluate(fn, ...args);
	}

	until(what, fn, ...args) {
		return eventually(what, () => this.page.evaluate(fn, ...args));
	}

	async shot(name) {
		await sleep(300); /* a frame */
		await this.page.screenshot({ path: join(shots, `${name}.png`) });
	}

	/* For the log of a test that failed. */
	async tell() {
		await this.page.screenshot({ path: join(shots, 'failed.png') });
		const state = await this.page.evaluate(() => {
			const { app } = weft, r = app.run;
			return { name: app.name, nodes: app.fabric?.nnodes, links: app.fabric?.nlinks, started: r.started, now: r.now, speed: r.speed, managers: r.managers, journal: r.journal.map((j) => j.text), toasts: document.getElementById('toast').textContent };
		});
		console.log(`# ${JSON.stringify(state)}`);
		console.log(`# ${JSON.stringify(this.errors)}`);
	}

	/* "Ctrl+Shift+L", "Space", "?": as the page names keys. */
	/* Opens this file as a person does. A key may come while the page is busy with something else: then it is pressed again. */
	async openFile(file) {
		for (let i = 0; i < 6; i++) {
			await this.page.focus('#gl');
			const chooser = this.page.waitForFileChooser({ timeout: 8000 }).catch(() => null);
			await new Promise((done) => setTimeout(done, 100));
			await this.keys('Ctrl+o');
			const c = await chooser;
			if (c)
				return c.accept([file]);
		}
		throw new Error('Ctrl+o opens no file chooser');
	}

	async keys(...names) {
		for (const name of names) {
			const parts = name === '+' ? ['+'] : name.split('+'), key = parts.pop(), held = parts.map((p) => (p === 'Ctrl' ? 'Control' : p));
			for (const h of held)
				await this.page.keyboard.down(h);
			await this.page.keyboard.press(held.includes('Shift') && key.length === 1 ? key.toUpperCase() : key);
			for (const h of held.reverse())
				await this.page.keyboard.up(h);
		}
	}

	type(text) {
		return this.page.keyboard.type(text);
	}

	/* A command of the palette, by its title. */
	async command(title) {
		await this.keys(':');
		await this.type(title);
		await this.keys('Enter');
	}

	async find(name) {
		await this.keys('/');
		await this.type(name);
		await this.keys('Enter');
		await eventually(`${name} is chosen`, () => this.get((x) => weft.app.node >= 0 && weft.app.fabric.f.name[weft.app.node] === x, name));
	}

	/* Simulated microseconds for each second. */
	speed(us) {
		return this.get((s) => (weft.app.run.speed > 0 ? weft.app.setSpeed(s) : void (weft.app.chosenSpeed = s)), us);
	}

	/* Space, and no frame of the run is under way any more. */
	async pause() {
		await eventually('the run is on', () => this.get(() => weft.app.run.speed > 0));
		await this.keys('Space');
		await eventually('the run pauses', () => this.get(() => weft.app.run.speed === 0));
		let before = '';
		for (let now = 'x'; now !== before; await sleep(300)) {
			before = now;
			await this.get(() => weft.app.command({ cmd: 'series' }));
			now = await this.get(() => String(weft.app.lastState?.now));
		}
	}

	/* Goes forward in steps of so many ps, without frames, until something is seen: as far on each machine. */
	async advance(what, step, fn, ...args) {
		for (let i = 0; i < 60; i++) {
			if (await this.get(fn, ...args))
				return ok(what);
			await this.get((ps) => weft.app.go(weft.app.run.now + ps), step);
		}
		assert.fail(`${what}: not within ${(60 * step) / 1e9} ms of the run`);
	}

	async pane(title) {
		await this.get((t) => [...document.querySelectorAll('#pane [role=tab]')].find((b) => b.textContent === t).click(), title);
	}

	/* Another value for an input. */
	async field(selector, text) {
		await this.get((s) => {
			document.querySelector(s).focus();
			document.querySelector(s).select();
		}, selector);
		await this.type(text);
		await this.keys('Enter');
	}

	async click(at, options) {
		await this.page.mouse.click(at.x, at.y, options);
	}

	/* A place of the stage, as shares of its size. */
	async place(x, y) {
		const r = await this.get(() => {
			const b = document.getElementById('gl').getBoundingClientRect();
			return { x: b.left, y: b.top, w: b.width, h: b.height };
		});
		return { x: r.x + r.w * x, y: r.y + r.h * y };
	}

	/* Where things are on screen counts when the view does not move any more. */
	async still() {
		for (let i = 0; i < 100 && (await this.get(() => weft.view.camera.gliding)); i++)
			await sleep(50);
	}

	async nodeAt(name) {
		await this.still();
		return this.get((x) => {
			const { app, view } = weft, f = app.fabric.f, i = f.name.indexOf(x), r = document.getElementById('gl').getBoundingClientRect(), [px, py] = view.camera.toScreen(f.x[i], f.y[i]);
			return { x: px + r.left, y: py + r.top };
		}, name);
	}

	/* On the link between two nodes, nearer to the first. */
	async linkAt(a, b) {
		await this.still();
		return this.get((x, y) => {
			const { app, view } = weft, f = app.fabric.f, i = f.name.indexOf(x), j = f.name.indexOf(y), r = document.getElementById('gl').getBoundingClientRect();
			const [px, py] = view.camera.toScreen(f.x[i] * 0.45 + f.x[j] * 0.55, f.y[i] * 0.45 + f.y[j] * 0.55);
			return { x: px + r.left, y: py + r.top };
		}, a, b);
	}

	/* State of the link between two nodes: 3 is Active, 4 is cut. */
	linkState(a, b) {
		return this.get((x, y) => {
			const { app } = weft, f = app.fabric.f, i = f.name.indexOf(x), j = f.name.indexOf(y);
			for (let l = 0; l < f.nlinks; l++)
				if ((f.a[l] === i && f.b[l] === j) || (f.a[l] === j && f.b[l] === i))
					return app.lastState?.link[3 * l];
			return undefined;
		}, a, b);
	}

	/* All that a moment shows, but loads: these are shares of the time since the frame before. */
	moment() {
		return this.get(() => {
			const s = weft.app.lastState;
			return { now: String(s.now), events: String(s.events), node: [...s.node].join(''), link: [...s.link].filter((_, i) => i % 3 !== 1).join(), managers: s.managers };
		});
	}

	/* Waits until a file that the page saves is whole. */
	async saved(pattern) {
		let name;
		await eventually(`the page saves ${pattern}`, () => {
			name = readdirSync(this.downloads).find((f) => pattern.test(f) && !f.endsWith('.crdownload'));
			return name && statSync(join(this.downloads, name)).size > 0;
		});
		return join(this.downloads, name);
	}

	async axe(name) {
		const source = join(UI, 'node_modules/axe-core/axe.min.js');
		assert.ok(existsSync(source), 'axe-core is not installed');
		await this.get(readFileSync(source, 'utf8'));
		const found = await this.get(() => axe.run(document, { resultTypes: ['violations'] }));
		const bad = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
		same(`axe-core finds nothing serious: ${name}`, bad.map((v) => `${v.id}: ${v.nodes.map((x) => x.html.slice(0, 100)).join(' | ')}`), []);
	}

	quiet() {
		same('no errors on the console', this.errors, []);
	}
}
