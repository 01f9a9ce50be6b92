/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain heaps of whole events with 2, 4 and 8 children a node. State: one array. Ways in: evq_bin,
 * evq_d4, evq_d8. Children lie where they fall and are compared one after another, with branches.
 */
#include "queue.h"

static bool before(const struct ev *x, const struct ev *y)
{
	return x->when != y->when ? x->when < y->when : x->order < y->order;
}

struct plain {
	struct ev *heap;
	uint32_t n, cap;
	uint64_t seq;
};

static inline void plain_push(struct plain *q, struct ev e, unsigned d)
{
	uint32_t i = q->n++;

	if (q->n > q->cap) {
		q->cap = q->cap ? q->cap * 2 : 256;
		q->heap = mem_resize(q->heap, q->cap, sizeof(*q->heap));
	}
	while (i) {
		uint32_t up = (i - 1) / d;

		if (!before(&e, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
		i = up;
	}
	q->heap[i] = e;
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

#define PLAIN(q, d, text)                                                                          \
	struct q {                                                                                 \
		struct plain h;                                                                    \
	};                                                                                         \
	static inline void q##_push(struct q *p, time_ps when, uint8_t priority, struct ev e)      \
	{                                                                                          \
		e.when = when;                                                                     \
		e.order = ev_order(priority, p->h.seq++);                                          \
		plain_push(&p->h, e, d);                                                           \
	}                                                                                          \
	static inline bool q##_pop(struct q *p, struct ev *e)                                      \
	{                                                                                          \
		return plain_pop(&p->h, e, d);                                                     \
	}                                                                                          \
	static inline time_ps q##_next(struct q *p)                                                \
	{                                                                                          \
		return p->h.n ? p->h.heap[0].when : TIME_NEVER;                                    \
	}                                                                                          \
	static inline void q##_free(struct q *p)                                                   \
	{                                                                                          \
		free(p->h.heap);                                                                   \
	}                                                                                          \
	QUEUE(q, text)

PLAIN(evq_bin, 2, "binary heap");
PLAIN(evq_d4, 4, "4-ary heap");
PLAIN(evq_d8, 8, "8-ary heap");
