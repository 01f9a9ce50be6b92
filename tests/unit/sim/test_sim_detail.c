/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics by host, node, link and VL, on links where each figure can be computed by hand: 1X SDR is 4
 * ns a byte, a packet of 256 bytes is 282 on the wire. State: one small fabric for each test.
 * Covers: sim_detail.c, sim_stats.c
 */
#include "plane_fixture.h"
#include "sim/stats/sim_detail.h"

enum { WIRE = 256 + PW_BYTES, MILLION = 1000000 };

static const time_ps packet_ps = WIRE * 4 * PS_PER_NS;

TEST(a_busy_link)
{
	struct pworld w;
	struct sim_port_detail d;
	struct sim_lane_detail l;
	time_ps start;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_run(&w, 10 * PS_PER_MS);
	start = sim_now(w.sim);
	sim_detail_start(w.sim);
	pw_stream(&w, start, 0, 10, 0, 1, 256, 0); /* ten at once: nine wait */
	pw_start(&w);
	pw_run(&w, start + 20 * packet_ps);
	sim_port_detail(w.sim, pw_id(&w, 0, 1), &d);
	assert_int_equal(d.busy, 10 * packet_ps);
	assert_true(d.wait >= 40 * PS_PER_NS &&
		    d.wait < PS_PER_US); /* the arbiter's time, no more */
	sim_lane_detail(w.sim, pw_id(&w, 0, 1), 0, &l);
	assert_int_equal(l.packets, 10);
	assert_int_equal(l.bytes, 10 * WIRE);
	assert_int_equal(l.no_credit, 0);
	sim_lane_detail(w.sim, pw_id(&w, 0, 1), 1, &l);
	assert_int_equal(l.packets, 0);
	pw_close(&w);
}

/* In a window that opens and closes while the link is busy, it is busy all the time. */
TEST(shares_are_of_the_window)
{
	struct pworld w;
	struct sim_port_detail d;
	struct sim_lane_detail l;
	const struct sim_host_detail *h;
	time_ps start;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_run(&w, 10 * PS_PER_MS);
	start = sim_now(w.sim);
	sim_detail_start(w.sim);
	sim_window(w.sim, start + 2 * packet_ps, start + 6 * packet_ps);
	pw_stream(&w, start, 0, 10, 0, 1, 256, 0);
	pw_start(&w);
	pw_run(&w, start + 30 * packet_ps);
	sim_port_detail(w.sim, pw_id(&w, 0, 1), &d);
	assert_int_equal(d.use, MILLION);
	assert_int_equal(d.wait_share, 0);
	assert_int_equal(d.queue_max, 8); /* the second was on the wire when the window opened */
	/* 8 while the arbiter thinks (40 of 4512 ns), then 7, 6, 5 and 4 */
	assert_int_equal(d.queue_milli, 5535);
	sim_lane_detail(w.sim, pw_id(&w, 0, 1), 0, &l);
	assert_int_equal(l.queue_milli, d.queue_milli);
	assert_in_range(l.credits, 1, MILLION - 1); /* some are always on their way */
	h = sim_host_detail(w.sim, 1);
	assert_int_equal(h->delivered, 10);
	assert_int_equal(h->window_delivered, 4);
	assert_int_equal(h->window_bytes, 4 * WIRE);
	assert_int_equal(h->latency.n, 4);
	assert_int_equal(h->header.n, 4);
	/* arbiter 40 ns, wire 100 ns, header 80 ns; the header of the sixth is in, its tail is not
	 */
	assert_int_equal(h->latency.max, 5 * packet_ps + 140 * PS_PER_NS);
	assert_int_equal(h->header.max, 5 * packet_ps + 220 * PS_PER_NS);
	assert_int_equal(sim_host_detail(w.sim, 0)->generated, 10);
	assert_int_equal(sim_host_detail(w.sim, 0)->window_generated, 0);
	pw_close(&w);
}

/* Two hosts send to a third as fast as they can: buffers fill, and credits are what they wait for.
 */
TEST(waiting_for_credit)
{
	struct pworld w;
	struct sim_port_detail d;
	struct sim_lane_detail l;
	time_ps start;

	pw_open(&w, draw_star(3, 1, FAB_SDR), NULL);
	w.unchecked = true;
	pw_run(&w, 10 * PS_PER_MS);
	start = sim_now(w.sim);
	sim_detail_start(w.sim);
	pw_stream(&w, start, packet_ps, 200, 0, 2, 256, 0);
	pw_stream(&w, start, packet_ps, 200, 1, 2, 256, 0);
	pw_start(&w);
	sim_window(w.sim, start + 100 * packet_ps, start + 200 * packet_ps);
	pw_run(&w, start + 200 * packet_ps);
	sim_port_detail(w.sim, pw_id(&w, 0, 3), &d);
	assert_true(d.use > 900000); /* to the third: idle only while the crossbar sets up */
	for (node_id host = 1; host <= 2; host++) {
		sim_port_detail(w.sim, pw_id(&w, host, 1), &d);
		sim_lane_detail(w.sim, pw_id(&w, host, 1), 0, &l);
		assert_in_range(d.use, 400000, 550000);
		assert_true(l.no_credit_share > 300000 && l.no_credit_share <= MILLION);
		assert_true(d.wait_share + d.use <= MILLION && d.wait_share > 300000);
		assert_true(l.credits < 200000);
		sim_lane_detail(w.sim, pw_id(&w, 0, host), 0,
				&l); /* the buffer those credits are for */
		assert_true(l.buffer > 700000 && l.buffer <= l.buffer_max &&
			    l.buffer_max <= MILLION);
		assert_int_equal(l.no_credit, 0);
	}
	pw_run(&w, start + 600 * packet_ps);
	assert_int_equal(sim_host_detail(w.sim, 2)->delivered, 400);
	sim_lane_detail(w.sim, pw_id(&w, 1, 1), 0, &l);
	assert_true(l.no_credit < 400 * packet_ps);
	pw_close(&w);
}

/* Each discard has a place, a reason and a sender. */
TEST(discards_are_counted_where_they_happen)
{
	struct pworld w;
	time_ps start;

	pw_open(&w, draw_star(3, 1, FAB_SDR), NULL);
	pw_run(&w, 10 * PS_PER_MS);
	start = sim_now(w.sim);
	sim_detail_start(w.sim);
	pw_lft_set(&w, 0, PW_LID0 + 2, IBA_PORT_NONE);
	pw_stream(&w, start, packet_ps, 5, 0, 2, 256, 0);
	pw_stream(&w, start, packet_ps, 3, 1, 2, 256, 0);
	pw_stream(&w, start, packet_ps, 2, 1, 0, 256, 0);
	pw_start(&w);
	pw_run(&w, start + 50 * packet_ps);
	for (unsigned i = 0; i < SIM_NDISCARDS; i++) { /* at the ports they came in by */
		assert_int_equal(sim_port_discards(w.sim, pw_id(&w, 0, 1))[i],
				 i == SIM_DISCARD_UNROUTABLE ? 5 : 0);
		assert_int_equal(sim_port_discards(w.sim, pw_id(&w, 0, 2))[i],
				 i == SIM_DISCARD_UNROUTABLE ? 3 : 0);
	}
	assert_int_equal(sim_host_detail(w.sim, 0)->lost, 5);
	assert_int_equal(sim_host_detail(w.sim, 1)->lost, 3);
	assert_int_equal(sim_host_detail(w.sim, 0)->delivered, 2);
	pw_close(&w);
}

/* A node that goes off takes its queues along; afterwards the books start from nothing. */
TEST(power_off_empties_queues)
{
	struct pworld w;
	struct sim_port_detail d;
	time_ps start, wait;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_run(&w, 10 * PS_PER_MS);
	start = sim_now(w.sim);
	sim_detail_start(w.sim);
	pw_stream(&w, start, 0, 10, 0, 1, 256, 0);
	pw_start(&w);
	pw_run(&w, start + 3 * packet_ps);
	assert_true(sim_lane_queue(w.sim, pw_id(&w, 0, 1), 0) > 0);
	sim_node_power(w.sim, 0, false);
	assert_int_equal(sim_lane_queue(w.sim, pw_id(&w, 0, 1), 0), 0);
	sim_port_detail(w.sim, pw_id(&w, 0, 1), &d);
	wait = d.wait;
	pw_run(&w, start + 20 * packet_ps);
	sim_port_detail(w.sim, pw_id(&w, 0, 1), &d);
	assert_int_equal(d.wait, wait); /* nothing waits any more */
	assert_int_equal(sim_host_detail(w.sim, 0)->lost + sim_host_detail(w.sim, 1)->delivered,
			 10);
	pw_close(&w);
}

static uint64_t hash_of(bool detail)
{
	struct pworld w;
	uint64_t hash;

	pw_open(&w, draw_ring(4, 2, 1, FAB_SDR), NULL);
	w.unchecked = true;
	if (detail)
		sim_detail_start(w.sim);
	pw_run(&w, 10 * PS_PER_MS);
	for (uint32_t h = 0; h < 8; h++)
		pw_stream(&w, 10 * PS_PER_MS, 2 * packet_ps, 50, h, (h + 3) % 8, 256, h);
	pw_start(&w);
	pw_run(&w, 12 * PS_PER_MS);
	hash = sim_hash(w.sim);
	pw_close(&w);
	return hash;
}

TEST(counting_does_not_change_the_run)
{
	assert_true(hash_of(false) == hash_of(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_link),
		cmocka_unit_test(shares_are_of_the_window),
		cmocka_unit_test(waiting_for_credit),
		cmocka_unit_test(discards_are_counted_where_they_happen),
		cmocka_unit_test(power_off_empties_queues),
		cmocka_unit_test(counting_does_not_change_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
