/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thesis's own example of PIRa (Fig. 76, Table 19), the break nodes of its graph, and the share
 * of FERa's entries that PIRa computes (Table 20). Keeps the example for all tests; the argument is
 * the directory of the data.
 */
#include "unit_test.h"

#include "example15.h"
#include "route/route.h"

enum { LIDS = 15 };

static const char *dir = "tests/golden";

static struct {
	struct fab *f;
	struct rt_tables *t;
	node_id root;
} ex;

static struct rt_tables *compute(const struct rt_engine *g, const struct fab *f, node_id root)
{
	struct rt_opts o = {.root = root};
	struct rt_tables *t;
	struct err e;

	if (rt_compute(g, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static int setup(void **state UNUSED)
{
	ex.f = example15_load(dir);
	ex.root = fab_node_by_guid(ex.f, 0x100);
	ex.t = compute(&rt_pira, ex.f, ex.root);
	return 0;
}

static int teardown(void **state UNUSED)
{
	rt_tables_free(ex.t);
	fab_free(ex.f);
	return 0;
}

static unsigned lid_of(uint32_t sw)
{
	return ex.f->ports[fab_port_id(ex.f, ex.f->switches[sw], 0)].lid;
}

/* Exactly the entries of the table, and no others. */
TEST(the_50_entries_are_those_of_table_19)
{
	FILE *f = table_open(dir, "table19-pira.csv");
	unsigned want[LIDS + 1][LIDS + 1], rows = 0, v[4];

	memset(want, 0xff, sizeof(want));
	for (; table_next(f, 3, v); rows++)
		want[v[0]][v[1]] = v[2];
	assert_int_equal(rows, 50);
	assert_int_equal(ex.t->entries, 50);
	for (uint32_t s = 0; s < ex.f->nswitches; s++)
		for (unsigned d = 0; d <= LIDS; d++) {
			unsigned port = rt_row(ex.t, s)[d];

			assert_int_equal(port == IBA_PORT_NONE ? ~0u : port, want[lid_of(s)][d]);
		}
}

TEST(the_7_default_ports_are_those_of_table_19)
{
	FILE *f = table_open(dir, "table19-pira-default-ports.csv");
	unsigned want[LIDS + 1], rows = 0, v[4];

	memset(want, 0xff, sizeof(want));
	for (; table_next(f, 2, v); rows++)
		want[v[0]] = v[1];
	assert_int_equal(rows, 7);
	for (uint32_t s = 0; s < ex.f->nswitches; s++) {
		unsigned port = ex.t->dflt[s];

		assert_int_equal(port == IBA_PORT_NONE ? ~0u : port, want[lid_of(s)]);
	}
}

/* ---- break nodes ---- */

static void expect_turns(const unsigned want[4][3])
{
	uint64_t rank[8];
	rt_turns turns = {0};

	assert_int_equal(ex.f->nswitches, ARRAY_LEN(rank));
	rt_updown_rank(ex.f, ex.root, rank);
	rt_forbidden_turns(ex.f, rank, &turns);
	assert_int_equal(turns.n, 4);
	for (size_t i = 0; i < turns.n; i++) {
		assert_int_equal(lid_of(turns.at[i].sw), want[i][0]);
		assert_int_equal(turns.at[i].in, want[i][1]);
		assert_int_equal(turns.at[i].out, want[i][2]);
	}
	vec_free(&turns);
}

static void swap_cables(node_id n, unsigned p, unsigned q)
{
	struct fab_port *a = &ex.f->ports[fab_port_id(ex.f, n, p)];
	struct fab_port *b = &ex.f->ports[fab_port_id(ex.f, n, q)];
	port_id a_peer = a->peer, b_peer = b->peer;

	a->peer = b_peer;
	b->peer = a_peer;
	ex.f->ports[a_peer].peer = fab_port_id(ex.f, n, q);
	ex.f->ports[b_peer].peer = fab_port_id(ex.f, n, p);
}

/*
 * Thesis 7.1.1: switches 6 and 10 alone have two ways up. Tables 18 and 19 put the way from 10 to 5
 * on port 1 and host 15 on port 3; Fig. 92 numbers these two the other way round, and then the
 * turns are those of the thesis's text.
 */
TEST(the_break_nodes_are_6_and_10_with_two_turns_each)
{
	node_id n10 = fab_node_by_guid(ex.f, 0x107);

	expect_turns((const unsigned[4][3]){{6, 1, 2}, {6, 2, 1}, {10, 1, 2}, {10, 2, 1}});
	swap_cables(n10, 1, 3);
	expect_turns((const unsigned[4][3]){{6, 1, 2}, {6, 2, 1}, {10, 2, 3}, {10, 3, 2}});
	swap_cables(n10, 1, 3);
}

/* ---- Table 20 ---- */

enum { SEEDS = 20, TOLERANCE = 30 /* % */ };

/*
 * The thesis's random subnets are not given. These have as many switches of 4 ports and as many
 * hosts, and 9 links between switches for every 8 switches, as in Fig. 76.
 */
static struct fab *irregular(unsigned switches, unsigned hosts, uint64_t seed)
{
	struct fab_gen g = {.kind = "irregular",
			    .dims = {switches},
			    .ndims = 1,
			    .ports = 4,
			    .hosts = hosts,
			    .has_hosts = true,
			    .links = switches * 9 / 8,
			    .seed = seed};
	struct err e;
	struct fab *f = fab_generate(&g, &e), *with_lids;

	if (!f)
		fail_msg("%s", e.text);
	with_lids = fab_assign_lids(f, 0, &e);
	assert_non_null(with_lids);
	fab_free(f);
	return with_lids;
}

/* PIRa's share of FERa's entries, in 1/1000, the mean over many subnets. */
static unsigned share(unsigned switches, unsigned nodes)
{
	uint64_t fera = 0, pira = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct fab *f = irregular(switches, nodes - switches, seed);
		struct rt_tables *full = compute(&rt_fera, f, FAB_NONE);
		struct rt_tables *part = compute(&rt_pira, f, FAB_NONE);

		assert_int_equal(full->entries, switches * nodes);
		fera += full->entries;
		pira += part->entries;
		rt_tables_free(full);
		rt_tables_free(part);
		fab_free(f);
	}
	return (unsigned)(pira * 1000 / fera);
}

TEST(pira_computes_the_share_of_entries_of_table_20)
{
	FILE *f = table_open(dir, "table20-entries.csv");
	unsigned v[4], rows = 0; /* switches, nodes, FERa's entries, PIRa's */

	for (; table_next(f, 4, v); rows++) {
		unsigned thesis = v[3] * 1000 / v[2], ours = share(v[0], v[1]);

		print_message(
			"# %3u switches, %3u nodes: PIRa computes %u.%u %% of FERa's entries; "
			"thesis %u.%u %%\n",
			v[0], v[1], ours / 10, ours % 10, thesis / 10, thesis % 10);
		assert_in_range(ours, thesis * (100 - TOLERANCE) / 100,
				thesis * (100 + TOLERANCE) / 100);
	}
	assert_int_equal(rows, 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_50_entries_are_those_of_table_19),
		cmocka_unit_test(the_7_default_ports_are_those_of_table_19),
		cmocka_unit_test(the_break_nodes_are_6_and_10_with_two_turns_each),
		cmocka_unit_test(pira_computes_the_share_of_entries_of_table_20),
	};

	if (argc > 1)
		dir = argv[1];
	return cmocka_run_group_tests(tests, setup, teardown);
}
