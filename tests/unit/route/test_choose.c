/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choice among engines: the best by the meter is taken, tables hold, nothing depends on threads, and what was
 * chosen is said. Keeps no state; each test makes its own fabric.
 */
#include "route_fixture.h"

#include "route/choose.h"
#include "route/quality.h"

static struct rt_choice chosen(const struct fab *f, unsigned lanes, unsigned threads)
{
	struct rt_opts o = {.root = FAB_NONE, .lanes = lanes, .threads = threads};
	struct rt_choice c;
	struct err e;

	if (rt_choose(f, &o, &c, &e))
		fail_msg("%s", e.text);
	return c;
}

static const struct rt_try *try_of(const struct rt_choice *c, const char *name)
{
	for (unsigned i = 0; i < c->ntried; i++)
		if (!strcmp(c->tried[i].engine->name, name))
			return &c->tried[i];
	return NULL;
}

static void a_whole_tree_is_routed_as_a_tree_without_a_further_try(void **state UNUSED)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}});
	struct rt_choice c = chosen(f, 0, 1);

	assert_string_equal(c.engine->name, "tree");
	assert_int_equal(c.ntried, 1);
	assert_string_equal(c.why, "every shift has full bandwidth, 1 lane");
	rt_choice_free(&c);
	fab_free(f);
}

/* No engine that was tried is better by more than the margin, and the tables are right. */
static void check_best(const struct fab *f, unsigned lanes)
{
	struct rt_choice c = chosen(f, lanes, 2);
	const struct rt_try *own = try_of(&c, c.engine->name);
	struct rt_report r = world_verify(f, c.tables, (struct rt_verify_opts){0});
	uint64_t bisection, shifts;
	struct err e;

	assert_int_equal(r.loops + r.cycles + r.discarded, 0);
	assert_true(!lanes || rt_nvls(c.tables) <= lanes);
	assert_int_equal(rt_quick_quality(f, c.tables, 1, &bisection, &shifts, &e), 0);
	assert_int_equal(own->bisection, bisection);
	assert_int_equal(own->shifts, shifts);
	for (unsigned i = 0; i < c.ntried; i++)
		if (c.tried[i].routed)
			assert_true((double)c.tried[i].bisection * (double)c.tried[i].shifts <=
				    1.021 * (double)bisection * (double)shifts);
		else
			assert_true(c.tried[i].refused.text[0]);
	rt_report_free(&r);
	rt_choice_free(&c);
}

static void the_best_by_the_meter_is_taken_on_every_shape(void **state UNUSED)
{
	const struct fab_gen gens[] = {
		{.kind = "torus", .dims = {4, 4}, .hosts = 2, .has_hosts = true},
		{.kind = "hypercube", .dims = {4}},
		{.kind = "dragonfly", .dims = {2, 4, 2}},
		{.kind = "mesh", .dims = {3, 5}},
		{.kind = "ring", .dims = {7}},
		{.kind = "fullmesh", .dims = {6}},
		{.kind = "irregular", .dims = {20}, .ports = 8, .seed = 5},
	};

	for (size_t i = 0; i < ARRAY_LEN(gens); i++)
		for (unsigned lanes = 0; lanes < 3; lanes++) {
			struct fab *f = world_make(gens[i]);

			check_best(f, lanes);
			fab_free(f);
		}
}

static void odd_fabrics_are_routed_as_far_as_cables_lead(void **state UNUSED)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct fab *f = world_make((struct fab_gen){.kind = "odd", .seed = seed});
		struct rt_choice c = chosen(f, 0, 1);
		struct rt_tables *t = world_fera(f, NULL);
		struct rt_report ours = world_verify(f, c.tables, (struct rt_verify_opts){0});
		struct rt_report fera = world_verify(f, t, (struct rt_verify_opts){0});

		assert_int_equal(ours.unreachable, fera.unreachable);
		assert_int_equal(ours.loops + ours.cycles + ours.discarded, 0);
		rt_report_free(&ours);
		rt_report_free(&fera);
		rt_tables_free(t);
		rt_choice_free(&c);
		fab_free(f);
	}
}

static void threads_change_nothing(void **state UNUSED)
{
	struct fab *f = world_make(
		(struct fab_gen){.kind = "irregular", .dims = {24}, .ports = 8, .seed = 9});
	struct rt_choice a = chosen(f, 0, 1), b = chosen(f, 0, 4);

	assert_ptr_equal(a.engine, b.engine);
	assert_string_equal(a.why, b.why);
	assert_memory_equal(a.tables->lft, b.tables->lft,
			    (size_t)a.tables->nswitches * a.tables->stride);
	assert_true(rt_lanes_same(f, a.tables, b.tables));
	rt_choice_free(&a);
	rt_choice_free(&b);
	fab_free(f);
}

static void a_tenth_is_clearly_worse(void **state UNUSED)
{
	const struct rt_try best = {.bisection = 500000000, .shifts = 400000000};

	assert_false(rt_clearly_worse(450000000, 360000000, &best));
	assert_true(rt_clearly_worse(449000000, 400000000, &best));
	assert_true(rt_clearly_worse(500000000, 359000000, &best));
}

/* Engines with link directions are preferred for tables that will be repaired. */
static void
tables_to_be_repaired_have_link_directions_unless_others_are_a_tenth_better(void **state UNUSED)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct fab *f = world_make((struct fab_gen){
			.kind = "irregular", .dims = {16}, .ports = 8, .seed = seed});
		struct rt_opts o = {.root = FAB_NONE, .lanes = 1, .threads = 1, .steady = true};
		const struct rt_try *own;
		struct rt_choice c;
		struct err e;

		assert_int_equal(rt_choose(f, &o, &c, &e), 0);
		own = try_of(&c, c.engine->name);
		assert_true(c.report.ok && !c.engine->updown == !c.rank);
		for (unsigned i = 0; i < c.ntried; i++)
			if (c.tried[i].routed && c.tried[i].engine->updown != c.engine->updown)
				assert_true((double)c.tried[i].bisection *
						    (double)c.tried[i].shifts *
						    (c.engine->updown ? 1 : 1.21) <=
					    (double)own->bisection * (double)own->shifts *
						    (c.engine->updown ? 1.211 : 1));
		rt_choice_free(&c);
		fab_free(f);
	}
}

static void a_fabric_without_hosts_or_switches_has_tables(void **state UNUSED)
{
	struct fab *f =
		world_make((struct fab_gen){.kind = "ring", .dims = {5}, .has_hosts = true});
	struct rt_choice c = chosen(f, 0, 1);

	rt_choice_free(&c);
	fab_free(f);
	f = fab_build(fab_builder_new());
	c = chosen(f, 0, 1);
	rt_choice_free(&c);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_tree_is_routed_as_a_tree_without_a_further_try),
		cmocka_unit_test(the_best_by_the_meter_is_taken_on_every_shape),
		cmocka_unit_test(odd_fabrics_are_routed_as_far_as_cables_lead),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(a_tenth_is_clearly_worse),
		cmocka_unit_test(
			tables_to_be_repaired_have_link_directions_unless_others_are_a_tenth_better),
		cmocka_unit_test(a_fabric_without_hosts_or_switches_has_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
