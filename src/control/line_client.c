/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of a control socket. State: none; each call has its own connection. Ways in:
 * lines_ask(), lines_ask_many(). Does not retry and does not interpret lines.
 */
#include "control/lines_priv.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX_BYTES = 1 << 30 };

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 0 when fd is ready, -ETIMEDOUT when it is not ready in time. */
static int fd_wait(int fd, short what, unsigned timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;
	struct pollfd p = {.fd = fd, .events = what};
	int n;

	do {
		n = poll(&p, 1, (int)MAX(end - now_ms(), 0));
	} while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : n < 0 ? -errno : -ETIMEDOUT;
}

/* connect() returns EAGAIN while the server's backlog is full; poll() cannot wait for its end. */
static int ask_connect(int fd, const struct sockaddr_un *a, unsigned timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;

	while (connect(fd, (const struct sockaddr *)a, sizeof(*a))) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (now_ms() >= end)
			return -ETIMEDOUT;
		poll(NULL, 0, 5);
	}
	return 0;
}

/* The lines that are sent, and the responses that arrive meanwhile. */
struct talk {
	int fd;
	const char *const *lines;
	size_t n, at, sent; /* lines; the one being sent; its bytes that are */
	size_t got, ahead;  /* responses; lines that may be sent before theirs */
	struct strbuf in;
	void (*put)(void *ctx, size_t i, const char *response);
	void *ctx;
};

static bool can_send(const struct talk *t)
{
	return t->at < t->n && t->at < t->got + t->ahead;
}

/* Sends what the socket accepts. */
static int talk_send(struct talk *t)
{
	while (can_send(t)) {
		const char *s = t->lines[t->at] + t->sent;
		size_t len = strlen(s);
		ssize_t k = send(t->fd, len ? s : "\n", len ? len : 1, MSG_NOSIGNAL);

		if (k < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		t->sent += len ? (size_t)k : 0;
		if (len)
			continue;
		t->at++;
		t->sent = 0;
	}
	return 0;
}

/* Gives complete responses to the caller. */
static void talk_deliver(struct talk *t)
{
	char *from = t->in.s, *end;

	while (t->got < t->n && (end = memchr(from, '\n', t->in.len - (size_t)(from - t->in.s)))) {
		*end = 0;
		t->put(t->ctx, t->got++, from);
		from = end + 1;
	}
	t->in.len -= (size_t)(from - t->in.s);
	memmove(t->in.s, from, t->in.len);
}

static int talk_receive(struct talk *t)
{
	static const size_t most = ANSWER_MAX_BYTES;
	char chunk[65536];
	ssize_t k;

	while ((k = recv(t->fd, chunk, sizeof(chunk), 0)) > 0) {
		strbuf_addn(&t->in, chunk, (size_t)k);
		if (memchr(chunk, '\n', (size_t)k))
			talk_deliver(t);
		if (t->in.len > most)
			return -EFBIG;
	}
	if (t->got == t->n)
		return 0;
	return !k ? -ECONNRESET : errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static int talk(struct talk *t, unsigned timeout_ms)
{
	int rc = 0;

	while (!rc && t->got < t->n) {
		rc = talk_send(t);
		/* A server that refuses the connection says why before it closes. */
		rc = rc && rc != -EPIPE && rc != -ECONNRESET ? rc : talk_receive(t);
		if (!rc && t->got < t->n)
			rc = fd_wait(t->fd, can_send(t) ? POLLIN | POLLOUT : POLLIN, timeout_ms);
	}
	return rc;
}

int lines_ask_many(const char *path, const char *const *lines, size_t n, size_t ahead,
		   unsigned timeout_ms, void (*got)(void *ctx, size_t i, const char *response),
		   void *ctx, struct err *e)
{
	struct talk t = {.lines = lines, .n = n, .ahead = ahead, .put = got, .ctx = ctx};
	struct sockaddr_un a;
	int rc = lines_address(&a, path, e);

	if (rc)
		return rc;
	t.fd = lines_socket();
	rc = t.fd < 0 ? -errno : ask_connect(t.fd, &a, timeout_ms);
	if (rc)
		err_set(e, rc,
			rc == -ENOENT || rc == -ECONNREFUSED ? "%s: no process listens there (%s)"
							     : "%s: %s",
			path, strerror(-rc));
	else if ((rc = talk(&t, timeout_ms)))
		err_set(e, rc, "%s: no response: %s", path, strerror(-rc));
	strbuf_free(&t.in);
	if (t.fd >= 0)
		close(t.fd);
	return rc;
}

static void response_take(void *ctx, size_t i UNUSED, const char *response)
{
	strbuf_add(ctx, response);
}

int lines_ask(const char *path, const char *line, unsigned timeout_ms, struct strbuf *answer,
	      struct err *e)
{
	return lines_ask_many(path, &line, 1, 1, timeout_ms, response_take, answer, e);
}
