/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route compute. State: struct computed, for one run; the way in is the table at the end. Routes
 * nothing itself: engines and the verifier are in src/route.
 */
#include <time.h>

#include "cli/route_report.h"

struct computed {
	struct fab *f;
	struct rt_tables *t;
	const struct rt_engine *engine;
	struct rt_choice choice; /* of auto, without its tables; no engine: one was named */
	struct rt_report r;
	node_id root; /* as a switch; FAB_NONE in a fabric without */
	enum rt_directions directions;
	uint64_t default_ports, break_nodes, forbidden_turns;
	double wall_s, cpu_s, verify_wall_s;
};

static void graph_count(struct computed *c, const uint64_t *rank)
{
	rt_turns turns = {0};
	uint32_t top = 0;

	for (uint32_t s = 0; s < c->f->nswitches; s++)
		top = rank[s] < rank[top] ? s : top;
	c->root = c->f->nswitches ? c->f->switches[top] : FAB_NONE;
	rt_forbidden_turns(c->f, rank, &turns);
	c->forbidden_turns = turns.n;
	for (size_t i = 0; i < turns.n; i++)
		c->break_nodes += !i || turns.at[i].sw != turns.at[i - 1].sw;
	vec_free(&turns);
}

/* Processor time of all threads, which a busy machine changes little. */
static double processor_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The tables are those a switch gets: with default ports in the entries that are left open. */
static int compute_tables(struct computed *c, const char *file, const struct rt_opts *o)
{
	double start = cli_wall_s(), cpu = processor_s();
	struct err e;

	cli_stage("computing routes");
	if (route_compute_by(c->f, o, &c->choice, &c->engine, &c->t, &e))
		return cli_bad("%s: %s", file, e.text);
	for (uint32_t s = 0; c->t->dflt && s < c->f->nswitches; s++)
		c->default_ports += c->t->dflt[s] != IBA_PORT_NONE;
	rt_tables_fill(c->t);
	c->wall_s = cli_wall_s() - start;
	c->cpu_s = processor_s() - cpu;
	return CLI_OK;
}

static int compute_graph(struct computed *c, const char *file, const struct rt_opts *o)
{
	struct rt_verify_opts vo = {.threads = route_o.threads};
	uint64_t *rank;
	double start;
	struct err e;
	int rc;

	if (compute_tables(c, file, o))
		return CLI_BAD;
	c->directions = o->directions;
	rank = mem_array(c->f->nswitches, sizeof(*rank));
	rc = rt_engine_ranks(c->engine, c->f, o, rank, &e);
	if (rc) {
		free(rank);
		return cli_bad("%s: %s", file, e.text);
	}
	graph_count(c, rank);
	vo.rank = c->engine->updown ? rank : NULL;
	cli_stage("verifying");
	start = cli_wall_s();
	rc = rt_verify(c->f, c->t, &vo, &c->r, &e);
	c->verify_wall_s = cli_wall_s() - start;
	cli_progress_end();
	free(rank);
	return rc ? cli_bad("%s: %s", file, e.text) : CLI_OK;
}

static int compute(struct computed *c, const char *file)
{
	struct rt_opts o = {.threads = route_o.threads,
			    .lanes = route_o.lanes,
			    .valiant = route_o.valiant,
			    .directions = route_directions_find(),
			    .ties = route_ties_find()};
	int rc;

	if (route_roots_find(c->f, file, &o))
		return CLI_BAD;
	rc = route_groups_find(c->f, file, &o);
	if (!rc)
		rc = route_given_load(&o);
	if (!rc)
		rc = compute_graph(c, file, &o);
	free((void *)o.group);
	free((void *)o.roots);
	route_given_free(&o);
	return rc;
}

static void json_graph(struct json *j, const struct computed *c)
{
	char id[32];

	if (c->root == FAB_NONE) {
		json_none(j, "root");
	} else {
		fab_node_ident(c->f, c->root, id);
		json_str(j, "root", id);
	}
	json_str(j, "directions", route_directions[c->directions]);
	json_u64(j, "break_nodes", c->break_nodes);
	json_u64(j, "forbidden_turns", c->forbidden_turns);
}

static void print_graph(FILE *to, const struct computed *c)
{
	char id[32] = "none";

	if (c->root != FAB_NONE)
		fab_node_ident(c->f, c->root, id);
	fprintf(to, "%-14s %s, directions by %s\n", "root", id, route_directions[c->directions]);
	fprintf(to, "%-14s %s", "break nodes", cli_count(c->break_nodes));
	fprintf(to, " with %s forbidden turns\n", cli_count(c->forbidden_turns));
}

static int compute_json(const struct computed *c)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "engine", c->engine->name);
	json_str(&j, "why", c->choice.engine ? c->choice.why : "given with --engine");
	if (c->choice.engine)
		route_choice_json(&j, &c->choice);
	json_u64(&j, "entries", c->t->entries);
	json_u64(&j, "default_ports", c->default_ports);
	json_u64(&j, "vls", rt_nvls(c->t));
	json_u64(&j, "lanes", rt_nvls(c->t));
	if (c->engine->updown)
		json_graph(&j, c);
	json_double(&j, "wall_s", c->wall_s);
	json_double(&j, "cpu_s", c->cpu_s);
	json_bool(&j, "verified", c->r.ok);
	json_double(&j, "verify_wall_s", c->verify_wall_s);
	route_islands_json(&j, &c->r);
	route_report_json(&j, &c->r);
	json_u64(&j, "switches", c->f->nswitches);
	json_u64(&j, "lids", fab_lid_count(c->f));
	json_double(&j, "rss_mib", cli_rss_mib());
	json_close(&j);
	return cli_print_json(&j);
}

static void compute_print(FILE *to, const struct computed *c)
{
	fprintf(to, "%-14s %s%s%s\n", "engine", c->engine->name, c->choice.engine ? ": " : "",
		c->choice.engine ? c->choice.why : "");
	if (c->choice.engine)
		route_choice_print(to, &c->choice);
	fprintf(to, "%-14s %s\n", "switches", cli_count(c->f->nswitches));
	fprintf(to, "%-14s %s\n", "LIDs", cli_count(fab_lid_count(c->f)));
	if (c->engine->updown)
		print_graph(to, c);
	fprintf(to, "%-14s %s in %.3f s\n", "entries", cli_count(c->t->entries), c->wall_s);
	if (c->t->dflt)
		fprintf(to, "%-14s %s\n", "default ports", cli_count(c->default_ports));
	if (c->t->lanes)
		fprintf(to, "%-14s %u\n", "VLs", rt_nvls(c->t));
	fprintf(to, "%-14s %s in %.3f s (%s pairs)\n", "verified", c->r.ok ? "yes" : "NO",
		c->verify_wall_s, cli_count(c->r.pairs - c->r.apart));
	route_islands_print(to, &c->r);
	route_report_print(to, &c->r);
	fprintf(to, "%-14s %.1f MiB\n", "memory", cli_rss_mib());
}

static void put_out(void *ctx, const char *text, size_t len)
{
	file_out_put(ctx, text, len);
}

typedef void dump_each(const struct fab *f, const struct rt_tables *t,
		       void (*put)(void *ctx, const char *text, size_t len), void *ctx);

static int save(const struct computed *c, const char *path, dump_each *each)
{
	struct file_out *out;
	struct err e;

	if (!path)
		return CLI_OK;
	out = file_out_open(path, &e);
	if (!out)
		return cli_bad("%s", e.text);
	each(c->f, c->t, put_out, out);
	return file_out_close(out, &e) ? cli_bad("%s", e.text) : CLI_OK;
}

static int save_tables(const struct computed *c)
{
	int rc;

	cli_stage("writing the tables");
	rc = save(c, route_o.lfts, rt_lfts_each);
	if (!rc)
		rc = save(c, route_o.sls, rt_path_sls_each);
	if (!rc)
		rc = save(c, route_o.sl2vl, rt_sl2vl_each);
	cli_progress_end();
	if (!rc && route_o.lfts && !(route_o.sls && route_o.sl2vl) && rt_nvls(c->t) > 1)
		cli_warn(
			"these tables use %u lanes and deadlock without them: expected --sls OUT and "
			"--sl2vl OUT beside --lfts",
			rt_nvls(c->t));
	return rc;
}

/* How many of the outputs go to standard output. */
static unsigned to_stdout(void)
{
	const char *const paths[] = {route_o.lfts, route_o.sls, route_o.sl2vl};
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		n += paths[i] && !strcmp(paths[i], "-");
	return n;
}

/* Tables on standard output leave no room for anything else there. */
static int compute_report(const struct computed *c)
{
	int rc = save_tables(c);

	if (rc)
		return rc;
	if (cli_json)
		rc = compute_json(c);
	else
		compute_print(to_stdout() ? stderr : stdout, c);
	return rc ? rc : c->r.ok ? CLI_OK : CLI_NO;
}

static int route_compute(char **args, unsigned nargs UNUSED)
{
	struct computed c = {0};
	struct fab *f;
	struct err e;
	int rc;

	if (cli_json + to_stdout() > 1)
		return cli_bad("only one of --json, --lfts -, --sls - and --sl2vl - can have "
			       "standard output");
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	if (route_o.scheme && !strcmp(route_o.scheme, "prepopulated"))
		c.f = fab_assign_vf_lids(f, route_o.lmc, &e);
	else
		c.f = fab_assign_lids(f, route_o.lmc, &e);
	fab_free(f);
	if (!c.f)
		return cli_bad("%s: %s", args[0], e.text);
	rc = compute(&c, args[0]);
	if (!rc)
		rc = compute_report(&c);
	rt_report_free(&c.r);
	rt_tables_free(c.t);
	fab_free(c.f);
	return rc;
}

/* rt_engines[] ends with NULL, and no caller asks beyond the end. */
static const char *engine_about(unsigned i)
{
	return rt_engines[i] ? rt_engines[i]->about : NULL;
}

static const char *const schemes[] = {"dynamic", "prepopulated", NULL};

static const struct cli_opt compute_opts[] = {
	{"engine", 'e', CLI_CHOICE, &route_o.engine, "NAME",
	 "routing engine; auto: the best for this fabric; default auto", rt_engine_choices, 0, 0},
	{"root", 'r', CLI_LIST, &route_o.roots, "NODE",
	 "root of the up/down graph: GUID or name of a switch, or of a host for its switch; "
	 "centre: the switch from which the farthest is nearest; default centre, as weft sm; "
	 "updn: one option for each of several roots; auto, its default: roots that it finds",
	 NULL, 0, 0},
	{"directions", 0, CLI_CHOICE, &route_o.directions, "HOW",
	 "which end of a link is up: the one nearer to the root, or the one that a breadth-first or a "
	 "depth-first tree finds first; default distance",
	 route_directions, 0, 0},
	{"ties", 0, CLI_CHOICE, &route_o.ties, "HOW",
	 "fera: which of several equal ports a LID takes: all in turn, the first, or one drawn for each "
	 "switch and LID; default spread",
	 route_ties, 0, 0},
	{"lanes", 0, CLI_UINT, &route_o.lanes, "N",
	 "engines with lanes: virtual lanes to use at most; default 8", NULL, 1, RT_MAX_VLS},
	{"valiant", 0, CLI_UINT, &route_o.valiant, "N",
	 "dragonfly: reach one destination in N over another group (65535: none); default: as few as "
	 "refined routes need, 8 in large fabrics",
	 NULL, 1, 65535},
	ROUTE_GROUPS_OPT,
	ROUTE_GIVEN_OPTS,
	{"threads", 't', CLI_UINT, &route_o.threads, "N",
	 "threads to use, which changes nothing but the time; default all", NULL, 1, 256},
	{"lmc", 'l', CLI_UINT, &route_o.lmc, "N", "give every host port 2^N LIDs; default 0", NULL,
	 0, 7},
	{"scheme", 0, CLI_CHOICE, &route_o.scheme, "HOW",
	 "LIDs of virtual functions behind a vSwitch: prepopulated, one for each, or dynamic, none before "
	 "a virtual machine starts; default dynamic",
	 schemes, 0, 0},
	{"lfts", 'o', CLI_STR, &route_o.lfts, "OUT",
	 "write the tables to OUT in the format of opensm-lfts.dump; - is standard output", NULL, 0,
	 0},
	{"sls", 0, CLI_STR, &route_o.sls, "OUT",
	 "write the service level of every path to OUT, as OpenSM dumps path records", NULL, 0, 0},
	{"sl2vl", 0, CLI_STR, &route_o.sl2vl, "OUT",
	 "write the SL-to-VL maps to OUT in the format of opensm-sl2vl.dump", NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_route_compute = {
	.name = "route compute",
	.args = "FILE",
	.summary = "compute forwarding tables and verify them",
	.about =
		"Reads a netlist, gives LIDs to the ports that have none, lets an engine compute the\n"
		"forwarding table of every switch, and checks the result without trusting the\n"
		"engine: every port reaches every other, nothing goes in circles, nothing can\n"
		"deadlock. Exit status 1 when that check fails.\n"
		"\n"
		"A break node is a switch that two or more up links leave: between those it may not\n"
		"turn packets round, in either direction.",
	.about_more = engine_about,
	.examples =
		"weft route compute fabric.net --root 0x0002000000000001\n"
		"weft route compute fabric.net --lfts fera.lfts\n"
		"weft route compute fabric.net --engine pira --root centre --directions dfs\n"
		"weft route compute fabric.net --engine balanced --lanes 4\n"
		"weft route compute fabric.net --engine nue --lanes 1\n"
		"weft route compute fabric.net --engine updn --root 0x0002000000000001 --root 0x0002000000000002\n"
		"weft route compute fabric.net --engine tree --groups 'host 1*'\n"
		"weft route compute fabric.net --engine auto\n"
		"weft route compute fabric.net --engine file --routes-file opensm-lfts.dump\n"
		"weft route compute fabric.net --json | jq .link_load.max\n",
	.opts = compute_opts,
	.min_args = 1,
	.max_args = 1,
	.run = route_compute,
};
