// SPDX-License-Identifier: BSD-2-Clause
//
// The page without a server: the engine is in a worker. Tests reach it as window.weft.
import { toFragment } from '../model/share.ts';
import { startPage } from '../start.ts';
import { WorkerLink } from './worker_link.ts';

(globalThis as unknown as { weft: unknown }).weft = startPage(new WorkerLink('worker.js', 'engine.wasm'), (netlist) => {
	void toFragment({ netlist, name: 'twin' }).then((fragment) => open(location.pathname + fragment, '_blank'));
});
