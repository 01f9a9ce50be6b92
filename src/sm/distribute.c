/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distributor: full deactivation (thesis 7.2.1), table blocks, then every port that is not Active
 * Armed and, when all are, Active. State: a cursor. Does not decide what is in the
 * tables, nor what has to stop while they change: see breaks.c.
 */
#include "sm/rft.h"

void sm_cursor_begin(struct sm *sm)
{
	sm->cur_node = sm->cur_step = 0;
}

/* The next port at the end of a link of the snapshot, as an sm port; NONE after the last. */
uint32_t sm_link_port_next(struct sm *sm)
{
	for (; sm->cur_node < sm->fab->nnodes; sm->cur_node++, sm->cur_step = 0) {
		const struct fab_node *f = &sm->fab->nodes[sm->cur_node];

		while (sm->cur_step <= f->nports) {
			uint32_t num = sm->cur_step++;

			if (num && sm->fab->ports[f->first_port + num].peer != FAB_NONE)
				return sm->nodes.at[sm->node_of[sm->cur_node]].first_port + num;
		}
	}
	return NONE;
}

/* The LID by which a port's SMA is reached: the node's port 0, or the endport itself. */
static uint16_t lid_of_port(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_node *n = &sm->nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH ? sm->ports.at[n->first_port].pi.lid : p->pi.lid;
}

void sm_port_order(struct sm *sm, uint32_t port, enum iba_port_state st, enum sm_purpose purpose,
		   struct sm_req *r)
{
	const struct sm_port *p = &sm->ports.at[port];
	struct iba_port_info pi;

	sm_req_port(sm, r, IBA_SET, purpose, port);
	if (purpose == SM_FOR_ACTIVATION)
		sm_link_fill(sm, p, &pi);
	else
		sm_port_fill(sm, p, &pi);
	pi.state = (uint8_t)st;
	sm->ports.at[port].set_in = sm->generation;
	sm->ports.at[port].ordered = true;
	iba_port_info_put(&pi, r->data);
	if (purpose == SM_FOR_ACTIVATION && sm->cfg.activate_by_lid && sm->phase != SM_JOIN)
		r->lid = lid_of_port(sm, p);
}

void sm_port_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	sm->ports.at[t->ref].pi = pi;
	sm->ports.at[t->ref].ordered = false;
}

/* ---- 1: every port to Initialize ---- */

static bool deactivate_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm)) != NONE) {
		if (sm->ports.at[port].pi.state < IBA_PORT_ARMED)
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
	return sm->cfg.mechanism.partial_tables || sm->mending || sm->found_old;
}

void sm_blocks_begin(struct sm *sm)
{
	sm_cursor_begin(sm);
	sm->cur_in =
		sm_technique_now(sm)->plan && sm_differences_only(sm) ? FIRST_DEAD : THEN_OTHERS;
	sm_rft_begin(sm, RFT_ALL);
}

/* Block cur_step of switch cur_node, then the next switch's; false behind the last. */
bool sm_block_next(struct sm *sm, uint32_t *sw, uint32_t *block)
{
	do {
		if (sm->cur_node == sm->fab->nswitches) {
			sm->cur_node = 0;
			sm->cur_step++;
		}
		if (sm->cur_step >= sm->tables->stride / IBA_LFT_BLOCK || !sm->fab->nswitches)
			return false;
		*sw = sm->cur_node++;
		*block = sm->cur_step;
	} while (sm_rft_of(sm, *sw)); /* has no such blocks */
	return true;
}

static const uint8_t *table_block(const struct sm *sm, uint32_t sw, uint32_t block)
{
	return rt_row(sm->tables, sw) + (size_t)block * IBA_LFT_BLOCK;
}

static bool block_is_there(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	const uint8_t *has = sm_row_block(sm, sm->nodes.at[node].row, block);

	return has && !memcmp(has, table_block(sm, sw, block), IBA_LFT_BLOCK);
}

/* For switches whose tables are not known, by cur_node and cur_step: blocks that nobody knows. */
bool sm_unknown_block_next(struct sm *sm, struct sm_req *r)
{
	uint32_t blocks = sm->tables->stride / IBA_LFT_BLOCK;

	for (; sm->cur_node < sm->fab->nswitches; sm->cur_node++, sm->cur_step = 0) {
		uint32_t node = sm->node_of[sm->fab->switches[sm->cur_node]];

		while (!sm_rft_of(sm, sm->cur_node) && sm->cur_step < blocks) {
			uint32_t b = sm->cur_step++;

			if (sm_row_block(sm, sm->nodes.at[node].row, b))
				continue;
			sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, b);
			memcpy(r->data, table_block(sm, sm->cur_node, b), IBA_LFT_BLOCK);
			return true;
		}
	}
	return false;
}

/* Does what the switch holds lead packets to a port without a link, where there is another way? */
static bool block_is_dead(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	const struct fab_node *f = &sm->fab->nodes[sm->fab->switches[sw]];
	const uint8_t *has = sm_row_block(sm, sm->nodes.at[node].row, block),
		      *new = table_block(sm, sw, block);

	for (unsigned i = 0; has && i < IBA_LFT_BLOCK; i++)
		if (has[i] && has[i] <= f->nports && new[i] != IBA_PORT_NONE &&
		    sm->fab->ports[f->first_port + has[i]].peer == FAB_NONE)
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
	       block_is_dead(sm, node, sw, block) == (sm->cur_in == FIRST_DEAD);
}

static bool due_block_next(struct sm *sm, uint32_t *sw, uint32_t *block)
{
	for (; sm->cur_in <= THEN_OTHERS; sm->cur_in++, sm_cursor_begin(sm))
		while (sm_block_next(sm, sw, block))
			if (block_is_due(sm, sm->node_of[sm->fab->switches[*sw]], *sw, *block))
				return true;
	return false;
}

bool sm_blocks_next(struct sm *sm, struct sm_req *r)
{
	uint32_t sw, block, node;

	if (due_block_next(sm, &sw, &block)) {
		node = sm->node_of[sm->fab->switches[sw]];
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, block);
		memcpy(r->data, table_block(sm, sw, block), IBA_LFT_BLOCK);
		return true;
	}
	return sm_rft_next(sm, r);
}

void sm_blocks_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t block = iba_smp_attr_mod(t->send.mad), row = sm->nodes.at[t->ref].row;
	const uint8_t *was = sm_row_block(sm, row, block), *sent = iba_smp_data_const(t->send.mad);

	if (t->attr_id != IBA_ATTR_LFT) {
		sm_rft_recv(sm, t, data);
		return;
	}
	sm->round.sent_blocks++;
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		sm->round.entries += was ? was[i] != sent[i] : sent[i] != IBA_PORT_NONE;
	sm_row_set(sm, row, block, sent);
}

/* The tables lead everywhere now. */
static void all_by_lid(struct sm *sm)
{
	const struct fab *f = sm->fab;

	memset(sm->lid_routed, 0, sizeof(sm->lid_routed));
	for (node_id n = 0; n < f->nnodes; n++) {
		struct sm_node *x = &sm->nodes.at[sm->node_of[n]];

		for (unsigned p = 0; p <= x->nports; p++) {
			struct sm_port *q = &sm->ports.at[x->first_port + p];

			q->by_lid = sm_is_endport(sm, q) && q->has_lid;
		}
		if (fab_is_switch(f, n)) {
			sm->lid_routed[f->ports[fab_port_id(f, n, 0)].lid] = 1;
			sm->rows.at[x->row].rank =
				sm->rank ? sm->rank[f->switch_index[n]] : UINT64_MAX;
		}
	}
}

void sm_tables_done(struct sm *sm)
{
	sm_rft_settle(sm);
	all_by_lid(sm);
	sm_paths_rebuild(sm);
	sm->round.in_place[sm->stage] = sm->now;
	sm_phase_set(sm, SM_RESTORE);
}

/* ---- 3: Armed, then Active ---- */

static void arm_begin(struct sm *sm)
{
	sm_cursor_begin(sm);
	sm->cur_in = 0;
}

/* Ports that may have stopped with the other end of their links. */
static bool look_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while (!sm->cur_in && (port = sm_link_port_next(sm)) != NONE)
		if (sm->ports.at[port].in_doubt) {
			sm->ports.at[port].in_doubt = false;
			sm_req_port(sm, r, IBA_GET, SM_FOR_ACTIVATION, port);
			return true;
		}
	if (!sm->cur_in && !sm->noutstanding) {
		sm_cursor_begin(sm);
		sm->cur_in = 1;
	}
	return false;
}

static bool arm_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	if (look_next(sm, r))
		return true;
	if (!sm->cur_in)
		return false;
	while ((port = sm_link_port_next(sm)) != NONE) {
		if (sm->ports.at[port].pi.state >= IBA_PORT_ARMED)
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
	sm->cur_in = 0;
}

static bool activate_next(struct sm *sm, struct sm_req *r)
{
	for (;;) {
		uint32_t port = sm_link_port_next(sm);

		if (port == NONE) {
			if (sm->cur_in || sm->noutstanding)
				return false;
			sm_cursor_begin(sm);
			sm->cur_in = 1;
			continue;
		}
		if (sm->ports.at[port].pi.state >= IBA_PORT_ACTIVE ||
		    (sm->nodes.at[sm->ports.at[port].node].type == IBA_NODE_SWITCH) ==
			    (sm->cur_in == 1))
			continue;
		sm_port_order(sm, port, IBA_PORT_ACTIVE, SM_FOR_ACTIVATION, r);
		return true;
	}
}

static void activate_done(struct sm *sm)
{
	if (sm->stage == SM_PROVISIONAL && !sm->settled) {
		sm->staged = true;
		sm_phase_set(sm, SM_COMPUTE);
		return;
	}
	if (sm->stage == SM_PROVISIONAL)
		sm->round.in_place[SM_FINAL] = sm->round.in_place[SM_PROVISIONAL];
	sm->staged = sm->incomplete = false;
	sm_ahead_reset(sm); /* that was for the fabric before */
	sm->trouble |= sm->rewrote && sm->copies;
	sm_phase_set(sm, sm->trouble ? SM_AUDIT : SM_READY);
}

const struct sm_part sm_part_deactivate = {sm_cursor_begin, deactivate_next, sm_port_take,
					   sm_failed, deactivate_done};
const struct sm_part sm_part_blocks = {sm_blocks_begin, sm_blocks_next, sm_blocks_recv, sm_failed,
				       sm_tables_done};
const struct sm_part sm_part_arm = {arm_begin, arm_next, sm_port_take, sm_failed, arm_done};
const struct sm_part sm_part_activate = {activate_begin, activate_next, sm_port_take, sm_failed,
					 activate_done};
