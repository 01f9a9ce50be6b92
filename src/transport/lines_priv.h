/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both ends of a line have in common.
 */
#ifndef WEFT_LINES_PRIV_H
#define WEFT_LINES_PRIV_H

#include <sys/socket.h>
#include <sys/un.h>

#include "transport/lines.h"

int lines_address(struct sockaddr_un *a, const char *path, struct err *e); /* 0, or -errno with e */
int lines_socket(void);							   /* never blocks */

#endif
