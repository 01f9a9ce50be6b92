/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results for other programs: CSV, and gnuplot scripts with their data. State: none. Way in: report_csv(),
 * report_gnuplot().
 */
#include "experiment/report_series.h"

/* ---- CSV ---- */

static void csv_head(const struct experiment *x, struct strbuf *out)
{
	for (size_t i = 0; i < x->params.n; i++)
		strbuf_addf(out, "%s,", x->params.at[i].name);
	strbuf_add(out, "seed");
	for (size_t i = 0; i < x->results.n; i++)
		strbuf_addf(out, ",%s", x->results.at[i].name);
	strbuf_add(out, "\n");
}

static void csv_row(const struct experiment_job *j, const struct result_row *row,
		    struct strbuf *out)
{
	const struct experiment *x = j->experiment;

	for (size_t i = 0; i < x->params.n; i++)
		strbuf_addf(out, "%s,", x->params.at[i].choices.at[j->point.choice[i]].label);
	strbuf_addf(out, "%llu", (unsigned long long)j->seed);
	for (size_t i = 0; i < x->results.n; i++) {
		const json_t *v = json_object_get(row->parsed, x->results.at[i].name);

		strbuf_add(out, ",");
		if (json_is_number(v))
			strbuf_addf(out, "%.10g", json_number_value(v));
	}
	strbuf_add(out, "\n");
}

void report_csv(const struct experiment *x, const struct results *r, struct strbuf *out)
{
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct err e;

	all.any = true;
	csv_head(x, out);
	if (!experiment_jobs_add(x, &all, &jobs, &e))
		for (size_t i = 0; i < jobs.n; i++) {
			const struct result_row *row = results_find(r, x->name, jobs.at[i].key);

			if (row && row->parsed)
				csv_row(&jobs.at[i], row, out);
		}
	experiment_jobs_free(&jobs);
}

/* ---- gnuplot ---- */

static void quoted(struct strbuf *out, const char *s)
{
	strbuf_add(out, "'");
	for (; *s; s++)
		strbuf_addf(out, *s == '\'' ? "''" : "%c", *s);
	strbuf_add(out, "'");
}

static void data_put(struct strbuf *out, unsigned panel, size_t k, const struct report_series *s)
{
	strbuf_addf(out, "$data_%u_%zu << END\n", panel, k);
	for (size_t i = 0; i < s->at.n; i++)
		strbuf_addf(out, "%.10g %.10g %.10g\n", s->at.at[i].x, s->at.at[i].y,
			    s->at.at[i].half);
	strbuf_add(out, "END\n");
}

static void panel_put(struct strbuf *out, const struct experiment *x,
		      const struct experiment_plot *p, int panel, const report_series_list *l)
{
	struct strbuf title = {0};

	strbuf_addf(&title, "%s: %s", p->item, p->title);
	if (panel >= 0)
		strbuf_addf(&title, ", %s", x->params.at[p->panels].choices.at[panel].label);
	for (size_t k = 0; k < l->n; k++)
		data_put(out, (unsigned)MAX(panel, 0), k, &l->at[k]);
	strbuf_add(out, "set title ");
	quoted(out, title.s);
	strbuf_add(out, "\nset xlabel ");
	quoted(out, p->x_title ? p->x_title : "");
	strbuf_add(out, "\nset ylabel ");
	quoted(out, p->y_title ? p->y_title : "");
	strbuf_addf(out, "\n%sset logscale x\n%sset logscale y\nplot ", p->log_x ? "" : "un",
		    p->log_y ? "" : "un");
	for (size_t k = 0; k < l->n; k++) {
		strbuf_addf(out, "%s$data_%u_%zu using 1:2:3 with yerrorlines title ",
			    k ? ", " : "", (unsigned)MAX(panel, 0), k);
		quoted(out, l->at[k].name);
	}
	strbuf_add(out, "\n");
	strbuf_free(&title);
}

bool report_gnuplot(const struct experiment *x, size_t k, const struct results *r,
		    const struct comparison *c, struct strbuf *out)
{
	const struct experiment_plot *p = &x->plots.at[k];
	size_t panels = p->panels < 0 ? 1 : x->params.at[p->panels].choices.n;
	bool any = false;

	strbuf_addf(
		out,
		"# %s: gnuplot -p FILE\nset key outside\nset grid\nset multiplot layout %zu,1\n",
		x->name, panels);
	for (size_t i = 0; i < panels; i++) {
		report_series_list l = {0};
		int panel = p->panels < 0 ? -1 : (int)i;

		report_series_make(x, p, panel, r, c, &l);
		if (l.n)
			panel_put(out, x, p, panel, &l);
		any |= l.n > 0;
		report_series_free(&l);
	}
	strbuf_add(out, "unset multiplot\n");
	return any;
}
