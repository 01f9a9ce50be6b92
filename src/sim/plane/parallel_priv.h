/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parallel run: what parallel.c and parallel_split.c share while sim_run_parallel() runs. The
 * nodes are divided among shards (struct shard: what each owns), and the shards among threads.
 * Shards are small enough for a core's cache, so they pay on one thread, too.
 */
#ifndef WEFT_PARALLEL_PRIV_H
#define WEFT_PARALLEL_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/plane/plane_priv.h"

struct worker { /* a thread */
	struct parallel *run;
	unsigned first, end;  /* its shards */
	ev_list *box[2];      /* by receiving shard: sent in this window, and in the last one */
	struct outbox outbox; /* of its shards */
	pthread_t thread;
	char gap[64]; /* the next one is another thread's */
};

struct parallel {
	struct sim *sim;
	unsigned nshards, nworkers;
	uint16_t *shard_of; /* by port */
	struct shard *shards;
	struct worker *workers;
	time_ps limit, lookahead;
	/* the window: set while all threads wait, read until they wait again */
	time_ps horizon;
	unsigned window;
	bool over;
	/* the barrier */
	atomic_uint arrived, round;
	pthread_mutex_t lock;
	pthread_cond_t go;
	/* progress */
	void (*tick)(void *ctx);
	void *tick_ctx;
	uint64_t generated, delivered; /* before this run */
};

/* parallel_split.c */
unsigned shard_count(const struct sim *s, unsigned threads);
void shards_split(struct parallel *c);
void shards_join(struct parallel *c);
bool shard_is_dry(const struct shard *sh); /* its next event may find no free place */
void shards_refill(struct parallel *c);	   /* only while all threads wait */
void shards_progress(struct parallel *c);  /* the same: updates the totals for a progress line */

#endif
