/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The root of the up/down graph and the rank of each switch in it. State: routes.rank. Does not ask a
 * worker: ranks alone are computed at once.
 */
#include "sm/manager.h"

/* The manager's own node, or the switch its port is connected to (thesis 6.1.1). */
static node_id own_switch(const struct sm *sm, const struct fab *f)
{
	node_id own = fab_node_by_guid(f, sm->topo.nodes.at[0].guid);
	port_id peer;

	if (own == FAB_NONE)
		return f->nswitches ? f->switches[0] : FAB_NONE;
	if (fab_is_switch(f, own))
		return own;
	peer = f->ports[fab_port_id(f, own, sm->cfg.port)].peer;
	return peer == FAB_NONE ? own : f->ports[peer].node;
}

/* The sink of the up/down graph: as configured, else the manager's own switch or the centre. */
node_id sm_root_in(const struct sm *sm, const struct fab *f)
{
	bool centre = sm->cfg.root_centre && f->nswitches;
	node_id named = sm_root_named(sm, f);

	return named != FAB_NONE
		       ? named
		       : rt_root_choose(f, NULL, 0, centre ? FAB_NONE : own_switch(sm, f));
}

/*
 * Tables that came without ranks may disobey these: routes.ranked stays false, and nothing that is derived from the tables
 * as if they obeyed them (rt_update() and rt_verify_change() with what was before, rt_plan_change()) is used.
 */
void sm_rank_ensure(struct sm *sm)
{
	if (sm->routes.rank)
		return;
	sm->routes.rank = mem_array(sm->topo.fab->nswitches, sizeof(*sm->routes.rank));
	rt_updown_rank_by(sm->topo.fab, sm_root_in(sm, sm->topo.fab), sm->cfg.directions,
			  sm->routes.rank);
}
