/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two masters, hand-overs in both directions, and a master that did not run for a while. One manager against a
 * scripted other. No state between tests.
 * Covers: handover.c, polling.c, other_managers.c
 */
#include "sm_fixture.h"

enum { OTHER = 3 };

static void draw(struct rig *g)
{
	draw_pair(g);
	g->cfg.mechanism = *sm_mechanism_find("weft");
	g->cfg.contest = g->cfg.read_back = g->cfg.plain = true;
	g->cfg.priority = 5;
	g->cfg.sweep_factor = 0;
	g->cfg.sweep_period_ps = PS_PER_S;
	g->dev[OTHER].sm =
		(struct iba_sm_info){.guid = g->dev[OTHER].guid + 1, .state = IBA_SM_STANDBY};
	g->dev[OTHER].pi[1].cap_mask = IBA_CAP_IS_SM;
}

static void open_master(struct rig *g)
{
	draw(g);
	rig_start(g);
	run_ready(g);
	assert_int_equal(status(g).state, IBA_SM_MASTER);
	g->log.n = 0;
}

static void run_for(struct rig *g, time_ps t)
{
	for (time_ps end = g->now + t; g->now < end;)
		assert_true(one_event(g));
}

static void run_until_phase(struct rig *g, enum sm_phase p, time_ps limit)
{
	for (time_ps end = g->now + limit; status(g).phase != p; assert_true(g->now < end))
		assert_true(one_event(g));
}

static unsigned sets(const struct rig *g)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->log.n; i++)
		n += iba_smp_method(g->log.at[i].send.mad) == IBA_SET &&
		     iba_smp_attr_id(g->log.at[i].send.mad) != IBA_ATTR_SM_INFO;
	return n;
}

static unsigned reads(const struct rig *g)
{
	return count_sends(g, IBA_GET, IBA_ATTR_LFT);
}

/* ---- another master ---- */

/* It is seen in the next sweep, though no port reports a change. */
TEST(a_master_above_gets_the_subnet_within_one_sweep)
{
	struct rig g;

	open_master(&g);
	g.dev[OTHER].sm.state = IBA_SM_MASTER;
	g.dev[OTHER].sm.priority = 9;
	run_until_phase(&g, SM_STANDBY, 2 * PS_PER_S);
	assert_int_equal(g.dev[OTHER].order, IBA_SM_HANDOVER);
	assert_int_equal(sets(&g), 0);
	assert_int_equal(count_notes(&g, SM_NOTE_HANDING_OVER), 1);
	assert_int_equal(sm_master_guid(g.sm), g.dev[OTHER].sm.guid);
	rig_close(&g);
}

TEST(a_master_below_is_waited_for_and_its_work_read_back)
{
	struct rig g;
	uint16_t lid;

	open_master(&g);
	lid = lid_of(&g, OTHER);
	g.dev[OTHER].sm.state = IBA_SM_MASTER;
	run_until_phase(&g, SM_SETTLE, 2 * PS_PER_S);
	/* Meanwhile it writes: a table, a LID that another port has. */
	g.dev[2].lft[lid_of(&g, 0)] = 3;
	g.dev[OTHER].pi[1].lid = lid_of(&g, 2);
	run_for(&g, PS_PER_S);
	assert_int_equal(status(&g).phase, SM_SETTLE);
	assert_int_equal(sets(&g), 0);
	g.dev[OTHER].sm.state = IBA_SM_STANDBY;
	run_until_phase(&g, SM_READY, 5 * PS_PER_S);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(status(&g).state, IBA_SM_MASTER);
	assert_int_equal(lid_of(&g, OTHER), lid);
	assert_true(reads(&g) >= 2);
	rig_close(&g);
}

/* It answers as master for ever, or not at all: the better one goes on. */
TEST(a_wait_ends)
{
	for (unsigned silent = 0; silent < 2; silent++) {
		struct rig g;

		open_master(&g);
		g.dev[OTHER].sm.state = IBA_SM_MASTER;
		run_until_phase(&g, SM_SETTLE, 2 * PS_PER_S);
		g.dev[OTHER].mute = silent;
		run_until_phase(&g, SM_DISCOVER, g.cfg.settle_ps + PS_PER_S);
		g.dev[OTHER].mute = false;
		run_until_phase(&g, SM_READY, 5 * PS_PER_S);
		run_ready(&g);
		expect_up(&g);
		if (!silent) /* it is not waited for again and again */
			for (time_ps end = g.now + 20 * PS_PER_S; g.now < end;) {
				assert_true(one_event(&g));
				assert_true(status(&g).phase != SM_SETTLE);
			}
		rig_close(&g);
	}
}

/* ---- managers that end ---- */

static bool is_silent(const struct rig *g, uint64_t guid)
{
	struct sm_manager m;

	for (size_t i = 0; sm_manager_get(g->sm, i, &m); i++)
		if (m.guid == guid)
			return m.silent;
	fail_msg("manager 0x%016llx is not known", (unsigned long long)guid);
	return false;
}

/* No manager runs there any more: the agent of its host says so. */
static bool refuse_sm_info(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	if (dev == OTHER && iba_smp_attr_id(s->mad) == IBA_ATTR_SM_INFO)
		iba_smp_set_status(resp, IBA_STATUS_BAD_METHOD_ATTR |
						 (iba_smp_status(resp) & IBA_STATUS_DR_RETURN));
	return true;
}

TEST(a_refused_get_of_sm_info_is_silence)
{
	struct rig g;

	open_master(&g);
	assert_false(is_silent(&g, g.dev[OTHER].sm.guid));
	g.twist = refuse_sm_info;
	run_for(&g, 2 * PS_PER_S);
	assert_true(is_silent(&g, g.dev[OTHER].sm.guid));
	assert_int_equal(sm_handover_check(g.sm, 0, &(struct err){{0}}), -EINVAL);
	g.twist = NULL;
	run_for(&g, 2 * PS_PER_S);
	assert_false(is_silent(&g, g.dev[OTHER].sm.guid));
	assert_int_equal(status(&g).state, IBA_SM_MASTER);
	rig_close(&g);
}

/* ---- signs of another master ---- */

static bool watch_sets(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)dev;
	(void)resp;
	if (iba_smp_method(s->mad) == IBA_SET && iba_smp_attr_id(s->mad) != IBA_ATTR_SM_INFO)
		assert_true(g->sm->disc.all_met);
	return true;
}

/* The other one wrote the own port, and cannot be seen otherwise. */
TEST(the_own_port_names_another_master)
{
	struct rig g;
	uint16_t lid;

	open_master(&g);
	lid = lid_of(&g, 0);
	g.dev[OTHER].sm.state = IBA_SM_NOT_ACTIVE;
	g.dev[0].pi[1].sm_lid = lid_of(&g, OTHER);
	g.dev[2].lft[lid] = 3;
	g.twist = watch_sets;
	run_until_phase(&g, SM_DISCOVER, 2 * PS_PER_S);
	run_until_phase(&g, SM_READY, 5 * PS_PER_S);
	run_ready(&g);
	g.twist = NULL;
	expect_up(&g);
	assert_int_equal(g.dev[0].pi[1].sm_lid, lid);
	assert_int_equal(lid_of(&g, 0), lid);
	rig_close(&g);
}

/* A host comes that another master manages: nothing is set before it is known that there is none. */
TEST(a_device_of_another_master)
{
	struct rig g;

	draw(&g);
	g.dev[OTHER].pi[1].cap_mask = 0;
	set_gone(&g, OTHER, true);
	rig_start(&g);
	run_ready(&g);
	set_gone(&g, OTHER, false);
	g.dev[OTHER].pi[1].state = IBA_PORT_ACTIVE;
	g.dev[OTHER].pi[1].lid = lid_of(&g, 2); /* given twice */
	g.dev[OTHER].pi[1].sm_lid = 77;
	g.dev[OTHER].pi[1].cap_mask = IBA_CAP_IS_SM;
	g.dev[OTHER].sm.state = IBA_SM_MASTER;
	run_until_phase(&g, SM_SETTLE, 3 * PS_PER_S);
	assert_int_equal(g.dev[OTHER].pi[1].sm_lid, 77);
	g.dev[OTHER].sm.state = IBA_SM_STANDBY;
	run_until_phase(&g, SM_READY, 5 * PS_PER_S);
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

/* ---- handing over ---- */

TEST(a_user_hands_over)
{
	struct rig g;
	struct iba_sm_info si;
	struct err e;

	open_master(&g);
	assert_int_equal(sm_handover_check(g.sm, 0, &e), 0);
	assert_int_equal(sm_handover_check(g.sm, 0x1234, &e), -EINVAL);
	step(&g, (struct sm_event){.kind = SM_EV_HANDOVER, .guid = g.dev[OTHER].sm.guid});
	run_until_phase(&g, SM_STANDBY, PS_PER_S);
	/* Else the other one, of lower priority, would hand the subnet back at once. */
	sm_info_make(g.sm, &si);
	assert_int_equal(si.priority, 0);
	assert_int_equal(sm_handover_check(g.sm, 0, &e), -EINVAL);
	assert_string_equal(e.text, "this manager is Standby; only a master can hand over");
	g.dev[OTHER].sm.state = IBA_SM_MASTER;
	run_for(&g, PS_PER_S);
	g.dev[OTHER].mute = true;
	run_until_phase(&g, SM_READY, 5 * PS_PER_S);
	sm_info_make(g.sm, &si);
	assert_int_equal(si.priority, 5);
	rig_close(&g);
}

static bool refuse_orders(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)dev;
	if (iba_smp_method(s->mad) == IBA_SET && iba_smp_attr_id(s->mad) == IBA_ATTR_SM_INFO)
		iba_smp_set_status(resp, IBA_STATUS_BAD_FIELD);
	return true;
}

/* The standby refuses: the master goes on, and tries again when a sweep has ended. */
TEST(a_hand_over_is_refused)
{
	struct rig g;
	unsigned orders;

	open_master(&g);
	g.twist = refuse_orders;
	g.dev[OTHER].sm.priority = 9;
	run_for(&g, 5 * PS_PER_S);
	orders = count_sends(&g, IBA_SET, IBA_ATTR_SM_INFO);
	assert_in_range(orders, 2, 4);
	assert_int_equal(status(&g).state, IBA_SM_MASTER);
	run_ready(&g);
	rig_close(&g);
}

/* A master of higher rank refuses: one of the two must stop all the same. */
TEST(a_master_above_refuses)
{
	struct rig g;

	open_master(&g);
	g.twist = refuse_orders;
	g.dev[OTHER].sm.priority = 9;
	g.dev[OTHER].sm.state = IBA_SM_MASTER;
	run_until_phase(&g, SM_STANDBY, 2 * PS_PER_S);
	rig_close(&g);
}

/* A machine, and a standby of higher priority that comes and asks for no copy: only it knows whether it will. */
static void meet_heir(struct rig *g)
{
	struct sm_vm_request create = {.op = SM_VM_CREATE, .name = "machine"};

	draw(g);
	g->cfg.mirror = true;
	g->cfg.scheme = SM_SCHEME_DYNAMIC;
	g->cfg.copy_ps = 2 * PS_PER_S;
	for (unsigned d = 0; d < g->n; d++)
		g->dev[d].si.linear_cap = LIDS;
	set_gone(g, OTHER, true);
	rig_start(g);
	run_ready(g);
	step(g, (struct sm_event){.kind = SM_EV_VMS, .vms = &create, .nvms = 1});
	g->dev[OTHER].sm.priority = 9;
	set_gone(g, OTHER, false);
}

/* The routes of the round in which it came take so long. When it gets the subnet, from the end of that round on. */
static time_ps wait_after_round(time_ps round)
{
	struct rig g;
	time_ps end;

	meet_heir(&g);
	g.hold = true;
	run_until_phase(&g, SM_COMPUTE, 2 * PS_PER_S);
	for (end = g.now + round; g.now < end; g.now += PS_PER_S / 10)
		step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_int_equal(status(&g).phase, SM_COMPUTE);
	g.hold = false;
	while (!g.sm->core.round.end)
		assert_true(one_event(&g));
	end = g.now;
	run_until_phase(&g, SM_STANDBY, 3 * PS_PER_S);
	end = g.now - end;
	assert_int_equal(g.dev[OTHER].order, IBA_SM_HANDOVER);
	rig_close(&g);
	return end;
}

/* No copy can be made while a round is under way; but rounds do not keep the heir away for ever. */
TEST(a_round_is_not_part_of_the_wait_for_a_copy)
{
	assert_in_range(wait_after_round(0), 19 * PS_PER_S / 10, 21 * PS_PER_S / 10);
	assert_in_range(wait_after_round(5 * PS_PER_S), 19 * PS_PER_S / 10, 21 * PS_PER_S / 10);
	assert_in_range(wait_after_round(20 * PS_PER_S), 0, PS_PER_S / 10);
}

/* ---- LIDs after another master ---- */

static void stand_by_for_other(struct rig *g)
{
	open_master(g);
	g->dev[OTHER].sm.state = IBA_SM_MASTER;
	g->dev[OTHER].sm.priority = 9;
	run_until_phase(g, SM_STANDBY, 2 * PS_PER_S);
}

static struct iba_port_info *endport(struct rig *g, unsigned dev)
{
	return &g->dev[dev].pi[g->dev[dev].type == IBA_NODE_SWITCH ? 0 : 1];
}

/*
 * The other one never configured anything. Meanwhile two ports, one of them the manager's own, get LIDs of other
 * ports by forged Sets, at each moment until the manager has taken over: all ports have the LIDs again that it gave.
 */
TEST(forged_lids_do_not_last_after_a_master_that_never_was_one)
{
	bool led = false;

	for (unsigned moment = 0; !led; moment++) {
		uint16_t lids[OTHER + 1];
		struct rig g;

		stand_by_for_other(&g);
		for (unsigned d = 0; d <= OTHER; d++)
			lids[d] = lid_of(&g, d);
		g.dev[OTHER].sm.state = IBA_SM_NOT_ACTIVE;
		for (unsigned i = 0; i < moment; i++)
			assert_true(one_event(&g));
		led = status(&g).phase == SM_READY;
		endport(&g, 0)->lid = lids[2];
		endport(&g, 0)->sm_lid = 55;
		endport(&g, 1)->lid = lids[OTHER];
		endport(&g, 1)->sm_lid = lids[OTHER];
		run_until_phase(&g, SM_READY, 5 * PS_PER_S);
		run_ready(&g);
		step(&g, (struct sm_event){.kind = SM_EV_RESYNC});
		run_ready(&g);
		expect_up(&g);
		for (unsigned d = 0; d <= OTHER; d++)
			if (lid_of(&g, d) != lids[d])
				fail_msg("forged at event %u: device %u had LID %u, has %u", moment,
					 d, lids[d], lid_of(&g, d));
		rig_close(&g);
	}
}

/* The other one was master, and gave two ports each other's LID: they stay, for they are in use. */
TEST(lids_that_another_master_changed_stay)
{
	uint16_t lids[OTHER + 1];
	struct rig g;

	stand_by_for_other(&g);
	for (unsigned d = 0; d <= OTHER; d++) {
		lids[d] = lid_of(&g, d);
		endport(&g, d)->sm_lid = lid_of(&g, OTHER);
	}
	endport(&g, 0)->lid = lids[2];
	endport(&g, 2)->lid = lids[0];
	g.dev[OTHER].sm.state = IBA_SM_NOT_ACTIVE;
	run_until_phase(&g, SM_READY, 5 * PS_PER_S);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(status(&g).state, IBA_SM_MASTER);
	assert_int_equal(lid_of(&g, 0), lids[2]);
	assert_int_equal(lid_of(&g, 2), lids[0]);
	assert_int_equal(lid_of(&g, 1), lids[1]);
	assert_int_equal(lid_of(&g, OTHER), lids[OTHER]);
	rig_close(&g);
}

/* ---- a pause ---- */

/* Time passes, and the manager does not run. What was under way arrives when it does. */
static void pause_for(struct rig *g, time_ps t)
{
	g->now += t;
}

TEST(a_master_that_was_stopped_asks_before_it_sets)
{
	unsigned met = 0;

	for (unsigned phase = SM_DISCOVER; phase <= SM_SWEEP; phase++) {
		struct rig g;

		open_master(&g);
		set_gone(&g, OTHER, true);
		set_gone(&g, OTHER, false);
		for (unsigned i = 0; i < 2000 && status(&g).phase != phase; i++)
			assert_true(one_event(&g));
		if (status(&g).phase != phase) { /* it does nothing there that takes time */
			rig_close(&g);
			continue;
		}
		met++;
		g.log.n = 0;
		g.dev[OTHER].sm.state = IBA_SM_MASTER;
		g.dev[OTHER].sm.priority = 9;
		pause_for(&g, 5 * PS_PER_S);
		run_until_phase(&g, SM_STANDBY, 20 * PS_PER_S);
		if (sets(&g))
			fail_msg("%u Sets after a pause in phase %s", sets(&g),
				 sm_phase_name(phase));
		rig_close(&g);
	}
	assert_true(met >= 4);
}

static bool lose_orders(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)dev;
	(void)resp;
	return iba_smp_method(s->mad) != IBA_SET || iba_smp_attr_id(s->mad) != IBA_ATTR_SM_INFO;
}

/* The order, or its answer, is lost in the pause: it is given again at once, not after the next sweeps. */
TEST(a_pause_in_the_middle_of_a_hand_over)
{
	static const time_ps pauses[] = {PS_PER_S / 2, 20 * PS_PER_S};

	for (size_t i = 0; i < ARRAY_LEN(pauses); i++) {
		struct rig g;

		open_master(&g);
		g.twist = lose_orders;
		g.dev[OTHER].sm.state = IBA_SM_MASTER;
		g.dev[OTHER].sm.priority = 9;
		run_until_phase(&g, SM_SETTLE, 2 * PS_PER_S);
		g.dev[OTHER].order = 0;
		pause_for(&g, pauses[i]);
		g.twist = NULL;
		run_until_phase(&g, SM_STANDBY, PS_PER_S / 2);
		assert_int_equal(g.dev[OTHER].order, IBA_SM_HANDOVER);
		assert_int_equal(sets(&g), 0);
		rig_close(&g);
	}
}

/* There is no other master: it goes on where it was. */
TEST(after_a_pause_alone)
{
	struct rig g;
	uint32_t rounds;

	open_master(&g);
	rounds = status(&g).rounds;
	pause_for(&g, 5 * PS_PER_S);
	run_for(&g, PS_PER_S);
	assert_int_equal(count_notes(&g, SM_NOTE_STALLED), 1);
	assert_in_range(status(&g).rounds, rounds, rounds + 1); /* ports that were Down are read */
	assert_int_equal(sets(&g), 0);
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

/* A standby that was stopped has missed polls, and asks again before it takes over. */
TEST(a_standby_that_was_stopped)
{
	struct rig g;

	draw(&g);
	g.dev[OTHER].sm.state = IBA_SM_MASTER;
	rig_start(&g);
	run_until_phase(&g, SM_STANDBY, PS_PER_S);
	for (unsigned i = 0; i < 20; i++) {
		run_for(&g, 100 * PS_PER_MS);
		pause_for(&g, 5 * PS_PER_S);
		run_for(&g, 100 * PS_PER_MS);
		assert_int_equal(status(&g).state, IBA_SM_STANDBY);
	}
	rig_close(&g);
}

/* ---- resync ---- */

TEST(a_resync_leaves_it_master)
{
	struct rig g;

	open_master(&g);
	g.dev[2].lft[lid_of(&g, 0)] = 3;
	step(&g, (struct sm_event){.kind = SM_EV_RESYNC});
	assert_int_equal(status(&g).phase, SM_DISCOVER);
	while (status(&g).phase != SM_READY) {
		assert_int_equal(status(&g).state, IBA_SM_MASTER);
		assert_true(one_event(&g));
	}
	run_ready(&g);
	expect_up(&g);
	assert_true(reads(&g) >= 2);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_master_above_gets_the_subnet_within_one_sweep),
		cmocka_unit_test(a_master_below_is_waited_for_and_its_work_read_back),
		cmocka_unit_test(a_wait_ends),
		cmocka_unit_test(a_refused_get_of_sm_info_is_silence),
		cmocka_unit_test(the_own_port_names_another_master),
		cmocka_unit_test(a_device_of_another_master),
		cmocka_unit_test(a_user_hands_over),
		cmocka_unit_test(a_hand_over_is_refused),
		cmocka_unit_test(a_master_above_refuses),
		cmocka_unit_test(a_round_is_not_part_of_the_wait_for_a_copy),
		cmocka_unit_test(forged_lids_do_not_last_after_a_master_that_never_was_one),
		cmocka_unit_test(lids_that_another_master_changed_stay),
		cmocka_unit_test(a_master_that_was_stopped_asks_before_it_sets),
		cmocka_unit_test(a_pause_in_the_middle_of_a_hand_over),
		cmocka_unit_test(after_a_pause_alone),
		cmocka_unit_test(a_standby_that_was_stopped),
		cmocka_unit_test(a_resync_leaves_it_master),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
