/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes OpenSM's files without delaying the manager: small ones at once, large ones by a child process
 * that has a copy of the present state.
 */
#ifndef WEFT_DUMP_WRITER_H
#define WEFT_DUMP_WRITER_H

#include "run/child_process.h"
#include "run/log.h"

/* Written by dump_writer.c alone. */
struct run_dump_writer {
	uv_loop_t *loop;
	struct run_log *log;
	struct run_child child;
	const struct run_view *view; /* for the child */
	const char *directory;
	bool again; /* requested while the child was writing */
	void (*due)(void *ctx);
	void *ctx;
};

/* due() is called when a child has ended and dumps were requested meanwhile: call write() again. */
void run_dump_writer_init(struct run_dump_writer *d, uv_loop_t *loop, struct run_log *log,
			  void (*due)(void *ctx), void *ctx);
/* The result is logged. 0, or -errno with e filled: -EAGAIN when there are no tables yet. */
int run_dump_writer_write(struct run_dump_writer *d, const struct run_view *v,
			  const char *directory, struct err *e);
void run_dump_writer_wait(struct run_dump_writer *d); /* until the child has ended */

#endif
