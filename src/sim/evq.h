/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event queue: earliest first; at the same time the smaller priority number first, then the one
 * that was pushed first. Behind these few calls the structure can be replaced.
 */
#ifndef WEFT_EVQ_H
#define WEFT_EVQ_H

#include "base/base.h"

struct ev {
	time_ps when;
	uint64_t order; /* priority in the top byte, sequence number below: set by evq_push */
	uint32_t kind;
	uint32_t a, b, c; /* what they mean is up to the kind */
};

struct evq {
	struct ev *heap;
	uint32_t n, cap;
	uint64_t seq;
};

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev e);
bool evq_pop(struct evq *q, struct ev *e); /* false when empty */
void evq_free(struct evq *q);

static inline time_ps evq_next(const struct evq *q)
{
	return q->n ? q->heap[0].when : TIME_NEVER;
}

#endif
