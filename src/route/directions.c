/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directions from the order in which a tree finds the switches, and the ranks engines work with.
 * Keeps no state; the ways in are rt_updown_rank_by() and rt_rank_dense(). Ranks by distance are
 * made in updown.c.
 */
#include "route/route_priv.h"

/* Switches are numbered as they are found; both walks take a switch's ports in the order of their
 * numbers, so that the tree depends on the cables and not on the order of the snapshot. */
struct walk {
	const struct fab *f;
	uint32_t *number; /* by switch; FAB_NONE: not found yet */
	uint32_t next;
	uint32_t *list; /* room for every switch: the queue, or the stack */
	uint8_t *port;	/* depth first: the last port of each switch that was looked at */
};

static bool found(struct walk *w, uint32_t s, unsigned port, uint32_t *v)
{
	const struct fab *f = w->f;
	port_id peer = f->ports[fab_port_id(f, f->switches[s], port)].peer;

	*v = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
	if (*v == FAB_NONE || w->number[*v] != FAB_NONE)
		return false;
	w->number[*v] = w->next++;
	return true;
}

static void breadth_first(struct walk *w, uint32_t from)
{
	uint32_t head = 0, tail = 0, v;

	w->number[from] = w->next++;
	w->list[tail++] = from;
	while (head < tail) {
		uint32_t s = w->list[head++];

		for (unsigned p = 1; p <= w->f->nodes[w->f->switches[s]].nports; p++)
			if (found(w, s, p, &v))
				w->list[tail++] = v;
	}
}

static void depth_first(struct walk *w, uint32_t from)
{
	uint32_t depth = 0, v;

	w->number[from] = w->next++;
	w->list[depth++] = from;
	while (depth) {
		uint32_t s = w->list[depth - 1];

		if (w->port[s] == w->f->nodes[w->f->switches[s]].nports)
			depth--;
		else if (found(w, s, ++w->port[s], &v))
			w->list[depth++] = v;
	}
}

static void walk_from(struct walk *w, enum rt_directions d, uint32_t from)
{
	if (d == RT_BY_DFS)
		depth_first(w, from);
	else
		breadth_first(w, from);
}

static void rank_by_walk(const struct fab *f, node_id root, enum rt_directions d, bool parts,
			 uint64_t *rank)
{
	uint32_t n = f->nswitches;
	struct walk w = {.f = f,
			 .number = mem_array(n, sizeof(*w.number)),
			 .list = mem_array(n, sizeof(*w.list)),
			 .port = mem_zarray(n, sizeof(*w.port))};

	memset(w.number, 0xff, n * sizeof(*w.number));
	if (n)
		walk_from(&w, d, rt_root_switch(f, root));
	for (uint32_t s = 0; parts && s < n; s++)
		if (w.number[s] == FAB_NONE)
			walk_from(&w, d, s);
	for (uint32_t s = 0; s < n; s++)
		rank[s] = w.number[s] == FAB_NONE ? UINT64_MAX : w.number[s];
	free(w.number);
	free(w.list);
	free(w.port);
}

void rt_updown_rank_by(const struct fab *f, node_id root, enum rt_directions d, uint64_t *rank)
{
	if (d == RT_BY_DISTANCE)
		rt_updown_rank(f, root, rank);
	else
		rank_by_walk(f, root, d, false, rank);
}

/* ---- ranks for engines ---- */

struct ranked {
	uint64_t rank;
	uint32_t tie, sw;
};

static int ranked_cmp(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->tie < y->tie ? -1 : x->tie > y->tie;
}

/* Switches for which the caller has no rank: each part of them is directed breadth first. */
static void ties_make(const struct fab *f, const uint64_t *rank, uint32_t *tie)
{
	uint32_t n = f->nswitches;
	struct walk w = {.f = f, .number = tie, .list = mem_array(n, sizeof(*w.list))};

	for (uint32_t s = 0; s < n; s++)
		tie[s] = rank[s] == UINT64_MAX ? FAB_NONE : s;
	for (uint32_t s = 0; s < n; s++)
		if (tie[s] == FAB_NONE)
			breadth_first(&w, s);
	free(w.list);
}

void rt_rank_dense(const struct fab *f, const struct rt_opts *o, uint32_t *order, uint64_t *rank)
{
	uint32_t n = f->nswitches, *tie = mem_array(n, sizeof(*tie));
	struct ranked *r = mem_array(n, sizeof(*r));

	if (o->rank)
		memcpy(rank, o->rank, n * sizeof(*rank));
	else if (o->directions == RT_BY_DISTANCE)
		rt_updown_rank_parts(f, o->root, rank);
	else
		rank_by_walk(f, o->root, o->directions, true, rank);
	ties_make(f, rank, tie);
	for (uint32_t s = 0; s < n; s++)
		r[s] = (struct ranked){rank[s], tie[s], s};
	qsort(r, n, sizeof(*r), ranked_cmp);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = r[i].sw;
		rank[r[i].sw] = i;
	}
	free(r);
	free(tie);
}
