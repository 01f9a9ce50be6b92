/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes over a restart and over a take-over: SL-to-VL tables of devices and service levels of hosts stay, and no Set
 * is sent for them. A torus in the laboratory, with one manager or two. State: one lab for each test.
 * Covers: saved_lanes.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "lab/host_sls.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "lab/watch.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"
#include "sm/restore/saved_state.h"
#include "trial/restart_trial.h"

enum { FIRST, SECOND };

struct bench {
	struct fab *f;
	struct lab_config c;
	struct lab *l;
	unsigned gets, sets, lane_sets,
		table_sets; /* of the first manager's node, or the second's */
	node_id sender;
};

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct bench *b = ctx;
	unsigned attr;
	bool set;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != b->sender || iba_is_vendor(smp->mad))
		return;
	attr = iba_smp_attr_id(smp->mad);
	set = iba_smp_method(smp->mad) == IBA_SET;
	b->gets += iba_smp_method(smp->mad) == IBA_GET;
	b->sets += set;
	b->lane_sets += set && (attr == IBA_ATTR_SLVL_TABLE || attr == IBA_ATTR_VLARB_TABLE);
	b->table_sets += set && attr == IBA_ATTR_LFT;
}

static node_id host(const struct fab *f, bool last)
{
	node_id n = last ? f->nnodes - 1 : 0;

	while (fab_is_switch(f, n))
		n = last ? n - 1 : n + 1;
	return n;
}

static void bench_draw(struct bench *b, const char *engine)
{
	struct fab_gen torus = {.kind = "torus", .dims = {5, 5}, .ndims = 2, .hosts = 1},
		       fly = {.kind = "dragonfly", .dims = {2, 4, 2}, .ndims = 3};
	struct err e;

	memset(b, 0, sizeof(*b));
	b->f = fab_generate(strcmp(engine, "dragonfly") ? &torus : &fly, &e);
	assert_non_null(b->f);
	lab_config_default(&b->c);
	b->c.sm.mechanism = *sm_mechanism_find("weft");
	b->c.sm.mechanism.routes = sm_supply_find(engine);
	b->c.sm.read_back = true;
	b->c.sm_node = b->sender = host(b->f, false);
	b->c.sim.traps = true;
	b->c.sim.plane.on = true;
	b->c.sim.vl_cap = 4;
	b->c.threads = 1;
}

static void bench_up(struct bench *b)
{
	struct err e;

	b->l = lab_new(b->f, &b->c, &e);
	assert_non_null(b->l);
	sim_watch(lab_sim(b->l), (struct sim_watch){on_seen, b});
	lab_power_on(b->l, NULL);
	assert_true(lab_run_ready(b->l, 100 * PS_PER_S));
}

static void bench_down(struct bench *b)
{
	lab_free(b->l);
	fab_free(b->f);
}

static void count_again(struct bench *b)
{
	b->gets = b->sets = b->lane_sets = b->table_sets = 0;
}

/* All that devices and hosts hold of tables and lanes, as one number. */
static uint64_t lanes_hash(const struct bench *b)
{
	struct sim *s = lab_sim(b->l);
	uint64_t h = 1;

	for (port_id p = 0; p < b->f->nports; p++) {
		const struct fab_node *n = &b->f->nodes[b->f->ports[p].node];
		bool sw = n->type == IBA_NODE_SWITCH;

		for (unsigned in = 0; in <= (sw ? n->nports : 0u); in++)
			for (unsigned sl = 0; b->f->ports[p].num && sl < RT_SLS; sl++)
				h = hash64_add(h, sim_slvl(s, b->f->ports[p].node, in,
							   b->f->ports[p].num, sl));
		for (unsigned lid = 1; lid < 64; lid++)
			h = hash64_add(h, sw ? sim_lft(s, b->f->ports[p].node, lid)
					     : lab_host_sl(b->l, p, (uint16_t)lid));
	}
	return h;
}

static void assert_right(struct bench *b)
{
	struct lab_verdict v;

	lab_judge(b->l, &v);
	if (!v.active || !v.verified || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
	assert_non_null(sm_tables(lab_sm(b->l))->lanes);
}

static void restart(struct bench *b)
{
	count_again(b);
	assert_true(lab_manager_resume(b->l, FIRST));
	assert_true(lab_run_ready(b->l, sim_now(lab_sim(b->l)) + 60 * PS_PER_S));
}

/* As with one lane, and again after that: what is saved of kept tables is what was saved before. */
TEST(a_restart_sets_nothing)
{
	static const char *const engines[] = {"balanced", "nue", "torus", "dragonfly"};

	for (unsigned i = 0; i < ARRAY_LEN(engines); i++) {
		struct bench b;
		uint64_t before;
		size_t len, again;

		bench_draw(&b, engines[i]);
		bench_up(&b);
		assert_right(&b);
		before = lanes_hash(&b);
		for (unsigned k = 0; k < 2; k++) {
			lab_manager_stop(b.l, FIRST);
			lab_manager_memory(b.l, FIRST, k ? &again : &len);
			restart(&b);
			assert_int_equal(b.sets, 0);
			assert_int_equal(b.gets, 3 * b.f->nswitches + 3);
			assert_true(lanes_hash(&b) == before);
			assert_right(&b);
		}
		assert_int_equal(len, again);
		bench_down(&b);
	}
}

/* Without the saved part, as of a manager before, the next one reads maps from the devices. */
TEST(a_start_without_state_keeps_what_is_there)
{
	struct bench b;
	uint64_t before;

	bench_draw(&b, "balanced");
	bench_up(&b);
	before = lanes_hash(&b);
	lab_manager_stop(b.l, FIRST);
	count_again(&b);
	lab_manager_start(b.l, FIRST, true);
	assert_true(lab_run_ready(b.l, sim_now(lab_sim(b.l)) + 60 * PS_PER_S));
	assert_int_equal(b.table_sets, 0);
	assert_true(lanes_hash(&b) == before);
	assert_right(&b);
	bench_down(&b);
}

/* Under load: no cycle at any moment, and the switch that restarted has its maps again. */
TEST(a_switch_restarted_meanwhile)
{
	struct traffic_config t = {.pattern = TRAFFIC_UNIFORM,
				   .payload = 256,
				   .interval_ps = 2 * PS_PER_US,
				   .sl_mask = 0xffff,
				   .seed = 5};
	struct lab_watch w;
	struct bench b;
	struct err e;

	bench_draw(&b, "balanced");
	bench_up(&b);
	t.start_ps = sim_now(lab_sim(b.l));
	t.stop_ps = t.start_ps + 5 * PS_PER_MS;
	lab_watch_start(&w, b.l);
	assert_int_equal(sim_traffic(lab_sim(b.l), &t, &e), 0);
	lab_manager_stop(b.l, FIRST);
	sim_node_power(lab_sim(b.l), b.f->switches[9], false);
	sim_node_power(lab_sim(b.l), b.f->switches[9], true);
	restart(&b);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_right(&b);
	lab_watch_stop(&w);
	assert_int_equal(w.unsafe_at, TIME_NEVER);
	assert_int_equal(w.locked_at, TIME_NEVER);
	assert_int_equal(w.now.connectivity, 1000000);
	bench_down(&b);
	lab_watch_free(&w);
}

/* ---- a standby ---- */

static void on_moment(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

static void pass(struct bench *b, time_ps t)
{
	struct sim *s = lab_sim(b->l);

	sim_call(s, sim_now(s) + t, on_moment, NULL, 0);
	lab_run_until(b->l, sim_now(s) + t);
}

static void pair_up(struct bench *b, const char *engine)
{
	struct sm_config second;
	struct err e;

	bench_draw(b, engine);
	b->c.sm.contest = b->c.sm.mirror = true;
	b->c.sm.sm_key = 0x5ecbe7;
	b->c.sm.priority = 5;
	b->c.sm.standby_poll_ps = 5 * PS_PER_MS;
	b->c.sm.standby_tries = 2;
	second = b->c.sm;
	second.priority = 4;
	b->l = lab_new(b->f, &b->c, &e);
	b->sender = host(b->f, true);
	lab_manager_add(b->l, b->sender, &second);
	sim_watch(lab_sim(b->l), (struct sim_watch){on_seen, b});
	lab_power_on(b->l, NULL);
	for (unsigned i = 0; i < 3000; i++) {
		const struct sm *m = lab_manager_sm(b->l, FIRST), *s = lab_manager_sm(b->l, SECOND);

		if (m->mirror.master.valid && m->mirror.stamp.state == SM_STAMP_SET &&
		    s->mirror.standby.whole &&
		    s->mirror.standby.of.root == m->mirror.master.of.root)
			return;
		pass(b, PS_PER_MS);
	}
	fail_msg("the standby has no copy");
}

TEST(a_take_over_changes_no_lane)
{
	static const char *const engines[] = {"balanced", "torus"};

	for (unsigned i = 0; i < 2 * ARRAY_LEN(engines); i++) {
		bool dies = i & 1; /* the master's host, with it */
		struct bench b;
		uint64_t before;

		pair_up(&b, engines[i / 2]);
		before = lanes_hash(&b);
		count_again(&b);
		lab_manager_stop(b.l, FIRST);
		if (dies)
			sim_node_power(lab_sim(b.l), b.c.sm_node, false);
		lab_manager_lead(b.l, SECOND);
		for (unsigned k = 0;
		     k < 3000 && lab_manager_status(b.l, SECOND)->state != IBA_SM_MASTER; k++)
			pass(&b, PS_PER_MS / 10);
		assert_true(lab_run_ready(b.l, sim_now(lab_sim(b.l)) + 60 * PS_PER_S));
		assert_int_equal(b.lane_sets, 0);
		if (!dies) {
			assert_int_equal(b.table_sets, 0);
			assert_true(lanes_hash(&b) == before);
		}
		assert_right(&b);
		bench_down(&b);
	}
}

/* Managers that crash, engines with lanes drawn at random. */
TEST(crashes_with_any_engine)
{
	for (uint64_t seed = 1; seed <= 80; seed++) {
		struct trial_engine g;
		struct restart_trial t;

		trial_draw_engine(seed, &g);
		if (!g.mechanism.routes->engine || !g.mechanism.routes->engine->lanes)
			continue;
		restart_trial_run(seed, 10, &g.mechanism, &t);
		if (!t.ok)
			fail_msg("seed %llu, %s: %s", (unsigned long long)seed, g.name, t.why);
	}
}

/* ---- damage ---- */

/* Cut short or with another byte, and a seal that fits: refused or read, and never beyond its end. */
TEST(damaged_lanes_are_refused_or_harmless)
{
	struct bench b;
	struct err e;
	uint8_t *bytes, *copy;
	size_t len, refused = 0;

	bench_draw(&b, "balanced");
	bench_up(&b);
	bytes = sm_state_save(lab_sm(b.l), &len);
	assert_memory_equal(bytes, "WEFTMEM3", 8);
	len -= 8;
	for (size_t i = 8; i < len; i += 3) {
		struct sm *sm = sm_new(&b.c.sm);
		size_t n = i % 2 ? i : len;

		copy = mem_alloc(n + 8);
		memcpy(copy, bytes, n);
		if (n == len)
			copy[i] ^= (uint8_t)(1u << i % 8);
		sm_saved_seal(copy, n);
		refused += sm_state_load(sm, copy, n + 8, &e) != 0;
		if (n < len)
			assert_null(sm->restored.saved);
		sm_free(sm);
		free(copy);
	}
	assert_true(refused > len / 8);
	free(bytes);
	bench_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_sets_nothing),
		cmocka_unit_test(a_start_without_state_keeps_what_is_there),
		cmocka_unit_test(a_switch_restarted_meanwhile),
		cmocka_unit_test(a_take_over_changes_no_lane),
		cmocka_unit_test(crashes_with_any_engine),
		cmocka_unit_test(damaged_lanes_are_refused_or_harmless),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
