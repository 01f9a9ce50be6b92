// SPDX-License-Identifier: BSD-2-Clause
//
// Made-up fabrics with positions: trees of two and three levels, rings, and what a netlist says in a circle.
import { NONE } from '../../src/wire/frames.ts';
import { parseNetlist } from '../../src/model/netlist.ts';
import type { FabricData } from './encode.ts';

class Builder {
	readonly f: FabricData = { nodes: [], links: [], groups: [] };
	private readonly used: number[] = [];

	node(type: number, name: string, nports: number, x: number, y: number, level: number, group: number): number {
		const i = this.f.nodes.length;
		const guid = type === 2 ? 0x0002000000000001n + BigInt(i) : 0x0001000000000010n + 4n * BigInt(i);
		this.f.nodes.push({ guid, x, y, name, nports, type, level, group });
		this.used.push(0);
		return i;
	}
	link(a: number, b: number): void {
		this.f.links.push({ a, b, pa: ++this.used[a]!, pb: ++this.used[b]!, width: 2, speed: 5 });
	}
	group(name: string, parent: number): number {
		this.f.groups.push({ x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity, name, parent });
		return this.f.groups.length - 1;
	}
	done(): FabricData {
		for (const n of this.f.nodes) {
			for (let g = n.group; g !== NONE; g = this.f.groups[g]!.parent) {
				const b = this.f.groups[g]!;
				b.x0 = Math.min(b.x0, n.x);
				b.x1 = Math.max(b.x1, n.x);
				b.y0 = Math.min(b.y0, n.y);
				b.y1 = Math.max(b.y1, n.y);
			}
		}
		return this.f;
	}
}

/* Hosts under a leaf stand in columns of rows. */
export function tree2(leaves: number, hosts: number, spines: number): FabricData {
	const b = new Builder(), w = Math.max(hosts * 1.4, 3);
	const tops = Array.from({ length: spines }, (_, i) => b.node(2, `root${i}`, leaves, ((i + 0.5) * leaves * w) / spines, 0, 0, NONE));
	for (let l = 0; l < leaves; l++) {
		const leaf = b.node(2, `leaf${l}`, hosts + spines, (l + 0.5) * w, 5, 1, NONE);
		tops.forEach((t) => b.link(leaf, t));
		for (let k = 0; k < hosts; k++)
			b.link(leaf, b.node(1, `host ${l * hosts + k}`, 1, l * w + ((k + 0.5) * w) / hosts, 8, 2, NONE));
	}
	return b.done();
}

export function tree3(pods: number, half: number): FabricData {
	const b = new Builder(), columns = Math.ceil(Math.sqrt(half / 2)), rows = Math.ceil(half / columns), leafW = columns + 1, podW = half * leafW + 4;
	const total = pods * podW, planes = Array.from({ length: half }, (_, i) => b.group(`plane ${i}`, NONE));
	const roots: number[] = [], rootColumns = Math.ceil(Math.sqrt(half * 3)), planeW = total / half;
	for (let p = 0; p < half; p++) {
		for (let k = 0; k < half; k++)
			roots.push(b.node(2, `root${p}_${k}`, pods, (p + 0.5) * planeW + ((k % rootColumns) - rootColumns / 2) * 4, -60 - Math.floor(k / rootColumns) * 6, 0, planes[p]!));
	}
	for (let pod = 0; pod < pods; pod++) {
		const g = b.group(`pod ${pod}`, NONE), x0 = pod * podW;
		const mids = Array.from({ length: half }, (_, i) => b.node(2, `mid${pod}_${i}`, 2 * half, x0 + (i + 0.5) * leafW, 0, 1, g));
		mids.forEach((m, i) => {
			for (let k = 0; k < half; k++)
				b.link(m, roots[i * half + k]!);
		});
		for (let l = 0; l < half; l++) {
			const leaf = b.node(2, `leaf${pod}_${l}`, 2 * half, x0 + (l + 0.5) * leafW, 14, 2, g);
			mids.forEach((m) => b.link(leaf, m));
			for (let k = 0; k < half; k++)
				b.link(leaf, b.node(1, `host ${(pod * half + l) * half + k}`, 1, x0 + l * leafW + 0.5 + (k % columns), 18 + Math.floor(k / columns), 3, g));
		}
	}
	void rows;
	return b.done();
}

export function ring(n: number): FabricData {
	const b = new Builder(), r = Math.max(2, (n * 2.4) / (2 * Math.PI));
	const s = Array.from({ length: n }, (_, i) => b.node(2, `switch ${i}`, 8, r * Math.cos((2 * Math.PI * i) / n), r * Math.sin((2 * Math.PI * i) / n), 0, NONE));
	s.forEach((x, i) => b.link(x, s[(i + 1) % n]!));
	s.forEach((x, i) => b.link(x, b.node(1, `host ${i}`, 1, (r + 2) * Math.cos((2 * Math.PI * i) / n), (r + 2) * Math.sin((2 * Math.PI * i) / n), 1, NONE)));
	return b.done();
}

export function fromNetlist(text: string): FabricData {
	const doc = parseNetlist(text), f: FabricData = { nodes: [], links: [], groups: [] }, at = new Map<string, number>();
	if (doc.nodes.size === 0 && text.trim() !== '')
		throw new Error('netlist:1: expected a Switch, Ca or Rt line');
	for (const n of doc.nodes.values()) {
		const i = f.nodes.length, t = (2 * Math.PI * i) / doc.nodes.size, r = doc.nodes.size / 3;
		at.set(n.guid, i);
		f.nodes.push({ guid: BigInt(n.guid), x: r * Math.cos(t), y: r * Math.sin(t), name: n.name, nports: n.ports, type: n.type, level: n.type === 2 ? 0 : 1, group: NONE });
	}
	for (const l of doc.links.values())
		f.links.push({ a: at.get(l.a.node)!, b: at.get(l.b.node)!, pa: l.a.port, pb: l.b.port, width: 2, speed: 2 });
	return f;
}

export function generate(words: string): FabricData {
	const [kind, ...sizes] = words.trim().split(/\s+/), [p = 4, q = 2] = sizes.map(Number);
	if (kind === 'mtree' && q === 2)
		return tree2(p, p / 2, p / 2);
	if (kind === 'mtree' && q === 3)
		return tree3(p, p / 2);
	if (kind === 'pods')
		return tree3(p, q);
	if (kind === 'ring')
		return ring(p);
	throw new Error(`the mock does not know '${words}'`);
}
