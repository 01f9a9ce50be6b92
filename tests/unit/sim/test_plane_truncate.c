/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast packets whose link fails during transmission: a copy that left before the original was
 * truncated must not arrive whole. Fixture: plane_fixture.h. Does not test unicast packets:
 * test_plane_link.c does.
 */
#include "plane_fixture.h"

enum { GROUP = 0xc005, SIZE = 2048 };

/*
 * h0 and h1 on sw0, h2 and h3 on sw1, the trunk on port 1 of both, so that the copy to the far
 * switch leaves first. Nodes: sw0, sw1, h0 to h3. All 4X SDR, a nanosecond a byte.
 */
static struct fab *draw_tree(void)
{
	struct fab_builder *b = fab_builder_new();

	draw_switch(b, 3);
	draw_switch(b, 3);
	draw_rated_link(b, 0, 1, 1, 1, 4, FAB_SDR);
	for (unsigned h = 0; h < 4; h++)
		draw_rated_link(b, h / 2, 2 + h % 2, draw_host(b, 1), 1, 4, FAB_SDR);
	return fab_build(b);
}

/* plane_fixture.h cannot tell a copy that crosses from one that is across: no pw_check_buffers(). */
static void check_books(struct pworld *w)
{
	pw_check_packets(w);
	pw_check_credits(w);
}

static void tree_open(struct pworld *w)
{
	pw_open(w, draw_tree(), NULL);
	w->unchecked = true;
	w->after_step = check_books;
	for (node_id n = 0; n < 2; n++) {
		struct sim_node *node = &w->sim->nodes[n];

		node->mft = mem_zarray(w->sim->cfg.mft_cap * 16u, sizeof(*node->mft));
		node->mft[5 * 16] = 1 << 1 | 1 << 2 | 1 << 3;
	}
}

/* One packet from h0 to all; that long after its start the link of this port is cut. */
static uint64_t cut_after(node_id n, unsigned num, time_ps into)
{
	struct pworld w;
	uint64_t delivered;

	tree_open(&w);
	sim_inject(w.sim, 0, GROUP, SIZE, 0);
	pw_run(&w, into);
	sim_uncable(w.sim, pw_id(&w, n, num));
	pw_drain(&w, PS_PER_MS);
	delivered = pw_delivered(&w);
	assert_int_equal(sim_plane_stats(w.sim)->copies + 1, delivered + pw_discarded(&w));
	pw_close(&w);
	return delivered;
}

/* A cut on the input cable truncates all copies: all hosts get the packet, or none. */
TEST(a_truncated_multicast_packet_reaches_no_host)
{
	unsigned all = 0, none = 0;

	for (time_ps t = 0; t < 4 * PS_PER_US; t += 25 * PS_PER_NS) {
		uint64_t n = cut_after(2, 1, t);

		if (n != 0 && n != 3)
			fail_msg("cut after %llu ns: %llu of 3 hosts got it",
				 (unsigned long long)(t / PS_PER_NS), (unsigned long long)n);
		all += n == 3;
		none += n == 0;
	}
	/* 40 of arbiter, 2,074 of packet and 100 of cable: the tail is in after 2,214 ns */
	assert_int_equal(none, 2214 / 25 + 1);
	assert_int_equal(all, 4000 / 25 - none);
}

/* Copies made before the cut, seen from the source, are whole: only those behind it suffer. */
TEST(only_the_copies_behind_the_cut_are_lost)
{
	/* 1,200 ns: the first copy has its head at h2, the second waits in sw1, h1's has not left
	 */
	assert_int_equal(cut_after(0, 1, 1200 * PS_PER_NS), 1); /* the trunk: h1 remains */
	assert_int_equal(cut_after(1, 2, 1200 * PS_PER_NS), 2); /* h2's cable: h1 and h3 remain */
	assert_int_equal(cut_after(1, 3, 1200 * PS_PER_NS), 2); /* h3's */
	assert_int_equal(cut_after(0, 3, 1200 * PS_PER_NS), 2); /* h1's */
}

/* A switch that dies is all its cables at once. */
TEST(the_copying_switch_powers_off)
{
	for (time_ps t = 0; t < 8 * PS_PER_US; t += 100 * PS_PER_NS) {
		struct pworld w;

		tree_open(&w);
		sim_inject(w.sim, 0, GROUP, SIZE, 0);
		pw_run(&w, t);
		sim_node_power(w.sim, 0, false);
		pw_drain(&w, PS_PER_MS);
		if (t < 2496 * PS_PER_NS) /* what leaves it first is not whole at sw1 before */
			assert_int_equal(pw_delivered(&w), 0);
		sim_node_power(w.sim, 0, true);
		pw_close(&w);
	}
}

/* Packets of many sources at once, links that come and go: the books of each event. */
TEST(many_copies_and_failures)
{
	struct pworld w;

	tree_open(&w);
	for (unsigned i = 0; i < 300; i++) {
		sim_inject(w.sim, i % 4, i % 3 ? GROUP : (uint16_t)(PW_LID0 + (i + 1) % 4), SIZE,
			   0);
		pw_run(&w, sim_now(w.sim) + 700 * PS_PER_NS);
		if (i % 23 == 0) {
			port_id p = w.fab->nodes[i % 2].first_port + 1 + i % 3;
			port_id q = w.sim->ports[p].peer;

			if (q != FAB_NONE)
				sim_uncable(w.sim, p);
			else
				sim_cable(w.sim, p, w.fab->ports[p].peer);
			for (port_id r = 0; r < w.fab->nports; r++)
				pw_port_ready(&w, r);
		}
	}
	pw_drain(&w, 10 * PS_PER_MS);
	assert_true(pw_delivered(&w) > 50);
	assert_true(pw_lost(&w, SIM_DISCARD_INACTIVE_PORT) > 50);
	pw_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_truncated_multicast_packet_reaches_no_host),
		cmocka_unit_test(only_the_copies_behind_the_cut_are_lost),
		cmocka_unit_test(the_copying_switch_powers_off),
		cmocka_unit_test(many_copies_and_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
