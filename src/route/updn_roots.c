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
	uint32_t most;		/* hosts of the switch that has the most */
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
	return x->most && 2 * x->g.senders[s] >= x->most;
}

/* The leaf farthest from all roots: in a tree up*-down* paths below it use every link. */
static uint32_t pivot_leaf(const struct finder *x)
{
	uint32_t best = FAB_NONE;

	for (uint32_t s = 0; s < x->g.n; s++)
		if (is_leaf(x, s) && x->dist[s] != UINT32_MAX &&
		    (best == FAB_NONE || x->dist[s] > x->dist[best]))
			best = s;
	return best;
}

/* Switches without a link up. */
static uint32_t tops_count(const struct finder *x, const uint64_t *rank)
{
	const struct switch_graph *g = &x->g;
	uint32_t n = 0;

	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t a = g->first[s];

		while (a < g->first[s + 1] && rank[g->arc[a].to] > rank[s])
			a++;
		n += a == g->first[s + 1];
	}
	return n;
}

static uint32_t parts_count(struct finder *x)
{
	bool *seen = mem_zarray((size_t)x->g.n + 1, sizeof(*seen));
	uint32_t parts = 0;

	for (uint32_t s = 0; s < x->g.n; s++) {
		uint32_t n = seen[s] ? 0 : graph_distances(&x->g, s, x->dist, x->queue);

		parts += n != 0;
		while (n)
			seen[x->queue[--n]] = true;
	}
	free(seen);
	return parts;
}

/* leaf: the pivot, where there has to be one, is a leaf and not the first root. False: no pivot is needed. */
static bool ranks_make(struct finder *x, const switches *roots, bool leaf, uint64_t *rank)
{
	const struct fab *f = x->g.f;
	uint64_t *by_dist = mem_array((size_t)x->g.n + 1, sizeof(*by_dist));
	uint32_t *order = mem_array((size_t)x->g.n + 1, sizeof(*order)), pivot = FAB_NONE;
	bool needed;

	flood(x, roots);
	for (uint32_t s = 0; s < x->g.n; s++)
		by_dist[s] = x->dist[s] == UINT32_MAX ? UINT64_MAX : x->dist[s];
	rt_rank_dense(f, &(struct rt_opts){.rank = by_dist}, order, rank);
	if (leaf)
		pivot = pivot_leaf(x);
	if (pivot == FAB_NONE)
		pivot = roots->at[0];
	needed = tops_count(x, rank) > parts_count(x);
	if (needed) {
		memcpy(by_dist, rank, x->g.n * sizeof(*rank));
		rt_updown_rank_keep(f, f->switches[pivot], by_dist, rank);
	}
	free(by_dist);
	free(order);
	return needed;
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

static void roots_try(struct finder *x, const switches *roots, bool compare)
{
	uint64_t *rank = mem_array((size_t)x->g.n + 1, sizeof(*rank));

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
	free(rank);
}

/* ---- roots that are found ---- */

/* The switches farthest from all leaves, which are the top of a tree; none where every switch is a leaf. */
static void top_find(struct finder *x, switches *out)
{
	switches leaves = {0};
	uint32_t far = 0;

	for (uint32_t s = 0; s < x->g.n; s++)
		if (is_leaf(x, s))
			vec_push(&leaves, s);
	flood(x, &leaves);
	for (uint32_t s = 0; s < x->g.n; s++)
		far = x->dist[s] == UINT32_MAX ? far : MAX(far, x->dist[s]);
	for (uint32_t s = 0; far && s < x->g.n; s++)
		if (x->dist[s] == far)
			vec_push(out, s);
	vec_free(&leaves);
}

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
	for (uint32_t s = 0; s < x.g.n; s++)
		x.most = MAX(x.most, x.g.senders[s]);
	for (uint32_t i = 0; i < o->nroots; i++)
		vec_push(&given, rt_root_switch(f, o->roots[i]));
	if (given.n)
		roots_try(&x, &given, compare);
	else
		roots_find(&x, compare);
	vec_free(&given);
	free(x.dist);
	free(x.queue);
	graph_free(&x.g);
}
