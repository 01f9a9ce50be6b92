/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a source states, as an experiment's file has it: tables, plots and trends. State: none. Way in: the readers
 * of experiment_priv.h. Does not compare: compare_cells.c and compare_trends.c do.
 */
#include "experiment/csv.h"
#include "experiment/experiment_priv.h"

/* ---- tables ---- */

static int rows_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_table *t = into;
	int p, rc = 0;

	if (n->kind != YAML_MAP)
		return exp_fault(r, n, "expected columns of the CSV and their parameters");
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		rc = exp_param_read(r, n->items.at[i], &p);
		if (!rc) {
			vec_push(&t->key_columns, mem_strdup(n->keys.at[i]));
			vec_push(&t->key_params, (unsigned)p);
		}
	}
	return rc;
}

static const struct exp_key column_keys[] = {
	{"where", exp_where_read, offsetof(struct experiment_column, where), false},
	{"result", exp_result_read, offsetof(struct experiment_column, result), true},
	{"title", exp_text_read, offsetof(struct experiment_column, title), false},
	{0},
};

static int columns_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_table *t = into;
	int rc = 0;

	if (n->kind != YAML_MAP || !n->keys.n)
		return exp_fault(r, n, "expected columns of the CSV and their results");
	for (size_t i = 0; i < n->keys.n && !rc; i++) {
		struct experiment_column c = {.name = mem_strdup(n->keys.at[i])};

		exp_where_any(&c.where);
		rc = n->items.at[i]->kind == YAML_TEXT
			     ? exp_result_read(r, n->items.at[i], &c.result)
			     : exp_keys_read(r, n->items.at[i], column_keys, "a column", &c);
		vec_push(&t->columns, c);
	}
	return rc;
}

static const struct exp_key reason_keys[] = {
	{"where", exp_where_read, offsetof(struct experiment_reason, where), false},
	{"why", exp_text_read, offsetof(struct experiment_reason, why), true},
	{0},
};

static int reasons_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_table *t = into;
	int rc = 0;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of reasons");
	for (size_t i = 0; i < n->items.n && !rc; i++) {
		struct experiment_reason why = {0};

		exp_where_any(&why.where);
		rc = exp_keys_read(r, n->items.at[i], reason_keys, "a reason", &why);
		vec_push(&t->reasons, why);
	}
	return rc;
}

/* CSV text in the file itself if it has several lines, otherwise the name of a file beside it. */
static int theirs_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_table *t = into;
	struct err e;
	size_t len;

	if (n->kind != YAML_TEXT)
		return exp_fault(r, n, "expected CSV text or a file's name, found %s",
				 yaml_kind_name(n));
	if (strchr(n->text, '\n')) {
		t->file = mem_strdup(r->x->file);
		t->csv = mem_strdup(n->text);
		return 0;
	}
	t->file = exp_beside(r->x, n->text);
	return file_read(t->file, &t->csv, &len, &e) ? exp_fault(r, n, "%s", e.text) : 0;
}

static const struct exp_key table_keys[] = {
	{"item", exp_text_read, offsetof(struct experiment_table, item), true},
	{"title", exp_text_read, offsetof(struct experiment_table, title), true},
	{"theirs", theirs_read, 0, true},
	{"rows", rows_read, 0, false},
	{"columns", columns_read, 0, true},
	{"where", exp_where_read, offsetof(struct experiment_table, where), false},
	{"scale", exp_number_read, offsetof(struct experiment_table, scale), false},
	{"tolerance", exp_number_read, offsetof(struct experiment_table, tolerance), false},
	{"counted", exp_bool_read, offsetof(struct experiment_table, counted), false},
	{"because", reasons_read, 0, false},
	{0},
};

/* The CSV has the columns that the table names. */
static int csv_check(struct exp_reader *r, const struct yaml_node *n,
		     const struct experiment_table *t)
{
	struct csv *csv = csv_read(t->file, t->csv, r->e);
	int rc = csv ? 0 : -EINVAL;

	for (size_t i = 0; i < t->key_columns.n && !rc; i++)
		if (csv_column(csv, t->key_columns.at[i]) < 0)
			rc = exp_fault(r, n, "%s has no column '%s'", t->file,
				       t->key_columns.at[i]);
	for (size_t i = 0; i < t->columns.n && !rc; i++)
		if (csv_column(csv, t->columns.at[i].name) < 0)
			rc = exp_fault(r, n, "%s has no column '%s'", t->file,
				       t->columns.at[i].name);
	csv_free(csv);
	return rc;
}

int exp_tables_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of tables, found %s", yaml_kind_name(n));
	for (size_t i = 0; i < n->items.n && !rc; i++) {
		struct experiment_table t = {.scale = 1, .tolerance = 0.1};

		exp_where_any(&t.where);
		rc = exp_keys_read(r, n->items.at[i], table_keys, "a table", &t);
		if (!rc)
			rc = csv_check(r, n->items.at[i], &t);
		vec_push(&r->x->tables, t);
	}
	return rc;
}

/* ---- plots ---- */

/* The name of a parameter, or of a result that is a list. */
static int x_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_plot *p = into;
	unsigned result;
	int rc;

	if (n->kind == YAML_TEXT && experiment_param_find(r->x, n->text) >= 0) {
		p->x_param = experiment_param_find(r->x, n->text);
		return 0;
	}
	rc = exp_result_read(r, n, &result);
	p->x_result = rc ? -1 : (int)result;
	return rc;
}

static const struct exp_key plot_keys[] = {
	{"item", exp_text_read, offsetof(struct experiment_plot, item), true},
	{"title", exp_text_read, offsetof(struct experiment_plot, title), true},
	{"note", exp_text_read, offsetof(struct experiment_plot, note), false},
	{"x", x_read, 0, true},
	{"x_title", exp_text_read, offsetof(struct experiment_plot, x_title), false},
	{"along", exp_param_read, offsetof(struct experiment_plot, along), false},
	{"y", exp_result_read, offsetof(struct experiment_plot, y_result), true},
	{"y_title", exp_text_read, offsetof(struct experiment_plot, y_title), false},
	{"series", exp_param_read, offsetof(struct experiment_plot, series), false},
	{"panels", exp_param_read, offsetof(struct experiment_plot, panels), false},
	{"where", exp_where_read, offsetof(struct experiment_plot, where), false},
	{"log_x", exp_bool_read, offsetof(struct experiment_plot, log_x), false},
	{"log_y", exp_bool_read, offsetof(struct experiment_plot, log_y), false},
	{0},
};

int exp_plots_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of plots, found %s", yaml_kind_name(n));
	for (size_t i = 0; i < n->items.n && !rc; i++) {
		struct experiment_plot p = {
			.x_param = -1, .x_result = -1, .along = -1, .series = -1, .panels = -1};

		exp_where_any(&p.where);
		rc = exp_keys_read(r, n->items.at[i], plot_keys, "a plot", &p);
		vec_push(&r->x->plots, p);
	}
	return rc;
}

/* ---- trends ---- */

static int holds_read(struct exp_reader *r, const struct yaml_node *n, void *into)
{
	struct experiment_trend *t = into;
	int rc = exp_expr_read(r, n, &t->holds);

	if (!rc)
		t->text = mem_strdup(n->text);
	t->line = n->line;
	return rc;
}

static const struct exp_key trend_keys[] = {
	{"section", exp_text_read, offsetof(struct experiment_trend, section), true},
	{"says", exp_text_read, offsetof(struct experiment_trend, says), true},
	{"holds", holds_read, 0, true},
	{"where", exp_where_read, offsetof(struct experiment_trend, where), false},
	{"because", exp_text_read, offsetof(struct experiment_trend, why), false},
	{0},
};

static bool is_trend_function(const char *name)
{
	return !strcmp(name, "grows") || !strcmp(name, "falls") || !strcmp(name, "flat");
}

/* Parameters, choices and results that the expression names exist. */
static int names_check(struct exp_reader *r, const struct yaml_node *n, const struct expr *x)
{
	int rc = 0;
	bool along = x->kind == EXPR_CALL && is_trend_function(x->name);

	if (x->kind == EXPR_PATH)
		return exp_fault(r, n, "a trend names results, not paths such as .%s", x->name);
	if (x->kind == EXPR_RESULT && experiment_result_find(r->x, x->name) < 0)
		return exp_fault(r, n, "'%.40s' is not a result of this experiment", x->name);
	if (x->kind == EXPR_CALL && !along && !expr_is_function(x->name))
		return exp_fault(r, n, "'%.40s' is not a function", x->name);
	if (along && (x->args.n < 2 || x->args.at[1]->kind != EXPR_RESULT ||
		      experiment_param_find(r->x, x->args.at[1]->name) < 0))
		return exp_fault(r, n, "expected %s(RESULT, PARAMETER)", x->name);
	for (size_t i = 0; i < x->selectors.n && !rc; i++) {
		int p = experiment_param_find(r->x, x->selectors.at[i].param);

		if (p < 0 ||
		    experiment_choice_find(&r->x->params.at[p], x->selectors.at[i].label) < 0)
			rc = exp_fault(r, n, "this experiment has no '%s=%s'",
				       x->selectors.at[i].param, x->selectors.at[i].label);
	}
	for (unsigned i = 0; i < x->args.n && !rc; i++)
		if (!along || i != 1)
			rc = names_check(r, n, x->args.at[i]);
	return rc;
}

int exp_trends_read(struct exp_reader *r, const struct yaml_node *n, void *into UNUSED)
{
	int rc = 0;

	if (n->kind != YAML_LIST)
		return exp_fault(r, n, "expected a list of trends, found %s", yaml_kind_name(n));
	for (size_t i = 0; i < n->items.n && !rc; i++) {
		struct experiment_trend t = {0};

		exp_where_any(&t.where);
		rc = exp_keys_read(r, n->items.at[i], trend_keys, "a trend", &t);
		if (!rc)
			rc = names_check(r, yaml_get(n->items.at[i], "holds"), t.holds);
		vec_push(&r->x->trends, t);
	}
	return rc;
}
