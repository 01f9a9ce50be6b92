/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms and the program see of multicast, and what they report. State: struct sm_multicast. Does not send anything.
 */
#include "sm/manager.h"

void sm_multicast_dirty(struct sm *sm)
{
	sm->multicast.dirty = true;
	sm->multicast.rest.doubt = true;
}

void sm_groups_differ(struct sm *sm, uint16_t mlid)
{
	struct sm_mrest *r = &sm->multicast.rest;

	if (r->changed.n > 2 * SM_SOME_GROUPS)
		r->doubt = true;
	else
		vec_push(&r->changed, mlid);
}

void sm_trees_rest_drop(struct sm *sm)
{
	struct sm_mrest *r = &sm->multicast.rest;

	rt_mspace_free(r->space);
	free(r->rank);
	map64_free(&r->ports);
	r->space = NULL;
	r->rank = NULL;
	r->holds = false;
}

/* Where there is no switch, nothing can be written. */
bool sm_multicast_busy(const struct sm *sm)
{
	bool alone = sm->topo.fab && !sm->topo.fab->nswitches;

	return sm->multicast.told && sm->multicast.dirty && !alone;
}

void sm_group_free(struct sm_group *g)
{
	free((void *)g->members);
}

void sm_groups_free(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	for (size_t i = 0; i < m->groups.n; i++)
		sm_group_free(&m->groups.at[i]);
	vec_free(&m->groups);
}

void sm_multicast_free(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	sm_mfts_forget(sm);
	vec_free(&m->mfts);
	map64_free(&m->by_guid);
	sm_groups_free(sm);
	map64_free(&m->member_guids);
	vec_free(&m->writes);
	sm_trees_free(m->ready);
	sm_trees_rest_drop(sm);
	vec_free(&m->rest.changed);
}

void sm_multicast_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->multicast.drained_at, by);
}

/* ---- looking in ---- */

void sm_multicast_status(const struct sm *sm, struct sm_multicast_status *st)
{
	*st = sm->multicast.st;
	st->busy = sm_multicast_busy(sm);
	st->mlids = sm_mlids(sm);
}

unsigned sm_mlids(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab;
	unsigned n = FAB_MCAST_MAX - 1; /* 0xffff is the permissive LID */

	for (uint32_t s = 0; f && s < f->nswitches; s++)
		n = MIN(n, sm_node_of(sm, f->switches[s])->si.mcast_cap);
	return n;
}

/* Without lanes; with ranks that tables obey, these are enough. */
const uint64_t *sm_trees_rank(const struct sm *sm)
{
	return sm->routes.rank && sm->routes.ranked && !sm->routes.tables->lanes ? sm->routes.rank
										 : NULL;
}

unsigned sm_multicast_sls(const struct sm *sm)
{
	return sm->topo.fab && sm->routes.tables
		       ? rt_multicast_sls(sm->topo.fab, sm->routes.tables, sm_trees_rank(sm))
		       : 0xffff;
}

bool sm_mft_block(const struct sm *sm, uint64_t node_guid, unsigned block, unsigned position,
		  uint16_t masks[IBA_MFT_BLOCK])
{
	uint32_t node = map64_get(&sm->topo.by_guid, node_guid);
	const uint16_t *has;

	if (node == MAP_NONE || sm->topo.nodes.at[node].type != IBA_NODE_SWITCH ||
	    block >= sm_mft_blocks(sm, node) || position > sm->topo.nodes.at[node].nports / 16u)
		return false;
	has = sm_mft_known(sm_mft_find(sm, node_guid), block, position);
	if (!has)
		return false;
	memcpy(masks, has, IBA_MFT_BLOCK * sizeof(*masks));
	return true;
}
