/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs on a subnet that another manager left in the middle of its work: Sets of it that arrive late, and
 * devices that do not answer at once; LIDs that another master assigned, equal to those of this one. State: struct rig, and what happens to one device when. Does not use the
 * simulator.
 * Covers: lid_assignment.c
 */
#include "sm_fixture.h"

enum { LATE_LID = 77 };

static struct {
	unsigned dev;			/* the device, */
	unsigned reads;			/* PortInfos read of it so far, */
	unsigned sets;			/* and set */
	unsigned after_read, after_set; /* the late Set arrives after so many; 0: never */
	unsigned mute_for;		/* requests of it that are not answered */
} late;

static void late_set(struct rig *g)
{
	g->dev[late.dev].pi[g->dev[late.dev].type == IBA_NODE_SWITCH ? 0 : 1].lid = LATE_LID;
}

static bool twist(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	bool info = iba_smp_attr_id(s->mad) == IBA_ATTR_PORT_INFO;

	(void)resp;
	if (dev != late.dev)
		return true;
	if (late.mute_for) {
		late.mute_for--;
		return false;
	}
	if (info && iba_smp_method(s->mad) == IBA_GET && ++late.reads == late.after_read)
		late_set(g);
	if (info && iba_smp_method(s->mad) == IBA_SET && ++late.sets == late.after_set)
		late_set(g);
	return true;
}

/* The first manager brought up h0, sw1, sw2 and h3; it knew nothing of what came later. */
static void leave_subnet(struct rig *g, const char *mechanism)
{
	memset(&late, 0, sizeof(late));
	draw_pair(g);
	g->cfg.mechanism = *sm_mechanism_find(mechanism);
	g->cfg.sweep_factor = 0;
	rig_start(g);
	run_ready(g);
	expect_up(g);
	sm_free(g->sm);
	g->air.n = 0;
	g->cfg.read_back = true;
	g->twist = twist;
	late.dev = 3;
}

static uint16_t believed(const struct rig *g, unsigned d)
{
	return sm_lid_of(g->sm, g->dev[d].guid + (g->dev[d].type == IBA_NODE_CA), NULL);
}

static const char *const mechanisms[] = {"basic", "weft"};

/* The Set arrives after the port was read without a LID: the port keeps what it has then. */
TEST(a_lid_that_appears_after_the_port_was_read_stays)
{
	for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
		struct rig g;

		leave_subnet(&g, mechanisms[i]);
		g.dev[3].pi[1].lid = 0;
		late.after_read = 1;
		rig_start(&g);
		run_ready(&g);
		expect_up(&g);
		assert_int_equal(lid_of(&g, 3), LATE_LID);
		assert_int_equal(believed(&g, 3), LATE_LID);
		rig_close(&g);
	}
}

/* It arrives after the new manager set another: that is found, and the port gets its LID again. */
TEST(a_late_lid_that_replaces_the_new_one_is_found)
{
	for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
		struct rig g;
		uint16_t lid;

		leave_subnet(&g, mechanisms[i]);
		g.dev[3].pi[1].lid = 0;
		late.after_set = 1;
		rig_start(&g);
		while (!late.sets)
			assert_true(one_event(&g));
		lid = believed(&g, 3);
		assert_int_equal(lid_of(&g, 3), LATE_LID);
		run_ready(&g);
		expect_up(&g);
		assert_int_equal(lid_of(&g, 3), lid);
		assert_int_equal(believed(&g, 3), lid);
		rig_close(&g);
	}
}

/* Ports are read twice only where a manager was before; where all have LIDs, none is. */
TEST(a_cold_subnet_is_read_once)
{
	struct rig g;

	draw_pair(&g);
	g.cfg.read_back = true;
	g.twist = twist;
	memset(&late, 0, sizeof(late));
	late.dev = 3;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(late.reads, 1);
	assert_int_equal(status(&g).smps[SM_FOR_AUDIT], 0);
	rig_close(&g);
}

/*
 * A host with a LID does not answer the first discovery, and a new one has none: the LID that seems to be free
 * is not.
 */
TEST(the_lid_of_a_device_that_did_not_answer_is_not_given_away)
{
	for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
		struct rig g;
		uint16_t lid;
		unsigned fresh;

		leave_subnet(&g, mechanisms[i]);
		lid = lid_of(&g, 3);
		g.dev[3].pi[1].lid = 1; /* the LID that a manager gives first */
		g.dev[0].pi[1].lid = lid;
		lid = 1;
		fresh = add_dev(&g, IBA_NODE_CA, 1);
		join(&g, 1, 3, fresh, 1);
		late.mute_for = g.cfg.retries + 1;
		rig_start(&g);
		run_ready(&g);
		expect_up(&g);
		assert_int_equal(lid_of(&g, 3), lid);
		assert_int_not_equal(lid_of(&g, fresh), lid);
		rig_close(&g);
	}
}

/*
 * sw2 joins. The LID that it has is known from a discovery that did not end, and its MasterSMLID is the LID of this manager;
 * another master may have set both.
 */
static void join_equal_lids(struct rig *g, const char *mechanism)
{
	draw_pair(g);
	g->cfg.mechanism = *sm_mechanism_find(mechanism);
	g->cfg.contest = g->cfg.read_back = true;
	g->dev[2].gone = true;
	g->dev[1].pi[2].state = IBA_PORT_DOWN;
	rig_start(g);
	run_ready(g);
	sm_seed_lid(g->sm, g->dev[2].guid, LATE_LID, 0);
	g->dev[2].pi[0].lid = LATE_LID;
	g->dev[2].pi[0].sm_lid = g->dev[3].pi[1].sm_lid = g->dev[3].pi[1].lid = lid_of(g, 0);
	set_gone(g, 2, false);
}

TEST(what_a_switch_of_another_master_reports_is_left_to_that)
{
	for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
		struct rig g;

		join_equal_lids(&g, mechanisms[i]);
		g.dev[3].pi[1].cap_mask = IBA_CAP_IS_SM;
		g.dev[3].sm = (struct iba_sm_info){
			.guid = g.dev[3].guid + 1, .priority = 9, .state = IBA_SM_MASTER};
		for (unsigned k = 0; k < 200000 && status(&g).state != IBA_SM_STANDBY; k++)
			assert_true(one_event(&g));
		assert_int_equal(status(&g).state, IBA_SM_STANDBY);
		assert_int_equal(g.dev[2].si.port_state_change, 1);
		rig_close(&g);
	}
}

TEST(without_another_master_it_is_cleared)
{
	for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
		struct rig g;

		join_equal_lids(&g, mechanisms[i]);
		g.dev[3].pi[1].lid = g.dev[3].pi[1].sm_lid = 0;
		run_phase(&g, SM_COMPUTE);
		run_ready(&g);
		expect_up(&g);
		assert_int_equal(g.dev[2].si.port_state_change, 0);
		rig_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lid_that_appears_after_the_port_was_read_stays),
		cmocka_unit_test(a_late_lid_that_replaces_the_new_one_is_found),
		cmocka_unit_test(a_cold_subnet_is_read_once),
		cmocka_unit_test(the_lid_of_a_device_that_did_not_answer_is_not_given_away),
		cmocka_unit_test(what_a_switch_of_another_master_reports_is_left_to_that),
		cmocka_unit_test(without_another_master_it_is_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
