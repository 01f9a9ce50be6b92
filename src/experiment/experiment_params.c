/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters, seeds, fabrics and what quick runs leave out. State: none. Way in: the readers of experiment_priv.h.
 * Does not make points of parameters: points.c does.
 */
#include "experiment/experiment_priv.h"

#include <ctype.h>

/* ---- parameters ---- */

static int choice_add(struct exp_reader *r, const struct yaml_node *at, struct experiment_param *p,
		      const char *label, const char *text)
{
	if (!*label || strlen(label) > 60 || strpbrk(label, ",=\"\n"))
		return exp_fault(r, at,
				 "expected a label of up to 60 characters without , = and \"");
	if (experiment_choice_find(p, label) >= 0)
		return exp_fault(r, at, "the parameter %s has the choice '%s' twice", p->name,
				 label);
	if (p->choices.n == 250)
		return exp_fault(r, at, "the parameter %s has more than 250 choices", p->name);
	vec_push(&p->choices,
		 ((struct experiment_choice){mem_strdup(label), mem_strdup(text), true}));
	return 0;
}

/* `1..40`: whole numbers, as in `switches: 1..40`; with a step as `8..64..8`. */
static int range_add(struct exp_reader *r, const struct yaml_node *n, struct experiment_param *p,
		     bool *is_range)
{
	unsigned long from, to, step = 1;
	char label[24];
	int used = 0, end = 0, rc = 0;

	*is_range = isdigit((unsigned char)*n->text) &&
		    sscanf(n->text, "%9lu..%9lu%n", &from, &to, &used) == 2;
	if (*is_range && n->text[used])
		*is_range = sscanf(n->text + used, "..%9lu%n", &step, &end) == 1 &&
			    !n->text[used + end];
	if (!*is_range)
		return 0;
	if (from > to || !step || (to - from) / step >= 250)
		return exp_fault(r, n, "expected a range of 1 to 250 numbers, found '%.40s'",
				 n->text);
	for (unsigned long v = from; v <= to && !rc; v += step) {
		snprintf(label, sizeof(label), "%lu", v);
		rc = choice_add(r, n, p, label, label);
	}
	return rc;
}

static int list_add(struct exp_reader *r, const struct yaml_node *n, struct experiment_param *p)
{
	int rc = 0;

	for (size_t i = 0; i < n->items.n && !rc; i++) {
		const struct yaml_node *v = n->items.at[i];

		rc = v->kind == YAML_TEXT ? choice_add(r, v, p, v->text, v->text)
					  : exp_fault(r, v, "expected a value of %s, found %s",
						      p->name, yaml_kind_name(v));
	}
	return rc;
}

static int map_add(struct exp_reader *r, const struct yaml_node *n, struct experiment_param *p)
{
	int rc = 0;

	for (size_t i = 0; i < n->items.n && !rc; i++) {
		const struct yaml_node *v = n->items.at[i];

		rc = v->kind == YAML_TEXT ? choice_add(r, v, p, n->keys.at[i], v->text)
					  : exp_fault(r, v, "expected the text of %s, found %s",
						      n->keys.at[i], yaml_kind_name(v));
	}
	return rc;
}

static int choices_read(struct exp_reader *r, const struct yaml_node *n, struct experiment_param *p)
{
	bool is_range = false;
	int rc = 0;

	if (n->kind == YAML_LIST)
		rc = list_add(r, n, p);
	else if (n->kind == YAML_MAP)
		rc = map_add(r, n, p);
	else if (!(rc = range_add(r, n, p, &is_range)) && !is_range)
		rc = choice_add(r, n, p, n->text, n->text);
	if (!rc && !p->choices.n)
		return exp_fault(r, n, "the parameter %s has no choice", p->name);
	return rc;
}

static bool is_reserved(const char *s)
{
	return !strcmp(s, "seed") || !strcmp(s, "seeds") || !strcmp(s, "net") || !strcmp(s, "dir");
}

int exp_params_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	struct experiment *x = r->x;
	int rc = 0;

	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected parameters and their choices, found %s",
				 yaml_kind_name(n));
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		const char *name = n->keys.at[i];

		if (!exp_is_word(name) || is_reserved(name) || strlen(name) > 40)
			return exp_key_fault(
				r, n->items.at[i],
				"expected a parameter's name of letters, digits and _, but not seed, seeds, net or dir; "
				"found '%.40s'",
				name);
		if (x->params.n == EXPERIMENT_PARAMS_MOST)
			return exp_key_fault(r, n->items.at[i], "more than %d parameters",
					     EXPERIMENT_PARAMS_MOST);
		vec_push(&x->params, ((struct experiment_param){.name = mem_strdup(name)}));
		rc = choices_read(r, n->items.at[i], &x->params.at[i]);
	}
	return rc;
}

/* ---- seeds ---- */

static int seed_add(struct exp_reader *r, const struct yaml_node *n)
{
	uint64_t v;

	if (n->kind != YAML_TEXT || parse_u64(n->text, &v))
		return exp_fault(r, n, "expected a seed, a whole number");
	for (size_t i = 0; i < r->x->seeds.n; i++)
		if (r->x->seeds.at[i] == v)
			return exp_fault(r, n, "the seed %s is given twice", n->text);
	vec_push(&r->x->seeds, v);
	return 0;
}

/* A number N: the seeds 1 to N; or a list. */
int exp_seeds_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	uint64_t many;
	int rc = 0;

	if (n->kind == YAML_LIST && n->items.n) {
		for (size_t i = 0; i < n->items.n && !rc; i++)
			rc = seed_add(r, n->items.at[i]);
		return rc;
	}
	if (n->kind != YAML_TEXT || parse_u64(n->text, &many) || !many || many > 10000)
		return exp_fault(r, n, "expected a number of seeds from 1 to 10000, or a list");
	for (uint64_t s = 1; s <= many; s++)
		vec_push(&r->x->seeds, s);
	return 0;
}

/* ---- quick runs ---- */

static int quick_choices(struct exp_reader *r, const struct yaml_node *n,
			 struct experiment_param *p)
{
	if (n->kind == YAML_LIST && !n->items.n)
		return exp_fault(r, n, "expected choices of %s, as the parameter lists them",
				 p->name);
	for (size_t i = 0; i < p->choices.n; i++)
		p->choices.at[i].quick = false;
	for (size_t i = 0; i < (n->kind == YAML_LIST ? n->items.n : 1); i++) {
		const struct yaml_node *v = n->kind == YAML_LIST ? n->items.at[i] : n;
		int c = v->kind == YAML_TEXT ? experiment_choice_find(p, v->text) : -1;

		if (c < 0)
			return exp_fault(r, v,
					 "expected choices of %s, as the parameter lists them",
					 p->name);
		p->choices.at[c].quick = true;
	}
	return 0;
}

/* `quick: false`: no part of quick runs. Otherwise parameters with fewer choices, and `seeds: N`. */
int exp_quick_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	struct experiment *x = r->x;
	uint64_t seeds;
	int rc = 0;

	if (n->kind == YAML_TEXT)
		return exp_bool_read(r, n, &x->quick);
	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected false, or parameters with fewer choices");
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		int p = experiment_param_find(x, n->keys.at[i]);
		const struct yaml_node *v = n->items.at[i];

		if (!strcmp(n->keys.at[i], "seeds")) {
			if (v->kind != YAML_TEXT || parse_u64(v->text, &seeds) || !seeds)
				return exp_fault(r, v, "expected a number of seeds");
			x->quick_seeds = (unsigned)MIN(seeds, 10000);
		} else if (p < 0) {
			rc = exp_param_unknown(r, v, n->keys.at[i]);
		} else {
			rc = quick_choices(r, v, &x->params.at[p]);
		}
	}
	return rc;
}

/* ---- fabrics ---- */

static int fabric_add(struct exp_reader *r, const char *label, const struct yaml_node *v)
{
	if (v->kind != YAML_TEXT ||
	    (strncmp(v->text, "gen ", 4) != 0 && strncmp(v->text, "file ", 5) != 0))
		return exp_fault(
			r, v, "expected 'gen KIND SIZE...' as in 'weft topo gen', or 'file NAME'");
	vec_push(&r->x->fabrics, ((struct experiment_fabric){.label = mem_strdup(label),
							     .text = mem_strdup(v->text),
							     .file = mem_strdup(r->x->file),
							     .line = v->line,
							     .column = v->column}));
	return 0;
}

/* A file of fabrics, shared by several experiments. Its faults name it. */
static int fabrics_file_read(struct exp_reader *r, const struct yaml_node *n)
{
	char *path = exp_beside(r->x, n->text), *text = NULL, *own = r->x->file;
	struct yaml_node *tree = NULL;
	struct err e;
	size_t len;
	int rc;

	rc = file_read(path, &text, &len, &e);
	if (rc) {
		rc = exp_fault(r, n, "%s", e.text);
		goto out;
	}
	tree = yaml_tree_read(path, text, len, r->e);
	rc = tree ? 0 : -EINVAL;
	r->x->file = path; /* for faults in it */
	if (tree)
		rc = tree->kind == YAML_MAP ? exp_fabrics_read(r, tree, NULL)
					    : exp_fault(r, tree, "expected fabrics by name");
	r->x->file = own;
out:
	yaml_tree_free(tree);
	free(text);
	free(path);
	return rc;
}

int exp_fabrics_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind == YAML_TEXT)
		return fabrics_file_read(r, n);
	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected fabrics by name, or the file that has them");
	for (size_t i = 0; i < n->keys.n && !rc; i++)
		rc = fabric_add(r, n->keys.at[i], n->items.at[i]);
	return rc;
}
