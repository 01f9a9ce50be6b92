/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine balanced and its lanes: hosts' routes are shortest, no lane has a cycle, loads are even, lanes that do not
 * suffice are refused. Keeps no state; each test makes its own fabric. The verifier, which shares no code with it, is the
 * judge.
 * Covers: balanced.c, balanced_ranks.c, layers.c, lane_graphs.c, switch_graph.c
 */
#include "route_fixture.h"

static struct rt_tables *balanced(const struct fab *f, unsigned lanes, unsigned threads)
{
	struct rt_opts o = {.root = FAB_NONE, .lanes = lanes, .threads = threads};
	struct rt_tables *t;
	struct err e;

	if (rt_compute(&rt_balanced, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

/* Links between two switches by the definition; UINT32_MAX: no way. */
static void distances(const struct fab *f, uint32_t to, uint32_t *dist)
{
	bool more = true;

	memset(dist, 0xff, f->nswitches * sizeof(*dist));
	dist[to] = 0;
	while (more) {
		more = false;
		for (uint32_t s = 0; s < f->nswitches; s++)
			for (unsigned p = 1; p <= world_ports(f, s); p++) {
				uint32_t v = world_peer(f, s, p);

				if (v == FAB_NONE || dist[v] == UINT32_MAX ||
				    dist[s] <= dist[v] + 1)
					continue;
				dist[s] = dist[v] + 1;
				more = true;
			}
	}
}

/* The links of the route from switch s to the LID of a host at switch `to`. */
static uint32_t hops(const struct fab *f, const struct rt_tables *t, uint32_t s, uint32_t to,
		     uint16_t lid)
{
	uint32_t n = 0;

	while (s != to && n++ < f->nswitches) {
		s = world_peer(f, s, rt_row(t, s)[lid]);
		assert_int_not_equal(s, FAB_NONE);
	}
	return n;
}

static bool has_hosts(const struct fab *f, uint32_t s)
{
	for (unsigned p = 1; p <= world_ports(f, s); p++) {
		port_id peer = f->ports[fab_port_id(f, f->switches[s], p)].peer;

		if (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node))
			return true;
	}
	return false;
}

static void expect_shortest(const struct fab *f, const struct rt_tables *t)
{
	uint32_t *dist = mem_array(f->nswitches, sizeof(*dist));

	for (port_id h = 0; h < f->nports; h++) {
		uint32_t to;

		if (fab_is_switch(f, f->ports[h].node) || !f->ports[h].lid ||
		    f->ports[h].peer == FAB_NONE)
			continue;
		to = f->switch_index[f->ports[f->ports[h].peer].node];
		if (to == FAB_NONE)
			continue;
		distances(f, to, dist);
		for (uint32_t s = 0; s < f->nswitches; s++)
			if (dist[s] != UINT32_MAX && has_hosts(f, s))
				assert_int_equal(hops(f, t, s, to, f->ports[h].lid), dist[s]);
	}
	free(dist);
}

static void expect_good(const struct fab *f, const struct rt_tables *t)
{
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0});

	if (r.cycles || r.loops || r.discarded)
		fail_msg("%s", r.problem[0]);
	rt_report_free(&r);
}

static void check(struct fab *f, unsigned lanes)
{
	struct rt_tables *t = balanced(f, 8, 1), *again = balanced(f, 8, 3);

	expect_good(f, t);
	expect_shortest(f, t);
	assert_in_range(rt_nvls(t), 1, lanes);
	assert_memory_equal(t->lft, again->lft, (size_t)t->nswitches * t->stride);
	assert_true(rt_lanes_same(f, t, again));
	rt_tables_free(t);
	rt_tables_free(again);
	fab_free(f);
}

TEST(trees_take_one_lane)
{
	check(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}}), 1);
	check(world_make((struct fab_gen){.kind = "mtree", .dims = {8, 2}}), 1);
	check(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}), 1);
	check(world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}}), 1);
	check(world_make((struct fab_gen){.kind = "kary", .dims = {3, 3}}), 1);
	check(world_make((struct fab_gen){.kind = "clos", .dims = {4, 4, 6}}), 1);
	check(world_make((struct fab_gen){.kind = "star", .dims = {5}}), 1);
}

TEST(other_shapes_take_few)
{
	check(world_make((struct fab_gen){.kind = "ring", .dims = {4}}), 2);
	check(world_make((struct fab_gen){.kind = "ring", .dims = {9}}), 2);
	check(world_make((struct fab_gen){.kind = "fullmesh", .dims = {6}}), 1);
	check(world_make((struct fab_gen){.kind = "hypercube", .dims = {4}}), 3);
	check(world_make((struct fab_gen){.kind = "mesh", .dims = {4, 4}}), 2);
	check(world_make((struct fab_gen){.kind = "torus", .dims = {4, 4}}), 4);
	check(world_make((struct fab_gen){.kind = "torus", .dims = {3, 3, 3}}), 4);
	check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}), 3);
}

TEST(irregular_and_odd_fabrics_are_free_of_deadlock)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		check(world_make((struct fab_gen){.kind = "irregular",
						  .dims = {3 + (uint32_t)seed % 29},
						  .ports = 8,
						  .seed = seed}),
		      8);
		check(world_make((struct fab_gen){.kind = "odd", .seed = seed}), 8);
	}
}

TEST(damaged_trees_are_free_of_deadlock)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}});
		struct world_down d = world_down_new(f);
		struct rng r;

		rng_seed(&r, seed, 1);
		for (unsigned i = 0; i < 12; i++)
			world_change(f, &d, &r);
		check(world_now(f, &d), 8);
		world_down_free(&d);
		fab_free(f);
	}
}

/* No link carries more than twice the mean where all switches are alike. */
TEST(loads_are_even)
{
	struct fab *f = world_make(
		(struct fab_gen){.kind = "torus", .dims = {5, 5}, .hosts = 2, .has_hosts = true});
	struct rt_tables *t = balanced(f, 8, 1);
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){.hosts_only = true});

	assert_true(r.ok);
	assert_true(r.link_load_max * r.nlinks <= 2 * r.link_load_sum);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(lanes_that_do_not_suffice_are_refused)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {6}});
	struct rt_opts o = {.root = FAB_NONE, .lanes = 1};
	struct rt_tables *t = NULL;
	struct err e;

	assert_int_equal(rt_compute(&rt_balanced, f, &o, &t, &e), -ENOSPC);
	assert_string_equal(e.text, "balanced: these routes need 2 lanes, of which 1 may be used");
	assert_null(t);
	o.lanes = 2;
	assert_int_equal(rt_compute(&rt_balanced, f, &o, &t, &e), 0);
	assert_int_equal(rt_nvls(t), 2);
	expect_good(f, t);
	rt_tables_free(t);
	fab_free(f);
}

/* The number of lanes that a refusal names; 0: the fabric is not refused. */
static unsigned lanes_named(const struct fab *f, unsigned lanes)
{
	struct rt_opts o = {.root = FAB_NONE, .lanes = lanes};
	struct rt_tables *t = NULL;
	unsigned named = 0;
	struct err e;

	if (!rt_compute(&rt_balanced, f, &o, &t, &e))
		rt_tables_free(t);
	else
		assert_int_equal(
			sscanf(e.text, "balanced: these routes need %u lanes, of which", &named),
			1);
	return named;
}

TEST(the_lanes_that_a_refusal_names_suffice)
{
	static const struct fab_gen gens[] = {
		{.kind = "torus", .dims = {8, 8}, .hosts = 2, .has_hosts = true},
		{.kind = "torus", .dims = {5, 4, 5}, .hosts = 1, .has_hosts = true},
		{.kind = "irregular", .dims = {60}, .ports = 6, .hosts = 80, .has_hosts = true},
		{.kind = "hypercube", .dims = {6}, .hosts = 1, .has_hosts = true},
	};

	for (size_t i = 0; i < ARRAY_LEN(gens); i++) {
		struct fab *f = world_make(gens[i]);

		for (unsigned lanes = 1; lanes < 4; lanes++) {
			unsigned named = lanes_named(f, lanes);

			assert_true(!named || named > lanes);
			assert_true(!named || !lanes_named(f, named));
		}
		fab_free(f);
	}
}

/* Where a manager waits, large tables are computed with one grain: the finest one if lanes suffice. */
TEST(large_tables_do_with_few_lanes)
{
	struct fab *f = world_make(
		(struct fab_gen){.kind = "torus", .dims = {10, 10}, .hosts = 2, .has_hosts = true});
	struct rt_opts o = {.root = FAB_NONE, .steady = true};
	unsigned used[2];

	for (unsigned i = 0; i < 2; i++) {
		struct rt_tables *t;
		struct err e;

		o.lanes = i ? 4 : 8;
		assert_int_equal(rt_compute(&rt_balanced, f, &o, &t, &e), 0);
		used[i] = rt_nvls(t);
		expect_good(f, t);
		rt_tables_free(t);
	}
	assert_in_range(used[0], 5, 8);
	assert_in_range(used[1], 2, 4);
	fab_free(f);
}

TEST(fabrics_without_switches_or_links_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f;

	f = world_lids(fab_build(b), 0);
	rt_tables_free(balanced(f, 8, 1));
	fab_free(f);
	b = fab_builder_new();
	fab_add_node(b, IBA_NODE_SWITCH, 7, 4, "alone");
	f = world_lids(fab_build(b), 0);
	rt_tables_free(balanced(f, 8, 1));
	fab_free(f);
}

/* Links that the routes from switch s to two LIDs of one host share; one: a single way leads there. */
static unsigned shared(const struct fab *f, const struct rt_tables *t, uint32_t s, uint32_t to,
		       uint16_t a, uint16_t b)
{
	unsigned n = 0;

	for (uint32_t x = s; x != to; x = world_peer(f, x, rt_row(t, x)[a]))
		for (uint32_t y = s; y != to; y = world_peer(f, y, rt_row(t, y)[b]))
			n += x == y && rt_row(t, x)[a] == rt_row(t, y)[b];
	return n;
}

struct pairs {
	unsigned all, share, same; /* same: all links are */
};

static struct pairs pairs_count(const struct fab *f, const struct rt_tables *t)
{
	struct pairs n = {0};

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];
		uint32_t to = fab_is_switch(f, x->node) || !x->lid
				      ? FAB_NONE
				      : f->switch_index[f->ports[x->peer].node];

		for (uint32_t s = 0; to != FAB_NONE && s < f->nswitches; s++) {
			unsigned k;

			if (s == to || !has_hosts(f, s))
				continue;
			k = shared(f, t, s, to, x->lid, (uint16_t)(x->lid + 1));
			n.all++;
			n.share += k > 0;
			n.same += k == hops(f, t, s, to, x->lid);
		}
	}
	return n;
}

/* LMC 1: in a tree the two LIDs of a host share no link; in a torus those of switches in one row or column alone. */
TEST(lids_of_a_host_take_different_ways)
{
	const struct fab_gen gens[] = {{.kind = "mtree", .dims = {8, 3}, .ndims = 2},
				       {.kind = "torus", .dims = {5, 5}, .ndims = 2, .hosts = 1}};

	for (size_t i = 0; i < ARRAY_LEN(gens); i++) {
		struct err e;
		struct fab *f = world_lids(fab_generate(&gens[i], &e), 1);
		struct rt_tables *t = balanced(f, 8, 1);
		struct pairs n = pairs_count(f, t);

		assert_int_equal(n.all, i ? 25 * 24 : 128 * 31);
		assert_int_equal(n.same, i ? 25 * 8 : 0);
		if (!i)
			assert_int_equal(n.share, 0);
		rt_tables_free(t);
		fab_free(f);
	}
}

/* A whole tree needs no lanes, and a change is as that of engine tree; other shapes have no ranks. */
TEST(routes_of_a_tree_obey_its_ranks)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 3}}), *now;
	struct fab *torus = world_make((struct fab_gen){.kind = "torus", .dims = {5, 5}});
	struct rt_opts o = {.root = FAB_NONE, .threads = 1, .steady = true};
	struct world_down d = world_down_new(f);
	struct rt_tables *t = balanced(f, 0, 1), *u = balanced(torus, 0, 1), *after;
	uint64_t *rank = rt_tables_ranks(&rt_balanced, f, &o, t), *then;
	struct rt_before ref = {f, rank, t};
	struct rt_update_stats st;
	struct rt_report r;
	struct err e;

	assert_non_null(rank);
	assert_null(rt_tables_ranks(&rt_balanced, torus, &o, u));
	r = world_verify(f, t, (struct rt_verify_opts){.threads = 1, .rank = rank});
	assert_true(r.ok);
	rt_report_free(&r);
	d.node[f->switches[40]] = true;
	now = world_now(f, &d);
	then = mem_array((size_t)f->nswitches + 1, sizeof(*then));
	assert_int_equal(rt_balanced.update(now, &ref, &after, then, &st, &e), 0);
	assert_true(rt_verify_change(now, after, then, &ref));
	assert_true(st.changed * 10 < (uint64_t)f->nswitches * t->top_lid);
	rt_tables_free(after);
	rt_tables_free(t);
	rt_tables_free(u);
	free(then);
	free(rank);
	world_down_free(&d);
	fab_free(now);
	fab_free(torus);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_take_one_lane),
		cmocka_unit_test(other_shapes_take_few),
		cmocka_unit_test(irregular_and_odd_fabrics_are_free_of_deadlock),
		cmocka_unit_test(damaged_trees_are_free_of_deadlock),
		cmocka_unit_test(loads_are_even),
		cmocka_unit_test(routes_of_a_tree_obey_its_ranks),
		cmocka_unit_test(lids_of_a_host_take_different_ways),
		cmocka_unit_test(lanes_that_do_not_suffice_are_refused),
		cmocka_unit_test(the_lanes_that_a_refusal_names_suffice),
		cmocka_unit_test(large_tables_do_with_few_lanes),
		cmocka_unit_test(fabrics_without_switches_or_links_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
