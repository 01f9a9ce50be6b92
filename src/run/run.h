/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon around the pure manager: one libuv loop with the transport, the clock, signals and the
 * control socket; one thread that computes routes; LIDs, keys and the subnet's state in files.
 *
 *	settings_default(&c); run_config_load("weft.yaml", &c, policy, &e); run_sm(&c, &hooks, &e);
 *
 * The parts that answer questions (control_*.c, metrics.c, opensm_files.c) read a struct run_view and
 * change nothing; orders go through struct run_orders. daemon.h has the other parts.
 */
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include "base/json.h"
#include "perf/perf.h"
#include "policy/policy.h"
#include "sa/sa.h"
#include "settings/settings.h"
#include "transport/transport.h"

/* ---- how it is to run ---- */

enum run_log_level { RUN_LOG_ERROR, RUN_LOG_WARNING, RUN_LOG_NOTICE, RUN_LOG_INFO, RUN_LOG_DEBUG };
enum run_log_format { RUN_LOG_TEXT, RUN_LOG_JSON };

/* YAML over what c holds, and its lists into p, if that is not NULL; "-" is standard input. 0, or -EINVAL/-ENOENT with "FILE:LINE:COLUMN: what was
 * expected" in e; c is then as it was before. */
int run_config_load(const char *path, struct settings *c, struct pol *p, struct err *e);
int run_config_read(const char *name, const char *text, size_t len, struct settings *c,
		    struct pol *p, struct err *e);
/* What the settings say of the policy: files of OpenSM that they name, and single values. 0 or -errno with e filled. */
int run_policy_files(const struct settings *c, struct pol *p, struct err *e);
/* A fault of a configuration: "FILE:LINE:COLUMN: what was expected". */
struct run_fault {
	const char *text;
	unsigned line, column; /* from 1; 0: not known */
};
typedef void run_fault_tell(void *ctx, const struct run_fault *fault);
/* As run_config_load(), with one call of tell() for each fault, in the order of lines. A directory that a value names must be
 * there. Returns the number of faults. */
unsigned run_config_faults(const char *path, struct settings *c, run_fault_tell *tell, void *ctx);
/* The same for directories that settings name, wherever these come from: "files.dumps: ...". */
unsigned run_config_places(const struct settings *c, run_fault_tell *tell, void *ctx);
/* The file that keys.file names, which must be one that no other user may read; if there is none, nothing.
 * 0, -EPERM, or as above. */
int run_config_keys(struct settings *c, struct err *e);
/* Values that the table of settings cannot check: addresses. 0 or -EINVAL. */
int run_config_values(const struct settings *c, struct err *e);
/* Replaces "auto" in state and control by a path (see control/default_paths.h) named after the fabric:
 * sm.sock and weft.db; with a device or on ibsim sm-NAME.sock and weft-NAME.db. */
int run_config_paths(struct settings *c, struct err *e);

/* ---- what others may read of it ---- */

/* Links and nodes that went and came, as notes: see sm_note_is_change(). */
struct run_events {
	VEC(struct sm_note) list; /* at most SM_NOTES_LISTED */
	uint32_t unlisted;	  /* more of them */
};

/* A completed change. */
struct run_change {
	uint64_t number; /* from 1 */
	int64_t unix_ms; /* when it began */
	struct sm_round round;
	uint32_t switches, nodes, routers, lids;
	struct run_events events;
};

/* Requests about VMs since the start, by enum sm_vm_op, and their SMPs. */
enum { RUN_VM_OPS = SM_VM_NOPS };
struct run_vm_totals {
	uint64_t done[RUN_VM_OPS], refused[RUN_VM_OPS];
	uint64_t smps_hypervisors, smps_tables;
};

struct run_view {
	const struct settings *cfg;
	const struct sm *sm;	 /* NULL while there is no connection */
	struct sa *sa;		 /* for sa_look() and sa_status() */
	const struct perf *perf; /* NULL: there are no counters */
	struct tp_info port;
	bool connected;
	int64_t started_unix_ms;
	uint64_t uptime_ms;
	time_ps now; /* the manager's time */
	uint64_t mads_in, mads_out;
	uint64_t mads_waiting; /* sent by the manager, not accepted by the transport yet */
	uint64_t reconnects, routes_computed;
	uint64_t compute_ms;		  /* total time of computing routes */
	const struct run_change *changes; /* the last ones, oldest first */
	uint32_t nchanges;
	const uint64_t *notes; /* by enum sm_note_kind: how many; NULL: not counted */
	enum run_log_level log_level;
	const struct run_vm_totals *vms; /* NULL: not counted */
};

/* A request about a VM from the control socket. */
struct run_vm_ask {
	struct sm_vm_request req;
	char why[192]; /* it is refused already; "": it is not */
};

/* Counters of these ports of a node, from the device. */
struct run_counter_ask {
	uint64_t guid;
	char name[65];
	uint16_t slid, dlid;
	uint8_t ports[255];
	unsigned nports;
};

struct run_orders {
	void *ctx;
	void (*sweep)(void *ctx);
	void (*resync)(void *ctx); /* discard what is known and read the whole subnet */
	/* Hand the subnet over to the manager with this port GUID; 0: to the best. 0 or -EINVAL. */
	int (*handover)(void *ctx, uint64_t guid, struct err *e);
	void (*log_level)(void *ctx, enum run_log_level l);
	int (*dump)(void *ctx, struct err *e);
	/* Read the configuration again. 0, and fixed has what needs a restart; or -errno with e filled, and faults has each
	 * fault in a line. */
	int (*reload)(void *ctx, struct strbuf *fixed, struct strbuf *faults, struct err *e);
	void (*stop)(void *ctx);
	/* Requests of one line; it is answered later: -EINPROGRESS, or another -errno with e filled. many: with a list. */
	int (*vms)(void *ctx, const struct run_vm_ask *asks, size_t n, bool many, struct err *e);
	/* The same: the line is answered later. */
	int (*counters)(void *ctx, const struct run_counter_ask *ask, struct err *e);
};

/* ---- running it ---- */

struct run_hooks {
	void *ctx;
	/* At a reload: reads the configuration again, over c. NULL: it cannot be read again. */
	int (*reread)(void *ctx, struct settings *c, struct err *e);
	const char *config; /* the file that it reads; NULL: none */
	/* Partitions and levels of service, as read last, before the start or by reread; NULL: the default policy. */
	const struct pol *(*policy)(void *ctx);
	/* With once: the subnet is up, and the daemon is about to end. May be NULL. */
	void (*up)(void *ctx, const struct run_view *v);
};

/*
 * Returns 0 after SIGTERM or SIGINT, or when once is set and the subnet is up; -errno with e filled when
 * it cannot run. A thread that still computes routes continues: end the process soon.
 */
int run_sm(const struct settings *c, const struct run_hooks *h, struct err *e);

/* control_commands.c: a request line {"cmd":"status"} gives {"ok":true,...} or {"ok":false,"error":"..."};
 * any text is allowed as a line. docs/control.md lists the commands. False: it is answered later, and out is
 * empty. */
bool run_control_answer(const struct run_view *v, const struct run_orders *o, const char *line,
			struct strbuf *out);

/* control_sa.c: the name of a refusal, by its place in sa_status.by_status */
const char *run_sa_refusal(size_t status);

/* metrics.c: OpenMetrics text, "# EOF" included */
void run_metrics(const struct run_view *v, struct strbuf *out);
/* metrics_plain.c: the same in Prometheus' older text format, version 0.0.4 */
void run_metrics_plain(const char *text, size_t len, struct strbuf *out);

/* opensm_files.c: writes opensm-lfts.dump, opensm-subnet.lst, opensm.fdbs and opensm.mcfdbs, and replaces
 * each atomically. 0 or -errno with e filled. */
int run_dump(const struct run_view *v, const char *directory, struct err *e);

#endif
