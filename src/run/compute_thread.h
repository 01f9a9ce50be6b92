/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that computes routes for the manager, one request after another. The functions are called on
 * the loop's thread; done() runs there too.
 */
#ifndef WEFT_COMPUTE_THREAD_H
#define WEFT_COMPUTE_THREAD_H

#include <uv.h>

#include "sm/sm.h"

struct run_worker;

/* The receiver owns the routes; owner is the number given with the request. */
typedef void run_worker_done(void *ctx, struct sm_routes *routes, uint64_t owner, uint64_t took_us);

int run_worker_start(struct run_worker **w, uv_loop_t *loop, unsigned threads,
		     run_worker_done *done, void *ctx, struct err *e);
/*
 * A newer request replaces one that has not begun; one that has begun is finished and answered, in
 * order. What a request points to must exist until its answer, or that of a later request, was given.
 */
void run_worker_request(struct run_worker *w, const struct sm_compute *c, uint64_t owner);
bool run_worker_busy(struct run_worker *w);   /* a request has begun and is not answered yet */
void run_worker_cancel(struct run_worker *w); /* drops the request that has not begun */
/* true: the thread has ended, and is freed when the loop has run once more. false: it still computes;
 * it and all it uses must stay until the process ends. */
bool run_worker_stop(struct run_worker *w);

#endif
