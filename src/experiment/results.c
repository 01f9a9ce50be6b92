/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results in memory. State: struct results. Way in: results_add(), results_sort(), then results_stat(). Does not
 * read or write files.
 */
#include "experiment/results.h"

#include <math.h>

void results_add(struct results *r, struct result_row row)
{
	row.order = r->rows.n;
	row.parsed = row.values ? json_loads(row.values, 0, NULL) : NULL;
	vec_push(&r->rows, row);
}

static void row_free(struct result_row *row)
{
	free(row->experiment);
	free(row->key);
	free(row->hash);
	free(row->command);
	free(row->version);
	free(row->values);
	free(row->message);
	json_decref(row->parsed);
}

void results_free(struct results *r)
{
	for (size_t i = 0; i < r->rows.n; i++)
		row_free(&r->rows.at[i]);
	vec_free(&r->rows);
}

static int row_order(const void *a, const void *b)
{
	const struct result_row *x = a, *y = b;
	int c = strcmp(x->experiment, y->experiment);

	return c ? c : strcmp(x->key, y->key);
}

int results_sort(struct results *r, struct err *e)
{
	if (r->rows.n)
		qsort(r->rows.at, r->rows.n, sizeof(*r->rows.at), row_order);
	for (size_t i = 1; i < r->rows.n; i++)
		if (!row_order(&r->rows.at[i - 1], &r->rows.at[i]))
			return err_set(e, -EEXIST, "the results of %s, %s are given twice",
				       r->rows.at[i].experiment, r->rows.at[i].key);
	return 0;
}

static int added_order(const void *a, const void *b)
{
	const struct result_row *x = a, *y = b;
	int c = row_order(a, b);

	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

static bool text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

int results_unite(struct results *r, bool last, struct err *e)
{
	size_t n = 0;
	int rc = 0;

	if (r->rows.n)
		qsort(r->rows.at, r->rows.n, sizeof(*r->rows.at), added_order);
	for (size_t i = 0; i < r->rows.n; i++) {
		struct result_row *a = &r->rows.at[i], *b = a + 1;

		if (i + 1 == r->rows.n || row_order(a, b)) {
			r->rows.at[n++] = *a;
			continue;
		}
		if (!rc && !last &&
		    !(text_same(a->hash, b->hash) && text_same(a->values, b->values)))
			rc = err_set(e, -EEXIST, "the results of %s, %s are given twice and differ",
				     a->experiment, a->key);
		row_free(a);
	}
	r->rows.n = n;
	return rc;
}

const struct result_row *results_find(const struct results *r, const char *experiment,
				      const char *key)
{
	struct result_row want = {.experiment = (char *)experiment, .key = (char *)key};

	return r->rows.n ? bsearch(&want, r->rows.at, r->rows.n, sizeof(want), row_order) : NULL;
}

/* ---- one number from several seeds ---- */

/* Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom; beyond, nearly the normal one. */
static double t_quantile(unsigned freedom)
{
	static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
				   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
				   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
				   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

	return freedom <= ARRAY_LEN(t) ? t[freedom - 1] : 1.96 + 2.4 / freedom;
}

/* The value of one job; NULL: there is none. */
static const json_t *job_value(const struct results *r, const struct experiment *x,
			       const struct experiment_point *p, uint64_t seed, unsigned result)
{
	const struct result_row *row;
	char *key = experiment_key(x, p, seed);

	row = results_find(r, x->name, key);
	free(key);
	return row && row->parsed ? json_object_get(row->parsed, x->results.at[result].name) : NULL;
}

struct result_stat results_stat(const struct results *r, const struct experiment *x,
				const struct experiment_point *p, unsigned result)
{
	struct result_stat s = {0};
	double sum = 0, squares = 0;

	for (size_t i = 0; i < x->seeds.n; i++) {
		const json_t *v = job_value(r, x, p, x->seeds.at[i], result);

		if (json_is_number(v)) {
			sum += json_number_value(v);
			s.n++;
		}
	}
	s.mean = s.n ? sum / s.n : 0;
	for (size_t i = 0; i < x->seeds.n; i++) {
		const json_t *v = job_value(r, x, p, x->seeds.at[i], result);
		double d = json_is_number(v) ? json_number_value(v) - s.mean : 0;

		squares += d * d;
	}
	if (s.n > 1) {
		s.sd = sqrt(squares / (s.n - 1));
		s.half = t_quantile(s.n - 1) * s.sd / sqrt(s.n);
	}
	return s;
}

void results_curve(const struct results *r, const struct experiment *x,
		   const struct experiment_point *p, unsigned result, expr_numbers *out)
{
	unsigned n = 0;

	for (size_t i = 0; i < x->seeds.n; i++) {
		const json_t *v = job_value(r, x, p, x->seeds.at[i], result);
		size_t len = json_is_number(v) ? 1 : json_array_size(v);

		if (!v || (n && len != out->n))
			continue;
		for (size_t k = 0; k < len; k++) {
			double y = json_number_value(json_is_array(v) ? json_array_get(v, k) : v);

			if (n)
				out->at[k] += y;
			else
				vec_push(out, y);
		}
		n++;
	}
	for (size_t k = 0; k < out->n; k++)
		out->at[k] /= n;
}

const json_t *results_table(const struct results *r, const struct experiment *x,
			    const struct experiment_point *p, unsigned result)
{
	const json_t *v = job_value(r, x, p, x->seeds.at[0], result);

	return x->results.at[result].table && json_is_array(v) ? v : NULL;
}
