/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps of whole events with aligned siblings and no branches among them. State: one array. Ways
 * in: evq_d4a, evq_d8a. Do not give memory back.
 */
#include "aligned.h"

#define ALIGNED(q, d, text)                                                                        \
	struct q {                                                                                 \
		struct heapa h;                                                                    \
		uint64_t seq;                                                                      \
	};                                                                                         \
	static inline void q##_push(struct q *p, time_ps when, uint8_t priority, struct ev_what e) \
	{                                                                                          \
		const struct ev x = ev_make(when, ev_order(priority, p->seq++), &e);               \
		heapa_push(&p->h, &x, d);                                                          \
	}                                                                                          \
	static inline bool q##_pop(struct q *p, struct ev *e)                                      \
	{                                                                                          \
		if (!p->h.n)                                                                       \
			return false;                                                              \
		heapa_pop(&p->h, e, d);                                                            \
		return true;                                                                       \
	}                                                                                          \
	static inline time_ps q##_next(struct q *p)                                                \
	{                                                                                          \
		return heapa_next(&p->h, d);                                                       \
	}                                                                                          \
	static inline void q##_free(struct q *p)                                                   \
	{                                                                                          \
		free(p->h.at);                                                                     \
	}                                                                                          \
	QUEUE(q, text)

ALIGNED(evq_d4a, 4, "4-ary heap, siblings aligned, no branches");
ALIGNED(evq_d8a, 8, "8-ary heap, siblings aligned, no branches");
