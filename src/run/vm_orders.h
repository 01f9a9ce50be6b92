/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about virtual machines on their way from the control socket to the manager and back. Those that arrive in one
 * turn of the loop become one event of the manager. A line of the socket is answered when the manager has answered all
 * its requests and what they changed is saved; a client that has left is not missed.
 */
#ifndef WEFT_VM_ORDERS_H
#define WEFT_VM_ORDERS_H

#include <uv.h>

#include "base/vec.h"
#include "run/log.h"
#include "run/run.h"

enum { RUN_VMS_MOST = 65536 }; /* requests that wait for the manager at a time */

struct run_vm_calls {
	/* Gives requests to the manager; its answers arrive through run_vm_orders_result(). False: there is none. */
	bool (*submit)(void *ctx, const struct sm_vm_request *r, size_t n);
	const struct sm *(*sm)(void *ctx); /* for names; NULL: there is none */
	uint64_t (*changed)(
		void *ctx); /* how many items are saved or to be saved; they are saved soon */
	uint64_t (*saved)(void *ctx); /* how many of these are saved */
	void (*all_saved)(void *ctx); /* what all results so far changed is */
	void (*reply)(void *ctx, uint64_t ticket, struct strbuf *text); /* takes text over */
	void *ctx;
};

struct run_vm_item {
	struct sm_vm_request req;
	struct sm_vm_result res; /* when it has ended */
	bool sent, ended;
};

/* The requests of one line. */
struct run_vm_order {
	uint64_t ticket;   /* of the line server */
	uint32_t token;	   /* of the first request; the others follow */
	size_t n, open;	   /* requests; those that have not ended */
	bool many;	   /* the line is a batch: the answer is a list */
	uint64_t saved_at; /* ended: the answer is sent when so many items are saved */
	struct run_vm_item *items;
};

/* Written by vm_orders.c alone. */
struct run_vm_orders {
	struct run_log *log;
	struct run_vm_calls call;
	uv_timer_t timer;		   /* submits at the next turn of the loop */
	VEC(struct run_vm_order *) orders; /* by token */
	uint32_t token;			   /* the next one */
	size_t open;			   /* requests that have not ended */
	bool waits;			   /* the manager: until the results so far are saved */
	bool flushed;			   /* they are being saved: */
	uint64_t waits_for;		   /* so many items */
	struct run_vm_totals totals;
};

void run_vm_orders_init(struct run_vm_orders *o, uv_loop_t *loop, struct run_log *log,
			const struct run_vm_calls *call);
/* 0, or -EBUSY with e filled: too many requests wait. */
int run_vm_orders_check(const struct run_vm_orders *o, size_t n, struct err *e);
void run_vm_orders_add(struct run_vm_orders *o, uint64_t ticket, const struct run_vm_ask *asks,
		       size_t n, bool many);
void run_vm_orders_result(struct run_vm_orders *o, const struct sm_vm_result *r);
/* The manager is gone, and with it the requests that it had. */
void run_vm_orders_lost(struct run_vm_orders *o);
void run_vm_orders_saved(struct run_vm_orders *o); /* something was saved: answers may be due */
void run_vm_orders_free(struct run_vm_orders *o);  /* without answers; the timer is the loop's */

#endif
