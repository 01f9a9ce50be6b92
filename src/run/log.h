/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: records of the daemon itself, whose table is here, and notes of the manager, whose table is in
 * sm/notes.h. Text and JSON lines are two renderings of the same record. One line is one write(), so lines
 * of several processes in one file stay whole. A kind that comes too often is counted instead of written;
 * so is everything while no reader takes it (a full pipe, a stopped terminal): the daemon never waits for
 * its log.
 *
 * In JSON each record has time, level, record and text: no value may have one of these keys, nor that of another value.
 *
 *	log_rec(l, LOG_SUBNET_UP, LOG_U("switches", n), LOG_TIME("took_us", us));
 */
#ifndef WEFT_LOG_H
#define WEFT_LOG_H

#include "base/nonblock_out.h"
#include "base/record.h"
#include "run/run.h"
#include "sm/notes.h"

/* kind, name, level, text: see base/record.h */
/* clang-format off */
#define LOG_RECORDS(X)                                                                                          \
	X(START, "start", NOTICE, "weft {version} starts: mechanism {mechanism}, window {window}")              \
	X(STOP, "stop", NOTICE, "weft stops: {why}")                                                            \
	X(SANDBOX, "sandbox", INFO,                                                                             \
	  "runs without capabilities, with its own files alone and a filter of system calls")                   \
	X(SANDBOX_PART, "sandbox_part", WARNING, "{part} is not in force: {why}")                               \
	X(CONNECTED, "connected", NOTICE, "connected to {port}, port GUID {port_guid}")                         \
	X(NO_CONNECTION, "no_connection", WARNING, "{why}; retrying")                                           \
	X(LOST, "connection_lost", WARNING, "lost the connection to {port}; reconnecting")                      \
	X(RESYNC, "resync", NOTICE, "discarding all subnet state of {port}; the whole subnet is read again")    \
	X(IS_SM, "is_sm", WARNING, "cannot set the IsSM bit of {port}: {why}")                                  \
	X(SUBNET_UP, "subnet_up", NOTICE,                                                                       \
	  "SUBNET UP: {switches} switches, {hosts} hosts,[ {routers} routers,] {lids} LIDs in {took_us}, {smps} SMPs"                \
	  "[; some devices did not respond: {unanswered}]")                                                     \
	X(CHANGE_DONE, "change_done", NOTICE,                                                                   \
	  "subnet is up again after {how}: {switches} switches, {hosts} hosts,[ {routers} routers,] {lids} LIDs; {took_us}, "      \
	  "{smps} SMPs, {entries} entries changed in {blocks} table blocks[; some devices did not respond: {unanswered}]")                   \
	X(RELOADED, "reloaded", NOTICE, "configuration reloaded[; effective after a restart only: {fixed}]")    \
	X(RELOAD_FAILED, "reload_failed", ERROR, "configuration not reloaded: {why}")                           \
	X(STATE_FAILED, "state_failed", ERROR, "cannot save LIDs and keys: {why}; the manager goes on")         \
	X(STATE_DAMAGED, "state_damaged", ERROR,                                                                \
	  "state file {file} is damaged ({why}): moved to {moved}; {lids} LIDs, {keys} keys, {names} names and {vms} VMs "  \
	  "of it are used, the devices tell the rest")                                                          \
	X(SUBNET_DAMAGED, "subnet_damaged", ERROR,                                                              \
	  "saved subnet state {file} is damaged or of another version: moved to {moved}; the subnet is read from the devices")        \
	X(STATE_BACK, "state_written", NOTICE, "LIDs and keys are saved again")                                 \
	X(PID_FILE, "pid_file", ERROR, "cannot write the PID file: {why}")                                      \
	X(REMEMBERED, "remembered", INFO, "subnet state restored from {file}")                                  \
	X(STATE_LOADED, "state_loaded", INFO, "{lids} LIDs loaded from {file}")                                 \
	X(REGISTRATIONS, "registrations_loaded", INFO, "{items} registrations of hosts loaded from {file}")    \
	X(REGISTRATIONS_DAMAGED, "registrations_damaged", ERROR,                                                \
	  "registrations of hosts cannot be read ({why}): moved to {moved}; hosts are asked to register again") \
	X(REGISTRATIONS_FAILED, "registrations_failed", ERROR,                                                  \
	  "cannot save registrations of hosts: {why}; the manager goes on")                                     \
	X(DUMPED, "dumped", INFO, "tables written to {directory}")                                              \
	X(DUMP_FAILED, "dump_failed", ERROR, "cannot write tables: {why}")                                      \
	X(METRICS_FAILED, "metrics_failed", ERROR, "cannot write metrics: {why}")                               \
	X(VM_CREATED, "vm_created", INFO, "VM {vm} is created: vGUID {guid}")                                   \
	X(VM_STARTED, "vm_started", NOTICE,                                                                     \
	  "VM {vm} started on {to}, VF {vf}: vGUID {guid}, LID {lid}; {smps_hypervisors} SMPs to hypervisors, {smps_tables} to "      \
	  "{switches} switches, {took_us}")                                                                     \
	X(VM_STOPPED, "vm_stopped", NOTICE,                                                                     \
	  "VM {vm} stopped on {from}, VF {from_vf}: vGUID {guid}, LID {lid}; {smps_hypervisors} SMPs to hypervisors, "                \
	  "{smps_tables} to {switches} switches, {took_us}")                                                    \
	X(VM_MIGRATED, "vm_migrated", NOTICE,                                                                   \
	  "VM {vm} migrated from {from}, VF {from_vf}, to {to}, VF {vf}: vGUID {guid}, LID {lid}[ instead of {lid_before}]; "         \
	  "{smps_hypervisors} SMPs to hypervisors, {smps_tables} to {switches} switches, {took_us}")            \
	X(VM_DESTROYED, "vm_destroyed", INFO, "VM {vm} is destroyed: vGUID {guid}")                             \
	X(VM_DEFRAGMENTED, "vm_defragmented", NOTICE,                                                   \
	  "{moved} of {vms} VMs have other routes: the busiest link has {busiest} of them, had {busiest_before}; {smps} SMPs to " \
	  "{switches} switches, {took_us}")                                                             \
	X(VM_REFUSED, "vm_refused", INFO, "{op}[ of VM {vm}] is refused: {why}")                        \
	X(LINK_SICK, "link_sick", WARNING,                                                                      \
	  "{link} is sick: {errors} errors in {over_us}, BER {ber}")                                             \
	X(LINK_WELL, "link_well", NOTICE, "{link} is well: {errors} errors in {over_us}")             \
	X(LINK_ISOLATED, "link_isolated", WARNING, "{link} is isolated: no route uses it until it is well") \
	X(LINK_REINSTATED, "link_reinstated", NOTICE, "{link} is reinstated: routes use it again")    \
	X(LINK_KEPT, "link_kept", WARNING,                                                                      \
	  "{link} is sick and stays in use: it is the only way to a switch")                         \
	X(COUNTER_FULL, "counter_full", NOTICE,                                                                 \
	  "{counter} of {link} is at its maximum and counts no more (perf.clear would set it to 0)")            \
	X(COUNTER_CLEARED, "counter_cleared", INFO, "{counter} of {link} was full and is set to 0")             \
	X(COUNTERS_SILENT, "counters_silent", NOTICE,                                                           \
	  "{node} does not answer queries of its counters; it is asked less often")                             \
	X(COUNTERS_ANSWER, "counters_answer", INFO, "{node} answers queries of its counters again")             \
	X(LOG_LEVEL, "log_level", NOTICE, "log level is now {now}")                                           \
	X(ROUTES, "routes", DEBUG, "routes for {switches} switches computed in {took_us}")                      \
	X(REPAIRS, "repairs", DEBUG, "{count} repairs computed ahead in {took_us}")                             \
	X(LOST_LINES, "lost_lines", WARNING, "{count} lines are missing here: the reader was too slow")         \
	X(SUPPRESSED, "suppressed", WARNING, "{count} more records '{kind}' within one second were suppressed")
/* clang-format on */

enum log_kind {
#define LOG_ENUM(kind, name, level, text) LOG_##kind,
	LOG_RECORDS(LOG_ENUM)
#undef LOG_ENUM
		LOG_NKINDS
};

#define LOG_T(k, v)    ((struct record_value){.key = k, .type = RECORD_TEXT, .s = v})
#define LOG_U(k, v)    ((struct record_value){.key = k, .type = RECORD_COUNT, .u = v})
#define LOG_G(k, v)    ((struct record_value){.key = k, .type = RECORD_GUID, .u = v})
#define LOG_TIME(k, v) ((struct record_value){.key = k, .type = RECORD_MICROSECONDS, .u = v})
#define LOG_NOT(k)     ((struct record_value){.key = k, .type = RECORD_TEXT})

enum { LOG_SLOTS = LOG_NKINDS + SM_NOTE_NKINDS }; /* records of the daemon, then notes */

struct run_log {
	enum run_log_level level;
	enum run_log_format format;
	char path[256];
	int fd;
	struct nonblock_out out; /* to fd */
	uint64_t lost;		 /* lines that found no room, not reported yet */
	bool journal; /* standard error is the journal's: it has the time, and wants the level as <n> */
	void (*tell)(void *ctx, const char *json); /* gets every record, too; NULL: none does */
	void *tell_ctx;
	uint64_t second;
	uint32_t count[LOG_SLOTS], left_out[LOG_SLOTS]; /* in this second */
};

extern const char *const log_level_names[]; /* "error", "warning", ...; ends with NULL */

/* path "": standard error. 0 or -errno with e filled. */
int log_open(struct run_log *l, const char *path, enum run_log_level level,
	     enum run_log_format format, struct err *e);
void log_reopen(struct run_log *l); /* the file was moved away */
/* Reports what was lost, if there is room again. */
void log_catch_up(struct run_log *l);
void log_close(struct run_log *l);
void log_in_child(struct run_log *l); /* in a child process that has only fd */

#define log_rec(l, kind, ...)                                                                      \
	log_values(l, kind, (const struct record_value[]){__VA_ARGS__ __VA_OPT__(, ){0}})
void log_values(struct run_log *l, enum log_kind k, const struct record_value *v);
void log_note(struct run_log *l, const struct sm_note *n, const struct sm_names *names);
/* What log_values() and log_note() would write, without the time. */
void log_render(const struct run_log *l, enum log_kind k, const struct record_value *v,
		struct strbuf *out);
void log_render_note(const struct run_log *l, const struct sm_note *n, const struct sm_names *names,
		     struct strbuf *out);

#endif
