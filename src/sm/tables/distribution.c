/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distribution: full deactivation (thesis 7.2.1), table blocks, then every port that is not
 * Active to Armed and, when all are, to Active. State: cursors in run. Does not decide what is in
 * the tables, nor what has to stop while they change: see turn_updates.c.
 */
#include "sm/tables/random_tables.h"

/* The next port with a link, silent ones included or not, as a port of the topology database; NONE after the last. */
static uint32_t next_port(const struct sm *sm, struct sm_cursor *at, bool silent)
{
	const struct fab *f = silent ? sm_data_fab(sm) : sm->topo.fab;

	for (; at->node < f->nnodes; at->node++, at->step = 0) {
		const struct fab_node *n = &f->nodes[at->node];

		while (at->step <= n->nports) {
			uint32_t num = at->step++;

			if (num && (f->ports[n->first_port + num].peer != FAB_NONE ||
				    (silent && sm_leads_astray(sm, n->first_port + num))))
				return sm->topo.nodes.at[sm->topo.node_of[at->node]].first_port +
				       num;
		}
	}
	return NONE;
}

uint32_t sm_link_port_next(struct sm *sm, struct sm_cursor *at)
{
	return next_port(sm, at, false);
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
	sm_port_set_in_round(sm, port);
	sm->topo.ports.at[port].order.pending = true;
	sm->topo.ports.at[port].order.stopped = st == IBA_PORT_DOWN;
	iba_port_info_put(&pi, r->data);
	if (purpose == SM_FOR_ACTIVATION && sm->cfg.activate_by_lid && sm->core.phase != SM_JOIN)
		r->lid = lid_of_port(sm, p);
}

enum sm_outcome sm_port_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	sm_port_learn(sm, t->target.port, data);
	sm->topo.ports.at[t->target.port].order.pending = false;
	return SM_GOING_ON;
}

/* It was Armed or Active, or a Set that arms it has not been answered: the device may have carried it out. */
bool sm_port_may_carry(const struct sm_port *p)
{
	return p->pi.state >= IBA_PORT_ARMED || (p->order.pending && !p->order.stopped);
}

static enum sm_outcome done(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

/* ---- 1: every port to Initialize ---- */

static enum sm_outcome deactivate_begin(struct sm *sm)
{
	sm->run.deactivate.at = (struct sm_cursor){0};
	return SM_GOING_ON;
}

static bool deactivate_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while ((port = next_port(sm, &sm->run.deactivate.at, true)) != NONE) {
		if (!sm_port_may_carry(&sm->topo.ports.at[port]))
			continue;
		sm_port_order(sm, port, IBA_PORT_DOWN, SM_FOR_DISTRIBUTION, r);
		return true;
	}
	return false;
}

/* ---- 2: the tables, block by block over all switches, so that no switch is a bottleneck, or switch by switch ---- */

enum sm_outcome sm_blocks_begin(struct sm *sm)
{
	sm->run.blocks.at = (struct sm_cursor){0};
	sm->run.blocks.dflt = 0;
	sm->run.blocks.pass =
		sm_technique_now(sm)->plan && sm_differences_only(sm) ? BLOCKS_DEAD : BLOCKS_OTHERS;
	sm_rft_begin(sm, RFT_ALL);
	sm_drain_wait(sm);
	return SM_GOING_ON;
}

/* Blocks of every switch; entries beyond the last LID are sent only where the configuration says so. */
static uint32_t block_count(const struct sm *sm)
{
	return (MAX(sm->routes.tables->stride, sm->cfg.lft_entries) + IBA_LFT_BLOCK - 1) /
	       IBA_LFT_BLOCK;
}

/* A random table has no such blocks, a small linear one not all of them. */
static bool has_block(const struct sm *sm, uint32_t sw, uint32_t block)
{
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]], first = block * IBA_LFT_BLOCK;

	return !sm_rft_of(sm, sw) &&
	       (first < sm->routes.tables->stride || first < sm->topo.nodes.at[node].si.linear_cap);
}

/* It has had no tables yet. */
static bool is_new_switch(const struct sm *sm, uint32_t sw)
{
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]];

	return sm->dev.rows.at[sm->topo.nodes.at[node].row].rank == UINT64_MAX;
}

/* All blocks of a switch, then those of the next; at->node counts them twice: new ones first, then the others. */
static bool block_by_switch(struct sm *sm, struct sm_cursor *at, uint32_t *sw, uint32_t *block)
{
	uint32_t n = sm->topo.fab->nswitches;

	for (; at->node < 2 * n; at->node++, at->step = 0) {
		*sw = at->node % n;
		if (is_new_switch(sm, *sw) != (at->node < n) || at->step == block_count(sm))
			continue;
		*block = at->step++;
		return true;
	}
	return false;
}

/* Block at->step of switch at->node, then the next switch's. */
static bool block_by_number(struct sm *sm, struct sm_cursor *at, uint32_t *sw, uint32_t *block)
{
	if (at->node == sm->topo.fab->nswitches) {
		at->node = 0;
		at->step++;
	}
	if (at->step >= block_count(sm) || !sm->topo.fab->nswitches)
		return false;
	*sw = at->node++;
	*block = at->step;
	return true;
}

/* The next block in the order that the configuration says; false behind the last. */
bool sm_block_next(struct sm *sm, struct sm_cursor *at, uint32_t *sw, uint32_t *block)
{
	do {
		if (!(sm->cfg.by_switch ? block_by_switch : block_by_number)(sm, at, sw, block))
			return false;
	} while (!has_block(sm, *sw, *block));
	return true;
}

static const uint8_t *table_block(const struct sm *sm, uint32_t sw, uint32_t block)
{
	static const uint8_t empty[IBA_LFT_BLOCK] = {[0 ... IBA_LFT_BLOCK - 1] = IBA_PORT_NONE};

	return block < sm->routes.tables->stride / IBA_LFT_BLOCK
		       ? rt_row(sm->routes.tables, sw) + (size_t)block * IBA_LFT_BLOCK
		       : empty;
}

static bool block_is_there(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	const uint8_t *has = sm_row_block(sm, sm->topo.nodes.at[node].row, block);

	return has && !memcmp(has, table_block(sm, sw, block), IBA_LFT_BLOCK);
}

static void make_block(struct sm *sm, uint32_t sw, uint32_t block, struct sm_req *r)
{
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]];

	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, block);
	r->target = sm_target_block(node, block);
	memcpy(r->data, table_block(sm, sw, block), IBA_LFT_BLOCK);
}

/* For switches whose tables are not known: the blocks that are not. */
bool sm_unknown_block_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	uint32_t blocks = sm->routes.tables->stride / IBA_LFT_BLOCK;

	for (; at->node < sm->topo.fab->nswitches; at->node++, at->step = 0) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[at->node]];

		while (!sm_rft_of(sm, at->node) && at->step < blocks) {
			uint32_t b = at->step++;

			if (sm_row_block(sm, sm->topo.nodes.at[node].row, b))
				continue;
			make_block(sm, at->node, b, r);
			return true;
		}
	}
	return false;
}

/*
 * Whether the block that the switch holds leads packets to a port without a link, where the new
 * one has a route.
 */
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
 * Where the order is free, blocks that end a loss go before blocks that only improve routes. A
 * block of the first kind that is not acknowledged yet still counts as such, and is not sent
 * twice.
 */
static bool block_is_due(const struct sm *sm, uint32_t node, uint32_t sw, uint32_t block)
{
	if (!sm_differences_only(sm))
		return true;
	if (block_is_there(sm, node, sw, block))
		return false;
	return !sm_technique_now(sm)->plan ||
	       block_is_dead(sm, node, sw, block) == (sm->run.blocks.pass == BLOCKS_DEAD);
}

static bool due_block_next(struct sm *sm, uint32_t *sw, uint32_t *block)
{
	const struct fab *f = sm->topo.fab;

	for (; sm->run.blocks.pass < BLOCKS_END; sm->run.blocks.pass++) {
		while (sm_block_next(sm, &sm->run.blocks.at, sw, block))
			if (block_is_due(sm, sm->topo.node_of[f->switches[*sw]], *sw, *block))
				return true;
		sm->run.blocks.at = (struct sm_cursor){0};
	}
	return false;
}

/* One Set(SwitchInfo) for each switch, as the thesis's manager sends with provisional tables (6.3.2). */
static bool default_port_next(struct sm *sm, struct sm_req *r)
{
	const struct rt_tables *t = sm->routes.tables;

	while (sm->cfg.default_port && t->dflt && sm->run.blocks.dflt < sm->topo.fab->nswitches) {
		uint32_t sw = sm->run.blocks.dflt++,
			 node = sm->topo.node_of[sm->topo.fab->switches[sw]];
		struct iba_switch_info si = sm->topo.nodes.at[node].si;

		if (sm_rft_of(sm, sw)) /* has a DefaultPort of its own */
			continue;
		si.default_port = t->dflt[sw];
		si.port_state_change = 0;
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_SWITCH_INFO, 0);
		iba_switch_info_put(&si, r->data);
		return true;
	}
	return false;
}

bool sm_blocks_next(struct sm *sm, struct sm_req *r)
{
	uint32_t sw, block;

	if (!due_block_next(sm, &sw, &block))
		return sm_rft_next(sm, r) || default_port_next(sm, r);
	make_block(sm, sw, block, r);
	return true;
}

enum sm_outcome sm_blocks_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t block = iba_smp_attr_mod(t->send.mad), row = sm->topo.nodes.at[t->target.node].row;
	const uint8_t *was, *sent = iba_smp_data_const(t->send.mad);
	unsigned changed = 0;

	was = sm_row_block(sm, row, block);
	if (t->attr_id == IBA_ATTR_SWITCH_INFO && !sm->dev.rows.at[row].rft)
		return SM_GOING_ON;
	if (t->attr_id != IBA_ATTR_LFT) {
		sm_rft_recv(sm, t, data);
		sm_drain_rerouted(sm);
		return SM_GOING_ON;
	}
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		changed += was ? was[i] != sent[i] : sent[i] != IBA_PORT_NONE;
	sm_count_block(sm);
	sm_count_entries(sm, changed);
	sm_row_set(sm, row, block, sent);
	if (changed && sm->core.phase == SM_TABLES)
		sm_drain_rerouted(sm);
	return SM_GOING_ON;
}

/* The tables are in place: LID-routed SMPs reach every device. */
static void all_by_lid(struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	sm_lids_unrouted(sm);
	for (node_id n = 0; n < f->nnodes; n++) {
		struct sm_node *x = &sm->topo.nodes.at[sm->topo.node_of[n]];

		for (unsigned p = 0; p <= x->nports; p++) {
			struct sm_port *q = &sm->topo.ports.at[x->first_port + p];

			sm_port_by_lid(sm, x->first_port + p, sm_is_endport(sm, q) && q->has_lid);
		}
		if (fab_is_switch(f, n)) {
			sm_lid_routed(sm, f->ports[fab_port_id(f, n, 0)].lid);
			sm->dev.rows.at[x->row].rank = sm->routes.rank && !sm->routes.tables->lanes
							       ? sm->routes.rank[f->switch_index[n]]
							       : UINT64_MAX;
		}
	}
}

enum sm_outcome sm_tables_done(struct sm *sm)
{
	sm_rft_settle(sm);
	sm_multicast_dirty(sm);
	all_by_lid(sm);
	sm_paths_rebuild(sm);
	if (sm_sls_in_place(sm)) /* packets with former ones are under way */
		sm_drain_rerouted(sm);
	sm_round_in_place(sm, sm->routes.stage);
	return SM_DONE;
}

/* ---- 3: Armed, then Active ---- */

static enum sm_outcome arm_begin(struct sm *sm)
{
	if (sm_technique_now(sm)->stops_some)
		sm_drain_wait(sm);
	sm->run.arm.at = sm->run.arm.pair = (struct sm_cursor){0};
	sm->run.arm.pass = ARM_LOOK;
	return SM_GOING_ON;
}

/* Ports that may have stopped with the other end of their links. */
static bool look_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm, &sm->run.arm.at)) != NONE)
		if (sm->topo.ports.at[port].order.in_doubt) {
			sm->topo.ports.at[port].order.in_doubt = false;
			sm_req_port(sm, r, IBA_GET, SM_FOR_ACTIVATION, port);
			return true;
		}
	if (!sm->txn.outstanding) {
		sm->run.arm.at = (struct sm_cursor){0};
		sm->run.arm.pass = ARM_SET;
	}
	return false;
}

static bool arm_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	if (sm->run.arm.pass == ARM_LOOK && look_next(sm, r))
		return true;
	if (sm->run.arm.pass == ARM_LOOK)
		return false;
	if (sm_pair_set_next(sm, &sm->run.arm.pair, r))
		return true;
	while (!sm->cfg.one_set && (port = sm_link_port_next(sm, &sm->run.arm.at)) != NONE) {
		if (sm->topo.ports.at[port].pi.state >= IBA_PORT_ARMED)
			continue;
		sm_port_order(sm, port, IBA_PORT_ARMED, SM_FOR_ACTIVATION, r);
		return true;
	}
	return false;
}

/*
 * Switches first, then hosts: a host that is Active may be sent to, and by then every port on the way must
 * be Active too.
 */
static enum sm_outcome activate_begin(struct sm *sm)
{
	sm->run.activate.at = (struct sm_cursor){0};
	sm->run.activate.pass = ACTIVATE_SWITCHES;
	return SM_GOING_ON;
}

static bool is_in_pass(const struct sm *sm, uint32_t port)
{
	bool sw = sm->topo.nodes.at[sm->topo.ports.at[port].node].type == IBA_NODE_SWITCH;

	return sw == (sm->run.activate.pass == ACTIVATE_SWITCHES);
}

static bool activate_next(struct sm *sm, struct sm_req *r)
{
	for (;;) {
		uint32_t port = sm_link_port_next(sm, &sm->run.activate.at);

		if (port == NONE) {
			if (sm->run.activate.pass == ACTIVATE_HOSTS || sm->txn.outstanding)
				return false;
			sm->run.activate.at = (struct sm_cursor){0};
			sm->run.activate.pass = ACTIVATE_HOSTS;
			continue;
		}
		if (sm->topo.ports.at[port].pi.state >= IBA_PORT_ACTIVE || !is_in_pass(sm, port))
			continue;
		sm_port_order(sm, port, IBA_PORT_ACTIVE, SM_FOR_ACTIVATION, r);
		return true;
	}
}

enum sm_outcome sm_activated(struct sm *sm)
{
	if (sm->routes.stage == SM_PROVISIONAL && !sm->routes.settled && sm->disc.presumes)
		return sm_look_first(sm);
	if (sm->routes.stage == SM_PROVISIONAL && !sm->routes.settled) {
		sm_routes_staged(sm, true);
		return SM_STAGED;
	}
	if (sm_routes_more(sm))
		return SM_STAGED;
	if (sm->routes.stage == SM_PROVISIONAL)
		sm_round_in_place_too(sm);
	sm_routes_staged(sm, false);
	sm_finished(sm);
	sm_ahead_reset(sm); /* they were for the old snapshot */
	return sm_audit_wanted(sm, sm_copies_until(sm)) ? SM_DOUBTFUL : SM_DONE;
}

static enum sm_outcome activate_done(struct sm *sm)
{
	sm_round_complete(sm, sm->routes.stage);
	return sm_trees_due(sm) ? SM_GROUPS : sm_activated(sm);
}

const struct sm_part sm_part_deactivate = {
	.begin = deactivate_begin,
	.next = deactivate_next,
	.recv = sm_port_take,
	.fail = sm_failed,
	.done = done,
};
const struct sm_part sm_part_blocks = {
	.begin = sm_blocks_begin,
	.next = sm_blocks_next,
	.recv = sm_blocks_recv,
	.fail = sm_failed,
	.done = sm_tables_done,
};
static enum sm_outcome arm_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	sm_map_acknowledged(sm, t);
	return t->attr_id == IBA_ATTR_PORT_INFO ? sm_port_take(sm, t, data) : SM_GOING_ON;
}

const struct sm_part sm_part_arm = {
	.begin = arm_begin,
	.next = arm_next,
	.recv = arm_recv,
	.fail = sm_failed,
	.done = done,
};
const struct sm_part sm_part_activate = {
	.begin = activate_begin,
	.next = activate_next,
	.recv = sm_port_take,
	.fail = sm_failed,
	.done = activate_done,
};
