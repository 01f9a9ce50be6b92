/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map against a plain array. Keeps no state.
 */
#include "unit_test.h"

#include "base/map.h"
#include "base/rng.h"

#define KEYS 512

/* Few keys, many operations: every slot is taken, freed and taken again. */
TEST(map_agrees_with_an_array)
{
	static uint32_t want[KEYS];
	struct map64 m = {0};
	struct rng r;
	uint32_t n = 0;

	rng_seed(&r, 1, 1);
	memset(want, 0xff, sizeof(want));
	assert_int_equal(map64_get(&m, 5), MAP_NONE); /* empty, no memory yet */
	map64_del(&m, 5);
	for (int i = 0; i < 60000; i++) {
		/* The share of puts varies, so that the map fills and empties. */
		uint32_t k = rng_below(&r, KEYS), puts = i / 10000 % 2 ? 3 : 7;
		uint64_t key = (uint64_t)k * 0x100000001ull;

		if (rng_below(&r, 10) < puts) {
			n += want[k] == MAP_NONE;
			want[k] = rng_below(&r, 1000);
			map64_put(&m, key, want[k]);
		} else {
			n -= want[k] != MAP_NONE;
			want[k] = MAP_NONE;
			map64_del(&m, key);
		}
		assert_int_equal(m.n, n);
		k = rng_below(&r, KEYS);
		assert_int_equal(map64_get(&m, (uint64_t)k * 0x100000001ull), want[k]);
	}
	for (uint32_t k = 0; k < KEYS; k++)
		assert_int_equal(map64_get(&m, (uint64_t)k * 0x100000001ull), want[k]);
	map64_clear(&m);
	assert_int_equal(m.n, 0);
	for (uint32_t k = 0; k < KEYS; k++)
		assert_int_equal(map64_get(&m, (uint64_t)k * 0x100000001ull), MAP_NONE);
	map64_free(&m);
}

/* 0 and all ones are valid keys. */
TEST(every_key_can_be_stored)
{
	struct map64 m = {0};

	map64_put(&m, 0, 0);
	map64_put(&m, UINT64_MAX, MAP_NONE - 1);
	assert_int_equal(map64_get(&m, 0), 0);
	assert_int_equal(map64_get(&m, UINT64_MAX), MAP_NONE - 1);
	map64_del(&m, 0);
	assert_int_equal(map64_get(&m, 0), MAP_NONE);
	assert_int_equal(map64_get(&m, UINT64_MAX), MAP_NONE - 1);
	map64_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_agrees_with_an_array),
		cmocka_unit_test(every_key_can_be_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
