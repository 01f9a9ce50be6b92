/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft lab list, show and check: experiments as they are in files. Keeps the options of these commands. Way in:
 * cmd_lab_list, cmd_lab_show, cmd_lab_check. Runs nothing.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/lab_costs.h"
#include "cli/lab_files.h"

static bool quick, cost;

/* ---- list ---- */

static void list_json_row(struct json *j, const struct experiment *x, size_t jobs,
			  const struct costs *costs)
{
	struct cost_sum s = costs_sum(costs, x->name);

	json_open(j, NULL, '{');
	json_str(j, "name", x->name);
	json_str(j, "source", x->source);
	json_str(j, "item", x->item);
	json_str(j, "claim", x->claim);
	json_str(j, "file", x->file);
	json_u64(j, "jobs", jobs);
	if (cost) {
		json_open(j, "cost", '{');
		lab_cost_json(j, &s);
		json_close(j);
	}
	json_close(j);
}

static size_t jobs_count(const struct experiment *x)
{
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct err e;
	size_t n;

	all.quick = quick;
	n = experiment_jobs_add(x, &all, &jobs, &e) ? 0 : jobs.n;
	experiment_jobs_free(&jobs);
	return n;
}

static int list_json(const experiment_list *l, const struct costs *costs)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_open(&j, "experiments", '[');
	for (size_t i = 0; i < l->n; i++)
		list_json_row(&j, l->at[i], jobs_count(l->at[i]), costs);
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

static void list_text(const experiment_list *l)
{
	struct cli_table t;

	cli_table_init(&t, "lllrl", "name", "source", "item", "jobs", "claim");
	for (size_t i = 0; i < l->n; i++) {
		const struct experiment *x = l->at[i];

		cli_table_add(&t, "%s", x->name);
		cli_table_add(&t, "%s", x->source);
		cli_table_add(&t, "%s", x->item);
		cli_table_add(&t, "%zu", jobs_count(x));
		cli_table_add(&t, "%s", x->claim);
	}
	cli_table_print(&t, stdout);
}

static int list_run(char **args, unsigned n)
{
	experiment_list l = {0};
	struct costs costs = {0};
	int rc = lab_experiments(args, n, &l);

	if (!rc && cost)
		rc = lab_costs(&costs);
	if (!rc && cli_json)
		rc = list_json(&l, &costs);
	else if (!rc && cost)
		lab_costs_print(&l, &costs);
	else if (!rc)
		list_text(&l);
	costs_free(&costs);
	experiments_free(&l);
	return rc;
}

static const struct cli_opt list_opts[] = {
	{.name = "quick",
	 .type = CLI_FLAG,
	 .dst = &quick,
	 .help = "count only the jobs of quick runs"},
	{.name = "cost",
	 .type = CLI_FLAG,
	 .dst = &cost,
	 .help = "list what the jobs cost whose results are there: processor time, simulated events"},
	{0},
};

const struct cli_cmd cmd_lab_list = {
	.name = "lab list",
	.args = "[NAME...]",
	.summary = "list the experiments",
	.examples = "weft lab list\nweft lab list --json\nweft lab list --cost --db weft-lab.db",
	.opts = list_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, lab_result_opts, NULL},
	.max_args = 100,
	.run = list_run,
};

/* ---- show ---- */

static void command_text(char **words, struct strbuf *b)
{
	for (; *words; words++)
		strbuf_addf(b, "%s%s", b->len ? " " : "", *words);
}

static void job_show(const struct experiment_job *job, struct json *j)
{
	job_commands c = {0};
	struct err e;

	json_open(j, NULL, '{');
	json_str(j, "key", job->key);
	json_str(j, "hash", job->hash);
	json_open(j, "commands", '[');
	if (!cli_json)
		printf("%s\n", job->key);
	if (!job_commands_make(job, &c, &e))
		for (size_t i = 0; i < c.n; i++) {
			struct strbuf b = {0};

			command_text(c.at[i], &b);
			json_str(j, NULL, b.s);
			if (!cli_json)
				printf("    %s\n", b.s);
			strbuf_free(&b);
		}
	json_close(j);
	json_close(j);
	job_commands_free(&c);
}

static int show_run(char **args, unsigned n)
{
	struct experiment_scope scope = experiment_everything();
	experiment_list l = {0};
	experiment_jobs jobs = {0};
	struct json j = {0};
	int rc = lab_experiments(args, n, &l);

	scope.quick = quick;
	rc = rc ? rc : lab_jobs(&l, &scope, NULL, 0, &jobs);
	if (!rc && !cli_json)
		printf("%s: %s, %s\n%s\n%s%s\n", l.at[0]->name, l.at[0]->source, l.at[0]->item,
		       l.at[0]->claim, l.at[0]->notes ? l.at[0]->notes : "",
		       l.at[0]->notes ? "\n" : "");
	json_open(&j, NULL, '{');
	if (!rc)
		json_str(&j, "name", l.at[0]->name);
	json_open(&j, "jobs", '[');
	for (size_t i = 0; i < jobs.n && !rc; i++)
		job_show(&jobs.at[i], &j);
	json_close(&j);
	json_close(&j);
	if (!rc && cli_json)
		rc = cli_print_json(&j);
	else
		json_free(&j);
	experiment_jobs_free(&jobs);
	experiments_free(&l);
	return rc;
}

static const struct cli_opt quick_opts[] = {
	{.name = "quick", .type = CLI_FLAG, .dst = &quick, .help = "only the jobs of quick runs"},
	{0},
};

const struct cli_cmd cmd_lab_show = {
	.name = "lab show",
	.args = "NAME",
	.summary = "show an experiment: what it claims, and every command that it runs",
	.examples = "weft lab show thesis-discovery\nweft lab show thesis-discovery --json",
	.opts = quick_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, NULL},
	.min_args = 1,
	.max_args = 1,
	.run = show_run,
};

/* ---- check ---- */

static int check_run(char **args, unsigned n)
{
	struct experiment_scope scope = experiment_everything();
	experiment_list l = {0};
	experiment_jobs jobs = {0};
	struct json j = {0};
	int rc = lab_experiments(args, n, &l);

	rc = rc ? rc : lab_jobs(&l, &scope, NULL, 0, &jobs);
	json_open(&j, NULL, '{');
	json_u64(&j, "experiments", l.n);
	json_u64(&j, "jobs", jobs.n);
	json_close(&j);
	if (!rc && cli_json)
		rc = cli_print_json(&j);
	else
		json_free(&j);
	if (!rc && !cli_json)
		printf("%zu experiments with %zu jobs are well formed\n", l.n, jobs.n);
	experiment_jobs_free(&jobs);
	experiments_free(&l);
	return rc;
}

const struct cli_cmd cmd_lab_check = {
	.name = "lab check",
	.args = "[NAME...]",
	.summary =
		"check experiments: keys, expressions, commands and fabrics, without running them",
	.about =
		"A fault is printed with file, line and what was expected; status 2. 'weft lab run' checks the same "
		"before it runs anything.",
	.examples = "weft lab check\nweft lab check --experiments my-experiments",
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, NULL},
	.max_args = 100,
	.run = check_run,
};
