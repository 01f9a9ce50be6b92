/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside a switch: the time of each part to the picosecond, the order of packets that compete, and
 * deadlock. Fixture: plane_fixture.h. Does not test links beyond what a packet needs.
 */
#include "plane_fixture.h"

enum { SIZE = 256, WIRE = SIZE + PW_BYTES, HEADER = 20 };

/* ---- the time of one packet alone ---- */

struct rate {
	unsigned width, speed;
	time_ps byte; /* a byte on it */
};

static const struct rate sdr = {1, FAB_SDR, 4000}, qdr = {4, FAB_QDR, 250};
static const struct rate sdr4 = {4, FAB_SDR, 1000};

/* h0 - sw - ... - sw - h1 with n switches and the n + 1 rates in a row. */
static struct fab *draw_rated_chain(unsigned n, const struct rate *const *rates)
{
	struct fab_builder *b = fab_builder_new();
	node_id left = draw_host(b, 1);

	for (unsigned i = 0; i <= n; i++) {
		node_id right = i < n ? draw_switch(b, 2) : draw_host(b, 1);

		draw_rated_link(b, left, i ? 2 : 1, right, 1, rates[i]->width, rates[i]->speed);
		left = right;
	}
	return fab_build(b);
}

static void one_packet(unsigned n, const struct rate *const *rates, time_ps *head, time_ps *all)
{
	struct pworld w;

	pw_open(&w, draw_rated_chain(n, rates), NULL);
	pw_packet(&w, PS_PER_US, 0, 1, SIZE, 0);
	pw_start(&w);
	pw_drain(&w, 100 * PS_PER_US);
	assert_int_equal(pw_delivered(&w), 1);
	*head = (time_ps)sim_plane_stats(w.sim)->header_latency.sum;
	*all = (time_ps)sim_plane_stats(w.sim)->latency.sum;
	pw_close(&w);
}

/*
 * All links alike: the arbiter of the host (40 ns); for each switch the header on the cable, 100 ns
 * of cable, routing, mapping, crossbar arbiter and set-up (40 + 20 + 40 + 2), the header across,
 * the output's arbiter (40); then the whole packet and a cable.
 */
static void chain_of_one_rate(const struct rate *r)
{
	for (unsigned n = 1; n <= 6; n++) {
		const struct rate *rates[] = {r, r, r, r, r, r, r};
		time_ps hop = 2 * HEADER * r->byte + (100 + 102 + 40) * PS_PER_NS, head, all;

		one_packet(n, rates, &head, &all);
		assert_int_equal(head,
				 40 * PS_PER_NS + n * hop + HEADER * r->byte + 100 * PS_PER_NS);
		assert_int_equal(all, 40 * PS_PER_NS + n * hop + WIRE * r->byte + 100 * PS_PER_NS);
	}
}

TEST(time_at_one_rate)
{
	chain_of_one_rate(&sdr);
	chain_of_one_rate(&qdr);
	chain_of_one_rate(&sdr4);
}

/* By hand, in nanoseconds: 1,670 = 40 + 80 + 100 + 102 + 80 + 40 + 1,128 + 100, and so on. */
TEST(time_in_figures)
{
	const struct rate *slow[] = {&sdr, &sdr}, *fast[] = {&qdr, &qdr};
	time_ps head, all;

	one_packet(1, slow, &head, &all);
	assert_int_equal(head, 622 * PS_PER_NS);
	assert_int_equal(all, 1670 * PS_PER_NS);
	one_packet(1, fast, &head, &all);
	assert_int_equal(head, 397 * PS_PER_NS);
	assert_int_equal(all, 462500);
}

/*
 * Slow to fast: the fast link can send no byte before it came by the slow one, so it ends with it:
 * 40 + 1,128 + 100 and one more cable. Its header though left at 40 + 80 + 100 + 102 + 5 + 40.
 * Fast to slow: 40 + 5 + 100 + 102 + 80 + 40, then 1,128 and a cable.
 */
TEST(time_between_rates)
{
	const struct rate *up[] = {&sdr, &qdr}, *down[] = {&qdr, &sdr};
	const struct rate *updown[] = {&sdr, &qdr, &sdr}, *downup[] = {&qdr, &sdr, &qdr};
	time_ps head, all;

	one_packet(1, up, &head, &all);
	assert_int_equal(head, (40 + 80 + 100 + 102 + 5 + 40 + 5 + 100) * PS_PER_NS);
	assert_int_equal(all, (40 + 1128 + 100 + 100) * PS_PER_NS);
	one_packet(1, down, &head, &all);
	assert_int_equal(head, (40 + 5 + 100 + 102 + 80 + 40 + 80 + 100) * PS_PER_NS);
	assert_int_equal(all, (40 + 5 + 100 + 102 + 80 + 40 + 1128 + 100) * PS_PER_NS);
	/* 472 ns when the header is at the second switch, 694 when the packet leaves it */
	one_packet(2, updown, &head, &all);
	assert_int_equal(head, (367 + 5 + 100 + 102 + 80 + 40 + 80 + 100) * PS_PER_NS);
	assert_int_equal(all, (367 + 5 + 100 + 102 + 80 + 40 + 1128 + 100) * PS_PER_NS);
	/* leaves the first at 367 and is whole at the second at 1,595; the fast link waits for it
	 */
	one_packet(2, downup, &head, &all);
	assert_int_equal(head, (367 + 80 + 100 + 102 + 5 + 40 + 5 + 100) * PS_PER_NS);
	assert_int_equal(all, (367 + 1128 + 100 + 100) * PS_PER_NS);
}

/* ---- where a packet goes, and where it ends ---- */

/* Three hosts on a switch; host 0 sends ten packets to host 1 on SL 1. */
static void star_open(struct pworld *w)
{
	pw_open(w, draw_star(3, 1, FAB_SDR), NULL);
	pw_stream(w, 0, PS_PER_US, 10, 0, 1, SIZE, 1);
}

static void star_expect(struct pworld *w, uint64_t delivered, enum sim_discard why, uint64_t lost)
{
	pw_start(w);
	pw_drain(w, 100 * PS_PER_US);
	pw_expect(w, delivered, why, lost);
	pw_close(w);
}

TEST(no_entry)
{
	struct pworld w;

	star_open(&w);
	pw_lft_set(&w, 0, PW_LID0 + 1, IBA_PORT_NONE);
	star_expect(&w, 0, SIM_DISCARD_UNROUTABLE, 10);
	star_open(&w);
	pw_lft_set(&w, 0, PW_LID0 + 1, 4); /* the switch has three ports */
	star_expect(&w, 0, SIM_DISCARD_UNROUTABLE, 10);
	star_open(&w);
	w.sim->nodes[0].si.linear_top = PW_LID0;
	star_expect(&w, 0, SIM_DISCARD_UNROUTABLE, 10);
	star_open(&w);
	pw_port(&w, 2, 1)->pi.lid = 0; /* the sender does not know where to */
	w.sim->plane->known[1] = 0;
	star_expect(&w, 0, SIM_DISCARD_UNROUTABLE, 10);
}

TEST(a_packet_never_leaves_by_its_input_port)
{
	struct pworld w;

	star_open(&w);
	pw_lft_set(&w, 0, PW_LID0 + 1, 1);
	star_expect(&w, 0, SIM_DISCARD_TURNED_BACK, 10);
}

TEST(to_the_wrong_host)
{
	struct pworld w;

	star_open(&w);
	pw_lft_set(&w, 0, PW_LID0 + 1, 3);
	star_expect(&w, 0, SIM_DISCARD_WRONG_HOST, 10);
}

TEST(sl_to_vl15)
{
	struct pworld w;

	for (node_id n = 0; n < 2; n++) { /* in the switch, in the host */
		star_open(&w);
		pw_slvl_set(&w, n, 1, 15);
		star_expect(&w, 0, SIM_DISCARD_UNMAPPABLE, 10);
		star_open(&w);
		pw_slvl_set(&w, n, 1, 2); /* there are VL 0 and 1 */
		star_expect(&w, 0, SIM_DISCARD_UNMAPPABLE, 10);
		star_open(&w);
		pw_slvl_set(&w, n, 0, 15); /* none of theirs */
		star_expect(&w, 10, SIM_DISCARD_UNMAPPABLE, 0);
	}
}

TEST(a_vl_that_is_not_in_use)
{
	struct pworld w;

	star_open(&w);
	pw_slvl_set(&w, 0, 1, 1);
	pw_port(&w, 0, 2)->pi.oper_vls = 1; /* VL 0 alone */
	star_expect(&w, 0, SIM_DISCARD_UNMAPPABLE, 10);
}

/* A switch does not send what is too long for the link; the far host never sees it. */
TEST(mtu_of_the_next_link)
{
	struct pworld w;

	pw_open(&w, draw_star(3, 1, FAB_SDR), NULL);
	pw_port(&w, 0, 2)->pi.neighbor_mtu = 2; /* 512 */
	pw_packet(&w, 0, 0, 1, 512, 1);
	pw_packet(&w, PS_PER_US, 0, 1, 513, 1);
	pw_start(&w);
	pw_drain(&w, 100 * PS_PER_US);
	pw_expect(&w, 1, SIM_DISCARD_MTU, 1);
	assert_int_equal(sim_port_counters(w.sim, pw_id(&w, 0, 2))->tx_packets, 1);
	pw_close(&w);
}

/* Host 0 sends with the default key; port `num` of the switch knows only `key`. */
static void enforce(unsigned num, bool in, bool out, uint16_t key, uint64_t delivered)
{
	struct sim_port *p;
	struct pworld w;

	star_open(&w);
	p = pw_port(&w, 0, num);
	p->pi.part_enf_in = in;
	p->pi.part_enf_out = out;
	p->pkeys = mem_zarray(32, sizeof(*p->pkeys));
	p->pkeys[7] = key;
	star_expect(&w, delivered, SIM_DISCARD_PKEY, 10 - delivered);
}

/* Partition enforcement (IBA 14.2.5.6): only where it is on, and in that direction. */
TEST(switches_enforce_partitions)
{
	enforce(1, true, false, 0x8001, 0);
	enforce(2, false, true, 0x8001, 0);
	enforce(1, false, true, 0x8001, 10);
	enforce(2, true, false, 0x8001, 10);
	enforce(1, true, true, 0xffff, 10);
	enforce(2, true, true, 0x7fff, 10); /* a limited member beside a full one */
}

/* Discards free their room: ten that go nowhere do not hold up the eleventh. */
TEST(a_discarded_packet_frees_its_resources)
{
	struct pworld w;

	star_open(&w);
	pw_lft_set(&w, 0, PW_LID0 + 1, IBA_PORT_NONE);
	pw_stream(&w, 0, 0, 100, 0, 1, 2000, 0);
	pw_packet(&w, 0, 0, 2, SIZE, 0);
	pw_start(&w);
	pw_drain(&w, 10 * PS_PER_MS);
	pw_expect(&w, 1, SIM_DISCARD_UNROUTABLE, 110);
	pw_close(&w);
}

/* ---- who goes first ---- */

struct tally {
	port_id port;
	unsigned by_host[8];
	uint16_t last_bytes[8];
	bool in_order;
};

static void count_sent(void *ctx, port_id port, unsigned vl, const struct sim_smp *smp,
		       uint16_t slid, uint16_t dlid, uint8_t sl, uint16_t pkey, uint16_t bytes)
{
	struct tally *t = ctx;
	unsigned h = slid - PW_LID0;

	(void)vl;
	(void)dlid;
	(void)sl;
	(void)pkey;
	if (smp || port != t->port || h >= ARRAY_LEN(t->by_host))
		return;
	t->by_host[h]++;
	t->in_order = t->in_order && bytes > t->last_bytes[h];
	t->last_bytes[h] = bytes;
}

/* Three hosts want the same output all the time: each gets a third; each one's packets stay in
 * their order, which their growing size tells. */
TEST(inputs_take_turns)
{
	struct tally t = {.in_order = true};
	struct pworld w;

	pw_open(&w, draw_star(4, 1, FAB_SDR), NULL);
	for (unsigned h = 1; h < 4; h++)
		for (unsigned i = 0; i < 120; i++)
			pw_packet(&w, i * PS_PER_NS, h, 0, 200 + i, 0);
	t.port = pw_id(&w, 0, 1);
	sim_tap(w.sim, (struct sim_tap){count_sent, &t});
	pw_start(&w);
	while (t.by_host[1] + t.by_host[2] + t.by_host[3] < 300)
		assert_true(pw_step(&w));
	for (unsigned h = 1; h < 4; h++)
		assert_in_range(t.by_host[h], 99, 101);
	pw_drain(&w, PS_PER_MS);
	assert_int_equal(pw_delivered(&w), 360);
	assert_true(t.in_order);
	pw_close(&w);
}

/*
 * Host 0 gives no credit. A long packet of host 1 lies in the output, one of host 2 waits for room,
 * and a short one of host 3 behind that, though there is room for it. When host 2's has waited 4 us
 * it is given up, and the short one goes before its own time is over.
 */
TEST(the_next_in_line)
{
	struct pworld w;
	struct out_chan *o;

	pw_open(&w, draw_star(4, 4, FAB_QDR), NULL);
	w.sim->nodes[0].si.life_time = 0;
	o = &w.pl->out[chan_of(w.pl, pw_id(&w, 0, 1), 0)];
	o->fccl = 0;
	pw_packet(&w, 0, 1, 0, 2048, 0);
	pw_packet(&w, PS_PER_US, 2, 0, 2048, 0);
	pw_packet(&w, 3 * PS_PER_US, 3, 0, SIZE, 0);
	pw_start(&w);
	pw_run(&w, 20 * PS_PER_US);
	pw_expect(&w, 0, SIM_DISCARD_LIFETIME, 1);
	o->fccl = 64;
	link_kick(&w.sim->main, pw_id(&w, 0, 1));
	pw_drain(&w, 20 * PS_PER_US);
	pw_expect(&w, 2, SIM_DISCARD_LIFETIME, 1);
	pw_close(&w);
}

/* ---- all wait for each other ---- */

/* Everything clockwise: by port 1, until the host is on this switch. */
static void tables_clockwise(struct pworld *w, unsigned n, unsigned hosts)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned h = 0; h < n * hosts; h++)
			pw_lft_set(w, i, PW_LID0 + h, h / hosts == i ? 3 + h % hosts : 1);
}

static void ring_open(struct pworld *w, unsigned n, unsigned hosts, unsigned buffer)
{
	struct sim_config c;

	pw_config(&c);
	c.vl_cap = 1;
	c.mtu_cap = 1;
	c.plane.buffer_bytes = buffer;
	pw_open(w, draw_ring(n, hosts, 4, FAB_SDR), &c);
	tables_clockwise(w, n, hosts);
}

/* Each host sends so many packets to one two switches on. */
static void ring_load(struct pworld *w, unsigned n, unsigned hosts, unsigned packets, time_ps gap)
{
	for (unsigned h = 0; h < n * hosts; h++)
		pw_stream(w, h * 10 * PS_PER_NS, gap, packets, h, (h + 2 * hosts) % (n * hosts),
			  SIZE, 0);
	pw_start(w);
}

/* The ring is reported in order: each output leads to the switch of the next. */
static void expect_ring(struct pworld *w, unsigned n)
{
	port_id *ring = NULL;
	size_t got = sim_deadlock(w->sim, &ring);

	assert_int_equal(got, n);
	for (size_t i = 0; i < got; i++) {
		port_id far = w->sim->ports[ring[i]].peer;

		assert_int_equal(w->fab->ports[ring[i]].num, 1);
		assert_int_equal(w->fab->ports[far].node, w->fab->ports[ring[(i + 1) % n]].node);
	}
	free(ring);
}

TEST(a_ring_deadlocks)
{
	for (unsigned n = 4; n <= 5; n++) {
		struct pworld w;
		uint64_t delivered;

		ring_open(&w, n, 2, 1024);
		w.unchecked = true;
		ring_load(&w, n, 2, 300, 100 * PS_PER_NS);
		pw_run(&w, 2 * PS_PER_MS);
		expect_ring(&w, n);
		delivered = pw_delivered(&w);
		assert_true(sim_plane_stats(w.sim)->in_flight > 0);
		pw_run(&w, 50 * PS_PER_MS); /* and it stays so */
		assert_int_equal(pw_delivered(&w), delivered);
		expect_ring(&w, n);
		pw_check_packets(&w);
		pw_close(&w);
	}
}

/* What is called a deadlock is one: asked after every event, and once said, never taken back. */
static void lock_is_for_ever(unsigned n, unsigned hosts, time_ps gap, unsigned *locks)
{
	struct pworld w;
	port_id *ring;
	uint64_t delivered = 0;
	bool locked = false;

	ring_open(&w, n, hosts, 1024);
	w.unchecked = true;
	ring_load(&w, n, hosts, 40, gap);
	while (sim_now(w.sim) < 100 * PS_PER_US && pw_step(&w)) {
		size_t got = sim_deadlock(w.sim, &ring);

		if (got)
			free(ring);
		if (locked && !got)
			fail_msg("%u switches, %u hosts each, gap %llu: it was no deadlock", n,
				 hosts, (unsigned long long)gap);
		locked = got;
		delivered = pw_delivered(&w);
	}
	*locks += locked;
	assert_true(locked || delivered == 40ull * n * hosts);
	pw_close(&w);
}

TEST(a_deadlock_does_not_dissolve)
{
	unsigned locks = 0, runs = 0;

	for (unsigned n = 4; n <= 6; n++)
		for (unsigned hosts = 1; hosts <= 2; hosts++)
			for (time_ps gap = 100; gap <= 1500; gap += 100, runs++)
				lock_is_for_ever(n, hosts, gap * PS_PER_NS, &locks);
	assert_true(locks > 10 && locks + 10 < runs); /* both sorts were looked at */
}

/* Packets that may not wait for ever: the ring comes loose, and what was given up is counted. */
TEST(life_times_resolve_a_deadlock)
{
	struct pworld w;
	port_id *ring;

	ring_open(&w, 4, 2, 1024);
	w.unchecked = true;
	for (unsigned i = 0; i < 4; i++)
		pw_port(&w, i, 1)->pi.hoq_life = 3; /* 33 us */
	ring_load(&w, 4, 2, 100, 100 * PS_PER_NS);
	pw_drain(&w, 20 * PS_PER_MS);
	assert_int_equal(sim_deadlock(w.sim, &ring), 0);
	assert_true(pw_lost(&w, SIM_DISCARD_LIFETIME) > 0);
	assert_int_equal(pw_delivered(&w) + pw_lost(&w, SIM_DISCARD_LIFETIME), 800);
	pw_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_at_one_rate),
		cmocka_unit_test(time_in_figures),
		cmocka_unit_test(time_between_rates),
		cmocka_unit_test(no_entry),
		cmocka_unit_test(a_packet_never_leaves_by_its_input_port),
		cmocka_unit_test(to_the_wrong_host),
		cmocka_unit_test(sl_to_vl15),
		cmocka_unit_test(a_vl_that_is_not_in_use),
		cmocka_unit_test(mtu_of_the_next_link),
		cmocka_unit_test(switches_enforce_partitions),
		cmocka_unit_test(a_discarded_packet_frees_its_resources),
		cmocka_unit_test(inputs_take_turns),
		cmocka_unit_test(the_next_in_line),
		cmocka_unit_test(a_ring_deadlocks),
		cmocka_unit_test(a_deadlock_does_not_dissolve),
		cmocka_unit_test(life_times_resolve_a_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
