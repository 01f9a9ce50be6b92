/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of 64-bit values for means and percentiles: exact below 64, then 32 steps an octave, so
 * that a percentile is off by 3 % at most. Fixed size, no allocation when a value is added.
 */
#ifndef WEFT_HIST_H
#define WEFT_HIST_H

#include "base/base.h"

enum { HIST_SUB = 32, HIST_BUCKETS = 64 + 58 * HIST_SUB };

struct hist {
	uint64_t n, max, min;
	unsigned __int128 sum, sum_squares;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t v);
void hist_merge(struct hist *into, const struct hist *from);
uint64_t hist_mean(const struct hist *h);                           /* rounded; 0 when empty */
uint64_t hist_percentile(const struct hist *h, unsigned per_mille); /* 500: the median */
uint64_t hist_sd(const struct hist *h);                             /* standard deviation, integer */

#endif
