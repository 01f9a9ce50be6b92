// SPDX-License-Identifier: BSD-2-Clause
//
// Dark and light: as the system says, unless the person chose. Colours of the picture are those of the style sheet.

type Choice = 'dark' | 'light' | 'system';
const KEY = 'weft-theme';

export class Theme {
	onChange: () => void = () => {};
	private readonly system = matchMedia('(prefers-color-scheme: light)');
	private cache = new Map<string, [number, number, number]>();

	constructor() {
		this.system.addEventListener('change', () => this.apply());
		this.apply();
	}

	get choice(): Choice {
		const c = stored(KEY);
		return c === 'dark' || c === 'light' ? c : 'system';
	}

	get light(): boolean {
		return this.choice === 'light' || (this.choice === 'system' && this.system.matches);
	}

	toggle(): void {
		store(KEY, this.light ? 'dark' : 'light');
		this.apply();
	}

	private apply(): void {
		document.documentElement.classList.toggle('light', this.light);
		this.cache.clear();
		this.onChange();
	}

	css(name: string): string {
		return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	}

	rgb = (name: string): [number, number, number] => {
		let c = this.cache.get(name);
		if (!c) {
			const m = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(this.css(name));
			c = m ? [1, 2, 3].map((i) => parseInt(m[i]!, 16) / 255) as [number, number, number] : [1, 0, 1];
			this.cache.set(name, c);
		}
		return c;
	};
}

/* Storage may be forbidden; then nothing is remembered. */
export function stored(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}
export function store(key: string, value: string): void {
	try {
		localStorage.setItem(key, value);
	} catch {
		/* as above */
	}
}
