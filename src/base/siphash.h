/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of 64 bits that cannot be made without the key.
 */
#ifndef WEFT_SIPHASH_H
#define WEFT_SIPHASH_H

#include "base/base.h"

uint64_t siphash(uint64_t k0, uint64_t k1, const uint8_t *p, size_t n);

#endif
