/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last changes that the manager has completed, for `weft ctl changes` and the log.
 */
#ifndef WEFT_CHANGE_HISTORY_H
#define WEFT_CHANGE_HISTORY_H

#include "base/vec.h"
#include "run/run.h"

/* Written by change_history.c alone. */
struct run_history {
	VEC(struct run_change) changes; /* oldest first */
	uint64_t count;			/* since the start */
	struct run_events events;	/* of the running change */
	uint64_t notes[SM_NOTE_NKINDS]; /* how many of each kind since the start */
};

/* Counts a note; a link or node that went or came belongs to the running change. */
void run_history_note(struct run_history *h, const struct sm_note *n);

/* Numbers the change and adds it, with the links and nodes noted since the last one; the oldest ones beyond max are dropped. Returns the change added. */
const struct run_change *run_history_add(struct run_history *h, const struct run_change *c,
					 unsigned max);
void run_history_free(struct run_history *h);

#endif
