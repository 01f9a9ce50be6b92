/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane as a whole, against known figures: the thesis's measurements (Fig. 49), queueing theory,
 * routes with and without deadlock. Does not test single mechanisms: test_plane_link.c and
 * test_plane_switch.c do.
 * Covers: plane.c, plane_events.c, plane_pools.c, plane_host.c, deadlock.c, plane_drain_check.c
 */
#include "plane_fixture.h"

#include "lab/lab.h"

/* ---- validation (thesis 4.2.5) ---- */

/* Fig. 49(a): three hosts on each of two switches, the receiver on a third between them. Host 6 is
 * the receiver. */
static struct fab *draw_fig49(unsigned width)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[3];

	for (unsigned i = 0; i < 3; i++)
		sw[i] = draw_switch(b, 4);
	for (unsigned i = 0; i < 6; i++)
		draw_rated_link(b, sw[i / 3], 1 + i % 3, draw_host(b, 1), 1, width, FAB_SDR);
	draw_rated_link(b, sw[2], 1, draw_host(b, 1), 1, width, FAB_SDR);
	draw_rated_link(b, sw[0], 4, sw[2], 2, width, FAB_SDR);
	draw_rated_link(b, sw[1], 4, sw[2], 3, width, FAB_SDR);
	return fab_build(b);
}

/* Bits a second at the receiver when all six together send `sent`: bits of whole packets as they
 * are on the wire, headers and CRCs included, flow control not. */
static uint64_t fig49(unsigned width, uint64_t sent)
{
	struct pworld w;
	time_ps span = 4 * PS_PER_MS / width;
	struct traffic_config c = {.pattern = TRAFFIC_INCAST,
				   .arrivals = TRAFFIC_CONSTANT,
				   .hot_host = 6,
				   .payload = 256,
				   .interval_ps = (256 + PW_BYTES) * 8 * 6 * PS_PER_S / sent,
				   .sl_mask = 0xffff,
				   .stop_ps = span,
				   .seed = 49};
	struct err e;
	uint64_t got;

	pw_open(&w, draw_fig49(width), NULL);
	w.unchecked = true;
	assert_int_equal(sim_traffic(w.sim, &c, &e), 0);
	sim_window(w.sim, span / 4, span);
	pw_run(&w, span);
	pw_check_packets(&w);
	pw_check_buffers(&w);
	got = sim_plane_stats(w.sim)->window_bytes * 8 * PS_PER_S / (span - span / 4);
	pw_drain(&w, 100 * PS_PER_MS);
	assert_int_equal(pw_discarded(&w), 0);
	pw_close(&w);
	return got;
}

/* Received follows sent, and stops at what the last link can carry. */
static void curve49(unsigned width)
{
	/* A packet may have come in just before the window and end in it. */
	uint64_t top = 2000000000ull * width, edge = 2256 * PS_PER_S / (3 * PS_PER_MS / width);

	for (unsigned percent = 20; percent <= 200; percent += 20) {
		uint64_t sent = top / 100 * percent, got = fig49(width, sent);
		uint64_t want = MIN(sent, top);

		if (got > top + edge || got * 100 < want * 99 || got * 100 > want * 101)
			fail_msg("%uX, %u %% sent: %llu b/s received, expected %llu", width,
				 percent, (unsigned long long)got, (unsigned long long)want);
	}
}

TEST(fig49_at_1x)
{
	curve49(1);
}

TEST(fig49_at_4x)
{
	curve49(4);
}

/* ---- one source, one link: M/D/1 ---- */

enum { BATCHES = 20 };

struct batches {
	uint64_t mean[BATCHES];
	uint64_t all;
	unsigned __int128 spread; /* sum of squares of the differences */
};

/* Mean waiting time of each batch, after a tenth of the run. */
static void queue_run(unsigned percent, unsigned batch, struct batches *b)
{
	time_ps service = 282 * 4 * PS_PER_NS, span;
	struct traffic_config c = {.pattern = TRAFFIC_INCAST,
				   .arrivals = TRAFFIC_POISSON,
				   .hot_host = 1,
				   .payload = 256,
				   .interval_ps = service * 100 / percent,
				   .stop_ps = TIME_NEVER,
				   .seed = 2024};
	struct sim_config sc;
	struct pworld w;
	struct err e;
	uint64_t sum = 0;

	pw_config(&sc);
	sc.plane.link_arb_ps = 0; /* else every packet that finds the link idle waits for it too */
	pw_open(&w, draw_pair(1, FAB_SDR), &sc);
	w.unchecked = true;
	assert_int_equal(sim_traffic(w.sim, &c, &e), 0);
	span = batch * c.interval_ps;
	pw_run(&w, span * BATCHES / 10);
	for (unsigned i = 0; i < BATCHES; i++) {
		time_ps from = sim_now(w.sim);

		sim_window(w.sim, from, from + span);
		pw_run(&w, from + span);
		/* Without the packet itself and the cable. */
		b->mean[i] =
			hist_mean(&sim_plane_stats(w.sim)->latency) - service - 100 * PS_PER_NS;
		sum += b->mean[i];
	}
	b->all = sum / BATCHES;
	b->spread = 0;
	for (unsigned i = 0; i < BATCHES; i++) {
		int64_t d = (int64_t)(b->mean[i] - b->all);

		b->spread += (unsigned __int128)((__int128)d * d);
	}
	pw_close(&w);
}

/* rho / (2 (1 - rho)) service times, within the 99 % confidence interval of the batch means
 * (Student's t for 19 degrees: 2.861), and that interval narrow enough to tell something. */
static void queue_test(unsigned percent, unsigned batch, unsigned narrow)
{
	struct batches b;
	uint64_t want = 282 * 4 * PS_PER_NS * percent / (2 * (100 - percent));
	uint64_t off;
	unsigned __int128 bound;

	queue_run(percent, batch, &b);
	off = b.all > want ? b.all - want : want - b.all;
	/* (t s / sqrt(B))^2 with s^2 = spread / (B - 1) */
	bound = b.spread * 2861 * 2861 / 1000000 / (BATCHES * (BATCHES - 1));
	if ((unsigned __int128)off * off > bound)
		fail_msg("%u %% load: mean wait %llu ps, expected %llu, interval %llu^2", percent,
			 (unsigned long long)b.all, (unsigned long long)want,
			 (unsigned long long)bound);
	assert_true(bound * 10000 < (unsigned __int128)want * want * narrow * narrow);
}

TEST(queue_at_30_percent)
{
	queue_test(30, 4000, 3);
}

TEST(queue_at_60_percent)
{
	queue_test(60, 8000, 5);
}

TEST(queue_at_90_percent)
{
	queue_test(90, 12000, 10);
}

/* ---- a manager's routes ---- */

/* The ring that locks with all traffic clockwise (test_plane_switch.c), under the same load. */
static void manager_ring(unsigned n)
{
	struct fab *f = draw_ring(n, 2, 4, FAB_SDR);
	struct lab_config c;
	struct traffic_config t = {.pattern = TRAFFIC_SHIFT,
				   .arrivals = TRAFFIC_CONSTANT,
				   .shift = 4,
				   .payload = 256,
				   .interval_ps = 100 * PS_PER_NS,
				   .seed = 4};
	struct err e;
	struct lab *l;
	struct sim *s;
	port_id *ring;

	lab_config_default(&c);
	c.sim.plane.on = true;
	c.sim.plane.buffer_bytes = 1024;
	c.sim.vl_cap = 1;
	c.sim.mtu_cap = 1;
	c.threads = 1;
	l = lab_new(f, &c, &e);
	s = lab_sim(l);
	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, PS_PER_S));
	t.start_ps = sim_now(s);
	t.stop_ps = t.start_ps + 30 * PS_PER_US; /* 300 packets a host */
	assert_int_equal(sim_traffic(s, &t, &e), 0);
	for (unsigned i = 0; i < 400; i++) {
		lab_run_until(l, t.start_ps + i * PS_PER_US);
		assert_int_equal(sim_deadlock(s, &ring), 0);
	}
	lab_run_until(l, t.start_ps + 10 * PS_PER_MS);
	assert_int_equal(sim_plane_stats(s)->generated, 300 * 2 * n);
	assert_int_equal(sim_plane_stats(s)->delivered, 300 * 2 * n);
	assert_int_equal(sim_plane_stats(s)->in_flight, 0);
	lab_free(l);
	fab_free(f);
}

TEST(routes_without_deadlock)
{
	manager_ring(4);
	manager_ring(5);
}

/* ---- hosts ---- */

/* New traffic takes the place of what was planned before. */
TEST(new_traffic_replaces_old)
{
	struct traffic_config c = {.pattern = TRAFFIC_INCAST,
				   .arrivals = TRAFFIC_CONSTANT,
				   .hot_host = 1,
				   .payload = 256,
				   .interval_ps = 2 * PS_PER_US,
				   .stop_ps = PS_PER_MS,
				   .seed = 1};
	struct pworld w;
	struct err e;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	assert_int_equal(sim_traffic(w.sim, &c, &e), 0);
	pw_run(&w, 1);
	c.start_ps = 100 * PS_PER_US;
	c.stop_ps = 200 * PS_PER_US;
	assert_int_equal(sim_traffic(w.sim, &c, &e), 0);
	pw_run(&w, c.start_ps - 1);
	assert_int_equal(sim_plane_stats(w.sim)->generated, 0);
	pw_drain(&w, 2 * PS_PER_MS);
	assert_int_equal(sim_plane_stats(w.sim)->generated, 50);
	pw_close(&w);
}

/* A fast host does not send faster than a slow one can hear, and one that goes off forgets what it
 * had put back. */
TEST(static_rate_control)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw = draw_switch(b, 2);
	struct sim_config c;
	struct pworld w;

	draw_rated_link(b, sw, 1, draw_host(b, 1), 1, 4, FAB_QDR);
	draw_rated_link(b, sw, 2, draw_host(b, 1), 1, 1, FAB_SDR);
	pw_config(&c);
	c.plane.rate_control = true;
	pw_open(&w, fab_build(b), &c);
	w.unchecked = true; /* what is put back lies in no buffer */
	pw_stream(&w, 0, 0, 20, 0, 1, 294, 0);
	pw_start(&w);
	/* One every 1.28 us: host 0 is idle nearly all the time, the switch holds one at most. */
	pw_run(&w, 5 * 1280 * PS_PER_NS + 300 * PS_PER_NS);
	assert_int_equal(sim_port_counters(w.sim, pw_id(&w, 1, 1))->tx_packets, 6);
	sim_node_power(w.sim, 1, false);
	sim_node_power(w.sim, 1, true);
	pw_all_ready(&w);
	pw_drain(&w, PS_PER_MS);
	assert_int_equal(pw_lost(&w, SIM_DISCARD_CLEARED), 14);
	assert_int_equal(pw_delivered(&w), 6);
	pw_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fig49_at_1x),
		cmocka_unit_test(fig49_at_4x),
		cmocka_unit_test(queue_at_30_percent),
		cmocka_unit_test(queue_at_60_percent),
		cmocka_unit_test(queue_at_90_percent),
		cmocka_unit_test(routes_without_deadlock),
		cmocka_unit_test(new_traffic_replaces_old),
		cmocka_unit_test(static_rate_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
