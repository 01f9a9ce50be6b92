/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fewest entries that must change after a failure. State: struct fewest, for one call; the way in is
 * rt_fewest_changes(). Makes no tables.
 *
 * Without its dead entries a column is a forest, and each tree whose root is not the destination has lost it. The root must
 * change. It is joined with another tree by a path on which following an entry costs nothing and changing one costs 1:
 * the cheapest such path is what this tree needs at least. Trees have no switch in common, so the sum is a bound.
 */
#include "route/fewest.h"
#include "route/reroute.h"

struct fewest {
	struct reroute x;
	uint32_t lid, stamp;
	uint32_t *inside; /* by switch: the stamp of the tree it is part of */
	uint32_t *cost, *queue, *later;
};

static uint32_t next_switch(const struct fewest *z, uint32_t s)
{
	uint32_t a = graph_arc(&z->x.g, s, rt_row(z->x.t, s)[z->lid]);

	return a == FAB_NONE ? FAB_NONE : z->x.g.arc[a].to;
}

/* All switches whose entries lead to root. */
static void tree_find(struct fewest *z, uint32_t root)
{
	const struct switch_graph *g = &z->x.g;
	uint32_t n = 0;

	z->inside[root] = ++z->stamp;
	z->queue[n++] = root;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = g->first[z->queue[i]]; a < g->first[z->queue[i] + 1]; a++) {
			uint32_t v = g->arc[a].to;

			if (z->inside[v] != z->stamp && v != z->x.at[z->lid] &&
			    next_switch(z, v) == z->queue[i]) {
				z->inside[v] = z->stamp;
				z->queue[n++] = v;
			}
		}
	for (uint32_t i = 0; i < n; i++)
		z->cost[z->queue[i]] = UINT32_MAX;
}

/* Entries on the cheapest path out of the tree of root; 0: no link leads out. */
static uint32_t way_out(struct fewest *z, uint32_t root)
{
	const struct switch_graph *g = &z->x.g;
	uint32_t n = 0, nlater = 0, cost = 0;

	z->later[nlater++] = root;
	z->cost[root] = 0;
	while (nlater) {
		uint32_t *swap = z->queue;

		z->queue = z->later;
		z->later = swap;
		n = nlater;
		nlater = 0;
		cost++;
		for (uint32_t i = 0; i < n; i++) { /* switches reached with cost - 1 changes */
			uint32_t s = z->queue[i], next = next_switch(z, s);

			for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
				uint32_t v = g->arc[a].to;

				if (z->inside[v] != z->stamp)
					return cost;
				if (z->cost[v] == UINT32_MAX) {
					z->cost[v] = cost;
					z->later[nlater++] = v;
				}
			}
			if (s != root && next != FAB_NONE && z->cost[next] >= cost) {
				z->cost[next] = cost - 1; /* by its entry, for nothing */
				z->queue[n++] = next;
			}
		}
	}
	return 0;
}

static int broken_cmp(const void *a, const void *b)
{
	const struct reroute_broken *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->lid < y->lid ? -1 : x->lid > y->lid;
}

static void broken_count(struct fewest *z, struct rt_fewest *out)
{
	struct reroute *x = &z->x;
	uint64_t last = UINT64_MAX;

	if (x->broken.n)
		qsort(x->broken.at, x->broken.n, sizeof(*x->broken.at), broken_cmp);
	for (size_t i = 0; i < x->broken.n; i++) {
		uint32_t s = x->broken.at[i].sw, n;
		uint64_t block;

		z->lid = x->broken.at[i].lid;
		block = (uint64_t)s << 32 | z->lid / IBA_LFT_BLOCK;
		if (x->part[s] != x->part[x->at[z->lid]])
			continue; /* no link leads there any more */
		tree_find(z, s);
		n = way_out(z, s);
		out->entries += n;
		out->blocks += n && block != last;
		last = n ? block : last;
	}
}

/* New LIDs; LIDs of ports that are where they were, but at another port of their switch. */
static void lids_count(struct fewest *z, struct rt_fewest *out)
{
	const struct switch_graph *g = &z->x.g;
	uint32_t nblocks = z->x.t->stride / IBA_LFT_BLOCK;
	bool *fresh = mem_zarray(nblocks, sizeof(*fresh));

	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->dest_first[s]; i < g->dest_first[s + 1]; i++) {
			uint32_t lid = g->dest[i].lid;

			if (z->x.lost[lid]) {
				for (uint32_t v = 0; v < g->n; v++)
					out->entries += rt_row(z->x.t, v)[lid] == IBA_PORT_NONE;
				fresh[lid / IBA_LFT_BLOCK] = true;
			} else if (rt_row(z->x.t, s)[lid] != g->dest[i].port) {
				out->entries++;
				out->blocks++;
			}
		}
	for (uint32_t b = 0; b < nblocks; b++)
		out->blocks += fresh[b] ? g->n : 0;
	free(fresh);
}

int rt_fewest_changes(const struct fab *f, const struct rt_before *before, struct rt_fewest *out,
		      struct err *e)
{
	struct fewest z = {.x = {.f = f, .ref = before}};
	uint32_t n = f->nswitches + 1;
	int rc;

	*out = (struct rt_fewest){0};
	z.x.t = rt_tables_carry(before->f, before->t, f);
	graph_init(&z.x.g, f, z.x.t->top_lid);
	rc = reroute_compare(&z.x, e);
	z.inside = mem_zarray(n, sizeof(*z.inside));
	z.cost = mem_array(n, sizeof(*z.cost));
	z.queue = mem_array(2 * (size_t)n, sizeof(*z.queue));
	z.later = mem_array(2 * (size_t)n, sizeof(*z.later));
	if (!rc) {
		broken_count(&z, out);
		lids_count(&z, out);
	}
	free(z.inside);
	free(z.cost);
	free(z.queue);
	free(z.later);
	reroute_compare_free(&z.x);
	graph_free(&z.x.g);
	rt_tables_free(z.x.t);
	return rc;
}
