/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The listening socket of the window's HTTP server. State: the socket, the token, the list of connections. Ways in:
 * web_server_listen(), web_server_close(). Connections are in http_connection.c.
 */
#include "web/http_priv.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static const struct web_limits limits_default = {.connections = 32,
						 .streams = 16,
						 .bodies = 4,
						 .head_ms = 10000,
						 .body_ms = 10000,
						 .idle_ms = 60000};

void web_server_handle_closed(struct web_server *w)
{
	if (!--w->handles)
		free(w);
}

static void server_closed(uv_handle_t *handle)
{
	web_server_handle_closed(handle->data);
}

static void server_connection(uv_stream_t *s, int status)
{
	if (status >= 0)
		web_conn_accept(s->data);
}

static unsigned bound_port(const struct web_server *w)
{
	struct sockaddr_in a;
	int len = sizeof(a);

	return uv_tcp_getsockname(&w->tcp, (struct sockaddr *)&a, &len) ? 0 : ntohs(a.sin_port);
}

int web_server_listen(struct web_server **out, uv_loop_t *loop, unsigned port,
		      const struct web_handler *h, struct err *e)
{
	struct web_server *w = mem_zalloc(sizeof(*w));
	struct sockaddr_in a;
	int rc;

	w->most = limits_default;
	w->h = *h;
	w->tcp.data = w;
	w->handles = 1;
	uv_tcp_init(loop, &w->tcp);
	uv_ip4_addr("127.0.0.1", (int)port, &a);
	rc = uv_tcp_bind(&w->tcp, (const struct sockaddr *)&a, 0);
	rc = rc ? rc : uv_listen((uv_stream_t *)&w->tcp, 16, server_connection);
	if (rc)
		err_set(e, rc, "127.0.0.1:%u: cannot serve the page: %s", port, uv_strerror(rc));
	else
		rc = web_access_init(&w->access, bound_port(w), e);
	if (rc)
		web_server_close(w);
	else
		*out = w;
	return rc;
}

const struct web_access *web_server_access(const struct web_server *w)
{
	return &w->access;
}

void web_server_limit(struct web_server *w, const struct web_limits *most)
{
	w->most = *most;
}

void web_server_close(struct web_server *w)
{
	if (!w || uv_is_closing((uv_handle_t *)&w->tcp))
		return;
	while (w->conns)
		web_conn_drop(w->conns);
	uv_close((uv_handle_t *)&w->tcp, server_closed);
}
