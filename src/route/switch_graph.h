/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The links between switches and the destinations behind each switch, in arrays that engines walk quickly. Made once for a
 * snapshot and only read afterwards.
 *
 * An arc is a link in one direction. The arcs that leave a switch are consecutive, by port number. A cable from a switch to
 * itself is left out.
 */
#ifndef WEFT_ROUTE_SWITCH_GRAPH_H
#define WEFT_ROUTE_SWITCH_GRAPH_H

#include "route/route_priv.h"

struct graph_arc {
	uint32_t from, to;
	uint8_t port; /* of `from` */
	uint8_t back; /* of `to`: the other end of the cable */
};

struct graph_dest {
	uint16_t lid;
	uint8_t port; /* of the destination's own switch; 0: the switch itself */
};

struct switch_graph {
	const struct fab *f;
	uint32_t n, narcs;
	uint32_t *first; /* arcs that leave switch s: [first[s], first[s + 1]) */
	struct graph_arc *arc;
	uint32_t ports;		 /* of the largest switch, and port 0 */
	uint32_t *arc_of;	 /* [switch][port]: graph_arc() */
	uint32_t *in_first, *in; /* arcs that lead to switch s: in[in_first[s]] ... */
	uint32_t *senders;	 /* by switch: host ports connected to it */
	uint32_t *dest_first;	 /* LIDs behind switch s: hosts by port number, then its own */
	struct graph_dest *dest;
};

/* The arc by which a port of switch s leaves, FAB_NONE: there is no other switch behind it. */
static inline uint32_t graph_arc(const struct switch_graph *g, uint32_t s, unsigned port)
{
	return port < g->ports ? g->arc_of[(size_t)s * g->ports + port] : FAB_NONE;
}

/* f must outlive it; top_lid: of the tables that will be filled. */
void graph_init(struct switch_graph *g, const struct fab *f, uint32_t top_lid);
void graph_free(struct switch_graph *g);

/*
 * Links from every switch to switch `to`, UINT32_MAX where there is no way, and the switches that have one in the order of
 * that number: order[0] is `to`. Returns how many.
 */
uint32_t graph_distances(const struct switch_graph *g, uint32_t to, uint32_t *dist,
			 uint32_t *order);

#endif
