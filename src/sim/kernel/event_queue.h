/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event queue: earliest first; at the same time the smaller priority number first, then those
 * with a rank, by rank, then the one that was pushed first. An all-zero struct evq is an empty
 * queue. Used by the kernel only, so that another structure can take its place.
 */
#ifndef WEFT_EVQ_H
#define WEFT_EVQ_H

#include "sim/kernel/event_ladder.h"

/* Buckets for the next 2 us, reused as time goes on. A bucket is a sorted list, and a set of bits
 * says which have events: so empty ones cost nothing. */
struct evq_near {
	struct ev *node;  /* the pool; node 0 is none and later than all */
	uint32_t *after;  /* in the same bucket, or in the list of free ones */
	uint32_t *bucket; /* by the time's bits above shift: its first node */
	uint64_t *bits;	  /* buckets with events */
	time_ps start;	  /* of the bucket of the present; the wheel has 2^21 ps from there */
	uint32_t first;	  /* the earliest event; 0: none */
	uint32_t spare;	  /* free nodes; 0: none */
	uint32_t mask;	  /* number of buckets - 1 */
	uint32_t shift;	  /* a bucket is 2^shift ps wide */
	uint32_t node_cap;
};

struct evq {
	struct evq_near near;
	time_ps far_next; /* the earliest of far; TIME_NEVER, or 0 in a new queue: none */
	uint64_t seq;
	uint32_t n;
	struct ladder far; /* later ones, and crowds */
};

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev_what what);
/* With an order that was given before, or a rank. */
void evq_add(struct evq *q, time_ps when, uint64_t order, struct ev_what what);
bool evq_pop(struct evq *q, struct ev *e); /* false when empty */
void evq_free(struct evq *q);

static inline void evq_put(struct evq *q, const struct ev *e)
{
	evq_add(q, e->when, e->order, e->what);
}

/* Ranks are below 2^55. */
static inline uint64_t evq_rank(uint8_t priority, uint64_t rank)
{
	return (uint64_t)priority << 56 | rank;
}

/* TIME_NEVER when empty. */
static inline time_ps evq_next(const struct evq *q)
{
	return q->n ? MIN(q->near.node[q->near.first].when, q->far_next) : TIME_NEVER;
}

#endif
