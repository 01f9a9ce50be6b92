/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SM knows of nodes and ports, for callers. State: none of its own. Does not change
 * anything.
 */
#include "sm/manager.h"

static const struct sm_node *known(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->topo.by_guid, guid);

	return at == MAP_NONE || sm->topo.nodes.at[at].gone ? NULL : &sm->topo.nodes.at[at];
}

bool sm_node_info(const struct sm *sm, uint64_t node_guid, struct iba_node_info *ni)
{
	const struct sm_node *n = known(sm, node_guid);

	if (!n)
		return false;
	*ni = (struct iba_node_info){.node_type = n->type,
				     .num_ports = n->nports,
				     .sys_guid = n->sys_guid,
				     .node_guid = n->guid,
				     .device_id = n->device_id,
				     .vendor_id = n->vendor_id};
	return true;
}

bool sm_switch_info(const struct sm *sm, uint64_t node_guid, struct iba_switch_info *si)
{
	const struct sm_node *n = known(sm, node_guid);

	if (!n || n->type != IBA_NODE_SWITCH || !n->ask.has_si)
		return false;
	*si = n->si;
	return true;
}

bool sm_port_info(const struct sm *sm, uint64_t node_guid, unsigned port, struct iba_port_info *pi)
{
	const struct sm_node *n = known(sm, node_guid);

	if (!n || port > n->nports || !sm->topo.ports.at[n->first_port + port].ask.known)
		return false;
	*pi = sm->topo.ports.at[n->first_port + port].pi;
	return true;
}

static bool is_alone(const struct sm *sm)
{
	const struct sm_node *own = sm->topo.nodes.n ? &sm->topo.nodes.at[0] : NULL;

	if (!own || (sm->topo.fab && sm->topo.fab->nnodes > 1))
		return false;
	for (unsigned p = 1; p <= own->nports; p++) {
		const struct sm_port *q = &sm->topo.ports.at[own->first_port + p];

		if (q->ask.known && sm_is_way_out(sm, q) && q->pi.state != IBA_PORT_DOWN)
			return q->peer == NONE || sm->topo.ports.at[q->peer].node != 0;
	}
	return false;
}

void sm_status(const struct sm *sm, struct sm_status *st)
{
	*st = sm->core.st;
	st->phase = sm->core.phase;
	st->state = sm->election.state;
	st->lid = sm->lids.own ? sm->lids.own : sm->mirror.standby.own_lid;
	st->epoch = sm->topo.epoch;
	st->snapshot = sm->topo.snapshot;
	st->nodes = sm->topo.fab ? sm->topo.fab->nnodes : 0;
	st->switches = sm->topo.fab ? sm->topo.fab->nswitches : 0;
	st->orders_refused = sm->election.refused;
	st->routers = sm->topo.fab ? sm->topo.fab->nrouters : 0;
	st->alone = is_alone(sm);
	st->staged = sm->routes.staged;
	st->comparing = sm_balance_is_open(sm);
	st->held = (uint32_t)sm->damp.held.n;
	st->change_pending = sm->core.change_pending || sm_election_busy(sm) ||
			     sm->sweep.retry_at != TIME_NEVER ||
			     (sm_audit_open(sm) && sm->topo.fab) || sm_vms_waiting(sm) ||
			     sm->virtual.left.n;
}

const struct fab *sm_fabric(const struct sm *sm)
{
	return sm->topo.fab;
}

const struct rt_tables *sm_tables(const struct sm *sm)
{
	return sm->routes.tables;
}
