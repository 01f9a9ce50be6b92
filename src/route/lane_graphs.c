/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies without cycles, lane by lane. State: struct lane_graphs; the way in is lane_graphs_add(). Knows no tables and
 * chooses no path.
 */
#include "route/lane_graphs.h"

enum { FEW = 24 };

static uint32_t root_choose(const struct switch_graph *g)
{
	uint32_t root = 0;

	for (uint32_t s = 1; s < g->n; s++)
		root = g->senders[s] > g->senders[root] ? s : root;
	return root;
}

/* Arcs up before arcs down, both in the order in which up*-down* paths take them. */
static void order_start(const struct lane_graphs *l, struct lane_order *o)
{
	const struct switch_graph *g = l->g;
	uint32_t at = 0;

	for (uint32_t i = 2 * g->n; i-- > 0;) {
		bool up = i >= g->n;
		uint32_t s = l->by_rank[up ? i - g->n : g->n - 1 - i];

		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if ((l->rank[g->arc[a].to] < l->rank[s]) == up)
				o->arc_at[at++] = a;
	}
	for (uint32_t i = 0; i < at; i++)
		o->place[o->arc_at[i]] = i;
}

void lane_graphs_open(struct lane_graphs *l)
{
	struct lane_order *o = &l->order[l->n++];
	size_t n = (size_t)l->g->narcs + 1;

	o->place = mem_array(n, sizeof(*o->place));
	o->arc_at = mem_array(n, sizeof(*o->arc_at));
	order_start(l, o);
}

/* Arcs that `b` leads to in lane k, as far as the place of `a`; 0 when `a` is one of them. */
static uint32_t search_ahead(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b)
{
	const struct switch_graph *g = l->g;
	const uint32_t *place = l->order[k].place;
	uint32_t n = 1;

	l->mark[b] = ++l->search;
	l->ahead[0] = b;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = l->ahead[i], s = g->arc[v].to;

		for (uint32_t x = g->first[s]; x < g->first[s + 1]; x++) {
			if (!(*lane_graphs_has(l, v, x) >> k & 1) || l->mark[x] == l->search ||
			    place[x] > place[a])
				continue;
			if (x == a)
				return 0;
			l->mark[x] = l->search;
			l->ahead[n++] = x;
		}
	}
	return n;
}

/* Arcs that lead to `a` in lane k, as far back as the place of `b`. */
static uint32_t search_behind(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b)
{
	const struct switch_graph *g = l->g;
	const uint32_t *place = l->order[k].place;
	uint32_t n = 1;

	l->mark[a] = ++l->search;
	l->behind[0] = a;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = l->behind[i], s = g->arc[v].from;

		for (uint32_t j = g->in_first[s]; j < g->in_first[s + 1]; j++) {
			uint32_t x = g->in[j];

			if (!(*lane_graphs_has(l, x, v) >> k & 1) || l->mark[x] == l->search ||
			    place[x] < place[b])
				continue;
			l->mark[x] = l->search;
			l->behind[n++] = x;
		}
	}
	return n;
}

/* Places into ascending order: few by insertion, many as bits of the stretch between lowest and highest. */
static void places_sort(struct lane_graphs *l, uint32_t *place, uint32_t n, uint32_t lowest,
			uint32_t highest)
{
	uint32_t at = 0;

	if (n <= FEW) {
		for (uint32_t i = 1; i < n; i++) {
			uint32_t x = place[i], j = i;

			for (; j && place[j - 1] > x; j--)
				place[j] = place[j - 1];
			place[j] = x;
		}
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		l->bits[place[i] / 64] |= UINT64_C(1) << place[i] % 64;
	for (uint32_t w = lowest / 64; w <= highest / 64; w++) {
		for (uint64_t bits = l->bits[w]; bits; bits &= bits - 1)
			place[at++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
		l->bits[w] = 0;
	}
}

/* Arcs in the order of their places: these, in ascending order. */
static void places_of(struct lane_graphs *l, const struct lane_order *o, uint32_t *arc, uint32_t n,
		      uint32_t lowest, uint32_t highest)
{
	for (uint32_t i = 0; i < n; i++)
		arc[i] = o->place[arc[i]];
	places_sort(l, arc, n, lowest, highest);
}

/* The arcs of both searches share their places: first those that lead to `a`, then those that `b` leads to. */
static void places_deal(struct lane_graphs *l, struct lane_order *o, uint32_t nbehind,
			uint32_t nahead, uint32_t lowest, uint32_t highest)
{
	uint32_t n = nbehind + nahead, i = 0, k = 0;

	places_of(l, o, l->behind, nbehind, lowest, highest);
	places_of(l, o, l->ahead, nahead, lowest, highest);
	for (uint32_t at = 0; at < n; at++)
		l->places[at] = k == nahead || (i < nbehind && l->behind[i] < l->ahead[k])
					? l->behind[i++]
					: l->ahead[k++];
	for (i = 0; i < nbehind; i++)
		l->behind[i] = o->arc_at[l->behind[i]];
	for (k = 0; k < nahead; k++)
		l->ahead[k] = o->arc_at[l->ahead[k]];
	for (uint32_t at = 0; at < n; at++) {
		uint32_t x = at < nbehind ? l->behind[at] : l->ahead[at - nbehind];

		o->place[x] = l->places[at];
		o->arc_at[l->places[at]] = x;
	}
}

bool lane_graphs_fits(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b)
{
	return lane_graphs_along(l, k, a, b) || search_ahead(l, k, a, b);
}

bool lane_graphs_add(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b)
{
	struct lane_order *o = &l->order[k];
	uint32_t nahead, lowest = o->place[b], highest = o->place[a];

	if (highest > lowest) {
		nahead = search_ahead(l, k, a, b);
		if (!nahead)
			return false;
		places_deal(l, o, search_behind(l, k, a, b), nahead, lowest, highest);
	}
	*lane_graphs_has(l, a, b) |= (uint16_t)(1u << k);
	return true;
}

/* ---- from beginning to end ---- */

static void ranks_make(struct lane_graphs *l, uint32_t root)
{
	struct rt_opts o = {.root = FAB_NONE};

	l->by_rank = mem_array((size_t)l->g->n + 1, sizeof(*l->by_rank));
	l->rank = mem_array((size_t)l->g->n + 1, sizeof(*l->rank));
	if (!l->g->n)
		return;
	o.root = l->g->f->switches[root];
	rt_rank_dense(l->g->f, &o, l->by_rank, l->rank);
}

void lane_graphs_init_from(struct lane_graphs *l, const struct switch_graph *g, uint32_t root)
{
	size_t arcs = (size_t)g->narcs + 1;

	*l = (struct lane_graphs){.g = g};
	l->has = mem_zarray(arcs, MAX(g->ports, 1u) * sizeof(*l->has));
	l->mark = mem_zarray(arcs, sizeof(*l->mark));
	l->ahead = mem_array(arcs, sizeof(*l->ahead));
	l->behind = mem_array(arcs, sizeof(*l->behind));
	l->places = mem_array(2 * arcs, sizeof(*l->places));
	l->bits = mem_zarray(arcs / 64 + 1, sizeof(*l->bits));
	ranks_make(l, root);
}

void lane_graphs_init(struct lane_graphs *l, const struct switch_graph *g)
{
	lane_graphs_init_from(l, g, root_choose(g));
}

void lane_graphs_free(struct lane_graphs *l)
{
	for (unsigned k = 0; k < l->n; k++) {
		free(l->order[k].place);
		free(l->order[k].arc_at);
	}
	free(l->by_rank);
	free(l->rank);
	free(l->has);
	free(l->mark);
	free(l->ahead);
	free(l->behind);
	free(l->places);
	free(l->bits);
}
