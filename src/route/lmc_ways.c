/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other links for further LIDs of a port. State: struct spread, for one call. Way in: lmc_spread(). Does not know what keeps an
 * engine's routes free of deadlock: the engine's rules do.
 */
#include "route/lmc_ways.h"

enum { MOST_LIDS = 64 }; /* of a port that are told apart; a bit for each */

struct spread {
	const struct switch_graph *g;
	struct rt_tables *t;
	const struct lmc_rules *r;
	/* of one destination switch */
	uint32_t to, *dist, *near;
	/* of one LID; arrays by switch */
	uint32_t lid, base, nlids, *taken, *order, reached;
	uint32_t *length; /* of the route */
	bool *done;
	uint64_t
		*same; /* a bit for each other LID of the port: the rest of the route is the same */
	bool all;      /* later LIDs count as well, and the first one may change */
	uint32_t changed;
};

/* A link by which a switch may leave instead. */
struct offer {
	uint32_t arc;
	unsigned same; /* other LIDs whose routes would be the same */
};

bool lmc_in_use(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].lid && f->ports[p].lmc && !fab_is_switch(f, f->ports[p].node))
			return true;
	return false;
}

static uint32_t next_of(const struct spread *x, uint32_t s)
{
	return x->g->arc[x->taken[s]].to;
}

/* The LIDs with which this one is compared. */
static uint64_t others(const struct spread *x)
{
	uint32_t own = x->lid - x->base, n = x->all ? x->nlids : own;
	uint64_t bits = n >= MOST_LIDS ? UINT64_MAX : (1ull << n) - 1;

	return own < MOST_LIDS ? bits & ~(1ull << own) : bits;
}

/* Routes to the LID from the tables, from the destination outwards. */
static void routes_read(struct spread *x)
{
	const struct switch_graph *g = x->g;

	for (uint32_t s = 0; s < g->n; s++) {
		x->taken[s] = s == x->to ? FAB_NONE : graph_arc(g, s, rt_row(x->t, s)[x->lid]);
		x->done[s] = false;
	}
	x->reached = 0;
	x->order[x->reached++] = x->to;
	for (uint32_t i = 0; i < x->reached; i++) {
		uint32_t v = x->order[i];

		for (uint32_t k = g->in_first[v]; k < g->in_first[v + 1]; k++)
			if (x->taken[g->arc[g->in[k]].from] == g->in[k])
				x->order[x->reached++] = g->arc[g->in[k]].from;
	}
	x->length[x->to] = 0;
	x->same[x->to] = others(x);
	x->done[x->to] = true;
}

/* Other LIDs whose route from s is by this arc and then as that of this LID. */
static uint64_t same_by(const struct spread *x, uint32_t s, uint32_t arc)
{
	const uint8_t *row = rt_row(x->t, s);
	uint64_t left = x->same[x->g->arc[arc].to], same = 0;

	for (; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);

		if (row[x->base + k] == x->g->arc[arc].port)
			same |= 1ull << k;
	}
	return same;
}

static bool passes(const struct spread *x, uint32_t v, uint32_t s)
{
	while (v != x->to && v != s)
		v = next_of(x, v);
	return v == s;
}

/* Dependencies of switch s and of those before it if s leaves by arc a: n of them, in a fixed order. False: there is none with
 * this number. */
static bool dependency(const struct spread *x, uint32_t s, uint32_t a, uint32_t i, uint32_t *from,
		       uint32_t *to)
{
	const struct switch_graph *g = x->g;
	uint32_t ins = g->in_first[s + 1] - g->in_first[s], v = g->arc[a].to;

	*from = *to = FAB_NONE;
	if (i > ins)
		return false;
	if (i == ins && v != x->to) {
		*from = a;
		*to = x->taken[v];
	} else if (i < ins) {
		uint32_t in = g->in[g->in_first[s] + i];

		if (x->taken[g->arc[in].from] == in) {
			*from = in;
			*to = a;
		}
	}
	return true;
}

static void release(const struct spread *x, uint32_t s, uint32_t a, uint32_t n)
{
	uint32_t from, to;

	for (uint32_t i = 0; x->r->release && i < n && dependency(x, s, a, i, &from, &to); i++)
		if (from != FAB_NONE)
			x->r->release(x->r->ctx, from, to);
}

static bool take(const struct spread *x, uint32_t s, uint32_t a)
{
	uint32_t from, to;

	for (uint32_t i = 0; x->r->take && dependency(x, s, a, i, &from, &to); i++)
		if (from != FAB_NONE && !x->r->take(x->r->ctx, from, to)) {
			release(x, s, a, i);
			return false;
		}
	return true;
}

/* Fewer equal routes first, then shorter ones, then by port. */
static bool is_better(const struct spread *x, const struct offer *a, const struct offer *b)
{
	uint32_t la = x->length[x->g->arc[a->arc].to], lb = x->length[x->g->arc[b->arc].to];

	if (a->same != b->same)
		return a->same < b->same;
	return la != lb ? la < lb : a->arc < b->arc;
}

static void offers_sort(const struct spread *x, struct offer *o, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k && is_better(x, &o[k], &o[k - 1]); k--) {
			struct offer swap = o[k];

			o[k] = o[k - 1];
			o[k - 1] = swap;
		}
}

static unsigned offers_find(const struct spread *x, uint32_t s, struct offer *o)
{
	const struct switch_graph *g = x->g;
	unsigned n = 0, now = (unsigned)__builtin_popcountll(x->same[s]);

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t v = g->arc[a].to;
		unsigned same;

		if (a == x->taken[s] || !x->done[v] ||
		    x->length[v] + 1 > x->dist[s] + x->r->extra || passes(x, v, s))
			continue;
		same = (unsigned)__builtin_popcountll(same_by(x, s, a));
		if (same < now)
			o[n++] = (struct offer){a, same};
	}
	offers_sort(x, o, n);
	return n;
}

static void switch_change(struct spread *x, uint32_t s)
{
	struct offer o[256];
	unsigned n = offers_find(x, s, o);

	for (unsigned i = 0; i < n; i++) {
		uint32_t was = x->taken[s];

		if (!take(x, s, o[i].arc))
			continue;
		release(x, s, was, UINT32_MAX);
		x->taken[s] = o[i].arc;
		x->same[s] = same_by(x, s, o[i].arc);
		x->length[s] = x->length[next_of(x, s)] + 1;
		rt_row(x->t, s)[x->lid] = x->g->arc[o[i].arc].port;
		x->changed++;
		return;
	}
}

static void lid_spread(struct spread *x)
{
	routes_read(x);
	if (x->r->lid)
		x->r->lid(x->r->ctx, x->lid);
	for (uint32_t i = 1; i < x->reached; i++) {
		uint32_t s = x->order[i];

		x->length[s] = x->length[next_of(x, s)] + 1;
		x->same[s] = same_by(x, s, x->taken[s]);
		if (x->same[s])
			switch_change(x, s);
		x->done[s] = true;
	}
}

/* LIDs of virtual functions are not further ones of the port. */
static void switch_spread(struct spread *x)
{
	const struct switch_graph *g = x->g;
	const struct fab *f = g->f;
	bool searched = false;

	for (uint32_t i = g->dest_first[x->to]; i < g->dest_first[x->to + 1]; i++) {
		const struct graph_dest *d = &g->dest[i];
		const struct fab_port *host;

		if (!d->port)
			continue;
		host = &f->ports[f->ports[fab_port_id(f, f->switches[x->to], d->port)].peer];
		if (!host->lmc || d->lid < host->lid + !x->all ||
		    d->lid >= host->lid + (1u << host->lmc))
			continue;
		if (!searched)
			graph_distances(g, x->to, x->dist, x->near);
		searched = true;
		x->lid = d->lid;
		x->base = host->lid;
		x->nlids = 1u << host->lmc;
		lid_spread(x);
	}
}

uint32_t lmc_spread(const struct switch_graph *g, struct rt_tables *t, const struct lmc_rules *r)
{
	size_t n = (size_t)g->n + 1;
	struct spread x = {.g = g, .t = t, .r = r};

	x.dist = mem_array(n, sizeof(*x.dist));
	x.near = mem_array(n, sizeof(*x.near));
	x.taken = mem_array(n, sizeof(*x.taken));
	x.order = mem_array(n, sizeof(*x.order));
	x.length = mem_array(n, sizeof(*x.length));
	x.done = mem_array(n, sizeof(*x.done));
	x.same = mem_array(n, sizeof(*x.same));
	for (unsigned pass = 0; pass < 2; pass++) {
		x.all = pass > 0;
		for (x.to = 0; x.to < g->n; x.to++)
			switch_spread(&x);
	}
	free(x.dist);
	free(x.near);
	free(x.taken);
	free(x.order);
	free(x.length);
	free(x.done);
	free(x.same);
	return x.changed;
}
