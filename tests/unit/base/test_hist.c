/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms against a sorted array and plain sums. Keeps no state.
 */
#include "unit_test.h"

#include "base/hist.h"
#include "base/rng.h"

typedef unsigned __int128 u128;

enum { VALUES = 5000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Values of all magnitudes up to 2^bits: the magnitude is drawn first. */
static void fill(uint64_t *v, unsigned n, unsigned bits, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed, 0);
	for (unsigned i = 0; i < n; i++)
		v[i] = rng_u64(&r) >> (64 - 1 - rng_below(&r, bits));
}

static struct hist *hist_of(const uint64_t *v, unsigned n)
{
	struct hist *h = mem_zalloc(sizeof(*h));

	for (unsigned i = 0; i < n; i++)
		hist_add(h, v[i]);
	return h;
}

/* Values sorted, none above 2^56, so that plain sums of 128 bits have room. */
static void check_against(const struct hist *h, const uint64_t *v, unsigned n)
{
	u128 sum = 0, squares = 0, spread, sd = hist_sd(h);

	assert_int_equal(h->n, n);
	assert_true(h->min == v[0] && h->max == v[n - 1]);
	for (unsigned i = 0; i < n; i++) {
		sum += v[i];
		squares += (u128)v[i] * v[i];
	}
	assert_true(hist_mean(h) == (uint64_t)((sum * 2 + n) / (2 * n)));
	/* sd <= sqrt(squares / n - (sum / n)^2) < sd + 1, times n^2 */
	if (sum >> 63 == 0) {
		spread = squares * n - sum * sum;
		assert_true(sd * sd * n * n <= spread);
		assert_true((sd + 1) * (sd + 1) * n * n > spread);
	}
	for (unsigned pm = 0; pm <= 1000; pm += n > 3 ? 1 : 50) {
		unsigned rank = (n * pm + 999) / 1000;
		uint64_t want = v[rank ? rank - 1 : 0], got = hist_percentile(h, pm);
		uint64_t off = got > want ? got - want : want - got;

		assert_true(want < 64 || pm == 0 || pm == 1000 ? got == want : off <= want / 63);
	}
}

TEST(percentiles_agree_with_a_sorted_array)
{
	static const unsigned bits[] = {1, 6, 7, 20, 40, 56};
	uint64_t v[VALUES];

	for (unsigned i = 0; i < ARRAY_LEN(bits); i++) {
		struct hist *h;

		fill(v, VALUES, bits[i], 7 + i);
		h = hist_of(v, VALUES);
		qsort(v, VALUES, sizeof(*v), by_value);
		check_against(h, v, VALUES);
		free(h);
	}
}

TEST(percentiles_of_few_values)
{
	uint64_t v[40];

	for (unsigned n = 1; n <= 40; n++) {
		struct hist *h;

		fill(v, n, 30, n);
		h = hist_of(v, n);
		qsort(v, n, sizeof(*v), by_value);
		check_against(h, v, n);
		free(h);
	}
}

/* The root is rounded down, even when it is close to the next integer. */
TEST(percentiles_of_all_small_triples)
{
	for (unsigned i = 0; i < 16 * 16 * 16; i++) {
		uint64_t v[3] = {i % 16, i / 16 % 16, i / 256};
		struct hist *h = hist_of(v, 3);

		qsort(v, 3, sizeof(*v), by_value);
		check_against(h, v, 3);
		free(h);
	}
}

TEST(an_empty_histogram_gives_0)
{
	static struct hist h, other;

	assert_int_equal(hist_mean(&h), 0);
	assert_int_equal(hist_sd(&h), 0);
	assert_int_equal(hist_percentile(&h, 500), 0);
	hist_add(&other, 9);
	hist_merge(&other, &h);
	assert_int_equal(other.n, 1);
	assert_int_equal(other.min, 9);
	hist_merge(&h, &other);
	assert_int_equal(h.min, 9);
	assert_int_equal(hist_percentile(&h, 500), 9);
	assert_int_equal(hist_percentile(&h, 5000), 9); /* at most all values */
}

/* The five numbers of a textbook: mean 6, deviation 2 (the root of 8 rounded down). */
TEST(known_mean_and_deviation)
{
	static struct hist h;

	for (uint64_t v = 2; v <= 10; v += 2)
		hist_add(&h, v);
	assert_int_equal(hist_mean(&h), 6);
	assert_int_equal(hist_sd(&h), 2);
	assert_int_equal(hist_percentile(&h, 600), 6);
	assert_int_equal(hist_percentile(&h, 601), 8);
	assert_int_equal(hist_percentile(&h, 200), 2);
	assert_int_equal(hist_percentile(&h, 201), 4);
	hist_add(&h, 7); /* 37 / 6 = 6.17 */
	hist_add(&h, 9); /* 46 / 7 = 6.57 */
	assert_int_equal(hist_mean(&h), 7);
}

TEST(merging_equals_adding_all_values)
{
	uint64_t v[VALUES];
	struct hist *all, *some, *rest;

	fill(v, VALUES, 48, 3);
	all = hist_of(v, VALUES);
	some = hist_of(v, 1234);
	rest = hist_of(v + 1234, VALUES - 1234);
	hist_merge(some, rest);
	assert_true(some->n == all->n && some->min == all->min && some->max == all->max);
	assert_true(some->sum == all->sum && some->sum_squares == all->sum_squares);
	assert_memory_equal(some->bucket, all->bucket, sizeof(all->bucket));
	free(all);
	free(some);
	free(rest);
}

/* Each power of two and its neighbours have a bucket, and the bucket is close to the value. */
TEST(every_octave_has_buckets)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (1ull << bit) + (uint64_t)d, got;
			static struct hist h;

			memset(&h, 0, sizeof(h));
			hist_add(&h, 0);
			hist_add(&h, v);
			hist_add(&h, UINT64_MAX);
			got = hist_percentile(&h, 500);
			assert_true(v < 64 ? got == v : (got > v ? got - v : v - got) <= v / 63);
		}
	}
}

/* Squares that need more than 128 bits: approximately right. */
TEST(largest_values_do_not_overflow)
{
	static struct hist h;

	hist_add(&h, UINT64_MAX);
	assert_true(hist_mean(&h) == UINT64_MAX);
	assert_int_equal(hist_sd(&h), 0);
	for (unsigned i = 0; i < 999; i++)
		hist_add(&h, UINT64_MAX);
	assert_true(hist_mean(&h) == UINT64_MAX);
	assert_int_equal(hist_sd(&h), 0);
	for (unsigned i = 0; i < 1000; i++)
		hist_add(&h, 0);
	assert_true(hist_mean(&h) == 1ull << 63);
	assert_true(hist_sd(&h) > (1ull << 63) / 100 * 97);
	assert_true(hist_sd(&h) < (1ull << 63) / 100 * 103);
}

/* The small form agrees with the large one, and has buckets only for octaves with values. */
TEST(hist_small_agrees_with_hist)
{
	static uint64_t v[VALUES];
	struct hist_small s = {0};
	struct hist *h;

	assert_int_equal(hist_small_percentile(&s, 990), 0);
	fill(v, VALUES, 56, 4);
	h = hist_of(v, VALUES);
	for (unsigned i = 0; i < VALUES; i++)
		hist_small_add(&s, v[i]);
	assert_true(s.n == h->n && s.min == h->min && s.max == h->max);
	assert_true(hist_small_mean(&s) == hist_mean(h));
	for (unsigned q = 0; q <= 1000; q++)
		assert_true(hist_small_percentile(&s, q) == hist_percentile(h, q));
	hist_small_clear(&s);
	for (unsigned i = 0; i < 1000; i++)
		hist_small_add(&s, 3000000 + i);
	assert_int_equal(s.count, HIST_SUB); /* all in one octave */
	hist_small_add(&s, 2000000);
	assert_int_equal(s.count, 2 * HIST_SUB);
	assert_int_equal(hist_small_percentile(&s, 0), 2000000);
	hist_small_clear(&s);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_agree_with_a_sorted_array),
		cmocka_unit_test(percentiles_of_few_values),
		cmocka_unit_test(percentiles_of_all_small_triples),
		cmocka_unit_test(an_empty_histogram_gives_0),
		cmocka_unit_test(known_mean_and_deviation),
		cmocka_unit_test(merging_equals_adding_all_values),
		cmocka_unit_test(every_octave_has_buckets),
		cmocka_unit_test(largest_values_do_not_overflow),
		cmocka_unit_test(hist_small_agrees_with_hist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
