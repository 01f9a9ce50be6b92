/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seeded random streams and 64-bit hashing. A stream is chosen by (seed, stream number). Each user has its own
 * stream, so that an additional draw in one place changes no other. Integers only.
 */
#ifndef WEFT_RNG_H
#define WEFT_RNG_H

#include "base/base.h"

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* uniform in [0, n), n > 0, without bias */

/* True with probability p / 2^32. prob_q32() turns a share 0..1 into such a p. */
bool rng_chance(struct rng *r, uint64_t p_q32);
uint64_t prob_q32(double share);

static inline uint64_t hash64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* Add a word to a running hash; the order of words matters. */
static inline uint64_t hash64_add(uint64_t h, uint64_t x)
{
	return hash64(h ^ (x + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2)));
}

#endif
