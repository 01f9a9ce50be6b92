/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unix sockets, their addresses and files, for both ends of a control socket. State: none. Ways in:
 * lines_address(), lines_socket(), lines_path_free(). Sends nothing.
 */
#include "control/lines_priv.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int lines_address(struct sockaddr_un *a, const char *path, struct err *e)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path)
		return err_set(e, -EINVAL, "expected the path of a socket, found nothing");
	if (strlen(path) >= sizeof(a->sun_path))
		return err_set(e, -ENAMETOOLONG, "%s: the path of a socket has at most %zu bytes",
			       path, sizeof(a->sun_path) - 1);
	strcpy(a->sun_path, path);
	return 0;
}

int lines_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int lines_path_free(const struct sockaddr_un *a, struct err *e)
{
	struct stat st;
	int fd, rc;

	if (lstat(a->sun_path, &st))
		return errno == ENOENT ? 0
				       : err_set(e, -errno, "%s: %s", a->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST, "%s: exists and is not a socket; not replaced",
			       a->sun_path);
	fd = lines_socket();
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", a->sun_path, strerror(errno));
	rc = connect(fd, (const struct sockaddr *)a, sizeof(*a)) ? errno : 0;
	close(fd);
	if (rc == ECONNREFUSED && !unlink(a->sun_path))
		return 0;
	if (!rc || rc == EAGAIN)
		return err_set(e, -EADDRINUSE, "%s: another process listens there", a->sun_path);
	return err_set(e, -rc, "%s: cannot replace it: %s", a->sun_path, strerror(rc));
}

int lines_directory_lock(const char *path)
{
	char copy[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}
