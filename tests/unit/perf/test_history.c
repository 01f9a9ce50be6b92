/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of 16 bits, and rings of samples. */
#include "unit_test.h"

#include "base/rng.h"
#include "perf/perf_priv.h"

TEST(codes_are_close)
{
	struct rng r;

	rng_seed(&r, 1, 1);
	for (uint64_t v = 0; v < 2048; v++)
		assert_int_equal(perf_decode(perf_code(v)), v);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t v = rng_u64(&r) >> (23 + rng_below(&r, 40)), w = perf_decode(perf_code(v));

		assert_true(w <= v && v - w <= v / 1024);
	}
	assert_int_equal(perf_code(UINT64_MAX), 0xfffe);
}

enum { SLOTS = 6, SECOND = 1000000 };

static void add(struct perf_ring *r, uint64_t s, uint64_t words, uint64_t errors, uint64_t us)
{
	perf_ring_add(r, SLOTS, SECOND, s * SECOND / 10,
		      &(struct perf_delta){words, 0, 0, errors, us});
}

TEST(slots_are_kept_and_forgotten)
{
	uint64_t at[SLOTS] = {0};
	struct perf_ring r = {.at = at};
	struct perf_sample out[5];

	perf_ring_read(&r, SLOTS, SECOND, 0, out, 5);
	assert_false(out[4].known);
	add(&r, 1, 100, 2, SECOND / 2);
	add(&r, 6, 150, 1, SECOND / 2);
	add(&r, 11, 500, 0, SECOND / 2); /* the next slot */
	perf_ring_read(&r, SLOTS, SECOND, SECOND + 1, out, 5);
	assert_false(out[3].known);
	assert_true(out[4].known);
	assert_int_equal(out[4].xmit_bytes, 1000);
	assert_int_equal(out[4].errors, 3);
	add(&r, 41, 9000, 7, 3 * SECOND); /* slots between have the rate of that time */
	perf_ring_read(&r, SLOTS, SECOND, 4 * SECOND + 1, out, 5);
	assert_int_equal(out[1].xmit_bytes, 1000);
	assert_int_equal(out[2].xmit_bytes, 4000);
	assert_int_equal(out[3].xmit_bytes, 12000);
	assert_int_equal(out[4].xmit_bytes, 12000);
	add(&r, 100000, 1, 0, 1);
	perf_ring_read(&r, SLOTS, SECOND, 10000 * (uint64_t)SECOND, out, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_true(out[i].known && !out[i].errors);
	perf_ring_read(&r, SLOTS, SECOND, 20000 * (uint64_t)SECOND, out, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_false(out[i].known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_close),
		cmocka_unit_test(slots_are_kept_and_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
