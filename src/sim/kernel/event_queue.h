/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event queue: earliest first; at the same time the smaller priority number first, then those
 * with a rank, by rank, then the one that was pushed first. An all-zero struct evq is an empty
 * queue. Used by the kernel only, so that another structure can take its place.
 */
#ifndef WEFT_EVQ_H
#define WEFT_EVQ_H

#include "sim/kernel/event.h"

enum { EVQ_RUNGS = 8 };

struct evq_list { /* linked nodes, the latest first */
	uint32_t first, n;
};

struct evq_rung {
	struct evq_list *bucket;
	uint32_t nbuckets, cap;
	uint32_t now;	/* the first bucket that was not yet taken */
	unsigned shift; /* a bucket is 2^shift ps wide */
	time_ps start;
};

struct evq {
	uint32_t n;
	uint32_t nheap, heap_cap;
	struct ev *heap;
	uint64_t seq;
	time_ps end; /* of what the heap and the rungs take */
	uint32_t nrungs, spill_at;
	struct evq_list top; /* later than end */
	time_ps top_min, top_max;
	struct ev *node; /* the pool */
	uint32_t *after; /* in the same list; not in node, so that walking stays in the cache */
	uint32_t spare, used, node_cap;
	struct evq_rung rung[EVQ_RUNGS];
};

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev_what what);
void evq_put(struct evq *q, const struct ev *e); /* when and order are set already */
bool evq_pop(struct evq *q, struct ev *e);	 /* false when empty */
void evq_free(struct evq *q);
time_ps evq_next_far(const struct evq *q);

/* Ranks are below 2^55. */
static inline uint64_t evq_rank(uint8_t priority, uint64_t rank)
{
	return (uint64_t)priority << 56 | rank;
}

/* TIME_NEVER when empty. */
static inline time_ps evq_next(const struct evq *q)
{
	return q->nheap ? q->heap[0].when : evq_next_far(q);
}

#endif
