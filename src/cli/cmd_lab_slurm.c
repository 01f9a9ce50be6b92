/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft lab slurm and merge: experiments as an array job of Slurm, and its parts as one file of results. Keeps the
 * options of the commands. Way in: cmd_lab_slurm, cmd_lab_merge. Submits nothing.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/lab_files.h"
#include "experiment/costs.h"

#include <unistd.h>

static struct {
	unsigned tasks;
	bool quick, last;
	const char *out, *db;
} o = {.tasks = 16, .out = "-", .db = "weft-lab.db"};

/* ---- slurm ---- */

static void script_make(char **names, unsigned n, struct strbuf *b)
{
	struct strbuf list = {0};
	char *experiments = realpath(lab_experiments_dir(), NULL);

	strbuf_add(&list, "");
	for (unsigned i = 0; i < n; i++)
		strbuf_addf(&list, " %s", names[i]);
	strbuf_addf(
		b,
		"#!/bin/sh\n"
		"# Made by: weft lab slurm --tasks %u%s%s%s\n"
		"# Submit with: sbatch FILE. When all parts are done: weft lab merge --db %s %s.part-*\n"
		"# Experiments that measure real time are left out: weft lab run --resume --db %s runs them after the merge.\n"
		"#SBATCH --job-name=weft-lab\n"
		"#SBATCH --array=1-%u\n"
		"#SBATCH --ntasks=1\n"
		"#SBATCH --cpus-per-task=1\n"
		"#SBATCH --output=weft-lab-%%a.log\n"
		"exec '%s' lab run%s --experiments '%s' --jobs 1 --resume --part \"$SLURM_ARRAY_TASK_ID/%u\" \\\n"
		"\t--db \"%s.part-$SLURM_ARRAY_TASK_ID\"%s\n",
		o.tasks, o.quick ? " --quick" : "", list.s,
		strcmp(o.db, "weft-lab.db") != 0 ? " --db ..." : "", o.db, o.db, o.db, o.tasks,
		lab_program(), o.quick ? " --quick" : "", experiments ? experiments : "experiments",
		o.tasks, o.db, list.s);
	strbuf_free(&list);
	free(experiments);
}

static int slurm_json(void)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "file", o.out);
	json_u64(&j, "tasks", o.tasks);
	json_close(&j);
	return cli_print_json(&j);
}

static int slurm_run(char **args, unsigned n)
{
	struct experiment_scope scope = experiment_everything();
	experiment_list l = {0};
	experiment_jobs jobs = {0};
	struct strbuf text = {0};
	int rc = lab_experiments(args, n, &l);

	scope.quick = o.quick;
	rc = rc ? rc : lab_jobs(&l, &scope, NULL, 0, &jobs);
	if (!rc && o.tasks > jobs.n)
		o.tasks = (unsigned)MAX(jobs.n, 1);
	if (!rc && cli_json && !strcmp(o.out, "-"))
		rc = cli_bad("--json needs -o FILE: a script is not JSON");
	if (!rc) {
		script_make(args, n, &text);
		rc = cli_write(o.out, &text);
	}
	if (!rc && cli_json)
		rc = slurm_json();
	experiment_jobs_free(&jobs);
	experiments_free(&l);
	return rc;
}

static const struct cli_opt slurm_opts[] = {
	{.name = "tasks",
	 .type = CLI_UINT,
	 .dst = &o.tasks,
	 .arg = "N",
	 .min = 1,
	 .max = 100000,
	 .help = "parts of the array job (default 16; at most one for each job)"},
	{.name = "quick", .type = CLI_FLAG, .dst = &o.quick, .help = "only the jobs of quick runs"},
	{.name = "db",
	 .type = CLI_STR,
	 .dst = &o.db,
	 .arg = "FILE",
	 .help = "file of the results, with .part-I for each part (default weft-lab.db)"},
	{.name = "output",
	 .letter = 'o',
	 .type = CLI_STR,
	 .dst = &o.out,
	 .arg = "FILE",
	 .help = "write to FILE (default: standard output)"},
	{0},
};

const struct cli_cmd cmd_lab_slurm = {
	.name = "lab slurm",
	.args = "[NAME...]",
	.summary = "write a Slurm array job that runs experiments",
	.about =
		"Each task runs its part of the jobs into a file of its own; 'weft lab merge' makes one file of them, with "
		"the same bytes as a run on one machine. A task that is submitted again continues where it stopped. "
		"Experiments that measure real time are left out, because tasks share machines: 'weft lab run --resume' runs "
		"them after the merge.",
	.examples =
		"weft lab slurm --tasks 32 -o lab.sbatch\nweft lab slurm thesis-discovery --tasks 4",
	.opts = slurm_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, NULL},
	.max_args = 100,
	.run = slurm_run,
};

/* ---- merge ---- */

/* What FILE.part-* names as well. */
static bool is_beside(const char *path)
{
	static const char *const suffixes[] = {".costs", ".lock", "-wal", "-shm"};
	size_t n = strlen(path);

	for (unsigned i = 0; i < ARRAY_LEN(suffixes); i++)
		if (n > strlen(suffixes[i]) && !strcmp(path + n - strlen(suffixes[i]), suffixes[i]))
			return true;
	return false;
}

static int part_load(const char *path, struct results *all, struct costs *costs)
{
	char *beside = costs_file(path);
	struct err e;
	int rc = results_load(path, all, &e);

	rc = rc ? rc : costs_load(beside, costs, &e);
	free(beside);
	return rc ? cli_bad("%s", e.text) : CLI_OK;
}

static int parts_load(char **args, unsigned n, struct results *all, struct costs *costs)
{
	struct err e;
	int rc = CLI_OK;

	for (unsigned i = 0; i < n && !rc; i++)
		if (!is_beside(args[i]))
			rc = part_load(args[i], all, costs);
	if (!rc && results_unite(all, o.last, &e))
		rc = cli_bad("%s", e.text);
	costs_sort(costs);
	return rc;
}

/* Costs of what the file has had already stay. */
static int costs_append(const struct costs *costs)
{
	char *path = costs_file(o.db);
	struct strbuf lines = {0};
	FILE *f = costs->jobs.n ? fopen(path, "ae") : NULL;
	int rc = CLI_OK;

	for (size_t i = 0; i < costs->jobs.n; i++)
		cost_print(&costs->jobs.at[i], &lines);
	if (costs->jobs.n && (!f || fputs(lines.s, f) < 0))
		rc = cli_bad("%s: %s", path, strerror(errno));
	if (f && fclose(f) && !rc)
		rc = cli_bad("%s: %s", path, strerror(errno));
	strbuf_free(&lines);
	free(path);
	return rc;
}

static int merge_json(const struct results *all)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "results", all->rows.n);
	json_str(&j, "db", o.db);
	json_close(&j);
	return cli_print_json(&j);
}

static int merge_run(char **args, unsigned n)
{
	struct results all = {0};
	struct costs costs = {0};
	struct results_db *db;
	struct err e;
	int rc = parts_load(args, n, &all, &costs);

	db = rc ? NULL : results_db_open(o.db, &e);
	if (!rc && !db)
		rc = cli_bad("%s", e.text);
	for (size_t i = 0; i < all.rows.n && !rc; i++)
		if (results_db_put_row(db, &all.rows.at[i], &e))
			rc = cli_bad("%s", e.text);
	if (db && results_db_finish(db, &e) && !rc)
		rc = cli_bad("%s", e.text);
	rc = rc ? rc : costs_append(&costs);
	if (!rc && cli_json)
		rc = merge_json(&all);
	else if (!rc)
		printf("%zu results in %s\n", all.rows.n, o.db);
	costs_free(&costs);
	results_free(&all);
	return rc;
}

static const struct cli_opt merge_opts[] = {
	{.name = "db",
	 .type = CLI_STR,
	 .dst = &o.db,
	 .arg = "FILE",
	 .help = "file of all results (default weft-lab.db)"},
	{.name = "last",
	 .type = CLI_FLAG,
	 .dst = &o.last,
	 .help = "where parts differ about a job, take the last one"},
	{0},
};

const struct cli_cmd cmd_lab_merge = {
	.name = "lab merge",
	.args = "PART...",
	.summary = "make one file of results from those of several runs",
	.about =
		"A part is a file of results, or text: NAME.jsonl, or a directory of such files. Parts may have the same job if "
		"its results are equal; with --last the last part counts. The costs of jobs are merged as well.",
	.examples = "weft lab merge --db weft-lab.db weft-lab.db.part-1 weft-lab.db.part-2\n"
		    "weft lab merge --db weft-lab.db docs/results/lab yesterday.db --last",
	.opts = merge_opts,
	.min_args = 1,
	.max_args = 100000,
	.run = merge_run,
};
