/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane beyond the plain path of a packet: multicast, life times, bit errors, P_Keys, static rate
 * control, counters. Each test brings up a small fabric and changes one thing. State: struct world.
 * Covers: plane_lifetime.c, plane_timeout.c, plane_errors.c, plane_discard.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "sim/plane/plane_priv.h" /* writes multicast tables, P_Keys and life times without SMPs */

struct world {
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	const struct sim_plane_stats *st;
	time_ps sent[64];
	unsigned nsent;
	port_id watched;
};

/* Two switches with three hosts each: hosts 0-2 on the first, 3-5 on the second. */
static struct fab *two_leaves(unsigned slow_host)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[2];

	for (unsigned i = 0; i < 2; i++)
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x10 + i, 8, i ? "right" : "left");
	for (unsigned h = 0; h < 6; h++) {
		node_id n = fab_add_node(b, IBA_NODE_CA, 0x100 + h, 1, "host");

		fab_builder_port(b, n, 1)->guid = 0x200 + h;
		assert_int_equal(fab_add_link(b, n, 1, sw[h / 3], 1 + h % 3), 0);
	}
	assert_int_equal(fab_add_link(b, sw[0], 8, sw[1], 8), 0);

	struct fab *f = fab_build(b);

	for (port_id p = 0; p < f->nports; p++) {
		f->ports[p].width = 4;
		f->ports[p].speed = FAB_SDR;
	}
	if (slow_host < 6) {
		port_id p = fab_port_id(f, fab_node_by_guid(f, 0x100 + slow_host), 1);

		f->ports[p].width = f->ports[f->ports[p].peer].width = 1;
	}
	return f;
}

static void open_world(struct world *w, unsigned slow_host, void (*tune)(struct lab_config *c))
{
	struct lab_config c;
	struct err e;

	memset(w, 0, sizeof(*w));
	w->fab = two_leaves(slow_host);
	lab_config_default(&c);
	c.sim.plane.on = true;
	c.sm.sweep_factor = 0; /* no sweeps */
	c.threads = 1;
	if (tune)
		tune(&c);
	w->lab = lab_new(w->fab, &c, &e);
	assert_non_null(w->lab);
	w->sim = lab_sim(w->lab);
	lab_power_on(w->lab, NULL);
	assert_true(lab_run_ready(w->lab, 10 * PS_PER_S));
	w->st = sim_plane_stats(w->sim);
	assert_int_equal(sim_host_count(w->sim), 6);
}

static void close_world(struct world *w)
{
	uint64_t gone = w->st->delivered + w->st->in_flight;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		gone += w->st->discarded[i];
	assert_int_equal(w->st->generated + w->st->copies, gone);
	lab_free(w->lab);
	fab_free(w->fab);
}

static void run_for(struct world *w, time_ps t)
{
	lab_run_until(w->lab, sim_now(w->sim) + t);
}

static uint16_t lid_of_host(const struct world *w, uint32_t host)
{
	return sim_port_info(w->sim, w->sim->plane->hosts.at[host])->lid;
}

static uint64_t discarded(const struct world *w, enum sim_discard why)
{
	return w->st->discarded[why];
}

/* ---- multicast ---- */

static void group_on_all_ports(struct world *w, unsigned mask)
{
	for (uint32_t i = 0; i < w->fab->nswitches; i++) {
		struct sim_node *n = &w->sim->nodes[w->fab->switches[i]];

		n->mft = mem_zarray(w->sim->cfg.mft_cap * 16u, sizeof(*n->mft));
		n->mft[5 * 16] = (uint16_t)mask; /* LID 0xc005, ports 0 to 15 */
	}
}

TEST(multicast_reaches_everyone_else_once)
{
	struct world w;

	open_world(&w, 9, NULL);
	group_on_all_ports(&w, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8);
	sim_inject(w.sim, 0, 0xc005, 256, 0);
	run_for(&w, 100 * PS_PER_US);
	assert_int_equal(w.st->generated, 1);
	assert_int_equal(w.st->delivered, 5);
	assert_int_equal(w.st->copies, 4);
	assert_int_equal(w.st->in_flight, 0);
	sim_inject(w.sim, 0, 0xc006, 256, 0); /* a group without members */
	run_for(&w, 100 * PS_PER_US);
	assert_int_equal(discarded(&w, SIM_DISCARD_UNROUTABLE), 1);
	close_world(&w);
}

TEST(multicast_under_load_is_conserved)
{
	struct world w;

	open_world(&w, 9, NULL);
	group_on_all_ports(&w, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8);
	for (unsigned i = 0; i < 200; i++) {
		sim_inject(w.sim, i % 6, 0xc005, 1024, (uint8_t)(i % 2));
		run_for(&w, PS_PER_US);
	}
	run_for(&w, 10 * PS_PER_MS);
	assert_int_equal(w.st->delivered, 1000);
	assert_int_equal(w.st->in_flight, 0);
	close_world(&w);
}

/* ---- life-times ---- */

static void burst_across(struct world *w, unsigned packets)
{
	for (unsigned i = 0; i < packets; i++)
		for (unsigned h = 0; h < 5; h++)
			sim_inject(w->sim, h, lid_of_host(w, 5), 2048, 0);
}

static void set_limits(struct world *w, uint8_t hoq, uint8_t life)
{
	for (port_id p = 0; p < w->fab->nports; p++)
		w->sim->ports[p].pi.hoq_life = hoq;
	for (node_id n = 0; n < w->fab->nnodes; n++)
		w->sim->nodes[n].si.life_time = life;
}

TEST(head_of_queue_life)
{
	struct world w;

	open_world(&w, 9, NULL);
	set_limits(&w, 0, 31); /* 4.1 us without credit */
	burst_across(&w, 50);
	run_for(&w, 10 * PS_PER_MS);
	assert_true(discarded(&w, SIM_DISCARD_LIFETIME) > 0);
	assert_int_equal(w.st->in_flight, 0);
	close_world(&w);
}

TEST(switch_life_time)
{
	struct world w;

	open_world(&w, 9, NULL);
	set_limits(&w, 31, 1); /* 8.2 us without room */
	burst_across(&w, 50);
	run_for(&w, 10 * PS_PER_MS);
	assert_true(discarded(&w, SIM_DISCARD_LIFETIME) > 0);
	assert_int_equal(w.st->in_flight, 0);
	close_world(&w);
}

TEST(without_limits_everything_arrives)
{
	struct world w;

	open_world(&w, 9, NULL);
	set_limits(&w, 31, 31);
	burst_across(&w, 50);
	run_for(&w, 10 * PS_PER_MS);
	assert_int_equal(w.st->delivered, 250);
	close_world(&w);
}

/* ---- errors ---- */

static void one_byte_in_50000(struct lab_config *c)
{
	c->sim.plane.byte_error_q40 = ((uint64_t)1 << 40) / 50000;
	c->sm.retries = 20;
}

/* A damaged packet takes its credit with it until FCTBS restores it; nothing stops permanently. */
TEST(errors_cost_packets_but_no_credit)
{
	struct world w;
	uint64_t errors = 0;

	open_world(&w, 9, one_byte_in_50000);
	for (unsigned round = 0; round < 40; round++) {
		burst_across(&w, 10);
		run_for(&w, PS_PER_MS);
	}
	run_for(&w,
		400 * PS_PER_MS); /* a lost credit is reported within 262 us, and back within another 262 us */
	assert_int_equal(w.st->generated, 2000);
	assert_int_equal(w.st->in_flight, 0);
	assert_true(discarded(&w, SIM_DISCARD_ERROR) > 50); /* 2 or 3 links, 4 % each */
	assert_true(w.st->delivered > 1600);
	for (port_id p = 0; p < w.fab->nports; p++)
		errors += sim_port_counters(w.sim, p)->errors;
	assert_true(errors >= discarded(&w, SIM_DISCARD_ERROR));
	close_world(&w);
}

/* ---- P_Keys ---- */

TEST(packets_of_another_partition_are_discarded)
{
	struct world w;
	struct sim_port *to;

	open_world(&w, 9, NULL);
	to = &w.sim->ports[w.sim->plane->hosts.at[4]];
	to->pkeys = mem_zarray(32, sizeof(*to->pkeys));
	to->pkeys[0] = 0x8001;
	sim_inject(w.sim, 0, lid_of_host(&w, 4), 256, 0);
	run_for(&w, PS_PER_MS);
	assert_int_equal(discarded(&w, SIM_DISCARD_PKEY), 1);
	assert_int_equal(to->pi.p_key_violations, 1);
	to->pkeys[3] = 0x7fff; /* a limited member of the default partition hears full ones */
	sim_inject(w.sim, 0, lid_of_host(&w, 4), 256, 0);
	run_for(&w, PS_PER_MS);
	assert_int_equal(w.st->delivered, 1);
	close_world(&w);
}

/* ---- static rate control, with a tap that sees packets leave ---- */

static void on_sent(void *ctx, port_id port, unsigned vl, const struct sim_smp *smp, uint16_t slid,
		    uint16_t dlid, uint8_t sl, uint16_t pkey, uint16_t bytes)
{
	struct world *w = ctx;

	(void)vl;
	(void)slid;
	(void)dlid;
	(void)sl;
	assert_int_equal(pkey, 0xffff);
	assert_true(smp ? bytes == IBA_SMP_WIRE_BYTES : bytes > 26);
	if (port == w->watched && !smp && w->nsent < ARRAY_LEN(w->sent))
		w->sent[w->nsent++] = sim_now(w->sim);
}

static void with_rate_control(struct lab_config *c)
{
	c->sim.plane.rate_control = true;
}

static void send_trace(struct world *w, const char *text)
{
	struct traffic_config t = {.pattern = TRAFFIC_TRACE, .stop_ps = TIME_NEVER};
	traffic_trace trace = {0};
	struct err e;

	if (traffic_trace_parse(&trace, 6, "trace", text, strlen(text), &e))
		fail_msg("%s", e.text);
	t.trace = &trace;
	if (sim_traffic(w->sim, &t, &e))
		fail_msg("%s", e.text);
	run_for(w, PS_PER_S);
	vec_free(&trace);
}

TEST(static_rate_control_for_a_slow_host)
{
	static const char text[] = "900ms 0 5 256\n900ms 0 5 256\n900ms 0 5 256\n";
	time_ps slow = 282 * 4000, fast = 282 * 1000; /* ps: 1X and 4X SDR */
	struct world w;

	for (int control = 0; control < 2; control++) {
		open_world(&w, 5, control ? with_rate_control : NULL);
		w.watched = w.sim->plane->hosts.at[0];
		sim_tap(w.sim, (struct sim_tap){on_sent, &w});
		send_trace(&w, text);
		assert_int_equal(w.st->delivered, 3);
		assert_int_equal(w.nsent, 3);
		assert_int_equal(w.sent[1] - w.sent[0], control ? slow : fast);
		assert_int_equal(w.sent[2] - w.sent[1], control ? slow : fast);
		close_world(&w);
	}
}

TEST(counters_add_up)
{
	const struct sim_port_counters *a, *b;
	struct world w;
	port_id p;

	open_world(&w, 9, NULL);
	p = w.sim->plane->hosts.at[0];
	a = sim_port_counters(w.sim, p);
	b = sim_port_counters(w.sim, w.sim->ports[p].peer);

	uint64_t before = a->tx_packets, bytes = b->rx_bytes;

	for (unsigned i = 0; i < 7; i++)
		sim_inject(w.sim, 0, lid_of_host(&w, 3), 512, 0);
	run_for(&w, PS_PER_MS);
	assert_int_equal(a->tx_packets - before, 7);
	assert_int_equal(b->rx_bytes - bytes, 7 * (512 + 26));
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multicast_reaches_everyone_else_once),
		cmocka_unit_test(multicast_under_load_is_conserved),
		cmocka_unit_test(head_of_queue_life),
		cmocka_unit_test(switch_life_time),
		cmocka_unit_test(without_limits_everything_arrives),
		cmocka_unit_test(errors_cost_packets_but_no_credit),
		cmocka_unit_test(packets_of_another_partition_are_discarded),
		cmocka_unit_test(static_rate_control_for_a_slow_host),
		cmocka_unit_test(counters_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
