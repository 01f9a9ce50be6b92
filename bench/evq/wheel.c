/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wheel in front of a small heap. Time is cut into ticks of 2^shift ps; the heap has what is due
 * up to tick `base`, later events lie unsorted in lists, 256 a level, by the highest byte in which
 * their tick differs from base. Ways in: evq_wheel, _fine, _coarse, which differ in the tick.
 */
#include "plain.h"
#include "pool.h"

enum { BITS = 8, SLOTS = 1 << BITS, WORDS = SLOTS / 64, LEVELS = 8, BATCH = 16 };

struct wheel {
	struct plain heap;
	struct pool pool;
	uint64_t base; /* a tick; the wheel has only later ones */
	uint32_t nwheel;
	time_ps next; /* of the earliest event when the heap is empty and the wheel is not */
	uint64_t seq;
	uint64_t full[LEVELS][WORDS]; /* a bit a list that is not empty */
	uint32_t list[LEVELS][SLOTS];
};

static inline void wheel_hang(struct wheel *q, uint32_t i, uint64_t tick)
{
	unsigned level = (63 - (unsigned)__builtin_clzll(tick ^ q->base)) / BITS;
	unsigned slot = tick >> (level * BITS) & (SLOTS - 1);
	uint32_t last = q->full[level][slot / 64] >> (slot % 64) & 1 ? q->list[level][slot] : 0;

	q->list[level][slot] = pool_append(&q->pool, last, i);
	q->full[level][slot / 64] |= (uint64_t)1 << (slot % 64);
}

/* The first list of a level, or SLOTS. */
static inline unsigned wheel_first(const struct wheel *q, unsigned level)
{
	for (unsigned w = 0; w < WORDS; w++)
		if (q->full[level][w])
			return w * 64 + (unsigned)__builtin_ctzll(q->full[level][w]);
	return SLOTS;
}

static inline void wheel_push(struct wheel *q, const struct ev *e, unsigned shift)
{
	uint64_t tick = e->when >> shift;
	uint32_t i;

	if (tick <= q->base) {
		plain_push(&q->heap, e, 4);
		return;
	}
	i = pool_new(&q->pool);
	q->pool.at[i].e = *e;
	wheel_hang(q, i, tick);
	q->next = q->nwheel++ ? MIN(q->next, e->when) : e->when;
}

static inline time_ps wheel_list_min(const struct wheel *q, uint32_t last)
{
	time_ps min = q->pool.at[last].e.when;

	for (uint32_t i = q->pool.at[last].next; i != last; i = q->pool.at[i].next)
		min = MIN(min, q->pool.at[i].e.when);
	return min;
}

/* Every event of a list to the heap or to where it belongs now. */
static inline void wheel_drop(struct wheel *q, unsigned level, unsigned slot, unsigned shift)
{
	uint32_t last = q->list[level][slot], i = q->pool.at[last].next, next;

	q->full[level][slot / 64] &= ~((uint64_t)1 << (slot % 64));
	for (;; i = next) {
		uint64_t tick = q->pool.at[i].e.when >> shift;

		next = q->pool.at[i].next;
		if (tick <= q->base) {
			plain_push(&q->heap, &q->pool.at[i].e, 4);
			pool_give(&q->pool, i);
			q->nwheel--;
		} else {
			wheel_hang(q, i, tick);
		}
		if (i == last)
			break;
	}
}

static inline unsigned wheel_lowest(const struct wheel *q, unsigned *slot)
{
	unsigned level = 0;

	while ((*slot = wheel_first(q, level)) == SLOTS)
		level++;
	return level;
}

/* The heap is empty, the wheel is not: at least the earliest event, and about BATCH in all. */
static void wheel_turn(struct wheel *q, unsigned shift)
{
	unsigned slot, level = wheel_lowest(q, &slot);

	q->base = q->next >> shift;
	wheel_drop(q, level, slot, shift);
	while (q->heap.n < BATCH && (slot = wheel_first(q, 0)) != SLOTS) {
		q->base = (q->base & ~(uint64_t)(SLOTS - 1)) | slot;
		wheel_drop(q, 0, slot, shift);
	}
}

static inline bool wheel_pop(struct wheel *q, struct ev *e, unsigned shift)
{
	if (!q->heap.n) {
		if (!q->nwheel)
			return false;
		wheel_turn(q, shift);
	}
	plain_pop(&q->heap, e, 4);
	if (!q->heap.n && q->nwheel) {
		unsigned slot, level = wheel_lowest(q, &slot);

		q->next = wheel_list_min(q, q->list[level][slot]);
	}
	return true;
}

#define WHEEL(q, shift, text)                                                                      \
	struct q {                                                                                 \
		struct wheel w;                                                                    \
	};                                                                                         \
	static inline void q##_push(struct q *p, time_ps when, uint8_t priority, struct ev_what e) \
	{                                                                                          \
		const struct ev x = ev_make(when, ev_order(priority, p->w.seq++), &e);             \
		wheel_push(&p->w, &x, shift);                                                      \
	}                                                                                          \
	static inline bool q##_pop(struct q *p, struct ev *e)                                      \
	{                                                                                          \
		return wheel_pop(&p->w, e, shift);                                                 \
	}                                                                                          \
	static inline time_ps q##_next(struct q *p)                                                \
	{                                                                                          \
		return p->w.heap.n   ? p->w.heap.heap[0].when                                      \
		       : p->w.nwheel ? p->w.next                                                   \
				     : TIME_NEVER;                                                 \
	}                                                                                          \
	static inline void q##_free(struct q *p)                                                   \
	{                                                                                          \
		free(p->w.heap.heap);                                                              \
		free(p->w.pool.at);                                                                \
	}                                                                                          \
	QUEUE(q, text)

WHEEL(evq_wheel, 10, "wheel of 1 ns ticks before a 4-ary heap");
WHEEL(evq_wheel_fine, 8, "the same, 0.26 ns ticks");
WHEEL(evq_wheel_coarse, 12, "the same, 4.1 ns ticks");
