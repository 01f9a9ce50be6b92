/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs on their way: directed routes, LID-routed segments before and after, forwarding tables, and each
 * reason to drop a packet, counted once. State: a log of where packets were. Does not test the responses
 * of SMAs.
 * Covers: smi.c, smi_queue.c, smp_forward.c, smp_pool.c, table_lookup.c, kernel.c, simulation.c
 */
#include "sim_fixture.h"

#include "base/rng.h"
#include "sim/device/device_priv.h" /* reads SMPs that wait in the queue of a node */

/* ---- the stages of a directed route, as each SMI finds the packet ---- */

struct stage {
	node_id node;
	uint8_t hop_ptr, hop_cnt, in_port;
	bool back;
	uint8_t return_path[IBA_PATH_SIZE];
};

static VEC(struct stage) stages;
static uint64_t stage_last[128];

static void log_stage(struct world *w)
{
	for (node_id n = 0; n < w->fab->nnodes; n++) {
		uint32_t p = w->sim->nodes[n].q_head;
		struct stage st = {.node = n};

		uint64_t now = p;

		if (p != PKT_NONE) { /* a response may lie where its request lay */
			const uint8_t *m = w->sim->dev.pkts.at[p].smp.mad;

			now |= (uint64_t)iba_smp_hop_ptr(m) << 32 | (uint64_t)iba_smp_is_return(m)
									    << 40;
		}
		if (now != stage_last[n] && p != PKT_NONE) {
			uint8_t *m = w->sim->dev.pkts.at[p].smp.mad;

			st.hop_ptr = iba_smp_hop_ptr(m);
			st.hop_cnt = iba_smp_hop_cnt(m);
			st.back = iba_smp_is_return(m);
			st.in_port = w->sim->dev.pkts.at[p].in_port;
			memcpy(st.return_path, iba_smp_return_path(m), IBA_PATH_SIZE);
			vec_push(&stages, st);
		}
		stage_last[n] = now;
	}
}

static void stages_begin(struct world *w)
{
	stages.n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(stage_last); i++)
		stage_last[i] = PKT_NONE;
	w->after_step = log_stage;
}

static void expect_stage(size_t i, node_id n, unsigned hop_ptr, unsigned hop_cnt, bool back,
			 unsigned filled)
{
	assert_true(i < stages.n);
	assert_int_equal(stages.at[i].node, n);
	assert_int_equal(stages.at[i].hop_ptr, hop_ptr);
	assert_int_equal(stages.at[i].hop_cnt, hop_cnt);
	assert_int_equal(stages.at[i].back, back);
	for (unsigned k = 1; k < IBA_PATH_SIZE; k++) /* every switch here is entered by port 1 */
		assert_int_equal(stages.at[i].return_path[k], k <= filled ? 1 : 0);
}

static void walk(struct world *w, unsigned hops)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), hops);
	const struct world_seen *at_sma;
	const struct sim_smp *r;
	size_t i = 0;

	w->seen.n = 0;
	stages_begin(w);
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(iba_smp_status(r->mad), IBA_STATUS_DR_RETURN);
	assert_int_equal(iba_smp_hop_ptr(r->mad), 0);
	assert_int_equal(iba_smp_hop_cnt(r->mad), hops);
	assert_int_equal(r->dlid, IBA_LID_PERMISSIVE);
	assert_int_equal(r->slid, IBA_LID_PERMISSIVE);

	at_sma = world_find(w, SIM_SEEN_RECV, hops, IBA_GET);
	assert_non_null(at_sma);
	assert_int_equal(iba_smp_hop_ptr(at_sma->smp.mad), hops + 1);

	/* The first is in service before the first step is over; it has left nothing in the log. */
	for (unsigned k = 1; k <= hops; k++)
		expect_stage(i++, k, k, hops, false, k - 1);
	for (unsigned k = hops + 1; k-- > 0;)
		expect_stage(i++, k, k + 1, hops, true, hops);
	assert_int_equal(i, stages.n);
}

TEST(directed_routes_stage_by_stage)
{
	struct world w;

	world_open(&w, draw_chain(4), NULL);
	for (unsigned hops = 0; hops <= 5; hops++)
		walk(&w, hops);
	world_close(&w);
}

TEST(time_of_one_hop)
{
	struct world w;
	struct sim_config c;
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);

	sim_config_default(&c);
	world_open(&w, draw_chain(1), &c);
	assert_non_null(world_ask(&w, &s));
	/* Out through an SMI, over 1X SDR (4 ns a byte), SMI and SMA, and back the same way. */
	assert_int_equal(sim_now(w.sim),
			 4 * c.smi_ps + c.sma_ps + 2 * (290 * 4 * PS_PER_NS + c.wire_ps));
	world_close(&w);
}

TEST(sixty_three_hops_and_no_more)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 63);
	const struct sim_smp *r;
	struct iba_node_info ni;
	struct world w;

	world_open(&w, draw_chain(63), NULL);
	r = world_ask(&w, &s);
	assert_non_null(r);
	iba_node_info_get(&ni, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(ni.node_guid, w.fab->nodes[63].guid);
	walk(&w, 63);
	/* The host behind the last switch is the 64th: the header has no room for it. */
	iba_smp_set_hop_cnt(s.mad, 64);
	world_lose(&w, &s, SIM_DROP_BAD_PATH);
	world_close(&w);
}

/* ---- LID-routed ---- */

/* h0 = 1, sw0 = 2, sw1 = 3, h1 = 8 and 9. */
static void open_routed(struct world *w, const struct sim_config *c)
{
	world_open(w, draw_chain(2), c);
	world_give_lid(w, 0, 1, 0);
	world_give_lid(w, 1, 2, 0);
	world_give_lid(w, 2, 3, 0);
	world_give_lid(w, 3, 8, 1);
	world_give_lft(w, 1, (uint8_t[]){1, 1, 3, 2, 8, 2, 9, 2, 0});
	world_give_lft(w, 2, (uint8_t[]){1, 1, 2, 1, 8, 2, 9, 2, 0});
	w->seen.n = 0;
}

static void expect_guid(const struct world *w, const struct sim_smp *r, node_id n)
{
	struct iba_node_info ni;

	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
	iba_node_info_get(&ni, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(ni.node_guid, w->fab->nodes[n].guid);
}

TEST(lid_routed)
{
	static const struct {
		uint16_t lid;
		node_id node;
	} to[] = {{1, 0}, {2, 1}, {3, 2}, {8, 3}, {9, 3}};
	struct world w;

	open_routed(&w, NULL);
	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		struct sim_smp s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, to[i].lid);
		const struct sim_smp *r = world_ask(&w, &s);

		expect_guid(&w, r, to[i].node);
		assert_int_equal(iba_smp_status(r->mad), 0); /* no D in this class */
		assert_int_equal(r->slid, to[i].lid);
		assert_int_equal(r->dlid, 1);
	}
	world_close(&w);
}

TEST(lid_routed_switch_latency)
{
	struct sim_smp s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, 3);
	struct sim_config c;
	struct world w;
	time_ps start;

	sim_config_default(&c);
	open_routed(&w, &c);
	start = sim_now(w.sim);
	assert_non_null(world_ask(&w, &s));
	/* sw0 forwards both ways without its SMI; sw1's own answer crosses its crossbar too. */
	assert_int_equal(sim_now(w.sim) - start, 4 * c.smi_ps + c.sma_ps +
							 4 * (290 * 4 * PS_PER_NS + c.wire_ps) +
							 3 * c.hop_ps);
	world_close(&w);
}

/* ---- mixed routes ---- */

static const struct sim_smp *heard_at(const struct world *w, node_id n)
{
	const struct world_seen *x = world_find(w, SIM_SEEN_RECV, n, IBA_GET);

	assert_non_null(x);
	return &x->smp;
}

TEST(lid_routed_first_segment)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, (uint8_t[]){2}, 1);
	const struct sim_smp *r;
	struct world w;

	open_routed(&w, NULL);
	s.slid = 1;
	s.dlid = 2;
	iba_smp_set_dr_slid(s.mad, 1);
	r = world_ask(&w, &s);
	expect_guid(&w, r, 2);
	assert_int_equal(iba_smp_hop_ptr(heard_at(&w, 2)->mad), 2);
	assert_int_equal(iba_smp_return_path((uint8_t *)heard_at(&w, 2)->mad)[1], 1);
	assert_int_equal(heard_at(&w, 2)->dlid, IBA_LID_PERMISSIVE);
	/* Back: directed to sw0, from there by LID. */
	assert_int_equal(r->slid, 2);
	assert_int_equal(r->dlid, 1);
	assert_int_equal(iba_smp_hop_ptr(r->mad), 0);
	world_close(&w);
}

TEST(lid_routed_last_segment)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, (uint8_t[]){1}, 1);
	const struct sim_smp *r;
	struct world w;

	open_routed(&w, NULL);
	iba_smp_set_dr_dlid(s.mad, 9);
	r = world_ask(&w, &s);
	expect_guid(&w, r, 3);
	assert_int_equal(iba_smp_hop_ptr(heard_at(&w, 3)->mad), 2);
	assert_int_equal(heard_at(&w, 3)->slid, 2); /* the switch where the directed part ended */
	assert_int_equal(heard_at(&w, 3)->dlid, 9);
	assert_int_equal(r->dlid, IBA_LID_PERMISSIVE);
	assert_int_equal(iba_smp_hop_ptr(r->mad), 0);
	world_close(&w);
}

TEST(lid_routed_at_both_ends)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, (uint8_t[]){2}, 1);
	const struct sim_smp *r;
	struct world w;

	open_routed(&w, NULL);
	s.slid = 1;
	s.dlid = 2;
	iba_smp_set_dr_slid(s.mad, 1);
	iba_smp_set_dr_dlid(s.mad, 8);
	r = world_ask(&w, &s);
	expect_guid(&w, r, 3);
	assert_int_equal(heard_at(&w, 3)->slid, 3);
	assert_int_equal(r->slid, 2);
	assert_int_equal(r->dlid, 1);

	/* The directed part may be empty: two LID-routed segments that meet at sw0. */
	w.seen.n = 0;
	iba_smp_set_hop_cnt(s.mad, 0);
	r = world_ask(&w, &s);
	expect_guid(&w, r, 3);
	assert_int_equal(heard_at(&w, 3)->slid, 2);
	assert_int_equal(iba_smp_hop_ptr(heard_at(&w, 3)->mad), 1);
	assert_int_equal(iba_smp_hop_ptr(r->mad), 0);
	world_close(&w);
}

/* ---- what makes no sense ---- */

TEST(bad_headers)
{
	static const uint8_t methods[] = {0x00, IBA_SEND, IBA_REPORT, IBA_REPORT_RESP, 0x55, 0xff};
	struct sim_smp good = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1), s;
	struct world w;

	world_open(&w, draw_chain(1), NULL);
	s = good;
	iba_smp_set_base_version(s.mad, 2);
	world_lose(&w, &s, SIM_DROP_BAD_MAD);
	s = good;
	iba_smp_set_class_version(s.mad, 0);
	world_lose(&w, &s, SIM_DROP_BAD_MAD);
	s = good;
	iba_smp_set_mgmt_class(s.mad, 0x04);
	world_lose(&w, &s, SIM_DROP_BAD_MAD);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		s = good;
		iba_smp_set_method(s.mad, methods[i]);
		world_lose(&w, &s, SIM_DROP_BAD_MAD);
	}
	assert_non_null(world_ask(&w, &good));
	world_close(&w);
}

struct bad_path {
	uint8_t hop_ptr, hop_cnt, path[4];
	bool back;
	enum sim_drop why;
};

TEST(bad_paths)
{
	static const struct bad_path bad[] = {
		{0, 64, {1}, false, SIM_DROP_BAD_PATH},
		{0, 255, {1}, false, SIM_DROP_BAD_PATH},
		{3, 1, {1}, false, SIM_DROP_BAD_PATH}, /* beyond the end */
		{255, 1, {1}, false, SIM_DROP_BAD_PATH},
		{1, 3, {1, 2, 2}, false, SIM_DROP_BAD_PATH}, /* begins in the middle */
		{0, 1, {0}, false, SIM_DROP_BAD_PATH},	     /* port 0 */
		{0, 1, {2}, false, SIM_DROP_BAD_PATH},	     /* a port h0 does not have */
		{0, 2, {1, 0}, false, SIM_DROP_BAD_PATH},
		{0, 2, {1, 5}, false, SIM_DROP_BAD_PATH},
		{0, 2, {1, 255}, false, SIM_DROP_BAD_PATH},
		{0, 2, {1, 3}, false, SIM_DROP_LINK},		/* nothing connected */
		{0, 4, {1, 2, 2, 1}, false, SIM_DROP_BAD_PATH}, /* through h1 */
		{3, 1, {1}, true, SIM_DROP_BAD_PATH},
		{65, 63, {1}, true, SIM_DROP_BAD_PATH},
		{2, 1, {1}, true, SIM_DROP_BAD_PATH}, /* the return path is all zero */
	};
	struct world w;

	world_open(&w, draw_chain(2), NULL);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, bad[i].path, 4);

		iba_smp_set_hop_cnt(s.mad, bad[i].hop_cnt);
		iba_smp_set_hop_ptr(s.mad, bad[i].hop_ptr);
		iba_smp_set_status(s.mad, bad[i].back ? IBA_STATUS_DR_RETURN : 0);
		world_lose(&w, &s, bad[i].why);
	}
	world_close(&w);
}

/* A response may not turn up in the middle of an endport, nor leave one by LID. */
TEST(bad_ends_at_hosts)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 3);
	struct world w;

	open_routed(&w, NULL);
	iba_smp_set_dr_dlid(s.mad,
			    2); /* the directed part ends in a host, which does not forward */
	world_lose(&w, &s, SIM_DROP_BAD_PATH);

	/* h0 to sw0 and back to h0, with a hop still to go. */
	s = smp_dr(IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0, NULL, 0);
	iba_smp_set_status(s.mad, IBA_STATUS_DR_RETURN);
	iba_smp_set_hop_cnt(s.mad, 63);
	iba_smp_set_hop_ptr(s.mad, 4);
	memset(iba_smp_return_path(s.mad), 1, 4);
	world_lose(&w, &s, SIM_DROP_BAD_PATH);
	world_close(&w);
}

TEST(smps_to_a_port_without_an_sm_are_dropped)
{
	struct sim_smp s = smp_dr(IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	const struct sim_smp *r;
	struct world w;

	world_open(&w, draw_chain(1), NULL);
	world_lose(&w, &s, SIM_DROP_NO_SM);
	iba_smp_set_method(s.mad, IBA_TRAP);
	world_lose(&w, &s, SIM_DROP_NO_SM);
	/* SMInfo of a node without an SM: its SMA says that there is none. */
	s = smp_dr(IBA_GET, IBA_ATTR_SM_INFO, 0, chain_path(), 1);
	r = world_ask(&w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), IBA_STATUS_BAD_METHOD_ATTR);
	/* Of a node with one: the SM is asked, not the SMA. */
	s = smp_dr(IBA_GET, IBA_ATTR_SM_INFO, 0, NULL, 0);
	w.inbox.n = 0;
	world_send(&w, &s);
	world_drain(&w);
	assert_int_equal(w.inbox.n, 1);
	assert_int_equal(iba_smp_method(w.inbox.at[0].mad), IBA_GET);
	/* Gone again. */
	sim_attach(w.sim, 0, 1, NULL, NULL);
	assert_int_equal(sim_port_info(w.sim, fab_port_id(w.fab, 0, 1))->cap_mask & IBA_CAP_IS_SM,
			 0);
	s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	world_lose(&w, &s, SIM_DROP_NO_SM);
	world_close(&w);
}

/* ---- forwarding tables ---- */

static void lose_lid(struct world *w, uint16_t lid, enum sim_drop why)
{
	struct sim_smp s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, lid);

	world_lose(w, &s, why);
}

TEST(linear_table)
{
	struct sim_smp s;
	struct world w;

	open_routed(&w, NULL);
	world_give_lft(&w, 1,
		       (uint8_t[]){1, 1, 3, 2, 8, 2, 20, 1, 21, 2, 22, 3, 23, 5, 24, 77, 25, 0, 0});
	world_give_lft(&w, 2, (uint8_t[]){1, 1, 2, 1, 8, 2, 21, 2, 0});
	lose_lid(&w, 9, SIM_DROP_UNROUTABLE);	   /* the entry says 255 */
	lose_lid(&w, 2000, SIM_DROP_UNROUTABLE);   /* no such block */
	lose_lid(&w, 0xc001, SIM_DROP_UNROUTABLE); /* multicast */
	lose_lid(&w, 20, SIM_DROP_TURNED_BACK);
	lose_lid(&w, 21, SIM_DROP_NOT_FOR_US); /* h1 does not have it */
	lose_lid(&w, 22, SIM_DROP_LINK);       /* port 3 is down */
	lose_lid(&w, 23, SIM_DROP_UNROUTABLE); /* the switch has four ports */
	lose_lid(&w, 24, SIM_DROP_UNROUTABLE);
	lose_lid(&w, 25, SIM_DROP_NOT_FOR_US); /* port 0, but not its LID */
	world_give_top(&w, 1, 7);
	lose_lid(&w, 8, SIM_DROP_UNROUTABLE); /* beyond the top: the entry does not count */
	world_give_top(&w, 1, 8);
	s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, 8);
	expect_guid(&w, world_ask(&w, &s), 3);
	world_close(&w);
}

static void set_rft(struct world *w, unsigned hops, uint32_t block, const struct iba_rft *t,
		    unsigned want)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_RFT, block, chain_path(), hops);
	const struct sim_smp *r;

	iba_rft_put(t, iba_smp_data(s.mad));
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), want);
}

static void set_default_port(struct world *w, unsigned hops, unsigned port)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_SWITCH_INFO, 0, chain_path(), hops);
	struct iba_switch_info si = *sim_switch_info(w->sim, hops);
	const struct sim_smp *r;

	si.default_port = (uint8_t)port;
	iba_switch_info_put(&si, iba_smp_data(s.mad));
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
}

TEST(random_table_with_default_port)
{
	struct iba_rft t = {.lid = {1}, .valid = {1}, .port = {1}}, far = {0};
	struct sim_config c;
	struct sim_smp s;
	struct world w;

	sim_config_default(&c);
	c.lft_cap = 0;
	c.rft_cap = 20; /* the second block is not full, but is looked at all the same */
	world_open(&w, draw_chain(2), &c);
	world_give_lid(&w, 0, 1, 0);
	world_give_lid(&w, 3, 8, 1);
	set_rft(&w, 1, 0, &t, 0);
	far = (struct iba_rft){.lid = {8}, .valid = {1}, .lmc = {1}, .port = {2}};
	set_rft(&w, 1, 1, &far, 0);
	set_rft(&w, 2, 0, &t, 0);

	lose_lid(&w, 9, SIM_DROP_UNROUTABLE); /* sw1 has no entry, and no default yet */
	set_default_port(&w, 2, 2);
	s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, 9);
	expect_guid(&w, world_ask(&w, &s), 3);
	lose_lid(&w, 10, SIM_DROP_UNROUTABLE); /* 10 is beyond the 2 LIDs of the entry at sw0 */
	set_default_port(&w, 1, 2);
	lose_lid(&w, 10, SIM_DROP_NOT_FOR_US);
	set_default_port(&w, 1, 1);
	lose_lid(&w, 10, SIM_DROP_TURNED_BACK);
	world_close(&w);
}

/* ---- one after another ---- */

TEST(an_smi_serves_in_turn)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, NULL, 0);
	struct sim_config c;
	struct world w;
	time_ps done[3] = {0};
	unsigned n = 0;

	sim_config_default(&c);
	world_open(&w, draw_chain(1), &c);
	for (unsigned i = 0; i < 3; i++) {
		iba_smp_set_tid(s.mad, i);
		world_send(&w, &s);
	}
	while (world_step(&w))
		if (w.inbox.n > n)
			done[n++] = sim_now(w.sim);
	assert_int_equal(n, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(iba_smp_tid(w.inbox.at[i].mad), i);
	/* Requests first, as they were queued first; then the responses, each an SMI's time. */
	assert_int_equal(done[0], 3 * (c.smi_ps + c.sma_ps) + c.smi_ps);
	assert_int_equal(done[1] - done[0], c.smi_ps);
	assert_int_equal(done[2] - done[1], c.smi_ps);
	world_close(&w);
}

/* ---- cables and power ---- */

static uint64_t lost(const struct world *w, enum sim_drop why)
{
	return sim_stats(w->sim)->dropped[why];
}

TEST(lost_on_a_cut_link)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 2);
	struct world w;
	port_id left, right;

	world_open(&w, draw_chain(2), NULL);
	left = fab_port_id(w.fab, 1, 2);
	right = fab_port_id(w.fab, 2, 1);
	world_send(&w, &s);
	while (sim_stats(w.sim)->hops < 2) /* until it is on the wire between the switches */
		assert_true(world_step(&w));
	sim_uncable(w.sim, right);
	sim_cable(w.sim, left, right); /* the new link does not bring back what the old one lost */
	assert_int_equal(sim_stats(w.sim)->in_flight, 1);
	world_drain(&w);
	assert_int_equal(lost(&w, SIM_DROP_LINK), 1);
	assert_int_equal(w.inbox.n, 0);
	assert_non_null(world_ask(&w, &s));
	world_close(&w);
}

TEST(lost_in_a_dead_node)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 2);
	struct world w;

	world_open(&w, draw_chain(2), NULL);
	world_send(&w, &s);
	while (!w.sim->nodes[1].q_len)
		assert_true(world_step(&w));
	sim_node_power(w.sim, 1, false);
	assert_int_equal(sim_stats(w.sim)->in_flight, 0);
	sim_node_power(w.sim, 1, true); /* what was in service before must not come to an end now */
	world_check_sums(&w);
	assert_int_equal(lost(&w, SIM_DROP_NODE), 1);
	world_run(&w, sim_now(w.sim) + PS_PER_MS);

	world_send(&w, &s);
	while (sim_stats(w.sim)->hops < 3) /* it has left sw0 but not arrived at sw1 */
		assert_true(world_step(&w));
	sim_node_power(w.sim, 1, false);
	world_drain(&w);
	assert_int_equal(lost(&w, SIM_DROP_NODE), 1);
	assert_int_equal(lost(&w, SIM_DROP_LINK), 1);
	sim_node_power(w.sim, 1, true);
	assert_int_equal(w.inbox.n, 0);
	assert_non_null(world_ask(&w, &s));
	world_close(&w);
}

TEST(delayed_in_a_dead_node)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.faults = (struct sim_faults){.delay_q32 = 1ull << 32, .delay_max_ps = PS_PER_MS};
	world_open(&w, draw_chain(1), &c);
	world_send(&w, &s);
	assert_int_equal(sim_stats(w.sim)->delayed, 1);
	sim_node_power(w.sim, 0, false);
	sim_node_power(w.sim, 0, true);
	world_drain(&w);
	assert_int_equal(lost(&w, SIM_DROP_NODE), 1);
	/* Nothing can be sent from a node that is off. */
	sim_node_power(w.sim, 0, false);
	world_send(&w, &s);
	assert_int_equal(sim_stats(w.sim)->sent, 1);
	world_close(&w);
}

/* The cable is pulled with many packets waiting for the transmitter: they do not hold up what is
 * sent over the new one. */
TEST(a_cut_link_drops_its_queue)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	struct sim_config c;
	struct world w;
	time_ps start;
	port_id a;

	sim_config_default(&c);
	c.smi_ps = c.sma_ps = 0;
	world_open(&w, draw_chain(1), &c);
	a = fab_port_id(w.fab, 0, 1);
	for (unsigned i = 0; i < 50; i++)
		world_send(&w, &s);
	while (sim_stats(w.sim)->hops < 50)
		assert_true(world_step(&w));
	start = sim_now(w.sim);
	sim_uncable(w.sim, a);
	sim_cable(w.sim, a, fab_port_id(w.fab, 1, 1));
	w.inbox.n = 0;
	assert_non_null(world_ask(&w, &s));
	assert_int_equal(sim_now(w.sim) - start, 2 * (290 * 4 * PS_PER_NS + c.wire_ps));
	world_drain(&w);
	world_close(&w);
}

TEST(a_switch_that_powers_off_sends_nothing)
{
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.traps = true;
	open_routed(&w, &c);
	sim_node_power(w.sim, 1, false);
	assert_int_equal(sim_stats(w.sim)->traps, 1); /* sw1 reports its lost neighbour */
	assert_non_null(world_find(&w, SIM_SEEN_SEND, 2, IBA_TRAP));
	assert_null(world_find(&w, SIM_SEEN_SEND, 1, IBA_TRAP));
	world_close(&w);
}

/* ---- faults, and the sums under all of them ---- */

TEST(loss_and_copies)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	struct world w;

	world_open(&w, draw_chain(1), NULL);
	sim_set_faults(w.sim, &(struct sim_faults){.loss_q32 = 1ull << 32});
	world_lose(&w, &s, SIM_DROP_FAULT);
	sim_set_faults(w.sim, &(struct sim_faults){.dup_q32 = 1ull << 32});
	world_send(&w, &s);
	world_drain(&w);
	/* The request twice, and each of its two responses twice. */
	assert_int_equal(w.inbox.n, 4);
	assert_int_equal(sim_stats(w.sim)->duplicated, 3);
	world_close(&w);
}

static struct sim_smp any_smp(struct rng *r)
{
	static const uint8_t methods[] = {IBA_GET,	    IBA_SET,	  IBA_TRAP,
					  IBA_TRAP_REPRESS, IBA_GET_RESP, 0x44};
	static const uint16_t attrs[] = {IBA_ATTR_NODE_INFO, IBA_ATTR_PORT_INFO,   IBA_ATTR_LFT,
					 IBA_ATTR_SM_INFO,   IBA_ATTR_SWITCH_INFO, 0x77};
	uint8_t path[8];
	struct sim_smp s;

	for (unsigned i = 0; i < sizeof(path); i++)
		path[i] = (uint8_t)rng_below(r, 6);
	if (rng_below(r, 2))
		s = smp_dr(methods[rng_below(r, 6)], attrs[rng_below(r, 6)], rng_below(r, 6), path,
			   rng_below(r, 8));
	else
		s = smp_lid(methods[rng_below(r, 6)], attrs[rng_below(r, 6)], rng_below(r, 6), 1,
			    (uint16_t)rng_below(r, 12));
	iba_smp_set_m_key(s.mad, rng_below(r, 2));
	if (rng_below(r, 8) == 0)
		iba_smp_set_status(s.mad, IBA_STATUS_DR_RETURN);
	if (rng_below(r, 8) == 0)
		iba_smp_set_hop_ptr(s.mad, (uint8_t)rng_below(r, 10));
	return s;
}

static void any_change(struct world *w, struct rng *r)
{
	port_id p = rng_below(r, w->fab->nports);
	node_id n = rng_below(r, w->fab->nnodes);

	switch (rng_below(r, 4)) {
	case 0:
		sim_uncable(w->sim, p);
		break;
	case 1:
		if (w->fab->ports[p].peer != FAB_NONE && sim_port_peer(w->sim, p) == FAB_NONE &&
		    sim_port_peer(w->sim, w->fab->ports[p].peer) == FAB_NONE)
			sim_cable(w->sim, p, w->fab->ports[p].peer);
		break;
	default:
		sim_node_power(w->sim, n, rng_below(r, 3) != 0);
		break;
	}
}

static uint64_t storm(uint64_t seed)
{
	struct sim_config c;
	struct world w;
	struct rng r;
	uint64_t hash;

	rng_seed(&r, seed, 11);
	sim_config_default(&c);
	c.seed = seed;
	c.traps = true;
	c.trap_limit = 4;
	c.training_ps = seed % 2 ? 5 * PS_PER_US : 0;
	open_routed(&w, &c);
	sim_set_faults(w.sim, &(struct sim_faults){prob_q32(0.05), prob_q32(0.1), prob_q32(0.1),
						   50 * PS_PER_US});
	for (unsigned i = 0; i < 400; i++) {
		struct sim_smp s = any_smp(&r);
		node_id n = rng_below(&r, w.fab->nnodes);

		sim_send(w.sim, n, fab_is_switch(w.fab, n) ? 0 : 1, &s);
		if (rng_below(&r, 6) == 0)
			any_change(&w, &r);
		world_check_sums(&w);
		for (unsigned k = rng_below(&r, 12); k && world_step(&w); k--)
			;
	}
	world_drain(&w);
	hash = sim_hash(w.sim);
	world_close(&w);
	return hash;
}

TEST(counters_add_up_under_random_smps)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		assert_int_equal(storm(seed), storm(seed)); /* and it is the same storm each time */
	assert_int_not_equal(storm(1), storm(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directed_routes_stage_by_stage),
		cmocka_unit_test(time_of_one_hop),
		cmocka_unit_test(sixty_three_hops_and_no_more),
		cmocka_unit_test(lid_routed),
		cmocka_unit_test(lid_routed_switch_latency),
		cmocka_unit_test(lid_routed_first_segment),
		cmocka_unit_test(lid_routed_last_segment),
		cmocka_unit_test(lid_routed_at_both_ends),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(bad_paths),
		cmocka_unit_test(bad_ends_at_hosts),
		cmocka_unit_test(smps_to_a_port_without_an_sm_are_dropped),
		cmocka_unit_test(linear_table),
		cmocka_unit_test(random_table_with_default_port),
		cmocka_unit_test(an_smi_serves_in_turn),
		cmocka_unit_test(lost_on_a_cut_link),
		cmocka_unit_test(lost_in_a_dead_node),
		cmocka_unit_test(delayed_in_a_dead_node),
		cmocka_unit_test(a_cut_link_drops_its_queue),
		cmocka_unit_test(a_switch_that_powers_off_sends_nothing),
		cmocka_unit_test(loss_and_copies),
		cmocka_unit_test(counters_add_up_under_random_smps),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	vec_free(&stages);
	return rc;
}
