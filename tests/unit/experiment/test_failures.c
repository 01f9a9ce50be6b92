/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Failures from one bring-up: the same figures as changes of their own, for any number of processes.
 * Covers: failures.c, route_census.c
 */
#include "unit_test.h"

#include "experiment/failures.h"
#include "lab/route_census.h"

#include <limits.h>

static struct fab *generate(const char *kind, unsigned n)
{
	struct fab_gen g = {
		.kind = kind, .dims = {n}, .ndims = 1, .width = 4, .speed = FAB_QDR, .seed = 3};
	struct err e;
	struct fab *f = fab_generate(&g, &e);

	assert_non_null(f);
	return f;
}

static struct lab_config config(void)
{
	struct lab_config c;

	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("weft");
	c.sim.traps = true;
	c.threads = 1;
	return c;
}

static const struct lab_change_plan plan = {.limit = PS_PER_S * 10};

static lab_failures run(const struct fab *f, unsigned switches, unsigned links, unsigned jobs)
{
	struct lab_config lc = config();
	struct lab_failures_config c = {.fab = f,
					.lab = &lc,
					.plan = &plan,
					.switches = switches,
					.links = links,
					.jobs = jobs};
	lab_failures out = {0};
	struct err e;

	assert_int_equal(lab_failures_run(&c, &out, &e), 0);
	return out;
}

/* A ring of six switches with a host each: any link may fail, and a switch takes its host away. */
TEST(a_ring_survives_every_link)
{
	struct fab *f = generate("ring", 6);
	lab_failures all = run(f, UINT_MAX, UINT_MAX, 2);
	unsigned switches = 0, links = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct lab_failure *x = &all.at[i];
		bool is_switch = x->kind == LAB_FAILS_SWITCH;

		assert_true(x->ended && x->ok);
		assert_int_equal(x->pairs_before, 6 * 5);
		assert_int_equal(x->pairs_cut, is_switch ? 2 * 5 : 0);
		assert_true(x->smps > 0 && x->total >= x->detection);
		assert_int_equal(x->lids_moved, 0);
		switches += is_switch;
		links += !is_switch;
	}
	assert_int_equal(switches, 5); /* not the manager's own */
	assert_int_equal(links, 6);
	vec_free(&all);
	fab_free(f);
}

TEST(processes_do_not_matter)
{
	struct fab *f = generate("irregular", 12);
	lab_failures one = run(f, 4, 5, 1), three = run(f, 4, 5, 3);

	assert_int_equal(one.n, 9);
	assert_int_equal(three.n, 9);
	for (size_t i = 0; i < one.n; i++) {
		assert_int_equal(one.at[i].routes, three.at[i].routes);
		assert_int_equal(one.at[i].smps, three.at[i].smps);
		assert_int_equal(one.at[i].events, three.at[i].events);
		assert_int_equal(one.at[i].busiest_after, three.at[i].busiest_after);
	}
	vec_free(&one);
	vec_free(&three);
	fab_free(f);
}

static struct lab_routes_by engine_of(const struct fab *f, const char *routes)
{
	struct lab_routes_by by = {0};
	struct lab_config lc = config();
	struct lab_failures_config c = {.fab = f, .lab = &lc, .plan = &plan, .links = 1, .by = &by};
	lab_failures out = {0};
	struct err e;

	lc.sm.mechanism.routes = sm_supply_find(routes);
	assert_int_equal(lab_failures_run(&c, &out, &e), 0);
	vec_free(&out);
	return by;
}

/* The engine that serves, which need not be the one that was asked for. */
TEST(the_engine_is_named)
{
	struct fab *ring = generate("ring", 6), *other = generate("irregular", 12);
	struct lab_routes_by by = engine_of(ring, "updn");

	assert_string_equal(by.engine, "updn");
	assert_string_equal(by.why, "");
	by = engine_of(other, "auto");
	assert_string_not_equal(by.engine, "auto");
	assert_string_not_equal(by.why, "");
	by = engine_of(other, "torus");
	assert_string_equal(by.engine, "fera");
	assert_non_null(strstr(by.why, "not a mesh or torus"));
	fab_free(ring);
	fab_free(other);
}

TEST(one_switch_has_nothing_to_fail)
{
	struct fab *f = generate("fullmesh", 1);
	struct lab_config lc = config();
	struct lab_failures_config c = {
		.fab = f, .lab = &lc, .plan = &plan, .switches = UINT_MAX, .links = UINT_MAX};
	lab_failures out = {0};
	struct err e;

	assert_int_equal(lab_failures_run(&c, &out, &e), -EINVAL);
	assert_non_null(strstr(e.text, "nothing to fail"));
	vec_free(&out);
	fab_free(f);
}

/* The census counts what a scan host by host counts. */
TEST(census_and_scan_agree)
{
	struct fab *f = generate("irregular", 12);
	struct lab_config lc = config();
	struct lab_census c;
	struct lab_levels v;
	struct err e;
	struct lab *l = lab_new(f, &lc, &e);

	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, PS_PER_S * 10));
	lab_census(l, &c);
	lab_levels(l, &v);
	assert_int_equal(c.pairs, v.pairs);
	assert_int_equal(c.connected, v.connected);
	assert_int_equal(c.connected, c.pairs);
	assert_true(c.busiest > 0 && c.port != FAB_NONE);
	sim_node_power(lab_sim(l), f->switches[5], false);
	lab_census(l, &c);
	lab_levels(l, &v);
	assert_int_equal(c.pairs, v.pairs);
	assert_int_equal(c.connected, v.connected);
	lab_free(l);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_survives_every_link),
		cmocka_unit_test(processes_do_not_matter),
		cmocka_unit_test(the_engine_is_named),
		cmocka_unit_test(one_switch_has_nothing_to_fail),
		cmocka_unit_test(census_and_scan_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
