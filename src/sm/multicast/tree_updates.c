/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The phases that write multicast tables. State: ready, writes and step of struct sm_multicast. `prune` comes before unicast
 * tables change: masks lose what must not be there meanwhile. `trees` comes when unicast tables are in place, and from rest
 * when groups change: first masks lose what must be gone before others get more, then all get what is wanted. Only blocks
 * that differ are sent; where old and new trees go together there is nothing to lose first, and one round of SMPs does it.
 * Does not compute trees: tree_compute.c does, and tree_writes.c knows
 * which blocks differ.
 */
#include "sm/manager.h"

/* ---- requests ---- */

static bool write_next(struct sm *sm, struct sm_req *r)
{
	struct sm_multicast *m = &sm->multicast;
	const struct sm_mft_write *x;
	struct iba_mft t;

	if (m->at >= m->writes.n)
		return false;
	x = &m->writes.at[m->at++];
	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, x->node, IBA_ATTR_MFT,
		    sm_mft_modifier(x->block, x->pos));
	r->target = sm_target_block(x->node, sm_mft_modifier(x->block, x->pos));
	memcpy(t.mask, x->mask, sizeof(t.mask));
	iba_mft_put(&t, r->data);
	return true;
}

/* MulticastFDBTop covers all blocks in use, where the switch has it. */
static bool top_next(struct sm *sm, struct sm_req *r)
{
	const struct sm_multicast *m = &sm->multicast;
	uint32_t last = m->ready && m->ready->last ? m->ready->last | (IBA_MFT_BLOCK - 1u)
						   : IBA_LID_MCAST_FIRST - 1u;

	while (m->top_at < sm->topo.fab->nswitches) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sm->multicast.top_at++]];
		const struct sm_node *n = &sm->topo.nodes.at[node];
		struct iba_switch_info si = n->si;
		uint32_t end = IBA_LID_MCAST_FIRST + si.mcast_cap - 1u;

		if (!(sm->topo.ports.at[n->first_port].pi.cap_mask & IBA_CAP_MCAST_TOP) ||
		    !si.mcast_cap || si.mcast_top == MIN(last, end))
			continue;
		si.mcast_top = (uint16_t)MIN(last, end);
		si.port_state_change = 0;
		sm_switch_learn(sm, node, &si);
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_SWITCH_INFO, 0);
		iba_switch_info_put(&si, r->data);
		return true;
	}
	return false;
}

static enum sm_outcome written(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_switch_info si;

	if (t->attr_id == IBA_ATTR_MFT) {
		sm_mft_set(sm, sm->topo.nodes.at[t->target.node].guid,
			   iba_smp_attr_mod(t->send.mad), iba_smp_data_const(t->send.mad));
		sm->multicast.st.blocks++;
		return SM_GOING_ON;
	}
	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (si.port_state_change)
		sm_switch_doubt(sm, t->target.node);
	return SM_GOING_ON;
}

static enum sm_outcome refused(struct sm *sm, const struct sm_txn *t)
{
	sm_multicast_dirty(sm);
	sm_unfinished(sm);
	return sm_failed(sm, t);
}

/* Packets are on links that trees have lost. */
static void drain(struct sm *sm)
{
	if (sm->multicast.ready->lost.links || sm->multicast.ready->lost.astray)
		sm->multicast.drained_at = sm->core.now + sm->dev.drain_ps;
}

/* ---- before unicast tables change ---- */

static enum sm_outcome prune_done(struct sm *sm)
{
	if (sm->multicast.ready->lost.links)
		sm_drain_moved(sm);
	drain(sm);
	return SM_DONE;
}

const struct sm_part sm_part_prune = {
	.next = write_next,
	.recv = written,
	.fail = refused,
	.done = prune_done,
};

/* ---- when they are in place ---- */

/* Whether blocks differ from what is wanted; fills writes. */
static bool step_fill(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	(m->ready->some ? sm_some_writes : sm_trees_writes)(
		sm, m->step == SM_TREES_PRUNE ? &m->ready->mid : &m->ready->new,
		m->step == SM_TREES_PRUNE);
	return m->writes.n;
}

static struct sm_trees *trees_compute(struct sm *sm)
{
	struct sm_trees *t = sm_trees_some(sm);

	return t ? t : sm_trees_compute(sm, false, sm_trees_rest_begin(sm));
}

bool sm_trees_due(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;
	bool in_round = sm->core.phase == SM_ACTIVATE;

	if (!m->told || !m->dirty || !sm->topo.fab || !sm->topo.fab->nswitches ||
	    !sm->routes.tables || (!in_round && sm->core.incomplete))
		return false;
	m->step = in_round && m->ready && m->ready->version == m->version ? SM_TREES_GROW
									  : SM_TREES_PRUNE;
	if (m->step == SM_TREES_PRUNE)
		sm_trees_ready(sm, trees_compute(sm));
	m->st.partial = m->ready->partial;
	m->st.refused += !m->ready->verified;
	for (; m->step != SM_TREES_END; m->step++)
		if (step_fill(sm))
			return true;
	m->dirty = false;
	sm_trees_rest(sm);
	sm_trees_ready(sm, NULL);
	return false;
}

static enum sm_outcome trees_begin(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	m->at_rest = sm->core.round.end != 0;
	if (m->at_rest)
		sm_audit_round(sm);
	if (m->step == SM_TREES_GROW && m->drained_at > sm->core.now)
		sm_phase_hold(sm, m->drained_at);
	return SM_GOING_ON;
}

/* The step is acknowledged. */
static void advance(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	if (m->step++ == SM_TREES_GROW)
		return;
	step_fill(sm);
	drain(sm);
	if (m->drained_at > sm->core.now)
		sm_phase_hold(sm, m->drained_at);
}

static bool trees_next(struct sm *sm, struct sm_req *r)
{
	struct sm_multicast *m = &sm->multicast;

	while (m->step != SM_TREES_END && sm->core.now >= sm->core.hold_until) {
		if ((m->step == SM_TREES_GROW && top_next(sm, r)) || write_next(sm, r))
			return true;
		if (sm->txn.outstanding)
			return false;
		advance(sm);
	}
	return false;
}

/* Groups may have changed meanwhile: then the next step from rest sees to it. */
static enum sm_outcome trees_done(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	if (m->step != SM_TREES_END)
		return SM_GOING_ON; /* it waits for packets to drain */
	m->dirty = m->ready->version != m->version;
	m->st.changes++;
	sm_trees_rest(sm);
	sm_trees_ready(sm, NULL);
	if (!m->at_rest)
		return sm_activated(sm);
	m->moved = true;
	return sm_audit_wanted(sm, sm_copies_until(sm)) ? SM_DOUBTFUL : SM_DONE;
}

bool sm_trees_rested(struct sm *sm)
{
	bool moved = sm->multicast.moved && sm->sweep.next != TIME_NEVER;

	sm->multicast.moved = false;
	return moved;
}

const struct sm_part sm_part_trees = {
	.begin = trees_begin,
	.next = trees_next,
	.recv = written,
	.fail = refused,
	.done = trees_done,
};
