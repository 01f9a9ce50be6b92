/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection to a manager's control socket. State: bytes in and out, the tags of requests without an answer. Ways in:
 * live_client_ask(), live_client_work(). Does not interpret answers.
 */
#include "web/live_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/vec.h"

enum { TAG_SUBSCRIBED = 0xffffffff, READ_MOST = 16 << 20 };

struct live_client {
	char path[108];
	struct live_client_ops ops;
	int fd;
	struct strbuf in, out;
	size_t sent;	 /* of out */
	size_t searched; /* of in: without a newline */
	VEC(unsigned) tags;
};

struct live_client *live_client_new(const char *path, const struct live_client_ops *ops)
{
	struct live_client *c = mem_zalloc(sizeof(*c));

	snprintf(c->path, sizeof(c->path), "%s", path);
	c->ops = *ops;
	c->fd = -1;
	return c;
}

static void disconnect(struct live_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->in.len = c->out.len = c->sent = c->searched = 0;
	c->tags.n = 0;
}

void live_client_free(struct live_client *c)
{
	disconnect(c);
	strbuf_free(&c->in);
	strbuf_free(&c->out);
	vec_free(&c->tags);
	free(c);
}

int live_client_connect(struct live_client *c, struct err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int rc;

	if (c->fd >= 0)
		return 0;
	memcpy(a.sun_path, c->path, sizeof(a.sun_path));
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof(a))) {
		rc = -errno;
		disconnect(c);
		return err_set(e, rc, "%s: %s", c->path, strerror(-rc));
	}
	if (!c->ops.record)
		return 0;
	strbuf_add(&c->out, "events\n");
	vec_push(&c->tags, TAG_SUBSCRIBED);
	return 0;
}

bool live_client_connected(const struct live_client *c)
{
	return c->fd >= 0;
}

int live_client_fd(const struct live_client *c)
{
	return c->fd;
}

bool live_client_wants_write(const struct live_client *c)
{
	return c->sent < c->out.len;
}

unsigned live_client_waiting(const struct live_client *c)
{
	return (unsigned)c->tags.n;
}

bool live_client_ask(struct live_client *c, unsigned tag, const char *json)
{
	if (c->fd < 0 || c->tags.n >= LIVE_WAITING_MOST)
		return false;
	strbuf_add(&c->out, json);
	strbuf_add(&c->out, "\n");
	vec_push(&c->tags, tag);
	return true;
}

static int send_some(struct live_client *c)
{
	while (c->sent < c->out.len) {
		ssize_t k = send(c->fd, c->out.s + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

		if (k < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		c->sent += (size_t)k;
	}
	c->out.len = c->sent = 0;
	return 0;
}

/* Answers begin with "ok"; records of the log do not. */
static void line_take(struct live_client *c, char *line, size_t len)
{
	unsigned tag;

	if (strncmp(line, "{\"ok\":", 6)) {
		if (c->ops.record)
			c->ops.record(c->ops.ctx, line, len);
		return;
	}
	if (!c->tags.n)
		return;
	tag = c->tags.at[0];
	memmove(c->tags.at, c->tags.at + 1, --c->tags.n * sizeof(*c->tags.at));
	if (tag != TAG_SUBSCRIBED)
		c->ops.answer(c->ops.ctx, tag, line, len);
}

static void lines_take(struct live_client *c)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(c->in.s + c->searched, '\n', c->in.len - c->searched))) {
		size_t at = (size_t)(end - c->in.s);

		*end = 0;
		c->searched = at + 1;
		line_take(c, c->in.s + from, at - from);
		from = at + 1;
	}
	c->in.len -= from;
	memmove(c->in.s, c->in.s + from, c->in.len);
	c->searched = c->in.len;
}

static int receive_some(struct live_client *c)
{
	char part[65536];
	size_t sum = 0;
	ssize_t k = 0;

	while (sum < READ_MOST && (k = recv(c->fd, part, sizeof(part), 0)) > 0) {
		strbuf_addn(&c->in, part, (size_t)k);
		sum += (size_t)k;
		if (memchr(part, '\n', (size_t)k))
			lines_take(c);
		else
			c->searched = c->in.len;
		if (c->in.len > LIVE_ANSWER_MAX)
			return -EFBIG;
	}
	if (k > 0 || (k < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	return k ? -errno : -ECONNRESET;
}

int live_client_work(struct live_client *c)
{
	int rc = send_some(c);

	if (!rc)
		rc = receive_some(c);
	if (rc)
		disconnect(c);
	return rc;
}
