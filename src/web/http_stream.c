/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of frames: one write at a time; what comes meanwhile waits in the queue. State: the stream of a connection.
 * Ways in: web_stream_begin(), web_stream_send(). A page that does not read delays nothing but its own stream.
 */
#include "web/http_priv.h"

enum { BATCH_BYTES = 1 << 20 };

static void stream_write(struct web_conn *c);

static void frames_sent(struct web_stream *s)
{
	for (unsigned i = 0; i < s->nsending; i++)
		frame_unref(s->sending[i]);
	s->nsending = 0;
}

static void stream_written(uv_write_t *w, int status)
{
	struct web_conn *c = w->data;

	frames_sent(&c->stream);
	c->out.len = 0;
	if (status < 0)
		web_conn_drop(c);
	else
		stream_write(c);
}

static bool is_busy(const struct web_conn *c)
{
	return c->stream.nsending || c->out.len;
}

/* The frames that wait, as one chunk. */
static void stream_write(struct web_conn *c)
{
	struct web_stream *s = &c->stream;
	uv_buf_t bufs[STREAM_BATCH + 2];
	size_t sum = 0;

	if (is_busy(c) || uv_is_closing((uv_handle_t *)&c->tcp))
		return;
	s->nsending = frame_queue_take(&s->queue, s->sending, STREAM_BATCH, BATCH_BYTES);
	if (!s->nsending)
		return;
	for (unsigned i = 0; i < s->nsending; i++) {
		bufs[i + 1] =
			uv_buf_init((char *)s->sending[i]->data, (unsigned)s->sending[i]->len);
		sum += s->sending[i]->len;
	}
	bufs[0] = uv_buf_init(s->chunk,
			      (unsigned)snprintf(s->chunk, sizeof(s->chunk), "%zx\r\n", sum));
	bufs[s->nsending + 1] = uv_buf_init("\r\n", 2);
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, bufs, s->nsending + 2, stream_written))
		web_stream_end(s);
}

void web_stream_begin(struct web_conn *c)
{
	uv_buf_t head;

	c->out.len = 0;
	web_response_head(&c->out, &(struct web_response){.status = 200,
							  .type = "application/octet-stream",
							  .chunked = true});
	head = uv_buf_init(c->out.s, (unsigned)c->out.len);
	c->stream.begun = true;
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &head, 1, stream_written))
		web_stream_end(&c->stream);
}

void web_stream_send(struct web_stream *s, struct frame *f)
{
	if (!frame_queue_put(&s->queue, f))
		web_stream_end(s);
	else if (s->begun)
		stream_write(web_stream_conn(s));
}

static void end_now(uv_timer_t *t)
{
	web_conn_drop(t->data);
}

void web_stream_end(struct web_stream *s)
{
	struct web_conn *c = web_stream_conn(s);

	if (!uv_is_closing((uv_handle_t *)&c->timer))
		uv_timer_start(&c->timer, end_now, 0, 0);
}

void *web_stream_data(const struct web_stream *s)
{
	return s->data;
}

void web_stream_set_data(struct web_stream *s, void *data)
{
	s->data = data;
}

void web_stream_free(struct web_stream *s)
{
	frames_sent(s);
	frame_queue_free(&s->queue);
}
