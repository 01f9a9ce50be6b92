/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of equal ports those with the fewest routes. State: struct dealer, for one call; the way in is updn_deal(). Distances are
 * those of FERa's search.
 */
#include "route/node_groups.h"
#include "route/updn.h"

struct dealer {
	struct fera fera;
	struct switch_graph g;
	struct rt_tables *t;
	uint64_t *loads; /* [group][arc]: routes from host ports to LIDs of hosts of the group */
	uint64_t *load;	 /* of the group of one LID */
	uint8_t *group;	 /* by LID */
	/* of one destination switch */
	uint32_t *order, reached;  /* by distance; the first is the destination */
	uint32_t *count;	   /* by distance */
	uint32_t *way_first, *way; /* by place in order: arcs of equal ports */
	/* of one LID */
	uint64_t *cost, *flow;
	uint32_t *taken;
};

static void order_make(struct dealer *x, const struct work *w, uint32_t i)
{
	uint32_t n = x->g.n, at = 0;

	memset(x->count, 0, ((size_t)n + 1) * sizeof(*x->count));
	for (uint32_t s = 0; s < n; s++)
		if (w->dist[(size_t)s * BLOCK + i] != DIST_NONE)
			x->count[w->dist[(size_t)s * BLOCK + i]]++;
	for (uint32_t d = 0; d <= n; d++) {
		uint32_t k = x->count[d];

		x->count[d] = at;
		at += k;
	}
	x->reached = at;
	for (uint32_t s = 0; s < n; s++)
		if (w->dist[(size_t)s * BLOCK + i] != DIST_NONE)
			x->order[x->count[w->dist[(size_t)s * BLOCK + i]]++] = s;
}

/* Links down where there is a way down, otherwise links up, that lead one link nearer. */
static uint32_t ways_of(struct dealer *x, const struct work *w, uint32_t s, uint32_t i, uint32_t n)
{
	const struct fera *g = &x->fera;
	uint16_t down = w->down[(size_t)s * BLOCK + i], dist = w->dist[(size_t)s * BLOCK + i];
	bool goes_down = down != DIST_NONE;
	const uint16_t *far = goes_down ? w->down : w->dist;
	const struct arc *arc = goes_down ? g->down : g->up;
	const uint32_t *first = goes_down ? g->down_first : g->up_first;

	for (uint32_t a = first[s]; a < first[s + 1]; a++)
		if (far[(size_t)arc[a].sw * BLOCK + i] == dist - 1)
			x->way[n++] = graph_arc(&x->g, s, arc[a].port);
	return n;
}

static void routes_count(struct dealer *x, uint64_t sign)
{
	for (uint32_t i = 0; i < x->reached; i++)
		x->flow[x->order[i]] = x->g.senders[x->order[i]];
	for (uint32_t i = x->reached; i-- > 1;) {
		uint32_t s = x->order[i];

		x->load[x->taken[s]] += sign * x->flow[s];
		x->flow[x->g.arc[x->taken[s]].to] += x->flow[s];
	}
}

static void lid_deal(struct dealer *x, uint32_t to, const struct dest *d, bool again)
{
	x->load = x->loads + (size_t)x->group[d->lid] * (x->g.narcs + 1);
	if (again && d->port) {
		for (uint32_t i = 1; i < x->reached; i++)
			x->taken[x->order[i]] =
				graph_arc(&x->g, x->order[i], rt_row(x->t, x->order[i])[d->lid]);
		routes_count(x, UINT64_MAX);
	}
	x->cost[to] = 0;
	rt_row(x->t, to)[d->lid] = d->port;
	for (uint32_t i = 1; i < x->reached; i++) {
		uint32_t s = x->order[i], best = FAB_NONE;
		uint64_t least = UINT64_MAX;

		for (uint32_t k = x->way_first[i]; k < x->way_first[i + 1]; k++) {
			uint32_t a = x->way[k];
			uint64_t cost = x->load[a] + x->cost[x->g.arc[a].to];

			best = cost < least ? a : best;
			least = MIN(cost, least);
		}
		x->cost[s] = least;
		x->taken[s] = best;
		rt_row(x->t, s)[d->lid] = x->g.arc[best].port;
	}
	if (d->port)
		routes_count(x, 1);
}

static void switch_deal(struct dealer *x, const struct work *w, uint32_t to, uint32_t i, bool again)
{
	const struct fera *g = &x->fera;
	uint32_t n = 0;

	order_make(x, w, i);
	for (uint32_t k = 0; k < x->reached; k++) {
		x->way_first[k] = n;
		if (x->order[k] != to)
			n = ways_of(x, w, x->order[k], i, n);
	}
	x->way_first[x->reached] = n;
	for (uint32_t k = g->dest_first[to]; k < g->dest_first[to + 1]; k++)
		lid_deal(x, to, &g->dest[k], again);
}

static void all_deal(struct dealer *x, bool again)
{
	struct work *w = fera_work_new(x->g.n);
	uint32_t dests[BLOCK];

	for (uint32_t d = 0; d < x->g.n; d += BLOCK) {
		uint32_t nd = MIN((uint32_t)BLOCK, x->g.n - d);

		for (uint32_t i = 0; i < nd; i++)
			dests[i] = d + i;
		fera_search(&x->fera, w, dests, nd);
		for (uint32_t i = 0; i < nd; i++)
			switch_deal(x, w, d + i, i, again);
	}
	fera_work_free(w);
}

void updn_deal(const struct fab *f, const struct rt_opts *o, const uint64_t *rank, unsigned passes,
	       struct rt_tables *t)
{
	size_t n = (size_t)f->nswitches + 1, arcs = (size_t)f->nlinks * 2 + 1;
	struct dealer x = {.t = t, .fera = {.f = f, .t = t}};

	fera_init(&x.fera, &(struct rt_opts){.rank = rank});
	graph_init(&x.g, f, t->top_lid);
	x.group = rt_group_by_lid(f, o, t->top_lid);
	x.loads = mem_zarray(rt_group_count(f, o) * ((size_t)x.g.narcs + 1), sizeof(*x.loads));
	x.way = mem_array(arcs, sizeof(*x.way));
	x.order = mem_array(n, sizeof(*x.order));
	x.count = mem_array(n, sizeof(*x.count));
	x.way_first = mem_array(n, sizeof(*x.way_first));
	x.cost = mem_array(n, sizeof(*x.cost));
	x.flow = mem_array(n, sizeof(*x.flow));
	x.taken = mem_array(n, sizeof(*x.taken));
	for (unsigned i = 0; i < passes; i++)
		all_deal(&x, i > 0);
	fera_free(&x.fera);
	graph_free(&x.g);
	free(x.loads);
	free(x.group);
	free(x.way);
	free(x.order);
	free(x.count);
	free(x.way_first);
	free(x.cost);
	free(x.flow);
	free(x.taken);
}
