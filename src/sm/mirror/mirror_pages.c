/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages and their digests, level by level. Keeps no state of its own. Ways in: sm_pages_*(). Does not know what
 * a page is about, and digests show differences, not forgeries: the tag of each MAD is for these.
 */
#include "base/rng.h"
#include "sm/mirror/mirror.h"

void sm_pages_shape(struct sm_pages *p, uint32_t n)
{
	*p = (struct sm_pages){.levels = 1, .n = {n}};
	while (p->n[p->levels - 1] > 1) {
		assert(p->levels < SM_LEVELS);
		p->n[p->levels] = (p->n[p->levels - 1] + SM_FAN - 1) / SM_FAN;
		p->levels++;
	}
}

/* Two running hashes side by side take less time than one. */
uint64_t sm_page_digest(const uint8_t *page)
{
	uint64_t a = 1, b = 2;

	for (unsigned i = 0; i < SM_PAGE; i += 16) {
		a = hash64_add(a, iba_be64(page + i));
		b = hash64_add(b, iba_be64(page + i + 8));
	}
	return hash64_add(a, b);
}

void sm_pages_raise(struct sm_pages *p)
{
	for (unsigned k = 1; k + 1 < p->levels; k++) {
		p->at[k + 1] = mem_zarray(p->n[k + 1], SM_PAGE);
		for (uint32_t i = 0; i < p->n[k]; i++)
			iba_be64_put(p->at[k + 1] + (size_t)i * 8,
				     sm_page_digest(p->at[k] + (size_t)i * SM_PAGE));
	}
}

uint64_t sm_pages_digest(const struct sm_pages *p, unsigned level, uint32_t i)
{
	return iba_be64(p->at[level + 1] + (size_t)i * 8);
}

uint64_t sm_pages_root(const struct sm_pages *p, const uint8_t *last)
{
	uint64_t root = hash64_add(sm_page_digest(last), p->n[0]);

	return root ? root : 1; /* 0: there is none */
}

void sm_pages_free(struct sm_pages *p)
{
	for (unsigned k = 0; k < SM_LEVELS; k++)
		free(p->at[k]);
	*p = (struct sm_pages){0};
}
