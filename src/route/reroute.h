/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to rt_reroute(): between reroute_compare.c, which finds out what of a reference does not hold any more, and
 * reroute.c, which replaces it.
 */
#ifndef WEFT_ROUTE_REROUTE_H
#define WEFT_ROUTE_REROUTE_H

#include "route/switch_graph.h"

/* An entry that does not lead on: its link is gone, or the next one is no longer legal behind it. */
struct reroute_broken {
	uint32_t sw;
	uint16_t lid;
};

struct reroute {
	const struct fab *f;
	const struct rt_before *ref;
	const uint64_t *rank;
	struct switch_graph g;
	struct rt_tables *t; /* begins as the reference's tables */
	uint32_t *was;	     /* by switch: its index in the reference, FAB_NONE: it is not there */
	uint8_t *lost;	/* by LID that f has: the reference does not have it behind this switch */
	uint32_t *at;	/* by LID: the switch behind which it is, FAB_NONE: f has it not */
	uint32_t *part; /* by switch: the first switch that links join it with */
	uint32_t *then,
		then_ports; /* reroute_then(), and the ports of its largest switch with port 0 */
	uint32_t new_links, gone_links;
	VEC(struct reroute_broken) broken;
};

/* The other switch behind a port of switch s in the reference, both by their numbers there; FAB_NONE. */
static inline uint32_t reroute_then(const struct reroute *x, uint32_t s, unsigned port)
{
	return port < x->then_ports ? x->then[(size_t)s * x->then_ports + port] : FAB_NONE;
}

/* Fills all but f, ref, rank, g and t, which it reads. */
int reroute_compare(struct reroute *x, struct err *e);
void reroute_compare_free(struct reroute *x);

/* rt_updown_rank_mend() with the graph of the snapshot. */
uint32_t rank_mend(const struct switch_graph *g, const uint64_t *old, uint64_t *rank);

/* ---- reroute_ways.c: the columns of tables, one after another ---- */

enum { NO_WAY = UINT16_MAX };

struct solve {
	struct reroute x;
	uint32_t *order; /* switches by rank */
	bool *upper;	 /* by arc: it leads up */
	uint32_t *added; /* by arc: entries that were moved to it */
	uint64_t changed;
	uint32_t columns; /* with a marked switch */
	/* of one LID */
	uint32_t lid, dest, stamp;
	bool whole;	  /* all switches are marked, and nothing is kept */
	uint32_t *marked; /* by switch: the stamp of the LID for which it is */
	uint32_t *known;  /* the same for the next two */
	uint16_t *down;	  /* by switch: links to the destination if all of them lead down */
	uint16_t *dist;
	uint32_t *todo, ntodo; /* the marked switches, by rank */
	uint32_t *path;
	/* of the marked switches, in the order of todo: arcs by which they may leave, [todo][ports of the largest] */
	uint32_t *offer;
	uint16_t *noffers;
	uint32_t *chosen; /* and what they get */
	uint8_t *port;
};

static inline uint8_t *reroute_entry(const struct solve *z, uint32_t s)
{
	return rt_row(z->x.t, s) + z->lid;
}

/* The arc by which a switch sends the LID on; FAB_NONE. */
static inline uint32_t reroute_arc(const struct solve *z, uint32_t s)
{
	return graph_arc(&z->x.g, s, *reroute_entry(z, s));
}

static inline uint32_t reroute_switch(const struct solve *z, uint32_t s)
{
	uint32_t a = reroute_arc(z, s);

	return a == FAB_NONE ? FAB_NONE : z->x.g.arc[a].to;
}

/* The arcs down, or up, by which a switch has the fewest links to go: how many links. They become offers of todo[i]. */
uint16_t reroute_offers(struct solve *z, uint32_t i, bool up);
/* The arc to which the entry of todo[i] moves, and its port; g.narcs: it has no way, or stays with its port. */
uint32_t reroute_decide(const struct solve *z, uint32_t i, uint8_t *port);

#endif
