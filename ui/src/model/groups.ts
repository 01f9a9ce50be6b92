// SPDX-License-Identifier: BSD-2-Clause
//
// Multicast groups of a live subnet: what their addresses mean, and their trees as links of the picture. No DOM.
import type { Fabric } from './fabric.ts';

export interface Group {
	mgid: string;
	mlid: string;
	pkey: string;
	qkey: string;
	sl: number;
	mtu: number;
	rate: number;
	count: number;
}

export interface Member {
	guid: string;
	name: string;
	/* of its node; null: it is not in the subnet */
	node: string | null;
	full: boolean;
	non_member: boolean;
	send_only: boolean;
}

/* The ports of a switch that get copies; 0 is the switch itself. */
export interface TreeRow {
	guid: string;
	ports: number[];
}

export interface Tree {
	switches: number;
	nodes: Set<number>;
	links: Set<number>;
}

/* What IP over InfiniBand makes of an MGID (RFC 4391); '': it is another one. */
export function groupName(mgid: string): string {
	const w = mgid.split(':').map((x) => parseInt(x, 16));
	if (w.length !== 8 || w.some(Number.isNaN) || (w[1] !== 0x401b && w[1] !== 0x601b))
		return '';
	if (w[1] === 0x401b) {
		const a = ((w[6]! << 16) | w[7]!) >>> 0;
		return a === 0xffffffff ? 'IPv4 broadcast' : `IPv4 ${0xe0 | (a >>> 24)}.${(a >>> 16) & 255}.${(a >>> 8) & 255}.${a & 255}`;
	}
	const rest = w.slice(3).map((x) => x.toString(16)).join(':');
	return rest === '0:0:0:0:1' ? 'IPv6 all nodes' : rest === '0:0:0:0:2' ? 'IPv6 all routers' : `IPv6 ff0${(w[0]! & 15).toString(16)}::${rest.replace(/^(0:)+/, '')}`;
}

/* The ports that get copies, as links and nodes of the picture. */
export function treeOf(f: Fabric, rows: TreeRow[]): Tree {
	const nodes = new Set<number>(), links = new Set<number>();
	let switches = 0;
	for (const r of rows) {
		const n = f.byGuid.get(BigInt(r.guid));
		if (n === undefined)
			continue;
		switches++;
		nodes.add(n);
		for (const p of r.ports) {
			const l = f.linkAt(n, p);
			if (l < 0)
				continue;
			links.add(l);
			nodes.add(f.peer(l, n));
		}
	}
	return { switches, nodes, links };
}

/* Members that should get copies and that the tree does not lead to. */
export function notReached(f: Fabric, tree: Tree, members: Member[]): Member[] {
	return members.filter((m) => {
		const n = m.full || m.non_member ? (m.node === null ? undefined : f.byGuid.get(BigInt(m.node))) : undefined;
		return n !== undefined && !tree.nodes.has(n);
	});
}
