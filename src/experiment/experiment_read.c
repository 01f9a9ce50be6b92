/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An experiment from its file. State: none. Way in: experiment_read(), experiments_read(). Does not run anything:
 * job_queue.c does.
 */
#include "experiment/experiment_priv.h"

#include <dirent.h>

/* ---- finding ---- */

int experiment_param_find(const struct experiment *x, const char *name)
{
	for (size_t i = 0; i < x->params.n; i++)
		if (!strcmp(x->params.at[i].name, name))
			return (int)i;
	return -1;
}

int experiment_choice_find(const struct experiment_param *p, const char *label)
{
	for (size_t i = 0; i < p->choices.n; i++)
		if (!strcmp(p->choices.at[i].label, label))
			return (int)i;
	return -1;
}

int experiment_result_find(const struct experiment *x, const char *name)
{
	for (size_t i = 0; i < x->results.n; i++)
		if (!strcmp(x->results.at[i].name, name))
			return (int)i;
	return -1;
}

const struct experiment_fabric *experiment_fabric_find(const struct experiment *x,
						       const char *label)
{
	for (size_t i = 0; i < x->fabrics.n; i++)
		if (!strcmp(x->fabrics.at[i].label, label))
			return &x->fabrics.at[i];
	return NULL;
}

/* ---- keys ---- */

static int headings_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_result *s = into;
	int rc = 0;

	if (n->kind != YAML_MAP || !n->keys.n)
		return exp_fault(r, n, "expected keys of the table's objects, with titles");
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		struct experiment_heading h = {.key = mem_strdup(n->keys.at[i])};

		rc = exp_text_read(r, n->items.at[i], &h.title);
		vec_push(&s->columns, h);
	}
	return rc;
}

static const struct exp_key result_keys[] = {
	{"is", exp_text_read, offsetof(struct experiment_result, text), false},
	{"table", exp_text_read, offsetof(struct experiment_result, table), false},
	{"unit", exp_text_read, offsetof(struct experiment_result, unit), false},
	{"title", exp_text_read, offsetof(struct experiment_result, title), false},
	{"columns", headings_read, 0, false},
	{"where", exp_where_read, offsetof(struct experiment_result, where), false},
	{0},
};

/* A result is made of paths and of functions that exist. */
static int paths_check(struct exp_reader *r, const struct yaml_node *n, const struct expr *x)
{
	int rc = 0;

	if (x->kind == EXPR_RESULT)
		return exp_fault(r, n, "in '%.80s': column %u: expected a path such as .mean.%.40s",
				 n->text, x->column, x->name);
	if (x->kind == EXPR_CALL && !expr_is_function(x->name))
		return exp_fault(r, n, "in '%.80s': column %u: '%.40s' is not a function", n->text,
				 x->column, x->name);
	for (unsigned i = 0; i < x->args.n && !rc; i++)
		rc = paths_check(r, n, x->args.at[i]);
	return rc;
}

static int is_read(struct exp_reader *r, const struct yaml_node *n, struct experiment_result *s)
{
	int rc = exp_expr_read(r, n, &s->is);

	return rc ? rc : paths_check(r, n, s->is);
}

/* Either a number, by an expression, or a table, by a path. */
static int result_is_read(struct exp_reader *r, const struct yaml_node *n,
			  struct experiment_result *s)
{
	if (n->kind == YAML_TEXT)
		return is_read(r, n, s);
	if (!s->text == !s->table)
		return exp_fault(r, n, "expected either 'is' or 'table' in a result");
	if (s->text && (yaml_get(n, "columns") || yaml_get(n, "where")))
		return exp_fault(r, n, "'columns' and 'where' are for results with 'table'");
	if (s->text)
		return is_read(r, yaml_get(n, "is"), s);
	if (*s->table != '.')
		return exp_fault(r, yaml_get(n, "table"), "expected a path such as .failures");
	s->text = mem_strdup(s->table);
	return 0;
}

static int results_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_MAP || !n->keys.n)
		return exp_fault(r, n, "expected results and their expressions");
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		const struct yaml_node *v = n->items.at[i];
		struct experiment_result s = {.name = mem_strdup(n->keys.at[i])};

		exp_where_any(&s.where);
		if (i == EXPERIMENT_RESULTS_MOST)
			rc = exp_key_fault(r, v, "more than %d results", EXPERIMENT_RESULTS_MOST);
		else if (!exp_is_word(s.name))
			rc = exp_key_fault(
				r, v,
				"expected a result's name of letters, digits and _, found '%.40s'",
				s.name);
		else if (v->kind == YAML_TEXT)
			s.text = mem_strdup(v->text);
		else
			rc = exp_keys_read(r, v, result_keys, "a result", &s);
		if (!rc)
			rc = result_is_read(r, v, &s);
		vec_push(&r->x->results, s);
	}
	return rc;
}

static int except_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of points to leave out");
	for (size_t i = 0; i < n->items.n && !rc; i++) {
		struct experiment_where w;

		exp_where_any(&w);
		rc = exp_where_read(r, n->items.at[i], &w);
		vec_push(&r->x->except, w);
	}
	return rc;
}

static int sampled_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	r->x->has_full = true;
	return exp_where_read(r, n, into);
}

static int before_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of commands");
	for (size_t i = 0; i < n->items.n && !rc; i++) {
		char *text = NULL;

		rc = exp_text_read(r, n->items.at[i], &text);
		vec_push(&r->x->before, text);
	}
	return rc;
}

static int accept_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	uint64_t status;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of exit statuses");
	for (size_t i = 0; i < n->items.n; i++) {
		if (n->items.at[i]->kind != YAML_TEXT || parse_u64(n->items.at[i]->text, &status) ||
		    status > 125)
			return exp_fault(r, n->items.at[i], "expected an exit status, 0 to 125");
		vec_push(&r->x->accept, (int)status);
	}
	return 0;
}

static int run_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	r->x->run_line = n->line;
	r->x->run_column = n->column;
	return exp_text_read(r, n, into);
}

static int fabric_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	r->x->fabric_line = n->line;
	r->x->fabric_column = n->column;
	return exp_text_read(r, n, into);
}

#define AT(field) offsetof(struct experiment, field)
static const struct exp_key keys[] = {
	{"name", exp_text_read, AT(name), true},
	{"source", exp_text_read, AT(source), true},
	{"item", exp_text_read, AT(item), true},
	{"claim", exp_text_read, AT(claim), true},
	{"notes", exp_text_read, AT(notes), false},
	{"parameters", exp_params_read, 0, false},
	{"texts", exp_texts_read, 0, false},
	{"except", except_read, 0, false},
	{"sampled", sampled_read, AT(sampled), false},
	{"seeds", exp_seeds_read, 0, false},
	{"quick", exp_quick_read, 0, false},
	{"fabrics", exp_fabrics_read, 0, false},
	{"fabric", fabric_read, AT(fabric), false},
	{"before", before_read, 0, false},
	{"run", run_read, AT(run), false},
	{"shell", run_read, AT(shell), false},
	{"accept", accept_read, 0, false},
	{"real_time", exp_bool_read, AT(real_time), false},
	{"results", results_read, 0, true},
	{"tables", exp_tables_read, 0, false},
	{"plots", exp_plots_read, 0, false},
	{"trends", exp_trends_read, 0, false},
	{0},
};

/* ---- the whole ---- */

static bool is_name(const char *s)
{
	return *s && strlen(s) <= 40 &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s);
}

static int whole_check(struct exp_reader *r, const struct yaml_node *n)
{
	struct experiment *x = r->x;

	if (!is_name(x->name))
		return exp_fault(r, yaml_get(n, "name"),
				 "expected a name of up to 40 small letters, digits and -");
	if (!x->run == !x->shell)
		return exp_fault(r, n, "expected either 'run' or 'shell'");
	if (x->fabric && !x->fabrics.n)
		return exp_fault(r, yaml_get(n, "fabric"),
				 "expected 'fabrics' with this one in it");
	if (!x->seeds.n)
		vec_push(&x->seeds, 1);
	if (!x->accept.n)
		vec_push(&x->accept, 0);
	if (!x->quick_seeds || x->quick_seeds > x->seeds.n)
		x->quick_seeds = (unsigned)x->seeds.n;
	return 0;
}

static struct experiment *experiment_new(const char *file)
{
	struct experiment *x = mem_zalloc(sizeof(*x));
	const char *slash = strrchr(file, '/');
	struct strbuf dir = {0};
	char *real;

	x->file = mem_strdup(file);
	strbuf_addn(&dir, file, slash ? (size_t)(slash - file) : 0);
	real = realpath(dir.len ? dir.s : slash ? "/" : ".", NULL);
	x->dir = real ? real : mem_strdup(dir.len ? dir.s : ".");
	strbuf_free(&dir);
	x->quick = true;
	exp_where_any(&x->sampled);
	return x;
}

struct experiment *experiment_parse(const char *file, const char *text, size_t len, struct err *e)
{
	struct exp_reader r = {.x = experiment_new(file), .e = e};
	struct yaml_node *tree = yaml_tree_read(file, text, len, e);
	int rc = tree ? exp_keys_read(&r, tree, keys, "an experiment", r.x) : -EINVAL;

	if (!rc)
		rc = whole_check(&r, tree);
	yaml_tree_free(tree);
	if (!rc)
		return r.x;
	experiment_free(r.x);
	return NULL;
}

struct experiment *experiment_read(const char *file, struct err *e)
{
	struct experiment *x;
	char *text;
	size_t len;

	if (file_read(file, &text, &len, e))
		return NULL;
	x = experiment_parse(file, text, len, e);
	free(text);
	return x;
}

/* ---- directories ---- */

static int name_order(const void *a, const void *b)
{
	return strcmp((*(struct experiment *const *)a)->name,
		      (*(struct experiment *const *)b)->name);
}

/* Files whose names begin with _ hold what several experiments share. */
static bool is_experiment_file(const char *name)
{
	size_t n = strlen(name);

	return *name != '_' && *name != '.' && n > 5 && !strcmp(name + n - 5, ".yaml");
}

static int same_check(const experiment_list *l, struct err *e)
{
	for (size_t i = 1; i < l->n; i++)
		if (!strcmp(l->at[i - 1]->name, l->at[i]->name))
			return err_set(e, -EINVAL, "%s:1:1: the experiment '%s' is also in %s",
				       l->at[i]->file, l->at[i]->name, l->at[i - 1]->file);
	return 0;
}

int experiments_read(const char *dir, experiment_list *out, struct err *e)
{
	DIR *d = opendir(dir);
	struct strbuf path = {0};
	int rc = d ? 0 : err_set(e, -errno, "%s: %s", dir, strerror(errno));

	for (struct dirent *f; d && !rc && (f = readdir(d));) {
		struct experiment *x;

		if (!is_experiment_file(f->d_name))
			continue;
		path.len = 0;
		strbuf_addf(&path, "%s/%s", dir, f->d_name);
		x = experiment_read(path.s, e);
		if (x)
			vec_push(out, x);
		rc = x ? 0 : -EINVAL;
	}
	if (d)
		closedir(d);
	strbuf_free(&path);
	if (!rc && out->n)
		qsort(out->at, out->n, sizeof(*out->at), name_order);
	return rc ? rc : same_check(out, e);
}

struct experiment *experiment_named(const experiment_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i]->name, name))
			return l->at[i];
	return NULL;
}

void experiments_free(experiment_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		experiment_free(l->at[i]);
	vec_free(l);
}

void experiment_net(struct experiment *x, const char *file)
{
	char *real = realpath(file, NULL);
	struct strbuf b = {0};

	strbuf_addf(&b, "file %s", real ? real : file);
	for (size_t i = 0; i < x->fabrics.n; i++) {
		free(x->fabrics.at[i].text);
		x->fabrics.at[i].text = mem_strdup(b.s);
	}
	strbuf_free(&b);
	free(real);
}
