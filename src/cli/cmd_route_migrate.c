/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route migrate. State: struct tally, for one run, and the options. Ways in: the table at the end.
 * Moves nothing itself: src/route/migrations.c does.
 */
#include "route/migrations.h"
#include "cli/route_report.h"

enum { DRAWS = 3 }; /* mixtures of each stage that --verify looks at */

static struct {
	const char *scheme, *vm, *to;
	unsigned vfs, random;
	uint64_t seed;
	bool classes, verify;
} o = {.scheme = "prepopulated", .seed = 1};

static const char *const schemes[] = {"prepopulated", "dynamic", NULL};

/* What is counted of each migration. */
enum figure { SMPS, TOGETHER, SWITCHES, ENTRIES, STAGES, DRAINS, NFIGURES };

static const char *const figure_name[] = {"smps",    "smps_unordered", "switches",
					  "entries", "stages",	       "drains"};

struct figures {
	VEC(uint32_t) of[NFIGURES];
};

struct tally {
	struct mig m;
	struct rng rng;
	struct figures all, by_class[MIG_NCLASSES];
	struct mig_result last;
	uint64_t states;
	bool sound;
};

/* ---- figures ---- */

static void figures_add(struct figures *f, const struct mig_result *r)
{
	const uint32_t v[NFIGURES] = {r->smps,	  r->together, r->switches,
				      r->entries, r->stages,   r->drains};

	for (int i = 0; i < NFIGURES; i++)
		vec_push(&f->of[i], v[i]);
}

static int u32_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void figures_sort(struct figures *f)
{
	for (int i = 0; i < NFIGURES; i++)
		if (f->of[i].n)
			qsort(f->of[i].at, f->of[i].n, sizeof(*f->of[i].at), u32_cmp);
}

static void figures_free(struct figures *f)
{
	for (int i = 0; i < NFIGURES; i++)
		vec_free(&f->of[i]);
}

/* In thousandths, rounded. */
static uint64_t mean_of(const struct figures *f, int i)
{
	uint64_t sum = 0, n = f->of[i].n;

	for (size_t k = 0; k < n; k++)
		sum += f->of[i].at[k];
	return n ? (sum * 1000 + n / 2) / n : 0;
}

static void tally_add(struct tally *t, const struct mig_result *r)
{
	t->last = *r;
	t->states += r->states;
	t->sound = t->sound && r->sound;
	figures_add(&t->all, r);
	figures_add(&t->by_class[r->class], r);
}

/* ---- output ---- */

static void json_figures(struct json *j, const struct figures *f)
{
	for (int i = 0; i < NFIGURES; i++) {
		json_open(j, figure_name[i], '{');
		json_u64(j, "min", f->of[i].n ? f->of[i].at[0] : 0);
		json_fixed(j, "mean", mean_of(f, i), 3);
		json_u64(j, "max", f->of[i].n ? f->of[i].at[f->of[i].n - 1] : 0);
		json_close(j);
	}
}

/* SMPs that so many percent of the migrations do not exceed. */
static void json_percentiles(struct json *j, const struct figures *f)
{
	json_open(j, "percentiles", '{');
	json_open(j, "percent", '[');
	for (unsigned p = 0; p <= 100; p += 5)
		json_u64(j, NULL, p);
	json_close(j);
	json_open(j, "smps", '[');
	for (unsigned p = 0; p <= 100; p += 5)
		json_u64(j, NULL, f->of[SMPS].at[(f->of[SMPS].n - 1) * p / 100]);
	json_close(j);
	json_close(j);
}

static void json_head(struct json *j, const struct tally *t)
{
	const struct fab *f = t->m.f;
	uint64_t blocks = t->m.lids / 64 + 1;

	json_str(j, "engine", route_o.engine);
	json_str(j, "scheme", o.scheme);
	json_u64(j, "vfs", o.vfs);
	json_u64(j, "hosts", f->nhosts);
	json_u64(j, "switches_all", f->nswitches);
	json_u64(j, "lids", t->m.lids);
	json_u64(j, "blocks", blocks);
	json_u64(j, "smps_full", blocks * f->nswitches);
	json_u64(j, "migrations", t->all.of[SMPS].n);
	json_u64(j, "smps_hypervisors", 2);
	json_u64(j, "routes_computed", 0);
}

static int print_json(const struct tally *t)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_head(&j, t);
	json_figures(&j, &t->all);
	json_percentiles(&j, &t->all);
	json_open(&j, "classes", '{');
	for (int c = 0; c < MIG_NCLASSES; c++) {
		json_open(&j, mig_class_name[c], '{');
		json_u64(&j, "migrations", t->by_class[c].of[SMPS].n);
		json_figures(&j, &t->by_class[c]);
		json_close(&j);
	}
	json_close(&j);
	json_u64(&j, "lid", t->last.lid);
	json_str(&j, "why_ordered", t->last.why);
	json_u64(&j, "states_verified", t->states);
	if (o.verify)
		json_bool(&j, "verified", t->sound);
	else
		json_none(&j, "verified");
	json_close(&j);
	return cli_print_json(&j);
}

static void table_row(struct cli_table *t, const char *name, const struct figures *f)
{
	const int shown[] = {SMPS, SWITCHES, STAGES};

	if (!f->of[SMPS].n)
		return;
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(f->of[SMPS].n));
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		uint64_t mean = mean_of(f, shown[i]);
		size_t n = f->of[shown[i]].n;

		cli_table_add(t, "%s", cli_count(f->of[shown[i]].at[0]));
		cli_table_add(t, "%llu.%llu", (unsigned long long)(mean / 1000),
			      (unsigned long long)(mean % 1000 / 100));
		cli_table_add(t, "%s", cli_count(f->of[shown[i]].at[n - 1]));
	}
}

static void print_text(const struct tally *t)
{
	const struct fab *f = t->m.f;
	struct cli_table x;

	printf("%s switches, %s hosts, LIDs up to %s: ", cli_count(f->nswitches),
	       cli_count(f->nhosts), cli_count(t->m.lids));
	printf("%s SMPs write all tables\n",
	       cli_count((uint64_t)f->nswitches * (t->m.lids / 64 + 1)));
	cli_table_init(&x, "lrrrrrrrrrr", "hosts", "migrations", "SMPs", "mean", "max", "switches",
		       "mean", "max", "stages", "mean", "max");
	for (int c = 0; c < MIG_NCLASSES; c++)
		table_row(&x, mig_class_name[c], &t->by_class[c]);
	table_row(&x, "all", &t->all);
	cli_table_print(&x, stdout);
	if (t->all.of[SMPS].n == 1 && t->last.why[0])
		printf("%s\n", t->last.why);
	if (o.verify)
		printf("%s states on the way verified: %s\n", cli_count(t->states),
		       t->sound ? "no cycle, no loop, no other pair cut off" : "NOT SOUND");
}

/* ---- runs ---- */

static int run_one(struct tally *t, uint32_t vm, uint32_t to)
{
	struct mig_result r;
	struct err e;

	if (mig_run(&t->m, vm, to, o.verify ? DRAWS : 0, &t->rng, &r, &e))
		return cli_bad("%s", e.text);
	tally_add(t, &r);
	return CLI_OK;
}

static int run_random(struct tally *t, const char *file)
{
	bool none[MIG_NCLASSES + 1] = {false}; /* no such pair */
	uint32_t vm, to;
	int rc = CLI_OK;

	for (unsigned i = 0; i < o.random && !rc; i++) {
		enum mig_class want = o.classes ? (enum mig_class)(i % MIG_NCLASSES) : MIG_NCLASSES;

		cli_progress("%u of %u migrations", i, o.random);
		if (!none[want] && mig_draw(&t->m, &t->rng, want, &vm, &to))
			rc = run_one(t, vm, to);
		else
			none[want] = true;
	}
	cli_progress_end();
	if (!rc && !t->all.of[SMPS].n)
		rc = cli_bad("%s: no two hosts on switches to migrate between", file);
	return rc;
}

/* HOST or HOST:VF. A VF that is not named is the first one. */
static int slot_find(const struct mig *m, const char *option, const char *text, uint32_t *at)
{
	char *name = mem_strdup(text), *colon = strrchr(name, ':');
	uint64_t slot = 0;
	node_id n = fab_node_by_text(m->f, text);
	int rc = CLI_OK;

	if (n == FAB_NONE && colon && !parse_u64(colon + 1, &slot) && slot <= FAB_MAX_VFS)
		*colon = 0;
	if (n == FAB_NONE)
		rc = cli_find_node(m->f, option, name, &n);
	free(name);
	if (rc)
		return rc;
	*at = mig_find(m, n, (unsigned)slot);
	if (*at == FAB_NONE && !slot)
		*at = mig_find(m, n, 1);
	if (*at == FAB_NONE && slot && !m->swap) /* dynamic: any VF of the host will do */
		*at = mig_find(m, n, 0);
	if (*at == FAB_NONE)
		return cli_bad("%s: '%s' has no such VF, or is no host with one port on a switch",
			       option, text);
	return CLI_OK;
}

static int run_named(struct tally *t)
{
	uint32_t vm, to;

	if (slot_find(&t->m, "--vm", o.vm, &vm) || slot_find(&t->m, "--to", o.to, &to))
		return CLI_BAD;
	if (t->m.slots.at[vm].host == t->m.slots.at[to].host)
		return cli_bad("--to: '%s' is the host where the VM is", o.to);
	return run_one(t, vm, to);
}

static int setup(struct tally *t, const char *file)
{
	struct mig_opts mo = {
		.swap = !strcmp(o.scheme, "prepopulated"),
		.vfs = o.vfs,
		.engine = route_o.engine,
		.routes = {.directions = route_directions_find(), .threads = route_o.threads}};
	struct fab *f = cli_load(file);
	struct err e;
	int rc;

	if (!f)
		return CLI_BAD;
	rng_seed(&t->rng, o.seed, 0);
	t->sound = true;
	rc = route_root_find(f, file, &mo.routes.root);
	cli_stage("computing routes");
	if (!rc && mig_make(&t->m, f, &mo, &e))
		rc = cli_bad("%s: %s", file, e.text);
	cli_progress_end();
	fab_free(f);
	return rc;
}

static int route_migrate(char **args, unsigned nargs UNUSED)
{
	struct tally t = {0};
	int rc;

	if (!o.vm != !o.to || !o.vm == !o.random)
		return cli_bad("needs either --vm and --to, or --random");
	if (route_o.engine == route_engine_default)
		route_o.engine = rt_fera.name;
	if (rt_engine_find(route_o.engine)->lanes)
		return cli_bad("engine %s needs lanes, with which LIDs cannot move yet",
			       route_o.engine);
	rc = setup(&t, args[0]);
	if (!rc)
		rc = o.random ? run_random(&t, args[0]) : run_named(&t);
	figures_sort(&t.all);
	for (int c = 0; c < MIG_NCLASSES; c++)
		figures_sort(&t.by_class[c]);
	if (!rc && cli_json)
		rc = print_json(&t);
	else if (!rc)
		print_text(&t);
	if (!rc && !t.sound)
		rc = CLI_NO;
	figures_free(&t.all);
	for (int c = 0; c < MIG_NCLASSES; c++)
		figures_free(&t.by_class[c]);
	mig_free(&t.m);
	return rc;
}

static const struct cli_opt migrate_opts[] = {
	{"vm", 0, CLI_STR, &o.vm, "HOST[:VF]",
	 "where the VM is: GUID or name of a host; default VF 1", NULL, 0, 0},
	{"to", 0, CLI_STR, &o.to, "HOST[:VF]", "where it goes", NULL, 0, 0},
	{"random", 0, CLI_UINT, &o.random, "N", "instead: N migrations drawn one after another",
	 NULL, 1, 1000000},
	{"classes", 0, CLI_FLAG, &o.classes, NULL,
	 "with --random: in turn inside a switch, between switches with a common neighbour, and farther",
	 NULL, 0, 0},
	{"seed", 's', CLI_U64, &o.seed, "N", "of what is drawn; default 1", NULL, 0, 0},
	{"scheme", 0, CLI_CHOICE, &o.scheme, "NAME",
	 "prepopulated: each VF has a LID, two columns of the tables are swapped; dynamic: a VM has a LID, "
	 "the column of its new host is copied; default prepopulated",
	 schemes, 0, 0},
	{"vfs", 0, CLI_UINT, &o.vfs, "N",
	 "give each host with one port N VFs; default as in FILE, and without any the LID of a host "
	 "stands for that of its VM",
	 NULL, 1, FAB_MAX_VFS},
	{"verify", 0, CLI_FLAG, &o.verify, NULL,
	 "verify all tables after each stage, and mixtures of old and new entries within it", NULL,
	 0, 0},
	{"engine", 'e', CLI_CHOICE, &route_o.engine, "NAME", "routing engine; default fera",
	 rt_engine_names, 0, 0},
	ROUTE_GRAPH_OPTS,
	{0},
};

const struct cli_cmd cmd_route_migrate = {
	.name = "route migrate",
	.args = "FILE",
	.summary = "count what migrations of virtual machines change in the tables",
	.about =
		"Computes routes, then moves LIDs of virtual machines from host to host without computing\n"
		"routes again: forwarding entries are swapped or copied where they differ. Counts the SMPs\n"
		"that write the changed blocks, the switches they go to, and the stages in which they must\n"
		"be sent so that no mixture of old and new entries lets packets loop or deadlock. Inside\n"
		"one leaf switch only its own table changes. Nothing is simulated: weft sim migrate does\n"
		"the same with a manager and devices.\n"
		"\n"
		"Exit status 0, 1 when --verify finds a state that is not sound, 2 for bad input.",
	.examples =
		"weft route migrate fabric.net --vm 'host 0' --to 'host 9' --scheme dynamic --verify\n"
		"weft route migrate fabric.net --vfs 4 --random 1000 --classes --json | jq .classes\n",
	.opts = migrate_opts,
	.min_args = 1,
	.max_args = 1,
	.run = route_migrate,
};
