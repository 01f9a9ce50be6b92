/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics over HTTP. State: the listening socket and its connections. Way in: run_http_listen(). Implements
 * only the part of HTTP that http.h names.
 */
#include "run/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "run/run.h"

static const struct run_http_limits limits_default = {.connections = 64, .timeout_s = 5};

struct conn {
	struct conn *next, *prev;
	struct run_http *h;
	uv_tcp_t tcp;
	uv_timer_t timeout;
	uv_write_t write;
	struct strbuf out;
	unsigned handles; /* not closed yet */
	size_t len;
	char in[HTTP_REQUEST_MAX];
};

struct run_http {
	uv_tcp_t tcp;
	struct conn *conns;
	unsigned n, handles; /* connections; handles not closed yet */
	struct run_http_limits most;
	uint64_t spent, second_ms; /* metrics given in the present second, and its begin */
	void (*text)(void *ctx, struct strbuf *out);
	void *ctx;
};

/* ---- the request ---- */

/* After the empty line that ends the head; NULL: not received yet. */
static const char *head_end(const char *data, size_t len)
{
	const char *crlf = memmem(data, len, "\r\n\r\n", 4), *lf = memmem(data, len, "\n\n", 2);

	if (crlf && (!lf || crlf < lf))
		return crlf + 4;
	return lf ? lf + 2 : NULL;
}

static bool is_metrics(const char *target, size_t len)
{
	static const char path[] = "/metrics";
	size_t n = sizeof(path) - 1;

	return len >= n && !memcmp(target, path, n) && (len == n || target[n] == '?');
}

int http_request(const char *data, size_t len, bool *head)
{
	const char *end = head_end(data, len), *line, *space, *target;
	size_t n;

	*head = false;
	if (!end)
		return len >= HTTP_REQUEST_MAX ? 431 : 0;
	line = memchr(data, '\n', (size_t)(end - data));
	space = memchr(data, ' ', (size_t)(line - data));
	target = space ? space + 1 : line;
	space = memchr(target, ' ', (size_t)(line - target));
	if (!space || space == target || *target != '/')
		return 400;
	n = (size_t)(space - target);
	if (line - space < 9 || memcmp(space + 1, "HTTP/1.", 7))
		return 505;
	*head = !memcmp(data, "HEAD ", 5);
	if (!*head && memcmp(data, "GET ", 4))
		return 405;
	return is_metrics(target, n) ? 200 : 404;
}

static bool mentions(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= len; i++)
		if (!strncasecmp(s + i, what, n))
			return true;
	return false;
}

bool http_openmetrics(const char *data, size_t len)
{
	const char *end = head_end(data, len), *eol;

	for (const char *at = data; end && at < end; at = eol + 1) {
		eol = memchr(at, '\n', (size_t)(end - at));
		if (!eol)
			break;
		if (eol - at > 7 && !strncasecmp(at, "accept:", 7) &&
		    mentions(at + 7, (size_t)(eol - at) - 7, "application/openmetrics-text"))
			return true;
	}
	return false;
}

/* ---- the response ---- */

static const char *reason(int status)
{
	return status == 200   ? "OK"
	       : status == 404 ? "Not Found"
	       : status == 405 ? "Method Not Allowed"
	       : status == 429 ? "Too Many Requests"
	       : status == 431 ? "Request Header Fields Too Large"
	       : status == 505 ? "HTTP Version Not Supported"
			       : "Bad Request";
}

static void body_make(struct conn *c, bool openmetrics, struct strbuf *body)
{
	struct strbuf text = {0};

	c->h->text(c->h->ctx, openmetrics ? body : &text);
	if (!openmetrics)
		run_metrics_plain(text.s, text.len, body);
	strbuf_free(&text);
}

static void response_make(struct conn *c, int status, bool head)
{
	bool openmetrics = http_openmetrics(c->in, c->len);
	struct strbuf body = {0};

	if (status == 200)
		body_make(c, openmetrics, &body);
	else
		strbuf_addf(&body, "%d %s: metrics are at /metrics\n", status, reason(status));
	strbuf_addf(&c->out,
		    "HTTP/1.1 %d %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n",
		    status, reason(status),
		    status != 200 ? "text/plain"
		    : openmetrics ? "application/openmetrics-text; version=1.0.0"
				  : "text/plain; version=0.0.4",
		    body.len);
	if (status == 200)
		strbuf_add(&c->out, "Vary: Accept\r\n");
	if (status == 405)
		strbuf_add(&c->out, "Allow: GET, HEAD\r\n");
	if (status == 429)
		strbuf_add(&c->out, "Retry-After: 1\r\n");
	strbuf_add(&c->out, "Connection: close\r\n\r\n");
	if (!head)
		strbuf_addn(&c->out, body.s, body.len);
	strbuf_free(&body);
}

/* ---- connections ---- */

static void handle_closed(struct run_http *h)
{
	if (!--h->handles)
		free(h);
}

static void conn_closed(uv_handle_t *handle)
{
	struct conn *c = handle->data;
	struct run_http *h = c->h;

	if (--c->handles)
		return;
	strbuf_free(&c->out);
	free(c);
	handle_closed(h);
}

static void conn_drop(struct conn *c)
{
	if (uv_is_closing((uv_handle_t *)&c->tcp))
		return;
	if (c->prev)
		c->prev->next = c->next;
	else
		c->h->conns = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->h->n--;
	uv_close((uv_handle_t *)&c->tcp, conn_closed);
	uv_close((uv_handle_t *)&c->timeout, conn_closed);
}

static void conn_timed_out(uv_timer_t *t)
{
	conn_drop(t->data);
}

static void conn_written(uv_write_t *w, int status UNUSED)
{
	conn_drop(w->data);
}

static void conn_buffer(uv_handle_t *handle, size_t want UNUSED, uv_buf_t *b)
{
	struct conn *c = handle->data;

	*b = uv_buf_init(c->in + c->len, (unsigned)(sizeof(c->in) - c->len));
}

/* To compute metrics of a large subnet takes the manager's time. */
static bool rate_allows(struct run_http *h)
{
	uint64_t now = uv_now(h->tcp.loop);

	if (now >= h->second_ms + 1000) {
		h->second_ms = now;
		h->spent = 0;
	}
	return !h->most.rate || h->spent++ < h->most.rate;
}

static void conn_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b UNUSED)
{
	struct conn *c = s->data;
	uv_buf_t out;
	int status;
	bool head;

	if (n < 0) {
		conn_drop(c);
		return;
	}
	c->len += (size_t)n;
	status = http_request(c->in, c->len, &head);
	if (!status)
		return;
	uv_read_stop(s);
	if (status == 200 && !rate_allows(c->h))
		status = 429;
	response_make(c, status, head);
	out = uv_buf_init(c->out.s, (unsigned)c->out.len);
	if (uv_write(&c->write, s, &out, 1, conn_written))
		conn_drop(c);
}

static void conn_accept(uv_stream_t *server, int status)
{
	struct run_http *h = server->data;
	struct conn *c;

	if (status < 0)
		return;
	c = mem_zalloc(sizeof(*c));
	c->h = h;
	c->handles = 2;
	c->tcp.data = c->timeout.data = c->write.data = c;
	uv_tcp_init(server->loop, &c->tcp);
	uv_timer_init(server->loop, &c->timeout);
	h->handles++;
	c->next = h->conns;
	if (c->next)
		c->next->prev = c;
	h->conns = c;
	h->n++;
	if (uv_accept(server, (uv_stream_t *)&c->tcp) || h->n > h->most.connections) {
		conn_drop(c);
		return;
	}
	uv_timer_start(&c->timeout, conn_timed_out, h->most.timeout_s * 1000ull, 0);
	uv_read_start((uv_stream_t *)&c->tcp, conn_buffer, conn_read);
}

/* ---- open and close ---- */

static void server_closed(uv_handle_t *handle)
{
	handle_closed(handle->data);
}

/* false: neither an address of IPv4 nor one of IPv6. */
static bool address_of(const char *text, unsigned port, struct sockaddr_storage *a)
{
	return !uv_ip4_addr(text, (int)port, (struct sockaddr_in *)a) ||
	       !uv_ip6_addr(text, (int)port, (struct sockaddr_in6 *)a);
}

int run_http_listen(struct run_http **out, uv_loop_t *loop, const char *address, unsigned port,
		    void (*text)(void *ctx, struct strbuf *out), void *ctx, struct err *e)
{
	struct run_http *h = mem_zalloc(sizeof(*h));
	struct sockaddr_storage a = {0};
	int rc;

	h->most = limits_default;
	h->text = text;
	h->ctx = ctx;
	h->tcp.data = h;
	h->handles = 1;
	uv_tcp_init(loop, &h->tcp);
	rc = address_of(address, port, &a) ? 0 : UV_EINVAL;
	rc = rc ? rc : uv_tcp_bind(&h->tcp, (const struct sockaddr *)&a, 0);
	rc = rc ? rc : uv_listen((uv_stream_t *)&h->tcp, 16, conn_accept);
	if (!rc) {
		*out = h;
		return 0;
	}
	run_http_close(h);
	return err_set(e, rc, "%s port %u: cannot serve metrics: %s", address, port,
		       uv_strerror(rc));
}

void run_http_limit(struct run_http *h, const struct run_http_limits *most)
{
	h->most = *most;
}

unsigned run_http_port(const struct run_http *h)
{
	struct sockaddr_storage a;
	int len = sizeof(a);

	/* Both families have the port at the same place. */
	return uv_tcp_getsockname(&h->tcp, (struct sockaddr *)&a, &len)
		       ? 0
		       : ntohs(((const struct sockaddr_in *)&a)->sin_port);
}

void run_http_close(struct run_http *h)
{
	if (!h || uv_is_closing((uv_handle_t *)&h->tcp))
		return;
	while (h->conns)
		conn_drop(h->conns);
	uv_close((uv_handle_t *)&h->tcp, server_closed);
}
