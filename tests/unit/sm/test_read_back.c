/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets that are repeated, late or doubled: what the audit reads back, that it finds every late copy, and a
 * manager that was stopped itself. State: struct rig, and the one copy that a test holds back. Does not use
 * the simulator.
 * Covers: audit_state.c, read_back.c, transactions.c
 */
#include "sm_fixture.h"

/* ---- one Set that goes astray ---- */

enum fate {
	LOSE_RESPONSE, /* carried out; the manager repeats it */
	DELAY,	       /* carried out after the next Set of the same item, once it was repeated */
	DOUBLE,	       /* carried out at once, and again after the next Set of the same item */
};

static struct {
	enum fate fate;
	unsigned place; /* which Set, from 1; 0: none */
	unsigned count;
	uint64_t tid;
	bool held; /* a copy is under way */
	unsigned dev, in_port;
	struct sm_send copy;
	time_ps until; /* it arrives before that */
	struct dev before[MAX_DEVS];
	bool undid; /* it changed what a later Set had written */
} astray;

static bool is_same_item(const struct sm_send *a, const struct sm_send *b)
{
	return iba_smp_attr_id(a->mad) == iba_smp_attr_id(b->mad) &&
	       iba_smp_attr_mod(a->mad) == iba_smp_attr_mod(b->mad);
}

static void copy_arrives(struct rig *g)
{
	uint8_t resp[IBA_MAD_SIZE];
	struct dev was = g->dev[astray.dev];

	memcpy(resp, astray.copy.mad, IBA_MAD_SIZE);
	answer(&g->dev[astray.dev], astray.in_port, resp);
	note_stop(g, astray.dev, &astray.copy);
	astray.held = false;
	astray.undid = memcmp(&was, &g->dev[astray.dev], sizeof(was)) != 0;
	fly(g, g->now + 10 * PS_PER_US, resp, 0);
}

/* The port that the request came in by: every device of these fabrics has one way to the manager. */
static unsigned way_in(const struct rig *g, const struct sm_send *s)
{
	unsigned dev, in_port;

	assert_true(find_target(g, s, &dev, &in_port));
	return in_port;
}

/* True: the response is delivered. */
static bool meddle(struct rig *g, unsigned dev, const struct sm_send *s)
{
	bool set = iba_smp_method(s->mad) == IBA_SET;

	if (set && astray.held && dev == astray.dev && is_same_item(s, &astray.copy) &&
	    iba_smp_tid(s->mad) != astray.tid && g->now < astray.until)
		copy_arrives(g);
	if (set && astray.held && iba_smp_tid(s->mad) == astray.tid)
		astray.until = g->now + sm_timeout(g->sm); /* a copy lives for one timeout */
	if (!set || ++astray.count != astray.place)
		return true;
	astray.tid = iba_smp_tid(s->mad);
	astray.dev = dev;
	astray.in_port = way_in(g, s);
	astray.copy = *s;
	astray.held = astray.fate != LOSE_RESPONSE;
	astray.until = astray.fate == DELAY ? TIME_NEVER : g->now + sm_timeout(g->sm);
	if (astray.fate == DELAY)
		g->dev[dev] = astray.before[dev];
	return astray.fate == DOUBLE;
}

static bool twist_one(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	bool delivered = meddle(g, dev, s);

	(void)resp;
	memcpy(astray.before, g->dev, sizeof(astray.before));
	return delivered;
}

static void expect_as_believed(const struct rig *g)
{
	expect_up(g);
	for (unsigned d = 0; d < g->n; d++)
		for (unsigned e = 0; g->dev[d].type == IBA_NODE_SWITCH && e < g->n; e++)
			assert_true(g->dev[d].gone || g->dev[e].gone ||
				    g->dev[d].si.linear_top >= lid_of(g, e));
}

/* A fabric with provisional and final tables, whose tables change once more when a host leaves. */
static void story(struct rig *g, const char *mechanism)
{
	draw_star(g);
	g->cfg.mechanism = *sm_mechanism_find(mechanism);
	g->cfg.sweep_factor = 0;
	g->twist = twist_one;
	astray.count = 0;
	memset(astray.before, 0, sizeof(astray.before));
	memcpy(astray.before, g->dev, sizeof(astray.before));
	rig_start(g);
	run_ready(g);
	set_gone(g, g->n - 1, true);
	step(g, (struct sm_event){.kind = SM_EV_SWEEP});
	run_ready(g);
}

static const char *const mechanisms[] = {"basic", "improved", "improved+partial", "weft"};

static void each_place(enum fate fate, void (*check)(struct rig *g))
{
	unsigned sets, undone = 0;
	struct rig g;

	for (size_t m = 0; m < ARRAY_LEN(mechanisms); m++) {
		memset(&astray, 0, sizeof(astray));
		story(&g, mechanisms[m]);
		sets = astray.count;
		assert_int_equal(status(&g).smps[SM_FOR_AUDIT], 0);
		rig_close(&g);
		for (unsigned place = 1; place <= sets; place++) {
			memset(&astray, 0, sizeof(astray));
			astray.fate = fate;
			astray.place = place;
			story(&g, mechanisms[m]);
			undone += astray.undid;
			expect_as_believed(&g);
			check(&g);
			rig_close(&g);
		}
	}
	assert_true((undone > 0) == (fate != LOSE_RESPONSE)); /* the test tests something */
}

/* The item, at once and when no copy can be under way; of SwitchInfo the ports of the switch as well. */
static void expect_one_item_read(struct rig *g)
{
	bool sw = iba_smp_attr_id(astray.copy.mad) == IBA_ATTR_SWITCH_INFO;

	assert_int_equal(status(g).retries, 1);
	assert_in_range(status(g).smps[SM_FOR_AUDIT], 1, 2 * (sw ? 1 + 8 : 1));
}

TEST(a_repeated_set_is_read_back_and_nothing_else)
{
	each_place(LOSE_RESPONSE, expect_one_item_read);
}

static void expect_mended(struct rig *g)
{
	assert_true(!astray.undid || status(g).smps[SM_FOR_AUDIT] > 0);
}

TEST(a_late_copy_of_a_repeated_set_is_found_at_every_place)
{
	each_place(DELAY, expect_mended);
}

TEST(a_late_copy_of_a_doubled_set_is_found_at_every_place)
{
	each_place(DOUBLE, expect_mended);
}

/* ---- a whole window ---- */

static enum sm_phase silent_in;

static bool first_window_unanswered(struct rig *g, unsigned dev, const struct sm_send *s,
				    uint8_t *resp)
{
	(void)dev;
	(void)s;
	(void)resp;
	return status(g).phase != silent_in || status(g).retries;
}

TEST(a_lost_window_costs_as_many_reads)
{
	static const enum sm_phase phases[] = {SM_CONFIGURE, SM_TABLES, SM_ARM, SM_ACTIVATE};

	for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
		struct rig g;

		draw_star(&g);
		g.cfg.sweep_factor = 0;
		g.twist = first_window_unanswered;
		silent_in = phases[i];
		rig_start(&g);
		run_ready(&g);
		expect_as_believed(&g);
		assert_true(status(&g).retries > 1);
		assert_in_range(status(&g).smps[SM_FOR_AUDIT], status(&g).retries,
				2 * status(&g).retries);
		rig_close(&g);
	}
}

/* ---- a manager that was stopped ---- */

/* Up to a phase that sets something, with requests under way; then time passes. */
static void stop_for(struct rig *g, time_ps pause)
{
	draw_star(g);
	g->cfg.sweep_factor = 0;
	rig_start(g);
	run_phase(g, SM_TABLES);
	assert_true(g->sm->txn.outstanding > 1 && g->air.n > 1);
	g->now = g->wake + pause;
}

TEST(a_pause_of_the_manager_is_no_silence_of_the_devices)
{
	struct rig g;

	for (time_ps pause = 1; pause <= 1000 * PS_PER_S; pause *= 1000) {
		stop_for(&g, pause);
		/* The wake-up comes first: the responses are on their way as long again. */
		step(&g, (struct sm_event){.kind = SM_EV_WAKE});
		assert_int_equal(status(&g).retries, 0);
		run_ready(&g);
		expect_as_believed(&g);
		assert_int_equal(status(&g).retries, 0);
		assert_int_equal(status(&g).smps[SM_FOR_AUDIT], 0);
		rig_close(&g);
	}
}

TEST(after_a_pause_requests_are_repeated_all_the_same)
{
	struct rig g;
	time_ps back;

	stop_for(&g, 3600 * PS_PER_S);
	g.air.n = 0; /* every response was lost */
	back = g.now;
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_int_equal(status(&g).retries, 0);
	assert_int_equal(g.wake - back, sm_timeout(g.sm)); /* not an hour more */
	assert_true(one_event(&g));
	assert_true(status(&g).retries > 0);
	run_ready(&g);
	expect_as_believed(&g);
	rig_close(&g);
}

/* A manager that is late every time still gives up. */
TEST(a_manager_that_is_always_late_gives_up_as_well)
{
	struct rig g;

	draw_pair(&g);
	g.dev[3].mute = true;
	g.cfg.restarts = 0;
	rig_start(&g);
	for (unsigned i = 0; status(&g).phase == SM_DISCOVER; i++) {
		assert_true(i < 1000);
		if (!g.air.n)
			g.now = g.wake + PS_PER_S;
		assert_true(one_event(&g));
	}
	assert_int_equal(status(&g).timeouts, 1);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repeated_set_is_read_back_and_nothing_else),
		cmocka_unit_test(a_late_copy_of_a_repeated_set_is_found_at_every_place),
		cmocka_unit_test(a_late_copy_of_a_doubled_set_is_found_at_every_place),
		cmocka_unit_test(a_lost_window_costs_as_many_reads),
		cmocka_unit_test(a_pause_of_the_manager_is_no_silence_of_the_devices),
		cmocka_unit_test(after_a_pause_requests_are_repeated_all_the_same),
		cmocka_unit_test(a_manager_that_is_always_late_gives_up_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
