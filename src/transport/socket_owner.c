/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sender of a datagram, by the credentials that the kernel attaches. State: none. Ways in:
 * socket_owner_*(). Does not interpret what was sent.
 */
#include "transport/socket_owner.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct ucred) == 3 * sizeof(int), "as socket_owner.h says");

int socket_owner_request(int fd)
{
	int on = 1;

	return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ? -errno : 0;
}

bool socket_owner_is_trusted(struct msghdr *h, unsigned *uid)
{
	struct ucred sender = {.uid = (uid_t)-1};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
		    c->cmsg_len == CMSG_LEN(sizeof(sender)))
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
	if (uid)
		*uid = sender.uid;
	return sender.uid == 0 || sender.uid == geteuid();
}

ssize_t socket_owner_recv(int fd, void *buf, size_t len, int flags, unsigned *uid)
{
	struct socket_owner_room room;
	struct iovec v = {buf, len};
	struct msghdr h = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = room.bytes,
			   .msg_controllen = sizeof(room.bytes)};
	ssize_t n = recvmsg(fd, &h, flags);

	if (n < 0 || socket_owner_is_trusted(&h, uid))
		return n;
	errno = EPERM;
	return -1;
}
