/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every queue against the binary heap, event by event, on loads made to be awkward. Keeps no state.
 * Way in: check_queue(). Measures nothing.
 */
#include "base/rng.h"
#include "check.h"

struct pair {
	const struct queue *k;
	void *q, *ref;
	uint64_t pushed, popped;
	bool same;
};

static void push(struct pair *p, time_ps when, uint8_t priority)
{
	uint32_t i = (uint32_t)p->pushed++;
	struct ev_what e = {.kind = i & 7, .arrive = {i, i * 3, ~i}};

	p->k->push(p->q, when, priority, e);
	evq_bin.push(p->ref, when, priority, e);
}

/* The time of what came out; TIME_NEVER when nothing did. */
static time_ps pop(struct pair *p)
{
	struct ev got = {0}, want = {0};
	bool more = evq_bin.pop(p->ref, &want);

	if (p->pushed & 1) /* asking first must not matter */
		p->same &= p->k->next(p->q) == (more ? want.when : TIME_NEVER);
	p->same &= p->k->pop(p->q, &got) == more;
	p->same &= got.when == want.when && got.order >> 56 == want.order >> 56 &&
		   !memcmp(&got.what, &want.what, sizeof(got.what));
	p->popped += more;
	return more ? want.when : TIME_NEVER;
}

/* One stretch of work: pushes of one character, pops mixed in. */
static time_ps stretch(struct pair *p, struct rng *r, time_ps now)
{
	static const uint64_t spans[] = {1, 2, 7, 40000, 1000000, 75000000, PS_PER_MS, PS_PER_S};
	uint32_t n = 1 + rng_below(r, 1 << rng_below(r, 13)), pops = rng_below(r, 5);
	uint64_t span = spans[rng_below(r, ARRAY_LEN(spans))];
	unsigned far = rng_below(r, 40), early = rng_below(r, 4);

	for (uint32_t i = 0; i < n; i++) {
		time_ps when = now + rng_u64(r) % span;

		if (rng_below(r, 1000) < far)
			when = rng_below(r, 8) ? now + PS_PER_S : TIME_NEVER - rng_below(r, 2);
		else if (!early &&
			 rng_below(r, 100) == 0) /* no simulation does that; the calls allow it */
			when = rng_u64(r) % (now + 1);
		push(p, when, (uint8_t)rng_below(r, 3));
		if (rng_below(r, 4) < pops) {
			time_ps t = pop(p);

			now = t > 1000 * PS_PER_S ? now : MAX(now, t);
		}
	}
	return now;
}

bool check_queue(const struct queue *k, uint64_t seed)
{
	struct pair p = {k, mem_zalloc(k->size), mem_zalloc(evq_bin.size), 0, 0, true};
	time_ps now = 0;
	struct rng r;

	rng_seed(&r, seed, 9);
	for (unsigned i = 0; i < 40 && p.same; i++) {
		now = stretch(&p, &r, now);
		if (!rng_below(&r, 4)) /* down to few or none */
			for (uint64_t left = rng_below(&r, 50);
			     p.pushed - p.popped > left && p.same;)
				pop(&p);
	}
	while (p.same && p.popped < p.pushed)
		pop(&p);
	pop(&p);
	k->free(p.q);
	evq_bin.free(p.ref);
	free(p.q);
	free(p.ref);
	return p.same;
}
