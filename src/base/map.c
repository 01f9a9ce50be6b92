/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map64: linear probing over a power-of-two table, deletion by shifting back, so no tombstones.
 * Way in: get, put, del. Does not allow iteration.
 */
#include "base/map.h"
#include "base/rng.h"

static uint32_t slot_of(const struct map64 *m, uint64_t key)
{
	return (uint32_t)hash64(key) & (m->cap - 1);
}

static uint32_t find(const struct map64 *m, uint64_t key)
{
	uint32_t i = slot_of(m, key);

	while (m->val[i] != MAP_NONE && m->key[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void grow(struct map64 *m)
{
	struct map64 old = *m;

	m->cap = old.cap ? old.cap * 2 : 16;
	m->key = mem_array(m->cap, sizeof(*m->key));
	m->val = mem_array(m->cap, sizeof(*m->val));
	memset(m->val, 0xff, m->cap * sizeof(*m->val));
	for (uint32_t i = 0; i < old.cap; i++) {
		if (old.val[i] == MAP_NONE)
			continue;
		uint32_t at = find(m, old.key[i]);

		m->key[at] = old.key[i];
		m->val[at] = old.val[i];
	}
	free(old.key);
	free(old.val);
}

uint32_t map64_get(const struct map64 *m, uint64_t key)
{
	return m->cap ? m->val[find(m, key)] : MAP_NONE;
}

void map64_put(struct map64 *m, uint64_t key, uint32_t val)
{
	uint32_t i;

	assert(val != MAP_NONE);
	if ((m->n + 1) * 4 >= m->cap * 3)
		grow(m);
	i = find(m, key);
	if (m->val[i] == MAP_NONE)
		m->n++;
	m->key[i] = key;
	m->val[i] = val;
}

void map64_del(struct map64 *m, uint64_t key)
{
	uint32_t i, j;

	if (!m->cap)
		return;
	i = find(m, key);
	if (m->val[i] == MAP_NONE)
		return;
	m->n--;
	for (j = i;;) {
		j = (j + 1) & (m->cap - 1);
		if (m->val[j] == MAP_NONE)
			break;
		/* Move back an entry that could not be found once slot i is free. */
		uint32_t home = slot_of(m, m->key[j]);

		if (((j - home) & (m->cap - 1)) >= ((j - i) & (m->cap - 1))) {
			m->key[i] = m->key[j];
			m->val[i] = m->val[j];
			i = j;
		}
	}
	m->val[i] = MAP_NONE;
}

void map64_clear(struct map64 *m)
{
	m->n = 0;
	if (m->cap)
		memset(m->val, 0xff, m->cap * sizeof(*m->val));
}

void map64_free(struct map64 *m)
{
	free(m->key);
	free(m->val);
	*m = (struct map64){0};
}
