/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms of 64-bit values for means and percentiles: exact below 64, then 32 buckets for each octave, so
 * that a percentile is wrong by at most 3 %. Fixed size; adding a value does not allocate.
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
uint64_t hist_mean(const struct hist *h);			    /* rounded; 0 when empty */
uint64_t hist_percentile(const struct hist *h, unsigned per_mille); /* 500: the median */
uint64_t hist_sd(const struct hist *h); /* standard deviation, integer */

/* The same in less memory, for thousands of histograms: only octaves that have values have buckets (128 bytes
 * each), which stop counting at 2^32 - 1. All zero is an empty one; adding may allocate. */
struct hist_small {
	uint64_t n, max, min;
	unsigned __int128 sum;
	uint32_t *bucket;
	uint16_t first, count; /* of the buckets that exist */
};

void hist_small_add(struct hist_small *h, uint64_t v);
uint64_t hist_small_mean(const struct hist_small *h);
uint64_t hist_small_percentile(const struct hist_small *h, unsigned per_mille);
void hist_small_clear(struct hist_small *h); /* empty, and frees its memory */

#endif
