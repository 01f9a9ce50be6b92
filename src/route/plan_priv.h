/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between plan.c, which compares tables, plan_lanes.c, which follows packets through both when they
 * use several lanes, and plan_turns.c, which knows only dependencies and ranks.
 */
#ifndef WEFT_ROUTE_PLAN_PRIV_H
#define WEFT_ROUTE_PLAN_PRIV_H

#include "route/cdg.h"
#include "route/route_priv.h"

/* The dependencies that can exist while old tables give way to new ones. */
struct plan_graphs {
	struct cdg now;	    /* of the new tables alone */
	struct cdg outward; /* and of old ones, and of old before new */
	struct cdg any;	    /* and of new before old */
	struct cdg old; /* of old tables, for LIDs that change; with lanes see plan_lanes_old() */
};

/*
 * Whether lanes have to be told apart. Where every packet has SL 0 and the new tables have one lane, they need not: each map may
 * be the new one, which gives VL 0. So whatever VLs old maps give, all dependencies exist on VL 0 as well, and a cycle over
 * several VLs is one over their links.
 */
static inline bool plan_lanes_count(const struct rt_tables *old, const struct rt_tables *new)
{
	return new->lanes || rt_lanes_several_sls(old);
}

/*
 * Fill all three for tables of which at least one has lanes. A packet may carry its old or its new
 * SL, and each SL-to-VL map may be the old or the new one, at any time.
 */
void plan_lanes_collect(const struct fab *f, const struct rt_tables *old,
			const struct rt_tables *new, struct plan_graphs *g, int threads);

/* Fill g->old for tables with lanes. */
void plan_lanes_old(const struct fab *f, const struct rt_tables *old, struct plan_graphs *g,
		    int threads);

/*
 * A set of turns from up link to up link (by rank) that takes every cycle out of `all` and nothing
 * out of `keep`; no turn in it can be spared, unless the search became too long. A turn is cut on all
 * VLs. In the order of switch, in, out. -EINVAL when there is no such set; rank NULL: no turn may
 * be cut.
 */
int turns_choose(const struct cdg *all, const struct cdg *keep, const uint64_t *rank,
		 rt_turns *turns, struct err *e);

/*
 * A set of any turns that takes every cycle out of `all`. Turns that neither old nor new tables take are disabled
 * first; packets on the others are lost as long as they are. All graphs have as many VLs.
 */
int turns_cut(const struct cdg *all, const struct cdg *new, const struct cdg *old, rt_turns *turns,
	      struct err *e);

#endif
