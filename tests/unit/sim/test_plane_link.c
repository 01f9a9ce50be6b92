/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of a link: credits that neither overrun a buffer nor get lost, shares that the arbiter gives,
 * what each port state drops, what is lost with a cable. Fixture: plane_fixture.h, checked after each
 * event. Does not test switches.
 * Covers: plane_link.c, plane_arbiter.c
 */
#include "plane_fixture.h"

enum {
	SIZE = 294, /* with headers 320 bytes on the wire and 5 blocks of 64: no rounding anywhere */
	WIRE = SIZE + PW_BYTES,
	BLOCKS = 5,
};
#define SDR_BYTE (4 * PS_PER_NS) /* at 1X */

/* ---- credits ---- */

/* Three hosts send to a fourth, much more than it can take: a buffer full all the time. */
TEST(test_no_buffer_overruns)
{
	struct pworld w;

	pw_open(&w, draw_star(4, 1, FAB_SDR), NULL);
	for (unsigned h = 1; h < 4; h++)
		for (unsigned sl = 0; sl < 2; sl++)
			pw_stream(&w, 0, 500 * PS_PER_NS, 60, h, 0, 20 + 130 * h + sl, sl);
	pw_start(&w);
	pw_run(&w, 60 * PS_PER_US);
	assert_true(sim_plane_stats(w.sim)->in_flight > 100); /* it was too much */
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 360, SIM_DISCARD_BUFFER, 0);
	pw_close(&w);
}

static unsigned wraps;
static uint16_t last_sent, last_limit;

static void watch_counters(struct pworld *w)
{
	const struct out_chan *o = &w->pl->out[chan_of(w->pl, pw_id(w, 0, 1), 0)];

	wraps += (o->fctbs < last_sent) + (o->fccl < last_limit);
	last_sent = o->fctbs;
	last_limit = o->fccl;
	assert_true(o->fctbs < 4096 && o->fccl < 4096);
}

/* 13,200 blocks over counters of 12 bits: both go round three times and nothing is lost. */
TEST(test_counters_wrap)
{
	struct pworld w;

	pw_open(&w, draw_pair(4, FAB_SDR), NULL);
	pw_stream(&w, 0, PS_PER_NS, 400, 0, 1, 2048, 0); /* 33 blocks: a buffer holds one */
	pw_start(&w);
	wraps = last_sent = last_limit = 0;
	w.after_step = watch_counters;
	pw_drain(&w, 2 * PS_PER_MS);
	assert_int_equal(pw_delivered(&w), 400);
	assert_int_equal(w.pl->out[chan_of(w.pl, pw_id(&w, 0, 1), 0)].fctbs, 13200 % 4096);
	assert_int_equal(wraps, 6);
	pw_close(&w);
}

/* Freed space is reported once; VLs without packets are never reported. */
TEST(test_a_credit_packet_for_each_packet)
{
	struct pworld w;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_stream(&w, 0, 10 * PS_PER_US, 7, 0, 1, SIZE, 1);
	pw_start(&w);
	pw_drain(&w, 100 * PS_PER_US);
	assert_int_equal(pw_delivered(&w), 7);
	assert_int_equal(sim_plane_stats(w.sim)->fc_packets, 7);
	pw_close(&w);
}

/* ---- the arbiter ---- */

struct shares {
	uint64_t blocks[16], packets;
	uint16_t last[16];
	char order[64]; /* the first packets' VLs */
	size_t at;
};

static void count_shares(struct pworld *w)
{
	struct shares *s = w->ctx;
	port_id p = pw_id(w, 0, 1);

	s->packets = sim_port_counters(w->sim, p)->tx_packets;
	for (unsigned vl = 0; vl < w->pl->nvl; vl++) {
		uint16_t sent = w->pl->out[chan_of(w->pl, p, vl)].fctbs;

		if (sent == s->last[vl])
			continue;
		s->blocks[vl] += (uint16_t)(sent - s->last[vl]) & 0xfff;
		s->last[vl] = sent;
		if (s->at + 1 < sizeof(s->order))
			s->order[s->at++] = (char)('0' + vl);
	}
}

/* A host with everything to send at once; the arbiter has the choice from the second packet on. */
static void shares_open(struct pworld *w, struct shares *s, unsigned vl_cap)
{
	struct sim_config c;

	pw_config(&c);
	c.vl_cap = (uint8_t)vl_cap;
	pw_open(w, draw_pair(1, FAB_SDR), &c);
	memset(s, 0, sizeof(*s));
	w->ctx = s;
	w->unchecked = true;
	w->after_step = count_shares;
}

static void shares_run(struct pworld *w, struct shares *s, uint64_t packets)
{
	pw_start(w);
	while (s->packets < packets)
		assert_true(pw_step(w));
}

/* Within one per cent of all that was sent. */
static void expect_share(const struct shares *s, unsigned vl, unsigned part, unsigned of)
{
	uint64_t all = 0, want;

	for (unsigned i = 0; i < 16; i++)
		all += s->blocks[i];
	want = all * part / of;
	if (s->blocks[vl] * 100 < want * 99 || s->blocks[vl] * 100 > want * 101)
		fail_msg("VL %u sent %llu blocks of %llu, expected %llu", vl,
			 (unsigned long long)s->blocks[vl], (unsigned long long)all,
			 (unsigned long long)want);
}

TEST(test_two_weights)
{
	struct pworld w;
	struct shares s;

	shares_open(&w, &s, 2);
	for (unsigned sl = 0; sl < 2; sl++)
		pw_stream(&w, 0, 0, 10000, 0, 1, SIZE, sl);
	pw_vlarb_set(&w, pw_id(&w, 0, 1), false, 0, 0, 10 * BLOCKS);
	pw_vlarb_set(&w, pw_id(&w, 0, 1), false, 1, 1, 30 * BLOCKS);
	shares_run(&w, &s, 10000);
	expect_share(&s, 0, 1, 4);
	expect_share(&s, 1, 3, 4);
	pw_close(&w);
}

/* Packets of 64 bytes: every unit of weight is one. */
TEST(test_a_unit_of_weight)
{
	struct pworld w;
	struct shares s;

	shares_open(&w, &s, 2);
	for (unsigned sl = 0; sl < 2; sl++)
		pw_stream(&w, 0, 0, 10000, 0, 1, 64 - PW_BYTES, sl);
	pw_vlarb_set(&w, pw_id(&w, 0, 1), false, 0, 0, 3);
	pw_vlarb_set(&w, pw_id(&w, 0, 1), false, 1, 1, 2);
	shares_run(&w, &s, 10000);
	expect_share(&s, 0, 3, 5);
	expect_share(&s, 1, 2, 5);
	assert_non_null(strstr(s.order, "0001100011"));
	pw_close(&w);
}

/* Three VLs, one of them in two entries, entries without weight between. */
TEST(test_three_weights)
{
	struct pworld w;
	struct shares s;
	port_id p;

	shares_open(&w, &s, 3);
	for (unsigned sl = 0; sl < 3; sl++)
		pw_stream(&w, 0, 0, 10000, 0, 1, SIZE, sl);
	p = pw_id(&w, 0, 1);
	pw_vlarb_set(&w, p, false, 0, 0, 1 * BLOCKS);
	pw_vlarb_set(&w, p, false, 1, 3, 0);
	pw_vlarb_set(&w, p, false, 2, 1, 2 * BLOCKS);
	pw_vlarb_set(&w, p, false, 3, 2, 4 * BLOCKS);
	pw_vlarb_set(&w, p, false, 4, 15, 100); /* VL15 has no place here: passed over */
	pw_vlarb_set(&w, p, false, 40, 0, 1 * BLOCKS);
	shares_run(&w, &s, 10000);
	expect_share(&s, 0, 2, 8);
	expect_share(&s, 1, 2, 8);
	expect_share(&s, 2, 4, 8);
	assert_non_null(strstr(s.order, "0112222001122220"));
	pw_close(&w);
}

/* Weights are bytes: twice the size, half the packets. */
TEST(test_weights_count_bytes)
{
	struct pworld w;
	struct shares s;

	shares_open(&w, &s, 2);
	pw_stream(&w, 0, 0, 10000, 0, 1, SIZE, 0);
	pw_stream(&w, 0, 0, 10000, 0, 1, 2 * WIRE - PW_BYTES, 1);
	for (unsigned vl = 0; vl < 2; vl++)
		pw_vlarb_set(&w, pw_id(&w, 0, 1), false, vl, vl, 8 * BLOCKS);
	shares_run(&w, &s, 10000);
	expect_share(&s, 0, 1, 2);
	expect_share(&s, 1, 1, 2);
	pw_close(&w);
}

/* What one VL does not use the others have; what has no entry waits until it has one. */
TEST(test_an_empty_vl_costs_nothing)
{
	struct pworld w;
	struct shares s;
	port_id p;

	shares_open(&w, &s, 2);
	pw_stream(&w, 0, 0, 50, 0, 1, SIZE, 1);
	p = pw_id(&w, 0, 1);
	pw_vlarb_set(&w, p, false, 0, 0, 255);
	pw_vlarb_set(&w, p, false, 1, 1, BLOCKS);
	pw_start(&w);
	pw_run(&w, (40 + 50 * 4 * WIRE + 100) * PS_PER_NS);
	assert_int_equal(pw_delivered(&w), 50); /* back to back, to the byte */
	pw_drain(&w, PS_PER_US);
	pw_close(&w);
}

/* High priority on VL 1, low on VL 0: so many high packets for a low one. */
static void high_against_low(unsigned limit, const char *order)
{
	struct pworld w;
	struct shares s;
	port_id p;

	shares_open(&w, &s, 2);
	pw_stream(&w, 0, 0, 40, 0, 1, SIZE, 0);
	pw_stream(&w, 0, 0, 40, 0, 1, SIZE, 1);
	p = pw_id(&w, 0, 1);
	pw_vlarb_set(&w, p, false, 0, 0, 255);
	pw_vlarb_set(&w, p, true, 0, 1, 255);
	w.sim->ports[p].pi.vl_high_limit = (uint8_t)limit;
	shares_run(&w, &s, 45);
	if (!strstr(s.order, order))
		fail_msg("limit %u: %s, expected %s in it", limit, s.order, order);
	pw_drain(&w, PS_PER_MS);
	assert_int_equal(pw_delivered(&w), 80);
	pw_close(&w);
}

/* Limit of HighPriority (thesis 2.4.3): the counter is below 0 after 13 packets of 320 bytes when
 * it starts at 4096, after 26 when it starts at 8192. */
TEST(test_limit_of_high_priority)
{
	high_against_low(0, "10101010101010");
	high_against_low(1, "0111111111111101111111111111");
	high_against_low(2, "01111111111111111111111111101111");
	high_against_low(255, "1111111111111111111111111111111111111100");
}

/* ---- VL15 ---- */

static time_ps smp_arrived;

static void note_smp(void *ctx, enum sim_seen what, node_id n, unsigned port,
		     const struct sim_smp *smp, unsigned detail)
{
	(void)port;
	(void)smp;
	(void)detail;
	if (what == SIM_SEEN_RECV && n == 1 && !smp_arrived)
		smp_arrived = sim_now(ctx);
}

/* Twenty packets wait; an SMP that comes last goes next, right behind the one on the wire. */
TEST(test_vl15_goes_first)
{
	struct pworld w;
	struct sim_smp smp = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	time_ps packet = WIRE * SDR_BYTE, start = 40 * PS_PER_NS, sent;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_stream(&w, 0, 0, 20, 0, 1, SIZE, 0);
	pw_start(&w);
	smp_arrived = 0;
	sim_watch(w.sim, (struct sim_watch){note_smp, w.sim});
	pw_run(&w, 3 * PS_PER_US);
	sim_send(w.sim, 0, 1, &smp); /* through the SMI: 2 us */
	pw_run(&w, 40 * PS_PER_US);
	sent = start + 4 * packet; /* the first end of a packet after 5.04 us */
	assert_true(sent > 5040 * PS_PER_NS && sent - packet < 5040 * PS_PER_NS);
	assert_int_equal(smp_arrived, sent + IBA_SMP_WIRE_BYTES * SDR_BYTE + 100 * PS_PER_NS +
					      w.sim->cfg.smi_ps + w.sim->cfg.sma_ps);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 20, SIM_DISCARD_BUFFER, 0);
	pw_close(&w);
}

/* Fifty SMPs at once from a fast link to a slow one: VL15 has no credits, so what its buffers do
 * not hold is dropped, and counted. Data waits instead. */
TEST(test_vl15_has_no_credits)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw = draw_switch(b, 2);
	struct sim_smp smp = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, PW_LID0, PW_LID0 + 1);
	const struct sim_stats *st;
	struct sim_config c;
	struct pworld w;

	draw_rated_link(b, sw, 1, draw_host(b, 1), 1, 4, FAB_QDR);
	draw_rated_link(b, sw, 2, draw_host(b, 1), 1, 1, FAB_SDR);
	pw_config(&c);
	c.smi_ps = 10 * PS_PER_NS;
	pw_open(&w, fab_build(b), &c);
	st = sim_stats(w.sim);
	pw_stream(&w, 0, 0, 50, 0, 1, SIZE, 0);
	pw_start(&w);
	for (unsigned i = 0; i < 50; i++)
		sim_send(w.sim, 1, 1, &smp);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 50, SIM_DISCARD_BUFFER, 0);
	/* Each request that was not dropped was answered; no one reads the responses. */
	assert_true(st->dropped[SIM_DROP_BUFFER] > 10 && st->dropped[SIM_DROP_BUFFER] < 40);
	assert_int_equal(st->delivered, 50 - st->dropped[SIM_DROP_BUFFER]);
	assert_int_equal(st->dropped[SIM_DROP_NO_SM], st->delivered);
	assert_int_equal(st->in_flight, 0);
	pw_close(&w);
}

/* ---- a full VL ---- */

/*
 * Host 1 hears slowly. Its packets on SL 1 fill VL 1 back to host 0, so that not one more may
 * leave; host 2's on SL 0 pass as if there were none, and on SL 1 they stand in the same line.
 */
static time_ps past_a_full_vl(unsigned sl)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw = draw_switch(b, 3);
	struct pworld w;
	time_ps passed;
	port_id p;

	draw_rated_link(b, sw, 1, draw_host(b, 1), 1, 4, FAB_QDR);
	draw_rated_link(b, sw, 2, draw_host(b, 1), 1, 1, FAB_SDR);
	draw_rated_link(b, sw, 3, draw_host(b, 1), 1, 4, FAB_QDR);
	pw_open(&w, fab_build(b), NULL);
	pw_stream(&w, 0, 0, 100, 0, 1, SIZE, 1);
	pw_packet(&w, 30 * PS_PER_US, 0, 2, SIZE, sl);
	pw_start(&w);
	pw_run(&w, 30 * PS_PER_US - 1);
	p = pw_id(&w, 1, 1);
	assert_true((((unsigned)w.pl->out[chan_of(w.pl, p, 1)].fccl -
		      w.pl->out[chan_of(w.pl, p, 1)].fctbs) &
		     0xfff) < BLOCKS);
	sim_window(w.sim, 30 * PS_PER_US, PS_PER_MS);
	while (!sim_port_counters(w.sim, pw_id(&w, 3, 1))->rx_packets)
		assert_true(pw_step(&w));
	passed = sim_now(w.sim) - 30 * PS_PER_US;
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 101, SIM_DISCARD_BUFFER, 0);
	pw_close(&w);
	return passed;
}

TEST(test_a_full_vl_stops_no_other)
{
	/* Arbiter, header, cable, switch, header, arbiter, header, cable: until the header is
	 * there. */
	time_ps idle = (40 + 5 + 100 + 102 + 5 + 40 + 5 + 100) * PS_PER_NS;

	assert_in_range(past_a_full_vl(0), idle, idle + 80 * PS_PER_NS + 6 * PS_PER_NS);
	assert_true(past_a_full_vl(1) > 60 * PS_PER_US);
}

/* ---- port states (thesis 2.4.1) ---- */

/* Ten packets from host 0 to host 1 on one cable, and one SMP, with the two ports in these states.
 */
static void states_open(struct pworld *w, enum iba_port_state tx, enum iba_port_state rx)
{
	struct sim_smp smp = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);

	pw_open(w, draw_pair(1, FAB_SDR), NULL);
	port_state_set(&w->sim->main, 0, 1, tx);
	port_state_set(&w->sim->main, 1, 1, rx);
	pw_stream(w, PS_PER_US, PS_PER_US, 10, 0, 1, SIZE, 0);
	pw_start(w);
	smp_arrived = 0;
	sim_watch(w->sim, (struct sim_watch){note_smp, w->sim});
	sim_send(w->sim, 0, 1, &smp);
	pw_run(w, 100 * PS_PER_US);
	if (rx != IBA_PORT_DOWN) /* else no credit comes back over that cable */
		pw_check_rest(w);
}

static void expect_states(enum iba_port_state tx, enum iba_port_state rx, unsigned delivered,
			  enum sim_discard why, bool smp)
{
	struct pworld w;

	states_open(&w, tx, rx);
	pw_expect(&w, delivered, why, 10 - delivered);
	assert_int_equal(smp_arrived != 0, smp);
	pw_close(&w);
}

TEST(test_states_of_the_sender)
{
	expect_states(IBA_PORT_DOWN, IBA_PORT_ACTIVE, 0, SIM_DISCARD_INACTIVE_PORT, false);
	expect_states(IBA_PORT_INIT, IBA_PORT_ACTIVE, 0, SIM_DISCARD_DEACTIVATED_PORT, true);
	expect_states(IBA_PORT_ARMED, IBA_PORT_ACTIVE, 0, SIM_DISCARD_DEACTIVATED_PORT, true);
	expect_states(IBA_PORT_ACTIVE, IBA_PORT_ACTIVE, 10, SIM_DISCARD_DEACTIVATED_PORT, true);
}

TEST(test_states_of_the_receiver)
{
	expect_states(IBA_PORT_ACTIVE, IBA_PORT_DOWN, 0, SIM_DISCARD_INACTIVE_PORT, false);
	expect_states(IBA_PORT_ACTIVE, IBA_PORT_INIT, 0, SIM_DISCARD_DEACTIVATED_PORT, true);
	expect_states(IBA_PORT_ACTIVE, IBA_PORT_ARMED, 10, SIM_DISCARD_DEACTIVATED_PORT, true);
}

/* An Armed port does not send, until the first data packet it gets makes it Active. */
TEST(test_the_first_packet_activates)
{
	struct pworld w;

	states_open(&w, IBA_PORT_ACTIVE, IBA_PORT_ARMED);
	assert_int_equal(sim_port_info(w.sim, fab_port_id(w.fab, 1, 1))->state, IBA_PORT_ACTIVE);
	pw_close(&w);
	states_open(&w, IBA_PORT_ARMED, IBA_PORT_ARMED);
	assert_int_equal(sim_port_info(w.sim, fab_port_id(w.fab, 1, 1))->state, IBA_PORT_ARMED);
	pw_close(&w);
}

/* ---- MTU ---- */

TEST(test_mtu)
{
	struct pworld w;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	for (unsigned n = 0; n < 2; n++)
		pw_port(&w, n, 1)->pi.neighbor_mtu = 1; /* 256 bytes */
	pw_stream(&w, 0, 0, 3, 0, 1, 256, 0);
	pw_stream(&w, 0, 0, 4, 0, 1, 257, 0);
	pw_stream(&w, 0, 0, 5, 0, 1, 2048, 1);
	pw_start(&w);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 3, SIM_DISCARD_MTU, 9);
	pw_close(&w);
}

/* Larger than any buffer: it could wait for credit for ever. */
TEST(test_larger_than_a_buffer)
{
	struct pworld w;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_packet(&w, 0, 0, 1, 4096, 0);
	pw_stream(&w, 0, 0, 3, 0, 1, SIZE, 0);
	pw_start(&w);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 3, SIM_DISCARD_MTU, 1);
	pw_close(&w);
}

/* A buffer holds at least one packet of the largest MTU, whatever its size was said to be. */
TEST(test_a_buffer_holds_a_packet)
{
	struct sim_config c;
	struct pworld w;

	pw_config(&c);
	c.mtu_cap = 5;
	c.plane.buffer_bytes = 512;
	pw_open(&w, draw_star(2, 1, FAB_SDR), &c);
	pw_stream(&w, 0, 0, 5, 0, 1, 4096, 0);
	pw_start(&w);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 5, SIM_DISCARD_MTU, 0);
	pw_close(&w);
}

/* ---- a cable is cut ---- */

/* When a packet that could leave by a port at `when` finds that port in which state: the cable (or
 * the node behind it) goes at `cut`, is back after 20 us and Active after 21 us. */
static void expect_fate(uint64_t *fate, time_ps when, time_ps cut)
{
	if (when >= cut && when < cut + 20 * PS_PER_US)
		fate[SIM_DISCARD_INACTIVE_PORT]++;
	else if (when >= cut && when < cut + 21 * PS_PER_US)
		fate[SIM_DISCARD_DEACTIVATED_PORT]++;
}

static void check_fate(const struct pworld *w, const uint64_t *fate)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++) {
		if (pw_lost(w, i) != fate[i])
			fail_msg("%s: %llu discarded, expected %llu", sim_discard_name(i),
				 (unsigned long long)pw_lost(w, i), (unsigned long long)fate[i]);
		sum += fate[i];
	}
	assert_int_equal(pw_delivered(w), 40 - sum);
}

/*
 * Host 0 sends a packet every 2 us: it leaves 40 ns after it was made, its header is there at 220
 * ns and its tail at 1,420. The cable is cut so long after packet 3 was made.
 */
static void cut_and_mend(time_ps into)
{
	uint64_t fate[SIM_NDISCARDS] = {0};
	struct pworld w;
	time_ps cut = 6 * PS_PER_US + into;

	pw_open(&w, draw_pair(1, FAB_SDR), NULL);
	pw_stream(&w, 0, 2 * PS_PER_US, 40, 0, 1, SIZE, 0);
	pw_start(&w);
	pw_run(&w, cut);
	sim_uncable(w.sim, pw_id(&w, 0, 1));
	pw_run(&w, cut + 20 * PS_PER_US);
	sim_cable(w.sim, pw_id(&w, 0, 1), pw_id(&w, 1, 1));
	pw_run(&w, cut + 21 * PS_PER_US);
	pw_all_ready(&w);
	pw_drain(&w, 100 * PS_PER_US);
	for (unsigned i = 0; i < 40; i++) {
		time_ps leaves = i * 2 * PS_PER_US + 40 * PS_PER_NS;

		expect_fate(fate, leaves, cut);
		/* on it, whole or in part */
		fate[SIM_DISCARD_INACTIVE_PORT] += leaves < cut && cut < leaves + 1380 * PS_PER_NS;
	}
	check_fate(&w, fate);
	pw_close(&w);
}

TEST(test_a_cut_cable_loses_what_is_on_it)
{
	/* made, leaving, header on its way, header there, all but the last bit there, there */
	static const unsigned into_ns[] = {10, 50, 150, 230, 1419, 1421, 1990};

	for (unsigned i = 0; i < ARRAY_LEN(into_ns); i++)
		cut_and_mend(into_ns[i] * PS_PER_NS);
}

/* Two switches on, the head of a packet is at host 1 when the cable of host 0 is cut: its tail
 * never comes, unless it had left that cable. */
static void behind_the_head(time_ps into, unsigned delivered)
{
	struct fab *f = draw_chain(2);
	struct pworld w;

	for (port_id p = 0; p < f->nports; p++) {
		f->ports[p].width = 1;
		f->ports[p].speed = FAB_SDR;
	}
	pw_open(&w, f, NULL);
	pw_packet(&w, 0, 0, 1, SIZE, 0);
	pw_start(&w);
	pw_run(&w, into);
	assert_int_equal(sim_port_counters(w.sim, pw_id(&w, 3, 1))->rx_packets, 1);
	sim_uncable(w.sim, pw_id(&w, 0, 1));
	pw_drain(&w, 100 * PS_PER_US);
	pw_expect(&w, delivered, SIM_DISCARD_INACTIVE_PORT, 1 - delivered);
	pw_close(&w);
}

TEST(test_a_tail_that_never_comes)
{
	behind_the_head(1419 * PS_PER_NS, 0);
	behind_the_head(1421 * PS_PER_NS, 1);
}

/* ---- a node dies ---- */

/*
 * h0 - sw0 - sw1 - h1, and sw1 goes off so long after packet 3 was made. After that time a packet
 * leaves sw0 (442 ns), has its header in sw1 (622), leaves it (844) and is complete at h1 (2,224).
 */
static void kill_and_revive(time_ps into)
{
	uint64_t fate[SIM_NDISCARDS] = {0};
	struct fab *f = draw_chain(2);
	struct pworld w;
	time_ps cut = 6 * PS_PER_US + into;

	for (port_id p = 0; p < f->nports; p++) {
		f->ports[p].width = 1;
		f->ports[p].speed = FAB_SDR;
	}
	pw_open(&w, f, NULL);
	pw_stream(&w, 0, 2 * PS_PER_US, 40, 0, 1, SIZE, 0);
	pw_start(&w);
	pw_run(&w, cut);
	sim_node_power(w.sim, 2, false);
	pw_run(&w, cut + 20 * PS_PER_US);
	sim_node_power(w.sim, 2, true);
	pw_run(&w, cut + 21 * PS_PER_US);
	pw_all_ready(&w);
	pw_drain(&w, 100 * PS_PER_US);
	for (unsigned i = 0; i < 40; i++) {
		time_ps made = i * 2 * PS_PER_US, age = cut - made;

		expect_fate(fate, made + 442 * PS_PER_NS, cut);
		if (made >= cut || age < 442 * PS_PER_NS || age >= 2224 * PS_PER_NS)
			continue;
		if (age >= 622 * PS_PER_NS && age < 844 * PS_PER_NS)
			fate[SIM_DISCARD_CLEARED]++;
		else
			fate[SIM_DISCARD_INACTIVE_PORT]++;
	}
	check_fate(&w, fate);
	pw_close(&w);
}

TEST(test_a_dead_node_loses_what_it_held)
{
	static const unsigned into_ns[] = {10,	100, 441, 443, 600,  623,  700, 725,
					   803, 805, 843, 845, 1000, 1100, 1900};

	for (unsigned i = 0; i < ARRAY_LEN(into_ns); i++)
		kill_and_revive(into_ns[i] * PS_PER_NS);
}

/* ---- after all that ---- */

/* A cable out and in again while the far buffer is full: its room is not promised twice, and in the
 * end it is all there again. */
TEST(test_credits_after_a_new_link)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw = draw_switch(b, 2);
	struct pworld w;
	port_id a, p;

	draw_rated_link(b, sw, 1, draw_host(b, 1), 1, 4, FAB_QDR);
	draw_rated_link(b, sw, 2, draw_host(b, 1), 1, 1, FAB_SDR);
	pw_open(&w, fab_build(b), NULL);
	a = pw_id(&w, sw, 1);
	p = pw_id(&w, 1, 1);
	pw_stream(&w, 0, 600 * PS_PER_NS, 100, 0, 1, SIZE, 0);
	pw_start(&w);
	for (unsigned i = 1; i <= 5; i++) {
		pw_run(&w, i * 17 * PS_PER_US);
		sim_uncable(w.sim, a);
		assert_true(w.pl->in[chan_of(w.pl, a, 0)].used > 0);
		if (i % 2) /* at once, or after the port has noticed */
			pw_run(&w, sim_now(w.sim) + 300 * PS_PER_NS);
		sim_cable(w.sim, p, a);
		pw_all_ready(&w);
	}
	pw_drain(&w, PS_PER_MS);
	assert_true(pw_delivered(&w) > 50);
	assert_int_equal(pw_delivered(&w) + pw_lost(&w, SIM_DISCARD_INACTIVE_PORT) +
				 pw_lost(&w, SIM_DISCARD_DEACTIVATED_PORT),
			 100);
	pw_close(&w);
}

/* ---- how long a packet may wait ---- */

/* Time advances independently of timers. */
static void run_bounded(struct pworld *w, time_ps until)
{
	sim_call(w->sim, until, world_tick, NULL, 0);
	for (unsigned events = 0; sim_next(w->sim) <= until; events++) {
		if (events == 100000)
			fail_msg("it is %llu ps and will be for ever",
				 (unsigned long long)sim_now(w->sim));
		pw_step(w);
	}
}

/* A switch output whose head gets no credit on VL 1 for as long as `blocked`; on VL 0 one long
 * packet keeps the link busy from 1 us to 9 us. The head may wait 4.096 us. */
static void head_waits(struct pworld *w, time_ps blocked)
{
	struct out_chan *o;

	pw_open(w, draw_star(2, 1, FAB_SDR), NULL);
	pw_port(w, 0, 1)->pi.hoq_life = 0;
	o = &w->pl->out[chan_of(w->pl, pw_id(w, 0, 1), 1)];
	o->fccl = 0;
	pw_packet(w, 0, 1, 0, SIZE, 1);
	pw_packet(w, 2 * PS_PER_US, 1, 0, 2000, 0);
	pw_start(w);
	pw_run(w, blocked);
	o->fccl = 64;
	link_kick(&w->sim->main, pw_id(w, 0, 1));
	run_bounded(w, 100 * PS_PER_US);
	pw_check_rest(w);
}

/* Without credit for too long it is discarded; with credit in time it waits for the link only. */
TEST(test_head_of_queue_life)
{
	struct pworld w;

	head_waits(&w, 6 * PS_PER_US);
	pw_expect(&w, 1, SIM_DISCARD_LIFETIME, 1);
	pw_close(&w);
	head_waits(&w, 4 * PS_PER_US);
	pw_expect(&w, 2, SIM_DISCARD_LIFETIME, 0);
	pw_close(&w);
}

/*
 * VLStallCount 2, HOQLife 4.096 us, no credit on VL 1. A packet sent at 0 is at the head of the
 * output after 402 ns (arbiter 40, header 80, cable 100, routing to set-up 102, header across 80):
 * the first is discarded at 4,498 ns, the second at 8,594. That stalls the VL for 32.768 us, until
 * 41,362: the three behind them are discarded at once, and so are packets that arrive then, with or without credit.
 */
TEST(test_a_stalled_vl)
{
	const time_ps stall = 8594 * PS_PER_NS, end = 41362 * PS_PER_NS, way = 402 * PS_PER_NS;
	struct out_chan *o;
	struct pworld w;

	pw_open(&w, draw_star(2, 1, FAB_SDR), NULL);
	pw_port(&w, 0, 1)->pi.hoq_life = 0;
	pw_port(&w, 0, 1)->pi.vl_stall_count = 2;
	o = &w.pl->out[chan_of(w.pl, pw_id(&w, 0, 1), 1)];
	o->fccl = 0;
	pw_stream(&w, 0, 0, 5, 1, 0, SIZE, 1);
	pw_packet(&w, 15 * PS_PER_US, 1, 0, SIZE, 1);
	pw_packet(&w, 25 * PS_PER_US, 1, 0, SIZE, 0); /* the other VL continues */
	pw_packet(&w, end - way - 1, 1, 0, SIZE, 1);
	pw_packet(&w, end - way + 2 * PS_PER_US, 1, 0, SIZE, 1);
	pw_start(&w);
	pw_run(&w, stall - 1);
	pw_expect(&w, 0, SIM_DISCARD_LIFETIME, 1);
	pw_run(&w, stall);
	assert_int_equal(pw_lost(&w, SIM_DISCARD_LIFETIME), 2);
	assert_int_equal(pw_lost(&w, SIM_DISCARD_STALLED), 3);
	o->fccl = 64;
	pw_run(&w, end - 1);
	assert_int_equal(pw_lost(&w, SIM_DISCARD_STALLED), 5);
	assert_int_equal(pw_delivered(&w), 1);
	pw_drain(&w, PS_PER_MS);
	assert_int_equal(pw_lost(&w, SIM_DISCARD_LIFETIME), 2);
	assert_int_equal(pw_lost(&w, SIM_DISCARD_STALLED), 5);
	assert_int_equal(pw_delivered(&w), 2);
	pw_close(&w);
}

/* The far host sends its credits, but for 20 us they are not received. */
static void hold_credit(struct pworld *w)
{
	struct out_chan *o = w->ctx;

	if (o->fctbs == 5 && sim_now(w->sim) < 20 * PS_PER_US)
		o->fccl = 5;
}

/* Only packets in a row count: one that is sent between two that expire restarts the count. */
TEST(test_a_vl_that_moves_does_not_stall)
{
	struct out_chan *o;
	struct pworld w;

	pw_open(&w, draw_star(2, 1, FAB_SDR), NULL);
	pw_port(&w, 0, 1)->pi.hoq_life = 0;
	pw_port(&w, 0, 1)->pi.vl_stall_count = 2;
	o = &w.pl->out[chan_of(w.pl, pw_id(&w, 0, 1), 1)];
	o->fccl = 0;
	pw_stream(&w, 0, 0, 3, 1, 0, SIZE, 1);
	pw_start(&w);
	pw_run(&w, 4500 * PS_PER_NS); /* the first has expired; the second gets its 5 blocks */
	o->fccl = 5;
	link_kick(&w.sim->main, pw_id(&w, 0, 1));
	w.ctx = o;
	w.after_step = hold_credit;
	pw_run(&w, 20 * PS_PER_US); /* the third expires */
	o->fccl = 5 + 64;
	pw_packet(&w, 21 * PS_PER_US, 1, 0, SIZE, 1);
	w.trace.at[0] = w.trace.at[3];
	w.trace.n = 1;
	pw_start(&w);
	pw_drain(&w, PS_PER_MS);
	pw_expect(&w, 2, SIM_DISCARD_LIFETIME, 2);
	pw_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_buffer_overruns),
		cmocka_unit_test(test_counters_wrap),
		cmocka_unit_test(test_a_credit_packet_for_each_packet),
		cmocka_unit_test(test_two_weights),
		cmocka_unit_test(test_a_unit_of_weight),
		cmocka_unit_test(test_three_weights),
		cmocka_unit_test(test_weights_count_bytes),
		cmocka_unit_test(test_an_empty_vl_costs_nothing),
		cmocka_unit_test(test_limit_of_high_priority),
		cmocka_unit_test(test_vl15_goes_first),
		cmocka_unit_test(test_vl15_has_no_credits),
		cmocka_unit_test(test_a_full_vl_stops_no_other),
		cmocka_unit_test(test_states_of_the_sender),
		cmocka_unit_test(test_states_of_the_receiver),
		cmocka_unit_test(test_the_first_packet_activates),
		cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_larger_than_a_buffer),
		cmocka_unit_test(test_a_buffer_holds_a_packet),
		cmocka_unit_test(test_a_cut_cable_loses_what_is_on_it),
		cmocka_unit_test(test_a_tail_that_never_comes),
		cmocka_unit_test(test_a_dead_node_loses_what_it_held),
		cmocka_unit_test(test_credits_after_a_new_link),
		cmocka_unit_test(test_head_of_queue_life),
		cmocka_unit_test(test_a_stalled_vl),
		cmocka_unit_test(test_a_vl_that_moves_does_not_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
