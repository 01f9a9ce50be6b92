// SPDX-License-Identifier: BSD-2-Clause
//
// All that a person can do has a name here, with its keys: the keyboard, menus, the palette and the help overlay are made
// from one table. Keys are written as "Ctrl+Shift+Z", "ArrowUp", "?".

export interface Action {
	id: string;
	group: string;
	title: string;
	keys?: string[];
	/* A sentence when it cannot be done now; null: it can. */
	unless?: () => string | null;
	run: () => void | Promise<void>;
}

export class Actions {
	readonly list: Action[] = [];
	private readonly byKey = new Map<string, Action>();
	private readonly byId = new Map<string, Action>();

	constructor(private readonly report: (text: string, bad: boolean) => void) {}

	add(...actions: Action[]): void {
		for (const a of actions) {
			this.list.push(a);
			this.byId.set(a.id, a);
			for (const k of a.keys ?? []) {
				if (this.byKey.has(k))
					throw new Error(`key ${k} has two actions`);
				this.byKey.set(k, a);
			}
		}
	}

	get(id: string): Action {
		const a = this.byId.get(id);
		if (!a)
			throw new Error(`no action ${id}`);
		return a;
	}

	run(id: string): void {
		const a = this.get(id), why = a.unless?.();
		if (why) {
			this.report(why, false);
			return;
		}
		void (async () => {
			try {
				await a.run();
			} catch (e) {
				this.report(e instanceof Error ? e.message : String(e), true);
			}
		})();
	}

	/* True: the key was used. */
	key(e: KeyboardEvent): boolean {
		const a = this.byKey.get(keyName(e));
		if (!a)
			return false;
		this.run(a.id);
		return true;
	}
}

export function keyName(e: { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean }): string {
	const one = e.key.length === 1;
	const key = e.key === ' ' ? 'Space' : one && (e.ctrlKey || e.metaKey || e.altKey) ? e.key.toUpperCase() : e.key;
	const shift = e.shiftKey && (!one || e.ctrlKey || e.metaKey || key === 'Space');
	return (e.ctrlKey || e.metaKey ? 'Ctrl+' : '') + (e.altKey ? 'Alt+' : '') + (shift ? 'Shift+' : '') + key;
}

export function keyText(key: string): string {
	return key.replace('ArrowUp', '↑').replace('ArrowDown', '↓').replace('ArrowLeft', '←').replace('ArrowRight', '→').replace('Escape', 'Esc').replace('Delete', 'Del');
}
