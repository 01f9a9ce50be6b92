/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text to expressions, by recursive descent. State: struct reader, for one text. Way in: expr_parse(). Does not
 * know which names exist: the caller's scope does.
 */
#include "experiment/expression.h"

#include <ctype.h>
#include <math.h>

/* A sum of n terms is a tree of depth n. Both limits bound the stack of functions that walk the tree. */
enum { DEPTH_MOST = 40, NODES_MOST = 1000 };

struct reader {
	const char *text, *at;
	unsigned depth, nodes;
	struct err *e;
};

static struct expr *either_read(struct reader *r);

static void *fault(struct reader *r, const char *expected)
{
	err_set(r->e, -EINVAL, "column %zu: expected %s, found %s%.20s%s", r->at - r->text + 1,
		expected, *r->at ? "'" : "the end", *r->at ? r->at : "", *r->at ? "'" : "");
	return NULL;
}

static void blanks_skip(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

/* Whether the word or sign comes next; then it is taken. */
static bool take(struct reader *r, const char *sign)
{
	size_t n = strlen(sign);

	blanks_skip(r);
	if (strncmp(r->at, sign, n) != 0)
		return false;
	if (isalpha((unsigned char)*sign) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
		return false;
	r->at += n;
	return true;
}

void expr_free(struct expr *x)
{
	if (!x)
		return;
	for (unsigned i = 0; i < x->args.n; i++)
		expr_free(x->args.at[i]);
	for (size_t i = 0; i < x->selectors.n; i++) {
		free(x->selectors.at[i].param);
		free(x->selectors.at[i].label);
	}
	vec_free(&x->selectors);
	free(x->name);
	free(x);
}

static struct expr *expr_new(struct reader *r, enum expr_kind kind)
{
	struct expr *x = mem_zalloc(sizeof(*x));

	x->kind = kind;
	x->column = (unsigned)(r->at - r->text) + 1;
	return x;
}

/* ---- leaves ---- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static char *text_between(const char *from, const char *to)
{
	struct strbuf b = {0};

	strbuf_addn(&b, from, (size_t)(to - from));
	return b.s ? b.s : mem_strdup("");
}

static struct expr *number_read(struct reader *r)
{
	struct expr *x = expr_new(r, EXPR_NUMBER);
	char *end;

	x->number = strtod(r->at, &end);
	if (!isfinite(x->number)) {
		expr_free(x);
		return fault(r, "a smaller number");
	}
	r->at = end;
	if (*r->at == '%') {
		x->number /= 100;
		r->at++;
	}
	return x;
}

/* `.` alone is the whole document; after names, [] takes each element. */
static struct expr *path_read(struct reader *r)
{
	struct expr *x = expr_new(r, EXPR_PATH);
	const char *from = r->at + 1;

	while (*r->at == '.') {
		r->at++;
		while (is_name(*r->at))
			r->at++;
		while (!strncmp(r->at, "[]", 2))
			r->at += 2;
	}
	if (*r->at == '[') {
		expr_free(x);
		r->at++;
		return fault(r, "']': a path takes all elements of a list");
	}
	x->name = text_between(from, r->at);
	return x;
}

static char *label_read(struct reader *r)
{
	const char *from;

	blanks_skip(r);
	from = r->at;
	while (*r->at && *r->at != ',' && *r->at != ']' && *r->at != '=')
		r->at++;
	while (r->at > from && isspace((unsigned char)r->at[-1]))
		r->at--;
	return r->at > from ? text_between(from, r->at) : fault(r, "a word");
}

static bool selectors_read(struct reader *r, struct expr *x)
{
	do {
		struct expr_selector s = {.param = label_read(r)};

		if (s.param && !take(r, "="))
			fault(r, "'=' and a value of the parameter");
		else if (s.param)
			s.label = label_read(r);
		if (!s.label) {
			free(s.param);
			return false;
		}
		vec_push(&x->selectors, s);
	} while (take(r, ","));
	return take(r, "]") || fault(r, "']'");
}

static bool args_read(struct reader *r, struct expr *x)
{
	x->kind = EXPR_CALL;
	do {
		if (x->args.n == ARRAY_LEN(x->args.at))
			return fault(r, "at most three arguments");
		x->args.at[x->args.n] = either_read(r);
		if (!x->args.at[x->args.n])
			return false;
		x->args.n++;
	} while (take(r, ","));
	return take(r, ")") || fault(r, "')'");
}

static struct expr *name_read(struct reader *r)
{
	struct expr *x = expr_new(r, EXPR_RESULT);
	const char *from = r->at;
	bool ok = true;

	while (is_name(*r->at))
		r->at++;
	x->name = text_between(from, r->at);
	if (take(r, "["))
		ok = selectors_read(r, x);
	else if (take(r, "("))
		ok = args_read(r, x);
	if (ok)
		return x;
	expr_free(x);
	return NULL;
}

/* ---- operators ---- */

static struct expr *pair_new(enum expr_op op, struct expr *a, struct expr *b)
{
	struct expr *x = mem_zalloc(sizeof(*x));

	x->kind = EXPR_OP;
	x->op = op;
	x->column = a->column;
	x->args.at[0] = a;
	x->args.at[1] = b;
	x->args.n = b ? 2 : 1;
	return x;
}

static struct expr *factor_read(struct reader *r)
{
	struct expr *x = NULL;

	blanks_skip(r);
	if (++r->depth > DEPTH_MOST)
		return fault(r, "fewer brackets");
	if (++r->nodes > NODES_MOST)
		return fault(r, "a shorter expression");
	if (take(r, "(")) {
		x = either_read(r);
		if (x && !take(r, ")")) {
			expr_free(x);
			x = fault(r, "')'");
		}
	} else if (take(r, "-")) {
		x = factor_read(r);
		x = x ? pair_new(EXPR_NEG, x, NULL) : NULL;
	} else if (isdigit((unsigned char)*r->at)) {
		x = number_read(r);
	} else if (*r->at == '.') {
		x = path_read(r);
	} else if (isalpha((unsigned char)*r->at)) {
		x = name_read(r);
	} else {
		fault(r, "a number, a path such as .mean.smps or a name");
	}
	r->depth--;
	return x;
}

struct level {
	const char *sign;
	enum expr_op op;
};

static const struct level products[] = {{"*", EXPR_MUL}, {"/", EXPR_DIV}, {0}};
static const struct level sums[] = {{"+", EXPR_ADD}, {"-", EXPR_SUB}, {0}};
static const struct level compares[] = {{"<=", EXPR_LE}, {"<", EXPR_LT},  {">=", EXPR_GE},
					{">", EXPR_GT},	 {"==", EXPR_EQ}, {0}};
static const struct level ands[] = {{"and", EXPR_AND}, {0}};
static const struct level ors[] = {{"or", EXPR_OR}, {0}};
static const struct level *const levels[] = {ors, ands, compares, sums, products, NULL};

static const struct level *level_take(struct reader *r, const struct level *l)
{
	for (; l->sign; l++)
		if (take(r, l->sign))
			return l;
	return NULL;
}

static struct expr *level_read(struct reader *r, unsigned level)
{
	struct expr *x, *y;
	const struct level *l;

	if (!levels[level])
		return factor_read(r);
	x = level_read(r, level + 1);
	while (x && (l = level_take(r, levels[level]))) {
		y = level_read(r, level + 1);
		if (!y) {
			expr_free(x);
			return NULL;
		}
		x = pair_new(l->op, x, y);
	}
	return x;
}

static struct expr *either_read(struct reader *r)
{
	struct expr *x;

	if (++r->depth > DEPTH_MOST)
		return fault(r, "fewer brackets");
	x = level_read(r, 0);
	r->depth--;
	return x;
}

struct expr *expr_parse(const char *text, struct err *e)
{
	struct reader r = {.text = text, .at = text, .e = e};
	struct expr *x = either_read(&r);

	blanks_skip(&r);
	if (x && *r.at) {
		expr_free(x);
		return fault(&r, "an operator or the end");
	}
	return x;
}
