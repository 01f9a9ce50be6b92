/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking in from outside: what the SM knows of nodes and ports. State: none of its own. Does not
 * change anything.
 */
#include "sm/sm_priv.h"

static const struct sm_node *known(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->by_guid, guid);

	return at == MAP_NONE || sm->nodes.at[at].gone ? NULL : &sm->nodes.at[at];
}

bool sm_node_look(const struct sm *sm, uint64_t node_guid, struct iba_node_info *ni)
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

bool sm_port_look(const struct sm *sm, uint64_t node_guid, unsigned port, struct iba_port_info *pi)
{
	const struct sm_node *n = known(sm, node_guid);

	if (!n || port > n->nports || !sm->ports.at[n->first_port + port].known)
		return false;
	*pi = sm->ports.at[n->first_port + port].pi;
	return true;
}

void sm_status(const struct sm *sm, struct sm_status *st)
{
	*st = sm->st;
	st->phase = sm->phase;
	st->state = sm->state;
	st->lid = sm->own_lid;
	st->epoch = sm->epoch;
	st->nodes = sm->fab ? sm->fab->nnodes : 0;
	st->switches = sm->fab ? sm->fab->nswitches : 0;
	st->held = (uint32_t)sm->damp.held.n;
	st->change_pending =
		sm->change_pending || sm->retry_at != TIME_NEVER || sm->audit_at != TIME_NEVER;
}

const struct fab *sm_fabric(const struct sm *sm)
{
	return sm->fab;
}

const struct rt_tables *sm_tables(const struct sm *sm)
{
	return sm->tables;
}
