/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process around an engine (window/window.h): commands in, frames out, 30 slices of work a second at most,
 * checkpoints by fork(). It has one thread: a fork copies all of it.
 */
#ifndef WEFT_ENGINE_PROCESS_H
#define WEFT_ENGINE_PROCESS_H

/* The body of a child (child_link.h). ctx is not used. */
void engine_process(int fd, void *ctx);

#endif
