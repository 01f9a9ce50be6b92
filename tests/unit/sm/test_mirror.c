/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A standby that mirrors what the master knows: two managers in the lab. What it copies, what taking over then
 * costs, and what happens when the copy is old, incomplete or not the master's. No state between tests.
 * Covers: mirror_dispatch.c, mirror_mads.c, mirror_managers.c, mirror_master.c, mirror_pages.c, mirror_stamp.c, mirror_standby.c,
 * mirror_state.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"
#include "sm/manager.h"
#include "sm/restore/saved_state.h"

enum { MASTER, STANDBY, THIRD };

struct pair {
	struct fab *fab;
	struct lab_config cfg;
	struct sm_config second;
	struct lab *lab;
	node_id third; /* a host with a manager of priority 3; 0: there is none */
	unsigned notes[SM_NOTE_NKINDS];
	struct sm_note last; /* SM_NOTE_MIRROR */
	/* what the standby sends, SMPs only */
	node_id standby;
	unsigned gets, node_gets, switch_gets, port_sets, table_sets, other_sets, gmps;
};

/* ---- the fabric and the managers ---- */

static struct fab *draw(unsigned switches, uint64_t seed)
{
	struct fab_gen g = {
		.kind = "irregular", .ndims = 1, .dims = {switches}, .ports = 6, .seed = seed};
	struct err e;

	return fab_generate(&g, &e);
}

static node_id host(const struct fab *f, bool last)
{
	node_id n = last ? f->nnodes - 1 : 0;

	while (fab_is_switch(f, n))
		n = last ? n - 1 : n + 1;
	return n;
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct pair *p = ctx;

	p->notes[n->kind]++;
	if (n->kind == SM_NOTE_MIRROR)
		p->last = *n;
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct pair *p = ctx;
	unsigned attr, method;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != p->standby)
		return;
	attr = iba_smp_attr_id(smp->mad);
	method = iba_smp_method(smp->mad);
	if (iba_is_vendor(smp->mad)) {
		p->gmps++;
		return;
	}
	p->gets += method == IBA_GET;
	p->node_gets += method == IBA_GET && attr == IBA_ATTR_NODE_INFO;
	p->switch_gets += method == IBA_GET && attr == IBA_ATTR_SWITCH_INFO;
	p->port_sets += method == IBA_SET && attr == IBA_ATTR_PORT_INFO;
	p->table_sets += method == IBA_SET && attr == IBA_ATTR_LFT;
	p->other_sets += method == IBA_SET && attr != IBA_ATTR_PORT_INFO && attr != IBA_ATTR_LFT;
}

static void pair_draw(struct pair *p, struct fab *f)
{
	memset(p, 0, sizeof(*p));
	p->fab = f;
	assert_non_null(f);
	lab_config_default(&p->cfg);
	p->cfg.threads = 1;
	p->cfg.sm.contest = p->cfg.sm.read_back = p->cfg.sm.mirror = true;
	p->cfg.sm.sm_key = 0x5ecbe7;
	p->cfg.sm.priority = 5;
	p->cfg.sm.standby_poll_ps = 5 * PS_PER_MS;
	p->cfg.sm.standby_tries = 2;
	p->cfg.sm.sweep_factor = 0;
	p->cfg.sm.sweep_period_ps = 20 * PS_PER_MS;
	p->cfg.sm_node = host(f, false);
	p->standby = host(f, true);
	p->second = p->cfg.sm;
	p->second.priority = 4;
}

static void pair_start(struct pair *p)
{
	struct err e;

	p->lab = lab_new(p->fab, &p->cfg, &e);
	assert_non_null(p->lab);
	lab_manager_add(p->lab, p->standby, &p->second);
	if (p->third) {
		struct sm_config c = p->second;

		c.priority = 3;
		lab_manager_add(p->lab, p->third, &c);
	}
	lab_on_note(p->lab, on_note, p);
	sim_watch(lab_sim(p->lab), (struct sim_watch){on_seen, p});
	lab_power_on(p->lab, NULL);
}

static void pair_close(struct pair *p)
{
	lab_free(p->lab);
	fab_free(p->fab);
}

static const struct sm *manager(const struct pair *p, unsigned i)
{
	return lab_manager_sm(p->lab, i);
}

static void on_moment(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

static void pass(struct pair *p, time_ps t)
{
	struct sim *s = lab_sim(p->lab);

	sim_call(s, sim_now(s) + t, on_moment, NULL, 0);
	lab_run_until(p->lab, sim_now(s) + t);
}

/* What the standby has is what the master has now. */
static bool is_current(const struct pair *p)
{
	const struct sm *a = manager(p, MASTER), *b = manager(p, STANDBY);

	return a->mirror.master.valid && a->mirror.stamp.state == SM_STAMP_SET &&
	       b->mirror.standby.whole && b->mirror.standby.of.root == a->mirror.master.of.root;
}

static void run_current(struct pair *p)
{
	for (unsigned i = 0; i < 3000 && !is_current(p); i++)
		pass(p, PS_PER_MS);
	assert_true(is_current(p));
}

static void pair_up(struct pair *p)
{
	pair_start(p);
	run_current(p);
}

/* The manager is master, all is well, and it knows what the switches hold. */
static void expect_master(struct pair *p, unsigned i)
{
	time_ps now = sim_now(lab_sim(p->lab));
	const struct sm *sm;
	struct lab_verdict v;

	lab_manager_lead(p->lab, i);
	assert_true(lab_run_settled(p->lab, now, now + 60 * PS_PER_S));
	assert_int_equal(lab_manager_status(p->lab, i)->state, IBA_SM_MASTER);
	lab_judge(p->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
	sm = manager(p, i);
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++) {
		const struct sm_node *x = &sm->topo.nodes.at[n];
		node_id at = fab_node_by_guid(p->fab, x->guid);

		for (unsigned lid = 0;
		     x->type == IBA_NODE_SWITCH && !x->gone && lid <= x->si.linear_top; lid++)
			assert_int_equal(
				sm_row_block(sm, x->row, lid / IBA_LFT_BLOCK)[lid % IBA_LFT_BLOCK],
				sim_lft(lab_sim(p->lab), at, lid));
	}
}

static void counts_reset(struct pair *p)
{
	p->gets = p->node_gets = p->switch_gets = p->port_sets = p->table_sets = p->other_sets =
		p->gmps = 0;
}

/* Until the standby has become master and is at rest. */
static void run_takeover(struct pair *p)
{
	counts_reset(p);
	lab_manager_lead(p->lab, STANDBY);
	for (unsigned i = 0;
	     i < 3000 && lab_manager_status(p->lab, STANDBY)->state != IBA_SM_MASTER; i++)
		pass(p, PS_PER_MS / 10);
	assert_true(lab_run_ready(p->lab, sim_now(lab_sim(p->lab)) + 60 * PS_PER_S));
}

/* ---- copying ---- */

TEST(the_copy_is_what_the_master_would_save)
{
	struct pair p;
	const struct sm_saved *m;
	struct sm_mirror_status st;

	pair_draw(&p, draw(8, 1));
	p.cfg.sm.names = p.second.names = true;
	pair_up(&p);
	m = manager(&p, STANDBY)->mirror.standby.whole;
	assert_int_equal(m->nodes.n, p.fab->nnodes);
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct sm_saved_node *n = &m->nodes.at[i];
		node_id at = fab_node_by_guid(p.fab, n->guid);

		assert_true(!i || n->guid > n[-1].guid);
		assert_non_null(n->name);
		for (unsigned lid = 0;
		     n->type == IBA_NODE_SWITCH && lid < n->nblocks * (unsigned)IBA_LFT_BLOCK;
		     lid++)
			assert_int_equal(n->lft[lid], sim_lft(lab_sim(p.lab), at, lid));
	}
	sm_mirror_status(manager(&p, STANDBY), &st);
	assert_true(st.on && st.complete);
	assert_int_equal(st.generation, manager(&p, MASTER)->mirror.master.of.root);
	assert_true(st.bytes >= p.fab->nnodes * SM_PAGE);
	assert_true(st.confirmed_at + 20 * PS_PER_MS >= sim_now(lab_sim(p.lab)));
	sm_mirror_status(manager(&p, MASTER), &st);
	pass(&p, 20 * PS_PER_MS);
	sm_mirror_status(manager(&p, MASTER), &st);
	assert_int_equal(st.mirrors, 1);
	assert_int_equal(p.notes[SM_NOTE_MIRROR], 1);
	pair_close(&p);
}

/* At rest one question and one answer, and no new generation. */
TEST(nothing_is_copied_while_nothing_changes)
{
	struct sm_mirror_status before, after;
	struct pair p;

	pair_draw(&p, draw(8, 1));
	pair_up(&p);
	pass(&p, 20 * PS_PER_MS);
	counts_reset(&p);
	sm_mirror_status(manager(&p, STANDBY), &before);
	pass(&p, 100 * PS_PER_MS);
	sm_mirror_status(manager(&p, STANDBY), &after);
	assert_int_equal(before.generation, after.generation);
	assert_int_equal(p.notes[SM_NOTE_MIRROR], 1);
	assert_in_range(p.gmps, 18, 21);
	assert_in_range(p.gets, 18, 21); /* Get(SMInfo) */
	pair_close(&p);
}

/*
 * A take-over reads PortStateChange of switches and clears it later; the database has it until a sweep reads these again. No
 * Set comes between, so the digests must be of the same.
 */
TEST(what_sweeps_read_is_not_in_the_copy)
{
	struct sm_bytes news = {.b = {0}}, quiet = {.b = {0}};
	struct pair p;
	struct sm *sm;

	pair_draw(&p, draw(8, 1));
	pair_up(&p);
	sm = (struct sm *)manager(&p, MASTER);
	for (uint32_t i = 0; i < sm->topo.nodes.n; i++) {
		struct sm_node *n = &sm->topo.nodes.at[i];

		n->si.port_state_change = n->type == IBA_NODE_SWITCH;
		assert_true(sm_record_node(sm, i, &news));
		n->si.port_state_change = 0;
		assert_true(sm_record_node(sm, i, &quiet));
	}
	assert_int_equal(news.b.n, quiet.b.n);
	assert_memory_equal(news.b.at, quiet.b.at, news.b.n);
	vec_free(&news.b);
	vec_free(&quiet.b);
	pair_close(&p);
}

static port_id some_link(const struct pair *p, unsigned nth)
{
	for (port_id i = 0; i < p->fab->nports; i++)
		if (p->fab->ports[i].peer != FAB_NONE &&
		    fab_is_switch(p->fab, p->fab->ports[i].node) &&
		    fab_is_switch(p->fab, p->fab->ports[p->fab->ports[i].peer].node) && !nth--)
			return i;
	fail_msg("no such link");
	return FAB_NONE;
}

/* A link fails: pages that differ are fetched, and a few digests. */
TEST(only_what_changed_is_copied)
{
	struct pair p;
	uint64_t whole;

	pair_draw(&p, draw(24, 3));
	pair_up(&p);
	whole = p.last.mirror.fetched;
	assert_true(whole >= p.last.mirror.bytes);
	sim_uncable(lab_sim(p.lab), some_link(&p, 5));
	pass(&p, 5 * PS_PER_MS);
	run_current(&p);
	assert_int_equal(p.notes[SM_NOTE_MIRROR], 2);
	assert_true(p.last.mirror.fetched < whole / 2);
	expect_master(&p, MASTER);
	pair_close(&p);
}

/* All later records move: their digests are fetched, they themselves are not. */
TEST(records_that_moved_are_not_copied_again)
{
	struct pair p;
	node_id n = 0;

	pair_draw(&p, draw(24, 3));
	while (fab_is_switch(p.fab, n) || n == p.cfg.sm_node)
		n++; /* a host of low GUID */
	pair_start(&p);
	sim_node_power(lab_sim(p.lab), n, false);
	run_current(&p);
	sim_node_power(lab_sim(p.lab), n, true);
	pass(&p, 5 * PS_PER_MS);
	run_current(&p);
	assert_int_equal(manager(&p, STANDBY)->mirror.standby.whole->nodes.n, p.fab->nnodes);
	assert_true(p.last.mirror.fetched < p.last.mirror.bytes / 2);
	pair_close(&p);
}

/* ---- joining ---- */

static unsigned requests_of_joining(unsigned switches, unsigned *gets)
{
	struct pair p;
	unsigned most;

	pair_draw(&p, draw(switches, 4));
	pair_start(&p);
	lab_manager_stop(p.lab, STANDBY);
	expect_master(&p, MASTER);
	counts_reset(&p);
	lab_manager_start(p.lab, STANDBY, false);
	run_current(&p);
	*gets = p.gets;
	assert_int_equal(p.port_sets + p.table_sets + p.other_sets, 0);
	most = (unsigned)(p.last.mirror.bytes / SM_PAGE);
	assert_in_range(p.gmps, most, most + most / 8 + 64);
	expect_master(&p, MASTER);
	pair_close(&p);
	return most;
}

/*
 * The own port names the master, which is asked before anything is discovered. What follows are polls and pages: no port
 * of the subnet is read.
 */
TEST(a_manager_that_joins_reads_its_own_port_and_the_mirror)
{
	static const unsigned switches[] = {4, 16, 48};

	for (unsigned i = 0; i < ARRAY_LEN(switches); i++) {
		unsigned gets, pages = requests_of_joining(switches[i], &gets);

		/* Own node and port twice, the named master, and polls: one every 5 ms while it copies. */
		assert_in_range(gets, 4, 12 + pages / 16);
	}
}

/* ---- taking over ---- */

TEST(a_takeover_asks_two_questions_a_switch_and_changes_nothing)
{
	struct pair p;

	pair_draw(&p, draw(16, 4));
	p.cfg.sm.names = p.second.names = true;
	pair_up(&p);
	lab_manager_stop(p.lab, MASTER);
	run_takeover(&p);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_USED], 1);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 0);
	assert_int_equal(p.switch_gets, p.fab->nswitches);
	/* Its own node and port, the next node, the stamp; Get(SMInfo) to the dead master, names of two */
	assert_in_range(p.gets, 2 * p.fab->nswitches + 4, 2 * p.fab->nswitches + 20);
	assert_int_equal(p.port_sets, p.fab->nnodes); /* the new manager's LID */
	assert_int_equal(p.table_sets, 0);
	assert_int_equal(p.other_sets, 0);
	assert_int_equal(sm_tables(manager(&p, STANDBY)) != NULL, 1);
	expect_master(&p, STANDBY);
	pair_close(&p);
}

static node_id third_host(const struct pair *p)
{
	node_id n = p->standby - 1;

	while (fab_is_switch(p->fab, n))
		n--;
	return n;
}

/* Two standbys that joined while there was a master: neither has discovered the other. */
static void trio_up(struct pair *p)
{
	p->third = third_host(p);
	pair_start(p);
	for (unsigned i = STANDBY; i <= THIRD; i++)
		lab_manager_stop(p->lab, i);
	expect_master(p, MASTER);
	for (unsigned i = STANDBY; i <= THIRD; i++)
		lab_manager_start(p->lab, i, false);
	run_current(p);
	pass(p, 100 * PS_PER_MS);
}

TEST(every_standby_lists_all_managers)
{
	struct sm_manager m;
	struct pair p;

	pair_draw(&p, draw(16, 4));
	p.cfg.sm.names = p.second.names = true;
	trio_up(&p);
	for (unsigned i = MASTER; i <= THIRD; i++) {
		unsigned n = 0, priorities = 0;

		for (; sm_manager_get(manager(&p, i), n, &m); n++) {
			priorities |= 1u << m.priority;
			assert_int_equal(m.state, m.priority == 5 ? IBA_SM_MASTER : IBA_SM_STANDBY);
			assert_false(m.silent);
			assert_int_equal(m.own, m.priority == 5 - i);
			if (!m.own) {
				assert_true(m.node_guid);
				assert_string_not_equal(sm_node_desc(manager(&p, i), m.node_guid),
							"");
			}
		}
		assert_int_equal(n, 3);
		assert_int_equal(priorities, 1 << 5 | 1 << 4 | 1 << 3);
	}
	pair_close(&p);
}

static uint64_t guid_of(const struct pair *p, unsigned i)
{
	return lab_manager_guid(p->lab, i);
}

/* What `by` says of another manager: its state, or -1 if it does not answer. */
static int said_state(const struct pair *p, unsigned by, unsigned of)
{
	struct sm_manager m;

	for (size_t n = 0; sm_manager_get(manager(p, by), n, &m); n++)
		if (m.guid == guid_of(p, of))
			return m.silent ? -1 : (int)m.state;
	fail_msg("manager %u does not know manager %u", by, of);
	return -1;
}

/* A standby asks the managers that it does not poll as well, whether its copy names them or not. */
TEST(a_standby_knows_which_managers_run)
{
	struct pair p;

	pair_draw(&p, draw(16, 4));
	trio_up(&p);
	lab_manager_stop(p.lab, THIRD);
	pass(&p, 200 * PS_PER_MS);
	assert_int_equal(said_state(&p, MASTER, THIRD), -1);
	assert_int_equal(said_state(&p, STANDBY, THIRD), -1);
	lab_manager_start(p.lab, THIRD, false);
	pass(&p, 200 * PS_PER_MS);
	assert_int_equal(said_state(&p, STANDBY, THIRD), IBA_SM_STANDBY);
	lab_manager_stop(p.lab, MASTER);
	run_takeover(&p);
	pass(&p, 200 * PS_PER_MS);
	for (unsigned i = STANDBY; i <= THIRD; i++) {
		assert_int_equal(said_state(&p, i, MASTER), -1);
		assert_int_equal(sm_master_guid(manager(&p, i)), guid_of(&p, STANDBY));
	}
	pair_close(&p);
}

/* The third manager polls the first one still, which stands by now. */
TEST(after_a_hand_over_all_managers_name_the_new_master)
{
	struct pair p;

	pair_draw(&p, draw(16, 4));
	trio_up(&p);
	lab_manager_order(p.lab, MASTER, SM_EV_HANDOVER, guid_of(&p, STANDBY));
	pass(&p, 300 * PS_PER_MS);
	assert_int_equal(manager(&p, THIRD)->election.polled.guid, guid_of(&p, MASTER));
	for (unsigned i = MASTER; i <= THIRD; i++) {
		assert_int_equal(lab_manager_status(p.lab, i)->state,
				 i == STANDBY ? IBA_SM_MASTER : IBA_SM_STANDBY);
		assert_int_equal(sm_master_guid(manager(&p, i)), guid_of(&p, STANDBY));
	}
	pair_close(&p);
}

/*
 * Both notice at once that the master is gone. The one of higher rank becomes master, the other one stands by, and the
 * subnet is not read once more: what discovers beside sets nothing in switches that a manager configured.
 */
TEST(of_two_standbys_one_takes_over_with_its_copy)
{
	struct pair p;

	pair_draw(&p, draw(16, 4));
	trio_up(&p);
	lab_manager_stop(p.lab, MASTER);
	run_takeover(&p);
	for (unsigned i = 0; i < 400; i++) {
		assert_int_not_equal(lab_manager_status(p.lab, THIRD)->state, IBA_SM_MASTER);
		pass(&p, PS_PER_MS / 2);
	}
	assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 0);
	assert_in_range(p.node_gets, 1, 4);
	assert_int_equal(p.port_sets, p.fab->nnodes);
	assert_int_equal(p.table_sets + p.other_sets, 0);
	expect_master(&p, STANDBY);
	pair_close(&p);
}

TEST(a_takeover_costs_no_packet)
{
	struct traffic_config t = {.pattern = TRAFFIC_UNIFORM,
				   .arrivals = TRAFFIC_POISSON,
				   .payload = 256,
				   .sl_mask = 1,
				   .known_only = true,
				   .interval_ps = 5 * PS_PER_US,
				   .seed = 3};
	const struct sim_plane_stats *st;
	struct pair p;
	struct err e;

	pair_draw(&p, draw(6, 2));
	p.cfg.sim.plane.on = true;
	pair_up(&p);
	t.start_ps = sim_now(lab_sim(p.lab));
	t.stop_ps = t.start_ps + 60 * PS_PER_MS;
	assert_int_equal(sim_traffic(lab_sim(p.lab), &t, &e), 0);
	lab_manager_stop(p.lab, MASTER);
	pass(&p, 62 * PS_PER_MS);
	expect_master(&p, STANDBY);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_USED], 1);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 0);
	st = sim_plane_stats(lab_sim(p.lab));
	assert_true(st->delivered > 1000);
	assert_int_equal(st->generated, st->delivered + st->in_flight);
	pair_close(&p);
}

static struct fab *draw_tree(void)
{
	struct fab_gen g = {.kind = "mtree", .ndims = 2, .dims = {8, 2}};
	struct err e;

	return fab_generate(&g, &e);
}

/* What the master made of its tables after failures stays, even if another computation would be more even. */
TEST(tables_that_the_master_changed_stay)
{
	for (unsigned cuts = 1; cuts <= 3; cuts++) { /* of four links of one leaf */
		struct pair p;

		pair_draw(&p, draw_tree());
		pair_up(&p);
		for (unsigned i = 0; i < cuts; i++) {
			sim_uncable(lab_sim(p.lab), some_link(&p, 4 + i));
			pass(&p, 10 * PS_PER_MS);
			run_current(&p);
		}
		p.notes[SM_NOTE_MIRROR_LOST] = 0; /* polls over the link that failed were lost */
		lab_manager_stop(p.lab, MASTER);
		run_takeover(&p);
		assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 0);
		assert_int_equal(p.table_sets, 0);
		expect_master(&p, STANDBY);
		pair_close(&p);
	}
}

static bool is_leaf(const struct fab *f, node_id sw)
{
	port_id far = f->ports[fab_port_id(f, sw, 1)].peer;

	return far != FAB_NONE && !fab_is_switch(f, f->ports[far].node);
}

/* All routes of a leaf to hosts over its first link to a spine: right, and four times as loaded as they could be. */
TEST(uneven_tables_stay_only_if_they_are_a_managers_own)
{
	enum { HOSTS = 4 }; /* of a leaf; behind them its links to spines */
	struct sm_compute c = {.epoch = 1, .stage = SM_FINAL, .plan = true, .found = true};
	struct rt_tables *t;
	const struct sm *sm;
	struct pair p;

	pair_draw(&p, draw_tree());
	pair_up(&p);
	sm = manager(&p, MASTER);
	t = rt_tables_new(sm->routes.tables->nswitches, fab_top_lid(sm->topo.fab));
	memcpy(t->lft, sm->routes.tables->lft, (size_t)t->nswitches * t->stride);
	for (uint32_t i = 0; i < t->nswitches; i++)
		for (port_id q = 0; q < sm->topo.fab->nports; q++) {
			const struct fab_port *to = &sm->topo.fab->ports[q];
			uint8_t *out = &t->lft[(size_t)i * t->stride + to->lid];

			if (to->lid && !fab_is_switch(sm->topo.fab, to->node) &&
			    is_leaf(sm->topo.fab, sm->topo.fab->switches[i]) && *out > HOSTS)
				*out = HOSTS + 1;
		}
	c.fab = sm->topo.fab;
	c.root = sm_root_in(sm, sm->topo.fab);
	c.supply = sm->cfg.mechanism.adopt_routes;
	c.old = t;
	for (unsigned own = 0; own < 2; own++) {
		struct sm_work_done done;
		struct sm_routes r = {0};

		c.own = own;
		sm_compute_run(&c, 1, &r, &done);
		assert_true(r.verified);
		assert_int_equal(r.plan.kind == RT_PLAN_NOTHING, own);
		sm_routes_free(&r);
	}
	rt_tables_free(t);
	pair_close(&p);
}

/* ---- a manager of higher priority ---- */

/* The standby has the higher priority, stopped while the other one was master, and comes back. */
static void return_higher(struct pair *p)
{
	p->second.priority = 9;
	pair_start(p);
	lab_manager_stop(p->lab, STANDBY);
	expect_master(p, MASTER);
	pass(p, 50 * PS_PER_MS);
	memset(p->notes, 0, sizeof(p->notes));
	counts_reset(p);
	lab_manager_start(p->lab, STANDBY, false);
}

/* Returns how long it took until it was Master. */
static time_ps run_until_led(struct pair *p)
{
	time_ps start = sim_now(lab_sim(p->lab)), took;

	lab_manager_lead(p->lab, STANDBY);
	for (unsigned i = 0;
	     i < 30000 && lab_manager_status(p->lab, STANDBY)->state != IBA_SM_MASTER; i++)
		pass(p, PS_PER_MS / 10);
	took = sim_now(lab_sim(p->lab)) - start;
	assert_true(lab_run_ready(p->lab, sim_now(lab_sim(p->lab)) + 60 * PS_PER_S));
	return took;
}

/* The master waits until it has its copy: it gets the subnet for three SMPs a switch, and nothing changes. */
TEST(a_higher_priority_gets_the_subnet_when_it_has_its_copy)
{
	static const unsigned switches[] = {4, 16, 40};

	for (unsigned i = 0; i < ARRAY_LEN(switches); i++) {
		struct pair p;

		pair_draw(&p, draw(switches[i], 4));
		return_higher(&p);
		run_until_led(&p);
		assert_int_equal(p.notes[SM_NOTE_MIRROR], 1);
		assert_int_equal(p.notes[SM_NOTE_MIRROR_USED], 1);
		assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 0);
		assert_int_equal(p.switch_gets, p.fab->nswitches);
		/* polls every 5 ms while it copies, own node and port, the next node, the stamp */
		assert_in_range(p.gets, 2 * p.fab->nswitches + 4, 2 * p.fab->nswitches + 48);
		assert_int_equal(p.port_sets, p.fab->nnodes);
		assert_int_equal(p.table_sets, 0);
		assert_in_range(p.other_sets, 1, 2); /* Set(SMInfo): ACKNOWLEDGE */
		expect_master(&p, STANDBY);
		pair_close(&p);
	}
}

/* The copy is interrupted by a change; the master hands over when the copy of the new state is there. */
TEST(a_higher_priority_waits_for_the_copy_after_a_change)
{
	struct pair p;

	pair_draw(&p, draw(16, 4));
	return_higher(&p);
	pass(&p, 2 * PS_PER_MS);
	sim_uncable(lab_sim(p.lab), some_link(&p, 5));
	run_until_led(&p);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_USED], 1);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 0);
	assert_int_equal(p.table_sets, 0);
	expect_master(&p, STANDBY);
	pair_close(&p);
}

/* It reads the subnet. */
static time_ps run_without_copy(struct pair *p)
{
	time_ps took;

	return_higher(p);
	took = run_until_led(p);
	assert_int_equal(p->notes[SM_NOTE_MIRROR_USED], 0);
	assert_int_equal(p->table_sets, 0);
	expect_master(p, STANDBY);
	pair_close(p);
	return took;
}

/* It is not waited for longer than a poll if it does not copy, than the setting says if it does not get ready. */
TEST(a_higher_priority_without_a_copy_is_not_kept_waiting)
{
	const time_ps NOTICED =
		16 * PS_PER_MS; /* a manager that was standby before is asked back now and then */
	struct pair p;

	pair_draw(&p, draw(8, 4));
	p.second.mirror = false;
	assert_in_range(run_without_copy(&p), 5 * PS_PER_MS, NOTICED + 6 * PS_PER_MS);

	pair_draw(&p, draw(40, 4));
	p.cfg.sm.copy_ps = PS_PER_MS; /* the copy takes longer */
	assert_in_range(run_without_copy(&p), PS_PER_MS, NOTICED + 2 * PS_PER_MS);

	pair_draw(&p, draw(8, 4));
	p.cfg.sm.copy_ps = 0;
	assert_in_range(run_without_copy(&p), 0, NOTICED);
}

/* ---- a master that was away ---- */

struct away {
	struct pair *p;
	node_id first;	     /* the manager that is away */
	unsigned sets, gets; /* that it sent */
	bool two;	     /* it said Master, as the other one does */
};

static void on_return(void *ctx, enum sim_seen what, node_id n, unsigned port,
		      const struct sim_smp *smp, unsigned detail)
{
	struct away *a = ctx;
	struct iba_sm_info si;

	on_seen(a->p, what, n, port, smp, detail);
	if (what != SIM_SEEN_SEND)
		return;
	a->sets += n == a->first && iba_smp_method(smp->mad) == IBA_SET &&
		   iba_smp_attr_id(smp->mad) != IBA_ATTR_SM_INFO;
	a->gets += n == a->first && iba_smp_method(smp->mad) == IBA_GET && !iba_is_vendor(smp->mad);
	if (n != a->first || iba_smp_attr_id(smp->mad) != IBA_ATTR_SM_INFO)
		return;
	iba_sm_info_get(&si, iba_smp_data_const(smp->mad), IBA_SMP_DATA_SIZE);
	a->two |= iba_smp_method(smp->mad) == IBA_GET_RESP && si.state == IBA_SM_MASTER &&
		  lab_manager_is_master(a->p->lab, STANDBY);
}

/* The first manager, of higher priority, is back: it gets the subnet when it has its copy. */
static void expect_return(struct pair *p, struct away *a)
{
	memset(p->notes, 0, sizeof(p->notes));
	counts_reset(p);
	*a = (struct away){.p = p, .first = p->cfg.sm_node};
	sim_watch(lab_sim(p->lab), (struct sim_watch){on_return, a});
	lab_manager_lead(p->lab, MASTER);
	for (unsigned i = 0;
	     i < 3000 && !(p->notes[SM_NOTE_MIRROR_USED] && lab_manager_is_master(p->lab, MASTER));
	     i++) {
		assert_int_equal(a->sets, 0);
		pass(p, PS_PER_MS / 10);
	}
	assert_int_equal(p->notes[SM_NOTE_MIRROR_USED], 1);
	expect_master(p, MASTER);
	assert_int_equal(p->notes[SM_NOTE_MIRROR_LOST], 0);
	assert_in_range(a->sets, p->fab->nnodes, p->fab->nnodes + 2); /* and the stamp */
	assert_in_range(a->gets, 2 * p->fab->nswitches + 4, 2 * p->fab->nswitches + 48);
}

/*
 * Its cable is pulled, the standby takes over, and the cable is back: it is not master any more, and sets nothing before
 * it has the subnet again.
 */
TEST(the_cable_of_the_master_is_pulled_and_put_back)
{
	for (unsigned i = 0; i < 6; i++) {
		struct pair p;
		struct away a;
		port_id own, far;

		pair_draw(&p, draw(8 + i, 4 + i));
		p.cfg.sm.own_port_ps =
			(i % 2 ? 200 : 5) * PS_PER_MS; /* it may notice nothing by itself */
		own = fab_port_id(p.fab, p.cfg.sm_node, 1);
		far = p.fab->ports[own].peer;
		pair_up(&p);
		sim_uncable(lab_sim(p.lab), own);
		pass(&p, 60 * PS_PER_MS);
		assert_true(lab_manager_is_master(p.lab, STANDBY));
		sim_cable(lab_sim(p.lab), own, far);
		expect_return(&p, &a);
		assert_false(a.two);
		/* A host came up: tables change, nothing is read but its switch; then the standby polls. */
		assert_in_range(p.gets + p.port_sets + p.other_sets, 4, 4 * p.fab->nswitches + 80);
		assert_in_range(p.table_sets, p.fab->nswitches, 3 * p.fab->nswitches);
		pair_close(&p);
	}
}

/* It is stopped, the standby takes over, and it continues: the same. */
TEST(the_master_is_paused_and_continues)
{
	for (unsigned i = 0; i < 6; i++) {
		struct pair p;
		struct away a;

		pair_draw(&p, draw(8 + i, 4 + i));
		p.cfg.sm.stall_ps = p.second.stall_ps = 4 * PS_PER_MS;
		pair_up(&p);
		lab_manager_pause(p.lab, MASTER);
		pass(&p, 60 * PS_PER_MS);
		assert_true(lab_manager_is_master(p.lab, STANDBY));
		lab_manager_continue(p.lab, MASTER);
		expect_return(&p, &a);
		pair_close(&p);
	}
}

/*
 * Polls are lost, the standby begins to take over, and the master answers again: the standby steps back and has its copy, even one
 * that the master's Sets have outdated, should the master die now.
 */
TEST(a_take_over_in_vain_does_not_cost_the_copy)
{
	for (unsigned outdated = 0; outdated < 2; outdated++) {
		struct pair p;

		pair_draw(&p, draw(10, 6));
		p.cfg.sm.stall_ps = p.second.stall_ps = 4 * PS_PER_MS;
		pair_up(&p);
		lab_manager_pause(p.lab, MASTER);
		while (!p.notes[SM_NOTE_MIRROR_USED])
			pass(&p, PS_PER_US);
		if (outdated)
			sm_saved_lost((struct sm *)manager(&p, STANDBY));
		lab_manager_continue(p.lab, MASTER);
		while (lab_manager_status(p.lab, STANDBY)->state != IBA_SM_STANDBY)
			pass(&p, PS_PER_US);
		assert_non_null(manager(&p, STANDBY)->mirror.standby.whole);
		lab_manager_stop(p.lab, MASTER);
		run_takeover(&p);
		assert_int_equal(p.notes[SM_NOTE_MIRROR], 1);
		assert_int_equal(p.notes[SM_NOTE_MIRROR_USED], 2);
		expect_master(&p, STANDBY);
		pair_close(&p);
	}
}

/* ---- copies that are not true ---- */

/* It fails while it reacts to a change, at every moment of that: nothing that is wrong is believed. */
TEST(the_master_dies_while_it_changes_tables)
{
	unsigned used = 0, lost = 0;

	for (unsigned i = 0; i < 40; i++) {
		struct pair p;

		pair_draw(&p, draw(10, 6 + i % 3));
		p.cfg.sm.mechanism.traps = p.second.mechanism.traps = true;
		pair_up(&p);
		sim_uncable(lab_sim(p.lab), some_link(&p, i % 7));
		pass(&p, i * 30 * PS_PER_US);
		lab_manager_stop(p.lab, MASTER);
		run_takeover(&p);
		used += p.notes[SM_NOTE_MIRROR_USED];
		lost += p.notes[SM_NOTE_MIRROR_LOST];
		expect_master(&p, STANDBY);
		pair_close(&p);
	}
	assert_int_equal(used, 40);
	assert_in_range(lost, 5, 39); /* not at once, but from the first Set on */
}

TEST(with_lost_smps)
{
	for (unsigned i = 0; i < 12; i++) {
		struct pair p;

		pair_draw(&p, draw(8, 20 + i));
		p.cfg.sim.seed = i;
		p.cfg.sim.faults.loss_q32 = prob_q32(0.03);
		p.cfg.sim.faults.dup_q32 = prob_q32(0.01);
		pair_up(&p);
		if (i % 2)
			sim_uncable(lab_sim(p.lab), some_link(&p, i % 5));
		pass(&p, i * 100 * PS_PER_US);
		lab_manager_stop(p.lab, MASTER);
		run_takeover(&p);
		expect_master(&p, STANDBY);
		pair_close(&p);
	}
}

/* A Set of another manager, which knows nothing of stamps: its LID in the devices shows it. */
TEST(another_manager_was_master_between)
{
	struct pair p;
	struct iba_port_info pi;
	struct sim_smp smp = {0};
	node_id sw = 0;

	pair_draw(&p, draw(8, 5));
	pair_up(&p);
	while (!fab_is_switch(p.fab, sw))
		sw++;
	pi = *sim_port_info(lab_sim(p.lab), fab_port_id(p.fab, sw, 0));
	smp.slid = sim_port_info(lab_sim(p.lab), fab_port_id(p.fab, p.cfg.sm_node, 1))->lid;
	smp.dlid = pi.lid;
	pi.sm_lid = 77;
	pi.state = pi.phys_state = 0;
	iba_smp_init(smp.mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_PORT_INFO, 0);
	iba_port_info_put(&pi, iba_smp_data(smp.mad));
	lab_manager_stop(p.lab, MASTER);
	sim_send(lab_sim(p.lab), p.cfg.sm_node, 1, &smp);
	run_takeover(&p);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 1);
	expect_master(&p, STANDBY);
	pair_close(&p);
}

/* The switch that has the stamp is gone with the master. */
TEST(the_switch_with_the_stamp_dies_too)
{
	struct pair p;
	node_id sw;

	pair_draw(&p, draw(10, 7));
	pair_up(&p);
	sw = fab_node_by_guid(p.fab, manager(&p, MASTER)->mirror.stamp.guid);
	assert_int_equal(p.fab->ports[p.fab->ports[fab_port_id(p.fab, p.cfg.sm_node, 1)].peer].node,
			 sw);
	lab_manager_stop(p.lab, MASTER);
	sim_node_power(lab_sim(p.lab), sw, false);
	run_takeover(&p);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_LOST], 1);
	pair_close(&p);
}

/* A master that starts again clears the stamp of its former life before it sets anything. */
TEST(a_master_that_restarts_clears_the_stamp_first)
{
	struct pair p;
	node_id sw;

	pair_draw(&p, draw(8, 8));
	p.second.standby_tries = 100;
	pair_up(&p);
	sw = fab_node_by_guid(p.fab, manager(&p, MASTER)->mirror.stamp.guid);
	lab_manager_stop(p.lab, MASTER);
	sim_uncable(lab_sim(p.lab), some_link(&p, 3));
	lab_manager_start(p.lab, MASTER, true);
	while (lab_manager_status(p.lab, MASTER)->phase != SM_COMPUTE)
		assert_true(sim_step(lab_sim(p.lab)));
	assert_int_equal(manager(&p, MASTER)->mirror.stamp.state, SM_STAMP_CLEAR);
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		assert_int_equal(
			sim_lft(lab_sim(p.lab), sw,
				manager(&p, MASTER)->mirror.stamp.block * IBA_LFT_BLOCK + i),
			IBA_PORT_NONE);
	run_current(&p);
	pair_close(&p);
}

/* ---- masters that do not answer, or lie ---- */

TEST(a_master_with_another_key_does_not_answer)
{
	struct sm_mirror_status st;
	struct pair p;

	pair_draw(&p, draw(8, 5));
	p.second.sm_key++;
	pair_start(&p);
	pass(&p, 300 * PS_PER_MS);
	sm_mirror_status(manager(&p, MASTER), &st);
	if (lab_manager_status(p.lab, STANDBY)->state == IBA_SM_STANDBY) {
		assert_true(st.gmps_bad > 0);
		assert_int_equal(st.gmps, 0);
		assert_in_range(p.gmps, 1, 40); /* it asks rarely */
		assert_null(manager(&p, STANDBY)->mirror.standby.whole);
	}
	pair_close(&p);
}

TEST(a_master_without_mirrors)
{
	struct pair p;

	pair_draw(&p, draw(8, 5));
	p.cfg.sm.mirror = false;
	pair_start(&p);
	pass(&p, 500 * PS_PER_MS);
	assert_in_range(p.gmps, 1, 40);
	assert_null(manager(&p, STANDBY)->mirror.standby.whole);
	lab_manager_stop(p.lab, MASTER);
	run_takeover(&p);
	assert_int_equal(p.notes[SM_NOTE_MIRROR_USED], 0);
	expect_master(&p, STANDBY);
	pair_close(&p);
}

/* ---- one standby, and a master that is a script ---- */

struct lone {
	struct sm *sm, *master; /* the second one only makes MADs */
	struct sm_actions out, made;
	time_ps now;
};

static void lone_step(struct lone *l, struct sm_event ev)
{
	l->now += PS_PER_US;
	ev.now = l->now;
	sm_step(l->sm, &ev, &l->out);
}

/* The last request for a mirror; SMPs are only for its own port. */
static struct sm_mirror_mad lone_asked(struct lone *l)
{
	struct iba_port_info pi = {.lid = 4, .sm_lid = 9, .state = IBA_PORT_ACTIVE};
	struct sm_mirror_mad m;
	uint8_t mad[IBA_MAD_SIZE];

	for (unsigned i = 0; i < 100 && !(l->out.sends.n && l->out.sends.at[0].qp); i++) {
		if (!l->out.sends.n) {
			l->now = MAX(l->now, l->out.wake);
			lone_step(l, (struct sm_event){.kind = SM_EV_WAKE});
			continue;
		}
		memcpy(mad, l->out.sends.at[0].mad, sizeof(mad));
		iba_smp_set_method(mad, IBA_GET_RESP);
		iba_port_info_put(&pi, iba_smp_data(mad));
		lone_step(l, (struct sm_event){.kind = SM_EV_SMP, .mad = mad});
	}
	assert_true(l->out.sends.n && l->out.sends.at[0].qp);
	assert_int_equal(l->out.sends.at[0].dlid, 9);
	assert_true(sm_mirror_read(l->master, l->out.sends.at[0].mad, &m));
	return m;
}

static void lone_answer(struct lone *l, struct sm_mirror_mad m, uint64_t root, const uint8_t *data,
			unsigned spoilt)
{
	m.method = IBA_GET_RESP;
	m.root = root;
	l->made.sends.n = 0;
	sm_mirror_send(l->master, &m, data);
	if (spoilt)
		l->made.sends.at[0].mad[spoilt] ^= 1;
	lone_step(l,
		  (struct sm_event){
			  .kind = SM_EV_SMP, .mad = l->made.sends.at[0].mad, .slid = 9, .qp = 1});
}

static void lone_open(struct lone *l)
{
	struct sm_config c;

	memset(l, 0, sizeof(*l));
	sm_config_default(&c);
	c.port = 1;
	c.contest = c.mirror = c.read_back = true;
	c.sm_key = 77;
	c.standby_poll_ps = PS_PER_S;
	l->sm = sm_new(&c);
	l->master = sm_new(&c);
	l->master->core.out = &l->made;
	l->sm->core.phase = SM_STANDBY;
	l->sm->election.state = IBA_SM_STANDBY;
	vec_room(&l->sm->topo.hops, 64);
	l->now = PS_PER_S;
	lone_step(l, (struct sm_event){.kind = SM_EV_WAKE});
}

static void lone_close(struct lone *l)
{
	sm_free(l->sm);
	sm_free(l->master);
	sm_actions_free(&l->out);
	sm_actions_free(&l->made);
}

/* The master takes a standby that is silent for gone: questions that are lost are soon repeated. */
TEST(the_question_for_the_root_is_repeated_evenly)
{
	static const unsigned resp_times[] = {8, 17}; /* of devices: 1 ms, 0.5 s */

	for (size_t k = 0; k < ARRAY_LEN(resp_times); k++) {
		time_ps at[4];
		struct lone l;

		lone_open(&l);
		l.sm->topo.max_resp = resp_times[k];
		for (unsigned i = 0; i < ARRAY_LEN(at); i++) {
			assert_int_equal(lone_asked(&l).attr, IBA_MIRROR_ROOT);
			at[i] = l.now;
			l.now = l.out.wake;
			lone_step(&l, (struct sm_event){.kind = SM_EV_WAKE});
		}
		for (unsigned i = 1; i < ARRAY_LEN(at); i++)
			assert_in_range(at[i] - at[i - 1], 1,
					MIN(5 * sm_timeout(l.sm), 251 * PS_PER_MS));
		lone_close(&l);
	}
}

/* Whatever part of a response is changed on its way, it is not used. */
TEST(a_response_without_the_key_is_ignored)
{
	static const unsigned spoilt[] = {3, 16, 21, 38, 44, 50, 60, 64, 100, 255};
	struct iba_mirror_root r = {.pages = 30, .stamp = 1, .stamp_guid = 2, .stamp_block = 3};
	uint8_t data[SM_PAGE] = {0};
	struct sm_mirror_mad m;
	struct lone l;

	lone_open(&l);
	iba_mirror_root_put(&r, data);
	m = lone_asked(&l);
	assert_int_equal(m.attr, IBA_MIRROR_ROOT);
	for (size_t i = 0; i < ARRAY_LEN(spoilt); i++) {
		lone_answer(&l, m, 5, data, spoilt[i]);
		assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_ROOT);
	}
	assert_int_equal(l.sm->mirror.gmps_bad, ARRAY_LEN(spoilt));
	m.nonce++; /* an answer to another question */
	lone_answer(&l, m, 5, data, 0);
	assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_ROOT);
	m.nonce--;
	lone_answer(&l, m, 5, data, 0);
	assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_PULLING);
	lone_close(&l);
}

/* A master that has the key, and says what cannot be. */
TEST(a_master_that_lies_is_not_believed)
{
	static const uint32_t sizes[] = {0, 1, SM_MAX_PAGES + 1, UINT32_MAX};
	uint8_t data[SM_PAGE] = {0}, page[SM_PAGE] = "nothing";
	struct iba_mirror_root r = {.stamp = 1, .stamp_guid = 2, .stamp_block = 3};
	struct lone l;

	lone_open(&l);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) { /* too small, too large */
		r.pages = sizes[i];
		iba_mirror_root_put(&r, data);
		lone_answer(&l, lone_asked(&l), 5, data, 0);
		assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_WAITING);
		assert_int_equal(l.sm->mirror.gmps_bad, i + 1);
	}
	r.pages = 2; /* a page that is not what the root says */
	iba_mirror_root_put(&r, data);
	lone_answer(&l, lone_asked(&l), 5, data, 0);
	assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_PULLING);
	lone_answer(&l, lone_asked(&l), 5, page, 0);
	assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_WAITING);
	assert_null(l.sm->mirror.standby.whole);
	lone_close(&l);
}

/* Digests that fit, of records that are none. */
TEST(records_that_cannot_be_are_dropped)
{
	uint8_t data[SM_PAGE] = {0}, top[SM_PAGE] = {0}, page[SM_PAGE] = "WEFTMIR1\0\0\0\2";
	struct iba_mirror_root r = {.pages = 2, .stamp = 1, .stamp_guid = 2, .stamp_block = 3};
	struct sm_mirror_mad m;
	struct sm_pages p;
	struct lone l;
	uint64_t root;

	lone_open(&l);
	sm_pages_shape(&p, 2);
	iba_be64_put(top, sm_page_digest(page));
	iba_be64_put(top + 8, sm_page_digest(page));
	root = sm_pages_root(&p, top);
	iba_mirror_root_put(&r, data);
	lone_answer(&l, lone_asked(&l), root, data, 0);
	lone_answer(&l, lone_asked(&l), root, top, 0);
	m = lone_asked(&l);
	for (unsigned i = 0; i < 2; i++) { /* two requests went out in one step */
		assert_int_equal(l.sm->mirror.standby.ask[i].used, true);
		m.tid = l.sm->mirror.standby.ask[i].tid;
		m.nonce = l.sm->mirror.standby.ask[i].nonce;
		m.modifier = l.sm->mirror.standby.ask[i].index;
		lone_answer(&l, m, root, page, 0);
	}
	assert_int_equal(l.sm->mirror.gmps_bad, 1);
	assert_null(l.sm->mirror.standby.whole);
	assert_int_equal(l.sm->mirror.standby.step, SM_MIRROR_WAITING);
	lone_close(&l);
}

/* The pages of a tree: sizes of levels, and what each digest is of. */
TEST(levels_of_digests)
{
	static const struct {
		uint32_t pages, levels;
	} cases[] = {{1, 1}, {2, 2}, {24, 2}, {25, 3}, {576, 3}, {577, 4}, {SM_MAX_PAGES, 6}};
	struct sm_pages p;
	uint8_t page[SM_PAGE] = {0}, other[SM_PAGE] = {0};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		sm_pages_shape(&p, cases[i].pages);
		assert_int_equal(p.levels, cases[i].levels);
		assert_int_equal(p.n[p.levels - 1], 1);
	}
	for (unsigned i = 0; i < SM_PAGE; i++) {
		memcpy(other, page, sizeof(page));
		other[i] ^= 1;
		assert_true(sm_page_digest(page) != sm_page_digest(other));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_copy_is_what_the_master_would_save),
		cmocka_unit_test(nothing_is_copied_while_nothing_changes),
		cmocka_unit_test(what_sweeps_read_is_not_in_the_copy),
		cmocka_unit_test(only_what_changed_is_copied),
		cmocka_unit_test(records_that_moved_are_not_copied_again),
		cmocka_unit_test(a_manager_that_joins_reads_its_own_port_and_the_mirror),
		cmocka_unit_test(a_takeover_asks_two_questions_a_switch_and_changes_nothing),
		cmocka_unit_test(every_standby_lists_all_managers),
		cmocka_unit_test(a_standby_knows_which_managers_run),
		cmocka_unit_test(after_a_hand_over_all_managers_name_the_new_master),
		cmocka_unit_test(of_two_standbys_one_takes_over_with_its_copy),
		cmocka_unit_test(a_takeover_costs_no_packet),
		cmocka_unit_test(tables_that_the_master_changed_stay),
		cmocka_unit_test(uneven_tables_stay_only_if_they_are_a_managers_own),
		cmocka_unit_test(a_higher_priority_gets_the_subnet_when_it_has_its_copy),
		cmocka_unit_test(a_higher_priority_waits_for_the_copy_after_a_change),
		cmocka_unit_test(a_higher_priority_without_a_copy_is_not_kept_waiting),
		cmocka_unit_test(the_cable_of_the_master_is_pulled_and_put_back),
		cmocka_unit_test(the_master_is_paused_and_continues),
		cmocka_unit_test(a_take_over_in_vain_does_not_cost_the_copy),
		cmocka_unit_test(the_master_dies_while_it_changes_tables),
		cmocka_unit_test(with_lost_smps),
		cmocka_unit_test(another_manager_was_master_between),
		cmocka_unit_test(the_switch_with_the_stamp_dies_too),
		cmocka_unit_test(a_master_that_restarts_clears_the_stamp_first),
		cmocka_unit_test(a_master_with_another_key_does_not_answer),
		cmocka_unit_test(a_master_without_mirrors),
		cmocka_unit_test(the_question_for_the_root_is_repeated_evenly),
		cmocka_unit_test(a_response_without_the_key_is_ignored),
		cmocka_unit_test(a_master_that_lies_is_not_believed),
		cmocka_unit_test(records_that_cannot_be_are_dropped),
		cmocka_unit_test(levels_of_digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
