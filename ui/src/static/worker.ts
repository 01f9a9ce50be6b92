// SPDX-License-Identifier: BSD-2-Clause
//
// The engine's thread, and the threads of what-ifs: the same file. Frames of a slice go to the page in one message; the next
// slice waits until the page has taken it, so that a busy page is not flooded.
import { Host, answerWhatIf, isReply, jsonFrame } from './host.ts';

export type ToWorker = { module: WebAssembly.Module } | { command: string } | { taken: true } | { whatIf: { module: WebAssembly.Module; pages: Uint32Array[]; command: string; id: unknown } };
export type FromWorker = { frames: Uint8Array<ArrayBuffer>[]; memory: number };

const WHAT_IFS = 4;

interface WorkerScope {
	postMessage(m: FromWorker, transfer: ArrayBuffer[]): void;
	onmessage: ((e: MessageEvent<ToWorker>) => void) | null;
	location: Location;
}
const scope = self as unknown as WorkerScope;

let host: Host | null = null, out: Uint8Array<ArrayBuffer>[] = [], untaken = 0, whatIfs = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

function flush(): void {
	if (!out.length)
		return;
	const m = host?.memory;
	scope.postMessage({ frames: out, memory: m ? m.engine + m.images : 0 }, out.map((f) => f.buffer));
	out = [];
	untaken++;
}

function plan(): void {
	clearTimeout(timer);
	const ms = host && untaken < 2 ? host.wait() : Infinity;
	if (ms !== Infinity)
		timer = setTimeout(work, ms);
}

function work(): void {
	host?.turn();
	flush();
	plan();
}

/* What-ifs under way. */
const running = new Set<{ job: unknown; cancel: () => void }>();

function cancel(job: unknown): number {
	const all = [...running].filter((r) => typeof job === 'string' && r.job === job);
	for (const r of all)
		r.cancel();
	return all.length;
}

function whatIf(module: WebAssembly.Module, pages: Uint32Array[], command: string, id: unknown): void {
	if (whatIfs >= WHAT_IFS) {
		out.push(jsonFrame({ re: id, error: 'too many what-ifs at once; wait for one to end' }));
		return;
	}
	const other = new Worker(scope.location.href), end = (frames: Uint8Array<ArrayBuffer>[]): void => {
		other.terminate();
		whatIfs--;
		running.delete(me);
		out.push(...frames);
		flush();
	};
	const me = { job: (JSON.parse(command) as Record<string, unknown>)['job'], cancel: () => end([jsonFrame({ re: id, error: 'cancelled' })]) };
	running.add(me);
	whatIfs++;
	other.onmessage = (e: MessageEvent<FromWorker>) => {
		if (e.data.frames.some(isReply))
			end(e.data.frames);
		else
			out.push(...e.data.frames);
		flush();
	};
	other.onerror = () => end([jsonFrame({ re: id, error: 'the what-if ended without a result' })]);
	other.postMessage({ whatIf: { module, pages, command, id } } satisfies ToWorker);
}

scope.onmessage = (e) => {
	const m = e.data;
	if ('module' in m)
		host = new Host({ module: m.module, emit: (f) => out.push(f), clock: () => performance.now(), whatIf: (pages, command, id) => whatIf(m.module, pages, command, id), cancel });
	else if ('whatIf' in m)
		out.push(answerWhatIf(m.whatIf.module, m.whatIf.pages, m.whatIf.command, m.whatIf.id, (f) => scope.postMessage({ frames: [f], memory: 0 }, [f.buffer])));
	else if ('taken' in m)
		untaken--;
	else
		host?.command(m.command);
	flush();
	plan();
};
