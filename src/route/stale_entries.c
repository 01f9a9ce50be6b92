/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries for LIDs that no port has. Packets to them are still sent for a while, so they count in a plan; but no
 * engine looks at them, and tables that change as little as possible may keep them over ranks for which they were
 * not made. Keeps no state; the way in is rt_drop_stale(). Does not touch a LID that is assigned.
 */
#include "route/route.h"

struct stale {
	const struct fab *f;
	struct rt_tables *t;
	const uint64_t *rank;
	VEC(uint16_t) lids;
	bool *forbidden; /* by place in lids */
};

static int unassigned_find(struct stale *x)
{
	port_id *owner;
	uint32_t top;
	struct err e;
	int rc = fab_lid_table(x->f, &owner, &top, &e);

	if (rc)
		return rc;
	for (uint32_t lid = 1; lid < x->t->stride; lid++) /* the last LID in use ends no block */
		if (lid > top || owner[lid] == FAB_NONE)
			vec_push(&x->lids, (uint16_t)lid);
	free(owner);
	return 0;
}

/* The switch that switch s sends the LID to, FAB_NONE: none. */
static uint32_t next_switch(const struct stale *x, uint32_t s, uint32_t lid)
{
	const struct fab_node *n = &x->f->nodes[x->f->switches[s]];
	unsigned port = rt_row(x->t, s)[lid];
	port_id peer;

	if (!port || port > n->nports)
		return FAB_NONE;
	peer = x->f->ports[n->first_port + port].peer;
	return peer == FAB_NONE ? FAB_NONE : x->f->switch_index[x->f->ports[peer].node];
}

static bool is_forbidden(const struct stale *x, uint32_t s, uint32_t lid)
{
	uint32_t t = next_switch(x, s, lid), u;

	if (t == FAB_NONE || x->rank[t] <= x->rank[s])
		return false;
	u = next_switch(x, t, lid);
	return u != FAB_NONE && x->rank[u] < x->rank[t];
}

static uint32_t drop(struct stale *x)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < x->f->nswitches; s++)
		for (size_t i = 0; i < x->lids.n; i++) {
			uint8_t *entry = &rt_row(x->t, s)[x->lids.at[i]];

			if (!x->forbidden[i] || *entry == IBA_PORT_NONE)
				continue;
			*entry = IBA_PORT_NONE;
			n++;
		}
	return n;
}

uint32_t rt_drop_stale(const struct fab *f, struct rt_tables *t, const uint64_t *rank)
{
	struct stale x = {.f = f, .t = t, .rank = rank};
	uint32_t dropped = 0;

	if (!unassigned_find(&x) && x.lids.n) {
		x.forbidden = mem_zarray(x.lids.n, sizeof(*x.forbidden));
		for (uint32_t s = 0; s < f->nswitches; s++)
			for (size_t i = 0; i < x.lids.n; i++)
				x.forbidden[i] |= is_forbidden(&x, s, x.lids.at[i]);
		dropped = drop(&x);
		free(x.forbidden);
	}
	vec_free(&x.lids);
	return dropped;
}
