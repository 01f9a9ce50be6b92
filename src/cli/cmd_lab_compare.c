/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft lab compare: our results beside the sources'. Keeps the options of the command. Way in: cmd_lab_compare.
 * Runs nothing.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/lab_files.h"
#include "experiment/compare.h"

static bool all_cells;

static bool deviates(const struct compare_cell *c)
{
	return c->ours.n && c->off > c->table->tolerance;
}

/* ---- JSON ---- */

static void cell_json(struct json *j, const struct compare_cell *c)
{
	json_open(j, NULL, '{');
	json_str(j, "experiment", c->experiment->name);
	json_str(j, "item", c->table->item);
	json_str(j, "cell", c->name);
	if (c->ours.n)
		json_double(j, "ours", c->ours.mean);
	else
		json_none(j, "ours");
	json_double(j, "theirs", c->theirs);
	json_str(j, "reason", c->why ? c->why : "");
	json_close(j);
}

static void trend_json(struct json *j, const struct compare_trend *t)
{
	json_open(j, NULL, '{');
	json_str(j, "experiment", t->experiment->name);
	json_str(j, "section", t->trend->section);
	json_str(j, "says", t->trend->says);
	json_u64(j, "combinations", t->checked);
	json_u64(j, "held", t->held);
	json_str(j, "against", t->against ? t->against : "");
	json_str(j, "reason", t->trend->why ? t->trend->why : "");
	json_close(j);
}

static int compare_json(const struct comparison *c, const char *from)
{
	struct compare_counts n = compare_count(c);
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "results", from);
	json_u64(&j, "cells", n.cells);
	json_u64(&j, "run", n.run);
	json_u64(&j, "within_10", n.within_10);
	json_u64(&j, "within_25", n.within_25);
	json_u64(&j, "within_50", n.within_50);
	json_open(&j, "trends", '{');
	json_u64(&j, "all", n.trends);
	json_u64(&j, "checked", n.checked);
	json_u64(&j, "held", n.held);
	json_open(&j, "failing", '[');
	for (size_t i = 0; i < c->trends.n; i++)
		if (c->trends.at[i].held < c->trends.at[i].checked)
			trend_json(&j, &c->trends.at[i]);
	json_close(&j);
	json_close(&j);
	json_open(&j, "deviations", '[');
	for (size_t i = 0; i < c->cells.n; i++)
		if (all_cells || deviates(&c->cells.at[i]))
			cell_json(&j, &c->cells.at[i]);
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

/* ---- text ---- */

struct line {
	unsigned cells, run, within[3];
};

static void table_line(struct cli_table *t, const struct compare_cell *c, const struct line *l)
{
	cli_table_add(t, "%s", c->table->item);
	cli_table_add(t, "%s", c->table->title);
	cli_table_add(t, "%u", l->cells);
	cli_table_add(t, "%u", l->run);
	for (unsigned i = 0; i < 3; i++)
		cli_table_add(t, "%u", l->within[i]);
	cli_table_add(t, "%s", c->table->counted ? "" : "not counted");
}

static void tables_print(const struct comparison *c)
{
	static const double limits[] = {0.1, 0.25, 0.5};
	struct line l = {0};
	struct cli_table t;

	cli_table_init(&t, "llrrrrrl", "table", "", "cells", "run", "10 %", "25 %", "50 %", "");
	for (size_t i = 0; i < c->cells.n; i++) {
		const struct compare_cell *cell = &c->cells.at[i];

		l.cells++;
		l.run += cell->ours.n > 0;
		for (unsigned k = 0; k < 3; k++)
			l.within[k] += cell->ours.n && cell->off <= limits[k];
		if (i + 1 == c->cells.n || c->cells.at[i + 1].table != cell->table) {
			table_line(&t, cell, &l);
			l = (struct line){0};
		}
	}
	cli_table_print(&t, stdout);
}

static void deviations_print(const struct comparison *c)
{
	struct cli_table t;
	size_t n = 0;

	while (n < c->cells.n && !all_cells && !deviates(&c->cells.at[n]))
		n++;
	if (n == c->cells.n)
		return;
	printf("\n%s\n", all_cells ? "Cells" : "Beyond the tolerance");
	cli_table_init(&t, "llrrrl", "item", "cell", "theirs", "ours", "ratio", "reason");
	for (size_t i = 0; i < c->cells.n; i++) {
		const struct compare_cell *cell = &c->cells.at[i];

		if (!all_cells && !deviates(cell))
			continue;
		cli_table_add(&t, "%s", cell->table->item);
		cli_table_add(&t, "%s", cell->name);
		cli_table_add(&t, "%.5g", cell->theirs);
		if (cell->ours.n)
			cli_table_add(&t, "%.5g", cell->ours.mean);
		else
			cli_table_add(&t, "-");
		if (cell->ours.n && cell->theirs != 0)
			cli_table_add(&t, "%.3f", cell->ours.mean / cell->theirs);
		else
			cli_table_add(&t, "-");
		cli_table_add(&t, "%.60s", cell->why ? cell->why : "");
	}
	cli_table_print(&t, stdout);
}

/* "does not hold"; with several combinations how many, and one of them. */
static void trend_print(const struct compare_trend *t)
{
	printf("\n%s %s: %s\n  does not hold", t->experiment->name, t->trend->section,
	       t->trend->says);
	if (t->checked > 1)
		printf(" in %u of %u combinations", t->checked - t->held, t->checked);
	if (*t->against)
		printf("%s%s", t->checked > 1 ? ", such as " : " for ", t->against);
	printf("\n");
	if (t->trend->why)
		printf("  %s\n", t->trend->why);
}

static void trends_print(const struct comparison *c)
{
	for (size_t i = 0; i < c->trends.n; i++)
		if (c->trends.at[i].held < c->trends.at[i].checked)
			trend_print(&c->trends.at[i]);
}

static int compare_text(const struct comparison *c, const char *from)
{
	struct compare_counts n = compare_count(c);

	printf("Results: %s\n\n", from);
	tables_print(c);
	deviations_print(c);
	trends_print(c);
	printf("\n%u cells counted, %u run: %u within 10 %%, %u within 25 %%, %u within 50 %%\n"
	       "%u trends, %u checked, %u hold\n",
	       n.cells, n.run, n.within_10, n.within_25, n.within_50, n.trends, n.checked, n.held);
	return CLI_OK;
}

static int lab_compare(char **args, unsigned n)
{
	struct comparison c = {0};
	struct results r = {0};
	experiment_list l = {0};
	char *from = NULL;
	struct err e;
	int rc = lab_experiments(args, n, &l);

	rc = rc ? rc : lab_results(&r, &from);
	for (size_t i = 0; i < l.n && !rc; i++)
		if (compare_experiment(l.at[i], &r, &c, &e))
			rc = cli_bad("%s", e.text);
	if (!rc)
		rc = cli_json ? compare_json(&c, from) : compare_text(&c, from);
	free(from);
	comparison_free(&c);
	results_free(&r);
	experiments_free(&l);
	return rc;
}

static const struct cli_opt compare_opts[] = {
	{.name = "all",
	 .type = CLI_FLAG,
	 .dst = &all_cells,
	 .help = "list every cell, not only those beyond the tolerance"},
	{0},
};

const struct cli_cmd cmd_lab_compare = {
	.name = "lab compare",
	.args = "[NAME...]",
	.summary = "compare results with the tables and trends of their sources",
	.about =
		"Counts cells within 10, 25 and 50 % of the source's value, and trends that hold. Lists every cell beyond "
		"its table's tolerance, with the reason that the experiment gives.",
	.examples = "weft lab compare\nweft lab compare thesis-discovery --db weft-lab.db --all",
	.opts = compare_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, lab_result_opts, NULL},
	.max_args = 100,
	.run = lab_compare,
};
