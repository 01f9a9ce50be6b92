/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim storm: many virtual machines start on a simulated fabric. Keeps the options of the command. Way in:
 * cmd_sim_storm. Does not simulate anything itself: src/lab/vm_storm.c does.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/manager_opts.h"
#include "cli/rft_opts.h"
#include "lab/migrate.h"
#include "lab/vm_storm.h"

enum { POINTS = 50 }; /* of the lists over time */

#define MOST_WITHIN (4000 * PS_PER_S)

static const char *const schemes[] = {"dynamic", "prepopulated", "shared", NULL};

static struct {
	const char *scheme;
	unsigned vfs, vms;
	time_ps within, limit;
} o = {.vms = 1000, .within = PS_PER_S, .limit = 1000 * PS_PER_S};

/* ---- figures ---- */

struct sums {
	uint64_t hypervisors, tables;
	VEC(time_ps) waits; /* from the request to the answer, the shortest first */
	VEC(time_ps) ends;  /* after the first request could come, the first one first */
	time_ps all;	    /* waits added up */
};

static int time_cmp(const void *a, const void *b)
{
	time_ps x = *(const time_ps *)a, y = *(const time_ps *)b;

	return (x > y) - (x < y);
}

static struct sums sums_of(const struct lab_storm_result *r)
{
	struct sums s = {0};

	for (size_t i = 0; i < r->vms.n; i++) {
		const struct lab_storm_vm *v = &r->vms.at[i];
		time_ps end = v->r.ended - MIN(r->from, v->r.ended);

		s.hypervisors += v->r.smps_hypervisors;
		s.tables += v->r.smps_tables;
		if (v->r.rc || !v->r.ended)
			continue;
		vec_push(&s.ends, end);
		vec_push(&s.waits, end - MIN(end, v->asked));
		s.all += end - MIN(end, v->asked);
	}
	if (s.ends.n) {
		qsort(s.ends.at, s.ends.n, sizeof(*s.ends.at), time_cmp);
		qsort(s.waits.at, s.waits.n, sizeof(*s.waits.at), time_cmp);
	}
	return s;
}

static void sums_free(struct sums *s)
{
	vec_free(&s->waits);
	vec_free(&s->ends);
}

static time_ps wait_at(const struct sums *s, unsigned percent)
{
	return s->waits.n ? s->waits.at[(s->waits.n - 1) * percent / 100] : 0;
}

static bool is_verified(const struct lab_storm_result *r)
{
	return r->up && !r->why[0] && r->v.active && r->v.verified && r->v.lids_unique &&
	       r->v.complete;
}

static const char *reason(const struct lab_storm_result *r)
{
	return r->why[0] ? r->why : r->v.why;
}

/* ---- output ---- */

static void json_waits(struct json *j, const struct sums *s)
{
	json_open(j, "wait", '{');
	json_seconds(j, "min_s", wait_at(s, 0));
	json_seconds(j, "mean_s", s->waits.n ? s->all / s->waits.n : 0);
	json_seconds(j, "median_s", wait_at(s, 50));
	json_seconds(j, "p99_s", wait_at(s, 99));
	json_seconds(j, "max_s", wait_at(s, 100));
	json_close(j);
	json_open(j, "waits", '{');
	json_open(j, "percent", '[');
	for (unsigned p = 0; p <= 100; p += 5)
		json_u64(j, NULL, p);
	json_close(j);
	json_open(j, "time_s", '[');
	for (unsigned p = 0; p <= 100; p += 5)
		json_seconds(j, NULL, wait_at(s, p));
	json_close(j);
	json_close(j);
}

/* VMs that were requested, and that run, at points of time. */
static void json_over_time(struct json *j, const struct lab_storm_result *r, const struct sums *s)
{
	size_t asked = 0, runs = 0;

	json_open(j, "over_time", '[');
	for (unsigned i = 0; i <= POINTS; i++) {
		time_ps t = r->time / POINTS * i + (i == POINTS ? r->time % POINTS : 0);

		while (asked < r->vms.n && r->vms.at[asked].asked <= t)
			asked++;
		while (runs < s->ends.n && s->ends.at[runs] <= t)
			runs++;
		json_open(j, NULL, '{');
		json_seconds(j, "time_s", t);
		json_u64(j, "requested", asked);
		json_u64(j, "running", runs);
		json_close(j);
	}
	json_close(j);
}

static void report_json(struct json *j, const struct lab_storm_result *r, const struct sums *s)
{
	json_open(j, NULL, '{');
	json_str(j, "scheme", o.scheme ? o.scheme : schemes[0]);
	json_u64(j, "seed", manager_o.seed);
	json_u64(j, "switches", r->switches);
	json_u64(j, "hypervisors", r->hosts);
	json_u64(j, "vms", r->vms.n);
	json_u64(j, "started", s->ends.n);
	json_u64(j, "refused", r->refused);
	json_seconds(j, "within_s", o.within);
	json_seconds(j, "time_s", r->time);
	json_open(j, "smps", '{');
	json_u64(j, "hypervisors", s->hypervisors);
	json_u64(j, "tables", s->tables);
	json_u64(j, "total", s->hypervisors + s->tables);
	json_close(j);
	json_u64(j, "smps_full", (uint64_t)r->switches * r->blocks);
	json_u64(j, "routes_computed", r->rounds);
	json_waits(j, s);
	json_over_time(j, r, s);
	json_bool(j, "verified", is_verified(r));
	json_str(j, "why", reason(r));
	json_hex64(j, "hash", r->hash);
	json_close(j);
}

static void report_text(const struct lab_storm_result *r, const struct sums *s)
{
	printf("%s switches, %s hypervisors; scheme %s\n", cli_count(r->switches),
	       cli_count(r->hosts), o.scheme ? o.scheme : schemes[0]);
	printf("%s VMs requested within %s, ", cli_count(r->vms.n), cli_duration(o.within));
	printf("%s run after %s\n", cli_count(s->ends.n), cli_duration(r->time));
	printf("%s SMPs to hypervisors, ", cli_count(s->hypervisors));
	printf("%s to tables; all tables have ", cli_count(s->tables));
	printf("%s blocks; routes computed %u times\n",
	       cli_count((uint64_t)r->switches * r->blocks), r->rounds);
	printf("from a request to its answer: median %s, ", cli_duration(wait_at(s, 50)));
	printf("99 %% within %s, ", cli_duration(wait_at(s, 99)));
	printf("longest %s\n", cli_duration(wait_at(s, 100)));
	printf("%s%s%s\n", is_verified(r) ? "verified: no cycle, all LIDs reached" : "NOT verified",
	       *reason(r) ? ": " : "", reason(r));
}

/* ---- the run ---- */

static int conclude(const struct lab_storm_result *r)
{
	struct sums s = sums_of(r);
	struct json j = {0};
	int rc = is_verified(r) ? CLI_OK : CLI_NO;

	if (!cli_json)
		report_text(r, &s);
	else if (report_json(&j, r, &s), cli_print_json(&j))
		rc = CLI_BAD;
	sums_free(&s);
	return rc;
}

static int run(const struct fab *f, const struct fab *wire)
{
	struct lab_storm_plan p = {.fab = f,
				   .vms = o.vms,
				   .within = o.within,
				   .seed = manager_o.seed,
				   .limit = o.limit};
	struct lab_storm_result r = {0};
	struct lab_config c;
	struct lab *l;
	struct err e;
	int rc;

	if (manager_config(wire, &c))
		return CLI_BAD;
	if (c.sm_node == FAB_NONE)
		c.sm_node = lab_migrate_seat(f);
	c.sm.scheme = o.scheme && !strcmp(o.scheme, "prepopulated") ? SM_SCHEME_PREPOPULATED
								    : SM_SCHEME_DYNAMIC;
	l = lab_new(wire, &c, &e);
	if (!l)
		return cli_bad("%s", e.text);
	lab_storm_run(l, &p, &r);
	rc = conclude(&r);
	lab_storm_free(&r);
	lab_free(l);
	return rc;
}

static uint64_t count_vfs(const struct fab *f)
{
	uint64_t n = 0;

	for (node_id i = 0; i < f->nnodes; i++)
		n += f->nodes[i].sriov ? f->nodes[i].vfs : 0;
	return n;
}

/* What the fabric can hold; CLI_OK or CLI_BAD. */
static int check(const struct fab *f)
{
	uint64_t vfs = count_vfs(f);

	if (o.within > MOST_WITHIN)
		return cli_bad("--within: expected at most 4000 s");
	if (!fab_is_virtual(f))
		return cli_bad("the netlist has no host with SR-IOV: expected --vfs N");
	if (o.vms > vfs)
		return cli_bad(
			"--vms: expected at most %llu, one for each virtual function; found %u",
			(unsigned long long)vfs, o.vms);
	return CLI_OK;
}

static int sim_storm(char **args, unsigned nargs UNUSED)
{
	bool shared = o.scheme && !strcmp(o.scheme, "shared");
	struct fab *plain = cli_load(args[0]), *f = plain, *wire;
	struct err e;
	int rc;

	if (!plain)
		return CLI_BAD;
	if (o.vfs)
		f = fab_with_vfs(plain, shared ? FAB_SRIOV_SHARED : FAB_SRIOV_VSWITCH, o.vfs);
	rc = check(f);
	if (!rc) {
		wire = fab_wire(f, &e);
		rc = wire ? run(f, wire) : cli_bad("%s: %s", args[0], e.text);
		fab_free(wire);
	}
	if (f != plain)
		fab_free(f);
	fab_free(plain);
	return rc;
}

/* clang-format off */
static const struct cli_opt opts[] = {
	{.name = "vfs", .type = CLI_UINT, .dst = &o.vfs, .arg = "N", .min = 1, .max = IBA_MAX_VFS,
	 .help = "every host with one port has so many virtual functions (default: as the netlist says)"},
	{.name = "scheme", .type = CLI_CHOICE, .dst = &o.scheme, .arg = "SCHEME", .choices = schemes,
	 .help = "LIDs of VMs: dynamic (default), given when a VM starts; prepopulated, one a virtual function; shared, that of "
		 "the host"},
	{.name = "vms", .type = CLI_UINT, .dst = &o.vms, .arg = "N", .min = 1, .max = 40000,
	 .help = "so many VMs start, on hosts drawn by --seed (default 1000)"},
	{.name = "within", .type = CLI_TIME, .dst = &o.within, .arg = "TIME",
	 .help = "each is requested at a moment of this time, drawn by --seed; 0: all at once (default 1s)"},
	{.name = "limit", .type = CLI_TIME, .dst = &o.limit, .arg = "TIME",
	 .help = "the longest simulated time of the bring-up, and after the last request (default 1000s)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_sim_storm = {
	.name = "sim storm",
	.args = "FILE",
	.summary =
		"start many virtual machines on a simulated fabric and measure how long each waits",
	.about =
		"The manager brings the subnet up; then VMs are requested, each at a moment of its own, and it starts them in "
		"batches: those that arrive while one is carried out are the next. A VM's wait ends when all devices have "
		"acknowledged. Then forwarding tables, LIDs and ports of all devices are checked.\n\n"
		"Status 0: all VMs run, verified. 1: a request was refused, or the check failed.",
	.examples =
		"weft sim storm cluster.net --vfs 16 --vms 100\n"
		"weft sim storm cluster.net --vfs 16 --vms 200 --within 10ms --scheme prepopulated --json | jq .wait",
	.opts = opts,
	.shared = (const struct cli_opt *const[]){manager_opts, rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 1,
	.max_args = 1,
	.run = sim_storm,
};
