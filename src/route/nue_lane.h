/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lane of engine nue: routes to the LIDs that belong to it, one after another, by Dijkstra's search among those paths that
 * close no cycle of dependencies with the routes before.
 *
 * Every LID gets a route from every switch. The lane always has the dependencies of a spanning tree. A switch that gets its
 * way to the LID keeps, for its neighbours in the tree that have none yet, the turn from the tree into that way. So a switch
 * whose neighbour towards the LID has a way can always take the link of the tree, and its own neighbours can follow.
 */
#ifndef WEFT_ROUTE_NUE_LANE_H
#define WEFT_ROUTE_NUE_LANE_H

#include "route/escape_tree.h"
#include "route/lane_graphs.h"

/* What a path costs, beside the routes that its links carry so far. */
struct nue_costs {
	bool direct;  /* hop is more than all loads together */
	uint64_t hop; /* a link */
	uint64_t
		against; /* a dependency against the order of the lane, which begins with that of up*-down* paths */
	uint64_t turn; /* a dependency that the lane does not have yet */
	uint64_t
		to_switch; /* instead of `against` on the way to a switch, which few packets take */
};

enum { NUE_REFUSED = UINT16_MAX };

struct nue_load { /* routes that came to an arc, or left it */
	uint32_t arc;
	int64_t routes;
};

struct nue_lane {
	const struct switch_graph *g;
	struct rt_tables *t;
	struct nue_costs costs;
	struct lane_graphs graphs; /* one lane */
	struct escape_tree escape;
	/* [arc][port of the next switch]: what keeps a dependency: routes to LIDs, the tree, turns kept free; NUE_REFUSED: none,
	 * and it closed a cycle when it was tried in this pass */
	uint16_t *users;
	uint64_t *load; /* by arc: routes from host ports to LIDs of hosts, of all lanes */
	/* What this lane added to the loads in this turn and in the one before, by number of the turn modulo 2. */
	VEC(struct nue_load) news[2];
	unsigned turn;
	uint64_t entries; /* of the tables, that it filled in this pass */
	uint32_t
		detours; /* LIDs of hosts in this pass that some switch reaches by a path that is not a shortest one; costs.direct only */
	/* of one LID */
	uint32_t to; /* the destination's switch */
	uint64_t against;
	uint32_t *taken; /* by switch: the arc by which it leaves */
	uint64_t *cost, *flow;
	bool *settled;
	uint32_t *order, nsettled; /* in the order in which they were settled */
	/* of the last destination that was searched without detours: switches by distance, links that lead nearer */
	uint32_t *near, *dist, nnear;
	uint32_t *way_first, *way;
	uint32_t *refused, search; /* by arc: the last search in which it was refused */
	uint32_t *heap, *place, nheap;
};

/* dests: by switch, how many LIDs of the lane are there. */
void nue_lane_init(struct nue_lane *l, const struct switch_graph *g, struct rt_tables *t,
		   uint32_t root, const uint32_t *dests);
void nue_lane_free(struct nue_lane *l);

/* Routes to one LID behind switch `to`; again: instead of those that there are. */
void nue_lane_route(struct nue_lane *l, uint32_t to, const struct graph_dest *d, bool again);
/* A dependency that some route needs, and one that it needs no more; false: it closes a cycle. */
bool nue_lane_take(struct nue_lane *l, uint32_t a, uint32_t b);
void nue_lane_release(struct nue_lane *l, uint32_t a, uint32_t b);
/* A pass over all LIDs of the lane begins: what was refused may be tried again. */
void nue_lane_pass(struct nue_lane *l);
/* A turn begins: after this call, and nue_lane_learn() of every other lane, it knows the loads at the end of the last turn. */
void nue_lane_begin(struct nue_lane *l, unsigned turn);
void nue_lane_learn(struct nue_lane *l, const struct nue_lane *other);

#endif
