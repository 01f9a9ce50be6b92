/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognises meshes, tori and hypercubes, which are products of chains and rings. Two links of a switch that span a
 * square belong to different dimensions, links on opposite sides of a square are the same step of one dimension, and
 * two links that span none belong to one dimension. A ring of four is two dimensions of two here; these are joined
 * at the end, so that a 4x4x4 torus and a hypercube of 64, which are the same, look the same. State: struct seek, for
 * one call. Way in: lay_grid(). Does not place anything.
 */
#include "draw/layout_grid_priv.h"

struct step { /* of a dimension: from one coordinate to another */
	uint32_t dim, a, b;
};

struct seek {
	struct grid g;
	const struct lay_part *p;
	uint32_t *edge;			/* entry of adj[] -> link */
	uint32_t nedges;		/* links */
	uint32_t *same_step, *same_dim; /* union-find over links */
	uint32_t *dim_of;		/* representative link -> dimension */
	struct step *step;		/* by representative link of same_step */
};

static uint32_t entry(const struct seek *k, uint32_t a, uint32_t b)
{
	uint32_t i = k->p->first[a];

	while (k->p->adj[i] != b)
		i++;
	return i - k->p->first[0];
}

static uint32_t edge_of(const struct seek *k, uint32_t a, uint32_t b)
{
	return k->edge[entry(k, a, b)];
}

static uint32_t find(uint32_t *up, uint32_t e)
{
	while (up[e] != e) {
		up[e] = up[up[e]];
		e = up[e];
	}
	return e;
}

static void join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = find(up, a);
	b = find(up, b);
	up[MAX(a, b)] = MIN(a, b);
}

static bool number_edges(struct seek *k)
{
	const struct lay_part *p = k->p;

	for (uint32_t s = 0; s < p->n; s++) {
		if (lay_degree(p, s) > 2 * GRID_DIMS)
			return false;
		for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++)
			k->edge[i - p->first[0]] =
				p->adj[i] > s ? k->nedges++ : edge_of(k, p->adj[i], s);
	}
	for (uint32_t e = 0; e < k->nedges; e++)
		k->same_step[e] = k->same_dim[e] = e;
	return true;
}

/* The common neighbours of a and b other than s: their number, and the last one. */
static unsigned corners(const struct lay_part *p, uint32_t s, uint32_t a, uint32_t b, uint32_t *at)
{
	unsigned n = 0;

	for (uint32_t i = p->first[a]; i < p->first[a + 1]; i++)
		if (p->adj[i] != s && lay_adjacent(p, b, p->adj[i])) {
			*at = p->adj[i];
			n++;
		}
	return n;
}

/* Two neighbours of a switch. */
static bool look_at_pair(struct seek *k, uint32_t s, uint32_t a, uint32_t b)
{
	uint32_t sa = edge_of(k, s, a), sb = edge_of(k, s, b), far = FAB_NONE;
	unsigned n = lay_adjacent(k->p, a, b) ? 0 : corners(k->p, s, a, b, &far);

	if (n > 1)
		return false;
	if (n == 0) {
		join(k->same_dim, sa, sb);
		return true;
	}
	join(k->same_step, sa, edge_of(k, b, far));
	join(k->same_step, sb, edge_of(k, a, far));
	join(k->same_dim, sa, edge_of(k, b, far));
	join(k->same_dim, sb, edge_of(k, a, far));
	return true;
}

static bool look_at_pairs(struct seek *k)
{
	const struct lay_part *p = k->p;

	for (uint32_t s = 0; s < p->n; s++)
		for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++)
			for (uint32_t j = p->first[s]; j < i; j++)
				if (!look_at_pair(k, s, p->adj[i], p->adj[j]))
					return false;
	return true;
}

/* ---- coordinates ---- */

/* The neighbour of s along a link of dimension d, other than `not`. */
static uint32_t next_along(struct seek *k, uint32_t d, uint32_t s, uint32_t not )
{
	for (uint32_t i = k->p->first[s]; i < k->p->first[s + 1]; i++)
		if (k->p->adj[i] !=
		    not &&k->dim_of[find(k->same_dim, k->edge[i - k->p->first[0]])] == d)
			return k->p->adj[i];
	return FAB_NONE;
}

/* Each step of the line of dimension d through the first switch. The first switch may be inside a chain: the walk
 * begins at its end. */
static bool measure_dim(struct seek *k, uint32_t d)
{
	uint32_t before = FAB_NONE, at = 0, next, size = 0, from;

	while ((next = next_along(k, d, at, before)) != FAB_NONE && next != 0 && size++ < k->p->n) {
		before = at;
		at = next;
	}
	k->g.dim[d].ring = next == 0;
	from = at = next == 0 ? 0 : at;
	before = FAB_NONE;
	for (size = 1; size <= k->p->n; size++) {
		struct step *t;

		next = next_along(k, d, at, before);
		if (next == FAB_NONE)
			break;
		t = &k->step[find(k->same_step, edge_of(k, at, next))];
		if (t->dim != FAB_NONE)
			return false;
		*t = (struct step){d, size - 1, next == from ? 0 : size};
		before = at;
		at = next;
		if (next == from)
			break;
	}
	k->g.dim[d].size = size;
	return size <= k->p->n;
}

static bool find_dims(struct seek *k)
{
	uint64_t all = 1;

	for (uint32_t e = 0; e < k->nedges; e++) {
		k->dim_of[e] = FAB_NONE;
		k->step[e].dim = FAB_NONE;
	}
	for (uint32_t e = 0; e < k->nedges; e++)
		if (find(k->same_dim, e) == e) {
			if (k->g.ndims == GRID_DIMS)
				return false;
			k->dim_of[e] = k->g.ndims++;
		}
	for (uint32_t d = 0; d < k->g.ndims; d++) {
		if (!measure_dim(k, d))
			return false;
		all *= k->g.dim[d].size;
		if (all > k->p->n)
			return false;
	}
	return k->g.ndims > 1 && all == k->p->n;
}

/* From a switch with coordinates to a neighbour: false when the link is no step of any dimension. */
static bool go(struct seek *k, uint32_t s, uint32_t i, uint32_t *to)
{
	const struct step *t = &k->step[find(k->same_step, k->edge[i - k->p->first[0]])];

	memcpy(to, k->g.coord + (size_t)s * GRID_DIMS, GRID_DIMS * sizeof(*to));
	if (t->dim == FAB_NONE || (to[t->dim] != t->a && to[t->dim] != t->b))
		return false;
	to[t->dim] = to[t->dim] == t->a ? t->b : t->a;
	return true;
}

/* The line of each dimension began at one of its ends, so the first switch has its coordinate from its own links. */
static void first_coords(struct seek *k)
{
	for (uint32_t d = 0; d < k->g.ndims; d++) {
		uint32_t before = FAB_NONE, at = 0, n = 0, next;

		if (k->g.dim[d].ring)
			continue;
		/* steps to the end where the coordinate is 0: that of the other walk */
		while ((next = next_along(k, d, at, before)) != FAB_NONE) {
			before = at;
			at = next;
			n++;
		}
		k->g.coord[d] = n;
	}
}

/* Coordinates of all, by each link the same, and of each switch others. */
static bool spread_coords(struct seek *k)
{
	const struct lay_part *p = k->p;
	uint32_t *queue = mem_array(p->n, sizeof(*queue)), head = 0, tail = 0, to[GRID_DIMS];
	bool *seen = mem_zarray(p->n, 1), ok = true;

	memset(k->g.coord, 0, (size_t)p->n * GRID_DIMS * sizeof(*k->g.coord));
	first_coords(k);
	seen[0] = true;
	queue[tail++] = 0;
	while (ok && head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t i = p->first[s]; ok && i < p->first[s + 1]; i++) {
			uint32_t *c = k->g.coord + (size_t)p->adj[i] * GRID_DIMS;

			ok = go(k, s, i, to);
			if (ok && !seen[p->adj[i]]) {
				seen[p->adj[i]] = true;
				memcpy(c, to, sizeof(to));
				queue[tail++] = p->adj[i];
			}
			ok = ok && !memcmp(c, to, sizeof(to));
		}
	}
	free(queue);
	free(seen);
	return ok;
}

/* Every place is taken once: with as many places as switches, none is empty. */
static bool places_differ(const struct grid *g)
{
	bool *taken = mem_zarray(g->p->n, 1), ok = true;

	for (uint32_t s = 0; s < g->p->n && ok; s++) {
		uint64_t at = 0;

		for (uint32_t d = 0; d < g->ndims; d++)
			at = at * g->dim[d].size + g->coord[(size_t)s * GRID_DIMS + d];
		ok = at < g->p->n && !taken[at];
		if (ok)
			taken[at] = true;
	}
	free(taken);
	return ok;
}

/* ---- dimensions as they are drawn ---- */

static void swap_dims(struct grid *g, uint32_t a, uint32_t b)
{
	struct grid_dim d = g->dim[a];

	g->dim[a] = g->dim[b];
	g->dim[b] = d;
	for (uint32_t s = 0; s < g->p->n; s++) {
		uint32_t *c = g->coord + (size_t)s * GRID_DIMS, t = c[a];

		c[a] = c[b];
		c[b] = t;
	}
}

static void sort_dims(struct grid *g)
{
	for (uint32_t a = 0; a < g->ndims; a++)
		for (uint32_t b = g->ndims - 1; b > a; b--)
			if (g->dim[b].size > g->dim[b - 1].size)
				swap_dims(g, b, b - 1);
}

/* The first switch is in the first half of each chain. */
static void turn_dims(struct grid *g)
{
	for (uint32_t d = 0; d < g->ndims; d++) {
		uint32_t last = g->dim[d].size - 1;

		if (g->dim[d].ring || 2 * g->coord[d] <= last)
			continue;
		for (uint32_t s = 0; s < g->p->n; s++)
			g->coord[(size_t)s * GRID_DIMS + d] =
				last - g->coord[(size_t)s * GRID_DIMS + d];
	}
}

/* The last two dimensions, both of two, become a ring of four; until at most one is left. */
static void join_twos(struct grid *g)
{
	static const uint32_t ring[2][2] = {{0, 3}, {1, 2}};

	while (g->ndims > 1 && g->dim[g->ndims - 2].size == 2) {
		uint32_t last = g->ndims - 1;

		for (uint32_t s = 0; s < g->p->n; s++) {
			uint32_t *c = g->coord + (size_t)s * GRID_DIMS;

			c[last - 1] = ring[c[last - 1]][c[last]];
		}
		g->dim[last - 1] = (struct grid_dim){4, true};
		g->ndims--;
		sort_dims(g);
	}
}

static bool recognise(struct seek *k)
{
	if (!number_edges(k) || !look_at_pairs(k) || !find_dims(k) || !spread_coords(k) ||
	    !places_differ(&k->g))
		return false;
	turn_dims(&k->g);
	sort_dims(&k->g);
	join_twos(&k->g);
	return k->g.ndims > 1;
}

bool lay_grid(struct lay_part *p)
{
	uint32_t links = p->first[p->n] - p->first[0];
	struct seek k = {.p = p, .g = {.p = p}};
	bool found;

	if (p->n < 6 || links > (uint64_t)p->n * 2 * GRID_DIMS)
		return false;
	k.edge = mem_array(links, sizeof(*k.edge));
	k.same_step = mem_array(links, sizeof(*k.same_step));
	k.same_dim = mem_array(links, sizeof(*k.same_dim));
	k.dim_of = mem_array(links, sizeof(*k.dim_of));
	k.step = mem_array(links, sizeof(*k.step));
	k.g.coord = mem_array(p->n, GRID_DIMS * sizeof(*k.g.coord));
	found = recognise(&k);
	if (found)
		grid_place(&k.g);
	free(k.edge);
	free(k.same_step);
	free(k.same_dim);
	free(k.dim_of);
	free(k.step);
	free(k.g.coord);
	return found;
}
