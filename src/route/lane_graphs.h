/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel dependencies of several lanes, none of which ever gets a cycle. A channel is an arc of the switch graph on one
 * lane; packets keep their lane.
 *
 * Each lane keeps its arcs in an order that all its dependencies follow (Pearce and Kelly's dynamic topological order): a
 * dependency along the order closes no cycle, and one against it is searched for only between the places of its two ends.
 * The order begins with that of up*-down* paths, so that these cost no search.
 */
#ifndef WEFT_ROUTE_LANE_GRAPHS_H
#define WEFT_ROUTE_LANE_GRAPHS_H

#include "route/switch_graph.h"

enum { LANES_MOST = RT_MAX_VLS };

struct lane_order {
	uint32_t *place;  /* by arc */
	uint32_t *arc_at; /* by place */
};

struct lane_graphs {
	const struct switch_graph *g;
	uint32_t *by_rank; /* switches in the order of an up*-down* graph, the root first */
	uint64_t *rank;	   /* by switch */
	uint16_t *has;	   /* [arc][port of the next switch]: bit by lane that has the dependency */
	unsigned n;	   /* lanes in use */
	struct lane_order order[LANES_MOST];
	uint32_t *mark; /* by arc: the last search that met it */
	uint32_t search;
	uint32_t *ahead, *behind, *places; /* of a search */
	uint64_t *bits;			   /* by place; 0 between calls */
};

/* Without lanes. g must outlive it. The root of the up*-down* graph is the first switch with the most hosts: in a tree a leaf,
 * from which up*-down* uses every link. */
void lane_graphs_init(struct lane_graphs *l, const struct switch_graph *g);
/* The same with the root given, as a switch. */
void lane_graphs_init_from(struct lane_graphs *l, const struct switch_graph *g, uint32_t root);
void lane_graphs_free(struct lane_graphs *l);
/* One lane more, at most LANES_MOST. */
void lane_graphs_open(struct lane_graphs *l);

/* Where the dependency from arc a to arc b, which leaves the next switch, is in `has`. */
static inline size_t lane_graphs_at(const struct lane_graphs *l, uint32_t a, uint32_t b)
{
	return (size_t)a * l->g->ports + l->g->arc[b].port;
}

/* The lanes in which packets that leave by arc a may leave by arc b next. */
static inline uint16_t *lane_graphs_has(const struct lane_graphs *l, uint32_t a, uint32_t b)
{
	return &l->has[lane_graphs_at(l, a, b)];
}

/* Let them do so in lane k. False: that would close a cycle, and nothing changes. */
bool lane_graphs_add(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b);
/* Whether it would be true. */
bool lane_graphs_fits(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b);
static inline void lane_graphs_remove(struct lane_graphs *l, unsigned k, uint32_t a, uint32_t b)
{
	*lane_graphs_has(l, a, b) &= (uint16_t) ~(1u << k);
}

/* Whether a dependency from a to b follows the order of lane k: then it closes no cycle. */
static inline bool lane_graphs_along(const struct lane_graphs *l, unsigned k, uint32_t a,
				     uint32_t b)
{
	return l->order[k].place[a] < l->order[k].place[b];
}

static inline bool lane_graphs_down(const struct lane_graphs *l, uint32_t a)
{
	return l->rank[l->g->arc[a].to] > l->rank[l->g->arc[a].from];
}

#endif
