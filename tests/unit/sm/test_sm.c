/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager alone: window, timeouts, traps, LIDs, bad values from devices. State: struct rig, one for
 * each test. Does not use the simulator.
 * Covers: step.c, dispatch.c, transactions.c, traps.c, failure.c, counters.c, sm_note.c, lids.c,
 * full_discovery.c, questions.c, discovery_state.c, nodes.c, requests.c, smp_paths.c,
 * snapshot.c, topology_changes.c
 */
#include "sm_fixture.h"

/* ---- stories ---- */

TEST(brings_a_subnet_up)
{
	struct rig g;
	struct sm_status st;

	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	st = status(&g);
	assert_int_equal(st.nodes, 4);
	assert_int_equal(st.switches, 2);
	assert_int_equal(st.lids, 4);
	assert_int_equal(st.lid, lid_of(&g, 0));
	assert_int_equal(st.state, IBA_SM_MASTER);
	assert_int_equal(st.rounds, 1);
	assert_true(st.last.clean);
	assert_int_equal(st.retries + st.timeouts + st.late + st.bad, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_START), 1);
	assert_int_equal(count_notes(&g, SM_NOTE_CHANGE), 0);
	assert_non_null(sm_tables(g.sm));
	for (unsigned d = 0; d < g.n; d++)
		assert_int_equal(
			sm_lid_of(g.sm, g.dev[d].guid + (g.dev[d].type == IBA_NODE_CA), NULL),
			lid_of(&g, d));
	/* A second start makes no sense. */
	assert_int_equal(
		sm_step(g.sm, &(struct sm_event){.kind = SM_EV_START, .now = g.now}, &g.out),
		-EINVAL);
	rig_close(&g);
}

TEST(test_window)
{
	static const unsigned windows[] = {1, 2, 5, 32};

	for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
		struct rig g;

		draw_star(&g);
		g.cfg.window = windows[i];
		rig_start(&g);
		run_ready(&g);
		expect_up(&g);
		assert_true(g.peak <= windows[i]);
		if (windows[i] <= 5) /* and it is made use of */
			assert_int_equal(g.peak, windows[i]);
		rig_close(&g);
	}
}

TEST(breadth_first_discovery_sends_one_request_at_a_time)
{
	struct rig g;

	draw_star(&g);
	g.cfg.explore = SM_EXPLORE_BFS;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(g.peak_discover, 1);
	assert_true(g.peak > 1); /* later phases have the window */
	rig_close(&g);
}

/* ---- time-outs ---- */

static time_ps timeout_by_hand(unsigned hops, unsigned resp)
{
	time_ps r = 4096000ull << resp; /* 4.096 us * 2^resp */

	return 2 * hops * (1260 * PS_PER_NS + r) + r;
}

/* When each copy of the request that was sent most often went out. */
static unsigned times_of(const struct rig *g, uint64_t tid, time_ps *t, unsigned max)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->log.n; i++)
		if (iba_smp_tid(g->log.at[i].send.mad) == tid && n < max)
			t[n++] = g->log.at[i].when;
	return n;
}

/* hops: the depth known when the request first went out, and when it was repeated. */
static void check_silence(unsigned switches, unsigned resp, unsigned hops_first, unsigned hops_then)
{
	time_ps t[16];
	uint64_t tid = 0;
	struct rig g;
	unsigned last;

	rig_open(&g);
	last = add_dev(&g, IBA_NODE_CA, 1);
	for (unsigned i = 0; i < switches; i++) {
		unsigned sw = add_dev(&g, IBA_NODE_SWITCH, 2);

		join(&g, last, i ? 2 : 1, sw, 1);
		last = sw;
	}
	join(&g, last, 2, add_dev(&g, IBA_NODE_CA, 1), 1);
	for (unsigned d = 0; d < g.n; d++)
		g.dev[d].pi[0].resp_time = g.dev[d].pi[1].resp_time = (uint8_t)resp;
	g.dev[g.n - 1].mute = true;
	g.cfg.retries = 2;
	g.cfg.restarts = 0;
	rig_start(&g);
	run_phase(&g, SM_CONFIGURE);
	for (size_t i = 0; i < g.log.n; i++)
		if (iba_smp_hop_cnt(g.log.at[i].send.mad) == switches + 1)
			tid = iba_smp_tid(g.log.at[i].send.mad);
	assert_int_equal(times_of(&g, tid, t, 16), 3);
	assert_int_equal(t[1] - t[0], timeout_by_hand(hops_first, resp));
	assert_int_equal(t[2] - t[1], timeout_by_hand(hops_then, resp));
	assert_int_equal(g.now - t[2], timeout_by_hand(hops_then, resp));
	assert_int_equal(status(&g).retries, 2);
	assert_int_equal(status(&g).timeouts, 1);
	assert_int_equal(count_notes(&g, SM_NOTE_UNREACHABLE), 1);
	assert_int_equal(sm_fabric(g.sm)->nnodes, g.n - 1);
	rig_close(&g);
}

TEST(timeout_to_the_picosecond)
{
	check_silence(1, 8, 4, 4); /* few hops: four are assumed */
	/* Six switches deep; looking back from the last one took a route of seven. */
	check_silence(6, 8, 6, 7);
	check_silence(1, 10, 4, 4); /* slow agents */
}

TEST(a_silent_host_does_not_delay_the_others)
{
	struct sm_status st;
	struct rig g;
	time_ps first;

	draw_pair(&g);
	g.dev[3].mute = true;
	rig_start(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	st = status(&g);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 3);
	assert_int_equal(count_notes(&g, SM_NOTE_UNREACHABLE), 4);
	assert_false(st.last.clean);
	assert_int_equal(st.last.restarts, 3);
	assert_int_equal(st.nodes, 3);
	assert_int_equal(g.dev[0].pi[1].state, IBA_PORT_ACTIVE);
	assert_int_equal(g.dev[2].pi[2].state, IBA_PORT_INIT); /* towards the silent one */
	/* It looks again, after longer and longer pauses. */
	assert_true(st.change_pending);
	first = g.wake - g.now;
	while (status(&g).rounds < 2)
		assert_true(one_event(&g));
	assert_int_equal(g.wake - g.now, 2 * first);
	g.dev[3].mute = false;
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(status(&g).nodes, 4);
	rig_close(&g);
}

/* A step is as late as it comes after the wake-up that was asked for, whatever event it is for. */
TEST(a_late_step_knows_how_late_it_is)
{
	struct rig g;
	time_ps asked;

	draw_pair(&g);
	g.now = 5 * PS_PER_S; /* nothing was asked for before the start */
	rig_start(&g);
	assert_int_equal(g.sm->core.late, 0);
	while (status(&g).phase == SM_DISCOVER) {
		assert_true(one_event(&g));
		assert_int_equal(g.sm->core.late, 0); /* SMPs come before the timeout */
	}
	run_ready(&g);
	asked = g.wake;
	g.now = asked - 1; /* early is not late */
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_int_equal(g.sm->core.late, 0);
	/* The sweep is due, and an SMP comes first: both steps are late. */
	uint8_t mad[IBA_MAD_SIZE] = {0};

	g.now = asked + 3 * PS_PER_S;
	give_smp(&g, mad, 0);
	assert_int_equal(g.sm->core.late, 3 * PS_PER_S);
	assert_int_equal(g.sm->core.pause, 3 * PS_PER_S);
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_int_equal(g.sm->core.late, 3 * PS_PER_S);
	assert_int_equal(g.sm->core.pause, 0); /* the manager ran before */
	assert_int_equal(status(&g).phase, SM_SWEEP);
	give_smp(&g, mad, 0); /* what was due is done */
	assert_int_equal(g.sm->core.late, 0);
	/* The clock may be set back meanwhile. */
	run_ready(&g);
	asked = g.wake;
	sm_time_back(g.sm, PS_PER_S);
	g.now = asked - PS_PER_S + 7;
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	assert_int_equal(g.sm->core.late, 7);
	rig_close(&g);
}

static unsigned lose_countdown;

static bool lose_some(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)dev;
	(void)s;
	(void)resp;
	return ++lose_countdown % 5 != 0;
}

TEST(lost_responses_are_requested_again)
{
	struct rig g;

	draw_star(&g);
	g.twist = lose_some;
	lose_countdown = 0;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_true(status(&g).retries > 10);
	assert_int_equal(status(&g).timeouts, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 0);
	rig_close(&g);
}

TEST(duplicate_responses_are_dropped)
{
	struct rig g;
	uint64_t requests;

	draw_pair(&g);
	g.copies = 1;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	requests = g.log.n;
	assert_int_equal(status(&g).late, requests);
	assert_int_equal(status(&g).retries, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 0);
	assert_true(status(&g).smps[SM_FOR_AUDIT] >
		    0); /* Sets were doubled: it has a second look */
	rig_close(&g);
}

/* ---- traps, sweeps, late answers ---- */

TEST(late_responses_after_a_restart_are_ignored)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;
	size_t asked;
	uint64_t late;

	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
	asked = g.air.n;
	assert_int_equal(asked, 2); /* two switches were asked and have answered */
	make_trap(trap, IBA_TRAP_LINK_STATE, 99);
	give_smp(&g, trap, lid_of(&g, 1));
	assert_int_equal(status(&g).phase, SM_DISCOVER);
	assert_int_equal(g.sm->txn.outstanding, 1);
	late = status(&g).late;
	for (size_t i = 0; i < asked; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).late, late + asked);
	assert_int_equal(status(&g).phase, SM_DISCOVER);
	assert_int_equal(g.sm->topo.nodes.n, 0); /* they told nothing */
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

TEST(a_trap_is_repressed_and_starts_a_discovery)
{
	uint8_t trap[IBA_MAD_SIZE];
	const struct sm_send *s;
	struct rig g;

	draw_pair(&g);
	g.cfg.m_key = 0x77;
	rig_start(&g);
	run_ready(&g);
	make_trap(trap, IBA_TRAP_LINK_STATE, 0x123456789abcdef0ull);
	give_smp(&g, trap, lid_of(&g, 2));
	assert_int_equal(g.out.sends.n, 2);
	s = &g.out.sends.at[0];
	assert_int_equal(iba_smp_method(s->mad), IBA_TRAP_REPRESS);
	assert_int_equal(iba_smp_tid(s->mad), 0x123456789abcdef0ull);
	assert_int_equal(iba_smp_m_key(s->mad), 0x77);
	assert_int_equal(s->dlid, lid_of(&g, 2));
	assert_int_equal(s->slid, lid_of(&g, 0));
	assert_memory_equal(iba_smp_data_const(s->mad), iba_smp_data_const(trap),
			    IBA_SMP_DATA_SIZE);
	assert_int_equal(status(&g).phase, SM_DISCOVER);
	/* One that comes while it is busy: a sweep afterwards. Neither finds a change, and no traffic stops. */
	give_smp(&g, trap, lid_of(&g, 2));
	assert_int_equal(g.out.sends.n, 1);
	assert_true(status(&g).change_pending);
	run_ready(&g);
	assert_int_equal(status(&g).rounds, 1);
	assert_int_equal(status(&g).sweeps, 1);
	assert_int_equal(status(&g).traps, 2);
	rig_close(&g);
}

TEST(traps_that_change_nothing)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;

	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	make_trap(trap, IBA_TRAP_BAD_MKEY, 5);
	give_smp(&g, trap, lid_of(&g, 2));
	assert_int_equal(g.out.sends.n, 1); /* repressed */
	assert_int_equal(status(&g).phase, SM_READY);
	/* Without a sender: it cannot be repressed, but starts a sweep. */
	make_trap(trap, IBA_TRAP_BAD_MKEY, 6);
	give_smp(&g, trap, 0);
	assert_int_equal(g.out.sends.n, 0);
	give_smp(&g, trap, 0xc001);
	assert_int_equal(g.out.sends.n, 0);
	give_smp(&g, trap, IBA_LID_PERMISSIVE);
	assert_int_equal(g.out.sends.n, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_TRAP), 4);
	rig_close(&g);
}

TEST(sweeps_find_changes)
{
	struct rig g;
	uint64_t swept;

	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	run_phase(&g, SM_SWEEP); /* its own idea */
	run_phase(&g, SM_READY);
	assert_int_equal(status(&g).clean_sweeps, 1);
	assert_int_equal(status(&g).rounds, 1);
	swept = status(&g).smps[SM_FOR_SWEEP];
	assert_int_equal(swept, 2);
	for (size_t i = g.log.n - swept; i < g.log.n; i++) /* sweeps are LID-routed */
		assert_int_equal(iba_smp_mgmt_class(g.log.at[i].send.mad), IBA_CLASS_SUBN_LID);
	set_gone(&g, 3, true);
	while (status(&g).rounds < 2)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).last.cause, SM_CAUSE_SWEEP);
	assert_int_equal(status(&g).nodes, 3);
	/* A switch that says nothing at all is a change too. */
	g.dev[2].mute = true;
	while (status(&g).rounds < 3)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).last.cause, SM_CAUSE_SILENCE);
	assert_int_equal(status(&g).nodes, 2);
	rig_close(&g);
}

/* ---- LIDs ---- */

static void look_again(struct rig *g)
{
	uint8_t trap[IBA_MAD_SIZE];

	make_trap(trap, IBA_TRAP_LINK_STATE, 1);
	give_smp(g, trap, lid_of(g, 1));
	run_ready(g);
}

TEST(lids_stay)
{
	uint16_t was[4];
	struct rig g;

	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	for (unsigned d = 0; d < 4; d++)
		was[d] = lid_of(&g, d);
	look_again(&g);
	for (unsigned d = 0; d < 4; d++)
		assert_int_equal(lid_of(&g, d), was[d]);
	/* h3 leaves, and another host comes; when h3 is back, blank, it is h3 again. */
	set_gone(&g, 3, true);
	add_dev(&g, IBA_NODE_CA, 1);
	join(&g, 1, 3, 4, 1);
	g.dev[4].guid = 1; /* smaller than all */
	look_again(&g);
	expect_up(&g);
	assert_true(lid_of(&g, 4) && lid_of(&g, 4) != was[3]);
	set_gone(&g, 3, false);
	g.dev[3].pi[1].lid = 0;
	look_again(&g);
	expect_up(&g);
	for (unsigned d = 0; d < 4; d++)
		assert_int_equal(lid_of(&g, d), was[d]);
	rig_close(&g);
}

TEST(lmc_ranges_are_aligned_and_apart)
{
	uint8_t used[LIDS] = {0};
	struct rig g;

	draw_star(&g);
	g.dev[2].si.enhanced_port0 = 1;
	g.cfg.lmc = 2;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	for (unsigned d = 0; d < g.n; d++) {
		bool sw = g.dev[d].type == IBA_NODE_SWITCH;
		const struct iba_port_info *pi = &g.dev[d].pi[sw ? 0 : 1];

		assert_int_equal(pi->lmc, sw && d != 2 ? 0 : 2); /* base port 0 has one LID */
		assert_int_equal(pi->lid % (1u << pi->lmc), 0);
		for (unsigned i = 0; i < 1u << pi->lmc; i++)
			assert_int_equal(used[pi->lid + i]++, 0);
	}
	rig_close(&g);
}

TEST(lids_in_devices_are_kept)
{
	struct rig g;

	draw_pair(&g);
	g.dev[0].pi[1].lid = 100;
	g.dev[1].pi[0].lid = 7;
	g.dev[3].pi[1].lid = 300;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(lid_of(&g, 0), 100);
	assert_int_equal(lid_of(&g, 1), 7);
	assert_int_equal(lid_of(&g, 3), 300);
	rig_close(&g);
}

TEST(two_devices_with_one_lid)
{
	struct rig g;

	draw_pair(&g);
	g.dev[2].pi[0].lid = 50;
	g.dev[3].pi[1].lid = 50;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g); /* all different */
	assert_true(lid_of(&g, 2) == 50 || lid_of(&g, 3) == 50);
	assert_int_equal(count_notes(&g, SM_NOTE_MISMATCH), 0);
	rig_close(&g);
}

TEST(invalid_lids_are_replaced)
{
	struct rig g;

	draw_pair(&g);
	g.cfg.lmc = 1;
	g.dev[0].pi[1].lid = 5;	     /* odd */
	g.dev[1].pi[0].lid = 0xc000; /* multicast */
	g.dev[3].pi[1].lid = 0xffff;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(lid_of(&g, 0) % 2, 0);
	assert_true(lid_of(&g, 1) < LIDS && lid_of(&g, 3) < LIDS);
	rig_close(&g);
}

TEST(too_few_lids_are_reported)
{
	struct rig g;

	draw_pair(&g);
	g.cfg.port = 1;
	g.sm = sm_new(&g.cfg);
	memset(g.sm->lids.used + 4, 1, sizeof(g.sm->lids.used) - 4); /* three are left for four */
	step(&g, (struct sm_event){.kind = SM_EV_START});
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	assert_true(count_notes(&g, SM_NOTE_NO_LID) >= 1);
	assert_int_equal(status(&g).nodes, 3); /* the others work */
	assert_int_equal(g.dev[0].pi[1].state, IBA_PORT_ACTIVE);
	rig_close(&g);
}

TEST(no_lid_left_for_the_manager)
{
	struct rig g;

	draw_pair(&g);
	g.cfg.port = 1;
	g.sm = sm_new(&g.cfg);
	memset(g.sm->lids.used, 1, sizeof(g.sm->lids.used));
	step(&g, (struct sm_event){.kind = SM_EV_START});
	for (unsigned i = 0; i < 1000 && !status(&g).rounds; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).rounds, 1);
	assert_int_equal(status(&g).nodes, 0);
	assert_true(count_notes(&g, SM_NOTE_NO_LID) >= 1);
	rig_close(&g);
}

static unsigned port0_lost;

/* The local switch's port 0 responds so late that all other nodes are known by then. */
static bool late_port0(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)resp;
	if (dev == 0 && iba_smp_attr_id(s->mad) == IBA_ATTR_PORT_INFO && !iba_smp_attr_mod(s->mad))
		return port0_lost++ > 0;
	return true;
}

static void check_late_own_lid(bool lids_left)
{
	struct rig g;

	rig_open(&g);
	add_dev(&g, IBA_NODE_SWITCH, 4);
	add_dev(&g, IBA_NODE_CA, 1);
	add_dev(&g, IBA_NODE_CA, 1);
	join(&g, 0, 1, 1, 1);
	join(&g, 0, 2, 2, 1);
	g.twist = late_port0;
	port0_lost = 0;
	g.sm = sm_new(&g.cfg);
	if (!lids_left)
		memset(g.sm->lids.used, 1, sizeof(g.sm->lids.used));
	step(&g, (struct sm_event){.kind = SM_EV_START});
	for (unsigned i = 0; i < 1000 && !status(&g).rounds; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).rounds, 1);
	assert_int_equal(status(&g).nodes, lids_left ? 3 : 0);
	if (lids_left)
		expect_up(&g);
	rig_close(&g);
}

TEST(other_lids_are_assigned_after_the_managers)
{
	check_late_own_lid(true);
	check_late_own_lid(false);
}

TEST(lids_of_removed_nodes_are_reused)
{
	struct sm_config c;
	struct sm_status st;
	struct sm *sm;
	unsigned n;

	sm_config_default(&c);
	c.mechanism = *sm_mechanism_find("basic");
	sm = sm_new(&c);
	sm->topo.epoch = 1;
	for (n = 0; sm_lid_give(sm, 1000 + n, 7, 0); n++)
		assert_int_equal(sm_lid_of(sm, 1000 + n, NULL) % 128, 0);
	assert_int_equal(n, 49152 / 128 - 1); /* LIDs 1 to 127 are no range of 128 */
	sm_status(sm, &st);
	assert_int_equal(st.lids, n * 128);
	sm->topo.epoch = 5;				    /* no node was seen for a long time */
	assert_int_equal(sm_lid_give(sm, 1000, 7, 0), 128); /* but for this one */
	assert_int_equal(sm_lid_give(sm, 5000, 7, 0), 256);
	assert_int_equal(sm_lid_of(sm, 1001, NULL), 0);
	sm_status(sm, &st);
	assert_int_equal(st.lids, 2 * 128);
	/* Another LMC: the old range is free again. */
	assert_int_equal(sm_lid_give(sm, 5000, 0, 256), 256);
	sm_status(sm, &st);
	assert_int_equal(st.lids, 128 + 1);
	sm_free(sm);
}

/* ---- routes ---- */

static void check_refused(bool no_routes)
{
	struct rig g;

	draw_pair(&g);
	g.unverified = true;
	g.no_routes = no_routes;
	rig_start(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	assert_int_equal(count_notes(&g, SM_NOTE_REFUSED), 1);
	assert_int_equal(count_sends(&g, IBA_SET, IBA_ATTR_LFT), 0);
	assert_null(sm_tables(g.sm));
	assert_int_equal(g.dev[0].pi[1].state, IBA_PORT_INIT);
	assert_false(status(&g).last.clean);
	/* It tries again, and takes what is verified. */
	g.unverified = g.no_routes = false;
	run_ready(&g);
	expect_up(&g);
	assert_true(status(&g).last.clean);
	rig_close(&g);
}

TEST(unverified_tables_are_refused)
{
	check_refused(false);
	check_refused(true);
}

TEST(routes_without_a_request_are_ignored)
{
	struct rig g;
	struct sm_routes old;

	draw_pair(&g);
	g.hold = true;
	rig_start(&g);
	while (!g.routes.epoch)
		assert_true(one_event(&g));
	/* An answer to another question is thrown away. */
	old = copy_routes(&g.routes);
	old.epoch++;
	step(&g, (struct sm_event){.kind = SM_EV_ROUTES, .routes = old});
	assert_int_equal(status(&g).phase, SM_COMPUTE);
	g.hold = false;
	run_ready(&g);
	expect_up(&g);
	old = copy_routes(&(struct sm_routes){
		.epoch = old.epoch, .tables = g.sm->routes.tables, .rank = g.sm->routes.rank});
	step(&g, (struct sm_event){.kind = SM_EV_ROUTES, .routes = old});
	assert_int_equal(status(&g).phase, SM_READY);
	rig_close(&g);
}

/* ---- nonsense ---- */

TEST(garbage_is_counted_and_ignored)
{
	static const uint8_t methods[] = {0x00,	   IBA_SEND, IBA_REPORT, IBA_TRAP_REPRESS,
					  IBA_GET, 0x99};
	uint8_t mad[IBA_MAD_SIZE];
	struct sm_status before;
	struct rig g;

	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	before = status(&g);
	for (unsigned i = 0; i < 3000; i++) {
		for (unsigned k = 0; k < IBA_MAD_SIZE; k++)
			mad[k] = (uint8_t)rng_u64(&g.rng);
		mad[0] = 2; /* no version we know */
		give_smp(&g, mad, (uint16_t)rng_u64(&g.rng));
		assert_int_equal(g.out.sends.n + g.out.notes.n, 0);
	}
	assert_int_equal(status(&g).bad, before.bad + 3000);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		iba_smp_init(mad, IBA_CLASS_SUBN_LID, (enum iba_method)methods[i],
			     IBA_ATTR_NODE_INFO, 0);
		give_smp(&g, mad, 3);
		assert_int_equal(g.out.sends.n + g.out.notes.n, 0);
	}
	iba_smp_init(mad, (enum iba_class)0x04, IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0);
	give_smp(&g, mad, 3);
	assert_int_equal(status(&g).bad, before.bad + 3000 + ARRAY_LEN(methods) + 1);
	for (unsigned i = 0; i < 100; i++) { /* answers to nothing */
		iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0);
		iba_smp_set_tid(mad, rng_u64(&g.rng));
		give_smp(&g, mad, 3);
	}
	assert_int_equal(status(&g).late, before.late + 100);
	run_ready(&g);
	assert_int_equal(status(&g).nodes, 4);
	rig_close(&g);
}

/* The answer to another question: right transaction, wrong attribute. */
static bool wrong_attribute(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	if (dev == 3 && iba_smp_attr_id(s->mad) == IBA_ATTR_NODE_INFO &&
	    !count_notes(g, SM_NOTE_RESTART)) {
		resp[17] = IBA_ATTR_NODE_DESC;
		return true;
	}
	return true;
}

TEST(a_response_must_match_its_request)
{
	struct rig g;

	draw_pair(&g);
	g.twist = wrong_attribute;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 1);
	assert_int_equal(status(&g).late, 5);
	rig_close(&g);
}

/* Capabilities that the specification does not know. */
static bool nonsense_caps(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	struct iba_port_info pi;

	(void)g;
	if (iba_smp_attr_id(s->mad) != IBA_ATTR_PORT_INFO || dev != 2)
		return true;
	iba_port_info_get(&pi, iba_smp_data_const(resp), IBA_SMP_DATA_SIZE);
	pi.vl_cap = 0;
	pi.mtu_cap = 0;
	pi.resp_time = 31;
	iba_port_info_put(&pi, iba_smp_data(resp));
	return true;
}

TEST(impossible_capabilities)
{
	struct rig g;

	draw_pair(&g);
	g.cfg.qos = true;
	g.twist = nonsense_caps;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_true(g.wake > g.now); /* however long the time-outs are, the next sweep is to come */
	rig_close(&g);
}

/* One device that says it needs hours must not make the SM wait for hours for another. */
static void check_impossible_response_times(time_ps floor)
{
	struct rig g;

	draw_pair(&g);
	g.twist = nonsense_caps;
	g.dev[3].mute = true;
	g.cfg.timeout_ps = floor;
	g.cfg.restarts = 0;
	rig_start(&g);
	run_phase(&g, SM_CONFIGURE);
	assert_true(g.now < 10 * PS_PER_S);
	rig_close(&g);
}

TEST(impossible_response_times)
{
	check_impossible_response_times(50 * PS_PER_MS);
	check_impossible_response_times(0);
}

static bool wrong_node_info(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	struct iba_node_info ni;

	(void)g;
	if (iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_INFO || dev != 3)
		return true;
	iba_node_info_get(&ni, iba_smp_data_const(resp), IBA_SMP_DATA_SIZE);
	ni.num_ports = 0;
	iba_node_info_put(&ni, iba_smp_data(resp));
	return true;
}

TEST(an_inconsistent_device_is_left_out)
{
	struct rig g;

	draw_pair(&g);
	g.twist = wrong_node_info;
	rig_start(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).nodes, 3);
	assert_int_equal(g.dev[1].pi[2].state, IBA_PORT_ACTIVE);
	assert_false(status(&g).last.clean);
	rig_close(&g);
}

/* The local node shrinks between two discoveries: fewer ports than the one the SM sits on. */
static bool shrunken_self(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	struct iba_node_info ni;

	if (iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_INFO || dev != 0 || !status(g).rounds)
		return true;
	iba_node_info_get(&ni, iba_smp_data_const(resp), IBA_SMP_DATA_SIZE);
	ni.num_ports = 1;
	ni.local_port = 1;
	iba_node_info_put(&ni, iba_smp_data(resp));
	return true;
}

TEST(the_managers_own_node_is_inconsistent)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;

	rig_open(&g);
	add_dev(&g, IBA_NODE_CA, 2);
	add_dev(&g, IBA_NODE_SWITCH, 4);
	join(&g, 0, 1, 1, 1);
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	g.twist = shrunken_self;
	g.sm->cfg.port = 2; /* as if it had been there all the time */
	make_trap(trap, IBA_TRAP_LINK_STATE, 1);
	give_smp(&g, trap, lid_of(&g, 1));
	for (unsigned i = 0; i < 2000 && status(&g).rounds < 2; i++)
		assert_true(one_event(&g));
	rig_close(&g);
}

/* ---- a device that answers, but refuses ---- */

static bool refuse_switch_info(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	if (dev == 2 && iba_smp_method(s->mad) == IBA_SET &&
	    iba_smp_attr_id(s->mad) == IBA_ATTR_LFT)
		iba_smp_set_status(resp, IBA_STATUS_BAD_FIELD);
	return true;
}

TEST(a_device_that_refuses_repeatedly_is_retried_rarely)
{
	struct rig g;

	draw_pair(&g);
	g.twist = refuse_switch_info;
	rig_start(&g);
	for (unsigned i = 0; i < 5000 && !status(&g).rounds; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).rounds, 1); /* it gives up on that one, not on the others */
	assert_false(status(&g).last.clean);
	assert_true(status(&g).change_pending);
	assert_true(count_notes(&g, SM_NOTE_BAD_STATUS) >= 1);
	assert_int_equal(count_notes(&g, SM_NOTE_LEFT_OUT), 1);
	assert_int_equal(sm_fabric(g.sm)->nnodes, 2);
	assert_non_null(sm_tables(g.sm));
	g.twist = NULL;
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

/* ---- identity of the manager ---- */

TEST(sm_info_is_answered)
{
	struct iba_sm_info si;
	uint8_t mad[IBA_MAD_SIZE];
	struct rig g;

	draw_pair(&g);
	g.cfg.priority = 9;
	rig_start(&g);
	run_ready(&g);
	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_tid(mad, 4711);
	give_smp(&g, mad, 42);
	assert_int_equal(g.out.sends.n, 1);
	assert_int_equal(g.out.sends.at[0].dlid, 42);
	assert_int_equal(g.out.sends.at[0].slid, lid_of(&g, 0));
	assert_int_equal(iba_smp_method(g.out.sends.at[0].mad), IBA_GET_RESP);
	assert_int_equal(iba_smp_tid(g.out.sends.at[0].mad), 4711);
	iba_sm_info_get(&si, iba_smp_data_const(g.out.sends.at[0].mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(si.state, IBA_SM_MASTER);
	assert_int_equal(si.priority, 9);
	rig_close(&g);
}

TEST(every_request_carries_the_m_key)
{
	struct rig g;

	draw_pair(&g);
	g.cfg.m_key = 0xabcdef;
	g.cfg.m_key_protect = 2;
	g.cfg.m_key_lease_s = 60;
	rig_start(&g);
	run_ready(&g);
	for (size_t i = 0; i < g.log.n; i++)
		assert_int_equal(iba_smp_m_key(g.log.at[i].send.mad), 0xabcdef);
	assert_int_equal(g.dev[3].pi[1].m_key, 0xabcdef);
	assert_int_equal(g.dev[3].pi[1].m_key_protect, 2);
	assert_int_equal(g.dev[3].pi[1].m_key_lease, 60);
	assert_int_equal(g.dev[2].pi[0].m_key, 0xabcdef);
	rig_close(&g);
}

/* ---- a link that stops at both ends ---- */

TEST(the_other_end_of_a_stopped_link_is_armed_too)
{
	for (unsigned real = 0; real < 2; real++) {
		struct rig g;

		rig_open(&g);
		g.cfg.mechanism.first = g.cfg.mechanism.second = sm_technique_find("ports");
		g.real_links = real;
		add_dev(&g, IBA_NODE_CA, 1);
		for (unsigned i = 0; i < 4; i++)
			add_dev(&g, IBA_NODE_SWITCH, 6);
		add_dev(&g, IBA_NODE_CA, 1);
		join(&g, 0, 1, 1, 1);
		join(&g, 5, 1, 3, 1);
		for (unsigned a = 1; a <= 4; a++) /* a full mesh: many break nodes */
			for (unsigned b = a + 1; b <= 4; b++)
				join(&g, a, 1 + b, b, 1 + a);
		rig_start(&g);
		run_ready(&g);
		expect_up(&g);
		set_gone(&g, 5, true);
		step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
		while (status(&g).phase == SM_SWEEP)
			assert_true(one_event(&g));
		run_ready(&g);
		assert_true(g.stops > 0);
		expect_up(&g);
		rig_close(&g);
	}
}

TEST(a_late_trap_starts_no_round)
{
	uint8_t mad[IBA_MAD_SIZE];
	uint32_t rounds;
	struct rig g;
	size_t sent;

	draw_pair(&g);
	g.cfg.mechanism = *sm_mechanism_find("weft");
	rig_start(&g);
	run_ready(&g);
	rounds = status(&g).rounds;
	sent = g.log.n;
	make_trap(mad, IBA_TRAP_LINK_STATE, 1);
	give_smp(&g, mad, lid_of(&g, 2));
	run_ready(&g);
	assert_int_equal(status(&g).rounds, rounds);
	assert_int_equal(g.log.n,
			 sent + 3); /* TrapRepress, one question, one port between switches */
	/* One that has something to tell is another matter. */
	g.dev[2].si.port_state_change = 1;
	give_smp(&g, mad, lid_of(&g, 2));
	run_ready(&g);
	assert_int_equal(status(&g).rounds, rounds + 1);
	rig_close(&g);
}

/* ---- purity ---- */

static bool chaos(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)dev;
	(void)s;
	if (rng_below(&g->rng, 40) == 0)
		resp[rng_below(&g->rng, IBA_MAD_SIZE)] ^= (uint8_t)(1 + rng_below(&g->rng, 255));
	return rng_below(&g->rng, 12) != 0;
}

TEST(same_events_same_actions)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint8_t trap[IBA_MAD_SIZE];
		struct rig g;

		draw_star(&g);
		rng_seed(&g.rng, seed, 5);
		g.cfg.window = 1 + (unsigned)seed * 2;
		g.cfg.qos = seed % 2;
		g.cfg.sweep_factor = 1;
		g.cfg.port = 1;
		g.twin = sm_new(&g.cfg);
		g.twist = chaos;
		rig_start(&g);
		for (unsigned i = 0; i < 1500; i++) {
			if (!one_event(&g))
				break;
			if (rng_below(&g.rng, 200) == 0) {
				make_trap(trap, IBA_TRAP_LINK_STATE, i);
				give_smp(&g, trap, (uint16_t)rng_below(&g.rng, 20));
			}
		}
		rig_close(&g);
	}
}

/* Device 2 executes Sets, but its responses are lost; when the manager gives up, the host is back. */
static bool lose_table_answers(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	static unsigned lost;

	(void)resp;
	if (dev != 2 || iba_smp_method(s->mad) != IBA_SET ||
	    iba_smp_attr_id(s->mad) != IBA_ATTR_LFT)
		return true;
	if (++lost <= g->cfg.retries)
		return false;
	g->twist = NULL;
	set_gone(g, 3, false);
	return false;
}

TEST(an_unacknowledged_table_block_is_unknown)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;

	draw_pair(&g);
	g.cfg.mechanism.discovery = sm_discovery_find("partial");
	g.cfg.mechanism.first = g.cfg.mechanism.second = sm_technique_find("none");
	g.cfg.mechanism.partial_tables = true;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	g.twist = lose_table_answers;
	set_gone(&g, 3, true);
	make_trap(trap, IBA_TRAP_LINK_STATE, 1);
	give_smp(&g, trap, lid_of(&g, 2));
	run_ready(&g);
	assert_null(g.twist);
	expect_up(&g); /* the table before the change, once more: it has to be sent */
	rig_close(&g);
}

static bool moved, lose; /* the manager's cable; the first request by the old path */

/* The cable moves from sw1 to the same port of sw2, right after sw1 has said which switch it is. */
static bool twist_move(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	bool lost = moved && lose;

	(void)resp;
	if (lost)
		lose = false;
	if (moved || dev != 1 || iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_INFO)
		return !lost;
	moved = true;
	g->dev[1].peer[1].port = 0;
	g->dev[1].pi[1].state = IBA_PORT_DOWN;
	g->dev[1].si.port_state_change = 1;
	join(g, 0, 1, 2, 1);
	g->dev[2].si.port_state_change = 1;
	return true;
}

static void expect_found(const char *mechanism, bool contest, bool loses)
{
	struct rig g;

	rig_open(&g);
	g.cfg.mechanism = *sm_mechanism_find(mechanism);
	g.cfg.contest = contest;
	add_dev(&g, IBA_NODE_CA, 1);
	add_dev(&g, IBA_NODE_SWITCH, 4);
	add_dev(&g, IBA_NODE_SWITCH, 4);
	join(&g, 0, 1, 1, 1);
	join(&g, 1, 2, 2, 2);
	moved = false;
	lose = loses;
	g.twist = twist_move;
	rig_start(&g);
	run_ready(&g);
	assert_true(moved && !lose);
	assert_int_equal(g.sm->topo.fab->nnodes, 3);
	expect_up(&g);
	rig_close(&g);
}

TEST(a_cable_of_the_manager_that_moves_is_found)
{
	expect_found("basic", true, false);
	expect_found("weft", true, false);
	expect_found("basic", false, true);
	expect_found("weft", false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brings_a_subnet_up),
		cmocka_unit_test(test_window),
		cmocka_unit_test(breadth_first_discovery_sends_one_request_at_a_time),
		cmocka_unit_test(timeout_to_the_picosecond),
		cmocka_unit_test(a_silent_host_does_not_delay_the_others),
		cmocka_unit_test(a_late_step_knows_how_late_it_is),
		cmocka_unit_test(lost_responses_are_requested_again),
		cmocka_unit_test(duplicate_responses_are_dropped),
		cmocka_unit_test(late_responses_after_a_restart_are_ignored),
		cmocka_unit_test(a_trap_is_repressed_and_starts_a_discovery),
		cmocka_unit_test(traps_that_change_nothing),
		cmocka_unit_test(sweeps_find_changes),
		cmocka_unit_test(lids_stay),
		cmocka_unit_test(lmc_ranges_are_aligned_and_apart),
		cmocka_unit_test(lids_in_devices_are_kept),
		cmocka_unit_test(two_devices_with_one_lid),
		cmocka_unit_test(invalid_lids_are_replaced),
		cmocka_unit_test(too_few_lids_are_reported),
		cmocka_unit_test(no_lid_left_for_the_manager),
		cmocka_unit_test(other_lids_are_assigned_after_the_managers),
		cmocka_unit_test(lids_of_removed_nodes_are_reused),
		cmocka_unit_test(unverified_tables_are_refused),
		cmocka_unit_test(routes_without_a_request_are_ignored),
		cmocka_unit_test(garbage_is_counted_and_ignored),
		cmocka_unit_test(a_response_must_match_its_request),
		cmocka_unit_test(impossible_capabilities),
		cmocka_unit_test(impossible_response_times),
		cmocka_unit_test(an_inconsistent_device_is_left_out),
		cmocka_unit_test(the_managers_own_node_is_inconsistent),
		cmocka_unit_test(a_device_that_refuses_repeatedly_is_retried_rarely),
		cmocka_unit_test(sm_info_is_answered),
		cmocka_unit_test(every_request_carries_the_m_key),
		cmocka_unit_test(the_other_end_of_a_stopped_link_is_armed_too),
		cmocka_unit_test(a_late_trap_starts_no_round),
		cmocka_unit_test(same_events_same_actions),
		cmocka_unit_test(an_unacknowledged_table_block_is_unknown),
		cmocka_unit_test(a_cable_of_the_manager_that_moves_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
