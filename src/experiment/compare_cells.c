/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cells of a source's tables beside our results. State: none. Way in: compare_experiment(). Does not print.
 */
#include "experiment/compare.h"
#include "experiment/compare_priv.h"
#include "experiment/csv.h"

#include <math.h>

static void where_put(const struct experiment *x, const struct experiment_where *w,
		      struct experiment_where *into)
{
	for (size_t i = 0; i < x->params.n; i++)
		if (w->choice[i] >= 0)
			into->choice[i] = w->choice[i];
}

/* The point that a row and a column belong to; false: the experiment does not have it. */
static bool point_of(const struct experiment *x, const struct experiment_table *t,
		     const struct csv *csv, size_t row, const struct experiment_column *c,
		     struct experiment_point *p)
{
	struct experiment_where w = t->where;

	for (size_t k = 0; k < t->key_columns.n; k++) {
		unsigned param = t->key_params.at[k];
		const char *label = csv_cell(csv, row, csv_column(csv, t->key_columns.at[k]));

		w.choice[param] = experiment_choice_find(&x->params.at[param], label);
		if (w.choice[param] < 0)
			return false;
	}
	where_put(x, &c->where, &w);
	for (size_t i = 0; i < x->params.n; i++)
		p->choice[i] = (uint8_t)MAX(w.choice[i], 0);
	for (size_t i = 0; i < x->except.n; i++)
		if (experiment_where_holds(x, &x->except.at[i], p))
			return false;
	return true;
}

static char *cell_name(const struct experiment_table *t, const struct csv *csv, size_t row,
		       const struct experiment_column *c)
{
	struct strbuf b = {0};

	for (size_t k = 0; k < t->key_columns.n; k++)
		strbuf_addf(&b, "%s, ", csv_cell(csv, row, csv_column(csv, t->key_columns.at[k])));
	strbuf_add(&b, c->title ? c->title : c->name);
	return b.s;
}

static const char *reason_of(const struct experiment *x, const struct experiment_table *t,
			     const struct experiment_point *p)
{
	for (size_t i = 0; i < t->reasons.n; i++)
		if (experiment_where_holds(x, &t->reasons.at[i].where, p))
			return t->reasons.at[i].why;
	return NULL;
}

static int number_of(const struct experiment_table *t, const struct csv *csv, size_t row,
		     const struct experiment_column *c, double *v, struct err *e)
{
	const char *text = csv_cell(csv, row, csv_column(csv, c->name));
	char *end;

	*v = strtod(text, &end) * t->scale;
	if (end != text && !*end && isfinite(*v))
		return 0;
	return err_set(e, -EINVAL, "%s:%u: expected a number in column %s, found '%s'", t->file,
		       csv->lines.at[row], c->name, text);
}

static int cell_add(const struct experiment *x, const struct experiment_table *t,
		    const struct csv *csv, size_t row, const struct experiment_column *c,
		    const struct results *r, struct comparison *out, struct err *e)
{
	struct compare_cell cell = {.experiment = x, .table = t, .column = c, .row = row};
	const char *text = csv_cell(csv, row, csv_column(csv, c->name));
	int rc;

	if (!*text) /* the source has no value there */
		return 0;
	rc = number_of(t, csv, row, c, &cell.theirs, e);
	cell.placed = !rc && point_of(x, t, csv, row, c, &cell.point);
	if (cell.placed) {
		cell.ours = results_stat(r, x, &cell.point, c->result);
		cell.why = reason_of(x, t, &cell.point);
	}
	if (cell.ours.n)
		cell.off = cell.theirs == cell.ours.mean ? 0
			   : cell.theirs == 0		 ? INFINITY
							 : fabs(cell.ours.mean / cell.theirs - 1);
	cell.name = cell_name(t, csv, row, c);
	vec_push(&out->cells, cell);
	return rc;
}

static int table_add(const struct experiment *x, const struct experiment_table *t,
		     const struct results *r, struct comparison *out, struct err *e)
{
	struct csv *csv = csv_read(t->file, t->csv, e);
	int rc = csv ? 0 : -EINVAL;

	for (size_t row = 0; !rc && row < csv->lines.n; row++)
		for (size_t c = 0; c < t->columns.n && !rc; c++)
			rc = cell_add(x, t, csv, row, &t->columns.at[c], r, out, e);
	csv_free(csv);
	return rc;
}

int compare_experiment(const struct experiment *x, const struct results *r, struct comparison *out,
		       struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < x->tables.n && !rc; i++)
		rc = table_add(x, &x->tables.at[i], r, out, e);
	for (size_t i = 0; i < x->trends.n && !rc; i++)
		vec_push(&out->trends, compare_trend_check(x, &x->trends.at[i], r));
	return rc;
}

struct compare_counts compare_count(const struct comparison *c)
{
	struct compare_counts n = {0};

	for (size_t i = 0; i < c->cells.n; i++) {
		const struct compare_cell *cell = &c->cells.at[i];

		if (!cell->table->counted)
			continue;
		n.cells++;
		n.run += cell->ours.n > 0;
		n.within_10 += cell->ours.n && cell->off <= 0.1;
		n.within_25 += cell->ours.n && cell->off <= 0.25;
		n.within_50 += cell->ours.n && cell->off <= 0.5;
	}
	for (size_t i = 0; i < c->trends.n; i++) {
		n.trends++;
		n.checked += c->trends.at[i].checked > 0;
		n.held +=
			c->trends.at[i].checked && c->trends.at[i].checked == c->trends.at[i].held;
	}
	return n;
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->cells.n; i++)
		free(c->cells.at[i].name);
	for (size_t i = 0; i < c->trends.n; i++)
		free(c->trends.at[i].against);
	vec_free(&c->cells);
	vec_free(&c->trends);
}
