/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms. State lives in the caller's struct hist; all zero is an empty one. Way in:
 * hist_add(). Does not use floating point: mean and deviation come from exact sums, percentiles
 * from buckets.
 */
#include "base/hist.h"

typedef unsigned __int128 u128;

#define U128_MAX (~(u128)0)

/* Below 64 one bucket for each value; above, the five bits after the leading one choose the bucket. */
static unsigned bucket_of(uint64_t v)
{
	unsigned octave;

	if (v < 64)
		return (unsigned)v;
	octave = 63u - (unsigned)__builtin_clzll(v);
	return 64 + (octave - 6) * HIST_SUB + (unsigned)(v >> (octave - 5)) % HIST_SUB;
}

/* The middle of a bucket represents its values, with an error of at most 1/64. */
static uint64_t bucket_middle(unsigned b)
{
	unsigned shift;

	if (b < 64)
		return b;
	shift = (b - 64) / HIST_SUB + 1;
	return ((uint64_t)(HIST_SUB + b % HIST_SUB) << shift) + (1ull << (shift - 1));
}

/* Sums of squares saturate; hist_sd() checks for that. */
static u128 add_to_top(u128 a, u128 b)
{
	return a > U128_MAX - b ? U128_MAX : a + b;
}

void hist_add(struct hist *h, uint64_t v)
{
	h->min = h->n ? MIN(h->min, v) : v;
	h->max = MAX(h->max, v);
	h->n++;
	h->sum += v;
	h->sum_squares = add_to_top(h->sum_squares, (u128)v * v);
	h->bucket[bucket_of(v)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->n)
		return;
	into->min = into->n ? MIN(into->min, from->min) : from->min;
	into->max = MAX(into->max, from->max);
	into->n += from->n;
	into->sum += from->sum;
	into->sum_squares = add_to_top(into->sum_squares, from->sum_squares);
	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		into->bucket[b] += from->bucket[b];
}

uint64_t hist_mean(const struct hist *h)
{
	return h->n ? (uint64_t)((h->sum + h->n / 2) / h->n) : 0;
}

/* The rank, from 1 to n, of the value at which a share ends. */
static uint64_t rank_of(uint64_t n, unsigned per_mille)
{
	return (uint64_t)(((u128)n * MIN(per_mille, 1000u) + 999) / 1000);
}

/* The least value that this share of all values does not exceed. Minimum and maximum are exact. */
uint64_t hist_percentile(const struct hist *h, unsigned per_mille)
{
	uint64_t seen = 0, rank = rank_of(h->n, per_mille);
	unsigned b;

	if (rank <= 1)
		return h->min;
	if (rank == h->n)
		return h->max;
	for (b = 0; b < HIST_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen >= rank)
			break;
	}
	assert(b < HIST_BUCKETS);
	return MAX(h->min, MIN(h->max, bucket_middle(b)));
}

/* The largest integer whose square is not above v: two bits of v give one of the root. */
static uint64_t square_root(u128 v)
{
	u128 root = 0, bit = (u128)1 << 126;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

/* When the sum of squares has saturated: from the buckets, without the low half. */
static uint64_t sd_of_buckets(const struct hist *h)
{
	uint64_t mean = hist_mean(h);
	u128 squares = 0;

	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		uint64_t v = MAX(h->min, MIN(h->max, bucket_middle(b)));
		uint64_t off = (v > mean ? v - mean : mean - v) >> 32;

		squares += (u128)(off * off) * h->bucket[b];
	}
	return square_root(squares / h->n) << 32;
}

uint64_t hist_sd(const struct hist *h)
{
	u128 whole, rest, square;

	if (!h->n)
		return 0;
	if (h->sum_squares == U128_MAX)
		return sd_of_buckets(h);
	/*
	 * sum^2 / n in three parts, for sum^2 may not fit. Together they are at most sum_squares
	 * (Cauchy and Schwarz), so none of them overflows. Rounded up here, the root is exact.
	 */
	whole = h->sum / h->n;
	rest = h->sum % h->n;
	square = whole * whole * h->n + 2 * whole * rest;
	square += rest * rest / h->n + (rest * rest % h->n != 0);
	return square_root((h->sum_squares - square) / h->n);
}

/* ---- the small form ---- */

/* Make room from one octave to another; counts are moved. */
static void small_grow(struct hist_small *h, unsigned b)
{
	unsigned from = b / HIST_SUB * HIST_SUB, to = from + HIST_SUB;
	uint32_t *bucket;

	if (h->count) {
		from = MIN(from, h->first);
		to = MAX(to, (unsigned)h->first + h->count);
	}
	bucket = mem_zarray(to - from, sizeof(*bucket));
	if (h->count)
		memcpy(bucket + (h->first - from), h->bucket, h->count * sizeof(*bucket));
	free(h->bucket);
	h->bucket = bucket;
	h->first = (uint16_t)from;
	h->count = (uint16_t)(to - from);
}

void hist_small_add(struct hist_small *h, uint64_t v)
{
	unsigned b = bucket_of(v);

	if (b < h->first || b >= (unsigned)h->first + h->count)
		small_grow(h, b);
	h->min = h->n ? MIN(h->min, v) : v;
	h->max = MAX(h->max, v);
	h->n++;
	h->sum += v;
	h->bucket[b - h->first] += h->bucket[b - h->first] != UINT32_MAX;
}

uint64_t hist_small_mean(const struct hist_small *h)
{
	return h->n ? (uint64_t)((h->sum + h->n / 2) / h->n) : 0;
}

uint64_t hist_small_percentile(const struct hist_small *h, unsigned per_mille)
{
	uint64_t seen = 0, rank = rank_of(h->n, per_mille);

	if (rank <= 1)
		return h->min;
	for (unsigned b = 0; b < h->count && rank < h->n; b++) {
		seen += h->bucket[b];
		if (seen >= rank)
			return MAX(h->min, MIN(h->max, bucket_middle(h->first + b)));
	}
	return h->max;
}

void hist_small_clear(struct hist_small *h)
{
	free(h->bucket);
	*h = (struct hist_small){0};
}
