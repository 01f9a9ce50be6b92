/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim change, weft sim demo: the subnet manager on a simulated fabric that changes. Keeps the
 * options of the one command that runs. Ways in: cmd_sim_change, cmd_sim_demo. Does not simulate
 * anything itself: src/lab does; manager_opts.c makes the manager's configuration.
 */
#include "cli/change_report.h"
#include "cli/cli.h"
#include "cli/each_switch_report.h"
#include "cli/given_tables_opts.h"
#include "cli/group_opts.h"
#include "cli/load_opts.h"
#include "cli/manager_opts.h"
#include "cli/profile_opts.h"
#include "cli/rft_opts.h"
#include "cli/report_opts.h"
#include "lab/change.h"
#include "lab/lab.h"
#include "lab/load.h"

static const char *const each_hows[] = {"deactivation", "activation", NULL};

static struct {
	unsigned sample;
	const char *svg, *each;
	time_ps warmup, tail, series, quiet;
	cli_strings kill, add, unlink;
} o = {
	.warmup = TIME_NEVER,
	.tail = TIME_NEVER,
};

/* ---- weft sim change ---- */

/* AFTER without the nodes named by --kill, or BEFORE without those of --add. */
static struct fab *without(const struct fab *f, const char *option, const cli_strings *names)
{
	bool *gone = mem_zarray(f->nnodes, sizeof(bool));
	struct fab *left = NULL;
	node_id n = 0;
	size_t i = 0;

	for (; i < names->n && !cli_find_node(f, option, names->at[i], &n); i++)
		gone[n] = true;
	if (i == names->n)
		left = lab_without(f, gone);
	free(gone);
	return left;
}

/* NODE[PORT], a port with a cable. */
static int find_link(const struct fab *f, const char *text, port_id *p)
{
	const char *open = strrchr(text, '['), *end;
	char name[256], digits[8];
	uint64_t num;
	node_id n;

	end = open ? strchr(open, ']') : NULL;
	if (!end || end[1] || (size_t)(open - text) >= sizeof(name) ||
	    (size_t)(end - open) > sizeof(digits))
		return cli_bad("--unlink: expected NODE[PORT]; found '%.100s'", text);
	snprintf(name, sizeof(name), "%.*s", (int)(open - text), text);
	snprintf(digits, sizeof(digits), "%.*s", (int)(end - open - 1), open + 1);
	if (cli_find_node(f, "--unlink", name, &n))
		return CLI_BAD;
	if (parse_u64(digits, &num) || !num || num > f->nodes[n].nports)
		return cli_bad("--unlink %.100s: expected a port from 1 to %u", text,
			       f->nodes[n].nports);
	*p = fab_port_id(f, n, (unsigned)num);
	return f->ports[*p].peer != FAB_NONE
		       ? CLI_OK
		       : cli_bad("--unlink %.100s: expected a port with a cable", text);
}

/* AFTER without the cables named by --unlink. */
static struct fab *without_links(const struct fab *f)
{
	struct fab *left = NULL, *next;
	port_id p = 0;

	for (size_t i = 0; i < o.unlink.n; i++) {
		if (find_link(left ? left : f, o.unlink.at[i], &p)) {
			fab_free(left);
			return NULL;
		}
		next = lab_without_link(left ? left : f, p);
		fab_free(left);
		left = next;
	}
	return left;
}

/* ---- one change ---- */

/* The configuration of a change; the traffic's interval is 0 when there is none. */
struct setup {
	struct lab_config lab;
	struct traffic_config traffic;
	const struct lab_groups_config *groups; /* NULL: none */
	char what[160];				/* description of the traffic */
};

static int make_setup(const char *file, const struct fab *before, const struct lab_change *c,
		      struct setup *s)
{
	struct lab_load d = {.warmup = TIME_NEVER, .duration = TIME_NEVER};

	*s = (struct setup){0};
	if (manager_config(lab_change_fab(c), &s->lab))
		return CLI_BAD;
	if (!s->lab.sm.sweep_factor && !s->lab.sm.sweep_period_ps)
		return cli_bad(
			"a change ends with a sweep that finds nothing new: expected --sweep-factor 1 or more");
	if (!manager_o.sm.n && !profile_is_thesis())
		s->lab.sm_node = lab_change_sm(c);
	if (!load_given())
		return given_load(before, &s->lab);
	if (load_network(&s->lab.sim) ||
	    load_traffic(lab_change_fab(c), manager_o.seed, &s->traffic) ||
	    given_load(before, &s->lab))
		return CLI_BAD;
	d.traffic = s->traffic;
	s->traffic.interval_ps = load_choose_interval(file, before, &s->lab, &d);
	load_describe(&s->traffic, NULL, s->what);
	s->groups = group_config(before, &s->traffic, manager_o.seed);
	s->lab.sm.multicast |= s->groups != NULL;
	return s->traffic.interval_ps ? CLI_OK : CLI_BAD;
}

static struct lab_change_plan make_plan(const struct setup *s)
{
	bool load = s->traffic.interval_ps;

	return (struct lab_change_plan){
		.traffic = load ? &s->traffic : NULL,
		.groups = s->groups,
		.traffic_at = profile_traffic_at(),
		.change_at = profile_change_at(),
		.silent_new = profile_silent_new(),
		.quiet = o.quiet,
		.warmup = o.warmup == TIME_NEVER ? PS_PER_MS : o.warmup,
		.tail = o.tail == TIME_NEVER ? PS_PER_MS : o.tail,
		.limit = load_limit(report_o.limit),
		.period = o.series ? o.series
			  : o.svg  ? TIME_NEVER
				   : 0,
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

static int draw(const struct sim_report *r, const struct lab_change *c, const char *mechanism)
{
	struct strbuf svg = {0}, title = {0};
	char what[128];
	int rc;

	lab_change_text(c, what, sizeof(what));
	strbuf_addf(&title, "%s: the %s mechanism", what, mechanism);
	change_report_svg(r, title.s, &svg);
	strbuf_free(&title);
	rc = cli_write(o.svg, &svg);
	return rc;
}

static bool sound(const struct lab_change_result *r)
{
	return !r->traffic_at || (r->conserved && !r->watch.nring);
}

/* report_conclude(), and the verdict on traffic. */
static int conclude_change(struct sim_report *r, struct lab_change_result *res)
{
	int rc = report_conclude(r);

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
	struct lab *l = report_lab_new(lab_change_fab(c), &s->lab, &r);
	struct about about = {&r, c};
	struct err e;
	int rc;

	if (!l)
		return CLI_BAD;
	for (unsigned i = 0; i < lab_managers(l); i++)
		if (!lab_change_has(c, lab_manager_node(l, i))) {
			lab_free(l);
			sim_report_free(&r);
			return cli_bad(
				"the manager's node must be in BEFORE and AFTER: expected another --sm NODE");
		}
	p.change = c;
	p.about_to = on_about_to;
	p.ctx = &about;
	rc = lab_change_run(l, &p, &res, &e) ? cli_bad("%s", e.text) : CLI_OK;
	sim_report_change(&r, &res);
	r.what = s->what;
	r.show_series = o.series;
	if (!rc && o.svg && res.changed_at)
		rc = draw(&r, c, s->lab.sm.mechanism.name);
	if (!rc)
		return conclude_change(&r, &res);
	lab_free(l);
	sim_report_free(&r);
	lab_change_result_free(&res);
	return rc;
}

static int change_between(const char *file, const struct fab *before, const struct fab *after)
{
	struct fab *cut = o.unlink.n ? without_links(after) : NULL;
	struct fab *alive = o.kill.n ? without(cut ? cut : after, "--kill", &o.kill) : cut;
	struct fab *lesser = o.add.n ? without(before, "--add", &o.add) : NULL;
	struct lab_change *c = NULL;
	struct setup s;
	struct err e;
	int rc = CLI_BAD;

	if ((o.unlink.n && !cut) || (o.kill.n && !alive) || (o.add.n && !lesser))
		goto out;
	before = lesser ? lesser : before;
	c = lab_change_new(before, alive ? alive : after, &e);
	if (!c)
		rc = cli_bad("%s", e.text);
	else
		rc = make_setup(file, before, c, &s) ? CLI_BAD : run_change(c, &s);
out:
	lab_change_free(c);
	if (alive != cut)
		fab_free(alive);
	fab_free(cut);
	fab_free(lesser);
	return rc;
}

/* ---- the same change for each switch ---- */

static void on_run_done(void *ctx, unsigned ended, unsigned of)
{
	(void)ctx;
	cli_progress("%u of %u changes", ended, of);
}

static int print_each(const struct each_switch_report *r)
{
	struct json j = {0};

	if (!cli_json)
		each_switch_report_text(r);
	else if (each_switch_report_json(r, &j), cli_print_json(&j))
		return CLI_BAD;
	return r->each->failed ? CLI_NO : CLI_OK;
}

static int change_each(const char *file, const struct fab *f)
{
	double start = cli_wall_s();
	struct lab_change *same;
	struct lab_change_plan p;
	struct lab_each all = {0};
	unsigned threads;
	struct setup s;
	struct err e;
	int rc;

	same = lab_change_new(f, f, &e);
	rc = same ? make_setup(file, f, same, &s) : cli_bad("%s", e.text);
	lab_change_free(same);
	if (rc)
		return rc;
	p = make_plan(&s);
	threads = s.lab.threads;
	s.lab.threads = 1; /* the runs themselves are parallel */
	struct lab_each_config c = {.fab = f,
				    .lab = &s.lab,
				    .plan = &p,
				    .sample = o.sample,
				    .activation = !strcmp(o.each, "activation"),
				    .threads = threads,
				    .done = on_run_done};

	rc = lab_each_switch(&c, &all, &e);
	cli_progress_end();
	if (rc)
		rc = cli_bad("%s: %s", file, e.text);
	else
		rc = print_each(&(struct each_switch_report){f, &all, o.each, s.what,
							     manager_o.seed, cli_wall_s() - start});
	lab_each_free(&all);
	return rc;
}

/* Options that need or exclude each other. */
static int check_change(void)
{
	const char *lone = load_option_given();

	if (load_check_rate() || group_check())
		return CLI_BAD;
	if (load_o.load >= 0 && !(load_o.load > 0))
		return cli_bad("expected --load SHARE or --rate N, above 0");
	if (load_o.pattern && !strcmp(load_o.pattern, "trace"))
		return cli_bad("--pattern trace has its own rate: expected another pattern");
	if (o.each && group_wanted())
		return cli_bad("--each-switch runs many changes: expected no --groups");
	if (o.each && (o.svg || o.series || report_o.timeline || report_o.smps || o.kill.n ||
		       o.unlink.n || o.add.n))
		return cli_bad("--each-switch runs many changes: expected no --%s",
			       o.svg		   ? "svg"
			       : o.series	   ? "series"
			       : report_o.timeline ? "timeline"
			       : report_o.smps	   ? "smps"
			       : o.kill.n	   ? "kill"
			       : o.unlink.n	   ? "unlink"
						   : "add");
	if (o.sample && !o.each)
		return cli_bad("--sample needs --each-switch HOW");
	if (o.svg && !strcmp(o.svg, "-"))
		return cli_bad("--svg -: the table goes to standard output, expected a file");
	if (load_given())
		return CLI_OK;
	lone = o.warmup != TIME_NEVER ? "warmup" : o.tail != TIME_NEVER ? "tail" : lone;
	lone = o.series ? "series" : o.svg ? "svg" : group_wanted() ? "groups" : lone;
	if (lone)
		return cli_bad("--%s needs traffic: expected --load SHARE or --rate N", lone);
	return CLI_OK;
}

static int sim_change(char **args, unsigned nargs)
{
	struct fab *before, *after = NULL;
	int rc = CLI_BAD;

	if (check_change())
		return CLI_BAD;
	if (nargs == 2 && !strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one file can be standard input");
	before = cli_load_wire(args[0]);
	if (!before)
		return CLI_BAD;
	if (o.each && nargs > 1)
		rc = cli_bad("--each-switch takes one file: expected no AFTER");
	else if (nargs < 2 && !o.kill.n && !o.unlink.n && !o.add.n && !o.each)
		rc = cli_bad("expected AFTER, --kill NODE, --unlink NODE[PORT] or --add NODE");
	else if (o.each)
		rc = change_each(args[0], before);
	else if (nargs < 2)
		rc = change_between(args[0], before, before);
	else if ((after = cli_load_wire(args[1])))
		rc = change_between(args[0], before, after);
	given_free();
	fab_free(before);
	fab_free(after);
	return rc;
}

/* clang-format off */
static const struct cli_opt change_opts[] = {
	{.name = "kill", .type = CLI_LIST, .dst = &o.kill, .arg = "NODE",
	 .help = "this node fails"},
	{.name = "unlink", .type = CLI_LIST, .dst = &o.unlink, .arg = "NODE[PORT]",
	 .help = "the cable at this port fails"},
	{.name = "add", .type = CLI_LIST, .dst = &o.add, .arg = "NODE",
	 .help = "this node comes: it is not in BEFORE"},
	{.name = "each-switch", .type = CLI_CHOICE, .dst = &o.each, .arg = "HOW", .choices = each_hows,
	 .help = "one run for each switch but the manager's: it is removed (deactivation) or added "
		 "(activation)"},
	{.name = "sample", .type = CLI_UINT, .dst = &o.sample, .arg = "N", .min = 1, .max = 100000,
	 .help = "with --each-switch: only N switches, evenly spread (default: all)"},
	{.name = "quiet", .type = CLI_TIME, .dst = &o.quiet, .arg = "TIME",
	 .help = "idle time after the bring-up, before traffic and change (default: two sweeps)"},
	{.name = "warmup", .letter = 'w', .type = CLI_TIME, .dst = &o.warmup, .arg = "TIME",
	 .help = "traffic before the change (default 1ms)"},
	{.name = "tail", .type = CLI_TIME, .dst = &o.tail, .arg = "TIME",
	 .help = "traffic after the manager has settled (default 1ms)"},
	{.name = "series", .type = CLI_TIME, .dst = &o.series, .arg = "TIME",
	 .help = "also a time series with one sample every TIME"},
	{.name = "svg", .type = CLI_STR, .dst = &o.svg, .arg = "FILE",
	 .help = "draw SMPs, packets lost, traffic and connectivity over time"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_sim_change = {
	.name = "sim change",
	.args = "BEFORE [AFTER]",
	.summary = "change a running fabric and watch how the manager follows",
	.about =
		"The fabric is BEFORE until the manager has brought it up and swept it once; then every node and "
		"link becomes that of AFTER at the same moment. Nodes are identified by GUID. --kill NODE removes a "
		"node from AFTER (or from BEFORE, when there is no AFTER), --unlink NODE[PORT] the cable at a port, --add NODE removes a node from BEFORE. The run ends when a later sweep finds "
		"nothing new. Status 0 when all remaining nodes are active and verified.\n\n"
		"With --load or --rate hosts send data packets meanwhile, as in 'weft sim run': packets discarded after "
		"the change are counted by cause, and whenever a device changes, connectivity and cycles of "
		"dependencies are checked. Status 1 also when packets deadlock or are not accounted for.\n\n"
		"--each-switch repeats the change for each switch but the manager's and gives mean and standard "
		"deviation; --threads of these run at once.",
	.examples =
		"weft sim change before.net after.net\n"
		"weft sim change cluster.net --kill S-0002000000000005 --timeline\n"
		"weft sim change cluster.net --kill leaf0_1 --detection traps --json\n"
		"weft sim change cluster.net --unlink 'leaf0_1[3]' --load 10%\n"
		"weft sim change cluster.net --kill leaf0_1 --load 25% --svg change.svg\n"
		"weft sim change cluster.net --each-switch deactivation --load 50% --of-saturation",
	.opts = change_opts,
	.shared = (const struct cli_opt *const[]){report_opts, load_rate_opts, load_traffic_opts,
						  group_opts, given_opts, profile_opts,
						  profile_traffic_opts, profile_change_opts,
						  manager_opts, rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
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
	report_o.timeline = true;
	/* A switch in the middle layer: traffic must take other routes. */
	fab_node_ident(f, f->switches[f->nswitches / 2], ident);
	vec_push(&o.kill, ident);
	if (!cli_json) {
		printf("An 8-port 3-tree: %u switches, %u hosts, %u links. The manager brings it up, then\n"
		       "switch %s (%s) fails.\n\n",
		       f->nswitches, f->nhosts, f->nlinks, ident,
		       fab_node_name(f, f->switches[f->nswitches / 2]));
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
	.summary = "bring a fat tree up and recover from the failure of a switch",
	.about =
		"Runs the manager on an embedded 8-port 3-tree in simulated time and prints a timeline and a table of "
		"phases, as 'make run' does.",
	.examples =
		"weft sim demo\nweft sim demo --detection traps\nweft sim demo --cpu thesis --loss 2%",
	.opts = report_opts,
	.shared = (const struct cli_opt *const[]){manager_opts, rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 0,
	.max_args = 0,
	.run = sim_demo,
};
