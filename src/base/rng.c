/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xoshiro256** seeded through splitmix64 (both public domain algorithms by Blackman and Vigna).
 * State lives in the caller's struct rng. Way in: rng_seed(). Does not use floating
 * point, except in prob_q32().
 */
#include "base/rng.h"

static uint64_t splitmix(uint64_t *x)
{
	*x += 0x9e3779b97f4a7c15ull;
	return hash64(*x);
}

void rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = hash64(seed) ^ hash64(stream * 0xd1342543de82ef95ull + 1);

	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&x);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(struct rng *r)
{
	uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	uint32_t x, limit;

	assert(n > 0);
	limit = UINT32_MAX - UINT32_MAX % n;
	do
		x = (uint32_t)(rng_u64(r) >> 32);
	while (x >= limit);
	return x % n;
}

bool rng_chance(struct rng *r, uint64_t p_q32)
{
	return p_q32 && (rng_u64(r) >> 32) < p_q32;
}

uint64_t prob_q32(double share)
{
	return share <= 0 ? 0 : share >= 1 ? 1ull << 32 : (uint64_t)(share * 4294967296.0);
}
