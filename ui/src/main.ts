// SPDX-License-Identifier: BSD-2-Clause
//
// The page as weft serves it: token from the address, kept for this tab, so that a link without it can be opened here.
import { toFragment } from './model/share.ts';
import { startPage } from './start.ts';
import { HttpLink } from './wire/http.ts';

function remembered(key: string, fresh: string): string {
	try {
		if (fresh)
			sessionStorage.setItem(key, fresh);
		return fresh || sessionStorage.getItem(key) || '';
	} catch {
		return fresh;
	}
}

function sessionName(): string {
	const q = new URLSearchParams(location.search).get('session');
	const kept = remembered('weft-session', q ?? '');
	return kept || remembered('weft-session', '');
}

const token = remembered('weft-token', new URLSearchParams(location.search).get('token') ?? '');

const page = startPage(new HttpLink(token, sessionName()), (netlist, setup) => {
	/* The twin has a session, and so an engine, of its own; its fabric is in the address. */
	const q = new URLSearchParams({ token, session: `twin-${Date.now().toString(36)}` });
	void toFragment({ netlist, name: 'twin', setup }).then((fragment) => open(`${location.pathname}?${q}${fragment}`, '_blank'));
}, (session) => new HttpLink(token, session));

/* For tests and for the console of the browser. */
Object.assign(globalThis, { weft: page });
