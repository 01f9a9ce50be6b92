/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A unix stream socket that is asked line by line and answers each line with one line, for control
 * sockets. Any number of clients; each is answered in the order it asked. A client that sends too
 * long a line (64 KiB) or a NUL is cut off; one that does not read its answers is not read either, and
 * one that does not read its events is cut off when 16 MiB wait for it. Nobody else notices.
 *
 * The path is replaced when nobody listens on it any more, and refused (-EADDRINUSE) when somebody
 * does. Mode 0600 unless the configuration says otherwise; removed at the end.
 */
#ifndef WEFT_LINES_H
#define WEFT_LINES_H

#include <uv.h>

#include "base/base.h"

struct lines;

/* Answer `line` (without its newline) into out: one line, without newline. A newline inside becomes a
 * blank, which JSON does not mind. */
typedef void lines_answer(void *ctx, const char *line, struct strbuf *out);

int lines_listen(struct lines **l, uv_loop_t *loop, const char *path, unsigned mode,
		 lines_answer *answer, void *ctx, struct err *e);
/* A line to every client that asked for events by the line "events" (answered {"ok":true}): told as
 * they happen, never waited for. */
void lines_tell(struct lines *l, const char *line);
void lines_close(struct lines *l); /* the loop must run once more after it */

/* The other end, blocking: ask one line, get one, added to answer. 0 or -errno with e filled:
 * -ETIMEDOUT when nothing moved for timeout_ms. */
int lines_ask(const char *path, const char *line, unsigned timeout_ms, struct strbuf *answer,
	      struct err *e);

#endif
