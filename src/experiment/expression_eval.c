/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions to numbers. State: none. Way in: expr_eval(). Does not resolve names: the scope does.
 */
#include "experiment/expression.h"

#include <math.h>

static const char *const functions[] = {"min",	 "max",	 "sum", "mean",	 "sd",
					"count", "last", "abs", "first", "running"};

bool expr_is_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (!strcmp(functions[i], name))
			return true;
	return false;
}

/* ---- functions of lists ---- */

static double list_sum(const expr_numbers *v)
{
	double s = 0;

	for (size_t i = 0; i < v->n; i++)
		s += v->at[i];
	return s;
}

static double list_least(const expr_numbers *v)
{
	double x = v->at[0];

	for (size_t i = 1; i < v->n; i++)
		x = MIN(x, v->at[i]);
	return x;
}

static double list_most(const expr_numbers *v)
{
	double x = v->at[0];

	for (size_t i = 1; i < v->n; i++)
		x = MAX(x, v->at[i]);
	return x;
}

/* Of a sample: divided by n - 1. */
static double list_sd(const expr_numbers *v)
{
	double m = list_sum(v) / (double)v->n, s = 0;

	for (size_t i = 0; i < v->n; i++)
		s += (v->at[i] - m) * (v->at[i] - m);
	return v->n > 1 ? sqrt(s / (double)(v->n - 1)) : 0;
}

/* Each element is the sum of those up to it: from what happened in each interval to what happened so far. */
static void list_running(const expr_numbers *v, expr_numbers *out)
{
	double s = 0;

	for (size_t i = 0; i < v->n; i++) {
		s += v->at[i];
		vec_push(out, s);
	}
}

static int function_eval(const struct expr *x, const expr_numbers *v, expr_numbers *out,
			 struct err *e)
{
	const char *f = x->name;

	if (!strcmp(f, "count")) {
		vec_push(out, (double)v->n);
		return 0;
	}
	if (!v->n)
		return err_set(e, -ENODATA, "%s() of an empty list", f);
	if (!strcmp(f, "abs"))
		for (size_t i = 0; i < v->n; i++)
			vec_push(out, fabs(v->at[i]));
	else if (!strcmp(f, "running"))
		list_running(v, out);
	else
		vec_push(out, !strcmp(f, "min")	    ? list_least(v)
			      : !strcmp(f, "max")   ? list_most(v)
			      : !strcmp(f, "sum")   ? list_sum(v)
			      : !strcmp(f, "mean")  ? list_sum(v) / (double)v->n
			      : !strcmp(f, "sd")    ? list_sd(v)
			      : !strcmp(f, "first") ? v->at[0]
						    : v->at[v->n - 1]);
	return 0;
}

static int call_eval(const struct expr *x, const struct expr_scope *scope, expr_numbers *out,
		     struct err *e)
{
	expr_numbers v = {0};
	int rc = 0;

	if (!expr_is_function(x->name))
		return scope->find(scope->ctx, x, out, e);
	for (unsigned i = 0; i < x->args.n && !rc; i++)
		rc = expr_eval(x->args.at[i], scope, &v, e);
	if (!rc)
		rc = function_eval(x, &v, out, e);
	vec_free(&v);
	return rc;
}

/* ---- operators ---- */

static double pair_value(enum expr_op op, double a, double b)
{
	switch (op) {
	case EXPR_OR:
		return a != 0 || b != 0;
	case EXPR_AND:
		return a != 0 && b != 0;
	case EXPR_LT:
		return a < b;
	case EXPR_LE:
		return a <= b;
	case EXPR_GT:
		return a > b;
	case EXPR_GE:
		return a >= b;
	case EXPR_EQ:
		return a == b;
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_MUL:
		return a * b;
	case EXPR_DIV:
		return a / b;
	case EXPR_NEG:
		return -a;
	}
	return 0;
}

/* Element by element; a single number goes with each element of the other list. */
static int pair_eval(const struct expr *x, const expr_numbers *a, const expr_numbers *b,
		     expr_numbers *out, struct err *e)
{
	size_t n = MAX(a->n, b->n);

	if (!a->n || !b->n || (a->n != b->n && a->n != 1 && b->n != 1))
		return err_set(e, -EINVAL, "column %u: lists of %zu and %zu numbers", x->column,
			       a->n, b->n);
	for (size_t i = 0; i < n; i++) {
		double l = a->at[a->n == 1 ? 0 : i], r = b->at[b->n == 1 ? 0 : i];

		if (x->op == EXPR_DIV && r == 0)
			return err_set(e, -EDOM, "column %u: division by zero", x->column);
		vec_push(out, pair_value(x->op, l, r));
	}
	return 0;
}

static int op_eval(const struct expr *x, const struct expr_scope *scope, expr_numbers *out,
		   struct err *e)
{
	expr_numbers a = {0}, b = {0};
	int rc = expr_eval(x->args.at[0], scope, &a, e);

	if (!rc && x->args.n == 2)
		rc = expr_eval(x->args.at[1], scope, &b, e);
	else
		vec_push(&b, 0);
	if (!rc)
		rc = pair_eval(x, &a, &b, out, e);
	vec_free(&a);
	vec_free(&b);
	return rc;
}

int expr_eval(const struct expr *x, const struct expr_scope *scope, expr_numbers *out,
	      struct err *e)
{
	switch (x->kind) {
	case EXPR_NUMBER:
		vec_push(out, x->number);
		return 0;
	case EXPR_PATH:
	case EXPR_RESULT:
		return scope->find(scope->ctx, x, out, e);
	case EXPR_CALL:
		return call_eval(x, scope, out, e);
	case EXPR_OP:
		return op_eval(x, scope, out, e);
	}
	return -EINVAL;
}
