/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels and SL-to-VL maps of tables that use several lanes. State: struct rt_lanes, which
 * belongs to its tables; the way in is rt_lanes_add(). Chooses no lane: engines do.
 */
#include "route/route_priv.h"

void rt_lanes_add(struct rt_tables *t, const struct fab *f, unsigned nvls, uint32_t nrows)
{
	struct rt_lanes *l = mem_zalloc(sizeof(*l));
	uint32_t n = t->nswitches, at = 0;
	struct rt_sl2vl m;

	assert(!t->lanes && f->nswitches == n && nvls && nvls <= RT_MAX_VLS && nrows);
	l->nvls = nvls;
	l->nrows = nrows;
	l->first = mem_array((size_t)n + 1, sizeof(*l->first));
	for (uint32_t s = 0; s < n; s++) {
		l->first[s] = at;
		at += f->nodes[f->switches[s]].nports + 1u;
	}
	l->first[n] = at;
	l->sl_row = mem_zarray(at, sizeof(*l->sl_row));
	l->sl = mem_zarray(nrows, t->stride);
	l->map = mem_zarray(n, sizeof(*l->map));
	l->by_pair = mem_zarray(n, sizeof(*l->by_pair));
	t->lanes = l;
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		m.vl[sl] = (uint8_t)(sl % nvls);
	rt_sl2vl_map(t, &m);
}

void rt_lanes_drop(struct rt_tables *t)
{
	struct rt_lanes *l = t->lanes;

	if (!l)
		return;
	for (uint32_t s = 0; s < t->nswitches; s++)
		free(l->by_pair[s]);
	free(l->by_pair);
	free(l->map);
	free(l->sl);
	free(l->sl_row);
	free(l->first);
	vec_free(&l->maps);
	free(l);
	t->lanes = NULL;
}

static unsigned ports_of(const struct rt_lanes *l, uint32_t sw)
{
	return l->first[sw + 1] - l->first[sw];
}

/* ---- service levels ---- */

void rt_sl_row_use(struct rt_tables *t, uint32_t sw, unsigned in, uint32_t row)
{
	struct rt_lanes *l = t->lanes;
	unsigned n = ports_of(l, sw);

	assert(row < l->nrows && (in < n || in == RT_ANY_PORT));
	for (unsigned p = 0; p < n; p++)
		if (p == in || in == RT_ANY_PORT)
			l->sl_row[l->first[sw] + p] = row;
}

void rt_sl_by_switch(struct rt_tables *t, const uint8_t *sl)
{
	struct rt_lanes *l = t->lanes;

	l->nrows = MAX(t->nswitches, 1u);
	l->sl = mem_resize(l->sl, l->nrows, t->stride);
	memcpy(l->sl, sl, (size_t)t->nswitches * t->stride);
	for (uint32_t s = 0; s < t->nswitches; s++)
		rt_sl_row_use(t, s, RT_ANY_PORT, s);
	rt_lanes_pack(t);
}

unsigned rt_sl(const struct rt_tables *t, uint32_t sw, unsigned in, uint32_t lid)
{
	const struct rt_lanes *l = t->lanes;

	if (!l || lid > t->top_lid)
		return 0;
	return rt_sl_row(t, l->sl_row[l->first[sw] + in])[lid];
}

static uint64_t row_hash(const uint8_t *row, size_t n)
{
	uint64_t h = 14695981039346656037ull; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ row[i]) * 1099511628211ull;
	return h;
}

/* The first row equal to `row` among those with this hash, or `row` itself, which is then kept. */
static uint32_t row_find(const struct rt_tables *t, struct map64 *by_hash, uint32_t row)
{
	const uint8_t *bytes = rt_sl_row(t, row);

	for (uint64_t h = row_hash(bytes, t->stride) | 1;; h += 2) {
		uint32_t other = map64_get(by_hash, h);

		if (other == MAP_NONE) {
			map64_put(by_hash, h, row);
			return row;
		}
		if (!memcmp(rt_sl_row(t, other), bytes, t->stride))
			return other;
	}
}

void rt_lanes_pack(struct rt_tables *t)
{
	struct rt_lanes *l = t->lanes;
	uint32_t *becomes = mem_array(l->nrows, sizeof(*becomes)), kept = 0;
	struct map64 by_hash = {0};

	memset(becomes, 0xff, l->nrows * sizeof(*becomes));
	for (uint32_t i = 0; i < l->first[t->nswitches]; i++) {
		uint32_t row = row_find(t, &by_hash, l->sl_row[i]);

		becomes[row] = 0; /* in use */
		l->sl_row[i] = row;
	}
	for (uint32_t row = 0; row < l->nrows; row++)
		if (becomes[row] != UINT32_MAX) {
			memmove(rt_sl_row(t, kept), rt_sl_row(t, row), t->stride);
			becomes[row] = kept++;
		}
	for (uint32_t i = 0; i < l->first[t->nswitches]; i++)
		l->sl_row[i] = becomes[l->sl_row[i]];
	l->nrows = MAX(kept, 1u);
	l->sl = mem_resize(l->sl, l->nrows, t->stride);
	map64_free(&by_hash);
	free(becomes);
}

/* ---- virtual lanes ---- */

unsigned rt_sl2vl_map(struct rt_tables *t, const struct rt_sl2vl *m)
{
	struct rt_lanes *l = t->lanes;

	for (size_t i = 0; i < l->maps.n; i++)
		if (!memcmp(&l->maps.at[i], m, sizeof(*m)))
			return (unsigned)i;
	assert(l->maps.n < UINT16_MAX);
	vec_push(&l->maps, *m);
	return (unsigned)l->maps.n - 1;
}

void rt_sl2vl_use(struct rt_tables *t, uint32_t sw, unsigned in, unsigned out, unsigned map)
{
	struct rt_lanes *l = t->lanes;
	unsigned n = ports_of(l, sw);
	uint16_t *pairs = l->by_pair[sw];

	assert(map < l->maps.n && (in < n || in == RT_ANY_PORT) && (out < n || out == RT_ANY_PORT));
	if (in == RT_ANY_PORT && out == RT_ANY_PORT) {
		free(pairs);
		l->by_pair[sw] = NULL;
		l->map[sw] = (uint16_t)map;
		return;
	}
	if (!pairs) {
		pairs = l->by_pair[sw] = mem_array((size_t)n * n, sizeof(*pairs));
		for (unsigned i = 0; i < n * n; i++)
			pairs[i] = l->map[sw];
	}
	for (unsigned i = in == RT_ANY_PORT ? 0 : in; i < n && (i == in || in == RT_ANY_PORT); i++)
		for (unsigned o = out == RT_ANY_PORT ? 0 : out;
		     o < n && (o == out || out == RT_ANY_PORT); o++)
			pairs[i * n + o] = (uint16_t)map;
}

static unsigned map_of(const struct rt_lanes *l, uint32_t sw, unsigned in, unsigned out)
{
	const uint16_t *pairs = l->by_pair[sw];

	return pairs ? pairs[in * ports_of(l, sw) + out] : l->map[sw];
}

const struct rt_sl2vl *rt_sl2vl_at(const struct rt_tables *t, uint32_t sw, unsigned in,
				   unsigned out)
{
	static const struct rt_sl2vl one_lane;

	return t->lanes ? &t->lanes->maps.at[map_of(t->lanes, sw, in, out)] : &one_lane;
}

unsigned rt_vl(const struct rt_tables *t, uint32_t sw, unsigned in, unsigned out, unsigned sl)
{
	return rt_sl2vl_at(t, sw, in, out)->vl[sl];
}

/* ---- from one snapshot to the next ---- */

static void switch_carry(const struct rt_tables *t, uint32_t was, struct rt_tables *c, uint32_t is)
{
	const struct rt_lanes *l = t->lanes;
	unsigned n = ports_of(l, was);

	rt_sl2vl_use(c, is, RT_ANY_PORT, RT_ANY_PORT, l->map[was]);
	for (unsigned in = 0; in < n; in++) {
		rt_sl_row_use(c, is, in, l->sl_row[l->first[was] + in]);
		for (unsigned out = 0; l->by_pair[was] && out < n; out++)
			rt_sl2vl_use(c, is, in, out, map_of(l, was, in, out));
	}
}

void rt_lanes_carry(const struct fab *from, const struct rt_tables *t, const struct fab *to,
		    struct rt_tables *c)
{
	const struct rt_lanes *l = t->lanes;

	rt_lanes_add(c, to, l->nvls, l->nrows);
	c->lanes->maps.n = 0;
	for (size_t i = 0; i < l->maps.n; i++)
		vec_push(&c->lanes->maps, l->maps.at[i]);
	for (uint32_t row = 0; row < l->nrows; row++)
		memcpy(rt_sl_row(c, row), rt_sl_row(t, row), MIN(t->stride, c->stride));
	for (uint32_t s = 0; s < to->nswitches; s++) {
		node_id n = fab_node_by_guid(from, to->nodes[to->switches[s]].guid);

		if (n != FAB_NONE && fab_is_switch(from, n) &&
		    from->nodes[n].nports == to->nodes[to->switches[s]].nports)
			switch_carry(t, from->switch_index[n], c, s);
	}
}

/* ---- questions ---- */

/* The bytes of a row and how many of them count; none without lanes, as all SLs are 0 then. */
struct sl_bytes {
	const uint8_t *at;
	uint32_t n;
};

static struct sl_bytes sl_bytes(const struct rt_tables *t, uint32_t sw, unsigned in)
{
	const struct rt_lanes *l = t->lanes;

	if (!l)
		return (struct sl_bytes){(const uint8_t *)"", 0};
	return (struct sl_bytes){rt_sl_row(t, l->sl_row[l->first[sw] + in]), t->top_lid + 1};
}

static bool all_zero(const uint8_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i])
			return false;
	return true;
}

static bool rows_same(struct sl_bytes a, struct sl_bytes b)
{
	uint32_t both = MIN(a.n, b.n);

	return !memcmp(a.at, b.at, both) && all_zero(a.at + both, a.n - both) &&
	       all_zero(b.at + both, b.n - both);
}

/* Ports of a switch mostly share a row. */
static bool sls_same(const struct rt_tables *a, const struct rt_tables *b, uint32_t sw, unsigned n)
{
	struct sl_bytes x = {0}, y = {0};

	for (unsigned in = 0; in <= n; in++) {
		struct sl_bytes p = sl_bytes(a, sw, in), q = sl_bytes(b, sw, in);

		if ((p.at != x.at || q.at != y.at) && !rows_same(p, q))
			return false;
		x = p;
		y = q;
	}
	return true;
}

static bool maps_same(const struct rt_tables *a, const struct rt_tables *b, uint32_t sw, unsigned n)
{
	const struct rt_sl2vl *x = NULL, *y = NULL;

	for (unsigned in = 0; in <= n; in++)
		for (unsigned out = 0; out <= n; out++) {
			const struct rt_sl2vl *p = rt_sl2vl_at(a, sw, in, out);
			const struct rt_sl2vl *q = rt_sl2vl_at(b, sw, in, out);

			if ((p != x || q != y) && memcmp(p, q, sizeof(*p)))
				return false;
			x = p;
			y = q;
		}
	return true;
}

bool rt_lanes_same(const struct fab *f, const struct rt_tables *a, const struct rt_tables *b)
{
	if (!a->lanes && !b->lanes)
		return true;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		unsigned n = f->nodes[f->switches[s]].nports;

		if (!sls_same(a, b, s, n) || !maps_same(a, b, s, n))
			return false;
	}
	return true;
}

bool rt_lanes_several_sls(const struct rt_tables *t)
{
	const struct rt_lanes *l = t->lanes;

	return l && !all_zero(l->sl, (size_t)l->nrows * t->stride);
}

static uint16_t sls_in_use(const struct rt_tables *t)
{
	uint16_t mask = 0;

	for (size_t i = 0; i < (size_t)t->lanes->nrows * t->stride; i++)
		mask |= (uint16_t)(1u << (t->lanes->sl[i] & 15));
	return mask;
}

unsigned rt_lanes_highest(const struct rt_tables *t)
{
	unsigned most = 0;

	for (size_t i = 0; i < t->lanes->maps.n; i++)
		for (unsigned sl = 0; sl < RT_SLS; sl++)
			if (t->lanes->maps.at[i].vl[sl] < RT_VL_NONE)
				most = MAX(most, t->lanes->maps.at[i].vl[sl]);
	return most;
}

bool rt_lanes_discard_nothing(const struct rt_tables *t)
{
	const struct rt_lanes *l = t->lanes;
	uint16_t sls;

	if (!l)
		return true;
	sls = sls_in_use(t);
	for (uint32_t s = 0; s < t->nswitches; s++) {
		unsigned n = l->by_pair[s] ? ports_of(l, s) : 1;

		for (unsigned i = 0; i < n * n; i++) {
			unsigned m = l->by_pair[s] ? l->by_pair[s][i] : l->map[s];

			for (unsigned sl = 0; sl < RT_SLS; sl++)
				if (sls >> sl & 1 && l->maps.at[m].vl[sl] >= l->nvls)
					return false;
		}
	}
	return true;
}

int rt_lanes_check(const struct fab *f, const struct rt_tables *t, struct err *e)
{
	const struct rt_lanes *l = t->lanes;

	for (uint32_t s = 0; l && s < f->nswitches; s++)
		if (ports_of(l, s) != f->nodes[f->switches[s]].nports + 1u)
			return err_set(e, -EINVAL,
				       "lanes of a switch with %u ports for one with %u",
				       ports_of(l, s) - 1, f->nodes[f->switches[s]].nports);
	for (size_t i = 0; l && i < (size_t)l->nrows * t->stride; i++)
		if (l->sl[i] >= RT_SLS)
			return err_set(e, -EINVAL,
				       "service level %u for LID %u: IBA has 16 of them", l->sl[i],
				       (unsigned)(i % t->stride));
	return 0;
}
