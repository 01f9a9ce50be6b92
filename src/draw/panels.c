/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacked charts over time. State: struct frame, for one call. Way in: panels_svg(). Does not use floating
 * point: lengths are tenths of a pixel.
 */
#include "draw/panels.h"
#include "draw/plot_priv.h"

typedef unsigned __int128 u128;

enum { /* of the drawing, in pixels */
       LEFT = 84,
       TOP = 74,
       WIDE = 700,
       HIGH = 110,
       GAP = 16,
       BELOW = 56,
       NOTE = 18,
       KEY = 120,  /* space for names on the right */
       LETTER = 7, /* approximate width of a letter */
       SMALL = 6,  /* the same for small text */
       X_TICKS = 12,
       Y_TICKS = 4,
       NAMES = 12, /* different bands */
};

static const char *const tints[] = {"#e9e9e9", "#cfe0f3", "#fbe3b6", "#f6cfc4",
				    "#dccbe8", "#cdead9", "#f3d3e0", "#d3ecef",
				    "#e4e8b8", "#d9d2c5", "#c9d6c4"};

struct frame {
	const struct panels *p;
	struct strbuf *out;
	uint64_t unit, span;
	const char *names[NAMES]; /* of bands, in order of appearance */
	size_t tint[NAMES];
	size_t nnames;
};

/* Tenths of a pixel from the left edge. */
static unsigned x_at(const struct frame *f, uint64_t x)
{
	uint64_t in = x < f->p->from ? 0 : MIN(x - f->p->from, f->span);

	return LEFT * 10 + (unsigned)((u128)in * (WIDE * 10) / f->span);
}

static unsigned top_of(size_t i)
{
	return (unsigned)(TOP + i * (HIGH + GAP));
}

static unsigned bottom(const struct frame *f)
{
	return top_of(MAX(f->p->n, (size_t)1) - 1) + HIGH;
}

/* ---- bands ---- */

static size_t name_of(struct frame *f, const struct panels_band *b)
{
	for (size_t i = 0; i < f->nnames; i++)
		if (!strcmp(f->names[i], b->name))
			return i;
	if (f->nnames == NAMES)
		return NAMES - 1;
	f->names[f->nnames] = b->name;
	f->tint[f->nnames] = (b->tint ? b->tint - 1 : f->nnames) % ARRAY_LEN(tints);
	return f->nnames++;
}

static void add_rect(struct strbuf *out, const unsigned at[4], const char *colour)
{
	static const char *const names[] = {"x", "y", "width", "height"};

	strbuf_add(out, "<rect");
	for (unsigned i = 0; i < 4; i++) {
		strbuf_addf(out, " %s=\"", names[i]);
		plot_add_px(out, at[i]);
		strbuf_add(out, "\"");
	}
	strbuf_addf(out, " fill=\"%s\"/>\n", colour);
}

static void draw_bands(struct frame *f)
{
	for (size_t i = 0; i < f->p->nbands; i++) {
		const struct panels_band *b = &f->p->bands[i];
		unsigned from = x_at(f, b->from), to = x_at(f, b->to);
		const char *colour = tints[f->tint[name_of(f, b)]];

		if (b->to <= f->p->from || b->from >= f->p->to)
			continue;
		for (size_t k = 0; k < f->p->n; k++)
			add_rect(f->out,
				 (unsigned[]){from, top_of(k) * 10, MAX(to - from, 6u), HIGH * 10},
				 colour);
	}
}

/* The names in one row above the first chart. */
static void draw_names(struct frame *f)
{
	unsigned x = LEFT * 10;

	for (size_t i = 0; i < f->nnames; i++) {
		add_rect(f->out, (unsigned[]){x, (TOP - 34) * 10, 110, 110}, tints[f->tint[i]]);
		plot_add_label(f->out, "s", x + 150, (TOP - 25) * 10, f->names[i]);
		x += (unsigned)(15 + strlen(f->names[i]) * SMALL + 16) * 10;
	}
}

/* ---- axes ---- */

static void draw_x_tick(struct frame *f, uint64_t x, uint64_t away, bool before)
{
	unsigned at = x_at(f, x);
	char text[50] = "-";

	plot_value_text(f->unit, away, text + before);
	for (size_t k = 0; k < f->p->n; k++)
		plot_add_line(f->out, "g",
			      (unsigned[]){at, top_of(k) * 10, at, (top_of(k) + HIGH) * 10});
	plot_add_label(f->out, "m", at, (bottom(f) + 18) * 10, text);
}

/* How far a is above b, in whole steps; 0 when it is not. */
static u128 above(uint64_t a, uint64_t b, uint64_t step)
{
	return a > b ? ((u128)(a - b) + step - 1) / step * step : 0;
}

static void draw_x_axis(struct frame *f)
{
	const struct panels *p = f->p;
	uint64_t step = plot_round_above(MAX(f->span / X_TICKS, (uint64_t)1));

	if (p->to >= p->zero)
		for (u128 d = above(p->from, p->zero, step); d <= p->to - p->zero; d += step)
			draw_x_tick(f, p->zero + (uint64_t)d, (uint64_t)d, false);
	if (p->zero > p->from)
		for (u128 d = MAX(above(p->zero, p->to, step), (u128)step); d <= p->zero - p->from;
		     d += step)
			draw_x_tick(f, p->zero - (uint64_t)d, (uint64_t)d, true);
	plot_add_label(f->out, "m", (LEFT + WIDE / 2) * 10, (bottom(f) + 40) * 10, p->x_label);
}

struct scale {
	uint64_t unit, step, max;
};

static struct scale y_scale(const struct panels_panel *p)
{
	struct scale s = {.unit = p->unit ? p->unit : 1};
	uint64_t most = p->max;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->lines[i].n; k++)
			most = MAX(most, p->lines[i].at[k].y);
	most = MIN(most, UINT64_MAX / 4);
	s.step = plot_round_above(MAX((most + Y_TICKS - 1) / Y_TICKS, (uint64_t)1));
	s.max = MAX((most + s.step - 1) / s.step * s.step, s.step);
	return s;
}

static unsigned y_at(const struct scale *s, uint64_t v)
{
	return (unsigned)((u128)MIN(v, s->max) * (HIGH * 10) / s->max);
}

static void draw_y_axis(struct frame *f, size_t i, const struct scale *s)
{
	unsigned low = (top_of(i) + HIGH) * 10;
	char text[48];

	for (uint64_t v = 0; v <= s->max; v += s->step) {
		plot_value_text(s->unit, v, text);
		plot_add_line(f->out, "g",
			      (unsigned[]){LEFT * 10, low - y_at(s, v), (LEFT + WIDE) * 10,
					   low - y_at(s, v)});
		plot_add_label(f->out, "e", (LEFT - 6) * 10, low - y_at(s, v) + 40, text);
	}
	plot_add_line(f->out, "a", (unsigned[]){LEFT * 10, low, (LEFT + WIDE) * 10, low});
	plot_add_line(f->out, "a", (unsigned[]){LEFT * 10, top_of(i) * 10, LEFT * 10, low});
	strbuf_addf(f->out, "<text class=\"m\" transform=\"translate(16 %u) rotate(-90)\">",
		    top_of(i) + HIGH / 2);
	plot_add_text(f->out, f->p->panels[i].label);
	strbuf_add(f->out, "</text>\n");
}

/* ---- lines ---- */

/* From the last point before the shown range to the last one in it. */
static void add_points(struct frame *f, const struct panels_line *l, const struct scale *s,
		       unsigned low)
{
	bool begun = false;

	for (size_t k = 0; k < l->n; k++) {
		const struct plot_point *at = &l->at[k];
		bool follows = k + 1 < l->n && l->at[k + 1].x <= f->p->from;

		if (follows || at->x > f->p->to)
			continue;
		if (begun && l->steps) {
			strbuf_add(f->out, "H");
			plot_add_px(f->out, x_at(f, at->x));
		}
		strbuf_add(f->out, begun ? "L" : "M");
		plot_add_px(f->out, x_at(f, at->x));
		strbuf_add(f->out, " ");
		plot_add_px(f->out, low - y_at(s, at->y));
		begun = true;
	}
	if (begun && l->steps) {
		strbuf_add(f->out, "H");
		plot_add_px(f->out, (LEFT + WIDE) * 10);
	}
}

static void draw_lines(struct frame *f, size_t i, const struct scale *s)
{
	const struct panels_panel *p = &f->p->panels[i];

	for (size_t k = 0; k < p->n; k++) {
		const char *colour = plot_colours[k % PLOT_COLOURS];
		unsigned y = (top_of(i) + 12 + (unsigned)k * 18) * 10;

		strbuf_addf(f->out, "<path class=\"l\" stroke=\"%s\" d=\"", colour);
		add_points(f, &p->lines[k], s, (top_of(i) + HIGH) * 10);
		strbuf_add(f->out, "\"/>\n");
		strbuf_addf(f->out, "<path class=\"l\" stroke=\"%s\" d=\"M%d %uh18\"/>\n", colour,
			    LEFT + WIDE + 10, y / 10);
		plot_add_label(f->out, "k", (LEFT + WIDE + 34) * 10, y + 40, p->lines[k].name);
	}
}

static void draw_zero(struct frame *f)
{
	unsigned x = x_at(f, f->p->zero);

	strbuf_add(f->out, "<path stroke=\"#b02020\" stroke-dasharray=\"4 3\" d=\"M");
	plot_add_px(f->out, x);
	strbuf_addf(f->out, " %uV%u\"/>\n", (unsigned)TOP - 6, bottom(f));
	plot_add_label(f->out, "s", x + 30, (TOP - 4) * 10, f->p->zero_name);
}

void panels_svg(const struct panels *p, struct strbuf *out)
{
	struct frame f = {.p = p,
			  .out = out,
			  .unit = p->x_unit ? p->x_unit : 1,
			  .span = p->to > p->from ? p->to - p->from : 1};
	size_t letters = KEY / LETTER;
	unsigned wide, high = bottom(&f) + BELOW + (p->note ? NOTE : 0);

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->panels[i].n; k++)
			letters = MAX(letters, strlen(p->panels[i].lines[k].name));
	wide = LEFT + WIDE + 40 + (unsigned)letters * LETTER;
	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		    "viewBox=\"0 0 %u %u\">\n%s<rect width=\"100%%\" height=\"100%%\" "
		    "fill=\"#ffffff\"/>\n",
		    wide, high, wide, high, plot_style);
	plot_add_label(out, "t", LEFT * 10, 250, p->title);
	draw_bands(&f);
	draw_names(&f);
	draw_x_axis(&f);
	for (size_t i = 0; i < p->n; i++) {
		struct scale s = y_scale(&p->panels[i]);

		draw_y_axis(&f, i, &s);
		draw_lines(&f, i, &s);
	}
	draw_zero(&f);
	if (p->note)
		plot_add_label(out, "s", LEFT * 10, (bottom(&f) + BELOW + 4) * 10, p->note);
	strbuf_add(out, "</svg>\n");
}
