// SPDX-License-Identifier: BSD-2-Clause
//
// All panes beside the first ones, in the order of their tabs. A new pane is a file with a class and a line here.
import type { App } from '../app.ts';
import type { View } from '../view/view.ts';
import { Changes } from './changes.ts';
import { Counters } from './counters.ts';
import { Groups } from './groups.ts';
import type { Inspect } from './inspect.ts';
import { Live } from './live.ts';
import type { Tab } from './pane.ts';
import { Partitions } from './partitions.ts';
import { Quality } from './quality.ts';
import { SaLoadPane } from './sa_load.ts';
import { Services } from './services.ts';
import { Vms } from './vms.ts';

/* What a pane may use. */
export interface PaneParts {
	app: App;
	view: View;
	inspect: Inspect;
}

export const PANES: ((p: PaneParts) => Tab)[] = [
	(p) => new Live(p),
	(p) => new Changes(p),
	(p) => new Vms(p),
	(p) => new Counters(p),
	(p) => new Quality(p),
	(p) => new Groups(p),
	(p) => new Partitions(p),
	(p) => new Services(p),
	(p) => new SaLoadPane(p),
];
