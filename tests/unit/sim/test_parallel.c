/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One simulation on several threads: for any number of them, the same packets arrive at the same
 * picosecond.
 * Covers: parallel.c, parallel_split.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/load.h"
#include "sim/stats/sim_detail.h"
#include "sim/plane/plane_priv.h" /* writes multicast tables without SMPs */

enum { SWITCHES = 12, HOSTS = 24, GROUP = 5, SOME_AT_ONCE = 1000 };

struct story {
	struct traffic_config traffic;
	uint32_t cable_cm; /* the longest; 0: all are alike */
	void (*tune)(struct lab_config *c);
	void (*ready)(struct sim *s);  /* the fabric is up */
	void (*middle)(struct sim *s); /* half of the time has passed */
};

struct outcome {
	struct sim_plane_stats st;
	struct sim_port_counters *ports;
	uint64_t hash, events;
	unsigned apart; /* times that the parts ran */
	const struct sim *sim;
	uint64_t shown; /* packets generated, at the last tick */
	unsigned grew;	/* ticks at which there were more */
};

static struct fab *make(uint32_t cable_cm)
{
	struct fab_gen g = {.kind = "irregular",
			    .dims = {SWITCHES},
			    .ndims = 1,
			    .hosts = HOSTS,
			    .has_hosts = true,
			    .seed = 3,
			    .width = 1,
			    .speed = FAB_SDR};
	struct err e;
	struct fab *f = fab_generate(&g, &e);

	assert_non_null(f);
	for (port_id p = 0; cable_cm && p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE)
			f->ports[p].cable_cm = f->ports[f->ports[p].peer].cable_cm =
				30 + MAX(p, f->ports[p].peer) * 170 % cable_cm;
	return f;
}

/* The totals that a progress line shows while a parallel run lasts. */
static void progress(void *ctx)
{
	struct outcome *o = ctx;
	uint64_t now = sim_plane_stats(o->sim)->generated;

	o->grew += now > o->shown;
	o->shown = now;
}

static void run_until(struct sim *s, time_ps t, unsigned threads, struct outcome *o)
{
	while (sim_next(s) <= t)
		if (threads == SOME_AT_ONCE)
			sim_steps(s, t, 1 + (unsigned)(sim_events(s) % 300));
		else if (threads && sim_run_parallel(s, t, threads, progress, o))
			o->apart++;
		else
			sim_step(s);
}

/* threads 0: event by event; SOME_AT_ONCE: with sim_steps(). */
static struct outcome run(const struct fab *f, const struct story *t, unsigned threads)
{
	struct outcome o = {0};
	struct traffic_config traffic = t->traffic;
	struct lab_config c;
	struct lab *l;
	struct sim *s;
	struct err e;

	lab_config_default(&c);
	c.sim.plane.on = true;
	c.threads = 1;
	if (t->tune)
		t->tune(&c);
	l = lab_new(f, &c, &e);
	s = lab_sim(l);
	o.sim = s;
	assert_int_equal(lab_load_up(l, 10 * PS_PER_S, &e), 0);
	if (t->ready)
		t->ready(s);
	traffic.start_ps = sim_now(s);
	traffic.stop_ps = sim_now(s) + 200 * PS_PER_US;
	traffic.seed = 7;
	assert_int_equal(sim_traffic(s, &traffic, &e), 0);
	sim_window(s, traffic.start_ps + 20 * PS_PER_US, traffic.stop_ps);
	run_until(s, traffic.start_ps + 100 * PS_PER_US, threads, &o);
	if (t->middle)
		t->middle(s);
	run_until(s, traffic.stop_ps + 20 * PS_PER_US, threads, &o);
	o.st = *sim_plane_stats(s);
	o.hash = sim_hash(s);
	o.events = sim_events(s);
	o.ports = mem_array(f->nports, sizeof(*o.ports));
	for (port_id p = 0; p < f->nports; p++)
		o.ports[p] = *sim_port_counters(s, p);
	lab_free(l);
	return o;
}

static void expect_same(const struct fab *f, const struct outcome *a, const struct outcome *b)
{
	assert_true(a->hash == b->hash);
	assert_int_equal(a->events, b->events);
	assert_int_equal(a->st.generated, b->st.generated);
	assert_int_equal(a->st.delivered, b->st.delivered);
	assert_int_equal(a->st.in_flight, b->st.in_flight);
	assert_int_equal(a->st.copies, b->st.copies);
	assert_int_equal(a->st.hops, b->st.hops);
	assert_int_equal(a->st.fc_packets, b->st.fc_packets);
	assert_memory_equal(a->st.discarded, b->st.discarded, sizeof(a->st.discarded));
	assert_memory_equal(&a->st.latency, &b->st.latency, sizeof(a->st.latency));
	assert_memory_equal(&a->st.header_latency, &b->st.header_latency, sizeof(a->st.latency));
	assert_int_equal(a->st.window_generated, b->st.window_generated);
	assert_int_equal(a->st.window_bytes, b->st.window_bytes);
	assert_memory_equal(a->ports, b->ports, f->nports * sizeof(*a->ports));
}

/* Returns at how many ticks of the last run the totals had grown. */
static unsigned expect_the_same_on_all(const struct story *t, unsigned least_delivered)
{
	static const unsigned threads[] = {SOME_AT_ONCE, 1, 2, 3, 4};
	struct fab *f = make(t->cable_cm);
	struct outcome one = run(f, t, 0), o;

	assert_true(one.st.delivered >= least_delivered);
	for (unsigned i = 0; i < ARRAY_LEN(threads); i++) {
		o = run(f, t, threads[i]);
		assert_true(threads[i] == 1 || threads[i] == SOME_AT_ONCE || o.apart);
		expect_same(f, &one, &o);
		free(o.ports);
	}
	free(one.ports);
	fab_free(f);
	return o.grew;
}

/* ---- the same ---- */

static const struct traffic_config busy = {.pattern = TRAFFIC_UNIFORM,
					   .payload = 256,
					   .sl_mask = 0xffff,
					   .interval_ps = 5 * PS_PER_US,
					   .burst_packets = 16};

TEST(uniform_traffic)
{
	struct story t = {.traffic = busy};

	assert_true(expect_the_same_on_all(&t, 500) > 1);
}

/* At equal intervals of whole nanoseconds many things happen at the same time. */
TEST(many_things_at_once)
{
	struct story t = {.traffic = busy};

	t.traffic.arrivals = TRAFFIC_CONSTANT;
	t.traffic.pattern = TRAFFIC_SHIFT;
	t.traffic.shift = 5;
	t.traffic.interval_ps = 2400 * PS_PER_NS;
	expect_the_same_on_all(&t, 500);
}

/* All packets are made in some parts and end in one: free places have to be dealt again. */
TEST(incast_traffic)
{
	struct story t = {.traffic = busy};

	t.traffic.pattern = TRAFFIC_INCAST;
	t.traffic.interval_ps = 300 * PS_PER_NS;
	expect_the_same_on_all(&t, 100);
}

static void join_group(struct sim *s)
{
	for (uint32_t i = 0; i < s->fab->nswitches; i++) {
		struct sim_node *n = &s->nodes[s->fab->switches[i]];
		uint16_t mask = 0;

		for (unsigned p = 1; p <= s->fab->nodes[s->fab->switches[i]].nports; p++) {
			port_id far = node_port(s, s->fab->switches[i], p)->peer;

			if (far != FAB_NONE && !sim_is_switch(s, s->fab->ports[far].node))
				mask |= (uint16_t)(1u << p);
		}
		n->mft = mem_zarray(s->cfg.mft_cap * 16u, sizeof(*n->mft));
		n->mft[GROUP * 16] = mask;
	}
}

/* With the trunks, as long as no packet comes back: towards switches of higher numbers. */
static void join_tree(struct sim *s)
{
	join_group(s);
	for (port_id p = 0; p < s->fab->nports; p++) {
		node_id n = s->fab->ports[p].node;
		port_id far = s->ports[p].peer;

		if (sim_is_switch(s, n) && far != FAB_NONE && s->fab->ports[far].node > n &&
		    sim_is_switch(s, s->fab->ports[far].node))
			s->nodes[n].mft[GROUP * 16] |= (uint16_t)(1u << s->fab->ports[p].num);
	}
}

static void send_to_group(struct sim *s)
{
	for (uint32_t h = 0; h < HOSTS; h++)
		for (unsigned i = 0; i < 20; i++)
			sim_inject(s, h, IBA_LID_MCAST_FIRST + GROUP, 256, (uint8_t)(i % 2));
}

TEST(multicast)
{
	struct story t = {.traffic = busy, .ready = join_group, .middle = send_to_group};

	expect_the_same_on_all(&t, 500);
}

/* The shortest cable says how far parts may run ahead of each other. */
TEST(cables_of_all_lengths)
{
	struct story t = {.traffic = busy, .cable_cm = 3000};

	expect_the_same_on_all(&t, 500);
}

/* The cable is cut, and later the manager comes and looks: SMPs and packets on one network. */
static void cut_a_link(struct sim *s)
{
	const struct fab *f = s->fab;

	for (port_id p = 0; p < f->nports; p++)
		if (fab_is_switch(f, f->ports[p].node) && s->ports[p].peer != FAB_NONE &&
		    fab_is_switch(f, f->ports[s->ports[p].peer].node)) {
			sim_uncable(s, p);
			return;
		}
}

static void cut_in_a_while(void *s, uint64_t cookie UNUSED)
{
	cut_a_link(s);
}

static void cut_now_and_then(struct sim *s)
{
	for (unsigned i = 0; i < 6; i++)
		sim_call(s, sim_now(s) + i * 15350 * PS_PER_NS, cut_in_a_while, s, 0);
}

/* The first host has the group's address: packets to it go to all members. */
static void join_and_lend_the_address(struct sim *s)
{
	join_tree(s);
	s->ports[s->plane->hosts.at[0]].pi.lid = IBA_LID_MCAST_FIRST + GROUP;
}

/* Copies made in one part of what comes from another lose their tails with it. */
TEST(a_link_fails_under_copies)
{
	struct story t = {
		.traffic = busy, .ready = join_and_lend_the_address, .middle = cut_now_and_then};

	t.traffic.pattern = TRAFFIC_INCAST;
	t.traffic.interval_ps = 30 * PS_PER_US; /* a copy leaves at once only where nothing waits */
	expect_the_same_on_all(&t, 100);
}

static void be_impatient(struct sim *s)
{
	for (port_id p = 0; p < s->fab->nports; p++) {
		s->ports[p].pi.hoq_life = 0; /* 4 us */
		s->ports[p].pi.vl_stall_count = 2;
		s->ports[p].pi.part_enf_in = s->ports[p].pi.part_enf_out = 1;
	}
	for (node_id n = 0; n < s->fab->nnodes; n++)
		s->nodes[n].si.life_time = 1;
}

/* What waits too long is discarded, and so is what comes behind it. */
TEST(packets_time_out)
{
	struct story t = {.traffic = busy, .ready = be_impatient};
	struct fab *f = make(0);
	struct outcome o;

	t.traffic.pattern = TRAFFIC_INCAST;
	t.traffic.interval_ps = 300 * PS_PER_NS;
	expect_the_same_on_all(&t, 50);
	o = run(f, &t, 2);
	assert_true(o.st.discarded[SIM_DISCARD_LIFETIME] > 0);
	assert_true(o.st.discarded[SIM_DISCARD_STALLED] > 0);
	free(o.ports);
	fab_free(f);
}

static void with_traps(struct lab_config *c)
{
	c->sim.traps = true;
}

TEST(a_link_fails)
{
	struct story t = {.traffic = busy, .tune = with_traps, .middle = cut_a_link};

	expect_the_same_on_all(&t, 500);
}

static void short_wires(struct lab_config *c)
{
	c->sim.wire_ps = 0; /* what is left is the time of a flow control packet */
	c->sim.plane.link_arb_ps = c->sim.plane.route_ps = 0;
}

TEST(wires_without_length)
{
	struct story t = {.traffic = busy, .tune = short_wires};

	expect_the_same_on_all(&t, 500);
}

/* ---- runs that stay on one thread ---- */

static void on_sent(void *ctx UNUSED, port_id port UNUSED, unsigned vl UNUSED,
		    const struct sim_smp *smp UNUSED, uint16_t slid UNUSED, uint16_t dlid UNUSED,
		    uint8_t sl UNUSED, uint16_t pkey UNUSED, uint16_t bytes UNUSED)
{
}

static void watch_wires(struct sim *s)
{
	sim_tap(s, (struct sim_tap){.sent = on_sent});
}

static void on_change(void *ctx UNUSED, node_id n UNUSED, enum sim_change what UNUSED)
{
}

static void watch_changes(struct sim *s)
{
	sim_watch_changes(s, (struct sim_change_watch){.changed = on_change});
}

static void damage(struct lab_config *c)
{
	c->sim.plane.byte_error_q40 = 1 << 20;
}

TEST(callbacks_come_one_after_another)
{
	const struct story stories[] = {
		{.traffic = busy, .ready = watch_wires},
		{.traffic = busy, .ready = watch_changes},
		{.traffic = busy, .ready = sim_detail_start},
		{.traffic = busy, .tune = damage},
	};
	struct fab *f = make(0);

	for (unsigned i = 0; i < ARRAY_LEN(stories); i++) {
		struct outcome o = run(f, &stories[i], 2);

		assert_int_equal(o.apart, 0);
		free(o.ports);
	}
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform_traffic),
		cmocka_unit_test(many_things_at_once),
		cmocka_unit_test(incast_traffic),
		cmocka_unit_test(multicast),
		cmocka_unit_test(a_link_fails),
		cmocka_unit_test(a_link_fails_under_copies),
		cmocka_unit_test(packets_time_out),
		cmocka_unit_test(cables_of_all_lengths),
		cmocka_unit_test(wires_without_length),
		cmocka_unit_test(callbacks_come_one_after_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
