/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the connection to the fabric on a thread of libuv's pool, since a server may respond late, and
 * tries again when that fails: after 100 ms, then twice as long each time, up to 2 s.
 */
#ifndef WEFT_CONNECTOR_H
#define WEFT_CONNECTOR_H

#include <uv.h>

#include "transport/transport.h"

struct run_connector_calls {
	/* The receiver owns tp. Its IsSM bit is set unless is_sm_rc is -errno. */
	void (*up)(void *ctx, struct tp *tp, int is_sm_rc);
	bool (*failed)(void *ctx, int rc, const struct err *e); /* true: try again */
	void *ctx;
};

/* Written by connector.c alone. */
struct run_connector {
	struct run_connector_calls call;
	uv_work_t work;
	uv_timer_t timer;
	char transport[16];
	struct tp_where where;
	unsigned delay_ms;
	bool busy, closing;
	bool observes; /* the port is not marked as that of a manager */
	/* of the last attempt, written by the pool's thread while busy */
	struct tp *tp;
	struct err e;
	int rc, is_sm_rc;
};

void run_connector_init(struct run_connector *l, uv_loop_t *loop, const char *transport,
			const struct tp_where *where, const struct run_connector_calls *call);
void run_connector_open(struct run_connector *l);  /* now */
void run_connector_retry(struct run_connector *l); /* after the delay */
/* No call any more. The loop must run until busy is false. */
void run_connector_close(struct run_connector *l);

#endif
