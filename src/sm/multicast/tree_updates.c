/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The phases that write multicast tables. State: ready, writes and step of struct sm_multicast. `prune` comes before unicast
 * tables change: masks lose what must not be there meanwhile. `trees` comes when unicast tables are in place, and from rest
 * when groups change: first masks lose what must be gone before others get more, then all get what is wanted. Only blocks
 * that differ are sent; where old and new trees go together there is nothing to lose first, and one round of SMPs does it.
 * Does not compute trees: tree_compute.c does.
 */
#include "sm/manager.h"

/* ---- trees for the tables that are in force or about to be ---- */

static bool tables_in_place(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!sm_row_holds(sm, sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].row,
				  rt_row(sm->routes.tables, s), sm->routes.tables->stride))
			return false;
	return true;
}

static struct sm_trees *compute(struct sm *sm, bool changing)
{
	struct sm_trees_task *k = sm_trees_task_new(sm);
	struct rt_tables *was = changing && !tables_in_place(sm) ? sm_rows_tables(sm) : NULL;
	struct rt_mchange c = {.f = sm->topo.fab,
			       .was = was,
			       .t = sm->routes.tables,
			       .rank = sm_trees_rank(sm),
			       .plan = sm_technique_now(sm)->plan && !sm->routes.unplanned
					       ? &sm->routes.plan
					       : NULL};
	struct sm_trees *t = sm_trees_run(k, sm->topo.data_fab, &c);

	rt_tables_free(was);
	sm_trees_task_free(k);
	return t;
}

static void ready_take(struct sm *sm, struct sm_trees *t)
{
	if (sm->multicast.ready != t)
		sm_trees_free(sm->multicast.ready);
	sm->multicast.ready = t;
}

/* ---- blocks that differ ---- */

/* Masks of trees as blocks, for all switches of the snapshot. */
struct wanted {
	uint32_t blocks, used; /* up to the last one that a switch has; with MLIDs in use */
	size_t *first;	       /* by switch, into mask */
	uint16_t *mask;	       /* [block][position][MLID] */
};

static unsigned positions(const struct sm *sm, uint32_t sw)
{
	return sm->topo.fab->nodes[sm->topo.fab->switches[sw]].nports / 16u + 1;
}

static void want(const struct sm *sm, struct wanted *w, const struct rt_branch *b, uint32_t mlid)
{
	for (unsigned p = 0; p < positions(sm, b->sw); p++) {
		uint16_t mask = (uint16_t)(b->ports.w[p / 4] >> p % 4 * 16);
		size_t at = mlid / IBA_MFT_BLOCK * positions(sm, b->sw) + p;

		w->mask[w->first[b->sw] + at * IBA_MFT_BLOCK + mlid % IBA_MFT_BLOCK] = mask;
	}
}

static void wanted_make(const struct sm *sm, const rt_mtrees *t, struct wanted *w)
{
	const struct fab *f = sm->topo.fab;
	const rt_mtrees *new = &sm->multicast.ready->new;
	size_t n = 0;

	w->used =
		new->n ? (new->at[new->n - 1].mlid - IBA_LID_MCAST_FIRST) / IBA_MFT_BLOCK + 1u : 0;
	w->blocks = t->n ? (t->at[t->n - 1].mlid - IBA_LID_MCAST_FIRST) / IBA_MFT_BLOCK + 1u : 0;
	w->blocks = MAX(w->blocks, w->used);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct sm_mft *m = sm_mft_find(sm, f->nodes[f->switches[s]].guid);

		w->blocks = MAX(w->blocks, m ? m->nblocks : 0);
	}
	w->first = mem_array(f->nswitches + 1u, sizeof(*w->first));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		w->first[s] = n;
		n += (size_t)w->blocks * positions(sm, s) * IBA_MFT_BLOCK;
	}
	w->mask = mem_zarray(n + 1, sizeof(*w->mask));
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->at[i].at.n; k++)
			want(sm, w, &t->at[i].at.at[k], t->at[i].mlid - IBA_LID_MCAST_FIRST);
}

/* It may hold something that is not wanted; of a block that was never read or set nothing is known. */
static bool holds_more(const struct wanted *w, const struct sm_mft *m, uint32_t block, unsigned pos,
		       const uint16_t *mask)
{
	if (!m || block >= m->nblocks || pos >= m->npos)
		return block < w->used && !sm_mft_known(m, block, pos);
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
		if (m->at[block * m->npos + pos].maybe[i] & ~mask[i])
			return true;
	return false;
}

/* A block that was never read or set does not matter before an MLID of it is used. */
static bool holds_other(const struct wanted *w, const struct sm_mft *m, uint32_t block,
			unsigned pos, const uint16_t *mask)
{
	const uint16_t *has = sm_mft_known(m, block, pos);

	if (!has)
		return block < w->used || (m && block < m->nblocks);
	return memcmp(has, mask, IBA_MFT_BLOCK * sizeof(*mask)) != 0;
}

static void writes_of(struct sm *sm, const struct wanted *w, uint32_t sw, uint32_t block, bool less)
{
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]];
	const struct sm_mft *m = sm_mft_find(sm, sm->topo.nodes.at[node].guid);

	for (unsigned p = 0; block < sm_mft_blocks(sm, node) && p < positions(sm, sw); p++) {
		const uint16_t *mask = w->mask + w->first[sw] +
				       ((size_t)block * positions(sm, sw) + p) * IBA_MFT_BLOCK;
		struct sm_mft_write x = {node, (uint16_t)block, (uint8_t)p, {0}};

		if (!(less ? holds_more : holds_other)(w, m, block, p, mask))
			continue;
		memcpy(x.mask, mask, sizeof(x.mask));
		vec_push(&sm->multicast.writes, x);
	}
}

/* Block by block over all switches, so that no switch is a bottleneck. */
static void writes_make(struct sm *sm, const rt_mtrees *t, bool less)
{
	struct wanted w = {0};

	sm->multicast.writes.n = sm->multicast.at = 0;
	sm->multicast.top_at = less ? sm->topo.fab->nswitches : 0;
	wanted_make(sm, t, &w);
	for (uint32_t b = 0; b < w.blocks; b++)
		for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++)
			writes_of(sm, &w, s, b, less);
	free(w.first);
	free(w.mask);
}

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
	uint32_t last = m->ready && m->ready->new.n
				? m->ready->new.at[m->ready->new.n - 1].mlid | (IBA_MFT_BLOCK - 1u)
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

bool sm_trees_first(struct sm *sm, struct sm_trees *ready)
{
	struct sm_multicast *m = &sm->multicast;

	ready_take(sm, ready);
	if (!m->told || !sm->topo.fab->nswitches)
		return false;
	if (!ready || ready->version != m->version)
		ready_take(sm, compute(sm, true));
	sm_multicast_dirty(sm);
	writes_make(sm, &m->ready->mid, true);
	return m->writes.n;
}

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

	writes_make(sm, m->step == SM_TREES_PRUNE ? &m->ready->mid : &m->ready->new,
		    m->step == SM_TREES_PRUNE);
	return m->writes.n;
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
		ready_take(sm, compute(sm, false));
	m->st.partial = m->ready->partial;
	m->st.refused += !m->ready->verified;
	for (; m->step != SM_TREES_END; m->step++)
		if (step_fill(sm))
			return true;
	m->dirty = false;
	ready_take(sm, NULL);
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
	ready_take(sm, NULL);
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
