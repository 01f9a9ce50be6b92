/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wheel for the next 2 us, where nearly all events of data packets are, before a ladder queue for
 * the others. State: struct evq. Ways in: evq_push(), evq_pop(). Does not run events.
 * docs/event-queue.md compares it with others.
 */
#include "sim/kernel/event_queue.h"

enum {
	SPAN_BITS = 21, /* the wheel spans 2^21 ps */
	LEAST = 1024,	/* buckets */
	MOST = 1 << 16, /* the same */
	WALK = 16,	/* events of a bucket that a push passes; if there are more, it goes far */
};

#define UNRANKED (1ull << 55)

/* ---- the wheel ---- */

static inline uint32_t slot_of(const struct evq_near *w, time_ps when)
{
	return (uint32_t)(when >> w->shift) & w->mask;
}

/* The next bucket with events, this one included, around the wheel; there is one. */
static inline uint32_t next_slot(const struct evq_near *w, uint32_t slot)
{
	uint32_t word = slot / 64;
	uint64_t left = w->bits[word] >> slot % 64;

	if (left)
		return slot + (uint32_t)__builtin_ctzll(left);
	do
		word = (word + 1) & w->mask / 64;
	while (!w->bits[word]);
	return word * 64 + (uint32_t)__builtin_ctzll(w->bits[word]);
}

static inline void mark(struct evq_near *w, uint32_t slot)
{
	w->bits[slot / 64] |= 1ull << slot % 64;
}

/* Twice as many nodes. Free ones are used in the order of their places. */
static void pool_grow(struct evq_near *w)
{
	uint32_t first = MAX(w->node_cap, 1u);

	w->node_cap = MAX(w->node_cap * 2, LEAST / 4u);
	w->node = mem_resize(w->node, w->node_cap, sizeof(*w->node));
	w->after = mem_resize(w->after, w->node_cap, sizeof(*w->after));
	w->node[0] = (struct ev){.when = TIME_NEVER, .order = UINT64_MAX};
	w->after[0] = 0;
	for (uint32_t i = w->node_cap; i-- > first;) {
		w->after[i] = w->spare;
		w->spare = i;
	}
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
			mark(w, slot);
		}
		*at = i;
		at = &w->after[i];
		*at = 0;
	}
}

/* More nodes, and four buckets for each, as long as they are not too many. */
static void wheel_grow(struct evq_near *w)
{
	uint32_t *old = w->bucket, n = old ? w->mask + 1 : 0, new;

	pool_grow(w);
	new = MIN(4 * w->node_cap, (uint32_t)MOST);
	if (new == n)
		return;
	w->mask = new - 1;
	w->shift = (uint32_t)(SPAN_BITS - __builtin_ctz(new));
	free(w->bits);
	w->bucket = mem_zarray(new, sizeof(*w->bucket));
	w->bits = mem_zarray(new / 64, sizeof(*w->bits));
	for (uint32_t k = 0; k < n; k++)
		spread(w, old[k]);
	free(old);
}

/* The wheel has what follows this time. */
static inline void wheel_turn(struct evq_near *w, time_ps when)
{
	w->start = when >> w->shift << w->shift;
}

static inline bool is_near(const struct evq_near *w, time_ps when)
{
	return (when - w->start) >> SPAN_BITS == 0;
}

/* Into its bucket; false: it belongs elsewhere, there is no free node, or too many are before it.
 * By value: an event that was just written in parts is slow to read as a whole. */
__attribute__((always_inline)) static inline bool wheel_put(struct evq_near *w, time_ps when,
							    uint64_t order, struct ev_what what)
{
	uint32_t *after = w->after, *at, i = w->spare, slot = slot_of(w, when);
	struct ev *node = w->node;
	unsigned walk = 0;

	if (!i || !is_near(w, when))
		return false;
	for (at = &w->bucket[slot]; node[*at].when <= when; at = &after[*at])
		if ((node[*at].when == when && node[*at].order > order) || walk++ == WALK)
			break;
	if (walk > WALK)
		return false;
	w->spare = after[i];
	node[i].when = when;
	node[i].order = order;
	node[i].what.word[0] = what.word[0];
	node[i].what.word[1] = what.word[1];
	after[i] = *at;
	*at = i;
	mark(w, slot);
	if (when < node[w->first].when ||
	    (when == node[w->first].when && order < node[w->first].order))
		w->first = i;
	return true;
}

static inline void wheel_pop(struct evq_near *w, struct ev *e, bool last)
{
	uint32_t *after = w->after, i = w->first, next = after[i];
	const struct ev *n = &w->node[i];
	uint32_t slot = slot_of(w, n->when);

	wheel_turn(w, n->when);
	*e = *n;
	w->bucket[slot] = next;
	after[i] = w->spare;
	w->spare = i;
	if (!next) {
		w->bits[slot / 64] &= ~(1ull << slot % 64);
		next = last ? 0 : w->bucket[next_slot(w, slot)];
	}
	w->first = next;
}

/* ---- interface ---- */

static bool has_near(const struct evq *q)
{
	return q->near.first;
}

/* When the wheel is new, full, in another time, or crowded at this one. A wheel without events can
 * turn back. */
__attribute__((noinline)) static void put_slow(struct evq *q, const struct ev *e)
{
	struct evq_near *w = &q->near;

	if (!w->spare)
		wheel_grow(w);
	if (!q->far.n)
		q->far_next = TIME_NEVER;
	if (!has_near(q) && e->when < w->start)
		wheel_turn(w, e->when);
	if (wheel_put(w, e->when, e->order, e->what))
		return;
	q->far_next = MIN(q->far_next, e->when);
	ladder_put(&q->far, e);
}

void evq_add(struct evq *q, time_ps when, uint64_t order, struct ev_what what)
{
	q->n++;
	if (!wheel_put(&q->near, when, order, what))
		put_slow(q, &(struct ev){when, order, what});
}

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev_what what)
{
	evq_add(q, when, (uint64_t)priority << 56 | UNRANKED | q->seq++, what);
}

static void far_pop(struct evq *q, struct ev *e)
{
	const struct ev *next;

	ladder_pop(&q->far, e);
	next = ladder_first(&q->far);
	q->far_next = next ? next->when : TIME_NEVER;
	if ((e->when >= q->near.start || !has_near(q)) && e->when < TIME_NEVER / 2)
		wheel_turn(&q->near, e->when); /* which must not span the end of time */
}

/* Of two that are due at the same time. */
static bool near_is_first(struct evq *q)
{
	return has_near(q) &&
	       (!q->far.n || ev_is_before(&q->near.node[q->near.first], ladder_first(&q->far)));
}

bool evq_pop(struct evq *q, struct ev *e)
{
	struct evq_near *w = &q->near;
	time_ps near;

	if (!q->n)
		return false;
	q->n--;
	near = w->node[w->first].when;
	if (near < q->far_next || (near == q->far_next && near_is_first(q)))
		wheel_pop(w, e, q->n == q->far.n);
	else
		far_pop(q, e);
	return true;
}

void evq_free(struct evq *q)
{
	ladder_free(&q->far);
	free(q->near.bucket);
	free(q->near.bits);
	free(q->near.node);
	free(q->near.after);
	*q = (struct evq){0};
}
