/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The web process's side of a link to a child (child_link.h): messages out, frames in, nothing blocks. A child that
 * does not read makes its queue full, nothing else.
 */
#ifndef WEFT_CHILD_PIPE_H
#define WEFT_CHILD_PIPE_H

#include <uv.h>

#include "web/child_link.h"

enum { PIPE_MESSAGES = 64, PIPE_BYTES = 128 << 20 };

struct child_pipe;

struct child_pipe_ops {
	/* fd: a descriptor that came with the frame, now the callee's, or -1. The frame stays the pipe's. The pipe may be
	 * closed within. */
	void (*frame)(void *ctx, struct frame *f, int fd);
	void (*ended)(void *ctx); /* the child ended or sent nonsense; closed already */
	void *ctx;
};

/* Takes fd over. */
struct child_pipe *child_pipe_open(uv_loop_t *loop, int fd, const struct child_pipe_ops *ops);
/* Queues a message. content is copied, or taken over where it is long (then content->s is NULL). False: too much
 * waits already. */
bool child_pipe_send(struct child_pipe *p, unsigned kind, struct strbuf *content);
/* Closes the socket at once: the child ends. NULL is allowed. The loop must run once more before it is closed. */
void child_pipe_close(struct child_pipe *p);

#endif
