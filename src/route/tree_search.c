/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": distances from all switches to a block of destination switches, and which neighbours lead there.
 * State: struct tree_work, of one thread. Ways in: tree_search(), tree_offers(). Chooses none of the neighbours.
 *
 *	down[s] = 1 + min down[v] over groups that export             (from the largest rank to the smallest)
 *	dist[s] = down[s] if there is any, else 1 + the least of dist[u] over upper ones and down[v] over the
 *	          other lower ones                                     (from the smallest rank to the largest)
 *
 * Upper and lower are by rank. A switch with a way down takes no other: packets may reach it going down. Links up by
 * level that lead down by rank are such ways (export) only at the pivot and above it, where they must be, because
 * the pivot has no other; elsewhere the switch can use them beside its ways up, but none comes down to it for them.
 * Where the pivot has no way down to a destination, all groups export for it (`any`).
 */
#include "route/tree.h"

struct tree_work *tree_work_new(uint32_t nswitches)
{
	struct tree_work *w = mem_lines(1, sizeof(*w));

	w->down = mem_lines(nswitches, TREE_BLOCK);
	w->dist = mem_lines(nswitches, TREE_BLOCK);
	return w;
}

void tree_work_free(struct tree_work *w)
{
	free(w->down);
	free(w->dist);
	free(w);
}

static void lower(uint8_t *restrict best, const uint8_t *restrict other)
{
	for (unsigned i = 0; i < TREE_BLOCK; i++)
		best[i] = MIN(best[i], other[i]);
}

/* One link more; distances of 253 and above count as none. */
static void step(uint8_t *restrict to, const uint8_t *restrict best)
{
	for (unsigned i = 0; i < TREE_BLOCK; i++) {
		uint8_t d = best[i] < TREE_NEVER - 1 ? (uint8_t)(best[i] + 1) : TREE_FAR;

		to[i] = MIN(to[i], d);
	}
}

static bool exports(const struct tree_work *w, const struct tree_group *a)
{
	return a->exports || (w->any && a->lower);
}

static void search_down(const struct tree *t, struct tree_work *w)
{
	uint8_t best[TREE_BLOCK];

	for (uint32_t i = t->n; i-- > 0;) {
		uint32_t s = t->order[i];

		memset(best, TREE_FAR, sizeof(best));
		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++)
			if (exports(w, &t->group[g]))
				lower(best, w->down + (size_t)t->group[g].sw * TREE_BLOCK);
		step(w->down + (size_t)s * TREE_BLOCK, best);
	}
}

static void search_up(const struct tree *t, struct tree_work *w)
{
	uint8_t best[TREE_BLOCK];

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->order[i];
		const uint8_t *down = w->down + (size_t)s * TREE_BLOCK;
		uint8_t *dist = w->dist + (size_t)s * TREE_BLOCK;

		memset(best, TREE_FAR, sizeof(best));
		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
			const struct tree_group *a = &t->group[g];

			if (!exports(w, a))
				lower(best,
				      (a->lower ? w->down : w->dist) + (size_t)a->sw * TREE_BLOCK);
		}
		memset(dist, TREE_FAR, TREE_BLOCK);
		step(dist, best);
		for (unsigned k = 0; k < TREE_BLOCK; k++)
			dist[k] = down[k] != TREE_FAR ? down[k] : dist[k];
	}
}

void tree_search(const struct tree *t, struct tree_work *w, const uint32_t *dests, uint32_t nd,
		 bool any)
{
	w->any = any;
	memset(w->down, TREE_FAR, (size_t)t->n * TREE_BLOCK);
	for (uint32_t d = 0; d < nd; d++)
		w->down[(size_t)dests[d] * TREE_BLOCK + d] = 0;
	search_down(t, w);
	search_up(t, w);
}

/* ---- offers ---- */

/* The distance that a neighbour must have to be one of the equal best ways on. */
static void wanted(struct tree_work *w, uint32_t s)
{
	const uint8_t *down = w->down + (size_t)s * TREE_BLOCK,
		      *dist = w->dist + (size_t)s * TREE_BLOCK;

	for (unsigned i = 0; i < TREE_BLOCK; i++) {
		bool goes_down = down[i] != TREE_FAR, goes = dist[i] != TREE_FAR && dist[i];

		w->want_down[i] = goes && goes_down ? (uint8_t)(down[i] - 1) : TREE_NEVER;
		w->want_up[i] = goes && !goes_down ? (uint8_t)(dist[i] - 1) : TREE_NEVER;
	}
}

static void offer(struct tree_work *w, const uint8_t *restrict have, const uint8_t *restrict want,
		  uint8_t k)
{
	uint8_t *restrict valid = w->valid[k], *restrict all = w->all, *restrict last = w->last;

	for (unsigned i = 0; i < TREE_BLOCK; i++) {
		uint8_t yes = have[i] == want[i];

		valid[i] = yes;
		all[i] = (uint8_t)(all[i] + yes);
		last[i] = yes ? k : last[i];
	}
}

void tree_offers(const struct tree *t, struct tree_work *w, uint32_t s)
{
	uint32_t n = t->first[s + 1] - t->first[s];

	wanted(w, s);
	memset(w->all, 0, sizeof(w->all));
	memset(w->climbs, 0, sizeof(w->climbs));
	for (uint32_t k = 0; k < n; k++) {
		const struct tree_group *a = &t->group[t->first[s] + k];
		size_t at = (size_t)a->sw * TREE_BLOCK;

		offer(w, (a->lower ? w->down : w->dist) + at,
		      exports(w, a) ? w->want_down : w->want_up, (uint8_t)k);
		if (k + 1 == t->nup[s])
			memcpy(w->climbs, w->all, sizeof(w->climbs));
	}
}
