// SPDX-License-Identifier: BSD-2-Clause
//
// engine.wasm as an object: commands in, frames out, and copies of its memory. A copy is all there is of an engine: it has no
// file, clock or thread, and between two calls its stack is empty.

export interface EngineExports {
	memory: WebAssembly.Memory;
	_initialize(): void;
	engine_begin(): void;
	engine_room(len: number): number;
	engine_command(len: number): void;
	engine_work(wallUs: bigint, events: bigint): number;
	engine_now(): bigint;
	engine_events(): bigint;
	engine_going(): number;
	engine_runs(): number;
	engine_journal(): number;
	engine_next_fault(): bigint;
}

export interface Fault {
	at: bigint;
	text: string;
}

export class EngineEnded extends Error {}

/* Text that the engine writes before it gives up. */
function lastWords(memory: WebAssembly.Memory, iovs: number, n: number): string {
	const v = new DataView(memory.buffer), text = new TextDecoder();
	let out = '';
	for (let i = 0; i < n; i++) {
		const at = v.getUint32(iovs + 8 * i, true), len = v.getUint32(iovs + 8 * i + 4, true);
		out += text.decode(new Uint8Array(memory.buffer, at, len).slice());
	}
	return out;
}

export class EngineModule {
	onFrame: (frame: Uint8Array<ArrayBuffer>) => void = () => {};
	private readonly x: EngineExports;
	private faults: Fault[] = [];
	private said = '';

	constructor(module: WebAssembly.Module) {
		const ended = (): never => {
			throw new EngineEnded(this.said.trim() || 'the engine gave up');
		};
		const none = (): number => 8; /* EBADF */
		const noFile = (): number => -52; /* ENOSYS */
		this.x = new WebAssembly.Instance(module, {
			weft: {
				emit: (at: number, len: number) => this.onFrame(new Uint8Array(this.x.memory.buffer, at >>> 0, len >>> 0).slice()),
				fault: (at: bigint, text: number, len: number) =>
					this.faults.push({ at: BigInt.asUintN(64, at), text: new TextDecoder().decode(new Uint8Array(this.x.memory.buffer, text >>> 0, len).slice()) }),
			},
			/* There are no files: engines that read tables from one are linked in, and never called. */
			env: { emscripten_notify_memory_growth: () => {}, __syscall_fstat64: noFile, __syscall_stat64: noFile, __syscall_fstatat64: noFile },
			wasi_snapshot_preview1: {
				proc_exit: ended,
				fd_write: (_fd: number, iovs: number, n: number, written: number) => {
					const text = lastWords(this.x.memory, iovs >>> 0, n);
					this.said = (this.said + text).slice(-1000);
					new DataView(this.x.memory.buffer).setUint32(written >>> 0, text.length, true);
					return 0;
				},
				/* Libraries mention these; the engine never calls them. */
				clock_time_get: none, fd_read: none, fd_close: none, fd_seek: none,
			},
		}).exports as unknown as EngineExports;
		this.x._initialize();
		this.x.engine_begin();
	}

	private guard<T>(run: () => T): T {
		try {
			return run();
		} catch (e) {
			if (e instanceof WebAssembly.RuntimeError || e instanceof RangeError)
				throw new EngineEnded(this.said.trim() || e.message);
			throw e;
		}
	}

	command(json: string): void {
		const bytes = new TextEncoder().encode(json);
		this.guard(() => {
			const at = this.x.engine_room(bytes.length) >>> 0;
			new Uint8Array(this.x.memory.buffer).set(bytes, at);
			this.x.engine_command(bytes.length);
		});
	}

	/* False: nothing is to be done until the next command. */
	work(wallUs: number, events: number): boolean {
		return this.guard(() => this.x.engine_work(BigInt(Math.floor(wallUs)), BigInt(events)) !== 0);
	}

	now(): bigint {
		return BigInt.asUintN(64, this.x.engine_now());
	}
	events(): number {
		return Number(BigInt.asUintN(64, this.x.engine_events()));
	}

	get going(): boolean {
		return this.x.engine_going() !== 0;
	}
	get runs(): number {
		return this.x.engine_runs();
	}
	/* All faults, those to come last. */
	journal(): { happened: number; faults: Fault[] } {
		this.faults = [];
		const happened = this.x.engine_journal();
		return { happened, faults: this.faults };
	}
	/* The next one to come; beyond all times: none. */
	nextFault(): bigint {
		return BigInt.asUintN(64, this.x.engine_next_fault());
	}

	get bytes(): number {
		return this.x.memory.buffer.byteLength;
	}
	memory(): Uint8Array<ArrayBuffer> {
		return new Uint8Array(this.x.memory.buffer as ArrayBuffer);
	}
	/* At least so many bytes. Memory never shrinks; what is behind a copy is set to 0 by those who put it back. */
	grow(bytes: number): void {
		if (bytes > this.bytes)
			this.x.memory.grow(Math.ceil((bytes - this.bytes) / 65536));
	}
}
