/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon around the pure manager: one libuv loop with the transport, the clock, signals and the
 * control socket; one worker thread that computes routes; what must survive in a file.
 *
 *	settings_default(&c); run_config_load("weft.yaml", &c, &e); run_sm(&c, &hooks, &e);
 *
 * Who does what: daemon.c the loop, pump.c MADs in and out, worker.c routes, log.c what happened as
 * text or JSON, notify.c systemd; config.c the file, state.c what survives, control.c what `weft ctl`
 * asks, metrics.c OpenMetrics, dump.c OpenSM's formats. The latter ones only see a struct run_view.
 */
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include "base/json.h"
#include "settings/settings.h"
#include "transport/transport.h"

/* ---- how it is to run ---- */

enum run_log_level { RUN_LOG_ERROR, RUN_LOG_WARNING, RUN_LOG_NOTICE, RUN_LOG_INFO, RUN_LOG_DEBUG };
enum run_log_format { RUN_LOG_TEXT, RUN_LOG_JSON };

/* YAML over what c holds; "-" is standard input. 0, or -EINVAL/-ENOENT with "FILE:LINE:COLUMN: what was
 * expected" in e; c is then as it was before. */
int run_config_load(const char *path, struct settings *c, struct err *e);
int run_config_read(const char *name, const char *text, size_t len, struct settings *c,
		    struct err *e);
/* The same, with one call of tell() for each fault, in the order of lines. Returns their number. */
unsigned run_config_faults(const char *path, struct settings *c,
			   void (*tell)(void *ctx, const char *fault), void *ctx);
/* Replaces "auto" in state and control by a path (see control/default_paths.h) named after the fabric: sm.sock
 * and weft.db; with a device or on ibsim sm-NAME.sock and weft-NAME.db. */
int run_config_paths(struct settings *c, struct err *e);

/* ---- what others may see of it ---- */

/* One round as it ended, for the history. */
struct run_change {
	uint64_t number; /* from 1 */
	int64_t unix_ms; /* when it began */
	struct sm_round round;
	uint32_t switches, nodes, lids;
};

struct run_view {
	const struct settings *cfg;
	const struct sm *sm; /* NULL while there is no connection */
	struct tp_info port;
	bool connected;
	int64_t started_unix_ms;
	uint64_t uptime_ms;
	time_ps now; /* the manager's time */
	uint64_t mads_in, mads_out,
		mads_waiting; /* waiting: taken from the SM, not yet by the transport */
	uint64_t reconnects, routes_computed;
	uint64_t compute_ms;		  /* of the worker, all in all */
	const struct run_change *changes; /* the last ones, oldest first */
	uint32_t nchanges;
	enum run_log_level log_level;
};

struct run_orders {
	void *ctx;
	void (*sweep)(void *ctx);
	void (*resync)(void *ctx); /* believe nothing: read the whole subnet anew */
	void (*log_level)(void *ctx, enum run_log_level l);
	int (*dump)(void *ctx, struct err *e);
	void (*reload)(void *ctx);
	void (*stop)(void *ctx);
};

/* ---- running ---- */

struct run_hooks {
	void *ctx;
	/* At SIGHUP: the configuration as it should be now, over c. NULL: cannot be read again. */
	int (*reread)(void *ctx, struct settings *c, struct err *e);
	/* With once: the subnet is up, before all ends. May be NULL. */
	void (*up)(void *ctx, const struct run_view *v);
};

/*
 * Returns at SIGTERM or SIGINT (0), when once is set and the subnet is up (0), or -errno with e. A
 * worker that still computes then is left to itself: end the process soon.
 */
int run_sm(const struct settings *c, const struct run_hooks *h, struct err *e);

/* control.c: one JSON object a line: {"cmd":"status"} in, {"ok":true,...} or {"ok":false,"error":"..."}
 * out, whatever comes in. docs/control.md lists the commands. */
void run_control_answer(const struct run_view *v, const struct run_orders *o, const char *line,
			struct strbuf *out);

/* metrics.c: OpenMetrics text, "# EOF" included */
void run_metrics(const struct run_view *v, struct strbuf *out);

/* dump.c: opensm-lfts.dump, opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs, each replaced in one step */
int run_dump(const struct run_view *v, const char *directory, struct err *e);

/* ---- what survives (state.c) ---- */

struct run_state;

/* Made when there is none, mode 0600. A file that is not Weft's, of a later version, damaged (-EBADMSG)
 * or in use by another process (-EBUSY) is refused and left alone. Every change is one transaction: after kill -9 the file holds all of it or nothing. */
int run_state_open(struct run_state **s, const char *path, struct err *e);
void run_state_close(struct run_state *s);
/* Call fn for each, in GUID order. */
int run_state_lids(struct run_state *s,
		   void (*fn)(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc), void *ctx,
		   struct err *e);
/* M_Keys that devices may hold, newest first; returns how many were there, at most max, or -errno. */
int run_state_m_keys(struct run_state *s, uint64_t *keys, unsigned max, struct err *e);
/* These gather; run_state_commit() makes them last: 0 or -errno. An error (disk full, say) is told once:
 * when the last commit had the same one, e->text is "". What was gathered stays gathered, and the
 * next commit tries again. */
void run_state_put_lid(struct run_state *s, uint64_t guid, uint16_t lid, unsigned lmc);
void run_state_put_m_key(struct run_state *s, uint64_t key);
void run_state_put_name(struct run_state *s, uint64_t guid, const char *name);
int run_state_commit(struct run_state *s, struct err *e);

#endif
