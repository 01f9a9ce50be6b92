/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Levels and the watch: a ring of four switches whose tables the test writes, then a manager on a ring of
 * six. State: one lab for each test.
 * Covers: watch.c, forwarding_scan.c
 */
#include "plane_fixture.h"

#include "lab/watch.h"

struct bench {
	struct lab *lab;
	struct pworld w;
};

/* Every packet goes clockwise, which no engine would compute. */
static void clockwise(struct pworld *w, unsigned n, unsigned hosts)
{
	for (unsigned sw = 0; sw < n; sw++)
		for (uint32_t h = 0; h < w->pl->hosts.n; h++)
			pw_lft_set(w, sw, PW_LID0 + h, h / hosts == sw ? 3 + h % hosts : 1);
}

static void open_ring(struct bench *b, unsigned rft)
{
	struct fab *f = draw_ring(4, 1, 1, FAB_SDR);
	struct lab_config c;
	struct err e;

	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("basic");
	c.sim.plane.on = true;
	c.sim.rft_cap = (uint16_t)rft;
	c.threads = 1;
	b->lab = lab_new(f, &c, &e);
	assert_non_null(b->lab);
	b->w = (struct pworld){.fab = f, .sim = lab_sim(b->lab), .pl = lab_sim(b->lab)->plane};
	for (node_id n = 0; n < f->nnodes; n++)
		sim_node_power(b->w.sim, n, true);
	pw_all_ready(&b->w);
}

static void close_bench(struct bench *b)
{
	lab_free(b->lab);
	fab_free(b->w.fab);
}

static struct lab_levels levels(const struct bench *b)
{
	struct lab_levels v;

	lab_levels(b->lab, &v);
	return v;
}

/* ---- levels ---- */

TEST(a_cycle_of_dependencies_is_found)
{
	struct bench b;
	struct lab_levels v;

	open_ring(&b, 0);
	v = levels(&b);
	assert_int_equal(v.pairs, 12);
	assert_int_equal(v.connected, 12);
	assert_int_equal(v.links, 8);
	clockwise(&b.w, 4, 1);
	v = levels(&b);
	assert_int_equal(v.connectivity, 1000000);
	assert_int_equal(v.cyclic, 4); /* the other four are not used */
	assert_int_equal(v.deadlock, 500000);
	close_bench(&b);
}

/* Disable the turn from the input port of the ring to its output port: all SLs to VL15. */
static void turn_off(struct pworld *w, node_id n, unsigned in, unsigned out)
{
	unsigned width = w->fab->nodes[n].nports + 1u;

	pw_slvl_set(w, n, 0, 0); /* a table of its own, as it was */
	memset(w->sim->nodes[n].slvl + (in * width + out) * 16, 15, 16);
}

TEST(a_disabled_turn_breaks_the_cycle)
{
	struct bench b;
	struct lab_levels v;

	open_ring(&b, 0);
	clockwise(&b.w, 4, 1);
	turn_off(&b.w, 0, 2, 1);
	v = levels(&b);
	assert_int_equal(v.cyclic, 0);
	/* Pairs whose route passes switch 0: 3 to 1, 3 to 2 and 2 to 1. */
	assert_int_equal(v.pairs, 12);
	assert_int_equal(v.connected, 9);
	assert_int_equal(v.connectivity, 750000);
	close_bench(&b);
}

TEST(port_states_and_power_change_connectivity)
{
	struct bench b;
	struct lab_levels v;

	open_ring(&b, 0);
	clockwise(&b.w, 4, 1);
	/* One direction fails: a port that is not Active sends nothing, the cable stays. */
	port_state_set(&b.w.sim->main, 0, 1, IBA_PORT_INIT);
	v = levels(&b);
	assert_int_equal(v.links, 6);
	assert_int_equal(v.cyclic, 0);
	assert_int_equal(v.pairs, 12);
	assert_int_equal(v.connected, 6); /* pairs whose route does not pass it */
	/* Without switch 2 its host is not physically connected and does not count. */
	sim_node_power(b.w.sim, 2, false);
	v = levels(&b);
	assert_int_equal(v.pairs, 6);
	/* Two cuts make two parts. */
	sim_node_power(b.w.sim, 0, false);
	v = levels(&b);
	assert_int_equal(v.pairs, 0);
	assert_int_equal(v.connectivity, 1000000);
	close_bench(&b);
}

/* Of 16 pairs, a host and itself included, at most 8: destinations are the hosts 0 and 2. */
TEST(a_sample_of_pairs_gives_connectivity)
{
	struct lab_levels v;
	struct lab_scan *s;
	struct bench b;

	open_ring(&b, 0);
	clockwise(&b.w, 4, 1);
	s = lab_scan_new(b.lab);
	lab_scan_connectivity(s, 8);
	lab_scan_run(s, &v);
	assert_int_equal(v.pairs, 6);
	assert_int_equal(v.connected, 6);
	assert_int_equal(v.cyclic, 0); /* not searched */
	turn_off(&b.w, 0, 2, 1);
	lab_scan_run(s, &v);
	assert_int_equal(v.pairs, 6);
	assert_int_equal(v.connected, 5); /* not from 3 to 2 */
	sim_node_power(b.w.sim, 1, false);
	lab_scan_run(s, &v);
	assert_int_equal(v.pairs, 4);
	assert_true(lab_scan_cost(s) > lab_scan_steps(s));
	lab_scan_free(s);
	close_bench(&b);
}

/* No linear table at all: random entries for the next hosts, the default port for the rest. */
TEST(random_forwarding_tables_are_followed)
{
	struct bench b;
	struct lab_levels v;

	open_ring(&b, 16);
	for (node_id n = 0; n < 4; n++) {
		struct sim_node *node = &b.w.sim->nodes[n];

		free(node->lft);
		node->lft = NULL;
		node->lft_size = 0;
		node->rft = mem_zarray(1, sizeof(*node->rft));
		node->rft_used = 1;
		node->rft[0].lid[0] = (uint16_t)(PW_LID0 + n);
		node->rft[0].valid[0] = 1;
		node->rft[0].port[0] = 3;
		node->si.default_port = 1;
	}
	v = levels(&b);
	assert_int_equal(v.connected, 12);
	assert_int_equal(v.cyclic, 4);
	b.w.sim->nodes[0].si.default_port = IBA_PORT_NONE;
	v = levels(&b);
	assert_int_equal(v.cyclic, 0);
	assert_int_equal(v.connected, 6);
	close_bench(&b);
}

/* ---- the watch ---- */

static void nothing(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

static void run_for(struct bench *b, time_ps t)
{
	sim_call(b->w.sim, sim_now(b->w.sim) + t, nothing, NULL, 0);
	lab_run_until(b->lab, sim_now(b->w.sim) + t);
}

/* Packets that are deadlocked wait on account of entries that no table holds any more. */
TEST(packets_in_buffers_are_dependencies)
{
	struct traffic_config c = {.pattern = TRAFFIC_UNIFORM,
				   .arrivals = TRAFFIC_CONSTANT,
				   .payload = 2048,
				   .interval_ps = PS_PER_US,
				   .stop_ps = 5 * PS_PER_MS,
				   .seed = 1};
	struct bench b;
	struct lab_levels v;
	struct err e;
	port_id *ring;

	open_ring(&b, 0);
	clockwise(&b.w, 4, 1);
	assert_int_equal(sim_traffic(b.w.sim, &c, &e), 0);
	run_for(&b, 6 * PS_PER_MS);
	assert_int_equal(sim_deadlock(b.w.sim, &ring), 4);
	free(ring);
	for (unsigned sw = 0; sw < 4;
	     sw++) /* along a line: not over the link from the last to the first */
		for (unsigned h = 0; h < 4; h++)
			pw_lft_set(&b.w, sw, PW_LID0 + h, h == sw ? 3 : h > sw ? 1 : 2);
	v = levels(&b);
	assert_int_equal(v.cyclic, 0);
	assert_int_equal(v.waiting, 4);
	close_bench(&b);
}

TEST(every_change_is_scanned)
{
	struct lab_watch w;
	struct bench b;

	open_ring(&b, 0);
	lab_watch_start(&w, b.lab);
	run_for(&b, PS_PER_US);
	assert_int_equal(w.looks, 1);
	sim_node_power(b.w.sim, 3, false); /* many ports at the same time, one scan */
	run_for(&b, PS_PER_US);
	assert_int_equal(w.looks, 2);
	assert_true(w.changes > 2);
	/* A power cycle within a microsecond is noticed: the port returns in Initialize. */
	port_state_set(&b.w.sim->main, 0, 1, IBA_PORT_INIT);
	run_for(&b, 100 * PS_PER_NS);
	port_state_set(&b.w.sim->main, 0, 1, IBA_PORT_ACTIVE);
	port_state_set(&b.w.sim->main, 0, 1, IBA_PORT_ACTIVE); /* no change */
	run_for(&b, PS_PER_US);
	assert_int_equal(w.looks, 4);
	clockwise(&b.w, 4, 1); /* without a notification: the next change shows it */
	sim_node_power(b.w.sim, 3, true);
	pw_node_ready(&b.w, 3);
	pw_port_ready(&b.w, fab_port_id(b.w.fab, 0, 2));
	pw_port_ready(&b.w, fab_port_id(b.w.fab, 2, 1));
	clockwise(&b.w, 4, 1);
	run_for(&b, PS_PER_US);
	lab_watch_stop(&w);
	assert_int_equal(w.ncycle, 4);
	assert_true(w.unsafe_at < sim_now(b.w.sim));
	for (unsigned i = 0; i < 4; i++) /* clockwise: by port 1 of one switch after another */
		assert_int_equal(w.cycle[i], fab_port_id(b.w.fab, (w.cycle[0] / 4 + i) % 4, 1));
	close_bench(&b);
	lab_watch_free(&w);
}

TEST(deadlocked_packets_are_found)
{
	struct traffic_config t = {.pattern = TRAFFIC_SHIFT,
				   .shift = 2,
				   .interval_ps = PS_PER_US,
				   .payload = 256,
				   .stop_ps = 3 * PS_PER_MS,
				   .seed = 1};
	struct lab_watch w;
	struct bench b;
	struct err e;

	open_ring(&b, 0);
	clockwise(&b.w, 4, 1);
	lab_watch_start(&w, b.lab);
	assert_int_equal(sim_traffic(b.w.sim, &t, &e), 0);
	run_for(&b, 6 * PS_PER_MS);
	lab_watch_stop(&w);
	assert_true(w.locked_at <= 5 * PS_PER_MS);
	assert_int_equal(w.nring, 4);
	close_bench(&b);
	lab_watch_free(&w);
}

TEST(levels_while_a_manager_works)
{
	struct fab_gen g = {.kind = "ring", .dims = {6}, .ndims = 1};
	struct lab_watch w;
	struct lab_config c;
	struct fab *f;
	struct lab *l;
	struct err e;

	f = fab_generate(&g, &e);
	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("basic");
	c.sim.traps = true;
	c.threads = 1;
	l = lab_new(f, &c, &e);
	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, PS_PER_S));
	lab_watch_start(&w, l);
	assert_int_equal(w.now.connectivity, 1000000);
	sim_node_power(lab_sim(l), f->switches[3], false);
	assert_true(lab_run_settled(l, sim_now(lab_sim(l)), PS_PER_S));
	lab_watch_stop(&w);
	assert_int_equal(w.now.connectivity, 1000000);
	assert_int_equal(w.connectivity_min, 0); /* full deactivation */
	assert_true(w.below > 0 && w.below < sim_now(lab_sim(l)));
	assert_int_equal(w.unsafe_at, TIME_NEVER);
	assert_int_equal(w.locked_at, TIME_NEVER);
	assert_true(w.points.n > 5);
	lab_free(l);
	lab_watch_free(&w);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cycle_of_dependencies_is_found),
		cmocka_unit_test(a_disabled_turn_breaks_the_cycle),
		cmocka_unit_test(port_states_and_power_change_connectivity),
		cmocka_unit_test(random_forwarding_tables_are_followed),
		cmocka_unit_test(packets_in_buffers_are_dependencies),
		cmocka_unit_test(a_sample_of_pairs_gives_connectivity),
		cmocka_unit_test(every_change_is_scanned),
		cmocka_unit_test(deadlocked_packets_are_found),
		cmocka_unit_test(levels_while_a_manager_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
