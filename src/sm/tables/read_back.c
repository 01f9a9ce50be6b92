/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The audit. SMPs are datagrams: one that was lost is sent again, and its first copy may still
 * arrive and undo a later Set (a port taken down again, an old table block). So if a Set was
 * repeated or doubled in this round, all that was set is read back, at once and again when a
 * timeout has passed and no copy can be under way; a mismatch is a change like any other. State:
 * run.audit. Reads only what this round set.
 */
#include "sm/tables/random_tables.h"

/* ---- requests ---- */

static enum sm_outcome audit_begin(struct sm *sm)
{
	sm->run.audit.at = (struct sm_cursor){0};
	sm->run.audit.what = AUDIT_PORTS;
	sm->audit.due = sm->audit.trouble ? sm->core.now + sm_timeout(sm) : TIME_NEVER;
	sm->audit.trouble = false;
	return SM_GOING_ON;
}

static bool audit_port_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm, at)) != NONE)
		if (sm->topo.ports.at[port].order.set_in == sm->audit.generation) {
			sm_req_port(sm, r, IBA_GET, SM_FOR_AUDIT, port);
			return true;
		}
	return false;
}

static bool audit_block_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	uint32_t sw, block, node;

	while (sm_block_next(sm, at, &sw, &block)) {
		node = sm->topo.node_of[sm->topo.fab->switches[sw]];
		if (!sm_row_block(sm, sm->topo.nodes.at[node].row, block) ||
		    sm->dev.rows.at[sm->topo.nodes.at[node].row].known[block] !=
			    sm->audit.generation)
			continue;
		sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, IBA_ATTR_LFT, block);
		r->target = sm_target_block(node, block);
		return true;
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
	sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, IBA_ATTR_SLVL_TABLE,
		    (uint32_t)t->in << 8 | t->out);
	r->target = sm_target_turn(node, t->in, t->out);
	return true;
}

static const struct {
	bool (*next)(struct sm *sm, struct sm_cursor *at, struct sm_req *r);
	enum sm_question question;
} audits[AUDIT_END] = {
	[AUDIT_PORTS] = {audit_port_next, Q_AUDIT_PORT},
	[AUDIT_BLOCKS] = {audit_block_next, Q_AUDIT_BLOCK},
	[AUDIT_RANDOM] = {sm_rft_audit_next, Q_AUDIT_RANDOM},
	[AUDIT_TURNS] = {audit_turn_next, Q_AUDIT_TURN},
};

static bool audit_next(struct sm *sm, struct sm_req *r)
{
	for (; sm->run.audit.what < AUDIT_END; sm->run.audit.what++) {
		if (audits[sm->run.audit.what].next(sm, &sm->run.audit.at, r)) {
			r->question = audits[sm->run.audit.what].question;
			return true;
		}
		sm->run.audit.at = (struct sm_cursor){0};
	}
	return false;
}

/* ---- answers ---- */

static bool port_as_set(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	return pi.state == IBA_PORT_ACTIVE && (!sm_is_endport(sm, &sm->topo.ports.at[port]) ||
					       pi.lid == sm->topo.ports.at[port].pi.lid);
}

/* The next round starts from what the device holds. */
static bool block_as_set(struct sm *sm, struct sm_target t, const uint8_t *data)
{
	uint32_t sw = sm->topo.fab->switch_index[sm->topo.nodes.at[t.node].fab];

	if (!memcmp(rt_row(sm->routes.tables, sw) + (size_t)t.item * IBA_LFT_BLOCK, data,
		    IBA_LFT_BLOCK))
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
	sm->audit.mending |= t->question != Q_AUDIT_PORT;
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
	if (t->question == Q_AUDIT_RANDOM)
		return sm_rft_audit(sm, t, data);
	if (t->question == Q_AUDIT_TURN)
		return sm_turn_as_set(sm, t->target, data);
	ok = port_as_set(sm, t->target.port, data);
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
	(void)sm;
	return SM_DONE;
}

const struct sm_part sm_part_audit = {
	.begin = audit_begin,
	.next = audit_next,
	.recv = audit_recv,
	.fail = sm_failed,
	.done = audit_done,
};
