/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets and addresses, for the server and the client of control sockets (line_socket.c).
 */
#ifndef WEFT_LINES_PRIV_H
#define WEFT_LINES_PRIV_H

#include <sys/socket.h>
#include <sys/un.h>

#include "control/lines.h"

/* 0, or -EINVAL or -ENAMETOOLONG with e filled. */
int lines_address(struct sockaddr_un *a, const char *path, struct err *e);
/* A non-blocking unix stream socket, or -1 with errno. */
int lines_socket(void);
/* 0 when the path is free, after removing a socket file on which no process listens. */
int lines_path_free(const struct sockaddr_un *a, struct err *e);
/* Serialises starts in one directory: two servers must not remove each other's socket file. A descriptor to close, or
 * -1. */
int lines_directory_lock(const char *path);

#endif
