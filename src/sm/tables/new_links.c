/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before tables change under traffic: SL-to-VL tables that differ are set, switches whose tables are not known get
 * them, and links between switches become Active. Routes that use them next find them Active. Hosts come last, when routes lead to
 * them. State: run.join. Does not touch what carries traffic.
 *
 * A switch that restarted has no Active link yet, so what is written now meets no packet. But once its links
 * are Active, old entries of its neighbours may lead there: for such LIDs it stays without an entry until
 * the entry is due in the order of the plan (docs/mechanism.md, "Why no cycle closes"). One with an Active port
 * stays without any.
 */
#include "sm/tables/random_tables.h"

static enum sm_outcome join_begin(struct sm *sm)
{
	sm->run.join.at = (struct sm_cursor){0};
	sm->run.join.step = JOIN_MAPS;
	/* With tables in doubt the turns of break nodes are disabled, and then any order is safe. */
	sm->run.join.whole = sm_any_order(sm) || sm_rows_in_doubt(sm);
	sm_drain_wait(sm);
	return SM_GOING_ON;
}

/* ---- tables ---- */

/* LIDs of one block that the table of a neighbour leads to this switch, by the link at `near`. */
static void entries_defer(const struct sm *sm, uint32_t near, uint32_t block, uint8_t *data)
{
	uint32_t far = sm->topo.ports.at[near].peer, row;
	const uint8_t *has;

	if (far == NONE || sm->topo.nodes.at[sm->topo.ports.at[far].node].type != IBA_NODE_SWITCH)
		return;
	row = sm->topo.nodes.at[sm->topo.ports.at[far].node].row;
	has = sm_row_block(sm, row, block);
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		if (sm->dev.rows.at[row].rft || (has && has[i] == sm->topo.ports.at[far].num))
			data[i] = IBA_PORT_NONE;
}

/* It restarted during the last round, which armed its ports again: its hosts send by what is written now. */
static bool has_active_port(const struct sm *sm, const struct sm_node *n)
{
	for (unsigned p = 1; p <= n->nports; p++)
		if (sm->topo.ports.at[n->first_port + p].pi.state == IBA_PORT_ACTIVE)
			return true;
	return false;
}

static bool table_next(struct sm *sm, struct sm_req *r)
{
	const struct sm_node *n;

	if (!sm_unknown_block_next(sm, &sm->run.join.at, r))
		return false;
	n = &sm->topo.nodes.at[r->target.node];
	if (sm->run.join.whole)
		return true;
	if (has_active_port(sm, n))
		memset(r->data, IBA_PORT_NONE, IBA_LFT_BLOCK);
	for (unsigned p = 1; p <= n->nports; p++)
		entries_defer(sm, n->first_port + p, r->target.item, r->data);
	return true;
}

/* ---- links ---- */

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

static bool any_armed(const struct sm *sm, const struct sm_node *n)
{
	for (unsigned p = 1; p <= n->nports; p++)
		if (sm->topo.ports.at[n->first_port + p].pi.state == IBA_PORT_ARMED)
			return true;
	return false;
}

/*
 * A switch that restarts loses its disabled turns, and its ports can be armed again without a sign of that.
 * So it is asked between Armed and Active: if it restarted before, LinearFDBTop shows it; if it restarts
 * later, its ports are no longer Armed and refuse to become Active.
 */
static bool check_next(struct sm *sm, struct sm_req *r)
{
	while (sm->run.join.at.step < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.join.at.step++];
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[t->sw]];

		if ((t > sm->dev.turns.at && t[-1].sw == t->sw) ||
		    !any_armed(sm, &sm->topo.nodes.at[node]))
			continue;
		sm_req_node(sm, r, IBA_GET, SM_FOR_ACTIVATION, node, IBA_ATTR_SWITCH_INFO, 0);
		r->target = sm_target_node(node);
		return true;
	}
	return false;
}

static enum sm_outcome checked(struct sm *sm, uint32_t node, const uint8_t *data)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if ((si.linear_top || !sm->topo.nodes.at[node].si.linear_top) &&
	    !sm_rft_restarted(sm, node, &si))
		return SM_GOING_ON;
	sm_suspect(sm, node);
	return sm_changed(sm, SM_CAUSE_SILENCE, sm_about_node(sm, node));
}

/* ---- the part ---- */

static bool step_next(struct sm *sm, struct sm_req *r)
{
	switch (sm->run.join.step) {
	case JOIN_MAPS:
		return sm_map_next(sm, &sm->run.join.at, r);
	case JOIN_TABLES:
		return table_next(sm, r);
	case JOIN_ARM:
		return ports_next(sm, IBA_PORT_ARMED, r);
	case JOIN_CHECK:
		return check_next(sm, r);
	case JOIN_ACTIVATE:
		return ports_next(sm, IBA_PORT_ACTIVE, r);
	case JOIN_END:
		break;
	}
	return false;
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
	if (t->attr_id == IBA_ATTR_SWITCH_INFO)
		return checked(sm, t->target.node, data);
	if (t->attr_id == IBA_ATTR_SLVL_TABLE || t->attr_id == IBA_ATTR_VLARB_TABLE) {
		sm_map_acknowledged(sm, t);
		sm_drain_rerouted(sm);
		return SM_GOING_ON;
	}
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
