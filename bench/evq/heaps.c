/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain heaps with 2, 4 and 8 children a node. State: one array. Ways in: evq_bin, evq_d4 and
 * evq_d8. Do not give memory back.
 */
#include "plain.h"

#define PLAIN(q, d, text)                                                                          \
	struct q {                                                                                 \
		struct plain h;                                                                    \
		uint64_t seq;                                                                      \
	};                                                                                         \
	static inline void q##_push(struct q *p, time_ps when, uint8_t priority, struct ev_what e) \
	{                                                                                          \
		const struct ev x = ev_make(when, ev_order(priority, p->seq++), &e);               \
		plain_push(&p->h, &x, d);                                                          \
	}                                                                                          \
	static inline bool q##_pop(struct q *p, struct ev *e)                                      \
	{                                                                                          \
		return plain_pop(&p->h, e, d);                                                     \
	}                                                                                          \
	static inline time_ps q##_next(struct q *p)                                                \
	{                                                                                          \
		return plain_next(&p->h);                                                          \
	}                                                                                          \
	static inline void q##_free(struct q *p)                                                   \
	{                                                                                          \
		free(p->h.heap);                                                                   \
	}                                                                                          \
	QUEUE(q, text)

PLAIN(evq_bin, 2, "binary heap");
PLAIN(evq_d4, 4, "4-ary heap");
PLAIN(evq_d8, 8, "8-ary heap");
