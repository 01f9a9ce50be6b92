/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine torus: shortest routes in meshes, tori and hypercubes, whole or with random parts missing; free of deadlock on few
 * lanes; even where the fabric is; other fabrics are refused with a reason. Keeps no state; each test makes its own fabric.
 * The verifier, which shares no code with it, is the judge.
 * Covers: torus.c, torus_shape.c, torus_ways.c, torus_lanes.c, channel_order.c
 */
#include "route_fixture.h"

static int compute(const struct fab *f, unsigned lanes, unsigned threads, struct rt_tables **t,
		   struct err *e)
{
	struct rt_opts o = {.root = FAB_NONE, .lanes = lanes, .threads = threads};

	*t = NULL;
	return rt_compute(&rt_torus, f, &o, t, e);
}

static struct rt_tables *torus(const struct fab *f)
{
	struct rt_tables *t;
	struct err e;

	if (compute(f, 8, 1, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

/* Links from every switch to one, UINT32_MAX: no way. */
static void distances(const struct fab *f, uint32_t to, uint32_t *dist)
{
	uint32_t *queue = mem_array(f->nswitches, sizeof(*queue)), tail = 0;

	memset(dist, 0xff, f->nswitches * sizeof(*dist));
	dist[to] = 0;
	queue[tail++] = to;
	for (uint32_t head = 0; head < tail; head++)
		for (unsigned p = 1; p <= world_ports(f, queue[head]); p++) {
			uint32_t v = world_peer(f, queue[head], p);

			if (v == FAB_NONE || dist[v] != UINT32_MAX)
				continue;
			dist[v] = dist[queue[head]] + 1;
			queue[tail++] = v;
		}
	free(queue);
}

static void expect_shortest(const struct fab *f, const struct rt_tables *t, uint32_t to,
			    uint16_t lid, const uint32_t *dist)
{
	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t at = s, n = 0;

		if (dist[s] == UINT32_MAX)
			continue;
		for (; at != to && n <= f->nswitches; n++) {
			at = world_peer(f, at, rt_row(t, at)[lid]);
			assert_int_not_equal(at, FAB_NONE);
		}
		assert_int_equal(n, dist[s]);
	}
}

static void expect_all_shortest(const struct fab *f, const struct rt_tables *t)
{
	uint32_t *dist = mem_array((size_t)f->nswitches + 1, sizeof(*dist));

	for (port_id h = 0; h < f->nports; h++) {
		const struct fab_port *p = &f->ports[h];
		uint32_t to = f->switch_index[p->node];

		if (to == FAB_NONE && p->peer != FAB_NONE)
			to = f->switch_index[f->ports[p->peer].node];
		if (!p->lid || to == FAB_NONE)
			continue;
		distances(f, to, dist);
		for (unsigned i = 0; i < 1u << p->lmc; i++)
			expect_shortest(f, t, to, (uint16_t)(p->lid + i), dist);
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

/* Returns the lanes. */
static unsigned check(struct fab *f)
{
	struct rt_tables *t = torus(f), *again;
	unsigned lanes = rt_nvls(t);
	struct err e;

	expect_good(f, t);
	expect_all_shortest(f, t);
	assert_int_equal(compute(f, 0, 3, &again, &e), 0);
	assert_memory_equal(t->lft, again->lft, (size_t)t->nswitches * t->stride);
	assert_true(rt_lanes_same(f, t, again));
	rt_tables_free(t);
	rt_tables_free(again);
	fab_free(f);
	return lanes;
}

#define GRID(...) ((struct fab_gen){__VA_ARGS__, .hosts = 2, .has_hosts = true})

TEST(meshes_and_hypercubes_take_one_lane)
{
	assert_int_equal(check(world_make(GRID(.kind = "mesh", .dims = {5}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "mesh", .dims = {4, 5}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "mesh", .dims = {2, 3, 4}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "mesh", .dims = {2, 2, 2, 3, 2}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "hypercube", .dims = {1}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "hypercube", .dims = {5}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {3, 3, 3}))), 1);
}

TEST(tori_take_two_lanes)
{
	assert_int_equal(check(world_make(GRID(.kind = "ring", .dims = {5}))), 2);
	assert_int_equal(check(world_make(GRID(.kind = "ring", .dims = {9}))), 2);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {5, 6}))), 2);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {2, 7}))), 2);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {4, 5, 3}))), 2);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {4, 5, 6, 2}))), 2);
	assert_int_equal(check(world_make((struct fab_gen){.kind = "torus", .dims = {5, 5, 5, 5}})),
			 2);
}

/* They are hypercubes. */
TEST(rings_of_four_take_one_lane)
{
	assert_int_equal(check(world_make(GRID(.kind = "ring", .dims = {4}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {4, 4}))), 1);
	assert_int_equal(check(world_make(GRID(.kind = "torus", .dims = {4, 2, 4, 3}))), 1);
	assert_int_equal(
		check(world_make((struct fab_gen){.kind = "torus", .dims = {4, 4, 4, 4, 4}})), 1);
}

/* ---- loads ---- */

static struct rt_report loads(struct fab *f)
{
	struct rt_tables *t = torus(f);
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){.hosts_only = true});

	assert_true(r.ok);
	rt_tables_free(t);
	fab_free(f);
	return r;
}

/* All links carry as many routes as the mean, whether sizes are odd or even. */
TEST(loads_are_equal_in_tori)
{
	static const unsigned dims[][3] = {{5, 5}, {6, 6}, {6, 4, 6}, {8, 8}, {3, 5, 7}};

	for (size_t i = 0; i < ARRAY_LEN(dims); i++) {
		struct fab_gen g = GRID(.kind = "torus");
		struct rt_report r;

		for (unsigned d = 0; d < 3; d++)
			g.dims[d] = dims[i][d];
		r = loads(world_make(g));
		if (g.dims[0] == g.dims[1] && (!g.dims[2] || g.dims[1] == g.dims[2]))
			assert_int_equal(r.link_load_max * r.nlinks, r.link_load_sum);
		rt_report_free(&r);
	}
}

/* The same fabric with a second cable beside each cable between switches. */
static struct fab *doubled(struct fab *f)
{
	struct fab_builder *b = fab_builder_new();
	unsigned most = 0;

	for (uint32_t s = 0; s < f->nswitches; s++)
		most = MAX(most, world_ports(f, s));
	for (node_id n = 0; n < f->nnodes; n++) {
		unsigned ports = fab_is_switch(f, n) ? 2 * most : f->nodes[n].nports;

		fab_add_node(b, f->nodes[n].type, f->nodes[n].guid, ports, fab_node_name(f, n));
		for (unsigned p = 1; p <= f->nodes[n].nports; p++)
			fab_builder_port(b, n, p)->guid = f->ports[fab_port_id(f, n, p)].guid;
	}
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p],
				      *y = x->peer == FAB_NONE ? x : &f->ports[x->peer];

		if (x->peer == FAB_NONE || x->peer < p)
			continue;
		assert_int_equal(fab_add_link(b, x->node, x->num, y->node, y->num), 0);
		if (fab_is_switch(f, x->node) && fab_is_switch(f, y->node))
			assert_int_equal(
				fab_add_link(b, x->node, most + y->num, y->node, most + x->num), 0);
	}
	fab_free(f);
	return world_lids(fab_build(b), 0);
}

TEST(parallel_links_share_the_load)
{
	struct rt_report r = loads(doubled(world_make(GRID(.kind = "torus", .dims = {5, 5}))));

	assert_true(r.link_load_max * r.nlinks <= r.link_load_sum * 5 / 4);
	rt_report_free(&r);
	check(doubled(world_make(GRID(.kind = "hypercube", .dims = {4}))));
	check(doubled(world_make(GRID(.kind = "mesh", .dims = {3, 4}))));
	check(doubled(world_make(GRID(.kind = "torus", .dims = {2, 4}))));
}

/* LIDs of one port take both directions half-way round a ring. */
TEST(further_lids_take_other_ways)
{
	struct fab *f = world_lids(world_make(GRID(.kind = "ring", .dims = {6})), 1);
	struct rt_tables *t = torus(f);
	uint32_t differ = 0;

	expect_good(f, t);
	expect_all_shortest(f, t);
	for (port_id p = 0; p < f->nports; p++)
		for (uint32_t s = 0; f->ports[p].lmc && s < f->nswitches; s++)
			differ +=
				rt_row(t, s)[f->ports[p].lid] != rt_row(t, s)[f->ports[p].lid + 1];
	assert_true(differ >= 12);
	rt_tables_free(t);
	fab_free(f);
}

TEST(virtual_functions_are_reached)
{
	struct fab *f = world_vfs(world_make(GRID(.kind = "torus", .dims = {5, 4})), 3);
	struct rt_tables *t = torus(f);
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0});

	assert_true(r.ok);
	assert_int_equal(r.pairs,
			 (f->nhosts + f->nswitches - 1ull) * (f->nswitches + 4ull * f->nhosts));
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- what is missing ---- */

/* Up to a tenth of the switches and a tenth of the links between switches go. */
static struct fab *damaged(struct fab *f, uint64_t seed)
{
	struct world_down d = world_down_new(f);
	struct fab *now;
	struct rng r;
	unsigned switches, links;

	rng_seed(&r, seed, 7);
	switches = (unsigned)rng_below(&r, 101);
	links = (unsigned)rng_below(&r, 101);
	for (uint32_t s = 0; s < f->nswitches; s++)
		d.node[f->switches[s]] = rng_below(&r, 1000) < switches;
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && f->ports[p].peer > p &&
		    fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[f->ports[p].peer].node))
			d.port[p] = rng_below(&r, 1000) < links;
	now = world_now(f, &d);
	world_down_free(&d);
	fab_free(f);
	return now;
}

TEST(damaged_grids_are_routed)
{
	static const struct fab_gen kinds[] = {
		{.kind = "torus", .dims = {6, 6}},  {.kind = "torus", .dims = {4, 5, 3}},
		{.kind = "mesh", .dims = {5, 5}},   {.kind = "mesh", .dims = {3, 3, 4}},
		{.kind = "hypercube", .dims = {5}}, {.kind = "torus", .dims = {9, 3}},
		{.kind = "ring", .dims = {12}},	    {.kind = "torus", .dims = {4, 4, 4}},
	};

	for (uint64_t seed = 1; seed <= 40; seed++)
		check(damaged(world_make(kinds[seed % ARRAY_LEN(kinds)]), seed));
	for (uint64_t seed = 1; seed <= 6; seed++)
		check(damaged(doubled(world_make(kinds[seed % ARRAY_LEN(kinds)])), seed));
}

/* ---- other fabrics ---- */

static void expect_refused(struct fab *f, const char *why)
{
	struct rt_tables *t;
	struct err e;

	assert_int_equal(compute(f, 8, 1, &t, &e), -EINVAL);
	assert_null(t);
	assert_string_equal(e.text, why);
	fab_free(f);
}

TEST(other_fabrics_are_refused_with_a_reason)
{
	expect_refused(
		world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}),
		"torus: not a mesh or torus: the link from mid0_1 port 2 to leaf0_1 port 4 is no step along one dimension");
	expect_refused(
		world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}),
		"torus: not a mesh or torus: the link from g0_1 port 4 to g0_2 port 4 is no step along one dimension");
	expect_refused(
		world_make((struct fab_gen){.kind = "torus", .dims = {5, 5, 5, 5, 5}}),
		"torus: sw0_0_0_0_0 is in 5 rings of five switches or more; service levels tell 4 apart");
}

/* Whatever it takes for a grid is routed right. */
TEST(odd_and_irregular_fabrics_are_refused_or_routed_right)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct fab *f =
			world_make(seed % 2 ? (struct fab_gen){.kind = "odd", .seed = seed}
					    : (struct fab_gen){.kind = "irregular",
							       .dims = {2 + (uint32_t)seed % 9},
							       .seed = seed});
		struct rt_tables *t;
		struct err e;

		if (!compute(f, 8, 1, &t, &e)) {
			expect_good(f, t);
			expect_all_shortest(f, t);
			rt_tables_free(t);
		}
		fab_free(f);
	}
}

TEST(lanes_that_do_not_suffice_are_refused)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {6}});
	struct rt_tables *t;
	struct err e;

	assert_int_equal(compute(f, 1, 1, &t, &e), -ENOSPC);
	assert_string_equal(e.text, "torus: these routes need 2 lanes, of which 1 may be used");
	assert_null(t);
	fab_free(f);
}

TEST(fabrics_without_switches_or_links_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f;

	f = world_lids(fab_build(b), 0);
	rt_tables_free(torus(f));
	fab_free(f);
	b = fab_builder_new();
	fab_add_node(b, IBA_NODE_SWITCH, 7, 4, "alone");
	fab_add_node(b, IBA_NODE_SWITCH, 8, 4, "alone too");
	f = world_lids(fab_build(b), 0);
	rt_tables_free(torus(f));
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meshes_and_hypercubes_take_one_lane),
		cmocka_unit_test(tori_take_two_lanes),
		cmocka_unit_test(rings_of_four_take_one_lane),
		cmocka_unit_test(loads_are_equal_in_tori),
		cmocka_unit_test(parallel_links_share_the_load),
		cmocka_unit_test(further_lids_take_other_ways),
		cmocka_unit_test(virtual_functions_are_reached),
		cmocka_unit_test(damaged_grids_are_routed),
		cmocka_unit_test(other_fabrics_are_refused_with_a_reason),
		cmocka_unit_test(odd_and_irregular_fabrics_are_refused_or_routed_right),
		cmocka_unit_test(lanes_that_do_not_suffice_are_refused),
		cmocka_unit_test(fabrics_without_switches_or_links_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
