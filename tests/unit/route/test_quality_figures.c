/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures of the meter that can be told without one: trees, two switches, percentiles, grids, names, groups, changed entries.
 * Keeps no state. test_quality.c compares the meter with a slow one.
 * Covers: quality_links.c
 */
#include "route_fixture.h"

#include "route/quality_priv.h"

static struct rt_quality measure(const struct fab *f, const struct rt_tables *t,
				 struct rt_quality_opts o)
{
	struct rt_quality q;
	struct err e;

	if (rt_quality(f, t, &o, &q, &e))
		fail_msg("%s", e.text);
	return q;
}

/* A healthy tree carries every shift at full rate, and all to all. */
TEST(a_tree_is_perfect_on_shifts)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct rt_tables *t = world_fera(f, NULL);
	struct rt_quality q = measure(f, t, (struct rt_quality_opts){.patterns = 10});

	assert_int_equal(q.by[RT_SHIFTS].worst, RT_SHARE_ONE);
	assert_int_equal(q.by[RT_SHIFTS].patterns, 127);
	assert_int_equal(q.by[RT_SHIFTS_BY_NAME].worst, RT_SHARE_ONE);
	assert_int_equal(q.by[RT_ALL_TO_ALL].worst, RT_SHARE_ONE);
	assert_int_equal(q.by[RT_ALL_TO_ALL].busiest, 127);
	assert_true(q.by[RT_BISECTION].worst < RT_SHARE_ONE);
	assert_int_equal(q.hops_max, 6);
	assert_int_equal(q.lanes, 1);
	rt_quality_free(&q);
	rt_tables_free(t);
	fab_free(f);
}

/* Two switches, three hosts each, one link: what crosses it gets a third. */
TEST(one_link_between_two_switches)
{
	struct fab_builder *b = fab_builder_new();
	port_id worst[4];
	struct rt_quality q;
	struct rt_tables *t;
	struct fab *f;

	fab_add_node(b, IBA_NODE_SWITCH, 1, 4, "left");
	fab_add_node(b, IBA_NODE_SWITCH, 2, 4, "right");
	for (unsigned i = 0; i < 6; i++) {
		fab_add_node(b, IBA_NODE_CA, 0x10 + i, 1, "host");
		assert_int_equal(fab_add_link(b, 2 + i, 1, i / 3, 1 + i % 3), 0);
	}
	assert_int_equal(fab_add_link(b, 0, 4, 1, 4), 0);
	f = world_lids(fab_build(b), 0);
	t = world_fera(f, NULL);
	q = measure(f, t, (struct rt_quality_opts){.patterns = 1});
	/* shift by 3: all cross; by 1: one each way and no flow suffers */
	assert_int_equal(q.by[RT_SHIFTS].worst, RT_SHARE_ONE / 3);
	assert_int_equal(q.by[RT_SHIFTS].worst_pattern, RT_SHARE_ONE / 3);
	assert_int_equal(q.by[RT_RING].worst, RT_SHARE_ONE);
	assert_int_equal(q.by[RT_ALL_TO_ALL].worst, 5 * (uint64_t)RT_SHARE_ONE / 9);
	assert_int_equal(q.by[RT_SHIFTS].links[3], 2);
	assert_int_equal(q.links, 2);
	assert_int_equal(rt_quality_worst_links(f, &q, worst, 4), 2);
	assert_int_equal(q.routes[worst[0]], 9);
	assert_true(q.flows[worst[0]] >= q.flows[worst[1]]);
	rt_quality_free(&q);
	rt_tables_free(t);
	fab_free(f);
}

/* Percentiles: shares that so many flows do not exceed. */
TEST(percentiles)
{
	struct rt_shares s = {0};

	shares_one(&s, 1, 4, 10);
	shares_one(&s, 1, 2, 40);
	shares_one(&s, 1, 1, 50);
	assert_int_equal(rt_shares_percentile(&s, 10), 250);
	assert_int_equal(rt_shares_percentile(&s, 100), 250);
	assert_int_equal(rt_shares_percentile(&s, 101), 500);
	assert_int_equal(rt_shares_percentile(&s, 500), 500);
	assert_int_equal(rt_shares_percentile(&s, 1000), 1000);
	assert_int_equal(rt_shares_mean(&s), (uint64_t)RT_SHARE_ONE * 725 / 1000);
}

TEST(grids_are_even)
{
	static const uint32_t want[][7] = {
		{0, 0, 0, 0, 0, 0, 0},	       {1, 1, 1, 1, 1, 1, 1},
		{2, 1, 1, 2, 1, 1, 2},	       {3, 1, 1, 2, 1, 1, 2},
		{432, 1, 18, 24, 6, 8, 9},     {400, 1, 20, 20, 5, 8, 10},
		{3456, 1, 54, 64, 12, 16, 18}, {13, 1, 3, 4, 2, 2, 3}};

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		uint32_t side[3];

		pattern_grid(want[i][0], 2, side);
		assert_memory_equal(side, &want[i][1], sizeof(side));
		pattern_grid(want[i][0], 3, side);
		assert_memory_equal(side, &want[i][4], sizeof(side));
	}
}

/* Any number of threads gives the same bytes; a seed draws the same patterns. */
TEST(threads_change_nothing)
{
	struct fab *f = world_make((struct fab_gen){.kind = "torus", .dims = {4, 4, 3}});
	struct rt_tables *t = world_fera(f, NULL);
	struct rt_quality a = measure(f, t, (struct rt_quality_opts){.threads = 1, .seed = 3});

	for (unsigned threads = 2; threads < 6; threads++) {
		struct rt_quality b =
			measure(f, t, (struct rt_quality_opts){.threads = threads, .seed = 3});

		assert_memory_equal(a.by, b.by, sizeof(a.by));
		assert_memory_equal(a.flows, b.flows, f->nports * sizeof(*a.flows));
		assert_memory_equal(a.routes, b.routes, f->nports * sizeof(*a.routes));
		rt_quality_free(&b);
	}
	rt_quality_free(&a);
	rt_tables_free(t);
	fab_free(f);
}

/* Some hosts in another order, some of them storage; what is no host is refused. */
TEST(groups)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	struct rt_tables *t = world_fera(f, NULL);
	rt_hosts all = {0};
	port_id some[4];
	struct rt_quality q;
	struct err e;

	assert_int_equal(rt_quality_hosts(f, &all), 0);
	assert_int_equal(all.n, 8);
	for (unsigned i = 0; i < 4; i++)
		some[i] = all.at[7 - 2 * i];
	q = measure(f, t,
		    (struct rt_quality_opts){
			    .hosts = some, .nhosts = 4, .storage = some + 1, .nstorage = 2});
	assert_int_equal(q.hosts, 4);
	assert_int_equal(q.storage, 2);
	assert_int_equal(q.by[RT_SHIFTS].patterns, 3);
	assert_int_equal(q.by[RT_INCAST].flows, 2);
	assert_int_equal(q.by[RT_INCAST].worst, RT_SHARE_ONE);
	rt_quality_free(&q);
	q = measure(f, t, (struct rt_quality_opts){.hosts = some, .nhosts = 1});
	assert_int_equal(
		q.by[RT_SHIFTS].flows + q.by[RT_BISECTION].flows + q.by[RT_ALL_TO_ALL].flows, 0);
	assert_int_equal(rt_quality_worst_links(f, &q, some + 1, 1), 0); /* none is used */
	rt_quality_free(&q);
	some[1] = some[0];
	assert_int_equal(
		rt_quality(f, t, &(struct rt_quality_opts){.hosts = some, .nhosts = 4}, &q, &e),
		-EINVAL);
	some[0] = 0;
	assert_int_equal(
		rt_quality(f, t, &(struct rt_quality_opts){.hosts = some, .nhosts = 1}, &q, &e),
		-EINVAL);
	vec_free(&all);
	rt_tables_free(t);
	fab_free(f);
}

/* Shifts by name: numbers by value, other order than the hosts'. */
TEST(names_with_numbers)
{
	static const char *const names[] = {"n10", "n9", "n100", "a7", "n09b", "n"};
	static const uint32_t want[] = {3, 5, 1, 4, 0, 2}; /* a7 n n9 n09b n10 n100 */
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct rt_quality q;
	struct fab *f;

	/* a chain of switches in the order of names, a host each: shift by 1 loads no link twice */
	for (unsigned i = 0; i < 6; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, 3, "switch");
	for (unsigned i = 0; i < 6; i++)
		fab_add_node(b, IBA_NODE_CA, 0x10 + i, 1, names[i]);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(fab_add_link(b, 6 + want[i], 1, i, 3), 0);
		if (i)
			assert_int_equal(fab_add_link(b, i - 1, 2, i, 1), 0);
	}
	f = world_lids(fab_build(b), 0);
	t = world_fera(f, NULL);
	q = measure(f, t, (struct rt_quality_opts){.patterns = 1});
	/* by k: n - k flows over k links each; the middle links carry min(k, n - k) */
	assert_int_equal(q.by[RT_SHIFTS_BY_NAME].busiest, 3);
	assert_true(q.by[RT_SHIFTS_BY_NAME].sum > q.by[RT_SHIFTS].sum);
	rt_quality_free(&q);
	rt_tables_free(t);
	fab_free(f);
}

/* Above the bound some shifts are drawn, all with `full`. */
TEST(many_hosts)
{
	struct fab *f = world_make((struct fab_gen){
		.kind = "star", .dims = {42}, .ports = 254, .hosts = 100, .has_hosts = true});
	struct rt_tables *t = world_fera(f, NULL);
	struct rt_quality q = measure(f, t, (struct rt_quality_opts){.patterns = 1});

	assert_true(q.hosts > RT_ALL_SHIFTS);
	assert_int_equal(q.by[RT_SHIFTS].patterns, RT_SOME_SHIFTS);
	assert_int_equal(rt_quality_patterns(q.hosts), 4096000 / q.hosts);
	assert_int_equal(rt_quality_patterns(4096), 1000);
	rt_quality_free(&q);
	rt_tables_free(t);
	fab_free(f);
}

TEST(changed_entries)
{
	struct rt_tables *a = rt_tables_new(2, 130), *b = rt_tables_new(2, 200);
	struct rt_changes c;

	rt_changes_count(a, b, &c);
	assert_int_equal(c.entries, 0);
	rt_row(a, 0)[63] = rt_row(a, 0)[64] = rt_row(a, 0)[65] = 3;
	rt_row(b, 0)[65] = 3;
	rt_row(b, 1)[199] = 1;
	rt_changes_count(a, b, &c);
	assert_int_equal(c.entries, 3);
	assert_int_equal(c.blocks, 3);
	assert_int_equal(c.switches, 2);
	rt_changes_count(b, a, &c);
	assert_int_equal(c.entries, 3);
	rt_tables_free(a);
	rt_tables_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_is_perfect_on_shifts),
		cmocka_unit_test(one_link_between_two_switches),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(grids_are_even),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(groups),
		cmocka_unit_test(names_with_numbers),
		cmocka_unit_test(many_hosts),
		cmocka_unit_test(changed_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
