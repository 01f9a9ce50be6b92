/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frees an experiment, also one that was read in part. State: none. Way in: experiment_free().
 */
#include "experiment/experiment_priv.h"

#define free_texts(v)                                                                              \
	do {                                                                                       \
		for (size_t k = 0; k < (v)->n; k++)                                                \
			free((v)->at[k]);                                                          \
		vec_free(v);                                                                       \
	} while (0)

static void table_free(struct experiment_table *t)
{
	free(t->item);
	free(t->title);
	free(t->csv);
	free(t->file);
	free_texts(&t->key_columns);
	vec_free(&t->key_params);
	for (size_t i = 0; i < t->columns.n; i++) {
		free(t->columns.at[i].name);
		free(t->columns.at[i].title);
	}
	vec_free(&t->columns);
	for (size_t i = 0; i < t->reasons.n; i++)
		free(t->reasons.at[i].why);
	vec_free(&t->reasons);
}

static void plot_free(struct experiment_plot *p)
{
	free(p->item);
	free(p->title);
	free(p->note);
	free(p->x_title);
	free(p->y_title);
}

static void trend_free(struct experiment_trend *t)
{
	free(t->section);
	free(t->says);
	free(t->text);
	free(t->why);
	expr_free(t->holds);
}

static void param_free(struct experiment_param *p)
{
	for (size_t i = 0; i < p->choices.n; i++) {
		free(p->choices.at[i].label);
		free(p->choices.at[i].text);
	}
	vec_free(&p->choices);
	free(p->name);
}

static void result_free(struct experiment_result *s)
{
	free(s->name);
	free(s->title);
	free(s->unit);
	free(s->text);
	free(s->table);
	for (size_t i = 0; i < s->columns.n; i++) {
		free(s->columns.at[i].key);
		free(s->columns.at[i].title);
	}
	vec_free(&s->columns);
	expr_free(s->is);
}

static void lists_free(struct experiment *x)
{
	for (size_t i = 0; i < x->params.n; i++)
		param_free(&x->params.at[i]);
	for (size_t i = 0; i < x->results.n; i++)
		result_free(&x->results.at[i]);
	for (size_t i = 0; i < x->tables.n; i++)
		table_free(&x->tables.at[i]);
	for (size_t i = 0; i < x->plots.n; i++)
		plot_free(&x->plots.at[i]);
	for (size_t i = 0; i < x->trends.n; i++)
		trend_free(&x->trends.at[i]);
	for (size_t i = 0; i < x->fabrics.n; i++) {
		free(x->fabrics.at[i].label);
		free(x->fabrics.at[i].text);
		free(x->fabrics.at[i].file);
	}
	vec_free(&x->params);
	vec_free(&x->results);
	vec_free(&x->tables);
	vec_free(&x->plots);
	vec_free(&x->trends);
	vec_free(&x->fabrics);
}

void experiment_free(struct experiment *x)
{
	if (!x)
		return;
	experiment_texts_free(x);
	lists_free(x);
	vec_free(&x->except);
	vec_free(&x->seeds);
	vec_free(&x->accept);
	free_texts(&x->before);
	free(x->file);
	free(x->dir);
	free(x->name);
	free(x->source);
	free(x->item);
	free(x->claim);
	free(x->notes);
	free(x->fabric);
	free(x->run);
	free(x->shell);
	free(x);
}
