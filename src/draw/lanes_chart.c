/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States over time, a lane for each subject. State: struct frame, for one call. Way in: lanes_chart_svg(). Does not
 * use floating point: lengths are tenths of a pixel.
 */
#include "draw/lanes_chart.h"

#include "draw/plot_priv.h"

typedef unsigned __int128 u128;

enum { /* of the drawing, in pixels */
       TITLE = 22,
       LINE = 18, /* of subtitle, key and note */
       WIDE = 820,
       HIGH = 26, /* of a lane */
       GAP = 10,
       MARK = 14, /* of a row of marks */
       BELOW = 52,
       RIGHT = 24,
       LETTER = 7,
       SMALL = 7, /* at most, of a small letter */
       X_TICKS = 10,
       TEXT_MAX = 56, /* letters of a mark */
};

static const char *const mark_colours[LANES_NKINDS] = {
	[LANES_FAULT] = "#b02020", [LANES_END] = "#2f6db3", [LANES_NOTE] = "#888888"};

struct frame {
	const struct lanes_chart *c;
	struct strbuf *out;
	unsigned left, top;   /* of the first lane */
	unsigned key, marks;  /* base lines of the key and of the first row of marks */
	unsigned *row, nrows; /* by mark */
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

static unsigned text_width(const char *text)
{
	return (unsigned)MIN(strlen(text), (size_t)TEXT_MAX) * SMALL * 10;
}

/* ---- places ---- */

/*
 * A text begins at its mark. It goes below all earlier texts that reach so far: then neither texts nor the lines down
 * to the lanes cover a text.
 */
static void place_marks(struct frame *f)
{
	const struct lanes_mark *m = f->c->marks;

	f->row = mem_zarray(MAX(f->c->nmarks, (size_t)1), sizeof(*f->row));
	for (size_t i = 0; i < f->c->nmarks; i++) {
		for (size_t k = 0; k < i; k++)
			if (x_at(f, m[k].at) + text_width(m[k].text) + 60 >= x_at(f, m[i].at))
				f->row[i] = MAX(f->row[i], f->row[k] + 1);
		f->nrows = MAX(f->nrows, f->row[i] + 1);
	}
}

static unsigned full_width(const struct frame *f)
{
	unsigned wide = f->left + WIDE + RIGHT;

	for (size_t i = 0; i < f->c->nmarks; i++) {
		const struct lanes_mark *m = &f->c->marks[i];

		wide = MAX(wide, (x_at(f, m->at) + text_width(m->text)) / 10 + 10);
	}
	return wide;
}

/* ---- parts ---- */

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

static void add_line_down(const struct frame *f, unsigned x, unsigned from, unsigned to,
			  enum lanes_mark_kind kind)
{
	strbuf_addf(f->out, "<path stroke=\"%s\" stroke-width=\"1\"%s d=\"M", mark_colours[kind],
		    kind == LANES_NOTE ? " stroke-dasharray=\"3 2\"" : "");
	plot_add_px(f->out, x);
	strbuf_addf(f->out, " %uV%u\"/>\n", from, to);
}

static void draw_key(const struct frame *f)
{
	unsigned x = f->left * 10;

	for (unsigned i = 0; i < f->c->nstates; i++) {
		add_rect(f, (unsigned[]){x, (f->key - 10) * 10, 110, 110}, f->c->colours[i]);
		plot_add_label(f->out, "s", x + 150, f->key * 10, f->c->states[i]);
		x += (unsigned)(15 + strlen(f->c->states[i]) * SMALL + 14) * 10;
	}
	for (unsigned k = 0; k < LANES_NKINDS; k++) {
		if (!f->c->mark_names[k])
			continue;
		add_line_down(f, x + 50, f->key - 11, f->key + 1, (enum lanes_mark_kind)k);
		plot_add_label(f->out, "s", x + 100, f->key * 10, f->c->mark_names[k]);
		x += (unsigned)(10 + strlen(f->c->mark_names[k]) * SMALL + 14) * 10;
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

/* The name of the state, where there is room; a rim of its colour covers lines of marks. */
static void draw_span_names(const struct frame *f)
{
	for (size_t i = 0; i < f->c->nspans; i++) {
		const struct lanes_span *s = &f->c->spans[i];
		unsigned from = x_at(f, s->from), to = x_at(f, s->to);
		unsigned state = s->state % f->c->nstates;

		if (to - from < text_width(f->c->states[state]) + 80)
			continue;
		strbuf_addf(f->out,
			    "<text class=\"m s\" style=\"paint-order:stroke;stroke:%s;"
			    "stroke-width:5px\" x=\"",
			    f->c->colours[state]);
		plot_add_px(f->out, (from + to) / 2);
		strbuf_addf(f->out, "\" y=\"%u\">", top_of(f, s->lane) + HIGH / 2 + 4);
		plot_add_text(f->out, f->c->states[state]);
		strbuf_add(f->out, "</text>\n");
	}
}

static void draw_mark_text(const struct frame *f, const struct lanes_mark *m, unsigned x,
			   unsigned y)
{
	char cut[TEXT_MAX + 4];
	size_t len = strlen(m->text);

	snprintf(cut, sizeof(cut), "%.*s%s", len > TEXT_MAX ? TEXT_MAX - 3 : TEXT_MAX, m->text,
		 len > TEXT_MAX ? "..." : "");
	strbuf_addf(f->out, "<text class=\"s\" style=\"fill:%s\" x=\"", mark_colours[m->kind]);
	plot_add_px(f->out, x + 30);
	strbuf_addf(f->out, "\" y=\"%u\">", y);
	if (len > TEXT_MAX) {
		strbuf_add(f->out, "<title>");
		plot_add_text(f->out, m->text);
		strbuf_add(f->out, "</title>");
	}
	plot_add_text(f->out, cut);
	strbuf_add(f->out, "</text>\n");
}

/* A line from the text down: to the lane that it is about, where a dot is, or through all lanes. */
static void draw_marks(const struct frame *f)
{
	for (size_t i = 0; i < f->c->nmarks; i++) {
		const struct lanes_mark *m = &f->c->marks[i];
		unsigned x = x_at(f, m->at), y = f->marks + f->row[i] * MARK;
		unsigned end =
			m->lane < 0 ? bottom(f) - GAP : top_of(f, (unsigned)m->lane) + HIGH / 2;

		add_line_down(f, x, y - 9, end, m->kind);
		if (m->lane >= 0) {
			strbuf_add(f->out, "<circle cx=\"");
			plot_add_px(f->out, x);
			strbuf_addf(f->out, "\" cy=\"%u\" r=\"3.5\" fill=\"%s\"/>\n", end,
				    mark_colours[m->kind]);
		}
		draw_mark_text(f, m, x, y);
	}
}

static void draw_lane_names(const struct frame *f)
{
	for (unsigned i = 0; i < f->c->nlanes; i++)
		plot_add_label(f->out, "e", (f->left - 8) * 10, (top_of(f, i) + HIGH / 2 + 4) * 10,
			       f->c->lanes[i]);
}

static void measure(struct frame *f)
{
	size_t letters = 4;

	for (unsigned i = 0; i < f->c->nlanes; i++)
		letters = MAX(letters, strlen(f->c->lanes[i]));
	f->left = (unsigned)letters * LETTER + 20;
	place_marks(f);
	f->key = TITLE + LINE + (f->c->subtitle ? LINE : 0) + 3;
	f->marks = f->key + LINE + 3;
	f->top = f->key + 10 + (f->nrows ? f->nrows * MARK + 4 : 0);
}

void lanes_chart_svg(const struct lanes_chart *c, struct strbuf *out)
{
	struct frame f = {.c = c, .out = out, .span = MAX(c->to, (uint64_t)1)};
	unsigned wide, high;

	measure(&f);
	wide = full_width(&f);
	high = bottom(&f) + BELOW + (c->note ? LINE : 0);
	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		    "viewBox=\"0 0 %u %u\">\n",
		    wide, high, wide, high);
	strbuf_add(out, plot_style);
	add_rect(&f, (unsigned[]){0, 0, wide * 10, high * 10}, "#ffffff");
	plot_add_label(out, "t", f.left * 10, TITLE * 10, c->title);
	if (c->subtitle)
		plot_add_label(out, "s", f.left * 10, (TITLE + LINE) * 10, c->subtitle);
	draw_key(&f);
	draw_axis(&f);
	draw_spans(&f);
	draw_marks(&f);
	draw_span_names(&f);
	draw_lane_names(&f);
	if (c->note)
		plot_add_label(out, "s", f.left * 10, (high - 8) * 10, c->note);
	strbuf_add(out, "</svg>\n");
	free(f.row);
}
