/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of the election against IBA 14.4, written down once more by hand; and every pair of state and
 * event given to a real manager. No state between tests.
 * Covers: election_table.c
 */
#include "sm_fixture.h"

enum { OTHER = 3 };

/* Next states and actions by state: NotActive, Discovering, Standby, Master. */
static const struct {
	enum sm_election_event event;
	const char *next; /* first letters of the states */
	const char *action[SM_NSM_STATES];
} expected[] = {
	{SM_EVENT_START, "DDSM", {"discover", "refuse", "refuse", "refuse"}},
	{SM_EVENT_COMPLETE, "NMSM", {"ignore", "lead", "ignore", "lead"}},
	{SM_EVENT_SAW_MASTER_ABOVE, "NSSM", {"ignore", "stand by", "alive", "hand over"}},
	{SM_EVENT_SAW_MASTER_BELOW, "NSSM", {"ignore", "stand by", "alive", "await"}},
	{SM_EVENT_SAW_STANDBY_HIGHER, "NSSM", {"ignore", "stand by", "alive", "hand over"}},
	{SM_EVENT_SAW_STANDBY_ABOVE, "NSSM", {"ignore", "stand by", "alive", "again later"}},
	{SM_EVENT_SAW_STANDBY_BELOW, "NDDM", {"ignore", "again later", "take over", "again later"}},
	{SM_EVENT_SAW_DISCOVERING_ABOVE, "NSSM", {"ignore", "stand by", "alive", "again later"}},
	{SM_EVENT_SAW_DISCOVERING_BELOW, "NDSM", {"ignore", "again later", "alive", "again later"}},
	{SM_EVENT_SAW_NOT_ACTIVE, "NDSM", {"ignore", "ignore", "miss", "ignore"}},
	{SM_EVENT_SILENT, "NDDM", {"ignore", "ignore", "take over", "read back"}},
	{SM_EVENT_ORDER_HANDOVER, "NDSM", {"refuse", "refuse", "verify", "verify"}},
	{SM_EVENT_ORDER_ACKNOWLEDGE, "NDSM", {"refuse", "refuse", "ignore", "refuse"}},
	{SM_EVENT_ORDER_DISABLE, "NDNM", {"ignore", "refuse", "rest", "refuse"}},
	{SM_EVENT_ORDER_STAND_BY, "SDSM", {"stand by", "refuse", "ignore", "refuse"}},
	{SM_EVENT_ORDER_DISCOVER, "NDDM", {"refuse", "refuse", "take over", "refuse"}},
	{SM_EVENT_ORDER_FORGED, "NDSM", {"refuse", "refuse", "refuse", "refuse"}},
	{SM_EVENT_ORDER_UNKNOWN, "NDSM", {"refuse", "refuse", "refuse", "refuse"}},
	{SM_EVENT_USER_HANDOVER, "NDSM", {"refuse", "refuse", "refuse", "hand over"}},
	{SM_EVENT_ACCEPTED, "NDSS", {"ignore", "ignore", "ignore", "stand by"}},
	{SM_EVENT_YIELDED, "NDMM", {"ignore", "ignore", "read back", "read back"}},
	{SM_EVENT_DEFIED, "NDSM", {"ignore", "ignore", "ignore", "read back"}},
	{SM_EVENT_CLAIMED, "NDSM", {"ignore", "ignore", "ignore", "guard"}},
	{SM_EVENT_FOREIGN, "NDSM", {"ignore", "ignore", "ignore", "guard"}},
	{SM_EVENT_STALLED, "NDSM", {"ignore", "discover", "forgive", "check"}},
	{SM_EVENT_REPLACED, "NDSS", {"ignore", "ignore", "ignore", "stand by"}},
	{SM_EVENT_RELINKED, "NDSD", {"ignore", "ignore", "ignore", "return"}},
};

TEST(every_pair_is_as_expected)
{
	bool seen[SM_NELECTION_EVENTS] = {0};

	for (unsigned i = 0; i < ARRAY_LEN(expected); i++) {
		assert_false(seen[expected[i].event]);
		seen[expected[i].event] = true;
		for (unsigned s = 0; s < SM_NSM_STATES; s++) {
			const struct sm_election_row *r = sm_election_row(s, expected[i].event);

			assert_int_equal(r->state, s);
			assert_int_equal(r->event, expected[i].event);
			assert_int_equal(iba_format_word(IBA_FMT_SM_STATE, r->next)[0],
					 expected[i].next[s]);
			assert_string_equal(sm_election_action_name(r->action),
					    expected[i].action[s]);
		}
	}
	assert_int_equal(ARRAY_LEN(expected), SM_NELECTION_EVENTS);
}

TEST(names_and_texts)
{
	for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++)
		assert_true(*sm_election_event_name(e) && *sm_election_event_text(e));
	for (unsigned a = 0; a < SM_NELECTION_ACTIONS; a++)
		assert_true(*sm_election_action_name(a) && *sm_election_action_text(a));
	assert_string_equal(sm_election_event_name(SM_NELECTION_EVENTS), "?");
	assert_string_equal(sm_election_event_text(SM_NELECTION_EVENTS), "?");
	assert_string_equal(sm_election_action_name(SM_NELECTION_ACTIONS), "?");
	assert_string_equal(sm_election_action_text(SM_NELECTION_ACTIONS), "?");
}

/* ---- a manager in each state ---- */

static void run_to(struct rig *g, enum iba_sm_state s)
{
	for (unsigned i = 0; i < 200000 && status(g).state != s; i++)
		assert_true(one_event(g));
	assert_int_equal(status(g).state, s);
}

/* Something that no SMP carries, or not in this state: given to the manager as a step would. */
static void give(struct rig *g, enum sm_election_event ev)
{
	struct sm_contact at = {.guid = g->dev[OTHER].guid + 1, .port = NONE, .lid = 13};
	struct sm_met m = {.at = &at, .cause = SM_CAUSE_RETRY, .late = PS_PER_S};

	g->out.sends.n = g->out.notes.n = 0;
	g->sm->core.out = &g->out;
	sm_phase_apply(g->sm, sm_election_event(g->sm, ev, m));
	g->sm->core.out = NULL;
}

static void open_in(struct rig *g, enum iba_sm_state s)
{
	bool below = s == IBA_SM_DISCOVERING || s == IBA_SM_MASTER;

	draw_pair(g);
	g->cfg.mechanism = *sm_mechanism_find("weft");
	g->cfg.contest = g->cfg.read_back = true;
	g->cfg.priority = 5;
	g->cfg.sweep_factor = 0;
	g->cfg.sweep_period_ps = PS_PER_S;
	g->dev[OTHER].sm = (struct iba_sm_info){
		.guid = g->dev[OTHER].guid + 1,
		.priority = 1,
		.state = below ? IBA_SM_STANDBY : IBA_SM_MASTER,
	};
	g->dev[OTHER].pi[1].cap_mask = IBA_CAP_IS_SM;
	rig_start(g);
	if (s == IBA_SM_MASTER)
		run_ready(g);
	run_to(g, below ? s : IBA_SM_STANDBY);
	if (s == IBA_SM_NOT_ACTIVE)
		give(g, SM_EVENT_ORDER_DISABLE);
	assert_int_equal(status(g).state, s);
}

/* Afterwards it comes to rest, whatever happened: the other one answers as it did before. */
static void expect_rest(struct rig *g)
{
	time_ps end = g->now + 6 * PS_PER_S;

	while (g->now < end && g->wake != TIME_NEVER)
		one_event(g);
	if (status(g).state == IBA_SM_MASTER) {
		run_ready(g);
		expect_up(g);
	} else {
		assert_int_equal(status(g).phase, SM_STANDBY);
	}
	assert_true(status(g).state != IBA_SM_DISCOVERING);
}

TEST(every_pair_is_taken_by_a_manager)
{
	for (unsigned s = 0; s < SM_NSM_STATES; s++)
		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
			const struct sm_election_row *r = sm_election_row(s, e);
			uint64_t before;
			struct rig g;

			open_in(&g, s);
			before = sm_election_taken(g.sm, s, e);
			give(&g, e);
			if (status(&g).state != r->next)
				fail_msg("in %s upon %s", iba_format_word(IBA_FMT_SM_STATE, s),
					 sm_election_event_name(e));
			assert_int_equal(sm_election_taken(g.sm, s, e), before + 1);
			assert_int_equal(status(&g).orders_refused, r->action == SM_ACTION_REFUSE);
			step(&g, (struct sm_event){.kind = SM_EV_WAKE});
			expect_rest(&g);
			rig_close(&g);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_is_as_expected),
		cmocka_unit_test(names_and_texts),
		cmocka_unit_test(every_pair_is_taken_by_a_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
