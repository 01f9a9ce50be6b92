/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that shows a running manager: asks its control socket, follows its log, and makes frames.
 *
 * It cannot slow the manager down: one request at a time of its own, `status` once a second; the subnet is read again
 * only after a change, in bounded pieces with a pause after each, four times what it took while a change is under way;
 * tables only when a page asks, in the same way. Requests of pages go through a list of what is allowed and bounded, and at most 20 of them a second.
 */
#ifndef WEFT_LIVE_PROCESS_H
#define WEFT_LIVE_PROCESS_H

#include <jansson.h>
#include <stdbool.h>

struct live_config {
	const char *path; /* the control socket */
	bool changes;	  /* pages may send requests that change something */
};

/* The body of a child (child_link.h). ctx: a struct live_config. */
void live_process(int fd, void *ctx);

/* A request of a page to the manager: NULL when it is allowed, or why not. */
const char *live_request_refused(const json_t *request, bool changes);

#endif
