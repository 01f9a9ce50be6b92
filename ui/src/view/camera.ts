// SPDX-License-Identifier: BSD-2-Clause
//
// The part of the plane on screen: centre in world units, scale in CSS pixels for each unit. Moves there over a short
// time when asked to, unless the person prefers less motion.
import type { Box } from '../model/fabric.ts';

export class Camera {
	x = 0;
	y = 0;
	scale = 20;
	width = 100;
	height = 100;
	minScale = 1e-4;
	maxScale = 600;
	private from: [number, number, number] | null = null;
	private to: [number, number, number] = [0, 0, 1];
	private began = 0;

	toScreen(x: number, y: number): [number, number] {
		return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
	}
	toWorld(px: number, py: number): [number, number] {
		return [(px - this.width / 2) / this.scale + this.x, (py - this.height / 2) / this.scale + this.y];
	}

	box(margin = 0): Box {
		const [x0, y0] = this.toWorld(-margin, -margin), [x1, y1] = this.toWorld(this.width + margin, this.height + margin);
		return { x0, y0, x1, y1 };
	}

	pan(dx: number, dy: number): void {
		this.from = null;
		this.x -= dx / this.scale;
		this.y -= dy / this.scale;
	}

	zoom(factor: number, px: number, py: number): void {
		this.from = null;
		const [wx, wy] = this.toWorld(px, py);
		this.scale = Math.min(this.maxScale, Math.max(this.minScale, this.scale * factor));
		this.x = wx - (px - this.width / 2) / this.scale;
		this.y = wy - (py - this.height / 2) / this.scale;
	}

	fitting(b: Box, margin: number): [number, number, number] {
		const w = Math.max(b.x1 - b.x0, 1e-3), h = Math.max(b.y1 - b.y0, 1e-3);
		const scale = Math.min((this.width - 2 * margin) / w, (this.height - 2 * margin) / h, this.maxScale);
		return [(b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2, scale];
	}

	set(to: [number, number, number]): void {
		this.from = null;
		[this.x, this.y, this.scale] = to;
	}

	glide(to: [number, number, number], now: number): void {
		if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
			this.set(to);
			return;
		}
		this.from = [this.x, this.y, this.scale];
		this.to = to;
		this.began = now;
	}

	get gliding(): boolean {
		return this.from !== null;
	}

	/* True while it moves by itself. */
	advance(now: number): boolean {
		if (!this.from)
			return false;
		const t = Math.min(1, (now - this.began) / 260), e = 1 - (1 - t) ** 3;
		this.scale = this.from[2] * (this.to[2] / this.from[2]) ** e;
		this.x = this.from[0] + (this.to[0] - this.from[0]) * e;
		this.y = this.from[1] + (this.to[1] - this.from[1]) * e;
		if (t >= 1)
			this.from = null;
		return true;
	}
}
