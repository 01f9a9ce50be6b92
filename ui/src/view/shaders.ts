// SPDX-License-Identifier: BSD-2-Clause
//
// The programs of the picture. Shapes are instances or four vertices each (gl.ts); corners come from gl_VertexID. Colours come from the theme.

const HEAD = `#version 300 es
precision highp float;
uniform vec2 uCentre; uniform vec2 uView; uniform float uScale; uniform float uDpr;
vec2 toPx(vec2 w) { return (w - uCentre) * uScale + uView * 0.5; }
vec4 clip(vec2 px) { return vec4(px / uView * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0); }
`;
const FRAG = `#version 300 es
precision highp float;
out vec4 outColour;
`;

/* Colours of PALETTE in scene.ts. */
export const PALETTE_SIZE = 24;

export const LINK_VS = HEAD + `
layout(location=0) in vec4 aEnds; layout(location=1) in vec4 aWhat; // state, value, flags, width
uniform vec3 uPal[${PALETTE_SIZE}]; uniform float uAlpha; uniform float uMode; uniform float uWidth; uniform float uFade;
out vec4 vColour; out vec3 vAcross; // distance from the middle, half width, along; px
vec3 ramp(float t) { // dark to hot, readable on both themes
	vec3 a = uPal[12], b = uPal[13], c = uPal[14];
	return t < 0.5 ? mix(a, b, t * 2.0) : mix(b, c, t * 2.0 - 1.0);
}
flat out float vDash;
void main() {
	float t = float(gl_VertexID & 1), side = float((gl_VertexID >> 1) & 1) * 2.0 - 1.0;
	vec2 a = toPx(aEnds.xy), b = toPx(aEnds.zw), d = b - a;
	float len = max(length(d), 1e-3);
	vec2 n = vec2(-d.y, d.x) / len;
	int state = int(aWhat.x + 0.5), flags = int(aWhat.z + 0.5);
	bool lit = (flags & 4) != 0, chosen = (flags & 3) != 0, dim = (flags & 8) != 0;
	float w = uWidth * max(1.0, aWhat.w) * uDpr;
	vec3 colour = uPal[state];
	float alpha = state == 3 ? 0.62 : state == 0 ? 0.6 : state == 4 ? 0.95 : 0.85;
	if (uMode > 0.5 && state != 4) { colour = ramp(aWhat.y / 255.0); alpha = 0.5 + 0.5 * aWhat.y / 255.0; w *= 1.0 + aWhat.y / 160.0; }
	if (state == 4) w = max(w, 1.6 * uDpr);
	if (lit) { colour = uPal[10]; alpha = 1.0; w = max(w * 2.2, 2.4 * uDpr); }
	if (chosen) { colour = uPal[11]; alpha = 1.0; w = max(w * 2.0, ((flags & 1) != 0 ? 3.0 : 2.0) * uDpr); }
	if (dim && !chosen) alpha *= 0.18;
	if (!lit && !chosen && state != 4) alpha *= uFade;
	float h = w * 0.5 + 0.75;
	vColour = vec4(colour, alpha * uAlpha);
	vAcross = vec3(side * h, w * 0.5, t * len);
	vDash = state == 4 && len < 8000.0 ? 1.0 : 0.0;
	gl_Position = clip(mix(a, b, t) + n * side * h);
	if (vColour.a < 0.004) gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
}`;
export const LINK_FS = FRAG + `
in vec4 vColour; in vec3 vAcross; flat in float vDash; uniform float uDpr;
void main() {
	float c = clamp(vAcross.y + 0.5 - abs(vAcross.x), 0.0, 1.0);
	if (vDash > 0.5 && fract(vAcross.z / (7.0 * uDpr)) > 0.55) c = 0.0;
	float a = vColour.a * c;
	outColour = vec4(vColour.rgb * a, a);
}`;

/* Nodes: squares with a distance function. aWhat: type, power and LID bits, flags, manager state + 1 (0: none). */
export const NODE_VS = HEAD + `
layout(location=0) in vec2 aPos; layout(location=1) in vec4 aWhat;
uniform vec3 uPal[${PALETTE_SIZE}]; uniform float uUnit; uniform vec2 uSwitch; uniform float uAlpha; uniform float uMin;
out vec2 vAt; flat out vec4 vFill; flat out vec4 vLine; flat out vec4 vRing; flat out vec4 vForm; // type, off, half size px
void main() {
	vec2 corner = vec2(float(gl_VertexID & 1), float((gl_VertexID >> 1) & 1)) * 2.0 - 1.0;
	int type = int(aWhat.x + 0.5), bits = int(aWhat.y + 0.5), flags = int(aWhat.z + 0.5), manager = int(aWhat.w + 0.5);
	vec2 h = type == 2 ? uSwitch * uUnit : vec2(min(0.36 * uUnit, 16.0 * uDpr));
	h = max(h, vec2(uMin * uDpr));
	bool chosen = (flags & 1) != 0, hover = (flags & 2) != 0, lit = (flags & 4) != 0, dim = (flags & 8) != 0;
	bool on = (bits & 1) != 0, lid = (bits & 2) != 0, cutOff = on && lid && (bits & 4) == 0;
	vec3 body = type == 1 ? uPal[6] : type == 3 ? uPal[7] : uPal[5];
	float alpha = uAlpha, full = type == 2 && h.y > 5.0 * uDpr ? 0.34 : 0.85;
	if (chosen || hover || lit || manager > 0) alpha = 1.0;
	vFill = vec4(mix(uPal[8], body, lid ? full : on ? 0.1 : 0.0), 1.0);
	vLine = vec4(on ? (lid ? body : mix(uPal[8], body, 0.75)) : uPal[4], 1.0);
	if (cutOff) { vFill.rgb = mix(uPal[8], uPal[1], 0.35); vLine = vec4(uPal[1], 1.0); }
	if (lit) vLine = vec4(uPal[10], 1.0);
	vRing = vec4(0.0);
	if (manager > 0) vRing = vec4(uPal[14 + manager], 1.0);
	if (chosen || hover) vRing = vec4(uPal[11], hover && !chosen ? 0.6 : 1.0);
	if (dim && !chosen && !lit) alpha *= 0.25;
	vFill.a *= alpha; vLine.a *= alpha; vRing.a *= alpha;
	float pad = (vRing.a > 0.0 ? 7.0 * uDpr : 0.0) + 1.5;
	vForm = vec4(aWhat.x, on ? 0.0 : 1.0, h);
	vAt = corner * (h + pad);
	gl_Position = clip(toPx(aPos) + vAt);
	if (alpha < 0.01) gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
}`;
export const NODE_FS = FRAG + `
in vec2 vAt; flat in vec4 vFill; flat in vec4 vLine; flat in vec4 vRing; flat in vec4 vForm; uniform float uDpr;
float shape(vec2 p, vec2 h, float type) {
	if (type < 1.5) return length(p) - h.x;
	if (type > 2.5) return (abs(p.x) + abs(p.y)) * 0.7071 - h.x * 0.85;
	float r = min(h.y * 0.35, 4.0 * uDpr);
	vec2 q = abs(p) - h + r;
	return length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - r;
}
void main() {
	vec2 h = vForm.zw;
	float d = shape(vAt, h, vForm.x), line = clamp(h.y * 0.14, 0.7, 1.4 * uDpr);
	float fill = clamp(0.5 - d - line, 0.0, 1.0), edge = clamp(0.5 - d, 0.0, 1.0);
	vec4 c = mix(vec4(vLine.rgb, 1.0) * vLine.a, vec4(vFill.rgb, 1.0) * vFill.a, fill) * edge;
	if (vForm.y > 0.5 && h.y > 3.0) { // no power: a cross
		vec2 n = normalize(vec2(h.y, h.x));
		float x = min(abs(dot(vAt, n)), abs(dot(vAt, vec2(n.x, -n.y)))) - line * 0.6;
		c = mix(c, vec4(vLine.rgb, 1.0) * vLine.a, clamp(0.5 - x, 0.0, 1.0) * edge);
	}
	if (vRing.a > 0.0) {
		float ring = abs(d - 3.5 * uDpr) - 0.9 * uDpr;
		vec4 g = vec4(vRing.rgb, 1.0) * vRing.a * clamp(0.5 - ring, 0.0, 1.0);
		c = c + g * (1.0 - c.a);
	}
	outColour = c;
}`;

/* Groups: rectangles. aWhat: depth, share of nodes that are up (0 to 255), flags, 0. */
export const GROUP_VS = HEAD + `
layout(location=0) in vec4 aBox; layout(location=1) in vec4 aWhat;
uniform vec3 uPal[${PALETTE_SIZE}]; uniform float uAlpha; uniform float uPad;
out vec2 vAt; flat out vec2 vHalf; flat out vec4 vFill; flat out vec4 vLine; flat out float vUp;
void main() {
	vec2 a = toPx(aBox.xy) - uPad, b = toPx(aBox.zw) + uPad, half_ = max((b - a) * 0.5, vec2(1.0));
	vec2 corner = vec2(float(gl_VertexID & 1), float((gl_VertexID >> 1) & 1)) * 2.0 - 1.0;
	vHalf = half_;
	vAt = corner * (half_ + 1.0);
	bool hover = (int(aWhat.z + 0.5) & 2) != 0;
	vUp = aWhat.y / 255.0;
	vFill = vec4(mix(uPal[19], uPal[3], 0.22 * vUp * uAlpha), 0.35 + 0.55 * uAlpha);
	vLine = vec4(hover ? uPal[11] : mix(uPal[20], uPal[3], 0.55 * vUp * uAlpha), hover ? 1.0 : 0.55 + 0.35 * uAlpha);
	gl_Position = clip((a + b) * 0.5 + vAt);
}`;
export const GROUP_FS = FRAG + `
in vec2 vAt; flat in vec2 vHalf; flat in vec4 vFill; flat in vec4 vLine; flat in float vUp; uniform float uDpr;
void main() {
	float r = min(min(vHalf.x, vHalf.y), 5.0 * uDpr);
	vec2 q = abs(vAt) - vHalf + r;
	float d = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - r;
	float edge = clamp(0.5 - d, 0.0, 1.0), inner = clamp(0.5 - d - uDpr, 0.0, 1.0);
	outColour = mix(vec4(vLine.rgb, 1.0) * vLine.a, vec4(vFill.rgb, 1.0) * vFill.a, inner) * edge;
}`;

/* Messages: points on links. aTime: start and duration in ms of the animation clock, kind, size. */
export const POINT_VS = HEAD + `
layout(location=0) in vec4 aEnds; layout(location=1) in vec4 aTime;
uniform vec3 uPal[${PALETTE_SIZE}]; uniform float uNow; uniform float uBase;
out vec2 vAt; flat out vec4 vColour; flat out float vR;
void main() {
	vec2 corner = vec2(float(gl_VertexID & 1), float((gl_VertexID >> 1) & 1)) * 2.0 - 1.0;
	float t = (uNow - aTime.x) / aTime.y;
	bool live = t >= 0.0 && t <= 1.0;
	int kind = int(aTime.z + 0.5);
	vR = aTime.w * uDpr * uBase;
	vColour = vec4(uPal[kind], 1.0 - smoothstep(0.9, 1.0, t) * 0.6);
	vAt = corner * (vR + 1.0);
	vec2 at = toPx(mix(aEnds.xy, aEnds.zw, clamp(t, 0.0, 1.0)));
	gl_Position = live ? clip(at + vAt) : vec4(2.0, 2.0, 0.0, 1.0);
}`;
export const POINT_FS = FRAG + `
in vec2 vAt; flat in vec4 vColour; flat in float vR;
void main() {
	float a = clamp(vR + 0.5 - length(vAt), 0.0, 1.0) * vColour.a;
	outColour = vec4(vColour.rgb * a, a);
}`;

/* The kept picture: one triangle over the view. */
export const COPY_VS = `#version 300 es
void main() { gl_Position = vec4(vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 4.0 - 1.0, 0.0, 1.0); }`;
export const COPY_FS = FRAG + `
uniform sampler2D uPicture;
void main() { outColour = texelFetch(uPicture, ivec2(gl_FragCoord.xy), 0); }`;
