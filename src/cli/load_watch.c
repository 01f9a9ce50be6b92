/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Series, discards and their files while a run goes on. State: struct load_watch. Ways in:
 * load_watch_start(), load_watch_end(). Does not measure: the laboratory calls back.
 */
#include "cli/load_watch.h"
#include "cli/cli.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"

/* ---- options ---- */

int load_wants_check(const struct load_wants *w)
{
	const struct {
		const char *option, *path;
	} files[] = {{"--series-csv", w->csv},
		     {"--series-svg", w->svg},
		     {"--node-series", w->node_csv},
		     {"--link-series", w->link_csv}};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (files[i].path && w->series == TIME_NEVER)
			return cli_bad("%s needs --series TIME, the length of an interval",
				       files[i].option);
		if (files[i].path && !strcmp(files[i].path, "-"))
			return cli_bad("%s -: the report goes to standard output, expected a file",
				       files[i].option);
		for (size_t k = 0; files[i].path && k < i; k++)
			if (files[k].path && !strcmp(files[k].path, files[i].path))
				return cli_bad("%s and %s name the same file, expected two",
					       files[k].option, files[i].option);
	}
	if (w->series < PS_PER_US)
		return cli_bad("--series: expected 1us at least, found %s",
			       cli_duration(w->series));
	return CLI_OK;
}

int load_wants_fit(const struct load_wants *w, time_ps span)
{
	if (w->series == TIME_NEVER || span / w->series < LOAD_SAMPLES_MOST)
		return CLI_OK;
	return cli_bad("--series %s makes %s samples of %s: expected at most %s, a longer TIME",
		       cli_duration(w->series), cli_count(span / w->series), cli_duration(span),
		       cli_count(LOAD_SAMPLES_MOST));
}

/* ---- while it runs ---- */

static void on_discard(void *ctx, node_id n, unsigned port, enum sim_discard why, uint16_t slid,
		       uint16_t dlid)
{
	struct load_watch *w = ctx;

	if (w->r->discards.n < LOAD_DISCARDS_KEPT)
		vec_push(&w->r->discards,
			 (struct load_discard){sim_now(w->sim), n, why, slid, dlid, (uint8_t)port});
}

static void put_line(struct load_watch *w, struct file_out *o)
{
	file_out_put(o, w->line.s, w->line.len);
	w->line.len = 0;
}

static void on_node(void *ctx, const struct lab_node_sample *x)
{
	struct load_watch *w = ctx;

	load_series_node_csv(w->r->fab, x, &w->line);
	put_line(w, w->nodes);
}

static void on_link(void *ctx, const struct lab_link_sample *x)
{
	struct load_watch *w = ctx;

	load_series_link_csv(w->r->fab, x, &w->line);
	put_line(w, w->links);
}

/* ---- before and after ---- */

static int open_file(const char *path, struct file_out **o)
{
	struct err e;

	if (path && !(*o = file_out_open(path, &e)))
		return cli_bad("%s", e.text);
	return CLI_OK;
}

static void start_series(struct load_watch *w, struct lab *l)
{
	lab_series_start(&w->r->series, l, w->wants->series, w->wants->levels);
	lab_series_sink(&w->r->series, (struct lab_series_sink){w->nodes ? on_node : NULL,
								w->links ? on_link : NULL, w});
	if (w->nodes)
		on_node(w, NULL);
	if (w->links)
		on_link(w, NULL);
}

int load_watch_start(struct load_watch *w, const struct load_wants *wants, struct load_report *r,
		     struct lab *l)
{
	*w = (struct load_watch){.wants = wants, .r = r, .sim = lab_sim(l)};
	if (open_file(wants->csv, &w->csv) || open_file(wants->svg, &w->svg) ||
	    open_file(wants->node_csv, &w->nodes) || open_file(wants->link_csv, &w->links))
		return CLI_BAD;
	if (wants->discards) {
		vec_room(&r->discards, 1);
		sim_watch_discards(w->sim, (struct sim_discard_watch){on_discard, w});
	}
	if (wants->series != TIME_NEVER)
		start_series(w, l);
	return CLI_OK;
}

static int close_file(struct file_out *o, bool good)
{
	struct err e;

	if (!o)
		return CLI_OK;
	if (!good) {
		file_out_drop(o);
		return CLI_OK;
	}
	return file_out_close(o, &e) ? cli_bad("%s", e.text) : CLI_OK;
}

int load_watch_end(struct load_watch *w, bool good)
{
	int rc = CLI_OK;

	lab_series_stop(&w->r->series);
	sim_watch_discards(w->sim, (struct sim_discard_watch){0});
	if (good && w->csv) {
		load_series_csv(&w->r->series, &w->line);
		put_line(w, w->csv);
	}
	if (good && w->svg) {
		load_series_svg(&w->r->series, &w->line);
		put_line(w, w->svg);
	}
	rc |= close_file(w->csv, good);
	rc |= close_file(w->svg, good && !rc);
	rc |= close_file(w->nodes, good && !rc);
	rc |= close_file(w->links, good && !rc);
	strbuf_free(&w->line);
	return rc;
}
