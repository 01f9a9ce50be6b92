/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim migrate: virtual machines that migrate on a simulated fabric. Keeps the options of the command. Way in:
 * cmd_sim_migrate. Does not simulate anything itself: src/lab/migrate.c does.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/load_opts.h"
#include "cli/manager_opts.h"
#include "cli/rft_opts.h"
#include "lab/load.h"
#include "lab/migrate.h"

enum { SHOWN = 40 }; /* migrations as text */

static const char *const schemes[] = {"dynamic", "prepopulated", "shared", NULL};

static struct {
	const char *vm, *to, *scheme;
	unsigned vfs, count, vms;
	bool together, full;
	time_ps inform, warmup, tail, limit;
} o = {.warmup = PS_PER_MS, .tail = PS_PER_MS, .limit = 1000 * PS_PER_S};

/* ---- the fabric ---- */

static bool is_shared(void)
{
	return o.scheme && !strcmp(o.scheme, "shared");
}

/* HOST[:VF] */
static int place_read(const struct fab *f, const char *option, const char *text,
		      struct lab_place *p)
{
	const char *colon = strrchr(text, ':');
	char host[256];
	uint64_t slot = 0;

	snprintf(host, sizeof(host), "%s", text);
	if (colon && !parse_u64(colon + 1, &slot) && (size_t)(colon - text) < sizeof(host))
		host[colon - text] = 0;
	else
		colon = NULL;
	if (cli_find_node(f, option, host, &p->host))
		return CLI_BAD;
	p->slot = (unsigned)slot;
	if (!f->nodes[p->host].sriov)
		return cli_bad(
			"%s %.60s: this node has no SR-IOV: expected a host, and --vfs N unless the netlist "
			"says so",
			option, host);
	if (colon && (!slot || slot > f->nodes[p->host].vfs))
		return cli_bad("%s %.60s: expected a VF from 1 to %u", option, text,
			       f->nodes[p->host].vfs);
	return CLI_OK;
}

static int places_read(const struct fab *f, struct lab_migrate_plan *p)
{
	if (place_read(f, "--vm", o.vm, &p->vm) || place_read(f, "--to", o.to, &p->to))
		return CLI_BAD;
	if (p->vm.host == p->to.host)
		return cli_bad("--to %.60s: the VM is on this host: expected another one", o.to);
	return CLI_OK;
}

static int check(const struct fab *f)
{
	if (!fab_is_virtual(f))
		return cli_bad("the netlist has no host with SR-IOV: expected --vfs N");
	if (!o.vm != !o.to || !o.vm == !o.count)
		return cli_bad("expected --vm HOST[:VF] and --to HOST[:VF], or --count N");
	if (o.together && !o.count)
		return cli_bad("--together goes with --count N");
	if (o.vms && !o.count)
		return cli_bad("--vms goes with --count N");
	if (o.vms && o.together && o.vms < o.count)
		return cli_bad("--vms %u: %u VMs migrate together, expected at least as many",
			       o.vms, o.count);
	if (o.full && is_shared())
		return cli_bad("--full goes with a LID for each VM: expected another --scheme");
	if (load_check_rate())
		return CLI_BAD;
	if (load_o.load >= 0 && !(load_o.load > 0))
		return cli_bad("expected --load SHARE or --rate N, above 0");
	if (!load_given() && load_option_given())
		return cli_bad("--%s needs traffic: expected --load SHARE or --rate N",
			       load_option_given());
	return CLI_OK;
}

/* ---- the report ---- */

static const char *name_of(const struct fab *f, node_id n)
{
	return fab_node_name(f, n);
}

static void json_smps(struct json *j, const char *key, uint64_t hypervisors, uint64_t tables)
{
	json_open(j, key, '{');
	json_u64(j, "hypervisors", hypervisors);
	json_u64(j, "tables", tables);
	json_u64(j, "total", hypervisors + tables);
	json_close(j);
}

static void json_place(struct json *j, const char *key, const struct fab *f, struct lab_place p)
{
	json_open(j, key, '{');
	json_str(j, "name", name_of(f, p.host));
	json_hex64(j, "guid", f->nodes[p.host].guid);
	json_u64(j, "vf", p.slot);
	json_close(j);
}

static void json_migration(struct json *j, const struct fab *f, const struct lab_migration *m)
{
	json_open(j, NULL, '{');
	json_place(j, "from", f, m->from);
	json_place(j, "to", f, m->to);
	json_bool(j, "done", !m->r.rc);
	json_u64(j, "lid_before", m->r.lid_before);
	json_u64(j, "lid_after", m->r.lid_after);
	json_smps(j, "smps", m->r.smps_hypervisors, m->r.smps_tables);
	json_u64(j, "switches_touched", m->r.switches_touched);
	json_u64(j, "stages", m->r.stages);
	json_seconds(j, "time_s", m->r.ended - MIN(m->r.started, m->r.ended));
	json_seconds(j, "cut_s", m->cut);
	json_close(j);
}

struct sums {
	uint64_t hypervisors, tables, switches;
	time_ps cut, cut_most;
	size_t done;
};

static struct sums sums_of(const struct lab_migrate_result *r)
{
	struct sums s = {0};

	for (size_t i = 0; i < r->all.n; i++) {
		s.hypervisors += r->all.at[i].r.smps_hypervisors;
		s.tables += r->all.at[i].r.smps_tables;
		s.switches += r->all.at[i].r.switches_touched;
		s.cut += r->all.at[i].cut;
		s.cut_most = MAX(s.cut_most, r->all.at[i].cut);
		s.done += !r->all.at[i].r.rc;
	}
	return s;
}

static bool is_verified(const struct lab_migrate_result *r)
{
	return r->up && !r->why[0] && r->v.active && r->v.verified && r->v.lids_unique &&
	       r->v.complete && (o.full || !r->disturbed);
}

static const char *reason(const struct lab_migrate_result *r)
{
	return r->why[0]		 ? r->why
	       : r->v.why[0]		 ? r->v.why
	       : r->disturbed && !o.full ? "entries of other LIDs changed"
					 : "";
}

static void json_cut(struct json *j, const struct lab_migrate_result *r, const struct sums *s)
{
	json_open(j, "cut", '{');
	json_seconds(j, "mean_s", s->done ? s->cut / s->done : 0);
	json_seconds(j, "most_s", s->cut_most);
	json_seconds(j, "others_s", r->cut_others);
	json_close(j);
}

static void json_rounds(struct json *j, const struct lab_migrate_result *r)
{
	json_u64(j, "routes_computed", r->rounds);
	json_open(j, "rounds", '{');
	json_u64(j, "smps", r->round_smps);
	json_u64(j, "tables", r->round_tables);
	json_seconds(j, "computation_s", r->compute);
	json_seconds(j, "distribution_s", r->distribute);
	json_close(j);
}

static void json_packets(struct json *j, const struct lab_migrate_result *r, const struct sums *s)
{
	json_open(j, "packets", '{');
	json_u64(j, "sent", r->sent);
	json_u64(j, "lost", r->lost);
	json_u64(j, "lost_vms", r->lost_vms);
	json_u64(j, "lost_others", r->lost_others);
	json_seconds(j, "cut_s", s->cut_most);
	json_close(j);
}

static void report_json(struct json *j, const struct fab *f, const struct lab_migrate_result *r)
{
	const struct lab_migration *one = r->all.n ? &r->all.at[0] : NULL;
	struct sums s = sums_of(r);

	json_open(j, NULL, '{');
	json_str(j, "scheme", o.scheme ? o.scheme : schemes[0]);
	json_u64(j, "seed", manager_o.seed);
	json_u64(j, "switches", r->switches);
	json_u64(j, "hypervisors", r->hosts);
	json_u64(j, "vms", r->vms);
	json_u64(j, "migrations", r->all.n - r->refused);
	json_u64(j, "refused", r->refused);
	json_smps(j, "start", r->start_hypervisors, r->start_tables);
	json_smps(j, "smps", s.hypervisors, s.tables);
	json_u64(j, "switches_touched", s.switches);
	json_rounds(j, r);
	json_bool(j, "verified", is_verified(r));
	json_str(j, "why", reason(r));
	json_u64(j, "disturbed", r->disturbed);
	json_u64(j, "lid_before", one ? one->r.lid_before : 0);
	json_u64(j, "lid_after", one ? one->r.lid_after : 0);
	json_packets(j, r, &s);
	json_cut(j, r, &s);
	json_seconds(j, "time_s", r->time);
	json_open(j, "each", '[');
	for (size_t i = 0; i < r->all.n; i++)
		json_migration(j, f, &r->all.at[i]);
	json_close(j);
	json_hex64(j, "hash", r->hash);
	json_close(j);
}

static void table_print(const struct fab *f, const struct lab_migrate_result *r)
{
	struct cli_table t;

	cli_table_init(&t, "llrrrrrrr", "from", "to", "LID", "to hypervisors", "to tables",
		       "switches", "stages", "time", "cut");
	for (size_t i = 0; i < MIN(r->all.n, (size_t)SHOWN); i++) {
		const struct lab_migration *m = &r->all.at[i];

		cli_table_add(&t, "%s:%u", name_of(f, m->from.host), m->from.slot);
		cli_table_add(&t, "%s:%u", name_of(f, m->to.host), m->to.slot);
		cli_table_add(&t, "%u", m->r.lid_after);
		cli_table_add(&t, "%u", m->r.smps_hypervisors);
		cli_table_add(&t, "%u", m->r.smps_tables);
		cli_table_add(&t, "%u", m->r.switches_touched);
		cli_table_add(&t, "%u", m->r.stages);
		cli_table_add(&t, "%s", cli_duration(m->r.ended - MIN(m->r.started, m->r.ended)));
		cli_table_add(&t, "%s", cli_duration(m->cut));
	}
	cli_table_print(&t, stdout);
	if (r->all.n > SHOWN)
		printf("... and %zu more\n", r->all.n - SHOWN);
}

static void report_text(const struct fab *f, const struct lab_migrate_result *r)
{
	struct sums s = sums_of(r);

	printf("%s switches, %s hypervisors, %s VMs; scheme %s; the first start took %u SMPs\n\n",
	       cli_count(r->switches), cli_count(r->hosts), cli_count(r->vms),
	       o.scheme ? o.scheme : schemes[0], r->start_hypervisors + r->start_tables);
	table_print(f, r);
	printf("\n%zu migrations in %s: %s SMPs to hypervisors, %s to tables; routes computed %u times\n",
	       r->all.n - r->refused, cli_duration(r->time), cli_count(s.hypervisors),
	       cli_count(s.tables), r->rounds);
	if (load_given())
		printf("packets: %s sent, %s lost, %s of them from or to VMs that migrate; others without a route for "
		       "%s\n",
		       cli_count(r->sent), cli_count(r->lost), cli_count(r->lost_vms),
		       cli_duration(r->cut_others));
	printf("%s%s%s\n",
	       is_verified(r) ? "verified: no cycle, all LIDs reached, no other LID disturbed"
			      : "NOT verified",
	       *reason(r) ? ": " : "", reason(r));
}

/* ---- the run ---- */

static int setup(const char *file, const struct fab *f, const struct fab *wire,
		 struct lab_config *c, struct traffic_config *t)
{
	struct lab_load d = {.warmup = TIME_NEVER, .duration = TIME_NEVER};

	*t = (struct traffic_config){0};
	if (manager_config(wire, c))
		return CLI_BAD;
	if (c->sm_node == FAB_NONE)
		c->sm_node = lab_migrate_seat(f);
	c->sm.scheme = o.scheme && !strcmp(o.scheme, "prepopulated") ? SM_SCHEME_PREPOPULATED
								     : SM_SCHEME_DYNAMIC;
	if (!load_given())
		return CLI_OK;
	if (load_network(&c->sim) || load_traffic(wire, manager_o.seed, t))
		return CLI_BAD;
	d.traffic = *t;
	t->interval_ps = load_choose_interval(file, wire, c, &d);
	return t->interval_ps ? CLI_OK : CLI_BAD;
}

static int conclude(const struct fab *f, const struct lab_migrate_result *r)
{
	struct json j = {0};

	if (!cli_json)
		report_text(f, r);
	else if (report_json(&j, f, r), cli_print_json(&j))
		return CLI_BAD;
	return is_verified(r) ? CLI_OK : CLI_NO;
}

static int run(const char *file, const struct fab *f, const struct fab *wire)
{
	struct lab_migrate_plan p = {.fab = f,
				     .vm = {FAB_NONE, 0},
				     .count = o.count,
				     .vms = o.vms,
				     .together = o.together,
				     .full = o.full,
				     .inform = o.inform,
				     .seed = manager_o.seed,
				     .warmup = o.warmup,
				     .tail = o.tail,
				     .limit = o.limit};
	struct lab_migrate_result r = {0};
	struct traffic_config t;
	struct lab_config c;
	struct lab *l;
	struct err e;
	int rc;

	if ((o.vm && places_read(f, &p)) || setup(file, f, wire, &c, &t))
		return CLI_BAD;
	p.traffic = load_given() ? &t : NULL;
	l = lab_new(wire, &c, &e);
	if (!l)
		return cli_bad("%s", e.text);
	rc = lab_migrate_run(l, &p, &r, &e) ? cli_bad("%s", e.text) : conclude(f, &r);
	lab_migrate_free(&r);
	lab_free(l);
	return rc;
}

static int sim_migrate(char **args, unsigned nargs UNUSED)
{
	struct fab *plain = cli_load(args[0]), *f = plain, *wire;
	struct err e;
	int rc = CLI_BAD;

	if (!plain)
		return CLI_BAD;
	if (o.vfs)
		f = fab_with_vfs(plain, is_shared() ? FAB_SRIOV_SHARED : FAB_SRIOV_VSWITCH, o.vfs);
	if (!check(f)) {
		wire = fab_wire(f, &e);
		rc = wire ? run(args[0], f, wire) : cli_bad("%s: %s", args[0], e.text);
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
	{.name = "vm", .type = CLI_STR, .dst = &o.vm, .arg = "HOST[:VF]",
	 .help = "one VM starts here (default VF: the first free one)"},
	{.name = "to", .type = CLI_STR, .dst = &o.to, .arg = "HOST[:VF]", .help = "and migrates here"},
	{.name = "count", .type = CLI_UINT, .dst = &o.count, .arg = "N", .min = 1, .max = 1000000,
	 .help = "N migrations of random VMs to random hosts, drawn by --seed"},
	{.name = "together", .type = CLI_FLAG, .dst = &o.together,
	 .help = "with --count: of N different VMs, all requested at once"},
	{.name = "vms", .type = CLI_UINT, .dst = &o.vms, .arg = "N", .min = 1, .max = 100000,
	 .help = "with --count: so many VMs run (default: as many as migrate, at most half of the virtual functions)"},
	{.name = "full", .type = CLI_FLAG, .dst = &o.full,
	 .help = "as managers do that cannot migrate: VMs stop, the manager discovers the subnet, computes all routes and "
		 "writes all tables, VMs start at their new hosts"},
	{.name = "inform", .type = CLI_TIME, .dst = &o.inform, .arg = "TIME",
	 .help = "shared ports: from the manager's answer until others know the VM's new LID; until then they send to the "
		 "old one (default 0)"},
	{.name = "warmup", .letter = 'w', .type = CLI_TIME, .dst = &o.warmup, .arg = "TIME",
	 .help = "traffic before the first migration (default 1ms)"},
	{.name = "tail", .type = CLI_TIME, .dst = &o.tail, .arg = "TIME",
	 .help = "traffic after the last migration (default 1ms)"},
	{.name = "limit", .type = CLI_TIME, .dst = &o.limit, .arg = "TIME",
	 .help = "the longest simulated time of the bring-up, and of each migration (default 1000s)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_sim_migrate = {
	.name = "sim migrate",
	.args = "FILE",
	.summary = "migrate virtual machines on a simulated fabric and count SMPs and lost packets",
	.about =
		"The manager brings the subnet up, starts the VMs and migrates them; then forwarding tables, LIDs and ports of "
		"all devices are checked: no cycle of dependencies, each LID reached from everywhere, no entry of any other LID "
		"changed. With --load or --rate hosts and the VMs that run send packets to each other meanwhile; a host and its "
		"VMs share what the host offers. The VM's time without connectivity (cut) is that in which no virtual function "
		"has its LID; on a shared port, where its LID changes, until others know the new one.\n\n"
		"Status 0: migrated and verified. 1: refused, or the check failed.",
	.examples =
		"weft sim migrate cluster.net --vfs 4 --vm 'host 1' --to 'host 9:2' --json\n"
		"weft sim migrate cluster.net --vfs 16 --scheme prepopulated --count 100 --seed 7\n"
		"weft sim migrate cluster.net --vfs 4 --count 10 --together --load 25%",
	.opts = opts,
	.shared = (const struct cli_opt *const[]){load_rate_opts, load_traffic_opts, manager_opts,
						  rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 1,
	.max_args = 1,
	.run = sim_migrate,
};
