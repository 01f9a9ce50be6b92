/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of a control socket. State: none; each request has its own connection. Way in:
 * lines_ask(). Does not retry and does not interpret lines.
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

static int ask_send(int fd, const char *s, size_t len, unsigned timeout_ms)
{
	while (len) {
		ssize_t n = send(fd, s, len, MSG_NOSIGNAL);
		int rc = n >= 0 || errno == EINTR ? 0
			 : errno == EAGAIN	  ? fd_wait(fd, POLLOUT, timeout_ms)
						  : -errno;

		if (rc)
			return rc;
		s += MAX(n, 0);
		len -= (size_t)MAX(n, 0);
	}
	return 0;
}

static int ask_receive(int fd, unsigned timeout_ms, struct strbuf *b)
{
	static const size_t most = ANSWER_MAX_BYTES;
	char chunk[65536];
	size_t from = b->len;

	for (;;) {
		ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
		const char *end = n > 0 ? memchr(chunk, '\n', (size_t)n) : NULL;
		int rc;

		strbuf_addn(b, chunk, end ? (size_t)(end - chunk) : n > 0 ? (size_t)n : 0);
		if (end)
			return 0;
		if (!n)
			return -ECONNRESET;
		rc = n > 0 || errno == EINTR ? 0
		     : errno == EAGAIN	     ? fd_wait(fd, POLLIN, timeout_ms)
					     : -errno;
		if (rc)
			return rc;
		if (b->len - from > most)
			return -EFBIG;
	}
}

int lines_ask(const char *path, const char *line, unsigned timeout_ms, struct strbuf *answer,
	      struct err *e)
{
	struct strbuf text = {0};
	struct sockaddr_un a;
	int fd, rc = lines_address(&a, path, e);

	if (rc)
		return rc;
	fd = lines_socket();
	rc = fd < 0 ? -errno : ask_connect(fd, &a, timeout_ms);
	if (rc) {
		err_set(e, rc,
			rc == -ENOENT || rc == -ECONNREFUSED ? "%s: no process listens there (%s)"
							     : "%s: %s",
			path, strerror(-rc));
	} else {
		strbuf_addf(&text, "%s\n", line);
		rc = ask_send(fd, text.s, text.len, timeout_ms);
		rc = rc ? rc : ask_receive(fd, timeout_ms, answer);
		strbuf_free(&text);
		if (rc)
			err_set(e, rc, "%s: no response: %s", path, strerror(-rc));
	}
	if (fd >= 0)
		close(fd);
	return rc;
}
