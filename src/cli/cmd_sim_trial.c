/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim trial: random subnets under random failures, or under load while they change. Keeps the
 * options of the command. Way in: cmd_sim_trial. Does not draw, run or judge: src/trial does.
 */
#include "base/rng.h"
#include "cli/cli.h"
#include "cli/seat_text.h"
#include "cli/swarm_report.h"
#include "trial/change_trial.h"
#include "trial/fault_trial.h"
#include "trial/multicast_trial.h"
#include "trial/vm_trial.h"

enum {
	FEW = 20, /* up to so many trials, each has a line; beyond, only those that failed */
	SEATS_MAX = 16
};

static struct {
	const struct sm_mechanism *mechanism; /* NULL: drawn */
	unsigned max_switches, count;
	uint64_t seed;
	bool change, swarm, vms, multicast, cuts, partitions;
	unsigned groups;		     /* of --multicast */
	const char *engines;		     /* NULL: those of the mechanism */
	unsigned migrations, given_switches; /* of --vms; --max-switches */
	cli_strings sm, fabrics;
	struct swarm_opts more; /* of --swarm and --replay */
} o = {.count = 1, .seed = 1, .groups = 60, .more = {.save = "swarm-failures"}};

/* ---- reports ---- */

static void change_trial_json(struct json *j, const struct change_trial *t)
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
	json_u64(j, "circle", t->circle);
	json_u64(j, "looks", t->looks);
	json_u64(j, "events", t->sim_events);
	json_seconds(j, "time_s", t->end);
	json_hex64(j, "trace_hash", t->hash);
	json_close(j);
}

static void change_trial_text(const struct change_trial *t)
{
	printf("seed %llu: %s  %s, %u switches, %u hosts, %u changes, load %u%%, loss %.1f%%, %s packets, ",
	       (unsigned long long)t->seed, t->ok ? "ok" : "FAILED", t->mechanism, t->switches,
	       t->hosts, t->changes, t->load, 100 * t->loss, cli_count(t->packets));
	printf("%s discarded, %s looks, hash %016llx%s%s\n", cli_count(t->lost),
	       cli_count(t->looks), (unsigned long long)t->hash, t->ok ? "" : ": ", t->why);
}

static void trial_json(struct json *j, const struct fault_trial *t)
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

static void trial_text(const struct fault_trial *t)
{
	printf("seed %llu: %s  %s, %u switches, %u hosts, %u failures, loss %.1f%%, %s SMPs, %s, hash %016llx%s%s\n",
	       (unsigned long long)t->seed, t->ok ? "ok" : "FAILED",
	       t->mechanism ? t->mechanism : "-", t->switches, t->hosts, t->events, 100 * t->loss,
	       cli_count(t->smps), cli_duration(t->end), (unsigned long long)t->hash,
	       t->ok ? "" : ": ", t->why);
}

/* ---- weft sim trial ---- */

static const char *const engine_words[] = {"random", NULL};

/* The mechanism that options choose; without any, the seed draws one. */
static int choose_mechanism(void)
{
	static struct settings s;
	struct err e;
	int rc;

	if (!cli_setting_given(NULL))
		return CLI_OK;
	settings_default_sim(&s);
	rc = cli_settings_apply(&s, &e);
	if (!cli_setting_given("routes")) /* --engines draws others; a seed stays the same trial */
		s.sm.mechanism.routes = sm_mechanism_find(s.sm.mechanism.name)->routes;
	if (!rc)
		rc = sm_mechanism_check(&s.sm.mechanism, &e);
	o.mechanism = &s.sm.mechanism;
	return rc && rc != -EDEADLK ? cli_bad("%s", e.text) : CLI_OK;
}

/* Over all trials. */
struct total {
	uint64_t hash, events, migrations;
};

/* NULL: the trial draws it. */
static const struct sm_mechanism *mechanism_for(uint64_t seed, struct trial_engine *drawn)
{
	if (!o.engines)
		return o.mechanism;
	trial_draw_engine(seed, drawn);
	return &drawn->mechanism;
}

static bool one_trial(uint64_t seed, struct json *j, struct total *all)
{
	struct fault_trial t;

	struct trial_engine drawn;

	fault_trial_run(seed, o.max_switches, mechanism_for(seed, &drawn), &t);
	all->hash = hash64_add(all->hash, t.hash);
	all->events += t.sim_events;
	if (cli_json)
		trial_json(j, &t);
	else if (o.count <= FEW || !t.ok)
		trial_text(&t);
	return t.ok;
}

static bool one_change_trial(uint64_t seed, struct json *j, struct total *all)
{
	struct change_trial t;

	struct trial_engine drawn;

	change_trial_run(seed, o.max_switches, mechanism_for(seed, &drawn), &t);
	all->hash = hash64_add(all->hash, t.hash);
	all->events += t.sim_events;
	if (cli_json)
		change_trial_json(j, &t);
	else if (o.count <= FEW || !t.ok)
		change_trial_text(&t);
	return t.ok;
}

static void vm_trial_json(struct json *j, const struct vm_trial *t)
{
	json_open(j, NULL, '{');
	json_u64(j, "seed", t->seed);
	json_bool(j, "ok", t->ok);
	json_str(j, "why", t->why);
	json_str(j, "fabric", t->fabric);
	json_str(j, "mechanism", t->mechanism);
	json_str(j, "scheme", t->scheme);
	json_u64(j, "switches", t->switches);
	json_u64(j, "hosts", t->hosts);
	json_u64(j, "vfs", t->vfs);
	json_u64(j, "managers", t->managers);
	json_u64(j, "requests", t->requests);
	json_u64(j, "done", t->done);
	json_u64(j, "migrations", t->migrations);
	json_u64(j, "refused", t->refused);
	json_u64(j, "lost", t->lost);
	json_u64(j, "restarts", t->restarts);
	json_u64(j, "changes", t->changes);
	json_u64(j, "cuts", t->cuts);
	json_u64(j, "checks", t->checks);
	json_u64(j, "predicted", t->predicted);
	json_double(j, "loss", t->loss);
	json_seconds(j, "time_s", t->end);
	json_hex64(j, "trace_hash", t->hash);
	json_close(j);
}

static void vm_trial_text(const struct vm_trial *t)
{
	printf("seed %llu: %s  %s, %s, %s, %u switches, %u hosts of %u VFs, %u managers, %u requests: %u done, ",
	       (unsigned long long)t->seed, t->ok ? "ok" : "FAILED", t->fabric, t->mechanism,
	       t->scheme, t->switches, t->hosts, t->vfs, t->managers, t->requests, t->done);
	printf("%u of them migrations, %u refused; %u failures, %u managers crashed, cut in two %u times, loss %.1f%%, tables predicted %u of %u times, ",
	       t->migrations, t->refused, t->changes, t->restarts, t->cuts, 100 * t->loss,
	       t->predicted, t->checks);
	printf("hash %016llx%s%s\n", (unsigned long long)t->hash, t->ok ? "" : ": ", t->why);
}

static bool one_vm_trial(uint64_t seed, const char *fabric, struct json *j, struct total *all)
{
	struct vm_trial t;

	vm_trial_run(seed,
		     &(struct vm_trial_opts){.max_switches = o.max_switches,
					     .fabric = fabric,
					     .migrations = o.migrations,
					     .cuts = o.cuts,
					     .partitions = o.partitions,
					     .mechanism = o.mechanism},
		     &t);
	all->hash = hash64_add(all->hash, t.hash);
	all->migrations += t.migrations;
	if (cli_json)
		vm_trial_json(j, &t);
	else if (o.count <= FEW || !t.ok)
		vm_trial_text(&t);
	return t.ok;
}

static void multicast_trial_json(struct json *j, const struct multicast_trial *t)
{
	json_open(j, NULL, '{');
	json_u64(j, "seed", t->seed);
	json_bool(j, "ok", t->ok);
	json_str(j, "why", t->why);
	json_str(j, "fabric", t->fabric);
	json_str(j, "mechanism", t->mechanism);
	json_u64(j, "switches", t->switches);
	json_u64(j, "hosts", t->hosts);
	json_u64(j, "groups", t->groups);
	json_u64(j, "joins", t->joins);
	json_u64(j, "leaves", t->leaves);
	json_u64(j, "changes", t->changes);
	json_u64(j, "restarts", t->restarts);
	json_u64(j, "checks", t->checks);
	json_u64(j, "blocks", t->blocks);
	json_u64(j, "computed_for_some", t->some);
	json_double(j, "loss", t->loss);
	json_seconds(j, "time_s", t->end);
	json_hex64(j, "trace_hash", t->hash);
	json_close(j);
}

static void multicast_trial_text(const struct multicast_trial *t)
{
	printf("seed %llu: %s  %s, %s, %u switches, %u hosts, %u groups, %u joins, %u leaves, ",
	       (unsigned long long)t->seed, t->ok ? "ok" : "FAILED", t->fabric, t->mechanism,
	       t->switches, t->hosts, t->groups, t->joins, t->leaves);
	printf("%u failures, %u restarts of the manager, loss %.1f%%, trees right %u times, ",
	       t->changes, t->restarts, 100 * t->loss, t->checks);
	printf("hash %016llx%s%s\n", (unsigned long long)t->hash, t->ok ? "" : ": ", t->why);
}

static bool one_multicast_trial(uint64_t seed, const char *fabric, struct json *j,
				struct total *all)
{
	struct multicast_trial t;
	struct trial_engine drawn;

	multicast_trial_run(
		seed,
		&(struct multicast_trial_opts){.max_switches = o.max_switches,
					       .groups = o.groups,
					       .fabric = fabric,
					       .mechanism = mechanism_for(seed, &drawn)},
		&t);
	all->hash = hash64_add(all->hash, t.hash);
	if (cli_json)
		multicast_trial_json(j, &t);
	else if (o.count <= FEW || !t.ok)
		multicast_trial_text(&t);
	return t.ok;
}

/* On each fabric that was chosen; without any, on one that the seed draws. */
static unsigned on_fabrics(uint64_t seed, struct json *j, struct total *all)
{
	bool (*one)(uint64_t, const char *, struct json *, struct total *) =
		o.vms ? one_vm_trial : one_multicast_trial;
	unsigned failed = 0;

	if (!o.fabrics.n)
		return !one(seed, NULL, j, all);
	for (size_t i = 0; i < o.fabrics.n; i++)
		failed += !one(seed, o.fabrics.at[i], j, all);
	return failed;
}

static int check_fabrics(void)
{
	const char *const *names = o.vms ? vm_fabrics : multicast_fabrics;

	if ((o.migrations || o.cuts || o.partitions) && !o.vms)
		return cli_bad("expected --migrations, --cuts and --partitions with --vms");
	if (o.fabrics.n && !o.vms && !o.multicast)
		return cli_bad("expected --fabric with --vms or --multicast");
	if (o.fabrics.n && o.given_switches)
		return cli_bad("a fabric with a name has its size: expected --fabric or "
			       "--max-switches, found both");
	for (size_t i = 0; i < o.fabrics.n; i++) {
		unsigned k = 0;

		while (names[k] && strcmp(names[k], o.fabrics.at[i]))
			k++;
		if (!names[k])
			return cli_bad("--fabric '%.60s': expected %s", o.fabrics.at[i],
				       o.vms ? "tree, torus, dragonfly, irregular or odd"
					     : "tree or irregular");
	}
	return CLI_OK;
}

static unsigned run_trials(struct json *j, struct total *all)
{
	unsigned failed = 0;

	for (unsigned i = 0; i < o.count; i++) {
		cli_progress("trial %u of %u, %u failed", i + 1, o.count, failed);
		if (o.vms || o.multicast)
			failed += on_fabrics(o.seed + i, j, all);
		else if (o.change)
			failed += !one_change_trial(o.seed + i, j, all);
		else
			failed += !one_trial(o.seed + i, j, all);
	}
	cli_progress_end();
	return failed;
}

/* A trial's fabric is drawn, so a manager's place is a kind of node. */
static int make_seat(const char *text, struct swarm_seat *s)
{
	static const char *const places[] = {
		[SWARM_ANY] = "any", [SWARM_HOST] = "host", [SWARM_SWITCH] = "switch"};
	struct seat_text t;
	struct err e;
	unsigned i = 0;

	if (seat_text_parse(text, &t, &e))
		return cli_bad("%s", e.text);
	while (i < ARRAY_LEN(places) && strcmp(places[i], t.node))
		i++;
	if (i == ARRAY_LEN(places))
		return cli_bad("--sm '%.60s': each seed draws its own fabric: expected host, "
			       "switch or any, found '%.60s'",
			       text, t.node);
	*s = (struct swarm_seat){(enum swarm_where)i, t.has_priority, t.has_start,
				 t.priority,	      t.start,	      t.mechanism};
	return CLI_OK;
}

static int make_seats(void)
{
	static struct swarm_seat seats[SEATS_MAX];

	if (o.sm.n && o.more.managers.most)
		return cli_bad("expected --sm or --managers, found both");
	if (o.sm.n > SEATS_MAX)
		return cli_bad("expected --sm at most %d times, found %zu", SEATS_MAX,
			       (size_t)o.sm.n);
	for (size_t i = 0; i < o.sm.n; i++)
		if (make_seat(o.sm.at[i], &seats[i]))
			return CLI_BAD;
	o.more.managers.seats = seats;
	o.more.managers.nseats = (unsigned)o.sm.n;
	if (!o.more.managers.most)
		o.more.managers.most = SWARM_MANAGERS;
	return CLI_OK;
}

static int swarm_or_replay(void)
{
	if (o.change || o.vms || o.multicast || o.max_switches || cli_setting_given(NULL) ||
	    (o.swarm && o.more.replay))
		return cli_bad(
			"--swarm and --replay draw or read everything else: expected one of them "
			"without --change, --vms, --multicast, --max-switches and settings of the manager");
	if (o.more.replay)
		return o.sm.n ? cli_bad("a schedule has its managers in lines 'manager NODE ...': "
					"expected --replay without --sm")
			      : swarm_replay(&o.more);
	o.more.seed = o.seed;
	o.more.count = o.count;
	return make_seats() ? CLI_BAD : swarm_trials(&o.more);
}

static int sim_trial(char **args, unsigned nargs)
{
	struct json j = {0};
	struct total all = {0};
	unsigned failed;

	(void)args;
	(void)nargs;
	if (o.more.replay || o.swarm)
		return swarm_or_replay();
	if (o.sm.n)
		return cli_bad("trials with --change and of bring-ups have one manager, at a node "
			       "that the seed draws: expected --swarm with --sm");
	if (o.change && o.max_switches && o.max_switches < 4)
		return cli_bad("--change needs 4 switches or more, found --max-switches %u",
			       o.max_switches);
	if (o.change + o.vms + o.multicast > 1)
		return cli_bad("expected one of --change, --vms and --multicast");
	if (o.multicast && o.max_switches && o.max_switches < 4)
		return cli_bad("--multicast needs 4 switches or more, found --max-switches %u",
			       o.max_switches);
	o.given_switches = o.max_switches;
	if (o.engines && (o.vms || o.swarm || cli_setting_given(NULL)))
		return cli_bad(
			"--engines draws engines for trials of bring-ups and of changes, without "
			"--vms, --swarm and settings of the manager");
	if (check_fabrics() || choose_mechanism())
		return CLI_BAD;
	if (!o.max_switches)
		o.max_switches = o.vms ? 10 : o.multicast ? 16 : o.change ? 32 : 128;
	json_open(&j, NULL, '{');
	json_open(&j, "trials", '[');
	failed = run_trials(&j, &all);
	json_close(&j);
	json_u64(&j, "failed", failed);
	if (o.vms)
		json_u64(&j, "migrations", all.migrations);
	else
		json_u64(&j, "events", all.events);
	json_hex64(&j, "trace_hash", all.hash);
	json_close(&j);
	if (cli_json) {
		if (cli_print_json(&j))
			return CLI_BAD;
	} else {
		json_free(&j);
		printf("%u trials, %u failed, ", o.count * (unsigned)MAX(o.fabrics.n, (size_t)1),
		       failed);
		if (o.vms)
			printf("%s migrations, ", cli_count(all.migrations));
		printf("hash %016llx\n", (unsigned long long)all.hash);
	}
	return failed ? CLI_NO : CLI_OK;
}

/* clang-format off */
static const struct cli_opt trial_opts[] = {
	{.name = "seed", .type = CLI_U64, .dst = &o.seed, .arg = "N",
	 .help = "the first seed (default 1)"},
	{.name = "count", .type = CLI_UINT, .dst = &o.count, .arg = "N", .min = 1, .max = 100000000,
	 .help = "number of seeds (default 1)"},
	{.name = "max-switches", .type = CLI_UINT, .dst = &o.max_switches, .arg = "N", .min = 2, .max = 1024,
	 .help = "size of the largest subnet (default 128; with --change 32, with --multicast 16, with --vms 10)"},
	{.name = "engines", .type = CLI_CHOICE, .dst = &o.engines, .arg = "HOW", .choices = engine_words,
	 .help = "random: the seed draws an engine, lanes included, and the mechanism weft or basic"},
	{.name = "change", .type = CLI_FLAG, .dst = &o.change,
	 .help = "changes under load, with checks at every change of a device"},
	{.name = "vms", .type = CLI_FLAG, .dst = &o.vms,
	 .help = "virtual machines that start, stop and migrate, while devices fail and managers crash"},
	{.name = "multicast", .type = CLI_FLAG, .dst = &o.multicast,
	 .help = "multicast groups with joins and leaves, while links and switches fail and the manager restarts"},
	{.name = "groups", .type = CLI_UINT, .dst = &o.groups, .arg = "N", .min = 1, .max = 1000,
	 .help = "with --multicast: at most so many; with --fabric, so many (default 60)"},
	{.name = "fabric", .type = CLI_LIST, .dst = &o.fabrics, .arg = "NAME",
	 .help = "with --vms: tree, torus, dragonfly, irregular or odd; with --multicast: tree (8-port 3-tree) or irregular; "
		 "repeated: each seed on each of them (default: a small one that the seed draws)"},
	{.name = "migrations", .type = CLI_UINT, .dst = &o.migrations, .arg = "N", .min = 1, .max = 1000000,
	 .help = "with --vms: each trial goes on until so many were carried out (default: a few)"},
	{.name = "cuts", .type = CLI_FLAG, .dst = &o.cuts,
	 .help = "with --vms: two managers or more, and the subnet is cut in two between them, managed in both parts and joined"},
	{.name = "partitions", .type = CLI_FLAG, .dst = &o.partitions,
	 .help = "with --vms: machines have P_Keys of their own, which functions and switches have before packets reach them"},
	{.name = "swarm", .type = CLI_FLAG, .dst = &o.swarm,
	 .help = "several managers and faults of all kinds, drawn from the seed"},
	{.name = "managers", .type = CLI_UINT, .dst = &o.more.managers.most, .arg = "K", .min = 1, .max = SEATS_MAX,
	 .help = "with --swarm: at most so many managers (default 4)"},
	{.name = "sm", .type = CLI_LIST, .dst = &o.sm, .arg = "PLACE[:PRIORITY][@TIME][,MECHANISM]",
	 .help = "with --swarm: a manager of every seed, on a host, a switch or any node, which the seed draws "
		 "like all that is not given; repeated: several managers"},
	{.name = "save", .type = CLI_STR, .dst = &o.more.save, .arg = "DIR",
	 .help = "with --swarm: directory for the shrunk schedules of failing seeds (default swarm-failures)"},
	{.name = "replay", .type = CLI_STR, .dst = &o.more.replay, .arg = "FILE",
	 .help = "run this schedule"},
	{.name = "timeline", .letter = 't', .type = CLI_FLAG, .dst = &o.more.timeline,
	 .help = "with --replay: print what happens"},
	{.name = "svg", .type = CLI_STR, .dst = &o.more.svg, .arg = "OUT",
	 .help = "with --replay: draw every manager's state over time"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_sim_trial = {
	.name = "sim trial",
	.args = "",
	.summary = "run random subnets under random failures and check the result",
	.about =
		"Each seed draws an irregular subnet of 2 to --max-switches switches, the manager's settings, lost, "
		"delayed and doubled SMPs, and links and switches that fail and return while the manager works. At "
		"the end every port must be active and every route verified. The same seed gives the same run: "
		"a failure that a test reports can be repeated with it.\n\n"
		"With --change, hosts send at 5 to 40 % of their links while switches and links fail and recover, one "
		"by one, together or overlapping. Whenever a device changes, tables, ports and mappings must leave no "
		"cycle of dependencies, and packets must never deadlock. At the end all physically connected hosts have "
		"routes to each other, LIDs are unchanged, tables equal those of a computation from scratch, and all "
		"packets and credits are accounted for.\n\n"
		"With --vms, hosts have virtual functions, and virtual machines start, stop and migrate while SMPs are lost, "
		"devices fail and restart and managers crash, of which there may be several. At no moment may a LID be at two "
		"functions or the tables have a cycle of dependencies. At rest each virtual machine is where the answers say, with "
		"its LID, vGUID and GID, all switches lead there, and tables are those that copies and swaps predict.\n\n"
		"With --swarm, each seed draws a fabric, several managers and a schedule of faults: crashes, pauses, cuts, "
		"losses, reboots, a rogue manager and others, without a random half of the kinds. Two masters must not reach "
		"each other for long, and in the end there is one master in each part, at rest, with a correct subnet. A "
		"failing seed is shrunk to the shortest schedule that still fails and written to a file; --replay runs such a "
		"file, tells its story and draws it.",
	.examples =
		"weft sim trial --seed 1980\nweft sim trial --seed 1 --count 2000\n"
		"weft sim trial --seed 42 --max-switches 16 --json\n"
		"weft sim trial --change --seed 7 --count 100\n"
		"weft sim trial --change --engines random --count 10\n"
		"weft sim trial --vms --seed 3 --count 10\n"
		"weft sim trial --vms --cuts --seed 3 --count 10\n"
		"weft sim trial --vms --fabric tree --fabric torus --migrations 200 --seed 1\n"
		"weft sim trial --swarm --seed 1 --count 20\n"
		"weft sim trial --swarm --count 20 --sm host:3,weft --sm switch:9@20ms,improved\n"
		"weft sim trial --replay pause.schedule --timeline --svg story.svg",
	.opts = trial_opts,
	.settings = SETTING_FOR_TRIAL,
	.min_args = 0,
	.max_args = 0,
	.run = sim_trial,
};
