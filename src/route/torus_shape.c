/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "torus": coordinates from the wiring. State: struct seek, for one call. Way in: torus_shape(). Routes nothing.
 *
 * Cables with the same two port numbers are steps of one dimension, from the lower number to the higher one; cables
 * between the same two switches are steps of the same dimension, whatever their ports. So coordinates spread from
 * a switch over all others, and a switch that gets two is behind a ring: their difference is its size. Coordinates count as
 * found when each link is one step and each place is taken once, however they came about.
 */
#include "route/torus.h"

enum {
	KINDS = 65536,
	SPARSE = 2, /* at least one of so many places has a switch */
};

struct seek {
	struct torus *t;
	uint32_t *up; /* by kind of cable: union-find */
	bool *turned; /* by kind: counts against the one that up[] names */
	bool *toggles; /* by kind that stands for others: has no direction, its dimension has two places */
	uint32_t *
		dim; /* by kind that stands for others: its dimension in this part, FAB_NONE: none yet */
	uint32_t *queue;
	bool *seen;
	uint32_t size[TORUS_DIMS]; /* of rings in this part; 0: none was found */
	bool two[TORUS_DIMS];
};

struct step {
	uint32_t kind;
	bool back;
};

static const char *name(const struct torus *t, uint32_t s, char buf[32])
{
	return rt_switch_text(t->g.f, s, buf);
}

static unsigned far_port(const struct torus *t, uint32_t a)
{
	const struct fab *f = t->g.f;
	const struct graph_arc *x = &t->g.arc[a];

	return f->ports[f->ports[fab_port_id(f, f->switches[x->from], x->port)].peer].num;
}

static int refuse_link(const struct torus *t, uint32_t a, const char *why, struct err *e)
{
	const struct graph_arc *x = &t->g.arc[a];
	char from[32], to[32];

	return err_set(e, -EINVAL,
		       "torus: not a mesh or torus: the link from %s port %u to %s port %u %s",
		       name(t, x->from, from), x->port, name(t, x->to, to), far_port(t, a), why);
}

/* ---- kinds of cables ---- */

static struct step kind_find(struct seek *k, struct step x)
{
	while (k->up[x.kind] != x.kind) {
		x.back ^= k->turned[x.kind];
		x.kind = k->up[x.kind];
	}
	return x;
}

static struct step step_of(struct seek *k, uint32_t a)
{
	unsigned p = k->t->g.arc[a].port, q = far_port(k->t, a);

	return kind_find(k, (struct step){MIN(p, q) * 256 + MAX(p, q), p > q});
}

/* Two cables of one dimension, each as a step in the same direction. */
static void kinds_join(struct seek *k, struct step x, struct step y)
{
	if (x.kind == y.kind) {
		k->toggles[x.kind] |= x.back != y.back;
		return;
	}
	k->up[MAX(x.kind, y.kind)] = MIN(x.kind, y.kind);
	k->turned[MAX(x.kind, y.kind)] = x.back != y.back;
	k->toggles[MIN(x.kind, y.kind)] |= k->toggles[MAX(x.kind, y.kind)];
}

static void kinds_find(struct seek *k)
{
	const struct switch_graph *g = &k->t->g;

	for (uint32_t i = 0; i < KINDS; i++) {
		k->up[i] = i;
		k->toggles[i] = i / 256 == i % 256;
	}
	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			for (uint32_t b = g->first[s]; b < a; b++)
				if (g->arc[a].to == g->arc[b].to)
					kinds_join(k, step_of(k, a), step_of(k, b));
}

/* ---- coordinates of one part ---- */

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* A switch has coordinates and gets others: where they differ in one dimension, that is a ring. */
static void ring_meet(struct seek *k, const int32_t *x, const int32_t *y)
{
	uint32_t dims = 0, d = 0;

	for (uint32_t i = 0; i < TORUS_DIMS; i++)
		if (x[i] != y[i]) {
			d = i;
			dims++;
		}
	if (dims == 1)
		k->size[d] = gcd((uint32_t)abs(x[d] - y[d]), k->size[d]);
}

static int step_take(struct seek *k, struct torus_part *p, uint32_t a, int32_t *to, struct err *e)
{
	struct step x = step_of(k, a);
	uint32_t d = k->dim[x.kind];

	if (d == FAB_NONE) {
		if (p->ndims == TORUS_DIMS)
			return refuse_link(k->t, a, "would be a step in a 17th dimension", e);
		d = k->dim[x.kind] = p->ndims++;
		k->two[d] = k->toggles[x.kind];
	}
	memcpy(to, k->t->at[k->t->g.arc[a].from], TORUS_DIMS * sizeof(*to));
	to[d] = k->two[d] ? !to[d] : to[d] + (x.back ? -1 : 1);
	return 0;
}

static int spread(struct seek *k, uint32_t from, struct torus_part *p, uint32_t *n, struct err *e)
{
	struct torus *t = k->t;
	uint32_t tail = 0;
	int32_t to[TORUS_DIMS];

	k->seen[from] = true;
	k->queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t s = k->queue[head];

		t->part[s] = t->nparts;
		for (uint32_t a = t->g.first[s]; a < t->g.first[s + 1]; a++) {
			uint32_t v = t->g.arc[a].to;

			if (step_take(k, p, a, to, e))
				return -EINVAL;
			if (k->seen[v]) {
				ring_meet(k, t->at[v], to);
				continue;
			}
			memcpy(t->at[v], to, sizeof(to));
			k->seen[v] = true;
			k->queue[tail++] = v;
		}
	}
	*n = tail;
	return 0;
}

/* Coordinates from 0 on. */
static void settle(struct seek *k, struct torus_part *p, uint32_t n)
{
	for (uint32_t d = 0; d < p->ndims; d++) {
		int32_t low = 0, high = 0, size = (int32_t)k->size[d];

		for (uint32_t i = 0; i < n; i++) {
			int32_t *c = &k->t->at[k->queue[i]][d];

			if (size)
				*c = (*c % size + size) % size;
			low = MIN(low, *c);
			high = MAX(high, *c);
		}
		for (uint32_t i = 0; !size && i < n; i++)
			k->t->at[k->queue[i]][d] -= low;
		p->dim[d].ring = size > 2;
		p->dim[d].size = size ? (uint32_t)size : (uint32_t)(high - low) + 1;
	}
}

/* A ring of four is also two chains of two, which need no second lane and share their links better. */
static void fours_split(struct torus *t, struct torus_part *p, const uint32_t *list, uint32_t n)
{
	static const uint8_t pair[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};

	for (uint32_t d = p->ndims; d-- > 0;) {
		uint32_t after = p->ndims - d - 1;

		if (!p->dim[d].ring || p->dim[d].size != 4 || p->ndims == TORUS_DIMS)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			int32_t *at = t->at[list[i]] + d;
			const uint8_t *to = pair[*at];

			memmove(at + 2, at + 1, after * sizeof(*at));
			at[0] = to[0];
			at[1] = to[1];
		}
		memmove(p->dim + d + 2, p->dim + d + 1, after * sizeof(*p->dim));
		p->dim[d] = p->dim[d + 1] = (struct torus_dim){.size = 2};
		p->ndims++;
	}
}

/* ---- whether they are right ---- */

/* The one dimension in which a link is a step. */
static bool step_check(struct torus *t, uint32_t a)
{
	const struct graph_arc *x = &t->g.arc[a];
	const struct torus_part *p = torus_part(t, x->from);
	unsigned dims = 0;

	for (uint32_t d = 0; d < p->ndims; d++) {
		int32_t by = t->at[x->to][d] - t->at[x->from][d],
			last = (int32_t)p->dim[d].size - 1;

		if (!by)
			continue;
		if (p->dim[d].ring && abs(by) == last)
			by = by > 0 ? -1 : 1;
		if (abs(by) != 1)
			return false;
		t->dim[a] = (uint8_t)d;
		t->sign[a] = (int8_t)by;
		dims++;
	}
	return dims == 1;
}

/* Coordinates rise with the numbers of the switches, as far as most links say: hosts are numbered that way, too. */
static void dim_orient(struct torus *t, const uint32_t *list, uint32_t n, uint32_t d)
{
	const struct torus_dim *dim = &torus_part(t, list[0])->dim[d];
	int32_t size = (int32_t)dim->size;
	int64_t rise = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = t->g.first[list[i]]; a < t->g.first[list[i] + 1]; a++)
			if (t->dim[a] == d)
				rise += t->g.arc[a].from < t->g.arc[a].to ? t->sign[a]
									  : -t->sign[a];
	if (rise >= 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		int32_t *c = &t->at[list[i]][d];

		*c = dim->ring ? (size - *c) % size : size - 1 - *c;
		for (uint32_t a = t->g.first[list[i]]; a < t->g.first[list[i] + 1]; a++)
			if (t->dim[a] == d)
				t->sign[a] = (int8_t)-t->sign[a];
	}
}

static int places_refuse(const struct torus *t, uint32_t s, uint32_t n, uint64_t places,
			 struct err *e)
{
	const struct torus_part *p = torus_part(t, s);
	char buf[32];

	return err_set(
		e, -EINVAL,
		"torus: not a mesh or torus: %s and the switches joined with it would be %u of %llu "
		"in %u dimensions",
		name(t, s, buf), n, (unsigned long long)places, p->ndims);
}

/* Every place is taken once, and most are taken. */
static int places_check(const struct torus *t, const uint32_t *list, uint32_t n, struct err *e)
{
	const struct torus_part *p = torus_part(t, list[0]);
	uint64_t places = 1;
	uint32_t *taken;
	char a[32], b[32];
	int rc = 0;

	for (uint32_t d = 0; d < p->ndims && places <= UINT32_MAX; d++)
		places *= p->dim[d].size;
	if (places > (uint64_t)n * SPARSE)
		return places_refuse(t, list[0], n, places, e);
	taken = mem_array(places, sizeof(*taken));
	memset(taken, 0xff, places * sizeof(*taken));
	for (uint32_t i = 0; i < n && !rc; i++) {
		uint64_t at = 0;

		for (uint32_t d = 0; d < p->ndims; d++)
			at = at * p->dim[d].size + (uint32_t)t->at[list[i]][d];
		if (taken[at] != FAB_NONE)
			rc = err_set(
				e, -EINVAL,
				"torus: not a mesh or torus: %s and %s would have the same place",
				name(t, taken[at], a), name(t, list[i], b));
		taken[at] = list[i];
	}
	free(taken);
	return rc;
}

/* A service level has a bit for each ring in which a path crosses a dateline. */
static int rings_check(const struct torus *t, uint32_t s, struct err *e)
{
	const struct torus_part *p = torus_part(t, s);
	unsigned rings = 0;
	char buf[32];

	for (uint32_t d = 0; d < p->ndims; d++)
		rings += torus_ring_is_long(&p->dim[d]);
	if (rings <= TORUS_BITS)
		return 0;
	return err_set(
		e, -EINVAL,
		"torus: %s is in %u rings of five switches or more; service levels tell %u apart",
		name(t, s, buf), rings, (unsigned)TORUS_BITS);
}

static int part_find(struct seek *k, uint32_t from, struct err *e)
{
	struct torus *t = k->t;
	struct torus_part *p = &t->parts[t->nparts];
	uint32_t n;

	memset(k->dim, 0xff, KINDS * sizeof(*k->dim));
	memset(k->size, 0, sizeof(k->size));
	if (spread(k, from, p, &n, e))
		return -EINVAL;
	settle(k, p, n);
	fours_split(t, p, k->queue, n);
	t->nparts++;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = t->g.first[k->queue[i]]; a < t->g.first[k->queue[i] + 1]; a++)
			if (!step_check(t, a))
				return refuse_link(t, a, "is no step along one dimension", e);
	for (uint32_t d = 0; d < p->ndims; d++)
		dim_orient(t, k->queue, n, d);
	return places_check(t, k->queue, n, e) || rings_check(t, from, e) ? -EINVAL : 0;
}

int torus_shape(struct torus *t, struct err *e)
{
	size_t n = (size_t)t->g.n + 1, arcs = (size_t)t->g.narcs + 1;
	struct seek k = {.t = t};
	int rc = 0;

	t->parts = mem_zarray(n, sizeof(*t->parts));
	t->part = mem_zarray(n, sizeof(*t->part));
	t->at = mem_zarray(n, sizeof(*t->at));
	t->dim = mem_zarray(arcs, sizeof(*t->dim));
	t->sign = mem_zarray(arcs, sizeof(*t->sign));
	k.up = mem_array(KINDS, sizeof(*k.up));
	k.turned = mem_zarray(KINDS, sizeof(*k.turned));
	k.toggles = mem_array(KINDS, sizeof(*k.toggles));
	k.dim = mem_array(KINDS, sizeof(*k.dim));
	k.queue = mem_array(n, sizeof(*k.queue));
	k.seen = mem_zarray(n, sizeof(*k.seen));
	kinds_find(&k);
	for (uint32_t s = 0; s < t->g.n && !rc; s++)
		if (!k.seen[s])
			rc = part_find(&k, s, e);
	free(k.up);
	free(k.turned);
	free(k.toggles);
	free(k.dim);
	free(k.queue);
	free(k.seen);
	return rc;
}

void torus_shape_free(struct torus *t)
{
	free(t->parts);
	free(t->part);
	free(t->at);
	free(t->dim);
	free(t->sign);
}
