/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shortest paths in a whole tree are up*-down* over the ranks of engine tree, whatever links they take: no lanes are needed, and
 * changes are as quick as those of that engine. Keeps no state; the ways in are balanced_settle() and balanced_obeys().
 *
 * Only routes between switches, which hardly a packet takes, may turn from down to up: these are taken from engine tree.
 */
#include "route/balanced.h"

/* By switch and port: the next switch, and whether the link leads up. */
struct steps {
	uint32_t *to; /* FAB_NONE: none */
	bool *up;
};

static void steps_make(const struct switch_graph *g, const uint64_t *rank, struct steps *x)
{
	size_t n = (size_t)g->n * 256 + 1;

	x->to = mem_array(n, sizeof(*x->to));
	x->up = mem_zarray(n, sizeof(*x->up));
	memset(x->to, 0xff, n * sizeof(*x->to));
	for (uint32_t a = 0; a < g->narcs; a++) {
		const struct graph_arc *arc = &g->arc[a];
		size_t at = (size_t)arc->from * 256 + arc->port;

		x->to[at] = arc->to;
		x->up[at] = rank[arc->to] < rank[arc->from];
	}
}

/* From switch s, to all LIDs that count, no step down is followed by one up. */
static bool switch_obeys(const struct rt_tables *t, const struct steps *x, uint32_t s,
			 const bool *counts)
{
	const uint8_t *row = rt_row(t, s);

	for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
		size_t at = (size_t)s * 256 + row[lid];

		if (x->to[at] != FAB_NONE && !x->up[at] && counts[lid] &&
		    x->up[(size_t)x->to[at] * 256 + rt_row(t, x->to[at])[lid]])
			return false;
	}
	return true;
}

static bool tables_obey(const struct switch_graph *g, const struct rt_tables *t,
			const uint64_t *rank, const bool *counts, unsigned threads UNUSED)
{
	struct steps x;
	bool ok = true;

	steps_make(g, rank, &x);
	RT_OMP(omp parallel for reduction(&& : ok) num_threads(rt_threads(threads, g->n, (uint64_t)g->n * t->top_lid)))
	for (uint32_t s = 0; s < g->n; s++)
		ok = ok && switch_obeys(t, &x, s, counts);
	free(x.to);
	free(x.up);
	return ok;
}

/* LIDs of hosts, or of all. */
static bool *lids_of(const struct switch_graph *g, const struct rt_tables *t, bool all)
{
	bool *counts = mem_array((size_t)t->top_lid + 1, sizeof(*counts));

	memset(counts, all, t->top_lid + 1u);
	for (uint32_t i = 0; i < g->dest_first[g->n]; i++)
		counts[g->dest[i].lid] |= g->dest[i].port != 0;
	return counts;
}

bool balanced_settle(const struct switch_graph *g, const struct rt_opts *o, struct rt_tables *t)
{
	uint64_t *rank = mem_array((size_t)g->n + 1, sizeof(*rank));
	bool *hosts = lids_of(g, t, false);
	struct rt_tables *tree = NULL;
	struct err e;
	bool ok = g->n && !rt_tree.ranks(g->f, o, rank, &e) &&
		  tables_obey(g, t, rank, hosts, o->threads) &&
		  !rt_compute(&rt_tree, g->f, o, &tree, &e);

	for (uint32_t s = 0; ok && s < g->n; s++)
		for (uint32_t i = 0; i < g->dest_first[g->n]; i++)
			if (!g->dest[i].port)
				rt_row(t, s)[g->dest[i].lid] = rt_row(tree, s)[g->dest[i].lid];
	rt_tables_free(tree);
	free(hosts);
	free(rank);
	return ok;
}

bool balanced_obeys(const struct fab *f, const struct rt_opts *o, const struct rt_tables *t,
		    uint64_t *rank)
{
	struct switch_graph g;
	bool *all, ok;
	struct err e;

	if (t->lanes || !f->nswitches || rt_tree.ranks(f, o, rank, &e))
		return false;
	graph_init(&g, f, t->top_lid);
	all = lids_of(&g, t, true);
	ok = tables_obey(&g, t, rank, all, o->threads);
	free(all);
	graph_free(&g);
	return ok;
}

int balanced_update(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
		    uint64_t *rank, struct rt_update_stats *st, struct err *e)
{
	return rank && ref->rank ? rt_reroute(f, ref, t, rank, st, e)
				 : rt_reroute_lanes(f, ref, t, rank, st, e);
}
