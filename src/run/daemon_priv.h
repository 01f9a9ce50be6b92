/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon itself, for daemon.c and serve.c.
 */
#ifndef WEFT_DAEMON_PRIV_H
#define WEFT_DAEMON_PRIV_H

#include "run/daemon.h"
#include "run/http.h"
#include "control/lines.h"

enum { RUN_LOOK_MS = 500 }; /* an idle connection is looked after so often */

struct run_old { /* an SM whose connection is gone, with a request that is still computed */
	struct sm *sm;
	uint64_t generation;
};

struct run_daemon {
	struct settings cfg;
	struct run_hooks hooks;
	struct run_log log;
	uv_loop_t loop;
	uv_idle_t idle;	  /* active: look again at once */
	uv_timer_t timer; /* else: look again then */
	struct run_worker *worker;
	struct run_keeper keeper;
	struct run_image image;
	struct run_link link;
	struct run_dumper dumper;
	bool linked, stopping, left_alone;
	int rc; /* of run_sm(), with e */
	struct err e;

	/* the connection, and the SM that lives as long */
	struct tp *tp;
	struct tp_info port;
	uv_poll_t *poll;
	struct run_pump pump;
	struct sm *sm;
	uint64_t generation; /* of the SM; 0: there was none yet */
	uint64_t busy_ns;    /* when a MAD last moved */
	VEC(struct run_old) old;
	bool complained;
	bool resync; /* the next SM is to trust nothing */
	struct err complaint;

	/* serve.c */
	uv_signal_t signals[5];
	uv_timer_t watchdog, metrics, last, hearing;
	struct lines *lines;
	struct run_http *http;
	uv_work_t metrics_work;
	bool metrics_busy, serving, up;
	struct strbuf metrics_text;
	struct err metrics_e;
	int metrics_rc;

	/* what happened */
	uint64_t began_ns;
	int64_t began_unix_ms;
	uint32_t rounds; /* of this SM, as seen */
	VEC(struct run_change) changes;
	uint64_t nchanges;
	uint64_t mads_in, mads_out; /* of earlier connections */
	uint64_t reconnects, routes_computed, compute_us;
};

void run_daemon_awake(struct run_daemon *d);
void run_daemon_drop(struct run_daemon *d);
void run_daemon_stop(struct run_daemon *d, const char *why);

/* serve.c: signals, control socket, metrics, dumps, systemd */
int run_daemon_listen(struct run_daemon *d, struct err *e);
void run_daemon_unlisten(struct run_daemon *d);
void run_daemon_rest(struct run_daemon *d); /* the SM came to rest, or changed its state */
void run_daemon_view(const struct run_daemon *d, struct run_view *v);

#endif
