// SPDX-License-Identifier: BSD-2-Clause
//
// An engine behind the HTTP server of weft ui: one response that never ends with frames, a POST for each command.
// When the stream ends it is opened again, less and less often.
import { type Command, type Json, type Link, Replies, type LinkState } from './engine.ts';
import { FrameSplitter, KIND, decodeJson, frameKind } from './frames.ts';

export class HttpLink implements Link {
	onFrame: (frame: Uint8Array) => void = () => {};
	onState: (state: LinkState, why: string) => void = () => {};
	private readonly replies = new Replies();
	private abort = new AbortController();
	private closed = false;
	private wait = 250;

	constructor(private readonly token: string, readonly session: string) {}

	private url(path: string): string {
		const q = new URLSearchParams({ token: this.token });
		if (this.session)
			q.set('session', this.session);
		return `${path}?${q}`;
	}

	open(): void {
		void this.run();
	}

	close(): void {
		this.closed = true;
		this.abort.abort();
		this.replies.failAll('the connection was closed');
	}

	private async run(): Promise<void> {
		while (!this.closed) {
			this.onState('connecting', '');
			let why = 'the server closed the stream';
			try {
				this.abort = new AbortController();
				const response = await fetch(this.url('/stream'), { signal: this.abort.signal, cache: 'no-store' });
				if (response.status === 401 || response.status === 403) {
					this.onState('refused', await response.text());
					return;
				}
				if (!response.ok || !response.body)
					throw new Error(`${response.status} ${await response.text()}`);
				this.wait = 250;
				await this.read(response.body);
			} catch (e) {
				why = e instanceof Error ? e.message : String(e);
			}
			this.replies.failAll(why);
			if (this.closed)
				return;
			this.onState('lost', why);
			await new Promise((r) => setTimeout(r, this.wait));
			this.wait = Math.min(this.wait * 2, 5000);
		}
	}

	private async read(body: ReadableStream<Uint8Array>): Promise<void> {
		const split = new FrameSplitter((f) => this.frame(f));
		const reader = body.getReader();
		let first = true;
		for (;;) {
			const { done, value } = await reader.read();
			if (done)
				return;
			if (first)
				this.onState('open', '');
			first = false;
			split.push(value);
		}
	}

	private frame(f: Uint8Array): void {
		if (frameKind(f) === KIND.JSON) {
			const j = decodeJson(f);
			if (this.replies.take(j))
				return;
			if (j['engine'] === 'ended')
				this.replies.failAll(String(j['why'] ?? 'the engine ended'));
		}
		this.onFrame(f);
	}

	async restart(): Promise<void> {
		const response = await fetch(this.url('/restart'), { method: 'POST' });
		if (!response.ok)
			throw new Error(`${response.status} ${(await response.text()).trim()}`);
	}

	async command(c: Command): Promise<Json> {
		const { id, promise } = this.replies.add();
		promise.catch(() => {});
		try {
			const response = await fetch(this.url('/command'), {
				method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...c, id }),
			});
			if (!response.ok)
				this.replies.fail(id, `${response.status} ${(await response.text()).trim()}`);
		} catch (e) {
			this.replies.fail(id, e instanceof Error ? e.message : String(e));
		}
		return promise;
	}
}
