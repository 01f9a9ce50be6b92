/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": which switches correspond to one another in different parts of the tree. State: struct shape, for one
 * call. Way in: tree_shape(). Numbers no destinations.
 *
 * Two sets of components tell. The pod of a switch is what is joined by its level and all below, its plane what is joined
 * by its level and all above. Upper neighbours of a switch are of one pod and of one plane of the level below: these
 * are a row. The place of a switch in its row is the order of its plane, so that a place means the same
 * plane in every pod. None of this changes when links fail, as long as pods and planes hold together.
 */
#include "route/tree.h"

struct shape {
	struct tree *t;
	uint32_t *up;			     /* union-find; the representative is the smallest */
	uint32_t *pod, *plane, *plane_below; /* by switch, at its own level; of the level below */
	uint64_t *key;			     /* by switch: of its first host, then its own number */
	uint64_t *least;		     /* by representative: the smallest key in its pod */
};

static uint32_t find(uint32_t *up, uint32_t s)
{
	while (up[s] != s) {
		up[s] = up[up[s]];
		s = up[s];
	}
	return s;
}

static void join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = find(up, a);
	b = find(up, b);
	up[MAX(a, b)] = MIN(a, b);
}

static void separate(struct shape *x)
{
	for (uint32_t s = 0; s < x->t->n; s++)
		x->up[s] = s;
}

/* Joins the switches of a level with their neighbours in the level above. */
static void join_level(struct shape *x, uint32_t level)
{
	const struct tree *t = x->t;

	for (uint32_t s = 0; s < t->n; s++)
		for (uint32_t g = t->first[s]; t->level[s] == level && g < t->first[s] + t->nup[s];
		     g++)
			join(x->up, s, t->group[g].sw);
}

static void planes_find(struct shape *x)
{
	const struct tree *t = x->t;

	separate(x);
	for (uint32_t l = t->nlevels; l-- > 0;) {
		join_level(x, l);
		for (uint32_t s = 0; s < t->n; s++) {
			if (t->level[s] == l)
				x->plane[s] = find(x->up, s);
			if (t->level[s] == l + 1)
				x->plane_below[s] = find(x->up, s);
		}
	}
}

/* ---- the order of destinations ---- */

struct place {
	uint64_t id, key;
	uint32_t sw;
};

static int place_cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* The order of the fabric's nodes decides, as far as pods stay together. */
static void keys_make(struct shape *x)
{
	const struct fab *f = x->t->f;

	for (uint32_t s = 0; s < x->t->n; s++) {
		node_id n = f->switches[s], first = FAB_NONE;

		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, n, p)].peer;

			if (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node))
				first = MIN(first, f->ports[peer].node);
		}
		x->key[s] = (uint64_t)first << 32 | s;
	}
}

/* Pods by level: keys[level][switch]. */
static void pods_find(struct shape *x, uint64_t *keys)
{
	const struct tree *t = x->t;

	separate(x);
	for (uint32_t l = 0; l < t->nlevels; l++) {
		uint64_t *key = keys + (size_t)l * t->n;

		if (l)
			join_level(x, l - 1);
		memset(x->least, 0xff, t->n * sizeof(*x->least));
		for (uint32_t s = 0; s < t->n; s++) {
			uint32_t r = find(x->up, s);

			x->least[r] = MIN(x->least[r], x->key[s]);
			if (t->level[s] == l)
				x->pod[s] = r;
		}
		for (uint32_t s = 0; s < t->n; s++)
			key[s] = x->least[find(x->up, s)];
	}
}

static void sequence(struct shape *x)
{
	struct tree *t = x->t;
	uint64_t *keys = mem_array((size_t)t->nlevels * t->n, sizeof(*keys));
	struct place *p = mem_array(t->n, sizeof(*p));

	keys_make(x);
	pods_find(x, keys);
	for (uint32_t i = 0; i < t->n; i++)
		p[i] = (struct place){.id = 0, .sw = i};
	for (uint32_t l = t->nlevels; l-- > 0;) {
		struct place last = {0};
		uint64_t id = 0;

		for (uint32_t i = 0; i < t->n; i++)
			p[i].key = keys[(size_t)l * t->n + p[i].sw];
		qsort(p, t->n, sizeof(*p), place_cmp);
		for (uint32_t i = 0; i < t->n; i++) {
			id += i && (p[i].id != last.id || p[i].key != last.key);
			last = p[i];
			p[i].id = id;
		}
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->seq[i] = p[i].sw;
	free(keys);
	free(p);
}

/* ---- rows ---- */

struct seat {
	uint32_t level, pod, plane_below, plane, sw;
};

static int seat_cmp(const void *a, const void *b)
{
	const uint32_t *x = (const uint32_t *)a, *y = (const uint32_t *)b;

	for (size_t i = 0; i < sizeof(struct seat) / sizeof(uint32_t); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool same_row(const struct seat *a, const struct seat *b)
{
	return a->level == b->level && a->pod == b->pod && a->plane_below == b->plane_below;
}

static void rows_make(struct shape *x)
{
	struct tree *t = x->t;
	struct seat *r = mem_array(t->n, sizeof(*r));
	uint32_t end;

	for (uint32_t s = 0; s < t->n; s++)
		r[s] = (struct seat){t->level[s], x->pod[s], t->level[s] ? x->plane_below[s] : s,
				     x->plane[s], s};
	qsort(r, t->n, sizeof(*r), seat_cmp);
	for (uint32_t i = 0; i < t->n; i = end) {
		for (end = i + 1; end < t->n && same_row(&r[i], &r[end]);)
			end++;
		for (uint32_t k = i; k < end; k++) {
			t->pos[r[k].sw] = k - i;
			t->row[r[k].sw] = end - i;
		}
	}
	free(r);
}

/* ---- upper neighbours by digit ---- */

static int slot_cmp(const void *a, const void *b)
{
	const struct tree_group *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* A switch that has few of the row above it counts those that it has. */
static void slots_make(struct tree *t)
{
	for (uint32_t s = 0; s < t->n; s++) {
		struct tree_group *g = t->group + t->first[s];
		uint32_t n = t->nup[s], row = n ? t->row[g->sw] : 1;

		for (uint32_t i = 0; i < n; i++)
			g[i].slot = (uint16_t)MIN(t->pos[g[i].sw], UINT16_MAX);
		qsort(g, n, sizeof(*g), slot_cmp);
		t->width[s] = row;
		if (2 * n >= row && row <= 256)
			continue;
		t->width[s] = MAX(n, 1u);
		for (uint32_t i = 0; i < n; i++)
			g[i].slot = (uint16_t)i;
	}
}

void tree_shape(struct tree *t)
{
	struct shape x = {.t = t,
			  .up = mem_array(t->n, sizeof(uint32_t)),
			  .pod = mem_array(t->n, sizeof(uint32_t)),
			  .plane = mem_array(t->n, sizeof(uint32_t)),
			  .plane_below = mem_array(t->n, sizeof(uint32_t)),
			  .key = mem_array(t->n, sizeof(uint64_t)),
			  .least = mem_array(t->n, sizeof(uint64_t))};

	t->pos = mem_array(t->n, sizeof(*t->pos));
	t->row = mem_array(t->n, sizeof(*t->row));
	t->width = mem_array(t->n, sizeof(*t->width));
	t->seq = mem_array(t->n, sizeof(*t->seq));
	planes_find(&x);
	sequence(&x);
	rows_make(&x);
	slots_make(t);
	free(x.up);
	free(x.pod);
	free(x.plane);
	free(x.plane_below);
	free(x.key);
	free(x.least);
}
