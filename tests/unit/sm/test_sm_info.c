/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMInfo: to whom the SM_Key is shown, which orders are obeyed, what forged ones cost. One manager against
 * scripted others. No state between tests.
 * Covers: sm_info.c, asks.c, answers.c
 */
#include "sm_fixture.h"

enum { OTHER = 3, KEY = 0xbeef };

static void draw(struct rig *g, unsigned state)
{
	draw_pair(g);
	g->cfg.mechanism = *sm_mechanism_find("weft");
	g->cfg.contest = g->cfg.read_back = true;
	g->cfg.priority = 5;
	g->cfg.sm_key = KEY;
	g->cfg.sweep_factor = 0;
	g->dev[OTHER].sm = (struct iba_sm_info){
		.guid = g->dev[OTHER].guid + 1, .priority = 3, .state = (uint8_t)state};
	g->dev[OTHER].pi[1].cap_mask = IBA_CAP_IS_SM;
}

static void run_to(struct rig *g, enum iba_sm_state s)
{
	for (unsigned i = 0; i < 200000 && status(g).state != s; i++)
		assert_true(one_event(g));
	assert_int_equal(status(g).state, s);
}

static void run_for(struct rig *g, time_ps t)
{
	for (time_ps end = g->now + t; g->now < end;)
		assert_true(one_event(g));
}

static uint64_t smps(const struct rig *g)
{
	struct sm_status st = status(g);
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += st.smps[i];
	return n;
}

/* ---- who is shown the key ---- */

static struct iba_sm_info ask(struct rig *g, uint64_t m_key, uint64_t sm_key)
{
	struct iba_sm_info si = {.sm_key = sm_key};
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_m_key(mad, m_key);
	iba_sm_info_put(&si, iba_smp_data(mad));
	give_smp(g, mad, lid_of(g, OTHER));
	assert_true(g->out.sends.n >= 1);
	assert_int_equal(iba_smp_status(g->out.sends.at[0].mad), 0);
	iba_sm_info_get(&si, iba_smp_data_const(g->out.sends.at[0].mad), IBA_SMP_DATA_SIZE);
	return si;
}

TEST(the_key_is_shown_to_managers_that_prove_themselves)
{
	static const struct {
		uint64_t own_m_key, own_sm_key, m_key, sm_key, shown;
	} cases[] = {
		{0, KEY, 0, 0, 0},
		{0, KEY, 0, 1, 0},
		{0, KEY, 0, KEY, KEY},
		{0x77, KEY, 0, 0, 0},
		{0x77, KEY, 1, 0, 0},
		{0x77, KEY, 0x77, 0, KEY},
		{0, 1, 0, 0, 1} /* OpenSM's */,
		{0, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		draw(&g, IBA_SM_NOT_ACTIVE);
		g.cfg.m_key = cases[i].own_m_key;
		g.cfg.sm_key = cases[i].own_sm_key;
		g.dev[OTHER].sm.sm_key = cases[i].own_sm_key;
		rig_start(&g);
		run_ready(&g);
		assert_int_equal(ask(&g, cases[i].m_key, cases[i].sm_key).sm_key, cases[i].shown);
		rig_close(&g);
	}
}

TEST(act_count_counts_what_the_manager_does)
{
	struct iba_sm_info first, second;
	struct rig g;

	draw(&g, IBA_SM_NOT_ACTIVE);
	rig_start(&g);
	run_ready(&g);
	first = ask(&g, 0, 0);
	second = ask(&g, 0, 0);
	assert_true(second.act_count > first.act_count);
	assert_true(first.act_count >= smps(&g));
	assert_int_equal(second.state, IBA_SM_MASTER);
	assert_int_equal(second.priority, 5);
	rig_close(&g);
}

/* OpenSM passes over such managers, too. One without a key may be a Weft that does not know this one. */
TEST(managers_with_another_key_are_passed_over)
{
	static const struct {
		uint64_t m_key, shown;
		bool stands_by;
	} cases[] = {
		{0, KEY, true}, {0, 0, true}, {0, 1, false}, {0x77, 0, false}, {0x77, KEY, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		draw(&g, IBA_SM_MASTER);
		g.cfg.m_key = cases[i].m_key;
		g.dev[OTHER].sm.sm_key = cases[i].shown;
		rig_start(&g);
		run_to(&g, cases[i].stands_by ? IBA_SM_STANDBY : IBA_SM_MASTER);
		assert_int_equal(count_notes(&g, SM_NOTE_OTHER_KEY), !cases[i].stands_by);
		rig_close(&g);
	}
}

/* ---- orders ---- */

static unsigned order(struct rig *g, unsigned what, uint64_t key, uint64_t guid)
{
	struct iba_sm_info si = {
		.guid = guid, .sm_key = key, .priority = 3, .state = IBA_SM_MASTER};
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_SM_INFO, what);
	iba_sm_info_put(&si, iba_smp_data(mad));
	give_smp(g, mad, lid_of(g, OTHER));
	return iba_smp_status(g->out.sends.at[0].mad);
}

static uint64_t other_guid(const struct rig *g)
{
	return g->dev[OTHER].guid + 1;
}

TEST(an_order_needs_the_key)
{
	static const uint64_t wrong[] = {0, 1, KEY + 1, UINT64_MAX};
	struct rig g;

	draw(&g, IBA_SM_MASTER);
	rig_start(&g);
	run_to(&g, IBA_SM_STANDBY);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		for (unsigned what = IBA_SM_ACKNOWLEDGE; what <= IBA_SM_DISCOVER; what++)
			assert_int_equal(order(&g, what, wrong[i], other_guid(&g)),
					 IBA_STATUS_BAD_FIELD);
	assert_int_equal(status(&g).state, IBA_SM_STANDBY);
	assert_int_equal(status(&g).orders_refused, 16);
	assert_int_equal(count_notes(&g, SM_NOTE_ORDER), 1); /* one a second */
	assert_int_equal(g.notes.at[g.notes.n - 1].election.from, other_guid(&g));
	assert_int_equal(order(&g, IBA_SM_DISABLE, KEY, other_guid(&g)), 0);
	assert_int_equal(status(&g).state, IBA_SM_NOT_ACTIVE);
	rig_close(&g);
}

/* What made a manager discover everything 141 times. With the key, from a manager that stands by, it looks once: the
 * sender may have been Master for a moment. */
TEST(forged_handovers_cost_next_to_nothing)
{
	static const uint64_t keys[] = {0, 1, KEY};

	for (unsigned s = IBA_SM_STANDBY; s <= IBA_SM_MASTER; s++)
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			for (unsigned known = 0; known < 2; known++) {
				bool friend = s == IBA_SM_MASTER && keys[k] == KEY && known;
				struct rig g;
				uint64_t before;
				uint32_t rounds;

				draw(&g, s == IBA_SM_MASTER ? IBA_SM_STANDBY : IBA_SM_MASTER);
				rig_start(&g);
				run_to(&g, s);
				if (s == IBA_SM_MASTER)
					run_ready(&g);
				before = smps(&g);
				rounds = status(&g).rounds;
				for (unsigned i = 0; i < 141; i++)
					order(&g, IBA_SM_HANDOVER, keys[k],
					      known ? other_guid(&g) : 0x9999);
				run_for(&g, PS_PER_S);
				assert_int_equal(status(&g).state, s);
				assert_int_equal(status(&g).rounds, rounds + friend);
				assert_in_range(smps(&g) - before, 0, friend ? 60 : 20);
				assert_true(friend || status(&g).orders_refused > 0);
				rig_close(&g);
			}
}

/* OpenSM before 3.3.21 hands over with key 0: true if the manager that is polled says so when it is asked. */
TEST(a_handover_without_a_key_is_checked)
{
	struct rig g;

	draw(&g, IBA_SM_MASTER);
	rig_start(&g);
	run_to(&g, IBA_SM_STANDBY);
	assert_int_equal(order(&g, IBA_SM_HANDOVER, 0, 0x9999), IBA_STATUS_BAD_FIELD);
	g.dev[OTHER].sm.state = IBA_SM_STANDBY;
	assert_int_equal(order(&g, IBA_SM_HANDOVER, 0, other_guid(&g)), 0);
	run_to(&g, IBA_SM_MASTER);
	assert_int_equal(g.dev[OTHER].order, IBA_SM_ACKNOWLEDGE);
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

/* ---- a manager that nobody reported ---- */

TEST(a_manager_that_polls_is_asked_back)
{
	struct rig g;

	draw(&g, IBA_SM_NOT_ACTIVE);
	g.dev[OTHER].pi[1].cap_mask = 0; /* no IsSM when it was discovered, and no trap since */
	rig_start(&g);
	run_ready(&g);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_SM_INFO), 0);
	g.dev[OTHER].sm.state = IBA_SM_STANDBY;
	g.dev[OTHER].sm.priority = 9;
	ask(&g, 0, 0);
	run_to(&g, IBA_SM_STANDBY);
	assert_int_equal(g.dev[OTHER].order, IBA_SM_HANDOVER);
	assert_int_equal(sm_master_guid(g.sm), other_guid(&g));
	rig_close(&g);
}

TEST(questions_cost_little)
{
	struct rig g;
	uint64_t before;

	draw(&g, IBA_SM_NOT_ACTIVE);
	g.dev[OTHER].mute = false;
	rig_start(&g);
	run_ready(&g);
	g.dev[OTHER].mute = true; /* a tool that asks, and no manager */
	before = smps(&g);
	for (unsigned i = 0; i < 1000; i++)
		ask(&g, 0, 0);
	assert_in_range(smps(&g) - before, 0, 8);
	rig_close(&g);
}

/* Time passes, to the picosecond. */
static void pass(struct rig *g, time_ps t)
{
	time_ps end = g->now + t, next;

	for (;;) {
		next = g->wake;
		for (size_t i = 0; i < g->air.n; i++)
			next = MIN(next, g->air.at[i].when);
		if (next > end)
			break;
		assert_true(one_event(g));
	}
	g->now = end;
}

/* A tool, behind a port where no manager answers, asks again and again. */
static void tool_asks(struct rig *g)
{
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_dr_slid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(mad, 2);
	iba_smp_return_path(mad)[1] = 3;
	iba_smp_return_path(mad)[2] = 1;
	give_smp(g, mad, IBA_LID_PERMISSIVE);
}

/*
 * Two masters, one of which was stopped, and a tool that asks this one every few milliseconds: the first poll of the other
 * master tells this one, whatever it last knew of it. There are no sweeps here.
 */
TEST(a_tool_that_asks_does_not_hide_another_master)
{
	for (unsigned known = 0; known < 2; known++) {
		time_ps end;
		struct rig g;

		draw(&g, IBA_SM_STANDBY);
		g.dev[OTHER].pi[1].cap_mask = known ? IBA_CAP_IS_SM : 0;
		rig_start(&g);
		run_ready(&g);
		g.dev[OTHER].sm.state = IBA_SM_MASTER;
		g.dev[OTHER].sm.priority = 9;
		if (known)
			sm_other_find(g.sm, other_guid(&g))->silent = true;
		for (unsigned i = 0; i < 200; i++) {
			tool_asks(&g);
			pass(&g, 5 * PS_PER_MS);
		}
		ask(&g, 0, 0);
		for (end = g.now + g.cfg.standby_poll_ps; status(&g).state != IBA_SM_STANDBY;) {
			tool_asks(&g);
			pass(&g, 5 * PS_PER_MS);
			assert_true(g.now < end);
		}
		assert_int_equal(g.dev[OTHER].order, IBA_SM_HANDOVER);
		rig_close(&g);
	}
}

/* It ended, and another one is in its place that polls as it did, with a higher priority. No sweep tells. */
TEST(a_standby_that_started_again_is_asked_back)
{
	struct rig g;

	draw(&g, IBA_SM_STANDBY);
	rig_start(&g);
	run_ready(&g);
	for (unsigned i = 0; i < 20; i++) {
		ask(&g, 0, 0);
		pass(&g, g.cfg.standby_poll_ps);
	}
	/* One request for each, and one in five polls. */
	assert_in_range(count_sends(&g, IBA_GET, IBA_ATTR_SM_INFO), 2, 8);
	g.dev[OTHER].sm.priority = 9;
	for (unsigned i = 0; i < g.cfg.standby_tries + 2 && status(&g).state != IBA_SM_STANDBY;
	     i++) {
		ask(&g, 0, 0);
		pass(&g, g.cfg.standby_poll_ps);
	}
	assert_int_equal(g.dev[OTHER].order, IBA_SM_HANDOVER);
	assert_int_equal(status(&g).state, IBA_SM_STANDBY);
	rig_close(&g);
}

/*
 * A master asks a manager that has just started, which asks back. Its discovery starts again before the answer comes:
 * it stands by, and knows its own GUID, else the master would pass it over for ever.
 */
TEST(a_manager_that_stands_by_early_knows_its_guid)
{
	struct iba_sm_info si;
	uint8_t mad[IBA_MAD_SIZE];
	struct rig g;

	draw(&g, IBA_SM_MASTER);
	rig_start(&g);
	while (!sm_own_guid(g.sm))
		assert_true(one_event(&g));
	assert_int_equal(status(&g).state, IBA_SM_DISCOVERING);
	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_dr_slid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(mad, 3);
	iba_smp_return_path(mad)[1] = 2;
	iba_smp_return_path(mad)[2] = 2;
	iba_smp_return_path(mad)[3] = 1;
	g.air.n = 0; /* nothing else is answered before */
	give_smp(&g, mad, IBA_LID_PERMISSIVE);
	assert_int_equal(g.air.n, 1);
	g.now += PS_PER_S; /* a pause: the discovery starts again */
	memset(mad, 0, sizeof(mad));
	give_smp(&g, mad, 0);
	assert_int_equal(g.sm->topo.nodes.n, 0);
	run_to(&g, IBA_SM_STANDBY);
	sm_info_make(g.sm, &si);
	assert_int_equal(si.guid, g.dev[0].guid + 1);
	rig_close(&g);
}

/* A question before the own port has answered gets no response: the next one is answered with a GUID. */
TEST(a_manager_without_a_guid_is_silent)
{
	struct iba_sm_info si = {0};
	uint8_t mad[IBA_MAD_SIZE];
	struct rig g;

	draw(&g, IBA_SM_STANDBY);
	rig_start(&g);
	assert_int_equal(sm_own_guid(g.sm), 0);
	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_sm_info_put(&si, iba_smp_data(mad));
	give_smp(&g, mad, lid_of(&g, OTHER));
	for (size_t i = 0; i < g.out.sends.n; i++)
		assert_int_not_equal(iba_smp_method(g.out.sends.at[i].mad), IBA_GET_RESP);
	while (!sm_own_guid(g.sm))
		assert_true(one_event(&g));
	assert_int_equal(ask(&g, 0, 0).guid, sm_own_guid(g.sm));
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_key_is_shown_to_managers_that_prove_themselves),
		cmocka_unit_test(act_count_counts_what_the_manager_does),
		cmocka_unit_test(managers_with_another_key_are_passed_over),
		cmocka_unit_test(an_order_needs_the_key),
		cmocka_unit_test(forged_handovers_cost_next_to_nothing),
		cmocka_unit_test(a_handover_without_a_key_is_checked),
		cmocka_unit_test(a_manager_that_polls_is_asked_back),
		cmocka_unit_test(questions_cost_little),
		cmocka_unit_test(a_tool_that_asks_does_not_hide_another_master),
		cmocka_unit_test(a_standby_that_started_again_is_asked_back),
		cmocka_unit_test(a_manager_that_stands_by_early_knows_its_guid),
		cmocka_unit_test(a_manager_without_a_guid_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
