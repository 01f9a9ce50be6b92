/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabrics under load: the manager brings them up, hosts send, and measurements must agree with what links
 * can carry.
 * Covers: load.c, saturation.c, usage.c, cpu_model.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/saturation.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { PAYLOAD = 256, WIRE_BYTES = PAYLOAD + LAB_OVERHEAD_BYTES };

static struct fab *make(const char *kind, unsigned size, unsigned hosts)
{
	struct fab_gen g = {.kind = kind,
			    .dims = {size},
			    .ndims = 1,
			    .hosts = hosts,
			    .has_hosts = true,
			    .seed = 1,
			    .width = 1,
			    .speed = FAB_SDR};
	struct err e;
	struct fab *f = fab_generate(&g, &e);

	assert_non_null(f);
	return f;
}

static struct lab_config config(void)
{
	struct lab_config c;

	lab_config_default(&c);
	c.sim.plane.on = true;
	c.threads = 1;
	return c;
}

static struct lab_load load(const struct fab *f, unsigned percent)
{
	uint64_t full = lab_load_full_rate(f, PAYLOAD);

	return (struct lab_load){
		.traffic = {.payload = PAYLOAD,
			    .sl_mask = 0xffff,
			    .seed = 1,
			    .burst_packets = 16,
			    .interval_ps = percent ? lab_load_interval(full * percent / 100) : 0},
		.warmup = TIME_NEVER,
		.duration = TIME_NEVER,
	};
}

static void run(const struct fab *f, const struct lab_config *c, struct lab_load d,
		struct lab_load_result *r)
{
	struct err e;
	struct lab *l = lab_new(f, c, &e);

	assert_non_null(l);
	lab_load_times(f, &d);
	assert_int_equal(lab_load_up(l, 10 * PS_PER_S, &e), 0);
	assert_int_equal(lab_load_run(l, &d, r, &e), 0);
	lab_free(l);
}

/* ---- virtual functions ---- */

/* VFs without VMs send nothing and are no hosts, in each scheme: the load is that of the same fabric without them. */
TEST(functions_are_no_hosts)
{
	static const enum sm_scheme schemes[] = {SM_SCHEME_DYNAMIC, SM_SCHEME_PREPOPULATED,
						 SM_SCHEME_NONE};
	struct fab *f = make("irregular", 4, 6), *with = fab_with_vfs(f, FAB_SRIOV_VSWITCH, 3),
		   *wire;
	struct lab_load_result plain, r;
	struct lab_config c = config();

	wire = fab_wire(with, NULL);
	assert_int_equal(lab_load_hosts(wire), 6);
	for (node_id n = 0; n < f->nnodes; n++) /* its PF */
		assert_int_equal(lab_host_number(wire, n), lab_host_number(f, n));
	run(f, &c, load(f, 20), &plain);
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		c.sm.scheme = schemes[i];
		run(wire, &c, load(wire, 20), &r);
		assert_int_equal(r.hosts, 6);
		assert_int_equal(r.plane.generated, plain.plane.generated);
		assert_int_equal(r.offered, plain.offered);
		assert_int_equal(r.discarded, 0);
		lab_load_free(&r);
	}
	lab_load_free(&plain);
	fab_free(f);
	fab_free(with);
	fab_free(wire);
}

/* ---- rates ---- */

TEST(full_rate_of_a_link)
{
	struct fab *f = make("irregular", 4, 6);

	assert_int_equal(lab_host_bps(f), 2000000000); /* 1X SDR: 2 Gb/s of data */
	assert_int_equal(lab_load_full_rate(f, PAYLOAD), 2000000000 / (WIRE_BYTES * 8));
	assert_int_equal(lab_load_interval(1000000), PS_PER_US);
	assert_int_equal(lab_load_interval(UINT64_MAX), 1);
	fab_free(f);
}

TEST(hosts_have_numbers)
{
	struct fab *f = make("irregular", 4, 6);
	uint32_t next = 0;

	for (node_id n = 0; n < f->nnodes; n++)
		assert_int_equal(lab_host_number(f, n), fab_is_switch(f, n) ? UINT32_MAX : next++);
	assert_int_equal(next, 6);
	fab_free(f);
}

TEST(default_times_depend_on_the_rate)
{
	struct fab *f = make("irregular", 4, 6);
	struct lab_load d = load(f, 10), given = load(f, 10);
	traffic_trace trace = {0};

	lab_load_times(f, &d);
	assert_int_equal(d.duration, d.traffic.interval_ps * (8000 / 6));
	assert_int_equal(d.warmup, d.duration / 4);
	given.duration = 7;
	given.warmup = 0;
	lab_load_times(f, &given);
	assert_int_equal(given.duration, 7);
	assert_int_equal(given.warmup, 0);
	vec_push(&trace, (struct traffic_trace_item){.when_ps = 5 * PS_PER_US, .dst = 1});
	d = load(f, 0);
	d.trace = &trace;
	lab_load_times(f, &d);
	assert_int_equal(d.duration, 1005 * PS_PER_US);
	assert_int_equal(d.warmup, 0);
	vec_free(&trace);
	fab_free(f);
}

/* ---- by node and link ---- */

TEST(usage_by_host_and_link_adds_up)
{
	struct fab *f = make("irregular", 8, 10);
	struct lab_config c = config();
	struct lab_load d = load(f, 30);
	struct lab_load_result r;
	uint64_t made = 0, got = 0, sent = 0, forwarded = 0, hops = 0, in_window = 0;

	d.detail = true;
	run(f, &c, d, &r);
	assert_int_equal(r.usage.hosts.n, 10);
	assert_int_equal(r.usage.switches.n, 8);
	assert_int_equal(r.usage.links.n, 2 * f->nlinks);
	assert_int_equal(r.usage.lanes.n, r.usage.nvl * r.usage.links.n);
	for (size_t i = 0; i < r.usage.hosts.n; i++) {
		const struct lab_host_use *h = &r.usage.hosts.at[i];

		made += h->generated;
		got += h->received;
		sent += h->sent;
		in_window += h->latency.n;
		assert_true(h->latency.p50 <= h->latency.p99 && h->latency.p99 <= h->latency.max);
		assert_true(h->latency.max <= r.plane.latency.max &&
			    h->header.mean < h->latency.mean);
	}
	for (size_t i = 0; i < r.usage.switches.n; i++)
		forwarded += r.usage.switches.at[i].forwarded;
	for (size_t i = 0; i < r.usage.lanes.n; i++)
		hops += r.usage.lanes.at[i].packets;
	assert_int_equal(made, r.plane.generated);
	assert_int_equal(got, r.plane.delivered);
	assert_int_equal(in_window, r.plane.latency.n);
	assert_int_equal(hops, r.plane.hops);
	assert_int_equal(sent + forwarded, hops);
	lab_load_free(&r);
	fab_free(f);
}

TEST(smps_are_counted_by_purpose)
{
	struct fab *f = make("irregular", 4, 4);
	struct lab_config c = config();
	struct lab_load_result r;
	uint64_t all = 0;

	run(f, &c, load(f, 10), &r);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		all += r.smps_by[i];
	assert_int_equal(all, r.smps);
	assert_true(r.smps_by[SM_FOR_DISCOVERY] && r.smps_by[SM_FOR_DISTRIBUTION] &&
		    r.smps_by[SM_FOR_ACTIVATION]);
	assert_true(r.net.delivered >= 2 * all - r.net.in_flight); /* each has a response */
	assert_int_equal(r.usage.hosts.n, 0);			   /* not requested */
	lab_load_free(&r);
	fab_free(f);
}

/* ---- runs ---- */

TEST(at_low_load_every_packet_is_delivered)
{
	struct fab *f = make("irregular", 8, 7);
	struct lab_config c = config();
	struct lab_load_result r;
	uint64_t asked = lab_load_full_rate(f, PAYLOAD) / 10;
	time_ps packet = WIRE_BYTES * 4 * PS_PER_NS; /* on the link */

	run(f, &c, load(f, 10), &r);
	assert_true(r.conserved);
	assert_int_equal(r.discarded, 0);
	assert_int_equal(r.nring, 0);
	assert_int_equal(r.hosts, 7);
	/* Poisson: 8000 packets vary by a few hundred; but all packets offered are delivered.
	 */
	assert_in_range(r.offered, asked - asked / 20, asked + asked / 20);
	assert_in_range(r.accepted, r.offered - r.offered / 100, r.offered + r.offered / 100);
	/* Two links at least, each 100 ns long, and one switch. */
	assert_true(r.plane.latency.min > packet + 200 * PS_PER_NS);
	assert_true(hist_mean(&r.plane.latency) < 4 * packet);
	assert_true(r.plane.header_latency.min + packet / 2 < r.plane.latency.min);
	/* The warm-up does not count. */
	assert_true(r.plane.window_generated < r.plane.generated);
	assert_true(r.window_start > r.start && r.smps > 0);
	lab_load_free(&r);
	fab_free(f);
}

/* The thesis's check of its model (4.2.5): from any sender, one link carries 2 Gb/s. */
TEST(incast_fills_one_link)
{
	struct fab *f = make("irregular", 8, 7);
	struct lab_config c = config();
	struct lab_load d = load(f, 100);
	struct lab_load_result r;
	unsigned __int128 bits, most;

	d.traffic.pattern = TRAFFIC_INCAST;
	run(f, &c, d, &r);
	assert_int_equal(r.senders, 6);
	bits = (unsigned __int128)r.plane.window_bytes * 8 * PS_PER_S;
	most = (unsigned __int128)2000000000 * (r.window_end - r.window_start);
	assert_true(bits <= most && bits * 100 >= most * 99);
	assert_true(r.conserved);
	assert_true(r.plane.in_flight > 0);
	lab_load_free(&r);
	fab_free(f);
}

TEST(the_same_seed_gives_the_same_run)
{
	struct fab *f = make("irregular", 6, 8);
	struct lab_config c = config();
	struct lab_load d = load(f, 30);
	struct lab_load_result a, b, other;

	d.traffic.arrivals = TRAFFIC_BURSTY;
	run(f, &c, d, &a);
	c.threads = 2;
	run(f, &c, d, &b);
	d.traffic.seed = 2;
	run(f, &c, d, &other);
	assert_true(a.hash == b.hash);
	assert_int_equal(a.events, b.events);
	assert_int_equal(hist_mean(&a.plane.latency), hist_mean(&b.plane.latency));
	assert_true(a.hash != other.hash);
	fab_free(f);
}

TEST(a_trace_is_sent_as_written)
{
	struct fab *f = make("irregular", 4, 6);
	struct lab_config c = config();
	struct lab_load d = load(f, 0);
	struct lab_load_result r;
	traffic_trace trace = {0};

	vec_push(&trace,
		 (struct traffic_trace_item){.when_ps = 0, .src = 0, .dst = 5, .bytes = 256});
	vec_push(&trace, (struct traffic_trace_item){
				 .when_ps = PS_PER_US, .src = 3, .dst = 1, .bytes = 0, .sl = 15});
	vec_push(&trace, (struct traffic_trace_item){
				 .when_ps = PS_PER_US, .src = 4, .dst = 1, .bytes = 100});
	d.trace = &trace;
	d.traffic.pattern = TRAFFIC_TRACE;
	run(f, &c, d, &r);
	assert_int_equal(r.plane.generated, 3);
	assert_int_equal(r.plane.delivered, 3);
	assert_int_equal(r.plane.delivered_bytes, 356);
	assert_int_equal(trace.at[1].when_ps, r.start + PS_PER_US);
	lab_load_free(&r);
	vec_free(&trace);
	fab_free(f);
}

TEST(traffic_that_does_not_fit_is_refused)
{
	struct fab *f = make("irregular", 4, 6);
	struct lab_config c = config();
	struct lab_load d = load(f, 10);
	struct lab_load_result r;
	struct err e;
	struct lab *l = lab_new(f, &c, &e);

	lab_load_times(f, &d);
	assert_int_equal(lab_load_up(l, 1, &e), -ETIME);
	d.traffic.pattern = TRAFFIC_SHIFT;
	d.traffic.shift = 6;
	assert_int_equal(lab_load_run(l, &d, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "shift"));
	lab_load_free(&r);
	lab_free(l);
	fab_free(f);
}

/* ---- deadlock ---- */

/* The table of one switch: hosts of other switches are reached clockwise, against the manager's tables. */
static void turn_clockwise(struct lab *l, const struct fab *f, node_id n, unsigned clockwise)
{
	struct sim *s = lab_sim(l);
	node_id sm = lab_sm_node(l);
	struct sim_smp m = {.slid = sim_port_info(s, fab_port_id(f, sm, 1))->lid,
			    .dlid = sim_port_info(s, fab_port_id(f, n, 0))->lid};

	iba_smp_init(m.mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_LFT, 0);
	iba_smp_set_tid(m.mad, 0x1234 + n);
	for (unsigned lid = 0; lid < 64; lid++)
		iba_smp_data(m.mad)[lid] = sim_lft(s, n, lid);
	for (node_id h = 0; h < f->nnodes; h++) {
		port_id at = fab_port_id(f, h, 1);

		if (!fab_is_switch(f, h) && h != sm && f->ports[f->ports[at].peer].node != n)
			iba_smp_data(m.mad)[sim_port_info(s, at)->lid] = (uint8_t)clockwise;
	}
	sim_send(s, sm, 1, &m);
	lab_run_until(l, sim_now(s) + PS_PER_MS);
	for (unsigned lid = 0; lid < 64; lid++)
		assert_int_equal(sim_lft(s, n, lid), iba_smp_data(m.mad)[lid]);
}

/* Port of a ring's switch that leads to the next one in the order of the netlist. */
static unsigned next_in_ring(const struct fab *f, uint32_t i)
{
	node_id n = f->switches[i], next = f->switches[(i + 1) % f->nswitches];

	for (unsigned p = 1; p <= f->nodes[n].nports; p++)
		if (f->ports[fab_port_id(f, n, p)].peer != FAB_NONE &&
		    f->ports[f->ports[fab_port_id(f, n, p)].peer].node == next)
			return p;
	fail();
	return 0;
}

/* All routes clockwise on one VL: the textbook deadlock, which verified tables never have.
 */
TEST(a_deadlock_is_found)
{
	struct fab *f = make("ring", 6, 2);
	struct lab_config c = config();
	struct lab_load d = load(f, 100);
	struct lab_load_result r;
	struct err e;
	struct lab *l;

	c.sim.vl_cap = 1;
	c.sm.sweep_factor = 0;
	l = lab_new(f, &c, &e);
	assert_non_null(l);
	assert_int_equal(lab_load_up(l, 10 * PS_PER_S, &e), 0);
	sim_attach(lab_sim(l), lab_sm_node(l), 1, NULL, NULL); /* the manager would repair it */
	for (uint32_t i = 0; i < f->nswitches; i++)
		turn_clockwise(l, f, f->switches[i], next_in_ring(f, i));
	d.traffic.pattern = TRAFFIC_SHIFT;
	d.traffic.shift = 10; /* five switches further */
	lab_load_times(f, &d);
	assert_int_equal(lab_load_run(l, &d, &r, &e), 0);
	assert_int_equal(r.nring, 6);
	for (size_t i = 0; i < r.nring; i++) /* each link leads to the switch of the next */
		assert_int_equal(f->ports[f->ports[r.ring[i]].peer].node,
				 f->ports[r.ring[(i + 1) % 6]].node);
	assert_true(r.conserved);
	lab_load_free(&r);
	lab_free(l);
	fab_free(f);
}

/* ---- saturation ---- */

TEST(the_saturation_rate_is_found)
{
	struct fab *f = make("irregular", 4, 3);
	struct lab_config c = config();
	struct lab_load d = load(f, 0);
	struct lab_sat_config sc = {.fab = f, .lab = &c, .load = &d, .points = 6};
	struct lab_saturation s, again;
	struct err e;

	assert_int_equal(lab_saturation(&sc, &s, &e), 0);
	sc.points = 0;
	assert_int_equal(lab_saturation(&sc, &again, &e), 0);
	assert_true(s.sound && !s.full);
	assert_true(s.rate > lab_load_full_rate(f, PAYLOAD) / 4);
	assert_int_equal(s.rate, again.rate);
	assert_int_equal(s.zero_load, again.zero_load);
	assert_int_equal(s.curve.n, 6);
	for (size_t i = 0; i < 6; i++) { /* rates of 20 %, 40 % ... 120 % */
		const struct lab_sat_point *p = &s.curve.at[i];

		assert_int_equal(p->saturated, i == 5);
		assert_true(!i || p->mean > s.curve.at[i - 1].mean);
		assert_true(p->mean >= s.zero_load && p->p99 > p->mean);
	}
	lab_saturation_free(&s);
	lab_saturation_free(&again);
	fab_free(f);
}

/* Simulations ahead on other threads are used or dropped; the result does not show it. */
TEST(the_number_of_threads_does_not_change_the_saturation_rate)
{
	struct fab *f = make("irregular", 4, 6);
	struct lab_config c = config();
	struct lab_load d = load(f, 0);
	struct lab_sat_config sc = {.fab = f, .lab = &c, .load = &d, .points = 5};
	struct lab_saturation one, s;
	struct err e;

	d.warmup = 20 * PS_PER_US;
	d.duration = 200 * PS_PER_US;
	assert_int_equal(lab_saturation(&sc, &one, &e), 0);
	for (c.threads = 2; c.threads <= 4; c.threads++) {
		assert_int_equal(lab_saturation(&sc, &s, &e), 0);
		assert_int_equal(s.rate, one.rate);
		assert_int_equal(s.zero_load, one.zero_load);
		assert_int_equal(s.runs, one.runs);
		assert_int_equal(s.events, one.events);
		assert_int_equal(s.curve.n, 5);
		for (size_t i = 0; i < 5; i++) {
			assert_int_equal(s.curve.at[i].rate, one.curve.at[i].rate);
			assert_int_equal(s.curve.at[i].accepted, one.curve.at[i].accepted);
			assert_int_equal(s.curve.at[i].mean, one.curve.at[i].mean);
			assert_int_equal(s.curve.at[i].p99, one.curve.at[i].p99);
		}
		lab_saturation_free(&s);
	}
	lab_saturation_free(&one);
	fab_free(f);
}

/* In a star with one host on each leaf, a shift uses each link once: it is not saturated below the link
 * rate. */
TEST(a_star_carries_the_full_link_rate)
{
	struct fab *f = make("star", 4, 1);
	struct lab_config c = config();
	struct lab_load d = load(f, 0);
	struct lab_sat_config sc = {.fab = f, .lab = &c, .load = &d};
	struct lab_saturation s;
	struct err e;

	d.traffic.pattern = TRAFFIC_SHIFT;
	d.traffic.arrivals = TRAFFIC_CONSTANT;
	d.warmup = 100 * PS_PER_US;
	d.duration = PS_PER_MS;
	d.traffic.shift = 1;
	assert_int_equal(lab_saturation(&sc, &s, &e), 0);
	assert_true(s.rate > lab_load_full_rate(f, PAYLOAD) * 9 / 10);
	assert_int_equal(s.curve.n, 0);
	lab_saturation_free(&s);
	fab_free(f);
}

TEST(saturation_of_a_disconnected_fabric_is_refused)
{
	struct fab *one = make("irregular", 4, 6), *f;
	struct fab_builder *b = fab_builder_from(one);
	node_id sw = fab_add_node(b, IBA_NODE_SWITCH, 0x9000, 4, "island");
	node_id h = fab_add_node(b, IBA_NODE_CA, 0x9001, 1, "castaway");
	struct lab_config c = config();
	struct lab_load d;
	struct lab_saturation s;
	struct lab_sat_config sc = {.lab = &c, .load = &d};
	struct err e;

	fab_add_link(b, sw, 1, h, 1);
	f = fab_build(b);
	d = load(f, 0);
	sc.fab = f;
	assert_int_equal(lab_saturation(&sc, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "discarded"));
	lab_saturation_free(&s);
	d.traffic.pattern = TRAFFIC_TRACE;
	assert_int_equal(lab_saturation(&sc, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "trace"));
	lab_saturation_free(&s);
	fab_free(f);
	fab_free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_by_host_and_link_adds_up),
		cmocka_unit_test(smps_are_counted_by_purpose),
		cmocka_unit_test(full_rate_of_a_link),
		cmocka_unit_test(functions_are_no_hosts),
		cmocka_unit_test(hosts_have_numbers),
		cmocka_unit_test(default_times_depend_on_the_rate),
		cmocka_unit_test(at_low_load_every_packet_is_delivered),
		cmocka_unit_test(incast_fills_one_link),
		cmocka_unit_test(the_same_seed_gives_the_same_run),
		cmocka_unit_test(a_trace_is_sent_as_written),
		cmocka_unit_test(traffic_that_does_not_fit_is_refused),
		cmocka_unit_test(a_deadlock_is_found),
		cmocka_unit_test(the_saturation_rate_is_found),
		cmocka_unit_test(the_number_of_threads_does_not_change_the_saturation_rate),
		cmocka_unit_test(a_star_carries_the_full_link_rate),
		cmocka_unit_test(saturation_of_a_disconnected_fabric_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
