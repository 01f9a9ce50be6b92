// SPDX-License-Identifier: BSD-2-Clause
//
// The live page on `weft fabric` and `weft sm`: it follows an unlink and a relink, with the name of the cable; it may look,
// and change nothing; panes of changes, virtual machines, counters, multicast groups with their trees, partitions, services and
// the load of subnet administration; routes and loads by the manager's tables; what a failure
// would cost, as weft sim change says it; the fabric can be taken as a twin.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Window, background, dir, env, eventually, ok, assert, run, same, serve, test, weft } from './lib.mjs';

const NAME = env.IBSIM_SOCKNAME;
const paneHas = (...words) => words.every((t) => document.getElementById('pane').textContent.includes(t));

const BUILD = join(dirname(weft), '../..'), CLIENT = join(BUILD, 'tests/sa_client'), PRELOAD = join(BUILD, 'src/preload/libweft-umad.so');
const BROADCAST = 'ff12401bffff000000000000ffffffff';
/* What the kernel of host n asks of subnet administration. */
const host = (n, ...args) => execFileSync(CLIENT, args, { env: { ...env, LD_PRELOAD: PRELOAD, SIM_HOST: `H-00010000000000${(16 + 4 * n).toString(16)}` }, encoding: 'utf8' });
const choose = (text) => [...document.querySelectorAll('#pane tbody .ref')].find((b) => b.textContent === text).click();

/* What is lit is a tree that leads from the first of these nodes to all of them. */
const isTree = (title, ...names) => {
	const { overlay, fabric } = weft.app, f = fabric.f;
	if (overlay?.title !== title)
		return false;
	const seen = new Set([f.name.indexOf(names[0])]), links = [...overlay.links];
	for (let grown = true; grown;) {
		grown = false;
		for (const l of links)
			if (seen.has(f.a[l]) !== seen.has(f.b[l])) {
				seen.add(f.a[l]).add(f.b[l]);
				grown = true;
			}
	}
	return names.every((x) => seen.has(f.name.indexOf(x))) && links.length === seen.size - 1 && overlay.nodes.size === seen.size;
};

/* What hosts registered, as panes. */
async function registrations(w) {
	if (!existsSync(CLIENT) || !existsSync(PRELOAD)) {
		console.log(`# panes of registrations are not tested: ${CLIENT} or ${PRELOAD} is not built`);
		return;
	}
	for (const n of [1, 2, 7])
		host(n, 'join', BROADCAST, '1');
	host(6, 'service', 'a service', '3600');
	host(5, 'inform', '66');
	await w.get(() => weft.app.select([]));
	await w.pane('Groups');
	await w.until('groups are listed', paneHas, '2 multicast groups', 'IPv4 broadcast', 'IPv6 all nodes', '0xc000');
	await w.get(choose, 'IPv4 broadcast');
	await w.until('the tree of a group is lit', isTree, 'group', 'host 1', 'host 2', 'host 7');
	await w.until('with its members', paneHas, '3 members', 'host 1', 'host 2', 'host 7', 'full');
	host(4, 'join', BROADCAST, '1');
	await w.until('the tree follows a join', isTree, 'group', 'host 1', 'host 2', 'host 4', 'host 7');
	const cable = await w.get(() => {
		const { app } = weft, f = app.fabric.f;
		return [...app.overlay.links].filter((l) => f.type[f.a[l]] === 2 && f.type[f.b[l]] === 2).map((l) => [app.linkWord(l), l])[0];
	});
	run('ctl', '--name', NAME, 'fabric', 'unlink', cable[0].replace(/^(.*)(\[\d+\])$/, '"$1"$2'));
	await w.until('and the loss of one of its links', (l) => weft.app.overlay?.title === 'group' && !weft.app.overlay.links.has(l), cable[1]);
	await w.until('to the same members', isTree, 'group', 'host 1', 'host 2', 'host 4', 'host 7');
	run('ctl', '--name', NAME, 'fabric', 'relink', cable[0].replace(/^(.*)(\[\d+\])$/, '"$1"$2'));
	await w.shot('groups');
	await w.axe('groups');
	await w.pane('Partitions');
	await w.until('partitions', paneHas, '1 partition', '0x7fff');
	await w.get(() => document.querySelector('#pane tbody .ref').click());
	await w.until('their members are lit', () => weft.app.overlay?.title === 'partition' && weft.app.overlay.nodes.size === 14);
	await w.until('and listed', paneHas, 'host 5', 'leaf1', 'full');
	await w.page.focus('#gl');
	await w.keys('Escape');
	await w.pane('Services');
	await w.until('services and subscriptions', paneHas, '1 service', 'a service', 'host 6', '3 600 s', '1 subscription', 'host 5', 'a group comes');
	await w.pane('SA load');
	await eventually('the load of subnet administration, a second', () => {
		host(1, 'class');
		return w.get(() => /ClassPortInfo (?!0[,.]?0?\b)\d/.test(document.querySelector('#pane .sa-plot')?.getAttribute('aria-label')));
	});
	await w.until('its counters by attribute', paneHas, 'MCMember', 'Service', 'InformInfo', 'Groups, members2, 4');
	await w.axe('SA load');
}

test(async () => {
	run('topo', 'gen', 'mtree', '4', '2', '-o', 'tree.net');
	background('fabric', 'tree.net', '--no-console', '-q');
	await eventually('the emulator serves', () => run('ctl', '--name', NAME, 'fabric', 'stat'));
	background('sm', '--server', NAME, '--state', '');
	run('ctl', '--name', NAME, 'wait');
	const w = await Window.open(await serve('--live', NAME));
	await w.until('the live page shows the fabric', () => weft.app.isLive && weft.app.fabric.nnodes === 14 && weft.app.fabric.nlinks === 16);
	await w.until('all links are active, and there is one master', () => weft.app.lastState?.link.filter((_, i) => i % 3 === 0).every((s) => s === 3) && weft.app.lastState.managers.map((m) => m.state).join() === '3');
	await w.until('the pane shows the manager', paneHas, 'Master');

	const [name, port] = ['root0', 2], peer = await w.get((x, p) => {
		const { fabric } = weft.app, n = fabric.f.name.indexOf(x), l = fabric.linkAt(n, p);
		return fabric.f.name[fabric.peer(l, n)];
	}, name, port);
	const cable = await w.get((x, p) => `"${weft.app.nodeWord(weft.app.fabric.f.name.indexOf(x))}"[${p}]`, name, port);
	run('ctl', '--name', NAME, 'fabric', 'unlink', cable);
	await eventually('a cable is unplugged: its link is cut', async () => (await w.linkState(name, peer)) === 4);
	await w.until('the other links are active', () => weft.app.lastState.link.filter((s, i) => i % 3 === 0 && s === 3).length === 15);
	await w.until('the page names the cable', paneHas, name, peer, 'down');
	await w.shot('live');
	run('ctl', '--name', NAME, 'fabric', 'relink', cable);
	await eventually('the cable is plugged in: its link is active', async () => (await w.linkState(name, peer)) === 3);
	await w.until('the page tells that, too', paneHas, name, peer, 'up');

	await w.find('leaf1');
	await w.pane('Inspect');
	await w.until('a node shows its attributes', paneHas, 'GUID', 'LID', 'Active');
	await w.keys('p');
	await w.until('it cannot be broken from here', () => /twin|Space/.test(document.getElementById('toast').textContent));
	same('nothing was changed', await w.get(() => weft.app.lastState.node[weft.app.node] & 1), 1);

	await w.find('host 1');
	await w.keys('r');
	await w.find('host 6');
	await w.keys('r');
	await w.until('a route with its service level', paneHas, 'SL 0 · VL 0', 'host 6');
	await w.find('leaf1');
	await w.keys('t');
	await w.until('the tree of a destination', () => weft.app.overlay?.title === 'tree' && weft.app.overlay.links.size === 5);
	await w.keys('o');
	await w.until('loads of links', () => weft.app.loads?.ab.some((n) => n > 0));
	await w.keys('o');
	await w.pane('Changes');
	await w.until('changes are listed with their cables', paneHas, 'down', 'up', `${name} [${port}]`, peer);
	await w.get((x) => [...document.querySelectorAll('#pane .ref')].find((b) => b.textContent.includes(x)).click(), `${name} [${port}]`);
	same('a click goes to the cable', await w.get(() => weft.app.link >= 0 && weft.app.fabric.f.name[weft.app.fabric.f.a[weft.app.link]] !== undefined), true);
	await w.pane('Quality');
	await w.get(() => document.querySelector('#pane button.main').click());
	await w.until('the quality of routes, by the manager\'s tables', paneHas, 'Engine', JSON.parse(run('ctl', '--name', NAME, 'status', '--json')).engine, 'Random pairs', 'Busiest links', 'root0');
	same('the worst links are coloured', await w.get(() => weft.app.overlay.title === 'quality' && weft.app.overlay.heat.size === 8), true);
	await w.keys('Escape');
	await w.pane('Counters');
	await w.get(() => document.querySelector('#pane button.main').click());
	await w.until('counters come from the devices', paneHas, 'Busiest ports', 'KB');
	await w.pane('VMs');
	await w.until('there are no virtual machines', paneHas, 'None.');
	await registrations(w);
	await eventually('all cables are plugged in', () => w.get(() => weft.app.lastState.link.filter((s, i) => i % 3 === 0 && s === 3).length === 16));
	await w.find('root1');
	await w.keys('w');
	await w.until('what a failure would cost, from the live page', () => document.querySelector('#pane .figures')?.textContent.includes('packets lost'));
	const [text, smps] = await w.get(() => [document.querySelector('#pane details pre').textContent, [...document.querySelectorAll('#pane .figures div')].find((d) => d.textContent.endsWith('SMPs') && /^\d+SMPs$/.test(d.textContent)).querySelector('b').textContent]);
	writeFileSync(join(dir, 'live.net'), run('ctl', '--name', NAME, 'topology'));
	const change = JSON.parse(run(...text.trim().split(/\s+/).slice(1), '--json'));
	same('weft sim change says the same', Number(smps), change.change.smps.total);

	await w.find('leaf1');
	await w.pane('What if');
	const target = new Promise((r) => w.browser.once('targetcreated', r));
	await w.get(() => [...document.querySelectorAll('#pane button')].find((b) => /twin/.test(b.textContent)).click());
	const twin = new Window({ browser: w.browser, page: await (await target).page(), errors: w.errors });
	await twin.until('the twin has the live fabric', () => document.body.dataset.ready === 'true' && !weft.app.isLive && weft.app.fabric.nnodes === 14 && weft.app.fabric.nlinks === 16);
	await twin.page.bringToFront();
	await twin.find('leaf1');
	await twin.keys('w');
	await twin.until('what a failure would cost, on the twin', () => document.querySelector('#pane .figures')?.textContent.includes('SMPs'));
	assert.equal(await w.get(() => weft.app.lastState.node.filter((s) => s & 1).length), 14);
	ok('the live fabric is untouched');
	w.quiet();
});
