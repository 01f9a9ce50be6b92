/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "torus": shortest ways in dimension order. State: struct ways, for one call. Way in: torus_ways(). Gives no lanes.
 *
 * A switch goes along the first dimension in which it differs from the destination. Half-way round a ring both directions are
 * as short: the first half of a switch's hosts is reached downwards, the second half upwards, and one in the middle as its
 * switch has an odd or even coordinate. In a shift, the hosts that are numbered before those half-way round are on this side
 * of them and the others on that side, so that this makes the two directions even. Where links are missing the shortest ways count that turn
 * least often against the order of dimensions. Parallel links are taken in turn.
 */
#include "route/torus.h"

enum {
	UPWARDS = 1,
	MIDDLE = 2, /* the other way round at odd coordinates */
	CLASSES = 4,
};

struct ways {
	const struct torus *t;
	struct rt_tables *tables;
	uint32_t *twin; /* by arc: the next one to the same switch, the first one after the last */
	uint32_t *turn; /* by arc: the first of those to the same switch has the one that is next */
	uint32_t *dist, *order, reached;
	uint32_t *taken[CLASSES]; /* by switch */
	uint32_t *bad;		  /* by switch: turns against the order */
};

/* ---- one destination switch ---- */

struct aim { /* the step that dimension order takes */
	uint32_t dim;
	int sign;
};

/* The class decides half-way round a ring. */
static struct aim aim_at(const struct torus *t, uint32_t s, uint32_t to, unsigned class)
{
	const struct torus_part *p = torus_part(t, s);

	for (uint32_t d = 0; d < p->ndims; d++) {
		int32_t by = t->at[to][d] - t->at[s][d], size = (int32_t)p->dim[d].size;

		if (!by)
			continue;
		if (p->dim[d].ring) {
			by = (by + size) % size;
			if (2 * by == size)
				by = (class & UPWARDS) != ((class & MIDDLE) && t->at[to][d] % 2)
					     ? 1
					     : -1;
			else if (2 * by > size)
				by -= size;
		}
		return (struct aim){d, by > 0 ? 1 : -1};
	}
	return (struct aim){TORUS_DIMS, 0};
}

static bool is_bad(const struct torus *t, uint32_t a, uint32_t next)
{
	return t->dim[a] > t->dim[next] ||
	       (t->dim[a] == t->dim[next] && t->sign[a] != t->sign[next]);
}

static void way_take(struct ways *w, uint32_t s, uint32_t to, unsigned class)
{
	const struct torus *t = w->t;
	struct aim aim = aim_at(t, s, to, class);
	uint32_t best = FAB_NONE, least = UINT32_MAX;
	bool aimed = false;

	for (uint32_t a = t->g.first[s]; a < t->g.first[s + 1]; a++) {
		uint32_t next = t->g.arc[a].to, bad;
		bool is_aim = t->dim[a] == aim.dim && t->sign[a] == aim.sign;

		if (w->dist[next] != w->dist[s] - 1)
			continue;
		bad = next == to ? 0 : w->bad[next] + is_bad(t, a, w->taken[class][next]);
		if (bad > least || (bad == least && (aimed || !is_aim)))
			continue;
		least = bad;
		best = a;
		aimed = is_aim;
	}
	w->taken[class][s] = best;
	w->bad[s] = least;
}

static void tree_make(struct ways *w, uint32_t to, unsigned class)
{
	w->bad[to] = 0;
	for (uint32_t i = 1; i < w->reached; i++)
		way_take(w, w->order[i], to, class);
}

/* ---- LIDs ---- */

/* Of parallel links each in turn; those to a switch's own LID do not count. */
static uint32_t link_take(struct ways *w, uint32_t a, bool host)
{
	uint32_t take;

	if (w->twin[a] == a)
		return a;
	take = w->turn[a];
	if (host)
		w->turn[a] = w->twin[take];
	return take;
}

static void lid_route(struct ways *w, uint32_t to, const struct graph_dest *d, unsigned class)
{
	const struct switch_graph *g = &w->t->g;

	for (uint32_t i = 1; i < w->reached; i++) {
		uint32_t s = w->order[i];

		rt_row(w->tables, s)[d->lid] =
			g->arc[link_take(w, w->taken[class][s], d->port != 0)].port;
	}
	rt_row(w->tables, to)[d->lid] = d->port;
}

/*
 * Classes of the LIDs behind a switch: by the place of their host among its hosts; further LIDs of a host the one way and the
 * other in turn. The switch itself is as the first host.
 */
static void classes_find(const struct switch_graph *g, uint32_t to, uint8_t *class)
{
	const struct graph_dest *d = g->dest + g->dest_first[to];
	uint32_t lids = g->dest_first[to + 1] - g->dest_first[to], hosts = 0, at = 0, further = 0;

	for (uint32_t i = 0; i < lids; i++)
		hosts += d[i].port && (!i || d[i].port != d[i - 1].port);
	for (uint32_t i = 0; i < lids; i++) {
		bool next = i && d[i].port != d[i - 1].port;

		at += next;
		further = next ? 0 : further + (i > 0);
		class[i] = !d[i].port ? 0 : 2 * at + 1 == hosts ? MIDDLE : 2 * at + 1 > hosts;
		class[i] ^= further % 2;
	}
}

/* The first arc to each switch stands for all: way_take() finds it first. */
static void twins_find(struct ways *w)
{
	const struct switch_graph *g = &w->t->g;

	for (uint32_t a = 0; a < g->narcs; a++) {
		uint32_t s = g->arc[a].from, b = g->first[s], first = FAB_NONE, last = a;

		for (; b < a; b++)
			if (g->arc[b].to == g->arc[a].to) {
				first = MIN(first, b);
				last = b;
			}
		w->twin[a] = first == FAB_NONE ? a : first;
		if (first != FAB_NONE)
			w->twin[last] = a;
		w->turn[a] = a;
	}
}

static void ways_init(struct ways *w)
{
	size_t n = (size_t)w->t->g.n + 1, arcs = (size_t)w->t->g.narcs + 1;

	w->twin = mem_array(arcs, sizeof(*w->twin));
	w->turn = mem_array(arcs, sizeof(*w->turn));
	w->dist = mem_array(n, sizeof(*w->dist));
	w->order = mem_array(n, sizeof(*w->order));
	for (unsigned c = 0; c < CLASSES; c++)
		w->taken[c] = mem_array(n, sizeof(*w->taken[c]));
	w->bad = mem_array(n, sizeof(*w->bad));
	twins_find(w);
}

static void ways_free(struct ways *w)
{
	free(w->twin);
	free(w->turn);
	free(w->dist);
	free(w->order);
	for (unsigned c = 0; c < CLASSES; c++)
		free(w->taken[c]);
	free(w->bad);
}

static void switch_route(struct ways *w, uint32_t to, uint32_t lids, uint8_t *class)
{
	const struct switch_graph *g = &w->t->g;
	unsigned made = 0;

	w->reached = graph_distances(g, to, w->dist, w->order);
	classes_find(g, to, class);
	for (uint32_t i = 0; i < lids; i++) {
		if (!(made >> class[i] & 1))
			tree_make(w, to, class[i]);
		made |= 1u << class[i];
		lid_route(w, to, &g->dest[g->dest_first[to] + i], class[i]);
	}
	w->tables->entries += (uint64_t)w->reached * lids;
}

void torus_ways(const struct torus *t, struct rt_tables *tables)
{
	const struct switch_graph *g = &t->g;
	struct ways w = {.t = t, .tables = tables};
	uint8_t *class = mem_array((size_t)tables->top_lid + 1, 1);

	ways_init(&w);
	for (uint32_t to = 0; to < g->n; to++)
		if (g->dest_first[to + 1] > g->dest_first[to])
			switch_route(&w, to, g->dest_first[to + 1] - g->dest_first[to], class);
	ways_free(&w);
	free(class);
}
