/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole square roots. Keeps no state. Way in: pic_isqrt(). Does not place anything.
 */
#include "draw/svg_priv.h"

uint32_t pic_isqrt(uint64_t v)
{
	uint64_t r = 0, bit = 1ull << 62;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= r + bit) {
			v -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return (uint32_t)r;
}
