/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions: what a page looks at. Each has a process that makes frames, and the streams to which these go. A session
 * begins with its first stream and lives for a minute without one, so that a page can be loaded again. At most 8; the
 * oldest one without a stream gives way.
 */
#ifndef WEFT_WEB_SESSIONS_H
#define WEFT_WEB_SESSIONS_H

#include "web/http_server.h"

struct web_sessions;

struct web_sessions_config {
	void (*engine)(int fd, void *ctx); /* the body of an engine's process */
	void (*live)(int fd, void *ctx);   /* of the live source; NULL: there is none */
	void *live_ctx;
	const char *live_name;	   /* for the page */
	const char *file;	   /* what new engines open, or NULL */
	const struct strbuf *open; /* the command for it */
	bool changes;
};

enum { SESSIONS_MOST = 8, SESSION_STREAMS = 4, SESSION_IDLE_MS = 60000 };

struct web_sessions *web_sessions_new(uv_loop_t *loop, const struct web_sessions_config *config);
void web_sessions_handler(struct web_sessions *s, struct web_handler *h);
/* After the server was closed. The loop must run once more before it is closed. */
void web_sessions_free(struct web_sessions *s);

#endif
