/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output that never blocks, to a descriptor whose reader may stall: a full pipe, a stopped terminal. A text is
 * written whole, kept until the reader has room, or refused; the caller chooses between the last two, and
 * counts and reports what was refused.
 *
 * The descriptor may be shared (a shell and its terminal), so its flags stay unchanged: where possible, the
 * same file is opened again without blocking. Regular files are written directly.
 */
#ifndef WEFT_NONBLOCK_OUT_H
#define WEFT_NONBLOCK_OUT_H

#include "base/base.h"

struct nonblock_out {
	int fd;	  /* -1: discard everything and report success */
	bool own; /* opened by nonblock_open(); closed by nonblock_close() */
	bool socket;
	bool unsure;	    /* a write may block: poll first, and write at most PIPE_BUF bytes */
	struct strbuf rest; /* waits for the reader; may begin in the middle of a text */
	size_t sent;	    /* bytes of it that are written */
};

void nonblock_open(struct nonblock_out *o,
		   int fd); /* the caller keeps fd and closes it after nonblock_close() */
void nonblock_close(struct nonblock_out *o); /* tries once more, then discards what waits */

/* False: the reader has no room; nothing was written. */
bool nonblock_put(struct nonblock_out *o, const char *text, size_t len);
/* Keep the text if the reader has no room. False: more than limit bytes would wait. */
bool nonblock_keep(struct nonblock_out *o, const char *text, size_t len, size_t limit);
/* Try to write what waits. True: nothing waits. */
bool nonblock_flush(struct nonblock_out *o);

#endif
