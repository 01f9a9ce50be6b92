/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim: the subnet manager on a simulated fabric, from power-on or through a change. Keeps the
 * options of the one command that runs. Ways in: cmd_sim_up, _change, _demo, _trial. Does not
 * simulate anything itself: that is src/lab.
 */
#include "base/rng.h"
#include "cli/change_report.h"
#include "cli/cli.h"
#include "cli/each_report.h"
#include "cli/load_opts.h"
#include "cli/rft_opts.h"
#include "cli/sim_report.h"
#include "lab/change_trial.h"
#include "lab/lab.h"

static const char *const discoveries[] = {"full", "bfs", "partial", NULL};
static const char *const detections[] = {"sweep", "traps", "both", NULL};
static const char *const activations[] = {"directed", "lid", NULL};
static const char *const mechanisms[] = {"basic", "improved", "improved+partial", "improved+traps", "weft", NULL};
static const char *const supplies[] = {"fera", "pira", "update", "repair", NULL};
static const char *const first_supplies[] = {"none", "pira", "fera", "update", "repair", NULL};
static const char *const techniques[] = {"full", "ports", "dependencies", "none", "outwards", "plan", NULL};
static const char *const table_kinds[] = {"full", "partial", NULL};
static const char *const each_hows[] = {"deactivation", "activation", NULL};
static const char *const cpus[] = {"host", "thesis", NULL};

static struct {
	const char *sm, *discovery, *detection, *activation, *mechanism, *cpu, *engine, *root;
	const char *provisional, *routes, *distribution, *second, *tables;
	unsigned window, lmc, retries, sweep_factor, threads, max_switches, count, sample;
	uint64_t seed, m_key;
	double loss, delay, dup;
	const char *svg, *each;
	time_ps limit, sweep_period, warmup, tail, series, quiet;
	bool timeline, qos, smps, change;
	cli_strings kill;
} o = {
	.window = 32,
	.retries = 4,
	.sweep_factor = 100,
	.seed = 1,
	.limit = 1000 * PS_PER_S,
	.warmup = TIME_NEVER,
	.tail = TIME_NEVER,
	.count = 1,
};

#define COMMON_OPTS                                                                                \
	RFT_OPT, \
	{"sm", 0, CLI_STR, &o.sm, "NODE", "where the manager sits: GUID, S-/H- id or name (default: the first host)", NULL, 0, 0}, \
	{"discovery", 0, CLI_CHOICE, &o.discovery, "HOW", "full: in propagation order; bfs: breadth-first, one SMP at a time; partial: what changed", discoveries, 0, 0}, \
	{"engine", 0, CLI_STR, &o.engine, "NAME", "routing engine: fera or pira (default fera)", NULL, 0, 0},     \
	{"root", 0, CLI_STR, &o.root, "NODE", "root of the up/down graph, a node or centre (default: the manager's switch)", NULL, 0, 0}, \
	{"activation", 0, CLI_CHOICE, &o.activation, "HOW", "SMPs that activate ports: directed or by lid (default directed)", activations, 0, 0}, \
	{"window", 0, CLI_UINT, &o.window, "N", "SMPs outstanding at once (default 32)", NULL, 1, SM_MAX_WINDOW}, \
	{"retries", 0, CLI_UINT, &o.retries, "N", "times an unanswered SMP is sent again (default 4)", NULL, 0, 20}, \
	{"lmc", 0, CLI_UINT, &o.lmc, "N", "2^N LIDs for each host port (default 0)", NULL, 0, 7},   \
	{"m-key", 0, CLI_U64, &o.m_key, "KEY", "management key the manager sets and shows (default 0: none)", NULL, 0, 0}, \
	{"qos", 0, CLI_FLAG, &o.qos, NULL, "also write SL-to-VL and VL arbitration tables", NULL, 0, 0}, \
	{"cpu", 0, CLI_CHOICE, &o.cpu, "MODEL", "what work costs: host, or the thesis's reference machine (default host)", cpus, 0, 0}, \
	{"seed", 0, CLI_U64, &o.seed, "N", "seed of everything random (default 1)", NULL, 0, 0},     \
	{"loss", 0, CLI_SHARE, &o.loss, "P", "share of SMPs lost", NULL, 0, 0},                      \
	{"delay", 0, CLI_SHARE, &o.delay, "P", "share of SMPs delayed by up to 2 ms", NULL, 0, 0},   \
	{"dup", 0, CLI_SHARE, &o.dup, "P", "share of SMPs that arrive twice", NULL, 0, 0},           \
	{"limit", 0, CLI_TIME, &o.limit, "TIME", "give up after this much simulated time (default 1000s)", NULL, 0, 0}, \
	{"threads", 0, CLI_UINT, &o.threads, "N", "threads for routes and verification; changes no result (default: all cores)", NULL, 0, 256}, \
	{"timeline", 't', CLI_FLAG, &o.timeline, NULL, "print what happens as it happens", NULL, 0, 0}, \
	{"smps", 0, CLI_FLAG, &o.smps, NULL, "print every SMP as it is sent and received", NULL, 0, 0}

/* ---- setting up ---- */

/* A named mechanism, and single techniques in place of its own. */
static void make_mechanism(struct sm_mechanism *m)
{
	const struct sm_supply *routes = m->routes; /* --engine was looked at before */

	if (o.mechanism)
		*m = *sm_mechanism_find(o.mechanism);
	if (o.engine)
		m->routes = routes;
	if (o.discovery)
		m->discovery = sm_discovery_find(strcmp(o.discovery, "bfs") ? o.discovery : "full");
	if (o.provisional)
		m->provisional = sm_supply_find(o.provisional);
	if (o.routes)
		m->routes = sm_supply_find(o.routes);
	if (o.distribution)
		m->first = sm_technique_find(o.distribution);
	if (o.second)
		m->second = sm_technique_find(o.second);
	if (o.tables)
		m->partial_tables = !strcmp(o.tables, "partial");
	if (o.detection)
		m->traps = strcmp(o.detection, "sweep") != 0;
}

static int make_config(const struct fab *f, struct lab_config *c)
{
	if (sim_manager_config(f, o.sm, o.root, o.engine, c))
		return CLI_BAD;
	if (o.cpu)
		c->cpu = lab_cpu_find(o.cpu);
	c->sm.window = o.window;
	c->sm.retries = o.retries;
	c->sm.lmc = o.lmc;
	c->sm.m_key = o.m_key;
	c->sm.qos = o.qos;
	c->sm.explore = o.discovery && !strcmp(o.discovery, "bfs") ? SM_EXPLORE_BFS : SM_EXPLORE_PROPAGATION;
	c->sm.activate_by_lid = o.activation && !strcmp(o.activation, "lid");
	c->sm.sweep_factor = o.sweep_period ? 0 : o.sweep_factor;
	c->sm.sweep_period_ps = o.sweep_period;
	make_mechanism(&c->sm.mechanism);
	c->sim.seed = o.seed;
	c->sim.faults.loss_q32 = prob_q32(o.loss);
	c->sim.faults.delay_q32 = prob_q32(o.delay);
	c->sim.faults.dup_q32 = prob_q32(o.dup);
	c->sim.faults.delay_max_ps = 2 * PS_PER_MS;
	c->threads = o.threads;
	return CLI_OK;
}

static struct lab *make_lab(const struct fab *f, const struct lab_config *c, struct sim_report *r)
{
	struct lab *l;
	struct err e;

	l = lab_new(f, c, &e);
	if (!l) {
		cli_bad("%s", e.text);
		return NULL;
	}
	sim_report_init(r, f, l, o.timeline && !cli_json, o.smps && !cli_json);
	return l;
}

/* Print the result, give everything back, and answer with the exit status. */
static int conclude(struct sim_report *r)
{
	bool ok = r->settled && r->v.active && r->v.verified && r->v.lids_unique && r->v.complete;
	int rc = ok ? CLI_OK : CLI_NO;
	struct json j = {0};

	if (cli_json) {
		sim_report_json(r, &j, o.seed);
		if (cli_print_json(&j))
			rc = CLI_BAD;
	} else {
		sim_report_text(r);
	}
	lab_free(r->lab);
	sim_report_free(r);
	return rc;
}

/* ---- weft sim up ---- */

static int run_up(const struct fab *f)
{
	struct sim_report r;
	struct lab_config c;
	struct lab *l = make_config(f, &c) ? NULL : make_lab(f, &c, &r);

	if (!l)
		return CLI_BAD;
	lab_power_on(l, NULL);
	r.settled = lab_run_ready(l, o.limit);
	sim_report_up(&r);
	return conclude(&r);
}

static int sim_up(char **args, unsigned nargs)
{
	struct fab *f = cli_load(args[0]);
	int rc;

	(void)nargs;
	if (!f)
		return CLI_BAD;
	rc = run_up(f);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_sim_up = {
	.name = "sim up",
	.args = "FILE",
	.summary = "bring a fabric up from power-on, in simulated time",
	.about = "Every node of the netlist is switched on at time zero. The manager discovers the subnet, gives "
		 "LIDs, configures devices, computes and verifies deadlock-free routes, writes them and "
		 "activates the ports. Status 0 when the subnet is active and verified, 1 when it is not.",
	.examples = "weft sim up cluster.net\n"
		    "weft sim up cluster.net --sm H-0001000000000010 --timeline\n"
		    "weft sim up cluster.net --loss 5% --seed 7 --json\n"
		    "weft topo gen mtree 8 3 | weft sim up -",
	.opts = (const struct cli_opt[]){COMMON_OPTS, {0}},
	.min_args = 1,
	.max_args = 1,
	.run = sim_up,
};

/* ---- weft sim change ---- */

/* AFTER without the nodes named by --kill. */
static struct fab *without_killed(const struct fab *f)
{
	bool *dead = mem_zarray(f->nnodes, sizeof(bool));
	struct fab *left = NULL;
	node_id n = 0;
	size_t i = 0;

	for (; i < o.kill.n && !cli_find_node(f, "--kill", o.kill.at[i], &n); i++)
		dead[n] = true;
	if (i == o.kill.n)
		left = lab_without(f, dead);
	free(dead);
	return left;
}

/* ---- one change ---- */

/* What a change is run with; the traffic has interval 0 when there is none. */
struct setup {
	struct lab_config lab;
	struct traffic_config traffic;
	char what[160]; /* the traffic, in words */
};

static int make_setup(const char *file, const struct fab *before, const struct lab_change *c, struct setup *s)
{
	struct lab_load d = {.warmup = TIME_NEVER, .duration = TIME_NEVER};

	*s = (struct setup){0};
	if (make_config(lab_change_fab(c), &s->lab))
		return CLI_BAD;
	if (!o.sm)
		s->lab.sm_node = lab_change_sm(c);
	if (!load_given())
		return CLI_OK;
	if (load_network(&s->lab.sim) || load_traffic(lab_change_fab(c), o.seed, &s->traffic))
		return CLI_BAD;
	d.traffic = s->traffic;
	s->traffic.interval_ps = load_choose_interval(file, before, &s->lab, &d);
	load_describe(&s->traffic, NULL, s->what);
	return s->traffic.interval_ps ? CLI_OK : CLI_BAD;
}

static struct lab_change_plan make_plan(const struct setup *s)
{
	bool load = s->traffic.interval_ps;

	return (struct lab_change_plan){
		.traffic = load ? &s->traffic : NULL,
		.quiet = o.quiet,
		.warmup = o.warmup == TIME_NEVER ? PS_PER_MS : o.warmup,
		.tail = o.tail == TIME_NEVER ? PS_PER_MS : o.tail,
		.limit = o.limit,
		.period = o.series ? o.series : o.svg ? TIME_NEVER : 0,
	};
}

struct about {
	struct sim_report *r;
	const struct lab_change *c;
};

static void on_about_to(void *ctx)
{
	struct about *a = ctx;
	char what[128], text[160];

	lab_change_text(a->c, what, sizeof(what));
	snprintf(text, sizeof(text), "THE FABRIC CHANGES: %s", what);
	sim_report_say(a->r, "sweeps find nothing new");
	sim_report_say(a->r, text);
}

static int draw(const struct sim_report *r, const struct lab_change *c)
{
	struct strbuf svg = {0}, title = {0};
	char what[128];
	int rc;

	lab_change_text(c, what, sizeof(what));
	strbuf_addf(&title, "%s: the %s mechanism", what, o.mechanism ? o.mechanism : "basic");
	change_report_svg(r, title.s, &svg);
	strbuf_free(&title);
	rc = cli_write(o.svg, &svg);
	return rc;
}

static bool sound(const struct lab_change_result *r)
{
	return !r->traffic_at || (r->conserved && !r->watch.nring);
}

/* conclude(), and what only a change has. */
static int conclude_change(struct sim_report *r, struct lab_change_result *res)
{
	int rc = conclude(r);

	if (rc == CLI_OK && !sound(res))
		rc = CLI_NO;
	lab_change_result_free(res);
	return rc;
}

static int run_change(const struct lab_change *c, const struct setup *s)
{
	struct lab_change_plan p = make_plan(s);
	struct lab_change_result res;
	struct sim_report r;
	struct lab *l = make_lab(lab_change_fab(c), &s->lab, &r);
	struct about about = {&r, c};
	struct err e;
	int rc;

	if (!l)
		return CLI_BAD;
	if (!lab_change_has(c, lab_sm_node(l))) {
		lab_free(l);
		return cli_bad("the manager's own node is not there before and after: choose another with --sm");
	}
	p.change = c;
	p.about_to = on_about_to;
	p.ctx = &about;
	rc = lab_change_run(l, &p, &res, &e) ? cli_bad("%s", e.text) : CLI_OK;
	sim_report_change(&r, &res);
	r.what = s->what;
	r.show_series = o.series;
	if (!rc && o.svg && res.changed_at)
		rc = draw(&r, c);
	if (!rc)
		return conclude_change(&r, &res);
	lab_free(l);
	sim_report_free(&r);
	lab_change_result_free(&res);
	return rc;
}

static int change_between(const char *file, const struct fab *before, const struct fab *after)
{
	struct fab *alive = o.kill.n ? without_killed(after) : NULL;
	struct lab_change *c;
	struct setup s;
	struct err e;
	int rc;

	if (o.kill.n && !alive)
		return CLI_BAD;
	c = lab_change_new(before, alive ? alive : after, &e);
	if (!c)
		rc = cli_bad("%s", e.text);
	else
		rc = make_setup(file, before, c, &s) ? CLI_BAD : run_change(c, &s);
	lab_change_free(c);
	fab_free(alive);
	return rc;
}

/* ---- the same change for each switch ---- */

static void on_run_done(void *ctx, unsigned ended, unsigned of)
{
	(void)ctx;
	cli_progress("%u of %u changes", ended, of);
}

static int print_each(const struct each_report *r)
{
	struct json j = {0};

	if (!cli_json)
		each_report_text(r);
	else if (each_report_json(r, &j), cli_print_json(&j))
		return CLI_BAD;
	return r->each->failed ? CLI_NO : CLI_OK;
}

static int change_each(const char *file, const struct fab *f)
{
	double start = cli_wall_s();
	struct lab_change *same;
	struct lab_change_plan p;
	struct lab_each all = {0};
	struct setup s;
	struct err e;
	int rc;

	same = lab_change_new(f, f, &e);
	rc = same ? make_setup(file, f, same, &s) : cli_bad("%s", e.text);
	lab_change_free(same);
	if (rc)
		return rc;
	p = make_plan(&s);
	s.lab.threads = 1; /* the runs are what is done at once */
	struct lab_each_config c = {.fab = f,
				    .lab = &s.lab,
				    .plan = &p,
				    .sample = o.sample,
				    .activation = !strcmp(o.each, "activation"),
				    .threads = o.threads,
				    .done = on_run_done};

	rc = lab_each_switch(&c, &all, &e);
	cli_progress_end();
	if (rc)
		rc = cli_bad("%s: %s", file, e.text);
	else
		rc = print_each(&(struct each_report){f, &all, o.each, s.what, o.seed, cli_wall_s() - start});
	lab_each_free(&all);
	return rc;
}

/* Options that go together, or not at all. */
static int check_change(void)
{
	const char *lone = load_option_given();

	if (load_check_rate())
		return CLI_BAD;
	if (load_o.load >= 0 && !(load_o.load > 0))
		return cli_bad("expected --load SHARE or --rate N, above 0");
	if (load_o.pattern && !strcmp(load_o.pattern, "trace"))
		return cli_bad("--pattern trace has its own rate: expected another pattern");
	if (o.each && (o.svg || o.series || o.timeline || o.smps || o.kill.n))
		return cli_bad("--each-switch is many runs: expected no --%s with it",
			       o.svg	? "svg"
			       : o.series	? "series"
			       : o.timeline ? "timeline"
			       : o.smps	? "smps"
					: "kill");
	if (o.sample && !o.each)
		return cli_bad("--sample is about many runs: expected --each-switch HOW with it");
	if (o.svg && !strcmp(o.svg, "-"))
		return cli_bad("--svg -: the table goes to standard output, expected a file");
	if (load_given())
		return CLI_OK;
	lone = o.warmup != TIME_NEVER ? "warmup" : o.tail != TIME_NEVER ? "tail" : lone;
	lone = o.series ? "series" : o.svg ? "svg" : lone;
	if (lone)
		return cli_bad("--%s is about traffic: expected --load SHARE or --rate N with it", lone);
	return CLI_OK;
}

static int sim_change(char **args, unsigned nargs)
{
	struct fab *before, *after = NULL;
	int rc = CLI_BAD;

	if (check_change())
		return CLI_BAD;
	if (nargs == 2 && !strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one of the two can be standard input");
	before = cli_load(args[0]);
	if (!before)
		return CLI_BAD;
	if (o.each && nargs > 1)
		rc = cli_bad("--each-switch takes one file: expected no AFTER");
	else if (nargs < 2 && !o.kill.n && !o.each)
		rc = cli_bad("expected AFTER, or --kill NODE to say what fails");
	else if (o.sweep_factor == 0 && o.sweep_period == 0)
		rc = cli_bad("without sweeps the end of a change cannot be seen: expected --sweep-factor 1 or more");
	else if (o.each)
		rc = change_each(args[0], before);
	else if (nargs < 2)
		rc = change_between(args[0], before, before);
	else if ((after = cli_load(args[1])))
		rc = change_between(args[0], before, after);
	fab_free(before);
	fab_free(after);
	return rc;
}

#define CHANGE_OPTS                                                                                \
	{"mechanism", 0, CLI_CHOICE, &o.mechanism, "NAME", "how a change is assimilated; see docs/mechanism.md (default weft)", mechanisms, 0, 0}, \
	{"provisional", 0, CLI_CHOICE, &o.provisional, "ROUTES", "routes computed and sent first, in place of the mechanism's", first_supplies, 0, 0}, \
	{"routes", 0, CLI_CHOICE, &o.routes, "ROUTES", "the routes that stay", supplies, 0, 0}, \
	{"distribution", 0, CLI_CHOICE, &o.distribution, "HOW", "how the first tables are distributed", techniques, 0, 0}, \
	{"then", 0, CLI_CHOICE, &o.second, "HOW", "and how final tables, after provisional ones", techniques, 0, 0}, \
	{"tables", 0, CLI_CHOICE, &o.tables, "WHICH", "full: all blocks; partial: only those that differ", table_kinds, 0, 0}, \
	{"detection", 0, CLI_CHOICE, &o.detection, "HOW", "sweep, traps or both (default as the mechanism has it; sweeps go on in any case)", detections, 0, 0}, \
	{"sweep-factor", 0, CLI_UINT, &o.sweep_factor, "K", "a sweep every K times the duration of one (default 100)", NULL, 0, 1000000}, \
	{"sweep-period", 0, CLI_TIME, &o.sweep_period, "TIME", "a sweep every TIME instead", NULL, 0, 0}

#define CHANGE_EACH_OPT                                                                            \
	{"each-switch", 0, CLI_CHOICE, &o.each, "HOW", "one run for each switch but the manager's, which goes (deactivation) or comes (activation)", each_hows, 0, 0}, \
	{"sample", 0, CLI_UINT, &o.sample, "N", "with --each-switch: only N of them, evenly spread (default: all)", NULL, 1, 100000}

#define CHANGE_LOAD_OPTS                                                                           \
	LOAD_RATE_OPTS, LOAD_TRAFFIC_OPTS,                                                          \
	{"quiet", 0, CLI_TIME, &o.quiet, "TIME", "at rest after the bring-up, before traffic and change (default: two sweeps)", NULL, 0, 0}, \
	{"warmup", 'w', CLI_TIME, &o.warmup, "TIME", "traffic before the change (default 1ms)", NULL, 0, 0}, \
	{"tail", 0, CLI_TIME, &o.tail, "TIME", "traffic after the manager has settled (default 1ms)", NULL, 0, 0}, \
	{"series", 0, CLI_TIME, &o.series, "TIME", "also a series: what happened in every TIME", NULL, 0, 0}, \
	{"svg", 0, CLI_STR, &o.svg, "FILE", "draw SMPs, packets lost, traffic and connectivity over time", NULL, 0, 0}

const struct cli_cmd cmd_sim_change = {
	.name = "sim change",
	.args = "BEFORE [AFTER]",
	.summary = "let a running fabric change at once and watch the manager follow",
	.about = "The fabric is BEFORE until the manager has brought it up and swept it once; then every node and "
		 "link turns into AFTER in one moment. Nodes are told apart by GUID. --kill NODE takes a node out "
		 "of AFTER (or of BEFORE, when there is no AFTER). The run ends when a later sweep finds nothing "
		 "new. Status 0 when all that is left is active and verified.\n\n"
		 "With --load or --rate hosts send data packets meanwhile, as in 'weft sim run': packets discarded since "
		 "the change count by cause, and whenever a device changes, connectivity and cycles of dependencies are "
		 "looked at. Status 1 also when packets wait for each other in a ring, or are not accounted for.\n\n"
		 "--each-switch repeats the change for each switch but the manager's and gives mean and standard "
		 "deviation; --threads runs go on at once.",
	.examples = "weft sim change before.net after.net\n"
		    "weft sim change cluster.net --kill S-0002000000000005 --timeline\n"
		    "weft sim change cluster.net --kill leaf0_1 --detection traps --json\n"
		    "weft sim change cluster.net --kill leaf0_1 --load 25% --svg change.svg\n"
		    "weft sim change cluster.net --each-switch deactivation --load 50% --of-saturation",
	.opts = (const struct cli_opt[]){{"kill", 0, CLI_LIST, &o.kill, "NODE", "this node fails; may be given again", NULL, 0, 0},
					 CHANGE_EACH_OPT, CHANGE_OPTS, COMMON_OPTS, CHANGE_LOAD_OPTS, {0}},
	.min_args = 1,
	.max_args = 2,
	.run = sim_change,
};

/* ---- weft sim demo ---- */

static int sim_demo(char **args, unsigned nargs)
{
	struct fab_gen g = {.kind = "mtree", .dims = {8, 3}, .ndims = 2};
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	char ident[32];
	int rc;

	(void)args;
	(void)nargs;
	if (!f)
		return cli_bad("%s", e.text);
	o.timeline = true;
	/* A switch in the middle layer: its neighbours have to find other ways. */
	fab_node_ident(f, f->switches[f->nswitches / 2], ident);
	vec_push(&o.kill, ident);
	if (!cli_json) {
		printf("An 8-port 3-tree: %u switches, %u hosts, %u links. The manager brings it up, then\n"
		       "switch %s (%s) fails.\n\n",
		       f->nswitches, f->nhosts, f->nlinks, ident, fab_node_name(f, f->switches[f->nswitches / 2]));
		fflush(stdout);
	}
	rc = change_between("demo", f, f);
	vec_free(&o.kill);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_sim_demo = {
	.name = "sim demo",
	.args = "",
	.summary = "a fat tree comes up, loses a switch and recovers",
	.about = "What 'make run' shows: the manager on an embedded 8-port 3-tree in simulated time, with a timeline "
		 "and a table of phases.",
	.examples = "weft sim demo\nweft sim demo --detection traps\nweft sim demo --cpu thesis --loss 2%",
	.opts = (const struct cli_opt[]){CHANGE_OPTS, COMMON_OPTS, {0}},
	.min_args = 0,
	.max_args = 0,
	.run = sim_demo,
};

/* ---- weft sim trial --change ---- */

static void change_trial_json(struct json *j, const struct lab_change_trial *t)
{
	json_open(j, NULL, '{');
	json_u64(j, "seed", t->seed);
	json_bool(j, "ok", t->ok);
	json_str(j, "why", t->why);
	json_str(j, "mechanism", t->mechanism);
	json_u64(j, "switches", t->switches);
	json_u64(j, "hosts", t->hosts);
	json_u64(j, "links", t->links);
	json_u64(j, "changes", t->changes);
	json_fixed(j, "load", t->load, 2);
	json_double(j, "loss", t->loss);
	json_u64(j, "smps", t->smps);
	json_u64(j, "packets", t->packets);
	json_u64(j, "discarded", t->lost);
	json_fixed(j, "connectivity_min", t->connectivity_min, 6);
	json_u64(j, "looks", t->looks);
	json_u64(j, "events", t->sim_events);
	json_seconds(j, "time_s", t->end);
	json_hex64(j, "trace_hash", t->hash);
	json_close(j);
}

static void change_trial_text(const struct lab_change_trial *t)
{
	printf("seed %llu: %s  %s, %u switches, %u hosts, %u changes, load %u%%, loss %.1f%%, %s packets, ",
	       (unsigned long long)t->seed, t->ok ? "ok" : "FAILED", t->mechanism, t->switches, t->hosts, t->changes, t->load,
	       100 * t->loss, cli_count(t->packets));
	printf("%s discarded, %s looks, hash %016llx%s%s\n", cli_count(t->lost), cli_count(t->looks),
	       (unsigned long long)t->hash, t->ok ? "" : ": ", t->why);
}

/* ---- weft sim trial ---- */

static void trial_json(struct json *j, const struct lab_trial *t)
{
	json_open(j, NULL, '{');
	json_u64(j, "seed", t->seed);
	json_bool(j, "ok", t->ok);
	json_str(j, "why", t->why);
	json_str(j, "mechanism", t->mechanism ? t->mechanism : "");
	json_u64(j, "switches", t->switches);
	json_u64(j, "hosts", t->hosts);
	json_u64(j, "links", t->links);
	json_u64(j, "failures", t->events);
	json_double(j, "loss", t->loss);
	json_u64(j, "smps", t->smps);
	json_u64(j, "events", t->sim_events);
	json_seconds(j, "time_s", t->end);
	json_hex64(j, "trace_hash", t->hash);
	json_close(j);
}

static void trial_text(const struct lab_trial *t)
{
	printf("seed %llu: %s  %s, %u switches, %u hosts, %u failures, loss %.1f%%, %s SMPs, %s, hash %016llx%s%s\n",
	       (unsigned long long)t->seed, t->ok ? "ok" : "FAILED", t->mechanism ? t->mechanism : "-", t->switches, t->hosts, t->events,
	       100 * t->loss, cli_count(t->smps), cli_duration(t->end), (unsigned long long)t->hash,
	       t->ok ? "" : ": ", t->why);
}

static bool one_trial(uint64_t seed, struct json *j, uint64_t *hash)
{
	struct lab_trial t;

	lab_trial(seed, o.max_switches, o.mechanism ? sm_mechanism_find(o.mechanism) : NULL, &t);
	*hash = hash64_add(*hash, t.hash);
	if (cli_json)
		trial_json(j, &t);
	else if (o.count <= 20 || !t.ok)
		trial_text(&t);
	return t.ok;
}

static bool one_change_trial(uint64_t seed, struct json *j, uint64_t *hash)
{
	struct lab_change_trial t;

	lab_change_trial(seed, o.max_switches, o.mechanism ? sm_mechanism_find(o.mechanism) : NULL, &t);
	*hash = hash64_add(*hash, t.hash);
	if (cli_json)
		change_trial_json(j, &t);
	else if (o.count <= 20 || !t.ok)
		change_trial_text(&t);
	return t.ok;
}

static int sim_trial(char **args, unsigned nargs)
{
	struct json j = {0};
	unsigned failed = 0;
	uint64_t hash = 0;
	bool ok;

	(void)args;
	(void)nargs;
	if (o.change && o.max_switches && o.max_switches < 4)
		return cli_bad("--change needs 4 switches or more, found --max-switches %u", o.max_switches);
	if (!o.max_switches)
		o.max_switches = o.change ? 32 : 128;
	json_open(&j, NULL, '{');
	json_open(&j, "trials", '[');
	for (unsigned i = 0; i < o.count; i++) {
		cli_progress("trial %u of %u, %u failed", i + 1, o.count, failed);
		if (o.change)
			ok = one_change_trial(o.seed + i, &j, &hash);
		else
			ok = one_trial(o.seed + i, &j, &hash);
		failed += !ok;
	}
	cli_progress_end();
	json_close(&j);
	json_u64(&j, "failed", failed);
	json_hex64(&j, "trace_hash", hash);
	json_close(&j);
	if (cli_json) {
		if (cli_print_json(&j))
			return CLI_BAD;
	} else {
		json_free(&j);
		printf("%u trials, %u failed, hash %016llx\n", o.count, failed, (unsigned long long)hash);
	}
	return failed ? CLI_NO : CLI_OK;
}

const struct cli_cmd cmd_sim_trial = {
	.name = "sim trial",
	.args = "",
	.summary = "random subnets under random failures, judged at the end",
	.about = "Each seed draws an irregular subnet of 2 to --max-switches switches, the manager's settings, lost, "
		 "delayed and doubled SMPs, and links and switches that fail and return while the manager works. In "
		 "the end every port must be active and every route verified. The same seed gives the same run: "
		 "this is how a failure reported by the tests is replayed.\n\n"
		 "With --change, hosts send at 5 to 40 % of their links while switches and links go and come, alone, at "
		 "once or overlapping. Whenever a device changes, its tables, ports and mappings must leave no cycle of "
		 "dependencies; packets may never wait for each other in a ring. In the end all that cables connect is "
		 "connected, LIDs are as before, tables are those a computation from scratch gives, every packet is "
		 "accounted for and every credit is back.",
	.examples = "weft sim trial --seed 1980\nweft sim trial --seed 1 --count 2000\n"
		    "weft sim trial --seed 42 --max-switches 16 --json\n"
		    "weft sim trial --change --seed 7 --count 100",
	.opts = (const struct cli_opt[]){{"seed", 0, CLI_U64, &o.seed, "N", "the first seed (default 1)", NULL, 0, 0},
					 {"count", 0, CLI_UINT, &o.count, "N", "how many seeds from there on (default 1)", NULL, 1, 100000000},
					 {"max-switches", 0, CLI_UINT, &o.max_switches, "N", "size of the largest subnet (default 128; with --change 32)", NULL, 2, 1024},
					 {"mechanism", 0, CLI_CHOICE, &o.mechanism, "NAME", "always this mechanism (default: drawn)", mechanisms, 0, 0},
					 {"change", 0, CLI_FLAG, &o.change, NULL, "changes under load, watched all the time", NULL, 0, 0},
					 {0}},
	.min_args = 0,
	.max_args = 0,
	.run = sim_trial,
};
