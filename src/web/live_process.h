/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that shows a running manager: asks its control socket, follows its log, and makes frames.
 *
 * It cannot slow the manager down: one connection, one request at a time of its own, `status` once a second; topology
 * and ports are read again only after a change, and then at most for a twentieth of the time. Requests of pages go
 * through a list of what is allowed, and at most 20 of them a second.
 */
#ifndef WEFT_LIVE_PROCESS_H
#define WEFT_LIVE_PROCESS_H

#include <stdbool.h>

struct live_config {
	const char *path; /* the control socket */
	bool changes;	  /* pages may send requests that change something */
};

/* The body of a child (child_link.h). ctx: a struct live_config. */
void live_process(int fd, void *ctx);

/* A request of a page to the manager: NULL when it is allowed, or why not. */
const char *live_request_refused(const char *cmd, bool changes);

#endif
