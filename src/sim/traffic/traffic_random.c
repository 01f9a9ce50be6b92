/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exponential and Pareto variables by inversion in fixed point, with a table of logarithms that the
 * caller keeps. Keeps no state. Way in: traffic_logs_make(). Does not draw: the caller gives the
 * uniform words.
 */
#include "sim/traffic/traffic_priv.h"

enum { LOG_BITS = 48, INDEX_BITS = 10 };

#define LN2_Q64 0xb17217f7d1cf79abull /* the natural logarithm of 2 */

/* Bit by bit: squaring doubles the logarithm, and its next bit is whether the square reached 2. */
static uint64_t log2_by_squaring(uint64_t m_q62)
{
	uint64_t log = 0;

	for (unsigned b = 0; b < LOG_BITS; b++) {
		m_q62 = (uint64_t)(((u128)m_q62 * m_q62) >> 62);
		log = log << 1 | m_q62 >> 63;
		m_q62 >>= m_q62 >> 63;
	}
	return log;
}

void traffic_logs_make(struct traffic_logs *l)
{
	for (uint64_t i = 0; i < TRAFFIC_LOG_STEPS; i++)
		l->at[i] = log2_by_squaring((1ull << 62) + (i << (62 - INDEX_BITS)));
	l->at[TRAFFIC_LOG_STEPS] = 1ull << LOG_BITS;
}

/* -log2(word / 2^64), between table entries on a straight line (off by less than 2^-22). */
static uint64_t minus_log2_q48(const struct traffic_logs *l, uint64_t word)
{
	unsigned zeros = (unsigned)__builtin_clzll(word), i;
	uint64_t behind, rest, log;

	behind = (word << zeros) & ~(1ull << 63);
	i = (unsigned)(behind >> (63 - INDEX_BITS));
	rest = behind & ((1ull << (63 - INDEX_BITS)) - 1);
	log = l->at[i] + (uint64_t)(((u128)(l->at[i + 1] - l->at[i]) * rest) >> (63 - INDEX_BITS));
	return ((uint64_t)(zeros + 1) << LOG_BITS) - log;
}

/* 2^x, the inverse of the above with the same straight lines; x below 23 so that it fits. */
static uint64_t exp2_q40(const struct traffic_logs *l, uint64_t x_q48)
{
	uint64_t frac = x_q48 & ((1ull << LOG_BITS) - 1), mantissa_q52;
	unsigned lo = 0, hi = TRAFFIC_LOG_STEPS;

	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;

		if (l->at[mid] <= frac)
			lo = mid;
		else
			hi = mid;
	}
	mantissa_q52 = (1ull << 52) + ((uint64_t)lo << (52 - INDEX_BITS));
	mantissa_q52 += (uint64_t)(((u128)(frac - l->at[lo]) << (52 - INDEX_BITS)) /
				   (l->at[hi] - l->at[lo]));
	return (uint64_t)((u128)mantissa_q52 << (x_q48 >> LOG_BITS) >> 12);
}

uint64_t traffic_exponential_q48(const struct traffic_logs *l, uint64_t word)
{
	return (uint64_t)(((u128)minus_log2_q48(l, MAX(word, 1u)) * LN2_Q64) >> 64);
}

uint64_t traffic_pareto_q40(const struct traffic_logs *l, uint64_t word)
{
	const uint64_t least = 1ull << 49; /* 2^-15 of all, where the inverse reaches 1024 */
	uint64_t u = least + traffic_scaled(word, -least);

	return exp2_q40(l, minus_log2_q48(l, u) / 3 * 2);
}

uint64_t traffic_pareto_met_q40(uint64_t word)
{
	const uint64_t least = 1ull << 27; /* 1/32, whose inverse square is 1024 */
	uint64_t u = least + 1 + traffic_scaled(word, (1ull << 32) - least);

	return (uint64_t)(((u128)1 << 104) / ((u128)u * u));
}
