/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's clock moved back, and a new configuration while it runs. State: struct rig, one for each
 * test. Does not use the simulator.
 * Covers: manager.c, deferred_free.c, status.c
 */
#include "sm_fixture.h"

/* ---- the clock ---- */

/* What goes wrong on the way, and links that come and go. */
static bool unreliable(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)dev;
	(void)s;
	(void)resp;
	return rng_below(&g->rng, 15) != 0;
}

static uint64_t one_life(const char *mechanism, uint64_t seed)
{
	uint64_t sweeps;
	struct rig g;

	draw_star(&g);
	g.cfg.mechanism = *sm_mechanism_find(mechanism);
	g.cfg.sweep_factor = 3;
	g.cfg.flaps = 2;
	g.cfg.hold_ps = 40 * PS_PER_MS;
	g.cfg.port = 1;
	g.now = 1000 * PS_PER_S; /* there has to be something to take away */
	rng_seed(&g.rng, seed, 3);
	g.twin = sm_new(&g.cfg);
	g.twist = unreliable;
	rig_start(&g);
	for (unsigned i = 0; i < 3000 && one_event(&g); i++) {
		if (rng_below(&g.rng, 100) == 0)
			set_gone(&g, 2 + rng_below(&g.rng, g.n - 2), rng_below(&g.rng, 2));
		if (rng_below(&g.rng, 50) == 0) {
			time_ps by = rng_u64(&g.rng) % PS_PER_S;

			sm_time_back(g.twin, by);
			g.twin_back += by;
		}
	}
	assert_true(g.twin_back > PS_PER_S);
	sweeps = status(&g).sweeps;
	rig_close(&g);
	return sweeps;
}

TEST(moving_the_clock_back_changes_nothing)
{
	uint64_t sweeps = 0;

	for (uint64_t seed = 1; seed <= 20; seed++)
		sweeps += one_life(seed % 2 ? "weft" : "basic", seed);
	assert_true(sweeps > 50);
}

TEST(unset_times_stay_unset_when_the_clock_moves)
{
	struct sm_status st;
	struct rig g;

	draw_pair(&g);
	g.cfg.sweep_factor = 0; /* no sweeps: nothing is due, ever */
	g.now = 50 * PS_PER_S;
	rig_start(&g);
	run_ready(&g);
	sm_time_back(g.sm, 49 * PS_PER_S);
	st = status(&g);
	assert_int_equal(st.last_sweep_start, 0);
	assert_int_equal(st.last.in_place[SM_PROVISIONAL], 0);
	assert_true(st.last.end > PS_PER_S && st.last.end < 2 * PS_PER_S);
	g.now -= 49 * PS_PER_S;
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_true(g.wake == TIME_NEVER);
	/* Longer ago than the clock goes back: it was, though. */
	sm_time_back(g.sm, 1000 * PS_PER_S);
	assert_int_not_equal(status(&g).last.end, 0);
	rig_close(&g);
}

/* ---- another configuration ---- */

TEST(a_new_sweep_period_applies_at_once)
{
	struct sm_config c;
	struct rig g;

	draw_pair(&g);
	g.cfg.sweep_factor = 0;
	g.cfg.sweep_period_ps = 100 * PS_PER_S;
	rig_start(&g);
	run_ready(&g);
	assert_int_equal(g.wake, status(&g).last.end + 100 * PS_PER_S);
	c = g.cfg;
	c.sweep_period_ps = PS_PER_S;
	sm_reconfigure(g.sm, &c);
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_int_equal(g.wake, g.now + PS_PER_S);
	rig_close(&g);
}

TEST(a_round_keeps_its_configuration)
{
	struct sm_config c;
	struct rig g;

	draw_pair(&g);
	rig_start(&g);
	run_phase(&g, SM_TABLES);
	c = g.cfg;
	c.mechanism = *sm_mechanism_find("weft");
	c.window = 1;
	c.port = 7;
	c.lmc = 3;
	sm_reconfigure(g.sm, &c);
	assert_string_equal(g.sm->cfg.mechanism.name, "basic");
	run_ready(&g);
	assert_string_equal(g.sm->cfg.mechanism.name, "weft");
	assert_int_equal(g.sm->cfg.window, g.cfg.window);
	assert_int_equal(g.sm->cfg.port, 1);
	assert_int_equal(g.sm->cfg.lmc, 0);
	set_gone(&g, 3, true);
	step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

TEST(disabling_damping_releases_held_links)
{
	struct sm_config c;
	struct rig g;

	draw_pair(&g);
	g.cfg.mechanism = *sm_mechanism_find("weft");
	g.cfg.flaps = 2;
	g.cfg.hold_ps = 1000 * PS_PER_S;
	rig_start(&g);
	run_ready(&g);
	for (unsigned i = 0; i < 6; i++) {
		set_gone(&g, 3, i % 2 == 0);
		step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
		run_ready(&g);
	}
	assert_int_equal(status(&g).held, 1);
	c = g.cfg;
	c.flaps = 0;
	sm_reconfigure(g.sm, &c);
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	run_ready(&g);
	assert_int_equal(status(&g).held, 0);
	expect_up(&g);
	rig_close(&g);
}

/* ---- a worker computes ---- */

TEST(memory_of_a_running_computation_is_kept)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct rig g;
		time_ps since;

		draw_star(&g);
		g.cfg.mechanism = *sm_mechanism_find("weft");
		g.cfg.sweep_factor = 2;
		g.slow = true;
		rng_seed(&g.rng, seed, 4);
		rig_start(&g);
		for (unsigned i = 0; i < 3000 && one_event(&g); i++)
			if (rng_below(&g.rng, 60) == 0)
				set_gone(&g, 2 + rng_below(&g.rng, g.n - 2), rng_below(&g.rng, 2));
		for (unsigned d = 2; d < g.n; d++)
			if (g.dev[d].gone)
				set_gone(&g, d, false);
		since = g.now;
		while (status(&g).last_sweep_start <= since || status(&g).phase != SM_READY)
			assert_true(one_event(&g));
		expect_up(&g);
		/* Nothing is kept for requests that are over. */
		while (g.busy.epoch)
			worker_done(&g);
		assert_int_equal(g.sm->routes.retired.n, 0);
		rig_close(&g);
	}
}

/* What waits for a subnet at rest must see it between two sweeps. */
TEST(the_manager_rests_between_sweeps_without_a_pause)
{
	static const char *const mechanisms[] = {"basic", "improved", "weft"};

	for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
		uint64_t sweeps, rests = 0;
		struct rig g;

		draw_star(&g);
		g.cfg.mechanism = *sm_mechanism_find(mechanisms[i]);
		g.cfg.sweep_factor = 1;
		rig_start(&g);
		run_ready(&g);
		for (sweeps = status(&g).sweeps; status(&g).sweeps < sweeps + 10;) {
			assert_true(one_event(&g));
			rests += status(&g).phase == SM_READY;
		}
		assert_in_range(rests, 10, UINT64_MAX);
		rig_close(&g);
	}
}

/* ---- rounds that are not needed ---- */

/* h0 - sw1, a triangle of sw1, sw2 and sw3, and sw2 - h4. */
static void draw_triangle(struct rig *g)
{
	rig_open(g);
	add_dev(g, IBA_NODE_CA, 1);
	for (unsigned i = 1; i <= 3; i++)
		add_dev(g, IBA_NODE_SWITCH, 4);
	join(g, 0, 1, 1, 1);
	join(g, 1, 2, 2, 2);
	join(g, 2, 3, 3, 3);
	join(g, 3, 4, 1, 4);
	join(g, 2, 4, add_dev(g, IBA_NODE_CA, 1), 1);
	g->cfg.sweep_factor = 0;
}

static void trap_of(struct rig *g, unsigned dev, uint64_t tid)
{
	uint8_t trap[IBA_MAD_SIZE];

	make_trap(trap, IBA_TRAP_LINK_STATE, tid);
	give_smp(g, trap, lid_of(g, dev));
}

/* Both neighbours of a switch that fails send traps; the second one comes while the first is followed, or later. */
TEST(two_traps_of_one_failure_stop_traffic_once)
{
	for (unsigned reassign = 0; reassign < 2; reassign++) {
		struct rig g;
		uint64_t rounds;

		draw_triangle(&g);
		g.cfg.reassign = reassign;
		rig_start(&g);
		run_ready(&g);
		rounds = status(&g).rounds;
		set_gone(&g, 3, true);
		trap_of(&g, 1, 1);
		run_phase(&g, SM_COMPUTE);
		trap_of(&g, 2, 2);
		run_ready(&g);
		assert_int_equal(status(&g).rounds, rounds + 1);
		expect_up(&g);
		set_gone(&g, 3, false); /* and one that is about another change */
		trap_of(&g, 1, 3);
		run_phase(&g, SM_COMPUTE);
		set_gone(&g, 3, true);
		trap_of(&g, 2, 4);
		run_ready(&g);
		assert_int_equal(status(&g).nodes, 4);
		rig_close(&g);
	}
}

static unsigned tables_written(const struct rig *g)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->notes.n; i++)
		n += g->notes.at[i].kind == SM_NOTE_PHASE && g->notes.at[i].phase.to == SM_TABLES;
	return n;
}

/* A switch whose LID is assigned again did not restart: its table is known, and provisional routes come first. */
TEST(provisional_routes_precede_when_lids_are_assigned_again)
{
	struct rig g;
	unsigned before;

	draw_triangle(&g);
	g.cfg.mechanism = *sm_mechanism_find("improved");
	g.cfg.mechanism.discovery = sm_mechanism_find("basic")->discovery;
	g.cfg.reassign = true;
	rig_start(&g);
	run_ready(&g);
	before = tables_written(&g);
	set_gone(&g, 3, true);
	trap_of(&g, 1, 1);
	run_ready(&g);
	assert_int_equal(tables_written(&g), before + 2);
	rig_close(&g);
}

static bool lose_one_set(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)resp;
	if (dev != 4 || iba_smp_method(s->mad) != IBA_SET ||
	    iba_smp_attr_id(s->mad) != IBA_ATTR_PORT_INFO)
		return true;
	g->twist = NULL;
	return false;
}

/* No routes are accepted, and a Set was repeated: the ports that it was for are not Active, which no audit mends. */
TEST(refused_routes_are_retried_less_and_less_often)
{
	struct rig g;
	size_t sent;

	draw_triangle(&g);
	g.unverified = true;
	g.twist = lose_one_set;
	rig_start(&g);
	while (!count_notes(&g, SM_NOTE_REFUSED))
		assert_true(one_event(&g));
	sent = g.log.n;
	for (time_ps until = g.now + 20 * PS_PER_S; g.now < until;)
		assert_true(one_event(&g));
	assert_in_range(count_notes(&g, SM_NOTE_REFUSED), 3, 12);
	assert_in_range(g.log.n - sent, 1, 2000);
	g.unverified = false;
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moving_the_clock_back_changes_nothing),
		cmocka_unit_test(unset_times_stay_unset_when_the_clock_moves),
		cmocka_unit_test(a_new_sweep_period_applies_at_once),
		cmocka_unit_test(the_manager_rests_between_sweeps_without_a_pause),
		cmocka_unit_test(two_traps_of_one_failure_stop_traffic_once),
		cmocka_unit_test(provisional_routes_precede_when_lids_are_assigned_again),
		cmocka_unit_test(refused_routes_are_retried_less_and_less_often),
		cmocka_unit_test(a_round_keeps_its_configuration),
		cmocka_unit_test(disabling_damping_releases_held_links),
		cmocka_unit_test(memory_of_a_running_computation_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
