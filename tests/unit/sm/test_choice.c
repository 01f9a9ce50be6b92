/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager chooses the engine of its routes: when it does, what it says, and when the choice stays. State: one lab for
 * each test.
 * Covers: choice.c, choice_worker.c, advice.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/manager.h"

struct story {
	struct fab *fab;
	struct lab *lab;
	unsigned chosen, refused, worse; /* notes */
	char engine[16], why[SM_WHY];
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;

	s->refused += n->kind == SM_NOTE_REFUSED || n->kind == SM_NOTE_OTHER_ENGINE;
	s->worse += n->kind == SM_NOTE_WORSE;
	if (n->kind != SM_NOTE_ENGINE)
		return;
	s->chosen++;
	snprintf(s->engine, sizeof(s->engine), "%s", n->engine.name);
	snprintf(s->why, sizeof(s->why), "%s", n->engine.why);
}

static void settle(struct story *s)
{
	time_ps now = sim_now(lab_sim(s->lab));
	struct lab_verdict v;

	assert_true(lab_run_settled(s->lab, now, now + 60 * PS_PER_S));
	lab_judge(s->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
	assert_int_equal(s->refused, 0);
}

/* on: nodes with power at first; NULL: all. */
static void begin(struct story *s, struct fab_gen g, unsigned lanes, const bool *on)
{
	struct lab_config c;
	struct err e;

	*s = (struct story){.fab = fab_generate(&g, &e)};
	lab_config_default(&c);
	c.threads = 1;
	c.sm.mechanism.routes = sm_supply_find("auto");
	c.sm.auto_lanes = lanes;
	s->lab = lab_new(s->fab, &c, &e);
	lab_on_note(s->lab, on_note, s);
	lab_power_on(s->lab, on);
	settle(s);
}

static void end(struct story *s)
{
	lab_free(s->lab);
	fab_free(s->fab);
}

static const char *engine_now(const struct story *s)
{
	const char *why;
	const struct rt_engine *g = sm_engine(lab_sm(s->lab), &why);

	assert_string_equal(why, s->why);
	return g->name;
}

static port_id trunk(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[f->ports[p].peer].node))
			return p;
	return FAB_NONE;
}

static const struct fab_gen tree = {.kind = "mtree", .dims = {4, 3}, .ndims = 2};
static const struct fab_gen irregular = {
	.kind = "irregular", .dims = {16}, .ndims = 1, .ports = 8, .seed = 3};

/* One dead link among 32 makes no other fabric of it: the engine stays, whatever another one would give meanwhile. */
TEST(a_failure_and_its_end_change_no_engine)
{
	const struct fab_gen *fabrics[] = {&tree, &irregular};

	for (unsigned i = 0; i < 2; i++) {
		struct story s;
		port_id p, q;

		begin(&s, *fabrics[i], 1, NULL);
		assert_int_equal(s.chosen, 1);
		assert_string_equal(engine_now(&s), s.engine);
		if (!i)
			assert_string_equal(s.engine, "tree");
		p = trunk(s.fab);
		q = s.fab->ports[p].peer;
		sim_uncable(lab_sim(s.lab), p);
		settle(&s);
		sim_cable(lab_sim(s.lab), p, q);
		settle(&s);
		assert_int_equal(s.chosen, 1);
		end(&s);
	}
}

/* At first one leaf with its hosts and a switch above it have power, then all. */
TEST(a_subnet_that_grows_gets_another_engine)
{
	struct fab_gen g = irregular;
	struct story s;
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	bool *on = mem_zarray(f->nnodes, sizeof(*on));
	node_id first = FAB_NONE;

	for (node_id n = 0; n < f->nnodes; n++) {
		port_id peer = f->ports[fab_port_id(f, n, 1)].peer;

		if (fab_is_switch(f, n) || peer == FAB_NONE)
			continue;
		first = first == FAB_NONE ? f->ports[peer].node : first;
		on[n] = f->ports[peer].node == first;
	}
	on[first] = true;
	begin(&s, g, 1, on);
	assert_string_equal(s.engine, "tree");
	for (node_id n = 0; n < f->nnodes; n++)
		if (!on[n])
			sim_node_power(lab_sim(s.lab), n, true);
	settle(&s);
	assert_string_not_equal(s.engine, "tree");
	assert_string_equal(engine_now(&s), s.engine);
	assert_true(s.chosen <= 3);
	free(on);
	fab_free(f);
	end(&s);
}

/* Hosts learn no service levels without an SA: more than one lane only where that is allowed. */
TEST(lanes_are_used_where_they_are_allowed)
{
	struct fab_gen g = {.kind = "torus", .dims = {5, 5}, .ndims = 2, .hosts = 1};
	struct story s;
	unsigned most;

	begin(&s, g, 1, NULL);
	assert_int_equal(sm_lanes(lab_sm(s.lab), &most), 1);
	end(&s);
	begin(&s, g, 0, NULL);
	assert_true(sm_lanes(lab_sm(s.lab), &most) > 1);
	assert_non_null(strstr(s.why, "lanes"));
	end(&s);
}

/* The worker's answer where the engine that was chosen does not serve any more. */
TEST(another_engine_serves_where_the_chosen_one_cannot)
{
	struct fab_gen g = {.kind = "torus", .dims = {5, 5}, .ndims = 2, .hosts = 1};
	struct err e;
	struct fab *f = fab_generate(&g, &e), *with = fab_assign_lids(f, 0, &e);
	struct sm_compute c = {.epoch = 1,
			       .fab = with,
			       .root = with->switches[0],
			       .stage = SM_FINAL,
			       .supply = sm_supply_find("tree"),
			       .engine = &rt_tree,
			       .lanes = 1,
			       .choose = true};
	struct sm_work_done done;
	struct sm_routes r;

	sm_compute_run(&c, 1, &r, &done);
	assert_true(r.verified && r.tables && !r.instead);
	assert_non_null(r.engine);
	assert_ptr_not_equal(r.engine, &rt_tree);
	assert_true(r.tried_ps > 0);
	sm_routes_free(&r);
	c.choose = false; /* the engine was named: FERa, with the reason */
	sm_compute_run(&c, 1, &r, &done);
	assert_true(r.verified && r.tables && r.instead && !r.engine);
	assert_non_null(strstr(r.why, "not a tree"));
	sm_routes_free(&r);
	fab_free(f);
	fab_free(with);
}

/* Roots that were named, or an engine: once, with both figures, and only where they are clearly worse. */
TEST(a_named_engine_that_is_clearly_worse_is_reported_once)
{
	struct fab_gen torus = {.kind = "torus", .dims = {6, 6}, .ndims = 2, .hosts = 1};

	for (unsigned i = 0; i < 2; i++) {
		struct fab_gen g = i ? tree : torus;
		struct lab_config c;
		struct story s;
		struct err e;
		port_id p;

		s = (struct story){.fab = fab_generate(&g, &e)};
		lab_config_default(&c);
		c.threads = 1;
		c.sm.advise = true;
		c.sm.mechanism.routes = sm_supply_find("fera");
		s.lab = lab_new(s.fab, &c, &e);
		lab_on_note(s.lab, on_note, &s);
		lab_power_on(s.lab, NULL);
		settle(&s);
		lab_run_until(s.lab, sim_now(lab_sim(s.lab)) + PS_PER_S);
		assert_int_equal(s.worse, !i);
		assert_int_equal(strstr(sm_advice(lab_sm(s.lab)), "bisections 0.") != NULL, !i);
		p = trunk(s.fab);
		sim_uncable(lab_sim(s.lab), p);
		settle(&s);
		assert_int_equal(s.worse, !i);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_and_its_end_change_no_engine),
		cmocka_unit_test(a_subnet_that_grows_gets_another_engine),
		cmocka_unit_test(lanes_are_used_where_they_are_allowed),
		cmocka_unit_test(a_named_engine_that_is_clearly_worse_is_reported_once),
		cmocka_unit_test(another_engine_serves_where_the_chosen_one_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
