/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic in experiments: what a result is, computed from the JSON that a run prints, and what a source states
 * about results.
 *
 *	.mean.smps.discovery + .mean.smps.configuration	a result: paths into the JSON
 *	max(.runs[].discarded)				[]: every element of a list
 *	smps[technique=none] <= 0.5 * smps[technique=full]	a statement: results at other parameters
 *	grows(time[technique=full], switches)		along the values of a parameter
 *
 * Values are lists of numbers; a list of one behaves as a number. Comparisons give 1 or 0. Precedence, from
 * weak to strong: or, and, comparisons, + and -, * and /, unary minus.
 */
#ifndef WEFT_EXPRESSION_H
#define WEFT_EXPRESSION_H

#include "base/vec.h"

enum expr_kind {
	EXPR_NUMBER,
	EXPR_PATH,   /* .a.b[].c */
	EXPR_RESULT, /* name[param=label, ...] */
	EXPR_CALL,   /* name(args) */
	EXPR_OP,     /* args[0] op args[1]; unary minus has one */
};

enum expr_op {
	EXPR_OR,
	EXPR_AND,
	EXPR_LT,
	EXPR_LE,
	EXPR_GT,
	EXPR_GE,
	EXPR_EQ,
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL,
	EXPR_DIV,
	EXPR_NEG,
};

struct expr_selector {
	char *param, *label;
};

struct expr {
	enum expr_kind kind;
	enum expr_op op;
	unsigned column; /* in the text, from 1 */
	double number;
	char *name; /* the path without its first dot; the result's or function's name */
	VEC(struct expr_selector) selectors;
	struct {
		struct expr *at[3];
		unsigned n;
	} args;
};

typedef VEC(double) expr_numbers;

/* NULL with e: "column 7: expected a number, a path or a name". */
struct expr *expr_parse(const char *text, struct err *e);
void expr_free(struct expr *x);

/*
 * Resolves a path, a result, or a call of a function that is not one of expr_functions. Appends to out. 0, or
 * negative with e set: no such value.
 */
struct expr_scope {
	int (*find)(void *ctx, const struct expr *leaf, expr_numbers *out, struct err *e);
	void *ctx;
};
int expr_eval(const struct expr *x, const struct expr_scope *scope, expr_numbers *out,
	      struct err *e);
bool expr_is_function(const char *name); /* min max sum mean sd count last abs first running */

#endif
