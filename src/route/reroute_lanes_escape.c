/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A spanning tree whose dependencies are kept free for columns that find no other way: routes along it never close a cycle.
 * State: up and tree_sl of struct lane_mend. Ways in: lane_tree_reserve(), lane_tree_route(). Where the routes that stay leave
 * room for no tree that is tried there is none.
 */
#include "route/reroute_lanes.h"

enum { ROOTS = 8 }; /* that are tried */

/* The arc of the same cable in the other direction. */
static uint32_t back(const struct switch_graph *g, uint32_t a)
{
	const struct fab *f = g->f;
	port_id p = fab_port_id(f, f->switches[g->arc[a].from], g->arc[a].port);

	return graph_arc(g, g->arc[a].to, f->ports[f->ports[p].peer].num);
}

/* Two queues: switches without hosts, and those with. */
struct front {
	uint32_t *queue[2], head[2], tail[2];
};

static void front_push(const struct lane_mend *m, struct front *x, uint32_t s)
{
	bool hosts = m->x.g.senders[s];

	m->dist[s] = 0;
	x->queue[hosts][x->tail[hosts]++] = s;
}

static void front_grow(struct lane_mend *m, struct front *x)
{
	const struct switch_graph *g = &m->x.g;

	for (;;) {
		bool hosts = x->head[0] == x->tail[0];
		uint32_t s;

		if (x->head[hosts] == x->tail[hosts])
			return;
		s = x->queue[hosts][x->head[hosts]++];
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (m->dist[g->arc[a].to] == FAR) {
				m->up[g->arc[a].to] = back(g, a);
				front_push(m, x, g->arc[a].to);
			}
	}
}

/*
 * Breadth first, from the root and then from each switch that it does not reach; first over switches without hosts. So in a
 * damaged fat tree few leaves join parts that only leaves join, and two that do so would close a cycle.
 */
static void tree_grow(struct lane_mend *m, uint32_t root)
{
	const struct switch_graph *g = &m->x.g;

	memset(m->up, 0xff, g->n * sizeof(*m->up));
	memset(m->dist, 0xff, g->n * sizeof(*m->dist));
	for (uint32_t i = 0; i <= g->n; i++) {
		struct front x = {.queue = {m->path, m->list}};

		if (m->dist[i ? i - 1 : root] != FAR)
			continue;
		front_push(m, &x, i ? i - 1 : root);
		front_grow(m, &x);
	}
}

static void tree_mark(struct lane_mend *m)
{
	memset(m->of_tree, 0, m->x.g.narcs * sizeof(*m->of_tree));
	for (uint32_t s = 0; s < m->x.g.n; s++)
		if (m->up[s] != FAB_NONE)
			m->of_tree[m->up[s]] = m->of_tree[back(&m->x.g, m->up[s])] = true;
}

/* All that may follow each other along the tree. */
static bool tree_place(struct lane_mend *m, unsigned sl)
{
	const struct switch_graph *g = &m->x.g;

	m->added.n = 0;
	for (uint32_t a = 0; a < g->narcs; a++) {
		uint32_t s = g->arc[a].to;

		for (uint32_t b = g->first[s]; m->of_tree[a] && b < g->first[s + 1]; b++)
			if (g->arc[b].to != g->arc[a].from && m->of_tree[b] &&
			    !(lane_serves(m, a, sl) && lane_serves(m, b, sl) &&
			      lane_dep_add(m, lane_channel(m, a, sl), lane_channel(m, b, sl)))) {
				lane_added_remove(m);
				return false;
			}
	}
	return true;
}

/* Switches with the most hosts first, as engines choose them. */
static uint32_t root_next(const struct lane_mend *m, uint32_t last)
{
	const uint32_t *n = m->x.g.senders;
	uint32_t best = FAB_NONE;

	for (uint32_t s = 0; s < m->x.g.n; s++) {
		bool after = last == FAB_NONE || n[s] < n[last] || (n[s] == n[last] && s > last);

		if (after && (best == FAB_NONE || n[s] > n[best]))
			best = s;
	}
	return best;
}

void lane_tree_reserve(struct lane_mend *m)
{
	uint32_t root = FAB_NONE;

	m->tree_sl = RT_SLS;
	for (unsigned i = 0; i < ROOTS; i++) {
		root = root_next(m, root);
		if (root == FAB_NONE)
			return;
		tree_grow(m, root);
		tree_mark(m);
		for (unsigned sl = 0; sl < RT_SLS; sl++)
			if ((m->base >> sl & 1) && tree_place(m, sl)) {
				m->tree_sl = sl;
				return;
			}
	}
}

bool lane_tree_route(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	if (m->tree_sl == RT_SLS)
		return false;
	for (uint32_t s = 0; s < g->n; s++) {
		lane_mark(m, s, false);
		m->arc[s] = m->x.part[s] == m->x.part[m->dest] ? m->up[s] : FAB_NONE;
		if (m->sl)
			m->sl[(size_t)s * m->x.t->stride + m->lid] = (uint8_t)m->tree_sl;
	}
	for (uint32_t s = m->dest; m->up[s] != FAB_NONE;) {
		uint32_t above = g->arc[m->up[s]].to;

		m->arc[above] = back(g, m->up[s]);
		s = above;
	}
	m->arc[m->dest] = FAB_NONE;
	return true;
}
