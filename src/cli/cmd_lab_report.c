/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft lab report and export: results as pages, and for other programs. Keeps the options of the commands. Way in:
 * cmd_lab_report, cmd_lab_export. Runs nothing.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/lab_costs.h"
#include "cli/lab_files.h"
#include "experiment/report.h"

#include <sys/stat.h>
#include <time.h>

static struct {
	const char *dir, *format, *kind;
	bool date, cost;
} o = {.format = "csv"};

static struct json files; /* that were written */

static int dir_make(const char *dir)
{
	if (!dir)
		return cli_bad("expected -o DIR, the directory for the files");
	if (mkdir(dir, 0777) && errno != EEXIST)
		return cli_bad("%s: %s", dir, strerror(errno));
	return CLI_OK;
}

static int text_write(const char *name, const char *suffix, struct strbuf *text)
{
	struct strbuf path = {0};
	struct err e;
	int rc;

	strbuf_addf(&path, "%s/%s%s", o.dir, name, suffix);
	rc = file_write(path.s, text->s, text->len, &e) ? cli_bad("%s", e.text) : CLI_OK;
	if (!rc)
		json_str(&files, NULL, path.s);
	if (!rc && !cli_json)
		printf("%s\n", path.s);
	strbuf_free(&path);
	text->len = 0;
	return rc;
}

/* Both commands: experiments and results in, files out, their names on standard output. */
static int files_run(char **args, unsigned n,
		     int (*write)(const experiment_list *l, const struct results *r,
				  const char *from))
{
	experiment_list l = {0};
	struct results r = {0};
	char *from = NULL;
	int rc = lab_experiments(args, n, &l);

	rc = rc ? rc : lab_results(&r, &from);
	rc = rc ? rc : dir_make(o.dir);
	json_open(&files, NULL, '{');
	json_open(&files, "files", '[');
	rc = rc ? rc : write(&l, &r, from);
	json_close(&files);
	json_close(&files);
	if (!rc && cli_json)
		rc = cli_print_json(&files);
	else
		json_free(&files);
	free(from);
	results_free(&r);
	experiments_free(&l);
	return rc;
}

static const char *today(void)
{
	static char text[16];
	time_t now = time(NULL);

	strftime(text, sizeof(text), "%Y-%m-%d", gmtime(&now));
	return text;
}

/* ---- report ---- */

/* An overview of all, and with several a page for each. */
static int pages_write(const experiment_list *l, const struct results *r, const char *from)
{
	bool html = !o.kind || !strcmp(o.kind, "html");
	bool markdown = !o.kind || !strcmp(o.kind, "markdown");
	struct costs costs = {0};
	struct strbuf text = {0};
	struct err e;
	int rc = o.cost ? lab_costs(&costs) : CLI_OK;

	for (size_t i = 0; i <= l->n && !rc; i++) {
		experiment_list one = {.at = &l->at[i], .n = 1};
		struct report_page p = {.experiments = i < l->n ? &one : l,
					.results = r,
					.from = from,
					.command = "weft lab report",
					.costs = o.cost ? &costs : NULL,
					.date = o.date ? today() : NULL};
		const char *name = i < l->n ? l->at[i]->name : "index";

		if (html)
			rc = report_html(&p, &text, &e) ? cli_bad("%s", e.text)
							: text_write(name, ".html", &text);
		if (!rc && markdown)
			rc = report_markdown(&p, o.dir, &text, &e) ? cli_bad("%s", e.text)
								   : text_write(name, ".md", &text);
		text.len = 0;
	}
	strbuf_free(&text);
	costs_free(&costs);
	return rc;
}

static int report_run(char **args, unsigned n)
{
	return files_run(args, n, pages_write);
}

static const char *const kinds[] = {"html", "markdown", NULL};

static const struct cli_opt report_opts[] = {
	{.name = "output",
	 .letter = 'o',
	 .type = CLI_STR,
	 .dst = &o.dir,
	 .arg = "DIR",
	 .help = "directory for the pages"},
	{.name = "date",
	 .type = CLI_FLAG,
	 .dst = &o.date,
	 .help = "state today's date on the pages"},
	{.name = "cost",
	 .type = CLI_FLAG,
	 .dst = &o.cost,
	 .help = "state what the jobs cost; these figures differ from run to run"},
	{.name = "format",
	 .letter = 'f',
	 .type = CLI_CHOICE,
	 .dst = &o.kind,
	 .arg = "NAME",
	 .choices = kinds,
	 .help = "only this kind of page (default: both)"},
	{0},
};

const struct cli_cmd cmd_lab_report = {
	.name = "lab report",
	.args = "[NAME...] -o DIR",
	.summary = "write pages about experiments: tables beside the sources', plots, trends",
	.about =
		"One HTML page that needs nothing else, and a Markdown page with its drawings, for each experiment; "
		"index.html has all of them, index.md a table with links to them. The same results give the same bytes.",
	.examples =
		"weft lab report -o pages\nweft lab report thesis-discovery --db weft-lab.db -o pages",
	.opts = report_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, lab_result_opts, NULL},
	.max_args = 100,
	.run = report_run,
};

/* ---- export ---- */

static int gnuplots_write(const struct experiment *x, const struct results *r)
{
	struct comparison c = {0};
	struct strbuf text = {0}, suffix = {0};
	struct err e;
	int rc = compare_experiment(x, r, &c, &e) ? cli_bad("%s", e.text) : CLI_OK;

	for (size_t k = 0; k < x->plots.n && !rc; k++) {
		suffix.len = 0;
		strbuf_addf(&suffix, "-%zu.gp", k + 1);
		if (report_gnuplot(x, k, r, &c, &text))
			rc = text_write(x->name, suffix.s, &text);
		text.len = 0;
	}
	comparison_free(&c);
	strbuf_free(&text);
	strbuf_free(&suffix);
	return rc;
}

static int csv_write(const struct experiment *x, const struct results *r)
{
	struct strbuf text = {0};
	int rc;

	report_csv(x, r, &text);
	rc = text_write(x->name, ".csv", &text);
	strbuf_free(&text);
	return rc;
}

static int lines_write(const struct experiment *x, const struct results *r)
{
	struct strbuf text = {0};
	int rc = CLI_OK;

	if (results_text_print(r, x->name, &text))
		rc = text_write(x->name, ".jsonl", &text);
	strbuf_free(&text);
	return rc;
}

/* What the written jobs cost, as one file; it keeps what it has of other experiments. */
static int costs_write(const experiment_list *l, const struct results *r)
{
	struct costs c = {0};
	struct strbuf text = {0};
	char *there = costs_file(o.dir);
	struct err e;
	int rc = costs_load(there, &c, &e) ? cli_bad("%s", e.text) : lab_costs(&c);

	for (size_t i = 0; i < c.jobs.n && !rc; i++)
		if (!experiment_named(l, c.jobs.at[i].experiment) ||
		    results_find(r, c.jobs.at[i].experiment, c.jobs.at[i].key))
			cost_print(&c.jobs.at[i], &text);
	if (!rc && text.len)
		rc = text_write("_costs", ".jsonl", &text);
	costs_free(&c);
	strbuf_free(&text);
	free(there);
	return rc;
}

static int data_write(const experiment_list *l, const struct results *r, const char *from UNUSED)
{
	int rc = CLI_OK;

	for (size_t i = 0; i < l->n && !rc; i++)
		rc = !strcmp(o.format, "csv")	    ? csv_write(l->at[i], r)
		     : !strcmp(o.format, "gnuplot") ? gnuplots_write(l->at[i], r)
						    : lines_write(l->at[i], r);
	if (!rc && !strcmp(o.format, "json"))
		rc = costs_write(l, r);
	return rc;
}

static int export_run(char **args, unsigned n)
{
	return files_run(args, n, data_write);
}

static const char *const formats[] = {"csv", "gnuplot", "json", NULL};

static const struct cli_opt export_opts[] = {
	{.name = "output",
	 .letter = 'o',
	 .type = CLI_STR,
	 .dst = &o.dir,
	 .arg = "DIR",
	 .help = "directory for the files"},
	{.name = "format",
	 .letter = 'f',
	 .type = CLI_CHOICE,
	 .dst = &o.format,
	 .arg = "NAME",
	 .choices = formats,
	 .help = "csv: a table for each experiment; gnuplot: a script with its data for each plot; json: as kept with the "
		 "experiments (default csv)"},
	{0},
};

const struct cli_cmd cmd_lab_export = {
	.name = "lab export",
	.args = "[NAME...] -o DIR",
	.summary = "write results for other programs",
	.examples =
		"weft lab export -o data\nweft lab export thesis-discovery --format gnuplot -o data",
	.opts = export_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, lab_result_opts, NULL},
	.max_args = 100,
	.run = export_run,
};
