/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The audit. SMPs are datagrams: one that was lost is sent again, and its first copy may still arrive and
 * undo what came later (a port taken down again, an old table block). So if a Set was repeated or doubled
 * in this round, what was set is read back, at once and again when a time-out has passed and no copy can
 * be on its way; what is wrong is a change like any other. State: a cursor. Reads only what this round set.
 */
#include "sm/tables/random_tables.h"

enum { AUDIT_PORT, AUDIT_BLOCK, AUDIT_RFT, AUDIT_TURN };

static void audit_begin(struct sm *sm)
{
	sm_cursor_begin(sm);
	sm->run.pass = AUDIT_PORT;
	sm->audit.due = sm->audit.trouble ? sm->core.now + sm_timeout(sm) : TIME_NEVER;
	sm->audit.trouble = false;
}

static bool audit_port_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while ((port = sm_link_port_next(sm)) != NONE)
		if (sm->topo.ports.at[port].set_in == sm->audit.generation) {
			sm_req_port(sm, r, IBA_GET, SM_FOR_AUDIT, port);
			return true;
		}
	return false;
}

static bool audit_block_next(struct sm *sm, struct sm_req *r)
{
	uint32_t sw, block, node;

	while (sm_block_next(sm, &sw, &block)) {
		node = sm->topo.node_of[sm->topo.fab->switches[sw]];
		if (!sm_row_block(sm, sm->topo.nodes.at[node].row, block) ||
		    sm->dev.rows.at[sm->topo.nodes.at[node].row].known[block] !=
			    sm->audit.generation)
			continue;
		sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node, IBA_ATTR_LFT, block);
		r->ref = sw * (sm->routes.tables->stride / IBA_LFT_BLOCK) + block;
		return true;
	}
	return false;
}

static bool audit_turn_next(struct sm *sm, struct sm_req *r)
{
	const struct rt_turn *t;

	if (sm->run.step >= sm->dev.turns.n)
		return false;
	t = &sm->dev.turns.at[sm->run.step];
	sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, sm->topo.node_of[sm->topo.fab->switches[t->sw]],
		    IBA_ATTR_SLVL_TABLE, (uint32_t)t->in << 8 | t->out);
	r->ref = sm->run.step++;
	return true;
}

static bool audit_next(struct sm *sm, struct sm_req *r)
{
	static bool (*const next[])(struct sm *, struct sm_req *) = {
		audit_port_next, audit_block_next, sm_rft_audit_next, audit_turn_next};

	for (; sm->run.pass < ARRAY_LEN(next); sm->run.pass++, sm_cursor_begin(sm))
		if (next[sm->run.pass](sm, r)) {
			r->kind = sm->run.pass;
			return true;
		}
	return false;
}

static bool port_as_set(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	return pi.state == IBA_PORT_ACTIVE && (!sm_is_endport(sm, &sm->topo.ports.at[port]) ||
					       pi.lid == sm->topo.ports.at[port].pi.lid);
}

/* What a device was found to hold instead is what the next round starts from. */
static bool audit_block(struct sm *sm, uint32_t ref, const uint8_t *data)
{
	/* Rows are whole blocks, so block numbers run on from row to row. */
	uint32_t per_row = sm->routes.tables->stride / IBA_LFT_BLOCK;
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[ref / per_row]];

	if (!memcmp(sm->routes.tables->lft + (size_t)ref * IBA_LFT_BLOCK, data, IBA_LFT_BLOCK))
		return true;
	sm_row_set(sm, sm->topo.nodes.at[node].row, ref % per_row, data);
	return false;
}

/*
 * Once or twice it was a late copy. If it goes on, what is known of the subnet is wrong: two names for one
 * switch, say, that are both given their tables. A full discovery tells, or else the round ends here.
 */
enum { MENDED_A_ROUND = 64, MISMATCHES_A_ROUND = 256 };

static void mend(struct sm *sm, const struct sm_txn *t, uint64_t guid)
{
	sm->core.round.restarts++;
	sm->audit.mending |= t->kind != AUDIT_PORT;
	sm->core.incomplete = true;
	if (sm->core.round.restarts > MENDED_A_ROUND) {
		sm->disc.full_needed = true;
		sm->audit.mending = false;
	}
	if (sm->core.round.end || sm->core.round.restarts <= MISMATCHES_A_ROUND) {
		sm_change(sm, SM_CAUSE_SILENCE, guid);
		return;
	}
	sm->disc.dirty = true;
	sm_forget_outstanding(sm);
	sm_phase_set(sm, SM_READY);
}

static void audit_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint64_t guid = 0;
	bool ok;

	if (t->kind == AUDIT_PORT) {
		ok = port_as_set(sm, t->ref, data);
		guid = sm->topo.nodes.at[sm->topo.ports.at[t->ref].node].guid;
		sm->disc.full_needed |= !ok;
	} else if (t->kind == AUDIT_BLOCK) {
		ok = audit_block(sm, t->ref, data);
	} else if (t->kind == AUDIT_RFT) {
		ok = sm_rft_audit(sm, t->ref, t->attr_id, data);
	} else {
		ok = sm_turn_as_set(sm, t->ref, data);
	}
	if (ok)
		return;
	sm_note(sm, SM_NOTE_MISMATCH, guid, t->attr_id);
	mend(sm, t, guid);
}

static void audit_done(struct sm *sm)
{
	sm_phase_set(sm, SM_READY);
}

const struct sm_part sm_part_audit = {audit_begin, audit_next, audit_recv, sm_failed, audit_done};
