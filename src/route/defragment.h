/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other routes for LIDs of virtual functions where copied ones crowd some links: a VM that starts or migrates takes the
 * routes of its host's physical function, so all VMs of a host share one way, however many there are.
 *
 * Every entry of the plan is the first hop of a shortest way that FERa knows over the same ranks, and so is the entry
 * that it replaces. With any of them at any switch each hop comes one link nearer, down wherever there is a way down: no
 * mixture of old and new entries loops a packet or turns from down to up. No LID moves to another port.
 */
#ifndef WEFT_ROUTE_DEFRAGMENT_H
#define WEFT_ROUTE_DEFRAGMENT_H

#include "route/link_loads.h"
#include "route/moves.h"

struct rt_defragment_opts {
	const uint64_t *rank; /* that tables obey, by switch */
	bool even; /* go on as long as anything gets more even, beyond the balance of new routes */
	unsigned threads; /* for new routes; 0: as many as the machine has */
	/* Asked now and then, from this thread: true: the result is not needed any more. NULL: it is. */
	bool (*stop)(void *ctx);
	void *ctx;
};

/* Balance is that of routes from all hosts to LIDs of virtual functions. */
struct rt_defragment {
	rt_move_entries entries; /* by switch, then LID */
	struct rt_moves_plan plan;
	struct rt_balance before, after;
	struct rt_balance fresh; /* of routes that FERa computes for all */
	bool reached;		 /* `after` is as even as `fresh`, or more */
	uint32_t lids, moved;	 /* of virtual functions; those that get other routes */
	uint32_t left; /* of lids: their routes are not shortest ones, and stay as they are */
	uint32_t smps, switches; /* of the plan: blocks, and switches that get them */
	uint32_t smps_fresh;	 /* blocks in which new routes differ */
	uint32_t smps_all;	 /* blocks of all tables */
};

/*
 * Choose entries of t to change so that the balance is that of new routes, in as few blocks as a search finds: block by
 * block of LIDs, always the one that gains most for each SMP. f has the LIDs of virtual functions that run. Nothing
 * changes where t is as even already. -EINVAL, -E2BIG, -ECANCELED (stop) with e filled. Free out with rt_defragment_free() in any case.
 */
int rt_defragment(const struct fab *f, const struct rt_tables *t,
		  const struct rt_defragment_opts *o, struct rt_defragment *out, struct err *e);
void rt_defragment_free(struct rt_defragment *x);

#endif
