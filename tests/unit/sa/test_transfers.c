/* SPDX-License-Identifier: BSD-2-Clause */
/* Long answers of many hosts at once, and of hosts that never acknowledge one. */
#include "sa_fixture.h"

static struct sa_mad table(struct sa_rig *g, uint16_t lid)
{
	struct sa_ask a = {.attr_id = IBA_SA_PORT, .method = IBA_SA_GET_TABLE, .lid = lid};
	struct sa_mad m;

	sa_ask_mad(g, &a, &m);
	return m;
}

static struct sa_status status(const struct sa_rig *g)
{
	struct sa_status st;

	sa_status(g->sa, &st);
	return st;
}

/* Runs the clock until every transfer was given up. */
static void wait_for_the_end(struct sa_rig *g, time_ps now)
{
	struct sa_mad m;

	for (unsigned i = 0; i < 100 && status(g).transfers; i++) {
		now += 100 * PS_PER_MS;
		sa_wake(g->sa, now);
		while (sa_next(g->sa, &m, now))
			;
	}
	assert_int_equal(status(g).transfers, 0);
	assert_int_equal(status(g).transfer_bytes, 0);
	assert_true(sa_due(g->sa) == TIME_NEVER);
}

TEST(a_host_that_never_answers_has_few_transfers)
{
	struct sa_rig g;
	time_ps now;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	now = sa_rig_now(&g);
	for (unsigned i = 0; i < 3 * SA_TRANSFERS_OF_ONE; i++) {
		struct sa_mad m = table(&g, 2);

		sa_take(g.sa, lab_sm(g.lab), &m, now);
	}
	assert_int_equal(status(&g).transfers, SA_TRANSFERS_OF_ONE);
	for (unsigned i = 0; i < 3; i++) { /* another host is served */
		struct sa_mad m = table(&g, 3);

		sa_take(g.sa, lab_sm(g.lab), &m, now);
	}
	assert_int_equal(status(&g).transfers, SA_TRANSFERS_OF_ONE + 3);
	wait_for_the_end(&g, now);
	assert_int_equal(status(&g).transfers_failed, SA_TRANSFERS_OF_ONE + 3);
	sa_rig_close(&g);
}

/* LIDs need not be of ports: all that a spoofed source costs is bounded. */
TEST(many_hosts_have_many_but_not_more)
{
	struct sa_rig g;
	time_ps now;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	now = sa_rig_now(&g);
	for (unsigned i = 0; i < SA_TRANSFERS + 500; i++) {
		struct sa_mad m = table(&g, (uint16_t)(i % 200 + 1));

		sa_take(g.sa, lab_sm(g.lab), &m, now);
	}
	assert_int_equal(status(&g).transfers, SA_TRANSFERS);
	assert_true(status(&g).transfer_bytes <= SA_TRANSFER_BYTES);
	wait_for_the_end(&g, now);
	sa_rig_close(&g);
}

/* The first segments of all tables go out before any second one. */
TEST(hosts_take_turns)
{
	bool seen[20] = {false};
	struct sa_rig g;
	time_ps now;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	now = sa_rig_now(&g);
	for (unsigned i = 1; i < 15; i++) {
		struct sa_mad m = table(&g, (uint16_t)i);

		sa_take(g.sa, lab_sm(g.lab), &m, now);
	}
	for (unsigned i = 1; i < 15; i++) {
		struct sa_mad m;

		assert_true(sa_next(g.sa, &m, now));
		assert_int_equal(iba_rmpp_segment(m.mad), 1);
		assert_false(seen[m.lid]);
		seen[m.lid] = true;
	}
	wait_for_the_end(&g, now);
	sa_rig_close(&g);
}

/* A request that comes again while its answer is under way is the same one. */
TEST(a_repeated_request_has_one_answer)
{
	struct sa_rig g;
	struct sa_mad m, out;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	m = table(&g, 2);
	for (unsigned i = 0; i < 5; i++)
		sa_take(g.sa, lab_sm(g.lab), &m, sa_rig_now(&g));
	assert_int_equal(status(&g).transfers, 1);
	assert_true(sa_next(g.sa, &out, sa_rig_now(&g)));
	assert_false(sa_next(g.sa, &out, sa_rig_now(&g))); /* the window is one segment */
	sa_rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_never_answers_has_few_transfers),
		cmocka_unit_test(many_hosts_have_many_but_not_more),
		cmocka_unit_test(hosts_take_turns),
		cmocka_unit_test(a_repeated_request_has_one_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
