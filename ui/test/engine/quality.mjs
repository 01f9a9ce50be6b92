// SPDX-License-Identifier: BSD-2-Clause
//
// The quality of routes as a pane; the engine that computed them; sizes of a switch's tables, a router and virtual functions
// as properties; what-if on a link shows a command that gives the same figures.
import { readFileSync } from 'node:fs';
import { Window, run, same, serve, test } from './lib.mjs';

const paneHas = (...words) => words.every((t) => document.getElementById('pane').textContent.includes(t));
const rest = () => {
	const r = weft.app.run, m = r.managers.find((x) => x.state === 3 && !(x.flags & 2));
	return m !== undefined && r.phases[m.phase] === 'ready';
};
const size = (name) => `#pane input[aria-label="${name} table"]`;

async function quality(w) {
	await w.keys('q');
	await w.until('the pane says what it measures', paneHas, 'Quality of routes', 'Measure');
	await w.get(() => document.querySelector('#pane button.main').click());
	await w.until('shares, worst links and the engine', paneHas, 'Engine', 'fera', 'Random pairs', 'All to all', 'Busiest links', 'root');
	same('the worst links are coloured', await w.get(() => weft.app.overlay.heat.size >= 20), true);
	await w.get(() => document.querySelector('#pane .ref').click());
	same('a click goes to one', await w.get(() => weft.app.link >= 0), true);
	await w.axe('quality');
	await w.shot('quality');
	await w.keys('Escape', 'Escape');
}

/* What-if on a link: its command gives the figures. */
async function unlink(w) {
	await w.get(() => weft.app.select([], weft.app.fabric.linkAt(weft.app.fabric.f.name.indexOf('root1'), 3)));
	await w.keys('w');
	await w.until('what-if on a link has an answer', () => document.querySelector('#pane pre')?.textContent.includes('--unlink'));
	const line = await w.get(() => document.querySelector('#pane pre').textContent), smps = await w.get(() => [...document.querySelectorAll('#pane .figures > div')].find((d) => d.querySelector('span').textContent === 'SMPs').querySelector('b').textContent);
	run('topo', 'gen', 'mtree', '8', '2', '-o', 'fabric.net');
	const c = JSON.parse(run(...line.replaceAll("'", '').split(' ').slice(1), '--json'));
	same('with the figures of its command', Number(smps), c.change.smps.total);
}

/* Properties of switches, hosts and routers. */
async function properties(w) {
	await w.find('root0');
	await w.pane('Inspect');
	await w.until('a switch has table sizes', () => document.querySelectorAll('#pane input[aria-label$=" table"]').length === 3);
	await w.field(size('Linear'), '1024');
	await w.until('one is changed', () => [...weft.app.editor.doc.nodes.values()].some((n) => n.linear === 1024));
	await w.page.focus('#gl');
	await w.until('the device has it', paneHas, 'linear_cap');
	same('as SwitchInfo says', await w.get(() => weft.app.command({ cmd: 'node', node: 'root0' }).then((r) => Object.fromEntries(r.node.groups[1].fields).linear_cap)), '1024');
	await w.find('host 3');
	await w.pane('Inspect');
	await w.field('#pane input[aria-label="Virtual functions"]', '2');
	await w.until('a host gets virtual functions', () => weft.app.fabric.f.name.includes('host 3 VF2'));
	await w.page.focus('#gl');
	await w.find('host 3');
	await w.until('and can have others', () => document.querySelector('#pane input[aria-label="Virtual functions"]')?.value === '2' && !document.querySelector('#pane input[aria-label="Ports"]'));
	await w.keys('4');
	await w.click(await w.place(0.5, 0.9));
	await w.until('a router is placed, while the run is on', () => weft.app.fabric.f.type.includes(3) && weft.app.run.journal.some((j) => j.text.startsWith('add router')));
	await w.keys('Escape', 'Ctrl+s');
	const text = readFileSync(await w.saved(/\.net$/), 'utf8');
	same('the netlist has both properties', [/\nlinearcap=1024\nSwitch/, /\nsriov=vswitch vfs=2\nCa/].map((p) => p.test(text)), [true, true]);
}

/* Another engine, with the next start. */
async function engine(w) {
	await w.pane('Managers');
	same('engines can be chosen', await w.get(() => [...document.querySelector('#pane select[aria-label="Routes by"]').options].map((o) => o.value).includes('tree')), true);
	await w.get(() => {
		const s = document.querySelector('#pane select[aria-label="Routes by"]');
		s.value = 'tree';
		s.dispatchEvent(new Event('change'));
		document.getElementById('gl').focus();
	});
	await w.keys('Shift+Space');
	await w.until('the run begins again', () => weft.app.run.started && weft.app.run.journal.length === 0);
	await w.pause();
	await w.advance('it comes up', 5e9, rest);
	await w.keys('q');
	await w.get(() => document.querySelector('#pane button.main').click());
	await w.until('the routes are those of the engine', () => /Engine(fera, because )?tree/.test(document.getElementById('pane').textContent));
	same('the script has it', await w.get(() => weft.app.command({ cmd: 'script' }).then((r) => / routes tree/.test(r.text))), true);
}

test(async () => {
	const w = await Window.open(await serve());
	await w.until('the first fabric comes up', () => weft.app.run.started);
	await w.pause();
	await w.advance('it is at rest', 5e9, rest);
	await quality(w);
	await unlink(w);
	await properties(w);
	await engine(w);
	same('no errors on the console', w.errors, []);
});
