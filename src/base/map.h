/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from 64-bit keys (GUIDs, transaction ids) to 32-bit values. It has no iterator on purpose: no result
 * may depend on the order of a hash.
 */
#ifndef WEFT_MAP_H
#define WEFT_MAP_H

#include "base/base.h"

#define MAP_NONE UINT32_MAX

struct map64 {
	uint64_t *key;
	uint32_t *val; /* MAP_NONE marks a free slot */
	uint32_t n, cap;
};

uint32_t map64_get(const struct map64 *m, uint64_t key);     /* MAP_NONE when absent */
void map64_put(struct map64 *m, uint64_t key, uint32_t val); /* val != MAP_NONE; replaces */
void map64_del(struct map64 *m, uint64_t key);
void map64_clear(struct map64 *m); /* keeps the memory */
void map64_free(struct map64 *m);

#endif
