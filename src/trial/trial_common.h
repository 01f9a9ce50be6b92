/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the three kinds of trials share: links and switches that fail and return, which of them a trial
 * may take away, and the first reason why a trial failed.
 */
#ifndef WEFT_TRIAL_COMMON_H
#define WEFT_TRIAL_COMMON_H

#include "base/rng.h"
#include "lab/verdict.h"

/* Let simulated time pass, also when no event is due. */
void trial_run_for(struct lab *l, time_ps duration);

/* ---- faults ---- */

enum trial_fault { TRIAL_LINK_DOWN, TRIAL_LINK_UP, TRIAL_NODE_OFF, TRIAL_NODE_ON };

/* A fault as the cookie of sim_call(). id: a port of the link, or the node. */
uint64_t trial_fault_cookie(enum trial_fault what, uint32_t id);
/* A link comes up only while both of its ports are free. */
void trial_fault_apply(struct sim *s, const struct fab *f, uint64_t cookie);

/* The port through which the manager sends. */
port_id trial_manager_port(const struct lab *l);
/* False for the manager's node and for the switch its port is cabled to. */
bool trial_may_power_off(const struct lab *l, node_id n);

/* ---- draws ---- */

/* SMPs of one trial in so many are lost, up to 3 % of them: how many of 1,000. Seed and traps as well. */
unsigned trial_draw_sim(struct rng *r, unsigned one_in, struct sim_config *c);
/* Outstanding SMPs. */
unsigned trial_draw_window(struct rng *r);
/* An engine of any kind, and the mechanism weft or basic with it, from a stream of its own. The name is part of it. */
struct trial_engine {
	struct sm_mechanism mechanism;
	char name[48];
};
void trial_draw_engine(uint64_t seed, struct trial_engine *out);
/* Weft's own every other time, else any. */
const struct sm_mechanism *trial_draw_weft(struct rng *r);
/* Each mechanism that has a name is equally likely. */
const struct sm_mechanism *trial_draw_mechanism(struct rng *r);

#endif
