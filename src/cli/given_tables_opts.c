/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of a dump for a simulated manager. State: the options and the tables of the one command that runs. Ways in:
 * given_load() and the reports. Simulates nothing: src/lab does.
 */
#include "cli/given_tables_opts.h"
#include "cli/load_opts.h"
#include "cli/route_report.h"

static struct {
	const char *path;
	struct fab *fab;
	struct rt_tables *tables;
	struct lab_given given;
	struct rt_report report;
	uint32_t missing; /* hosts and switches without a LID in the file */
} g;

/* clang-format off */
const struct cli_opt given_opts[] = {
	{.name = "tables", .type = CLI_STR, .dst = &g.path, .arg = "FILE",
	 .help = "the manager programs the tables and LIDs of this opensm-lfts.dump, credit loops included, "
		 "instead of computing some; after a change it computes its own. full or partial: blocks that the manager sends "
		 "are all, or only those that differ (setting tables)"},
	{.name = "sls", .type = CLI_STR, .dst = &route_o.sls, .arg = "FILE",
	 .help = "with --tables: service level of every path, as for weft route verify; hosts send with them"},
	{.name = "sl2vl", .type = CLI_STR, .dst = &route_o.sl2vl, .arg = "FILE",
	 .help = "with --tables: SL-to-VL maps, as for weft route verify; default VL = SL"},
	{0},
};
/* clang-format on */

bool given_wanted(void)
{
	return g.path;
}

static unsigned lmc_of_hosts(const struct fab *f)
{
	unsigned most = 0;

	for (port_id p = 0; p < f->nports; p++)
		if (!fab_is_switch(f, f->ports[p].node) && f->ports[p].lid)
			most = MAX(most, f->ports[p].lmc);
	return most;
}

static int lanes_fit(const struct lab_config *c)
{
	unsigned used = rt_nvls(g.tables), vls = iba_vl_count(c->sim.vl_cap);

	return used <= vls ? CLI_OK
			   : cli_bad("%.100s uses %u data VLs of %u: expected --vls %s", g.path,
				     used, vls,
				     used > 8	? "15"
				     : used > 4 ? "8"
				     : used > 2 ? "4"
						: "2");
}

static uint32_t missing(const struct fab *f)
{
	uint32_t n = 0;

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];

		n += !x->lid && (fab_is_switch(f, x->node) ? !x->num : x->peer != FAB_NONE);
	}
	return n;
}

static bool is_verified(void)
{
	return g.report.ok && !g.missing;
}

/* Tables that do not lead to every switch and back cannot carry the manager's SMPs: these go by directed routes then. */
static void smps_route(struct lab_config *c)
{
	struct rt_verify_opts all = {.hosts_only = false};
	struct rt_report r = {0};
	struct err e;

	g.missing = missing(g.fab);
	if (rt_verify(g.fab, g.tables, &all, &r, &e) || r.unreachable || r.loops || g.missing)
		c->sm.mechanism.by_lid = c->sm.activate_by_lid = false;
	rt_report_free(&r);
}

int given_load(const struct fab *f, struct lab_config *c)
{
	struct rt_verify_opts v = {.hosts_only = true};
	struct fab *folded;
	struct err e;
	int rc;

	if (!g.path && (route_o.sls || route_o.sl2vl))
		return cli_bad("--%s needs --tables FILE", route_o.sls ? "sls" : "sl2vl");
	if (!g.path)
		return CLI_OK;
	folded = fab_fold(f);
	rc = route_tables_load(folded, g.path, &g.fab, &g.tables);
	if (!rc)
		rc = route_lanes_load(g.fab, g.tables);
	if (!rc)
		rc = lanes_fit(c);
	if (!rc && rt_verify(g.fab, g.tables, &v, &g.report, &e))
		rc = cli_bad("%.100s: %s", g.path, e.text);
	g.given = (struct lab_given){g.fab, g.tables};
	c->given = &g.given;
	if (c->sm.mechanism.routes->choose) /* after a change, too, nothing is chosen */
		c->sm.mechanism.routes = sm_mechanism_find(c->sm.mechanism.name)->routes;
	if (!rc) {
		c->sm.lmc = lmc_of_hosts(g.fab);
		smps_route(c);
	}
	fab_free(folded);
	return rc;
}

void given_free(void)
{
	rt_tables_free(g.tables);
	fab_free(g.fab);
	rt_report_free(&g.report);
	g.tables = NULL;
	g.fab = NULL;
}

void given_text(void)
{
	if (!g.tables)
		return;
	printf("tables of %s, %u lane%s: %s\n", g.path, rt_nvls(g.tables),
	       rt_nvls(g.tables) == 1 ? "" : "s",
	       is_verified() ? "verified, every pair of hosts connected, no credit loop"
			     : "NOT verified");
	for (uint32_t i = 0; i < g.report.nproblems; i++)
		printf("  %s\n", g.report.problem[i]);
	if (g.missing)
		printf("  no LID in the file for %u ports: no route leads there\n", g.missing);
	putchar('\n');
}

void given_json(struct json *j)
{
	if (!g.tables)
		return;
	json_open(j, "tables", '{');
	json_str(j, "file", g.path);
	json_u64(j, "lanes", rt_nvls(g.tables));
	json_bool(j, "verified", is_verified());
	json_u64(j, "without_lid", g.missing);
	json_open(j, "problems", '[');
	for (uint32_t i = 0; i < g.report.nproblems; i++)
		json_str(j, NULL, g.report.problem[i]);
	json_close(j);
	json_close(j);
}
