/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The builder: asks for routes over the snapshot and waits. Whoever runs the SM computes them, on a
 * worker or charged to a CPU model, and gives them back as an event. State: none of its own.
 */
#include "sm/sm_priv.h"

/* The sink of the up/down graph: as configured, else the switch the SM sits on (thesis 6.1.1). */
static node_id root_of(const struct sm *sm)
{
	node_id own = sm->nodes.at[0].fab;
	node_id n = sm->cfg.root_guid ? fab_node_by_guid(sm->fab, sm->cfg.root_guid) : FAB_NONE;
	port_id peer;

	if (n != FAB_NONE)
		return n;
	if (own == FAB_NONE || fab_is_switch(sm->fab, own))
		return own;
	peer = sm->fab->ports[fab_port_id(sm->fab, own, sm->cfg.port)].peer;
	return peer == FAB_NONE ? own : sm->fab->ports[peer].node;
}

static void compute_begin(struct sm *sm)
{
	sm->out->compute = (struct sm_compute){.epoch = sm->epoch, .fab = sm->fab, .root = root_of(sm)};
}

const struct sm_part sm_part_compute = {.begin = compute_begin}; /* SM_EV_ROUTES moves on */
