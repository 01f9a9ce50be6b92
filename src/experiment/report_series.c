/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results along an axis. State: none. Way in: report_series_make(). Does not draw.
 */
#include "experiment/report_series.h"

/* The source's value at a point, from any table; false: it gives none. */
static bool theirs_find(const struct comparison *c, const struct experiment *x,
			const struct experiment_point *p, unsigned result, double *v)
{
	for (size_t i = 0; i < c->cells.n; i++) {
		const struct compare_cell *cell = &c->cells.at[i];

		if (cell->experiment == x && cell->placed && cell->column->result == result &&
		    !memcmp(cell->point.choice, p->choice, x->params.n)) {
			*v = cell->theirs;
			return true;
		}
	}
	return false;
}

/* Choices of a parameter as numbers: x is the label's number, or else its place from 1. */
static double choice_x(const struct experiment_param *p, size_t i)
{
	char *end;
	double v = strtod(p->choices.at[i].label, &end);

	if (*end == '%' && !end[1])
		return v;
	return end == p->choices.at[i].label || *end ? (double)(i + 1) : v;
}

static void along_param(const struct experiment *x, const struct experiment_plot *p,
			struct experiment_point at, const struct results *r,
			const struct comparison *c, struct report_series *ours,
			struct report_series *theirs)
{
	const struct experiment_param *param = &x->params.at[p->x_param];
	double v;

	for (size_t i = 0; i < param->choices.n; i++) {
		struct result_stat s;

		at.choice[p->x_param] = (uint8_t)i;
		s = results_stat(r, x, &at, p->y_result);
		if (s.n)
			vec_push(&ours->at,
				 ((struct report_point){choice_x(param, i), s.mean, s.half}));
		if (theirs_find(c, x, &at, p->y_result, &v))
			vec_push(&theirs->at, ((struct report_point){choice_x(param, i), v, 0}));
	}
}

static void along_curve(const struct experiment *x, const struct experiment_plot *p,
			const struct experiment_point *at, const struct results *r,
			struct report_series *ours)
{
	expr_numbers xs = {0}, ys = {0};

	results_curve(r, x, at, (unsigned)p->x_result, &xs);
	results_curve(r, x, at, p->y_result, &ys);
	for (size_t i = 0; i < MIN(xs.n, ys.n); i++)
		vec_push(&ours->at, ((struct report_point){xs.at[i], ys.at[i], 0}));
	vec_free(&xs);
	vec_free(&ys);
}

/* One point for each choice, x from a result; by x. */
static int x_order(const void *a, const void *b)
{
	const struct report_point *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

static void along_result(const struct experiment *x, const struct experiment_plot *p,
			 struct experiment_point at, const struct results *r,
			 struct report_series *ours)
{
	for (size_t i = 0; i < x->params.at[p->along].choices.n; i++) {
		struct result_stat sx, sy;

		at.choice[p->along] = (uint8_t)i;
		sx = results_stat(r, x, &at, (unsigned)p->x_result);
		sy = results_stat(r, x, &at, p->y_result);
		if (sx.n && sy.n)
			vec_push(&ours->at, ((struct report_point){sx.mean, sy.mean, sy.half}));
	}
	if (ours->at.n)
		qsort(ours->at.at, ours->at.n, sizeof(*ours->at.at), x_order);
}

static void series_add(const struct experiment *x, const struct experiment_plot *p,
		       const struct experiment_point *at, const char *name, const struct results *r,
		       const struct comparison *c, report_series_list *out)
{
	struct report_series ours = {.style = (unsigned)out->n}, theirs = {.theirs = true};
	struct strbuf b = {0};

	if (p->x_param >= 0)
		along_param(x, p, *at, r, c, &ours, &theirs);
	else if (p->along >= 0)
		along_result(x, p, *at, r, &ours);
	else
		along_curve(x, p, at, r, &ours);
	theirs.style = ours.style;
	ours.name = mem_strdup(name);
	vec_push(out, ours);
	strbuf_addf(&b, "%s%ssource", name, *name ? ", " : "");
	theirs.name = b.s;
	vec_push(out, theirs);
}

/* Ours first, then theirs; empty ones are dropped. */
static void order(report_series_list *l)
{
	report_series_list sorted = {0};

	for (int theirs = 0; theirs < 2; theirs++)
		for (size_t i = 0; i < l->n; i++)
			if (l->at[i].theirs == (theirs == 1) && l->at[i].at.n)
				vec_push(&sorted, l->at[i]);
	for (size_t i = 0; i < l->n; i++)
		if (!l->at[i].at.n)
			free(l->at[i].name);
	vec_free(l);
	*l = sorted;
	for (size_t i = 0; i < l->n; i++)
		l->at[i].style /= 2;
}

void report_series_make(const struct experiment *x, const struct experiment_plot *p, int panel,
			const struct results *r, const struct comparison *c,
			report_series_list *out)
{
	const struct experiment_param *series = p->series < 0 ? NULL : &x->params.at[p->series];
	struct experiment_point at = {0};

	for (size_t i = 0; i < x->params.n; i++)
		at.choice[i] = (uint8_t)MAX(p->where.choice[i], 0);
	if (panel >= 0)
		at.choice[p->panels] = (uint8_t)panel;
	for (size_t i = 0; i < (series ? series->choices.n : 1); i++) {
		if (series)
			at.choice[p->series] = (uint8_t)i;
		series_add(x, p, &at, series ? series->choices.at[i].label : "Weft", r, c, out);
	}
	order(out);
}

void report_series_free(report_series_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		vec_free(&l->at[i].at);
		free(l->at[i].name);
	}
	vec_free(l);
}
