/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output that never blocks. State: struct nonblock_out, with text that waits. Way in: nonblock_put(). Does not
 * know lines and does not report what was refused.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nonblock_out.h"

/* Open a pipe or terminal again through /proc, with flags of its own. */
static int own_description(int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void nonblock_open(struct nonblock_out *o, int fd)
{
	struct stat st;
	int own;

	*o = (struct nonblock_out){.fd = fd};
	if (fd < 0 || fstat(fd, &st) || S_ISREG(st.st_mode))
		return;
	o->socket = S_ISSOCK(st.st_mode);
	if (o->socket)
		return;
	own = own_description(fd);
	o->own = own >= 0;
	o->unsure = own < 0;
	if (o->own)
		o->fd = own;
}

void nonblock_close(struct nonblock_out *o)
{
	nonblock_flush(o);
	if (o->own)
		close(o->fd);
	strbuf_free(&o->rest);
	*o = (struct nonblock_out){.fd = -1};
}

static bool has_room(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) > 0;
}

/* Bytes written; 0: no room. Without a reader, everything counts as written. */
static size_t send_some(struct nonblock_out *o, const char *s, size_t len)
{
	ssize_t n;

	if (o->fd < 0)
		return len;
	if (o->unsure && !has_room(o->fd))
		return 0;
	if (o->socket)
		n = send(o->fd, s, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = write(o->fd, s, o->unsure ? MIN(len, (size_t)PIPE_BUF) : len);
	if (n >= 0)
		return (size_t)n;
	return errno == EAGAIN || errno == EINTR ? 0 : len; /* the error cannot be reported */
}

bool nonblock_flush(struct nonblock_out *o)
{
	size_t n = 1;

	while (o->sent < o->rest.len && n) {
		n = send_some(o, o->rest.s + o->sent, o->rest.len - o->sent);
		o->sent += n;
	}
	if (o->sent < o->rest.len)
		return false;
	o->sent = o->rest.len = 0;
	return true;
}

bool nonblock_put(struct nonblock_out *o, const char *text, size_t len)
{
	size_t n;

	if (!nonblock_flush(o))
		return false;
	n = send_some(o, text, len);
	if (!n && len)
		return false;
	if (n < len) { /* part of it is written: the rest must follow */
		strbuf_addn(&o->rest, text + n, len - n);
		nonblock_flush(o);
	}
	return true;
}

bool nonblock_keep(struct nonblock_out *o, const char *text, size_t len, size_t limit)
{
	if (o->rest.len - o->sent + len > limit)
		return false;
	if (o->sent > o->rest.len / 2) {
		o->rest.len -= o->sent;
		memmove(o->rest.s, o->rest.s + o->sent, o->rest.len);
		o->sent = 0;
	}
	strbuf_addn(&o->rest, text, len);
	nonblock_flush(o);
	return true;
}
