// SPDX-License-Identifier: BSD-2-Clause
//
// A link that restores fabric, run, moment and view: the fragment of the address, never sent to a server. Small fields are
// plain text; a netlist is deflated and written in base64url.

export interface Shared {
	/* words of weft topo gen, or a netlist */
	words?: string;
	netlist?: string;
	name?: string;
	/* setup as the engine gets it, as JSON text */
	setup?: string;
	journal?: { at: string; text: string }[];
	at?: string;
	view?: [number, number, number];
	select?: string;
}

export const MAX_FRAGMENT = 2_000_000;
/* What a person opens must not unfold without end. */
const MAX_TEXT = 64 * 1024 * 1024;

async function pump(text: Uint8Array, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
	const stream = new Blob([text as BlobPart]).stream().pipeThrough(through as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
	const pieces: Uint8Array[] = [];
	let size = 0;
	const reader = stream.getReader();
	for (;;) {
		const { done, value } = await reader.read();
		if (done)
			break;
		size += value.byteLength;
		if (size > MAX_TEXT)
			throw new Error('the link holds too much text');
		pieces.push(value);
	}
	const all = new Uint8Array(size);
	let at = 0;
	for (const p of pieces) {
		all.set(p, at);
		at += p.byteLength;
	}
	return all;
}

export function base64url(bytes: Uint8Array): string {
	let s = '';
	for (let i = 0; i < bytes.length; i += 0x8000)
		s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
	return btoa(s).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

export function fromBase64url(text: string): Uint8Array {
	const s = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
	return Uint8Array.from(s, (c) => c.charCodeAt(0));
}

export async function packText(text: string): Promise<string> {
	return base64url(await pump(new TextEncoder().encode(text), new CompressionStream('deflate-raw')));
}
export async function unpackText(text: string): Promise<string> {
	return new TextDecoder().decode(await pump(fromBase64url(text), new DecompressionStream('deflate-raw')));
}

export async function toFragment(s: Shared): Promise<string> {
	const q = new URLSearchParams();
	if (s.words)
		q.set('g', s.words);
	else if (s.netlist)
		q.set('n', await packText(s.netlist));
	if (s.name)
		q.set('t', s.name);
	if (s.setup)
		q.set('s', await packText(s.setup));
	if (s.journal?.length)
		q.set('j', await packText(s.journal.map((j) => `${j.at} ${j.text}`).join('\n')));
	if (s.at)
		q.set('at', s.at);
	if (s.view)
		q.set('v', s.view.map((n) => Number(n.toPrecision(6))).join(','));
	if (s.select)
		q.set('sel', s.select);
	return '#' + q.toString();
}

/* null: no fabric is in it. Throws where it is damaged. */
export async function fromFragment(fragment: string): Promise<Shared | null> {
	if (fragment.length > MAX_FRAGMENT)
		throw new Error('the link is too long');
	const q = new URLSearchParams(fragment.replace(/^#/, ''));
	const s: Shared = {};
	if (q.get('g'))
		s.words = q.get('g')!;
	else if (q.get('n'))
		s.netlist = await unpackText(q.get('n')!);
	else
		return null;
	if (q.get('t'))
		s.name = q.get('t')!;
	if (q.get('s'))
		s.setup = await unpackText(q.get('s')!);
	if (q.get('j')) {
		s.journal = (await unpackText(q.get('j')!)).split('\n').map((line) => {
			const m = /^(\d{1,19}) (.{1,4096})$/.exec(line);
			if (!m)
				throw new Error('the journal of the link is damaged');
			return { at: m[1]!, text: m[2]! };
		});
	}
	if (/^\d{1,19}$/.test(q.get('at') ?? ''))
		s.at = q.get('at')!;
	const v = (q.get('v') ?? '').split(',').map(Number);
	if (v.length === 3 && v.every(Number.isFinite) && v[2]! > 0)
		s.view = v as [number, number, number];
	if (q.get('sel'))
		s.select = q.get('sel')!;
	return s;
}
