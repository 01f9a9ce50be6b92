// SPDX-License-Identifier: BSD-2-Clause
//
// The page on the mock engine; tests reach it as window.weft.
import { startPage } from '../../src/start.ts';
import { MockLink } from './engine.ts';

(globalThis as unknown as { weft: unknown }).weft = startPage(new MockLink(), () => {});
