/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lane of engine nue. State: struct nue_lane; the way in is nue_lane_route(). Does not choose which LIDs it gets, nor its
 * root.
 */
#include "route/nue_lane.h"

/* ---- dependencies, as long as something uses them ---- */

static uint16_t *users(const struct nue_lane *l, uint32_t a, uint32_t b)
{
	return &l->users[(size_t)a * l->g->ports + l->g->arc[b].port];
}

bool nue_lane_take(struct nue_lane *l, uint32_t a, uint32_t b)
{
	uint16_t *n = users(l, a, b);

	if (*n == NUE_REFUSED)
		return false;
	if (!*n && !lane_graphs_add(&l->graphs, 0, a, b)) {
		*n = NUE_REFUSED;
		return false;
	}
	++*n;
	return true;
}

void nue_lane_release(struct nue_lane *l, uint32_t a, uint32_t b)
{
	if (!--*users(l, a, b))
		lane_graphs_remove(&l->graphs, 0, a, b);
}

/* Whether the tree leads from x over arc `a` of it to a switch, and x has no way yet. */
static bool waits(const struct nue_lane *l, uint32_t a)
{
	uint32_t x = l->g->arc[a].from;

	return !l->settled[x] && l->escape.toward[x] == a;
}

/* The turns by which neighbours in the tree can follow switch s, which leaves by arc a. */
static bool turns_keep(struct nue_lane *l, uint32_t s, uint32_t a)
{
	const struct escape_tree *e = &l->escape;
	uint32_t i = e->in_first[s];

	while (i < e->in_first[s + 1] && (!waits(l, e->in[i]) || nue_lane_take(l, e->in[i], a)))
		i++;
	if (i == e->in_first[s + 1])
		return true;
	while (i-- > e->in_first[s])
		if (waits(l, e->in[i]))
			nue_lane_release(l, e->in[i], a);
	return false;
}

/* ---- the search ---- */

static bool before(const struct nue_lane *l, uint32_t x, uint32_t y)
{
	return l->cost[x] != l->cost[y] ? l->cost[x] < l->cost[y] : x < y;
}

static void heap_put(struct nue_lane *l, uint32_t i, uint32_t s)
{
	l->heap[i] = s;
	l->place[s] = i;
}

/* s is new in the heap, or its cost has become less. */
static void heap_rise(struct nue_lane *l, uint32_t s)
{
	uint32_t i = l->place[s];

	if (i == FAB_NONE)
		i = l->nheap++;
	for (; i && before(l, s, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_put(l, i, l->heap[(i - 1) / 2]);
	heap_put(l, i, s);
}

static uint32_t heap_take(struct nue_lane *l)
{
	uint32_t top = l->heap[0], last = l->heap[--l->nheap], i = 0, n = l->nheap;

	l->place[top] = FAB_NONE;
	for (uint32_t c; n && (c = 2 * i + 1) < n; i = c) {
		c += c + 1 < n && before(l, l->heap[c + 1], l->heap[c]);
		if (!before(l, l->heap[c], last))
			break;
		heap_put(l, i, l->heap[c]);
	}
	if (n)
		heap_put(l, i, last);
	return top;
}

/* What the turn from arc a to the way of the next switch costs; UINT64_MAX: it is refused. */
static uint64_t turn_cost(const struct nue_lane *l, uint32_t a, uint32_t b)
{
	uint16_t n = *users(l, a, b);

	if (n == NUE_REFUSED)
		return UINT64_MAX;
	if (n) /* what the lane has follows its order */
		return 0;
	return l->costs.turn + (lane_graphs_along(&l->graphs, 0, a, b) ? 0 : l->against);
}

/* Arc a leads to a switch that has its way: perhaps the best so far for the switch that it leaves. */
static bool offer(struct nue_lane *l, uint32_t a)
{
	uint32_t s = l->g->arc[a].from, v = l->g->arc[a].to;
	uint64_t turn = v == l->to ? 0 : turn_cost(l, a, l->taken[v]), cost;

	if (turn == UINT64_MAX)
		return false;
	cost = l->cost[v] + l->costs.hop + l->load[a] + turn;
	if (cost > l->cost[s] || (cost == l->cost[s] && l->load[a] >= l->load[l->taken[s]]))
		return false;
	l->cost[s] = cost;
	l->taken[s] = a;
	return true;
}

/* The arc that s has chosen was refused: the next best one, if there is one already. */
static void choose_again(struct nue_lane *l, uint32_t s)
{
	const struct switch_graph *g = l->g;

	l->refused[l->taken[s]] = l->search;
	l->cost[s] = UINT64_MAX;
	l->taken[s] = g->narcs;
	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
		if (l->settled[g->arc[a].to] && l->refused[a] != l->search)
			offer(l, a);
	if (l->cost[s] != UINT64_MAX)
		heap_rise(l, s);
}

/* Let s leave by the arc that it has chosen. False: that would close a cycle. */
static bool settle(struct nue_lane *l, uint32_t s)
{
	uint32_t a = l->taken[s], v = l->g->arc[a].to, e = l->escape.toward[s], w;

	if (v != l->to && !nue_lane_take(l, a, l->taken[v]))
		return false;
	if (!turns_keep(l, s, a)) {
		if (v != l->to)
			nue_lane_release(l, a, l->taken[v]);
		return false;
	}
	w = l->g->arc[e].to;
	if (l->settled[w] && w != l->to)
		nue_lane_release(l, e, l->taken[w]);
	return true;
}

static void settled(struct nue_lane *l, uint32_t s)
{
	const struct switch_graph *g = l->g;

	l->settled[s] = true;
	l->order[l->nsettled++] = s;
	for (uint32_t i = g->in_first[s]; i < g->in_first[s + 1]; i++)
		if (!l->settled[g->arc[g->in[i]].from] && offer(l, g->in[i]))
			heap_rise(l, g->arc[g->in[i]].from);
}

static void search_begin(struct nue_lane *l, uint32_t to)
{
	uint32_t n = l->g->n;

	l->to = to;
	l->search++;
	l->nheap = l->nsettled = 0;
	escape_aim(&l->escape, to);
	for (uint32_t s = 0; s < n; s++) {
		l->cost[s] = UINT64_MAX;
		l->place[s] = FAB_NONE;
		l->taken[s] = l->g->narcs;
		l->settled[s] = false;
	}
	l->cost[to] = 0;
}

/* The links that lead one link nearer to switch `to`, switch by switch from there outwards. */
static void ways_find(struct nue_lane *l, uint32_t to)
{
	const struct switch_graph *g = l->g;
	uint32_t n = 0;

	if (l->nnear && l->near[0] == to)
		return;
	l->nnear = graph_distances(g, to, l->dist, l->near);
	for (uint32_t i = 0; i < l->nnear; i++) {
		uint32_t s = l->near[i];

		l->way_first[i] = n;
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (l->dist[g->arc[a].to] + 1 == l->dist[s])
				l->way[n++] = a;
	}
	l->way_first[l->nnear] = n;
}

/* The best way of the switch at this place that is not refused. False: there is none. */
static bool settle_near(struct nue_lane *l, uint32_t i)
{
	uint32_t s = l->near[i];

	for (;;) {
		l->cost[s] = UINT64_MAX;
		l->taken[s] = l->g->narcs;
		for (uint32_t k = l->way_first[i]; k < l->way_first[i + 1]; k++)
			if (l->refused[l->way[k]] != l->search)
				offer(l, l->way[k]);
		if (l->cost[s] == UINT64_MAX)
			return false;
		if (settle(l, s))
			break;
		l->refused[l->taken[s]] = l->search;
	}
	l->settled[s] = true;
	l->order[l->nsettled++] = s;
	return true;
}

/* Shortest paths alone, as far as each switch has one: without a heap. False: some switch needs a detour. */
static bool search_near(struct nue_lane *l, uint32_t to)
{
	ways_find(l, to);
	l->settled[to] = true;
	l->order[l->nsettled++] = to;
	for (uint32_t i = 1; i < l->nnear; i++)
		if (!settle_near(l, i))
			return false;
	return true;
}

static void search(struct nue_lane *l, uint32_t to, bool direct)
{
	search_begin(l, to);
	if (!direct) {
		settled(l, to);
	} else if (!search_near(l, to)) { /* what is settled stays so */
		uint32_t n = l->nsettled;

		l->detours++;
		l->nsettled = 0;
		for (uint32_t i = 0; i < n; i++)
			settled(l, l->order[i]);
	}
	while (l->nheap) {
		uint32_t s = heap_take(l);

		if (settle(l, s))
			settled(l, s);
		else
			choose_again(l, s);
	}
}

/* ---- routes to one LID ---- */

/* Hosts' routes by the arcs taken: added to the loads, or removed from them. */
static void routes_count(struct nue_lane *l, int sign)
{
	for (uint32_t i = 0; i < l->nsettled; i++)
		l->flow[l->order[i]] = l->g->senders[l->order[i]];
	for (uint32_t i = l->nsettled; i-- > 1;) {
		uint32_t s = l->order[i], a = l->taken[s];

		l->flow[l->g->arc[a].to] += l->flow[s];
		if (!l->flow[s])
			continue;
		l->load[a] += (uint64_t)(sign * (int64_t)l->flow[s]);
		vec_push(&l->news[l->turn % 2], (struct nue_load){a, sign * (int64_t)l->flow[s]});
	}
}

/* Routes that there are, from the tables: order[] from the destination outwards. */
static void routes_read(struct nue_lane *l, uint32_t to, uint32_t lid)
{
	const struct switch_graph *g = l->g;

	l->to = to;
	l->nsettled = 0;
	l->order[l->nsettled++] = to;
	for (uint32_t s = 0; s < g->n; s++)
		l->taken[s] = s == to ? FAB_NONE : graph_arc(g, s, rt_row(l->t, s)[lid]);
	for (uint32_t i = 0; i < l->nsettled; i++) {
		uint32_t v = l->order[i];

		for (uint32_t j = g->in_first[v]; j < g->in_first[v + 1]; j++)
			if (l->taken[g->arc[g->in[j]].from] == g->in[j])
				l->order[l->nsettled++] = g->arc[g->in[j]].from;
	}
}

static void lid_forget(struct nue_lane *l, uint32_t to, const struct graph_dest *d)
{
	routes_read(l, to, d->lid);
	if (d->port)
		routes_count(l, -1);
	for (uint32_t i = 1; i < l->nsettled; i++) {
		uint32_t a = l->taken[l->order[i]], v = l->g->arc[a].to;

		if (v != to)
			nue_lane_release(l, a, l->taken[v]);
	}
}

void nue_lane_route(struct nue_lane *l, uint32_t to, const struct graph_dest *d, bool again)
{
	if (again)
		lid_forget(l, to, d);
	l->against = d->port ? l->costs.against : l->costs.to_switch;
	search(l, to, l->costs.direct && d->port);
	rt_row(l->t, to)[d->lid] = d->port;
	for (uint32_t i = 1; i < l->nsettled; i++) {
		uint32_t s = l->order[i];

		rt_row(l->t, s)[d->lid] = l->g->arc[l->taken[s]].port;
	}
	l->entries += l->nsettled;
	if (d->port)
		routes_count(l, 1);
}

void nue_lane_pass(struct nue_lane *l)
{
	size_t n = (size_t)l->g->narcs * l->g->ports;

	l->entries = 0;
	l->detours = 0;
	for (size_t i = 0; i < n; i++)
		if (l->users[i] == NUE_REFUSED)
			l->users[i] = 0;
}

void nue_lane_begin(struct nue_lane *l, unsigned turn)
{
	l->turn = turn;
	l->news[turn % 2].n = 0;
}

void nue_lane_learn(struct nue_lane *l, const struct nue_lane *other)
{
	unsigned last = (l->turn + 1) % 2;

	for (size_t i = 0; i < other->news[last].n; i++)
		l->load[other->news[last].at[i].arc] += (uint64_t)other->news[last].at[i].routes;
}

/* ---- from beginning to end ---- */

static void turn_need(void *ctx, uint32_t a, uint32_t b)
{
	bool ok UNUSED = nue_lane_take(ctx, a, b);

	assert(ok);
}

void nue_lane_init(struct nue_lane *l, const struct switch_graph *g, struct rt_tables *t,
		   uint32_t root, const uint32_t *dests)
{
	size_t n = (size_t)g->n + 1, arcs = (size_t)g->narcs + 1;

	*l = (struct nue_lane){.g = g, .t = t, .costs = {.hop = 1}};
	lane_graphs_init_from(&l->graphs, g, root);
	lane_graphs_open(&l->graphs);
	escape_init(&l->escape, g, root);
	l->users = mem_zarray(arcs, MAX(g->ports, 1u) * sizeof(*l->users));
	l->load = mem_zarray(arcs, sizeof(*l->load));
	l->load[g->narcs] = UINT64_MAX; /* of no arc at all */
	l->taken = mem_array(n, sizeof(*l->taken));
	l->cost = mem_array(n, sizeof(*l->cost));
	l->flow = mem_array(n, sizeof(*l->flow));
	l->settled = mem_array(n, sizeof(*l->settled));
	l->order = mem_array(n, sizeof(*l->order));
	l->refused = mem_zarray(arcs, sizeof(*l->refused));
	l->heap = mem_array(n, sizeof(*l->heap));
	l->near = mem_array(n, sizeof(*l->near));
	l->dist = mem_array(n, sizeof(*l->dist));
	l->way_first = mem_array(n + 1, sizeof(*l->way_first));
	l->way = mem_array(arcs, sizeof(*l->way));
	l->place = mem_array(n, sizeof(*l->place));
	escape_each(&l->escape, dests, turn_need, l);
}

void nue_lane_free(struct nue_lane *l)
{
	lane_graphs_free(&l->graphs);
	escape_free(&l->escape);
	free(l->users);
	free(l->load);
	vec_free(&l->news[0]);
	vec_free(&l->news[1]);
	free(l->taken);
	free(l->cost);
	free(l->flow);
	free(l->settled);
	free(l->order);
	free(l->refused);
	free(l->heap);
	free(l->near);
	free(l->dist);
	free(l->way_first);
	free(l->way);
	free(l->place);
}
