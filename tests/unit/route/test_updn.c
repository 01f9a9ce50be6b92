/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine updn: every pair that cables join has a route over any roots, no route turns up after down, threads change nothing.
 * Keeps no state; each test makes its own fabric. The verifier, which shares no code with the engine, is the judge.
 * Covers: updn.c, updn_roots.c, updn_loads.c
 */
#include "route_fixture.h"

#include "route/quality.h"

static struct rt_tables *updn(const struct fab *f, struct rt_opts o)
{
	struct rt_tables *t;
	struct err e;

	if (rt_compute(&rt_updn, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

/* FERa, whose verdict is known, reaches every pair that cables join. */
static void expect_good(const struct fab *f, const struct rt_tables *t, const struct rt_opts *o)
{
	uint64_t *rank = mem_array((size_t)f->nswitches + 1, sizeof(*rank));
	struct rt_tables *fera = world_fera(f, NULL);
	struct rt_report r, other;
	struct err e;

	assert_int_equal(rt_engine_ranks(&rt_updn, f, o, rank, &e), 0);
	r = world_verify(f, t, (struct rt_verify_opts){.rank = rank});
	other = world_verify(f, fera, (struct rt_verify_opts){0});
	if (r.cycles || r.loops || r.down_up || r.unreachable != other.unreachable)
		fail_msg("%s", r.nproblems ? r.problem[0] : "another number of pairs is reached");
	assert_null(t->lanes);
	assert_int_equal(t->entries, fera->entries);
	rt_report_free(&r);
	rt_report_free(&other);
	rt_tables_free(fera);
	free(rank);
}

static void check(const struct fab *f, const node_id *roots, uint32_t nroots)
{
	struct rt_opts o = {.root = FAB_NONE, .roots = roots, .nroots = nroots, .threads = 1};
	struct rt_tables *t = updn(f, o), *again;

	expect_good(f, t, &o);
	o.threads = 3;
	again = updn(f, o);
	assert_memory_equal(t->lft, again->lft, (size_t)t->nswitches * t->stride);
	rt_tables_free(t);
	rt_tables_free(again);
}

/* Roots that are found, then some that are drawn: hosts, and the same one twice, may be among them. */
static void check_all(struct fab *f, uint64_t seed)
{
	node_id roots[9];
	struct rng r;

	rng_seed(&r, seed, 2);
	check(f, NULL, 0);
	for (uint32_t n = 1; f->nnodes && n <= ARRAY_LEN(roots); n *= 3) {
		for (uint32_t i = 0; i < n; i++)
			roots[i] = rng_below(&r, f->nnodes);
		check(f, roots, n);
	}
	fab_free(f);
}

TEST(any_shape_and_any_roots)
{
	check_all(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}}), 1);
	check_all(world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}}), 2);
	check_all(world_make((struct fab_gen){.kind = "kary", .dims = {3, 3}}), 3);
	check_all(world_make((struct fab_gen){.kind = "ring", .dims = {9}}), 4);
	check_all(world_make((struct fab_gen){.kind = "torus", .dims = {4, 4}}), 5);
	check_all(world_make((struct fab_gen){.kind = "hypercube", .dims = {4}}), 6);
	check_all(world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}), 7);
	check_all(world_make((struct fab_gen){.kind = "star", .dims = {5}}), 8);
}

TEST(irregular_and_odd_fabrics)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		check_all(world_make((struct fab_gen){.kind = "irregular",
						      .dims = {3 + (uint32_t)seed % 29},
						      .ports = 8,
						      .seed = seed}),
			  seed);
		check_all(world_make((struct fab_gen){.kind = "odd", .seed = seed}), seed);
	}
}

/* Switches and links that are down leave fabrics of several parts, too. */
TEST(damaged_trees)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}});
		struct world_down d = world_down_new(f);
		struct rng r;

		rng_seed(&r, seed, 1);
		for (unsigned i = 0; i < 3 * seed; i++)
			world_change(f, &d, &r);
		check_all(world_now(f, &d), seed);
		world_down_free(&d);
		fab_free(f);
	}
}

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

/* With the top of a tree as roots, found or given, every link is used. */
TEST(all_roots_of_a_tree_are_used)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct rt_tables *t = updn(f, (struct rt_opts){.root = FAB_NONE});
	node_id roots[16];
	uint32_t n = 0;

	assert_int_equal(shifts(f, t), RT_SHARE_ONE);
	rt_tables_free(t);
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!strncmp(fab_node_name(f, f->switches[s]), "root", 4))
			roots[n++] = f->switches[s];
	assert_int_equal(n, 16);
	t = updn(f, (struct rt_opts){.root = FAB_NONE, .roots = roots, .nroots = n});
	assert_int_equal(shifts(f, t), RT_SHARE_ONE);
	rt_tables_free(t);
	/* One of them alone is given, and it is the only one that is used. */
	t = updn(f, (struct rt_opts){.root = FAB_NONE, .roots = roots, .nroots = 1});
	assert_true(shifts(f, t) < RT_SHARE_ONE / 2);
	rt_tables_free(t);
	fab_free(f);
}

TEST(fabrics_without_switches_or_links_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f = world_lids(fab_build(b), 0);

	rt_tables_free(updn(f, (struct rt_opts){.root = FAB_NONE}));
	fab_free(f);
	b = fab_builder_new();
	fab_add_node(b, IBA_NODE_SWITCH, 7, 4, "alone");
	check_all(world_lids(fab_build(b), 0), 1);
}

/* A chain of switches, and a smaller tree of four leaves and four spines that no cable joins with it. */
static struct fab *two_islands(void)
{
	enum { CHAIN = 12, SPINES = CHAIN, LEAVES = SPINES + 4, SWITCHES = LEAVES + 4 };
	struct fab_builder *b = fab_builder_new();
	unsigned hosts = 0;

	for (unsigned i = 0; i < SWITCHES; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, 8, "switch");
	for (unsigned i = 0; i < SWITCHES; i++) /* at one end of the chain, and at the leaves */
		for (unsigned k = 0; (!i || i >= LEAVES) && k < 4; k++) {
			node_id h = fab_add_node(b, IBA_NODE_CA, 0x100 + 2 * hosts++, 1, "host");

			assert_int_equal(fab_add_link(b, h, 1, i, 1 + k), 0);
		}
	for (unsigned i = 0; i + 1 < CHAIN; i++)
		assert_int_equal(fab_add_link(b, i, 8, i + 1, 7), 0);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(
			fab_add_link(b, LEAVES + i / 4, 5 + i % 4, SPINES + i % 4, 1 + i / 4), 0);
	return world_lids(fab_build(b), 0);
}

/* Each island has roots of its own, also where the deepest one, or those given, would have them all. */
TEST(each_island_has_roots)
{
	struct fab *f = two_islands();
	node_id given = f->switches[1];

	for (unsigned i = 0; i < 2; i++) {
		struct rt_opts o = {.root = FAB_NONE, .roots = &given, .nroots = i};
		struct rt_quality_opts all = {.patterns = 1};
		struct rt_tables *t = updn(f, o);
		struct rt_quality q;
		struct err e;

		expect_good(f, t, &o);
		assert_int_equal(rt_quality(f, t, &all, &q, &e), 0);
		assert_int_equal(q.by[RT_SHIFTS].worst, RT_SHARE_ONE);
		rt_quality_free(&q);
		rt_tables_free(t);
	}
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_shape_and_any_roots),
		cmocka_unit_test(irregular_and_odd_fabrics),
		cmocka_unit_test(damaged_trees),
		cmocka_unit_test(all_roots_of_a_tree_are_used),
		cmocka_unit_test(fabrics_without_switches_or_links_do_no_harm),
		cmocka_unit_test(each_island_has_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
