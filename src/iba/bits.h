/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers at any bit of a byte string, in the order of the wire: for the codecs of this room alone.
 */
#ifndef WEFT_IBA_BITS_H
#define WEFT_IBA_BITS_H

#include "iba/iba.h"

/* Read `width` bits (1..64) that start `bit` bits into data. Constant arguments fold away. */
static inline uint64_t bits_get(const uint8_t *data, unsigned bit, unsigned width)
{
	unsigned first = bit / 8, last = (bit + width - 1) / 8;
	unsigned spare = 7 - (bit + width - 1) % 8;
	uint64_t v = 0;

	if (width == 64 && bit % 8 == 0)
		return iba_be64(data + first);
	for (unsigned i = first; i <= last; i++)
		v = v << 8 | data[i];
	return v >> spare & (width == 64 ? UINT64_MAX : (1ull << width) - 1);
}

/* Put `width` bits into data, which is zero there. */
static inline void bits_put(uint8_t *data, unsigned bit, unsigned width, uint64_t v)
{
	unsigned first = bit / 8, last = (bit + width - 1) / 8;
	unsigned spare = 7 - (bit + width - 1) % 8;

	if (width == 64 && bit % 8 == 0) {
		iba_be64_put(data + first, v);
		return;
	}
	v = (v & ((1ull << width) - 1)) << spare;
	for (unsigned i = last + 1; i-- > first;) {
		data[i] |= (uint8_t)v;
		v >>= 8;
	}
}

#endif
