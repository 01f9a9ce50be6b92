/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes improved entry by entry. State: struct refine, of one call. Ways in: refine(), refine_with_layers(). Flows are counted by
 * refine_flows.c, lanes are given by layers.c.
 *
 * In a shift each host sends one flow and gets one. A flow has the share 1/n of its busiest link, and the sum of all shares
 * in all shifts is what counts, less a price for uneven routes of all pairs of hosts, which stand for all other patterns. A step
 * changes the link by which one switch reaches one LID. It moves the flows to this LID that pass the switch, each in
 * the one shift to which it belongs. What they and the others gain is estimated from what is known of each link in each shift: its
 * flows, those for which no link is busier, and those for which all others are less busy. A step that seems to gain is made,
 * the flows over its links are counted again, and it is taken back if it did not gain.
 */
#include "route/layers.h"
#include "route/quality.h"
#include "route/refine_priv.h"

enum {
	MOST_WORK = 200000000, /* links looked at */
	PATTERNS = 64,
};

/* ---- one LID ---- */

static void children_find(struct refine *r, uint32_t h)
{
	const uint32_t *taken = refine_taken(r, h);

	memset(r->first_child, 0xff, r->g->n * sizeof(*r->first_child));
	for (uint32_t s = 0; s < r->g->n; s++) {
		if (taken[s] == FAB_NONE)
			continue;
		r->next_child[s] = r->first_child[r->g->arc[taken[s]].to];
		r->first_child[r->g->arc[taken[s]].to] = s;
	}
}

/* The switches whose way leads through s, and the hosts there. */
static void moved_find(struct refine *r, uint32_t s)
{
	uint32_t n = 0;

	memset(r->above, 0, r->g->n * sizeof(*r->above));
	r->nmoved = r->height = 0;
	r->stack[n++] = s;
	r->depth[s] = 0;
	while (n) {
		uint32_t v = r->stack[--n];

		r->above[v] = true;
		if (r->host_first[v + 1] > r->host_first[v])
			r->height = MAX(r->height, r->depth[v]);
		for (uint32_t i = r->host_first[v]; i < r->host_first[v + 1]; i++)
			r->moved[r->nmoved++] = r->host_at[i];
		for (uint32_t c = r->first_child[v]; c != FAB_NONE; c = r->next_child[c]) {
			r->depth[c] = r->depth[v] + 1;
			r->stack[n++] = c;
		}
	}
}

struct ways { /* arcs that only the old, or only the new path has, and those of both after them */
	uint32_t old[REFINE_LONGEST], nold, fresh[REFINE_LONGEST], nfresh, rest[REFINE_LONGEST],
		nrest;
};

static bool ways_make(const struct refine *r, uint32_t h, uint32_t s, uint32_t a, struct ways *w)
{
	const uint32_t *taken = refine_taken(r, h);
	const struct graph_arc *arc = r->g->arc;

	w->nold = w->nfresh = w->nrest = 0;
	w->fresh[w->nfresh++] = a;
	for (uint32_t v = arc[a].to; taken[v] != FAB_NONE; v = arc[taken[v]].to) {
		if (w->nfresh + r->height == r->len)
			return false;
		w->fresh[w->nfresh++] = taken[v];
	}
	for (uint32_t v = s; taken[v] != FAB_NONE; v = arc[taken[v]].to)
		w->old[w->nold++] = taken[v];
	while (w->nold && w->nfresh && w->old[w->nold - 1] == w->fresh[w->nfresh - 1]) {
		w->rest[w->nrest++] = w->old[--w->nold];
		w->nfresh--;
	}
	return true;
}

/* What flows of shift k gain when that to h, from switch `from`, changes at s: between what is certain and what is possible. */
static int64_t gain_in(struct refine *r, uint32_t k, uint32_t h, uint32_t from, uint32_t s,
		       const struct ways *w)
{
	const struct link_state *at = refine_links(r, k);
	const uint32_t *taken = refine_taken(r, h);
	uint32_t own = 1, most = 1;
	int64_t gain = 0;

	for (uint32_t v = from; v != s; v = r->g->arc[taken[v]].to)
		most = MAX(most, at[taken[v]].load);
	for (uint32_t i = 0; i < w->nrest; i++)
		most = MAX(most, at[w->rest[i]].load);
	own = most;
	for (uint32_t i = 0; i < w->nold; i++)
		own = MAX(own, at[w->old[i]].load);
	for (uint32_t i = 0; i < w->nfresh; i++) {
		uint32_t n = at[w->fresh[i]].load;

		most = MAX(most, n + 1);
		gain -= 2 * at[w->fresh[i]].limits * (r->share[n] - r->share[n + 1]);
	}
	for (uint32_t i = 0; i < w->nold; i++) {
		uint32_t n = at[w->old[i]].load;

		if (n > 1)
			gain += (at[w->old[i]].limits + at[w->old[i]].alone - (own == n)) *
				(r->share[n - 1] - r->share[n]);
	}
	return gain / 2 + r->share[most] - r->share[own];
}

/* What uneven routes of all pairs cost, for patterns that are not shifts. */
static int64_t routes_gain(const struct refine *r, const struct ways *w)
{
	int64_t by = r->nmoved, sum = 0;

	for (uint32_t i = 0; i < w->nold; i++)
		sum += by * (2 * (int64_t)r->routes[w->old[i]] - by);
	for (uint32_t i = 0; i < w->nfresh; i++)
		sum -= by * (2 * (int64_t)r->routes[w->fresh[i]] + by);
	return sum * REFINE_UNIT / r->n * r->nshifts / r->n * r->o->even / 1000;
}

static int64_t gain(struct refine *r, uint32_t h, uint32_t s, const struct ways *w)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < r->nmoved; i++) {
		uint32_t from = r->moved[i], k = refine_shift(r, from, h);

		if (k != REFINE_NOWHERE)
			sum += gain_in(r, k, h, r->sw[from], s, w);
	}
	r->work += (uint64_t)r->nmoved * (w->nold + w->nfresh + w->nrest);
	return sum;
}

/* What no step at s gains more than: all links from s on lose the flows, and no others get them. */
static int64_t gain_bound(struct refine *r, uint32_t h, uint32_t s)
{
	const uint32_t *taken = refine_taken(r, h);
	struct ways w;

	w.nold = w.nfresh = w.nrest = 0;
	for (uint32_t v = s; taken[v] != FAB_NONE; v = r->g->arc[taken[v]].to)
		w.old[w.nold++] = taken[v];
	return gain(r, h, s, &w) + r->nmoved;
}

/* ---- a step ---- */

static void others_add(struct refine *r, uint32_t k, const uint32_t *arc, uint32_t n)
{
	const uint32_t *next = refine_next(r, k);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t x = refine_first(r, k)[arc[i]]; x != REFINE_NOWHERE; x = next[x]) {
			uint32_t h = x / r->len;

			if (r->mark[h] == r->stamp)
				continue;
			r->mark[h] = r->stamp;
			r->others[r->nothers++] = h;
		}
}

static int64_t step_in(struct refine *r, uint32_t k, uint32_t h, uint32_t s, uint32_t a,
		       const struct ways *w)
{
	uint32_t *taken = refine_taken(r, h);
	int64_t gain = 0;

	r->stamp++;
	r->mark[h] = r->stamp;
	r->nothers = 0;
	r->others[r->nothers++] = h;
	others_add(r, k, w->old, w->nold);
	others_add(r, k, w->fresh, w->nfresh);
	for (uint32_t i = 0; i < r->nothers; i++)
		gain -= refine_flow_count(r, k, r->others[i], -1);
	refine_flow_remove(r, k, h);
	taken[s] = a;
	refine_flow_add(r, k, h);
	for (uint32_t i = 0; i < r->nothers; i++)
		gain += refine_flow_count(r, k, r->others[i], 1);
	return gain;
}

static int64_t step(struct refine *r, uint32_t h, uint32_t s, uint32_t a, const struct ways *w)
{
	uint32_t *taken = refine_taken(r, h), old = taken[s];
	int64_t sum = 0;

	for (uint32_t i = 0; i < r->nmoved; i++) {
		uint32_t k = refine_shift(r, r->moved[i], h);

		taken[s] = old;
		if (k != REFINE_NOWHERE)
			sum += step_in(r, k, h, s, a, w);
	}
	taken[s] = a;
	for (uint32_t i = 0; i < w->nold; i++)
		r->routes[w->old[i]] -= r->nmoved;
	for (uint32_t i = 0; i < w->nfresh; i++)
		r->routes[w->fresh[i]] += r->nmoved;
	return sum;
}

static void ways_swap(struct ways *w)
{
	struct ways x = *w;

	memcpy(w->old, x.fresh, sizeof(x.fresh));
	memcpy(w->fresh, x.old, sizeof(x.old));
	w->nold = x.nfresh;
	w->nfresh = x.nold;
}

static bool entry_try(struct refine *r, uint32_t h, uint32_t s)
{
	const struct switch_graph *g = r->g;
	uint32_t best = FAB_NONE, old = refine_taken(r, h)[s];
	int64_t most = 0, even = 0, bound;
	struct ways w, take;

	moved_find(r, s);
	if (!r->nmoved)
		return false;
	bound = gain_bound(r, h, s);
	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t v = g->arc[a].to;
		int64_t x, y;

		if (a == old || r->dist[v] == UINT32_MAX || r->above[v] ||
		    r->dist[v] + 1 > r->dist[s] + r->o->extra || !ways_make(r, h, s, a, &w))
			continue;
		y = routes_gain(r, &w);
		x = bound + y > most ? gain(r, h, s, &w) + y : 0;
		if (x > most) {
			most = x;
			even = y;
			best = a;
			take = w;
		}
	}
	if (best == FAB_NONE)
		return false;
	if (step(r, h, s, best, &take) + even > 0)
		return true;
	ways_swap(&take);
	step(r, h, s, old, &take);
	return false;
}

static uint32_t lid_try(struct refine *r, uint32_t h)
{
	uint32_t changed = 0, reached = graph_distances(r->g, r->sw[h], r->dist, r->order);

	children_find(r, h);
	for (uint32_t i = 1; i < reached; i++)
		if (entry_try(r, h, r->order[i])) {
			changed++;
			children_find(r, h);
		}
	return changed;
}

/* ---- all of it ---- */

/* Hosts in an order in which those that are taken before the work ends are spread over the fabric. */
static uint32_t stride(uint32_t n)
{
	static const uint32_t primes[] = {61, 67, 71, 73, 79};

	for (size_t i = 0; i < ARRAY_LEN(primes); i++)
		if (n % primes[i])
			return primes[i];
	return 1;
}

uint32_t refine(const struct switch_graph *g, struct rt_tables *t, const struct refine_opts *o)
{
	struct refine r = {.g = g, .t = t, .o = o};
	uint32_t changed = 0, now = 1, step_by;

	if (refine_init(&r)) {
		step_by = stride(r.n);
		for (uint32_t i = 0; i < o->rounds && now; i++, changed += now) {
			now = 0;
			for (uint32_t h = 0; h < r.n && r.work < MOST_WORK; h++)
				now += lid_try(&r, (uint32_t)((uint64_t)h * step_by % r.n));
		}
		refine_tables_write(&r);
	}
	refine_free(&r);
	return changed;
}

/* Shares of bisections and shifts together; 0 when they cannot be measured. */
static uint64_t merit(const struct fab *f, const struct rt_tables *t, unsigned threads)
{
	struct rt_quality_opts o = {
		.patterns = PATTERNS, .seed = 1, .threads = threads, .quick = true};
	struct rt_quality q;
	uint64_t product;
	struct err e;

	if (rt_quality(f, t, &o, &q, &e))
		return 0;
	product = rt_shares_mean(&q.by[RT_BISECTION]) * rt_shares_mean(&q.by[RT_SHIFTS]);
	rt_quality_free(&q);
	return product;
}

bool refine_with_layers(const struct switch_graph *g, struct rt_tables *t,
			const struct refine_opts *o, unsigned most)
{
	uint64_t before = merit(g->f, t, o->threads);
	size_t bytes = (size_t)g->n * t->stride;
	uint8_t *rows = mem_array(bytes + 1, 1);
	bool ok;

	if (bytes)
		memcpy(rows, rt_row(t, 0), bytes);
	ok = refine(g, t, o) && merit(g->f, t, o->threads) > before &&
	     layers_assign(g, t, most, most) <= most;
	if (!ok && bytes)
		memcpy(rt_row(t, 0), rows, bytes);
	free(rows);
	return ok;
}
