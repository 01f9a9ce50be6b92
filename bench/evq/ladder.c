/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ladder queue (Tang, Goh, Thng, ACM TOMACS 15(3), 2005): far events unsorted on top, nearer ones
 * in rungs of buckets that split when crowded, the nearest in a small heap at the bottom (the paper
 * has a sorted list; a heap needs no way back up when it gets long). Bucket widths are powers of
 * two. Way in: evq_ladder.
 */
#include "plain.h"
#include "pool.h"

enum { RUNGS = 8, CROWD = 50 };

struct rung {
	uint32_t *bucket, *count;
	uint32_t n, cap, now; /* buckets, room for, first one not yet taken */
	time_ps start;
	unsigned shift;
};

struct evq_ladder {
	struct pool pool;
	uint32_t top, ntop;
	time_ps top_min, top_max, top_end; /* what is later than top_end goes on top */
	bool climbed;			   /* top_end means something */
	struct rung rung[RUNGS];
	uint32_t nrungs;
	struct plain bottom;
	uint64_t seq;
};

static inline uint32_t rung_index(const struct rung *r, time_ps when)
{
	return (uint32_t)((when - r->start) >> r->shift);
}

static inline void rung_add(struct evq_ladder *q, struct rung *r, uint32_t i)
{
	uint32_t b = rung_index(r, q->pool.at[i].e.when);

	r->bucket[b] = pool_append(&q->pool, r->bucket[b], i);
	r->count[b]++;
}

static inline void evq_ladder_push(struct evq_ladder *q, time_ps when, uint8_t priority,
				   struct ev_what e)
{
	const struct ev new = ev_make(when, ev_order(priority, q->seq++), &e);
	uint32_t i;

	if (q->climbed && when <= q->top_end) {
		for (uint32_t k = 0; k < q->nrungs; k++) {
			struct rung *r = &q->rung[k];

			if (when < r->start || rung_index(r, when) < r->now)
				continue;
			i = pool_new(&q->pool);
			q->pool.at[i].e = new;
			rung_add(q, r, i);
			return;
		}
		plain_push(&q->bottom, &new, 4);
		return;
	}
	i = pool_new(&q->pool);
	q->pool.at[i].e = new;
	q->top_min = q->ntop ? MIN(q->top_min, when) : when;
	q->top_max = q->ntop ? MAX(q->top_max, when) : when;
	q->top = pool_append(&q->pool, q->top, i);
	q->ntop++;
}

/* A new lowest rung from start over `span` + 1 ps for the `n` events of a list. */
static void ladder_spread(struct evq_ladder *q, uint32_t last, uint32_t n, time_ps start,
			  time_ps span)
{
	struct rung *r = &q->rung[q->nrungs++];
	uint32_t i = q->pool.at[last].next, next;

	r->start = start;
	r->shift = 0;
	while (span >> r->shift >= n)
		r->shift++;
	r->n = (uint32_t)(span >> r->shift) + 1;
	r->now = 0;
	if (r->n > r->cap) {
		r->cap = MAX(r->n, 2 * r->cap);
		r->bucket = mem_resize(r->bucket, r->cap, sizeof(*r->bucket));
		r->count = mem_resize(r->count, r->cap, sizeof(*r->count));
	}
	memset(r->bucket, 0, r->n * sizeof(*r->bucket));
	memset(r->count, 0, r->n * sizeof(*r->count));
	for (;; i = next) {
		next = q->pool.at[i].next;
		rung_add(q, r, i);
		if (i == last)
			break;
	}
}

static void ladder_sort(struct evq_ladder *q, uint32_t last)
{
	uint32_t i = q->pool.at[last].next, next;

	for (;; i = next) {
		next = q->pool.at[i].next;
		plain_push(&q->bottom, &q->pool.at[i].e, 4);
		pool_give(&q->pool, i);
		if (i == last)
			break;
	}
}

/* From the lowest rung into a lower one or to the bottom; a rung without events is taken away. */
static void ladder_step(struct evq_ladder *q)
{
	struct rung *r = &q->rung[q->nrungs - 1];
	uint32_t b;

	while (r->now < r->n && !r->count[r->now])
		r->now++;
	if (r->now == r->n) {
		q->nrungs--;
		return;
	}
	b = r->now++;
	if (r->count[b] > CROWD && q->nrungs < RUNGS && r->shift)
		ladder_spread(q, r->bucket[b], r->count[b], r->start + ((time_ps)b << r->shift),
			      ((time_ps)1 << r->shift) - 1);
	else
		ladder_sort(q, r->bucket[b]);
}

static inline void ladder_fill(struct evq_ladder *q)
{
	while (!q->bottom.n) {
		if (q->nrungs) {
			ladder_step(q);
		} else if (q->ntop) {
			q->top_end = q->top_max;
			q->climbed = true;
			ladder_spread(q, q->top, q->ntop, q->top_min, q->top_max - q->top_min);
			q->top = q->ntop = 0;
		} else {
			return;
		}
	}
}

static inline bool evq_ladder_pop(struct evq_ladder *q, struct ev *e)
{
	ladder_fill(q);
	if (!q->bottom.n)
		return false;
	plain_pop(&q->bottom, e, 4);
	return true;
}

static inline time_ps evq_ladder_next(struct evq_ladder *q)
{
	ladder_fill(q);
	return plain_next(&q->bottom);
}

static inline void evq_ladder_free(struct evq_ladder *q)
{
	for (uint32_t k = 0; k < RUNGS; k++) {
		free(q->rung[k].bucket);
		free(q->rung[k].count);
	}
	free(q->pool.at);
	free(q->bottom.heap);
}

QUEUE(evq_ladder, "ladder queue");
