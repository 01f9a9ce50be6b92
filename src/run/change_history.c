/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last changes. State: struct run_history. Ways in: run_history_note(), run_history_add(). Writes no log.
 */
#include "run/change_history.h"
#include "sm/notes.h"

void run_history_note(struct run_history *h, const struct sm_note *n)
{
	struct run_events *e = &h->events;

	h->notes[n->kind]++;
	if (n->kind == SM_NOTE_MORE_CHANGES)
		e->unlisted += n->changes.unlisted;
	if (!sm_note_is_change(n))
		return;
	if (e->list.n < SM_NOTES_LISTED)
		vec_push(&e->list, *n);
	else
		e->unlisted++;
}

const struct run_change *run_history_add(struct run_history *h, const struct run_change *c,
					 unsigned max)
{
	struct run_change *first = h->changes.at;

	if (h->changes.n && h->changes.n >= max) {
		size_t drop = h->changes.n - max + 1;

		for (size_t i = 0; i < drop; i++)
			vec_free(&first[i].events.list);
		h->changes.n -= drop;
		memmove(first, first + drop, h->changes.n * sizeof(*first));
	}
	vec_push(&h->changes, *c);
	first = &h->changes.at[h->changes.n - 1];
	first->number = ++h->count;
	first->events = h->events;
	h->events = (struct run_events){0};
	return first;
}

void run_history_free(struct run_history *h)
{
	for (size_t i = 0; i < h->changes.n; i++)
		vec_free(&h->changes.at[i].events.list);
	vec_free(&h->changes);
	vec_free(&h->events.list);
}
