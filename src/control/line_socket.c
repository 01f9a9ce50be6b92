/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unix sockets and their addresses, for both ends of a control socket. State: none. Ways in:
 * lines_address(), lines_socket(). Connects nothing.
 */
#include "control/lines_priv.h"

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
