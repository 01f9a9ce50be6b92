/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps of 16-byte keys; the rest of an event waits in a pool, where the key's last bits point.
 * Ways in: evq_key4, evq_key8. Hold 2^24 events at most; 32 bits of sequence are renumbered when
 * spent.
 */
#include "queue.h"

typedef unsigned __int128 key; /* time 64, priority 8, sequence 32, slot 24 */

struct keyed {
	key *at; /* the root at d - 1, see aligned.h */
	struct ev_what *body;
	uint32_t *spare;
	uint32_t n, cap, used, nspare;
	uint64_t seq;
};

static void keyed_grow(struct keyed *q, unsigned d)
{
	uint32_t cap = q->cap ? q->cap * 2 : 256;
	key *at = aligned_alloc(128, ((cap + 2 * d) * sizeof(*at) + 127) / 128 * 128);

	assert(at && cap <= 1u << 24);
	memset(at, 0xff, (cap + 2 * d) * sizeof(*at));
	if (q->n)
		memcpy(at + d - 1, q->at + d - 1, q->n * sizeof(*at));
	free(q->at);
	q->at = at;
	q->body = mem_resize(q->body, cap, sizeof(*q->body));
	q->spare = mem_resize(q->spare, cap, sizeof(*q->spare));
	q->cap = cap;
}

static int key_compare(const void *x, const void *y)
{
	const key *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* A sorted array is a heap: give the pending events the first numbers in their order. */
static void keyed_renumber(struct keyed *q, unsigned d)
{
	key *k = q->at + d - 1;

	qsort(k, q->n, sizeof(*k), key_compare);
	for (uint32_t i = 0; i < q->n; i++)
		k[i] = (k[i] & ~((key)UINT32_MAX << 24)) | (key)i << 24;
	q->seq = q->n;
}

static inline void keyed_push(struct keyed *q, time_ps when, uint8_t priority,
			      const struct ev_what *e, unsigned d)
{
	uint32_t slot, i;
	key k;

	if (q->n == q->cap)
		keyed_grow(q, d);
	if (q->seq > UINT32_MAX)
		keyed_renumber(q, d);
	slot = q->nspare ? q->spare[--q->nspare] : q->used++;
	q->body[slot] = *e;
	k = (key)when << 64 | (uint64_t)priority << 56 | q->seq++ << 24 | slot;
	for (i = d - 1 + q->n++; i > d - 1;) {
		uint32_t up = i / d + d - 2;

		if (k > q->at[up])
			break;
		q->at[i] = q->at[up];
		i = up;
	}
	q->at[i] = k;
}

static inline uint32_t key_less(const key *at, uint32_t x, uint32_t y)
{
	return at[y] < at[x] ? y : x;
}

static inline uint32_t key_least(const key *at, uint32_t c, unsigned d)
{
	uint32_t x = key_less(at, key_less(at, c, c + 1), key_less(at, c + 2, c + 3));

	if (d == 8)
		x = key_less(at, x,
			     key_less(at, key_less(at, c + 4, c + 5), key_less(at, c + 6, c + 7)));
	return x;
}

static inline key keyed_take(struct keyed *q, unsigned d)
{
	uint32_t i = d - 1, end = d - 1 + --q->n;
	key first = q->at[i], last = q->at[end];

	q->at[end] = ~(key)0;
	if (!q->n)
		return first;
	for (uint32_t c; c = d * (i - d + 2), c < end;) {
		c = key_least(q->at, c, d);
		if (q->at[c] > last)
			break;
		q->at[i] = q->at[c];
		i = c;
	}
	q->at[i] = last;
	return first;
}

static inline bool keyed_pop(struct keyed *q, struct ev *e, unsigned d)
{
	uint32_t slot;
	key k;

	if (!q->n)
		return false;
	slot = (uint32_t)q->at[d - 1] & 0xffffff;
	__builtin_prefetch(&q->body[slot]);
	k = keyed_take(q, d);
	*e = (struct ev){(time_ps)(k >> 64), (uint64_t)k, q->body[slot]};
	q->spare[q->nspare++] = slot;
	return true;
}

#define KEYED(q, d, text)                                                                          \
	struct q {                                                                                 \
		struct keyed k;                                                                    \
	};                                                                                         \
	static inline void q##_push(struct q *p, time_ps when, uint8_t priority, struct ev_what e) \
	{                                                                                          \
		keyed_push(&p->k, when, priority, &e, d);                                          \
	}                                                                                          \
	static inline bool q##_pop(struct q *p, struct ev *e)                                      \
	{                                                                                          \
		return keyed_pop(&p->k, e, d);                                                     \
	}                                                                                          \
	static inline time_ps q##_next(struct q *p)                                                \
	{                                                                                          \
		return p->k.n ? (time_ps)(p->k.at[d - 1] >> 64) : TIME_NEVER;                      \
	}                                                                                          \
	static inline void q##_free(struct q *p)                                                   \
	{                                                                                          \
		free(p->k.at);                                                                     \
		free(p->k.body);                                                                   \
		free(p->k.spare);                                                                  \
	}                                                                                          \
	QUEUE(q, text)

KEYED(evq_key4, 4, "4-ary heap of 16-byte keys, bodies apart");
KEYED(evq_key8, 8, "8-ary heap of 16-byte keys, bodies apart");
