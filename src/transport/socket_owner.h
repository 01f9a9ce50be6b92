/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is at the other end of a datagram unix socket. Any local user may bind an abstract name, and
 * SO_PEERCRED says nothing about datagram sockets; so the kernel is asked to attach the sender's
 * credentials to each datagram (SCM_CREDENTIALS, unix(7)). The sender is trusted if it is this user or
 * root.
 */
#ifndef WEFT_SOCKET_OWNER_H
#define WEFT_SOCKET_OWNER_H

#include <stdbool.h>
#include <sys/socket.h>

/* Room for the credentials of one datagram. */
struct socket_owner_room {
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(3 * sizeof(int))]; /* struct ucred */
};

int socket_owner_request(int fd); /* 0 or -errno. When the socket has its name: else connect()
				   * gives it one. A datagram that came earlier has no sender. */
/* After recvmsg() with such a room as msg_control: whether the sender is trusted. uid, if not NULL,
 * becomes the sender; -1: the kernel does not say. */
bool socket_owner_is_trusted(struct msghdr *h, unsigned *uid);
/* recv() that returns -1 with EPERM for a datagram of a sender that is not trusted. */
ssize_t socket_owner_recv(int fd, void *buf, size_t len, int flags, unsigned *uid);

#endif
