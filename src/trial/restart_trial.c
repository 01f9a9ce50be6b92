/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Managers that crash, drawn from a seed. State: struct trial during one run. Way in:
 * restart_trial_run(). Does not stop or start managers itself: lab_manager_*() do.
 */
#include "lab/verdict.h"
#include "trial/restart_trial.h"
#include "lab/watch.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

#define LIMIT (600 * PS_PER_S)

struct trial {
	struct rng rng;
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	struct lab_watch watch;
	bool watched;
	uint16_t *lids;			/* by port, when the manager was last at rest */
	time_ps up;			/* how long a bring-up takes without crashes */
	unsigned gets, sets, lane_sets; /* lane_sets: of SL-to-VL and VL arbitration tables */
	struct restart_trial *out;
};

/* ---- drawing ---- */

static struct fab *draw_fabric(struct rng *r, unsigned max, struct err *e)
{
	struct fab_gen g = {.kind = "irregular", .ndims = 1};

	g.dims[0] = 2 + rng_below(r, MAX(max, 3u) - 1);
	g.ports = 4 + rng_below(r, 3);
	g.seed = rng_u64(r);
	return fab_generate(&g, e);
}

/* Half of the trials use the default mechanism. */
static void draw_config(struct trial *t, struct lab_config *c)
{
	struct rng *r = &t->rng;
	unsigned per_mille = trial_draw_sim(r, 3, &c->sim);

	c->threads = 1;
	c->sm.mechanism = *trial_draw_weft(r);
	c->sm.window = trial_draw_window(r);
	c->sm.lmc = rng_below(r, 5) ? 0 : 1 + rng_below(r, 2);
	c->sm.qos = rng_below(r, 6) == 0;
	c->sm.sweep_factor = 2 + rng_below(r, 6);
	c->sm.m_key = rng_below(r, 3) ? 0 : rng_u64(r);
	c->sm.m_key_protect = rng_below(r, 4);
	c->sm.read_back = true;
	t->out->loss = per_mille / 1000.0;
	t->out->mechanism = c->sm.mechanism.name;
}

static bool plans(const struct sm_mechanism *m)
{
	return !strncmp(m->name, "weft", strcspn(m->name, "/"));
}

/* ---- crashes ---- */

/* The new manager knows nothing, the LIDs, or the subnet state saved at rest. True: the last. */
static bool start_next(struct trial *t)
{
	unsigned knows = rng_below(&t->rng, 4);

	t->out->restarts++;
	if (knows > 1)
		return lab_manager_resume(t->lab, 0);
	lab_manager_start(t->lab, 0, knows);
	return false;
}

static bool restart(struct trial *t, time_ps pause)
{
	lab_manager_stop(t->lab, 0);
	if (pause)
		trial_run_for(t->lab, pause);
	return start_next(t);
}

/* Up to three crashes in a row, each with or without a pause before the next manager starts. */
static void crash_some(struct trial *t, time_ps within)
{
	for (unsigned n = rng_below(&t->rng, 4); n; n--) {
		trial_run_for(t->lab, rng_u64(&t->rng) % within);
		restart(t, rng_below(&t->rng, 2) ? 0 : rng_u64(&t->rng) % (10 * PS_PER_MS));
	}
}

static bool settle(struct trial *t, const char *when)
{
	if (lab_run_settled(t->lab, sim_now(t->sim), sim_now(t->sim) + LIMIT))
		return true;
	lab_fail(t->out->why, "%s: the manager did not come to rest in 600 s", when);
	return false;
}

/* ---- changes ---- */

static void change_one(struct trial *t)
{
	node_id n = t->fab->switches[rng_below(&t->rng, t->fab->nswitches)];
	port_id p = rng_below(&t->rng, t->fab->nports);
	port_id own = trial_manager_port(t->lab), far = t->fab->ports[p].peer;

	t->out->changes++;
	if (rng_below(&t->rng, 2) && trial_may_power_off(t->lab, n)) {
		sim_node_power(t->sim, n, !sim_node_on(t->sim, n));
	} else if (far != FAB_NONE && p != own && far != own) {
		if (sim_port_peer(t->sim, p) != FAB_NONE)
			sim_uncable(t->sim, p);
		else
			sim_cable(t->sim, p, far);
	}
}

/* ---- the verdict ---- */

static void check(struct trial *t, const char *when)
{
	struct lab_levels levels;
	struct lab_verdict v;

	lab_judge(t->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		lab_fail(t->out->why, "%s: %.200s", when, v.why);
	rt_report_free(&v.report);
	lab_levels(t->lab, &levels);
	if (!v.unreached && levels.connected != levels.pairs)
		lab_fail(t->out->why, "%s: %llu of %llu pairs of hosts are connected", when,
			 (unsigned long long)levels.connected, (unsigned long long)levels.pairs);
	if (t->watched && t->watch.unsafe_at != TIME_NEVER)
		lab_fail(t->out->why, "%s: at %llu us the tables allowed a deadlock of %zu links",
			 when, (unsigned long long)(t->watch.unsafe_at / PS_PER_US),
			 t->watch.ncycle);
}

static void remember_lids(struct trial *t)
{
	for (port_id p = 0; p < t->fab->nports; p++)
		t->lids[p] = sim_port_info(t->sim, p)->lid;
}

/* A port that stayed up keeps its LID. */
static void check_lids(struct trial *t, const char *when)
{
	for (port_id p = 0; p < t->fab->nports; p++) {
		uint16_t now = sim_port_info(t->sim, p)->lid;

		if (t->lids[p] && now && now != t->lids[p])
			lab_fail(t->out->why, "%s: port %u of %016llx had LID %u and has %u", when,
				 t->fab->ports[p].num,
				 (unsigned long long)t->fab->nodes[t->fab->ports[p].node].guid,
				 t->lids[p], now);
	}
}

/* ---- one trial ---- */

static void bring_up(struct trial *t)
{
	lab_power_on(t->lab, NULL);
	crash_some(t, t->up);
	if (settle(t, "bring-up"))
		check(t, "bring-up");
	remember_lids(t);
}

static void change(struct trial *t)
{
	bool unmanaged = rng_below(&t->rng, 3) == 0;

	if (unmanaged) /* the change happens while no manager runs */
		lab_manager_stop(t->lab, 0);
	for (unsigned n = 1 + rng_below(&t->rng, 3); n; n--)
		change_one(t);
	if (unmanaged) {
		trial_run_for(t->lab, rng_u64(&t->rng) % PS_PER_MS);
		start_next(t);
	}
	crash_some(t, 2 * PS_PER_MS);
	if (settle(t, "change"))
		check(t, "change");
	/* A node that was off lost its LID; a manager that does not know it assigns any. */
	remember_lids(t);
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct trial *t = ctx;
	unsigned attr;
	bool set;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(t->lab))
		return;
	t->gets += iba_smp_method(smp->mad) == IBA_GET;
	set = iba_smp_method(smp->mad) == IBA_SET;
	attr = iba_smp_attr_id(smp->mad);
	t->sets += set;
	t->lane_sets += set && (attr == IBA_ATTR_SLVL_TABLE || attr == IBA_ATTR_VLARB_TABLE);
}

/* A start on a fabric that is configured correctly must not send a Set. */
static void warm(struct trial *t)
{
	bool resumed;

	sim_watch(t->sim, (struct sim_watch){on_seen, t});
	resumed = restart(t, rng_below(&t->rng, 2) ? 0 : 5 * PS_PER_MS);
	while (!lab_status(t->lab)->rounds && sim_step(t->sim))
		;
	sim_watch(t->sim, (struct sim_watch){0});
	t->out->warm_gets = t->gets;
	t->out->warm_sets = t->sets;
	/* Of lanes a manager without saved state reads the SL-to-VL tables of switches alone. */
	if (!resumed && lab_config(t->lab)->sm.mechanism.routes->engine &&
	    lab_config(t->lab)->sm.mechanism.routes->engine->lanes)
		t->sets -= t->lane_sets;
	/* With qos the manager writes all tables again; turns that one graph disables another may need. */
	if (t->sets && !lab_config(t->lab)->sm.qos &&
	    !lab_config(t->lab)->sm.mechanism.first->stay_off)
		lab_fail(t->out->why, "a warm start sent %u Sets", t->sets);
	/* For each switch SwitchInfo, port 0 and a table block; the own node, its port and the peer. A trap
	 * adds Gets, and turns that stay disabled at rest are read. */
	if (resumed && t->out->loss == 0 && !lab_status(t->lab)->traps &&
	    !lab_config(t->lab)->sm.mechanism.first->stay_off &&
	    t->gets > 3 * t->fab->nswitches + 3)
		lab_fail(t->out->why, "a warm start with restored subnet state sent %u Gets",
			 t->gets);
	t->out->resumed = resumed;
	if (settle(t, "warm start"))
		check(t, "warm start");
	check_lids(t, "warm start");
}

/* How long a bring-up takes without crashes, so that crashes hit every stage. */
static time_ps measure(const struct fab *f, const struct lab_config *c)
{
	struct err e = {{0}};
	struct lab *l = lab_new(f, c, &e);
	time_ps t;

	lab_power_on(l, NULL);
	lab_run_ready(l, LIMIT);
	t = sim_now(lab_sim(l));
	lab_free(l);
	return t;
}

void restart_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		       struct restart_trial *out)
{
	struct trial t = {.out = out};
	struct lab_config c;
	struct err e = {{0}};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	rng_seed(&t.rng, seed, 12);
	t.fab = draw_fabric(&t.rng, max_switches, &e);
	if (!t.fab) {
		lab_fail(out->why, "no topology: %.200s", e.text);
		return;
	}
	out->switches = t.fab->nswitches;
	out->hosts = t.fab->nhosts;
	out->links = t.fab->nlinks;
	lab_config_default(&c);
	draw_config(&t, &c);
	if (m) {
		c.sm.mechanism = *m;
		out->mechanism = m->name;
	}
	t.up = measure(t.fab, &c);
	t.lab = lab_new(t.fab, &c, &e);
	t.sim = lab_sim(t.lab);
	t.lids = mem_zarray(t.fab->nports, sizeof(*t.lids));
	t.watched = plans(&c.sm.mechanism);
	if (t.watched)
		lab_watch_start(&t.watch, t.lab);
	bring_up(&t);
	for (unsigned n = rng_below(&t.rng, 3); n && !out->why[0]; n--)
		change(&t);
	if (!out->why[0])
		warm(&t);
	lab_watch_stop(&t.watch);
	out->ok = !out->why[0];
	out->hash = sim_hash(t.sim);
	out->end = sim_now(t.sim);
	lab_free(t.lab);
	lab_watch_free(&t.watch);
	fab_free(t.fab);
	free(t.lids);
}
