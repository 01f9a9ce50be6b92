/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A forked process that works on a copy of this process's memory while the loop continues. Its end is
 * noticed by asking for it every few milliseconds: this needs no descriptor, so it works when these run
 * short, and no system call that an older kernel or a container lacks.
 */
#ifndef WEFT_CHILD_PROCESS_H
#define WEFT_CHILD_PROCESS_H

#include <stdbool.h>
#include <uv.h>

/* work, done and ctx are the caller's; the rest is written by child_process.c alone. */
struct run_child {
	bool (*work)(void *ctx);	  /* in the child; true: success */
	void (*done)(void *ctx, bool ok); /* on the loop, when the child has ended */
	void *ctx;
	uv_timer_t *timer; /* asks whether it has ended */
	int pid;	   /* 0: there is no child */
};

/* The child keeps the first three descriptors and *keep, which becomes the fourth; NULL: none. 0 or
 * -errno. */
int run_child_start(struct run_child *c, uv_loop_t *loop, int *keep);
/* Blocks until the child ends; true: success. done() is not called. */
bool run_child_wait(struct run_child *c);

#endif
