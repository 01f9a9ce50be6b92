/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim failures: what the failure of each switch and link would cost, ranked. Keeps the options of the command.
 * Way in: cmd_sim_failures. Does not simulate anything itself: src/experiment/failures.c does.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/load_opts.h"
#include "cli/manager_opts.h"
#include "cli/report_opts.h"
#include "cli/rft_opts.h"
#include "experiment/failures.h"

enum { SWITCHES = 40, LINKS = 80, ROWS = 20, ASSUMED = 100000 };

static struct {
	unsigned switches, links, jobs, rows, assumed;
	bool full;
	time_ps quiet;
} o = {.switches = SWITCHES, .links = LINKS, .rows = ROWS, .assumed = ASSUMED};

struct ranked {
	const struct fab *f;
	lab_failures all;
	struct lab_routes_by by;
	size_t *order;
	unsigned failed;
	struct strbuf *names; /* by failure */
};

/* ---- names and figures ---- */

static void end_name(const struct fab *f, port_id p, struct strbuf *b)
{
	strbuf_addf(b, "%s[%u]", fab_node_name(f, f->ports[p].node), f->ports[p].num);
}

static void failure_name(const struct fab *f, const struct lab_failure *x, struct strbuf *b)
{
	if (x->kind == LAB_FAILS_SWITCH) {
		strbuf_add(b, fab_node_name(f, x->node));
		return;
	}
	end_name(f, x->port, b);
	strbuf_add(b, " - ");
	end_name(f, f->ports[x->port].peer, b);
}

/* Pairs without a route times the seconds until routes are repaired. */
static double pair_seconds(const struct lab_failure *x)
{
	return (double)x->pairs_broken * (double)x->routes / 1e12;
}

/*
 * Without simulated packets: those of broken pairs until routes are repaired, if each host sends as many to every other.
 * What deactivated ports and disabled turns discard is not in it.
 */
static double packets_lost(const struct ranked *r, const struct lab_failure *x)
{
	uint32_t hosts = r->f->nnodes - r->f->nswitches;

	if (x->sent)
		return (double)x->lost;
	return hosts > 1 ? pair_seconds(x) * o.assumed / (hosts - 1) : 0;
}

/* Of what all hosts can send to all others at once, which the busiest link limits. */
static double bandwidth_lost(const struct lab_failure *x)
{
	if (!x->busiest_after || x->busiest_after <= x->busiest_before)
		return 0;
	return 1 - (double)x->busiest_before / (double)x->busiest_after;
}

/* ---- ranking ---- */

static const struct ranked *sorting; /* of qsort */

/* Hosts that are cut off weigh most, then connections that break, then bandwidth; then the fabric's order. */
static int rank_order(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct lab_failure *x = &sorting->all.at[i], *y = &sorting->all.at[k];
	double u = pair_seconds(x), v = pair_seconds(y);

	if (x->ended != y->ended)
		return x->ended ? 1 : -1;
	if (x->pairs_cut != y->pairs_cut)
		return x->pairs_cut > y->pairs_cut ? -1 : 1;
	if (u > v || u < v)
		return u > v ? -1 : 1;
	u = bandwidth_lost(x);
	v = bandwidth_lost(y);
	if (u > v || u < v)
		return u > v ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void rank_all(struct ranked *r)
{
	r->order = mem_array(r->all.n + 1, sizeof(*r->order));
	r->names = mem_zarray(r->all.n + 1, sizeof(*r->names));
	for (size_t i = 0; i < r->all.n; i++) {
		r->order[i] = i;
		r->failed += !r->all.at[i].ok;
		failure_name(r->f, &r->all.at[i], &r->names[i]);
	}
	sorting = r;
	qsort(r->order, r->all.n, sizeof(*r->order), rank_order);
}

static void ranked_free(struct ranked *r)
{
	for (size_t i = 0; r->names && i < r->all.n; i++)
		strbuf_free(&r->names[i]);
	free(r->names);
	free(r->order);
	vec_free(&r->all);
}

/* ---- reports ---- */

static void failure_json(struct json *j, const struct ranked *r, size_t i)
{
	const struct lab_failure *x = &r->all.at[i];

	json_open(j, NULL, '{');
	json_str(j, "what", r->names[i].s);
	json_str(j, "kind", x->kind == LAB_FAILS_SWITCH ? "switch" : "link");
	json_bool(j, "ok", x->ok);
	json_str(j, "why", x->why);
	json_u64(j, "pairs_cut", x->pairs_cut);
	json_u64(j, "pairs_broken", x->pairs_broken);
	json_seconds(j, "detection_s", x->detection);
	json_seconds(j, "routes_s", x->routes);
	json_seconds(j, "total_s", x->total);
	json_double(j, "pair_seconds", pair_seconds(x));
	json_u64(j, "smps", x->smps);
	json_u64(j, "entries", x->entries);
	json_u64(j, "blocks", x->blocks);
	json_double(j, "bandwidth_lost", bandwidth_lost(x));
	json_u64(j, "packets_lost", (uint64_t)(packets_lost(r, x) + 0.5));
	json_close(j);
}

struct total {
	unsigned n;
	double routes_s, routes_max_s, smps, pair_seconds, bandwidth_max;
	double lost;
	uint64_t pairs_cut_max, events;
};

static struct total total_of(const struct ranked *r, int kind)
{
	struct total t = {0};

	for (size_t i = 0; i < r->all.n; i++) {
		const struct lab_failure *x = &r->all.at[i];

		if (kind >= 0 && (int)x->kind != kind)
			continue;
		t.n++;
		t.routes_s += (double)x->routes / 1e12;
		t.routes_max_s = MAX(t.routes_max_s, (double)x->routes / 1e12);
		t.smps += (double)x->smps;
		t.pair_seconds += pair_seconds(x);
		t.bandwidth_max = MAX(t.bandwidth_max, bandwidth_lost(x));
		t.lost += packets_lost(r, x);
		t.pairs_cut_max = MAX(t.pairs_cut_max, x->pairs_cut);
		t.events += x->events;
	}
	return t;
}

static void total_json(struct json *j, const char *key, const struct total *t)
{
	double n = t->n ? t->n : 1;

	json_open(j, key, '{');
	json_u64(j, "runs", t->n);
	json_double(j, "routes_mean_s", t->routes_s / n);
	json_double(j, "routes_max_s", t->routes_max_s);
	json_double(j, "smps_mean", t->smps / n);
	json_double(j, "pair_seconds_mean", t->pair_seconds / n);
	json_double(j, "bandwidth_lost_max", t->bandwidth_max);
	json_u64(j, "pairs_cut_max", t->pairs_cut_max);
	json_double(j, "packets_lost_mean", t->lost / n);
	json_close(j);
}

static void ranking_json(struct json *j, const char *key, const struct ranked *r,
			 enum lab_failure_kind kind)
{
	unsigned rows = 0;

	json_open(j, key, '[');
	for (size_t i = 0; i < r->all.n && rows < o.rows; i++)
		if (r->all.at[r->order[i]].kind == kind) {
			failure_json(j, r, r->order[i]);
			rows++;
		}
	json_close(j);
}

static int report_json(const struct ranked *r)
{
	struct total all = total_of(r, -1), sw = total_of(r, LAB_FAILS_SWITCH),
		     links = total_of(r, LAB_FAILS_LINK);
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "hosts", r->f->nnodes - r->f->nswitches);
	json_u64(&j, "switches", r->f->nswitches);
	json_u64(&j, "pairs", r->all.n ? r->all.at[0].pairs_before : 0);
	json_str(&j, "engine", r->by.engine);
	json_str(&j, "engine_why", r->by.why);
	json_u64(&j, "assumed_rate", load_given() ? 0 : o.assumed);
	json_u64(&j, "runs", r->all.n);
	json_u64(&j, "failed", r->failed);
	json_u64(&j, "events", all.events);
	total_json(&j, "switch_failures", &sw);
	total_json(&j, "link_failures", &links);
	ranking_json(&j, "worst_switches", r, LAB_FAILS_SWITCH);
	ranking_json(&j, "worst_links", r, LAB_FAILS_LINK);
	json_close(&j);
	return cli_print_json(&j);
}

static void rows_print(const struct ranked *r, enum lab_failure_kind kind)
{
	struct cli_table t;
	unsigned rows = 0;

	cli_table_init(&t, "rlrrrrrrl", "", kind == LAB_FAILS_SWITCH ? "switch" : "link",
		       "pairs cut", "pairs broken", "routes after", "SMPs", "bandwidth lost",
		       "packets lost", "");
	for (size_t i = 0; i < r->all.n && rows < o.rows; i++) {
		const struct lab_failure *x = &r->all.at[r->order[i]];

		if (x->kind != kind)
			continue;
		cli_table_add(&t, "%u", ++rows);
		cli_table_add(&t, "%s", r->names[r->order[i]].s);
		cli_table_add(&t, "%s", cli_count(x->pairs_cut));
		cli_table_add(&t, "%s", cli_count(x->pairs_broken));
		cli_table_add(&t, "%s", cli_duration(x->routes));
		cli_table_add(&t, "%s", cli_count(x->smps));
		cli_table_add(&t, "%.1f %%", 100 * bandwidth_lost(x));
		cli_table_add(&t, "%s%s", x->sent ? "" : "~",
			      cli_count((uint64_t)(packets_lost(r, x) + 0.5)));
		cli_table_add(&t, "%s", x->ok ? "" : x->why);
	}
	cli_table_print(&t, stdout);
}

static void report_text(const struct ranked *r, double wall)
{
	struct total sw = total_of(r, LAB_FAILS_SWITCH), links = total_of(r, LAB_FAILS_LINK);

	printf("%s hosts, %s switches: %u switches and %u links failed, one at a time%s\n",
	       cli_count(r->f->nnodes - r->f->nswitches), cli_count(r->f->nswitches), sw.n, links.n,
	       o.full ? "" : " (a sample; --full takes all)");
	printf("routes by %s%s%s\n", r->by.engine, *r->by.why ? ": " : "", r->by.why);
	if (!load_given())
		printf("~: estimated for %s packets a second from each host, evenly to all others\n",
		       cli_count(o.assumed));
	printf("\n");
	rows_print(r, LAB_FAILS_SWITCH);
	printf("\n");
	rows_print(r, LAB_FAILS_LINK);
	printf("\nrouting repaired after %.3f ms on average for a switch, %.3f ms for a link; %u of %zu runs failed; %.1f s\n",
	       sw.n ? 1000 * sw.routes_s / sw.n : 0, links.n ? 1000 * links.routes_s / links.n : 0,
	       r->failed, r->all.n, wall);
}

/* ---- running ---- */

static void progress(void *ctx UNUSED, unsigned ended, unsigned of)
{
	cli_progress("%u of %u failures", ended, of);
}

struct setup {
	struct lab_config lab;
	struct traffic_config traffic;
};

static int setup_make(const char *file, const struct fab *f, struct setup *s)
{
	struct lab_load d = {.warmup = TIME_NEVER, .duration = TIME_NEVER};

	*s = (struct setup){0};
	if (load_check_rate() || manager_config(f, &s->lab))
		return CLI_BAD;
	if (!s->lab.sm.sweep_factor && !s->lab.sm.sweep_period_ps)
		return cli_bad(
			"a run ends with a sweep that finds nothing new: expected --sweep-factor 1 or more");
	if (s->lab.nseats)
		return cli_bad("expected one --sm NODE");
	if (!load_given())
		return CLI_OK;
	if (load_network(&s->lab.sim) || load_traffic(f, manager_o.seed, &s->traffic))
		return CLI_BAD;
	d.traffic = s->traffic;
	s->traffic.interval_ps = load_choose_interval(file, f, &s->lab, &d);
	return s->traffic.interval_ps ? CLI_OK : CLI_BAD;
}

static int failures_of(const char *file, const struct fab *f)
{
	double begun = cli_wall_s();
	struct ranked r = {.f = f};
	struct setup s;
	struct lab_change_plan p;
	struct lab_failures_config c;
	struct err e;
	int rc;

	if (setup_make(file, f, &s))
		return CLI_BAD;
	p = (struct lab_change_plan){.traffic = s.traffic.interval_ps ? &s.traffic : NULL,
				     .quiet = o.quiet,
				     .warmup = PS_PER_MS,
				     .tail = PS_PER_MS,
				     .limit = load_limit(report_o.limit)};
	c = (struct lab_failures_config){.fab = f,
					 .lab = &s.lab,
					 .plan = &p,
					 .switches = o.full ? UINT_MAX : o.switches,
					 .links = o.full ? UINT_MAX : o.links,
					 .jobs = o.jobs,
					 .by = &r.by,
					 .done = progress};
	rc = lab_failures_run(&c, &r.all, &e) ? cli_bad("%s: %s", file, e.text) : CLI_OK;
	cli_progress_end();
	if (!rc) {
		rank_all(&r);
		if (cli_json)
			rc = report_json(&r);
		else
			report_text(&r, cli_wall_s() - begun);
		rc = rc ? rc : r.failed ? CLI_NO : CLI_OK;
	}
	ranked_free(&r);
	return rc;
}

static int sim_failures(char **args, unsigned nargs UNUSED)
{
	struct fab *f = cli_load_wire(args[0]);
	int rc = f ? failures_of(args[0], f) : CLI_BAD;

	fab_free(f);
	return rc;
}

/* clang-format off */
static const struct cli_opt failures_opts[] = {
	{.name = "switches", .type = CLI_UINT, .dst = &o.switches, .arg = "N", .max = 1000000,
	 .help = "number of switches that fail (default 40)"},
	{.name = "links", .type = CLI_UINT, .dst = &o.links, .arg = "N", .max = 10000000,
	 .help = "number of links between switches that fail (default 80)"},
	{.name = "full", .type = CLI_FLAG, .dst = &o.full, .help = "every switch and every link"},
	{.name = "rows", .type = CLI_UINT, .dst = &o.rows, .arg = "N", .min = 1, .max = 1000,
	 .help = "rows of each ranking (default 20)"},
	{.name = "assume-rate", .type = CLI_UINT, .dst = &o.assumed, .arg = "N", .max = 1000000000,
	 .help = "without --load and --rate: packets a second of each host for which losses are estimated (default 100000)"},
	{.name = "jobs", .letter = 'j', .type = CLI_UINT, .dst = &o.jobs, .arg = "N", .min = 1, .max = 64,
	 .help = "processes at once (default: one for each core); changes no result"},
	{.name = "quiet", .type = CLI_TIME, .dst = &o.quiet, .arg = "TIME",
	 .help = "idle time after the bring-up, for work that the manager does ahead (default 0)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_sim_failures = {
	.name = "sim failures",
	.args = "NETLIST",
	.summary = "fail each switch and link of a fabric in turn, and rank what it costs",
	.about =
		"The fabric is brought up once; from there each failure is a run of its own. pairs cut: ordered pairs of hosts "
		"that no cable connects any more. pairs broken: pairs whose route is gone until the manager has repaired it. "
		"bandwidth lost: of what all hosts can send to all others at once, by the routes on the busiest link. With "
		"--load or --rate hosts send meanwhile, and the packets that are lost are counted; without, nothing is sent, "
		"which is much quicker, and losses are estimated as what broken pairs would send until their routes are "
		"repaired. Without --full, a sample of switches and links fails: half of it are those that most "
		"shortest ways between hosts pass, the others are spread over the rest. The manager's own switch is left out. Status 1: after a failure the subnet did not become whole.",
	.examples =
		"weft sim failures cluster.net\nweft sim failures cluster.net --full --mechanism basic --json\n"
		"weft sim failures small.net --full --load 25%",
	.opts = failures_opts,
	.shared = (const struct cli_opt *const[]){load_rate_opts, load_traffic_opts, manager_opts,
						  rft_opts, report_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 1,
	.max_args = 1,
	.run = sim_failures,
};
