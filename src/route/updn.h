/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of engine updn: ranks over several roots, and ports chosen by load.
 */
#ifndef WEFT_ROUTE_UPDN_H
#define WEFT_ROUTE_UPDN_H

#include "route/fera.h"
#include "route/switch_graph.h"

/*
 * Ranks over the roots that o gives, or over those that are found: by distance from the nearest root, then in the order of
 * the fabric. Several roots that no link joins are several switches without a link up, and what is only below one of them
 * would have no route to what is only below another. Then one switch, the pivot, goes above all, and as few others as
 * possible with it (rt_updown_rank_keep()), so that every pair of a part of the fabric has a route.
 */
void updn_ranks(const struct fab *f, const struct rt_opts *o, uint64_t *rank);

/*
 * Tables with the same distances as FERa's over these ranks, in which every LID takes, of equal ports, those whose paths carry
 * the fewest routes, those of its own group of hosts (o->group). t is filled as FERa fills it.
 */
void updn_deal(const struct fab *f, const struct rt_opts *o, const uint64_t *rank, unsigned passes,
	       struct rt_tables *t);

/* Mean shares of bisections and shifts, multiplied; 0 when they cannot be measured. */
uint64_t updn_merit(const struct fab *f, const struct rt_tables *t, unsigned threads);

#endif
