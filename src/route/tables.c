/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables and the list of engines. Keeps no state; the ways in are rt_tables_new() and
 * rt_compute(). Computes no route itself.
 */
#include "route/route_priv.h"

const struct rt_engine *const rt_engines[] = {
#define X(name) &rt_##name,
#include "route/engines.h"
#undef X
	NULL,
};

const char *const rt_engine_choices[] = {
	"auto",
#define X(name) #name,
#include "route/engines.h"
#undef X
	NULL,
};

const char *const rt_engine_names[] = {
#define X(name) #name,
#include "route/engines.h"
#undef X
	NULL,
};

const struct rt_engine *rt_engine_find(const char *name)
{
	for (size_t i = 0; rt_engines[i]; i++)
		if (!strcmp(rt_engines[i]->name, name))
			return rt_engines[i];
	return NULL;
}

/* Entries are not set. */
static struct rt_tables *tables_alloc(uint32_t nswitches, uint32_t top_lid)
{
	struct rt_tables *t = mem_zalloc(sizeof(*t));
	size_t size;

	t->nswitches = nswitches;
	t->top_lid = top_lid;
	t->stride = (top_lid + 64) & ~63u;
	size = (size_t)nswitches * t->stride;
	/* 64 LIDs are one block of a Set(LinearForwardingTable): let a block be one cache line too
	 */
	t->lft = mem_lines_unset(MAX(size, (size_t)1), 1);
	return t;
}

struct rt_tables *rt_tables_new(uint32_t nswitches, uint32_t top_lid)
{
	struct rt_tables *t = tables_alloc(nswitches, top_lid);

	memset(t->lft, IBA_PORT_NONE, (size_t)nswitches * t->stride);
	return t;
}

void rt_tables_free(struct rt_tables *t)
{
	if (!t)
		return;
	rt_lanes_drop(t);
	free(t->lft);
	free(t->dflt);
	free(t);
}

void rt_tables_fill(struct rt_tables *t)
{
	for (uint32_t s = 0; t->dflt && s < t->nswitches; s++) {
		uint8_t *row = rt_row(t, s), dflt = t->dflt[s];

		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			row[lid] = row[lid] == IBA_PORT_NONE ? dflt : row[lid];
	}
}

int rt_tables_fit(const struct rt_tables *t, const struct fab *f, const char *name, struct err *e)
{
	port_id *lids;
	uint32_t top;
	int rc = fab_lid_table(f, &lids, &top, e); /* two ports with one LID cannot be routed */

	if (rc)
		return rc;
	free(lids);
	if (top > t->top_lid)
		return err_set(e, -ERANGE, "%s: LID %u does not fit tables up to LID %u", name, top,
			       t->top_lid);
	return 0;
}

struct rt_tables *rt_tables_carry(const struct fab *from, const struct rt_tables *t,
				  const struct fab *to)
{
	struct rt_tables *c = tables_alloc(to->nswitches, MAX(t->top_lid, fab_top_lid(to)));

	for (uint32_t s = 0; s < to->nswitches; s++) {
		node_id n = fab_node_by_guid(from, to->nodes[to->switches[s]].guid);
		uint32_t kept = n != FAB_NONE && fab_is_switch(from, n) ? t->stride : 0;

		if (kept)
			memcpy(rt_row(c, s), rt_row(t, from->switch_index[n]), kept);
		memset(rt_row(c, s) + kept, IBA_PORT_NONE, c->stride - kept);
	}
	if (t->lanes)
		rt_lanes_carry(from, t, to, c);
	return c;
}

void rt_tables_cut(struct rt_tables **t, const struct fab *f)
{
	struct rt_tables *was = *t, *cut;

	if (was->top_lid == fab_top_lid(f))
		return;
	cut = rt_tables_new(was->nswitches, fab_top_lid(f));
	for (uint32_t s = 0; s < was->nswitches; s++)
		memcpy(rt_row(cut, s), rt_row(was, s), MIN(was->stride, cut->stride));
	if (was->lanes)
		rt_lanes_carry(f, was, f, cut);
	cut->entries = was->entries;
	*t = cut;
	rt_tables_free(was);
}

int rt_engine_ranks(const struct rt_engine *g, const struct fab *f, const struct rt_opts *o,
		    uint64_t *rank, struct err *e)
{
	struct rt_opts by = {.root = o->root, .directions = o->directions};
	bool parts = false;

	if (g->ranks)
		return g->ranks(f, o, rank, e);
	rt_updown_rank_by(f, o->root, o->directions, rank);
	for (uint32_t s = 0; s < f->nswitches; s++)
		parts |= rank[s] == UINT64_MAX;
	if (parts) { /* those that the root does not reach have an order, too */
		uint32_t *order = mem_array(f->nswitches, sizeof(*order));

		rt_rank_dense(f, &by, order, rank);
		free(order);
	}
	return 0;
}

uint64_t *rt_tables_ranks(const struct rt_engine *g, const struct fab *f, const struct rt_opts *o,
			  const struct rt_tables *t)
{
	uint64_t *rank;
	struct err e;

	if (!g->updown && !g->obeys)
		return NULL;
	rank = mem_array((size_t)f->nswitches + 1, sizeof(*rank));
	if (g->updown ? !rt_engine_ranks(g, f, o, rank, &e) : g->obeys(f, o, t, rank))
		return rank;
	free(rank);
	return NULL;
}

int rt_compute(const struct rt_engine *g, const struct fab *f, const struct rt_opts *o,
	       struct rt_tables **out, struct err *e)
{
	struct rt_tables *t = rt_tables_new(f->nswitches, fab_top_lid(f));
	int rc = g->route(f, o, t, e);

	if (rc) {
		rt_tables_free(t);
		return rc;
	}
	*out = t;
	return 0;
}
