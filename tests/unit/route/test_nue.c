/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine nue: every pair has a route with any number of lanes, no lane has a cycle, threads change nothing. Keeps no state;
 * each test makes its own fabric. The verifier, which shares no code with the engine, is the judge.
 * Covers: nue.c, nue_lane.c, escape_tree.c
 */
#include "route_fixture.h"

#include "route/nue_lane.h"
#include "route/quality.h"

static struct rt_tables *nue(const struct fab *f, unsigned lanes, unsigned threads)
{
	struct rt_opts o = {.root = FAB_NONE, .lanes = lanes, .threads = threads};
	struct rt_tables *t;
	struct err e;

	if (rt_compute(&rt_nue, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

/* Pairs that cables do not join have no route; FERa, whose verdict is known, reaches all others. */
static void expect_good(const struct fab *f, const struct rt_tables *t)
{
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0}), other;
	struct rt_tables *fera = world_fera(f, NULL);

	other = world_verify(f, fera, (struct rt_verify_opts){0});
	if (r.cycles || r.loops || r.discarded || r.unreachable != other.unreachable)
		fail_msg("%s", r.nproblems ? r.problem[0] : "another number of pairs is reached");
	assert_int_equal(t->entries, fera->entries);
	rt_report_free(&r);
	rt_report_free(&other);
	rt_tables_free(fera);
}

static void check_lanes(const struct fab *f, unsigned lanes)
{
	struct rt_tables *t = nue(f, lanes, 1), *again = nue(f, lanes, 3);

	expect_good(f, t);
	assert_in_range(rt_nvls(t), 1, lanes);
	assert_memory_equal(t->lft, again->lft, (size_t)t->nswitches * t->stride);
	assert_true(rt_lanes_same(f, t, again));
	rt_tables_free(t);
	rt_tables_free(again);
}

static void check(struct fab *f, unsigned most)
{
	for (unsigned lanes = 1; lanes <= most; lanes++)
		check_lanes(f, lanes);
	fab_free(f);
}

TEST(any_shape_with_any_number_of_lanes)
{
	check(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}), 8);
	check(world_make((struct fab_gen){.kind = "kary", .dims = {3, 3}}), 8);
	check(world_make((struct fab_gen){.kind = "star", .dims = {5}}), 8);
	check(world_make((struct fab_gen){.kind = "ring", .dims = {4}}), 8);
	check(world_make((struct fab_gen){.kind = "ring", .dims = {9}}), 8);
	check(world_make((struct fab_gen){.kind = "fullmesh", .dims = {6}}), 8);
	check(world_make((struct fab_gen){.kind = "hypercube", .dims = {4}}), 8);
	check(world_make((struct fab_gen){.kind = "mesh", .dims = {4, 4}}), 8);
	check(world_make((struct fab_gen){.kind = "torus", .dims = {4, 4}}), 8);
	check(world_make((struct fab_gen){.kind = "torus", .dims = {3, 3, 3}}), 3);
	check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}), 3);
}

TEST(irregular_and_odd_fabrics)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct fab *f = world_make((struct fab_gen){.kind = "irregular",
							    .dims = {3 + (uint32_t)seed % 29},
							    .ports = 8,
							    .seed = seed});

		check_lanes(f, 1 + seed % 8);
		fab_free(f);
		f = world_make((struct fab_gen){.kind = "odd", .seed = seed});
		check_lanes(f, 1 + seed % 3);
		fab_free(f);
	}
}

/* Switches and links that are down leave fabrics of several parts, too. */
TEST(damaged_fabrics)
{
	static const struct fab_gen gen[] = {{.kind = "mtree", .dims = {6, 3}},
					     {.kind = "torus", .dims = {5, 5}}};

	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct fab *f = world_make(gen[seed % 2]), *now;
		struct world_down d = world_down_new(f);
		struct rng r;

		rng_seed(&r, seed, 1);
		for (unsigned i = 0; i < 2 * seed; i++)
			world_change(f, &d, &r);
		now = world_now(f, &d);
		check_lanes(now, 1 + seed % 4);
		fab_free(now);
		world_down_free(&d);
		fab_free(f);
	}
}

TEST(several_lids_of_a_port_and_virtual_functions)
{
	struct fab_gen g = {.kind = "torus", .dims = {4, 4}, .ndims = 2};
	struct err e;
	struct fab *f = world_lids(fab_generate(&g, &e), 2);

	check_lanes(f, 1);
	check_lanes(f, 5);
	fab_free(f);
	f = world_vfs(world_make((struct fab_gen){.kind = "torus", .dims = {3, 3}}), 3);
	check_lanes(f, 1);
	check_lanes(f, 3);
	fab_free(f);
}

/* Shares of hosts in shifts, of 1,000,000,000. */
static uint64_t shifts(const struct fab *f, const struct rt_tables *t)
{
	struct rt_quality_opts o = {.patterns = 200, .seed = 7, .threads = 1, .quick = true};
	struct rt_quality q;
	uint64_t mean;
	struct err e;

	assert_int_equal(rt_quality(f, t, &o, &q, &e), 0);
	mean = rt_shares_mean(&q.by[RT_SHIFTS]);
	rt_quality_free(&q);
	return mean;
}

TEST(a_whole_tree_takes_one_lane_and_shares_all_links)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct rt_tables *t = nue(f, 8, 1);

	assert_int_equal(rt_nvls(t), 1);
	assert_int_equal(shifts(f, t), RT_SHARE_ONE);
	rt_tables_free(t);
	fab_free(f);
}

/* Tables that are too large for trials are searched without a heap, as long as shortest paths suffice. */
TEST(large_tables_take_one_lane_where_shortest_paths_do)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {16, 3}}), *now;
	struct world_down d = world_down_new(f);
	struct rt_tables *t = nue(f, 3, 2);
	struct rng r;

	expect_good(f, t);
	assert_int_equal(rt_nvls(t), 1);
	assert_int_equal(shifts(f, t), RT_SHARE_ONE);
	rt_tables_free(t);
	rng_seed(&r, 5, 1);
	for (unsigned i = 0; i < 60; i++)
		world_change(f, &d, &r);
	now = world_now(f, &d);
	check_lanes(now, 2);
	fab_free(now);
	world_down_free(&d);
	fab_free(f);
	f = world_make((struct fab_gen){
		.kind = "torus", .dims = {9, 8, 3}, .hosts = 9, .has_hosts = true});
	check_lanes(f, 2);
	fab_free(f);
}

static uint64_t links_in_sum(const struct fab *f, unsigned lanes)
{
	struct rt_tables *t = nue(f, lanes, 1);
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){.hosts_only = true});
	uint64_t sum = r.hops_sum;

	assert_true(r.ok);
	rt_report_free(&r);
	rt_tables_free(t);
	return sum;
}

/* One lane of a ring cannot have all shortest paths, several can. */
TEST(lanes_make_paths_shorter)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {9}});
	uint64_t one = links_in_sum(f, 1), more = links_in_sum(f, 4);

	assert_true(more < one);
	assert_true(links_in_sum(f, 8) <= more);
	fab_free(f);
}

/* Better than up*-down* paths, with one lane as they have. */
TEST(one_lane_is_better_than_up_and_down)
{
	struct fab *f = world_make(
		(struct fab_gen){.kind = "torus", .dims = {6, 6}, .hosts = 2, .has_hosts = true});
	struct rt_tables *t = nue(f, 1, 1), *fera = world_fera(f, NULL);

	assert_true(shifts(f, t) > shifts(f, fera));
	rt_tables_free(t);
	rt_tables_free(fera);
	fab_free(f);
}

TEST(fabrics_without_switches_links_or_hosts_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct fab *f;

	f = world_lids(fab_build(b), 0);
	rt_tables_free(nue(f, 8, 1));
	fab_free(f);
	b = fab_builder_new();
	fab_add_node(b, IBA_NODE_SWITCH, 7, 4, "alone");
	fab_add_link(b, 0, 1, fab_add_node(b, IBA_NODE_CA, 8, 1, "host"), 1);
	f = world_lids(fab_build(b), 1);
	t = nue(f, 8, 1);
	assert_int_equal(rt_nvls(t), 1);
	rt_tables_free(t);
	fab_free(f);
	check(world_make((struct fab_gen){.kind = "ring", .dims = {5}, .has_hosts = true}), 3);
}

/* ---- the tree that always offers a way ---- */

TEST(the_tree_leads_everywhere)
{
	struct fab *f = world_make((struct fab_gen){.kind = "torus", .dims = {3, 4}});
	struct switch_graph g;
	struct escape_tree t;

	graph_init(&g, f, 1000);
	escape_init(&t, &g, 5);
	for (uint32_t to = 0; to < g.n; to++) {
		escape_aim(&t, to);
		assert_int_equal(t.toward[to], FAB_NONE);
		for (uint32_t s = 0; s < g.n; s++) {
			uint32_t at = s, steps = 0;

			while (at != to && steps++ < g.n) {
				assert_int_equal(g.arc[t.toward[at]].from, at);
				at = g.arc[t.toward[at]].to;
			}
			assert_int_equal(at, to);
		}
	}
	for (uint32_t a = 0; a < g.narcs; a++) {
		assert_int_equal(g.arc[escape_back(&g, a)].to, g.arc[a].from);
		assert_int_equal(escape_back(&g, escape_back(&g, a)), a);
	}
	escape_free(&t);
	graph_free(&g);
	fab_free(f);
}

static void pair_count(void *ctx, uint32_t a UNUSED, uint32_t b UNUSED)
{
	++*(unsigned *)ctx;
}

/* A line of four with its root at one end: packets to the other end turn at the two switches between. */
TEST(the_tree_keeps_free_what_its_destinations_need)
{
	static const uint8_t link[][4] = {{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 3, 1}};
	struct fab *f = world_links(4, 3, link, ARRAY_LEN(link));
	uint32_t dests[4] = {0, 0, 0, 1};
	struct switch_graph g;
	struct escape_tree t;
	unsigned n = 0;

	graph_init(&g, f, 100);
	escape_init(&t, &g, 0);
	escape_each(&t, dests, pair_count, &n);
	assert_int_equal(n, 2);
	dests[0] = 1;
	n = 0;
	escape_each(&t, dests, pair_count, &n);
	assert_int_equal(n, 4);
	escape_free(&t);
	graph_free(&g);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_shape_with_any_number_of_lanes),
		cmocka_unit_test(irregular_and_odd_fabrics),
		cmocka_unit_test(damaged_fabrics),
		cmocka_unit_test(several_lids_of_a_port_and_virtual_functions),
		cmocka_unit_test(a_whole_tree_takes_one_lane_and_shares_all_links),
		cmocka_unit_test(large_tables_take_one_lane_where_shortest_paths_do),
		cmocka_unit_test(lanes_make_paths_shorter),
		cmocka_unit_test(one_lane_is_better_than_up_and_down),
		cmocka_unit_test(fabrics_without_switches_links_or_hosts_do_no_harm),
		cmocka_unit_test(the_tree_leads_everywhere),
		cmocka_unit_test(the_tree_keeps_free_what_its_destinations_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
