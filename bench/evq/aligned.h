/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of whole events with D children a node (4 or 8), laid out so that siblings begin on a
 * cache line, and with the least child found without branches. Missing children are events after
 * the end of time, so there is no last incomplete group to treat apart.
 *
 * Children of slot i begin at D * (i - D + 2): the root is slot D - 1, its children D .. 2D - 1.
 */
#ifndef WEFT_BENCH_ALIGNED_H
#define WEFT_BENCH_ALIGNED_H

#include "queue.h"

struct heapa {
	struct ev *at;
	uint32_t n, cap; /* cap: slots, without the ones before the root */
};

#define HEAPA_LAST ((struct ev){.when = TIME_NEVER, .order = UINT64_MAX})

static inline void heapa_grow(struct heapa *h, unsigned d)
{
	uint32_t cap = h->cap ? h->cap * 2 : 256;
	struct ev *at = aligned_alloc(256, ((cap + 2 * d) * sizeof(*at) + 255) / 256 * 256);

	assert(at);
	for (uint32_t i = 0; i < cap + 2 * d; i++)
		at[i] = HEAPA_LAST;
	if (h->n)
		memcpy(at + d - 1, h->at + d - 1, h->n * sizeof(*at));
	free(h->at);
	h->at = at;
	h->cap = cap;
}

static inline void heapa_push(struct heapa *h, const struct ev *e, unsigned d)
{
	uint32_t i;

	if (h->n == h->cap)
		heapa_grow(h, d);
	i = d - 1 + h->n++;
	while (i > d - 1) {
		uint32_t up = i / d + d - 2;

		if (!ev_before(e, &h->at[up]))
			break;
		h->at[i] = h->at[up];
		i = up;
	}
	h->at[i] = *e;
}

static inline uint32_t heapa_less(const struct ev *at, uint32_t x, uint32_t y)
{
	return ev_before(&at[y], &at[x]) ? y : x;
}

static inline uint32_t heapa_least(const struct ev *at, uint32_t c, unsigned d)
{
	uint32_t x = heapa_less(at, heapa_less(at, c, c + 1), heapa_less(at, c + 2, c + 3));

	if (d == 8)
		x = heapa_less(
			at, x,
			heapa_less(at, heapa_less(at, c + 4, c + 5), heapa_less(at, c + 6, c + 7)));
	return x;
}

static inline void heapa_pop(struct heapa *h, struct ev *e, unsigned d)
{
	uint32_t i = d - 1, end = d - 1 + --h->n;
	struct ev last = h->at[end];

	*e = h->at[i];
	h->at[end] = HEAPA_LAST;
	if (!h->n)
		return;
	for (uint32_t c; c = d * (i - d + 2), c < end;) {
		c = heapa_least(h->at, c, d);
		if (!ev_before(&h->at[c], &last))
			break;
		h->at[i] = h->at[c];
		i = c;
	}
	h->at[i] = last;
}

static inline time_ps heapa_next(const struct heapa *h, unsigned d)
{
	return h->n ? h->at[d - 1].when : TIME_NEVER;
}

#endif
