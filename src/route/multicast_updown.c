/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees over ranks: each switch of a tree has at most one link up, and all lead to one top. Then every path in the tree goes
 * up and then down, as unicast routes do, and no cycle closes. State: w.up, for one tree. Ways in: mc_updown_tree(),
 * mc_updown_obeys(). A tree exists if a switch is above all members, and any such switch may be its top. The top is one of
 * the lowest of these that has the fewest trees; a tree that is there keeps its own, and its links.
 */
#include "route/multicast_priv.h"

static uint64_t *above_of(const struct mc_space *x, uint32_t s)
{
	return x->above + (size_t)s * x->words;
}

static bool is_above(const struct mc_space *x, uint32_t top, uint32_t s)
{
	return above_of(x, s)[top / 64] >> top % 64 & 1;
}

static bool is_up(const struct mc_space *x, uint32_t arc)
{
	const struct graph_arc *a = &x->g.arc[arc];

	return x->m->rank[a->to] < x->m->rank[a->from];
}

struct ranked {
	uint64_t rank;
	uint32_t sw;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->sw > y->sw) - (x->sw < y->sw);
}

/* Switches without room for the MLID are above none, and none is above them. */
static void above_make(struct mc_space *x, uint16_t mlid)
{
	struct ranked *order = mem_array(x->g.n + 1u, sizeof(*order));

	for (uint32_t s = 0; s < x->g.n; s++)
		order[s] = (struct ranked){x->m->rank[s], s};
	qsort(order, x->g.n, sizeof(*order), by_rank);
	memset(x->above, 0, (size_t)x->g.n * x->words * sizeof(*x->above));
	for (uint32_t i = 0; i < x->g.n; i++) {
		uint32_t s = order[i].sw;

		if (!mc_room(x, s, mlid))
			continue;
		above_of(x, s)[s / 64] |= 1ull << s % 64;
		for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++)
			for (uint32_t w = 0; is_up(x, a) && w < x->words; w++)
				above_of(x, s)[w] |= above_of(x, x->g.arc[a].to)[w];
	}
	free(order);
}

/* Groups come by MLID, so that switches without room only become more. */
static void above_ensure(struct mc_space *x, uint16_t mlid)
{
	uint32_t without = 0;

	for (uint32_t s = 0; x->m->cap && s < x->g.n; s++)
		without += !mc_room(x, s, mlid);
	if (without != x->without)
		above_make(x, mlid);
	x->without = without;
}

/* Switches above all terminals, into common; false: there is none. */
static bool common_above(const struct mc_space *x, uint64_t *common)
{
	uint64_t any = 0;

	memset(common, 0xff, x->words * sizeof(*common));
	for (uint32_t i = 0; i < x->w.n; i++)
		for (uint32_t w = 0; w < x->words; w++)
			common[w] &= above_of(x, x->w.list[i])[w];
	for (uint32_t w = 0; w < x->words; w++)
		any |= common[w];
	return any;
}

bool mc_updown_has_top(struct mc_space *x, uint16_t mlid)
{
	uint64_t *common = mem_array(x->words, sizeof(*common));
	bool has;

	above_ensure(x, mlid);
	has = common_above(x, common);
	free(common);
	return has;
}

/* ---- the top ---- */

static bool has_bit(const uint64_t *set, uint32_t s)
{
	return set[s / 64] >> s % 64 & 1;
}

/* No switch below it is in the set, too. */
static bool is_lowest(const struct mc_space *x, const uint64_t *set, uint32_t s)
{
	for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++)
		if (!is_up(x, a) && has_bit(set, x->g.arc[a].to))
			return false;
	return true;
}

/* Of the lowest in the set the one with the fewest trees; of equals another one for each MLID. */
static uint32_t top_choose(const struct mc_space *x, const uint64_t *set, uint16_t mlid)
{
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < x->g.n; i++) {
		uint32_t s = (i + mlid) % x->g.n;

		if (has_bit(set, s) && is_lowest(x, set, s) &&
		    (best == FAB_NONE || x->tops[s] < x->tops[best]))
			best = s;
	}
	return best;
}

/* The top of the old links that most terminals lead to; FAB_NONE: there are none. */
static uint32_t old_top(const struct mc_space *x)
{
	uint32_t *count = x->w.queue, best = FAB_NONE;

	memset(count, 0, x->g.n * sizeof(*count));
	for (uint32_t i = 0; i < x->w.n; i++) {
		uint32_t s = x->w.list[i];

		while (x->w.up[s] != FAB_NONE)
			s = x->g.arc[x->w.up[s]].to;
		count[s]++;
	}
	for (uint32_t s = 0; s < x->g.n; s++)
		if (count[s] && x->w.in[s] && (best == FAB_NONE || count[s] > count[best]))
			best = s;
	return best;
}

static uint32_t top_of(const struct mc_space *x, uint64_t *common, uint16_t mlid)
{
	uint32_t old = old_top(x), top = FAB_NONE;
	uint64_t *both;

	if (old == FAB_NONE)
		return top_choose(x, common, mlid);
	if (has_bit(common, old))
		return old;
	both = mem_array(x->words, sizeof(*both));
	for (uint32_t w = 0; w < x->words; w++)
		both[w] = common[w] & above_of(x, old)[w];
	top = top_choose(x, both, mlid);
	free(both);
	return top == FAB_NONE ? top_choose(x, common, mlid) : top;
}

/* ---- links ---- */

/* w.up: old links up that are there at both ends, one for each switch; w.in: switches that old links lead to. */
static void old_links(struct mc_space *x, const struct rt_mtree *old)
{
	for (uint32_t s = 0; s < x->g.n; s++)
		x->w.up[s] = FAB_NONE;
	memset(x->w.in, 0, x->g.n * sizeof(*x->w.in));
	for (size_t i = 0; old && i < old->at.n; i++) {
		const struct rt_branch *b = &old->at.at[i];

		for (unsigned p = rt_ports_next(&b->ports, 0); p < 256;
		     p = rt_ports_next(&b->ports, p + 1)) {
			uint32_t a = graph_arc(&x->g, b->sw, p);
			const struct rt_ports *far =
				a == FAB_NONE ? NULL : rt_mtree_at(old, x->g.arc[a].to);

			if (!far || !is_up(x, a) || x->w.up[b->sw] != FAB_NONE ||
			    !rt_ports_has(far, mc_back_port(&x->g, a)) ||
			    !mc_room(x, b->sw, old->mlid) || !mc_room(x, x->g.arc[a].to, old->mlid))
				continue;
			x->w.up[b->sw] = a;
			x->w.in[x->g.arc[a].to] = true;
		}
	}
}

/* The next link up that leads to the top, least loaded first: `last` is the one before. FAB_NONE: no more. */
static uint32_t next_up(const struct mc_space *x, uint32_t s, uint32_t top, uint16_t mlid,
			uint32_t last)
{
	uint32_t best = FAB_NONE, n = x->g.first[s + 1] - x->g.first[s], turn = n ? mlid % n : 0;
	uint64_t best_key = UINT64_MAX, last_key = 0;

	if (last != FAB_NONE)
		last_key =
			((uint64_t)x->load[last] << 32 | (last - x->g.first[s] + n - turn) % n) + 1;
	for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++) {
		uint64_t key =
			((uint64_t)x->load[a] << 32 | (a - x->g.first[s] + n - turn) % n) + 1;

		if (is_up(x, a) && is_above(x, top, x->g.arc[a].to) && key > last_key &&
		    key < best_key) {
			best = a;
			best_key = key;
		}
	}
	return best;
}

/* From a terminal up to the nearest switch of the tree, over old links where there are some. */
static void climb(struct mc_space *x, uint32_t from, uint32_t top, uint16_t mlid)
{
	struct mc_work *w = &x->w;
	uint32_t n = 1, hit = FAB_NONE;

	for (uint32_t s = 0; s < x->g.n; s++)
		w->via[s] = FAB_NONE;
	w->queue[0] = from;
	for (uint32_t i = 0; hit == FAB_NONE && i < n; i++) {
		uint32_t s = w->queue[i];
		uint32_t a = w->up[s] != FAB_NONE ? w->up[s] : next_up(x, s, top, mlid, FAB_NONE);

		for (; hit == FAB_NONE && a != FAB_NONE;
		     a = w->up[s] != FAB_NONE ? FAB_NONE : next_up(x, s, top, mlid, a)) {
			uint32_t to = x->g.arc[a].to;

			if (w->via[to] != FAB_NONE)
				continue;
			w->via[to] = a;
			if (w->in[to])
				hit = to;
			else
				w->queue[n++] = to;
		}
	}
	while (hit != from) {
		uint32_t a = w->via[hit];

		rt_ports_add(&w->links[hit], mc_back_port(&x->g, a));
		hit = x->g.arc[a].from;
		rt_ports_add(&w->links[hit], x->g.arc[a].port);
		w->up[hit] = a;
		w->in[hit] = true;
	}
}

/* A top that is no terminal and has one link only is not needed. */
static void top_trim(struct mc_space *x, uint32_t top)
{
	struct rt_ports *links = x->w.links;

	for (;;) {
		unsigned p = rt_ports_next(&links[top], 0);
		uint32_t a;

		if (x->w.terminal[top] || p == 256 || rt_ports_next(&links[top], p + 1) < 256)
			return;
		a = graph_arc(&x->g, top, p);
		rt_ports_drop(&links[top], p);
		rt_ports_drop(&links[x->g.arc[a].to], mc_back_port(&x->g, a));
		top = x->g.arc[a].to;
	}
}

bool mc_updown_tree(struct mc_space *x, const struct rt_group *gr, const struct rt_mtree *old)
{
	uint64_t *common = mem_array(x->words, sizeof(*common));
	struct mc_work *w = &x->w;
	uint32_t top;

	above_ensure(x, gr->mlid);
	if (!common_above(x, common)) {
		free(common);
		return false;
	}
	old_links(x, old);
	top = top_of(x, common, gr->mlid);
	free(common);
	/* Old links that do not lead on to the top are not used. */
	for (uint32_t s = 0; s < x->g.n; s++)
		if (w->up[s] != FAB_NONE && (s == top || !is_above(x, top, x->g.arc[w->up[s]].to)))
			w->up[s] = FAB_NONE;
	memset(w->in, 0, x->g.n * sizeof(*w->in));
	w->in[top] = true;
	for (uint32_t i = 0; i < w->n; i++)
		if (!w->in[w->list[i]])
			climb(x, w->list[i], top, gr->mlid);
	top_trim(x, top);
	return true;
}

bool mc_updown_obeys(const struct switch_graph *g, const uint64_t *rank,
		     const struct rt_ports *links)
{
	for (uint32_t s = 0; s < g->n; s++) {
		unsigned up = 0;

		for (unsigned p = rt_ports_next(&links[s], 0); p < 256;
		     p = rt_ports_next(&links[s], p + 1)) {
			uint32_t to = g->arc[graph_arc(g, s, p)].to;

			if (rank[to] == rank[s])
				return false;
			up += rank[to] < rank[s];
		}
		if (up > 1)
			return false;
	}
	return true;
}
