/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap with four children a node: fewer levels than a binary one and children that share a cache
 * line or two. State: the heap array and the sequence counter. Does not run events.
 */
#include "sim/evq.h"

static bool before(const struct ev *x, const struct ev *y)
{
	return x->when != y->when ? x->when < y->when : x->order < y->order;
}

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev e)
{
	uint32_t i = q->n++;

	if (q->n > q->cap) {
		q->cap = q->cap ? q->cap * 2 : 256;
		q->heap = mem_resize(q->heap, q->cap, sizeof(*q->heap));
	}
	e.when = when;
	e.order = (uint64_t)priority << 56 | q->seq++;
	while (i) {
		uint32_t up = (i - 1) / 4;

		if (!before(&e, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
		i = up;
	}
	q->heap[i] = e;
}

static uint32_t least_child(const struct evq *q, uint32_t i)
{
	uint32_t first = 4 * i + 1, least = first, end = MIN(first + 4, q->n);

	for (uint32_t c = first + 1; c < end; c++)
		if (before(&q->heap[c], &q->heap[least]))
			least = c;
	return least;
}

bool evq_pop(struct evq *q, struct ev *e)
{
	uint32_t i = 0;
	struct ev last;

	if (!q->n)
		return false;
	*e = q->heap[0];
	last = q->heap[--q->n];
	while (4 * i + 1 < q->n) {
		uint32_t c = least_child(q, i);

		if (!before(&q->heap[c], &last))
			break;
		q->heap[i] = q->heap[c];
		i = c;
	}
	if (q->n)
		q->heap[i] = last;
	return true;
}

void evq_free(struct evq *q)
{
	free(q->heap);
	*q = (struct evq){0};
}
