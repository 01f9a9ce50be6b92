/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child process that makes frames, as the web process sees it: commands in, frames out. For an engine it also keeps
 * the checkpoints and goes to any moment of the run: `go` is sent to the engine, or the last checkpoint before that
 * moment is woken and the engine replaced. Nothing here blocks.
 */
#ifndef WEFT_FRAME_SOURCE_H
#define WEFT_FRAME_SOURCE_H

#include <uv.h>

#include "web/frames.h"

struct frame_source;

struct frame_source_ops {
	void (*frame)(void *ctx, struct frame *f); /* stays the source's */
	void (*ended)(void *ctx); /* the process ended by itself; free the source, but not within */
	void *ctx;
};

/* body: engine_process or live_process; copy: its ctx. engine: it has moments to go to. NULL: no process could be
 * made, errno says why. */
struct frame_source *frame_source_start(uv_loop_t *loop, void (*body)(int fd, void *ctx),
					void *copy, bool engine,
					const struct frame_source_ops *ops);
/* Why the process ended, as far as is known: "" if it said nothing. */
const char *frame_source_why(const struct frame_source *s);
/* JSON. Copied, or taken over where it is long. False: too many commands wait. */
bool frame_source_command(struct frame_source *s, struct strbuf *json);
/* Ends the process and its checkpoints. NULL is allowed. The loop must run once more before it is closed. */
void frame_source_free(struct frame_source *s);

#endif
