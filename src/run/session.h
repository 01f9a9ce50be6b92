/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection to the fabric and the manager on it: both begin and end together. When a connection is
 * lost, the next session has a new manager. Drives the manager from the loop: received MADs, its clock,
 * computed routes. Never blocks.
 */
#ifndef WEFT_SESSION_H
#define WEFT_SESSION_H

#include <uv.h>

#include "base/vec.h"
#include "run/compute_thread.h"
#include "run/log.h"
#include "run/mad_pump.h"

struct run_session_calls {
	void (*note)(void *ctx, const struct sm_note *n);
	void (*set)(void *ctx);	 /* before a Set is sent */
	void (*lost)(void *ctx); /* the connection is lost: close the session */
	void *ctx;
	void (*vm)(void *ctx, const struct sm_vm_result *r);
	void (*perf)(void *ctx, const uint8_t *mad); /* a response of performance management */
	void (*registered)(void *ctx, const struct sa_item *it); /* by a host, or not any more */
	void (*counted)(void *ctx, const struct perf_event *ev); /* sick links, silent devices */
};

struct run_session_totals { /* of all sessions, the present one included */
	uint64_t mads_in, mads_out, reconnects, routes_computed, compute_us;
};

struct run_former { /* a manager without a session, whose request is still computed */
	struct sm *sm;
	uint64_t number;
};

/* Written by session.c alone. */
struct run_session {
	uv_loop_t *loop;
	struct run_log *log;
	struct run_worker *worker;
	struct run_session_calls call;
	uv_idle_t idle;	  /* active: take another turn at once */
	uv_timer_t timer; /* else: take another turn then */
	unsigned spin_us;

	struct tp *tp; /* NULL: no session is open */
	struct tp_info port;
	uv_poll_t *poll;
	struct run_pump pump;
	struct sm *sm;
	struct sa *sa;	   /* for all sessions: what hosts have registered stays */
	struct perf *perf; /* the same: counters */
	unsigned window;   /* the manager's */
	time_ps pause;	   /* the manager's, if there may be others */
	uint64_t number;   /* of the session, from 1; 0: there was none yet */
	uint64_t busy_ns;  /* when a MAD last moved */
	bool distrust;	   /* the next manager must not rely on anything known before */

	uint32_t ahead_request;	  /* the open request for a repair ahead; 0: none */
	uint64_t ahead, ahead_us; /* such repairs, not logged yet */

	VEC(struct run_former) former;
	struct run_session_totals before; /* of closed sessions; computations of all */
};

void run_session_init(struct run_session *s, uv_loop_t *loop, struct run_log *log,
		      const struct run_session_calls *call);
void run_session_set_worker(struct run_session *s, struct run_worker *worker);
void run_session_set_spin(struct run_session *s, unsigned spin_us);
void run_session_set_perf(struct run_session *s, const struct perf_config *c);

/* Takes tp over and creates the manager, which the caller may give LIDs and saved state before it starts.
 * Returns whether it may be given saved state. */
bool run_session_open(struct run_session *s, struct tp *tp, const struct sm_config *cfg,
		      const struct pol *policy); /* policy NULL: the default one */
void run_session_start(struct run_session *s);
/* Closes connection and manager. One whose request is being computed is freed when that has ended. */
void run_session_close(struct run_session *s);
void run_session_distrust(struct run_session *s); /* for the next session */
void run_session_free(struct run_session *s);	  /* managers of former sessions; call it last */

void run_session_event(struct run_session *s, enum sm_event_kind kind); /* if there is a manager */
void run_session_handover(struct run_session *s, uint64_t guid); /* the same: SM_EV_HANDOVER */
/* The same: SM_EV_VMS. False: there is no manager. */
bool run_session_vms(struct run_session *s, const struct sm_vm_request *r, size_t n);
/* A MAD that is not the manager's; false: there is no connection, or no room. */
bool run_session_send(struct run_session *s, const struct tp_mad *m);
/* From the worker; takes the routes over. number: of the session that requested them. */
void run_session_routes(struct run_session *s, struct sm_routes *r, uint64_t number,
			uint64_t took_us);
void run_session_total(const struct run_session *s, struct run_session_totals *t);

#endif
