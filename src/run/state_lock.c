/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of a state file. State: none; the kernel keeps the lock. Way in: state_lock_take(). Does not
 * open the state file: it may be moved away and made again while the lock is held.
 */
#include "run/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* -EBUSY, with the process id that the holder wrote. */
static int busy(int fd, const char *path, struct err *e)
{
	char text[24] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned long pid = n > 0 ? strtoul(text, NULL, 10) : 0;

	if (!pid)
		return err_set(e, -EBUSY, "%s: another process uses it", path);
	return err_set(e, -EBUSY,
		       "%s: process %lu uses it: stop that manager, or give this one another state "
		       "file (--state)",
		       path, pid);
}

static void pid_write(int fd)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	/* A full disk: the lock holds, only the number is missing. */
	if (!ftruncate(fd, 0) && pwrite(fd, text, (size_t)n, 0) != n && ftruncate(fd, 0))
		return;
}

int state_lock_take(int *fd, const char *path, struct err *e)
{
	char name[300];
	int rc = 0;

	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
		return err_set(e, -ENAMETOOLONG, "%.100s...: the path is too long", path);
	*fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return errno == ENOSPC || errno == EDQUOT
			       ? 0
			       : err_set(e, -errno, "%s: cannot open: %s", name, strerror(errno));
	if (flock(*fd, LOCK_EX | LOCK_NB)) {
		rc = errno == EWOULDBLOCK
			     ? busy(*fd, path, e)
			     : err_set(e, -errno, "%s: cannot lock: %s", name, strerror(errno));
		close(*fd);
		*fd = -1;
		return rc;
	}
	pid_write(*fd);
	return 0;
}
