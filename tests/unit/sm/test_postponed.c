/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions that wait because the device does not respond: others are asked first, and none is forgotten. State: struct
 * rig, and how many SMPs a switch ignores. Does not use the simulator.
 * Covers: postponed.c
 */
#include "sm_fixture.h"

/* h0 - sw1 - sw2 - h4 to h9, and sw1 - sw3 - h10, all read one after the other, sw2 first. */
static void draw_fork(struct rig *g, bool contest)
{
	rig_open(g);
	add_dev(g, IBA_NODE_CA, 1);
	for (unsigned i = 1; i <= 3; i++)
		add_dev(g, IBA_NODE_SWITCH, 8);
	join(g, 0, 1, 1, 1);
	join(g, 1, 2, 2, 1);
	join(g, 1, 3, 3, 1);
	for (unsigned p = 2; p <= 7; p++)
		join(g, 2, p, add_dev(g, IBA_NODE_CA, 1), 1);
	join(g, 3, 2, add_dev(g, IBA_NODE_CA, 1), 1);
	g->cfg.window = 1;
	g->cfg.retries = 4;
	g->cfg.sweep_factor = 0;
	g->cfg.contest = contest;
}

enum { AFTER = 4, LAST = 10 };

static struct {
	unsigned ports;	 /* PortInfos asked of switch 2: after so many it ignores SMPs, */
	unsigned ignore; /* so many */
	bool met;	 /* the last host was asked */
} plan;

static bool twist(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)resp;
	plan.met |= dev == LAST;
	if (dev != 2)
		return true;
	plan.ports += iba_smp_attr_id(s->mad) == IBA_ATTR_PORT_INFO;
	if (plan.ports <= AFTER || !plan.ignore)
		return true;
	plan.ignore--;
	return false;
}

static void begin(struct rig *g, bool contest, unsigned ignore)
{
	memset(&plan, 0, sizeof(plan));
	plan.ignore = ignore;
	draw_fork(g, contest);
	g->twist = twist;
	rig_start(g);
	while (!plan.met)
		assert_true(one_event(g));
}

/* ---- stories ---- */

TEST(others_are_asked_before_a_question_is_given_up)
{
	struct rig g;

	begin(&g, true, UINT32_MAX);
	assert_int_equal(status(&g).timeouts, 0);
	while (!status(&g).timeouts) /* it is given up all the same */
		assert_true(one_event(&g));
	rig_close(&g);
}

/* Where no other manager can be there, the order of questions is that of the thesis. */
TEST(without_an_election_the_order_stays)
{
	struct rig g;

	begin(&g, false, UINT32_MAX);
	assert_true(status(&g).timeouts > 0);
	rig_close(&g);
}

/* A switch that is slow is read as a whole, in the same discovery. */
TEST(no_question_is_forgotten)
{
	struct rig g;

	for (unsigned ignore = 2; ignore <= 6; ignore++) {
		begin(&g, true, ignore);
		run_ready(&g);
		expect_up(&g);
		assert_int_equal(status(&g).nodes, LAST + 1);
		assert_int_equal(status(&g).timeouts, 0);
		assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 0);
		rig_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_asked_before_a_question_is_given_up),
		cmocka_unit_test(without_an_election_the_order_stays),
		cmocka_unit_test(no_question_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
