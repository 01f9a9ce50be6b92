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

/* Two attributes for each instance: floats that stay (location 0), bytes or floats that change (location 1). */
export class Instances {
	private readonly vao: WebGLVertexArrayObject;
	private readonly fixed: WebGLBuffer;
	private readonly changing: WebGLBuffer;
	count = 0;

	constructor(private readonly gl: WebGL2RenderingContext, private readonly fixedSize: number, bytes: boolean) {
		this.vao = gl.createVertexArray()!;
		this.fixed = gl.createBuffer()!;
		this.changing = gl.createBuffer()!;
		gl.bindVertexArray(this.vao);
		gl.bindBuffer(gl.ARRAY_BUFFER, this.fixed);
		gl.enableVertexAttribArray(0);
		gl.vertexAttribPointer(0, fixedSize, gl.FLOAT, false, 0, 0);
		gl.vertexAttribDivisor(0, 1);
		gl.bindBuffer(gl.ARRAY_BUFFER, this.changing);
		gl.enableVertexAttribArray(1);
		gl.vertexAttribPointer(1, 4, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, false, 0, 0);
		gl.vertexAttribDivisor(1, 1);
		gl.bindVertexArray(null);
	}

	setFixed(data: Float32Array): void {
		this.count = data.length / this.fixedSize;
		this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.fixed);
		this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
	}

	setChanging(data: Uint8Array | Float32Array): void {
		this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.changing);
		this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
	}

	draw(count = this.count): void {
		if (count <= 0)
			return;
		this.gl.bindVertexArray(this.vao);
		this.gl.drawArraysInstanced(this.gl.TRIANGLE_STRIP, 0, 4, Math.min(count, this.count));
	}
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
