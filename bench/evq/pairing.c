/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pairing heap with two-pass merging. State: nodes in a pool, linked by index; 0 is no node. Way
 * in: evq_pairing. Does not give memory back.
 */
#include "queue.h"

struct pair_node {
	struct ev e;
	uint32_t child, sibling;
};

struct evq_pairing {
	struct pair_node *at;
	uint32_t root, spare, used, cap;
	uint64_t seq;
};

static inline uint32_t pair_merge(struct pair_node *at, uint32_t x, uint32_t y)
{
	if (ev_before(&at[y].e, &at[x].e)) {
		uint32_t t = x;

		x = y;
		y = t;
	}
	at[y].sibling = at[x].child;
	at[x].child = y;
	return x;
}

static inline uint32_t pair_new(struct evq_pairing *q)
{
	uint32_t i = q->spare;

	if (i) {
		q->spare = q->at[i].sibling;
		return i;
	}
	i = q->used ? q->used : 1;
	q->used = i + 1;
	if (q->used > q->cap) {
		q->cap = q->cap ? q->cap * 2 : 256;
		q->at = mem_resize(q->at, q->cap, sizeof(*q->at));
	}
	return i;
}

static inline void evq_pairing_push(struct evq_pairing *q, time_ps when, uint8_t priority,
				    struct ev_what e)
{
	const struct ev new = ev_make(when, ev_order(priority, q->seq++), &e);
	uint32_t i = pair_new(q);

	q->at[i] = (struct pair_node){.e = new};
	q->root = q->root ? pair_merge(q->at, q->root, i) : i;
}

/* First pass: neighbours two by two, kept in reverse. Second: all into one. */
static uint32_t pair_join(struct pair_node *at, uint32_t list)
{
	uint32_t pairs = 0, root = 0, next;

	for (uint32_t x = list; x; x = next) {
		uint32_t y = at[x].sibling;

		next = y ? at[y].sibling : 0;
		x = y ? pair_merge(at, x, y) : x;
		at[x].sibling = pairs;
		pairs = x;
	}
	for (uint32_t x = pairs; x; x = next) {
		next = at[x].sibling;
		root = root ? pair_merge(at, root, x) : x;
	}
	if (root)
		at[root].sibling = 0;
	return root;
}

static inline bool evq_pairing_pop(struct evq_pairing *q, struct ev *e)
{
	uint32_t r = q->root;

	if (!r)
		return false;
	*e = q->at[r].e;
	q->root = pair_join(q->at, q->at[r].child);
	q->at[r].sibling = q->spare;
	q->spare = r;
	return true;
}

static inline time_ps evq_pairing_next(struct evq_pairing *q)
{
	return q->root ? q->at[q->root].e.when : TIME_NEVER;
}

static inline void evq_pairing_free(struct evq_pairing *q)
{
	free(q->at);
}

QUEUE(evq_pairing, "pairing heap");
