/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The performance management agent: what is counted, each attribute, clearing, and requests that are
 * refused.
 * Covers: pma.c, port_counters.c
 */
#include "express_fixture.h"

enum { WORDS = 72 }; /* of a MAD on the wire, without its VCRC */

static struct iba_port_counters counters(struct world *w, uint16_t lid, unsigned port)
{
	struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS, lid);
	struct iba_port_counters v = {.port_select = (uint8_t)port};
	const struct sim_smp *r;

	iba_port_counters_put(&v, iba_smp_data(s.mad));
	r = express_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
	iba_port_counters_get(&v, iba_smp_data_const(r->mad), IBA_PERF_DATA_SIZE);
	return v;
}

static struct iba_port_counters_ext counters_ext(struct world *w, uint16_t lid, unsigned port)
{
	struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS_EXT, lid);
	struct iba_port_counters_ext v = {.port_select = (uint8_t)port};
	const struct sim_smp *r;

	iba_port_counters_ext_put(&v, iba_smp_data(s.mad));
	r = express_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
	iba_port_counters_ext_get(&v, iba_smp_data_const(r->mad), IBA_PERF_DATA_SIZE);
	return v;
}

static unsigned refused(struct world *w, const struct sim_smp *s)
{
	const struct sim_smp *r = express_ask(w, s);

	assert_non_null(r);
	assert_int_equal(iba_smp_method(r->mad), IBA_GET_RESP);
	assert_int_equal(iba_smp_mgmt_class(r->mad), IBA_CLASS_PERF);
	return smp_status(r);
}

TEST(class_port_info_of_every_node)
{
	static const uint16_t lids[] = {1, 2, 10, 11};
	struct iba_class_port_info v;
	struct world w;

	express_chain(&w, 2);
	for (unsigned i = 0; i < ARRAY_LEN(lids); i++) {
		struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_CLASS_PORT_INFO, lids[i]);
		const struct sim_smp *r = express_ask(&w, &s);

		assert_non_null(r);
		assert_int_equal(smp_status(r), 0);
		assert_int_equal(r->slid, lids[i]);
		assert_int_equal(r->dlid, 1);
		assert_int_equal(iba_smp_tid(r->mad), 0x77);
		iba_class_port_info_get(&v, iba_smp_data_const(r->mad), IBA_PERF_DATA_SIZE);
		assert_int_equal(v.base_version, 1);
		assert_int_equal(v.cap_mask,
				 IBA_PERF_ALL_PORTS | IBA_PERF_EXT_WIDTH | IBA_PERF_XMIT_WAIT);
		assert_int_equal(v.cap_mask2, 0);
	}
	world_close(&w);
}

static unsigned caps_of(struct world *w, uint16_t lid, unsigned *caps2)
{
	struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_CLASS_PORT_INFO, lid);
	const struct sim_smp *r = express_ask(w, &s);
	struct iba_class_port_info v;

	assert_non_null(r);
	iba_class_port_info_get(&v, iba_smp_data_const(r->mad), IBA_PERF_DATA_SIZE);
	*caps2 = v.cap_mask2;
	return v.cap_mask;
}

TEST(agents_with_fewer_and_more_counters)
{
	struct sim_smp wide = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS_EXT, 11);
	node_id n = FAB_NONE;
	struct world w;
	unsigned caps2;

	express_chain(&w, 2);
	for (port_id p = 0; p < w.fab->nports; p++)
		if (sim_port_info(w.sim, p)->lid == 11)
			n = w.fab->ports[p].node;
	assert_int_not_equal(n, FAB_NONE);
	iba_smp_data(wide.mad)[1] = 1;
	sim_set_agent(w.sim, n, SIM_AGENT_NARROW);
	assert_int_equal(caps_of(&w, 11, &caps2), IBA_PERF_ALL_PORTS);
	assert_int_equal(refused(&w, &wide), IBA_STATUS_BAD_METHOD_ATTR);
	sim_set_agent(w.sim, n, SIM_AGENT_FULL);
	assert_true(caps_of(&w, 11, &caps2) & IBA_PERF_EXT_WIDTH);
	assert_int_equal(caps2, IBA_PERF2_EXT_ERRORS);
	assert_int_equal(refused(&w, &wide), 0);
	sim_set_agent(w.sim, n, SIM_AGENT_SILENT);
	assert_null(express_ask(&w, &wide));
	assert_true(caps_of(&w, 10, &caps2) & IBA_PERF_EXT_WIDTH); /* others are as before */
	world_close(&w);
}

/* Congestion control, and the class of vendstat: refused at once, as by a device without the feature. */
TEST(classes_that_devices_do_not_have)
{
	static const unsigned classes[] = {IBA_CLASS_CONGESTION, IBA_CLASS_VENDOR_MLNX};
	struct world w;

	express_chain(&w, 2);
	for (unsigned i = 0; i < ARRAY_LEN(classes); i++) {
		struct sim_smp s = gmp((enum iba_class)classes[i], IBA_GET, 0x11, 11);
		const struct sim_smp *r = express_ask(&w, &s);

		assert_non_null(r);
		assert_int_equal(iba_smp_method(r->mad), IBA_GET_RESP);
		assert_int_equal(smp_status(r), IBA_STATUS_BAD_METHOD_ATTR);
	}
	world_close(&w);
}

/* Get, Get and see what the second one sees of the first: a request in, a response out. */
TEST(packets_count_at_both_ends)
{
	struct iba_port_counters a, b;
	struct world w;

	express_chain(&w, 2);
	a = counters(&w, 10, 2);
	b = counters(&w, 10, 2); /* the way to LID 10 does not lead through its port 2 */
	assert_int_equal(b.rcv_pkts, a.rcv_pkts);
	a = counters(&w, 10, 1);
	b = counters(&w, 10, 1);
	assert_int_equal(b.rcv_pkts, a.rcv_pkts + 1);
	assert_int_equal(b.rcv_data, a.rcv_data + WORDS);
	assert_int_equal(b.xmit_pkts, a.xmit_pkts + 1);
	assert_int_equal(b.xmit_data, a.xmit_data + WORDS);
	a = counters(&w, 11, 1);
	assert_int_equal(a.xmit_pkts,
			 sim_counted(w.sim, express_port(&w, 1, 2), SIM_CNT_RCV_PKTS) - 1);
	world_close(&w);
}

TEST(counters_saturate)
{
	struct iba_port_counters v;
	struct iba_port_counters_ext x;
	struct world w;
	port_id p;

	express_chain(&w, 1);
	p = express_port(&w, 1, 3);
	for (unsigned c = 0; c < SIM_NCOUNTERS; c++)
		sim_count(w.sim, p, (enum sim_counter)c, 14);
	v = counters(&w, 10, 3);
	assert_int_equal(v.local_integrity, 14);
	assert_int_equal(v.symbol_error, 14);
	for (unsigned c = 0; c < SIM_NCOUNTERS; c++)
		sim_count(w.sim, p, (enum sim_counter)c, 10000000000ull);
	v = counters(&w, 10, 3);
	assert_int_equal(v.local_integrity, 15);
	assert_int_equal(v.buffer_overrun, 15);
	assert_int_equal(v.link_downed, 255);
	assert_int_equal(v.xmit_constraint, 255);
	assert_int_equal(v.symbol_error, 65535);
	assert_int_equal(v.vl15_dropped, 65535);
	assert_int_equal(v.xmit_data, UINT32_MAX);
	assert_int_equal(v.xmit_wait, UINT32_MAX);
	x = counters_ext(&w, 10, 3);
	assert_int_equal(x.xmit_data, 10000000014ull);
	assert_int_equal(x.multi_rcv, 10000000014ull);
	assert_int_equal(x.symbol_error, 10000000014ull);
	assert_int_equal(x.xmit_wait, 10000000014ull);
	sim_count(w.sim, p, SIM_CNT_RCV_DATA, UINT64_MAX);
	assert_true(counters_ext(&w, 10, 3).rcv_data == UINT64_MAX);
	world_close(&w);
}

/* Corrected blocks of links: only agents with all counters have them. */
TEST(counters_of_fast_links)
{
	struct iba_ext_speeds_counters v = {.port_select = 3};
	struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_EXT_SPEEDS_COUNTERS, 10);
	struct world w;
	port_id p;

	express_chain(&w, 1);
	p = express_port(&w, 1, 3);
	sim_count(w.sim, p, SIM_CNT_FEC_CORRECTED, 14);
	sim_count(w.sim, p, SIM_CNT_FEC_UNCORRECTED, 3);
	iba_ext_speeds_counters_put(&v, iba_smp_data(s.mad));
	assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_METHOD_ATTR);
	for (node_id n = 0; n < 3; n++)
		sim_set_agent(w.sim, n, SIM_AGENT_FULL);
	s = gmp(IBA_CLASS_PERF, IBA_SET, IBA_PERF_EXT_SPEEDS_COUNTERS, 10);
	v.counter_select = UINT64_C(1) << 26;
	iba_ext_speeds_counters_put(&v, iba_smp_data(s.mad));
	assert_int_equal(refused(&w, &s), 0);
	assert_int_equal(sim_counted(w.sim, p, SIM_CNT_FEC_CORRECTED), 14);
	assert_int_equal(sim_counted(w.sim, p, SIM_CNT_FEC_UNCORRECTED), 0);
	world_close(&w);
}

/* Every bit of CounterSelect clears the counter it means and no other. */
TEST(a_set_clears_what_it_selects)
{
	struct iba_port_counters v;
	struct world w;
	port_id p;

	express_chain(&w, 1);
	p = express_port(&w, 1, 4);
	for (unsigned bit = 0; bit < 17; bit++) {
		struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_SET, IBA_PERF_PORT_COUNTERS, 10);
		unsigned cleared = 0, which = 0;

		v = (struct iba_port_counters){.port_select = 4,
					       .counter_select =
						       (uint16_t)(bit < 16 ? 1u << bit : 0),
					       .counter_select2 = bit == 16};
		for (unsigned c = 0; c < SIM_NCOUNTERS; c++)
			sim_count(w.sim, p, (enum sim_counter)c, 3);
		iba_port_counters_put(&v, iba_smp_data(s.mad));
		assert_int_equal(refused(&w, &s), 0);
		for (unsigned c = 0; c < SIM_NCOUNTERS; c++) {
			if (sim_counted(w.sim, p, (enum sim_counter)c) == 0) {
				cleared++;
				which = c;
			}
		}
		assert_int_equal(cleared, 1);
		assert_int_equal(which, bit == 16   ? SIM_CNT_XMIT_WAIT
					: bit >= 12 ? SIM_CNT_XMIT_DATA + bit - 12
						    : SIM_CNT_SYMBOL_ERROR + bit);
	}
	world_close(&w);
}

TEST(extended_counters_are_cleared_alike)
{
	struct world w;
	port_id p;

	express_chain(&w, 1);
	p = express_port(&w, 1, 4);
	for (unsigned bit = 0; bit < 21; bit++) {
		struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_SET, IBA_PERF_PORT_COUNTERS_EXT, 10);
		struct iba_port_counters_ext v = {
			.port_select = 4, .symbol_error = 7, .xmit_data = 7};

		v.counter_select = (uint16_t)(bit < 8 ? 1u << bit : 0);
		v.counter_select2 = bit >= 8 ? 1u << (bit - 8) : 0;
		for (unsigned c = 0; c < SIM_NCOUNTERS; c++)
			sim_count(w.sim, p, (enum sim_counter)c, 30);
		iba_port_counters_ext_put(&v, iba_smp_data(s.mad));
		assert_int_equal(refused(&w, &s), 0);
		for (unsigned c = 0; c < SIM_NCOUNTERS; c++) {
			uint64_t now = sim_counted(w.sim, p, (enum sim_counter)c);

			if (c == bit) /* the order of enum sim_counter is that of the bits */
				assert_int_equal(now, c == SIM_CNT_SYMBOL_ERROR || !c ? 7 : 0);
			else
				assert_true(now >= 30);
		}
	}
	world_close(&w);
}

TEST(all_ports_are_added_up_and_cleared)
{
	struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_SET, IBA_PERF_PORT_COUNTERS, 10);
	struct iba_port_counters v = {.port_select = 255, .counter_select = 0x0fff};
	struct world w;

	express_chain(&w, 1);
	for (unsigned p = 1; p <= 4; p++) {
		sim_count(w.sim, express_port(&w, 1, p), SIM_CNT_SYMBOL_ERROR, p);
		sim_count(w.sim, express_port(&w, 1, p), SIM_CNT_LINK_RECOVERY, 100);
	}
	assert_int_equal(counters(&w, 10, 255).symbol_error, 10);
	assert_int_equal(counters(&w, 10, 255).link_recovery, 255);
	assert_int_equal(counters_ext(&w, 10, 255).link_recovery, 400);
	iba_port_counters_put(&v, iba_smp_data(s.mad));
	assert_int_equal(refused(&w, &s), 0);
	for (unsigned p = 1; p <= 4; p++)
		assert_int_equal(sim_counted(w.sim, express_port(&w, 1, p), SIM_CNT_SYMBOL_ERROR),
				 0);
	assert_true(counters(&w, 10, 1).rcv_pkts > 0); /* was not selected */
	world_close(&w);
}

TEST(missing_ports_and_attributes_are_refused)
{
	static const uint16_t absent[] = {0x10, 0x11, 0x15, 0x16, 0x1e,	 0x1f,
					  0x36, 0x37, 0,    2,	  0xffff};
	struct sim_smp s;
	struct world w;

	express_chain(&w, 1);
	for (unsigned i = 0; i < ARRAY_LEN(absent); i++) {
		s = gmp(IBA_CLASS_PERF, IBA_GET, absent[i], 10);
		assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_METHOD_ATTR);
	}
	s = gmp(IBA_CLASS_PERF, IBA_SET, IBA_PERF_CLASS_PORT_INFO, 10);
	assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_METHOD_ATTR);
	s = gmp(IBA_CLASS_PERF, 0x12, IBA_PERF_PORT_COUNTERS, 10);
	assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_METHOD);
	s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS, 10);
	iba_smp_set_class_version(s.mad, 2);
	assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_VERSION);
	s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS, 10);
	iba_smp_data(s.mad)[1] = 5; /* the switch has four ports */
	assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_FIELD);
	s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS_EXT, 2); /* a host has no port 0 */
	assert_int_equal(refused(&w, &s), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(a_link_that_goes_down_is_counted)
{
	struct world w;
	port_id p;

	express_chain(&w, 2);
	p = express_port(&w, 1, 2);
	sim_uncable(w.sim, p);
	assert_int_equal(sim_counted(w.sim, p, SIM_CNT_LINK_DOWNED), 1);
	assert_int_equal(sim_counted(w.sim, express_port(&w, 2, 1), SIM_CNT_LINK_DOWNED), 1);
	assert_int_equal(counters(&w, 10, 2).link_downed, 1);
	world_close(&w);
}

/* A packet that cannot go on counts where it ended. */
TEST(discards_count_where_they_happen)
{
	struct sim_smp s = gmp(IBA_CLASS_PERF, IBA_GET, IBA_PERF_PORT_COUNTERS, 2);
	struct iba_port_counters v;
	struct world w;

	express_chain(&w, 2);
	s.dlid = 33; /* no entry */
	world_lose(&w, &s, SIM_DROP_UNROUTABLE);
	assert_int_equal(counters(&w, 10, 1).rcv_switch_relay, 1);
	s.dlid = 2;
	sim_uncable(w.sim, express_port(&w, 2, 2));
	w.inbox.n = 0;
	world_send(&w, &s);
	v = counters(&w, 11, 2);
	assert_int_equal(v.xmit_discards, 1);
	assert_int_equal(v.link_downed, 1);
	world_close(&w);
}

TEST(power_off_clears_counters)
{
	struct world w;
	port_id p;

	express_chain(&w, 2);
	p = express_port(&w, 1, 2);
	sim_count(w.sim, p, SIM_CNT_SYMBOL_ERROR, 5);
	sim_node_power(w.sim, 1, false);
	sim_node_power(w.sim, 1, true);
	for (unsigned c = 0; c < SIM_NCOUNTERS; c++)
		assert_int_equal(sim_counted(w.sim, p, (enum sim_counter)c), 0);
	assert_int_equal(sim_counted(w.sim, express_port(&w, 2, 1), SIM_CNT_LINK_DOWNED), 1);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_port_info_of_every_node),
		cmocka_unit_test(agents_with_fewer_and_more_counters),
		cmocka_unit_test(classes_that_devices_do_not_have),
		cmocka_unit_test(packets_count_at_both_ends),
		cmocka_unit_test(counters_saturate),
		cmocka_unit_test(counters_of_fast_links),
		cmocka_unit_test(a_set_clears_what_it_selects),
		cmocka_unit_test(extended_counters_are_cleared_alike),
		cmocka_unit_test(all_ports_are_added_up_and_cleared),
		cmocka_unit_test(missing_ports_and_attributes_are_refused),
		cmocka_unit_test(a_link_that_goes_down_is_counted),
		cmocka_unit_test(discards_count_where_they_happen),
		cmocka_unit_test(power_off_clears_counters),
	};

	return cmocka_run_group_tests_name("performance management", tests, NULL, NULL);
}
