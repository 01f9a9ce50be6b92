/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "torus": service levels and lanes. State: struct lanes, for one call. Way in: torus_lanes(). Chooses no way.
 *
 * Each ring has a dateline between its last place and its first. A path that crosses the dateline of a dimension uses VL 1
 * in that dimension, and VL 0 in all dimensions whose dateline it does not cross. Its SL says in which it crosses, one bit
 * for each. Paths in dimension order are then free of deadlock: VL 0 of a ring is a chain, and paths on VL 1 begin in its
 * second half and end in its first.
 *
 * Paths that leave dimension order, round what is missing, come after all others. Each gets the first of all these
 * SLs with which it closes no cycle; where there is none, an SL with a VL of its own.
 */
#include "route/channel_order.h"
#include "route/torus.h"

enum {
	NO_SL = 255,
};

struct lanes {
	const struct torus *t;
	struct rt_tables *tables;
	struct channel_order order;
	unsigned bits; /* of SLs of paths in dimension order */
	unsigned nsls; /* in use */
	bool left;     /* paths are, after those in dimension order */
	uint8_t *bit;  /* [part][dimension]: its bit in the SL, NO_SL: none */
	uint8_t *sl;   /* [switch][stride]: NO_SL: none yet */
	/* of one LID */
	uint32_t *list, n; /* switches that reach it, each after the next one on its path */
	uint32_t *arc;	   /* by switch: the arc by which it leaves */
	uint32_t *first_before, *next_before; /* by switch: those whose next switch it is */
	uint8_t *crosses; /* by switch: bits of dimensions whose dateline its path crosses */
	bool *straight;	  /* by switch: its path is in dimension order */
	uint16_t *in;	  /* by switch: bit by SL that has all dependencies of its path */
};

static bool is_base(const struct lanes *l, unsigned sl)
{
	return sl < 1u << l->bits;
}

/* The VL of packets with this SL on an arc. */
static unsigned vl_of(const struct lanes *l, unsigned sl, uint32_t a)
{
	uint32_t part = l->t->part[l->t->g.arc[a].from];
	uint8_t bit = l->bit[part * TORUS_DIMS + l->t->dim[a]];

	if (!is_base(l, sl))
		return (l->bits ? 2 : 1) + sl - (1u << l->bits);
	return bit == NO_SL ? 0 : sl >> bit & 1;
}

static bool is_crossing(const struct torus *t, uint32_t a)
{
	const struct graph_arc *x = &t->g.arc[a];
	int32_t by = t->at[x->to][t->dim[a]] - t->at[x->from][t->dim[a]];

	return by != t->sign[a];
}

/* ---- the paths to one LID ---- */

static void paths_make(struct lanes *l, uint32_t to, uint32_t lid)
{
	const struct switch_graph *g = &l->t->g;

	memset(l->first_before, 0xff, g->n * sizeof(*l->first_before));
	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t a = s == to ? FAB_NONE : graph_arc(g, s, rt_row(l->tables, s)[lid]);

		l->arc[s] = a;
		if (a == FAB_NONE)
			continue;
		l->next_before[s] = l->first_before[g->arc[a].to];
		l->first_before[g->arc[a].to] = s;
	}
	l->n = 0;
	l->list[l->n++] = to;
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t s = l->first_before[l->list[i]]; s != FAB_NONE; s = l->next_before[s])
			l->list[l->n++] = s;
}

/* What is known of the path of s from that of the next switch. */
static void path_follow(struct lanes *l, uint32_t s, uint32_t to)
{
	const struct torus *t = l->t;
	uint32_t a = l->arc[s], next = t->g.arc[a].to, b = next == to ? FAB_NONE : l->arc[next];
	uint8_t bit = l->bit[t->part[s] * TORUS_DIMS + t->dim[a]];

	l->crosses[s] = b == FAB_NONE ? 0 : l->crosses[next];
	if (bit != NO_SL && is_crossing(t, a))
		l->crosses[s] |= (uint8_t)(1u << bit);
	l->straight[s] =
		b == FAB_NONE ||
		(l->straight[next] &&
		 (t->dim[a] < t->dim[b] || (t->dim[a] == t->dim[b] && t->sign[a] == t->sign[b])));
}

/* Dependencies of the path from s with this SL, those that were not there before added to `added`. */
struct added {
	uint32_t x, y;
};

static bool path_add(struct lanes *l, unsigned sl, uint32_t s, uint32_t to)
{
	const struct switch_graph *g = &l->t->g;
	VEC(struct added) added = {0};
	bool ok = true;

	for (uint32_t a = l->arc[s]; ok && g->arc[a].to != to;) {
		uint32_t b = l->arc[g->arc[a].to];
		struct added x = {channel(a, vl_of(l, sl, a)), channel(b, vl_of(l, sl, b))};

		a = b;
		if (channel_has(&l->order, x.x, x.y))
			continue;
		ok = channel_add(&l->order, x.x, x.y);
		if (ok)
			vec_push(&added, x);
	}
	for (size_t i = 0; !ok && i < added.n; i++)
		channel_remove(&l->order, added.at[i].x, added.at[i].y);
	vec_free(&added);
	return ok;
}

/* Whether all dependencies of the path from s are there; in[] of the next switch is known. */
static bool path_has(const struct lanes *l, unsigned sl, uint32_t s, uint32_t to)
{
	uint32_t a = l->arc[s], next = l->t->g.arc[a].to, b = l->arc[next];

	return next == to ||
	       ((l->in[next] >> sl & 1) &&
		channel_has(&l->order, channel(a, vl_of(l, sl, a)), channel(b, vl_of(l, sl, b))));
}

static void path_known(struct lanes *l, uint32_t s, uint32_t to)
{
	l->in[s] = 0;
	for (unsigned sl = 0; sl < l->nsls; sl++)
		l->in[s] |= (uint16_t)(path_has(l, sl, s, to) << sl);
}

/* Paths after this one in the list may end with it. */
static void path_set(struct lanes *l, unsigned sl, uint32_t s, uint32_t to)
{
	for (uint32_t v = s; v != to; v = l->t->g.arc[l->arc[v]].to)
		l->in[v] |= (uint16_t)(1u << sl);
}

/* Any SL, its own crossings first; false: none is left. */
static bool path_place(struct lanes *l, uint32_t s, uint32_t to, uint8_t *sl)
{
	unsigned own = l->crosses[s];

	if (l->in[s]) {
		*sl = (uint8_t)__builtin_ctz(l->in[s]);
		return true;
	}
	for (unsigned i = 0; i <= RT_SLS; i++) {
		unsigned k = i ? i - 1 : own;

		if (k == RT_SLS || (!is_base(l, k) && vl_of(l, k, 0) >= CHANNEL_VLS))
			return false;
		if (!path_add(l, k, s, to))
			continue;
		l->nsls = MAX(l->nsls, k + 1);
		path_set(l, k, s, to);
		*sl = (uint8_t)k;
		return true;
	}
	return false;
}

/* ---- all paths ---- */

enum pass { IN_ORDER, OF_HOSTS, OTHERS, PASSES };

/* Paths to one LID, those in dimension order or the others. */
static bool lid_place(struct lanes *l, uint32_t to, const struct graph_dest *d, enum pass pass)
{
	paths_make(l, to, d->lid);
	for (uint32_t i = 1; i < l->n; i++) {
		uint32_t s = l->list[i];
		uint8_t *sl = &l->sl[(size_t)s * l->tables->stride + d->lid];
		bool wanted = pass == OTHERS || (d->port && l->t->g.senders[s]);

		path_follow(l, s, to);
		path_known(l, s, to);
		if (*sl != NO_SL)
			continue;
		if (pass != IN_ORDER) {
			if (wanted && !path_place(l, s, to, sl))
				return false;
		} else if (l->straight[s] &&
			   ((l->in[s] >> l->crosses[s] & 1) || path_add(l, l->crosses[s], s, to))) {
			path_set(l, l->crosses[s], s, to);
			*sl = l->crosses[s];
		} else {
			l->left = true;
		}
	}
	return true;
}

static bool all_place(struct lanes *l)
{
	const struct switch_graph *g = &l->t->g;

	for (enum pass pass = 0; pass < PASSES && (l->left || pass == IN_ORDER); pass++)
		for (uint32_t to = 0; to < g->n; to++)
			for (uint32_t i = g->dest_first[to]; i < g->dest_first[to + 1]; i++)
				if (!lid_place(l, to, &g->dest[i], pass))
					return false;
	return true;
}

/* ---- from beginning to end ---- */

/* Dimension by dimension; VL 0 of a ring from its first place to its last, VL 1 from its middle over the dateline. */
static uint64_t start_key(const struct torus *t, uint32_t c)
{
	uint32_t a = c / CHANNEL_VLS, d = t->dim[a];
	const struct graph_arc *x = &t->g.arc[a];
	uint32_t size = torus_part(t, x->from)->dim[d].size;
	uint32_t at = (uint32_t)t->at[x->from][d];

	if (t->sign[a] < 0)
		at = size - 1 - at;
	if (c % CHANNEL_VLS == 1)
		at = (at + size - (size + 1) / 2) % size;
	return (uint64_t)(c % CHANNEL_VLS > 1 ? c % CHANNEL_VLS : 0) << 48 | (uint64_t)d << 32 | at;
}

/* A bit for each long ring. */
static void bits_give(struct lanes *l)
{
	const struct torus *t = l->t;

	memset(l->bit, NO_SL, (size_t)t->nparts * TORUS_DIMS);
	for (uint32_t p = 0; p < t->nparts; p++) {
		unsigned bits = 0;

		for (uint32_t d = 0; d < t->parts[p].ndims; d++)
			if (torus_ring_is_long(&t->parts[p].dim[d]))
				l->bit[p * TORUS_DIMS + d] = (uint8_t)bits++;
		l->bits = MAX(l->bits, bits);
	}
}

static void maps_write(struct lanes *l)
{
	const struct switch_graph *g = &l->t->g;

	for (uint32_t a = 0; a < g->narcs; a++) {
		struct rt_sl2vl m = {{0}};

		for (unsigned sl = 0; sl < l->nsls; sl++)
			m.vl[sl] = (uint8_t)vl_of(l, sl, a);
		rt_sl2vl_use(l->tables, g->arc[a].from, RT_ANY_PORT, g->arc[a].port,
			     rt_sl2vl_map(l->tables, &m));
	}
}

/* Paths that nothing joins have any SL. */
static void lanes_write(struct lanes *l, unsigned nvls)
{
	struct rt_tables *t = l->tables;

	rt_lanes_add(t, l->t->g.f, nvls, l->t->g.n);
	for (uint32_t s = 0; s < l->t->g.n; s++) {
		uint8_t *row = rt_sl_row(t, s), *sl = l->sl + (size_t)s * t->stride;

		for (uint32_t lid = 0; lid < t->stride; lid++)
			row[lid] = sl[lid] == NO_SL ? 0 : sl[lid];
		rt_sl_row_use(t, s, RT_ANY_PORT, s);
	}
	rt_lanes_pack(t);
	maps_write(l);
}

static void lanes_init(struct lanes *l)
{
	const struct switch_graph *g = &l->t->g;
	size_t n = (size_t)g->n + 1;
	uint64_t *key = mem_array((size_t)g->narcs * CHANNEL_VLS + 1, sizeof(*key));

	for (uint32_t c = 0; c < g->narcs * CHANNEL_VLS; c++)
		key[c] = start_key(l->t, c);
	channel_order_init(&l->order, g, key);
	free(key);
	l->bit = mem_array((size_t)l->t->nparts + 1, TORUS_DIMS);
	bits_give(l);
	l->nsls = 1u << l->bits;
	l->sl = mem_array(n, l->tables->stride);
	memset(l->sl, NO_SL, n * l->tables->stride);
	l->list = mem_array(n, sizeof(*l->list));
	l->arc = mem_array(n, sizeof(*l->arc));
	l->first_before = mem_array(n, sizeof(*l->first_before));
	l->next_before = mem_array(n, sizeof(*l->next_before));
	l->crosses = mem_array(n, sizeof(*l->crosses));
	l->straight = mem_array(n, sizeof(*l->straight));
	l->in = mem_array(n, sizeof(*l->in));
}

static void lanes_free(struct lanes *l)
{
	channel_order_free(&l->order);
	free(l->bit);
	free(l->sl);
	free(l->list);
	free(l->arc);
	free(l->first_before);
	free(l->next_before);
	free(l->crosses);
	free(l->straight);
	free(l->in);
}

/* VLs that paths use: VL 1 may be one that none crosses to. */
static unsigned vls_count(const struct lanes *l)
{
	bool crossed = false;

	for (size_t i = 0; i < (size_t)l->t->g.n * l->tables->stride; i++)
		crossed |= l->sl[i] && l->sl[i] != NO_SL;
	return !crossed ? 1 : (l->bits ? 2 : 1) + l->nsls - (1u << l->bits);
}

unsigned torus_lanes(const struct torus *t, struct rt_tables *tables, unsigned most)
{
	struct lanes l = {.t = t, .tables = tables};
	unsigned n;

	lanes_init(&l);
	n = all_place(&l) ? vls_count(&l) : CHANNEL_VLS + 1;
	if (n > 1 && n <= most)
		lanes_write(&l, n);
	lanes_free(&l);
	return n;
}
