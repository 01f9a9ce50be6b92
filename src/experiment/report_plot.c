/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plots of results as SVG. State: struct sheet, for one drawing. Way in: report_plot(). Does not choose what is
 * plotted: the experiment does.
 */
#include "draw/plot.h"
#include "experiment/report_series.h"

#include <math.h>

enum { PANELS_MOST = 12 };

struct sheet {
	const struct experiment *x;
	const struct experiment_plot *p;
	report_series_list series[PANELS_MOST];
	struct plot plots[PANELS_MOST];
	char *titles[PANELS_MOST];
	unsigned n;
	uint64_t x_unit, y_unit;
};

/* A power of ten by which values up to most become whole numbers with six digits or more. */
static uint64_t unit_of(double most)
{
	uint64_t unit = 1;

	while (most > 0 && most * (double)unit < 1e6 && unit < (uint64_t)1e15)
		unit *= 10;
	return unit;
}

static void units_find(struct sheet *s)
{
	double x = 0, y = 0;

	for (unsigned i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->series[i].n; k++)
			for (size_t j = 0; j < s->series[i].at[k].at.n; j++) {
				x = MAX(x, s->series[i].at[k].at.at[j].x);
				y = MAX(y, s->series[i].at[k].at.at[j].y);
			}
	s->x_unit = unit_of(x);
	s->y_unit = unit_of(y);
}

static uint64_t whole(double v, uint64_t unit)
{
	v *= (double)unit;
	return v <= 0 ? 0 : v >= 1e18 ? (uint64_t)1e18 : (uint64_t)llround(v);
}

static struct plot_series *lines_make(const struct sheet *s, const report_series_list *l)
{
	struct plot_series *out = mem_zarray(l->n + 1, sizeof(*out));

	for (size_t i = 0; i < l->n; i++) {
		const struct report_series *from = &l->at[i];
		struct plot_point *at = mem_zarray(from->at.n, sizeof(*at));

		for (size_t k = 0; k < from->at.n; k++)
			at[k] = (struct plot_point){whole(from->at.at[k].x, s->x_unit),
						    whole(from->at.at[k].y, s->y_unit),
						    whole(from->at.at[k].half, s->y_unit), false};
		out[i] = (struct plot_series){.name = from->name,
					      .at = at,
					      .n = from->at.n,
					      .thin = from->theirs,
					      .style = from->style + 1};
	}
	return out;
}

static void panel_make(struct sheet *s, unsigned i, int panel)
{
	struct strbuf title = {0};

	strbuf_addf(&title, "%s: %s", s->p->item, s->p->title);
	if (panel >= 0)
		strbuf_addf(&title, ", %s", s->x->params.at[s->p->panels].choices.at[panel].label);
	s->titles[i] = title.s;
	s->plots[i] = (struct plot){
		.title = s->titles[i],
		.note = s->p->note,
		.x = {.label = s->p->x_title ? s->p->x_title : "",
		      .unit = s->x_unit,
		      .log = s->p->log_x},
		.y = {.label = s->p->y_title ? s->p->y_title : "",
		      .unit = s->y_unit,
		      .log = s->p->log_y},
		.series = lines_make(s, &s->series[i]),
		.n = s->series[i].n,
	};
}

static void sheet_free(struct sheet *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->plots[i].n; k++)
			free((void *)s->plots[i].series[k].at);
		free((void *)s->plots[i].series);
		free(s->titles[i]);
		report_series_free(&s->series[i]);
	}
}

bool report_plot(const struct experiment *x, size_t k, const struct results *r,
		 const struct comparison *c, struct strbuf *out)
{
	struct sheet s = {.x = x, .p = &x->plots.at[k]};
	size_t panels = s.p->panels < 0 ? 1 : x->params.at[s.p->panels].choices.n;
	int which[PANELS_MOST];

	for (size_t i = 0; i < panels && s.n < PANELS_MOST; i++) {
		int panel = s.p->panels < 0 ? -1 : (int)i;

		report_series_make(x, s.p, panel, r, c, &s.series[s.n]);
		which[s.n] = panel;
		s.n += s.series[s.n].n > 0;
	}
	units_find(&s);
	for (unsigned i = 0; i < s.n; i++)
		panel_make(&s, i, which[i]);
	if (s.n)
		plot_svg_stack(s.plots, s.n, out);
	sheet_free(&s);
	return s.n > 0;
}
