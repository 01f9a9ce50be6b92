// SPDX-License-Identifier: BSD-2-Clause
//
// Messages on their way: which SMPs and packets of the last slices are still to be seen. Simulated time is laid over the
// animation clock (ms); a flight lasts at least MIN_MS there, so that a microsecond can be seen at any speed.
import type { Flights } from '../wire/frames.ts';

export const MOST = 12000;
export const MIN_MS = 260;
export const MAX_MS = 20000;

export class FlightStore {
	/* For the shader: start, duration, kind, size; and both ends. */
	readonly time = new Float32Array(4 * MOST);
	readonly ends = new Float32Array(4 * MOST);
	private readonly start = new Float64Array(MOST);
	private readonly duration = new Float32Array(MOST);
	private readonly kind = new Uint8Array(MOST);
	private readonly link = new Uint32Array(MOST);
	private readonly back = new Uint8Array(MOST);
	n = 0;

	clear(): void {
		this.n = 0;
	}

	/* A slice from..to of simulated time is shown over [clock, clock + lasts] of the animation clock. */
	add(f: Flights, kind: (i: number) => number, from: number, to: number, clock: number, lasts: number): void {
		const rate = to > from ? lasts / (to - from) : 0;
		const room = MOST - this.n, step = Math.max(1, Math.ceil(f.n / Math.max(1, room)));
		for (let i = 0; i < f.n && this.n < MOST; i += step) {
			const k = this.n++;
			this.start[k] = clock + Math.max(-MAX_MS, (f.start[i]! - from) * rate);
			this.duration[k] = Math.min(MAX_MS, Math.max(MIN_MS, f.duration[i]! * rate));
			this.kind[k] = kind(i);
			this.link[k] = f.link[i]!;
			this.back[k] = f.direction[i]!;
		}
	}

	/* Drops what has arrived, fills the arrays of the shader with times relative to clock. */
	prepare(clock: number, a: Uint32Array, b: Uint32Array, x: Float32Array, y: Float32Array): number {
		let n = 0;
		for (let i = 0; i < this.n; i++) {
			if (this.start[i]! + this.duration[i]! < clock || this.link[i]! >= a.length)
				continue;
			if (n !== i) {
				this.start[n] = this.start[i]!;
				this.duration[n] = this.duration[i]!;
				this.kind[n] = this.kind[i]!;
				this.link[n] = this.link[i]!;
				this.back[n] = this.back[i]!;
			}
			const l = this.link[n]!, from = this.back[n] ? b[l]! : a[l]!, to = this.back[n] ? a[l]! : b[l]!, o = 4 * n;
			this.ends[o] = x[from]!;
			this.ends[o + 1] = y[from]!;
			this.ends[o + 2] = x[to]!;
			this.ends[o + 3] = y[to]!;
			this.time[o] = this.start[n]! - clock;
			this.time[o + 1] = this.duration[n]!;
			this.time[o + 2] = this.kind[n]!;
			this.time[o + 3] = this.kind[n] === KIND_PACKET ? 0.75 : 1;
			n++;
		}
		this.n = n;
		return n;
	}
}

/* Places in the palette. */
export const KIND_REQUEST = 21, KIND_RESPONSE = 22, KIND_PACKET = 23, KIND_TRAP = 4;
