/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Managers that die, drawn from a seed. State: struct trial during one run. Way in:
 * lab_restart_trial(). Does not depend on anything but its arguments.
 */
#include "lab/restart_trial.h"
#include "lab/lab_priv.h"
#include "lab/watch.h"
#include "sim/kernel/sim_kernel.h"

#define LIMIT (600 * PS_PER_S)

struct trial {
	struct rng rng;
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	struct lab_watch watch;
	bool watched;
	uint16_t *lids; /* by port, when all was at rest */
	time_ps up;	/* how long a bring-up takes when nobody dies */
	unsigned gets, sets;
	struct lab_restart_trial *out;
};

static void wrong(struct trial *t, const char *fmt, ...) PRINTF(2, 3);

static void wrong(struct trial *t, const char *fmt, ...)
{
	va_list ap;

	if (t->out->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(t->out->why, sizeof(t->out->why), fmt, ap);
	va_end(ap);
}

/* ---- drawing ---- */

static struct fab *draw_fabric(struct rng *r, unsigned max, struct err *e)
{
	struct fab_gen g = {.kind = "irregular", .ndims = 1};

	g.dims[0] = 2 + rng_below(r, MAX(max, 3u) - 1);
	g.ports = 4 + rng_below(r, 3);
	g.seed = rng_u64(r);
	return fab_generate(&g, e);
}

/* Half of them the default; the others have to hand over as well. */
static const struct sm_mechanism *draw_mechanism(struct rng *r)
{
	unsigned n = 0;

	while (sm_mechanisms[n].name)
		n++;
	return rng_below(r, 2) ? sm_mechanism_find("weft") : &sm_mechanisms[rng_below(r, n)];
}

static void draw_config(struct trial *t, struct lab_config *c)
{
	static const unsigned windows[] = {1, 4, 32, 256};
	struct rng *r = &t->rng;
	unsigned per_mille = rng_below(r, 3) ? 0 : rng_below(r, 31);

	c->threads = 1;
	c->sim.seed = rng_u64(r);
	c->sim.traps = rng_below(r, 4) > 0;
	c->sim.faults.loss_q32 = ((uint64_t)per_mille << 32) / 1000;
	c->sm.mechanism = *draw_mechanism(r);
	c->sm.window = windows[rng_below(r, ARRAY_LEN(windows))];
	c->sm.lmc = rng_below(r, 5) ? 0 : 1 + rng_below(r, 2);
	c->sm.qos = rng_below(r, 6) == 0;
	c->sm.sweep_factor = 2 + rng_below(r, 6);
	c->sm.m_key = rng_below(r, 3) ? 0 : rng_u64(r);
	c->sm.m_key_protect = rng_below(r, 4);
	c->sm.read_back = true;
	t->out->loss = per_mille / 1000.0;
	t->out->mechanism = c->sm.mechanism.name;
}

/* ---- who dies when ---- */

static void on_moment(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

static void run_for(struct trial *t, time_ps how_long)
{
	time_ps end = sim_now(t->sim) + how_long;

	sim_call(t->sim, end, on_moment, NULL, 0);
	lab_run_until(t->lab, end);
}

/* The next one knows nothing, the LIDs, or all that its forerunner knew at rest. True: that. */
static bool succeed(struct trial *t)
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
		run_for(t, pause);
	return succeed(t);
}

/* A few times in a row: after a while, and with or without a pause in which nobody manages. */
static void die_some(struct trial *t, time_ps within)
{
	for (unsigned n = rng_below(&t->rng, 4); n; n--) {
		run_for(t, rng_u64(&t->rng) % within);
		restart(t, rng_below(&t->rng, 2) ? 0 : rng_u64(&t->rng) % (10 * PS_PER_MS));
	}
}

static bool settle(struct trial *t, const char *when)
{
	if (lab_run_settled(t->lab, sim_now(t->sim), sim_now(t->sim) + LIMIT))
		return true;
	wrong(t, "%s: the manager did not come to rest in 600 s", when);
	return false;
}

/* ---- what changes ---- */

static bool may_go(const struct trial *t, node_id n)
{
	node_id sm = lab_sm_node(t->lab);
	port_id p = fab_port_id(t->fab, sm, t->lab->cfg.sm.port);

	return n != sm && (!t->fab->ports[p].num || t->fab->ports[t->fab->ports[p].peer].node != n);
}

static void strike(struct trial *t)
{
	node_id n = t->fab->switches[rng_below(&t->rng, t->fab->nswitches)];
	port_id p = rng_below(&t->rng, t->fab->nports);
	port_id own = fab_port_id(t->fab, lab_sm_node(t->lab), t->lab->cfg.sm.port),
		far = t->fab->ports[p].peer;

	t->out->changes++;
	if (rng_below(&t->rng, 2) && may_go(t, n)) {
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
		wrong(t, "%s: %.200s", when, v.why);
	rt_report_free(&v.report);
	lab_levels(t->lab, &levels);
	if (!v.unreached && levels.connected != levels.pairs)
		wrong(t, "%s: %llu of %llu pairs of hosts are connected", when,
		      (unsigned long long)levels.connected, (unsigned long long)levels.pairs);
	if (t->watched && t->watch.unsafe_at != TIME_NEVER)
		wrong(t, "%s: at %llu us %zu links could wait for each other", when,
		      (unsigned long long)(t->watch.unsafe_at / PS_PER_US), t->watch.ncycle);
}

static void remember_lids(struct trial *t)
{
	for (port_id p = 0; p < t->fab->nports; p++)
		t->lids[p] = sim_port_info(t->sim, p)->lid;
}

/* Whoever was on all the time has the LID it had. */
static void check_lids(struct trial *t, const char *when)
{
	for (port_id p = 0; p < t->fab->nports; p++) {
		uint16_t now = sim_port_info(t->sim, p)->lid;

		if (t->lids[p] && now && now != t->lids[p])
			wrong(t, "%s: port %u of %016llx had LID %u and has %u", when,
			      t->fab->ports[p].num,
			      (unsigned long long)t->fab->nodes[t->fab->ports[p].node].guid,
			      t->lids[p], now);
	}
}

/* ---- one trial ---- */

static void bring_up(struct trial *t)
{
	lab_power_on(t->lab, NULL);
	die_some(t, t->up);
	if (settle(t, "bring-up"))
		check(t, "bring-up");
	remember_lids(t);
}

static void change(struct trial *t)
{
	bool unmanaged = rng_below(&t->rng, 3) == 0;

	if (unmanaged) /* it happens while nobody looks */
		lab_manager_stop(t->lab, 0);
	for (unsigned n = 1 + rng_below(&t->rng, 3); n; n--)
		strike(t);
	if (unmanaged) {
		run_for(t, rng_u64(&t->rng) % PS_PER_MS);
		succeed(t);
	}
	die_some(t, 2 * PS_PER_MS);
	if (settle(t, "change"))
		check(t, "change");
	/* Who was off has forgotten its LID, and a manager without a memory gives it any. */
	remember_lids(t);
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct trial *t = ctx;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(t->lab))
		return;
	t->gets += iba_smp_method(smp->mad) == IBA_GET;
	t->sets += iba_smp_method(smp->mad) == IBA_SET;
}

/* All is as it should be: whoever comes now has to find that out, and to leave it alone. */
static void warm(struct trial *t)
{
	bool resumed;

	sim_watch(t->sim, (struct sim_watch){on_seen, t});
	resumed = restart(t, rng_below(&t->rng, 2) ? 0 : 5 * PS_PER_MS);
	while (!t->lab->lead->st.rounds && sim_step(t->sim))
		;
	sim_watch(t->sim, (struct sim_watch){0});
	t->out->warm_gets = t->gets;
	t->out->warm_sets = t->sets;
	/* With qos everything is written anew; and turns that one graph leaves off another may need. */
	if (t->sets && !t->lab->cfg.sm.qos && !t->lab->cfg.sm.mechanism.first->stay_off)
		wrong(t, "a warm start sent %u Sets", t->sets);
	/* Of each switch SwitchInfo, port 0 and a block; the own node, its port, and who is behind that.
	 * What a trap tells is asked for besides. */
	if (resumed && t->out->loss == 0 && !t->lab->lead->st.traps &&
	    t->gets > 3 * t->fab->nswitches + 3)
		wrong(t, "a warm start with a memory sent %u Gets", t->gets);
	t->out->resumed = resumed;
	if (settle(t, "warm start"))
		check(t, "warm start");
	check_lids(t, "warm start");
}

/* How long it takes without anybody dying, so that they die at every stage. */
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

void lab_restart_trial(uint64_t seed, unsigned max_switches, struct lab_restart_trial *out)
{
	struct trial t = {.out = out};
	struct lab_config c;
	struct err e = {{0}};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	rng_seed(&t.rng, seed, 12);
	t.fab = draw_fabric(&t.rng, max_switches, &e);
	if (!t.fab) {
		snprintf(out->why, sizeof(out->why), "no topology: %.200s", e.text);
		return;
	}
	out->switches = t.fab->nswitches;
	out->hosts = t.fab->nhosts;
	out->links = t.fab->nlinks;
	lab_config_default(&c);
	draw_config(&t, &c);
	t.up = measure(t.fab, &c);
	t.lab = lab_new(t.fab, &c, &e);
	t.sim = lab_sim(t.lab);
	t.lids = mem_zarray(t.fab->nports, sizeof(*t.lids));
	t.watched = !strcmp(c.sm.mechanism.name, "weft");
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
