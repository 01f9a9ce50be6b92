/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much HTTP as it takes to give metrics to who asks on 127.0.0.1: GET and HEAD of /metrics, one
 * answer a connection. At most 64 connections at once, each over within 5 seconds: slow clients are cut
 * off and nobody waits for them.
 */
#ifndef WEFT_HTTP_H
#define WEFT_HTTP_H

#include <uv.h>

#include "base/base.h"

struct run_http;

/* text() fills in what is served, anew for each request. Port 0: any that is free. */
int run_http_listen(struct run_http **h, uv_loop_t *loop, unsigned port,
		    void (*text)(void *ctx, struct strbuf *out), void *ctx, struct err *e);
unsigned run_http_port(const struct run_http *h);
void run_http_close(
	struct run_http *h); /* the loop must run once more after it; NULL does no harm */

enum { HTTP_REQUEST_MAX = 8192 };

/* The status for a request of which so much is there: 200, 400, 404, 405, 431, 505; 0: more has to come. */
int http_request(const char *data, size_t len, bool *head);

#endif
