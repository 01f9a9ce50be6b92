/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random streams: fixed values, bounds, probabilities. Keeps no state.
 */
#include "unit_test.h"

#include "base/rng.h"

/* The expected words come from a separate implementation of the published algorithms. A change
 * here changes the result of every seeded run. */
TEST(a_stream_is_the_same_on_every_machine)
{
	static const struct {
		uint64_t seed, stream, want[4];
	} cases[] = {
		{0,
		 0,
		 {0xfc72158253f7415e, 0x1fdd9141b20d58b1, 0x01e47fb3be09449e, 0xefdef2f9f678bc62}},
		{1,
		 0,
		 {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
		{1,
		 1,
		 {0xabc868451bd580dc, 0x3dd06cbdfc7e8a0c, 0x676314fccd1691b1, 0xd52c01da966103bd}},
		{42,
		 7,
		 {0xc9f6aa62aae562d1, 0x2aae73a94de7bc66, 0x9b2627d66ce7331d, 0x985697e2bed2c9b3}},
	};
	static const uint32_t below[] = {90, 45, 46, 10, 75, 55, 9, 35};
	struct rng r;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rng_seed(&r, cases[i].seed, cases[i].stream);
		for (int k = 0; k < 4; k++)
			assert_true(rng_u64(&r) == cases[i].want[k]);
	}
	rng_seed(&r, 42, 7);
	for (size_t i = 0; i < ARRAY_LEN(below); i++)
		assert_int_equal(rng_below(&r, 100), below[i]);
	assert_true(hash64(1) == 0x5692161d100b05e5);
	assert_true(hash64_add(hash64_add(0, 1), 2) != hash64_add(hash64_add(0, 2), 1));
}

TEST(draws_are_below_the_bound_and_reach_every_value)
{
	unsigned hits[7] = {0};
	struct rng r;

	rng_seed(&r, 3, 0);
	for (int i = 0; i < 7000; i++)
		hits[rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(hits[i], 850, 1150);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(rng_below(&r, 1), 0);
		assert_true(rng_below(&r, UINT32_MAX) < UINT32_MAX);
	}
}

TEST(chance_has_the_given_probability)
{
	struct rng r;
	int hits = 0;

	assert_true(prob_q32(0) == 0 && prob_q32(-1) == 0);
	assert_true(prob_q32(1) == 1ull << 32 && prob_q32(2) == 1ull << 32);
	assert_true(prob_q32(0.25) == 1ull << 30);
	rng_seed(&r, 5, 5);
	for (int i = 0; i < 10000; i++)
		hits += rng_chance(&r, prob_q32(0.25));
	assert_int_equal(hits, 2479); /* from the separate implementation, too */
	for (int i = 0; i < 1000; i++) {
		assert_true(rng_chance(&r, prob_q32(1)));
		assert_false(rng_chance(&r, prob_q32(0)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_is_the_same_on_every_machine),
		cmocka_unit_test(draws_are_below_the_bound_and_reach_every_value),
		cmocka_unit_test(chance_has_the_given_probability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
