/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ladder queue on a small heap: the next few events in a heap with four children for each node,
 * later ones unsorted in buckets on rungs that are split when their time comes near, the latest on
 * top. State: struct ladder. Ways in: ladder_put(), ladder_pop(). Does not give numbers to events.
 * docs/event-queue.md compares it with others.
 */
#include "sim/kernel/event_ladder.h"

enum {
	CROWD = 32,  /* more events than this are split over buckets before they enter the heap */
	SPILL = 256, /* a heap that grew this long by single events is moved to a rung */
};

/* ---- the heap ---- */

static void heap_room(struct ladder *q, uint32_t n)
{
	if (n <= q->heap_cap)
		return;
	q->heap_cap = MAX(n, MAX(q->heap_cap * 2, 256u));
	q->heap = mem_resize(q->heap, q->heap_cap, sizeof(*q->heap));
}

static inline void heap_push(struct ladder *q, const struct ev *e)
{
	uint32_t i = q->nheap;

	heap_room(q, i + 1);
	q->nheap++;
	while (i) {
		uint32_t up = (i - 1) / 4;

		if (!ev_is_before(e, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
		i = up;
	}
	q->heap[i] = *e;
}

static inline uint32_t least_child(const struct ladder *q, uint32_t i)
{
	uint32_t first = 4 * i + 1, least = first, end = MIN(first + 4, q->nheap);

	for (uint32_t c = first + 1; c < end; c++)
		if (ev_is_before(&q->heap[c], &q->heap[least]))
			least = c;
	return least;
}

/* Puts e at place i, or below. e must not be in the heap, except after its end. */
static inline void heap_sink(struct ladder *q, uint32_t i, const struct ev *e)
{
	const time_ps when = e->when;
	const uint64_t order = e->order;

	while (4 * i + 1 < q->nheap) {
		uint32_t c = least_child(q, i);
		const struct ev *child = &q->heap[c];

		if (child->when != when ? child->when > when : child->order >= order)
			break;
		q->heap[i] = *child;
		i = c;
	}
	q->heap[i] = *e;
}

/* ---- lists ---- */

static inline uint32_t node_new(struct ladder *q, const struct ev *e)
{
	uint32_t i = q->spare;

	if (i) {
		q->spare = q->after[i];
	} else {
		i = ++q->used; /* 0 is no node */
		if (i >= q->node_cap) {
			q->node_cap = MAX(q->node_cap * 2, 256u);
			q->node = mem_resize(q->node, q->node_cap, sizeof(*q->node));
			q->after = mem_resize(q->after, q->node_cap, sizeof(*q->after));
		}
	}
	q->node[i] = *e;
	return i;
}

static inline void list_add(struct ladder *q, struct ladder_list *l, uint32_t i)
{
	q->after[i] = l->first;
	l->first = i;
	l->n++;
}

/* Moves a list into the empty heap, and its nodes back to the pool. */
static void list_pour(struct ladder *q, struct ladder_list l)
{
	uint32_t last = 0, k = l.n;

	heap_room(q, l.n);
	for (uint32_t i = l.first; i; i = q->after[i]) {
		q->heap[--k] = q->node[i]; /* in the order they came: nearly sorted */
		last = i;
	}
	q->after[last] = q->spare;
	q->spare = l.first;
	q->nheap = l.n;
	q->spill_at = 2 * l.n;
	for (uint32_t i = (l.n + 2) / 4; i--;) {
		const struct ev e = q->heap[i];

		heap_sink(q, i, &e);
	}
}

/* ---- rungs ---- */

static inline uint32_t rung_index(const struct ladder_rung *r, time_ps when)
{
	return (uint32_t)((when - r->start) >> r->shift);
}

static unsigned bits(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* A new lowest rung for the times start to last, with about one bucket for each event. */
static void rung_add(struct ladder *q, struct ladder_list l, time_ps start, time_ps last)
{
	struct ladder_rung *r = &q->rung[q->nrungs++];
	time_ps span = last - start;

	r->start = start;
	r->shift = bits(span) > bits(l.n) ? bits(span) - bits(l.n) : 0;
	r->now = 0;
	r->nbuckets = (uint32_t)(span >> r->shift) + 1;
	if (r->nbuckets > r->cap) {
		r->cap = MAX(r->nbuckets, 2 * r->cap);
		r->bucket = mem_resize(r->bucket, r->cap, sizeof(*r->bucket));
	}
	memset(r->bucket, 0, r->nbuckets * sizeof(*r->bucket));
	for (uint32_t i = l.first, next; i; i = next) {
		next = q->after[i];
		list_add(q, &r->bucket[rung_index(r, q->node[i].when)], i);
	}
}

/* The heap grew long because a bucket turned out crowded after it was taken: spread it again. */
static void heap_spill(struct ladder *q)
{
	time_ps start = q->heap[0].when, last = q->end;
	struct ladder_list l = {0};

	for (uint32_t k = 0; k < q->nrungs; k++) {
		const struct ladder_rung *r = &q->rung[k];

		if (r->now < r->nbuckets)
			last = MIN(last, r->start + ((time_ps)r->now << r->shift) - 1);
	}
	if (q->nrungs == LADDER_RUNGS || start == last) {
		q->spill_at = 2 * q->nheap;
		return;
	}
	for (uint32_t i = 0; i < q->nheap; i++)
		list_add(q, &l, node_new(q, &q->heap[i]));
	q->nheap = 0;
	rung_add(q, l, start, last);
}

/* One step towards a heap that is not empty. */
static void ladder_step(struct ladder *q)
{
	struct ladder_rung *r = &q->rung[q->nrungs - 1];
	struct ladder_list l;
	time_ps start;

	while (r->now < r->nbuckets && !r->bucket[r->now].n)
		r->now++;
	if (r->now == r->nbuckets) {
		q->nrungs--;
		return;
	}
	l = r->bucket[r->now];
	start = r->start + ((time_ps)r->now++ << r->shift);
	if (l.n > CROWD && r->shift && q->nrungs < LADDER_RUNGS)
		rung_add(q, l, start, MIN(q->end - start, ((time_ps)1 << r->shift) - 1) + start);
	else
		list_pour(q, l);
}

static void refill(struct ladder *q)
{
	while (!q->nheap) {
		if (q->nrungs) {
			ladder_step(q);
			continue;
		}
		q->end = q->top_max;
		if (q->top.n > CROWD)
			rung_add(q, q->top, q->top_min, q->top_max);
		else
			list_pour(q, q->top);
		q->top = (struct ladder_list){0};
	}
}

/* ---- interface ---- */

static inline void push_late(struct ladder *q, const struct ev *e)
{
	if (!q->nrungs && !q->top.n &&
	    q->nheap < CROWD) { /* few events: the heap alone is faster */
		q->end = e->when;
		heap_push(q, e);
		return;
	}
	q->top_min = q->top.n ? MIN(q->top_min, e->when) : e->when;
	q->top_max = q->top.n ? MAX(q->top_max, e->when) : e->when;
	list_add(q, &q->top, node_new(q, e));
}

void ladder_put(struct ladder *q, const struct ev *e)
{
	q->n++;
	if (e->when > q->end) {
		push_late(q, e);
		return;
	}
	for (uint32_t k = 0; k < q->nrungs; k++) {
		struct ladder_rung *r = &q->rung[k];

		if (e->when >= r->start && rung_index(r, e->when) >= r->now) {
			list_add(q, &r->bucket[rung_index(r, e->when)], node_new(q, e));
			return;
		}
	}
	heap_push(q, e);
	if (q->nheap > SPILL && q->nheap > q->spill_at)
		heap_spill(q);
}

const struct ev *ladder_first(struct ladder *q)
{
	if (!q->n)
		return NULL;
	if (!q->nheap)
		refill(q);
	return &q->heap[0];
}

void ladder_pop(struct ladder *q, struct ev *e)
{
	*e = *ladder_first(q);
	q->n--;
	if (--q->nheap)
		heap_sink(q, 0, &q->heap[q->nheap]);
}

void ladder_free(struct ladder *q)
{
	for (unsigned k = 0; k < LADDER_RUNGS; k++)
		free(q->rung[k].bucket);
	free(q->node);
	free(q->after);
	free(q->heap);
	*q = (struct ladder){0};
}
