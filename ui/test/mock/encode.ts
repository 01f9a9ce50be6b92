// SPDX-License-Identifier: BSD-2-Clause
//
// Frames as the engine writes them, for tests.
import { HEADER, KIND, type LogLine, type ManagerRecord } from '../../src/wire/frames.ts';

export interface FabricData {
	nodes: { guid: bigint; x: number; y: number; name: string; nports: number; type: number; level: number; group: number }[];
	links: { a: number; b: number; pa: number; pb: number; width: number; speed: number }[];
	groups: { x0: number; y0: number; x1: number; y1: number; name: string; parent: number }[];
}

const utf8 = new TextEncoder();
const pad4 = (n: number): number => (n + 3) & ~3;

export function frame(kind: number, size: number): { bytes: Uint8Array; d: DataView } {
	const bytes = new Uint8Array(HEADER + pad4(size)), d = new DataView(bytes.buffer);
	d.setUint32(0, bytes.length, true);
	bytes[4] = kind;
	return { bytes, d };
}

export function encodeJson(j: object): Uint8Array {
	const text = utf8.encode(JSON.stringify(j));
	const bytes = new Uint8Array(HEADER + text.length);
	new DataView(bytes.buffer).setUint32(0, bytes.length, true);
	bytes[4] = KIND.JSON;
	bytes.set(text, HEADER);
	return bytes;
}

export function encodeFabric(f: FabricData, version = 1): Uint8Array {
	const parts: Uint8Array[] = [], offsets = new Map<string, number>();
	let size = 0;
	const name = (s: string): number => {
		let o = offsets.get(s);
		if (o === undefined) {
			o = size;
			offsets.set(s, o);
			const b = utf8.encode(s + '\0');
			parts.push(b);
			size += b.length;
		}
		return o;
	};
	f.nodes.forEach((n) => name(n.name));
	f.groups.forEach((g) => name(g.name));
	const { bytes, d } = frame(KIND.FABRIC, 20 + 28 * f.nodes.length + 12 * f.links.length + 24 * f.groups.length + size);
	[version, f.nodes.length, f.links.length, f.groups.length, size].forEach((v, i) => d.setUint32(8 + 4 * i, v, true));
	let o = 28;
	for (const n of f.nodes) {
		d.setBigUint64(o, n.guid, true);
		d.setFloat32(o + 8, n.x, true);
		d.setFloat32(o + 12, n.y, true);
		d.setUint32(o + 16, name(n.name), true);
		d.setUint16(o + 20, n.nports, true);
		d.setUint8(o + 22, n.type);
		d.setUint8(o + 23, n.level);
		d.setUint32(o + 24, n.group >>> 0, true);
		o += 28;
	}
	for (const l of f.links) {
		d.setUint32(o, l.a, true);
		d.setUint32(o + 4, l.b, true);
		[l.pa, l.pb, l.width, l.speed].forEach((v, i) => d.setUint8(o + 8 + i, v));
		o += 12;
	}
	for (const g of f.groups) {
		[g.x0, g.y0, g.x1, g.y1].forEach((v, i) => d.setFloat32(o + 4 * i, v, true));
		d.setUint32(o + 16, name(g.name), true);
		d.setUint32(o + 20, g.parent >>> 0, true);
		o += 24;
	}
	for (const p of parts) {
		bytes.set(p, o);
		o += p.length;
	}
	return bytes;
}

export function encodeState(now: bigint, events: bigint, version: number, node: Uint8Array, link: Uint8Array, managers: ManagerRecord[]): Uint8Array {
	const linksAt = 28 + pad4(node.length), managersAt = linksAt + pad4(link.length);
	const { bytes, d } = frame(KIND.STATE, managersAt + 8 * managers.length - HEADER);
	d.setBigUint64(8, now, true);
	d.setBigUint64(16, events, true);
	d.setUint32(24, version, true);
	bytes.set(node, 28);
	bytes.set(link, linksAt);
	managers.forEach((m, i) => {
		d.setUint32(managersAt + 8 * i, m.node, true);
		bytes.set([m.state, m.phase, m.flags, m.priority], managersAt + 8 * i + 4);
	});
	return bytes;
}

export interface Flight {
	start: bigint;
	ns: number;
	link: number;
	direction: number;
	method: number;
	attribute: number;
	seq: number;
}

export function encodeFlights(kind: number, list: Flight[]): Uint8Array {
	const { bytes, d } = frame(kind, 24 * list.length);
	list.forEach((f, i) => {
		const o = HEADER + 24 * i;
		d.setBigUint64(o, f.start, true);
		d.setUint32(o + 8, f.ns, true);
		d.setUint32(o + 12, f.link, true);
		bytes[o + 16] = f.direction;
		bytes[o + 17] = f.method;
		d.setUint16(o + 18, f.attribute, true);
		d.setUint32(o + 20, f.seq, true);
	});
	return bytes;
}

export function encodeLog(lines: LogLine[]): Uint8Array {
	const texts = lines.map((l) => utf8.encode(l.text));
	const { bytes, d } = frame(KIND.LOG, texts.reduce((n, t) => n + 24 + pad4(t.length), 0));
	let o = HEADER;
	lines.forEach((l, i) => {
		d.setUint32(o, l.seq, true);
		d.setBigUint64(o + 4, l.at, true);
		d.setUint32(o + 12, l.node, true);
		bytes.set([l.port, l.kind, l.method, 0], o + 16);
		d.setUint16(o + 20, l.attribute, true);
		d.setUint16(o + 22, texts[i]!.length, true);
		bytes.set(texts[i]!, o + 24);
		o += 24 + pad4(texts[i]!.length);
	});
	return bytes;
}

export function encodeSeries(points: { at: bigint; values: number[] }[]): Uint8Array {
	const n = points[0]?.values.length ?? 0;
	const { bytes, d } = frame(KIND.SERIES, points.length * (8 + 4 * n));
	points.forEach((p, i) => {
		const o = HEADER + i * (8 + 4 * n);
		d.setBigUint64(o, p.at, true);
		p.values.forEach((v, k) => d.setFloat32(o + 8 + 4 * k, v, true));
	});
	return bytes;
}

export function encodeLoads(version: number, ab: number[], ba: number[]): Uint8Array {
	const { bytes, d } = frame(KIND.LOADS, 4 + 8 * ab.length);
	d.setUint32(8, version, true);
	ab.forEach((v, i) => {
		d.setUint32(12 + 8 * i, v, true);
		d.setUint32(16 + 8 * i, ba[i]!, true);
	});
	return bytes;
}
