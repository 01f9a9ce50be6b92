/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distributor: full deactivation (thesis 7.2.1), table blocks, then every port that is not Active
 * Armed and, when all are, Active. State: a cursor. Does not decide what is in the
 * tables, nor what has to stop while they change: see breaks.c.
 */
#include "sm/tables/random_tables.h"

void sm_cursor_begin(struct sm *sm)
{
	sm->run.node = sm->run.step = 0;
}

/* The next port at the end of a link of the snapshot, as an sm port; NONE after the last. */
uint32_t sm_link_port_next(struct sm *sm)
{
	for (; sm->run.node < sm->topo.fab->nnodes; sm->run.node++, sm->run.step = 0) {
		const struct fab_node *f = &sm->topo.fab->nodes[sm->run.node];

		while (sm->run.step <= f->nports) {
			uint32_t num = sm->run.step++;

			if (num && sm->topo.fab->ports[f->first_port + num].peer != FAB_NONE)
				return sm->topo.nodes.at[sm->topo.node_of[sm->run.node]]
					       .first_port +
				       num;
		}
	}
	return NONE;
}

/* The LID by which a port's SMA is reached: the node's port 0, or the endport itself. */
static uint16_t lid_of_port(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH ? sm->topo.ports.at[n->first_port].pi.lid : p->pi.lid;
}

void sm_port_order(struct sm *sm, uint32_t port, enum iba_port_state st, enum sm_purpose purpose,
		   struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	sm_req_port(sm, r, IBA_SET, purpose, port);
	if (purpose == SM_FOR_ACTIVATION)
		sm_link_fill(sm, p, &pi);
	else
		sm_port_fill(sm, p, &pi);
	pi.state = (uint8_t)st;
	sm->topo.ports.at[port].set_in = sm->audit.generation;
	sm->topo.ports.at[port].ordered = true;
	iba_port_info_put(&pi, r->data);
	if (purpose == SM_FOR_ACTIVATION && sm->cfg.activate_by_lid && sm->core.phase != SM_JOIN)
		r->lid = lid_of_port(sm, p);
}

void sm_port_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	sm->topo.ports.at[t->ref].pi = pi;
	sm->topo.ports.at[t->ref].ordered = false;
}

/* ---- 1: every port to Initialize ---- */

static bool deactivate_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm)) != NONE) {
		if (sm->topo.ports.at[port].pi.state < IBA_PORT_ARMED)
			continue;
		sm_port_order(sm, port, IBA_PORT_DOWN, SM_FOR_DISTRIBUTION, r);
		return true;
	}
	return false;
}

static void deactivate_done(struct sm *sm)
{
	sm_phase_set(sm, SM_JOIN);
}

/* ---- 2: the tables, block by block over all switches, so that no switch is a bottleneck ---- */

enum { FIRST_DEAD, THEN_OTHERS };

bool sm_differences_only(const struct sm *sm)
{
	return sm->cfg.mechanism.partial_tables || sm->audit.mending || sm->disc.found_old;
}

void sm_blocks_begin(struct sm *sm)
{
	sm_cursor_begin(sm);
	sm->run.pass =
		sm_technique_now(sm)->plan && sm_differences_only(sm) ? FIRST_DEAD : THEN_OTHERS;
	sm_rft_begin(sm, RFT_ALL);
}

/* Block cur_step of switch cur_node, then the next switch's; false behind the last. */
bool sm_block_next(struct sm *sm, uint32_t *sw, uint32_t *block)
{
	do {
		if (sm->run.node == sm->topo.fab->nswitches) {
			sm->run.node = 0;
			sm->run.step++;
		}
		if (sm->run.step >= sm->routes.tables->stride / IBA_LFT_BLOCK ||
		    !sm->topo.fab->nswitches)
			return false;
		*sw = sm->run.node++;
		*block = sm->run.step;
	} while (sm_rft_of(sm, *sw)); /* has no such blocks */
	return true;
}

static const uint8_t *table_block(const struct sm *sm, uint32_t sw, uint32_t block)
{
	return rt_row(sm->routes.tables, sw) + (size_t)block * IBA_LFT_BLOCK;
}

static bool block_is_there(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	const uint8_t *has = sm_row_block(sm, sm->topo.nodes.at[node].row, block);

	return has && !memcmp(has, table_block(sm, sw, block), IBA_LFT_BLOCK);
}

/* For switches whose tables are not known, by cur_node and cur_step: blocks that nobody knows. */
bool sm_unknown_block_next(struct sm *sm, struct sm_req *r)
{
	uint32_t blocks = sm->routes.tables->stride / IBA_LFT_BLOCK;

	for (; sm->run.node < sm->topo.fab->nswitches; sm->run.node++, sm->run.step = 0) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sm->run.node]];

		while (!sm_rft_of(sm, sm->run.node) && sm->run.step < blocks) {
			uint32_t b = sm->run.step++;

			if (sm_row_block(sm, sm->topo.nodes.at[node].row, b))
				continue;
			sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, b);
			memcpy(r->data, table_block(sm, sm->run.node, b), IBA_LFT_BLOCK);
			return true;
		}
	}
	return false;
}

/* Does what the switch holds lead packets to a port without a link, where there is another way? */
static bool block_is_dead(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	const struct fab_node *f = &sm->topo.fab->nodes[sm->topo.fab->switches[sw]];
	const uint8_t *has = sm_row_block(sm, sm->topo.nodes.at[node].row, block),
		      *new = table_block(sm, sw, block);

	for (unsigned i = 0; has && i < IBA_LFT_BLOCK; i++)
		if (has[i] && has[i] <= f->nports && new[i] != IBA_PORT_NONE &&
		    sm->topo.fab->ports[f->first_port + has[i]].peer == FAB_NONE)
			return true;
	return false;
}

/*
 * Where the order is free, what ends a loss goes before what only makes routes better. A block of the
 * first kind that was not acknowledged yet still looks so, and is not sent twice.
 */
static bool block_is_due(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	if (!sm_differences_only(sm))
		return true;
	if (block_is_there(sm, node, sw, block))
		return false;
	return !sm_technique_now(sm)->plan ||
	       block_is_dead(sm, node, sw, block) == (sm->run.pass == FIRST_DEAD);
}

static bool due_block_next(struct sm *sm, uint32_t *sw, uint32_t *block)
{
	for (; sm->run.pass <= THEN_OTHERS; sm->run.pass++, sm_cursor_begin(sm))
		while (sm_block_next(sm, sw, block))
			if (block_is_due(sm, sm->topo.node_of[sm->topo.fab->switches[*sw]], *sw,
					 *block))
				return true;
	return false;
}

bool sm_blocks_next(struct sm *sm, struct sm_req *r)
{
	uint32_t sw, block, node;

	if (due_block_next(sm, &sw, &block)) {
		node = sm->topo.node_of[sm->topo.fab->switches[sw]];
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, block);
		memcpy(r->data, table_block(sm, sw, block), IBA_LFT_BLOCK);
		return true;
	}
	return sm_rft_next(sm, r);
}

void sm_blocks_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t block = iba_smp_attr_mod(t->send.mad), row = sm->topo.nodes.at[t->ref].row;
	const uint8_t *was = sm_row_block(sm, row, block), *sent = iba_smp_data_const(t->send.mad);

	if (t->attr_id != IBA_ATTR_LFT) {
		sm_rft_recv(sm, t, data);
		return;
	}
	sm->core.round.sent_blocks++;
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		sm->core.round.entries += was ? was[i] != sent[i] : sent[i] != IBA_PORT_NONE;
	sm_row_set(sm, row, block, sent);
}

/* The tables lead everywhere now. */
static void all_by_lid(struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	memset(sm->lids.routed, 0, sizeof(sm->lids.routed));
	for (node_id n = 0; n < f->nnodes; n++) {
		struct sm_node *x = &sm->topo.nodes.at[sm->topo.node_of[n]];

		for (unsigned p = 0; p <= x->nports; p++) {
			struct sm_port *q = &sm->topo.ports.at[x->first_port + p];

			q->by_lid = sm_is_endport(sm, q) && q->has_lid;
		}
		if (fab_is_switch(f, n)) {
			sm->lids.routed[f->ports[fab_port_id(f, n, 0)].lid] = 1;
			sm->dev.rows.at[x->row].rank =
				sm->routes.rank ? sm->routes.rank[f->switch_index[n]] : UINT64_MAX;
		}
	}
}

void sm_tables_done(struct sm *sm)
{
	sm_rft_settle(sm);
	all_by_lid(sm);
	sm_paths_rebuild(sm);
	sm->core.round.in_place[sm->routes.stage] = sm->core.now;
	sm_phase_set(sm, SM_RESTORE);
}

/* ---- 3: Armed, then Active ---- */

static void arm_begin(struct sm *sm)
{
	sm_cursor_begin(sm);
	sm->run.pass = 0;
}

/* Ports that may have stopped with the other end of their links. */
static bool look_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while (!sm->run.pass && (port = sm_link_port_next(sm)) != NONE)
		if (sm->topo.ports.at[port].in_doubt) {
			sm->topo.ports.at[port].in_doubt = false;
			sm_req_port(sm, r, IBA_GET, SM_FOR_ACTIVATION, port);
			return true;
		}
	if (!sm->run.pass && !sm->txn.outstanding) {
		sm_cursor_begin(sm);
		sm->run.pass = 1;
	}
	return false;
}

static bool arm_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	if (look_next(sm, r))
		return true;
	if (!sm->run.pass)
		return false;
	while ((port = sm_link_port_next(sm)) != NONE) {
		if (sm->topo.ports.at[port].pi.state >= IBA_PORT_ARMED)
			continue;
		sm_port_order(sm, port, IBA_PORT_ARMED, SM_FOR_ACTIVATION, r);
		return true;
	}
	return false;
}

static void arm_done(struct sm *sm)
{
	sm_phase_set(sm, SM_ACTIVATE);
}

/*
 * Switches first, then hosts: who is Active may be sent to, and by then every port on the way must be
 * Active too.
 */
static void activate_begin(struct sm *sm)
{
	sm_cursor_begin(sm);
	sm->run.pass = 0;
}

static bool activate_next(struct sm *sm, struct sm_req *r)
{
	for (;;) {
		uint32_t port = sm_link_port_next(sm);

		if (port == NONE) {
			if (sm->run.pass || sm->txn.outstanding)
				return false;
			sm_cursor_begin(sm);
			sm->run.pass = 1;
			continue;
		}
		if (sm->topo.ports.at[port].pi.state >= IBA_PORT_ACTIVE ||
		    (sm->topo.nodes.at[sm->topo.ports.at[port].node].type == IBA_NODE_SWITCH) ==
			    (sm->run.pass == 1))
			continue;
		sm_port_order(sm, port, IBA_PORT_ACTIVE, SM_FOR_ACTIVATION, r);
		return true;
	}
}

static void activate_done(struct sm *sm)
{
	if (sm->routes.stage == SM_PROVISIONAL && !sm->routes.settled) {
		sm->routes.staged = true;
		sm_phase_set(sm, SM_COMPUTE);
		return;
	}
	if (sm->routes.stage == SM_PROVISIONAL)
		sm->core.round.in_place[SM_FINAL] = sm->core.round.in_place[SM_PROVISIONAL];
	sm->routes.staged = sm->core.incomplete = false;
	sm_ahead_reset(sm); /* that was for the fabric before */
	sm->audit.trouble |= sm->audit.rewrote && sm->audit.copies;
	sm_phase_set(sm, sm->audit.trouble ? SM_AUDIT : SM_READY);
}

const struct sm_part sm_part_deactivate = {sm_cursor_begin, deactivate_next, sm_port_take,
					   sm_failed, deactivate_done};
const struct sm_part sm_part_blocks = {sm_blocks_begin, sm_blocks_next, sm_blocks_recv, sm_failed,
				       sm_tables_done};
const struct sm_part sm_part_arm = {arm_begin, arm_next, sm_port_take, sm_failed, arm_done};
const struct sm_part sm_part_activate = {activate_begin, activate_next, sm_port_take, sm_failed,
					 activate_done};
