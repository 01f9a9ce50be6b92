/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Up/down ranks of a reference on another snapshot, with as few links reversed as possible. State: struct mend, for one
 * call; the ways in are rank_mend() and rt_updown_rank_mend(). Computes no routes.
 *
 * A switch is anchored if links up lead from it to the root of its part. A link that fails can leave some switches
 * without: in a tree, a switch above the pivot and all that only it joined with the pivot. One of their neighbours below
 * that is anchored then becomes their upper one, and all links between switches above them are reversed. Routes
 * that went up and down over these switches still do by the new ranks, as those over the pivot do.
 */
#include "route/reroute.h"

struct mend {
	const struct switch_graph *g;
	uint64_t *at;	/* by switch: its place in the order before */
	bool *reversed; /* by arc */
	bool *anchored; /* by switch */
	uint32_t *queue, tail;
	uint32_t links; /* reversed */
};

struct rank_place {
	uint64_t old;
	uint32_t sw;
};

static int place_cmp(const void *a, const void *b)
{
	const struct rank_place *x = a, *y = b;

	if (x->old != y->old)
		return x->old < y->old ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Places by old rank; new switches come last, so that all their neighbours are above them. */
static void places_make(struct mend *x, const uint64_t *old)
{
	uint32_t n = x->g->n;
	struct rank_place *p = mem_array(n, sizeof(*p));

	for (uint32_t s = 0; s < n; s++)
		p[s] = (struct rank_place){old[s], s};
	qsort(p, n, sizeof(*p), place_cmp);
	for (uint32_t i = 0; i < n; i++)
		x->at[p[i].sw] = i;
	free(p);
}

static bool is_up(const struct mend *x, uint32_t a)
{
	const struct graph_arc *arc = &x->g->arc[a];

	return (x->at[arc->to] < x->at[arc->from]) != x->reversed[a];
}

static void anchor(struct mend *x, uint32_t s)
{
	x->anchored[s] = true;
	x->queue[x->tail++] = s;
}

/* Everything below the anchored switches in the queue. */
static void anchor_below(struct mend *x)
{
	const struct switch_graph *g = x->g;

	while (x->tail) {
		uint32_t s = x->queue[--x->tail];

		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (!is_up(x, a) && !x->anchored[g->arc[a].to])
				anchor(x, g->arc[a].to);
	}
}

/* Reverses all links between two switches. */
static void reverse(struct mend *x, uint32_t s, uint32_t v)
{
	const struct switch_graph *g = x->g;

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
		if (g->arc[a].to == v) {
			x->reversed[a] = true;
			x->links++;
		}
	for (uint32_t a = g->first[v]; a < g->first[v + 1]; a++)
		if (g->arc[a].to == s)
			x->reversed[a] = true;
}

/* Switch v, which is not anchored, hangs below `by` from now on, and all that is above v below v. */
static void hang(struct mend *x, uint32_t v, uint32_t by)
{
	const struct switch_graph *g = x->g;
	uint32_t *above = mem_array(g->n, sizeof(*above)), n = 0;

	reverse(x, by, v);
	x->anchored[v] = true;
	above[n++] = v;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = g->first[above[i]]; a < g->first[above[i] + 1]; a++) {
			uint32_t u = g->arc[a].to;

			if (x->at[u] > x->at[above[i]] || u == by || x->reversed[a])
				continue;
			reverse(x, above[i], u);
			if (!x->anchored[u]) {
				x->anchored[u] = true;
				above[n++] = u;
			}
		}
	while (n)
		x->queue[x->tail++] = above[--n];
	free(above);
}

/* The first switch that is not anchored but has an anchored neighbour, and the first such neighbour. False: none. */
static bool gateway_find(const struct mend *x, uint32_t *v, uint32_t *by)
{
	const struct switch_graph *g = x->g;

	*v = *by = FAB_NONE;
	for (uint32_t a = 0; a < g->narcs; a++) {
		uint32_t s = g->arc[a].from, t = g->arc[a].to;

		if (x->anchored[s] || !x->anchored[t])
			continue;
		if (*v == FAB_NONE || x->at[s] < x->at[*v] || (s == *v && x->at[t] < x->at[*by])) {
			*v = s;
			*by = t;
		}
	}
	return *v != FAB_NONE;
}

/* One root for each part: the first switch of it. */
static void anchor_all(struct mend *x)
{
	uint32_t n = x->g->n, *order = mem_array(n, sizeof(*order)), v, by;

	for (uint32_t s = 0; s < n; s++)
		order[x->at[s]] = s;
	for (uint32_t i = 0; i < n; i++) {
		if (x->anchored[order[i]])
			continue;
		anchor(x, order[i]);
		anchor_below(x);
		while (gateway_find(x, &v, &by)) {
			hang(x, v, by);
			anchor_below(x);
		}
	}
	free(order);
}

/* Ranks by the directions, always the first switch that has none above it without a rank. False: they have a cycle. */
static bool ranks_make(const struct mend *x, uint64_t *rank)
{
	const struct switch_graph *g = x->g;
	uint32_t *order = mem_array(g->n, sizeof(*order)), done = 0;
	uint32_t *above = mem_zarray((size_t)g->n + 1, sizeof(*above)), i = 0;

	for (uint32_t s = 0; s < g->n; s++)
		order[x->at[s]] = s;
	for (uint32_t a = 0; a < g->narcs; a++)
		above[g->arc[a].from] += is_up(x, a);
	while (i < g->n) {
		uint32_t s = order[i++];

		if (above[s])
			continue;
		above[s] = UINT32_MAX;
		rank[s] = done++;
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
			uint32_t t = g->arc[a].to;

			if (!is_up(x, a) && !--above[t])
				i = MIN(i, (uint32_t)x->at[t]);
		}
	}
	free(above);
	free(order);
	return done == g->n;
}

uint32_t rank_mend(const struct switch_graph *g, const uint64_t *old, uint64_t *rank)
{
	struct mend x = {.g = g};
	uint32_t links, root = 0;

	if (!g->n)
		return 0;
	x.at = mem_array(g->n, sizeof(*x.at));
	x.reversed = mem_zarray((size_t)g->narcs + 1, sizeof(*x.reversed));
	x.anchored = mem_zarray(g->n, sizeof(*x.anchored));
	x.queue = mem_array(g->n, sizeof(*x.queue));
	places_make(&x, old);
	anchor_all(&x);
	links = x.links;
	if (!ranks_make(&x, rank)) {
		for (uint32_t s = 0; s < g->n; s++)
			root = x.at[s] < x.at[root] ? s : root;
		links = rt_updown_rank_keep(g->f, g->f->switches[root], old, rank);
	}
	free(x.at);
	free(x.reversed);
	free(x.anchored);
	free(x.queue);
	return links;
}

uint32_t rt_updown_rank_mend(const struct fab *f, const uint64_t *old, uint64_t *rank)
{
	struct switch_graph g;
	uint32_t links;

	graph_init(&g, f, fab_top_lid(f));
	links = rank_mend(&g, old, rank);
	graph_free(&g);
	return links;
}
