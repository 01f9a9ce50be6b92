/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One simulation in parts, on one or several threads: what crew.c, crew_deal.c and the kernel
 * share. A part is a struct sim of its own in which clock, queue, counters and free places of the
 * pools are private and all else is the whole's; a node belongs to one part, and only that one
 * touches it and its ports. Parts are small enough for a core's cache, so they pay on one thread
 * too.
 */
#ifndef WEFT_CREW_H
#define WEFT_CREW_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/plane/plane_priv.h"

struct crew_part {
	struct sim sim;
	struct plane plane;
	unsigned hand; /* who runs it */
	char gap[64];  /* the next one is another thread's */
};

struct crew_hand { /* a thread */
	struct crew *crew;
	unsigned first, end;	 /* its parts */
	VEC(struct ev) * box[2]; /* by part they go to: sent in this window, and in the last one */
	time_ps next;		 /* the earliest that its parts have or have sent */
	pthread_t thread;
	char gap[64];
};

struct crew {
	struct sim *whole;
	unsigned nparts, nhands;
	uint16_t *part_of; /* by port */
	struct crew_part *parts;
	struct crew_hand *hands;
	time_ps limit, lookahead;
	/* the window: set when all have met, read until they meet again */
	time_ps horizon;
	unsigned window;
	bool over;
	/* the meeting */
	atomic_uint arrived, round;
	pthread_mutex_t lock;
	pthread_cond_t go;
	void (*tick)(void *ctx);
	void *tick_ctx;
};

/* crew_deal.c: apart and together */
unsigned crew_part_count(const struct sim *s, unsigned threads);
void crew_deal(struct crew *c);
void crew_join(struct crew *c);
bool crew_is_dry(const struct crew_part *p); /* its next event may find no free place */
void crew_refill(struct crew *c);	     /* nobody runs meanwhile */

/* crew.c */
/* An arrival for another part goes into its box; false: it is for this one. */
bool crew_mail(struct sim *s, const struct ev *e);

#endif
