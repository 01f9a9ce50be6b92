// SPDX-License-Identifier: BSD-2-Clause
//
// A page without a browser: `weft ui` with a session of its own, commands and their replies, the last STATE. For tests and
// measurements of the engine alone.
import { spawn } from 'node:child_process';

export class Client {
	/* Of a program that serves; args: after `weft ui --no-browser`. */
	static async start(weft, args = [], session = 'client', options = {}) {
		const program = spawn(weft, ['ui', '--no-browser', ...args], { stdio: ['ignore', 'pipe', 'inherit'], ...options });
		const url = await new Promise((resolve, reject) => {
			program.stdout.once('data', (d) => resolve(String(d).trim()));
			program.once('exit', (code) => reject(new Error(`weft ui ended with status ${code}`)));
		});
		return Object.assign(new Client(url, session), { program });
	}

	/* Another session of a program that serves. */
	constructor(url, session) {
		this.url = new URL(url);
		this.session = session;
		this.state = { now: 0n, events: 0n };
		this.frames = [];
		this.waits = new Map();
		this.id = 0;
	}

	at(path) {
		return new URL(`${path}?token=${this.url.searchParams.get('token')}&session=${this.session}`, this.url);
	}

	async open() {
		this.abort = new AbortController();
		const r = await fetch(this.at('/stream'), { signal: this.abort.signal });
		if (!r.ok)
			throw new Error(`stream: ${r.status}`);
		this.read(r.body).catch(() => {});
		return this;
	}

	async read(body) {
		let rest = Buffer.alloc(0);
		for await (const part of body) {
			rest = Buffer.concat([rest, part]);
			for (let n; rest.length >= 8 && rest.length >= (n = rest.readUInt32LE(0)); rest = rest.subarray(n))
				this.frame(rest.subarray(0, n));
		}
	}

	/* JSON frames answer commands; STATE has time and events. */
	frame(f) {
		if (f[4] === 3)
			this.state = { now: f.readBigUInt64LE(8), events: f.readBigUInt64LE(16) };
		if (f[4] !== 1)
			return;
		const j = JSON.parse(f.subarray(8).toString());
		if (j.paused)
			setTimeout(() => this.arrived?.(), 0);
		if (j.re === undefined)
			this.frames.push(j);
		this.waits.get(j.re)?.(j);
	}

	/* The reply, with its error if it has one. */
	async ask(command) {
		const id = ++this.id, reply = new Promise((r) => this.waits.set(id, r));
		const sent = await fetch(this.at('/command'), { method: 'POST', body: JSON.stringify({ ...command, id }) });
		if (sent.status !== 204)
			throw new Error(`command: ${sent.status} ${await sent.text()}`);
		return reply;
	}

	async command(command) {
		const r = await this.ask(command);
		if (r.error)
			throw new Error(`${command.cmd}: ${r.error}`);
		return r;
	}

	/* Seconds that it takes. */
	async timed(fn) {
		const began = performance.now(), result = await fn();
		return { seconds: (performance.now() - began) / 1000, result };
	}

	async go(ps) {
		const there = new Promise((r) => (this.arrived = r));
		return (await this.timed(async () => {
			await this.command({ cmd: 'go', at: String(ps) });
			await there;
		})).seconds;
	}

	/* A fabric with its default manager, paused at time 0. */
	async begin(words, setup = {}) {
		await this.command({ cmd: 'generate', words });
		await this.command({ cmd: 'setup', ...setup });
		await this.command({ cmd: 'speed', speed: 0 });
		return this.command({ cmd: 'start' });
	}

	close() {
		this.abort?.abort();
		this.program?.kill();
	}
}
