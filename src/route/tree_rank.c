/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": a rank for each switch, so that no route turns from down to up by these ranks and yet every pair of
 * switches has a route. State: struct ranking, for one call. Way in: tree_rank(). Computes no routes.
 *
 * By the levels alone two top switches have no legal route: each would have to go down and up again. So one leaf, the
 * pivot, gets the smallest rank, and the switches above it follow level by level: links between these are reversed,
 * and a top switch reaches another one over the pivot. Routes between hosts are legal by these ranks as they are
 * by the levels: those to the pivot only go to smaller ranks, those from it only to larger ones, and those of
 * its neighbours go up once less. All other switches have the order of their levels.
 *
 * Where links have failed the pivot is not below all top switches. Each of the others, and the switches on a way from it
 * to those that have a place, is put in by a gateway: a switch that is below both.
 */
#include "route/tree.h"

struct ranking {
	struct tree *t;
	uint32_t placed; /* switches in t->order */
	bool *is_placed;
	bool *reverses;	 /* its links to upper switches of larger rank are part of ways down */
	bool *touched;	 /* below a switch that has its place */
	uint32_t *via;	 /* of a touched switch: the next one on the way there */
	uint32_t *depth; /* and how many links it is */
	uint32_t *queue, *seen, round;
};

/* ---- the pivot ---- */

/* All switches above s, s first, by level; how many. */
static uint32_t cone(struct ranking *x, uint32_t s)
{
	const struct tree *t = x->t;
	uint32_t tail = 0;

	x->seen[s] = ++x->round;
	x->queue[tail++] = s;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t at = x->queue[head];

		for (uint32_t g = t->first[at]; g < t->first[at] + t->nup[at]; g++) {
			uint32_t v = t->group[g].sw;

			if (x->seen[v] != x->round) {
				x->seen[v] = x->round;
				x->queue[tail++] = v;
			}
		}
	}
	return tail;
}

/* The leaf with the most switches above it, of equals the first. */
static uint32_t pivot_choose(struct ranking *x, uint32_t part)
{
	const struct tree *t = x->t;
	uint32_t best = FAB_NONE, most = 0;

	for (uint32_t s = 0; s < t->n; s++) {
		uint32_t n;

		if (t->part[s] != part || t->level[s])
			continue;
		n = cone(x, s);
		if (n > most) {
			most = n;
			best = s;
		}
	}
	return best;
}

/* ---- places ---- */

/* Marks all that is below a switch that got its place. */
static void touch_below(struct ranking *x, uint32_t from)
{
	const struct tree *t = x->t;
	uint32_t head = 0, tail = 0;

	x->touched[from] = true;
	x->depth[from] = 0;
	x->queue[tail++] = from;
	while (head < tail) {
		uint32_t s = x->queue[head++];

		for (uint32_t g = t->first[s] + t->nup[s]; g < t->first[s + 1]; g++) {
			uint32_t v = t->group[g].sw;

			if (x->touched[v])
				continue;
			x->touched[v] = true;
			x->via[v] = s;
			x->depth[v] = x->depth[s] + 1;
			x->queue[tail++] = v;
		}
	}
}

static void place(struct ranking *x, uint32_t s, bool reverses)
{
	x->is_placed[s] = true;
	x->reverses[s] = reverses;
	x->t->order[x->placed++] = s;
}

/* s and all above it that has no place yet, level by level. */
static void place_cone(struct ranking *x, uint32_t s, bool reverses)
{
	uint32_t n = cone(x, s), from = x->placed;

	if (!x->is_placed[s])
		place(x, s, reverses);
	for (uint32_t i = 1; i < n; i++)
		if (!x->is_placed[x->queue[i]])
			place(x, x->queue[i], true);
	for (uint32_t i = from, end = x->placed; i < end; i++)
		touch_below(x, x->t->order[i]);
}

/* A switch below `top` and below one with a place: as high as possible, near to that one, the first. */
static uint32_t gateway_find(struct ranking *x, uint32_t top)
{
	const struct tree *t = x->t;
	uint32_t head = 0, tail = 0, best = FAB_NONE;

	x->seen[top] = ++x->round;
	x->queue[tail++] = top;
	while (head < tail) {
		uint32_t s = x->queue[head++];

		if (best != FAB_NONE && t->level[s] < t->level[best])
			break;
		if (x->touched[s] && (best == FAB_NONE || x->depth[s] < x->depth[best]))
			best = s;
		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
			uint32_t v = t->group[g].sw;

			if (t->level[v] < t->level[s] && x->seen[v] != x->round) {
				x->seen[v] = x->round;
				x->queue[tail++] = v;
			}
		}
	}
	return best;
}

/* The gateway comes after the switches on its way to one that has a place, and all that is above it follows. */
static void place_gateway(struct ranking *x, uint32_t s)
{
	uint32_t n = 0;

	for (uint32_t v = s; !x->is_placed[v]; v = x->via[v])
		x->queue[n++] = v;
	while (n)
		place(x, x->queue[--n], false);
	place_cone(x, s, false);
}

/* All top switches that have a gateway now; one that has none is returned, or FAB_NONE. */
static uint32_t place_some(struct ranking *x, uint32_t part)
{
	const struct tree *t = x->t;
	uint32_t left = FAB_NONE;

	for (uint32_t s = 0; s < t->n; s++) {
		uint32_t by;

		if (t->part[s] != part || x->is_placed[s] || t->nup[s])
			continue;
		by = gateway_find(x, s);
		if (by == FAB_NONE)
			left = s;
		else
			place_gateway(x, by);
	}
	return left;
}

/* A top switch may get its gateway only by the place of another one. */
static int place_tops(struct ranking *x, uint32_t part, struct err *e)
{
	uint32_t left, before;
	char buf[96];

	do {
		before = x->placed;
		left = place_some(x, part);
	} while (left != FAB_NONE && x->placed > before);
	if (left == FAB_NONE)
		return 0;
	return err_set(e, -EINVAL,
		       "tree: not a tree: only links inside a level join %s with the rest",
		       tree_name(x->t, left, buf));
}

/* ---- the rest ---- */

struct rest {
	uint32_t level, up, sw;
};

static int rest_cmp(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->up != y->up)
		return x->up > y->up ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* By level; of one level those first that go up to a higher one. */
static void place_rest(struct ranking *x, uint32_t part)
{
	const struct tree *t = x->t;
	struct rest *r = mem_array(t->n, sizeof(*r));
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n; s++) {
		if (t->part[s] != part || x->is_placed[s])
			continue;
		r[n++] = (struct rest){
			t->level[s], t->nup[s] && t->level[t->group[t->first[s]].sw] > t->level[s],
			s};
	}
	qsort(r, n, sizeof(*r), rest_cmp);
	for (uint32_t i = 0; i < n; i++)
		place(x, r[i].sw, false);
	free(r);
}

static void directions_set(struct ranking *x)
{
	struct tree *t = x->t;

	for (uint32_t i = 0; i < t->n; i++)
		t->rank[t->order[i]] = i;
	for (uint32_t s = 0; s < t->n; s++)
		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
			struct tree_group *a = &t->group[g];

			a->lower = t->rank[a->sw] > t->rank[s];
			a->exports = a->lower && (x->reverses[s] || t->level[a->sw] <= t->level[s]);
		}
}

int tree_rank(struct tree *t, struct err *e)
{
	struct ranking x = {.t = t,
			    .is_placed = mem_zarray(t->n, sizeof(bool)),
			    .reverses = mem_zarray(t->n, sizeof(bool)),
			    .touched = mem_zarray(t->n, sizeof(bool)),
			    .via = mem_array(t->n, sizeof(uint32_t)),
			    .depth = mem_array(t->n, sizeof(uint32_t)),
			    .queue = mem_array(t->n, sizeof(uint32_t)),
			    .seen = mem_zarray(t->n, sizeof(uint32_t))};
	int rc = 0;

	t->order = mem_array(t->n, sizeof(*t->order));
	t->rank = mem_array(t->n, sizeof(*t->rank));
	t->pivot = mem_array(t->nparts, sizeof(*t->pivot));
	for (uint32_t p = 0; p < t->nparts && !rc; p++) {
		t->pivot[p] = pivot_choose(&x, p);
		place_cone(&x, t->pivot[p], true);
		rc = place_tops(&x, p, e);
		place_rest(&x, p);
	}
	if (!rc)
		directions_set(&x);
	free(x.is_placed);
	free(x.reverses);
	free(x.touched);
	free(x.via);
	free(x.depth);
	free(x.queue);
	free(x.seen);
	return rc;
}
