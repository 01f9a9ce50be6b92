// SPDX-License-Identifier: BSD-2-Clause
//
// What goes wrong in a person's hands: damaged links and files, names that look like markup, a wrong token, a script of a
// fabric that was built by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Window, dir, eventually, ready, run, same, serve, test } from './lib.mjs';

const MARKUP = `</text><script>throw 1</script><b onclick='x'>&amp;`;
const netlist = () => `Switch\t4 "S-0002000000000001"\t# "${MARKUP}"\n[1]\t"H-0001000000000010"[1]\n[2]\t"H-0001000000000020"[1]\n\nCa\t1 "H-0001000000000010"\t# "été ☃"\n[1]\t"S-0002000000000001"[1]\n\nCa\t1 "H-0001000000000020"\t# ""\n[1]\t"S-0002000000000001"[2]\n`;

async function open(w, name, text) {
	const file = join(dir, name);
	writeFileSync(file, text);
	await w.openFile(file);
}

const toast = (pattern) => new RegExp(pattern).test(document.getElementById('toast').textContent);

test(async () => {
	const url = await serve(), w = await Window.open(`${url}#n=AAAA&v=1,2,x&at=7`);
	await w.until('a damaged link is told, and the first fabric comes up', () => weft.app.run.started && weft.app.fabric.nnodes === 44);
	await w.pause();

	const at = await w.nodeAt('root1'), now = await w.get(() => weft.app.run.now);
	await w.page.mouse.move(at.x, at.y);
	await w.page.mouse.down();
	await w.page.mouse.move(at.x + 60, at.y + 30, { steps: 4 });
	await w.page.mouse.up();
	await eventually('a switch is dragged', async () => Math.abs((await w.nodeAt('root1')).x - at.x - 60) < 2);
	await w.keys('O');
	await eventually('and laid out again', async () => Math.abs((await w.nodeAt('root1')).x - at.x) < 2);
	same('the run is left alone', await w.get(() => [weft.app.fabric.nnodes, weft.app.run.started, weft.app.run.now]), [44, true, now]);

	await open(w, 'bad.net', 'Switch\t4 "S-0002000000000001"\n[1]\t"H-0001');
	await w.until('a file with an error is refused with its line', toast, '2');
	same('and what was there stays', await w.get(() => [weft.app.fabric.nnodes, weft.app.run.started, weft.app.words]), [44, true, 'mtree 8 2']);
	const then = await w.get(() => weft.app.run.now);
	await w.keys('Space');
	await w.until('the run goes on', (t) => weft.app.run.now > t, then);
	await w.pause();

	await open(w, 'markup & names.net', netlist());
	await w.until('names are text', (t) => weft.app.fabric.nnodes === 3 && weft.app.fabric.f.name.includes(t), MARKUP);
	await w.keys('Space');
	await w.until('it comes up', () => weft.app.run.managers.some((m) => m.state === 3));
	await w.keys('Ctrl+a', 'Alt+s');
	const svg = readFileSync(await w.saved(/\.svg$/), 'utf8');
	same('in pictures, too', await w.get((t) => {
		const d = new DOMParser().parseFromString(t, 'image/svg+xml');
		return d.querySelector('parsererror') === null && d.querySelector('script, b') === null && d.documentElement.textContent.includes('<script>');
	}, svg), true);

	await w.keys('Escape', 'ArrowRight', 'p');
	await w.until('a node loses its power', () => weft.app.run.journal.length === 1);
	await w.pause();
	const hash = (await w.get(() => weft.app.command({ cmd: 'script' }))).hash;
	await w.keys('Ctrl+Shift+s');
	const script = await w.saved(/\.schedule$/), net = await w.saved(/\.net$/);
	same('script and netlist are in one directory', dirname(script), dirname(net));
	same('and replay to the same hash', JSON.parse(run('sim', 'trial', '--replay', script, '--json')).faults_trace_hash.replace(/^0x/, ''), hash);

	const other = await (await w.browser.createBrowserContext()).newPage();
	await other.goto(url.replace(/token=.*/, 'token=00000000000000000000000000000000'));
	await eventually('a wrong token is told', () => other.evaluate(() => document.body.textContent.includes('it has a token')));
	await other.goto(url);
	await ready(other);
	same('only what the test provoked is on the console', w.errors.filter((e) => !/403/.test(e)), []);
});
