/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The audit. SMPs are datagrams: one that was lost is sent again, and its first copy may still arrive and undo
 * a later Set (a port taken down again, an old table block). A copy writes what its Set wrote and nothing
 * else, so only that can be other than the last Set left it: the port, block or turn of each Set that was
 * repeated, given up or answered twice is read back, at once and again when a timeout has passed and no copy
 * can be under way. Where the subnet doubles SMPs of its own accord, any Set may have a copy; it does harm
 * where another value was set soon after, so what was set twice is read as well. A mismatch is a change like
 * any other. State: run.audit. Reads nothing else.
 */
#include "sm/tables/random_tables.h"

/* ---- requests ---- */

static enum sm_outcome audit_begin(struct sm *sm)
{
	sm->run.audit.at = (struct sm_cursor){0};
	sm->run.audit.what = AUDIT_DOUBTS;
	sm->run.audit.all_settled = sm->core.now >= sm->audit.all_until;
	sm->audit.due = TIME_NEVER;
	for (size_t i = 0; i < sm->audit.doubts.n; i++)
		sm->audit.doubts.at[i].settled = false;
	return SM_GOING_ON;
}

/* ---- what is in doubt ---- */

static bool doubt_port(struct sm *sm, uint32_t node, uint32_t num, struct sm_req *r)
{
	uint32_t port = sm->topo.nodes.at[node].first_port + num;

	if (num > sm->topo.nodes.at[node].nports || !sm->topo.ports.at[port].ask.known)
		return false;
	sm_req_port(sm, r, IBA_GET, SM_FOR_AUDIT, port);
	r->question = Q_AUDIT_PORT;
	return true;
}

/* Of a random table, the last block stands for its DefaultPort. */
static bool doubt_block(struct sm *sm, uint32_t node, const struct sm_written *w, struct sm_req *r)
{
	uint32_t row = sm->topo.nodes.at[node].row;
	const struct sm_rft *rft = row == NONE ? NULL : sm->dev.rows.at[row].rft;

	if (row == NONE ||
	    (w->attr_id == IBA_ATTR_LFT && (rft || !sm_row_block(sm, row, w->item))) ||
	    (w->attr_id == IBA_ATTR_RFT &&
	     (!rft || w->item >= rft->nblocks || !rft->known[w->item])))
		return false;
	sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, w->attr_id, w->item);
	r->target = sm_target_block(node, w->item);
	r->question = rft ? Q_AUDIT_RANDOM : Q_AUDIT_BLOCK;
	return true;
}

/*
 * A late copy that cleared PortStateChange may have hidden a change since: then the ports are read as well,
 * one in each step.
 */
static bool doubt_switch(struct sm *sm, uint32_t node, const struct sm_written *w, uint32_t step,
			 struct sm_req *r)
{
	const struct sm_row *row = &sm->dev.rows.at[sm->topo.nodes.at[node].row];

	if (step)
		return w->item && doubt_port(sm, node, step, r);
	sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, IBA_ATTR_SWITCH_INFO, 0);
	r->question = Q_AUDIT_SWITCH;
	if (row->rft && row->rft->dflt_known) {
		r->target = sm_target_block(node, row->rft->nblocks);
		r->question = Q_AUDIT_RANDOM;
	}
	return true;
}

static bool doubt_turn(struct sm *sm, uint32_t node, uint32_t turn, struct sm_req *r)
{
	sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, IBA_ATTR_SLVL_TABLE, turn);
	r->target = sm_target_turn(node, turn >> 8, turn & 0xff);
	r->question = Q_AUDIT_TURN;
	return true;
}

/* The SL-to-VL table of a host's port. */
static bool doubt_host_map(struct sm *sm, uint32_t node, uint32_t num, struct sm_req *r)
{
	uint64_t map;

	if (num > sm->topo.nodes.at[node].nports ||
	    !sm_map_known(sm, sm->topo.nodes.at[node].guid, 0, num, &map))
		return false;
	sm_req_port(sm, r, IBA_GET, SM_FOR_AUDIT, sm->topo.nodes.at[node].first_port + num);
	r->attr_id = IBA_ATTR_SLVL_TABLE;
	r->attr_mod = 0;
	r->question = Q_AUDIT_TURN;
	return true;
}

static bool doubt_mft(struct sm *sm, uint32_t node, uint32_t modifier, struct sm_req *r)
{
	if (!sm_mft_is_known(sm, sm->topo.nodes.at[node].guid, modifier))
		return false;
	sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, IBA_ATTR_MFT, modifier);
	r->target = sm_target_block(node, modifier);
	r->question = Q_AUDIT_MFT;
	return true;
}

/* Step 0, 1 and so on of what has to be read; false: no more. A device that is not there holds nothing. */
static bool doubt_make(struct sm *sm, const struct sm_written *w, uint32_t step, struct sm_req *r)
{
	uint32_t node = map64_get(&sm->topo.by_guid, w->guid);
	bool sw = node != MAP_NONE && sm->topo.nodes.at[node].type == IBA_NODE_SWITCH;

	if (node == MAP_NONE || sm->topo.nodes.at[node].fab == FAB_NONE)
		return false;
	if (w->attr_id == IBA_ATTR_SWITCH_INFO)
		return sw && doubt_switch(sm, node, w, step, r);
	if (step)
		return false;
	if (w->attr_id == IBA_ATTR_PORT_INFO)
		return doubt_port(sm, node, w->item, r);
	if (w->attr_id == IBA_ATTR_SLVL_TABLE)
		return sw ? doubt_turn(sm, node, w->item, r) : doubt_host_map(sm, node, w->item, r);
	if (w->attr_id == IBA_ATTR_MFT)
		return sw && doubt_mft(sm, node, w->item, r);
	return sw && doubt_block(sm, node, w, r);
}

static bool audit_doubt_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	for (; at->node < sm->audit.doubts.n; at->node++, at->step = 0) {
		struct sm_doubt *d = &sm->audit.doubts.at[at->node];

		d->settled = sm->core.now >= d->until;
		if (doubt_make(sm, &d->what, at->step, r)) {
			at->step++;
			return true;
		}
	}
	return false;
}

/* ---- what was set twice, where the subnet doubles SMPs ---- */

static bool audit_port_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm, at)) != NONE)
		if (sm->topo.ports.at[port].order.set_in == sm->audit.generation) {
			sm_req_port(sm, r, IBA_GET, SM_FOR_AUDIT, port);
			r->question = Q_AUDIT_PORT;
			return true;
		}
	return false;
}

static bool audit_block_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	uint32_t sw, block, node;

	while (sm_block_next(sm, at, &sw, &block)) {
		node = sm->topo.node_of[sm->topo.fab->switches[sw]];
		if (sm_row_block(sm, sm->topo.nodes.at[node].row, block) &&
		    sm->dev.rows.at[sm->topo.nodes.at[node].row].sets[block].again ==
			    sm->audit.generation)
			return doubt_block(sm, node, &(struct sm_written){0, block, IBA_ATTR_LFT},
					   r);
	}
	return false;
}

static bool audit_turn_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	const struct rt_turn *t;
	uint32_t node;

	if (at->step >= sm->dev.turns.n)
		return false;
	t = &sm->dev.turns.at[at->step++];
	node = sm->topo.node_of[sm->topo.fab->switches[t->sw]];
	return doubt_turn(sm, node, (uint32_t)t->in << 8 | t->out, r);
}

static bool audit_map_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	uint32_t node, turn;

	while (sm_map_again_next(sm, at, &node, &turn))
		if (sm->topo.nodes.at[node].type == IBA_NODE_SWITCH
			    ? doubt_turn(sm, node, turn, r)
			    : doubt_host_map(sm, node, turn, r))
			return true;
	return false;
}

static bool audit_mft_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	for (; at->node < sm->topo.fab->nswitches; at->node++, at->step = 0) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[at->node]];
		const struct sm_mft *m = sm_mft_find(sm, sm->topo.nodes.at[node].guid);

		while (m && at->step < m->nblocks * m->npos) {
			uint32_t i = at->step++;

			if (m->at[i].sets.again == sm->audit.generation &&
			    doubt_mft(sm, node, sm_mft_modifier(i / m->npos, i % m->npos), r))
				return true;
		}
	}
	return false;
}

static bool (*const audits[AUDIT_END])(struct sm *sm, struct sm_cursor *at, struct sm_req *r) = {
	[AUDIT_DOUBTS] = audit_doubt_next, [AUDIT_PORTS] = audit_port_next,
	[AUDIT_BLOCKS] = audit_block_next, [AUDIT_RANDOM] = sm_rft_audit_next,
	[AUDIT_TURNS] = audit_turn_next,   [AUDIT_MAPS] = audit_map_next,
	[AUDIT_MFTS] = audit_mft_next,
};

static bool audit_next(struct sm *sm, struct sm_req *r)
{
	unsigned end = sm->audit.all && sm->routes.tables ? AUDIT_END : AUDIT_DOUBTS + 1;

	for (; sm->run.audit.what < end; sm->run.audit.what++) {
		if (audits[sm->run.audit.what](sm, &sm->run.audit.at, r))
			return true;
		sm->run.audit.at = (struct sm_cursor){0};
	}
	return false;
}

/* ---- answers ---- */

static bool has_link(const struct sm *sm, const struct sm_port *p)
{
	const struct fab *f = sm->topo.fab;

	return p->num &&
	       f->ports[fab_port_id(f, sm->topo.nodes.at[p->node].fab, p->num)].peer != FAB_NONE;
}

/* A port without a link in the snapshot was not set: it is read because a change may have been hidden. */
static bool port_as_set(struct sm *sm, uint32_t port, const uint8_t *data)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (has_link(sm, p) ? pi.state != IBA_PORT_ACTIVE
			    : (pi.state == IBA_PORT_DOWN) != (p->pi.state == IBA_PORT_DOWN))
		return false;
	return !sm_is_endport(sm, p) || pi.lid == p->pi.lid;
}

static bool switch_as_set(const struct sm *sm, uint32_t node, const uint8_t *data)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	return si.linear_top == sm->topo.nodes.at[node].si.linear_top;
}

/* The next round starts from what the device holds. */
static bool block_as_set(struct sm *sm, struct sm_target t, const uint8_t *data)
{
	const uint8_t *has = sm_row_block(sm, sm->topo.nodes.at[t.node].row, t.item);

	if (has && !memcmp(has, data, IBA_LFT_BLOCK))
		return true;
	sm_row_set(sm, sm->topo.nodes.at[t.node].row, t.item, data);
	return false;
}

/*
 * Once or twice it was a late copy. If mismatches go on, the topology is wrong: for example two
 * GUIDs of one switch, each given its tables. A full discovery resolves it, or else the round
 * ends here.
 */
enum { MENDED_A_ROUND = 64, MISMATCHES_A_ROUND = 256 };

static enum sm_outcome mend(struct sm *sm, const struct sm_txn *t)
{
	sm_round_again(sm);
	sm->audit.mending |= t->question != Q_AUDIT_PORT && t->question != Q_AUDIT_SWITCH;
	sm_unfinished(sm);
	if (sm->core.round.restarts > MENDED_A_ROUND) {
		sm_full_discovery_needed(sm);
		sm->audit.mending = false;
	}
	if (sm->core.round.end || sm->core.round.restarts <= MISMATCHES_A_ROUND)
		return sm_changed(sm, SM_CAUSE_SILENCE, sm_about_target(sm, &t->target));
	return sm_give_up(sm);
}

static bool as_set(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	bool ok;

	if (t->question == Q_AUDIT_BLOCK)
		return block_as_set(sm, t->target, data);
	if (t->question == Q_AUDIT_MFT)
		return sm_mft_as_set(sm, sm->topo.nodes.at[t->target.node].guid, t->target.item,
				     data);
	if (t->question == Q_AUDIT_RANDOM)
		return sm_rft_audit(sm, t, data);
	if (t->question == Q_AUDIT_TURN && t->target.kind == SM_TARGET_PORT)
		return sm_map_as_set(sm, t->target.node, 0, sm->topo.ports.at[t->target.port].num,
				     data);
	if (t->question == Q_AUDIT_TURN)
		return sm_turn_as_set(sm, t->target, data);
	ok = t->question == Q_AUDIT_PORT ? port_as_set(sm, t->target.port, data)
					 : switch_as_set(sm, t->target.node, data);
	if (!ok)
		sm_full_discovery_needed(sm);
	return ok;
}

static enum sm_outcome audit_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (as_set(sm, t, data))
		return SM_GOING_ON;
	sm_note(sm, .kind = SM_NOTE_MISMATCH, .about = sm_about_target(sm, &t->target),
		.request = {.attribute = t->attr_id});
	return mend(sm, t);
}

static enum sm_outcome audit_done(struct sm *sm)
{
	if (sm->run.audit.all_settled)
		sm->audit.all = false;
	sm_audit_read(sm);
	return SM_DONE;
}

const struct sm_part sm_part_audit = {
	.begin = audit_begin,
	.next = audit_next,
	.recv = audit_recv,
	.fail = sm_failed,
	.done = audit_done,
};
