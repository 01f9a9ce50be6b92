// SPDX-License-Identifier: BSD-2-Clause
//
// A document as a fabric on screen, before the engine has answered. Nodes without a position stand near their neighbours.
import type { FabricFrame } from '../wire/frames.ts';
import { NONE } from '../wire/frames.ts';
import type { Doc, Point } from './document.ts';
import type { Fabric } from './fabric.ts';
import { SPEED } from './iba.ts';

const WIDTH: Record<string, number> = { '1x': 1, '4x': 2, '8x': 4, '12x': 8, '2x': 16 };
/* No frame of an engine has this version: its STATE frames do not fit. */
export const LOCAL_VERSION = 0xffffffff;

export function rateCode(rate: string): [number, number] {
	const m = /^(\d+x)([A-Z0-9]+)$/.exec(rate);
	return m ? [WIDTH[m[1]!] ?? 0, Math.max(0, SPEED.indexOf(m[2]!))] : [0, 0];
}

export function fabricOfDoc(doc: Doc, was: Fabric | null): FabricFrame {
	const n = doc.nodes.size, links = [...doc.links.values()], index = new Map<string, number>();
	const f: FabricFrame = {
		version: LOCAL_VERSION, nnodes: n, nlinks: links.length, ngroups: 0, guid: new BigUint64Array(n), x: new Float32Array(n), y: new Float32Array(n),
		name: [], nports: new Uint16Array(n), type: new Uint8Array(n), level: new Uint8Array(n), group: new Uint32Array(n).fill(NONE),
		a: new Uint32Array(links.length), b: new Uint32Array(links.length), pa: new Uint8Array(links.length), pb: new Uint8Array(links.length),
		width: new Uint8Array(links.length), speed: new Uint8Array(links.length), groups: [],
	};
	let i = 0;
	for (const node of doc.nodes.values()) {
		const p = doc.at.get(node.guid) ?? before(was, node.guid) ?? { x: (i % 12) * 2, y: Math.floor(i / 12) * 2 };
		index.set(node.guid, i);
		f.guid[i] = BigInt(node.guid);
		f.name.push(node.name);
		f.nports[i] = node.ports;
		f.type[i] = node.type;
		f.x[i] = p.x;
		f.y[i] = p.y;
		i++;
	}
	links.forEach((l, k) => {
		f.a[k] = index.get(l.a.node)!;
		f.b[k] = index.get(l.b.node)!;
		f.pa[k] = l.a.port;
		f.pb[k] = l.b.port;
		[f.width[k], f.speed[k]] = rateCode(l.rate);
	});
	return f;
}

function before(was: Fabric | null, guid: string): Point | null {
	const i = was?.byGuid.get(BigInt(guid));
	return i === undefined ? null : { x: was!.f.x[i]!, y: was!.f.y[i]! };
}
