/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that depend on a parameter, such as the rate of each fabric. State: none. Way in: exp_texts_read(),
 * experiment_text_by(). Does not expand what is in a text: points.c does.
 */
#include "experiment/experiment_priv.h"

static int choices_read(struct exp_reader *r, const struct yaml_node *n, struct experiment_by *by)
{
	const struct experiment_param *p = &r->x->params.at[by->param];
	int c;

	by->texts = mem_zarray(p->choices.n, sizeof(*by->texts));
	by->n = p->choices.n;
	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected choices of %s and their texts, found %s", p->name,
				 yaml_kind_name(n));
	for (size_t i = 0; i < n->keys.n; i++) {
		c = experiment_choice_find(p, n->keys.at[i]);
		if (c < 0)
			return exp_fault(r, n->items.at[i],
					 "'%.40s' is not a choice of the parameter %s",
					 n->keys.at[i], p->name);
		if (exp_text_read(r, n->items.at[i], &by->texts[c]))
			return -EINVAL;
	}
	return 0;
}

/* `rate: {switches: {"8": 172000, "16": 67000}}` */
static int text_read(struct exp_reader *r, const char *name, const struct yaml_node *n,
		     struct experiment_by *by)
{
	if (n->kind != YAML_MAP || n->keys.n != 1)
		return exp_fault(r, n, "expected one parameter that the text %s depends on", name);
	by->param = experiment_param_find(r->x, n->keys.at[0]);
	if (by->param < 0)
		return exp_fault(r, n, "'%.40s' is not a parameter of this experiment",
				 n->keys.at[0]);
	if (experiment_param_find(r->x, name) >= 0)
		return exp_fault(r, n, "'%.40s' is also a parameter", name);
	return choices_read(r, n->items.at[0], by);
}

int exp_texts_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected texts and what they depend on, found %s",
				 yaml_kind_name(n));
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		struct experiment_by by = {.name = mem_strdup(n->keys.at[i])};

		rc = text_read(r, n->keys.at[i], n->items.at[i], &by);
		vec_push(&r->x->texts, by);
	}
	return rc;
}

const char *experiment_text_by(const struct experiment *x, const char *name,
			       const struct experiment_point *p)
{
	for (size_t i = 0; i < x->texts.n; i++)
		if (!strcmp(x->texts.at[i].name, name))
			return x->texts.at[i].texts[p->choice[x->texts.at[i].param]];
	return NULL;
}

void experiment_texts_free(struct experiment *x)
{
	for (size_t i = 0; i < x->texts.n; i++) {
		for (size_t k = 0; k < x->texts.at[i].n; k++)
			free(x->texts.at[i].texts[k]);
		free(x->texts.at[i].texts);
		free(x->texts.at[i].name);
	}
	vec_free(&x->texts);
}
