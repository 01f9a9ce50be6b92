/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that the trials share. Keeps no state. Way in: trial_*(). Does not choose what fails or when: each
 * trial draws that.
 */
#include "trial/trial_common.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

static void on_time(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

void trial_run_for(struct lab *l, time_ps duration)
{
	time_ps end = sim_now(lab_sim(l)) + duration;

	/* The clock stops at the last event, so there must be one. */
	sim_call(lab_sim(l), end, on_time, NULL, 0);
	lab_run_until(l, end);
}

uint64_t trial_fault_cookie(enum trial_fault what, uint32_t id)
{
	return (uint64_t)what << 32 | id;
}

void trial_fault_apply(struct sim *s, const struct fab *f, uint64_t cookie)
{
	uint32_t id = (uint32_t)cookie;

	switch ((enum trial_fault)(cookie >> 32)) {
	case TRIAL_LINK_DOWN:
		sim_uncable(s, id);
		break;
	case TRIAL_LINK_UP:
		if (sim_port_peer(s, id) == FAB_NONE &&
		    sim_port_peer(s, f->ports[id].peer) == FAB_NONE)
			sim_cable(s, id, f->ports[id].peer);
		break;
	case TRIAL_NODE_OFF:
		sim_node_power(s, id, false);
		break;
	case TRIAL_NODE_ON:
		sim_node_power(s, id, true);
		break;
	}
}

port_id trial_manager_port(const struct lab *l)
{
	return fab_port_id(lab_fabric(l), lab_sm_node(l), lab_config(l)->sm.port);
}

bool trial_may_power_off(const struct lab *l, node_id n)
{
	const struct fab *f = lab_fabric(l);
	const struct fab_port *p = &f->ports[trial_manager_port(l)];

	return n != lab_sm_node(l) && (!p->num || f->ports[p->peer].node != n);
}

const struct sm_mechanism *trial_draw_mechanism(struct rng *r)
{
	unsigned n = 0;

	while (sm_mechanisms[n].name)
		n++;
	return &sm_mechanisms[rng_below(r, n)];
}

void trial_draw_engine(uint64_t seed, struct trial_engine *out)
{
	unsigned n = 0;
	struct rng r;

	rng_seed(&r, seed, 17); /* its own stream: the other draws of a seed stay the same */
	while (rt_engines[n] &&
	       !rt_engines[n]->given) /* those come last: a trial has no tables to give */
		n++;
	out->mechanism = *sm_mechanism_find(rng_below(&r, 4) ? "weft" : "basic");
	out->mechanism.routes = sm_supply_find(rt_engines[rng_below(&r, n)]->name);
	snprintf(out->name, sizeof(out->name), "%s/%s", out->mechanism.name,
		 out->mechanism.routes->name);
	out->mechanism.name = out->name;
}

const struct sm_mechanism *trial_draw_weft(struct rng *r)
{
	return rng_below(r, 2) ? sm_mechanism_find("weft") : trial_draw_mechanism(r);
}

unsigned trial_draw_window(struct rng *r)
{
	static const unsigned windows[] = {1, 4, 32, 256};

	return windows[rng_below(r, ARRAY_LEN(windows))];
}

unsigned trial_draw_sim(struct rng *r, unsigned one_in, struct sim_config *c)
{
	unsigned per_mille = rng_below(r, one_in) ? 0 : rng_below(r, 31);

	c->seed = rng_u64(r);
	c->traps = rng_below(r, 4) > 0;
	c->faults.loss_q32 = ((uint64_t)per_mille << 32) / 1000;
	return per_mille;
}
