/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NodeDescriptions: requested in spare time, never before other work. State: struct rig, one for each
 * test. Does not use the simulator.
 */
#include "sm_fixture.h"

static void draw_named(struct rig *g)
{
	draw_star(g);
	g->cfg.names = true;
	g->cfg.sweep_factor = 0;
	g->cfg.sweep_period_ps = PS_PER_S;
}

static bool idle(const struct rig *g)
{
	return status(g).phase == SM_READY && !g->sm->txn.outstanding && !g->air.n;
}

/* At rest, and all names requested. */
static void run_idle(struct rig *g)
{
	run_ready(g);
	while (!idle(g))
		assert_true(one_event(g));
}

static void expect_named(const struct rig *g)
{
	for (unsigned d = 0; d < g->n; d++)
		if (!g->dev[d].gone)
			assert_string_equal(sm_node_desc(g->sm, g->dev[d].guid), g->dev[d].name);
}

static void sweep_now(struct rig *g)
{
	step(g, (struct sm_event){.kind = SM_EV_SWEEP});
	while (status(g).phase == SM_SWEEP)
		assert_true(one_event(g));
	run_idle(g);
}

TEST(names_are_read_after_bring_up)
{
	struct sm_status st;
	struct rig g;

	draw_named(&g);
	rig_start(&g);
	run_phase(&g, SM_READY);
	assert_string_equal(sm_node_desc(g.sm, g.dev[3].guid), "");
	run_idle(&g);
	expect_named(&g);
	expect_up(&g);
	st = status(&g);
	assert_int_equal(st.smps[SM_FOR_NAMES], g.n);
	assert_int_equal(st.last.smps[SM_FOR_NAMES], 0);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), g.n);
	assert_int_equal(count_notes(&g, SM_NOTE_NAME), g.n);
	assert_string_equal(sm_node_desc(g.sm, 0xdead), "");
	/* What is known is not asked again. */
	sweep_now(&g);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), g.n);
	rig_close(&g);
}

TEST(names_are_not_read_unless_configured)
{
	struct rig g;

	draw_star(&g);
	rig_start(&g);
	run_ready(&g);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), 0);
	rig_close(&g);
}

static void tell_change(struct rig *g, unsigned dev, unsigned what)
{
	struct iba_notice n = {.is_generic = 1, .trap_number = IBA_TRAP_CAP_CHANGE};
	struct iba_trap_cap d = {.lid = lid_of(g, dev), .local_changes = (uint16_t)what};
	uint8_t mad[IBA_MAD_SIZE];

	make_trap(mad, IBA_TRAP_CAP_CHANGE, 7);
	iba_trap_cap_put(&d, n.details);
	iba_notice_put(&n, iba_smp_data(mad));
	give_smp(g, mad, lid_of(g, dev));
}

TEST(trap_144_asks_again)
{
	struct rig g;

	draw_named(&g);
	rig_start(&g);
	run_idle(&g);
	strcpy(g.dev[3].name, "another name");
	tell_change(&g, 3, 2); /* of link widths */
	run_idle(&g);
	assert_string_equal(sm_node_desc(g.sm, g.dev[3].guid), "device 3");
	tell_change(&g, 3, IBA_CHANGED_NODE_DESC);
	assert_string_equal(sm_node_desc(g.sm, g.dev[3].guid),
			    "device 3"); /* until the new one is here */
	run_idle(&g);
	expect_named(&g);
	assert_int_equal(count_notes(&g, SM_NOTE_NAME), g.n + 1);
	/* It said so, but the name is the same: no news. */
	tell_change(&g, 3, IBA_CHANGED_NODE_DESC);
	run_idle(&g);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), g.n + 2);
	assert_int_equal(count_notes(&g, SM_NOTE_NAME), g.n + 1);
	rig_close(&g);
}

/* A host may call itself anything: a terminal must not obey it, in whatever encoding. */
TEST(control_characters_of_names_are_not_kept)
{
	struct rig g;

	draw_named(&g);
	strcpy(g.dev[3].name, "a\033[31mb\x9b"
			      "1mc\xc2\x9b"
			      "2md\x7f\xc3\xa9\xe6\xbc\xa2\xff");
	rig_start(&g);
	run_idle(&g);
	assert_string_equal(sm_node_desc(g.sm, g.dev[3].guid),
			    "a?[31mb?1mc\xc2?2md?\xc3\xa9\xe6\xbc\xa2\xff");
	rig_close(&g);
}

static void check_outlive(const char *mechanism)
{
	struct rig g;

	draw_named(&g);
	g.cfg.mechanism = *sm_mechanism_find(mechanism);
	rig_start(&g);
	run_idle(&g);
	set_gone(&g, 3, true);
	sweep_now(&g);
	assert_int_equal(status(&g).nodes, g.n - 1);
	assert_string_equal(sm_node_desc(g.sm, g.dev[3].guid), "device 3");
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), g.n);
	set_gone(&g, 3, false);
	sweep_now(&g);
	assert_int_equal(status(&g).nodes, g.n);
	expect_named(&g);
	rig_close(&g);
}

TEST(names_are_kept_over_discoveries)
{
	check_outlive("basic");
	check_outlive("weft");
}

TEST(the_name_of_a_returning_node_is_read_again)
{
	struct rig g;

	draw_named(&g);
	g.cfg.mechanism = *sm_mechanism_find("weft");
	rig_start(&g);
	run_idle(&g);
	set_gone(&g, 3, true);
	sweep_now(&g);
	strcpy(g.dev[3].name, "rebooted");
	set_gone(&g, 3, false);
	sweep_now(&g);
	expect_named(&g);
	rig_close(&g);
}

static bool no_names(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)dev;
	(void)resp;
	return iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_DESC;
}

TEST(reading_names_delays_nothing_else)
{
	struct rig g;
	time_ps due;

	draw_named(&g);
	g.cfg.window = 8;
	g.twist = no_names;
	rig_start(&g);
	run_phase(&g, SM_READY);
	assert_int_equal(g.sm->txn.outstanding, 2); /* a fourth */
	/* A sweep asked for, and one that is due, begin at once. */
	step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
	assert_int_equal(status(&g).phase, SM_SWEEP);
	run_phase(&g, SM_READY);
	assert_int_equal(g.sm->txn.outstanding, 2);
	due = g.sm->sweep.next;
	while (status(&g).phase == SM_READY)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).phase, SM_SWEEP);
	assert_int_equal(g.now, due);
	rig_close(&g);
}

TEST(traps_are_handled_before_names)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct rig g;

	draw_named(&g);
	g.twist = no_names;
	rig_start(&g);
	run_phase(&g, SM_READY);
	assert_true(g.sm->txn.outstanding > 0);
	make_trap(mad, IBA_TRAP_LINK_STATE, 1);
	give_smp(&g, mad, lid_of(&g, 1));
	assert_int_equal(status(&g).phase, SM_DISCOVER);
	g.twist = NULL;
	run_idle(&g);
	expect_named(&g);
	rig_close(&g);
}

static unsigned mute_desc;

static bool one_without(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)resp;
	return dev != mute_desc || iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_DESC;
}

TEST(a_name_without_a_response_is_requested_after_the_next_round)
{
	unsigned asked;
	struct rig g;

	draw_named(&g);
	mute_desc = 4;
	g.twist = one_without;
	rig_start(&g);
	run_idle(&g);
	assert_string_equal(sm_node_desc(g.sm, g.dev[4].guid), "");
	asked = count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC);
	assert_int_equal(asked, g.n + g.cfg.retries);
	sweep_now(&g); /* which finds nothing */
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), asked);
	g.twist = NULL;
	set_gone(&g, 3, true);
	sweep_now(&g);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_NODE_DESC), asked + 1);
	expect_named(&g);
	rig_close(&g);
}

TEST(any_64_bytes_are_a_name)
{
	struct rig g;

	draw_named(&g);
	memset(g.dev[3].name, 'x', IBA_SMP_DATA_SIZE);
	strcpy(g.dev[4].name, "");
	strcpy(g.dev[5].name, "a\tb\033[2Jc\177");
	strcpy(g.dev[6].name, "M\303\274nchen");
	rig_start(&g);
	run_idle(&g);
	assert_int_equal(strlen(sm_node_desc(g.sm, g.dev[3].guid)), IBA_SMP_DATA_SIZE);
	assert_string_equal(sm_node_desc(g.sm, g.dev[4].guid), "");
	assert_string_equal(sm_node_desc(g.sm, g.dev[5].guid), "a?b?[2Jc?");
	assert_string_equal(sm_node_desc(g.sm, g.dev[6].guid), "M\303\274nchen");
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_after_bring_up),
		cmocka_unit_test(names_are_not_read_unless_configured),
		cmocka_unit_test(trap_144_asks_again),
		cmocka_unit_test(control_characters_of_names_are_not_kept),
		cmocka_unit_test(names_are_kept_over_discoveries),
		cmocka_unit_test(the_name_of_a_returning_node_is_read_again),
		cmocka_unit_test(reading_names_delays_nothing_else),
		cmocka_unit_test(traps_are_handled_before_names),
		cmocka_unit_test(a_name_without_a_response_is_requested_after_the_next_round),
		cmocka_unit_test(any_64_bytes_are_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
