/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route churn. State: struct tally, for one run, and the options. Ways in: the table at the end. Moves nothing
 * itself: src/route/churn.c does.
 */
#include "route/churn.h"
#include "cli/route_report.h"

enum { DRAWS = 2 }; /* mixtures of each stage that --verify looks at */

static struct {
	const char *scheme, *goal;
	unsigned vfs, load, events, sample, defragment, pack;
	uint64_t seed;
	bool verify;
} o = {.scheme = "dynamic", .goal = "fresh", .load = 50, .events = 10000, .pack = 1, .seed = 1};

static const char *const schemes[] = {"dynamic", "prepopulated", NULL};
static const char *const goals[] = {"fresh", "even", NULL};

struct row {
	uint32_t event;
	struct churn_sample s;
};

/* One defragmentation. */
struct done {
	uint32_t event;
	struct rt_defragment d; /* without entries */
};

struct tally {
	struct churn c;
	VEC(struct row) rows;
	VEC(struct done) done;
	uint64_t states;
	bool sound;
};

/* ---- figures ---- */

static void json_balance(struct json *j, const char *key, const struct rt_balance *b)
{
	json_open(j, key, '{');
	json_u64(j, "busiest", b->busiest);
	json_fixed(j, "mean", b->mean, 3);
	json_fixed(j, "deviation", b->deviation, 3);
	json_close(j);
}

/* Columns of the samples. */
static uint64_t cell(const struct row *r, unsigned column)
{
	const uint64_t v[] = {r->event,		  r->s.vms,	      r->s.now.busiest,
			      r->s.now.deviation, r->s.fresh.busiest, r->s.fresh.deviation,
			      r->s.now.mean};

	return v[column];
}

static void json_samples(struct json *j, const struct tally *t)
{
	static const char *const names[] = {
		"event", "vms", "busiest", "deviation", "fresh_busiest", "fresh_deviation", "mean"};

	json_open(j, "samples", '{');
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		json_open(j, names[i], '[');
		for (size_t k = 0; k < t->rows.n; k++)
			if (i == 3 || i > 4)
				json_fixed(j, NULL, cell(&t->rows.at[k], i), 3);
			else
				json_u64(j, NULL, cell(&t->rows.at[k], i));
		json_close(j);
	}
	json_close(j);
}

static void json_done(struct json *j, const struct done *x)
{
	json_open(j, NULL, '{');
	json_u64(j, "event", x->event);
	json_bool(j, "reached", x->d.reached);
	json_u64(j, "lids", x->d.lids);
	json_u64(j, "moved", x->d.moved);
	json_u64(j, "smps", x->d.smps);
	json_u64(j, "switches", x->d.switches);
	json_u64(j, "stages", x->d.plan.stages);
	json_u64(j, "smps_fresh", x->d.smps_fresh);
	json_u64(j, "smps_all", x->d.smps_all);
	json_balance(j, "before", &x->d.before);
	json_balance(j, "after", &x->d.after);
	json_balance(j, "fresh", &x->d.fresh);
	json_close(j);
}

static void json_events(struct json *j, const struct churn *c)
{
	for (int i = 0; i < CHURN_NEVENTS; i++) {
		json_open(j, churn_event_name[i], '{');
		json_u64(j, "count", c->events[i]);
		json_u64(j, "smps", c->smps[i]);
		json_close(j);
	}
}

static void json_totals(struct json *j, const struct tally *t)
{
	uint64_t smps = 0, fresh = 0, moved = 0, reached = 0;

	for (size_t i = 0; i < t->done.n; i++) {
		const struct rt_defragment *d = &t->done.at[i].d;

		smps += d->smps;
		fresh += d->smps_fresh;
		moved += d->moved;
		reached += d->reached;
	}
	json_open(j, "totals", '{');
	json_u64(j, "defragmentations", t->done.n);
	json_u64(j, "reached", reached);
	json_u64(j, "moved", moved);
	json_u64(j, "smps", smps);
	json_u64(j, "smps_fresh", fresh);
	json_close(j);
}

static int print_json(const struct tally *t)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "scheme", o.scheme);
	json_u64(&j, "seed", o.seed);
	json_u64(&j, "switches", t->c.f->nswitches);
	json_u64(&j, "links", t->rows.at[0].s.now.links);
	json_u64(&j, "hosts", t->c.hosts.n);
	json_u64(&j, "vfs", t->c.room);
	json_u64(&j, "requests", o.events);
	json_events(&j, &t->c);
	json_samples(&j, t);
	json_open(&j, "defragmentations", '[');
	for (size_t i = 0; i < t->done.n; i++)
		json_done(&j, &t->done.at[i]);
	json_close(&j);
	json_totals(&j, t);
	json_u64(&j, "states_verified", t->states);
	if (o.verify)
		json_bool(&j, "verified", t->sound);
	else
		json_none(&j, "verified");
	json_close(&j);
	return cli_print_json(&j);
}

static void print_done(const struct done *x)
{
	if (!x->d.smps) {
		printf("after %s events: the routes are as even as new ones\n",
		       cli_count(x->event));
		return;
	}
	printf("after %s events other routes for %s of ", cli_count(x->event),
	       cli_count(x->d.moved));
	printf("%s VMs: %s SMPs to ", cli_count(x->d.lids), cli_count(x->d.smps));
	printf("%s switches in %u stage%s, ", cli_count(x->d.switches), x->d.plan.stages,
	       x->d.plan.stages == 1 ? "" : "s");
	printf("new routes for all would take %s; busiest link ", cli_count(x->d.smps_fresh));
	printf("%s, was %s\n", cli_count(x->d.after.busiest), cli_count(x->d.before.busiest));
}

static void add_thousandths(struct cli_table *x, uint64_t v)
{
	cli_table_add(x, "%llu.%llu", (unsigned long long)(v / 1000),
		      (unsigned long long)(v % 1000 / 100));
}

static void print_text(const struct tally *t)
{
	size_t step = t->rows.n / 20 + 1;
	struct cli_table x;

	printf("%s switches, %s hosts with ", cli_count(t->c.f->nswitches),
	       cli_count(t->c.hosts.n));
	printf("%s VFs; routes from all hosts to VMs, over links between switches:\n\n",
	       cli_count(t->c.room));
	cli_table_init(&x, "rrrrrrr", "event", "VMs", "mean", "busiest", "deviation",
		       "new routes: busiest", "deviation");
	for (size_t i = 0; i < t->rows.n; i += step) {
		const struct row *r = &t->rows.at[i];

		cli_table_add(&x, "%s", cli_count(r->event));
		cli_table_add(&x, "%s", cli_count(r->s.vms));
		add_thousandths(&x, r->s.now.mean);
		cli_table_add(&x, "%s", cli_count(r->s.now.busiest));
		add_thousandths(&x, r->s.now.deviation);
		cli_table_add(&x, "%s", cli_count(r->s.fresh.busiest));
		add_thousandths(&x, r->s.fresh.deviation);
	}
	cli_table_print(&x, stdout);
	printf("\n");
	for (size_t i = 0; i < t->done.n; i++)
		print_done(&t->done.at[i]);
	if (o.verify)
		printf("%s states on the way verified: %s\n", cli_count(t->states),
		       t->sound ? "no cycle, no loop, every VM reached" : "NOT SOUND");
}

/* ---- runs ---- */

static int measure(struct tally *t, uint32_t event)
{
	struct row r = {.event = event};
	struct err e;

	if (churn_measure(&t->c, &r.s, &e))
		return cli_bad("%s", e.text);
	vec_push(&t->rows, r);
	return CLI_OK;
}

static int defragment(struct tally *t, uint32_t event)
{
	struct churn_check k = {.draws = o.verify ? DRAWS : 0};
	struct done x = {.event = event};
	struct err e;
	int rc = churn_defragment(&t->c, !strcmp(o.goal, "even"), &k, &x.d, &e);

	rt_defragment_free(&x.d);
	if (rc)
		return cli_bad("%s", e.text);
	vec_push(&t->done, x);
	t->states += k.states;
	t->sound = t->sound && k.sound;
	return measure(t, event);
}

static int run(struct tally *t)
{
	unsigned step = o.sample ? o.sample : MAX(o.events / 100, 1u);
	int rc = measure(t, 0);
	struct err e;

	for (uint32_t i = 1; i <= o.events && !rc; i++) {
		cli_progress("%u of %u events", i, o.events);
		if (churn_step(&t->c, &e))
			rc = cli_bad("%s", e.text);
		if (!rc && (!(i % step) || i == o.events))
			rc = measure(t, i);
		if (!rc && o.defragment && !(i % o.defragment))
			rc = defragment(t, i);
	}
	cli_progress_end();
	return rc;
}

static int setup(struct tally *t, const char *file)
{
	struct churn_opts co = {
		.swap = !strcmp(o.scheme, "prepopulated"),
		.vfs = o.vfs,
		.load = o.load,
		.pack = o.pack,
		.seed = o.seed,
		.engine = "fera",
		.routes = {.directions = route_directions_find(), .threads = route_o.threads}};
	struct fab *f = cli_load(file);
	struct err e;
	int rc;

	if (!f)
		return CLI_BAD;
	rc = route_root_find(f, file, &co.routes.root);
	if (!rc && !o.vfs && !fab_is_virtual(f))
		rc = cli_bad("%s: no host has SR-IOV: expected --vfs N", file);
	cli_stage("computing routes");
	if (!rc && churn_make(&t->c, f, &co, &e))
		rc = cli_bad("%s: %s", file, e.text);
	cli_progress_end();
	fab_free(f);
	return rc;
}

static int route_churn(char **args, unsigned nargs UNUSED)
{
	struct tally t = {.sound = true};
	int rc;

	if (o.defragment && strcmp(o.scheme, "dynamic") != 0)
		return cli_bad("--defragment goes with --scheme dynamic: a swap keeps the routes");
	rc = setup(&t, args[0]);
	if (!rc)
		rc = run(&t);
	if (!rc && cli_json)
		rc = print_json(&t);
	else if (!rc)
		print_text(&t);
	if (!rc && !t.sound)
		rc = CLI_NO;
	vec_free(&t.rows);
	vec_free(&t.done);
	churn_free(&t.c);
	return rc;
}

static const struct cli_opt churn_opts[] = {
	{"scheme", 0, CLI_CHOICE, &o.scheme, "NAME",
	 "dynamic: a VM has a LID, and the routes of its host are copied; prepopulated: each VF has a "
	 "LID, and routes are swapped; default dynamic",
	 schemes, 0, 0},
	{"vfs", 0, CLI_UINT, &o.vfs, "N", "give each host with one port N VFs; default as in FILE",
	 NULL, 1, FAB_MAX_VFS},
	{"load", 0, CLI_UINT, &o.load, "PERCENT",
	 "VFs that have a VM, at the start and about later; default 50", NULL, 1, 95},
	{"events", 0, CLI_UINT, &o.events, "N",
	 "starts, stops and migrations, half of them migrations; default 10000", NULL, 1, 10000000},
	{"pack", 0, CLI_UINT, &o.pack, "N",
	 "a VM goes to the fullest of N hosts drawn; default 1: to any host", NULL, 1, 1000},
	{"seed", 's', CLI_U64, &o.seed, "N", "of what is drawn; default 1", NULL, 0, 0},
	{"sample", 0, CLI_UINT, &o.sample, "N",
	 "measure the balance every N events; default a hundredth of all", NULL, 1, 10000000},
	{"defragment", 0, CLI_UINT, &o.defragment, "N",
	 "every N events give VMs other routes where that restores the balance; default never",
	 NULL, 1, 10000000},
	{"goal", 0, CLI_CHOICE, &o.goal, "WHAT",
	 "of a defragmentation: fresh, as even as routes computed for the VMs where they are; even, as "
	 "even as the search gets; default fresh",
	 goals, 0, 0},
	{"verify", 0, CLI_FLAG, &o.verify, NULL,
	 "verify all tables after each stage of a defragmentation, and mixtures of old and new entries "
	 "within it",
	 NULL, 0, 0},
	ROUTE_GRAPH_OPTS,
	{0},
};

const struct cli_cmd cmd_route_churn = {
	.name = "route churn",
	.args = "FILE",
	.summary = "show how evenly links share routes to virtual machines over time",
	.about =
		"Virtual machines start, stop and migrate at random; their forwarding entries are copied or\n"
		"swapped, and no routes are computed. Counts, over each link between switches, the routes\n"
		"from all hosts to LIDs of VMs: the busiest link and the standard deviation, beside routes\n"
		"of FERa for the same VMs at the same places. --defragment gives VMs other routes, with as\n"
		"few SMPs as a search finds. Nothing is simulated: weft vm defragment asks a manager.\n"
		"\n"
		"Exit status 0, 1 when --verify finds a state that is not sound, 2 for bad input.",
	.examples =
		"weft route churn fabric.net --vfs 16 --events 10000\n"
		"weft route churn fabric.net --vfs 16 --defragment 2500 --verify --json | jq .defragmentations\n",
	.opts = churn_opts,
	.min_args = 1,
	.max_args = 1,
	.run = route_churn,
};
