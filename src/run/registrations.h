/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts have registered with subnet administration, in an SQLite file beside the state database (weft.db:
 * weft-registrations.db), written on a thread of libuv's pool. After kill -9 the file holds what was committed, at most
 * 50 ms before. A file that is damaged is moved away: hosts are asked to register again, so nothing is lost with it.
 */
#ifndef WEFT_REGISTRATIONS_H
#define WEFT_REGISTRATIONS_H

#include <uv.h>

#include "run/log.h"
#include "sa/sa.h"

struct sqlite3;

/* Written by registrations.c alone. */
struct run_registrations {
	struct run_log *log;
	char path[288];	    /* "": nothing is saved */
	struct sqlite3 *db; /* NULL: it cannot be opened */
	bool loaded;	    /* the file was there: what it says is known to sa */
	uint32_t items;
	VEC(struct sa_item) pending, writing;
	uv_timer_t timer;
	uv_work_t work; /* while busy, the pool's thread alone uses writing and db */
	bool busy, soon, failed, closing, open;
	int rc;
	struct err e;
};

/* state: path of the state database; "": nothing is saved. Never fails: without a file, hosts register again. */
void run_registrations_open(struct run_registrations *r, uv_loop_t *loop, struct run_log *log,
			    const char *state, struct sa *sa);
void run_registrations_add(struct run_registrations *r,
			   const struct sa_item *it);	   /* saved within 50 ms */
void run_registrations_close(struct run_registrations *r); /* saves the rest, blocking */

#endif
