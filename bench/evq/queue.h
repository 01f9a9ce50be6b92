/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every compared event queue offers: the calls of src/sim/kernel/event_queue.h behind one table, so that one
 * program can drive them all. An all-zero state of `size` bytes is an empty queue. next() may
 * rearrange the queue. Each .c defines its typed calls NAME_push() ... and one QUEUE(NAME, text).
 */
#ifndef WEFT_BENCH_QUEUE_H
#define WEFT_BENCH_QUEUE_H

#include "sim/kernel/event_queue.h"

struct queue {
	const char *name, *what;
	size_t size;
	void (*push)(void *q, time_ps when, uint8_t priority, struct ev_what e);
	bool (*pop)(void *q, struct ev *e);
	time_ps (*next)(void *q);
	void (*free)(void *q);
};

extern const struct queue evq_now; /* the one in src/sim/kernel */
extern const struct queue evq_bin, evq_d4, evq_d8, evq_d4a, evq_d8a, evq_soa8, evq_key4, evq_key8;
extern const struct queue evq_pairing, evq_calendar, evq_ladder;
extern const struct queue evq_wheel, evq_wheel_fine, evq_wheel_coarse;

#define QUEUE(q, text)                                                                             \
	static void q##_push_any(void *p, time_ps when, uint8_t priority, struct ev_what e)        \
	{                                                                                          \
		q##_push(p, when, priority, e);                                                    \
	}                                                                                          \
	static bool q##_pop_any(void *p, struct ev *e)                                             \
	{                                                                                          \
		return q##_pop(p, e);                                                              \
	}                                                                                          \
	static time_ps q##_next_any(void *p)                                                       \
	{                                                                                          \
		return q##_next(p);                                                                \
	}                                                                                          \
	static void q##_free_any(void *p)                                                          \
	{                                                                                          \
		q##_free(p);                                                                       \
		memset(p, 0, sizeof(struct q));                                                    \
	}                                                                                          \
	const struct queue q = {#q,	     text,	   sizeof(struct q), q##_push_any,         \
				q##_pop_any, q##_next_any, q##_free_any}

/* The whole order as one number: compared without a branch. */
static inline unsigned __int128 ev_key(const struct ev *e)
{
	return (unsigned __int128)e->when << 64 | e->order;
}

static inline bool ev_before(const struct ev *x, const struct ev *y)
{
	return ev_key(x) < ev_key(y);
}

static inline uint64_t ev_order(uint8_t priority, uint64_t seq)
{
	return (uint64_t)priority << 56 | seq;
}

/* Whole and new: an event of which two fields were just set is slow to copy. */
static inline struct ev ev_make(time_ps when, uint64_t order, const struct ev_what *e)
{
	return (struct ev){when, order, *e};
}

#endif
