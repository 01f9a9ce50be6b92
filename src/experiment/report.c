/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages about experiments. State: struct report, for one page. Way in: report_html(), report_markdown(). Does not
 * compute: compare_cells.c and compare_trends.c do.
 */
#include "experiment/page.h"
#include "experiment/report.h"

#include <math.h>

struct report {
	const struct report_page *about;
	struct page *page;
	struct comparison all;
};

/* ---- tables ---- */

static bool deviates(const struct compare_cell *c)
{
	return c->ours.n && c->off > c->table->tolerance;
}

static void cell_values(struct page *p, const struct compare_cell *c)
{
	page_cell(p, false, "%.5g", c->theirs);
	if (!c->ours.n) {
		page_cell(p, false, "-");
		page_cell(p, false, "-");
		return;
	}
	if (c->ours.half > 0)
		page_cell(p, deviates(c), "%.5g ± %.2g", c->ours.mean, c->ours.half);
	else
		page_cell(p, deviates(c), "%.5g", c->ours.mean);
	if (c->theirs != 0)
		page_cell(p, deviates(c), "%.3f", c->ours.mean / c->theirs);
	else
		page_cell(p, deviates(c), "-");
}

/* The row's own words are at the start of a cell's name, before the column's. */
static void row_words(struct page *p, const struct compare_cell *c)
{
	const char *column = c->column->title ? c->column->title : c->column->name;
	size_t n = strlen(c->name) - strlen(column);

	page_cell(p, false, "%.*s", (int)(n > 2 ? n - 2 : 0), c->name);
}

static void table_head(struct page *p, const struct experiment_table *t)
{
	page_table(p, 1 + 3 * (unsigned)t->columns.n);
	page_cell(p, false, "%s", "");
	for (size_t i = 0; i < t->columns.n; i++) {
		const struct experiment_column *c = &t->columns.at[i];

		page_cell(p, false, "%s: source", c->title ? c->title : c->name);
		page_cell(p, false, "Weft");
		page_cell(p, false, "ratio");
	}
}

static void reasons_put(struct page *p, const struct experiment_table *t)
{
	for (size_t i = 0; i < t->reasons.n; i++)
		page_text(p, "Why: %s", t->reasons.at[i].why);
}

/* Empty cells where the source has no value, up to the column `until`. */
static void columns_skip(struct page *p, size_t *filled, size_t until)
{
	for (; *filled < until; ++*filled)
		for (unsigned i = 0; i < 3; i++)
			page_cell(p, false, "%s", "");
}

static void table_put(struct report *r, const struct experiment *x,
		      const struct experiment_table *t)
{
	struct page *p = r->page;
	size_t row = SIZE_MAX, filled = 0; /* columns of the row */

	page_text(p, "%s, %s (tolerance %.0f %%):", t->item, t->title, 100 * t->tolerance);
	table_head(p, t);
	for (size_t i = 0; i < r->all.cells.n; i++) {
		const struct compare_cell *c = &r->all.cells.at[i];

		if (c->experiment != x || c->table != t)
			continue;
		if (c->row != row) {
			if (row != SIZE_MAX)
				columns_skip(p, &filled, t->columns.n);
			row_words(p, c);
			filled = 0;
		}
		row = c->row;
		columns_skip(p, &filled, (size_t)(c->column - t->columns.at));
		cell_values(p, c);
		filled++;
	}
	if (row != SIZE_MAX)
		columns_skip(p, &filled, t->columns.n);
	page_table_end(p);
	reasons_put(p, t);
}

/* ---- trends ---- */

static void trends_put(struct report *r, const struct experiment *x)
{
	struct page *p = r->page;

	if (!x->trends.n)
		return;
	page_text(p, "What the source states:");
	page_table(p, 4);
	page_cell(p, false, "section");
	page_cell(p, false, "statement");
	page_cell(p, false, "holds here");
	page_cell(p, false, "remark");
	for (size_t i = 0; i < r->all.trends.n; i++) {
		const struct compare_trend *t = &r->all.trends.at[i];
		bool fails = t->held < t->checked;

		if (t->experiment != x)
			continue;
		page_cell(p, false, "%s", t->trend->section);
		page_cell(p, false, "%s", t->trend->says);
		if (t->checked)
			page_cell(p, fails, "%s (%u of %u)", fails ? "no" : "yes", t->held,
				  t->checked);
		else
			page_cell(p, false, "not run");
		page_cell(p, false, "%s%s%s", fails ? t->against : "",
			  fails && t->trend->why ? ": " : "",
			  fails && t->trend->why ? t->trend->why : "");
	}
	page_table_end(p);
}

/* ---- experiments ---- */

static void plots_put(struct report *r, const struct experiment *x)
{
	for (size_t k = 0; k < x->plots.n; k++) {
		struct strbuf svg = {0}, name = {0};

		if (report_plot(x, k, r->about->results, &r->all, &svg)) {
			strbuf_addf(&name, "%s-%zu", x->name, k + 1);
			page_drawing(r->page, name.s, x->plots.at[k].title, &svg);
		}
		strbuf_free(&svg);
		strbuf_free(&name);
	}
}

static unsigned numbers_of(const struct experiment *x)
{
	unsigned n = 0;

	for (size_t i = 0; i < x->results.n; i++)
		n += x->results.at[i].is != NULL;
	return n;
}

/* The job's key without its seed: the values are means over seeds. */
static void point_put(struct page *p, const struct experiment_job *j)
{
	const char *seed = strstr(j->key, j->experiment->params.n ? " seed=" : "seed=");
	size_t n = seed ? (size_t)(seed - j->key) : strlen(j->key);

	page_cell(p, false, "%.*s", (int)n, j->key);
}

/* A table of all results, for experiments without a source's table. */
static void results_put(struct report *r, const struct experiment *x)
{
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct page *p = r->page;
	struct err e;

	all.any = true;
	if (x->tables.n || experiment_jobs_add(x, &all, &jobs, &e))
		goto out;
	page_table(p, 1 + numbers_of(x));
	page_cell(p, false, "%s", "");
	for (size_t i = 0; i < x->results.n; i++)
		if (x->results.at[i].is)
			page_cell(p, false, "%s",
				  x->results.at[i].title ? x->results.at[i].title
							 : x->results.at[i].name);
	for (size_t i = 0; i < jobs.n; i++) {
		if (i &&
		    !memcmp(&jobs.at[i].point, &jobs.at[i - 1].point, sizeof(jobs.at[i].point)))
			continue; /* another seed */
		point_put(p, &jobs.at[i]);
		for (unsigned k = 0; k < x->results.n; k++) {
			struct result_stat s =
				results_stat(r->about->results, x, &jobs.at[i].point, k);

			if (!x->results.at[k].is)
				continue;
			if (s.n)
				page_cell(p, false, "%.6g", s.mean);
			else
				page_cell(p, false, "-");
		}
	}
	page_table_end(p);
out:
	experiment_jobs_free(&jobs);
}

static void object_cells(struct page *p, const json_t *first, const json_t *row)
{
	const char *key;
	json_t *any;

	json_object_foreach((json_t *)first, key, any)
	{
		const json_t *v = json_object_get(row, key);

		if (json_is_string(v))
			page_cell(p, false, "%s", json_string_value(v));
		else if (json_is_number(v))
			page_cell(p, false, "%.6g", json_number_value(v));
		else
			page_cell(p, false, "%s",
				  json_is_true(v)    ? "yes"
				  : json_is_false(v) ? "no"
						     : "");
	}
}

/* A list of objects; the first one has all keys. */
static void object_table(struct page *p, const json_t *list)
{
	const json_t *first = json_array_get(list, 0);
	const char *key;
	json_t *any;

	if (!json_object_size(first))
		return;
	page_table(p, (unsigned)json_object_size(first));
	json_object_foreach((json_t *)first, key, any) page_cell(p, false, "%s", key);
	for (size_t i = 0; i < json_array_size(list); i++)
		object_cells(p, first, json_array_get(list, i));
	page_table_end(p);
}

static void lists_put(struct report *r, const struct experiment *x)
{
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct err e;

	all.any = true;
	if (experiment_jobs_add(x, &all, &jobs, &e))
		goto out;
	for (unsigned k = 0; k < x->results.n; k++)
		for (size_t i = 0; i < jobs.n && x->results.at[k].table; i++) {
			const json_t *list =
				results_table(r->about->results, x, &jobs.at[i].point, k);

			if (!list || jobs.at[i].seed != x->seeds.at[0])
				continue;
			page_text(r->page, "%s, %s:",
				  x->results.at[k].title ? x->results.at[k].title
							 : x->results.at[k].name,
				  jobs.at[i].key);
			object_table(r->page, list);
		}
out:
	experiment_jobs_free(&jobs);
}

static void experiment_put(struct report *r, const struct experiment *x)
{
	struct page *p = r->page;
	struct strbuf command = {0}, title = {0};

	strbuf_addf(&title, "%s: %s, %s", x->name, x->source, x->item);
	page_heading(p, 2, x->name, title.s);
	page_text(p, "%s", x->claim);
	if (x->notes)
		page_text(p, "%s", x->notes);
	strbuf_addf(&command, "weft lab run %s\n%s%s", x->name,
		    x->run ? "# each job: weft " : "# each job: ", x->run ? x->run : x->shell);
	page_code(p, command.s);
	for (size_t i = 0; i < x->tables.n; i++)
		table_put(r, x, &x->tables.at[i]);
	results_put(r, x);
	lists_put(r, x);
	plots_put(r, x);
	trends_put(r, x);
	strbuf_free(&command);
	strbuf_free(&title);
}

static void counts_put(struct report *r)
{
	struct compare_counts n = compare_count(&r->all);

	page_text(
		r->page,
		"%u cells of the sources' tables are counted; %u were run: %u within 10 %%, %u within 25 %%, "
		"%u within 50 %%. %u trends, %u checked, %u hold.",
		n.cells, n.run, n.within_10, n.within_25, n.within_50, n.trends, n.checked, n.held);
}

static int report_make(const struct report_page *about, struct page *page)
{
	struct report r = {.about = about, .page = page};
	int rc = 0;

	for (size_t i = 0; i < about->experiments->n && !rc; i++)
		rc = compare_experiment(about->experiments->at[i], about->results, &r.all, page->e);
	page_open(page, "Weft laboratory: results beside their sources");
	page_text(page, "Made by '%s' with Weft %s%s%s, from %s. Seeds are those of each command.",
		  about->command, WEFT_VERSION, about->date ? " on " : "",
		  about->date ? about->date : "", about->from);
	counts_put(&r);
	for (size_t i = 0; i < about->experiments->n && !rc; i++)
		experiment_put(&r, about->experiments->at[i]);
	page_close(page);
	comparison_free(&r.all);
	return rc ? rc : page->rc;
}

int report_html(const struct report_page *p, struct strbuf *out, struct err *e)
{
	struct page page = {.kind = PAGE_HTML, .out = out, .e = e};

	return report_make(p, &page);
}

int report_markdown(const struct report_page *p, const char *dir, struct strbuf *out, struct err *e)
{
	struct page page = {.kind = PAGE_MARKDOWN, .dir = dir, .out = out, .e = e};

	return report_make(p, &page);
}
