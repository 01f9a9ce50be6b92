/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees inside an order of channels, where routes have no ranks or no switch is above all members. State: w.links and the
 * log of the order, for one tree. Ways in: mc_order_grow(), mc_order_base(). Trees grow around the old links and from member
 * to member by the shortest ways, or without old links, with several members to begin with. The last resort is a part of the
 * base: a tree over all switches that is in the order from the beginning, if one fits. So a group gets a tree whatever those
 * before it took. Without a base, a tree is searched from every switch.
 */
#include "route/multicast_priv.h"

enum { STARTS = 16 }; /* of the first two attempts */

struct growth {
	struct mc_space *x;
	const struct rt_group *gr;
	uint32_t *part; /* by switch: which piece of the tree it belongs to, a switch of it */
	bool *banned;	/* by arc: it did not fit */
};

static uint32_t part_of(struct growth *w, uint32_t s)
{
	while (w->part[s] != s)
		s = w->part[s] = w->part[w->part[s]];
	return s;
}

/* VLs of links depend on where packets come from: turns at the other ends of a switch's links may be others, too. */
static bool turns_around(struct growth *w, uint32_t s)
{
	struct mc_space *x = w->x;
	const struct rt_ports *links = x->w.links;

	if (!mc_order_turns(x->order, links, s, w->gr->sl))
		return false;
	for (unsigned p = rt_ports_next(&links[s], 0);
	     x->order->t->lanes && x->order->t->lanes->by_pair[s] && p < 256;
	     p = rt_ports_next(&links[s], p + 1))
		if (!mc_order_turns(x->order, links, x->g.arc[graph_arc(&x->g, s, p)].to,
				    w->gr->sl))
			return false;
	return true;
}

/* One more link; false: it closes a cycle, of dependencies or in the tree itself. */
static bool link_try(struct growth *w, uint32_t arc)
{
	struct mc_space *x = w->x;
	struct graph_arc a = x->g.arc[arc];
	unsigned back = mc_back_port(&x->g, arc);
	size_t mark = x->order->log.n;
	uint32_t p = part_of(w, a.from), q = part_of(w, a.to);

	if (p == q || !mc_room(x, a.to, w->gr->mlid) || !mc_room(x, a.from, w->gr->mlid))
		return false;
	rt_ports_add(&x->w.links[a.from], a.port);
	rt_ports_add(&x->w.links[a.to], back);
	if (turns_around(w, a.from) && turns_around(w, a.to)) {
		w->part[p] = q;
		return true;
	}
	mc_order_undo(x->order, mark);
	rt_ports_drop(&x->w.links[a.from], a.port);
	rt_ports_drop(&x->w.links[a.to], back);
	return false;
}

/* Nothing of this tree is in the order. */
static void reset(struct growth *w)
{
	struct mc_space *x = w->x;

	mc_order_undo(x->order, 0);
	memset(x->w.links, 0, x->g.n * sizeof(*x->w.links));
	memset(w->banned, 0, x->g.narcs * sizeof(*w->banned));
	for (uint32_t s = 0; s < x->g.n; s++)
		w->part[s] = s;
}

static void old_links(struct growth *w, const struct rt_mtree *old)
{
	struct mc_space *x = w->x;

	for (size_t i = 0; old && i < old->at.n; i++) {
		const struct rt_branch *b = &old->at.at[i];

		for (unsigned p = rt_ports_next(&b->ports, 0); p < 256;
		     p = rt_ports_next(&b->ports, p + 1)) {
			uint32_t a = graph_arc(&x->g, b->sw, p);
			const struct rt_ports *far =
				a == FAB_NONE ? NULL : rt_mtree_at(old, x->g.arc[a].to);

			if (far && rt_ports_has(far, mc_back_port(&x->g, a)))
				link_try(w, a);
		}
	}
}

/* ---- from member to member ---- */

/* The links from the piece of `start` to the nearest terminal of another piece: w.via back from there. FAB_NONE: none. */
static uint32_t nearest(struct growth *w, uint32_t start)
{
	struct mc_space *x = w->x;
	uint32_t n = 0, own = part_of(w, start);

	for (uint32_t s = 0; s < x->g.n; s++) {
		x->w.via[s] = FAB_NONE;
		x->w.in[s] = part_of(w, s) == own;
		if (x->w.in[s])
			x->w.queue[n++] = s;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = x->w.queue[i], arcs = x->g.first[s + 1] - x->g.first[s];

		for (uint32_t k = 0; k < arcs; k++) {
			uint32_t a = x->g.first[s] + (k + w->gr->mlid) % arcs, to = x->g.arc[a].to;

			if (w->banned[a] || x->w.in[to] || !mc_room(x, to, w->gr->mlid))
				continue;
			x->w.in[to] = true;
			x->w.via[to] = a;
			if (x->w.terminal[to] || !rt_ports_none(&x->w.links[to]))
				return to;
			x->w.queue[n++] = to;
		}
	}
	return FAB_NONE;
}

/* The links of w.via that lead to `to`; false: one does not fit, and none was added. */
static bool way_add(struct growth *w, uint32_t to)
{
	struct mc_space *x = w->x;
	size_t mark = x->order->log.n, n = 0;
	uint32_t *way = x->w.list + x->g.n; /* its second half */

	for (uint32_t s = to; x->w.via[s] != FAB_NONE; s = x->g.arc[x->w.via[s]].from)
		way[n++] = x->w.via[s];
	for (size_t i = n; i > 0; i--) {
		if (link_try(w, way[i - 1]))
			continue;
		w->banned[way[i - 1]] = true;
		for (size_t k = n; k > i; k--) {
			const struct graph_arc *a = &x->g.arc[way[k - 1]];

			rt_ports_drop(&x->w.links[a->from], a->port);
			rt_ports_drop(&x->w.links[a->to], mc_back_port(&x->g, way[k - 1]));
		}
		mc_order_undo(x->order, mark);
		return false;
	}
	return true;
}

/* Pieces as the links have them: way_add() may have joined some for a moment. */
static void parts_again(struct growth *w)
{
	struct mc_space *x = w->x;

	for (uint32_t s = 0; s < x->g.n; s++)
		w->part[s] = s;
	for (uint32_t s = 0; s < x->g.n; s++)
		for (unsigned p = rt_ports_next(&x->w.links[s], 0); p < 256;
		     p = rt_ports_next(&x->w.links[s], p + 1))
			w->part[part_of(w, s)] = part_of(w, x->g.arc[graph_arc(&x->g, s, p)].to);
}

static bool joined(struct growth *w)
{
	struct mc_space *x = w->x;

	for (uint32_t i = 1; i < x->w.n; i++)
		if (part_of(w, x->w.list[i]) != part_of(w, x->w.list[0]))
			return false;
	return true;
}

static bool by_ways(struct growth *w, uint32_t start)
{
	while (!joined(w)) {
		uint32_t to = nearest(w, start);

		if (to == FAB_NONE)
			return false;
		if (!way_add(w, to))
			parts_again(w);
	}
	return true;
}

/* ---- a spanning tree ---- */

static bool spanning(struct growth *w, uint32_t root)
{
	struct mc_space *x = w->x;
	uint32_t n = 1;

	memset(x->w.in, 0, x->g.n * sizeof(*x->w.in));
	x->w.in[root] = true;
	x->w.queue[0] = root;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = x->w.queue[i];

		for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++) {
			uint32_t to = x->g.arc[a].to;

			if (x->w.in[to] || !link_try(w, a))
				continue;
			x->w.in[to] = true;
			x->w.queue[n++] = to;
		}
	}
	return joined(w);
}

/* ---- the tree ---- */

static void cut_end(struct mc_space *x, uint32_t s)
{
	for (;;) {
		unsigned p = rt_ports_next(&x->w.links[s], 0);
		uint32_t a;

		if (x->w.terminal[s] || p == 256 || rt_ports_next(&x->w.links[s], p + 1) < 256)
			return;
		a = graph_arc(&x->g, s, p);
		rt_ports_drop(&x->w.links[s], p);
		rt_ports_drop(&x->w.links[x->g.arc[a].to], mc_back_port(&x->g, a));
		s = x->g.arc[a].to;
	}
}

/* Links that lead to no member go, with pieces of old trees, and so do their dependencies. */
static void finish(struct growth *w)
{
	struct mc_space *x = w->x;
	uint32_t own = part_of(w, x->w.list[0]);
	bool fits;

	for (uint32_t s = 0; s < x->g.n; s++)
		if (part_of(w, s) != own)
			x->w.links[s] = (struct rt_ports){{0}};
	for (uint32_t s = 0; s < x->g.n; s++)
		cut_end(x, s);
	mc_order_undo(x->order, 0);
	fits = mc_order_tree(x->order, x->w.links, w->gr->sl);
	assert(fits); /* a part of what was in the order a moment ago */
	(void)fits;
}

static bool attempt(struct growth *w, const struct rt_mtree *old)
{
	struct mc_space *x = w->x;

	for (uint32_t k = 0; k < MIN(x->w.n, (uint32_t)STARTS); k++) {
		reset(w);
		old_links(w, old);
		if (by_ways(w, x->w.list[(k + w->gr->mlid) % x->w.n]))
			return true;
	}
	return false;
}

/* Members whose switches have no way over switches with room are not served by it. */
static bool by_base(struct growth *w)
{
	struct mc_space *x = w->x;

	reset(w);
	for (uint32_t s = 0; s < x->g.n; s++)
		for (unsigned p = rt_ports_next(&x->base[w->gr->sl][s], 0); p < 256;
		     p = rt_ports_next(&x->base[w->gr->sl][s], p + 1)) {
			uint32_t a = graph_arc(&x->g, s, p);

			if (part_of(w, s) != part_of(w, x->g.arc[a].to))
				link_try(w, a);
		}
	return joined(w);
}

static bool by_spanning(struct growth *w)
{
	for (uint32_t k = 0; k < w->x->g.n; k++) {
		reset(w);
		if (spanning(w, (k + w->gr->mlid) % w->x->g.n))
			return true;
	}
	return false;
}

static struct growth growth_begin(struct mc_space *x, const struct rt_group *gr)
{
	struct growth w = {.x = x, .gr = gr};

	w.part = mem_array(x->g.n + 1u, sizeof(*w.part));
	w.banned = mem_zarray((size_t)x->g.narcs + 1, sizeof(*w.banned));
	x->order->log.n = 0;
	return w;
}

static bool growth_end(struct growth *w, bool ok)
{
	if (ok)
		finish(w);
	else
		reset(w);
	w->x->order->log.n = 0;
	free(w->part);
	free(w->banned);
	return ok;
}

bool mc_order_grow(struct mc_space *x, const struct rt_group *gr, const struct rt_mtree *old)
{
	struct growth w = growth_begin(x, gr);

	return growth_end(&w, (old && attempt(&w, old)) || attempt(&w, NULL) ||
				      (x->base[gr->sl] ? by_base(&w) : by_spanning(&w)));
}

/* A tree over all switches, for the SL of w->gr. */
static bool spans_all(struct growth *w)
{
	struct mc_space *x = w->x;

	x->w.n = 0;
	for (uint32_t s = 0; s < x->g.n; s++) {
		x->w.terminal[s] = true;
		x->w.list[x->w.n++] = s;
	}
	return x->w.n > 1 && by_spanning(w);
}

bool mc_order_base(struct mc_space *x, unsigned sl)
{
	struct rt_group all = {.mlid = IBA_LID_MCAST_FIRST, .sl = (uint8_t)sl};
	struct growth w = growth_begin(x, &all);

	if (!growth_end(&w, spans_all(&w)))
		return false;
	x->base[sl] = mem_array(x->g.n + 1u, sizeof(*x->base[sl]));
	memcpy(x->base[sl], x->w.links, x->g.n * sizeof(*x->base[sl]));
	return true;
}

bool mc_order_has_base(struct mc_space *x, unsigned sl)
{
	struct rt_group all = {.mlid = IBA_LID_MCAST_FIRST, .sl = (uint8_t)sl};
	struct growth w = growth_begin(x, &all);
	bool ok = spans_all(&w);

	growth_end(&w, false);
	return ok;
}
