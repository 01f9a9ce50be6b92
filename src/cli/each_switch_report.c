/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mean and standard deviation over the runs of lab_each_switch(). State: struct figure, one
 * for each number of a run. Way in: each_switch_report_text(), each_switch_report_json(). Does not run anything.
 */
#include "cli/each_switch_report.h"
#include "base/hist.h"
#include "base/rng.h"
#include "cli/cli.h"
#include "cli/sim_report.h"
#include "cli/thesis_report.h"

enum kind { TIME, COUNT, SHARE };
enum { THOUSANDTHS = 1000 }; /* counts are averaged in these */

struct figure {
	const char *group, *key; /* group NULL: on its own */
	enum kind kind;
	struct hist h;
};

typedef VEC(struct figure) figures;

/* ---- collecting ---- */

/* Every run adds the same figures in the same order; *at is the next one. */
static void add(figures *f, size_t *at, struct figure what, uint64_t v)
{
	if (*at == f->n)
		vec_push(f, what);
	hist_add(&f->at[*at].h, what.kind == COUNT ? v * THOUSANDTHS : v);
	(*at)++;
}

static void add_load(figures *f, size_t *at, const struct lab_change_result *r)
{
	add(f, at, (struct figure){.group = "packets", .key = "sent", .kind = COUNT}, r->sent);
	add(f, at, (struct figure){.group = "packets", .key = "received", .kind = COUNT},
	    r->received);
	add(f, at, (struct figure){.group = "packets", .key = "futile", .kind = COUNT}, r->futile);
	add(f, at, (struct figure){.group = "packets", .key = "lost", .kind = COUNT},
	    r->lost - r->futile);
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		add(f, at,
		    (struct figure){.group = "discarded",
				    .key = sim_discard_name((enum sim_discard)i),
				    .kind = COUNT},
		    r->discarded[i]);
	add(f, at, (struct figure){.group = "discarded", .key = "total", .kind = COUNT}, r->lost);
	add(f, at, (struct figure){.key = "connectivity_min", .kind = SHARE},
	    r->watch.connectivity_min);
	add(f, at, (struct figure){.key = "connectivity_below_s", .kind = TIME}, r->watch.below);
	add(f, at, (struct figure){.key = "deadlock_level_max", .kind = SHARE},
	    r->watch.deadlock_max);
}

static void add_thesis(figures *f, size_t *at, const struct lab_change_result *r)
{
	static const enum kind kinds[] = {
		[THESIS_TIME] = TIME, [THESIS_COUNT] = COUNT, [THESIS_SHARE] = SHARE};

	for (const struct thesis_figure *x = thesis_figures; x->key; x++)
		if (!x->traffic || r->traffic_at)
			add(f, at,
			    (struct figure){
				    .group = "thesis", .key = x->key, .kind = kinds[x->kind]},
			    x->of(r));
}

static void add_run(figures *f, const struct lab_change_result *r)
{
	struct sim_figure x[SIM_FIGURES];
	unsigned n = sim_change_times(&r->sum, r->changed_at, x);
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		add(f, &at, (struct figure){.group = "time_s", .key = x[i].key, .kind = TIME},
		    x[i].value);
	n = sim_change_smps(&r->sum, x);
	for (unsigned i = 0; i < n; i++)
		add(f, &at, (struct figure){.group = "smps", .key = x[i].key, .kind = COUNT},
		    x[i].value);
	if (r->traffic_at)
		add_load(f, &at, r);
	add_thesis(f, &at, r);
}

/* Only runs that reached the change have figures. */
static void collect(const struct each_switch_report *r, figures *f)
{
	*f = (figures){0};
	for (size_t i = 0; i < r->each->runs.n; i++)
		if (r->each->runs.at[i].r.changed_at)
			add_run(f, &r->each->runs.at[i].r);
}

/* ---- text ---- */

static void cell(struct cli_table *t, enum kind kind, uint64_t v)
{
	if (kind == TIME)
		cli_table_add(t, "%s", cli_duration(v));
	else if (kind == SHARE)
		cli_table_add(t, "%llu.%02llu %%", (unsigned long long)(v / 10000),
			      (unsigned long long)(v / 100 % 100));
	else
		cli_table_add(t, "%s.%llu", cli_count(v / THOUSANDTHS),
			      (unsigned long long)(v % THOUSANDTHS / 100));
}

static const char *label(const struct figure *f, char buf[64])
{
	const char *group = !f->group			   ? ""
			    : !strcmp(f->group, "time_s")  ? "time: "
			    : !strcmp(f->group, "smps")	   ? "SMPs: "
			    : !strcmp(f->group, "thesis")  ? "thesis: "
			    : !strcmp(f->group, "packets") ? "packets: "
							   : "discarded: ";

	snprintf(buf, 64, "%s%s", group, f->key);
	return buf;
}

static void print_failures(const struct each_switch_report *r)
{
	char ident[32];

	for (size_t i = 0; i < r->each->runs.n; i++) {
		const struct lab_each_run *x = &r->each->runs.at[i];

		if (x->ok)
			continue;
		fab_node_ident(r->fab, x->sw, ident);
		printf("%s FAILED: %s\n", ident,
		       !x->r.settled	  ? "the manager did not settle"
		       : x->r.v.why[0]	  ? x->r.v.why
		       : x->r.watch.nring ? "deadlock: packets wait for each other"
					  : "not all packets are accounted for");
	}
}

void each_switch_report_text(const struct each_switch_report *r)
{
	struct cli_table t;
	char buf[64];
	figures f;

	collect(r, &f);
	printf("%s of each of %zu switches%s%s\n\n", r->how, r->each->runs.n, *r->what ? "; " : "",
	       r->what);
	cli_table_init(&t, "lrrrr", "a change", "mean", "sd", "least", "most");
	for (size_t i = 0; i < f.n; i++) {
		const struct hist *h = &f.at[i].h;

		if (!h->max)
			continue;
		cli_table_add(&t, "%s", label(&f.at[i], buf));
		cell(&t, f.at[i].kind, hist_mean(h));
		cell(&t, f.at[i].kind, hist_sd(h));
		cell(&t, f.at[i].kind, h->min);
		cell(&t, f.at[i].kind, h->max);
	}
	cli_table_print(&t, stdout);
	putchar('\n');
	print_failures(r);
	printf("%zu runs, %u failed, in %.2f s\n", r->each->runs.n, r->each->failed, r->wall_s);
	vec_free(&f);
}

/* ---- JSON ---- */

static void json_figures(struct json *j, const char *key, const figures *f,
			 uint64_t (*of)(const struct hist *))
{
	const char *open = NULL;

	json_open(j, key, '{');
	for (size_t i = 0; i < f->n; i++) {
		const struct figure *x = &f->at[i];
		uint64_t v = of(&x->h);

		if (open && (!x->group || strcmp(open, x->group))) {
			json_close(j);
			open = NULL;
		}
		if (x->group && !open)
			json_open(j, open = x->group, '{');
		if (x->kind == TIME)
			json_seconds(j, x->key, v);
		else
			json_fixed(j, x->key, v, x->kind == COUNT ? 3 : 6);
	}
	if (open)
		json_close(j);
	json_close(j);
}

static uint64_t json_runs(struct json *j, const struct each_switch_report *r)
{
	uint64_t hash = 0;
	char ident[32];

	json_open(j, "runs", '[');
	for (size_t i = 0; i < r->each->runs.n; i++) {
		const struct lab_each_run *x = &r->each->runs.at[i];
		struct sim_figure smps[SIM_FIGURES];
		unsigned n = sim_change_smps(&x->r.sum, smps);

		hash = hash64_add(hash, x->r.hash);
		fab_node_ident(r->fab, x->sw, ident);
		json_open(j, NULL, '{');
		json_str(j, "switch", ident);
		json_bool(j, "ok", x->ok);
		json_str(j, "why", x->r.v.why);
		json_seconds(j, "time_s",
			     x->r.sum.rounds ? x->r.sum.last_end - x->r.changed_at : 0);
		json_u64(j, "rounds", x->r.sum.rounds);
		json_u64(j, "smps", smps[n - 1].value);
		json_u64(j, "discarded", x->r.lost);
		json_u64(j, "futile", x->r.futile);
		json_bool(j, "deadlock", x->r.watch.nring);
		thesis_report_json(&x->r, j);
		json_u64(j, "events", x->r.events);
		json_hex64(j, "trace_hash", x->r.hash);
		json_close(j);
	}
	json_close(j);
	return hash;
}

/*
 * Runs in which packets were discarded, and the mean over them: the thesis's tables of activations have means of
 * so few runs that those without a loss cannot be among them.
 */
static void json_lossy(struct json *j, const struct each_switch_report *r)
{
	uint64_t runs = 0, sum = 0;

	for (size_t i = 0; i < r->each->runs.n; i++) {
		uint64_t n = r->each->runs.at[i].r.thesis.discarded;

		runs += n > 0;
		sum += n;
	}
	json_open(j, "lossy", '{');
	json_u64(j, "runs", runs);
	json_fixed(j, "discarded", runs ? (sum * THOUSANDTHS + runs / 2) / runs : 0, 3);
	json_close(j);
}

static uint64_t events(const struct each_switch_report *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->each->runs.n; i++)
		n += r->each->runs.at[i].r.events;
	return n;
}

void each_switch_report_json(const struct each_switch_report *r, struct json *j)
{
	figures f;
	uint64_t hash;

	collect(r, &f);
	json_open(j, NULL, '{');
	json_str(j, "how", r->how);
	json_str(j, "traffic", r->what);
	json_u64(j, "switches", r->each->runs.n);
	json_u64(j, "failed", r->each->failed);
	json_figures(j, "mean", &f, hist_mean);
	json_figures(j, "sd", &f, hist_sd);
	json_lossy(j, r);
	hash = json_runs(j, r);
	json_u64(j, "events", events(r));
	json_u64(j, "seed", r->seed);
	json_double(j, "wall_s", r->wall_s);
	json_double(j, "rss_mib", cli_rss_mib());
	json_hex64(j, "trace_hash", hash);
	json_close(j);
	vec_free(&f);
}
