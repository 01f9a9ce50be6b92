/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control sockets: a unix stream socket on which a client sends request lines and receives one
 * response line for each, in order. The meaning of a line is the caller's.
 *
 * The server never blocks. It disconnects a client that sends a line of more than 64 KiB or a NUL, and
 * a client that has more than 16 MiB of events unread; it stops reading from a client that does not read
 * its responses. Other clients are not affected. lines_limit() limits the number of clients, their idle
 * time and the rate of requests.
 *
 * The server replaces a socket file on which no process listens any more, refuses one on which another
 * process listens (-EADDRINUSE), and removes its own when it closes.
 */
#ifndef WEFT_LINES_H
#define WEFT_LINES_H

#include <uv.h>

#include "base/base.h"

/* ---- the server (line_server.c), on the thread of its libuv loop ---- */

struct lines;

/* Append the response to `line` (without its newline) to out. The server turns a newline in it into a
 * blank, which is harmless in JSON, and ends it with one. */
typedef void lines_answer(void *ctx, const char *line, struct strbuf *out);

/* Only within lines_answer(): this request is answered later, by lines_reply() with the ticket that is returned. Responses
 * to the client's further requests wait until then; after 4,096 of them the server stops reading from this client. */
uint64_t lines_defer(struct lines *l);
/* Takes text over; does nothing where the client is gone. Not within lines_answer(). */
void lines_reply(struct lines *l, uint64_t ticket, struct strbuf *text);

/* mode: permissions of the socket file. 0 or -errno with e filled. */
int lines_listen(struct lines **l, uv_loop_t *loop, const char *path, unsigned mode,
		 lines_answer *answer, void *ctx, struct err *e);
/* What all clients together may take; 0: no limit. */
struct lines_limits {
	unsigned clients; /* one more gets an error line and is disconnected */
	unsigned idle_s;  /* without a request, after which a client is disconnected; not if it
			     subscribed to events */
	unsigned rate;	  /* requests in a second; further ones wait, each client's in turn */
};
void lines_limit(struct lines *l, const struct lines_limits *most);
/* The version of what events mean, in the response to "events": higher when one that a program may rely on changes. */
enum { LINES_EVENTS_VERSION = 1 };
/* Sends an event line to every client that subscribed with the line "events" (response {"ok":true,"version":1}). */
void lines_send_event(struct lines *l, const char *line);
/* NULL is allowed. The loop must run once more before it is closed. */
void lines_close(struct lines *l);

/* ---- the client (line_client.c), blocking ---- */

/*
 * Sends n lines on one connection, at most `ahead` of them before the first response is there, further ones while responses
 * arrive, and gives each response, in order, to got(). 0 or
 * -errno with e filled, as lines_ask(); got() was then called for the responses that came.
 */
int lines_ask_many(const char *path, const char *const *lines, size_t n, size_t ahead,
		   unsigned timeout_ms, void (*got)(void *ctx, size_t i, const char *response),
		   void *ctx, struct err *e);

/* Sends one line and appends the response to answer. 0 or -errno with e filled: -ENOENT or -ECONNREFUSED
 * when no process listens at path, -ETIMEDOUT when no byte moved for timeout_ms. */
int lines_ask(const char *path, const char *line, unsigned timeout_ms, struct strbuf *answer,
	      struct err *e);

#endif
