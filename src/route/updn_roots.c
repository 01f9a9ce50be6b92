/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots of engine updn and ranks over them. State: struct finder, for one call; the way in is updn_ranks(). Fills no tables but
 * those by which it compares roots.
 */
#include "route/updn.h"

enum {
	TRIAL_ENTRIES = 1500000, /* in larger fabrics nothing is compared */
	MOST_CENTRES = 8,
};

typedef VEC(uint32_t) switches;

struct finder {
	struct switch_graph g;
	const struct rt_opts *o;
	uint32_t *dist, *queue; /* of flood() */
	uint32_t *part, nparts; /* by switch: which of the parts that no link joins */
	uint32_t *most;		/* by part: hosts of the switch that has the most */
	uint64_t *rank;		/* the best so far */
	uint64_t merit;
	bool any;
};

/* Links to the nearest of these switches; UINT32_MAX: no way. */
static void flood(struct finder *x, const switches *from)
{
	const struct switch_graph *g = &x->g;
	uint32_t tail = 0;

	memset(x->dist, 0xff, g->n * sizeof(*x->dist));
	for (size_t i = 0; i < from->n; i++)
		if (x->dist[from->at[i]]) {
			x->dist[from->at[i]] = 0;
			x->queue[tail++] = from->at[i];
		}
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t s = x->queue[head];

		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (x->dist[g->arc[a].to] == UINT32_MAX) {
				x->dist[g->arc[a].to] = x->dist[s] + 1;
				x->queue[tail++] = g->arc[a].to;
			}
	}
}

/* ---- ranks ---- */

static bool is_leaf(const struct finder *x, uint32_t s)
{
	uint32_t most = x->most[x->part[s]];

	return most && 2 * x->g.senders[s] >= most;
}

/* By part: whether it has several switches without a link up, so that some pairs have no route. */
static void several_tops(const struct finder *x, const uint64_t *rank, bool *several)
{
	const struct switch_graph *g = &x->g;
	uint32_t *tops = mem_zarray((size_t)x->nparts + 1, sizeof(*tops));

	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t a = g->first[s];

		while (a < g->first[s + 1] && rank[g->arc[a].to] > rank[s])
			a++;
		tops[x->part[s]] += a == g->first[s + 1];
	}
	for (uint32_t p = 0; p < x->nparts; p++)
		several[p] = tops[p] > 1;
	free(tops);
}

/* By part: the leaf farthest from all roots, below which up*-down* paths of a tree use every link; without leaves, or if no leaf is
 * wanted, the first root. */
static void pivots_choose(const struct finder *x, const switches *roots, bool leaf, uint32_t *pivot)
{
	for (uint32_t p = 0; p < x->nparts; p++)
		pivot[p] = FAB_NONE;
	for (uint32_t s = 0; leaf && s < x->g.n; s++) {
		uint32_t *best = &pivot[x->part[s]];

		if (is_leaf(x, s) && (*best == FAB_NONE || x->dist[s] > x->dist[*best]))
			*best = s;
	}
	for (size_t i = 0; i < roots->n; i++) {
		uint32_t *best = &pivot[x->part[roots->at[i]]];

		*best = *best == FAB_NONE ? roots->at[i] : *best;
	}
}

/* Pivots come first in the order of their parts, where these need one. False: none does. */
static bool pivots_raise(struct finder *x, const switches *roots, bool leaf, uint64_t *rank)
{
	const struct fab *f = x->g.f;
	uint64_t *old = mem_array((size_t)x->g.n + 1, sizeof(*old));
	uint32_t *pivot = mem_array((size_t)x->nparts + 1, sizeof(*pivot)), first = FAB_NONE;
	bool *several = mem_zarray((size_t)x->nparts + 1, sizeof(*several));

	several_tops(x, rank, several);
	pivots_choose(x, roots, leaf, pivot);
	for (uint32_t s = 0; s < x->g.n; s++)
		old[s] = rank[s] + x->nparts;
	for (uint32_t p = 0; p < x->nparts; p++) {
		if (!several[p])
			continue;
		old[pivot[p]] = p;
		first = first == FAB_NONE ? pivot[p] : first;
	}
	if (first != FAB_NONE)
		rt_updown_rank_keep(f, f->switches[first], old, rank);
	free(old);
	free(pivot);
	free(several);
	return first != FAB_NONE;
}

/* leaf: pivots, where there have to be any, are leaves and not roots. False: no pivot is needed. Each part has a root. */
static bool ranks_make(struct finder *x, const switches *roots, bool leaf, uint64_t *rank)
{
	const struct fab *f = x->g.f;
	uint64_t *by_dist = mem_array((size_t)x->g.n + 1, sizeof(*by_dist));
	uint32_t *order = mem_array((size_t)x->g.n + 1, sizeof(*order));
	bool needed;

	flood(x, roots);
	for (uint32_t s = 0; s < x->g.n; s++)
		by_dist[s] = x->dist[s];
	rt_rank_dense(f, &(struct rt_opts){.rank = by_dist}, order, rank);
	needed = pivots_raise(x, roots, leaf, rank);
	free(by_dist);
	free(order);
	return needed;
}

/* ---- parts that no link joins ---- */

static void parts_find(struct finder *x)
{
	for (uint32_t s = 0; s < x->g.n; s++)
		x->part[s] = FAB_NONE;
	for (uint32_t s = 0; s < x->g.n; s++) {
		uint32_t n =
			x->part[s] == FAB_NONE ? graph_distances(&x->g, s, x->dist, x->queue) : 0;

		x->nparts += n != 0;
		while (n)
			x->part[x->queue[--n]] = x->nparts - 1;
	}
	for (uint32_t s = 0; s < x->g.n; s++)
		x->most[x->part[s]] = MAX(x->most[x->part[s]], x->g.senders[s]);
}

/* In each part the switches farthest from all leaves, which are the top of a tree; none where every switch is a leaf. */
static void top_find(struct finder *x, switches *out)
{
	uint32_t *far = mem_zarray((size_t)x->nparts + 1, sizeof(*far));
	switches leaves = {0};

	for (uint32_t s = 0; s < x->g.n; s++)
		if (is_leaf(x, s))
			vec_push(&leaves, s);
	flood(x, &leaves);
	for (uint32_t s = 0; s < x->g.n; s++)
		if (x->dist[s] != UINT32_MAX)
			far[x->part[s]] = MAX(far[x->part[s]], x->dist[s]);
	for (uint32_t s = 0; s < x->g.n; s++)
		if (far[x->part[s]] && x->dist[s] == far[x->part[s]])
			vec_push(out, s);
	vec_free(&leaves);
	free(far);
}

/* Roots for the parts that have none of those given: the top, else the first switch with the most hosts. */
static void roots_complete(struct finder *x, const switches *given, switches *out)
{
	bool *has = mem_zarray((size_t)x->nparts + 1, sizeof(*has));
	switches top = {0};

	for (size_t i = 0; i < given->n; i++) {
		has[x->part[given->at[i]]] = true;
		vec_push(out, given->at[i]);
	}
	if (x->nparts > 1)
		top_find(x, &top);
	for (size_t i = 0; i < top.n; i++)
		if (!has[x->part[top.at[i]]])
			vec_push(out, top.at[i]);
	for (size_t i = 0; i < top.n; i++)
		has[x->part[top.at[i]]] = true;
	for (uint32_t s = 0; s < x->g.n; s++)
		if (!has[x->part[s]] && x->g.senders[s] == x->most[x->part[s]]) {
			has[x->part[s]] = true;
			vec_push(out, s);
		}
	vec_free(&top);
	free(has);
}

/* ---- which roots are best ---- */

static void ranks_try(struct finder *x, const uint64_t *rank)
{
	struct rt_opts o = {.rank = rank, .threads = x->o->threads};
	struct rt_tables *t = NULL;
	uint64_t merit = 0;
	struct err e;

	if (!rt_compute(&rt_fera, x->g.f, &o, &t, &e))
		merit = updn_merit(x->g.f, t, x->o->threads);
	if (!x->any || merit > x->merit) {
		memcpy(x->rank, rank, x->g.n * sizeof(*rank));
		x->merit = merit;
		x->any = true;
	}
	rt_tables_free(t);
}

static void roots_try(struct finder *x, const switches *given, bool compare)
{
	uint64_t *rank = mem_array((size_t)x->g.n + 1, sizeof(*rank));
	switches all = {0}, *roots = &all;

	roots_complete(x, given, roots);
	if (!compare) {
		ranks_make(x, roots, true, x->rank);
	} else {
		bool pivot = ranks_make(x, roots, true, rank);

		ranks_try(x, rank);
		if (pivot) {
			ranks_make(x, roots, false, rank);
			ranks_try(x, rank);
		}
	}
	vec_free(&all);
	free(rank);
}

/* ---- roots that are found ---- */

static uint32_t most_hosts(const struct finder *x)
{
	uint32_t best = 0;

	for (uint32_t s = 1; s < x->g.n; s++)
		best = x->g.senders[s] > x->g.senders[best] ? s : best;
	return best;
}

/* One switch more: the farthest from those that there are. */
static void centre_add(struct finder *x, switches *roots)
{
	uint32_t best = roots->at[0];

	flood(x, roots);
	for (uint32_t s = 0; s < x->g.n; s++)
		if (x->dist[s] != UINT32_MAX && x->dist[s] > x->dist[best])
			best = s;
	vec_push(roots, best);
}

static void roots_find(struct finder *x, bool compare)
{
	switches top = {0}, one = {0};

	top_find(x, &top);
	if (top.n)
		roots_try(x, &top, compare);
	if (compare) {
		vec_push(&one, most_hosts(x));
		roots_try(x, &one, true);
		one.n = 0;
	}
	vec_push(&one, rt_root_switch(x->g.f, rt_root_centre(x->g.f)));
	if (compare || !top.n)
		roots_try(x, &one, compare);
	for (uint32_t n = 2; compare && n <= MOST_CENTRES; n *= 2) {
		while (one.n < n)
			centre_add(x, &one);
		roots_try(x, &one, true);
	}
	vec_free(&top);
	vec_free(&one);
}

void updn_ranks(const struct fab *f, const struct rt_opts *o, uint64_t *rank)
{
	struct finder x = {.o = o, .rank = rank};
	bool compare = (uint64_t)f->nswitches * fab_top_lid(f) <= TRIAL_ENTRIES;
	switches given = {0};

	if (!f->nswitches)
		return;
	graph_init(&x.g, f, fab_top_lid(f));
	x.dist = mem_array((size_t)x.g.n + 1, sizeof(*x.dist));
	x.queue = mem_array((size_t)x.g.n + 1, sizeof(*x.queue));
	x.part = mem_array((size_t)x.g.n + 1, sizeof(*x.part));
	x.most = mem_zarray((size_t)x.g.n + 1, sizeof(*x.most));
	parts_find(&x);
	for (uint32_t i = 0; i < o->nroots; i++)
		vec_push(&given, rt_root_switch(f, o->roots[i]));
	if (given.n)
		roots_try(&x, &given, compare);
	else
		roots_find(&x, compare);
	vec_free(&given);
	free(x.dist);
	free(x.queue);
	free(x.part);
	free(x.most);
	graph_free(&x.g);
}
