/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An HTTP server for metrics: GET and HEAD of /metrics, one response a connection; OpenMetrics for those who accept it,
 * otherwise Prometheus' older text format. At most
 * 64 connections at once; each is closed after 5 seconds, unless run_http_limit() sets other limits.
 */
#ifndef WEFT_HTTP_H
#define WEFT_HTTP_H

#include <uv.h>

#include "base/base.h"

struct run_http;

/* text() appends the metrics as OpenMetrics, for each request. address: of IPv4 or IPv6. Port 0: any free port. 0 or -errno
 * with e filled. */
int run_http_listen(struct run_http **h, uv_loop_t *loop, const char *address, unsigned port,
		    void (*text)(void *ctx, struct strbuf *out), void *ctx, struct err *e);
struct run_http_limits {
	unsigned connections; /* at once; one more is closed */
	unsigned timeout_s;   /* of a connection */
	unsigned rate; /* metrics in a second; further requests get status 429; 0: no limit */
};
void run_http_limit(struct run_http *h, const struct run_http_limits *most);
unsigned run_http_port(const struct run_http *h);
/* NULL is allowed. The loop must run once more before it is closed. */
void run_http_close(struct run_http *h);

enum { HTTP_REQUEST_MAX = 8192 };

/* The status for the request received so far: 200, 400, 404, 405, 431, 505; 0: it is not complete. */
int http_request(const char *data, size_t len, bool *head);
/* Whether a complete request accepts OpenMetrics. */
bool http_openmetrics(const char *data, size_t len);

#endif
