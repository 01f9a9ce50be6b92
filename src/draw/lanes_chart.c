/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States over time, a lane for each subject. State: struct frame, for one call. Way in: lanes_chart_svg(). Does not
 * use floating point: lengths are tenths of a pixel.
 */
#include "draw/lanes_chart.h"

#include "draw/plot_priv.h"

typedef unsigned __int128 u128;

enum { /* of the drawing, in pixels */
       TOP = 64,
       WIDE = 820,
       HIGH = 26, /* of a lane */
       GAP = 10,
       MARK = 13, /* of a line of marks */
       MARK_LINES = 6,
       BELOW = 52,
       NOTE = 18,
       RIGHT = 24,
       LETTER = 7,
       SMALL = 6,
       X_TICKS = 10,
};

struct frame {
	const struct lanes_chart *c;
	struct strbuf *out;
	unsigned left, top; /* of the first lane */
	uint64_t span;
};

static unsigned x_at(const struct frame *f, uint64_t x)
{
	return f->left * 10 + (unsigned)((u128)MIN(x, f->span) * (WIDE * 10) / f->span);
}

static unsigned top_of(const struct frame *f, unsigned lane)
{
	return f->top + lane * (HIGH + GAP);
}

static unsigned bottom(const struct frame *f)
{
	return top_of(f, f->c->nlanes);
}

static void add_rect(const struct frame *f, const unsigned at[4], const char *colour)
{
	static const char *const names[] = {"x", "y", "width", "height"};

	strbuf_add(f->out, "<rect");
	for (unsigned i = 0; i < 4; i++) {
		strbuf_addf(f->out, " %s=\"", names[i]);
		plot_add_px(f->out, at[i]);
		strbuf_add(f->out, "\"");
	}
	strbuf_addf(f->out, " fill=\"%s\"/>\n", colour);
}

static void draw_key(const struct frame *f)
{
	unsigned x = f->left * 10;

	for (unsigned i = 0; i < f->c->nstates; i++) {
		add_rect(f, (unsigned[]){x, 340, 110, 110}, f->c->colours[i]);
		plot_add_label(f->out, "s", x + 150, 435, f->c->states[i]);
		x += (unsigned)(15 + strlen(f->c->states[i]) * SMALL + 20) * 10;
	}
}

static void draw_axis(const struct frame *f)
{
	uint64_t step = plot_round_above(MAX(f->span / X_TICKS, (uint64_t)1));
	char text[48];

	for (u128 x = 0; x <= f->span; x += step) {
		unsigned at = x_at(f, (uint64_t)x);

		plot_value_text(f->c->x_unit ? f->c->x_unit : 1, (uint64_t)x, text);
		plot_add_line(f->out, "g", (unsigned[]){at, f->top * 10, at, bottom(f) * 10});
		plot_add_label(f->out, "m", at, (bottom(f) + 18) * 10, text);
	}
	plot_add_label(f->out, "m", (f->left + WIDE / 2) * 10, (bottom(f) + 40) * 10,
		       f->c->x_label);
}

static void draw_spans(const struct frame *f)
{
	for (size_t i = 0; i < f->c->nspans; i++) {
		const struct lanes_span *s = &f->c->spans[i];
		unsigned from = x_at(f, s->from), to = x_at(f, s->to);

		add_rect(f,
			 (unsigned[]){from, top_of(f, s->lane) * 10, MAX(to - from, 6u), HIGH * 10},
			 f->c->colours[s->state % f->c->nstates]);
	}
}

/* Texts of marks take turns in a few lines, so that neighbours do not cover each other. */
static void draw_marks(const struct frame *f)
{
	for (size_t i = 0; i < f->c->nmarks; i++) {
		const struct lanes_mark *m = &f->c->marks[i];
		unsigned x = x_at(f, m->at), y = TOP + (unsigned)(i % MARK_LINES) * MARK;
		unsigned end = m->lane < 0 ? bottom(f) - GAP : top_of(f, (unsigned)m->lane) + HIGH;

		strbuf_add(f->out, "<path stroke=\"#b02020\" stroke-width=\"0.7\" d=\"M");
		plot_add_px(f->out, x);
		strbuf_addf(f->out, " %uV%u\"/>\n", y - 8, end);
		plot_add_label(f->out, "s", x + 20, y * 10, m->text);
	}
}

void lanes_chart_svg(const struct lanes_chart *c, struct strbuf *out)
{
	struct frame f = {.c = c, .out = out, .span = MAX(c->to, (uint64_t)1)};
	size_t letters = 4, longest = 0;
	unsigned wide, high;

	for (unsigned i = 0; i < c->nlanes; i++)
		letters = MAX(letters, strlen(c->lanes[i]));
	for (size_t i = 0; i < c->nmarks; i++)
		longest = MAX(longest, strlen(c->marks[i].text));
	f.left = (unsigned)letters * LETTER + 20;
	f.top = TOP + (c->nmarks ? MARK_LINES * MARK : 0);
	wide = f.left + WIDE + RIGHT + (unsigned)longest * SMALL;
	high = bottom(&f) + BELOW + (c->note ? NOTE : 0);
	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		    "viewBox=\"0 0 %u %u\">\n",
		    wide, high, wide, high);
	strbuf_add(out, plot_style);
	add_rect(&f, (unsigned[]){0, 0, wide * 10, high * 10}, "#ffffff");
	plot_add_label(out, "t", f.left * 10, 220, c->title);
	draw_key(&f);
	draw_axis(&f);
	draw_spans(&f);
	draw_marks(&f);
	for (unsigned i = 0; i < c->nlanes; i++)
		plot_add_label(out, "e", (f.left - 8) * 10, (top_of(&f, i) + HIGH / 2 + 4) * 10,
			       c->lanes[i]);
	if (c->note)
		plot_add_label(out, "s", f.left * 10, (high - 8) * 10, c->note);
	strbuf_add(out, "</svg>\n");
}
