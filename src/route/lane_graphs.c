/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies without cycles, lane by lane. State: struct lane_graphs; the way in is lane_graphs_add(). Knows no tables and
 * chooses no path.
 */
#include "route/lane_graphs.h"

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

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Arcs in the order of their places. */
static void arcs_sort(const struct lane_order *o, uint32_t *arc, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		arc[i] = o->place[arc[i]];
	qsort(arc, n, sizeof(*arc), by_number);
	for (uint32_t i = 0; i < n; i++)
		arc[i] = o->arc_at[arc[i]];
}

/* The arcs of both searches share their places: first those that lead to `a`, then those that `b` leads to. */
static void places_deal(struct lane_graphs *l, struct lane_order *o, uint32_t nbehind,
			uint32_t nahead)
{
	uint32_t n = 0;

	arcs_sort(o, l->behind, nbehind);
	arcs_sort(o, l->ahead, nahead);
	for (uint32_t i = 0; i < nbehind; i++)
		l->places[n++] = o->place[l->behind[i]];
	for (uint32_t i = 0; i < nahead; i++)
		l->places[n++] = o->place[l->ahead[i]];
	qsort(l->places, n, sizeof(*l->places), by_number);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = i < nbehind ? l->behind[i] : l->ahead[i - nbehind];

		o->place[a] = l->places[i];
		o->arc_at[l->places[i]] = a;
	}
}

bool lane_graphs_add(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b)
{
	struct lane_order *o = &l->order[k];
	uint32_t nahead;

	if (o->place[a] > o->place[b]) {
		nahead = search_ahead(l, k, a, b);
		if (!nahead)
			return false;
		places_deal(l, o, search_behind(l, k, a, b), nahead);
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
}
