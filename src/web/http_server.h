/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server of the window, on 127.0.0.1: HTTP/1.1 with connections that stay open.
 *
 *	GET  /, /app.js ...     the page (static_files.h), for everyone who reaches the loopback
 *	GET  /stream?token=T    frames, one chunked response without end
 *	POST /command?token=T   one command; 204 when it is accepted
 *	POST /restart?token=T   a new process for the session
 *
 * Each may have &session=NAME. The server never blocks and never waits for a page. Limits: 32 connections, 8 KiB
 * of head within 10 s, 64 MiB of body with progress at least every 10 s, 60 s between requests, 16 streams, 4 bodies
 * above 1 MiB at once.
 */
#ifndef WEFT_HTTP_SERVER_H
#define WEFT_HTTP_SERVER_H

#include <uv.h>

#include "web/access.h"
#include "web/frames.h"

enum { WEB_BODY_MAX = 64 << 20, WEB_SESSION_MAX = 32 };

/* A stream to one page. */
struct web_stream;
/* Does not wait. The stream may end by this, and then calls left() later, not at once. */
void web_stream_send(struct web_stream *s, struct frame *f);
void web_stream_end(struct web_stream *s);
void *web_stream_data(const struct web_stream *s);
void web_stream_set_data(struct web_stream *s, void *data);

/* What the server asks its owner. session: a checked name, or "" where the request has none. Each of the first
 * three returns the status, with the reason in *why unless it is 200 or 204. */
struct web_handler {
	int (*stream)(void *ctx, const char *session, struct web_stream *s, const char **why);
	void (*left)(void *ctx, struct web_stream *s); /* it ended; not to be used again */
	/* body is the caller's: it may be kept by taking it over, body->s = NULL. */
	int (*command)(void *ctx, const char *session, struct strbuf *body, const char **why);
	int (*restart)(void *ctx, const char *session, const char **why);
	void *ctx;
};

struct web_limits {
	unsigned connections, streams, bodies;
	unsigned head_ms, body_ms, idle_ms;
};

struct web_server;
/* Port 0: any free one. 0 or -errno with e filled. */
int web_server_listen(struct web_server **w, uv_loop_t *loop, unsigned port,
		      const struct web_handler *h, struct err *e);
const struct web_access *web_server_access(const struct web_server *w);
void web_server_limit(struct web_server *w, const struct web_limits *most);
/* NULL is allowed. The loop must run once more before it is closed. */
void web_server_close(struct web_server *w);

#endif
