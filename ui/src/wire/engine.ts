// SPDX-License-Identifier: BSD-2-Clause
//
// The way to an engine: commands out, frames in. wire/http.ts is the one for a server; a WebAssembly worker is another.

export type Json = Record<string, unknown>;

export interface Command extends Json {
	cmd: string;
}

/* Of a what-if that takes long; job: its name in the command. */
export interface Progress {
	job: string;
	part: 'comes up' | 'fails';
	events: number;
	expected: number;
}

export interface Link {
	/* Frames other than replies. Set before open(). */
	onFrame: (frame: Uint8Array) => void;
	onState: (state: LinkState, why: string) => void;
	open(): void;
	/* Rejects with the engine's error, or when the connection ends. */
	command(c: Command): Promise<Json>;
	/* A new process in place of one that ended; not every engine has one. */
	restart?(): Promise<void>;
	close(): void;
}

export type LinkState = 'connecting' | 'open' | 'lost' | 'refused';

export class CommandError extends Error {}

/* Replies find their commands by id; both links use it. */
export class Replies {
	private next = 1;
	private readonly waiting = new Map<number, { resolve: (j: Json) => void; reject: (e: Error) => void }>();

	add(): { id: number; promise: Promise<Json> } {
		const id = this.next++;
		const promise = new Promise<Json>((resolve, reject) => this.waiting.set(id, { resolve, reject }));
		return { id, promise };
	}

	/* True: the frame was a reply. */
	take(j: Json): boolean {
		if (typeof j['re'] !== 'number')
			return false;
		const w = this.waiting.get(j['re']);
		this.waiting.delete(j['re']);
		if (w && typeof j['error'] === 'string')
			w.reject(new CommandError(j['error']));
		else
			w?.resolve(j);
		return true;
	}

	fail(id: number, why: string): void {
		this.waiting.get(id)?.reject(new CommandError(why));
		this.waiting.delete(id);
	}

	failAll(why: string): void {
		for (const id of [...this.waiting.keys()])
			this.fail(id, why);
	}
}
