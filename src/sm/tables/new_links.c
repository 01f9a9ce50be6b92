/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before tables change under traffic: switches whose tables are not known get them whole, and
 * links between switches become Active. No table leads there yet, so no traffic is disturbed, and
 * routes that use them next find them Active. Hosts come last, when routes lead to them. State:
 * run.join. Does not touch what carries traffic.
 */
#include "sm/tables/random_tables.h"

static enum sm_outcome join_begin(struct sm *sm)
{
	sm->run.join.at = (struct sm_cursor){0};
	sm->run.join.step = JOIN_TABLES;
	return SM_GOING_ON;
}

static bool between_switches(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return p->peer != NONE && sm->topo.nodes.at[p->node].type == IBA_NODE_SWITCH &&
	       sm->topo.nodes.at[sm->topo.ports.at[p->peer].node].type == IBA_NODE_SWITCH;
}

static bool ports_next(struct sm *sm, enum iba_port_state st, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm, &sm->run.join.at)) != NONE) {
		if (sm->topo.ports.at[port].pi.state >= st || !between_switches(sm, port))
			continue;
		sm_port_order(sm, port, st, SM_FOR_ACTIVATION, r);
		return true;
	}
	return false;
}

static bool step_next(struct sm *sm, struct sm_req *r)
{
	if (sm->run.join.step == JOIN_TABLES)
		return sm_unknown_block_next(sm, &sm->run.join.at, r);
	return ports_next(sm, sm->run.join.step == JOIN_ARM ? IBA_PORT_ARMED : IBA_PORT_ACTIVE, r);
}

static bool join_next(struct sm *sm, struct sm_req *r)
{
	while (sm->run.join.step < JOIN_END) {
		if (step_next(sm, r))
			return true;
		if (sm->txn.outstanding)
			return false;
		sm->run.join.step++;
		sm->run.join.at = (struct sm_cursor){0};
	}
	return false;
}

static enum sm_outcome join_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	return t->attr_id == IBA_ATTR_LFT ? sm_blocks_recv(sm, t, data) : sm_port_take(sm, t, data);
}

static enum sm_outcome join_done(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

const struct sm_part sm_part_join = {
	.begin = join_begin,
	.next = join_next,
	.recv = join_recv,
	.fail = sm_failed,
	.done = join_done,
};
