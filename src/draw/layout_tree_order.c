/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts the switches and blocks of a tree from left to right so that links are short and cross little: each goes to
 * the mean place of its neighbours, upwards and downwards in turn, and the best order seen stays. State: struct
 * sorter, for one call. Way in: tree_order(). Places are whole numbers here, so that equal means are equal.
 */
#include "draw/layout_tree_priv.h"

enum {
	SWEEPS = 8,
	UNIT = 64,
};

struct sorter {
	struct tree *t;
	int64_t *width, *from; /* by block, as if all were in one row */
	int64_t *slot, *place; /* by switch: width and middle */
	int64_t *key;	       /* by switch, then by block */
	int64_t *plane_key;    /* by plane */
	const int64_t *keys;   /* those in use */
};

static void measure(struct sorter *o)
{
	const struct tree *t = o->t;

	for (uint32_t s = 0; s < t->p->n; s++)
		o->slot[s] = (int64_t)(tree_slot_width(t, s) * UNIT);
	for (uint32_t i = 0; i < t->nblocks; i++) {
		const struct block *b = &t->block[i];
		int64_t tops = 0, kids = 0;

		for (uint32_t k = 0; k < b->ntops; k++)
			tops += o->slot[t->tops[b->tops + k]];
		for (uint32_t k = 0; k < b->nkids; k++)
			kids += o->width[t->kids[b->kids + k]];
		o->width[i] = MAX(tops, kids) + (int64_t)(tree_kid_gap(t, i) * UNIT);
	}
}

/* Places of all switches: those on top of a block are spread over its width, its blocks follow each other. */
static void unroll(struct sorter *o)
{
	const struct tree *t = o->t;

	o->from[t->nblocks - 1] = 0;
	for (uint32_t i = t->nblocks; i-- > 0;) {
		const struct block *b = &t->block[i];
		int64_t kids = 0, at = o->from[i];

		for (uint32_t k = 0; k < b->nkids; k++)
			kids += o->width[t->kids[b->kids + k]];
		at += (o->width[i] - kids) / 2;
		for (uint32_t k = 0; k < b->nkids; k++) {
			o->from[t->kids[b->kids + k]] = at;
			at += o->width[t->kids[b->kids + k]];
		}
		for (uint32_t k = 0; k < b->ntops; k++)
			o->place[t->tops[b->tops + k]] =
				o->from[i] + o->width[i] * (2 * (int64_t)k + 1) / (2 * b->ntops);
	}
}

/* The horizontal length of all links. */
static int64_t cost(const struct sorter *o)
{
	const struct lay_part *p = o->t->p;
	int64_t sum = 0;

	for (uint32_t s = 0; s < p->n; s++)
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			sum += llabs(o->place[s] - o->place[p->adj[k]]);
	return sum;
}

/* ---- keys ---- */

struct mean {
	int64_t sum, n;
};

static void add_neighbours(const struct sorter *o, uint32_t s, bool up, struct mean *m)
{
	const struct lay_part *p = o->t->p;

	for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++) {
		uint32_t v = p->adj[k];

		if (up ? p->level[v] > p->level[s] : p->level[v] < p->level[s]) {
			m->sum += o->place[v];
			m->n++;
		}
	}
}

static int64_t mean_or(struct mean m, int64_t otherwise)
{
	return m.n ? m.sum / m.n : otherwise;
}

static void find_plane_keys(struct sorter *o)
{
	const struct tree *t = o->t;
	const struct block *b = &t->block[t->nblocks - 1];
	struct mean *m = mem_zarray(t->nplanes, sizeof(*m));

	for (uint32_t k = 0; k < b->ntops; k++)
		add_neighbours(o, t->tops[b->tops + k], false, &m[t->plane[t->tops[b->tops + k]]]);
	for (uint32_t i = 0; i < t->nplanes; i++)
		o->plane_key[i] = mean_or(m[i], 0);
	free(m);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct sorter *o = arg;
	uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;

	if (o->keys[s] != o->keys[t])
		return o->keys[s] < o->keys[t] ? -1 : 1;
	return s < t ? -1 : s > t;
}

static int by_place(const void *a, const void *b, void *arg)
{
	const struct sorter *o = arg;
	const struct tree *t = o->t;
	uint32_t s = *(const uint32_t *)a, u = *(const uint32_t *)b, ps = t->plane[s],
		 pu = t->plane[u];

	if (ps != pu && o->plane_key[ps] != o->plane_key[pu])
		return o->plane_key[ps] < o->plane_key[pu] ? -1 : 1;
	if (ps != pu)
		return ps < pu ? -1 : 1;
	if (o->key[s] != o->key[u])
		return o->key[s] < o->key[u] ? -1 : 1;
	if (o->place[s] != o->place[u])
		return o->place[s] < o->place[u] ? -1 : 1;
	return s < u ? -1 : s > u;
}

/* ---- sweeps ---- */

static void sort_tops(struct sorter *o, bool up)
{
	const struct tree *t = o->t;

	find_plane_keys(o);
	for (uint32_t s = 0; s < t->p->n; s++) {
		struct mean m = {0, 0};

		add_neighbours(o, s, up, &m);
		o->key[s] = mean_or(m, o->place[s]);
	}
	for (uint32_t i = 0; i < t->nblocks; i++)
		qsort_r(t->tops + t->block[i].tops, t->block[i].ntops, sizeof(*t->tops), by_place,
			o);
}

static void sort_kids(struct sorter *o)
{
	const struct tree *t = o->t;
	int64_t *key = mem_array(t->nblocks, sizeof(*key));

	for (uint32_t i = 0; i < t->nblocks; i++) {
		const struct block *b = &t->block[i];
		struct mean m = {0, 0};

		for (uint32_t k = 0; k < b->ntops; k++)
			add_neighbours(o, t->tops[b->tops + k], true, &m);
		key[i] = mean_or(m, o->from[i] + o->width[i] / 2);
	}
	o->keys = key;
	for (uint32_t i = 0; i < t->nblocks; i++)
		qsort_r(t->kids + t->block[i].kids, t->block[i].nkids, sizeof(*t->kids), by_key, o);
	free(key);
}

static void sorter_free(struct sorter *o)
{
	free(o->width);
	free(o->from);
	free(o->slot);
	free(o->place);
	free(o->key);
	free(o->plane_key);
}

static void sweep(struct sorter *o, uint32_t i)
{
	sort_tops(o, i % 2 == 0);
	unroll(o);
	if (i % 2 == 0) {
		sort_kids(o);
		unroll(o);
	}
}

void tree_order(struct tree *t)
{
	uint32_t n = t->p->n;
	struct sorter o = {.t = t};
	uint32_t *tops = mem_array(n, sizeof(*tops)), *kids = mem_array(n, sizeof(*kids));
	int64_t least = INT64_MAX;

	o.width = mem_zarray(n, sizeof(*o.width));
	o.from = mem_zarray(n, sizeof(*o.from));
	o.slot = mem_zarray(n, sizeof(*o.slot));
	o.place = mem_zarray(n, sizeof(*o.place));
	o.key = mem_zarray(n, sizeof(*o.key));
	o.plane_key = mem_zarray(t->nplanes, sizeof(*o.plane_key));
	measure(&o);
	unroll(&o);
	for (uint32_t i = 0; i <= SWEEPS; i++) {
		if (i)
			sweep(&o, i - 1);
		else
			sort_tops(&o, false); /* planes together */
		unroll(&o);
		if (cost(&o) < least) {
			least = cost(&o);
			memcpy(tops, t->tops, n * sizeof(*tops));
			memcpy(kids, t->kids, n * sizeof(*kids));
		}
	}
	memcpy(t->tops, tops, n * sizeof(*tops));
	memcpy(t->kids, kids, n * sizeof(*kids));
	free(tops);
	free(kids);
	sorter_free(&o);
}
