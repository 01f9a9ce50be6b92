/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes refined entry by entry: shifts get more bandwidth, bisections lose little, paths stay as short as they must be and
 * connect all switches. Keeps no state; each test makes its own fabric.
 * Covers: refine.c, refine_flows.c
 */
#include "route_fixture.h"

#include "route/quality.h"
#include "route/refine.h"

struct shares {
	uint64_t bisection, shifts;
};

static struct shares measure(const struct fab *f, const struct rt_tables *t)
{
	struct rt_quality_opts o = {.patterns = 200, .seed = 5};
	struct rt_quality q;
	struct shares s;
	struct err e;

	assert_int_equal(rt_quality(f, t, &o, &q, &e), 0);
	s = (struct shares){rt_shares_mean(&q.by[RT_BISECTION]), rt_shares_mean(&q.by[RT_SHIFTS])};
	rt_quality_free(&q);
	return s;
}

static struct rt_tables *fera(const struct fab *f)
{
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t;
	struct err e;

	assert_int_equal(rt_compute(&rt_fera, f, &o, &t, &e), 0);
	return t;
}

static uint32_t refine_tables(const struct fab *f, struct rt_tables *t, struct refine_opts o)
{
	struct switch_graph g;
	uint32_t n;

	graph_init(&g, f, t->top_lid);
	n = refine(&g, t, &o);
	graph_free(&g);
	return n;
}

static void expect_connected(const struct fab *f, const struct rt_tables *t)
{
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(r.unreachable, 0);
	assert_int_equal(r.loops, 0);
	rt_report_free(&r);
}

TEST(shifts_gain_and_bisections_lose_little)
{
	const struct fab_gen nets[] = {
		{.kind = "irregular",
		 .dims = {24},
		 .ports = 10,
		 .has_hosts = true,
		 .hosts = 80,
		 .seed = 1},
		{.kind = "dragonfly", .dims = {2, 4, 2}},
	};

	for (size_t i = 0; i < ARRAY_LEN(nets); i++) {
		struct fab *f = world_make(nets[i]);
		struct rt_tables *t = fera(f);
		struct shares before = measure(f, t), after;

		assert_true(refine_tables(
			f, t, (struct refine_opts){.extra = 1, .rounds = 2, .even = 300}));
		after = measure(f, t);
		assert_true(after.shifts * 10 > before.shifts * 12);
		assert_true(after.bisection * 10 > before.bisection * 9);
		expect_connected(f, t);
		rt_tables_free(t);
		fab_free(f);
	}
}

/* Without extra links a switch takes neighbours only that are nearer. */
TEST(without_extra_links_paths_become_no_longer)
{
	struct fab *f = world_make((struct fab_gen){.kind = "irregular",
						    .dims = {20},
						    .ports = 8,
						    .has_hosts = true,
						    .hosts = 40,
						    .seed = 3});
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_report before, after;
	struct rt_tables *t;
	struct err e;

	assert_int_equal(rt_compute(&rt_nue, f, &o, &t, &e), 0);
	rt_lanes_drop(t);
	before = world_verify(f, t, (struct rt_verify_opts){0});
	refine_tables(f, t, (struct refine_opts){.rounds = 3});
	after = world_verify(f, t, (struct rt_verify_opts){0});
	assert_true(after.hops_sum <= before.hops_sum);
	rt_report_free(&before);
	rt_report_free(&after);
	rt_tables_free(t);
	fab_free(f);
}

/* Fabrics in parts, with few hosts or long paths: tables stay right, or as they are. */
TEST(odd_fabrics_stay_connected)
{
	const struct fab_gen nets[] = {
		{.kind = "ring", .dims = {90}},
		{.kind = "ring", .dims = {3}},
		{.kind = "mtree", .dims = {4, 1}},
		{.kind = "torus", .dims = {5, 5}, .has_hosts = true, .hosts = 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(nets); i++) {
		struct fab *f = world_make(nets[i]);
		struct rt_tables *t = fera(f);

		refine_tables(f, t, (struct refine_opts){.extra = 3, .rounds = 2});
		expect_connected(f, t);
		rt_tables_free(t);
		fab_free(f);
	}
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct fab *f = world_make((struct fab_gen){.kind = "odd", .seed = seed});
		struct rt_tables *t = fera(f);
		struct rt_report before, after;

		before = world_verify(f, t, (struct rt_verify_opts){0});
		refine_tables(f, t, (struct refine_opts){.extra = 2, .rounds = 2});
		after = world_verify(f, t, (struct rt_verify_opts){0});
		assert_int_equal(after.unreachable, before.unreachable);
		assert_int_equal(after.loops, 0);
		rt_report_free(&before);
		rt_report_free(&after);
		rt_tables_free(t);
		fab_free(f);
	}
}

/* The figures of docs/routing.md, less a hundredth: OpenSM's best engines have 0.457 and 0.290. */
TEST(balanced_is_refined)
{
	struct fab *f = world_make((struct fab_gen){.kind = "irregular",
						    .dims = {64},
						    .ports = 16,
						    .has_hosts = true,
						    .hosts = 400,
						    .seed = 1});
	struct rt_opts o = {.root = FAB_NONE};
	struct shares s;
	struct rt_tables *t;
	struct err e;

	assert_int_equal(rt_compute(&rt_balanced, f, &o, &t, &e), 0);
	s = measure(f, t);
	assert_true(s.bisection > RT_SHARE_ONE / 1000 * 448);
	assert_true(s.shifts > RT_SHARE_ONE / 1000 * 352);
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts_gain_and_bisections_lose_little),
		cmocka_unit_test(without_extra_links_paths_become_no_longer),
		cmocka_unit_test(odd_fabrics_stay_connected),
		cmocka_unit_test(balanced_is_refined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
