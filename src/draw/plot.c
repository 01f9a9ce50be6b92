/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Line charts. State: struct frame, for one call: both axes and their positions. Way in: plot_svg(). Does not
 * use floating point: lengths are tenths of a pixel.
 */
#include "draw/plot_priv.h"

typedef unsigned __int128 u128;

enum { /* of the drawing, in pixels */
       LEFT = 76,
       TOP = 46,
       WIDE = 560,
       HIGH = 340,
       BELOW = 58,
       NOTE = 20,
       KEY_GAP = 22,
       KEY_LINE = 22,
       KEY_MARK = 34, /* the sample of a line before its name */
       LETTER = 7,    /* approximate width of a letter */
       TICKS = 10,    /* maximum number of steps on an axis */
       MARK = 38,     /* half a marker, in tenths */
};

const char *const plot_colours[PLOT_COLOURS] = {"#1f5fa8", "#c8501e", "#1e8a5a", "#8a3fa0",
						"#b38600", "#2a9fc0", "#b02a4c", "#555555"};

const char plot_style[] =
	"<style>text{font-family:sans-serif;font-size:12px;fill:#222}.t{font-size:15px;"
	"font-weight:bold}.m{text-anchor:middle}.e{text-anchor:end}.s{font-size:11px;fill:#555}"
	".g{stroke:#e2e2e2}.a{stroke:#222}.l{fill:none;stroke-width:1.8;stroke-linejoin:round}"
	"</style>\n";

struct axis {
	const struct plot_axis *p;
	uint64_t unit, min, max,
		step; /* min: start of a logarithmic axis; step: of a linear axis */
	uint64_t log_min, log_span;
	unsigned length; /* tenths of a pixel */
};

struct frame {
	const struct plot *p;
	struct strbuf *out;
	struct axis x, y;
};

/* ---- numbers ---- */

/* The binary logarithm with 16 fractional bits: each squaring gives one bit. */
static uint64_t log2_q16(uint64_t v)
{
	unsigned whole = 63u - (unsigned)__builtin_clzll(v);
	uint64_t m = whole < 32 ? v << (32 - whole) : v >> (whole - 32), frac = 0;

	for (unsigned i = 0; i < 16; i++) {
		m = (uint64_t)((u128)m * m >> 32);
		frac = frac << 1 | m >> 33;
		m >>= m >> 33;
	}
	return (uint64_t)whole << 16 | frac;
}

/* The next of 1, 2, 5, 10, 20, 50, ..., or the largest value. */
static uint64_t round_next(uint64_t v)
{
	uint64_t ten = 1, first;

	while (v / ten >= 10)
		ten *= 10;
	first = v / ten;
	first = first < 2 ? 2 : first < 5 ? 5 : 10;
	return (u128)first * ten > UINT64_MAX ? UINT64_MAX : first * ten;
}

uint64_t plot_round_above(uint64_t v)
{
	uint64_t r = 1;

	while (r < v)
		r = round_next(r);
	return r;
}

static uint64_t round_below(uint64_t v)
{
	uint64_t r = 1, next;

	while ((next = round_next(r)) <= v && next > r)
		r = next;
	return r;
}

/* ---- axes ---- */

static void axis_linear(struct axis *a, uint64_t most)
{
	u128 end;

	a->step = plot_round_above(most / TICKS + (most % TICKS != 0));
	end = ((u128)most + a->step - 1) / a->step * a->step;
	a->max = end > UINT64_MAX ? UINT64_MAX : (uint64_t)end;
	if (!a->max)
		a->max = a->step = 1;
}

static void axis_log(struct axis *a, uint64_t least, uint64_t most)
{
	a->min = round_below(MAX(least, 1u));
	a->max = plot_round_above(MAX(most, 1u));
	if (a->max <= a->min)
		a->max = round_next(a->min);
	a->log_min = log2_q16(a->min);
	a->log_span = MAX(log2_q16(a->max) - a->log_min, 1u);
}

static void axis_make(struct axis *a, const struct plot *p, bool y)
{
	uint64_t least = UINT64_MAX, most = 0;

	a->p = y ? &p->y : &p->x;
	a->unit = a->p->unit ? a->p->unit : 1;
	a->length = y ? HIGH * 10 : WIDE * 10;
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->series[i].n; k++) {
			const struct plot_point *at = &p->series[i].at[k];
			uint64_t v = y ? at->y : at->x;

			most = MAX(most, v);
			least = v && v < least ? v : least;
		}
	if (a->p->max)
		most = a->p->max;
	if (a->p->log)
		axis_log(a, MIN(least, most), most);
	else
		axis_linear(a, most);
}

/* Tenths of a pixel from the start of the axis; values above the end give a position slightly beyond it. */
static unsigned axis_at(const struct axis *a, uint64_t v)
{
	u128 at;

	if (a->p->log)
		at = (u128)(log2_q16(MAX(v, a->min)) - a->log_min) * a->length / a->log_span;
	else
		at = (u128)v * a->length / a->max;
	return (unsigned)MIN(at, (u128)a->length * 1000);
}

/* The tick after v, or false. */
static bool tick_next(const struct axis *a, uint64_t *v)
{
	uint64_t next = a->p->log ? round_next(*v) : *v + a->step;

	if (next <= *v || next > a->max)
		return false;
	*v = next;
	return true;
}

void plot_value_text(uint64_t unit, uint64_t v, char buf[48])
{
	uint64_t rest = v % unit;
	int n = snprintf(buf, 48, "%llu", (unsigned long long)(v / unit));

	if (rest)
		buf[n++] = '.';
	for (; rest && unit >= 10 && n < 46; rest %= unit) {
		unit /= 10;
		buf[n++] = (char)('0' + rest / unit % 10);
	}
	buf[n] = 0;
}

/* ---- drawing ---- */

void plot_add_text(struct strbuf *out, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		size_t step = utf8_len(s, n);

		len = MAX(step, (size_t)1);
		if (strchr("<>&\"'", *s))
			strbuf_addf(out, "&#%u;", (unsigned char)*s);
		else
			strbuf_addn(out, step ? s : "?", len);
	}
}

/* Tenths of a pixel as pixels. */
void plot_add_px(struct strbuf *out, unsigned tenths)
{
	strbuf_addf(out, tenths % 10 ? "%u.%u" : "%u", tenths / 10, tenths % 10);
}

void plot_add_label(struct strbuf *out, const char *class, unsigned x, unsigned y, const char *text)
{
	strbuf_addf(out, "<text class=\"%s\" x=\"", class);
	plot_add_px(out, x);
	strbuf_add(out, "\" y=\"");
	plot_add_px(out, y);
	strbuf_add(out, "\">");
	plot_add_text(out, text);
	strbuf_add(out, "</text>\n");
}

void plot_add_line(struct strbuf *out, const char *class, const unsigned at[4])
{
	static const char *const names[] = {"x1", "y1", "x2", "y2"};

	strbuf_addf(out, "<line class=\"%s\"", class);
	for (unsigned i = 0; i < 4; i++) {
		strbuf_addf(out, " %s=\"", names[i]);
		plot_add_px(out, at[i]);
		strbuf_add(out, "\"");
	}
	strbuf_add(out, "/>\n");
}

static void draw_tick(struct frame *f, const struct axis *a, uint64_t v)
{
	unsigned at = axis_at(a, v);
	char text[48];

	plot_value_text(a->unit, v, text);
	if (a == &f->x) {
		plot_add_line(
			f->out, "g",
			(unsigned[]){LEFT * 10 + at, TOP * 10, LEFT * 10 + at, (TOP + HIGH) * 10});
		plot_add_label(f->out, "m", LEFT * 10 + at, (TOP + HIGH + 18) * 10, text);
	} else {
		unsigned y = (TOP + HIGH) * 10 - at;

		plot_add_line(f->out, "g", (unsigned[]){LEFT * 10, y, (LEFT + WIDE) * 10, y});
		plot_add_label(f->out, "e", (LEFT - 8) * 10, y + 40, text);
	}
}

static void draw_axes(struct frame *f)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct axis *a = i ? &f->y : &f->x;
		uint64_t v = a->min;

		do
			draw_tick(f, a, v);
		while (tick_next(a, &v));
	}
	plot_add_line(
		f->out, "a",
		(unsigned[]){LEFT * 10, (TOP + HIGH) * 10, (LEFT + WIDE) * 10, (TOP + HIGH) * 10});
	plot_add_line(f->out, "a", (unsigned[]){LEFT * 10, TOP * 10, LEFT * 10, (TOP + HIGH) * 10});
	plot_add_label(f->out, "m", (LEFT + WIDE / 2) * 10, (TOP + HIGH + 42) * 10, f->p->x.label);
	strbuf_addf(f->out, "<text class=\"m\" transform=\"translate(18 %d) rotate(-90)\">",
		    TOP + HIGH / 2);
	plot_add_text(f->out, f->p->y.label);
	strbuf_add(f->out, "</text>\n");
}

/* Circle, square, diamond, triangle: distinct without colours too. */
static void draw_marker(struct strbuf *out, size_t series, unsigned x, unsigned y, bool hollow)
{
	static const int shapes[][9] = {
		/* number of corners, then each as x, y in halves of a marker */
		{0},
		{4, -2, -2, 2, -2, 2, 2, -2, 2},
		{4, 0, -3, 3, 0, 0, 3, -3, 0},
		{3, 0, -3, 3, 2, -3, 2}};
	const int *shape = shapes[series % ARRAY_LEN(shapes)];
	const char *colour = plot_colours[series % PLOT_COLOURS];

	strbuf_add(out, shape[0] ? "<path d=\"" : "<circle cx=\"");
	for (int i = 0; i < shape[0]; i++) {
		strbuf_add(out, i ? "L" : "M");
		plot_add_px(out, (unsigned)((int)x + shape[1 + 2 * i] * MARK / 2));
		strbuf_add(out, " ");
		plot_add_px(out, (unsigned)((int)y + shape[2 + 2 * i] * MARK / 2));
	}
	if (!shape[0]) {
		plot_add_px(out, x);
		strbuf_add(out, "\" cy=\"");
		plot_add_px(out, y);
		strbuf_add(out, "\" r=\"");
		plot_add_px(out, MARK);
	}
	strbuf_addf(out, "%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.4\"/>\n",
		    shape[0] ? "Z" : "", hollow ? "#ffffff" : colour, colour);
}

static size_t style_of(const struct frame *f, size_t i)
{
	return f->p->series[i].style ? f->p->series[i].style - 1 : i;
}

static const char *dashes(const struct frame *f, size_t i)
{
	return f->p->series[i].thin		? " stroke-dasharray=\"2 3\""
	       : style_of(f, i) >= PLOT_COLOURS ? " stroke-dasharray=\"5 3\""
						: "";
}

static bool point_shown(const struct frame *f, const struct plot_point *p)
{
	return (!f->x.p->log || p->x) && (!f->y.p->log || p->y);
}

/* The line is in a nested svg element, which clips it at the frame. */
static void draw_line(struct frame *f, size_t i)
{
	const struct plot_series *s = &f->p->series[i];
	bool begun = false;

	strbuf_addf(f->out,
		    "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><path class=\"l\" "
		    "stroke=\"%s\"%s d=\"",
		    LEFT, TOP, WIDE, HIGH, plot_colours[style_of(f, i) % PLOT_COLOURS],
		    dashes(f, i));
	for (size_t k = 0; k < s->n; k++) {
		int up;

		if (!point_shown(f, &s->at[k]))
			continue;
		up = HIGH * 10 - (int)axis_at(&f->y, s->at[k].y);
		strbuf_add(f->out, begun ? "L" : "M");
		plot_add_px(f->out, axis_at(&f->x, s->at[k].x));
		strbuf_add(f->out, up < 0 ? " -" : " ");
		plot_add_px(f->out, (unsigned)abs(up));
		begun = true;
	}
	strbuf_add(f->out, "\"/></svg>\n");
}

/* From y - half to y + half, cut off at the frame. */
static void draw_interval(struct frame *f, const struct plot_point *p)
{
	uint64_t low = p->y > p->half ? p->y - p->half : 0, high = MIN(p->y + p->half, f->y.max);
	unsigned x = LEFT * 10 + axis_at(&f->x, p->x);
	unsigned from = (TOP + HIGH) * 10 - axis_at(&f->y, MAX(low, f->y.min));
	unsigned to = (TOP + HIGH) * 10 - axis_at(&f->y, high);

	plot_add_line(f->out, "a", (unsigned[]){x, from, x, to});
	plot_add_line(f->out, "a", (unsigned[]){x - 30, from, x + 30, from});
	plot_add_line(f->out, "a", (unsigned[]){x - 30, to, x + 30, to});
}

static void draw_series(struct frame *f, size_t i)
{
	const struct plot_series *s = &f->p->series[i];

	draw_line(f, i);
	for (size_t k = 0; k < s->n; k++) {
		const struct plot_point *p = &s->at[k];

		if (!point_shown(f, p) || p->x > f->x.max || p->y > f->y.max)
			continue;
		if (p->half)
			draw_interval(f, p);
		draw_marker(f->out, style_of(f, i), LEFT * 10 + axis_at(&f->x, p->x),
			    (TOP + HIGH) * 10 - axis_at(&f->y, p->y), p->hollow || s->thin);
	}
}

static void draw_key(struct frame *f, size_t i)
{
	unsigned x = (LEFT + WIDE + KEY_GAP) * 10, y = (unsigned)(TOP + 10 + i * KEY_LINE) * 10;

	strbuf_addf(f->out, "<path class=\"l\" stroke=\"%s\"%s d=\"M%u %uh%d\"/>\n",
		    plot_colours[style_of(f, i) % PLOT_COLOURS], dashes(f, i), x / 10, y / 10,
		    KEY_MARK - 8);
	draw_marker(f->out, style_of(f, i), x + (KEY_MARK - 8) * 5, y, f->p->series[i].thin);
	plot_add_label(f->out, "k", x + KEY_MARK * 10, y + 40, f->p->series[i].name);
}

/* The size of the drawing, in pixels. */
static void paper_size(const struct plot *p, size_t *wide, size_t *high)
{
	size_t letters = 0;

	for (size_t i = 0; i < p->n; i++)
		letters = MAX(letters, strlen(p->series[i].name));
	*high = TOP + HIGH + BELOW + (p->note ? NOTE : 0);
	*high = MAX(*high, TOP + 20 + p->n * KEY_LINE);
	*wide = LEFT + WIDE + KEY_GAP + (p->n ? KEY_MARK + letters * LETTER : 0) + 10;
}

static void open_paper(struct strbuf *out, size_t wide, size_t high)
{
	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
		    "viewBox=\"0 0 %zu %zu\">\n%s<rect width=\"100%%\" height=\"100%%\" "
		    "fill=\"#ffffff\"/>\n",
		    wide, high, wide, high, plot_style);
}

static void draw_plot(const struct plot *p, struct strbuf *out)
{
	struct frame f = {.p = p, .out = out};

	axis_make(&f.x, p, false);
	axis_make(&f.y, p, true);
	plot_add_label(out, "t", LEFT * 10, 270, p->title);
	draw_axes(&f);
	for (size_t i = 0; i < p->n; i++)
		draw_series(&f, i);
	for (size_t i = 0; i < p->n; i++)
		draw_key(&f, i);
	if (p->note)
		plot_add_label(out, "s", LEFT * 10, (TOP + HIGH + BELOW + 6) * 10, p->note);
}

void plot_svg(const struct plot *p, struct strbuf *out)
{
	size_t wide, high;

	paper_size(p, &wide, &high);
	open_paper(out, wide, high);
	draw_plot(p, out);
	strbuf_add(out, "</svg>\n");
}

void plot_svg_stack(const struct plot *p, size_t n, struct strbuf *out)
{
	size_t wide = 0, high = 0, w, h;

	for (size_t i = 0; i < n; i++) {
		paper_size(&p[i], &w, &h);
		wide = MAX(wide, w);
		high += h;
	}
	open_paper(out, wide, high);
	high = 0;
	for (size_t i = 0; i < n; i++) {
		paper_size(&p[i], &w, &h);
		strbuf_addf(out, "<svg y=\"%zu\" width=\"%zu\" height=\"%zu\">\n", high, w, h);
		draw_plot(&p[i], out);
		strbuf_add(out, "</svg>\n");
		high += h;
	}
	strbuf_add(out, "</svg>\n");
}
