/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events in a pool, in lists linked by index. A list is named by its last node, whose next is the
 * first; 0 is no node.
 */
#ifndef WEFT_BENCH_POOL_H
#define WEFT_BENCH_POOL_H

#include "queue.h"

struct pool_node {
	struct ev e;
	uint32_t next;
};

struct pool {
	struct pool_node *at;
	uint32_t spare, used, cap;
};

static inline uint32_t pool_new(struct pool *p)
{
	uint32_t i = p->spare;

	if (i) {
		p->spare = p->at[i].next;
		return i;
	}
	i = p->used ? p->used : 1;
	p->used = i + 1;
	if (p->used > p->cap) {
		p->cap = p->cap ? p->cap * 2 : 256;
		p->at = mem_resize(p->at, p->cap, sizeof(*p->at));
	}
	return i;
}

static inline void pool_give(struct pool *p, uint32_t i)
{
	p->at[i].next = p->spare;
	p->spare = i;
}

/* Behind the last one; the answer is the list's new name. */
static inline uint32_t pool_append(struct pool *p, uint32_t last, uint32_t i)
{
	if (last) {
		p->at[i].next = p->at[last].next;
		p->at[last].next = i;
	} else {
		p->at[i].next = i;
	}
	return i;
}

#endif
