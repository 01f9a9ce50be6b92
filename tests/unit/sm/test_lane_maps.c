/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes with several lanes in the manager: a torus in the laboratory, its SL-to-VL tables read from the devices.
 * State: one lab for each test.
 * Covers: lane_maps.c, known_maps.c, service_levels.c, lane_worker.c, host_sls.c, lane_scan.c, lane_verdict.c
 */
#include "plane_fixture.h"

#include "lab/host_sls.h"
#include "lab/verdict_priv.h"
#include "lab/watch.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"
#include "trial/change_trial.h"

struct bench {
	struct fab *f;
	struct lab *l;
	unsigned lanes, others; /* notes */
	unsigned turns;		/* of the last plan */
	char why[SM_WHY];
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct bench *b = ctx;

	b->lanes += n->kind == SM_NOTE_LANES;
	if (n->kind == SM_NOTE_PLAN)
		b->turns = n->plan.turns;
	if (n->kind == SM_NOTE_OTHER_ENGINE) {
		b->others++;
		snprintf(b->why, sizeof(b->why), "%s", n->engine.why);
	}
}

static void up_wide(struct bench *b, const char *mechanism, const char *engine, unsigned vl_cap,
		    unsigned side)
{
	struct fab_gen g = {.kind = "torus", .dims = {side, side}, .ndims = 2, .hosts = 1};
	struct lab_config c;
	struct err e;

	memset(b, 0, sizeof(*b));
	b->f = fab_generate(&g, &e);
	assert_non_null(b->f);
	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find(mechanism);
	c.sm.mechanism.routes = sm_supply_find(engine);
	assert_int_equal(sm_mechanism_check(&c.sm.mechanism, &e), 0);
	c.sim.traps = true;
	c.sim.plane.on = true;
	c.sim.vl_cap = (uint8_t)vl_cap;
	c.threads = 1;
	b->l = lab_new(b->f, &c, &e);
	lab_on_note(b->l, on_note, b);
	lab_power_on(b->l, NULL);
	assert_true(lab_run_ready(b->l, 100 * PS_PER_S));
}

static void up(struct bench *b, const char *mechanism, const char *engine, unsigned vl_cap)
{
	up_wide(b, mechanism, engine, vl_cap, 4);
}

static void down(struct bench *b)
{
	lab_free(b->l);
	fab_free(b->f);
}

/* Pairs of linked switch ports whose table in the device is not that of the manager's tables. */
static unsigned wrong_maps(const struct bench *b)
{
	const struct fab *f = sm_fabric(lab_sm(b->l));
	const struct rt_tables *t = sm_tables(lab_sm(b->l));
	unsigned wrong = 0;

	for (port_id p = 0; p < f->nports; p++)
		for (unsigned in = 0; in <= f->nodes[f->ports[p].node].nports; in++) {
			node_id n = f->ports[p].node;
			port_id q = f->ports[p].peer;

			if (q == FAB_NONE || !fab_is_switch(f, n) ||
			    !fab_is_switch(f, f->ports[q].node) ||
			    (in && f->ports[fab_port_id(f, n, in)].peer == FAB_NONE))
				continue;
			for (unsigned sl = 0; sl < RT_SLS; sl++)
				wrong += sim_slvl(lab_sim(b->l),
						  fab_node_by_guid(b->f, f->nodes[n].guid), in,
						  f->ports[p].num, sl) !=
					 rt_vl(t, f->switch_index[n], in, f->ports[p].num, sl);
		}
	return wrong;
}

static void assert_right(struct bench *b)
{
	struct lab_verdict v;

	lab_judge(b->l, &v);
	assert_true(v.active && v.verified && v.complete);
	rt_report_free(&v.report);
	assert_non_null(sm_tables(lab_sm(b->l))->lanes);
	assert_int_equal(wrong_maps(b), 0);
}

TEST(devices_hold_the_maps_of_the_engine)
{
	static const char *const mechanisms[] = {"weft", "basic"}, *const engines[] = {"balanced",
										       "nue"};
	struct bench b;

	for (unsigned i = 0; i < 4; i++) {
		up(&b, mechanisms[i / 2], engines[i % 2], 3);
		assert_right(&b);
		assert_int_equal(b.lanes, 1);
		assert_int_equal(b.others, 0);
		down(&b);
	}
}

/* One map and one SL that devices do not have are named. */
TEST(the_verdict_compares_lanes)
{
	char why[LAB_WHY] = "";
	const struct fab *f;
	struct rt_tables *t;
	struct bench b;

	up(&b, "weft", "balanced", 3);
	f = sm_fabric(lab_sm(b.l));
	t = rt_tables_carry(f, sm_tables(lab_sm(b.l)), f);
	assert_true(lab_lanes_same(b.l, f, t, why));
	rt_sl2vl_use(t, 5, RT_ANY_PORT, 2, rt_sl2vl_map(t, &(struct rt_sl2vl){{3, 3, 3}}));
	assert_false(lab_lanes_same(b.l, f, t, why));
	assert_non_null(strstr(why, "the manager believes VL 3"));
	rt_tables_free(t);
	t = rt_tables_carry(f, sm_tables(lab_sm(b.l)), f);
	why[0] = '\0';
	for (uint32_t row = 0; row < t->lanes->nrows; row++)
		rt_sl_row(t, row)[3] ^= 1;
	assert_false(lab_lanes_same(b.l, f, t, why));
	assert_non_null(strstr(why, "to LID 3: the manager believes SL"));
	rt_tables_free(t);
	down(&b);
}

/* SLs that hosts have are those of the tables in force. */
TEST(hosts_learn_service_levels)
{
	const struct rt_tables *t;
	const struct fab *f;
	struct bench b;
	unsigned used = 0;

	up(&b, "weft", "balanced", 3);
	f = sm_fabric(lab_sm(b.l));
	t = sm_tables(lab_sm(b.l));
	for (port_id p = 0; p < f->nports; p++) {
		port_id q = f->ports[p].peer;

		if (fab_is_switch(f, f->ports[p].node) || q == FAB_NONE)
			continue;
		for (uint16_t lid = 1; lid <= t->top_lid; lid++) {
			node_id n = fab_node_by_guid(b.f, f->nodes[f->ports[p].node].guid);
			unsigned sl =
				rt_sl(t, f->switch_index[f->ports[q].node], f->ports[q].num, lid);

			assert_int_equal(
				lab_host_sl(b.l, fab_port_id(b.f, n, f->ports[p].num), lid), sl);
			used |= 1u << sl;
		}
	}
	assert_true(used > 1);
	down(&b);
}

/* Under load, on tables that would deadlock on one lane, a switch restarts and gets its maps again. */
TEST(a_switch_that_restarts_gets_its_maps_again)
{
	struct traffic_config t = {.pattern = TRAFFIC_UNIFORM,
				   .payload = 256,
				   .interval_ps = 2 * PS_PER_US,
				   .sl_mask = 0xffff,
				   .seed = 5};
	struct lab_watch w;
	struct bench b;
	struct err e;

	up(&b, "weft", "balanced", 3);
	t.start_ps = sim_now(lab_sim(b.l));
	t.stop_ps = t.start_ps + 20 * PS_PER_MS;
	lab_watch_start(&w, b.l);
	assert_int_equal(w.now.connectivity, 1000000);
	assert_int_equal(w.now.cyclic, 0);
	assert_int_equal(sim_traffic(lab_sim(b.l), &t, &e), 0);
	sim_node_power(lab_sim(b.l), b.f->switches[9], false);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_right(&b);
	sim_node_power(lab_sim(b.l), b.f->switches[9], true);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_right(&b);
	lab_watch_stop(&w);
	assert_int_equal(w.unsafe_at, TIME_NEVER);
	assert_int_equal(w.locked_at, TIME_NEVER);
	assert_int_equal(w.now.connectivity, 1000000);
	down(&b);
	lab_watch_free(&w);
}

/* SLs of a host whose map is not that of the routes. */
static unsigned wrong_sls(const struct bench *b, node_id host)
{
	const struct rt_tables *t = sm_tables(lab_sm(b->l));
	unsigned wrong = 0;

	for (unsigned sl = 0; sl < RT_SLS; sl++)
		wrong += sim_slvl(lab_sim(b->l), host, 0, 1, sl) != sl % t->lanes->nvls;
	return wrong;
}

/* A host forgets its map when it restarts, whether the manager learns of it at once or not. */
TEST(a_host_that_restarts_gets_its_map_again)
{
	struct bench b;
	node_id host;

	up(&b, "weft", "balanced", 3);
	host = b.f->nnodes - 1; /* the manager is at the first one */
	while (fab_is_switch(b.f, host))
		host--;
	assert_int_equal(wrong_sls(&b, host), 0);
	sim_node_power(lab_sim(b.l), host, false);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	sim_node_power(lab_sim(b.l), host, true);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_int_equal(wrong_sls(&b, host), 0);
	sim_node_power(lab_sim(b.l), host, false);
	sim_node_power(lab_sim(b.l), host, true);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_int_equal(wrong_sls(&b, host), 0);
	down(&b);
}

/* Dimension order on both sides of the failure needs a few turns to be disabled, not those of an up/down graph. */
TEST(a_dead_switch_costs_few_turns)
{
	struct lab_watch w;
	struct bench b;

	up_wide(&b, "weft", "torus", 2, 6);
	lab_watch_start(&w, b.l);
	sim_node_power(lab_sim(b.l), b.f->switches[14], false);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_right(&b);
	lab_watch_stop(&w);
	assert_in_range(b.turns, 1, 10);
	assert_true(w.connectivity_min >= 900000);
	assert_int_equal(w.unsafe_at, TIME_NEVER);
	down(&b);
	lab_watch_free(&w);
}

/* With one VL the engine fails, and FERa serves; the note says why. */
TEST(too_few_lanes_are_named)
{
	struct lab_verdict v;
	struct bench b;

	up(&b, "weft", "torus", 1);
	lab_judge(b.l, &v);
	assert_true(v.active && v.verified);
	rt_report_free(&v.report);
	if (b.others)
		assert_true(b.why[0]);
	assert_null(sm_tables(lab_sm(b.l))->lanes);
	down(&b);
}

TEST(techniques_that_need_directions_are_refused)
{
	struct sm_mechanism m = *sm_mechanism_find("improved");
	struct err e;

	m.routes = sm_supply_find("balanced");
	assert_int_equal(sm_mechanism_check(&m, &e), -EINVAL);
	assert_non_null(strstr(e.text, "plan"));
	m = *sm_mechanism_find("weft");
	m.provisional = sm_supply_find("balanced");
	assert_int_equal(sm_mechanism_check(&m, &e), -EINVAL);
}

/* Engines drawn at random, under changes: no cycle of (link, VL) channels at any moment. */
TEST(changes_with_any_engine)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct trial_engine g;
		struct change_trial t;

		trial_draw_engine(seed, &g);
		change_trial_run(seed, 12, &g.mechanism, &t);
		if (!t.ok)
			fail_msg("seed %llu, %s: %s", (unsigned long long)seed, g.name, t.why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_hold_the_maps_of_the_engine),
		cmocka_unit_test(the_verdict_compares_lanes),
		cmocka_unit_test(hosts_learn_service_levels),
		cmocka_unit_test(a_switch_that_restarts_gets_its_maps_again),
		cmocka_unit_test(a_host_that_restarts_gets_its_map_again),
		cmocka_unit_test(a_dead_switch_costs_few_turns),
		cmocka_unit_test(too_few_lanes_are_named),
		cmocka_unit_test(techniques_that_need_directions_are_refused),
		cmocka_unit_test(changes_with_any_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
