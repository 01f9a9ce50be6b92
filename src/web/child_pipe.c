/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The web process's side of a link. State: the frame that is being read, the messages that wait. Ways in:
 * child_pipe_open(), child_pipe_send(). Does not know what frames mean.
 */
#include "web/child_pipe.h"

#include <sys/socket.h>
#include <unistd.h>

enum { READ_BUDGET = 4 << 20 }; /* bytes before others have their turn */

struct message {
	uint8_t head[MSG_HEAD];
	struct strbuf content;
	size_t sent; /* of both */
};

struct child_pipe {
	uv_poll_t poll;
	int fd, passed;
	uint8_t head[FRAME_HEAD];
	struct frame *f; /* being read; NULL: its header is */
	size_t got;
	VEC(struct message) out;
	size_t out_bytes;
	struct child_pipe_ops ops;
	bool closed;
};

static void pipe_events(uv_poll_t *poll, int status, int events);

static void pipe_free(struct child_pipe *p)
{
	for (size_t i = 0; i < p->out.n; i++)
		strbuf_free(&p->out.at[i].content);
	vec_free(&p->out);
	frame_unref(p->f);
	free(p);
}

static void pipe_closed(uv_handle_t *h)
{
	pipe_free(h->data);
}

void child_pipe_close(struct child_pipe *p)
{
	if (!p || p->closed)
		return;
	p->closed = true;
	uv_close((uv_handle_t *)&p->poll, pipe_closed);
	close(p->fd);
	if (p->passed >= 0)
		close(p->passed);
	p->passed = -1;
}

static void pipe_failed(struct child_pipe *p)
{
	child_pipe_close(p);
	p->ops.ended(p->ops.ctx);
}

static void pipe_wait(struct child_pipe *p)
{
	uv_poll_start(&p->poll, UV_READABLE | (p->out.n ? UV_WRITABLE : 0), pipe_events);
}

/* ---- frames in ---- */

static bool head_done(struct child_pipe *p)
{
	uint32_t len = frame_u32(p->head);

	if (len < FRAME_HEAD || len > FRAME_MAX)
		return false;
	p->f = frame_new(p->head[4], NULL, len - FRAME_HEAD);
	memcpy(p->f->data, p->head, FRAME_HEAD);
	return true;
}

static void frame_done(struct child_pipe *p)
{
	struct frame *f = p->f;
	int fd = p->passed;

	p->f = NULL;
	p->passed = -1;
	p->got = 0;
	p->ops.frame(p->ops.ctx, f, fd);
	frame_unref(f);
}

/* Bytes read, 0 when there are none now, or -errno. */
static ssize_t read_some(struct child_pipe *p)
{
	uint8_t *to = p->f ? p->f->data : p->head;
	size_t len = p->f ? p->f->len : FRAME_HEAD;
	ssize_t k = child_read(p->fd, to + p->got, len - p->got, &p->passed);

	if (k <= 0)
		return k == -EAGAIN ? 0 : k ? k : -EPIPE;
	p->got += (size_t)k;
	if (p->got == FRAME_HEAD && !p->f && !head_done(p))
		return -EBADMSG;
	if (p->f && p->got == p->f->len)
		frame_done(p);
	return k;
}

/* ---- messages out ---- */

static ssize_t write_some(struct child_pipe *p, const struct message *m)
{
	const void *at = m->sent < MSG_HEAD ? (const void *)(m->head + m->sent)
					    : m->content.s + (m->sent - MSG_HEAD);
	size_t len = m->sent < MSG_HEAD ? MSG_HEAD - m->sent : MSG_HEAD + m->content.len - m->sent;

	return send(p->fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void message_done(struct child_pipe *p)
{
	strbuf_free(&p->out.at[0].content);
	memmove(p->out.at, p->out.at + 1, --p->out.n * sizeof(*p->out.at));
}

/* 0 or -errno. */
static int write_all(struct child_pipe *p)
{
	while (p->out.n) {
		struct message *m = &p->out.at[0];
		ssize_t k = write_some(p, m);

		if (k < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		m->sent += (size_t)k;
		p->out_bytes -= (size_t)k;
		if (m->sent == MSG_HEAD + m->content.len)
			message_done(p);
	}
	return 0;
}

static void pipe_events(uv_poll_t *poll, int status, int events)
{
	struct child_pipe *p = poll->data;
	ssize_t k = status, sum = 0;

	if (k >= 0 && events & UV_WRITABLE)
		k = write_all(p);
	/* What the child said before it ended counts, so an error of writing alone does not end it. */
	if (status >= 0 && events & UV_READABLE)
		while (!p->closed && (k = read_some(p)) > 0 && (sum += k) < READ_BUDGET)
			;
	if (p->closed)
		return;
	if (k < 0)
		pipe_failed(p);
	else
		pipe_wait(p);
}

bool child_pipe_send(struct child_pipe *p, unsigned kind, struct strbuf *content)
{
	size_t len = MSG_HEAD + content->len;
	struct message m = {0};

	if (p->closed || p->out.n >= PIPE_MESSAGES || p->out_bytes + len > PIPE_BYTES)
		return false;
	frame_put_u32(m.head, (uint32_t)len);
	frame_put_u32(m.head + 4, kind);
	if (content->len > 65536) {
		m.content = *content;
		*content = (struct strbuf){0};
	} else {
		strbuf_addn(&m.content, content->s ? content->s : "", content->len);
	}
	vec_push(&p->out, m);
	p->out_bytes += len;
	write_all(p); /* an error shows when it is read */
	pipe_wait(p);
	return true;
}

struct child_pipe *child_pipe_open(uv_loop_t *loop, int fd, const struct child_pipe_ops *ops)
{
	struct child_pipe *p = mem_zalloc(sizeof(*p));

	p->fd = fd;
	p->passed = -1;
	p->ops = *ops;
	p->poll.data = p;
	uv_poll_init(loop, &p->poll, fd);
	pipe_wait(p);
	return p;
}
