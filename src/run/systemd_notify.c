/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications to systemd: datagrams to $NOTIFY_SOCKET. State: none. Way in: systemd_notify(). Waits
 * for no response.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/systemd_notify.h"

void systemd_notify(const char *fmt, ...)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char text[512];
	va_list ap;
	int fd, n;

	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, strlen(path));
	if (*path == '@')
		a.sun_path[0] = 0;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	/* systemd is the only receiver: an error cannot be reported to it. */
	if (sendto(fd, text, MIN((size_t)n, sizeof(text) - 1), MSG_NOSIGNAL, (struct sockaddr *)&a,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0)
		errno = 0;
	close(fd);
}

uint64_t systemd_watchdog_us(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t v;

	if (pid && *pid && strtol(pid, NULL, 10) != (long)getpid())
		return 0;
	return us && !parse_u64(us, &v) ? v : 0;
}
