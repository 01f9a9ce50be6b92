/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checkpoints of a run: sleeping copies of the engine, each behind a socket. Closing the socket ends the copy. At most
 * 24; when one more comes, every second one goes, and the distance between them doubles.
 */
#ifndef WEFT_CHECKPOINTS_H
#define WEFT_CHECKPOINTS_H

#include "base/vec.h"

enum { CHECKPOINTS_MOST = 24, CHECKPOINT_EVENTS = 500000 };

struct checkpoint {
	uint64_t at, events; /* picoseconds; events since the start */
	size_t done;	     /* events of the journal that it has seen */
	int fd;
};

struct journal_event {
	uint64_t at;
	char *text;
};

/* In the order of time. The journal: everything that was done to the run by hand, past and still to come. */
struct checkpoints {
	VEC(struct checkpoint) c;
	VEC(struct journal_event) journal;
	uint64_t interval; /* events from one to the next */
};

void checkpoints_reset(struct checkpoints *k); /* also to begin with, and to free */
/* Takes fd over. True: the interval is different now. One at a time that is there already is closed. */
bool checkpoints_add(struct checkpoints *k, const struct checkpoint *c);
/* The last one at or before this time; -1: there is none. */
int checkpoints_find(const struct checkpoints *k, uint64_t at);
void checkpoints_remove(struct checkpoints *k, size_t i);
/* A new event after the first `done` of the journal: what followed these, and checkpoints after the event, belong to
 * another course of the run. */
void checkpoints_event(struct checkpoints *k, size_t done, uint64_t at, const char *text);
/* At this time, after the first `done` events, the run has another future, or none: what is known of the former one is
 * void. */
void checkpoints_cut(struct checkpoints *k, size_t done, uint64_t now);
/* The command "journal" with the events behind the first `done`. */
void checkpoints_journal(const struct checkpoints *k, size_t done, struct strbuf *out);

#endif
