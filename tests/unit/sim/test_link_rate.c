/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices as stock programs expect them, in express mode: links train at a rate that both ends enable,
 * commands of ibportstate, values that OpenSM sets and reads back, capabilities, descriptions.
 * Covers: link_rate.c, link_state.c, device.c
 */
#include "express_fixture.h"

static const struct iba_port_info *port(const struct world *w, node_id n, unsigned num)
{
	return sim_port_info(w->sim, express_port(w, n, num));
}

/* What ibportstate sends: PortInfo as it is, states and rates 0 for no change. */
static struct iba_port_info order(struct world *w, unsigned hops, unsigned num)
{
	struct iba_port_info pi = world_port_draft(w, hops, num);

	pi.width_enabled = pi.speed_enabled = pi.speed_ext_enabled = 0;
	return pi;
}

/* The answer to a Set(PortInfo), as read. */
static struct iba_port_info give(struct world *w, unsigned hops, unsigned num,
				 const struct iba_port_info *pi, unsigned status)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_PORT_INFO, num, chain_path(), hops);
	const struct sim_smp *r;
	struct iba_port_info got;

	iba_port_info_put(pi, iba_smp_data(s.mad));
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), status);
	iba_port_info_get(&got, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return got;
}

static void wait_ms(struct world *w, unsigned ms)
{
	sim_settle(w->sim, sim_now(w->sim) + ms * PS_PER_MS);
}

/* ---- two ends ---- */

static void open_training(struct world *w, time_ps training)
{
	struct sim_config c;

	sim_config_default(&c);
	c.express = c.traps = true;
	c.training_ps = training;
	world_open(w, draw_chain(2), &c);
	wait_ms(w, 100);
}

TEST(disable_and_enable)
{
	struct iba_port_info pi, got;
	struct world w;

	open_training(&w, 20 * PS_PER_MS);
	pi = order(&w, 1, 2);
	pi.phys_state = IBA_PHYS_DISABLED;
	got = give(&w, 1, 2, &pi, 0);
	assert_int_equal(got.state, IBA_PORT_DOWN);
	assert_int_equal(got.phys_state, IBA_PHYS_DISABLED);
	wait_ms(&w, 1);
	assert_int_equal(port(&w, 1, 2)->phys_state, IBA_PHYS_DISABLED);
	assert_int_equal(port(&w, 2, 1)->state, IBA_PORT_DOWN);
	assert_int_equal(port(&w, 2, 1)->phys_state, IBA_PHYS_POLLING);
	wait_ms(&w, 1000);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_DOWN);
	pi = order(&w, 1, 2);
	pi.phys_state = IBA_PHYS_POLLING;
	got = give(&w, 1, 2, &pi, 0);
	assert_int_equal(got.phys_state, IBA_PHYS_POLLING);
	wait_ms(&w, 10);
	assert_int_equal(port(&w, 1, 2)->phys_state, IBA_PHYS_POLLING);
	wait_ms(&w, 20);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_INIT);
	assert_int_equal(port(&w, 2, 1)->phys_state, IBA_PHYS_LINK_UP);
	assert_int_equal(sim_counted(w.sim, express_port(&w, 1, 2), SIM_CNT_LINK_DOWNED), 1);
	assert_int_equal(sim_counted(w.sim, express_port(&w, 2, 1), SIM_CNT_LINK_DOWNED), 1);
	world_close(&w);
}

/* The link the answer comes by: it leaves before the link goes. */
TEST(the_response_leaves_before_the_port_goes_down)
{
	struct iba_port_info pi;
	struct world w;

	open_training(&w, 20 * PS_PER_MS);
	pi = order(&w, 1, 1);
	pi.phys_state = IBA_PHYS_DISABLED;
	assert_int_equal(give(&w, 1, 1, &pi, 0).phys_state, IBA_PHYS_DISABLED);
	wait_ms(&w, 1);
	assert_int_equal(port(&w, 0, 1)->state, IBA_PORT_DOWN);
	world_close(&w);
}

TEST(a_reset_takes_both_ends_down)
{
	time_ps training[] = {0, 3 * PS_PER_MS};

	for (unsigned i = 0; i < ARRAY_LEN(training); i++) {
		struct iba_port_info pi;
		struct world w;

		open_training(&w, training[i]);
		world_give_lid(&w, 1, 10, 0);
		world_give_lid(&w, 2, 11, 0);
		express_activate(&w, 1, 2);
		express_activate(&w, 2, 1);
		pi = order(&w, 1, 2);
		pi.phys_state = IBA_PHYS_POLLING;
		give(&w, 1, 2, &pi, 0);
		wait_ms(&w, 1);
		assert_int_equal(port(&w, 2, 1)->state,
				 training[i] ? IBA_PORT_DOWN : IBA_PORT_INIT);
		wait_ms(&w, 10);
		assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_INIT);
		assert_int_equal(port(&w, 2, 1)->state, IBA_PORT_INIT);
		assert_int_equal(sim_switch_info(w.sim, 1)->port_state_change, 1);
		assert_int_equal(sim_switch_info(w.sim, 2)->port_state_change, 1);
		assert_int_equal(sim_counted(w.sim, express_port(&w, 2, 1), SIM_CNT_LINK_DOWNED),
				 1);
		world_close(&w);
	}
}

TEST(down_means_down_at_both_ends)
{
	struct iba_port_info pi;
	struct world w;

	open_training(&w, 0);
	express_activate(&w, 1, 2);
	express_activate(&w, 2, 1);
	pi = order(&w, 2, 1);
	pi.state = IBA_PORT_DOWN;
	assert_int_equal(give(&w, 2, 1, &pi, 0).state, IBA_PORT_INIT);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_INIT);
	pi.state = IBA_PORT_ACTIVE;
	give(&w, 2, 1, &pi, IBA_STATUS_BAD_FIELD); /* not from Initialize */
	world_close(&w);
}

/* By events and without link_pairs, as the thesis has it. */
TEST(without_link_pairs_one_end_changes_alone)
{
	struct iba_port_info pi;
	struct world w;

	world_open(&w, draw_chain(2), NULL);
	express_activate(&w, 1, 2);
	express_activate(&w, 2, 1);
	pi = order(&w, 2, 1);
	pi.state = IBA_PORT_DOWN;
	assert_int_equal(give(&w, 2, 1, &pi, 0).state, IBA_PORT_INIT);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_ACTIVE);
	world_close(&w);
}

/* link_pairs is a matter of its own: it works by events too. */
TEST(by_events_with_link_pairs)
{
	struct iba_port_info pi;
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.link_pairs = true;
	c.training_ps = PS_PER_MS;
	world_open(&w, draw_chain(2), &c);
	world_run(&w, 10 * PS_PER_MS);
	express_activate(&w, 1, 2);
	express_activate(&w, 2, 1);
	pi = order(&w, 2, 1);
	pi.state = IBA_PORT_DOWN;
	assert_int_equal(give(&w, 2, 1, &pi, 0).state, IBA_PORT_DOWN); /* over the link that goes */
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_ACTIVE);
	world_run(&w, sim_now(w.sim) + PS_PER_MS / 2);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_DOWN);
	world_run(&w, sim_now(w.sim) + PS_PER_MS);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_INIT);
	assert_int_equal(port(&w, 2, 1)->state, IBA_PORT_INIT);
	world_close(&w);
}

TEST(a_host_disables_its_own_port)
{
	struct iba_port_info pi;
	struct world w;

	open_training(&w, 0);
	pi = order(&w, 0, 1);
	pi.phys_state = IBA_PHYS_DISABLED;
	give(&w, 0, 1, &pi, 0);
	wait_ms(&w, 1);
	assert_int_equal(port(&w, 1, 1)->state, IBA_PORT_DOWN);
	assert_int_equal(world_port_info(&w, 0, 0).phys_state, IBA_PHYS_DISABLED);
	pi.phys_state = IBA_PHYS_POLLING;
	give(&w, 0, 1, &pi, 0);
	assert_int_equal(port(&w, 1, 1)->state, IBA_PORT_INIT);
	world_close(&w);
}

TEST(power_off_resets_a_disabled_port)
{
	struct iba_port_info pi;
	struct world w;

	open_training(&w, 0);
	pi = order(&w, 1, 2);
	pi.phys_state = IBA_PHYS_DISABLED;
	give(&w, 1, 2, &pi, 0);
	sim_node_power(w.sim, 1, false);
	sim_node_power(w.sim, 1, true);
	wait_ms(&w, 1);
	assert_int_equal(port(&w, 1, 2)->phys_state, IBA_PHYS_LINK_UP);
	world_close(&w);
}

/* ---- speeds and widths ---- */

struct pair {
	unsigned speed, lanes;
};

/* h0 - sw0 - sw1 - h1 with these rates of h0's link, the trunk and h1's link; 0: not known. */
static void open_rates(struct world *w, const struct pair r[3])
{
	struct fab_builder *b = fab_builder_new();
	node_id h0 = draw_host(b, 1), s0 = draw_switch(b, 4), s1 = draw_switch(b, 4),
		h1 = draw_host(b, 1);
	const struct {
		node_id a, b;
		unsigned pa, pb;
	} links[3] = {{h0, s0, 1, 1}, {s0, s1, 2, 1}, {s1, h1, 2, 1}};

	for (unsigned i = 0; i < 3; i++) {
		draw_link(b, links[i].a, links[i].pa, links[i].b, links[i].pb);
		fab_builder_port(b, links[i].a, links[i].pa)->speed = (uint8_t)r[i].speed;
		fab_builder_port(b, links[i].b, links[i].pb)->speed = (uint8_t)r[i].speed;
		fab_builder_port(b, links[i].a, links[i].pa)->width = (uint8_t)r[i].lanes;
		fab_builder_port(b, links[i].b, links[i].pb)->width = (uint8_t)r[i].lanes;
	}
	express_open(w, fab_build(b));
}

TEST(rates_are_those_of_the_netlist)
{
	static const struct {
		struct pair rate;
		unsigned plain, ext, width;
	} cases[] = {
		{{FAB_SDR, 1}, 1, 0, IBA_WIDTH_1X},   {{FAB_DDR, 4}, 2, 0, IBA_WIDTH_4X},
		{{FAB_QDR, 12}, 4, 0, IBA_WIDTH_12X}, {{FAB_FDR10, 4}, 4, 0, IBA_WIDTH_4X},
		{{FAB_FDR, 4}, 4, 1, IBA_WIDTH_4X},   {{FAB_EDR, 4}, 4, 2, IBA_WIDTH_4X},
		{{FAB_HDR, 2}, 4, 4, IBA_WIDTH_2X},   {{FAB_NDR, 8}, 4, 8, IBA_WIDTH_8X},
		{{0, 0}, 4, 0, IBA_WIDTH_4X}, /* like what a generator draws */
	};

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct pair all[3] = {cases[i].rate, cases[i].rate, cases[i].rate};
		const struct iba_port_info *pi;
		struct world w;

		open_rates(&w, all);
		pi = port(&w, 1, 2);
		assert_int_equal(pi->state, IBA_PORT_INIT);
		assert_int_equal(pi->speed_active, cases[i].plain);
		assert_int_equal(pi->speed_ext_active, cases[i].ext);
		assert_int_equal(pi->width_active, cases[i].width);
		assert_int_equal(pi->speed_enabled, pi->speed_supported);
		assert_int_equal(pi->width_enabled, pi->width_supported);
		assert_int_equal(pi->speed_ext_enabled, pi->speed_ext_supported);
		assert_int_equal(!!(pi->cap_mask & IBA_CAP_EXT_SPEEDS), cases[i].ext != 0);
		world_close(&w);
	}
}

TEST(a_free_port_has_the_rates_of_its_node)
{
	static const struct pair rates[3] = {{FAB_EDR, 4}, {FAB_HDR, 4}, {FAB_QDR, 4}};
	struct world w;

	open_rates(&w, rates);
	assert_int_equal(port(&w, 1, 3)->speed_ext_supported, 7);
	sim_cable(w.sim, express_port(&w, 1, 3), express_port(&w, 2, 3));
	assert_int_equal(port(&w, 1, 3)->speed_ext_active, 4);
	sim_uncable(w.sim, express_port(&w, 0, 1)); /* EDR to where QDR was */
	sim_uncable(w.sim, express_port(&w, 3, 1));
	sim_cable(w.sim, express_port(&w, 0, 1), express_port(&w, 2, 2));
	assert_int_equal(port(&w, 0, 1)->speed_active, 4);
	assert_int_equal(port(&w, 0, 1)->speed_ext_active, 0);
	world_close(&w);
}

TEST(a_link_retrains_when_its_rate_is_disabled)
{
	static const struct pair rates[3] = {{FAB_EDR, 4}, {FAB_EDR, 4}, {FAB_EDR, 4}};
	struct iba_port_info pi, got;
	struct world w;

	open_rates(&w, rates);
	express_activate(&w, 1, 2);
	pi = order(&w, 1, 2);
	pi.width_enabled = IBA_WIDTH_1X;
	got = give(&w, 1, 2, &pi, 0);
	assert_int_equal(got.width_active, IBA_WIDTH_1X);
	assert_int_equal(got.state, IBA_PORT_INIT);
	assert_int_equal(port(&w, 2, 1)->width_active, IBA_WIDTH_1X);
	assert_int_equal(port(&w, 2, 1)->width_enabled, IBA_WIDTH_1X | IBA_WIDTH_4X);
	express_activate(&w, 1, 2);
	pi = order(&w, 1, 2);
	pi.speed_ext_enabled = 1; /* FDR */
	assert_int_equal(give(&w, 1, 2, &pi, 0).speed_ext_active, 1);
	pi.speed_ext_enabled = 30; /* none of them */
	got = give(&w, 1, 2, &pi, 0);
	assert_int_equal(got.speed_ext_enabled, 30);
	assert_int_equal(got.speed_ext_active, 0);
	assert_int_equal(got.speed_active, 4);
	pi.speed_ext_enabled = 0;
	pi.speed_enabled = 1;
	assert_int_equal(give(&w, 1, 2, &pi, 0).speed_active, 1);
	world_close(&w);
}

/* An SM that enables everything again must not break links. */
TEST(a_link_stays_when_a_faster_rate_is_enabled)
{
	static const struct pair rates[3] = {{FAB_QDR, 4}, {FAB_QDR, 4}, {FAB_QDR, 4}};
	struct iba_port_info pi, got;
	struct world w;

	open_rates(&w, rates);
	pi = order(&w, 1, 2);
	pi.speed_enabled = 1;
	give(&w, 1, 2, &pi, 0);
	express_activate(&w, 1, 2);
	pi = order(&w, 1, 2);
	pi.speed_enabled = 15;
	pi.width_enabled = 255;
	got = give(&w, 1, 2, &pi, 0);
	assert_int_equal(got.speed_enabled, 7); /* read back as what is supported */
	assert_int_equal(got.width_enabled, 3);
	assert_int_equal(got.state, IBA_PORT_ACTIVE);
	assert_int_equal(got.speed_active, 1);
	pi = order(&w, 1, 2);
	pi.phys_state = IBA_PHYS_POLLING;
	assert_int_equal(give(&w, 1, 2, &pi, 0).speed_active, 4);
	world_close(&w);
}

TEST(no_common_rate_no_link)
{
	static const struct pair rates[3] = {{FAB_QDR, 4}, {FAB_QDR, 4}, {FAB_QDR, 4}};
	struct iba_port_info pi;
	struct world w;

	open_rates(&w, rates);
	pi = order(&w, 2, 1);
	pi.speed_enabled = 2;
	give(&w, 2, 1, &pi, 0);
	assert_int_equal(port(&w, 1, 2)->speed_active, 2);
	pi = order(&w, 1, 2);
	pi.speed_enabled = 4;
	assert_int_equal(give(&w, 1, 2, &pi, 0).state, IBA_PORT_DOWN);
	assert_int_equal(port(&w, 2, 1)->phys_state, IBA_PHYS_POLLING);
	pi.speed_enabled = 6; /* both enable DDR again; the link retrains by itself */
	assert_int_equal(give(&w, 1, 2, &pi, 0).state, IBA_PORT_INIT);
	assert_int_equal(port(&w, 2, 1)->speed_active, 2);
	world_close(&w);
}

TEST(rates_that_are_not_supported_are_refused)
{
	static const struct pair rates[3] = {{FAB_DDR, 4}, {FAB_DDR, 4}, {FAB_DDR, 4}};
	struct iba_port_info pi;
	struct world w;

	open_rates(&w, rates);
	pi = order(&w, 1, 2);
	pi.speed_enabled = 4;
	give(&w, 1, 2, &pi, IBA_STATUS_BAD_FIELD);
	pi = order(&w, 1, 2);
	pi.width_enabled = IBA_WIDTH_12X;
	give(&w, 1, 2, &pi, IBA_STATUS_BAD_FIELD);
	pi = order(&w, 1, 2);
	pi.speed_ext_enabled = 2;
	give(&w, 1, 2, &pi, IBA_STATUS_BAD_FIELD);
	assert_int_equal(port(&w, 1, 2)->speed_active, 2);
	world_close(&w);
}

static struct iba_mlnx_ext_port_info fdr10(struct world *w, unsigned method, unsigned enable,
					   unsigned status)
{
	struct sim_smp s = smp_dr(method, IBA_ATTR_MLNX_EXT_PORT_INFO, 2, chain_path(), 1);
	struct iba_mlnx_ext_port_info v = {.state_change_enable = 1,
					   .speed_enabled = (uint8_t)enable};
	const struct sim_smp *r;

	iba_mlnx_ext_port_info_put(&v, iba_smp_data(s.mad));
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), status);
	iba_mlnx_ext_port_info_get(&v, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return v;
}

TEST(fdr10_differs_from_qdr)
{
	static const struct pair ten[3] = {{FAB_FDR10, 4}, {FAB_FDR10, 4}, {FAB_FDR10, 4}};
	static const struct pair qdr[3] = {{FAB_QDR, 4}, {FAB_QDR, 4}, {FAB_QDR, 4}};
	struct world w;

	open_rates(&w, ten);
	assert_int_equal(fdr10(&w, IBA_GET, 0, 0).speed_active, 1);
	assert_int_equal(fdr10(&w, IBA_SET, 0, 0).speed_enabled, 0);
	wait_ms(&w, 1);
	assert_int_equal(fdr10(&w, IBA_GET, 0, 0).speed_active, 0);
	assert_int_equal(port(&w, 1, 2)->state, IBA_PORT_INIT);
	world_close(&w);
	open_rates(&w, qdr);
	assert_int_equal(fdr10(&w, IBA_GET, 0, 0).speed_supported, 0);
	fdr10(&w, IBA_SET, 1, IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(the_round_trip_is_that_of_the_cable)
{
	struct sim_link_fault t = {.latency_ps = 10 * PS_PER_US};
	struct world w;
	port_id p;

	express_open(&w, draw_chain(2));
	p = express_port(&w, 1, 2);
	assert_int_equal(port(&w, 1, 2)->round_trip_latency, 50); /* 20 m: 2 x 100 ns, in 4 ns */
	assert_int_equal(port(&w, 1, 3)->round_trip_latency, 0xffffff);
	sim_set_link_fault(w.sim, p, &t);
	sim_uncable(w.sim, p);
	sim_cable(w.sim, p, express_port(&w, 2, 1));
	assert_int_equal(port(&w, 2, 1)->round_trip_latency, 5050);
	world_close(&w);
}

/* ---- what OpenSM compares ---- */

/* Every field that OpenSM sets and looks at again, at a host and at a switch's port. */
TEST(set_values_are_read_back)
{
	struct iba_port_info pi, got;
	struct world w;

	express_open(&w, draw_chain(1));
	for (unsigned i = 0; i < 2; i++) {
		unsigned hops = i ? 2 : 1, num = i ? 0 : 1;

		pi = world_port_draft(&w, hops, num);
		pi.down_default = 2;
		pi.neighbor_mtu = 3;
		pi.oper_vls = 1;
		pi.hoq_life = 9;
		pi.vl_stall_count = 5;
		pi.vl_high_limit = 77;
		pi.local_phy_errors = 3;
		pi.overrun_errors = 4;
		pi.part_enf_in = pi.part_enf_out = 1;
		pi.filter_raw_in = pi.filter_raw_out = 1;
		if (i) {
			pi.gid_prefix = 0xfec0000000000001ull;
			pi.lid = 24;
			pi.lmc = 3;
			pi.sm_lid = 1;
			pi.sm_sl = 6;
			pi.m_key_lease = 60;
			pi.subnet_timeout = 17;
			pi.m_key_violations = pi.p_key_violations = pi.q_key_violations = 2;
		}
		pi.client_reregister = 1; /* an order, not a value */
		got = give(&w, hops, num, &pi, 0);
		pi.client_reregister = 0;
		pi.state = got.state;
		pi.phys_state = got.phys_state;
		pi.lid = i ? pi.lid : got.lid;
		assert_null(iba_layout_diff(iba_layout_by_name("port_info"), &pi, &got));
		got = world_port_info(&w, hops, num);
		assert_null(iba_layout_diff(iba_layout_by_name("port_info"), &pi, &got));
	}
	world_close(&w);
}

/* So that OpenSM, which sets a host's port Down to change MTU or VLs, has nothing to change. */
TEST(power_on_values_need_no_change)
{
	const struct iba_port_info *pi;
	struct world w;

	express_open(&w, draw_chain(1));
	pi = port(&w, 2, 1);
	assert_int_equal(pi->neighbor_mtu, pi->mtu_cap);
	assert_int_equal(pi->oper_vls, pi->vl_cap);
	assert_int_equal(pi->down_default, 2);
	assert_int_equal(pi->local_phy_errors, 8);
	assert_int_equal(pi->overrun_errors, 8);
	assert_int_equal(sim_switch_info(w.sim, 1)->inbound_enf_cap, 1);
	assert_int_equal(sim_switch_info(w.sim, 1)->outbound_enf_cap, 1);
	world_close(&w);
}

TEST(capabilities_are_reported)
{
	uint32_t both = IBA_CAP_NOTICE | IBA_CAP_TRAP | IBA_CAP_SL_MAP | IBA_CAP_SYS_GUID |
			IBA_CAP_CAP_MASK2 | IBA_CAP_VENDOR_CLASS | IBA_CAP_CAP_NOTICE |
			IBA_CAP_ROUND_TRIP | IBA_CAP_CLIENT_REREG | IBA_CAP_OTHER_NOTICE;
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_PORT_INFO_EXT, 1, chain_path(), 1);
	const struct sim_smp *r;
	struct world w;

	express_open(&w, draw_chain(1));
	assert_int_equal(port(&w, 1, 0)->cap_mask & both, both);
	assert_int_equal(port(&w, 2, 1)->cap_mask & both, both);
	assert_int_equal(port(&w, 2, 1)->cap_mask2,
			 IBA_CAP2_SET_NODE_DESC | IBA_CAP2_PORT_INFO_EXT);
	r = express_ask(&w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
	world_close(&w);
}

/* ---- the M_Key, in real time ---- */

TEST(the_m_key_protects_until_its_lease_expires)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 2);
	struct iba_port_info pi;
	struct world w;

	express_open(&w, draw_chain(1));
	pi = world_port_draft(&w, 2, 1);
	pi.m_key = 0xabc;
	pi.m_key_protect = 2;
	pi.m_key_lease = 5;
	give(&w, 2, 1, &pi, IBA_STATUS_OK);
	assert_null(express_ask(&w, &s));
	assert_int_equal(port(&w, 2, 1)->m_key_violations, 1);
	assert_int_equal(sim_stats(w.sim)->dropped[SIM_DROP_MKEY], 1);
	wait_ms(&w, 4000);
	assert_null(express_ask(&w, &s)); /* does not prolong it */
	wait_ms(&w, 1000);
	assert_non_null(express_ask(&w, &s));
	assert_int_equal(port(&w, 2, 1)->m_key, 0xabc);
	assert_int_equal(port(&w, 2, 1)->m_key_protect, 0);
	world_close(&w);
}

/* ---- descriptions and trap 144 ---- */

static void assert_desc(struct world *w, unsigned hops, const char *text)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_DESC, 0, chain_path(), hops);
	char want[64] = {0};

	memcpy(want, text, strnlen(text, 64));
	assert_memory_equal(iba_smp_data_const(world_ask(w, &s)->mad), want, 64);
}

static const struct sim_smp *only_trap(struct world *w, unsigned number, struct iba_notice *n)
{
	const struct sim_smp *found = NULL;

	sim_settle(w->sim, sim_now(w->sim));
	for (size_t i = 0; i < w->inbox.n; i++) {
		if (iba_smp_method(w->inbox.at[i].mad) != IBA_TRAP)
			continue;
		assert_null(found);
		found = &w->inbox.at[i];
	}
	assert_non_null(found);
	iba_notice_get(n, iba_smp_data_const(found->mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(n->trap_number, number);
	return found;
}

TEST(a_description_can_be_set)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_NODE_DESC, 0, chain_path(), 2);
	struct iba_notice n;
	struct iba_trap_cap d;
	struct world w;

	express_chain(&w, 1);
	assert_desc(&w, 2, "h1");
	memset(iba_smp_data(s.mad), 'x', 64);
	w.inbox.n = 0;
	assert_int_equal(smp_status(world_ask(&w, &s)), 0);
	only_trap(&w, IBA_TRAP_CAP_CHANGE, &n);
	iba_trap_cap_get(&d, n.details, sizeof(n.details));
	assert_int_equal(d.lid, 2);
	assert_int_equal(d.other_changes, 1);
	assert_int_equal(d.local_changes, 1);
	assert_desc(&w, 2, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	sim_set_node_desc(w.sim, 2, "new name");
	assert_desc(&w, 2, "new name");
	sim_node_power(w.sim, 2, false);
	sim_node_power(w.sim, 2, true);
	assert_desc(&w, 2, "h1");
	world_close(&w);
}

TEST(a_change_of_the_sm_sends_a_trap)
{
	struct iba_notice n;
	struct iba_trap_cap d;
	struct world w;

	express_chain(&w, 1);
	sim_set_is_sm(w.sim, 2, 1, true);
	only_trap(&w, IBA_TRAP_CAP_CHANGE, &n);
	assert_int_equal(n.issuer_lid, 2);
	assert_int_equal(n.type, IBA_NOTICE_INFO);
	iba_trap_cap_get(&d, n.details, sizeof(n.details));
	assert_int_equal(d.lid, 2);
	assert_int_equal(d.cap_mask, port(&w, 2, 1)->cap_mask);
	assert_int_equal(d.other_changes, 0);
	w.inbox.n = 0;
	sim_set_is_sm(w.sim, 2, 1, true); /* it was one before */
	sim_settle(w.sim, 0);
	assert_int_equal(w.inbox.n, 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disable_and_enable),
		cmocka_unit_test(the_response_leaves_before_the_port_goes_down),
		cmocka_unit_test(a_reset_takes_both_ends_down),
		cmocka_unit_test(down_means_down_at_both_ends),
		cmocka_unit_test(without_link_pairs_one_end_changes_alone),
		cmocka_unit_test(by_events_with_link_pairs),
		cmocka_unit_test(a_host_disables_its_own_port),
		cmocka_unit_test(power_off_resets_a_disabled_port),
		cmocka_unit_test(rates_are_those_of_the_netlist),
		cmocka_unit_test(a_free_port_has_the_rates_of_its_node),
		cmocka_unit_test(a_link_retrains_when_its_rate_is_disabled),
		cmocka_unit_test(a_link_stays_when_a_faster_rate_is_enabled),
		cmocka_unit_test(no_common_rate_no_link),
		cmocka_unit_test(rates_that_are_not_supported_are_refused),
		cmocka_unit_test(fdr10_differs_from_qdr),
		cmocka_unit_test(the_round_trip_is_that_of_the_cable),
		cmocka_unit_test(set_values_are_read_back),
		cmocka_unit_test(power_on_values_need_no_change),
		cmocka_unit_test(capabilities_are_reported),
		cmocka_unit_test(the_m_key_protects_until_its_lease_expires),
		cmocka_unit_test(a_description_can_be_set),
		cmocka_unit_test(a_change_of_the_sm_sends_a_trap),
	};

	return cmocka_run_group_tests_name("emulated devices", tests, NULL, NULL);
}
