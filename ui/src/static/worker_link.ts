// SPDX-License-Identifier: BSD-2-Clause
//
// An engine in a worker of this page: WebAssembly, without a server.
import { type Command, type Json, type Link, type LinkState, Replies } from '../wire/engine.ts';
import { KIND, decodeJson, frameKind } from '../wire/frames.ts';
import type { FromWorker, ToWorker } from './worker.ts';

export class WorkerLink implements Link {
	onFrame: (frame: Uint8Array) => void = () => {};
	onState: (state: LinkState, why: string) => void = () => {};
	/* Bytes of the engine and its images. */
	memory = 0;
	private readonly replies = new Replies();
	private worker: Worker | null = null;

	constructor(private readonly script: string, private readonly wasm: string) {}

	open(): void {
		this.onState('connecting', '');
		void this.start().catch((e: unknown) => {
			const why = location.protocol === 'file:' ? 'This page must come from a web server (any: python3 -m http.server); a browser does not start it from a file.' :
				`The engine did not start: ${e instanceof Error ? e.message : String(e)}`;
			this.onState('refused', why);
			this.replies.failAll(why);
		});
	}

	private async start(): Promise<void> {
		const response = await fetch(this.wasm);
		if (!response.ok)
			throw new Error(`${this.wasm}: ${response.status}`);
		/* Not streamed: that needs a server that knows the type application/wasm. */
		const module = await WebAssembly.compile(await response.arrayBuffer());
		this.worker = new Worker(this.script);
		this.worker.onmessage = (e: MessageEvent<FromWorker>) => this.take(e.data);
		this.worker.onerror = (e) => this.lost(e.message || 'the worker ended');
		this.send({ module });
		this.onState('open', '');
	}

	private lost(why: string): void {
		this.replies.failAll(why);
		this.onState('lost', `${why}; load the page again`);
	}

	private send(m: ToWorker): void {
		this.worker?.postMessage(m);
	}

	private take(m: FromWorker): void {
		this.memory = m.memory;
		for (const f of m.frames) {
			const j = frameKind(f) === KIND.JSON ? decodeJson(f) : null;
			if (j?.['engine'] === 'ended')
				this.replies.failAll(String(j['why']));
			if (!j || !this.replies.take(j))
				this.onFrame(f);
		}
		this.send({ taken: true });
	}

	command(c: Command): Promise<Json> {
		const { id, promise } = this.replies.add();
		promise.catch(() => {});
		if (this.worker)
			this.send({ command: JSON.stringify({ ...c, id }) });
		else
			this.replies.fail(id, 'the engine has not started');
		return promise;
	}

	close(): void {
		this.worker?.terminate();
		this.worker = null;
		this.replies.failAll('the connection was closed');
	}
}
