/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees for the tables that are in force or about to be, and the blocks of multicast tables that differ from them. State:
 * ready and writes of struct sm_multicast. Ways in: sm_trees_compute(), sm_trees_writes(), sm_trees_first(). Sends nothing:
 * tree_updates.c does.
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

struct sm_trees *sm_trees_now(struct sm *sm, struct sm_trees_task *k, const struct rt_tables *was)
{
	struct rt_mchange c = {.f = sm->topo.fab,
			       .was = was,
			       .t = sm->routes.tables,
			       .rank = sm_trees_rank(sm),
			       .plan = sm_technique_now(sm)->plan && !sm->routes.unplanned
					       ? &sm->routes.plan
					       : NULL};
	struct sm_trees *t = sm_trees_run(k, sm->topo.data_fab, &c);

	sm_trees_task_free(k);
	return t;
}

struct sm_trees *sm_trees_compute(struct sm *sm, bool changing, struct mc_space **space)
{
	struct rt_tables *was = changing && !tables_in_place(sm) ? sm_rows_tables(sm) : NULL;
	struct sm_trees_task *k = sm_trees_task_new(sm);
	struct sm_trees *t;

	k->space = space;
	t = sm_trees_now(sm, k, was);
	rt_tables_free(was);
	return t;
}

void sm_trees_ready(struct sm *sm, struct sm_trees *t)
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
void sm_trees_writes(struct sm *sm, const rt_mtrees *t, bool less)
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

/* ---- before unicast tables change ---- */

bool sm_trees_first(struct sm *sm, struct sm_trees *ready)
{
	struct sm_multicast *m = &sm->multicast;

	sm_trees_ready(sm, ready);
	if (!m->told || !sm->topo.fab->nswitches)
		return false;
	if (!ready || ready->version != m->version)
		sm_trees_ready(sm, sm_trees_compute(sm, true, NULL));
	sm_multicast_dirty(sm);
	sm_trees_writes(sm, &m->ready->mid, true);
	return m->writes.n;
}
