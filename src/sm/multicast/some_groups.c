/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees when some groups change and nothing else: those of the others are in place and verified, and stay. State: rest of
 * struct sm_multicast. Ways in: sm_trees_some(), sm_some_writes(). A host that joins costs as much with thousands of
 * groups as with ten. Everything else that changes, and any doubt, has all trees computed.
 *
 * That is safe where all trees obey the ranks of the unicast routes: then each is free of cycles by itself, whatever the
 * others are.
 */
#include "sm/manager.h"

/* ---- all trees, at rest ---- */

struct mc_space **sm_trees_rest_begin(struct sm *sm)
{
	struct sm_mrest *r = &sm->multicast.rest;

	sm_trees_rest_drop(sm);
	r->doubt = false;
	r->changed.n = 0;
	r->snapshot = sm->topo.snapshot;
	return &r->space;
}

static bool ranks_are(const struct sm *sm, const struct sm_mrest *r)
{
	const uint64_t *rank = sm_trees_rank(sm);

	return rank && r->rank && !memcmp(rank, r->rank, sm->topo.fab->nswitches * sizeof(*rank));
}

static void ranks_keep(const struct sm *sm, struct sm_mrest *r)
{
	size_t n = sm->topo.fab->nswitches;

	r->rank = mem_array(n + 1, sizeof(*r->rank));
	memcpy(r->rank, sm_trees_rank(sm), n * sizeof(*r->rank));
}

void sm_trees_rest(struct sm *sm)
{
	struct sm_mrest *r = &sm->multicast.rest;
	const struct sm_trees *t = sm->multicast.ready;

	r->holds = !r->doubt && r->space && r->snapshot == sm->topo.snapshot && t->verified &&
		   t->obey && !t->partial && sm_trees_rank(sm) && (!t->some || ranks_are(sm, r));
	r->last = t->last;
	if (!r->holds) {
		sm_trees_rest_drop(sm);
		return;
	}
	if (t->some)
		return;
	ranks_keep(sm, r);
	sm_ports_by_guid(sm, &r->ports);
}

/* ---- some of them ---- */

static int by_number(const void *a, const void *b)
{
	const uint16_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* In order, each once. */
static void changed_sort(struct sm_mrest *r)
{
	size_t n = 0;

	if (r->changed.n)
		qsort(r->changed.at, r->changed.n, sizeof(r->changed.at[0]), by_number);
	for (size_t i = 0; i < r->changed.n; i++)
		if (!n || r->changed.at[n - 1] != r->changed.at[i])
			r->changed.at[n++] = r->changed.at[i];
	r->changed.n = n;
}

static uint32_t block_of(uint16_t mlid)
{
	return (mlid - IBA_LID_MCAST_FIRST) / IBA_MFT_BLOCK;
}

/* A block is new only behind those in use: all before it are known. */
static bool blocks_are_known(const struct sm_mrest *r)
{
	uint32_t used = r->last ? block_of(r->last) + 1u : 0;

	for (size_t i = 0; i < r->changed.n; i++) {
		uint32_t b = block_of(r->changed.at[i]);

		if (b > used)
			return false;
		used = MAX(used, b + 1);
	}
	return true;
}

/* Groups that changed, over the snapshot; one that is gone has no members. NULL: a member is not known. */
static struct sm_trees_task *task_some(const struct sm *sm)
{
	const struct sm_multicast *m = &sm->multicast;
	struct sm_trees_task *k = mem_zalloc(sizeof(*k));
	bool all = true;

	for (size_t i = 0; i < m->rest.changed.n; i++) {
		uint16_t mlid = m->rest.changed.at[i];
		const struct sm_group *g = sm_group_find(m, mlid), none = {.mlid = mlid};

		all &= sm_group_place(g ? g : &none, &m->rest.ports, k);
		sm_mfts_tree(sm, mlid, &k->old);
	}
	if (!all) {
		sm_trees_task_free(k);
		return NULL;
	}
	sm_trees_task_link(k);
	sm_trees_task_switches(sm, k);
	return k;
}

static bool is_enough(struct sm *sm)
{
	struct sm_mrest *r = &sm->multicast.rest;

	if (!r->holds || r->doubt || r->snapshot != sm->topo.snapshot || !ranks_are(sm, r))
		return false;
	changed_sort(r);
	return r->changed.n && r->changed.n <= SM_SOME_GROUPS && blocks_are_known(r);
}

struct sm_trees *sm_trees_some(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;
	struct sm_mrest *r = &m->rest;
	struct sm_trees_task *k = is_enough(sm) ? task_some(sm) : NULL;
	struct sm_trees *t;

	if (!k)
		return NULL;
	r->holds = false; /* until these are in place */
	r->changed.n = 0;
	k->space = &r->space;
	t = sm_trees_now(sm, k, NULL);
	t->some = true;
	t->last = m->groups.n ? m->groups.at[m->groups.n - 1].mlid : 0;
	if (t->verified && t->obey && !t->partial && r->space) {
		m->st.some++;
		return t;
	}
	sm_trees_free(t);
	return NULL;
}

/* ---- blocks that differ ---- */

/* The columns of these trees in a block of a switch. */
static void columns_put(uint32_t block, unsigned pos, uint32_t sw, const rt_mtrees *t,
			uint16_t *mask)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct rt_ports *p;

		if (block_of(t->at[i].mlid) != block)
			continue;
		p = rt_mtree_at(&t->at[i], sw);
		mask[(t->at[i].mlid - IBA_LID_MCAST_FIRST) % IBA_MFT_BLOCK] =
			p ? (uint16_t)(p->w[pos / 4] >> pos % 4 * 16) : 0;
	}
}

static bool has_more(const uint16_t *has, const uint16_t *mask)
{
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
		if (has[i] & ~mask[i])
			return true;
	return false;
}

static void block_write(struct sm *sm, uint32_t sw, uint32_t block, const rt_mtrees *t, bool less)
{
	const struct fab_node *n = &sm->topo.fab->nodes[sm->topo.fab->switches[sw]];
	uint32_t node = sm->topo.node_of[sm->topo.fab->switches[sw]];
	const struct sm_mft *m = sm_mft_find(sm, n->guid);

	for (unsigned p = 0; block < sm_mft_blocks(sm, node) && p <= n->nports / 16u; p++) {
		const uint16_t *has = sm_mft_known(m, block, p);
		struct sm_mft_write x = {node, (uint16_t)block, (uint8_t)p, {0}};

		if (has)
			memcpy(x.mask, has, sizeof(x.mask));
		columns_put(block, p, sw, t, x.mask);
		if (!has ||
		    (less ? has_more(has, x.mask) : memcmp(has, x.mask, sizeof(x.mask)) != 0))
			vec_push(&sm->multicast.writes, x);
	}
}

void sm_some_writes(struct sm *sm, const rt_mtrees *t, bool less)
{
	const rt_mtrees *new = &sm->multicast.ready->new;

	sm->multicast.writes.n = sm->multicast.at = 0;
	sm->multicast.top_at = less ? sm->topo.fab->nswitches : 0;
	for (size_t i = 0; i < new->n; i++)
		for (uint32_t s = 0;
		     (!i || block_of(new->at[i].mlid) != block_of(new->at[i - 1].mlid)) &&
		     s < sm->topo.fab->nswitches;
		     s++)
			block_write(sm, s, block_of(new->at[i].mlid), t, less);
}
