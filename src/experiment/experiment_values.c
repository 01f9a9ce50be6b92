/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single values of an experiment's file: texts, numbers, choices of parameters, names of results. State: none. Way
 * in: the readers of experiment_priv.h. Does not know the keys of an experiment.
 */
#include "base/spelling.h"
#include "experiment/experiment_priv.h"

#include <ctype.h>
#include <math.h>

int exp_fault(struct exp_reader *r, const struct yaml_node *at, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return yaml_fault(r->e, r->x->file, at, "%s", text);
}

int exp_key_fault(struct exp_reader *r, const struct yaml_node *value, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return yaml_key_fault(r->e, r->x->file, value, text);
}

bool exp_is_word(const char *s)
{
	if (!isalpha((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

/* ", did you mean 'NAME'?" if a name is near. */
static const char *hint(const struct spelling *near, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", near->best ? ", did you mean '" : "",
		 near->best ? near->best : "", near->best ? "'?" : "");
	return text;
}

static int key_unknown(struct exp_reader *r, const struct yaml_node *n, size_t i,
		       const struct exp_key *keys, const char *what)
{
	struct spelling near = {.word = n->keys.at[i]};
	char text[100];

	for (const struct exp_key *k = keys; k->name; k++)
		spelling_offer(&near, k->name, k->name);
	return exp_key_fault(r, n->items.at[i], "unknown key '%.40s' in %s%s", n->keys.at[i], what,
			     hint(&near, text, sizeof(text)));
}

static bool key_known(const struct exp_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return true;
	return false;
}

int exp_keys_read(struct exp_reader *r, const struct yaml_node *n, const struct exp_key *keys,
		  const char *what, void *into)
{
	int rc;

	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected the keys of %s, found %s", what,
				 yaml_kind_name(n));
	for (size_t i = 0; i < n->keys.n; i++)
		if (!key_known(keys, n->keys.at[i]))
			return key_unknown(r, n, i, keys, what);
	for (const struct exp_key *k = keys; k->name; k++) {
		const struct yaml_node *v = yaml_get(n, k->name);

		if (!v && k->must)
			return exp_fault(r, n, "expected a key '%s' in %s", k->name, what);
		rc = v ? k->read(r, v, (char *)into + k->offset) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

int exp_text_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	char **text = into;

	if (n->kind != YAML_TEXT)
		return exp_fault(r, n, "expected a text, found %s", yaml_kind_name(n));
	free(*text);
	*text = mem_strdup(n->text);
	return 0;
}

int exp_bool_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	bool *b = into;

	if (n->kind != YAML_TEXT || (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0))
		return exp_fault(r, n, "expected true or false, found %s%.40s",
				 n->kind == YAML_TEXT ? "" : yaml_kind_name(n),
				 n->kind == YAML_TEXT ? n->text : "");
	*b = !strcmp(n->text, "true");
	return 0;
}

int exp_number_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	double *v = into;
	char *end;

	if (n->kind != YAML_TEXT)
		return exp_fault(r, n, "expected a number, found %s", yaml_kind_name(n));
	*v = strtod(n->text, &end);
	if (end != n->text && !strcmp(end, "%")) {
		*v /= 100;
		end++;
	}
	if (end == n->text || *end || !isfinite(*v) || *v < 0)
		return exp_fault(r, n, "expected a number such as 0.1 or 10%%, found '%.40s'",
				 n->text);
	return 0;
}

int exp_param_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct spelling near = {.word = n->text};
	char text[100];
	int *p = into;

	if (n->kind != YAML_TEXT)
		return exp_fault(r, n, "expected the name of a parameter, found %s",
				 yaml_kind_name(n));
	*p = experiment_param_find(r->x, n->text);
	if (*p >= 0)
		return 0;
	for (size_t i = 0; i < r->x->params.n; i++)
		spelling_offer(&near, r->x->params.at[i].name, r->x->params.at[i].name);
	return exp_fault(r, n, "'%.40s' is not a parameter of this experiment%s", n->text,
			 hint(&near, text, sizeof(text)));
}

int exp_result_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct spelling near = {.word = n->text};
	unsigned *result = into;
	char text[100];
	int found;

	if (n->kind != YAML_TEXT)
		return exp_fault(r, n, "expected the name of a result, found %s",
				 yaml_kind_name(n));
	found = experiment_result_find(r->x, n->text);
	*result = (unsigned)MAX(found, 0);
	if (found >= 0)
		return 0;
	for (size_t i = 0; i < r->x->results.n; i++)
		spelling_offer(&near, r->x->results.at[i].name, r->x->results.at[i].name);
	return exp_fault(r, n, "'%.40s' is not a result of this experiment%s", n->text,
			 hint(&near, text, sizeof(text)));
}

void exp_where_any(struct experiment_where *w)
{
	for (unsigned i = 0; i < ARRAY_LEN(w->choice); i++)
		w->choice[i] = -1;
}

static int choice_unknown(struct exp_reader *r, const struct yaml_node *n,
			  const struct experiment_param *p, const char *label)
{
	struct spelling near = {.word = label};
	char text[100];

	for (size_t i = 0; i < p->choices.n; i++)
		spelling_offer(&near, p->choices.at[i].label, p->choices.at[i].label);
	return exp_fault(r, n, "'%.40s' is not a choice of the parameter %s%s", label, p->name,
			 hint(&near, text, sizeof(text)));
}

int exp_param_unknown(struct exp_reader *r, const struct yaml_node *value, const char *name)
{
	struct spelling near = {.word = name};
	char text[100];

	for (size_t i = 0; i < r->x->params.n; i++)
		spelling_offer(&near, r->x->params.at[i].name, r->x->params.at[i].name);
	return exp_key_fault(r, value, "'%.40s' is not a parameter of this experiment%s", name,
			     hint(&near, text, sizeof(text)));
}

int exp_where_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_where *w = into;

	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected parameters and their choices, found %s",
				 yaml_kind_name(n));
	for (size_t i = 0; i < n->keys.n; i++) {
		const struct yaml_node *v = n->items.at[i];
		int p = experiment_param_find(r->x, n->keys.at[i]);

		if (p < 0)
			return exp_param_unknown(r, v, n->keys.at[i]);
		if (v->kind != YAML_TEXT)
			return exp_fault(r, v, "expected a choice of %s, found %s", n->keys.at[i],
					 yaml_kind_name(v));
		w->choice[p] = experiment_choice_find(&r->x->params.at[p], v->text);
		if (w->choice[p] < 0)
			return choice_unknown(r, v, &r->x->params.at[p], v->text);
	}
	return 0;
}

int exp_expr_read(struct exp_reader *r, const struct yaml_node *n, struct expr **into)
{
	struct err e;

	if (n->kind != YAML_TEXT)
		return exp_fault(r, n, "expected an expression, found %s", yaml_kind_name(n));
	*into = expr_parse(n->text, &e);
	return *into ? 0 : exp_fault(r, n, "in '%.80s': %s", n->text, e.text);
}

char *exp_beside(const struct experiment *x, const char *name)
{
	struct strbuf b = {0};

	if (*name != '/')
		strbuf_addf(&b, "%s/", x->dir);
	strbuf_add(&b, name);
	return b.s;
}
