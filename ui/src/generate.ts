// SPDX-License-Identifier: BSD-2-Clause
//
// The dialog of generators: all kinds with their sizes, options and what they make. The result is words of `weft topo gen`.
import { byId, fill, h } from './dom.ts';

export interface Family {
	kind: string;
	title: string;
	/* name, usual value, what it is; a name with ? may be left out */
	sizes: [string, string, string][];
	help: string;
	options: ('ports' | 'hosts' | 'links' | 'seed')[];
	hosts?: string;
}

export const FAMILIES: Family[] = [
	{ kind: 'mtree', title: 'Fat tree, m-port n-tree', sizes: [['m', '8', 'ports of each switch, even'], ['n', '2', 'levels']], help: '2(m/2)ⁿ hosts and (2n−1)(m/2)ⁿ⁻¹ switches.', options: ['hosts'], hosts: 'on each leaf, at most m/2' },
	{ kind: 'kary', title: 'Fat tree, k-ary n-tree', sizes: [['k', '4', 'links down of each switch'], ['n', '3', 'levels']], help: 'kⁿ hosts and n·kⁿ⁻¹ switches of 2k ports; roots are half used.', options: ['hosts'], hosts: 'on each leaf, at most k' },
	{ kind: 'clos', title: 'Folded Clos network', sizes: [['m', '3', 'middle switches'], ['n', '2', 'hosts on each edge switch'], ['r', '4', 'edge switches']], help: 'One link between every middle and every edge switch.', options: [] },
	{ kind: 'mesh', title: 'Mesh', sizes: [['x', '4', 'switches in the first dimension'], ['y?', '4', 'in the second'], ['z?', '', 'in the third']], help: 'A grid without links around its edges.', options: ['hosts', 'ports'], hosts: 'on each switch' },
	{ kind: 'torus', title: 'Torus', sizes: [['x', '4', 'switches in the first dimension'], ['y?', '4', 'in the second'], ['z?', '4', 'in the third']], help: 'A grid whose edges are joined. A dimension of size 2 is one link, not two.', options: ['hosts', 'ports'], hosts: 'on each switch' },
	{ kind: 'hypercube', title: 'Hypercube', sizes: [['n', '4', 'dimensions']], help: '2ⁿ switches.', options: ['hosts', 'ports'], hosts: 'on each switch' },
	{ kind: 'dragonfly', title: 'Dragonfly', sizes: [['p', '2', 'hosts on each switch'], ['a', '4', 'switches in each group'], ['h', '2', 'links of each switch to other groups'], ['g?', '', 'groups; a·h+1 if left out']], help: 'All switches of a group are joined; between any two groups there are as many links as divide evenly.', options: [] },
	{ kind: 'fullmesh', title: 'Full mesh', sizes: [['n', '6', 'switches']], help: 'Every switch is joined to every other.', options: ['hosts', 'ports'], hosts: 'on each switch' },
	{ kind: 'ring', title: 'Ring', sizes: [['n', '6', 'switches']], help: 'Switches in a circle.', options: ['hosts', 'ports'], hosts: 'on each switch' },
	{ kind: 'star', title: 'Star', sizes: [['n', '8', 'leaf switches']], help: 'Leaf switches around one in the centre.', options: ['hosts', 'ports'], hosts: 'on each leaf' },
	{ kind: 'irregular', title: 'Irregular, at random', sizes: [['n', '16', 'switches']], help: 'A random spanning tree, then more links. The seed chooses it.', options: ['ports', 'hosts', 'links', 'seed'], hosts: 'in all' },
	{ kind: 'odd', title: 'Odd: what real fabrics have', sizes: [['n?', '6', 'switches']], help: 'Parallel links, hosts with several ports, switches cabled to themselves, chains, islands, routers, all rates. The seed chooses it.', options: ['ports', 'seed'] },
];

const OPTION: Record<string, [string, string]> = { ports: ['Ports of each switch', 'as many as needed'], hosts: ['Hosts', ''], links: ['Links between switches', 'as many as fit'], seed: ['Seed', '1'] };

export function wordsOf(f: Family, sizes: string[], options: Map<string, string>): string {
	const out = [f.kind];
	for (const s of sizes) {
		if (s === '')
			break;
		out.push(s);
	}
	for (const [k, v] of options)
		if (v !== '')
			out.push(k, v);
	return out.join(' ');
}

/* The words, or null. `now`: the words that are in the bar. */
export function chooseGenerator(now: string): Promise<string | null> {
	const d = byId<HTMLDialogElement>('ask'), [kind, ...given] = now.trim().split(/\s+/);
	let family = FAMILIES.find((f) => f.kind === kind) ?? FAMILIES[0]!;
	const form = h('div', { class: 'gen-form' }), list = h('div', { class: 'gen-kinds', role: 'radiogroup', 'aria-label': 'Kind' }), preview = h('code', {});
	let inputs: HTMLInputElement[] = [], options = new Map<string, HTMLInputElement>();
	const words = (): string => wordsOf(family, inputs.map((i) => i.value), new Map([...options].map(([k, i]) => [k, i.value])));
	const field = (name: string, value: string, note: string, max: number): [HTMLElement, HTMLInputElement] => {
		const input = h('input', { type: 'number', min: 0, max, value, 'aria-label': name, oninput: () => (preview.textContent = words()) });
		return [h('label', { class: 'gen-field' }, h('b', {}, name), input, h('span', { class: 'dim' }, note)), input];
	};
	const show = (numbers: string[]): void => {
		const made = family.sizes.map(([name, usual, note], i) => field(name.replace('?', ''), numbers[i] ?? usual, note + (name.endsWith('?') ? ', may be empty' : ''), 100000));
		const more = [...family.options, 'vfs'].map((o): [string, [HTMLElement, HTMLInputElement]] => [o, o === 'vfs' ? field('Virtual functions', '', 'of each host (SR-IOV); none if empty', 252) : field(OPTION[o]![0], '', o === 'hosts' ? family.hosts ?? '' : OPTION[o]![1], 100000)]);
		inputs = made.map((m) => m[1]);
		options = new Map(more.map(([o, m]) => [o, m[1]]));
		fill(form, h('p', {}, family.help), made.map((m) => m[0]), h('h3', {}, 'Options'), more.map(([, m]) => m[0]));
		fill(list, FAMILIES.map((f) => h('button', { type: 'button', role: 'radio', 'aria-checked': String(f === family), onclick: () => {
			family = f;
			show([]);
		} }, h('b', {}, f.kind), h('span', { class: 'dim' }, f.title))));
		preview.textContent = words();
	};
	show(given.filter((w, i) => /^\d+$/.test(w) && (i === 0 || /^\d+$/.test(given[i - 1]!))));
	return new Promise((resolve) => {
		const done = (v: string | null): void => {
			d.close();
			resolve(v);
		};
		fill(d, h('h2', {}, 'Generate a fabric'), h('div', { class: 'gen-body' }, list, form), h('div', { class: 'row' }, preview, h('span', { class: 'grow' }),
			h('button', { type: 'button', onclick: () => done(null) }, 'Cancel'), h('button', { type: 'button', class: 'main', onclick: () => done(words()) }, 'Generate')));
		d.oncancel = () => resolve(null);
		d.onkeydown = (e) => {
			if (e.key === 'Enter' && (e.target as HTMLElement).tagName === 'INPUT')
				done(words());
		};
		d.showModal();
		list.querySelector<HTMLElement>('[aria-checked=true]')?.focus();
	});
}
