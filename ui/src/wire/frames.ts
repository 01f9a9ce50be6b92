// SPDX-License-Identifier: BSD-2-Clause
//
// Frames of the engine: bytes in, typed arrays out. A frame that is shorter than it says is an error (FrameError),
// never a read beyond its end. Knows nothing of drawing or of the connection.

export const KIND = { JSON: 1, FABRIC: 2, STATE: 3, SMPS: 4, PACKETS: 5, LOG: 6, SERIES: 7, LOADS: 8 } as const;
export const NONE = 0xffffffff;
export const HEADER = 8;
/* Above this a frame is not believed. */
export const MAX_FRAME = 256 * 1024 * 1024;

export class FrameError extends Error {}

export interface FabricFrame {
	version: number;
	nnodes: number;
	nlinks: number;
	ngroups: number;
	guid: BigUint64Array;
	x: Float32Array;
	y: Float32Array;
	name: string[];
	nports: Uint16Array;
	type: Uint8Array;
	level: Uint8Array;
	group: Uint32Array;
	a: Uint32Array;
	b: Uint32Array;
	pa: Uint8Array;
	pb: Uint8Array;
	width: Uint8Array;
	speed: Uint8Array;
	groups: GroupRecord[];
}

export interface GroupRecord {
	x0: number;
	y0: number;
	x1: number;
	y1: number;
	name: string;
	parent: number;
}

export interface ManagerRecord {
	node: number;
	state: number;
	phase: number;
	flags: number;
	priority: number;
}

export interface StateFrame {
	now: bigint;
	events: bigint;
	version: number;
	node: Uint8Array;
	/* state, load, buffers of each link */
	link: Uint8Array;
	managers: ManagerRecord[];
}

/* SMPs or data packets on a link. Times: picoseconds as a number, exact up to 2.5 simulated hours. */
export interface Flights {
	n: number;
	start: Float64Array;
	duration: Float64Array;
	link: Uint32Array;
	direction: Uint8Array;
	method: Uint8Array;
	attribute: Uint16Array;
	seq: Uint32Array;
}

export interface LogLine {
	seq: number;
	at: bigint;
	node: number;
	port: number;
	kind: number;
	method: number;
	attribute: number;
	text: string;
}

export interface SeriesPoint {
	at: bigint;
	values: Float32Array;
}

export interface LoadsFrame {
	version: number;
	ab: Uint32Array;
	ba: Uint32Array;
}

const utf8 = new TextDecoder();

function view(frame: Uint8Array): DataView {
	return new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
}

function need(frame: Uint8Array, bytes: number, what: string): void {
	if (bytes > frame.byteLength)
		throw new FrameError(`${what}: needs ${bytes} bytes, has ${frame.byteLength}`);
}

const pad4 = (n: number): number => (n + 3) & ~3;

export function frameKind(frame: Uint8Array): number {
	need(frame, HEADER, 'frame');
	const d = view(frame);
	if (d.getUint32(0, true) !== frame.byteLength)
		throw new FrameError(`frame says ${d.getUint32(0, true)} bytes, has ${frame.byteLength}`);
	return frame[4]!;
}

export function decodeJson(frame: Uint8Array): Record<string, unknown> {
	const value: unknown = JSON.parse(utf8.decode(frame.subarray(HEADER)).replace(/\0+$/, ''));
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new FrameError('JSON frame: not an object');
	return value as Record<string, unknown>;
}

class Strings {
	constructor(private readonly bytes: Uint8Array) {}
	at(offset: number): string {
		if (offset >= this.bytes.length)
			return '';
		const end = this.bytes.indexOf(0, offset);
		return utf8.decode(this.bytes.subarray(offset, end < 0 ? this.bytes.length : end));
	}
}

export function decodeFabric(frame: Uint8Array): FabricFrame {
	need(frame, 28, 'FABRIC');
	const d = view(frame);
	const [nnodes, nlinks, ngroups, nstrings] = [12, 16, 20, 24].map((o) => d.getUint32(o, true)) as [number, number, number, number];
	const linksAt = 28 + 28 * nnodes, groupsAt = linksAt + 12 * nlinks, stringsAt = groupsAt + 24 * ngroups;
	need(frame, stringsAt + nstrings, 'FABRIC');
	const strings = new Strings(frame.subarray(stringsAt, stringsAt + nstrings));
	const f: FabricFrame = {
		version: d.getUint32(8, true), nnodes, nlinks, ngroups,
		guid: new BigUint64Array(nnodes), x: new Float32Array(nnodes), y: new Float32Array(nnodes), name: [],
		nports: new Uint16Array(nnodes), type: new Uint8Array(nnodes), level: new Uint8Array(nnodes), group: new Uint32Array(nnodes),
		a: new Uint32Array(nlinks), b: new Uint32Array(nlinks), pa: new Uint8Array(nlinks), pb: new Uint8Array(nlinks),
		width: new Uint8Array(nlinks), speed: new Uint8Array(nlinks), groups: [],
	};
	for (let i = 0, o = 28; i < nnodes; i++, o += 28) {
		f.guid[i] = d.getBigUint64(o, true);
		f.x[i] = d.getFloat32(o + 8, true);
		f.y[i] = d.getFloat32(o + 12, true);
		f.name.push(strings.at(d.getUint32(o + 16, true)));
		f.nports[i] = d.getUint16(o + 20, true);
		f.type[i] = frame[o + 22]!;
		f.level[i] = frame[o + 23]!;
		const g = d.getUint32(o + 24, true);
		f.group[i] = g < ngroups ? g : NONE;
	}
	for (let i = 0, o = linksAt; i < nlinks; i++, o += 12) {
		const a = d.getUint32(o, true), b = d.getUint32(o + 4, true);
		if (a >= nnodes || b >= nnodes)
			throw new FrameError(`FABRIC: link ${i} joins nodes ${a} and ${b} of ${nnodes}`);
		f.a[i] = a;
		f.b[i] = b;
		f.pa[i] = frame[o + 8]!;
		f.pb[i] = frame[o + 9]!;
		f.width[i] = frame[o + 10]!;
		f.speed[i] = frame[o + 11]!;
	}
	for (let i = 0, o = groupsAt; i < ngroups; i++, o += 24) {
		const parent = d.getUint32(o + 20, true);
		f.groups.push({
			x0: d.getFloat32(o, true), y0: d.getFloat32(o + 4, true), x1: d.getFloat32(o + 8, true), y1: d.getFloat32(o + 12, true),
			name: strings.at(d.getUint32(o + 16, true)), parent: parent < ngroups && parent !== i ? parent : NONE,
		});
	}
	return f;
}

export function decodeState(frame: Uint8Array, nnodes: number, nlinks: number): StateFrame {
	const linksAt = 28 + pad4(nnodes), managersAt = linksAt + pad4(3 * nlinks);
	need(frame, managersAt, 'STATE');
	const d = view(frame);
	const managers: ManagerRecord[] = [];
	for (let o = managersAt; o + 8 <= frame.byteLength; o += 8)
		managers.push({ node: d.getUint32(o, true), state: frame[o + 4]!, phase: frame[o + 5]!, flags: frame[o + 6]!, priority: frame[o + 7]! });
	return {
		now: d.getBigUint64(8, true), events: d.getBigUint64(16, true), version: d.getUint32(24, true),
		node: frame.slice(28, 28 + nnodes), link: frame.slice(linksAt, linksAt + 3 * nlinks),
		managers: managers.filter((m) => m.node < nnodes),
	};
}

export function decodeFlights(frame: Uint8Array, nlinks: number): Flights {
	const most = Math.floor((frame.byteLength - HEADER) / 24);
	const f: Flights = {
		n: 0, start: new Float64Array(most), duration: new Float64Array(most), link: new Uint32Array(most),
		direction: new Uint8Array(most), method: new Uint8Array(most), attribute: new Uint16Array(most), seq: new Uint32Array(most),
	};
	const d = view(frame);
	for (let i = 0, o = HEADER; i < most; i++, o += 24) {
		const link = d.getUint32(o + 12, true);
		if (link >= nlinks)
			continue;
		const k = f.n++;
		f.start[k] = Number(d.getBigUint64(o, true));
		f.duration[k] = d.getUint32(o + 8, true) * 1000;
		f.link[k] = link;
		f.direction[k] = frame[o + 16]!;
		f.method[k] = frame[o + 17]!;
		f.attribute[k] = d.getUint16(o + 18, true);
		f.seq[k] = d.getUint32(o + 20, true);
	}
	return f;
}

export function decodeLog(frame: Uint8Array): LogLine[] {
	const d = view(frame);
	const lines: LogLine[] = [];
	for (let o = HEADER; o + 24 <= frame.byteLength; ) {
		const length = d.getUint16(o + 22, true);
		need(frame, o + 24 + length, 'LOG');
		lines.push({
			seq: d.getUint32(o, true), at: d.getBigUint64(o + 4, true), node: d.getUint32(o + 12, true), port: frame[o + 16]!,
			kind: frame[o + 17]!, method: frame[o + 18]!, attribute: d.getUint16(o + 20, true),
			text: utf8.decode(frame.subarray(o + 24, o + 24 + length)),
		});
		o += 24 + pad4(length);
	}
	return lines;
}

export function decodeSeries(frame: Uint8Array, nseries: number): SeriesPoint[] {
	const d = view(frame);
	const points: SeriesPoint[] = [];
	const size = 8 + 4 * nseries;
	for (let o = HEADER; nseries > 0 && o + size <= frame.byteLength; o += size) {
		const values = new Float32Array(nseries);
		for (let i = 0; i < nseries; i++)
			values[i] = d.getFloat32(o + 8 + 4 * i, true);
		points.push({ at: d.getBigUint64(o, true), values });
	}
	return points;
}

export function decodeLoads(frame: Uint8Array, nlinks: number): LoadsFrame {
	need(frame, 12 + 8 * nlinks, 'LOADS');
	const d = view(frame);
	const ab = new Uint32Array(nlinks), ba = new Uint32Array(nlinks);
	for (let i = 0, o = 12; i < nlinks; i++, o += 8) {
		ab[i] = d.getUint32(o, true);
		ba[i] = d.getUint32(o + 4, true);
	}
	return { version: d.getUint32(8, true), ab, ba };
}

/* Bytes of a stream in pieces of any size, frames out. */
export class FrameSplitter {
	private pieces: Uint8Array[] = [];
	private have = 0;

	constructor(private readonly onFrame: (frame: Uint8Array) => void) {}

	push(piece: Uint8Array): void {
		this.pieces.push(piece);
		this.have += piece.byteLength;
		for (;;) {
			const length = this.length();
			if (length === 0 || this.have < length)
				return;
			this.onFrame(this.take(length));
		}
	}

	private length(): number {
		if (this.have < HEADER)
			return 0;
		if (this.pieces[0]!.byteLength < 4)
			this.join();
		const p = this.pieces[0]!;
		const length = new DataView(p.buffer, p.byteOffset, 4).getUint32(0, true);
		if (length < HEADER || length > MAX_FRAME)
			throw new FrameError(`a frame of ${length} bytes`);
		return length;
	}

	private join(): void {
		const all = new Uint8Array(this.have);
		let at = 0;
		for (const p of this.pieces) {
			all.set(p, at);
			at += p.byteLength;
		}
		this.pieces = [all];
	}

	private take(length: number): Uint8Array {
		if (this.pieces[0]!.byteLength < length)
			this.join();
		const first = this.pieces[0]!;
		const frame = first.subarray(0, length);
		this.have -= length;
		if (first.byteLength > length)
			this.pieces[0] = first.subarray(length);
		else
			this.pieces.shift();
		return frame;
	}
}
