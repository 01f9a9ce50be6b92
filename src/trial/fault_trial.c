/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bring-up under faults, drawn from a seed. State: struct trial during one run. Way in:
 * fault_trial_run(). Does not judge: lab_judge() does.
 */
#include "lab/verdict.h"
#include "trial/fault_trial.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct trial {
	struct lab *lab;
	struct rng rng;
	const struct fab *fab;
	unsigned budget; /* faults still to draw */
	unsigned events;
};

/* ---- faults ---- */

static void on_fault(void *ctx, uint64_t cookie)
{
	struct trial *t = ctx;

	t->events++;
	trial_fault_apply(lab_sim(t->lab), t->fab, cookie);
}

/* A link or switch fails within `spread` from now, and perhaps returns. */
static void draw_fault(struct trial *t, time_ps spread)
{
	struct sim *s = lab_sim(t->lab);
	time_ps when = sim_now(s) + rng_u64(&t->rng) % spread;
	time_ps back = when + rng_u64(&t->rng) % (20 * spread);
	bool returns = rng_below(&t->rng, 3) > 0;

	t->budget--;
	if (rng_below(&t->rng, 2)) {
		port_id p = rng_below(&t->rng, t->fab->nports);

		if (t->fab->ports[p].peer == FAB_NONE)
			return;
		sim_call(s, when, on_fault, t, trial_fault_cookie(TRIAL_LINK_DOWN, p));
		if (returns)
			sim_call(s, back, on_fault, t, trial_fault_cookie(TRIAL_LINK_UP, p));
	} else {
		node_id n = t->fab->switches[rng_below(&t->rng, t->fab->nswitches)];

		if (n == lab_sm_node(t->lab))
			return;
		sim_call(s, when, on_fault, t, trial_fault_cookie(TRIAL_NODE_OFF, n));
		if (returns)
			sim_call(s, back, on_fault, t, trial_fault_cookie(TRIAL_NODE_ON, n));
	}
}

/* Faults follow the start of a phase, so that they hit every phase. */
static void on_note(void *ctx, const struct sm_note *n)
{
	struct trial *t = ctx;

	if (n->kind == SM_NOTE_PHASE && t->budget && n->phase.to != SM_READY &&
	    rng_below(&t->rng, 4) == 0)
		draw_fault(t, PS_PER_MS / 4 + rng_u64(&t->rng) % PS_PER_MS);
}

/* ---- drawing ---- */

static struct fab *draw_fabric(struct rng *r, uint64_t seed, unsigned max_switches, struct err *e)
{
	struct rng cables; /* its own stream: the other draws of a seed stay the same */
	struct fab_gen g = {.kind = "irregular", .ndims = 1, .ports = 4};
	unsigned span = 1, octave, n;

	while (2u << span <= max_switches)
		span++;
	/* Small subnets are as likely as large ones: draw a power of two, then a size in its octave. */
	octave = 1 + rng_below(r, span);
	n = (1u << octave) + rng_below(r, 1u << octave);
	g.dims[0] = MAX(2u, MIN(n, max_switches));
	g.ports = 4 + rng_below(r, 3);
	g.seed = rng_u64(r);
	rng_seed(&cables, seed, 9);
	if (rng_below(&cables, 2)) {
		g.cable_cm = 1 + rng_below(&cables, 1000);
		g.trunk_cm = 1 + rng_below(&cables, rng_below(&cables, 8) ? 20000 : 1000000);
	}
	return fab_generate(&g, e);
}

static void draw_config(struct rng *r, const struct fab *f, struct lab_config *c, double *loss)
{
	static const unsigned windows[] = {1, 2, 8, 32, 256};
	unsigned per_mille = rng_below(r, 51);

	c->sim.seed = rng_u64(r);
	c->sim.traps = rng_below(r, 2);
	c->sim.training_ps = rng_below(r, 2) ? rng_below(r, 1000) * PS_PER_US : 0;
	c->sim.faults.loss_q32 = ((uint64_t)per_mille << 32) / 1000;
	c->sim.faults.delay_q32 = ((uint64_t)rng_below(r, 21) << 32) / 1000;
	c->sim.faults.dup_q32 = ((uint64_t)rng_below(r, 11) << 32) / 1000;
	c->sim.faults.delay_max_ps = 2 * PS_PER_MS;
	c->sm.window = windows[rng_below(r, ARRAY_LEN(windows))];
	c->sm.explore = rng_below(r, 4) ? SM_EXPLORE_PROPAGATION : SM_EXPLORE_BFS;
	c->sm.lmc = rng_below(r, 4) ? 0 : rng_below(r, 4);
	c->sm.activate_by_lid = rng_below(r, 2);
	c->sm.sweep_factor = 2 + rng_below(r, 20);
	c->sm.m_key = rng_below(r, 3) ? 0 : rng_u64(r);
	c->sm.m_key_protect = rng_below(r, 4);
	c->threads = 1;
	c->sm_node = rng_below(r, 4) ? FAB_NONE : f->switches[0];
	*loss = per_mille / 1000.0;
}

/*
 * In one trial of four, some or all switches have random forwarding tables only, with room for every LID or
 * a few more. Its own random stream: the other draws of a seed stay the same. NULL: none; caller frees.
 */
static uint16_t *draw_random_only(uint64_t seed, const struct fab *f, unsigned lmc)
{
	struct rng r;
	uint32_t share, endports = 0;
	uint16_t *cap;

	rng_seed(&r, seed, 10);
	if (rng_below(&r, 4))
		return NULL;
	for (node_id n = 0; n < f->nnodes; n++)
		endports += fab_is_switch(f, n) ? 1 : f->nodes[n].nports;
	share = 1 + rng_below(&r, 4);
	cap = mem_zarray(f->nnodes, sizeof(*cap));
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (rng_below(&r, 4) < share)
			cap[f->switches[s]] = (uint16_t)MIN(
				(endports << lmc) + rng_below(&r, 2) * rng_below(&r, 512),
				(uint32_t)UINT16_MAX);
	return cap;
}

static void conclude(struct trial *t, struct fault_trial *out)
{
	struct lab_verdict v;
	const struct sim_stats *st = sim_stats(lab_sim(t->lab));

	lab_judge(t->lab, &v);
	out->ok = out->ok && v.active && v.verified && v.lids_unique && v.complete;
	if (!out->why[0])
		snprintf(out->why, sizeof(out->why), "%s", v.why);
	rt_report_free(&v.report);
	out->hash = sim_hash(lab_sim(t->lab));
	out->smps = st->sent;
	out->sim_events = sim_events(lab_sim(t->lab));
	out->end = sim_now(lab_sim(t->lab));
	out->events = t->events;
}

/* Settings, mechanism and random tables, in this order of draws; then a lab with them. */
static void prepare(struct trial *t, const struct sm_mechanism *m, struct fault_trial *out)
{
	const struct fab *f = t->fab;
	struct lab_config c;
	struct err e = {{0}};
	uint16_t *random_only;

	lab_config_default(&c);
	draw_config(&t->rng, f, &c, &out->loss);
	out->switches = f->nswitches;
	out->hosts = f->nhosts;
	out->links = f->nlinks;
	t->budget = rng_below(&t->rng, 9);
	c.sm.mechanism = m ? *m : *trial_draw_mechanism(&t->rng);
	out->mechanism = m ? m->name : c.sm.mechanism.name;
	c.sim.random_only = random_only = draw_random_only(out->seed, f, c.sm.lmc);
	for (node_id n = 0; random_only && n < f->nnodes; n++)
		out->random_tables += random_only[n] != 0;
	t->lab = lab_new(f, &c, &e);
	free(random_only);
}

/* Bring-up with faults, then the faults that are left; then a sweep must find no change. */
static bool run(struct trial *t)
{
	lab_on_note(t->lab, on_note, t);
	lab_power_on(t->lab, NULL);
	if (!lab_run_ready(t->lab, 600 * PS_PER_S))
		return false;
	while (t->budget)
		draw_fault(t, 10 * PS_PER_MS);
	return lab_run_settled(t->lab, sim_now(lab_sim(t->lab)) + 220 * PS_PER_MS, 600 * PS_PER_S);
}

void fault_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		     struct fault_trial *out)
{
	struct trial t = {0};
	struct fab *f;
	struct err e = {{0}};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	rng_seed(&t.rng, seed, 7);
	t.fab = f = draw_fabric(&t.rng, seed, max_switches, &e);
	if (!f) {
		lab_fail(out->why, "no topology: %.200s", e.text);
		return;
	}
	prepare(&t, m, out);
	out->ok = run(&t);
	if (!out->ok)
		lab_fail(out->why, "the manager did not come to rest in 600 s");
	conclude(&t, out);
	lab_free(t.lab);
	fab_free(f);
}
