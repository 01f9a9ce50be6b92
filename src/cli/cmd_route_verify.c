/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft route verify. Keeps no state but route_o; the way in is the table at the end. Judges nothing
 * itself: the verifier is in src/route.
 */
#include "cli/route_report.h"

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
	route_islands_json(&j, r);
	json_u64(&j, "unreachable", r->unreachable);
	json_u64(&j, "loops", r->loops);
	json_u64(&j, "discarded", r->discarded);
	if (route_o.root)
		json_u64(&j, "down_up", r->down_up);
	else
		json_none(&j, "down_up");
	json_u64(&j, "cycles", r->cycles);
	json_cycle(&j, f, r);
	route_report_json(&j, r);
	json_close(&j);
	return cli_print_json(&j);
}

static void verify_print(const struct rt_report *r)
{
	printf("%-14s %s\n", "verdict", r->ok ? "ok" : "NOT OK");
	printf("%-14s %s\n", "pairs", cli_count(r->pairs));
	route_islands_print(stdout, r);
	printf("%-14s %s\n", "unreachable", cli_count(r->unreachable));
	printf("%-14s %s\n", "loops", cli_count(r->loops));
	if (route_o.sls || route_o.sl2vl)
		printf("%-14s %s\n", "discarded", cli_count(r->discarded));
	if (route_o.root)
		printf("%-14s %s\n", "down-up turns", cli_count(r->down_up));
	printf("%-14s %s\n", "credit loops", cli_count(r->cycles));
	route_report_print(stdout, r);
}

static int verify(const struct fab *f, const struct rt_tables *t, node_id root)
{
	struct rt_verify_opts o = {.threads = route_o.threads, .hosts_only = route_o.hosts_only};
	uint64_t *rank = NULL;
	struct rt_report r;
	struct err e;
	int rc = CLI_OK;

	if (route_o.root) {
		rank = mem_array(f->nswitches, sizeof(*rank));
		rt_updown_rank_by(f, root, route_directions_find(), rank);
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

static int route_verify(char **args, unsigned nargs UNUSED)
{
	struct fab *f, *with_lids = NULL;
	struct rt_tables *t = NULL;
	node_id root;
	int rc;

	if (!strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one of the two can be standard input");
	if (route_o.directions && !route_o.root)
		return cli_bad("--directions goes with --root");
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	rc = route_root_find(f, args[0], &root);
	cli_stage("reading the tables");
	if (!rc)
		rc = route_tables_load(f, args[1], &with_lids, &t);
	if (!rc)
		rc = route_lanes_load(with_lids, t);
	cli_stage("verifying");
	if (!rc)
		rc = verify(with_lids, t, root);
	rt_tables_free(t);
	fab_free(with_lids);
	fab_free(f);
	return rc;
}

static const struct cli_opt verify_opts[] = {
	{"root", 'r', CLI_STR, &route_o.root, "NODE",
	 "also look for routes that turn up after down, seen from this root, or from the centre",
	 NULL, 0, 0},
	{"directions", 0, CLI_CHOICE, &route_o.directions, "HOW",
	 "with --root: how its links get their directions; default distance", route_directions, 0,
	 0},
	{"hosts-only", 0, CLI_FLAG, &route_o.hosts_only, NULL,
	 "judge only routes from host to host, none from or to a switch", NULL, 0, 0},
	{"sls", 0, CLI_STR, &route_o.sls, "FILE",
	 "service level of every path, from OpenSM's path-record dump or as ibdmchk -c reads it; "
	 "default SL 0",
	 NULL, 0, 0},
	{"sl2vl", 0, CLI_STR, &route_o.sl2vl, "FILE",
	 "SL-to-VL maps, from opensm-sl2vl.dump or as ibdmchk -d reads them; default VL = SL", NULL,
	 0, 0},
	{"threads", 't', CLI_UINT, &route_o.threads, "N", "threads to use; default all", NULL, 1,
	 256},
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
