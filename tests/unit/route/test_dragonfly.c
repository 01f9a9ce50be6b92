/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine dragonfly: every pair that cables join has a route, free of deadlock, in dragonflies that are whole or have random
 * parts missing; routes between two groups do not all meet at one link; other fabrics are refused with a reason. Keeps no state;
 * each test makes its own fabric. The verifier, which shares no code with it, is the judge.
 * Covers: dragonfly.c, dragonfly_groups.c, dragonfly_lanes.c
 */
#include "route_fixture.h"

#include "route/quality.h"

static int compute(const struct fab *f, unsigned lanes, unsigned threads, struct rt_tables **t,
		   struct err *e)
{
	struct rt_opts o = {.root = FAB_NONE, .lanes = lanes, .threads = threads};

	*t = NULL;
	return rt_compute(&rt_dragonfly, f, &o, t, e);
}

/* Numbers of the parts that cables join. */
static void parts_find(const struct fab *f, uint32_t *part)
{
	uint32_t *queue = mem_array((size_t)f->nswitches + 1, sizeof(*queue));

	memset(part, 0xff, f->nswitches * sizeof(*part));
	for (uint32_t from = 0; from < f->nswitches; from++) {
		uint32_t head = 0, tail = 0;

		if (part[from] != FAB_NONE)
			continue;
		part[from] = from;
		queue[tail++] = from;
		for (; head < tail; head++)
			for (unsigned p = 1; p <= world_ports(f, queue[head]); p++) {
				uint32_t v = world_peer(f, queue[head], p);

				if (v == FAB_NONE || part[v] != FAB_NONE)
					continue;
				part[v] = from;
				queue[tail++] = v;
			}
	}
	free(queue);
}

/* Each switch reaches each LID that cables join with it. */
static void expect_connected(const struct fab *f, const struct rt_tables *t)
{
	uint32_t *part = mem_array((size_t)f->nswitches + 1, sizeof(*part));

	parts_find(f, part);
	for (port_id h = 0; h < f->nports; h++) {
		const struct fab_port *p = &f->ports[h];
		uint32_t to = f->switch_index[p->node];

		if (to == FAB_NONE && p->peer != FAB_NONE)
			to = f->switch_index[f->ports[p->peer].node];
		for (uint32_t s = 0; p->lid && to != FAB_NONE && s < f->nswitches; s++) {
			uint32_t at = s, n = 0;

			while (part[s] == part[to] && at != to && n++ < f->nswitches) {
				at = world_peer(f, at, rt_row(t, at)[p->lid]);
				assert_int_not_equal(at, FAB_NONE);
			}
			assert_true(part[s] != part[to] || at == to);
		}
	}
	free(part);
}

static void expect_good(const struct fab *f, const struct rt_tables *t)
{
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0});

	if (r.cycles || r.loops || r.discarded)
		fail_msg("%s", r.problem[0]);
	rt_report_free(&r);
	expect_connected(f, t);
}

/* False: refused. Returns whether it was routed. */
static bool check(struct fab *f)
{
	struct rt_tables *t, *again;
	struct err e;
	bool routed = !compute(f, 8, 1, &t, &e);

	if (routed) {
		expect_good(f, t);
		assert_int_equal(compute(f, 0, 3, &again, &e), 0);
		assert_memory_equal(t->lft, again->lft, (size_t)t->nswitches * t->stride);
		assert_true(rt_lanes_same(f, t, again));
		rt_tables_free(again);
		rt_tables_free(t);
	} else {
		assert_memory_equal(e.text, "dragonfly: ", 11);
	}
	fab_free(f);
	return routed;
}

TEST(dragonflies_are_routed)
{
	assert_true(check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}})));
	assert_true(check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {1, 4, 1}})));
	assert_true(check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 5, 2, 6}})));
	assert_true(check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {3, 6, 3, 7}})));
	assert_true(check(world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 3, 1}})));
}

/* Groups of three leaves and four spines, each spine with one link to another group. */
static struct fab *dragonfly_plus(void)
{
	enum { GROUPS = 5, LEAVES = 3, SPINES = 4, EACH = LEAVES + SPINES };
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < GROUPS * EACH; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, 8, i % EACH < LEAVES ? "leaf" : "spine");
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned l = 0; l < LEAVES; l++) {
			for (unsigned s = 0; s < SPINES; s++)
				assert_int_equal(fab_add_link(b, g * EACH + l, s + 1,
							      g * EACH + LEAVES + s, l + 1),
						 0);
			for (unsigned h = 0; h < 2; h++) {
				uint64_t guid = 0x1000 + ((g * LEAVES + l) * 2 + h) * 2;
				node_id n = fab_add_node(b, IBA_NODE_CA, guid, 1, "host");

				fab_builder_port(b, n, 1)->guid = guid + 1;
				assert_int_equal(fab_add_link(b, n, 1, g * EACH + l, 6 + h), 0);
			}
		}
		for (unsigned s = 0; s < SPINES; s++) {
			unsigned to = (g + s + 1) % GROUPS, back = GROUPS - 2 - s;

			if (g < to)
				assert_int_equal(fab_add_link(b, g * EACH + LEAVES + s, 8,
							      to * EACH + LEAVES + back, 8),
						 0);
		}
	}
	return world_lids(fab_build(b), 0);
}

TEST(dragonfly_plus_is_routed)
{
	assert_true(check(dragonfly_plus()));
}

/* ---- what is missing ---- */

static struct fab *damaged(struct fab *f, uint64_t seed)
{
	struct world_down d = world_down_new(f);
	unsigned switches, links;
	struct fab *now;
	struct rng r;

	rng_seed(&r, seed, 9);
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

/* Groups of five and more are recognised however they are damaged; smaller ones are refused or routed right. */
TEST(damaged_dragonflies_are_routed)
{
	unsigned routed = 0;

	for (uint64_t seed = 1; seed <= 20; seed++)
		routed += check(damaged(
			world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 6, 2, 9}}),
			seed));
	assert_in_range(routed, 18, 20);
	for (uint64_t seed = 1; seed <= 20; seed++)
		check(damaged(seed % 2 ? dragonfly_plus()
				       : world_make((struct fab_gen){.kind = "dragonfly",
								     .dims = {2, 4, 2}}),
			      seed));
}

/* ---- loads ---- */

/* From a group to the next one: with one link between them, shortest routes alone would share it. */
TEST(shifts_are_better_than_with_balanced)
{
	struct fab *f = world_make((struct fab_gen){.kind = "dragonfly", .dims = {3, 6, 3}});
	struct rt_quality_opts q = {.patterns = 40, .seed = 1, .quick = true};
	const struct rt_engine *const engine[] = {&rt_dragonfly, &rt_balanced};
	struct rt_opts o = {.root = FAB_NONE};
	uint64_t shifts[2];
	struct err e;

	for (unsigned i = 0; i < 2; i++) {
		struct rt_quality r;
		struct rt_tables *t;

		assert_int_equal(rt_compute(engine[i], f, &o, &t, &e), 0);
		assert_int_equal(rt_quality(f, t, &q, &r, &e), 0);
		shifts[i] = rt_shares_mean(&r.by[RT_SHIFTS]);
		rt_quality_free(&r);
		rt_tables_free(t);
	}
	assert_true(shifts[0] * 10 > shifts[1] * 11);
	fab_free(f);
}

/* ---- other fabrics ---- */

TEST(other_fabrics_are_refused_with_a_reason)
{
	assert_false(check(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}})));
	assert_false(check(world_make((struct fab_gen){.kind = "torus", .dims = {5, 5}})));
	assert_false(check(world_make((struct fab_gen){.kind = "fullmesh", .dims = {6}})));
	assert_false(check(world_make((struct fab_gen){.kind = "hypercube", .dims = {4}})));
	/* rings of three are groups, but most of them have no link to each other */
	assert_false(check(world_make((struct fab_gen){.kind = "torus", .dims = {3, 5, 5}})));
	assert_false(check(world_make((struct fab_gen){.kind = "clos", .dims = {4, 4, 6}})));
}

TEST(odd_and_irregular_fabrics_are_refused_or_routed_right)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		check(world_make(seed % 2 ? (struct fab_gen){.kind = "odd", .seed = seed}
					  : (struct fab_gen){.kind = "irregular",
							     .dims = {4 + (uint32_t)seed % 20},
							     .ports = 8,
							     .seed = seed}));
}

TEST(lanes_that_do_not_suffice_are_refused)
{
	struct fab *f = world_make((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}});
	struct rt_tables *t;
	struct err e;

	assert_int_equal(compute(f, 1, 1, &t, &e), -ENOSPC);
	assert_string_equal(e.text, "dragonfly: these routes need 2 lanes, of which 1 may be used");
	assert_null(t);
	fab_free(f);
}

/* ---- lanes that change with the group ---- */

/* A whole dragonfly of any size needs two lanes, and one service level for all. */
TEST(two_lanes_and_one_service_level_suffice)
{
	static const struct fab_gen whole[] = {{.kind = "dragonfly", .dims = {3, 6, 3}},
					       {.kind = "dragonfly", .dims = {2, 8, 2}}};

	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		struct fab *f = world_make(whole[i]);
		struct rt_tables *t;
		struct err e;

		assert_int_equal(compute(f, 2, 1, &t, &e), 0);
		assert_int_equal(rt_nvls(t), 2);
		assert_int_equal(t->lanes->nrows, 1);
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			assert_int_equal(rt_sl_row(t, 0)[lid], 0);
		expect_good(f, t);
		rt_tables_free(t);
		fab_free(f);
	}
}

/* Round what is missing few lanes suffice, too, or it is said how many would. Further LIDs of a port change nothing of that. */
TEST(few_lanes_for_damaged_dragonflies)
{
	unsigned routed = 0;

	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct fab *f =
			damaged(seed % 3 ? world_make((struct fab_gen){.kind = "dragonfly",
								       .dims = {2, 6, 2, 9}})
					 : dragonfly_plus(),
				seed);
		unsigned lanes = 2 + seed % 3;
		struct rt_tables *t;
		struct err e;

		if (seed % 4 == 0)
			for (port_id p = 0; p < f->nports; p++)
				f->ports[p].lid = 0;
		f = world_lids(f, seed % 4 == 0);
		if (!compute(f, lanes, 1, &t, &e)) {
			expect_good(f, t);
			assert_in_range(rt_nvls(t), 1, lanes);
			routed++;
			rt_tables_free(t);
		} else {
			assert_memory_equal(e.text, "dragonfly: ", 11);
		}
		fab_free(f);
	}
	assert_in_range(routed, 12, 24);
}

TEST(fabrics_without_switches_are_refused)
{
	assert_false(check(world_lids(fab_build(fab_builder_new()), 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dragonflies_are_routed),
		cmocka_unit_test(dragonfly_plus_is_routed),
		cmocka_unit_test(damaged_dragonflies_are_routed),
		cmocka_unit_test(shifts_are_better_than_with_balanced),
		cmocka_unit_test(other_fabrics_are_refused_with_a_reason),
		cmocka_unit_test(odd_and_irregular_fabrics_are_refused_or_routed_right),
		cmocka_unit_test(lanes_that_do_not_suffice_are_refused),
		cmocka_unit_test(two_lanes_and_one_service_level_suffice),
		cmocka_unit_test(few_lanes_for_damaged_dragonflies),
		cmocka_unit_test(fabrics_without_switches_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
