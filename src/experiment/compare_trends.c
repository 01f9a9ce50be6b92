/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trends that a source states, checked at every combination of the parameters they leave open. State: struct
 * check, for one trend. Way in: compare_trend_check(). Does not print.
 */
#include "experiment/compare_priv.h"

struct check {
	const struct experiment *x;
	const struct experiment_trend *t;
	const struct results *r;
	struct experiment_point at;
};

/* ---- which parameters are open ---- */

static bool is_along(const struct expr *e)
{
	return e->kind == EXPR_CALL && !expr_is_function(e->name);
}

static void open_params(const struct experiment *x, const struct expr *e, bool *open)
{
	bool inner[EXPERIMENT_PARAMS_MOST] = {0};

	if (e->kind == EXPR_RESULT) {
		for (size_t i = 0; i < x->params.n; i++)
			inner[i] = true;
		for (size_t i = 0; i < e->selectors.n; i++)
			inner[experiment_param_find(x, e->selectors.at[i].param)] = false;
	}
	for (unsigned i = 0; i < e->args.n; i++)
		if (!is_along(e) || i != 1)
			open_params(x, e->args.at[i], inner);
	if (is_along(e))
		inner[experiment_param_find(x, e->args.at[1]->name)] = false;
	for (size_t i = 0; i < x->params.n; i++)
		open[i] |= inner[i];
}

/* ---- values ---- */

static int result_find(struct check *c, const struct expr *leaf, expr_numbers *out, struct err *e)
{
	struct experiment_point p = c->at;
	struct result_stat s;

	for (size_t i = 0; i < leaf->selectors.n; i++) {
		int param = experiment_param_find(c->x, leaf->selectors.at[i].param);

		p.choice[param] = (uint8_t)experiment_choice_find(&c->x->params.at[param],
								  leaf->selectors.at[i].label);
	}
	s = results_stat(c->r, c->x, &p, (unsigned)experiment_result_find(c->x, leaf->name));
	if (!s.n)
		return err_set(e, -ENODATA, "no result");
	vec_push(out, s.mean);
	return 0;
}

static int leaf_find(void *ctx, const struct expr *leaf, expr_numbers *out, struct err *e);

/* The first argument at each choice of the parameter that the second names; choices without results are passed. */
static int along_values(struct check *c, const struct expr *call, expr_numbers *v, struct err *e)
{
	struct expr_scope scope = {leaf_find, c};
	int param = experiment_param_find(c->x, call->args.at[1]->name), rc = 0;
	uint8_t was = c->at.choice[param];

	for (size_t i = 0; i < c->x->params.at[param].choices.n && (!rc || rc == -ENODATA); i++) {
		c->at.choice[param] = (uint8_t)i;
		rc = expr_eval(call->args.at[0], &scope, v, e);
	}
	c->at.choice[param] = was;
	if (rc == -ENODATA && v->n > 1)
		rc = 0;
	return !rc && v->n < 2 ? err_set(e, -ENODATA, "fewer than two results") : rc;
}

static bool values_grow(const expr_numbers *v, double slack, double sign)
{
	for (size_t i = 1; i < v->n; i++)
		if (sign * (v->at[i] - v->at[i - 1]) <= -slack * v->at[i - 1])
			return false;
	return true;
}

static bool values_flat(const expr_numbers *v, double slack)
{
	double least = v->at[0], most = v->at[0];

	for (size_t i = 1; i < v->n; i++) {
		least = MIN(least, v->at[i]);
		most = MAX(most, v->at[i]);
	}
	return most <= least * (1 + slack);
}

static int along_find(struct check *c, const struct expr *call, expr_numbers *out, struct err *e)
{
	struct expr_scope scope = {leaf_find, c};
	expr_numbers v = {0}, slack = {0};
	int rc = along_values(c, call, &v, e);

	if (!rc && call->args.n > 2)
		rc = expr_eval(call->args.at[2], &scope, &slack, e);
	if (!slack.n)
		vec_push(&slack, 0);
	if (!rc)
		vec_push(out, !strcmp(call->name, "grows")   ? values_grow(&v, slack.at[0], 1)
			      : !strcmp(call->name, "falls") ? values_grow(&v, slack.at[0], -1)
							     : values_flat(&v, slack.at[0]));
	vec_free(&v);
	vec_free(&slack);
	return rc;
}

static int leaf_find(void *ctx, const struct expr *leaf, expr_numbers *out, struct err *e)
{
	return leaf->kind == EXPR_CALL ? along_find(ctx, leaf, out, e)
				       : result_find(ctx, leaf, out, e);
}

/* ---- combinations ---- */

static char *combination_text(const struct check *c, const bool *open)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < c->x->params.n; i++)
		if (open[i])
			strbuf_addf(&b, "%s%s=%s", b.len ? ", " : "", c->x->params.at[i].name,
				    c->x->params.at[i].choices.at[c->at.choice[i]].label);
	return b.s ? b.s : mem_strdup("");
}

static void combination_check(struct check *c, const bool *open, struct compare_trend *out)
{
	struct expr_scope scope = {leaf_find, c};
	expr_numbers v = {0};
	struct err e;

	if (!expr_eval(c->t->holds, &scope, &v, &e) && v.n) {
		out->checked++;
		if (v.at[0] != 0)
			out->held++;
		else if (!out->against)
			out->against = combination_text(c, open);
	}
	vec_free(&v);
}

/* The next combination of the open parameters that `where` allows. */
static bool combination_next(struct check *c, const bool *open)
{
	for (size_t i = c->x->params.n; i-- > 0;) {
		if (!open[i] || c->t->where.choice[i] >= 0)
			continue;
		if (++c->at.choice[i] < c->x->params.at[i].choices.n)
			return true;
		c->at.choice[i] = 0;
	}
	return false;
}

struct compare_trend compare_trend_check(const struct experiment *x,
					 const struct experiment_trend *t, const struct results *r)
{
	struct compare_trend out = {.experiment = x, .trend = t};
	struct check c = {.x = x, .t = t, .r = r};
	bool open[EXPERIMENT_PARAMS_MOST] = {0};

	open_params(x, t->holds, open);
	for (size_t i = 0; i < x->params.n; i++)
		c.at.choice[i] = (uint8_t)MAX(t->where.choice[i], 0);
	do
		combination_check(&c, open, &out);
	while (combination_next(&c, open));
	return out;
}
