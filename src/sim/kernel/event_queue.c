/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wheel for the next 2 us, where nearly all events of data packets are, before a ladder queue for
 * the others. State: struct evq. Ways in: evq_push(), evq_pop(). Does not run events.
 * docs/event-queue.md compares it with others.
 */
#include "sim/kernel/event_queue.h"

enum {
	SPAN_BITS = 21, /* the wheel spans 2^21 ps */
	LEAST = 1024,
	MOST = 1 << 16, /* buckets */
	WALK = 16,	/* events of a bucket that a push passes; if there are more, it goes far */
};

#define UNRANKED (1ull << 55)

/* ---- the wheel ---- */

static inline uint32_t slot_of(const struct evq_near *w, time_ps when)
{
	return (uint32_t)(when >> w->shift) & w->mask;
}

/* The first bucket with events from this word of bits on; UINT32_MAX: none. */
static uint32_t slot_from_word(const struct evq_near *w, uint32_t word)
{
	uint32_t n = (w->mask + 4096) / 4096, k = word / 64;
	uint64_t left = k < n ? w->words[k] & ~0ull << word % 64 : 0;

	while (!left && ++k < n)
		left = w->words[k];
	if (!left)
		return UINT32_MAX;
	word = k * 64 + (uint32_t)__builtin_ctzll(left);
	return word * 64 + (uint32_t)__builtin_ctzll(w->bits[word]);
}

/* The next bucket with events, this one included, around the wheel; there is one. */
static inline uint32_t next_slot(const struct evq_near *w, uint32_t slot)
{
	uint64_t left = w->bits[slot / 64] >> slot % 64;
	uint32_t next;

	if (left)
		return slot + (uint32_t)__builtin_ctzll(left);
	next = slot_from_word(w, slot / 64 + 1);
	return next != UINT32_MAX ? next : slot_from_word(w, 0);
}

/* Twice as many nodes. Free ones are used in the order of their places. */
static void pool_grow(struct evq_near *w)
{
	uint32_t first = MAX(w->node_cap, 1u);

	w->node_cap = MAX(w->node_cap * 2, 256u);
	w->node = mem_resize(w->node, w->node_cap, sizeof(*w->node));
	w->after = mem_resize(w->after, w->node_cap, sizeof(*w->after));
	w->node[0] = (struct ev){.when = TIME_NEVER, .order = UINT64_MAX};
	w->after[0] = 0;
	for (uint32_t i = w->node_cap; i-- > first;) {
		w->after[i] = w->spare;
		w->spare = i;
	}
}

static inline void bits_set(struct evq_near *w, uint32_t slot)
{
	w->bits[slot / 64] |= 1ull << slot % 64;
	w->words[slot / 4096] |= 1ull << slot / 64 % 64;
}

static inline void bits_clear(struct evq_near *w, uint32_t slot)
{
	w->bits[slot / 64] &= ~(1ull << slot % 64);
	if (!w->bits[slot / 64])
		w->words[slot / 4096] &= ~(1ull << slot / 64 % 64);
}

/* The list of a bucket over the narrower ones of a larger wheel. */
static void spread(struct evq_near *w, uint32_t i)
{
	uint32_t *at = NULL, slot = UINT32_MAX;

	for (uint32_t next; i; i = next) {
		next = w->after[i];
		if (slot_of(w, w->node[i].when) != slot) {
			slot = slot_of(w, w->node[i].when);
			at = &w->bucket[slot];
			bits_set(w, slot);
		}
		*at = i;
		at = &w->after[i];
		*at = 0;
	}
}

/* The first buckets, or twice as many, half as wide. */
static void wheel_grow(struct evq_near *w)
{
	uint32_t *old = w->bucket, n = old ? w->mask + 1 : 0, new = old ? 2 * n : LEAST;

	w->mask = new - 1;
	w->full = new < MOST ? new / 2 : UINT32_MAX;
	w->shift = (uint32_t)(SPAN_BITS - __builtin_ctz(new));
	free(w->bits);
	free(w->words);
	w->bucket = mem_zarray(new, sizeof(*w->bucket));
	w->bits = mem_zarray(new / 64, sizeof(*w->bits));
	w->words = mem_zarray((new + 4095) / 4096, sizeof(*w->words));
	for (uint32_t k = 0; k < n; k++)
		spread(w, old[k]);
	free(old);
}

/* The wheel has what follows this time. */
static inline void wheel_turn(struct evq_near *w, time_ps when)
{
	w->start = when >> w->shift << w->shift;
}

/* Into its bucket; false: there is no free node, or too many events are before it. */
static inline bool wheel_put(struct evq_near *w, const struct ev *e)
{
	struct ev *node = w->node;
	uint32_t *after = w->after, *at, i = w->spare, slot = slot_of(w, e->when);

	if (!i)
		return false;
	at = &w->bucket[slot];
	for (unsigned walk = 0; ev_is_before(&node[*at], e); walk++) {
		if (walk == WALK)
			return false;
		at = &after[*at];
	}
	w->spare = after[i];
	node[i] = *e;
	after[i] = *at;
	*at = i;
	bits_set(w, slot);
	w->n++;
	if (ev_is_before(e, &node[w->first]))
		w->first = i;
	return true;
}

static inline void wheel_pop(struct evq_near *w, struct ev *e)
{
	uint32_t *after = w->after, i = w->first, next = after[i];
	const struct ev *n = &w->node[i];
	uint32_t slot = slot_of(w, n->when);

	wheel_turn(w, n->when);
	*e = *n;
	w->bucket[slot] = next;
	after[i] = w->spare;
	w->spare = i;
	w->n--;
	if (!next) {
		bits_clear(w, slot);
		next = w->n ? w->bucket[next_slot(w, slot)] : 0;
	}
	w->first = next;
}

/* ---- interface ---- */

static inline bool is_near(const struct evq_near *w, time_ps when)
{
	return (when - w->start) >> SPAN_BITS == 0;
}

/* When the wheel is new, full, in another time, or crowded at this one. A wheel without events can
 * turn back. */
__attribute__((noinline)) static void put_slow(struct evq *q, const struct ev *e)
{
	struct evq_near *w = &q->near;

	if (w->n >= w->full)
		wheel_grow(w);
	if (!w->spare)
		pool_grow(w);
	if (!q->far.n)
		q->far_next = TIME_NEVER;
	if (!w->n && e->when < w->start)
		wheel_turn(w, e->when);
	if (is_near(w, e->when) && wheel_put(w, e))
		return;
	q->far_next = MIN(q->far_next, e->when);
	ladder_put(&q->far, e);
}

__attribute__((always_inline)) static inline void put(struct evq *q, const struct ev *e)
{
	struct evq_near *w = &q->near;

	q->n++;
	if (w->n >= w->full || !is_near(w, e->when) || !wheel_put(w, e))
		put_slow(q, e);
}

void evq_put(struct evq *q, const struct ev *e)
{
	put(q, e);
}

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev_what what)
{
	const struct ev new = {when, (uint64_t)priority << 56 | UNRANKED | q->seq++, what};

	put(q, &new);
}

static void far_pop(struct evq *q, struct ev *e)
{
	const struct ev *next;

	ladder_pop(&q->far, e);
	next = ladder_first(&q->far);
	q->far_next = next ? next->when : TIME_NEVER;
	if ((e->when >= q->near.start || !q->near.n) && e->when < TIME_NEVER / 2)
		wheel_turn(&q->near, e->when); /* which must not span the end of time */
}

bool evq_pop(struct evq *q, struct ev *e)
{
	struct evq_near *w = &q->near;
	const struct ev *first;

	if (!q->n)
		return false;
	q->n--;
	first = &w->node[w->first];
	if (first->when < q->far_next ||
	    (first->when == q->far_next && w->n &&
	     (!q->far.n || ev_is_before(first, ladder_first(&q->far)))))
		wheel_pop(w, e);
	else
		far_pop(q, e);
	return true;
}

const struct ev *evq_ahead(const struct evq *q, unsigned skip)
{
	const struct evq_near *w = &q->near;
	uint32_t i = w->first;

	if (skip >= w->n)
		return NULL;
	while (skip--)
		i = w->after[i]
			    ? w->after[i]
			    : w->bucket[next_slot(w, (slot_of(w, w->node[i].when) + 1) & w->mask)];
	return &w->node[i];
}

void evq_free(struct evq *q)
{
	ladder_free(&q->far);
	free(q->near.bucket);
	free(q->near.bits);
	free(q->near.words);
	free(q->near.node);
	free(q->near.after);
	*q = (struct evq){0};
}
