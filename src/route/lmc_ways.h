/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several LIDs of a port (LMC above 0): routes of further LIDs that are those of an earlier one take another link where there is
 * one.
 */
#ifndef WEFT_ROUTE_LMC_WAYS_H
#define WEFT_ROUTE_LMC_WAYS_H

#include "route/switch_graph.h"

/* What the engine allows. Functions may be NULL: then everything. */
struct lmc_rules {
	uint32_t extra; /* links that a switch's route may be longer than a shortest one */
	void *ctx;
	/* A LID's routes are about to change. */
	void (*lid)(void *ctx, uint32_t lid);
	/* Packets may go from arc x on to arc y; false: not. What was taken is released when it is not used any more. */
	bool (*take)(void *ctx, uint32_t x, uint32_t y);
	void (*release)(void *ctx, uint32_t x, uint32_t y);
};

/* A port of a host has several LIDs. */
bool lmc_in_use(const struct fab *f);

/*
 * Changes entries of further LIDs of hosts in tables that connect all switches, from the destination outwards: a switch from which
 * the route is the same as that to an earlier LID of the port takes another link. Where it finds none, the earlier one may. The result depends on the arguments alone.
 * Returns how many entries changed.
 */
uint32_t lmc_spread(const struct switch_graph *g, struct rt_tables *t, const struct lmc_rules *r);

#endif
