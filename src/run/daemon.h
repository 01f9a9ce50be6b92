/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon: what its parts are, and the files daemon*.c that connect them. Each part is a struct that
 * one file writes (its header says which); struct run_daemon owns them all. Everything runs on the
 * thread of the loop, and nothing blocks it.
 *
 *	daemon.c -> daemon_service.c -> daemon_orders.c -> the parts
 *	         -> daemon_ready.c   ->
 */
#ifndef WEFT_DAEMON_H
#define WEFT_DAEMON_H

#include "control/lines.h"
#include "run/change_history.h"
#include "run/connector.h"
#include "run/counter_orders.h"
#include "run/dump_writer.h"
#include "run/http.h"
#include "run/metrics_file.h"
#include "run/registrations.h"
#include "run/session.h"
#include "run/state_writer.h"
#include "run/subnet_state_file.h"
#include "run/vm_orders.h"

/* What the manager's progress has led to; written by daemon_ready.c alone. */
struct run_ready {
	uint32_t rounds;  /* of this manager, as seen */
	bool announced;	  /* systemd knows that the daemon is ready */
	uv_timer_t grace; /* with `once`: ends the wait for a pending change */
	bool finished;	  /* with `once`: the summary is printed */
};

/* Signals and sockets; written by daemon_service.c alone. */
struct run_service {
	uv_signal_t signals[4];
	uv_timer_t watchdog, log_timer;
	struct lines *lines;
	struct run_http *http;
};

/* How the daemon ends; written by run_daemon_stop() and run_daemon_fail(). */
struct run_ending {
	bool stopping;
	bool handing_over; /* another manager gets the subnet first, */
	uv_timer_t timer;  /* if it accepts within this time */
	int rc;		   /* of run_sm(), with e */
	struct err e;
};

struct run_daemon {
	struct settings cfg; /* daemon_orders.c changes it at a reload */
	struct run_hooks hooks;
	struct run_log log;
	uv_loop_t loop;
	uint64_t began_ns;
	int64_t began_unix_ms;
	/* daemon.c */
	uint64_t failing_ns;  /* since when the connection cannot be opened; 0: it can */
	struct err complaint; /* the reason last logged */
	bool connecting, worker_left;
	VEC(const struct sm_inputs *) old_inputs; /* the manager may still read them */

	struct run_worker *worker;
	struct run_connector connector;
	struct run_session session;
	struct run_state_writer state;
	struct run_subnet_file subnet_file;
	struct run_registrations registrations;
	struct run_dump_writer dumps;
	struct run_metrics_file metrics;
	struct run_history history;
	struct run_vm_orders vms;
	struct run_counter_orders counters;
	struct run_ready ready;
	struct run_service service;
	struct run_ending ending;
};

/* ---- daemon_orders.c: what signals and the control socket order ---- */

void run_daemon_view(const struct run_daemon *d, struct run_view *v);
void run_daemon_orders(struct run_daemon *d, struct run_orders *o);
void run_daemon_stop(struct run_daemon *d, const char *why); /* hands the subnet over first */
void run_daemon_handed_over(struct run_daemon *d); /* the manager is not master any more */
void run_daemon_fail(struct run_daemon *d, int rc, const struct err *e, const char *why);
const struct pol *run_daemon_policy(struct run_daemon *d); /* NULL: the default one */
void run_daemon_reload(struct run_daemon *d);
void run_daemon_vms_init(struct run_daemon *d);		  /* requests about VMs */
void run_daemon_counters_init(struct run_daemon *d);	  /* requests for counters */
int run_daemon_dump(struct run_daemon *d, struct err *e); /* -EINVAL: no directory is configured */
void run_daemon_dump_due(void *daemon);			  /* the same; the log has the result */

/* ---- daemon_ready.c: after each change ---- */

void run_ready_init(struct run_daemon *d);
void run_ready_new_manager(struct run_daemon *d); /* a new manager has seen no round yet */
/* The manager came to rest or changed its SM state. */
void run_ready_update(struct run_daemon *d);

/* ---- daemon_service.c: signals, systemd's watchdog, control socket, HTTP ---- */

int run_service_start(struct run_daemon *d, struct err *e);
void run_service_limit(struct run_daemon *d); /* as the configuration says */
void run_service_stop(struct run_daemon *d);

/* ---- notes.c: the manager's notes, and rounds, for the log ---- */

void run_note_log(struct run_log *l, const struct sm *sm, const struct sm_note *n);
void run_round_log(struct run_log *l, const struct sm *sm, const struct run_change *c, bool first);

/* ---- perf_log.c: what the performance manager found ---- */

void run_perf_log(struct run_log *l, const struct sm *sm, const struct perf_event *ev);

#endif
