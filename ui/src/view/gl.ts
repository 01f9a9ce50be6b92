// SPDX-License-Identifier: BSD-2-Clause
//
// Small helpers over WebGL2: programs with their uniforms, instanced buffers, the off-screen picture.

export class Program {
	readonly id: WebGLProgram;
	private readonly at = new Map<string, WebGLUniformLocation | null>();

	constructor(private readonly gl: WebGL2RenderingContext, vs: string, fs: string) {
		this.id = gl.createProgram()!;
		for (const [type, text] of [[gl.VERTEX_SHADER, vs], [gl.FRAGMENT_SHADER, fs]] as [number, string][]) {
			const s = gl.createShader(type)!;
			gl.shaderSource(s, text);
			gl.compileShader(s);
			if (!gl.getShaderParameter(s, gl.COMPILE_STATUS) && !gl.isContextLost())
				throw new Error(`shader: ${gl.getShaderInfoLog(s)}`);
			gl.attachShader(this.id, s);
		}
		gl.linkProgram(this.id);
		if (!gl.getProgramParameter(this.id, gl.LINK_STATUS) && !gl.isContextLost())
			throw new Error(`program: ${gl.getProgramInfoLog(this.id)}`);
	}

	u(name: string): WebGLUniformLocation | null {
		let l = this.at.get(name);
		if (l === undefined) {
			l = this.gl.getUniformLocation(this.id, name);
			this.at.set(name, l);
		}
		return l;
	}
}

/* Corners of shapes without instances: 0 1 2, 2 1 3 of each four. Grows with the largest list. */
export class Corners {
	readonly buffer: WebGLBuffer;
	private have = 0;

	constructor(private readonly gl: WebGL2RenderingContext) {
		this.buffer = gl.createBuffer()!;
	}

	/* For this many shapes; an array of vertices must be bound. */
	reserve(n: number): void {
		if (n <= this.have)
			return;
		this.have = Math.max(n, 2 * this.have);
		const at = new Uint32Array(6 * this.have);
		for (let i = 0; i < this.have; i++)
			[0, 1, 2, 2, 1, 3].forEach((c, k) => (at[6 * i + k] = 4 * i + c));
		this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, this.buffer);
		this.gl.bufferData(this.gl.ELEMENT_ARRAY_BUFFER, at, this.gl.STATIC_DRAW);
	}
}

/* Two attributes for each shape: floats that stay (location 0), bytes or floats that change (location 1). Instances; or, with
 * corners, all of them four times in one list: a renderer in software draws each instance by itself, for tens of microseconds. */
export class Instances {
	private readonly vao: WebGLVertexArrayObject;
	private readonly fixed: WebGLBuffer;
	private readonly changing: WebGLBuffer;
	count = 0;

	constructor(private readonly gl: WebGL2RenderingContext, private readonly fixedSize: number, bytes: boolean, private readonly corners: Corners | null) {
		this.vao = gl.createVertexArray()!;
		this.fixed = gl.createBuffer()!;
		this.changing = gl.createBuffer()!;
		gl.bindVertexArray(this.vao);
		gl.bindBuffer(gl.ARRAY_BUFFER, this.fixed);
		gl.enableVertexAttribArray(0);
		gl.vertexAttribPointer(0, fixedSize, gl.FLOAT, false, 0, 0);
		gl.vertexAttribDivisor(0, corners ? 0 : 1);
		gl.bindBuffer(gl.ARRAY_BUFFER, this.changing);
		gl.enableVertexAttribArray(1);
		gl.vertexAttribPointer(1, 4, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, false, 0, 0);
		gl.vertexAttribDivisor(1, corners ? 0 : 1);
		if (corners)
			gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, corners.buffer);
		gl.bindVertexArray(null);
	}

	setFixed(data: Float32Array): void {
		this.count = data.length / this.fixedSize;
		this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.fixed);
		this.gl.bufferData(this.gl.ARRAY_BUFFER, this.corners ? fourTimes(data, this.fixedSize) : data, this.gl.STATIC_DRAW);
	}

	setChanging(data: Uint8Array | Float32Array): void {
		this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.changing);
		this.gl.bufferData(this.gl.ARRAY_BUFFER, this.corners ? fourTimes(data, 4) : data, this.gl.DYNAMIC_DRAW);
	}

	draw(count = this.count): void {
		const n = Math.min(count, this.count);
		if (n <= 0)
			return;
		this.gl.bindVertexArray(this.vao);
		this.corners?.reserve(n);
		if (this.corners)
			this.gl.drawElements(this.gl.TRIANGLES, 6 * n, this.gl.UNSIGNED_INT, 0);
		else
			this.gl.drawArraysInstanced(this.gl.TRIANGLE_STRIP, 0, 4, n);
	}
}

/* Each record of so many numbers four times. */
function fourTimes<T extends Uint8Array | Float32Array>(data: T, size: number): T {
	const out = new (data.constructor as new (n: number) => T)(4 * data.length);
	for (let i = 0, to = 0; i < data.length; i += size)
		for (let corner = 0; corner < 4; corner++)
			for (let k = 0; k < size; k++)
				out[to++] = data[i + k]!;
	return out;
}

/* A picture that is drawn once and shown many times. */
export class Layer {
	private fbo: WebGLFramebuffer | null = null;
	private texture: WebGLTexture | null = null;
	private w = 0;
	private h = 0;

	constructor(private readonly gl: WebGL2RenderingContext) {}

	begin(w: number, h: number): void {
		const gl = this.gl;
		if (!this.fbo || this.w !== w || this.h !== h) {
			if (this.texture)
				gl.deleteTexture(this.texture);
			this.fbo ??= gl.createFramebuffer();
			this.texture = gl.createTexture();
			gl.bindTexture(gl.TEXTURE_2D, this.texture);
			gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, w, h);
			gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
			gl.bindFramebuffer(gl.FRAMEBUFFER, this.fbo);
			gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
			[this.w, this.h] = [w, h];
		}
		gl.bindFramebuffer(gl.FRAMEBUFFER, this.fbo);
		gl.viewport(0, 0, w, h);
	}

	/* Onto the screen, pixel by pixel. */
	show(copy: Program): void {
		const gl = this.gl;
		gl.bindFramebuffer(gl.FRAMEBUFFER, null);
		gl.viewport(0, 0, this.w, this.h);
		gl.disable(gl.BLEND);
		gl.useProgram(copy.id);
		gl.activeTexture(gl.TEXTURE0);
		gl.bindTexture(gl.TEXTURE_2D, this.texture);
		gl.uniform1i(copy.u('uPicture'), 0);
		gl.bindVertexArray(null);
		gl.drawArrays(gl.TRIANGLES, 0, 3);
		gl.enable(gl.BLEND);
	}
}
