/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route compute, weft route verify. Keeps the options of one run; the ways in are the two
 * tables at the end. Routes nothing itself: engines and the verifier live in route/.
 */
#include "cli/cmds.h"
#include "route/route.h"

static struct {
	const char *engine, *root, *directions, *lfts, *sls, *sl2vl;
	unsigned threads, lmc;
	bool hosts_only;
} opt = {.engine = "fera"};

static const char *const directions[] = {"distance", "bfs", "dfs", NULL}; /* enum rt_directions */

/* ---- what both commands share ---- */

/* 0 and the root that --root names, by default the one that weft sm chooses; or CLI_BAD after a
 * message. */
static int root_find(const struct fab *f, const char *file, node_id *root)
{
	if (!opt.root || !strcmp(opt.root, "centre")) {
		*root = rt_root_choose(f, NULL, 0, FAB_NONE);
		return CLI_OK;
	}
	*root = fab_node_by_text(f, opt.root);
	if (*root == FAB_NONE)
		return cli_bad("%s: no node with the GUID or name '%s' given with --root", file,
			       opt.root);
	return CLI_OK;
}

static enum rt_directions directions_find(void)
{
	unsigned d = 0;

	while (opt.directions && strcmp(directions[d], opt.directions))
		d++;
	return (enum rt_directions)d;
}

static uint64_t thousandths(uint64_t sum, uint64_t n)
{
	return n ? (sum / n) * 1000 + (sum % n * 1000 + n / 2) / n : 0;
}

static uint64_t hops_mean(const struct rt_report *r)
{
	return thousandths(r->hops_sum, r->pairs - r->unreachable - r->loops);
}

static void json_spread(struct json *j, const char *key, uint64_t max, uint64_t mean)
{
	json_open(j, key, '{');
	json_u64(j, "max", max);
	json_fixed(j, "mean", mean, 3);
	json_close(j);
}

static void json_report(struct json *j, const struct rt_report *r)
{
	json_spread(j, "hops", r->hops_max, hops_mean(r));
	json_spread(j, "link_load", r->link_load_max, thousandths(r->link_load_sum, r->nlinks));
	json_open(j, "problems", '[');
	for (uint32_t i = 0; i < r->nproblems; i++)
		json_str(j, NULL, r->problem[i]);
	json_close(j);
}

static void print_spread(FILE *to, const char *label, uint64_t max, uint64_t mean)
{
	fprintf(to, "%-14s max %s, mean %llu.%03llu\n", label, cli_count(max),
		(unsigned long long)(mean / 1000), (unsigned long long)(mean % 1000));
}

static void print_report(FILE *to, const struct rt_report *r)
{
	print_spread(to, "hops", r->hops_max, hops_mean(r));
	print_spread(to, "link load", r->link_load_max, thousandths(r->link_load_sum, r->nlinks));
	for (uint32_t i = 0; i < r->nproblems; i++)
		fprintf(to, "%-14s %s\n", i ? "" : "problems", r->problem[i]);
}

/* ---- weft route compute ---- */

struct computed {
	struct fab *f;
	struct rt_tables *t;
	struct rt_report r;
	node_id root; /* as a switch; FAB_NONE in a fabric without */
	enum rt_directions directions;
	uint64_t default_ports, break_nodes, forbidden_turns;
	double wall_s, verify_wall_s;
};

static uint32_t lids_count(const struct fab *f)
{
	uint32_t n = 0;

	for (port_id p = 0; p < f->nports; p++)
		n += f->ports[p].lid ? 1u << f->ports[p].lmc : 0;
	return n;
}

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

/* The tables are those a switch gets: with default ports in the entries that are left open. */
static int compute_tables(struct computed *c, const char *file, const struct rt_opts *o)
{
	double start = cli_wall_s();
	struct err e;

	cli_stage("computing routes");
	if (rt_compute(rt_engine_find(opt.engine), c->f, o, &c->t, &e))
		return cli_bad("%s: %s", file, e.text);
	for (uint32_t s = 0; c->t->dflt && s < c->f->nswitches; s++)
		c->default_ports += c->t->dflt[s] != IBA_PORT_NONE;
	rt_tables_fill(c->t);
	c->wall_s = cli_wall_s() - start;
	return CLI_OK;
}

static int compute(struct computed *c, const char *file)
{
	struct rt_opts o = {.threads = opt.threads, .directions = directions_find()};
	struct rt_verify_opts vo = {.threads = opt.threads};
	uint64_t *rank;
	double start;
	struct err e;
	int rc;

	if (root_find(c->f, file, &o.root) || compute_tables(c, file, &o))
		return CLI_BAD;
	c->directions = o.directions;
	rank = mem_array(c->f->nswitches, sizeof(*rank));
	rt_updown_rank_by(c->f, o.root, o.directions, rank);
	graph_count(c, rank);
	vo.rank = rt_engine_find(opt.engine)->updown ? rank : NULL;
	cli_stage("verifying");
	start = cli_wall_s();
	rc = rt_verify(c->f, c->t, &vo, &c->r, &e);
	c->verify_wall_s = cli_wall_s() - start;
	cli_progress_end();
	free(rank);
	return rc ? cli_bad("%s: %s", file, e.text) : CLI_OK;
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
	json_str(j, "directions", directions[c->directions]);
	json_u64(j, "break_nodes", c->break_nodes);
	json_u64(j, "forbidden_turns", c->forbidden_turns);
}

static void print_graph(FILE *to, const struct computed *c)
{
	char id[32] = "none";

	if (c->root != FAB_NONE)
		fab_node_ident(c->f, c->root, id);
	fprintf(to, "%-14s %s, directions by %s\n", "root", id, directions[c->directions]);
	fprintf(to, "%-14s %s", "break nodes", cli_count(c->break_nodes));
	fprintf(to, " with %s forbidden turns\n", cli_count(c->forbidden_turns));
}

static int compute_json(const struct computed *c)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "engine", opt.engine);
	json_u64(&j, "entries", c->t->entries);
	json_u64(&j, "default_ports", c->default_ports);
	json_u64(&j, "vls", rt_nvls(c->t));
	json_graph(&j, c);
	json_double(&j, "wall_s", c->wall_s);
	json_bool(&j, "verified", c->r.ok);
	json_double(&j, "verify_wall_s", c->verify_wall_s);
	json_report(&j, &c->r);
	json_u64(&j, "switches", c->f->nswitches);
	json_u64(&j, "lids", lids_count(c->f));
	json_double(&j, "rss_mib", cli_rss_mib());
	json_close(&j);
	return cli_print_json(&j);
}

static void compute_print(FILE *to, const struct computed *c)
{
	fprintf(to, "%-14s %s\n", "engine", opt.engine);
	fprintf(to, "%-14s %s\n", "switches", cli_count(c->f->nswitches));
	fprintf(to, "%-14s %s\n", "LIDs", cli_count(lids_count(c->f)));
	print_graph(to, c);
	fprintf(to, "%-14s %s in %.3f s\n", "entries", cli_count(c->t->entries), c->wall_s);
	if (c->t->dflt)
		fprintf(to, "%-14s %s\n", "default ports", cli_count(c->default_ports));
	if (c->t->lanes)
		fprintf(to, "%-14s %u\n", "VLs", rt_nvls(c->t));
	fprintf(to, "%-14s %s in %.3f s (%s pairs)\n", "verified", c->r.ok ? "yes" : "NO",
		c->verify_wall_s, cli_count(c->r.pairs));
	print_report(to, &c->r);
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
	rc = save(c, opt.lfts, rt_lfts_each);
	if (!rc)
		rc = save(c, opt.sls, rt_path_sls_each);
	if (!rc)
		rc = save(c, opt.sl2vl, rt_sl2vl_each);
	cli_progress_end();
	return rc;
}

/* How many of the outputs go to standard output. */
static unsigned to_stdout(void)
{
	const char *const paths[] = {opt.lfts, opt.sls, opt.sl2vl};
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
	c.f = fab_assign_lids(f, opt.lmc, &e);
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

/* ---- weft route verify ---- */

static void json_cycle(struct json *j, const struct fab *f, const struct rt_report *r)
{
	json_open(j, "cycle", '[');
	for (size_t i = 0; i < r->cycle.n; i++) {
		const struct fab_port *p = &f->ports[r->cycle.at[i].port];
		char id[32], text[48];

		fab_node_ident(f, p->node, id);
		snprintf(text, sizeof(text), "%s[%u]", id, p->num);
		json_str(j, NULL, text);
	}
	json_close(j);
	json_open(j, "cycle_vls", '[');
	for (size_t i = 0; i < r->cycle.n; i++)
		json_u64(j, NULL, r->cycle.at[i].vl);
	json_close(j);
}

static int verify_json(const struct fab *f, const struct rt_report *r)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_bool(&j, "ok", r->ok);
	json_u64(&j, "pairs", r->pairs);
	json_u64(&j, "unreachable", r->unreachable);
	json_u64(&j, "loops", r->loops);
	json_u64(&j, "discarded", r->discarded);
	if (opt.root)
		json_u64(&j, "down_up", r->down_up);
	else
		json_none(&j, "down_up");
	json_u64(&j, "cycles", r->cycles);
	json_cycle(&j, f, r);
	json_report(&j, r);
	json_close(&j);
	return cli_print_json(&j);
}

static void verify_print(const struct rt_report *r)
{
	printf("%-14s %s\n", "verdict", r->ok ? "ok" : "NOT OK");
	printf("%-14s %s\n", "pairs", cli_count(r->pairs));
	printf("%-14s %s\n", "unreachable", cli_count(r->unreachable));
	printf("%-14s %s\n", "loops", cli_count(r->loops));
	if (opt.sls || opt.sl2vl)
		printf("%-14s %s\n", "discarded", cli_count(r->discarded));
	if (opt.root)
		printf("%-14s %s\n", "down-up turns", cli_count(r->down_up));
	printf("%-14s %s\n", "credit loops", cli_count(r->cycles));
	print_report(stdout, r);
}

static int verify(const struct fab *f, const struct rt_tables *t, node_id root)
{
	struct rt_verify_opts o = {.threads = opt.threads, .hosts_only = opt.hosts_only};
	uint64_t *rank = NULL;
	struct rt_report r;
	struct err e;
	int rc = CLI_OK;

	if (opt.root) {
		rank = mem_array(f->nswitches, sizeof(*rank));
		rt_updown_rank_by(f, root, directions_find(), rank);
		o.rank = rank;
	}
	if (rt_verify(f, t, &o, &r, &e)) {
		free(rank);
		return cli_bad("%s", e.text);
	}
	cli_progress_end();
	if (cli_json)
		rc = verify_json(f, &r);
	else
		verify_print(&r);
	if (!rc && !r.ok)
		rc = CLI_NO;
	rt_report_free(&r);
	free(rank);
	return rc;
}

/* Read a dump that an option names; *d stays NULL without it. The caller frees text. */
static int dump_load(const char *path, struct rt_dump *room, const struct rt_dump **d, char **text)
{
	struct err e;

	*d = NULL;
	*text = NULL;
	if (!path)
		return CLI_OK;
	if (file_read(path, text, &room->len, &e))
		return cli_bad("%s", e.text);
	room->name = path;
	room->text = *text;
	*d = room;
	return CLI_OK;
}

static int lanes_load(const struct fab *f, struct rt_tables *t)
{
	const struct rt_dump *sls, *sl2vl;
	struct rt_dump room[2];
	char *text[2] = {NULL, NULL};
	struct err e;
	int rc;

	if (!opt.sls && !opt.sl2vl)
		return CLI_OK;
	rc = dump_load(opt.sls, &room[0], &sls, &text[0]);
	if (!rc)
		rc = dump_load(opt.sl2vl, &room[1], &sl2vl, &text[1]);
	if (!rc && rt_lanes_parse(f, t, sls, sl2vl, &e))
		rc = cli_bad("%s", e.text);
	free(text[0]);
	free(text[1]);
	return rc;
}

static int route_verify(char **args, unsigned nargs UNUSED)
{
	struct fab *f, *with_lids = NULL;
	struct rt_tables *t = NULL;
	char *text = NULL;
	node_id root;
	struct err e;
	size_t len;
	int rc;

	if (!strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one of the two can be standard input");
	if (opt.directions && !opt.root)
		return cli_bad("--directions goes with --root");
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	rc = root_find(f, args[0], &root);
	cli_stage("reading the tables");
	if (!rc && file_read(args[1], &text, &len, &e))
		rc = cli_bad("%s", e.text);
	if (!rc && rt_lfts_parse(f, strcmp(args[1], "-") ? args[1] : "standard input", text, len,
				 &with_lids, &t, &e))
		rc = cli_bad("%s", e.text);
	free(text);
	if (!rc)
		rc = lanes_load(with_lids, t);
	cli_stage("verifying");
	if (!rc)
		rc = verify(with_lids, t, root);
	rt_tables_free(t);
	fab_free(with_lids);
	fab_free(f);
	return rc;
}

/* ---- the tables ---- */

/* rt_engines[] ends with NULL, and no caller asks beyond the end. */
static const char *engine_about(unsigned i)
{
	return rt_engines[i] ? rt_engines[i]->about : NULL;
}

static const struct cli_opt compute_opts[] = {
	{"engine", 'e', CLI_CHOICE, &opt.engine, "NAME", "routing engine; default fera",
	 rt_engine_names, 0, 0},
	{"root", 'r', CLI_STR, &opt.root, "NODE",
	 "root of the up/down graph: GUID or name of a switch, or of a host for its switch; "
	 "centre: the switch from which the farthest is nearest; default centre, as weft sm",
	 NULL, 0, 0},
	{"directions", 0, CLI_CHOICE, &opt.directions, "HOW",
	 "which end of a link is up: the one nearer to the root, or the one that a breadth-first or a "
	 "depth-first tree finds first; default distance",
	 directions, 0, 0},
	{"threads", 't', CLI_UINT, &opt.threads, "N",
	 "threads to use, which changes nothing but the time; default all", NULL, 1, 256},
	{"lmc", 'l', CLI_UINT, &opt.lmc, "N", "give every host port 2^N LIDs; default 0", NULL, 0,
	 7},
	{"lfts", 'o', CLI_STR, &opt.lfts, "OUT",
	 "write the tables to OUT in the format of opensm-lfts.dump; - is standard output", NULL, 0,
	 0},
	{"sls", 0, CLI_STR, &opt.sls, "OUT",
	 "write the service level of every path to OUT, as OpenSM dumps path records", NULL, 0, 0},
	{"sl2vl", 0, CLI_STR, &opt.sl2vl, "OUT",
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
	.examples = "weft route compute fabric.net --root 0x0002000000000001\n"
		    "weft route compute fabric.net --lfts fera.lfts\n"
		    "weft route compute fabric.net --engine pira --root centre --directions dfs\n"
		    "weft route compute fabric.net --json | jq .link_load.max\n",
	.opts = compute_opts,
	.min_args = 1,
	.max_args = 1,
	.run = route_compute,
};

static const struct cli_opt verify_opts[] = {
	{"root", 'r', CLI_STR, &opt.root, "NODE",
	 "also look for routes that turn up after down, seen from this root, or from the centre",
	 NULL, 0, 0},
	{"directions", 0, CLI_CHOICE, &opt.directions, "HOW",
	 "with --root: how its links get their directions; default distance", directions, 0, 0},
	{"hosts-only", 0, CLI_FLAG, &opt.hosts_only, NULL,
	 "judge only routes from host to host, none from or to a switch", NULL, 0, 0},
	{"sls", 0, CLI_STR, &opt.sls, "FILE",
	 "service level of every path, from OpenSM's path-record dump or as ibdmchk -c reads it; "
	 "default SL 0",
	 NULL, 0, 0},
	{"sl2vl", 0, CLI_STR, &opt.sl2vl, "FILE",
	 "SL-to-VL maps, from opensm-sl2vl.dump or as ibdmchk -d reads them; default VL = SL", NULL,
	 0, 0},
	{"threads", 't', CLI_UINT, &opt.threads, "N", "threads to use; default all", NULL, 1, 256},
	{0},
};

const struct cli_cmd cmd_route_verify = {
	.name = "route verify",
	.args = "FILE LFTS",
	.summary = "check the forwarding tables of any subnet manager",
	.about =
		"Reads a netlist and the tables that opensm-lfts.dump or dump_lfts shows for it, and\n"
		"follows every route: pairs that cannot reach each other, routes that go in circles,\n"
		"and credit loops, that is cycles of links that may wait for one another. The LIDs of\n"
		"the dump replace those of the netlist. With --sls and --sl2vl each path is followed on\n"
		"its VLs and credit loops are looked for lane by lane; without them every packet is\n"
		"taken to use one VL, and an engine that needs several shows credit loops.\n"
		"\n"
		"Exit status 0 when all is well, 1 when something is wrong, 2 for bad input.",
	.examples =
		"weft route verify fabric.net opensm-lfts.dump\n"
		"weft route verify fabric.net opensm-lfts.dump --hosts-only --json | jq .cycle\n"
		"weft route verify fabric.net opensm-lfts.dump --sls path-sls.dump --sl2vl "
		"opensm-sl2vl.dump\n",
	.opts = verify_opts,
	.min_args = 2,
	.max_args = 2,
	.run = route_verify,
};
