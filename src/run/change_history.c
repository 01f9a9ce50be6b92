/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last changes. State: struct run_history. Way in: run_history_add(). Writes no log.
 */
#include "run/change_history.h"

const struct run_change *run_history_add(struct run_history *h, const struct run_change *c,
					 unsigned max)
{
	struct run_change *first = h->changes.at;

	if (h->changes.n && h->changes.n >= max) {
		size_t drop = h->changes.n - max + 1;

		h->changes.n -= drop;
		memmove(first, first + drop, h->changes.n * sizeof(*first));
	}
	vec_push(&h->changes, *c);
	first = &h->changes.at[h->changes.n - 1];
	first->number = ++h->count;
	return first;
}

void run_history_free(struct run_history *h)
{
	vec_free(&h->changes);
}
