/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An 8-ary heap in two arrays: the times of eight siblings are one cache line, the rest of an event
 * is looked at on a tie and moved with its time. Way in: evq_soa8. Does not give memory back.
 */
#include "queue.h"

struct rest {
	uint64_t order;
	struct ev_what what;
};

struct evq_soa8 {
	time_ps *when; /* the root at 7, see aligned.h */
	struct rest *rest;
	uint32_t n, cap;
	uint64_t seq;
};

static void soa_grow(struct evq_soa8 *q)
{
	uint32_t cap = q->cap ? q->cap * 2 : 256;
	time_ps *when = aligned_alloc(64, (cap + 16) * sizeof(*when));

	assert(when);
	memset(when, 0xff, (cap + 16) * sizeof(*when));
	if (q->n)
		memcpy(when + 7, q->when + 7, q->n * sizeof(*when));
	free(q->when);
	q->when = when;
	q->rest = mem_resize(q->rest, cap + 16, sizeof(*q->rest));
	for (uint32_t i = q->n + 7; i < cap + 16; i++)
		q->rest[i].order = UINT64_MAX;
	q->cap = cap;
}

static inline void evq_soa8_push(struct evq_soa8 *q, time_ps when, uint8_t priority,
				 struct ev_what e)
{
	struct rest r = {ev_order(priority, q->seq++), e};
	uint32_t i;

	if (q->n == q->cap)
		soa_grow(q);
	for (i = 7 + q->n++; i > 7;) {
		uint32_t up = i / 8 + 6;

		if (when > q->when[up] || (when == q->when[up] && r.order > q->rest[up].order))
			break;
		q->when[i] = q->when[up];
		q->rest[i] = q->rest[up];
		i = up;
	}
	q->when[i] = when;
	q->rest[i] = r;
}

/* By time alone first; only siblings of the same least time are told apart by order. */
static inline uint32_t soa_least(const struct evq_soa8 *q, uint32_t c)
{
	time_ps least = q->when[c];
	uint32_t best = c, same = 0;

	for (unsigned k = 1; k < 8; k++)
		least = MIN(least, q->when[c + k]);
	for (unsigned k = 0; k < 8; k++)
		same |= (uint32_t)(q->when[c + k] == least) << k;
	best = c + (uint32_t)__builtin_ctz(same);
	while (same &= same - 1) {
		uint32_t x = c + (uint32_t)__builtin_ctz(same);

		best = q->rest[x].order < q->rest[best].order ? x : best;
	}
	return best;
}

static inline void soa_sink(struct evq_soa8 *q, uint32_t end, time_ps when, struct rest r)
{
	uint32_t i = 7;

	for (uint32_t c; c = 8 * (i - 6), c < end;) {
		c = soa_least(q, c);
		if (q->when[c] > when || (q->when[c] == when && q->rest[c].order > r.order))
			break;
		q->when[i] = q->when[c];
		q->rest[i] = q->rest[c];
		i = c;
	}
	q->when[i] = when;
	q->rest[i] = r;
}

static inline bool evq_soa8_pop(struct evq_soa8 *q, struct ev *e)
{
	uint32_t end;
	time_ps when;
	struct rest r;

	if (!q->n)
		return false;
	end = 7 + --q->n;
	when = q->when[end];
	r = q->rest[end];
	*e = (struct ev){q->when[7], q->rest[7].order, q->rest[7].what};
	q->when[end] = TIME_NEVER;
	q->rest[end].order = UINT64_MAX;
	if (q->n)
		soa_sink(q, end, when, r);
	return true;
}

static inline time_ps evq_soa8_next(struct evq_soa8 *q)
{
	return q->n ? q->when[7] : TIME_NEVER;
}

static inline void evq_soa8_free(struct evq_soa8 *q)
{
	free(q->when);
	free(q->rest);
}

QUEUE(evq_soa8, "8-ary heap, times in an array of their own");
