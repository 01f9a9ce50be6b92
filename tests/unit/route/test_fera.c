/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FERa against a search written as its definition reads; the up/down graph; engines by name. Keeps no
 * state; each test makes its own fabric. Does not measure time.
 * Covers: fera.c, updown.c, tables.c
 */
#include "table_fixture.h"

/* ---- the up/down graph ---- */

TEST(ranks_grow_with_the_distance_and_ties_go_by_guid)
{
	struct fab_builder *b = fab_builder_new();
	node_id s[5] = {add_switch(b, 0x30, 4), add_switch(b, 0x50, 4), add_switch(b, 0x20, 4),
			add_switch(b, 0x40, 4), add_switch(b, 0x10, 4)};
	node_id h = add_host(b, 0x100, s[3], 4);
	struct fab *f;
	uint64_t *r;

	link_up(b, s[0], 1, s[1], 1);
	link_up(b, s[0], 2, s[2], 1);
	link_up(b, s[1], 2, s[3], 1);
	f = with_lids(fab_build(b), 0); /* 0x10 is alone */

	r = ranks(f, FAB_NONE);
	assert_true(r[0] < r[2] && r[2] < r[1] && r[1] < r[3]);
	assert_true(r[4] == UINT64_MAX);
	free(r);
	r = ranks(f, h); /* a host stands for its switch 0x40 */
	assert_true(r[3] < r[1] && r[1] < r[0] && r[0] < r[2]);
	free(r);
	fab_free(f);
}

/* ---- FERa by its definition, one destination switch at a time ---- */

enum { FAR = 1 << 20 };

static void slow_distances(const struct fab *f, const uint64_t *rank, uint32_t d, unsigned *down,
			   unsigned *dist)
{
	uint32_t n = f->nswitches;
	bool news = true;

	for (uint32_t s = 0; s < n; s++)
		down[s] = dist[s] = s == d ? 0 : FAR;
	for (int up = 0; up < 2; up++, news = true)
		while (news) {
			news = false;
			for (uint32_t s = 0; s < n; s++)
				for (unsigned p = 1; p <= f->nodes[f->switches[s]].nports; p++) {
					uint32_t v = peer_switch(f, s, p);
					unsigned *mine = up ? &dist[s] : &down[s];

					if (v == FAB_NONE || (rank[v] < rank[s]) != up ||
					    (up && down[s] < FAR))
						continue;
					unsigned on = (up ? dist[v] : down[v]) + 1;

					if (on < *mine) {
						*mine = on;
						if (!up)
							dist[s] = on;
						news = true;
					}
				}
		}
}

static void expect_entry(const struct fab *f, const uint64_t *rank, uint32_t s, unsigned port,
			 const unsigned *down, const unsigned *dist)
{
	uint32_t v = peer_switch(f, s, port);

	assert_true(v != FAB_NONE);
	if (down[s] < FAR) {
		assert_true(rank[v] > rank[s]);
		assert_int_equal(down[v] + 1, down[s]);
	} else {
		assert_true(rank[v] < rank[s]);
		assert_int_equal(dist[v] + 1, dist[s]);
	}
}

static void expect_fera(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	unsigned *down = mem_array(f->nswitches, sizeof(*down));
	unsigned *dist = mem_array(f->nswitches, sizeof(*dist));

	for (port_id q = 0; q < f->nports; q++) {
		const struct fab_port *x = &f->ports[q];
		bool sw = fab_is_switch(f, x->node);
		uint32_t d;

		if (!x->lid)
			continue;
		d = f->switch_index[sw ? x->node : f->ports[x->peer].node];
		slow_distances(f, rank, d, down, dist);
		for (uint32_t i = 0; i < 1u << x->lmc; i++)
			for (uint32_t s = 0; s < f->nswitches; s++) {
				unsigned port = rt_row(t, s)[x->lid + i];

				if (s != d)
					expect_entry(f, rank, s, port, down, dist);
				else
					assert_int_equal(port, sw ? 0 : f->ports[x->peer].num);
			}
	}
	free(down);
	free(dist);
}

/* Compute, compare with the definition, verify; returns the tables. */
static struct rt_tables *expect_good(const struct fab *f, node_id root)
{
	struct rt_tables *t = fera(f, root, 0);
	uint64_t *rank = ranks(f, root), lids = 0;
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.rank = rank});

	for (port_id p = 0; p < f->nports; p++)
		lids += f->ports[p].lid ? 1u << f->ports[p].lmc : 0;
	expect_fera(f, t, rank);
	if (!r.ok)
		fail_msg("%s", r.problem[0]);
	assert_int_equal(r.nproblems, 0);
	assert_int_equal(r.cycle.n, 0);
	assert_int_equal(t->entries, lids * f->nswitches);
	rt_report_free(&r);
	free(rank);
	return t;
}

TEST(fera_is_legal_and_complete_on_every_family)
{
	const struct fab_gen families[] = {
		{.kind = "ring", .dims = {9}},	   {.kind = "mesh", .dims = {4, 5}},
		{.kind = "torus", .dims = {3, 4}}, {.kind = "mtree", .dims = {4, 3}},
		{.kind = "kary", .dims = {3, 2}},  {.kind = "dragonfly", .dims = {1, 3, 1}},
		{.kind = "star", .dims = {5}},	   {.kind = "hypercube", .dims = {4}},
	};

	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		struct fab *f = make(families[i]);

		rt_tables_free(expect_good(f, FAB_NONE));
		rt_tables_free(expect_good(f, f->nnodes - 1));
		fab_free(f);
	}
}

TEST(fera_is_legal_and_complete_on_irregular_fabrics)
{
	const unsigned sizes[] = {2, 5, 16, 33, 70};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct fab *f = make((struct fab_gen){
				.kind = "irregular", .dims = {sizes[i]}, .ports = 6, .seed = seed});

			rt_tables_free(expect_good(f, f->switches[seed % f->nswitches]));
			fab_free(f);
		}
}

/* Every switch but d is a neighbour of the root, so from a the root is the short way to d; but a
 * can go down by c, e and h, and those behind it rely on that. */
TEST(fera_takes_a_long_way_down_before_a_short_way_up)
{
	struct fab_builder *b = fab_builder_new();
	node_id root = add_switch(b, 1, 4), a = add_switch(b, 2, 4), c = add_switch(b, 3, 4);
	node_id e = add_switch(b, 4, 4), h = add_switch(b, 5, 4), d = add_switch(b, 6, 4);
	struct rt_tables *t;
	struct fab *f;

	link_up(b, root, 1, a, 1);
	link_up(b, root, 2, c, 1);
	link_up(b, root, 3, e, 1);
	link_up(b, root, 4, h, 1);
	link_up(b, a, 2, c, 2);
	link_up(b, c, 3, e, 2);
	link_up(b, e, 3, h, 2);
	link_up(b, h, 3, d, 1);
	f = with_lids(fab_build(b), 0);
	t = expect_good(f, root);
	assert_int_equal(rt_row(t, f->switch_index[a])[lid_of(f, d)], 2);
	rt_tables_free(t);
	fab_free(f);
}

TEST(the_number_of_threads_changes_nothing)
{
	struct fab *f = make((struct fab_gen){
		.kind = "torus", .dims = {6, 6, 3}, .has_hosts = true, .hosts = 2});
	struct rt_tables *one = fera(f, FAB_NONE, 1);

	rt_row(one, 7)[9] = 200; /* so that there is something to report */
	rt_row(one, 3)[50] = IBA_PORT_NONE;
	struct rt_report r1 = verify(f, one, (struct rt_verify_opts){.threads = 1});

	for (unsigned threads = 2; threads <= 4; threads++) {
		struct rt_tables *t = fera(f, FAB_NONE, threads);

		rt_row(t, 7)[9] = 200;
		rt_row(t, 3)[50] = IBA_PORT_NONE;
		assert_int_equal(t->entries, one->entries);
		assert_memory_equal(t->lft, one->lft, (size_t)t->nswitches * t->stride);
		struct rt_report r = verify(f, t, (struct rt_verify_opts){.threads = threads});

		assert_int_equal(r.unreachable, r1.unreachable);
		assert_int_equal(r.hops_sum, r1.hops_sum);
		assert_int_equal(r.link_load_max, r1.link_load_max);
		assert_int_equal(r.nproblems, r1.nproblems);
		assert_memory_equal(r.problem, r1.problem, sizeof(r.problem));
		rt_report_free(&r);
		rt_tables_free(t);
	}
	rt_report_free(&r1);
	rt_tables_free(one);
	fab_free(f);
}

/* ---- equal ports ---- */

TEST(parallel_links_share_the_destinations)
{
	struct fab *f = with_lids(two_switches(4, 8), 0);
	struct rt_tables *t = expect_good(f, FAB_NONE);

	for (uint32_t s = 0; s < 2; s++) {
		unsigned used[5] = {0};

		for (node_id h = 2; h < f->nnodes; h++)
			if (peer_switch(f, s, 1) ==
			    f->switch_index[f->ports[f->ports[fab_port_id(f, h, 1)].peer].node])
				used[rt_row(t, s)[lid_of(f, h)]]++;
		for (unsigned p = 1; p <= 4; p++)
			assert_int_equal(used[p], 2);
	}
	rt_tables_free(t);
	fab_free(f);
}

/* Three parallel links: the first takes all, or what is drawn for each LID, and always the same. */
TEST(ties_go_to_the_first_port_or_are_drawn)
{
	struct fab_builder *b = fab_builder_new();
	node_id a = add_switch(b, 0x10, 8), c = add_switch(b, 0x20, 36);
	struct rt_opts o = {.root = FAB_NONE, .ties = RT_TIES_FIRST};
	struct rt_tables *first, *random, *again;
	unsigned used[9] = {0};
	struct fab *f;
	struct err e;

	for (unsigned p = 1; p <= 3; p++)
		link_up(b, a, p + 1, c, p);
	for (unsigned h = 0; h < 30; h++)
		add_host(b, 0x100 + h * 0x10, c, 4 + h);
	f = with_lids(fab_build(b), 0);
	assert_int_equal(rt_compute(&rt_fera, f, &o, &first, &e), 0);
	o.ties = RT_TIES_RANDOM;
	assert_int_equal(rt_compute(&rt_fera, f, &o, &random, &e), 0);
	assert_int_equal(rt_compute(&rt_fera, f, &o, &again, &e), 0);
	assert_memory_equal(random->lft, again->lft, (size_t)random->nswitches * random->stride);
	for (node_id n = 0; n < f->nnodes; n++) {
		uint16_t lid = fab_is_switch(f, n) ? 0 : f->ports[fab_port_id(f, n, 1)].lid;

		if (!lid)
			continue;
		assert_int_equal(rt_row(first, 0)[lid], 2);
		used[rt_row(random, 0)[lid]]++;
	}
	assert_true(used[2] && used[3] && used[4] && used[2] + used[3] + used[4] == 30);
	assert_true(used[2] != 10 || used[3] != 10);
	rt_tables_free(first);
	rt_tables_free(random);
	rt_tables_free(again);
	fab_free(f);
}

TEST(the_lids_of_one_port_prefer_different_ways)
{
	struct fab *f = with_lids(two_switches(4, 2), 2);
	struct rt_tables *t = expect_good(f, FAB_NONE);

	for (node_id h = 2; h < f->nnodes; h++) {
		uint32_t there =
			f->switch_index[f->ports[f->ports[fab_port_id(f, h, 1)].peer].node];
		unsigned seen = 0;

		assert_int_equal(f->ports[fab_port_id(f, h, 1)].lmc, 2);
		for (unsigned i = 0; i < 4; i++)
			seen |= 1u << rt_row(t, 1 - there)[lid_of(f, h) + i];
		assert_int_equal(seen, 0x1e);
	}
	rt_tables_free(t);
	fab_free(f);
}

/* A tree can carry every host's traffic to every other evenly: the busiest link is hardly busier
 * than the mean (the traffic of the switches themselves is left out). */
TEST(a_tree_is_loaded_evenly)
{
	struct fab *f = make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct rt_tables *t;
	struct rt_report r;

	for (uint32_t s = 0; s < f->nswitches; s++)
		f->ports[fab_port_id(f, f->switches[s], 0)].lid = 0;
	t = fera(f, FAB_NONE, 0);
	r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});
	assert_int_equal(r.unreachable + r.loops + r.cycles, 0);
	assert_true(r.link_load_max * r.nlinks <= r.link_load_sum * 11 / 10);
	assert_false(r.ok);
	expect_problem(&r, "has no LID, and 79 other connected ports have none");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- shapes that are easy to get wrong ---- */

TEST(both_ports_of_a_host_are_destinations_and_hosts_never_forward)
{
	struct fab_builder *b = fab_builder_new();
	node_id s0 = add_switch(b, 1, 4), s1 = add_switch(b, 2, 4), s2 = add_switch(b, 3, 4);
	node_id h = fab_add_node(b, IBA_NODE_CA, 0x100, 2, "two ports");
	node_id r = fab_add_node(b, IBA_NODE_ROUTER, 0x200, 2, "router");
	struct rt_tables *t;
	struct fab *f;

	/* s0 and s1 share the host and the router, but the only cable between them goes by s2 */
	link_up(b, s0, 1, s2, 1);
	link_up(b, s1, 1, s2, 2);
	link_up(b, h, 1, s0, 2);
	link_up(b, h, 2, s1, 2);
	link_up(b, r, 1, s0, 3);
	link_up(b, r, 2, s1, 3);
	link_up(b, s2, 3, s2, 4); /* and a cable from a switch to itself leads nowhere */
	f = with_lids(fab_build(b), 0);
	t = expect_good(f, FAB_NONE);
	assert_int_equal(rt_row(t, 0)[f->ports[fab_port_id(f, h, 1)].lid], 2);
	assert_int_equal(rt_row(t, 0)[f->ports[fab_port_id(f, h, 2)].lid], 1);
	assert_int_equal(rt_row(t, 1)[f->ports[fab_port_id(f, r, 1)].lid], 1);
	assert_int_equal(rt_row(t, 1)[f->ports[fab_port_id(f, r, 2)].lid], 3);
	rt_tables_free(t);
	fab_free(f);
}

TEST(parts_without_a_way_between_them_are_routed_apart)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_report r;
	struct rt_tables *t;
	struct fab *f;

	for (unsigned i = 0; i < 8; i++)
		add_host(b, 0x100 + 2 * i, add_switch(b, 1 + i, 4), 4);
	for (unsigned i = 0; i < 3; i++) /* three in a ring, the others in another */
		link_up(b, 2 * i, 1, 2 * ((i + 1) % 3), 2);
	for (unsigned i = 0; i < 5; i++)
		link_up(b, 6 + 2 * i, 1, 6 + 2 * ((i + 1) % 5), 2);
	f = with_lids(fab_build(b), 0);
	t = fera(f, FAB_NONE, 0);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 16 * 15);
	assert_int_equal(r.apart, 2 * 6 * 10);
	assert_int_equal(r.islands, 2);
	assert_int_equal(r.unreachable, 0);
	assert_int_equal(r.loops + r.cycles, 0);
	assert_int_equal(t->entries, 3 * 6 + 5 * 10);
	assert_int_equal(r.nproblems, 0);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(fabrics_without_switches_or_links_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	node_id x = fab_add_node(b, IBA_NODE_CA, 1, 1, "x"),
		y = fab_add_node(b, IBA_NODE_CA, 2, 1, "y");
	struct rt_report r;
	struct rt_tables *t;
	struct fab *f;

	link_up(b, x, 1, y, 1);
	f = with_lids(fab_build(b), 0);
	t = fera(f, x, 0);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 2);
	assert_int_equal(r.hops_sum, 2);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);

	f = fab_build(fab_builder_new());
	t = fera(f, FAB_NONE, 0);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 0);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- engines ---- */

TEST(engines_are_found_by_name)
{
	assert_ptr_equal(rt_engine_find("fera"), &rt_fera);
	assert_null(rt_engine_find("feral"));
}

TEST(a_lid_with_two_owners_is_refused)
{
	struct fab *f = line(3);
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t = NULL;
	struct err e;

	f->ports[fab_port_id(f, 0, 0)].lid = f->ports[fab_port_id(f, 1, 0)].lid;
	assert_int_equal(rt_compute(&rt_fera, f, &o, &t, &e), -EEXIST);
	assert_null(t);
	assert_non_null(strstr(e.text, "belongs to both"));
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_grow_with_the_distance_and_ties_go_by_guid),
		cmocka_unit_test(fera_is_legal_and_complete_on_every_family),
		cmocka_unit_test(fera_is_legal_and_complete_on_irregular_fabrics),
		cmocka_unit_test(fera_takes_a_long_way_down_before_a_short_way_up),
		cmocka_unit_test(the_number_of_threads_changes_nothing),
		cmocka_unit_test(parallel_links_share_the_destinations),
		cmocka_unit_test(ties_go_to_the_first_port_or_are_drawn),
		cmocka_unit_test(the_lids_of_one_port_prefer_different_ways),
		cmocka_unit_test(a_tree_is_loaded_evenly),
		cmocka_unit_test(both_ports_of_a_host_are_destinations_and_hosts_never_forward),
		cmocka_unit_test(parts_without_a_way_between_them_are_routed_apart),
		cmocka_unit_test(fabrics_without_switches_or_links_do_no_harm),
		cmocka_unit_test(engines_are_found_by_name),
		cmocka_unit_test(a_lid_with_two_owners_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
