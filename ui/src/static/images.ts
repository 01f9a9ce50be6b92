// SPDX-License-Identifier: BSD-2-Clause
//
// Copies of an engine's memory, from which a run goes on: what src/web does with sleeping processes. Pages that did not change
// from one copy to the next are kept once. Two bounds, the number of copies and their bytes: when one is reached, every second
// copy goes and the distance between them doubles.
import type { EngineModule } from './engine_module.ts';

const PAGE = 16384, WORDS = PAGE / 4;
export const IMAGES_MOST = 24, IMAGE_EVENTS = 500000, IMAGE_BYTES = 256 << 20;

export interface Image {
	at: bigint;
	events: number;
	/* events of the journal that it has seen */
	done: number;
	pages: Uint32Array[];
}

function same(a: Uint32Array, b: Uint32Array, from: number): boolean {
	for (let i = 0; i < WORDS; i++)
		if (a[i] !== b[from + i])
			return false;
	return true;
}

function isZero(a: Uint32Array, from: number): boolean {
	for (let i = 0; i < WORDS; i++)
		if (a[from + i] !== 0)
			return false;
	return true;
}

const ZERO = new Uint32Array(WORDS);

/* Pages as those of `like`, where they are equal. */
export function takePages(engine: EngineModule, like: Uint32Array[]): Uint32Array[] {
	const words = new Uint32Array(engine.memory().buffer), pages: Uint32Array[] = [];
	for (let i = 0, from = 0; from < words.length; i++, from += WORDS) {
		const old = like[i];
		pages.push(old && same(old, words, from) ? old : isZero(words, from) ? ZERO : words.slice(from, from + WORDS));
	}
	return pages;
}

export function putPages(engine: EngineModule, pages: Uint32Array[]): void {
	engine.grow(pages.length * PAGE);
	const words = new Uint32Array(engine.memory().buffer);
	pages.forEach((p, i) => words.set(p, i * WORDS));
	words.fill(0, pages.length * WORDS);
}

export class Images {
	private images: Image[] = [];
	interval = IMAGE_EVENTS;

	constructor(private readonly most = IMAGES_MOST, private readonly bytesMost = IMAGE_BYTES, private readonly first = IMAGE_EVENTS) {
		this.reset();
	}

	reset(): void {
		this.images = [];
		this.sum = null;
		this.interval = this.first;
	}

	get length(): number {
		return this.images.length;
	}
	get start(): Image | undefined {
		return this.images[0];
	}

	/* Memory of all of them. */
	bytes(): number {
		return (this.sum ??= this.count());
	}
	private sum: number | null = 0;
	private count(): number {
		const seen = new Set<Uint32Array>();
		for (const m of this.images)
			for (const p of m.pages)
				seen.add(p);
		seen.delete(ZERO);
		return seen.size * PAGE;
	}

	/* The last one at or before this time. */
	find(at: bigint): Image | undefined {
		return this.images[this.before(at)];
	}
	private before(at: bigint): number {
		let i = this.images.length - 1;
		while (i >= 0 && this.images[i]!.at > at)
			i--;
		return i;
	}

	/* One at a time that is there already is left out. */
	take(engine: EngineModule, at: bigint, events: number, done: number): void {
		const before = this.before(at), near = this.images[before];
		if (near?.at === at)
			return;
		this.images.splice(before + 1, 0, { at, events, done, pages: takePages(engine, near?.pages ?? []) });
		this.sum = null;
		while (this.images.length > 2 && (this.images.length > this.most || this.bytes() > this.bytesMost)) {
			this.images = this.images.filter((_, i) => i % 2 === 0);
			this.sum = null;
			this.interval *= 2;
		}
	}

	/* An event after the first `done` of the journal: later images belong to another course of the run. */
	cut(at: bigint, done: number): void {
		this.images = this.images.filter((m) => m.at <= at && m.done <= done);
		this.sum = null;
	}
}
