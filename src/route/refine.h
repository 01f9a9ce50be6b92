/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Better routes step by step: in tables that connect all switches, entry by entry another link is taken where shifts of the
 * hosts get more bandwidth by it, as the meter of quality.h counts it, and the routes of all pairs stay even.
 */
#ifndef WEFT_ROUTE_REFINE_H
#define WEFT_ROUTE_REFINE_H

#include "route/switch_graph.h"

struct refine_opts {
	/* A switch may use a neighbour that is so many links farther from the destination than its nearest one. */
	uint32_t extra;
	uint32_t rounds; /* over all entries, at most */
	/* What even routes of all pairs count beside shifts, in thousandths. The more, the less bandwidth of other patterns is
	 * given up for that of shifts. */
	uint32_t even;
	unsigned threads; /* of the meter */
};

/*
 * Changes entries of the base LIDs of hosts. Tables must have no lanes; switches that have a way to a LID keep one. The result
 * depends on the arguments alone. Returns how many steps were taken; 0 also where paths are too long for it.
 */
uint32_t refine(const struct switch_graph *g, struct rt_tables *t, const struct refine_opts *o);

/*
 * The same for an engine, with lanes: tables get better routes and their layers (layers_assign()) where these routes need at
 * most `most` lanes and the meter finds them better, in bisections and shifts together. False: the tables are as before.
 */
bool refine_with_layers(const struct switch_graph *g, struct rt_tables *t,
			const struct refine_opts *o, unsigned most);

#endif
