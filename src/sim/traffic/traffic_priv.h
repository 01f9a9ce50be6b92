/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random variables from uniform 64-bit words by fixed-point arithmetic: _q48 means 48 bits after
 * the point. Every function is pure: the same word gives the same value on every machine.
 */
#ifndef WEFT_TRAFFIC_PRIV_H
#define WEFT_TRAFFIC_PRIV_H

#include "base/base.h"

typedef unsigned __int128 u128;

enum { TRAFFIC_LOG_STEPS = 1024 };

/* log2(1 + i / 1024), 48 bits after the point. */
struct traffic_logs {
	uint64_t at[TRAFFIC_LOG_STEPS + 1];
};

void traffic_logs_make(struct traffic_logs *l);

/* Floor of word * n / 2^64: uniform below n. */
static inline uint64_t traffic_scaled(uint64_t word, uint64_t n)
{
	return (uint64_t)(((u128)word * n) >> 64);
}

/* Exponential with mean 1, up to 44.4. */
uint64_t traffic_exponential_q48(const struct traffic_logs *l, uint64_t word);

/*
 * Pareto of shape 3/2 between 1 and 1024: a tail of three decades, and a mean that is known
 * exactly, 3 (1 - 2^-5) / (1 - 2^-15) = 95232 / 32767.
 */
#define TRAFFIC_PARETO_NUM 95232
#define TRAFFIC_PARETO_DEN 32767
uint64_t traffic_pareto_q40(const struct traffic_logs *l, uint64_t word);

/*
 * The same weighted by its size, which is Pareto of shape 1/2: the length seen at a random moment,
 * since a long one is seen more often than a short one.
 */
uint64_t traffic_pareto_met_q40(uint64_t word);

#endif
