/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of one node's ports on demand: a request of the control socket becomes Gets of performance management to that
 * node, a few at a time, and is answered when they are. Bounded: one node at a time, and no request is sent while the
 * manager works on a change. Nothing is kept, compared or cleared: that is a performance manager's work.
 */
#ifndef WEFT_COUNTER_ORDERS_H
#define WEFT_COUNTER_ORDERS_H

#include <uv.h>

#include "base/vec.h"
#include "run/run.h"

enum {
	RUN_COUNTERS_WAITING = 8,    /* requests at a time */
	RUN_COUNTERS_WINDOW = 4,     /* Gets outstanding */
	RUN_COUNTERS_TRIES = 3,	     /* of one Get */
	RUN_COUNTERS_TIMEOUT = 300,  /* ms, for each */
	RUN_COUNTERS_PATIENCE = 5000 /* ms, while the manager works on a change */
};

struct run_counter_calls {
	bool (*send)(void *ctx, const struct tp_mad *m); /* false: there is no connection */
	bool (*is_busy)(void *ctx);			 /* the manager works on a change */
	void (*reply)(void *ctx, uint64_t ticket, struct strbuf *text); /* takes text over */
	uint64_t (*now_ms)(void *ctx);
	void *ctx;
};

/* One Get: of a port and one of the two attributes. */
struct run_counter_get {
	uint8_t port;
	bool wide; /* PortCountersExtended */
	bool open;
	unsigned tries;
	uint32_t tid;
	uint64_t deadline;
};

struct run_counter_port {
	struct iba_port_counters narrow;
	struct iba_port_counters_ext wide;
	bool has_narrow, has_wide;
	uint8_t num;
};

/* A request that waits, or the one that is carried out. */
struct run_counter_order {
	uint64_t ticket;
	struct run_counter_ask ask;
	struct run_counter_port *ports; /* ask.nports of them */
	unsigned next;			/* Get: port * 2 + wide */
	uint64_t began;
};

/* Written by counter_orders.c alone. */
struct run_counter_orders {
	struct run_counter_calls call;
	uv_timer_t timer;
	VEC(struct run_counter_order) orders; /* the first one is carried out */
	struct run_counter_get gets[RUN_COUNTERS_WINDOW];
	uint32_t tid;
};

void run_counter_orders_init(struct run_counter_orders *o, uv_loop_t *loop,
			     const struct run_counter_calls *call);
/* 0, or -EBUSY with e filled. */
int run_counter_orders_check(const struct run_counter_orders *o, struct err *e);
void run_counter_orders_add(struct run_counter_orders *o, uint64_t ticket,
			    const struct run_counter_ask *ask);
void run_counter_orders_mad(struct run_counter_orders *o, const uint8_t *mad); /* a response */
void run_counter_orders_lost(struct run_counter_orders *o); /* the connection: all are refused */
void run_counter_orders_free(struct run_counter_orders *o); /* without answers */

#endif
