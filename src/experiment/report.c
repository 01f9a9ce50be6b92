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

static void point_values(struct report *r, const struct experiment_job *j)
{
	const struct experiment *x = j->experiment;

	point_put(r->page, j);
	for (unsigned k = 0; k < x->results.n; k++) {
		struct result_stat s = results_stat(r->about->results, x, &j->point, k);

		if (!x->results.at[k].is)
			continue;
		if (s.n)
			page_cell(r->page, false, "%.6g", s.mean);
		else
			page_cell(r->page, false, "-");
	}
}

static bool point_has_results(const struct report *r, const struct experiment_job *j)
{
	for (unsigned k = 0; k < j->experiment->results.n; k++)
		if (results_stat(r->about->results, j->experiment, &j->point, k).n)
			return true;
	return false;
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
		/* a sample and everything are alternatives */
		if (!x->has_full || point_has_results(r, &jobs.at[i]))
			point_values(r, &jobs.at[i]);
	}
	page_table_end(p);
out:
	experiment_jobs_free(&jobs);
}

static void value_cell(struct page *p, const json_t *v)
{
	if (json_is_string(v))
		page_cell(p, false, "%s", json_string_value(v));
	else if (json_is_number(v))
		page_cell(p, false, "%.6g", json_number_value(v));
	else
		page_cell(p, false, "%s", json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "");
}

typedef VEC(struct experiment_heading) headings;

/* The columns that the experiment names; else all keys of the first object. */
static headings headings_of(const struct experiment_result *s, const json_t *list)
{
	headings h = {0};
	const char *key;
	json_t *any;

	for (size_t i = 0; i < s->columns.n; i++)
		vec_push(&h, s->columns.at[i]);
	if (!h.n)
		json_object_foreach(json_array_get(list, 0), key, any)
			vec_push(&h, ((struct experiment_heading){(char *)key, (char *)key}));
	return h;
}

/* A list of objects, with their rank. */
static void object_table(struct page *p, const struct experiment_result *s, const json_t *list)
{
	headings h = headings_of(s, list);

	if (h.n && json_array_size(list)) {
		page_table(p, 1 + (unsigned)h.n);
		page_cell(p, false, "%s", "");
		for (size_t k = 0; k < h.n; k++)
			page_cell(p, false, "%s", h.at[k].title);
		for (size_t i = 0; i < json_array_size(list); i++) {
			page_cell(p, false, "%zu", i + 1);
			for (size_t k = 0; k < h.n; k++)
				value_cell(p,
					   json_object_get(json_array_get(list, i), h.at[k].key));
		}
		page_table_end(p);
	}
	vec_free(&h);
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

			if (!list || jobs.at[i].seed != x->seeds.at[0] ||
			    !experiment_where_holds(x, &x->results.at[k].where, &jobs.at[i].point))
				continue;
			page_text(r->page, "%s, %s:",
				  x->results.at[k].title ? x->results.at[k].title
							 : x->results.at[k].name,
				  jobs.at[i].key);
			object_table(r->page, &x->results.at[k], list);
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

/* ---- the table of experiments ---- */

static void overview_head(struct report *r)
{
	static const char *const names[] = {"experiment",  "source",	  "cells run",
					    "within 10 %", "within 25 %", "statements that hold"};

	page_table(r->page, (unsigned)ARRAY_LEN(names) + (r->about->costs ? 3 : 0));
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		page_cell(r->page, false, "%s", names[i]);
	if (!r->about->costs)
		return;
	page_cell(r->page, false, "jobs");
	page_cell(r->page, false, "processor time, s");
	page_cell(r->page, false, "simulated events");
}

struct overview {
	unsigned cells, run, within_10, within_25, checked, held;
};

static struct overview overview_of(const struct report *r, const struct experiment *x)
{
	struct overview o = {0};

	for (size_t i = 0; i < r->all.cells.n; i++) {
		const struct compare_cell *c = &r->all.cells.at[i];

		if (c->experiment != x)
			continue;
		o.cells++;
		o.run += c->ours.n > 0;
		o.within_10 += c->ours.n && c->off <= 0.1;
		o.within_25 += c->ours.n && c->off <= 0.25;
	}
	for (size_t i = 0; i < r->all.trends.n; i++) {
		const struct compare_trend *t = &r->all.trends.at[i];

		o.checked += t->experiment == x && t->checked;
		o.held += t->experiment == x && t->checked && t->held == t->checked;
	}
	return o;
}

static void overview_row(struct report *r, const struct experiment *x)
{
	struct overview o = overview_of(r, x);
	struct strbuf link = {0};
	struct page *p = r->page;

	strbuf_addf(&link, p->kind == PAGE_HTML ? "#%s" : "%s.md", x->name);
	p->link = link.s;
	page_cell(p, false, "%s", x->name);
	page_cell(p, false, "%s, %s", x->source, x->item);
	if (o.cells) {
		page_cell(p, false, "%u of %u", o.run, o.cells);
		page_cell(p, false, "%u", o.within_10);
		page_cell(p, false, "%u", o.within_25);
	} else {
		for (unsigned i = 0; i < 3; i++)
			page_cell(p, false, "%s", "");
	}
	page_cell(p, o.held < o.checked, "%u of %u", o.held, o.checked);
	if (r->about->costs) {
		struct cost_sum s = costs_sum(r->about->costs, x->name);

		page_cell(p, false, "%zu", s.jobs);
		page_cell(p, false, "%.1f", s.cpu_s);
		page_cell(p, false, "%llu", (unsigned long long)s.events);
	}
	strbuf_free(&link);
}

static void overview_put(struct report *r)
{
	overview_head(r);
	for (size_t i = 0; i < r->about->experiments->n; i++)
		overview_row(r, r->about->experiments->at[i]);
	page_table_end(r->page);
	if (r->about->costs) {
		struct cost_sum s = costs_sum(r->about->costs, NULL);

		page_text(
			r->page,
			"All: %zu jobs, %.0f s of processor time, %llu events, %.2g events for each second of it.",
			s.jobs, s.cpu_s, (unsigned long long)s.events, cost_events_per_s(&s));
	}
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
	if (about->experiments->n > 1)
		overview_put(&r);
	if (about->experiments->n == 1 || page->kind == PAGE_HTML)
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
