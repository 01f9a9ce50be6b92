/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: requests in, responses out, one after the other. State: the connection. Way in: web_conn_accept(), then
 * libuv's callbacks. What a request may do is decided in http_routes.c and by the handler.
 */
#include "web/http_priv.h"

enum { WRITE_MS = 30000, DRAIN_MS = 2000, SEND_BUFFER = 256 << 10, LARGE_BODY = 1 << 20 };

static void conn_process(struct web_conn *c);

/* ---- the end ---- */

static void conn_closed(uv_handle_t *handle)
{
	struct web_conn *c = handle->data;
	struct web_server *w = c->w;

	if (--c->handles)
		return;
	web_stream_free(&c->stream);
	strbuf_free(&c->body);
	strbuf_free(&c->out);
	free(c);
	web_server_handle_closed(w);
}

static void body_free(struct web_conn *c)
{
	strbuf_free(&c->body);
	c->w->bodies -= c->large;
	c->large = false;
}

void web_conn_drop(struct web_conn *c)
{
	if (uv_is_closing((uv_handle_t *)&c->tcp))
		return;
	if (c->prev)
		c->prev->next = c->next;
	else
		c->w->conns = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->w->n--;
	body_free(c);
	if (c->stream.attached) {
		c->stream.attached = false;
		c->w->streams--;
		c->w->h.left(c->w->h.ctx, &c->stream);
	}
	uv_close((uv_handle_t *)&c->tcp, conn_closed);
	uv_close((uv_handle_t *)&c->timer, conn_closed);
}

static void conn_timed_out(uv_timer_t *t)
{
	web_conn_drop(t->data);
}

static void conn_wait(struct web_conn *c, unsigned ms)
{
	uv_timer_start(&c->timer, conn_timed_out, ms, 0);
}

static void conn_shut(uv_shutdown_t *s UNUSED, int status UNUSED)
{
}

/* The client may still be sending: closing now would take the response away from it. */
static void conn_drain(struct web_conn *c)
{
	c->state = CONN_DRAIN;
	c->end.data = c;
	conn_wait(c, DRAIN_MS);
	if (uv_shutdown(&c->end, (uv_stream_t *)&c->tcp, conn_shut))
		web_conn_drop(c);
}

/* ---- reading ---- */

static void conn_buffer(uv_handle_t *handle, size_t want UNUSED, uv_buf_t *b)
{
	struct web_conn *c = handle->data;
	size_t room = sizeof(c->in) - c->len;

	if (c->state == CONN_DRAIN || c->state == CONN_STREAM)
		room = sizeof(c->in), c->len = 0;
	if (c->state != CONN_BODY) {
		*b = uv_buf_init(c->in + c->len, (unsigned)room);
		return;
	}
	/* Memory follows the bytes that came, not what the client announces. */
	if (c->body.len == c->body.cap) {
		c->body.cap = (size_t)MIN(c->body_len, (uint64_t)MAX(c->body.cap * 2, 65536u));
		c->body.s = mem_resize(c->body.s, c->body.cap, 1);
	}
	room = (size_t)MIN(c->body_len, (uint64_t)c->body.cap) - c->body.len;
	*b = uv_buf_init(c->body.s + c->body.len, (unsigned)room);
}

static void conn_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b UNUSED)
{
	struct web_conn *c = s->data;

	if (n < 0) {
		web_conn_drop(c);
		return;
	}
	if (c->state == CONN_BODY) {
		c->body.len += (size_t)n;
		conn_wait(c, c->w->most.body_ms);
		conn_process(c);
	} else if (c->state == CONN_HEAD) {
		if (!c->len && n)
			conn_wait(c, c->w->most.head_ms);
		c->len += (size_t)n;
		conn_process(c);
	}
}

static void in_consume(struct web_conn *c, size_t n)
{
	c->len -= n;
	memmove(c->in, c->in + n, c->len);
}

/* ---- answers ---- */

void web_conn_written(uv_write_t *w, int status)
{
	struct web_conn *c = w->data;

	c->out.len = 0;
	if (status < 0) {
		web_conn_drop(c);
		return;
	}
	if (uv_is_closing((uv_handle_t *)&c->tcp))
		return;
	uv_read_start((uv_stream_t *)&c->tcp, conn_buffer, conn_read);
	if (c->last) {
		conn_drain(c);
		return;
	}
	c->state = CONN_HEAD;
	conn_wait(c, c->len ? c->w->most.head_ms : c->w->most.idle_ms);
	conn_process(c);
}

/* The head in c->out, then the file. */
static void conn_answer(struct web_conn *c, const struct static_file *file)
{
	uv_buf_t bufs[2] = {uv_buf_init(c->out.s, (unsigned)c->out.len)};

	c->state = CONN_ANSWER;
	conn_wait(c, WRITE_MS);
	uv_read_stop((uv_stream_t *)&c->tcp);
	if (file)
		bufs[1] = uv_buf_init((char *)(uintptr_t)file->data,
				      (unsigned)(file->end - file->data));
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, bufs, file ? 2 : 1, web_conn_written))
		web_conn_drop(c);
}

static void answer_status(struct web_conn *c, int status, const char *why, const char *allow)
{
	struct strbuf text = {0};

	if (status != 204)
		strbuf_addf(&text, "%d %s%s%s\n", status, web_reason(status), why ? ": " : "",
			    why ? why : "");
	c->out.len = 0;
	web_response_head(&c->out, &(struct web_response){
					   .status = status,
					   .type = text.len ? "text/plain; charset=utf-8" : NULL,
					   .allow = allow,
					   .len = text.len,
					   .last = c->last});
	if (text.len && !c->bare)
		strbuf_addn(&c->out, text.s, text.len);
	strbuf_free(&text);
	conn_answer(c, NULL);
}

static void answer_file(struct web_conn *c, const struct static_file *f)
{
	c->out.len = 0;
	web_response_head(&c->out, &(struct web_response){.status = 200,
							  .type = f->type,
							  .len = (size_t)(f->end - f->data),
							  .last = c->last});
	conn_answer(c, c->bare ? NULL : f);
}

static void answer_stream(struct web_conn *c)
{
	const char *why = NULL;
	int status = c->w->h.stream(c->w->h.ctx, c->route.session, &c->stream, &why);

	if (status != 200) {
		frame_queue_free(&c->stream.queue);
		answer_status(c, status, why, NULL);
		return;
	}
	uv_timer_stop(&c->timer);
	c->state = CONN_STREAM;
	c->stream.attached = true;
	c->w->streams++;
	uv_send_buffer_size((uv_handle_t *)&c->tcp, &(int){SEND_BUFFER});
	web_stream_begin(c);
}

/* ---- requests ---- */

static void body_done(struct web_conn *c)
{
	const struct web_handler *h = &c->w->h;
	const char *why = NULL;
	int status;

	if (c->route.action == ACT_COMMAND)
		status = h->command(h->ctx, c->route.session, &c->body, &why);
	else
		status = h->restart(h->ctx, c->route.session, &why);
	body_free(c);
	answer_status(c, status, why, NULL);
}

/* What is already there of the body, and the client's question whether to send the rest. */
static void body_begin(struct web_conn *c, const struct web_request *r)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	uv_buf_t b = uv_buf_init((char *)(uintptr_t)go_on, sizeof(go_on) - 1);
	size_t n = (size_t)MIN(r->body, (uint64_t)c->len);

	c->state = CONN_BODY;
	c->body_len = r->body;
	c->large = r->body > LARGE_BODY;
	c->w->bodies += c->large;
	strbuf_addn(&c->body, c->in, n);
	in_consume(c, n);
	conn_wait(c, c->w->most.body_ms);
	if (r->expects && c->body.len < r->body &&
	    uv_try_write((uv_stream_t *)&c->tcp, &b, 1) != (int)b.len)
		web_conn_drop(c);
}

static void request_begin(struct web_conn *c, const struct web_request *r)
{
	web_route(c->w, r, &c->route);
	c->bare = r->method == WEB_HEAD;
	c->last = r->last || (c->route.status != 200 && r->body);
	in_consume(c, r->head_len);
	if (c->route.status != 200)
		answer_status(c, c->route.status, c->route.why, c->route.allow);
	else if (c->route.action == ACT_FILE)
		answer_file(c, c->route.file);
	else if (c->route.action == ACT_STREAM)
		answer_stream(c);
	else
		body_begin(c, r);
}

static void conn_process(struct web_conn *c)
{
	struct web_request r;

	if (c->state == CONN_HEAD) {
		int status = web_request_parse(c->in, c->len, &r);

		if (!status)
			return;
		if (status == 200) {
			request_begin(c, &r);
		} else {
			c->last = true;
			c->bare = false;
			answer_status(c, status, NULL, status == 405 ? "GET, HEAD, POST" : NULL);
		}
	}
	if (c->state == CONN_BODY && c->body.len == c->body_len)
		body_done(c);
}

/* ---- the beginning ---- */

static void refuse_more(struct web_conn *c)
{
	static const char text[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
				   "Content-Length: 0\r\nRetry-After: 1\r\n\r\n";
	uv_buf_t b = uv_buf_init((char *)(uintptr_t)text, sizeof(text) - 1);

	uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
	web_conn_drop(c);
}

void web_conn_accept(struct web_server *w)
{
	struct web_conn *c = mem_zalloc(sizeof(*c));
	int rc;

	c->w = w;
	c->handles = 2;
	c->tcp.data = c->timer.data = c->write.data = c;
	uv_tcp_init(w->tcp.loop, &c->tcp);
	uv_timer_init(w->tcp.loop, &c->timer);
	w->handles++;
	c->next = w->conns;
	if (c->next)
		c->next->prev = c;
	w->conns = c;
	w->n++;
	rc = uv_accept((uv_stream_t *)&w->tcp, (uv_stream_t *)&c->tcp);
	if (rc) {
		web_conn_drop(c);
	} else if (w->n > w->most.connections) {
		refuse_more(c);
	} else {
		uv_tcp_nodelay(&c->tcp, 1);
		conn_wait(c, w->most.head_ms);
		uv_read_start((uv_stream_t *)&c->tcp, conn_buffer, conn_read);
	}
}
