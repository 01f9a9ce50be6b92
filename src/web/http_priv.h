/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the HTTP server: a connection, and who writes what of it.
 */
#ifndef WEFT_HTTP_PRIV_H
#define WEFT_HTTP_PRIV_H

#include "web/http_server.h"
#include "web/static_files.h"

enum web_conn_state {
	CONN_HEAD,   /* waits for the head of a request */
	CONN_BODY,   /* waits for its body */
	CONN_ANSWER, /* sends a response */
	CONN_STREAM, /* sends frames until one side ends it */
	CONN_DRAIN, /* has sent its last response; discards what still comes, so that the client can read it */
};

enum web_action { ACT_FILE, ACT_STREAM, ACT_COMMAND, ACT_RESTART };

/* What a request asks for, and whether it may (http_routes.c). */
struct web_route {
	int status; /* 200: go on */
	const char *why;
	const char *allow; /* with 405 */
	enum web_action action;
	const struct static_file *file;
	char session[WEB_SESSION_MAX + 1];
};

enum { STREAM_BATCH = 16 };

struct web_stream {
	struct frame_queue queue;
	struct frame *sending[STREAM_BATCH];
	unsigned nsending;
	char chunk[24];
	bool attached; /* the handler knows it */
	bool begun;    /* its head is on the way: chunks may follow */
	void *data;    /* the handler's */
};

struct web_conn {
	struct web_conn *next, *prev;
	struct web_server *w;
	uv_tcp_t tcp;
	uv_timer_t timer;
	uv_write_t write;
	uv_shutdown_t end;
	unsigned handles; /* not closed yet */
	enum web_conn_state state;
	size_t len; /* in `in` */
	char in[WEB_HEAD_MAX];
	struct web_route route;
	struct strbuf body;
	uint64_t body_len;
	bool large; /* its body counts among the large ones */
	bool last;  /* close after this response */
	bool bare;  /* HEAD: no body in the response */
	struct strbuf out;
	struct web_stream stream;
};

struct web_server {
	uv_tcp_t tcp;
	struct web_conn *conns;
	unsigned n, streams, bodies, handles;
	struct web_limits most;
	struct web_access access;
	struct web_handler h;
};

/* http_routes.c */
void web_route(const struct web_server *w, const struct web_request *r, struct web_route *out);

/* http_response.c: the head of a response, with everything that all responses have */
struct web_response {
	int status;
	const char *type;  /* NULL: no body */
	const char *allow; /* NULL: none */
	size_t len;	   /* of the body */
	bool chunked, last;
};
void web_response_head(struct strbuf *out, const struct web_response *r);
const char *web_reason(int status);

/* http_connection.c */
void web_conn_accept(struct web_server *w);
void web_conn_drop(struct web_conn *c);
void web_conn_written(uv_write_t *w, int status);

/* http_stream.c */
void web_stream_begin(struct web_conn *c);
void web_stream_free(struct web_stream *s);
static inline struct web_conn *web_stream_conn(struct web_stream *s)
{
	return (struct web_conn *)((char *)s - offsetof(struct web_conn, stream));
}

/* http_server.c */
void web_server_handle_closed(struct web_server *w);

#endif
