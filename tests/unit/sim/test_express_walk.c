/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Express mode: packets arrive within sim_settle(), latency is kept, loops end, and SMPs have the same
 * outcome as with events.
 * Covers: express_walk.c, gsi.c, port_client.c, counted_flow.c
 */
#include "base/rng.h"
#include "express_fixture.h"

/* ---- SMPs ---- */

TEST(a_directed_route_smp_returns_within_one_call)
{
	struct world w;
	struct sim_smp s;
	const struct sim_smp *r;
	struct iba_node_info ni;

	express_open(&w, draw_chain(4));
	for (unsigned hops = 0; hops <= 5; hops++) {
		s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), hops);
		r = express_ask(&w, &s);
		assert_non_null(r);
		assert_int_equal(smp_status(r), 0);
		iba_node_info_get(&ni, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
		assert_true(ni.node_guid == w.fab->nodes[hops].guid);
	}
	assert_int_equal(sim_now(w.sim), 0);
	assert_int_equal(sim_stats(w.sim)->hops, 2 * (1 + 2 + 3 + 4 + 5));
	world_close(&w);
}

TEST(lid_routed_smps_and_mixed_routes)
{
	static const uint16_t to[] = {1, 10, 11, 12, 2};
	struct world w;
	struct sim_smp s;
	const struct sim_smp *r;

	express_chain(&w, 3);
	for (unsigned i = 0; i < ARRAY_LEN(to); i++) {
		s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, to[i]);
		r = express_ask(&w, &s);
		assert_non_null(r);
		assert_int_equal(r->slid, to[i]);
	}
	/* To LID 11 by table, then out of its port 2: what ibportstate asks of a peer. */
	s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, (const uint8_t[]){2}, 1);
	iba_smp_set_dr_slid(s.mad, 1);
	s.slid = 1;
	s.dlid = 11;
	r = express_ask(&w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
	assert_int_equal(iba_be64(iba_smp_data_const(r->mad) + 12), w.fab->nodes[3].guid);
	world_close(&w);
}

/* One world by events, one in express mode, the same SMPs to both. */
struct twins {
	struct world slow, fast;
	struct rng r;
};

static struct sim_smp random_smp(struct rng *r)
{
	static const uint8_t attrs[] = {IBA_ATTR_NODE_INFO, IBA_ATTR_SWITCH_INFO, IBA_ATTR_LFT,
					0x31};
	uint8_t path[IBA_PATH_SIZE];
	struct sim_smp s;

	for (unsigned i = 0; i < sizeof(path); i++)
		path[i] = (uint8_t)(rng_below(r, 8) ? 1 + rng_below(r, 2) : rng_below(r, 6));
	if (rng_below(r, 3)) {
		s = smp_dr(IBA_GET, attrs[rng_below(r, 4)], rng_below(r, 2), path, rng_below(r, 7));
	} else {
		s = smp_lid(IBA_GET, attrs[rng_below(r, 4)], 0, 1, (uint16_t)rng_below(r, 16));
	}
	if (!rng_below(r, 4)) { /* with LID-routed segments */
		iba_smp_set_dr_slid(s.mad, rng_below(r, 2) ? 1 : IBA_LID_PERMISSIVE);
		iba_smp_set_dr_dlid(s.mad, rng_below(r, 2) ? (uint16_t)rng_below(r, 16)
							   : IBA_LID_PERMISSIVE);
		if (rng_below(r, 2)) {
			s.slid = 1;
			s.dlid = (uint16_t)rng_below(r, 16);
		}
	}
	if (!rng_below(r, 8)) /* not the class: GMPs are for express mode only */
		s.mad[2 + rng_below(r, 6)] = (uint8_t)rng_u64(r);
	return s;
}

static void assert_same_fate(struct twins *t)
{
	const struct sim_stats *a = sim_stats(t->slow.sim), *b = sim_stats(t->fast.sim);

	for (unsigned i = 0; i < SIM_NDROPS; i++)
		if (a->dropped[i] != b->dropped[i])
			fail_msg("%s: %llu by events, %llu express",
				 sim_drop_name((enum sim_drop)i), (unsigned long long)a->dropped[i],
				 (unsigned long long)b->dropped[i]);
	assert_int_equal(a->sent, b->sent);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(t->slow.inbox.n, t->fast.inbox.n);
}

static void twins_bring_up(struct world *w)
{
	express_lids(w, 3);
	world_give_lft(w, 1, (const uint8_t[]){1, 1, 2, 2, 10, 0, 11, 2, 12, 2, 5, 1, 6, 9, 0});
	world_give_lft(w, 2, (const uint8_t[]){1, 1, 2, 2, 10, 1, 11, 0, 12, 2, 5, 2, 0});
	world_give_lft(w, 3, (const uint8_t[]){1, 1, 2, 2, 10, 1, 11, 1, 12, 0, 5, 3, 7, 0, 0});
}

TEST(smps_have_the_same_outcome_as_with_events)
{
	struct sim_config c;
	struct twins t;

	sim_config_default(&c);
	world_open(&t.slow, draw_chain(3), &c);
	c.express = true;
	world_open(&t.fast, draw_chain(3), &c);
	twins_bring_up(&t.slow);
	twins_bring_up(&t.fast);
	rng_seed(&t.r, 5, 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct sim_smp s = random_smp(&t.r);

		t.slow.inbox.n = t.fast.inbox.n = 0;
		world_send(&t.slow, &s);
		world_drain(&t.slow);
		world_send(&t.fast, &s);
		assert_same_fate(&t);
		for (size_t k = 0; k < t.slow.inbox.n; k++)
			if (iba_smp_attr_id(t.slow.inbox.at[k].mad) != IBA_ATTR_SWITCH_INFO)
				assert_memory_equal(t.slow.inbox.at[k].mad, t.fast.inbox.at[k].mad,
						    IBA_MAD_SIZE);
	}
	assert_true(sim_stats(t.fast.sim)->dropped[SIM_DROP_BAD_PATH] > 100);
	assert_true(sim_stats(t.fast.sim)->delivered > 10000);
	world_close(&t.slow);
	world_close(&t.fast);
}

/* ---- troubles of links ---- */

TEST(link_latency_is_kept)
{
	struct sim_link_fault t = {.latency_ps = 5 * PS_PER_MS}, got;
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 3);
	struct world w;

	express_open(&w, draw_chain(2));
	sim_set_link_fault(w.sim, express_port(&w, 2, 1), &t);
	sim_get_link_fault(w.sim, express_port(&w, 1, 2), &got); /* the other end */
	assert_int_equal(got.latency_ps, t.latency_ps);
	sim_settle(w.sim, PS_PER_S);
	world_send(&w, &s);
	assert_int_equal(w.inbox.n, 0);
	assert_int_equal(sim_next(w.sim), PS_PER_S + 5 * PS_PER_MS);
	sim_settle(w.sim, PS_PER_S + 9 * PS_PER_MS);
	assert_int_equal(w.inbox.n, 0);
	sim_settle(w.sim, PS_PER_S + 10 * PS_PER_MS);
	assert_int_equal(w.inbox.n, 1);
	assert_int_equal(sim_stats(w.sim)->in_flight, 0);
	t.latency_ps = 0;
	sim_set_link_fault(w.sim, express_port(&w, 2, 1), &t);
	assert_non_null(express_ask(&w, &s));
	world_close(&w);
}

TEST(packets_on_a_cut_link_are_lost)
{
	struct sim_link_fault t = {.latency_ps = PS_PER_MS};
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 3);
	struct world w;
	port_id p;

	express_open(&w, draw_chain(2));
	p = express_port(&w, 2, 1);
	sim_set_link_fault(w.sim, p, &t);
	world_send(&w, &s);
	sim_uncable(w.sim, p);
	sim_cable(w.sim, p, express_port(&w, 1, 2));
	sim_settle(w.sim, PS_PER_S);
	assert_int_equal(sim_stats(w.sim)->dropped[SIM_DROP_LINK], 1);
	assert_int_equal(sim_stats(w.sim)->in_flight, 0);
	assert_int_equal(w.inbox.n, 0);
	world_close(&w);
}

static uint64_t lost_of(uint64_t seed, unsigned smps, uint64_t *counted)
{
	struct sim_link_fault t = {.loss_q32 = 1u << 30};
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 2);
	struct sim_config c;
	struct world w;
	uint64_t lost;

	sim_config_default(&c);
	c.express = true;
	c.seed = seed;
	world_open(&w, draw_chain(2), &c);
	sim_set_link_fault(w.sim, express_port(&w, 1, 2), &t);
	for (unsigned i = 0; i < smps; i++)
		world_send(&w, &s);
	lost = sim_stats(w.sim)->dropped[SIM_DROP_FAULT];
	assert_int_equal(w.inbox.n, smps - lost);
	*counted = sim_counted(w.sim, express_port(&w, 2, 1), SIM_CNT_VL15_DROPPED) +
		   sim_counted(w.sim, express_port(&w, 1, 2), SIM_CNT_VL15_DROPPED);
	world_close(&w);
	return lost;
}

/* A quarter in each direction: 7 of 16 are lost. */
TEST(loss_is_drawn_from_the_seed)
{
	uint64_t counted, again, lost = lost_of(7, 4000, &counted);

	assert_in_range(lost, 1650, 1850);
	assert_int_equal(counted, lost);
	assert_int_equal(lost_of(7, 4000, &again), lost);
	assert_int_not_equal(lost_of(8, 4000, &again), lost);
}

TEST(a_forwarding_loop_ends)
{
	struct sim_smp s = smp_lid(IBA_GET, IBA_ATTR_NODE_INFO, 0, 1, 33);
	struct sim_smp g = gmp(0x03, IBA_GET, 0x11, 33);
	struct fab_builder *b = fab_builder_new();
	node_id h = draw_host(b, 1), sw[3];
	struct world w;

	for (unsigned i = 0; i < 3; i++)
		sw[i] = draw_switch(b, 4);
	draw_link(b, h, 1, sw[0], 1);
	for (unsigned i = 0; i < 3; i++)
		draw_link(b, sw[i], 2, sw[(i + 1) % 3], 3);
	express_open(&w, fab_build(b));
	world_give_lid(&w, 0, 1, 0);
	world_give_lft(&w, 1, (const uint8_t[]){1, 1, 33, 2, 0});
	world_give_lft(&w, 2, (const uint8_t[]){1, 1, 33, 2, 0});
	world_give_lft(&w, 3, (const uint8_t[]){1, 1, 33, 2, 0});
	world_lose(&w, &s, SIM_DROP_LIFETIME);
	world_lose(&w, &g, SIM_DROP_LINK); /* the links are not Active */
	assert_int_equal(sim_flow(w.sim, 0, 1, 33, 1, 256), -1);
	for (unsigned i = 1; i <= 3; i++)
		for (unsigned p = i == 1 ? 1 : 2; p <= 3; p++)
			express_activate(&w, i, p);
	express_activate(&w, 0, 0);
	world_lose(&w, &g, SIM_DROP_LIFETIME);
	assert_int_equal(sim_flow(w.sim, 0, 1, 33, 1, 256), -1);
	world_close(&w);
}

/* ---- GMPs and the programs at ports ---- */

struct program {
	struct sim *sim;
	node_id node;
	unsigned port;
	VEC(struct sim_smp) inbox;
	unsigned answers; /* what it may still answer */
};

static void program_recv(void *ctx, const struct sim_smp *smp)
{
	struct program *p = ctx;
	struct sim_smp s = *smp;

	vec_push(&p->inbox, *smp);
	if (!p->answers)
		return;
	p->answers--;
	s.slid = smp->dlid;
	s.dlid = smp->slid;
	iba_smp_set_method(s.mad, iba_smp_method(s.mad) ^ 0x80);
	sim_send(p->sim, p->node, p->port, &s);
	sim_settle(p->sim, sim_now(p->sim)); /* must not recurse */
}

static void attach(struct world *w, struct program *p, node_id n, unsigned port)
{
	*p = (struct program){.sim = w->sim, .node = n, .port = port};
	sim_attach_port(w->sim, n, port, program_recv, p);
}

TEST(gmps_go_to_the_program_and_back)
{
	static const uint8_t classes[] = {0x03, 0x05, 0x06, 0x07, 0x08, 0x09,
					  0x0b, 0x22, 0x32, 0x4f, 0xff, 0x00};
	struct program p;
	struct world w;

	express_chain(&w, 3);
	attach(&w, &p, 4, 1);
	for (unsigned i = 0; i < ARRAY_LEN(classes); i++) {
		struct sim_smp s = gmp(classes[i], IBA_GET, 0x35, 2);
		const struct sim_smp *r;

		s.sl = 3;
		p.answers = 1;
		memset(s.mad + 24, 0xa0 + (int)i, 232);
		r = express_ask(&w, &s);
		assert_non_null(r);
		assert_int_equal(p.inbox.n, i + 1);
		assert_memory_equal(p.inbox.at[i].mad, s.mad, IBA_MAD_SIZE);
		assert_int_equal(p.inbox.at[i].sl, 3);
		assert_int_equal(iba_smp_method(r->mad), IBA_GET_RESP);
		assert_int_equal(r->slid, 2);
	}
	vec_free(&p.inbox);
	world_close(&w);
}

TEST(gmps_need_active_links)
{
	struct sim_smp s = gmp(0x03, IBA_GET, 0x11, 2);
	struct iba_port_info pi;
	struct program p;
	struct world w;

	express_chain(&w, 2);
	attach(&w, &p, 3, 1);
	assert_null(express_ask(&w, &s));
	assert_int_equal(p.inbox.n, 1);
	sim_uncable(w.sim, express_port(&w, 2, 2));
	sim_cable(w.sim, express_port(&w, 2, 2), express_port(&w, 3, 1));
	sim_settle(w.sim, 0);
	world_lose(&w, &s, SIM_DROP_LINK); /* in Initialize, SMPs alone pass */
	pi = world_port_info(&w, 2, 2);
	assert_int_equal(pi.state, IBA_PORT_INIT);
	express_activate(&w, 2, 2);
	world_lose(&w, &s, SIM_DROP_LINK); /* one end is not enough */
	pi = world_port_draft(&w, 3, 0);
	pi.lid = 2;
	pi.state = IBA_PORT_ARMED;
	assert_int_equal(world_set_port_info(&w, 3, 0, &pi), 0);
	world_send(&w, &s); /* but data activates an Armed end */
	assert_int_equal(p.inbox.n, 2);
	assert_int_equal(world_port_info(&w, 3, 0).state, IBA_PORT_ACTIVE);
	vec_free(&p.inbox);
	world_close(&w);
}

TEST(gmps_without_a_receiver)
{
	struct sim_smp s = gmp(0x32, IBA_GET, 1, 2);
	const struct sim_smp *r;
	struct world w;

	express_chain(&w, 1);
	r = express_ask(&w, &s); /* as a kernel would */
	assert_non_null(r);
	assert_int_equal(smp_status(r), IBA_STATUS_BAD_METHOD_ATTR);
	s = gmp(0x03, IBA_GET_RESP, 0x11, 2);
	world_lose(&w, &s, SIM_DROP_NO_AGENT);
	s = gmp(0x03, IBA_GET, 0x11, IBA_LID_PERMISSIVE);
	world_lose(&w, &s, SIM_DROP_BAD_PATH);
	s = gmp(0x03, IBA_GET, 0x11, 0);
	world_lose(&w, &s, SIM_DROP_UNROUTABLE);
	s = gmp(0x03, IBA_GET, 0x11, 0xc001);
	world_lose(&w, &s, SIM_DROP_UNROUTABLE);
	world_close(&w);
}

static void give_mft(struct world *w, unsigned hops, uint16_t mask)
{
	struct iba_mft t = {.mask = {[5] = mask}};
	struct sim_smp s = smp_lid(IBA_SET, IBA_ATTR_MFT, 0, 1, (uint16_t)(9 + hops));

	iba_mft_put(&t, iba_smp_data(s.mad));
	assert_non_null(express_ask(w, &s));
	w->inbox.n = 0;
}

/* From h0 along the chain; each host that the masks lead to answers from its own LID. */
TEST(multicast_gmps_follow_masks)
{
	struct sim_smp s = gmp(IBA_CLASS_SUBN_ADM, IBA_GET, 1, IBA_LID_MCAST_FIRST + 5);
	const struct sim_smp *r;
	struct world w;

	express_chain(&w, 3);
	assert_null(express_ask(&w, &s)); /* no masks: no copies */
	for (unsigned i = 1; i <= 3; i++)
		give_mft(&w, i, 1 << 1 | 1 << 2);
	r = express_ask(&w, &s);
	assert_non_null(r);
	assert_int_equal(r->slid, 2);
	assert_true(sim_counted(w.sim, express_port(&w, w.fab->switches[0], 2),
				SIM_CNT_MULTI_XMIT) > 0);
	give_mft(&w, 2, 1 << 1);
	assert_null(express_ask(&w, &s));
	world_close(&w);
}

TEST(a_program_can_send_to_itself)
{
	struct sim_smp s = gmp(0x03, IBA_GET, 0x11, 1);
	const struct sim_smp *r;
	struct world w;

	express_chain(&w, 1);
	sim_uncable(w.sim, express_port(&w, 0, 1)); /* even without a link */
	r = express_ask(&w, &s);
	assert_non_null(r);
	assert_int_equal(iba_smp_method(r->mad), IBA_GET);
	world_close(&w);
}

/* Two programs that never stop answering each other: no stack grows. */
TEST(answers_without_end_do_not_recurse)
{
	struct sim_smp s = gmp(0x09, IBA_GET, 1, 2);
	struct program a, b;
	struct world w;

	express_chain(&w, 1);
	attach(&w, &a, 0, 1);
	attach(&w, &b, 2, 1);
	a.answers = b.answers = 200000;
	world_send(&w, &s);
	assert_int_equal(a.inbox.n, 200000);
	assert_int_equal(b.inbox.n, 200001);
	vec_free(&a.inbox);
	vec_free(&b.inbox);
	world_close(&w);
}

TEST(sm_info_goes_to_the_sm_at_the_port)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_SM_INFO, 0, chain_path(), 2);
	const struct sim_smp *r;
	struct program p;
	struct world w;

	express_chain(&w, 1);
	attach(&w, &p, 2, 1);
	r = express_ask(&w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), IBA_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(p.inbox.n, 0);
	sim_set_is_sm(w.sim, 2, 1, true);
	sim_settle(w.sim, 0);
	assert_int_equal(world_port_info(&w, 2, 0).cap_mask & IBA_CAP_IS_SM, IBA_CAP_IS_SM);
	w.inbox.n = 0;
	assert_null(express_ask(&w, &s));
	assert_int_equal(p.inbox.n, 1);
	sim_set_is_sm(w.sim, 2, 1, false);
	sim_settle(w.sim, 0);
	assert_int_equal(world_port_info(&w, 2, 0).cap_mask & IBA_CAP_IS_SM, 0);
	vec_free(&p.inbox);
	world_close(&w);
}

/* A host with two ports: each its own LID, program and answers. */
TEST(ports_of_one_host_are_separate)
{
	struct fab_builder *b = fab_builder_new();
	node_id h0 = draw_host(b, 1), sw = draw_switch(b, 4), h = draw_host(b, 2);
	struct program p[2];
	struct sim_smp s;
	struct world w;

	draw_link(b, h0, 1, sw, 1);
	draw_link(b, h, 1, sw, 2);
	draw_link(b, h, 2, sw, 3);
	express_open(&w, fab_build(b));
	for (unsigned i = 0; i < 2; i++) {
		struct iba_port_info pi;
		uint8_t path[] = {1, (uint8_t)(2 + i)};

		s = smp_dr(IBA_GET, IBA_ATTR_PORT_INFO, 0, path, 2);
		iba_port_info_get(&pi, iba_smp_data_const(world_ask(&w, &s)->mad),
				  IBA_SMP_DATA_SIZE);
		assert_int_equal(pi.local_port, i + 1);
		pi.lid = (uint16_t)(5 + i);
		pi.sm_lid = 1;
		pi.state = pi.phys_state = 0;
		iba_smp_set_method(s.mad, IBA_SET);
		iba_port_info_put(&pi, iba_smp_data(s.mad));
		assert_int_equal(smp_status(world_ask(&w, &s)), 0);
		attach(&w, &p[i], h, i + 1);
	}
	assert_int_equal(sim_port_info(w.sim, express_port(&w, h, 1))->lid, 5);
	assert_int_equal(sim_port_info(w.sim, express_port(&w, h, 2))->lid, 6);
	world_give_lft(&w, 1, (const uint8_t[]){1, 1, 5, 2, 6, 3, 0});
	sim_set_is_sm(w.sim, h, 2, true);
	s = smp_lid(IBA_GET, IBA_ATTR_SM_INFO, 0, 1, 6);
	world_send(&w, &s);
	s.dlid = 5;
	world_send(&w, &s);
	assert_int_equal(p[0].inbox.n, 0);
	assert_int_equal(p[1].inbox.n, 1);
	vec_free(&p[1].inbox);
	world_close(&w);
}

TEST(a_freed_client_slot_is_reused)
{
	struct sim_smp s = gmp(0x09, IBA_GET, 1, 2);
	struct program a, b;
	struct world w;

	express_chain(&w, 2);
	attach(&w, &a, 1, 0);
	attach(&w, &b, 3, 1);
	sim_attach_port(w.sim, 1, 0, NULL, NULL);
	world_send(&w, &s);
	assert_int_equal(b.inbox.n, 1);
	sim_attach_port(w.sim, 3, 1, NULL, NULL);
	w.inbox.n = 0;
	assert_int_equal(smp_status(express_ask(&w, &s)), IBA_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(b.inbox.n, 1);
	vec_free(&b.inbox);
	world_close(&w);
}

/* ---- time ---- */

TEST(traps_are_repeated_in_real_time)
{
	struct iba_port_info pi;
	struct sim_smp s;
	struct world w;
	unsigned n;

	express_chain(&w, 2);
	pi = world_port_draft(&w, 2, 0);
	pi.subnet_timeout = 18; /* 1.07 s */
	pi.lid = 11;
	assert_int_equal(world_set_port_info(&w, 2, 0, &pi), 0);
	w.inbox.n = 0;
	sim_settle(w.sim, 10 * PS_PER_S);
	sim_uncable(w.sim, express_port(&w, 2, 2));
	sim_settle(w.sim, 10 * PS_PER_S);
	assert_int_equal(w.inbox.n, 1);
	assert_int_equal(iba_smp_method(w.inbox.at[0].mad), IBA_TRAP);
	sim_settle(w.sim, 11 * PS_PER_S);
	assert_int_equal(w.inbox.n, 1);
	sim_settle(w.sim, 15 * PS_PER_S);
	n = (unsigned)w.inbox.n;
	assert_int_equal(n, 5); /* after 1.07, 2.15, 3.22 and 4.29 s */
	s = w.inbox.at[0];
	iba_smp_set_method(s.mad, IBA_TRAP_REPRESS);
	s.dlid = s.slid;
	s.slid = 1;
	world_send(&w, &s);
	sim_settle(w.sim, 100 * PS_PER_S);
	assert_int_equal(w.inbox.n, n);
	assert_int_equal(sim_now(w.sim), 100 * PS_PER_S);
	world_close(&w);
}

TEST(calls_come_at_their_time)
{
	struct world w;

	express_open(&w, draw_chain(1));
	sim_call(w.sim, 5 * PS_PER_MS, world_tick, NULL, 0);
	sim_settle(w.sim, 4 * PS_PER_MS);
	assert_int_equal(sim_next(w.sim), 5 * PS_PER_MS);
	sim_settle(w.sim, 6 * PS_PER_MS);
	assert_int_equal(sim_next(w.sim), TIME_NEVER);
	sim_settle(w.sim, PS_PER_MS); /* never back */
	assert_int_equal(sim_now(w.sim), 6 * PS_PER_MS);
	world_close(&w);
}

TEST(a_node_that_is_off_receives_nothing)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 2);
	struct world w;

	express_open(&w, draw_chain(2));
	sim_send(w.sim, 0, 1, &s);
	sim_node_power(w.sim, 0, false); /* with a packet that waits for its walk */
	sim_settle(w.sim, 0);
	assert_int_equal(sim_stats(w.sim)->dropped[SIM_DROP_NODE], 1);
	assert_int_equal(sim_stats(w.sim)->in_flight, 0);
	sim_node_power(w.sim, 0, true);
	sim_node_power(w.sim, 2, false);
	world_lose(&w, &s, SIM_DROP_LINK);
	world_close(&w);
}

/* ---- flows ---- */

TEST(flows_count_along_the_tables)
{
	struct world w;

	express_chain(&w, 3);
	assert_int_equal(sim_flow(w.sim, 0, 1, 2, 1000, 2048), 4);
	assert_int_equal(sim_flow(w.sim, 0, 1, 12, 1, 256), 3); /* to a switch */
	assert_int_equal(sim_flow(w.sim, 2, 0, 1, 1, 256), 2);	/* from one */
	assert_int_equal(sim_flow(w.sim, 0, 1, 1, 1, 256), 0);	/* to itself */
	assert_true(sim_counted(w.sim, express_port(&w, 2, 2), SIM_CNT_XMIT_DATA) >= 1000 * 512);
	assert_true(sim_counted(w.sim, express_port(&w, 4, 1), SIM_CNT_RCV_PKTS) >= 1000);
	assert_true(sim_counted(w.sim, express_port(&w, 4, 1), SIM_CNT_UNI_RCV) >= 1000);
	assert_int_equal(sim_flow(w.sim, 0, 1, 40, 7, 256), -1);
	assert_int_equal(sim_counted(w.sim, express_port(&w, 1, 1), SIM_CNT_RCV_SWITCH_RELAY), 7);
	sim_uncable(w.sim, express_port(&w, 3, 2));
	assert_int_equal(sim_flow(w.sim, 0, 1, 2, 9, 256), -1);
	assert_int_equal(sim_counted(w.sim, express_port(&w, 3, 2), SIM_CNT_XMIT_DISCARDS), 9);
	assert_int_equal(sim_flow(w.sim, 0, 1, 12, UINT64_MAX, UINT32_MAX),
			 3); /* stops at its end */
	assert_true(sim_counted(w.sim, express_port(&w, 2, 2), SIM_CNT_XMIT_DATA) == UINT64_MAX);
	assert_int_equal(sim_flow(w.sim, 0, 2, 12, 1, 1), -1); /* no such port */
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directed_route_smp_returns_within_one_call),
		cmocka_unit_test(lid_routed_smps_and_mixed_routes),
		cmocka_unit_test(smps_have_the_same_outcome_as_with_events),
		cmocka_unit_test(link_latency_is_kept),
		cmocka_unit_test(packets_on_a_cut_link_are_lost),
		cmocka_unit_test(loss_is_drawn_from_the_seed),
		cmocka_unit_test(a_forwarding_loop_ends),
		cmocka_unit_test(gmps_go_to_the_program_and_back),
		cmocka_unit_test(gmps_need_active_links),
		cmocka_unit_test(gmps_without_a_receiver),
		cmocka_unit_test(multicast_gmps_follow_masks),
		cmocka_unit_test(a_program_can_send_to_itself),
		cmocka_unit_test(answers_without_end_do_not_recurse),
		cmocka_unit_test(sm_info_goes_to_the_sm_at_the_port),
		cmocka_unit_test(ports_of_one_host_are_separate),
		cmocka_unit_test(a_freed_client_slot_is_reused),
		cmocka_unit_test(traps_are_repeated_in_real_time),
		cmocka_unit_test(calls_come_at_their_time),
		cmocka_unit_test(a_node_that_is_off_receives_nothing),
		cmocka_unit_test(flows_count_along_the_tables),
	};

	return cmocka_run_group_tests_name("express mode", tests, NULL, NULL);
}
