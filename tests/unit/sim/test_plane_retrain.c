/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that retrain after errors: when, what is lost, and how credits return. The test enables errors for
 * chosen packets. Fixture: plane_fixture.h. Does not test the rate of errors: test_plane_lifetime.c does.
 */
#include "plane_fixture.h"

enum { SIZE = 256 };

static const time_ps retrain = 10 * PS_PER_US;

static void errors(struct pworld *w, bool on)
{
	w->sim->cfg.plane.byte_error_q40 = on ? (uint64_t)1 << 40 : 0;
}

static void retrain_open(struct pworld *w, struct fab *f, unsigned limit)
{
	struct sim_config c;

	pw_config(&c);
	c.plane.retrain_ps = retrain;
	c.plane.fc_refresh = true;
	c.plane.buffer_bytes = 8192; /* damaged packets keep their credit for a while */
	c.phy_errors = (uint8_t)limit;
	pw_open(w, f, &c);
}

/*
 * Two hosts at 1X SDR, two packets at once, the first damaged. Its header comes at 220 ns (arbiter
 * 40, header 80, cable 100), so the link trains until 10,220. Then 40 ns of arbiter, a flow control
 * packet of 24 ns, the second packet (1,128) and the cable.
 */
TEST(one_damaged_packet)
{
	struct pworld w;

	retrain_open(&w, draw_pair(1, FAB_SDR), 0);
	pw_stream(&w, 0, 0, 2, 0, 1, SIZE, 0);
	pw_start(&w);
	errors(&w, true);
	pw_run(&w, 220 * PS_PER_NS);
	errors(&w, false);
	for (node_id n = 0; n < 2; n++) {
		assert_int_equal(pw_port(&w, n, 1)->pi.phys_state, IBA_PHYS_RECOVERY);
		assert_int_equal(pw_port(&w, n, 1)->pi.state, IBA_PORT_ACTIVE);
	}
	pw_run(&w, 10220 * PS_PER_NS - 1);
	assert_int_equal(pw_port(&w, 0, 1)->pi.phys_state, IBA_PHYS_RECOVERY);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 1, SIM_DISCARD_ERROR, 1);
	assert_int_equal(sim_plane_stats(w.sim)->latency.sum,
			 (10220 + 40 + 24 + 1128 + 100) * PS_PER_NS);
	for (node_id n = 0; n < 2; n++) {
		const struct sim_port_counters *c = sim_port_counters(w.sim, pw_id(&w, n, 1));

		assert_int_equal(pw_port(&w, n, 1)->pi.phys_state, IBA_PHYS_LINK_UP);
		assert_int_equal(c->recoveries, 1);
		assert_int_equal(c->downed, 0);
		assert_int_equal(c->errors, n);
	}
	assert_int_equal(sim_plane_stats(w.sim)->recoveries, 1);
	pw_close(&w);
}

/* Without a time for it nothing trains; the refresh alone brings the credit back. */
TEST(links_that_never_train)
{
	struct pworld w;

	retrain_open(&w, draw_pair(1, FAB_SDR), 0);
	w.sim->cfg.plane.retrain_ps = 0;
	pw_stream(&w, 0, 0, 2, 0, 1, SIZE, 0);
	pw_start(&w);
	errors(&w, true);
	pw_run(&w, 220 * PS_PER_NS);
	errors(&w, false);
	pw_run(&w, 3 * PS_PER_US);
	pw_expect(&w, 1, SIM_DISCARD_ERROR, 1);
	pw_drain(&w, PS_PER_MS);
	assert_int_equal(sim_plane_stats(w.sim)->recoveries, 0);
	pw_close(&w);
}

/* Packets to host 1, one every 5 us; those of the text's 'x' are damaged. */
static uint64_t recoveries_of(const char *fates, unsigned limit)
{
	struct pworld w;
	unsigned bad = 0;
	uint64_t n;

	retrain_open(&w, draw_pair(1, FAB_SDR), limit);
	pw_stream(&w, PS_PER_US, 5 * PS_PER_US, (unsigned)strlen(fates), 0, 1, SIZE, 0);
	pw_start(&w);
	for (unsigned i = 0; fates[i]; i++) {
		errors(&w, fates[i] == 'x');
		bad += fates[i] == 'x';
		pw_run(&w, (1 + 5 * i) * PS_PER_US + 230 * PS_PER_NS);
		errors(&w, false); /* flow control comes through */
		pw_run(&w, (1 + 5 * (i + 1)) * PS_PER_US - 1);
	}
	pw_drain(&w, PS_PER_MS);
	n = sim_plane_stats(w.sim)->recoveries;
	if (!n)
		pw_expect(&w, strlen(fates) - bad, SIM_DISCARD_ERROR, bad);
	pw_close(&w);
	return n;
}

/* Good packets take back what damaged ones count. */
TEST(rare_errors_do_not_retrain)
{
	assert_int_equal(recoveries_of("x", 0), 1);
	assert_int_equal(recoveries_of("x", 1), 0);
	assert_int_equal(recoveries_of("xx", 1), 1);
	assert_int_equal(recoveries_of("x.x.x.x.x.x", 1), 0);
	assert_int_equal(recoveries_of("x.xx.xx", 2), 1); /* 1 0 1 2 1 2 3 */
	assert_int_equal(recoveries_of("x.xx.xx", 3), 0);
	assert_int_equal(recoveries_of("xxxxxxxxxxxxxxx", 15), 0);
	assert_int_equal(recoveries_of("xxxxxxxxxxxxxxxx", 15), 1);
}

/* Whenever it strikes: what is on the cable is lost, two packets at most each way; what lies in
 * buffers stays, nothing is lost twice, and every credit comes back. */
TEST(packets_on_the_cable_are_lost)
{
	uint64_t lost = 0;

	for (time_ps t = 0; t < 4 * PS_PER_US; t += 37 * PS_PER_NS) {
		struct pworld w;

		retrain_open(&w, draw_star(2, 1, FAB_SDR), 0);
		pw_stream(&w, 0, 600 * PS_PER_NS, 20, 1, 0, SIZE, 0);
		pw_stream(&w, 0, 700 * PS_PER_NS, 20, 0, 1, SIZE, 1);
		pw_start(&w);
		pw_run(&w, t);
		w.sim->nodes[0].si.port_state_change = 0;
		retrain_error(&w.sim->main, pw_id(&w, 0, 1));
		pw_drain(&w, PS_PER_MS);
		assert_true(pw_lost(&w, SIM_DISCARD_RETRAINING) <= 4);
		pw_expect(&w, 40 - pw_lost(&w, SIM_DISCARD_RETRAINING), SIM_DISCARD_RETRAINING,
			  pw_lost(&w, SIM_DISCARD_RETRAINING));
		assert_int_equal(w.sim->nodes[0].si.port_state_change, 0);
		lost += pw_lost(&w, SIM_DISCARD_RETRAINING);
		pw_close(&w);
	}
	assert_true(lost > 100);
}

/* A head that waits for the training waits for its life-time at most. */
TEST(traffic_continues_after_retraining)
{
	struct pworld w;

	retrain_open(&w, draw_star(2, 1, FAB_SDR), 0);
	pw_port(&w, 0, 1)->pi.hoq_life = 0; /* 4.096 us */
	pw_stream(&w, 0, 0, 2, 1, 0, SIZE, 0);
	pw_start(&w);
	retrain_error(&w.sim->main, pw_id(&w, 0, 1));
	pw_run(&w, 4497 * PS_PER_NS); /* 402 ns until it is there: see test_plane_link.c */
	pw_expect(&w, 0, SIM_DISCARD_LIFETIME, 0);
	pw_run(&w, 4498 * PS_PER_NS);
	pw_expect(&w, 0, SIM_DISCARD_LIFETIME, 1);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 0, SIM_DISCARD_LIFETIME, 2);
	pw_close(&w);
}

/* Training that fails: Down and, trained from the beginning, Initialize; the switch notices. */
TEST(training_fails)
{
	struct pworld w;

	retrain_open(&w, draw_star(2, 1, FAB_SDR), 0);
	w.sim->cfg.plane.retrain_fail_q32 = (uint64_t)1 << 32;
	w.sim->cfg.training_ps = 5 * PS_PER_US;
	w.sim->nodes[0].si.port_state_change = 0;
	retrain_error(&w.sim->main, pw_id(&w, 0, 1));
	pw_run(&w, retrain - 1);
	assert_int_equal(w.sim->nodes[0].si.port_state_change, 0);
	pw_run(&w, retrain);
	assert_int_equal(w.sim->nodes[0].si.port_state_change, 1);
	assert_int_equal(pw_port(&w, 0, 1)->pi.state, IBA_PORT_DOWN);
	pw_run(&w, retrain + 5 * PS_PER_US);
	for (node_id n = 0; n < 2; n++) {
		assert_int_equal(pw_port(&w, n, 1)->pi.state, IBA_PORT_INIT);
		assert_int_equal(pw_port(&w, n, 1)->pi.phys_state, IBA_PHYS_LINK_UP);
		assert_int_equal(sim_port_counters(w.sim, pw_id(&w, n, 1))->downed, 1);
		assert_int_equal(sim_port_counters(w.sim, pw_id(&w, n, 1))->recoveries, 0);
	}
	pw_all_ready(&w);
	pw_packet(&w, sim_now(w.sim), 1, 0, SIZE, 0);
	pw_start(&w);
	pw_drain(&w, PS_PER_MS);
	assert_int_equal(pw_delivered(&w), 1);
	pw_close(&w);
}

/* Cables and nodes that go while their link trains take the training with them. */
TEST(changes_while_a_link_retrains)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pworld w;

		retrain_open(&w, draw_star(2, 1, FAB_SDR), 0);
		retrain_error(&w.sim->main, pw_id(&w, 0, 1));
		pw_run(&w, retrain / 2);
		if (i == 0) {
			sim_uncable(w.sim, pw_id(&w, 0, 1));
			sim_cable(w.sim, pw_id(&w, 0, 1), pw_id(&w, 1, 1));
		} else {
			sim_node_power(w.sim, i - 1, false);
			sim_node_power(w.sim, i - 1, true);
		}
		pw_all_ready(&w);
		pw_packet(&w, sim_now(w.sim), 1, 0, SIZE, 0);
		pw_packet(&w, sim_now(w.sim), 0, 1, SIZE, 0);
		pw_start(&w);
		pw_run(&w, sim_now(w.sim) + 4 * PS_PER_US); /* before the training would end */
		assert_int_equal(pw_delivered(&w), 2);
		pw_drain(&w, PS_PER_MS);
		assert_int_equal(sim_plane_stats(w.sim)->recoveries, 0);
		pw_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_damaged_packet),
		cmocka_unit_test(links_that_never_train),
		cmocka_unit_test(rare_errors_do_not_retrain),
		cmocka_unit_test(packets_on_the_cable_are_lost),
		cmocka_unit_test(traffic_continues_after_retraining),
		cmocka_unit_test(training_fails),
		cmocka_unit_test(changes_while_a_link_retrains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
