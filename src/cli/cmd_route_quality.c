/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route quality. State: the options and struct quality, for one run; the way in is the table at the end. Measures
 * nothing itself: src/route/quality.c does.
 */
#include "cli/host_groups.h"
#include "cli/quality_report.h"
#include "draw/draw.h"

static struct {
	const char *engine, *against, *svg;
	cli_strings hosts, storage;
	unsigned patterns;
	uint64_t seed;
	bool full, spread;
} o = {.seed = 1};

static void progress(void *ctx UNUSED, enum rt_pattern p, uint64_t done, uint64_t of)
{
	cli_progress("%s: %llu of %llu", rt_pattern_names[p], (unsigned long long)done,
		     (unsigned long long)of);
}

/* ---- tables ---- */

static int compute_by(struct quality *x, const struct rt_opts *ro, uint64_t **rank, struct err *e)
{
	const struct rt_engine *engine;
	int rc;

	cli_stage("computing routes");
	rc = route_compute_by(x->f, ro, &x->choice, &engine, &x->t, e);
	if (rc)
		return rc;
	x->engine = engine->name;
	rt_tables_fill(x->t);
	if (!engine->updown)
		return 0;
	*rank = mem_array(x->f->nswitches, sizeof(**rank));
	return rt_engine_ranks(engine, x->f, ro, *rank, e);
}

/* Tables of an engine, with the LIDs that f has as far as they are valid. */
static int compute(struct quality *x, const char *file, const struct fab *f, uint64_t **rank)
{
	struct rt_opts ro = {.threads = route_o.threads,
			     .lanes = route_o.lanes,
			     .valiant = route_o.valiant,
			     .directions = route_directions_find(),
			     .ties = route_ties_find()};
	struct err e;
	int rc;

	if (o.engine)
		route_o.engine = o.engine;
	x->f = fab_assign_lids(f, route_o.lmc, &e);
	if (!x->f)
		return cli_bad("%s: %s", file, e.text);
	if (route_roots_find(x->f, file, &ro))
		return CLI_BAD;
	rc = route_groups_find(x->f, file, &ro);
	if (!rc)
		rc = route_given_load(&ro);
	if (!rc && compute_by(x, &ro, rank, &e))
		rc = cli_bad("%s: %s", file, e.text);
	free((void *)ro.group);
	free((void *)ro.roots);
	route_given_free(&ro);
	return rc;
}

static uint32_t lids_changed(const struct fab *a, const struct fab *b)
{
	uint32_t n = 0;

	for (port_id p = 0; p < a->nports; p++)
		n += a->ports[p].lid != b->ports[p].lid || a->ports[p].lmc != b->ports[p].lmc;
	return n;
}

/* The tables to measure, and how many entries of them differ from those of --against. Computed tables have the LIDs
 * of these, so that entries compare. */
static int tables_get(struct quality *x, char **args, unsigned nargs, const struct fab *f,
		      uint64_t **rank)
{
	struct rt_tables *other = NULL;
	struct fab *theirs = NULL;
	int rc = CLI_OK;

	cli_stage("reading the tables");
	if (o.against)
		rc = route_tables_load(f, o.against, &theirs, &other);
	if (!rc && nargs > 1) {
		x->tables = args[1];
		rc = route_tables_load(f, args[1], &x->f, &x->t);
		if (!rc)
			rc = route_lanes_load(x->f, x->t);
	} else if (!rc) {
		rc = compute(x, args[0], theirs ? theirs : f, rank);
	}
	if (!rc && other) {
		x->against = true;
		rt_changes_count(x->t, other, &x->changes);
		x->lids_changed = lids_changed(x->f, theirs);
	}
	rt_tables_free(other);
	fab_free(theirs);
	return rc;
}

/* ---- figures ---- */

static int hosts_find(const struct quality *x, struct rt_quality_opts *q, rt_hosts *hosts,
		      rt_hosts *storage)
{
	rt_hosts all = {0};
	int rc = CLI_OK;

	rt_quality_hosts(x->f, &all);
	if (o.hosts.n) {
		rc = host_groups_find(x->f, "--hosts", &o.hosts, &all, hosts);
		q->hosts = hosts->at;
		q->nhosts = (uint32_t)hosts->n;
	}
	if (!rc && o.storage.n) {
		rc = host_groups_find(x->f, "--storage", &o.storage, o.hosts.n ? hosts : &all,
				      storage);
		q->storage = storage->at;
		q->nstorage = (uint32_t)storage->n;
	}
	vec_free(&all);
	return rc;
}

static int measure(struct quality *x, const uint64_t *rank)
{
	struct rt_quality_opts q = {.patterns = o.patterns,
				    .seed = o.seed,
				    .full = o.full,
				    .spread = o.spread,
				    .threads = route_o.threads,
				    .progress = progress};
	struct rt_verify_opts v = {
		.threads = route_o.threads, .hosts_only = route_o.hosts_only, .rank = rank};
	rt_hosts hosts = {0}, storage = {0};
	struct err e;
	int rc = hosts_find(x, &q, &hosts, &storage);

	if (!rc)
		cli_stage("verifying");
	if (!rc && rt_verify(x->f, x->t, &v, &x->verdict, &e))
		rc = cli_bad("%s", e.text);
	if (!rc && rt_quality(x->f, x->t, &q, &x->q, &e))
		rc = cli_bad("%s", e.text);
	cli_progress_end();
	vec_free(&hosts);
	vec_free(&storage);
	return rc;
}

/* Links by flows in random bisections; a link with one flow gives each host its rate. */
static int draw_picture(const struct quality *x)
{
	const struct rt_shares *s = &x->q.by[RT_BISECTION];
	uint64_t patterns = MAX(s->patterns, 1u);
	uint64_t *value = mem_array(x->f->nports, sizeof(*value));
	struct draw_heat h = {.value = value,
			      .least = 2000,
			      .title = "mean flows over a link in random bisections, up to",
			      .unit = "flows",
			      .bins = s->links,
			      .nbins = RT_LINK_BINS,
			      .bins_title = "links between switches by flows, in one bisection"};
	struct strbuf out = {0};

	for (port_id p = 0; p < x->f->nports; p++)
		value[p] = (x->q.flows[p] * 1000 + patterns / 2) / patterns;
	while (h.nbins > 1 && !s->links[h.nbins - 1])
		h.nbins--;
	cli_stage("drawing");
	draw_fabric_heat(x->f, &h, &out);
	cli_progress_end();
	free(value);
	return cli_write(o.svg, &out);
}

/* Standard input can be read once. */
static unsigned from_stdin(char **args, unsigned nargs)
{
	const char *const paths[] = {args[0], nargs > 1 ? args[1] : NULL, o.against, route_o.sls,
				     route_o.sl2vl};
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		n += paths[i] && !strcmp(paths[i], "-");
	return n;
}

static int check_options(char **args, unsigned nargs)
{
	if (from_stdin(args, nargs) > 1)
		return cli_bad("only one file can be standard input");
	if (nargs > 1 && (o.engine || route_o.roots.n || route_o.directions || route_o.ties ||
			  route_o.lmc || route_o.lanes || route_o.valiant || route_o.groups.n))
		return cli_bad(
			"--engine, --root, --directions, --ties, --lanes, --valiant, --groups "
			"and --lmc go without LFTS: they compute tables");
	if (nargs < 2 && (route_o.sls || route_o.sl2vl))
		return cli_bad("--sls and --sl2vl go with LFTS");
	if (o.svg && !strcmp(o.svg, "-"))
		return cli_bad("--svg: expected a file: the figures have standard output");
	return CLI_OK;
}

static int route_quality(char **args, unsigned nargs)
{
	struct quality x = {.seed = o.seed};
	double start = cli_wall_s();
	uint64_t *rank = NULL;
	struct fab *f;
	int rc = check_options(args, nargs);

	if (rc)
		return rc;
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	rc = tables_get(&x, args, nargs, f, &rank);
	if (!rc)
		rc = measure(&x, rank);
	cli_progress_end();
	x.wall_s = cli_wall_s() - start;
	if (!rc && o.svg)
		rc = draw_picture(&x);
	if (!rc && cli_json)
		rc = quality_json(&x);
	else if (!rc)
		quality_print(&x);
	if (!rc && !x.verdict.ok)
		rc = CLI_NO;
	rt_quality_free(&x.q);
	rt_report_free(&x.verdict);
	rt_tables_free(x.t);
	fab_free(x.f);
	fab_free(f);
	free(rank);
	return rc;
}

static const struct cli_opt quality_opts[] = {
	{"engine", 'e', CLI_CHOICE, &o.engine, "NAME",
	 "without LFTS: the engine that computes the tables; default auto: the best for this fabric",
	 rt_engine_choices, 0, 0},
	{"root", 'r', CLI_LIST, &route_o.roots, "NODE",
	 "without LFTS: root of the up/down graph, of engine updn several; default centre", NULL, 0,
	 0},
	{"directions", 0, CLI_CHOICE, &route_o.directions, "HOW",
	 "without LFTS: which end of a link is up; default distance", route_directions, 0, 0},
	{"ties", 0, CLI_CHOICE, &route_o.ties, "HOW",
	 "without LFTS, fera: which of several equal ports a LID takes; default spread", route_ties,
	 0, 0},
	{"lanes", 0, CLI_UINT, &route_o.lanes, "N",
	 "without LFTS, engines with lanes: virtual lanes to use at most; default 8", NULL, 1,
	 RT_MAX_VLS},
	{"valiant", 0, CLI_UINT, &route_o.valiant, "N",
	 "without LFTS, dragonfly: reach one destination in N over another group, as for weft route compute",
	 NULL, 1, 65535},
	ROUTE_GROUPS_OPT,
	ROUTE_GIVEN_OPTS,
	{"lmc", 'l', CLI_UINT, &route_o.lmc, "N",
	 "without LFTS: give every host port 2^N LIDs; default 0", NULL, 0, 7},
	{"sls", 0, CLI_STR, &route_o.sls, "FILE",
	 "with LFTS: service level of every path, as for weft route verify; default SL 0", NULL, 0,
	 0},
	{"sl2vl", 0, CLI_STR, &route_o.sl2vl, "FILE",
	 "with LFTS: SL-to-VL maps, as for weft route verify; default VL = SL", NULL, 0, 0},
	{"patterns", 'n', CLI_UINT, &o.patterns, "N",
	 "random bisections and random permutations, so many of each; default 1000, above 4,096 hosts "
	 "fewer, so that 4 million flows are drawn",
	 NULL, 1, 10000000},
	{"seed", 's', CLI_U64, &o.seed, "N", "of what is drawn; default 1", NULL, 0, 0},
	{"full", 0, CLI_FLAG, &o.full, NULL,
	 "all shifts; default all up to 4,096 hosts, of more 512 that are drawn", NULL, 0, 0},
	{"hosts", 0, CLI_LIST, &o.hosts, "GROUP",
	 "only these hosts send and receive; may be given several times: " HOST_GROUPS_HELP
	 "; default all",
	 NULL, 0, 0},
	{"storage", 0, CLI_LIST, &o.storage, "GROUP",
	 "the storage nodes of the incast, named in the same way; default every 32nd host", NULL, 0,
	 0},
	{"spread", 0, CLI_FLAG, &o.spread, NULL,
	 "with an LMC above 0: host i sends to base LID + i modulo 2^LMC; default the base LID",
	 NULL, 0, 0},
	{"against", 0, CLI_STR, &o.against, "LFTS2",
	 "also count entries and blocks that differ from these tables", NULL, 0, 0},
	{"svg", 0, CLI_STR, &o.svg, "FILE",
	 "draw the fabric with links coloured by their flows in random bisections, and a histogram of these",
	 NULL, 0, 0},
	{"hosts-only", 0, CLI_FLAG, &route_o.hosts_only, NULL,
	 "verify only routes from host to host", NULL, 0, 0},
	{"threads", 't', CLI_UINT, &route_o.threads, "N",
	 "threads to use, which changes nothing but the time; default all", NULL, 1, 256},
	{0},
};

const struct cli_cmd cmd_route_quality = {
	.name = "route quality",
	.args = "FILE [LFTS]",
	.summary = "measure how good routes are under traffic patterns",
	.about =
		"Lays traffic patterns over forwarding tables and tells what share of its host's\n"
		"bandwidth each flow gets: 1/n of the busiest link on its path. Tables are those that an\n"
		"engine computes for the netlist, or those of LFTS, which opensm-lfts.dump or dump_lfts\n"
		"shows; LIDs of the dump replace those of the netlist.\n"
		"\n"
		"Share 1: the fabric limits nothing, only the two hosts do. Where hosts have several flows\n"
		"at once (all to all, neighbours, incast), the share is relative to what their own links\n"
		"allow. A flow without a path has share 0. Flows on different VLs share the link. All links\n"
		"count alike. Hosts are in the order of the netlist; SHARP aggregation nodes are left out.\n"
		"Where no cables join some hosts, each pattern runs inside every island by itself.\n"
		"\n"
		"Random bisections: hosts are paired at random, both of a pair send to each other. Shifts:\n"
		"host i sends to host i + k, for every k; worst pattern is the worst k. Incast: all other\n"
		"hosts send to the storage nodes in turn. docs/routing.md defines all patterns.\n"
		"\n"
		"Exit status 1 when the tables fail the check of weft route verify, whose verdict stands beside\n"
		"the figures: pairs without a route, loops, possible deadlocks. 2 for bad input.",
	.examples =
		"weft route quality fabric.net\n"
		"weft route quality fabric.net opensm-lfts.dump --json | jq .bisection.mean\n"
		"weft route quality fabric.net opensm-lfts.dump --sls path-sls.dump --sl2vl "
		"opensm-sl2vl.dump\n"
		"weft route quality fabric.net --engine pira --against opensm-lfts.dump\n"
		"weft route quality fabric.net --engine nue --lanes 2\n"
		"weft route quality fabric.net --svg congestion.svg\n"
		"weft route quality fabric.net --hosts 'host 1*' --storage 'host 10' --patterns 100\n",
	.opts = quality_opts,
	.min_args = 1,
	.max_args = 2,
	.run = route_quality,
};
