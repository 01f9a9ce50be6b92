/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What old and new tables with lanes have in common for all LIDs: ports of a switch from which packets go on alike, ports
 * where packets enter, and LIDs that change. State: struct crossings. Way in: crossings_init(). Follows no packet.
 */
#include "route/plan_lanes.h"
#include "route/route_priv.h"

static unsigned ports_of(const struct crossings *c, uint32_t sw)
{
	return c->f->nodes[c->f->switches[sw]].nports;
}

static void links_find(struct crossings *c)
{
	const struct fab *f = c->f;

	memset(c->there, 0xff, f->nports * sizeof(*c->there));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		c->first[s] = f->nodes[f->switches[s]].first_port;
		for (unsigned i = 1; i <= ports_of(c, s); i++) {
			port_id peer = f->ports[c->first[s] + i].peer;

			if (peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node))
				c->there[c->first[s] + i] = peer;
		}
	}
}

/* ---- ports ---- */

static const struct rt_sl2vl *map_at(const struct crossings *c, enum which w, uint32_t sw,
				     unsigned in, unsigned out)
{
	return rt_sl2vl_at(c->t[w], sw, in, out);
}

/* A packet does not leave by the port where it came in, but where routes mix: see place_of(). */
static bool is_like_port_0(const struct crossings *c, uint32_t sw, unsigned in)
{
	for (unsigned out = 1; out <= ports_of(c, sw); out++)
		if (c->there[c->first[sw] + out] != FAB_NONE && out != in &&
		    (map_at(c, OLD, sw, in, out) != map_at(c, OLD, sw, 0, out) ||
		     map_at(c, NEW, sw, in, out) != map_at(c, NEW, sw, 0, out)))
			return false;
	return true;
}

static bool maps_differ(const struct crossings *c, const struct rt_sl2vl *old,
			const struct rt_sl2vl *new)
{
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		if (crossings_vls(c, OLD, old, sl) != crossings_vls(c, NEW, new, sl))
			return true;
	return false;
}

static bool is_mixed(const struct crossings *c, uint32_t sw, unsigned in)
{
	const struct rt_sl2vl *same[2] = {NULL, NULL};

	for (unsigned out = 1; out <= ports_of(c, sw); out++) {
		const struct rt_sl2vl *old = map_at(c, OLD, sw, in, out);
		const struct rt_sl2vl *new = map_at(c, NEW, sw, in, out);

		if (c->there[c->first[sw] + out] == FAB_NONE || out == in ||
		    (old == same[OLD] && new == same[NEW]))
			continue;
		if (maps_differ(c, old, new))
			return true;
		same[OLD] = old;
		same[NEW] = new;
	}
	return false;
}

static void ports_compare(struct crossings *c, uint32_t sw)
{
	for (unsigned in = 0; in <= ports_of(c, sw); in++) {
		port_id at = c->first[sw] + in;

		c->like[at] = is_like_port_0(c, sw, in) ? c->first[sw] : at;
		c->mixed[at] = c->like[at] == at && is_mixed(c, sw, in);
	}
}

/* ---- where packets enter ---- */

static const uint8_t *sls_at(const struct rt_tables *t, uint32_t sw, unsigned in)
{
	return t->lanes ? rt_sl_row(t, t->lanes->sl_row[t->lanes->first[sw] + in]) : NULL;
}

static bool enter_alike(const struct crossings *c, const struct ingress *x, const struct ingress *y)
{
	unsigned in = c->f->ports[x->at].num, other = c->f->ports[y->at].num;

	return x->sw == y->sw && c->like[x->at] == c->like[y->at] &&
	       sls_at(c->t[OLD], x->sw, in) == sls_at(c->t[OLD], y->sw, other) &&
	       sls_at(c->t[NEW], x->sw, in) == sls_at(c->t[NEW], y->sw, other);
}

static void ingress_add(struct crossings *c, struct ingress x)
{
	for (size_t i = c->ingress.n; i-- > 0 && c->ingress.at[i].sw == x.sw;)
		if (enter_alike(c, &c->ingress.at[i], &x))
			return;
	vec_push(&c->ingress, x);
}

static void ingress_find(struct crossings *c, uint32_t sw)
{
	const struct fab *f = c->f;

	for (unsigned in = 0; in <= ports_of(c, sw); in++) {
		port_id at = c->first[sw] + in, peer = f->ports[at].peer;

		if (!in || (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node)))
			ingress_add(c, (struct ingress){sw, at});
	}
}

/* ---- LIDs ---- */

/* Bytes [1, n) of two rows; most of them are the same. */
static void differences_mark(uint8_t *changes, const uint8_t *a, const uint8_t *b, uint32_t n)
{
	for (uint32_t from = 1; from < n; from += 64) {
		uint32_t end = MIN(from + 64, n);

		if (!memcmp(a + from, b + from, end - from))
			continue;
		for (uint32_t i = from; i < end; i++)
			changes[i] |= a[i] != b[i];
	}
}

static void entries_compare(struct crossings *c, uint32_t sw, uint32_t top)
{
	uint32_t both = MIN(c->t[OLD]->top_lid, c->t[NEW]->top_lid);

	differences_mark(c->changes, rt_row(c->t[OLD], sw), rt_row(c->t[NEW], sw), both + 1);
	for (uint32_t lid = both + 1; lid <= top; lid++)
		c->changes[lid] = 1;
}

/* LIDs beyond one of the tables count as changed. */
static void sls_compare(struct crossings *c, const uint8_t *old, const uint8_t *new)
{
	uint32_t both = MIN(c->t[OLD]->top_lid, c->t[NEW]->top_lid);

	for (uint32_t lid = 1; lid <= both && (!old || !new); lid++)
		c->changes[lid] |= (old && old[lid]) || (new &&new[lid]);
	if (old && new)
		differences_mark(c->changes, old, new, both + 1);
}

/* Rows that were compared last are mostly those of the next ingress. */
static void lids_compare(struct crossings *c, uint32_t top)
{
	const uint8_t *last[2] = {NULL, NULL};

	for (uint32_t s = 0; s < c->f->nswitches; s++)
		entries_compare(c, s, top);
	for (size_t i = 0; i < c->ingress.n; i++) {
		const struct ingress *x = &c->ingress.at[i];
		unsigned in = c->f->ports[x->at].num;
		const uint8_t *old = sls_at(c->t[OLD], x->sw, in),
			      *new = sls_at(c->t[NEW], x->sw, in);

		if (i && old == last[OLD] && new == last[NEW])
			continue;
		sls_compare(c, old, new);
		last[OLD] = old;
		last[NEW] = new;
	}
}

/* ---- the way in ---- */

void crossings_init(struct crossings *c, const struct fab *f, const struct rt_tables *old,
		    const struct rt_tables *new)
{
	uint32_t top = MAX(old->top_lid, new->top_lid);

	*c = (struct crossings){.f = f, .t = {old, new}};
	c->any_vl = (uint16_t)((1u << MAX(rt_nvls(old), rt_nvls(new))) - 1);
	c->first = mem_array((size_t)f->nswitches + 1, sizeof(*c->first));
	c->there = mem_array((size_t)f->nports + 1, sizeof(*c->there));
	c->like = mem_array((size_t)f->nports + 1, sizeof(*c->like));
	c->mixed = mem_zarray((size_t)f->nports + 1, sizeof(*c->mixed));
	c->changes = mem_zarray((size_t)top + 1, 1);
	links_find(c);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		ports_compare(c, s);
		ingress_find(c, s);
	}
	if (old != new)
		lids_compare(c, top);
}

void crossings_free(struct crossings *c)
{
	free(c->first);
	free(c->there);
	free(c->like);
	free(c->mixed);
	free(c->changes);
	vec_free(&c->ingress);
}
