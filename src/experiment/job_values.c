/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of a job from the JSON that its last command printed. State: none. Way in: job_values().
 */
#include "experiment/job.h"

#include <jansson.h>
#include <math.h>

enum { NUMBERS_MOST = 100000, ROWS_MOST = 1000 };

/* ---- paths ---- */

static int numbers_take(const json_t *v, const char *path, const char *whole, expr_numbers *out,
			struct err *e);

static int list_take(const json_t *v, const char *rest, const char *whole, expr_numbers *out,
		     struct err *e)
{
	const json_t *item;
	size_t i;
	int rc = 0;

	if (!json_is_array(v))
		return err_set(e, -EINVAL, "the output has no list at .%s", whole);
	json_array_foreach(v, i, item)
	{
		rc = numbers_take(item, rest, whole, out, e);
		if (rc)
			break;
	}
	return rc;
}

static int leaf_take(const json_t *v, const char *whole, expr_numbers *out, struct err *e)
{
	if (json_is_number(v) && out->n < NUMBERS_MOST)
		vec_push(out, json_number_value(v));
	else if (json_is_boolean(v))
		vec_push(out, json_is_true(v));
	else
		return err_set(e, -EINVAL, "the output has no number at .%s", whole);
	return 0;
}

/* Names, separated by dots; [] after a name: each element. */
static int numbers_take(const json_t *v, const char *path, const char *whole, expr_numbers *out,
			struct err *e)
{
	char name[128];
	size_t n;

	while (*path == '.')
		path++;
	if (!*path)
		return leaf_take(v, whole, out, e);
	if (!strncmp(path, "[]", 2))
		return list_take(v, path + 2, whole, out, e);
	n = strcspn(path, ".[");
	if (n >= sizeof(name))
		return err_set(e, -EINVAL, "a name in .%s is too long", whole);
	memcpy(name, path, n);
	name[n] = '\0';
	v = json_object_get(v, name);
	return v ? numbers_take(v, path + n, whole, out, e)
		 : err_set(e, -EINVAL, "the output has no .%s", whole);
}

static int path_find(void *ctx, const struct expr *leaf, expr_numbers *out, struct err *e)
{
	if (leaf->kind != EXPR_PATH)
		return err_set(e, -EINVAL, "column %u: expected a path such as .mean.%s",
			       leaf->column, leaf->name);
	return numbers_take(ctx, leaf->name, leaf->name, out, e);
}

/* ---- values ---- */

/* Ten digits; an exponent without + and zeros, as libjansson writes it, so that a text read again is the same. */
static void number_print(double v, struct strbuf *out)
{
	char text[32], *e;

	snprintf(text, sizeof(text), "%.10g", v + 0.0);
	e = strchr(text, 'e');
	if (!e) {
		strbuf_add(out, text);
		return;
	}
	strbuf_addn(out, text, (size_t)(e - text));
	strbuf_addf(out, "e%d", atoi(e + 1));
}

static void numbers_print(const expr_numbers *v, struct strbuf *out)
{
	strbuf_add(out, v->n == 1 ? "" : "[");
	for (size_t i = 0; i < v->n; i++) {
		strbuf_add(out, i ? "," : "");
		number_print(v->at[i], out);
	}
	strbuf_add(out, v->n == 1 ? "" : "]");
}

/* A list of objects as it is, for reports. */
static int table_print(const struct experiment_result *s, const json_t *doc, struct strbuf *out,
		       struct err *e)
{
	char name[128];
	const char *path = s->table;
	char *text;

	while (doc && *path == '.') {
		size_t n = strcspn(++path, ".");

		if (!n || n >= sizeof(name))
			break;
		memcpy(name, path, n);
		name[n] = '\0';
		path += n;
		doc = json_object_get(doc, name);
	}
	if (!json_is_array(doc) || json_array_size(doc) > ROWS_MOST)
		return err_set(e, -EINVAL, "the output has no list of up to %d rows at %s",
			       ROWS_MOST, s->table);
	text = json_dumps(doc, JSON_COMPACT | JSON_REAL_PRECISION(10)); /* as results_text.c */
	strbuf_add(out, text);
	free(text);
	return 0;
}

static int numbers_check(const expr_numbers *v, const char *name, struct err *e)
{
	for (size_t i = 0; i < v->n; i++)
		if (!isfinite(v->at[i]))
			return err_set(e, -ERANGE, "the result %s is not a finite number", name);
	return 0;
}

static int values_print(const struct experiment *x, json_t *doc, struct strbuf *out, struct err *e)
{
	struct expr_scope scope = {path_find, doc};
	expr_numbers v = {0};
	int rc = 0;

	strbuf_add(out, "{");
	for (size_t i = 0; i < x->results.n && !rc; i++) {
		strbuf_addf(out, "%s\"%s\":", i ? "," : "", x->results.at[i].name);
		if (x->results.at[i].table) {
			rc = table_print(&x->results.at[i], doc, out, e);
			continue;
		}
		v.n = 0;
		rc = expr_eval(x->results.at[i].is, &scope, &v, e);
		rc = rc ? rc : numbers_check(&v, x->results.at[i].name, e);
		numbers_print(&v, out);
	}
	strbuf_add(out, "}");
	vec_free(&v);
	return rc;
}

int job_values(const struct experiment *x, const char *text, size_t len, struct job_result *r,
	       struct err *e)
{
	struct strbuf out = {0};
	json_error_t why;
	json_t *doc = json_loadb(text, len, 0, &why), *events;
	int rc;

	if (!doc)
		return err_set(e, -EINVAL, "the output is not JSON: line %d: %s", why.line,
			       why.text);
	events = json_object_get(doc, "events");
	r->events = json_is_integer(events) ? (uint64_t)json_integer_value(events) : 0;
	rc = values_print(x, doc, &out, e);
	json_decref(doc);
	if (rc)
		strbuf_free(&out); /* sets out.s to NULL */
	r->values = out.s;
	return rc;
}
