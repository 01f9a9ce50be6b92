/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan from the entries that differ, beside the plan from all tables: always the same. Keeps no state; each test makes its
 * own fabrics.
 * Covers: plan_change.c
 */
#include "route_fixture.h"

struct tally {
	unsigned made, left, in_use, kind[RT_PLAN_TURNS + 1];
};

static void expect_same(const struct rt_plan *a, const struct rt_plan *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->entries, b->entries);
	assert_int_equal(a->blocks, b->blocks);
	assert_int_equal(a->turns_in_use, b->turns_in_use);
	assert_int_equal(a->turns.n, b->turns.n);
	for (size_t i = 0; i < a->turns.n; i++) {
		assert_int_equal(a->turns.at[i].sw, b->turns.at[i].sw);
		assert_int_equal(a->turns.at[i].in, b->turns.at[i].in);
		assert_int_equal(a->turns.at[i].out, b->turns.at[i].out);
	}
}

/* Old tables as a manager tells them that may use lanes, but does not: all packets have SL 0, whatever its VL. */
static void compare_with_maps(const struct fab *f, struct rt_tables *old, const struct rt_tables *t,
			      const uint64_t *rank, const struct rt_before *b)
{
	struct rt_plan quick, whole;
	struct err e;

	rt_lanes_add(old, f, 2, 1);
	old->lanes->any_vl = true;
	for (uint32_t s = 0; s < f->nswitches; s++)
		rt_sl2vl_use(old, s, s % (world_ports(f, s) + 1), RT_ANY_PORT,
			     rt_sl2vl_map(old, &(struct rt_sl2vl){{s % 2 ? RT_VL_NONE : 1}}));
	assert_true(rt_plan_change(f, old, t, rank, b, &quick));
	assert_int_equal(rt_plan(f, old, t, rank, NULL, 1, &whole, &e), 0);
	expect_same(&quick, &whole);
	assert_true(quick.lanes && whole.lanes);
	rt_plan_free(&whole);
	rt_plan_free(&quick);
	rt_lanes_drop(old);
}

static void compare(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		    const struct rt_before *b, struct tally *n)
{
	struct rt_tables *old = rt_tables_carry(b->f, b->t, f);
	struct rt_plan quick, whole;
	struct err e;

	if (rt_plan_change(f, old, t, rank, b, &quick)) {
		if (rt_plan(f, old, t, rank, NULL, 1, &whole, &e))
			fail_msg("%s", e.text);
		expect_same(&quick, &whole);
		n->made++;
		n->kind[quick.kind]++;
		n->in_use += quick.turns_in_use;
		rt_plan_free(&whole);
		rt_plan_free(&quick);
		if (n->made % 4 == 0 && f->nswitches)
			compare_with_maps(f, old, t, rank, b);
	} else {
		n->left++;
	}
	rt_tables_free(old);
}

static struct fab *any_fabric(uint64_t i)
{
	const struct fab_gen gen[] = {
		{.kind = "mtree", .dims = {4, 3}},
		{.kind = "torus", .dims = {3, 4}},
		{.kind = "irregular", .dims = {12}, .ports = 5, .seed = i},
		{.kind = "mtree", .dims = {8, 2}},
		{.kind = "odd", .seed = i},
		{.kind = "irregular", .dims = {24}, .ports = 6, .seed = i},
		{.kind = "mtree", .dims = {6, 3}},
	};

	return world_make(gen[i % ARRAY_LEN(gen)]);
}

static uint64_t *ranks_of(const struct fab *f)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank)), high = 0;

	rt_updown_rank(f, f->switches[0], rank);
	for (uint32_t s = 0; s < f->nswitches; s++)
		high = rank[s] != UINT64_MAX ? MAX(high, rank[s]) : high;
	for (uint32_t s = 0; s < f->nswitches; s++)
		rank[s] = rank[s] == UINT64_MAX ? ++high : rank[s];
	return rank;
}

/* From tables to those of rt_reroute() with a reference, to other tables over the same ranks, made at random, and to tables
 * over ranks from another root, which forbid turns that the former take. */
static void one_sequence(uint64_t i, struct rng *r, struct tally *n)
{
	struct fab *f = any_fabric(i), *now = f;
	struct world_down d = world_down_new(f);
	uint64_t *rank = ranks_of(f), *last = rank;
	struct rt_tables *t = world_fera(f, rank), *in = t;
	struct rt_before ref = {f, rank, t};

	for (unsigned k = 0; k < 8; k++) {
		struct rt_before b = {now, last, in};
		struct rt_update_stats st;
		struct rt_tables *next;
		struct fab *g;
		uint64_t *mended;
		struct err e;

		world_change(f, &d, r);
		g = world_now(f, &d);
		mended = mem_array(g->nswitches + 1, sizeof(*mended));
		if (k % 2) {
			struct rt_opts o = {.ties = RT_TIES_RANDOM, .rank = mended};
			uint64_t *old = mem_array(g->nswitches + 1, sizeof(*old));

			rt_updown_rank_carry(now, last, g, old);
			if (k == 5 && g->nswitches)
				rt_updown_rank_keep(g, g->switches[rng_below(r, g->nswitches)], old,
						    mended);
			else
				rt_updown_rank_mend(g, old, mended);
			free(old);
			assert_int_equal(rt_compute(&rt_fera, g, &o, &next, &e), 0);
		} else {
			assert_int_equal(rt_reroute(g, &ref, &next, mended, &st, &e), 0);
		}
		compare(g, next, mended, &b, n);
		if (in != t) {
			rt_tables_free(in);
			free(last);
			fab_free(now);
		}
		now = g;
		last = mended;
		in = next;
	}
	rt_tables_free(in);
	free(last);
	fab_free(now);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
	world_down_free(&d);
}

TEST(the_quick_plan_is_that_from_all_tables)
{
	struct tally n = {0};
	struct rng r;

	rng_seed(&r, 21, 1);
	for (uint64_t i = 0; i < 210; i++)
		one_sequence(i, &r, &n);
	print_message(
		"# %u plans made, %u left to rt_plan(); %u nothing, %u any order, %u outwards, %u "
		"disable turns, %u of them in use\n",
		n.made, n.left, n.kind[RT_PLAN_NOTHING], n.kind[RT_PLAN_ANY_ORDER],
		n.kind[RT_PLAN_OUTWARDS], n.kind[RT_PLAN_TURNS], n.in_use);
	assert_true(n.made > n.left && n.in_use > 10);
	for (unsigned k = 0; k <= RT_PLAN_TURNS; k++)
		assert_true(n.kind[k] > 10);
}

/* Lanes, tables of other sizes: there is no plan from that. */
TEST(what_cannot_be_compared_is_left_alone)
{
	struct fab *f = world_make((struct fab_gen){.kind = "torus", .dims = {3, 3}});
	uint64_t *rank = ranks_of(f);
	struct rt_tables *t = world_fera(f, rank), *few = rt_tables_new(3, t->top_lid);
	struct rt_before b = {f, rank, t};
	struct rt_plan p;

	assert_true(rt_plan_change(f, t, t, rank, &b, &p));
	assert_int_equal(p.kind, RT_PLAN_NOTHING);
	assert_false(rt_plan_change(f, t, few, rank, &b, &p));
	rt_lanes_add(t, f, 2, 1);
	assert_false(rt_plan_change(f, t, t, rank, &b, &p));
	rt_tables_free(few);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
}

/* Routes to a port without a cable are not verified: here they lead down and up. */
TEST(lids_of_ports_without_a_cable_are_looked_at)
{
	struct fab *f = world_make((struct fab_gen){.kind = "torus", .dims = {3, 3}}), *g;
	struct world_down d = world_down_new(f);
	uint64_t *rank = ranks_of(f);
	struct rt_tables *t, *old;
	struct rt_before b;
	struct rt_plan p;
	port_id host = f->nports - 1;
	unsigned made = 0;

	assert_true(f->ports[host].lid && !fab_is_switch(f, f->ports[host].node));
	d.port[host] = true;
	g = world_now(f, &d);
	t = world_fera(g, rank);
	old = rt_tables_carry(g, t, g);
	for (uint32_t s = 0; s < g->nswitches && !made; s++)
		for (unsigned i = 1; i <= world_ports(g, s) && !made; i++) {
			uint32_t v = world_peer(g, s, i);

			for (unsigned k = 1; v != FAB_NONE && k <= world_ports(g, v); k++) {
				uint32_t w = world_peer(g, v, k);

				if (w == FAB_NONE || rank[v] < rank[s] || rank[w] > rank[v])
					continue;
				rt_row(old, s)[f->ports[host].lid] = (uint8_t)i;
				rt_row(old, v)[f->ports[host].lid] = (uint8_t)k;
				made = 1;
			}
		}
	assert_int_equal(made, 1);
	b = (struct rt_before){g, rank, old};
	assert_false(rt_plan_change(g, old, t, rank, &b, &p));
	rt_tables_free(old);
	rt_tables_free(t);
	free(rank);
	fab_free(g);
	fab_free(f);
	world_down_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_quick_plan_is_that_from_all_tables),
		cmocka_unit_test(lids_of_ports_without_a_cable_are_looked_at),
		cmocka_unit_test(what_cannot_be_compared_is_left_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
