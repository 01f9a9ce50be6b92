/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash-2-4 against the values of its authors. */
#include "unit_test.h"

#include "base/siphash.h"

/* Key 00 01 .. 0f, message 00 01 .. (length - 1). */
TEST(values_of_the_authors)
{
	static const struct {
		size_t len;
		uint64_t hash;
	} cases[] = {
		{0, 0x726fdb47dd0e0e31ull},  {1, 0x74f839c593dc67fdull},
		{7, 0xab0200f58b01d137ull},  {8, 0x93f5f5799a932462ull},
		{15, 0xa129ca6149be45e5ull}, {63, 0x958a324ceb064572ull},
	};
	uint8_t m[64];

	for (unsigned i = 0; i < sizeof(m); i++)
		m[i] = (uint8_t)i;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(
			siphash(0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull, m, cases[i].len),
			cases[i].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(values_of_the_authors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
