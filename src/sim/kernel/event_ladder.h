/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of events by (time, order), for any distribution of times. An all-zero struct ladder is
 * an empty queue. Used by the event queue for what its wheel does not take.
 */
#ifndef WEFT_EVENT_LADDER_H
#define WEFT_EVENT_LADDER_H

#include "sim/kernel/event.h"

enum { LADDER_RUNGS = 8 };

struct ladder_list { /* linked nodes, the latest first */
	uint32_t first, n;
};

struct ladder_rung {
	struct ladder_list *bucket;
	uint32_t nbuckets, cap;
	uint32_t now;	/* the first bucket that was not yet taken */
	unsigned shift; /* a bucket is 2^shift ps wide */
	time_ps start;
};

struct ladder {
	uint32_t n;
	uint32_t nheap, heap_cap;
	struct ev *heap;
	time_ps end; /* of what the heap and the rungs take */
	uint32_t nrungs, spill_at;
	struct ladder_list top; /* later than end */
	time_ps top_min, top_max;
	struct ev *node; /* the pool */
	uint32_t *after; /* in the same list; not in node, so that walking stays in the cache */
	uint32_t spare, used, node_cap;
	struct ladder_rung rung[LADDER_RUNGS];
};

void ladder_put(struct ladder *q, const struct ev *e);
const struct ev *ladder_first(struct ladder *q); /* valid until the next call; NULL: empty */
void ladder_pop(struct ladder *q, struct ev *e); /* not from an empty one */
void ladder_free(struct ladder *q);

#endif
