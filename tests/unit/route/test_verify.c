/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier against a walk of every pair, planted faults and credit loops. Keeps no state; each test
 * makes its own fabric. Does not measure time.
 * Covers: verify.c, verify_islands.c, verify_report.c, cdg.c
 */
#include "table_fixture.h"

/* ---- the verifier counts what a walk of every pair counts ---- */

struct slow {
	uint64_t pairs, unreachable, loops, hops_sum, load_sum, load_max;
	uint32_t hops_max;
	uint64_t *load;
};

/* The links on the way, or -1 unreachable, -2 loop; counts what it crosses in load, if there is
 * one. */
static int slow_walk(const struct fab *f, const struct rt_tables *t, port_id from, uint32_t lid,
		     port_id to, uint64_t *load)
{
	bool from_switch = fab_is_switch(f, f->ports[from].node);
	node_id n = from_switch ? f->ports[from].node : f->ports[f->ports[from].peer].node;
	int hops = !from_switch;

	for (uint32_t steps = 0; steps <= f->nswitches; steps++) {
		unsigned port = rt_row(t, f->switch_index[n])[lid];
		port_id out = fab_port_id(f, n, port), next;

		if (port > f->nodes[n].nports || (port && f->ports[out].peer == FAB_NONE))
			return -1;
		next = port ? f->ports[out].peer : out;
		hops += port != 0;
		if (!port || !fab_is_switch(f, f->ports[next].node))
			return next == to ? hops : -1;
		if (load)
			load[out]++;
		n = f->ports[next].node;
	}
	return -2;
}

static struct slow slow_verify(const struct fab *f, const struct rt_tables *t)
{
	struct slow x = {.load = mem_zarray(f->nports, sizeof(uint64_t))};

	for (port_id from = 0; from < f->nports; from++)
		for (port_id to = 0; to < f->nports; to++) {
			if (from == to || !f->ports[from].lid || !f->ports[to].lid)
				continue;
			int hops = slow_walk(f, t, from, f->ports[to].lid, to, NULL);

			x.pairs++;
			x.unreachable += hops == -1;
			x.loops += hops == -2;
			if (hops < 0)
				continue;
			slow_walk(f, t, from, f->ports[to].lid, to, x.load);
			x.hops_sum += (unsigned)hops;
			x.hops_max = MAX(x.hops_max, (uint32_t)hops);
		}
	for (port_id p = 0; p < f->nports; p++) {
		x.load_sum += x.load[p];
		x.load_max = MAX(x.load_max, x.load[p]);
	}
	free(x.load);
	return x;
}

static void expect_same(const struct fab *f, const struct rt_tables *t)
{
	struct slow x = slow_verify(f, t);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(r.pairs, x.pairs);
	assert_int_equal(r.unreachable, x.unreachable);
	assert_int_equal(r.loops, x.loops);
	assert_int_equal(r.hops_sum, x.hops_sum);
	assert_int_equal(r.hops_max, x.hops_max);
	assert_int_equal(r.link_load_sum, x.load_sum);
	assert_int_equal(r.link_load_max, x.load_max);
	assert_int_equal(r.ok, !r.unreachable && !r.loops && !r.cycles);
	if (x.loops)
		assert_true(r.cycles > 0); /* a packet that goes round waits for itself */
	rt_report_free(&r);
}

TEST(the_verifier_counts_like_a_walk_of_every_pair)
{
	struct rng g;

	rng_seed(&g, 7, 0);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct fab *f = make((struct fab_gen){.kind = "irregular",
						      .dims = {12 + (unsigned)seed},
						      .ports = 5,
						      .seed = seed});
		struct rt_tables *t = fera(f, FAB_NONE, 0);

		expect_same(f, t);
		for (unsigned broken = 0; broken < 60; broken++) {
			uint32_t s = rng_below(&g, f->nswitches);
			uint32_t lid = 1 + rng_below(&g, t->top_lid);
			unsigned port = rng_below(&g, 8);

			rt_row(t, s)[lid] = (uint8_t)(port == 7 ? 255 : port);
			if (broken % 4 == 0)
				expect_same(f, t);
		}
		rt_tables_free(t);
		fab_free(f);
	}
}

TEST(hops_and_loads_of_a_line_are_as_by_hand)
{
	struct fab *f = line(3);
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(r.pairs, 30);
	assert_int_equal(r.nlinks, 4);
	assert_int_equal(r.link_load_max, 8); /* 2 sources x 4 destinations, or 4 x 2 */
	assert_int_equal(r.link_load_sum, 32);
	assert_int_equal(r.hops_max, 4);
	/* sum over pairs of switches apart 0, 1, 2: 3 x 2 own links; then 4 pairs each way */
	assert_int_equal(r.hops_sum, 3 * 2 * 1 + 4 * (1 + 2 + 2 + 3) + 2 * (2 + 3 + 3 + 4));
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- planted faults: a line of four, the route to the last host is wrong at the second switch
 * ---- */

static void plant(unsigned port, uint64_t unreachable, uint64_t loops, const char *text)
{
	struct fab *f = line(4);
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	node_id last = f->nnodes - 1;
	struct rt_report r;

	assert_int_equal(rt_row(t, 1)[lid_of(f, last)], 2);
	rt_row(t, 1)[lid_of(f, last)] = (uint8_t)port;
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.unreachable, unreachable);
	assert_int_equal(r.loops, loops);
	expect_problem(&r, text);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(a_missing_entry_is_found)
{
	plant(IBA_PORT_NONE, 4, 0, "LID 8 (H-0000000000000130[1]): no entry in S-0000000000000011");
}

TEST(the_wrong_host_is_found)
{
	plant(3, 4, 0, "S-0000000000000011[3] delivers it to H-0000000000000110[1]");
	plant(0, 4, 0, "S-0000000000000011[0] delivers it to S-0000000000000011[0]");
}

TEST(a_dead_port_is_found)
{
	struct fab *f = line(4);
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	struct rt_report r;

	rt_row(t, 0)[lid_of(f, f->nnodes - 1)] = 1; /* the first switch has nothing on port 1 */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.unreachable, 2);
	expect_problem(&r, "S-0000000000000010 sends it to port 1, where nothing is connected");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
	plant(77, 4, 0, "sends it to port 77");
}

TEST(a_loop_is_found)
{
	plant(1, 0, 4, "loops: S-0000000000000010[2] -> S-0000000000000011[1] -> ...");
}

TEST(tables_that_end_early_leave_pairs_unreachable)
{
	struct fab *f = line(4);
	struct rt_tables *t = rt_tables_new(f->nswitches, 0);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){0});
	struct err e;

	assert_int_equal(r.pairs, 56);
	assert_int_equal(r.unreachable, 56);
	rt_report_free(&r);
	rt_tables_free(t);
	t = rt_tables_new(3, 8);
	assert_int_equal(rt_verify(f, t, &(struct rt_verify_opts){0}, &r, &e), -EINVAL);
	rt_tables_free(t);
	fab_free(f);
}

/* Two lines of two switches, and a cable between two hosts. A missing entry inside a line is a fault; what no cables join is
 * none, whatever entries say of it, but a packet that goes round is. */
TEST(pairs_that_no_cables_join_are_no_fault)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct rt_report r;
	struct fab *f;
	uint32_t far;

	for (unsigned i = 0; i < 4; i++)
		add_host(b, 0x100 + 2 * i, add_switch(b, 1 + i, 4), 4);
	link_up(b, 0, 1, 2, 2);
	link_up(b, 4, 1, 6, 2);
	f = with_lids(fab_build(b), 0);
	t = fera(f, FAB_NONE, 0);
	far = lid_of(f, 7);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.islands, 2);
	assert_int_equal(r.pairs, 8 * 7);
	assert_int_equal(r.apart, 2 * 4 * 4);
	assert_int_equal(r.nproblems, 0);
	rt_report_free(&r);
	r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});
	assert_int_equal(r.apart, 2 * 2 * 2);
	rt_report_free(&r);
	rt_row(t, 0)[far] = 4; /* to a host of its own: dropped there */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	rt_report_free(&r);
	rt_row(t, 0)[far] = 1;
	rt_row(t, 1)[far] = 2; /* to and fro */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.loops, 4);
	rt_report_free(&r);
	rt_row(t, 0)[far] = rt_row(t, 1)[far] = IBA_PORT_NONE;
	rt_row(t, 2)[far] = IBA_PORT_NONE; /* of its own island */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.unreachable, 2);
	assert_int_equal(r.apart, 2 * 4 * 4);
	expect_problem(&r, "no entry in S-");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* The port of switch s towards switch s + 1 of a ring. */
static unsigned clockwise(const struct fab *f, uint32_t s)
{
	for (unsigned p = 1; p <= f->nodes[f->switches[s]].nports; p++)
		if (peer_switch(f, s, p) == (s + 1) % f->nswitches)
			return p;
	fail();
	return 0;
}

TEST(a_turn_up_after_down_is_found)
{
	struct fab *f = ring(5); /* seen from switch 0 the lowest are 2 and 3 */
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	uint64_t *rank = ranks(f, FAB_NONE);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.rank = rank});
	uint32_t dest = lid_of(f, f->switches[4]);

	assert_true(r.ok);
	rt_report_free(&r);
	/* from 1 to 4 the long way round: down to 2 and 3, up to 4 */
	for (uint32_t s = 1; s <= 3; s++)
		rt_row(t, s)[dest] = (uint8_t)clockwise(f, s);
	r = verify(f, t, (struct rt_verify_opts){.rank = rank});
	assert_false(r.ok);
	assert_int_equal(r.unreachable + r.loops, 0);
	assert_int_equal(r.down_up, 1);
	expect_problem(&r, "turns up after down at S-");
	rt_report_free(&r);
	free(rank);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- credit loops ---- */

static struct rt_tables *route_clockwise(const struct fab *f)
{
	struct rt_tables *t = fera(f, FAB_NONE, 0);

	for (port_id q = 0; q < f->nports; q++) {
		const struct fab_port *x = &f->ports[q];
		node_id at =
			fab_is_switch(f, x->node) || !x->lid ? x->node : f->ports[x->peer].node;

		for (uint32_t s = 0; x->lid && s < f->nswitches; s++)
			if (f->switches[s] != at)
				rt_row(t, s)[x->lid] = (uint8_t)clockwise(f, s);
	}
	return t;
}

TEST(a_ring_routed_one_way_round_has_one_credit_loop)
{
	struct fab *f = ring(6);
	struct rt_tables *t = route_clockwise(f);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});

	assert_false(r.ok);
	assert_int_equal(r.unreachable + r.loops, 0);
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct fab_port *p = &f->ports[r.cycle.at[i].port];
		node_id next = f->ports[r.cycle.at[(i + 1) % 6].port].node;

		assert_int_equal(f->ports[p->peer].node, next);
	}
	expect_problem(&r, "credit loop: S-");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Shortest ways on a ring of an odd number of switches. */
static struct rt_tables *route_minimal(const struct fab *f)
{
	struct rt_tables *t = route_clockwise(f);
	uint32_t n = f->nswitches;

	for (uint32_t s = 0; s < n; s++)
		for (port_id q = 0; q < f->nports; q++) {
			const struct fab_port *x = &f->ports[q];
			uint32_t before = (s + n - 1) % n;
			port_id back = peer_of(f, before, clockwise(f, before));

			if (!x->lid)
				continue;
			node_id at = x->num ? f->ports[x->peer].node : x->node;

			if ((f->switch_index[at] + n - s) % n > n / 2)
				rt_row(t, s)[x->lid] = f->ports[back].num;
		}
	return t;
}

TEST(minimal_routes_on_a_ring_have_a_credit_loop_each_way)
{
	struct fab *f = ring(5);
	struct rt_tables *t = route_minimal(f);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});

	assert_int_equal(r.unreachable + r.loops, 0);
	assert_int_equal(r.hops_max, 4);
	assert_int_equal(r.cycles, 2);
	assert_int_equal(r.cycle.n, 5);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(routes_that_only_switches_use_count_unless_told_otherwise)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_report r;
	struct rt_tables *t;
	struct fab *f;

	for (unsigned i = 0; i < 4; i++)
		add_switch(b, 1 + i, 3);
	for (unsigned i = 0; i < 4; i++)
		link_up(b, i, 1, (i + 1) % 4, 2);
	add_host(b, 0x100, 0, 3); /* what starts here never passes the last link of the ring */
	f = with_lids(fab_build(b), 0);
	t = route_clockwise(f);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.hops_max, 4); /* from switch 1 to the host: three links and its own */
	assert_int_equal(r.cycles, 1);
	rt_report_free(&r);
	r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});
	assert_true(r.ok);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Whether port p of switch sw leads to another switch. */
static bool from_switch(const struct fab *f, uint32_t sw, unsigned p)
{
	return p && peer_switch(f, sw, p) != FAB_NONE;
}

/* Packets of SL 0 that come from another switch and pass through switch 0 go on on this VL. */
static void dateline_set(struct rt_tables *t, const struct fab *f, unsigned vl)
{
	struct rt_sl2vl m = {{(uint8_t)vl}};

	rt_lanes_drop(t);
	rt_lanes_add(t, f, 2, 1);
	rt_sl2vl_use(t, 0, RT_ANY_PORT, RT_ANY_PORT, rt_sl2vl_map(t, &(struct rt_sl2vl){{0}}));
	for (unsigned in = 1; in <= f->nodes[f->switches[0]].nports; in++)
		if (from_switch(f, 0, in))
			rt_sl2vl_use(t, 0, in, RT_ANY_PORT, rt_sl2vl_map(t, &m));
	for (uint32_t s = 1; s < f->nswitches; s++)
		rt_sl2vl_use(t, s, RT_ANY_PORT, RT_ANY_PORT,
			     rt_sl2vl_map(t, &(struct rt_sl2vl){{0}}));
}

/* On a ring of five, routes are at most two links between switches long: those that change to VL 1
 * at switch 0 end one link further, so nothing on VL 1 waits for anything. */
TEST(a_dateline_by_vl_breaks_the_credit_loop)
{
	struct fab *f = ring(5);
	struct rt_tables *t = route_minimal(f);
	struct rt_verify_opts o = {0};
	struct rt_report r;

	dateline_set(t, f, 0);
	r = verify(f, t, o);
	assert_int_equal(r.cycles, 2);
	assert_int_equal(r.cycle.n, 5);
	rt_report_free(&r);

	dateline_set(t, f, 1);
	r = verify(f, t, o);
	assert_true(r.ok);
	rt_report_free(&r);

	dateline_set(t, f, RT_VL_NONE); /* discarded packets wait for nothing, but they are lost */
	r = verify(f, t, o);
	assert_int_equal(r.cycles, 0);
	assert_int_equal(r.discarded, 16); /* through switch 0, and to its host */
	assert_false(r.ok);
	rt_report_free(&r);

	dateline_set(t, f, 1);
	memset(rt_sl_row(t, 0), 1, t->top_lid + 1u); /* SL 1 knows no dateline */
	r = verify(f, t, o);
	assert_int_equal(r.cycles, 2);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Routes that go on behind the dateline come back to VL 0 there: it does not help. */
TEST(a_dateline_does_not_help_long_routes)
{
	struct fab *f = ring(6);
	struct rt_tables *t = route_clockwise(f);
	struct rt_report r;

	dateline_set(t, f, 1);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 6);
	rt_report_free(&r);
	dateline_set(t, f, RT_VL_NONE); /* unless none of them gets there */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.cycles, 0);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Packets that come from another switch go on on VL 1. */
static void transit_set(struct rt_tables *t, const struct fab *f)
{
	unsigned zero, one;

	rt_lanes_add(t, f, 2, 1);
	zero = rt_sl2vl_map(t, &(struct rt_sl2vl){{0}});
	one = rt_sl2vl_map(t, &(struct rt_sl2vl){{1}});
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned in = 0; in <= f->nodes[f->switches[s]].nports; in++)
			rt_sl2vl_use(t, s, in, RT_ANY_PORT, from_switch(f, s, in) ? one : zero);
}

TEST(packets_that_go_round_are_followed_all_the_way)
{
	struct fab *f = ring(3);
	struct rt_tables *t = route_minimal(f);
	struct rt_report r;

	transit_set(t, f);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok); /* every switch is the next one's neighbour: no transit at all */
	rt_report_free(&r);
	for (uint32_t s = 0; s < 3; s++)
		rt_row(t, s)[lid_of(f, f->nnodes - 1)] = (uint8_t)clockwise(f, s);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.loops, 5);
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 3);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* With one VL for all the general graph and the simple one are the same, loops included. */
TEST(both_dependency_graphs_agree)
{
	struct rng g;

	rng_seed(&g, 11, 0);
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct fab *f = make((struct fab_gen){
			.kind = "irregular", .dims = {14}, .ports = 5, .seed = seed});
		struct rt_tables *t = fera(f, FAB_NONE, 0);

		for (unsigned i = 0; i < 4 * seed; i++)
			rt_row(t, rng_below(&g, f->nswitches))[1 + rng_below(&g, t->top_lid)] =
				(uint8_t)(1 + rng_below(&g, 5));
		for (int hosts_only = 0; hosts_only < 2; hosts_only++) {
			struct rt_verify_opts o = {.hosts_only = hosts_only};
			struct rt_report a, b;

			rt_lanes_drop(t);
			a = verify(f, t, o);
			rt_lanes_add(t, f, RT_MAX_VLS, 1);
			for (uint32_t s = 0; s < f->nswitches; s++)
				rt_sl2vl_use(t, s, RT_ANY_PORT, RT_ANY_PORT,
					     rt_sl2vl_map(t, &(struct rt_sl2vl){{14}}));
			b = verify(f, t, o);
			assert_int_equal(a.cycles, b.cycles);
			assert_int_equal(a.cycle.n, b.cycle.n);
			assert_int_equal(a.unreachable, b.unreachable);
			assert_int_equal(b.discarded, 0);
			rt_report_free(&a);
			rt_report_free(&b);
		}
		rt_tables_free(t);
		fab_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verifier_counts_like_a_walk_of_every_pair),
		cmocka_unit_test(hops_and_loads_of_a_line_are_as_by_hand),
		cmocka_unit_test(a_missing_entry_is_found),
		cmocka_unit_test(the_wrong_host_is_found),
		cmocka_unit_test(a_dead_port_is_found),
		cmocka_unit_test(a_loop_is_found),
		cmocka_unit_test(tables_that_end_early_leave_pairs_unreachable),
		cmocka_unit_test(pairs_that_no_cables_join_are_no_fault),
		cmocka_unit_test(a_turn_up_after_down_is_found),
		cmocka_unit_test(a_ring_routed_one_way_round_has_one_credit_loop),
		cmocka_unit_test(minimal_routes_on_a_ring_have_a_credit_loop_each_way),
		cmocka_unit_test(routes_that_only_switches_use_count_unless_told_otherwise),
		cmocka_unit_test(a_dateline_by_vl_breaks_the_credit_loop),
		cmocka_unit_test(a_dateline_does_not_help_long_routes),
		cmocka_unit_test(packets_that_go_round_are_followed_all_the_way),
		cmocka_unit_test(both_dependency_graphs_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
