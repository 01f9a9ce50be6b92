/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing without waiting. State: struct outlet, which holds what was begun and is not out. Way in:
 * outlet_put(). Does not know what lines are, nor tell anybody that something was refused.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outlet.h"

/* Through /proc a pipe or a terminal is opened anew, with flags that are nobody else's. */
static int own_description(int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void outlet_open(struct outlet *o, int fd)
{
	struct stat st;
	int own;

	*o = (struct outlet){.fd = fd};
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

void outlet_close(struct outlet *o)
{
	outlet_flush(o);
	if (o->own)
		close(o->fd);
	strbuf_free(&o->rest);
	*o = (struct outlet){.fd = -1};
}

static bool has_room(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) > 0;
}

/* How much went out; 0 when there is no room. Where nobody is left to read, everything "went". */
static size_t send_some(struct outlet *o, const char *s, size_t len)
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
	return errno == EAGAIN || errno == EINTR ? 0 : len; /* nowhere to complain */
}

bool outlet_flush(struct outlet *o)
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

bool outlet_put(struct outlet *o, const char *text, size_t len)
{
	size_t n;

	if (!outlet_flush(o))
		return false;
	n = send_some(o, text, len);
	if (!n && len)
		return false;
	if (n < len) { /* begun: the rest has to follow */
		strbuf_addn(&o->rest, text + n, len - n);
		outlet_flush(o);
	}
	return true;
}

bool outlet_keep(struct outlet *o, const char *text, size_t len, size_t limit)
{
	if (o->rest.len - o->sent + len > limit)
		return false;
	if (o->sent > o->rest.len / 2) {
		o->rest.len -= o->sent;
		memmove(o->rest.s, o->rest.s + o->sent, o->rest.len);
		o->sent = 0;
	}
	strbuf_addn(&o->rest, text, len);
	outlet_flush(o);
	return true;
}
