/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked of a simulated manager, from options to a configuration. State: manager_o. Ways in:
 * manager_place(), manager_config(). Does not run anything.
 */
#include "cli/manager_opts.h"

#include "base/rng.h"

const char *const manager_discoveries[] = {"full", "bfs", "partial", NULL};
const char *const manager_detections[] = {"sweep", "traps", "both", NULL};
const char *const manager_activations[] = {"directed", "lid", NULL};
const char *const manager_mechanisms[] = {"basic",	    "improved", "improved+partial",
					  "improved+traps", "weft",	NULL};
#define X(e) #e,
const char *const manager_supplies[] = {
#include "route/engines.h"
	"update", "repair", NULL};
const char *const manager_first_supplies[] = {"none",
#include "route/engines.h"
					      "update", "repair", NULL};
#undef X
const char *const manager_techniques[] = {"full", "ports", "dependencies", "none", "outwards",
					  "plan", NULL};
const char *const manager_tables[] = {"full", "partial", NULL};
const char *const manager_cpus[] = {"host", "thesis", NULL};

struct manager_opts manager_o = {
	.window = 32,
	.retries = 4,
	.sweep_factor = 100,
	.seed = 1,
	.damp_window = TIME_NEVER,
	.damp_hold = TIME_NEVER,
};

int manager_place(const struct fab *f, const char *sm, const char *root, const char *engine,
		  struct lab_config *c)
{
	node_id n;

	lab_config_default(c);
	if (sm && cli_find_node(f, "--sm", sm, &c->sm_node))
		return CLI_BAD;
	if (root && !strcmp(root, "centre")) {
		c->sm.root_centre = true;
	} else if (root) {
		if (cli_find_node(f, "--root", root, &n))
			return CLI_BAD;
		c->sm.roots[0] = f->nodes[n].guid;
	}
	if (rft_apply(f, &c->sim))
		return CLI_BAD;
	if (engine)
		c->sm.mechanism.routes = sm_supply_find(engine);
	return CLI_OK;
}

/* A named mechanism, and single techniques in place of its own. */
static void make_mechanism(struct sm_mechanism *m)
{
	const struct manager_opts *o = &manager_o;
	const struct sm_supply *routes = m->routes; /* --engine was looked at before */

	if (o->mechanism)
		*m = *sm_mechanism_find(o->mechanism);
	if (o->engine)
		m->routes = routes;
	if (o->discovery)
		m->discovery =
			sm_discovery_find(strcmp(o->discovery, "bfs") ? o->discovery : "full");
	if (o->provisional)
		m->provisional = sm_supply_find(o->provisional);
	if (o->routes)
		m->routes = sm_supply_find(o->routes);
	if (o->distribution)
		m->first = sm_technique_find(o->distribution);
	if (o->second)
		m->second = sm_technique_find(o->second);
	if (o->tables)
		m->partial_tables = !strcmp(o->tables, "partial");
	if (o->detection)
		m->traps = strcmp(o->detection, "sweep") != 0;
}

static int make_damping(struct sm_config *c)
{
	const struct manager_opts *o = &manager_o;
	bool window = o->damp_window != TIME_NEVER, hold = o->damp_hold != TIME_NEVER;

	if (!o->damp && (window || hold))
		return cli_bad("--damp-%s is about links that are held: expected --damp N with it",
			       window ? "window" : "hold");
	c->flaps = o->damp;
	if (window)
		c->flap_ps = o->damp_window;
	if (hold)
		c->hold_ps = o->damp_hold;
	return CLI_OK;
}

int manager_config(const struct fab *f, struct lab_config *c)
{
	const struct manager_opts *o = &manager_o;

	if (manager_place(f, o->sm, o->root, o->engine, c) || make_damping(&c->sm))
		return CLI_BAD;
	if (o->cpu)
		c->cpu = lab_cpu_find(o->cpu);
	c->sm.window = o->window;
	c->sm.retries = o->retries;
	c->sm.lmc = o->lmc;
	c->sm.m_key = o->m_key;
	c->sm.qos = o->qos;
	c->sm.explore = o->discovery && !strcmp(o->discovery, "bfs") ? SM_EXPLORE_BFS
								     : SM_EXPLORE_PROPAGATION;
	c->sm.activate_by_lid = o->activation && !strcmp(o->activation, "lid");
	c->sm.sweep_factor = o->sweep_period ? 0 : o->sweep_factor;
	c->sm.sweep_period_ps = o->sweep_period;
	make_mechanism(&c->sm.mechanism);
	c->sim.seed = o->seed;
	c->sim.faults.loss_q32 = prob_q32(o->loss);
	c->sim.faults.delay_q32 = prob_q32(o->delay);
	c->sim.faults.dup_q32 = prob_q32(o->dup);
	c->sim.faults.delay_max_ps = 2 * PS_PER_MS;
	c->threads = o->threads;
	return CLI_OK;
}
