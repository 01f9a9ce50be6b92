/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thesis's own example of FERa (Fig. 76, Table 18): all 120 entries. Keeps the example and the
 * table for all tests; the argument is the directory of both files. Where two ports tie the table
 * shows one of them, and any port of the same distance and direction is as good.
 */
#include "unit_test.h"

#include "example15.h"
#include "route/route.h"

enum { LIDS = 15 };

static const char *dir = "tests/golden";

static struct {
	struct fab *f;
	struct rt_tables *t;
	uint64_t *rank;
	unsigned port[LIDS + 1][LIDS + 1], distance[LIDS + 1][LIDS + 1]; /* Table 18 */
	unsigned rows;
} ex;

static node_id node_of_lid(unsigned lid)
{
	for (port_id p = 0; p < ex.f->nports; p++)
		if (ex.f->ports[p].lid == lid)
			return ex.f->ports[p].node;
	fail_msg("no node has LID %u", lid);
	return FAB_NONE;
}

static void table_load(void)
{
	FILE *f = table_open(dir, "table18-fera.csv");
	unsigned v[4]; /* switch, destination, port, distance */

	for (; table_next(f, 4, v); ex.rows++) {
		assert_in_range(v[0], 1, LIDS);
		assert_in_range(v[1], 1, LIDS);
		ex.port[v[0]][v[1]] = v[2];
		ex.distance[v[0]][v[1]] = v[3];
	}
}

static int setup(void **state UNUSED)
{
	struct rt_opts o = {0};
	struct err e;

	ex.f = example15_load(dir);
	table_load();
	o.root = fab_node_by_guid(ex.f, 0x100);
	if (rt_compute(&rt_fera, ex.f, &o, &ex.t, &e))
		fail_msg("%s", e.text);
	ex.rank = mem_array(ex.f->nswitches, sizeof(*ex.rank));
	rt_updown_rank(ex.f, o.root, ex.rank);
	return 0;
}

static int teardown(void **state UNUSED)
{
	rt_tables_free(ex.t);
	fab_free(ex.f);
	free(ex.rank);
	return 0;
}

static port_id peer_of(unsigned s, unsigned port)
{
	node_id n = node_of_lid(s);

	assert_in_range(port, 1, ex.f->nodes[n].nports);
	return ex.f->ports[fab_port_id(ex.f, n, port)].peer;
}

/* Port of switch s leads one link nearer to d by the table's own distances. */
static bool leads_nearer(unsigned s, unsigned d, unsigned port)
{
	port_id peer = peer_of(s, port);
	node_id n;

	if (peer == FAB_NONE)
		return false;
	n = ex.f->ports[peer].node;
	if (!fab_is_switch(ex.f, n))
		return ex.f->ports[peer].lid == d;
	return ex.distance[ex.f->ports[fab_port_id(ex.f, n, 0)].lid][d] + 1 == ex.distance[s][d];
}

static bool goes_up(unsigned s, unsigned port)
{
	uint32_t to = ex.f->switch_index[ex.f->ports[peer_of(s, port)].node];

	return to != FAB_NONE && ex.rank[to] < ex.rank[ex.f->switch_index[node_of_lid(s)]];
}

static unsigned equals(unsigned s, unsigned d)
{
	unsigned n = 0;

	for (unsigned p = 1; p <= 4; p++)
		n += leads_nearer(s, d, p) && goes_up(s, p) == goes_up(s, ex.port[s][d]);
	return n;
}

TEST(all_120_entries_are_those_of_table_18)
{
	unsigned looked_at = 0;

	assert_int_equal(ex.rows, 120);
	assert_int_equal(ex.t->entries, 120);
	assert_int_equal(ex.t->top_lid, LIDS);
	for (uint32_t i = 0; i < ex.f->nswitches; i++) {
		unsigned s = ex.f->ports[fab_port_id(ex.f, ex.f->switches[i], 0)].lid;

		for (unsigned d = 1; d <= LIDS; d++, looked_at++) {
			unsigned port = rt_row(ex.t, i)[d];

			if (s == d) {
				assert_int_equal(port, 0);
				continue;
			}
			assert_true(leads_nearer(s, d, port));
			assert_int_equal(goes_up(s, port), goes_up(s, ex.port[s][d]));
			if (equals(s, d) == 1)
				assert_int_equal(port, ex.port[s][d]);
		}
	}
	assert_int_equal(looked_at, 120);
}

TEST(the_verifier_agrees)
{
	struct rt_verify_opts o = {.rank = ex.rank};
	struct rt_report r;
	struct err e;
	uint64_t hops = 0;

	assert_int_equal(rt_verify(ex.f, ex.t, &o, &r, &e), 0);
	assert_true(r.ok);
	assert_int_equal(r.pairs, 15 * 14);
	/* from a switch the table's distance; from a host that of its switch and one link more */
	for (node_id n = 0; n < ex.f->nnodes; n++) {
		bool sw = fab_is_switch(ex.f, n);
		port_id at =
			sw ? fab_port_id(ex.f, n, 0) : ex.f->ports[fab_port_id(ex.f, n, 1)].peer;
		unsigned own = ex.f->ports[fab_port_id(ex.f, n, sw ? 0 : 1)].lid;
		unsigned s = ex.f->ports[fab_port_id(ex.f, ex.f->ports[at].node, 0)].lid;

		for (unsigned d = 1; d <= LIDS; d++)
			if (d != own)
				hops += ex.distance[s][d] + !sw;
	}
	assert_int_equal(r.hops_sum, hops);
	rt_report_free(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_120_entries_are_those_of_table_18),
		cmocka_unit_test(the_verifier_agrees),
	};

	if (argc > 1)
		dir = argv[1];
	return cmocka_run_group_tests(tests, setup, teardown);
}
