/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of whole events with d children a node. They lie where they fall and are compared one
 * after another, with branches.
 */
#ifndef WEFT_BENCH_PLAIN_H
#define WEFT_BENCH_PLAIN_H

#include "queue.h"

static inline bool before(const struct ev *x, const struct ev *y)
{
	return x->when != y->when ? x->when < y->when : x->order < y->order;
}

struct plain {
	struct ev *heap;
	uint32_t n, cap;
};

static inline void plain_push(struct plain *q, const struct ev *e, unsigned d)
{
	uint32_t i = q->n++;

	if (q->n > q->cap) {
		q->cap = q->cap ? q->cap * 2 : 256;
		q->heap = mem_resize(q->heap, q->cap, sizeof(*q->heap));
	}
	while (i) {
		uint32_t up = (i - 1) / d;

		if (!before(e, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
		i = up;
	}
	q->heap[i] = *e;
}

static inline uint32_t plain_least(const struct plain *q, uint32_t i, unsigned d)
{
	uint32_t first = d * i + 1, least = first, end = MIN(first + d, q->n);

	for (uint32_t c = first + 1; c < end; c++)
		if (before(&q->heap[c], &q->heap[least]))
			least = c;
	return least;
}

static inline bool plain_pop(struct plain *q, struct ev *e, unsigned d)
{
	uint32_t i = 0;
	struct ev last;

	if (!q->n)
		return false;
	*e = q->heap[0];
	last = q->heap[--q->n];
	while (d * i + 1 < q->n) {
		uint32_t c = plain_least(q, i, d);

		if (!before(&q->heap[c], &last))
			break;
		q->heap[i] = q->heap[c];
		i = c;
	}
	if (q->n)
		q->heap[i] = last;
	return true;
}

static inline time_ps plain_next(const struct plain *q)
{
	return q->n ? q->heap[0].when : TIME_NEVER;
}

#endif
