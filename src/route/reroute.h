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
	uint32_t new_links, gone_links;
	VEC(struct reroute_broken) broken;
};

/* Fills all but f, ref, rank, g and t, which it reads. */
int reroute_compare(struct reroute *x, struct err *e);
void reroute_compare_free(struct reroute *x);

#endif
