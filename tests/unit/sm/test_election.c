/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several managers: which is master, which stand by, orders and handover. First one manager against
 * scripted others (struct rig), then two in the lab. No state between tests.
 * Covers: election.c, asks.c, answers.c, polling.c, handover.c, other_managers.c, sm_info.c
 */
#include "sm_fixture.h"

#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/traffic/sim_traffic.h"

/* ---- one, and others that are a script ---- */

enum { OTHER = 3 }; /* the host of draw_pair() at the far end */

static uint64_t port_guid(const struct rig *g, unsigned dev)
{
	return g->dev[dev].guid + 1;
}

static void draw_two(struct rig *g, unsigned state, unsigned priority)
{
	draw_pair(g);
	g->cfg.mechanism = *sm_mechanism_find("weft");
	g->cfg.contest = g->cfg.read_back = true;
	g->cfg.priority = 5;
	g->cfg.standby_poll_ps = PS_PER_S;
	g->cfg.standby_tries = 3;
	g->dev[OTHER].sm = (struct iba_sm_info){.guid = port_guid(g, OTHER),
						.priority = (uint8_t)priority,
						.state = (uint8_t)state};
	g->dev[OTHER].pi[1].cap_mask = IBA_CAP_IS_SM;
}

/* As another SM would have left it. */
static void make_managed(struct rig *g)
{
	static const uint8_t toward[2][4] = {{1, 0, 2, 2}, {1, 1, 0, 2}};

	for (unsigned d = 0; d < g->n; d++) {
		struct iba_port_info *pi = &g->dev[d].pi[g->dev[d].type == IBA_NODE_SWITCH ? 0 : 1];

		pi->lid = (uint16_t)(10 + d);
		pi->sm_lid = 10 + OTHER;
		pi->gid_prefix = 0xfe80000000000000ull;
		for (unsigned p = 1; p <= g->dev[d].nports; p++)
			if (link_up(g, d, p))
				g->dev[d].pi[p].state = IBA_PORT_ACTIVE;
	}
	for (unsigned s = 1; s <= 2; s++) {
		g->dev[s].si.linear_top = 13;
		g->dev[s].si.port_state_change = 0;
		for (unsigned d = 0; d < g->n; d++)
			g->dev[s].lft[10 + d] = toward[s - 1][d];
	}
}

static unsigned all_sets(const struct rig *g)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->log.n; i++)
		n += iba_smp_method(g->log.at[i].send.mad) == IBA_SET;
	return n;
}

static void run_state(struct rig *g, enum iba_sm_state s)
{
	for (unsigned i = 0; i < 200000 && status(g).state != s; i++)
		assert_true(one_event(g));
	assert_int_equal(status(g).state, s);
}

static void run_quiet(struct rig *g)
{
	while (g->air.n)
		assert_true(one_event(g));
}

TEST(a_master_of_higher_rank_is_left_in_charge)
{
	struct rig g;
	size_t sent;
	time_ps t;

	draw_two(&g, IBA_SM_MASTER, 0); /* whatever its rank */
	make_managed(&g);
	g.dev[2].si.port_state_change = 1; /* for the master to see */
	rig_start(&g);
	run_state(&g, IBA_SM_STANDBY);
	run_quiet(&g);
	assert_int_equal(status(&g).phase, SM_STANDBY);
	assert_int_equal(all_sets(&g), 0);
	assert_int_equal(g.dev[2].si.port_state_change, 1);
	assert_int_equal(count_notes(&g, SM_NOTE_OTHER_SM), 1);
	/* From now on one question a second, and nothing else. */
	sent = g.log.n;
	t = g.now;
	while (g.now < t + 10 * PS_PER_S)
		assert_true(one_event(&g));
	assert_in_range(g.log.n - sent, 9, 11);
	for (size_t i = sent; i < g.log.n; i++)
		assert_int_equal(iba_smp_attr_id(g.log.at[i].send.mad), IBA_ATTR_SM_INFO);
	assert_int_equal(all_sets(&g), 0);
	rig_close(&g);
}

TEST(the_standby_takes_over_when_the_master_dies)
{
	struct rig g;
	time_ps t;

	draw_two(&g, IBA_SM_MASTER, 9);
	make_managed(&g);
	rig_start(&g);
	run_state(&g, IBA_SM_STANDBY);
	t = g.now;
	g.dev[OTHER].gone = true; /* with the whole host */
	g.dev[2].pi[2].state = IBA_PORT_DOWN;
	g.dev[2].si.port_state_change = 1;
	run_state(&g, IBA_SM_MASTER);
	assert_in_range(g.now - t, 2 * PS_PER_S, 5 * PS_PER_S);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(lid_of(&g, 0), 10);
	assert_int_equal(lid_of(&g, 2), 12);
	assert_int_equal(g.dev[2].si.port_state_change, 0);
	assert_int_equal(count_sends(&g, IBA_SET, IBA_ATTR_LFT),
			 2); /* LID 13 is no longer assigned */
	rig_close(&g);
}

TEST(a_short_silence_is_not_taken_for_a_death)
{
	struct rig g;
	time_ps t;

	draw_two(&g, IBA_SM_MASTER, 9);
	make_managed(&g);
	rig_start(&g);
	run_state(&g, IBA_SM_STANDBY);
	for (unsigned i = 0; i < 5; i++) {
		g.dev[OTHER].mute = true;
		t = g.now;
		while (g.sm->election.misses < 1) /* the second poll is on its way */
			assert_true(one_event(&g));
		g.dev[OTHER].mute = false;
		while (g.sm->election.misses < 2)
			assert_true(one_event(&g));
		while (g.sm->election.misses)
			assert_true(one_event(&g));
		assert_true(g.now > t);
		assert_int_equal(status(&g).state, IBA_SM_STANDBY);
	}
	assert_int_equal(all_sets(&g), 0);
	rig_close(&g);
}

/* Rank: priority, then the lower GUID. */
TEST(one_of_two_discovering_managers_continues)
{
	static const struct {
		unsigned state, priority;
		bool lower_guid, we_win;
	} cases[] = {
		{IBA_SM_DISCOVERING, 4, false, true}, {IBA_SM_DISCOVERING, 6, false, false},
		{IBA_SM_DISCOVERING, 5, false, true}, {IBA_SM_DISCOVERING, 5, true, false},
		{IBA_SM_STANDBY, 6, false, false},    {IBA_SM_STANDBY, 4, false, true},
		{IBA_SM_NOT_ACTIVE, 9, true, true},   {IBA_SM_MASTER, 1, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		draw_two(&g, cases[i].state, cases[i].priority);
		if (cases[i].lower_guid) {
			g.dev[OTHER].guid = 0x50;
			g.dev[OTHER].sm.guid = 0x51;
		}
		rig_start(&g);
		run_state(&g, cases[i].we_win ? IBA_SM_MASTER : IBA_SM_STANDBY);
		if (cases[i].we_win) {
			run_ready(&g);
			expect_up(&g);
			/* A second manager that works, or did until now, may have hidden a change: check twice. */
			assert_int_equal(count_notes(&g, SM_NOTE_CHANGE),
					 cases[i].state == IBA_SM_NOT_ACTIVE ? 0 : 1);
		} else {
			assert_int_equal(count_sends(&g, IBA_SET, IBA_ATTR_PORT_INFO), 0);
			assert_int_equal(count_sends(&g, IBA_SET, IBA_ATTR_LFT), 0);
		}
		rig_close(&g);
	}
}

TEST(without_other_managers_no_sm_info_is_sent)
{
	struct rig g;

	draw_two(&g, IBA_SM_MASTER, 9);
	g.cfg.contest = false;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(count_sends(&g, IBA_GET, IBA_ATTR_SM_INFO), 0);
	rig_close(&g);
}

static bool no_sm_info(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)dev;
	(void)resp;
	return iba_smp_attr_id(s->mad) != IBA_ATTR_SM_INFO;
}

TEST(a_port_with_issm_that_does_not_answer)
{
	struct rig g;

	draw_two(&g, IBA_SM_MASTER, 9);
	g.twist = no_sm_info;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(status(&g).state, IBA_SM_MASTER);
	assert_true(status(&g).last.clean);
	rig_close(&g);
}

/* ---- orders ---- */

static unsigned give_order(struct rig *g, unsigned order, uint16_t slid)
{
	struct iba_sm_info si = g->dev[OTHER].sm;
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_SM_INFO, order);
	iba_smp_set_tid(mad, 99);
	iba_sm_info_put(&si, iba_smp_data(mad));
	give_smp(g, mad, slid);
	assert_true(g->out.sends.n >= 1);
	assert_int_equal(iba_smp_method(g->out.sends.at[0].mad), IBA_GET_RESP);
	assert_int_equal(iba_smp_tid(g->out.sends.at[0].mad), 99);
	return iba_smp_status(g->out.sends.at[0].mad);
}

static void open_standby(struct rig *g)
{
	draw_two(g, IBA_SM_MASTER, 9);
	make_managed(g);
	rig_start(g);
	run_state(g, IBA_SM_STANDBY);
	run_quiet(g);
}

TEST(a_disabled_manager_waits_for_an_order)
{
	struct rig g;
	size_t sent;

	open_standby(&g);
	assert_int_equal(give_order(&g, IBA_SM_DISABLE, 13), 0);
	assert_int_equal(status(&g).state, IBA_SM_NOT_ACTIVE);
	assert_true(g.wake == TIME_NEVER);
	sent = g.log.n;
	g.now += 100 * PS_PER_S;
	step(&g, (struct sm_event){.kind = SM_EV_WAKE});
	step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
	assert_int_equal(g.log.n, sent);
	assert_int_equal(give_order(&g, IBA_SM_DISCOVER, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(give_order(&g, IBA_SM_STAND_BY, 13), 0);
	assert_int_equal(status(&g).state, IBA_SM_STANDBY);
	while (g.log.n == sent)
		assert_true(one_event(&g));
	assert_int_equal(iba_smp_attr_id(g.log.at[sent].send.mad), IBA_ATTR_SM_INFO);
	rig_close(&g);
}

TEST(a_handover_makes_a_master)
{
	struct rig g;

	open_standby(&g);
	g.dev[OTHER].sm.state = IBA_SM_STANDBY;
	assert_int_equal(give_order(&g, IBA_SM_HANDOVER, 13), 0);
	run_state(&g, IBA_SM_MASTER);
	/* It says so to the one that gave. */
	assert_int_equal(g.dev[OTHER].order, IBA_SM_ACKNOWLEDGE);
	g.cfg.contest = false;
	g.dev[OTHER].sm.priority = 1;
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(lid_of(&g, 3), 13);
	assert_int_equal(g.dev[3].pi[1].sm_lid, lid_of(&g, 0));
	rig_close(&g);
}

TEST(a_standby_ordered_to_discover_returns_to_standby)
{
	struct rig g;
	size_t sent;

	open_standby(&g);
	sent = g.log.n;
	assert_int_equal(give_order(&g, IBA_SM_DISCOVER, 13), 0);
	assert_int_equal(status(&g).state, IBA_SM_DISCOVERING);
	run_state(&g, IBA_SM_STANDBY);
	assert_true(g.log.n > sent + 5);
	assert_int_equal(all_sets(&g), 0);
	rig_close(&g);
}

TEST(invalid_orders_are_refused)
{
	struct rig g;

	open_standby(&g);
	assert_int_equal(give_order(&g, 0, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(give_order(&g, 6, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(give_order(&g, 0xffffffff, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(status(&g).state, IBA_SM_STANDBY);
	rig_close(&g);
	draw_two(&g, IBA_SM_NOT_ACTIVE, 1);
	g.sm = sm_new(&g.cfg); /* not even started */
	for (unsigned order = 0; order <= 6; order++)
		assert_int_equal(give_order(&g, order, 13), IBA_STATUS_BAD_FIELD);
	rig_close(&g);
	draw_two(&g, IBA_SM_NOT_ACTIVE, 1);
	rig_start(&g);
	run_ready(&g);
	assert_int_equal(give_order(&g, IBA_SM_DISABLE, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(give_order(&g, IBA_SM_STAND_BY, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(give_order(&g, IBA_SM_DISCOVER, 13), IBA_STATUS_BAD_FIELD);
	assert_int_equal(status(&g).state, IBA_SM_MASTER);
	rig_close(&g);
}

/* ---- a master meets another ---- */

static void tell_of_sm(struct rig *g)
{
	struct iba_notice n = {.is_generic = 1, .trap_number = IBA_TRAP_CAP_CHANGE};
	struct iba_trap_cap d = {.lid = lid_of(g, OTHER), .cap_mask = IBA_CAP_IS_SM};
	uint8_t mad[IBA_MAD_SIZE];

	make_trap(mad, IBA_TRAP_CAP_CHANGE, 7);
	iba_trap_cap_put(&d, n.details);
	iba_notice_put(&n, iba_smp_data(mad));
	give_smp(g, mad, lid_of(g, OTHER));
}

/* Until no copy of a Set can be under way any more: before that nothing is handed over. */
static void run_rest(struct rig *g)
{
	time_ps t = g->now;

	while (g->now < t + PS_PER_S && one_event(g))
		;
}

TEST(a_master_hands_over_to_a_higher_rank)
{
	static const struct {
		unsigned state, priority;
		bool yields;
	} cases[] = {
		{IBA_SM_STANDBY, 5, false},	{IBA_SM_STANDBY, 6, true},
		{IBA_SM_MASTER, 4, false},	{IBA_SM_MASTER, 6, true},
		{IBA_SM_MASTER, 5, false},	{IBA_SM_NOT_ACTIVE, 9, false},
		{IBA_SM_DISCOVERING, 9, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		draw_two(&g, IBA_SM_NOT_ACTIVE, 0);
		rig_start(&g);
		run_ready(&g);
		g.dev[OTHER].sm.state = (uint8_t)cases[i].state;
		g.dev[OTHER].sm.priority = (uint8_t)cases[i].priority;
		tell_of_sm(&g);
		run_rest(&g);
		assert_int_equal(status(&g).state,
				 cases[i].yields ? IBA_SM_STANDBY : IBA_SM_MASTER);
		assert_int_equal(g.dev[OTHER].order, cases[i].yields ? IBA_SM_HANDOVER : 0);
		rig_close(&g);
	}
}

/* ---- two in the laboratory ---- */

struct duel {
	struct fab *fab;
	struct lab_config cfg;
	struct lab *lab;
};

static node_id last_host(const struct fab *f)
{
	node_id n = f->nnodes;

	do
		assert_true(n > 0);
	while (fab_is_switch(f, --n));
	return n;
}

static void duel_open_by(struct duel *d, struct fab *f, unsigned first, unsigned second,
			 const char *mechanism)
{
	struct sm_config c;
	struct err e;

	memset(d, 0, sizeof(*d));
	d->fab = f;
	assert_non_null(f);
	lab_config_default(&d->cfg);
	d->cfg.threads = 1;
	d->cfg.sm.mechanism = *sm_mechanism_find(mechanism);
	d->cfg.sm.contest = d->cfg.sm.read_back = true;
	d->cfg.sm.priority = first;
	d->cfg.sm.standby_poll_ps = 5 * PS_PER_MS;
	d->cfg.sm.standby_tries = 2;
	for (node_id n = 0; n < f->nnodes && d->cfg.sm_node == FAB_NONE; n++)
		d->cfg.sm_node = fab_is_switch(f, n) ? FAB_NONE : n;
	d->lab = lab_new(f, &d->cfg, &e);
	assert_non_null(d->lab);
	c = d->cfg.sm;
	c.priority = second;
	lab_manager_add(d->lab, last_host(f), &c);
}

static void duel_open(struct duel *d, struct fab *f, unsigned first, unsigned second)
{
	duel_open_by(d, f, first, second, "weft");
}

static void duel_close(struct duel *d)
{
	lab_free(d->lab);
	fab_free(d->fab);
}

static struct fab *draw_fabric(unsigned switches, uint64_t seed)
{
	struct fab_gen g = {
		.kind = "irregular", .ndims = 1, .dims = {switches}, .ports = 5, .seed = seed};
	struct err e;

	return fab_generate(&g, &e);
}

static void on_moment(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

static void duel_wait(struct duel *d, time_ps t)
{
	struct sim *s = lab_sim(d->lab);

	sim_call(s, sim_now(s) + t, on_moment, NULL, 0);
	lab_run_until(d->lab, sim_now(s) + t);
}

static enum iba_sm_state duel_state(const struct duel *d, unsigned manager)
{
	return lab_manager_sm(d->lab, manager) ? lab_manager_status(d->lab, manager)->state
					       : IBA_SM_NOT_ACTIVE;
}

/* One manages and all is well; the other one, if there is one, stands by. */
static void expect_master(struct duel *d, unsigned manager)
{
	struct lab_verdict v;
	time_ps now = sim_now(lab_sim(d->lab));

	lab_manager_lead(d->lab, manager);
	if (!lab_run_settled(d->lab, now, now + 60 * PS_PER_S))
		fail_msg("manager %u does not come to rest: %s, %s", manager,
			 sm_phase_name(lab_manager_status(d->lab, manager)->phase),
			 sm_phase_name(lab_manager_status(d->lab, !manager)->phase));
	assert_int_equal(duel_state(d, manager), IBA_SM_MASTER);
	if (lab_manager_sm(d->lab, !manager))
		assert_int_equal(duel_state(d, !manager), IBA_SM_STANDBY);
	lab_judge(d->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
}

/* It is gone for so short a time that the standby does not notice, finds that one to be the better, and
 * stands by: one must manage. */
TEST(a_returning_master_yields_to_a_higher_rank)
{
	struct duel d;

	duel_open(&d, draw_fabric(6, 2), 5, 3);
	lab_manager_stop(d.lab, 0);
	lab_power_on(d.lab, NULL);
	duel_wait(&d, 50 * PS_PER_MS);
	expect_master(&d, 1);
	lab_manager_start(d.lab, 0, false);
	while (duel_state(&d, 0) != IBA_SM_STANDBY) /* the master has not heard of it yet */
		assert_true(sim_step(lab_sim(d.lab)));
	lab_manager_stop(d.lab, 1);
	lab_manager_start(d.lab, 1, false);
	duel_wait(&d, 300 * PS_PER_MS);
	expect_master(&d, 0);
	duel_close(&d);
}

TEST(one_of_two_managers_is_master)
{
	for (unsigned first = 3; first <= 5; first++) {
		unsigned best = first >= 4 ? 0 : 1; /* of equals the lower GUID */
		struct duel d;

		duel_open(&d, draw_fabric(8, 1), first, 4);
		lab_power_on(d.lab, NULL);
		expect_master(&d, best);
		/* The master dies: the other one finds everything in order and takes its place. */
		lab_manager_stop(d.lab, best);
		duel_wait(&d, 100 * PS_PER_MS);
		expect_master(&d, !best);
		/* Back again it gets the subnet if its priority is higher; of equals the master stays. */
		lab_manager_start(d.lab, best, true);
		duel_wait(&d, 100 * PS_PER_MS);
		expect_master(&d, first == 4 ? !best : best);
		duel_close(&d);
	}
}

struct watch_sets {
	struct duel *d;
	unsigned tables, ports, other;
};

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct watch_sets *w = ctx;

	(void)n;
	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || iba_smp_method(smp->mad) != IBA_SET)
		return;
	w->tables += iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
	w->ports += iba_smp_attr_id(smp->mad) == IBA_ATTR_PORT_INFO;
	w->other += iba_smp_attr_id(smp->mad) != IBA_ATTR_LFT &&
		    iba_smp_attr_id(smp->mad) != IBA_ATTR_PORT_INFO;
}

/* A new master: all devices must get its LID, and nothing else. */
TEST(a_failover_costs_no_packet)
{
	struct traffic_config t = {.pattern = TRAFFIC_UNIFORM,
				   .arrivals = TRAFFIC_POISSON,
				   .payload = 256,
				   .sl_mask = 1,
				   .known_only = true,
				   .interval_ps = 5 * PS_PER_US,
				   .seed = 3};
	const struct sim_plane_stats *st;
	struct watch_sets w = {0};
	struct duel d;
	struct err e;

	duel_open(&d, draw_fabric(6, 2), 5, 4);
	lab_free(d.lab);
	d.cfg.sim.plane.on = true;
	d.lab = lab_new(d.fab, &d.cfg, &e);
	lab_manager_add(d.lab, last_host(d.fab), &d.cfg.sm);
	lab_power_on(d.lab, NULL);
	expect_master(&d, 0);
	t.start_ps = sim_now(lab_sim(d.lab));
	t.stop_ps = t.start_ps + 60 * PS_PER_MS;
	assert_int_equal(sim_traffic(lab_sim(d.lab), &t, &e), 0);
	sim_watch(lab_sim(d.lab), (struct sim_watch){on_seen, &w});
	lab_manager_stop(d.lab, 0);
	duel_wait(&d, 62 * PS_PER_MS);
	sim_watch(lab_sim(d.lab), (struct sim_watch){0});
	expect_master(&d, 1);
	assert_int_equal(w.tables + w.other, 0);
	assert_int_equal(w.ports, d.fab->nnodes);
	st = sim_plane_stats(lab_sim(d.lab));
	assert_true(st->delivered > 1000);
	assert_int_equal(st->generated, st->delivered + st->in_flight);
	duel_close(&d);
}

/* Whenever they start and die: in the end there is one master. */
TEST(random_starts_and_deaths_end_with_one_master)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		unsigned prio[2], master;
		struct rng r;
		struct duel d;

		rng_seed(&r, seed, 21);
		prio[0] = rng_below(&r, 4);
		prio[1] = rng_below(&r, 4);
		duel_open(&d, draw_fabric(2 + rng_below(&r, 8), seed), prio[0], prio[1]);
		lab_power_on(d.lab, NULL);
		for (unsigned n = rng_below(&r, 6); n; n--) {
			unsigned who = rng_below(&r, 2);

			duel_wait(&d, rng_u64(&r) % (30 * PS_PER_MS));
			if (lab_manager_sm(d.lab, who))
				lab_manager_stop(d.lab, who);
			else if (rng_below(&r, 2)) /* what it knew may be another one's by now */
				lab_manager_resume(d.lab, who);
			else
				lab_manager_start(d.lab, who, rng_below(&r, 2));
		}
		for (unsigned i = 0; i < 2; i++)
			if (!lab_manager_sm(d.lab, i))
				lab_manager_start(d.lab, i, false);
		duel_wait(&d, 300 * PS_PER_MS);
		master = duel_state(&d, 0) == IBA_SM_MASTER ? 0 : 1;
		/* The higher priority has the subnet, whoever had it before. */
		if (prio[0] != prio[1])
			assert_int_equal(master, prio[0] > prio[1] ? 0 : 1);
		expect_master(&d, master);
		duel_close(&d);
	}
}

struct cost {
	uint64_t discovery, others; /* SMPs of the master, but for sweeps */
};

static struct cost cost_now(const struct duel *d)
{
	const struct sm_status *st = lab_manager_status(d->lab, 0);
	struct cost c = {.discovery = st->smps[SM_FOR_DISCOVERY]};

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		if (i != SM_FOR_DISCOVERY && i != SM_FOR_SWEEP)
			c.others += st->smps[i];
	return c;
}

/*
 * The other manager starts when the first one is at rest. It may have discovered since before the switches had a
 * manager, and have hidden ports that came up: those that were Down are read, once. Returns what the master sent from
 * then on.
 */
static struct cost cost_of_joining(struct fab_gen *g, const char *mechanism, unsigned times)
{
	struct cost before, after;
	struct duel d;
	struct err e;

	duel_open_by(&d, fab_generate(g, &e), 1, 0, mechanism);
	lab_power_on(d.lab, NULL);
	lab_manager_stop(d.lab, 1);
	expect_master(&d, 0);
	before = cost_now(&d);
	while (times--) {
		lab_manager_start(d.lab, 1, false);
		duel_wait(&d, 100 * PS_PER_MS);
		expect_master(&d, 0);
		lab_manager_stop(d.lab, 1);
		duel_wait(&d, 100 * PS_PER_MS);
	}
	after = cost_now(&d);
	duel_close(&d);
	return (struct cost){after.discovery - before.discovery, after.others - before.others};
}

TEST(a_manager_that_joins_costs_the_ports_that_were_down)
{
	struct fab_gen tree = {.kind = "mtree", .ndims = 2, .dims = {4, 2}};
	/* Four switches of five ports: two links, a host, and two ports without a cable. */
	struct fab_gen ring = {.kind = "ring", .ndims = 1, .dims = {4}, .ports = 5};
	struct cost c;

	assert_int_equal(cost_of_joining(&tree, "weft", 1).discovery, 0);
	assert_int_equal(cost_of_joining(&ring, "weft", 3).discovery, 8);
	/* A mechanism that always discovers everything sets nothing either when all is as it was. */
	c = cost_of_joining(&ring, "basic", 3);
	assert_true(c.discovery > 8);
	assert_int_equal(c.others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_master_of_higher_rank_is_left_in_charge),
		cmocka_unit_test(the_standby_takes_over_when_the_master_dies),
		cmocka_unit_test(a_short_silence_is_not_taken_for_a_death),
		cmocka_unit_test(one_of_two_discovering_managers_continues),
		cmocka_unit_test(without_other_managers_no_sm_info_is_sent),
		cmocka_unit_test(a_port_with_issm_that_does_not_answer),
		cmocka_unit_test(a_disabled_manager_waits_for_an_order),
		cmocka_unit_test(a_handover_makes_a_master),
		cmocka_unit_test(a_standby_ordered_to_discover_returns_to_standby),
		cmocka_unit_test(invalid_orders_are_refused),
		cmocka_unit_test(a_master_hands_over_to_a_higher_rank),
		cmocka_unit_test(a_returning_master_yields_to_a_higher_rank),
		cmocka_unit_test(one_of_two_managers_is_master),
		cmocka_unit_test(a_failover_costs_no_packet),
		cmocka_unit_test(random_starts_and_deaths_end_with_one_master),
		cmocka_unit_test(a_manager_that_joins_costs_the_ports_that_were_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
