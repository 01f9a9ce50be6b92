/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager that starts on a fabric which was managed before (read_back): correct values stay, others are
 * corrected while traffic flows. State: struct mech_world, one for each test. Crashes at random moments
 * are in tests/scenario/test_restart_trials.c.
 */
#include "lab/forwarding_scan.h"
#include "mechanism_fixture.h"
#include "sim/traffic/sim_traffic.h"

/* ---- what the new one sends ---- */

struct tally {
	struct mech_world *w;
	unsigned gets, sets, table_gets;
	unsigned left_active; /* ports that went from Active to something else */
};

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct tally *t = ctx;

	(void)port;
	if (what == SIM_SEEN_PORT)
		t->left_active += detail == IBA_PORT_INIT;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(t->w->lab))
		return;
	t->gets += iba_smp_method(smp->mad) == IBA_GET;
	t->sets += iba_smp_method(smp->mad) == IBA_SET;
	t->table_gets +=
		iba_smp_method(smp->mad) == IBA_GET && iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
}

static void draw(struct mech_world *w, const char *mechanism)
{
	mech_draw(w, sm_mechanism_find(mechanism));
	w->cfg.sm.read_back = true;
}

/* The manager dies; a new one has its first round. */
static struct tally follow(struct mech_world *w, bool seeded)
{
	struct tally t = {.w = w};

	lab_manager_stop(w->lab, 0);
	sim_watch(lab_sim(w->lab), (struct sim_watch){on_seen, &t});
	lab_manager_start(w->lab, 0, seeded);
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + 60 * PS_PER_S));
	sim_watch(lab_sim(w->lab), (struct sim_watch){0});
	return t;
}

TEST(a_correct_subnet_gets_no_set)
{
	static const char *const names[] = {"basic", "weft"};

	for (unsigned i = 0; i < 4; i++) {
		struct mech_lids before, after;
		struct mech_world w;
		struct tally t;

		draw(&w, names[i / 2]);
		mech_up(&w);
		before = mech_lids(&w);
		t = follow(&w, i % 2);
		assert_int_equal(t.sets, 0);
		assert_int_equal(t.table_gets, SWITCHES); /* a block each */
		assert_int_equal(t.left_active, 0);
		after = mech_lids(&w);
		assert_memory_equal(&before, &after, sizeof(before));
		assert_int_equal(mech_settle(&w), 10);
		mech_close(&w);
	}
}

/* Without read_back everything is written again, as before. */
TEST(without_read_back_everything_is_written)
{
	struct mech_world w;
	struct tally t;

	mech_draw(&w, sm_mechanism_find("basic"));
	mech_up(&w);
	t = follow(&w, false);
	assert_true(t.sets > 30);
	assert_int_equal(t.table_gets, 0);
	assert_true(t.left_active > 0);
	mech_settle(&w);
	mech_close(&w);
}

/*
 * As the daemon runs it: links that the manager stops send traps, and what a full discovery then
 * finds as it was ends the round. The host with the last LID leaves: a top that is one too high serves.
 */
TEST(the_manager_comes_to_rest_after_the_last_lid_leaves)
{
	struct mech_lids l;
	struct mech_world w;

	draw(&w, "basic");
	w.cfg.sm.settle = true;
	w.cfg.sim.traps = w.cfg.sim.link_pairs = true;
	w.cfg.sim.training_ps = 0;
	mech_up(&w);
	l = mech_lids(&w);
	for (unsigned i = 0; i < SWITCHES; i++)
		assert_true(l.sw[i] < l.host[4] && (i == 4 || l.host[i] < l.host[4]));
	mech_cut(&w, 4, 3);
	assert_int_equal(mech_settle(&w), 9);
	assert_int_equal(mech_entered(&w, SM_DEACTIVATE), 1);
	mech_close(&w);
}

/* ---- under load ---- */

static void send_traffic(struct mech_world *w, time_ps how_long)
{
	struct traffic_config c = {.pattern = TRAFFIC_UNIFORM,
				   .arrivals = TRAFFIC_POISSON,
				   .payload = 256,
				   .sl_mask = 1,
				   .known_only = true,
				   .interval_ps = 5 * PS_PER_US,
				   .start_ps = sim_now(lab_sim(w->lab)),
				   .seed = 3};
	struct err e;

	c.stop_ps = c.start_ps + how_long;
	assert_int_equal(sim_traffic(lab_sim(w->lab), &c, &e), 0);
}

static uint64_t lost(const struct mech_world *w)
{
	const struct sim_plane_stats *st = sim_plane_stats(lab_sim(w->lab));
	uint64_t n = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		n += st->discarded[i];
	return n;
}

TEST(a_warm_start_loses_no_packet)
{
	for (unsigned seeded = 0; seeded < 2; seeded++) {
		struct mech_world w;
		struct tally t;

		draw(&w, "weft");
		w.cfg.sim.plane.on = true;
		mech_up(&w);
		send_traffic(&w, 30 * PS_PER_MS);
		mech_wait(&w, PS_PER_MS);
		t = follow(&w, seeded);
		assert_int_equal(t.sets, 0);
		mech_wait(&w, 31 * PS_PER_MS);
		assert_true(sim_plane_stats(lab_sim(w.lab))->delivered > 10000);
		assert_int_equal(lost(&w), 0);
		mech_close(&w);
	}
}

/* A link that comes up while no manager runs is used without a loss; one that goes costs no more
 * than what is sent that way until the new manager has seen it. */
TEST(a_change_while_no_manager_ran)
{
	struct mech_world w;
	struct tally t;

	draw(&w, "weft");
	w.cfg.sim.plane.on = true;
	mech_up(&w);
	mech_cut(&w, 1, 1);
	mech_settle(&w);
	send_traffic(&w, 60 * PS_PER_MS);
	mech_wait(&w, PS_PER_MS);
	lab_manager_stop(w.lab, 0);
	mech_join(&w, 1, 1);
	mech_wait(&w, PS_PER_MS);
	lab_manager_start(w.lab, 0, false);
	mech_settle(&w);
	assert_int_equal(lost(&w), 0);
	lab_manager_stop(w.lab, 0);
	mech_cut(&w, 3, 1);
	mech_wait(&w, PS_PER_MS);
	lab_manager_start(w.lab, 0, true);
	mech_settle(&w);
	assert_true(lost(&w) > 0);
	t = follow(&w, false); /* and the next manager finds nothing to correct */
	assert_int_equal(t.sets, 0);
	mech_close(&w);
}

/* ---- tables of another manager ---- */

static void set_by_hand(struct mech_world *w, uint16_t lid, uint16_t attr, uint32_t mod,
			const uint8_t *data)
{
	struct sim_smp s = {.slid = mech_lid(w, host_guid(0)), .dlid = lid};

	iba_smp_init(s.mad, IBA_CLASS_SUBN_LID, IBA_SET, attr, mod);
	memcpy(iba_smp_data(s.mad), data, IBA_SMP_DATA_SIZE);
	sim_send(lab_sim(w->lab), lab_sm_node(w->lab), 1, &s);
	mech_wait(w, PS_PER_MS);
}

/* All clockwise around the ring: every host is reached, and the tables allow a deadlock. */
static void route_in_a_ring(struct mech_world *w)
{
	static const unsigned far_first[] = {2, 1, 3, 0, 4};

	for (unsigned k = 0; k < SWITCHES; k++) {
		unsigned s = far_first[k];
		uint8_t data[IBA_LFT_BLOCK];

		memset(data, IBA_PORT_NONE, sizeof(data));
		for (unsigned d = 0; d < SWITCHES; d++) {
			uint8_t out = s == 4 ? 1 : s == 2 && d == 4 ? 4 : 1;

			data[mech_lid(w, host_guid(d))] = d == s ? 3 : out;
			data[mech_lid(w, sw_guid(d))] = d == s ? 0 : out;
		}
		set_by_hand(w, mech_lid(w, sw_guid(s)), IBA_ATTR_LFT, 0, data);
	}
}

TEST(tables_with_a_deadlock_are_replaced)
{
	struct lab_levels levels;
	struct mech_world w;
	unsigned turns = 0;

	draw(&w, "weft");
	mech_up(&w);
	lab_manager_stop(w.lab, 0);
	route_in_a_ring(&w);
	lab_levels(w.lab, &levels);
	assert_int_equal(levels.connected, levels.pairs);
	assert_true(levels.cyclic > 0);
	lab_manager_start(w.lab, 0, false);
	mech_settle(&w);
	for (size_t i = 0; i < w.notes.n; i++)
		if (w.notes.at[i].kind == SM_NOTE_PLAN)
			turns += w.notes.at[i].plan.turns;
	assert_true(turns > 0); /* the cycle was broken before anything changed */
	assert_int_equal(w.stops, 0);
	lab_levels(w.lab, &levels);
	assert_int_equal(levels.connected, levels.pairs);
	assert_int_equal(levels.cyclic, 0);
	mech_close(&w);
}

TEST(tables_without_a_route_are_replaced)
{
	uint8_t data[IBA_LFT_BLOCK];
	struct mech_world w;
	struct tally t;

	draw(&w, "weft");
	mech_up(&w);
	lab_manager_stop(w.lab, 0);
	memset(data, 200, sizeof(data));
	set_by_hand(&w, mech_lid(&w, sw_guid(2)), IBA_ATTR_LFT, 0, data);
	lab_manager_start(w.lab, 0, false);
	mech_settle(&w);
	assert_in_range(w.sets.n, 1, 2); /* that one switch alone */
	t = follow(&w, false);
	assert_int_equal(t.sets, 0);
	mech_close(&w);
}

/* ---- turns that the last one left off ---- */

TEST(disabled_turns_are_enabled_again)
{
	struct iba_slvl_table off;
	struct iba_port_info pi;
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct lab_levels levels;
	struct mech_world w;
	struct tally t;

	draw(&w, "weft");
	mech_up(&w);
	lab_manager_stop(w.lab, 0);
	/* As a manager does it: the mark first. */
	pi = *sim_port_info(lab_sim(w.lab), mech_port(&w, 1, 0));
	assert_int_equal(pi.subnet_timeout % 2, 0);
	pi.subnet_timeout++;
	pi.state = pi.phys_state = 0;
	iba_port_info_put(&pi, data);
	set_by_hand(&w, mech_lid(&w, sw_guid(1)), IBA_ATTR_PORT_INFO, 0, data);
	memset(off.vl, IBA_VL_SUBN, sizeof(off.vl));
	iba_slvl_table_put(&off, data);
	set_by_hand(&w, mech_lid(&w, sw_guid(1)), IBA_ATTR_SLVL_TABLE, 3 << 8 | 2, data);
	assert_true(sim_turn_off(lab_sim(w.lab), mech_node(&w, sw_guid(1)), 3, 2));
	lab_manager_start(w.lab, 0, false);
	mech_settle(&w);
	assert_false(sim_turn_off(lab_sim(w.lab), mech_node(&w, sw_guid(1)), 3, 2));
	assert_int_equal(sim_port_info(lab_sim(w.lab), mech_port(&w, 1, 0))->subnet_timeout % 2, 0);
	lab_levels(w.lab, &levels);
	assert_int_equal(levels.connected, levels.pairs);
	t = follow(&w, false);
	assert_int_equal(t.sets, 0);
	mech_close(&w);
}

/* ---- LIDs ---- */

/* A host without a LID is met long before one that has LID 1: it must not get that. */
TEST(an_apparently_free_lid_may_be_in_use)
{
	struct mech_lids before, after;
	struct mech_world w;

	draw(&w, "weft");
	mech_up(&w);
	before = mech_lids(&w);
	lab_manager_stop(w.lab, 0);
	mech_power(&w, host_guid(0), false); /* the manager's own, too */
	mech_power(&w, host_guid(1), false);
	mech_power(&w, host_guid(0), true);
	mech_power(&w, host_guid(1), true);
	lab_manager_start(w.lab, 0, false);
	mech_settle(&w);
	after = mech_lids(&w);
	for (unsigned i = 0; i < SWITCHES; i++) {
		assert_int_equal(before.sw[i], after.sw[i]);
		if (i > 1)
			assert_int_equal(before.host[i], after.host[i]);
	}
	mech_close(&w);
}

/*
 * distrust: another program wrote a LID, a table and a turn, without the mark. LIDs are as seeded, not as the
 * device has them, and all turns are looked at.
 */
TEST(values_that_another_program_wrote_are_corrected)
{
	struct mech_lids before, after;
	struct iba_slvl_table odd = {{0}};
	struct iba_port_info pi;
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct mech_world w;
	struct lab_levels levels;

	draw(&w, "weft");
	w.cfg.sm.distrust = true;
	mech_up(&w);
	before = mech_lids(&w);
	memset(odd.vl, 9, sizeof(odd.vl)); /* a VL that is not there */
	iba_slvl_table_put(&odd, data);
	set_by_hand(&w, before.sw[1], IBA_ATTR_SLVL_TABLE, 3 << 8 | 2, data);
	memset(data, 200, sizeof(data));
	set_by_hand(&w, before.sw[2], IBA_ATTR_LFT, 0, data);
	pi = *sim_port_info(lab_sim(w.lab), mech_port(&w, 1, 0));
	pi.state = pi.phys_state = 0;
	pi.lid = 77;
	iba_port_info_put(&pi, data);
	set_by_hand(&w, before.sw[1], IBA_ATTR_PORT_INFO, 0, data);
	follow(&w, true);
	mech_settle(&w);
	after = mech_lids(&w);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(sim_port_info(lab_sim(w.lab), mech_port(&w, 1, 0))->lid, before.sw[1]);
	lab_levels(w.lab, &levels);
	assert_int_equal(levels.connected, levels.pairs);
	mech_close(&w);
}

/*
 * distrust: a host that is discovered early is unknown to the manager and has the LID of a distant switch. It
 * may be that switch under a false name, so it does not get that LID, though its owner was not met yet.
 */
TEST(an_unknown_host_does_not_get_the_lid_of_a_switch)
{
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct mech_lids before, after;
	struct iba_port_info pi;
	struct mech_world w;

	draw(&w, "weft");
	w.cfg.sm.distrust = true;
	mech_up(&w);
	before = mech_lids(&w);
	lab_manager_stop(w.lab, 0);
	pi = *sim_port_info(lab_sim(w.lab), fab_port_id(w.fab, mech_node(&w, host_guid(1)), 1));
	pi.state = pi.phys_state = 0;
	pi.lid = before.sw[SWITCHES - 1];
	iba_port_info_put(&pi, data);
	set_by_hand(&w, before.host[1], IBA_ATTR_PORT_INFO, 1, data);
	lab_manager_start(w.lab, 0, false);
	sm_seed_lid((struct sm *)lab_sm(w.lab), sw_guid(SWITCHES - 1), before.sw[SWITCHES - 1], 0);
	mech_settle(&w);
	after = mech_lids(&w);
	assert_int_equal(after.sw[SWITCHES - 1], before.sw[SWITCHES - 1]);
	assert_int_not_equal(after.host[1], before.sw[SWITCHES - 1]);
	mech_close(&w);
}

/*
 * With an election the own LID is known late. What a manager remembers of LIDs, here from a time when another one
 * assigned others, does not count against those that devices have.
 */
TEST(lids_in_use_count_for_more_than_remembered_ones)
{
	struct mech_lids before, after;
	struct mech_world w;
	struct sm *sm;

	draw(&w, "weft");
	w.cfg.sm.contest = true;
	mech_up(&w);
	before = mech_lids(&w);
	lab_manager_stop(w.lab, 0);
	lab_manager_start(w.lab, 0, false);
	sm = (struct sm *)lab_sm(w.lab);
	for (unsigned i = 0; i < SWITCHES; i++) {
		sm_seed_lid(sm, sw_guid(i), before.host[(i + 1) % SWITCHES], 0);
		sm_seed_lid(sm, host_guid(i), before.sw[(i + 1) % SWITCHES], 0);
	}
	mech_settle(&w);
	after = mech_lids(&w);
	assert_memory_equal(&before, &after, sizeof(before));
	mech_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_correct_subnet_gets_no_set),
		cmocka_unit_test(without_read_back_everything_is_written),
		cmocka_unit_test(the_manager_comes_to_rest_after_the_last_lid_leaves),
		cmocka_unit_test(a_warm_start_loses_no_packet),
		cmocka_unit_test(a_change_while_no_manager_ran),
		cmocka_unit_test(tables_with_a_deadlock_are_replaced),
		cmocka_unit_test(tables_without_a_route_are_replaced),
		cmocka_unit_test(disabled_turns_are_enabled_again),
		cmocka_unit_test(an_apparently_free_lid_may_be_in_use),
		cmocka_unit_test(values_that_another_program_wrote_are_corrected),
		cmocka_unit_test(an_unknown_host_does_not_get_the_lid_of_a_switch),
		cmocka_unit_test(lids_in_use_count_for_more_than_remembered_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
