/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, as typed records: a stable name, a level and values with names. Text and JSON lines
 * are two renderings of the same record. One line is one write(), so lines of several processes in one
 * file stay whole. A kind that comes too often is counted instead of written; so is everything while
 * nobody reads (a full pipe, a stopped terminal), for a log is never waited for.
 *
 *	log_rec(l, LOG_SUBNET_UP, LOG_U("switches", n), LOG_TIME("took_us", us));
 */
#ifndef WEFT_LOG_H
#define WEFT_LOG_H

#include "base/nonblock_out.h"
#include "run/run.h"

/* kind, name, level, text; {key} stands for a value, and what is in [] is left out when its values are
 * not there */
/* clang-format off */
#define LOG_RECORDS(X)                                                                                          \
	X(START, "start", NOTICE, "weft {version} starts: mechanism {mechanism}, window {window}")              \
	X(STOP, "stop", NOTICE, "ends: {why}")                                                                  \
	X(CONNECTED, "connected", NOTICE, "at {port}, port GUID {port_guid}")                                   \
	X(NO_CONNECTION, "no_connection", WARNING, "{why}; trying again")                                       \
	X(LOST, "connection_lost", WARNING, "the other end of {port} is gone; trying to connect again")         \
	X(RESYNC, "resync", NOTICE, "all that is known of the subnet at {port} is forgotten and read anew")      \
	X(IS_SM, "is_sm", WARNING, "the IsSM bit of {port} cannot be set: {why}")                               \
	X(SUBNET_UP, "subnet_up", NOTICE,                                                                       \
	  "SUBNET UP: {switches} switches, {hosts} hosts, {lids} LIDs in {took_us}, {smps} SMPs"                \
	  "[; not everything answered: {unanswered}]")                                                          \
	X(CHANGE_DONE, "change_done", NOTICE,                                                                   \
	  "subnet is up again after {cause}: {switches} switches, {hosts} hosts, {lids} LIDs; {took_us}, "      \
	  "{smps} SMPs, {blocks} table blocks[; not everything answered: {unanswered}]")                        \
	X(RELOADED, "reloaded", NOTICE, "the configuration was read again[; only after a restart: {fixed}]")    \
	X(RELOAD_FAILED, "reload_failed", ERROR, "the configuration stays as it was: {why}")                    \
	X(STATE_FAILED, "state_failed", ERROR, "what must survive cannot be written: {why}; the SM goes on")    \
	X(STATE_BACK, "state_written", NOTICE, "what must survive is written again")                            \
	X(REMEMBERED, "remembered", INFO, "what was known at rest is known from {file}")                        \
	X(STATE_LOADED, "state_loaded", INFO, "{lids} LIDs known from {file}")                                  \
	X(DUMPED, "dumped", INFO, "tables written to {directory}")                                              \
	X(DUMP_FAILED, "dump_failed", ERROR, "tables cannot be written: {why}")                                 \
	X(METRICS_FAILED, "metrics_failed", ERROR, "metrics cannot be written: {why}")                          \
	X(LOG_LEVEL, "log_level", NOTICE, "log level is {level} now")                                           \
	X(ROUTES, "routes", DEBUG, "routes for {switches} switches in {took_us}")                                \
	X(LOST_LINES, "lost_lines", WARNING, "{count} lines are missing here: nobody read them")               \
	X(SUPPRESSED, "suppressed", WARNING, "{count} more records '{record}' within a second were left out")   \
	X(PHASE, "phase", DEBUG, "{from} -> {to}, {smps} SMPs so far")                                          \
	X(CHANGE, "change", INFO, "something changed: told by {cause}[, {node}][ {name}][, LID {lid}]")                \
	X(UNREACHABLE, "unreachable", WARNING, "no answer to {attribute}[ from {node}][ {name}]")               \
	X(BAD_STATUS, "bad_status", WARNING, "status {status} to {attribute}[ from {node}][ {name}]")           \
	X(RESTART, "restart", INFO, "discovery begins again, {times} times in a row")                           \
	X(REFUSED, "refused", ERROR, "routes were computed, but did not pass verification: nothing was sent")   \
	X(TOO_FAR, "too_far", INFO, "behind port {num} of {node}[ {name}] it is too far for a directed route")  \
	X(NO_LID, "no_lid", ERROR, "no LID is left for {node}[ {name}]")                                        \
	X(MISMATCH, "mismatch", WARNING, "{node}[ {name}] holds another {attribute} than was set")              \
	X(TRAP, "trap", INFO, "trap {trap}[ {trap_name}] from LID {lid}")                                       \
	X(LEFT_OUT, "left_out", ERROR, "{node}[ {name}] is left out: it refuses {attribute}")                   \
	X(PLAN, "plan", DEBUG, "the way to the new tables: {plan}, {turns} turns off")                          \
	X(GONE, "gone", NOTICE, "{node}[ {name}] is gone")                                                      \
	X(NO_ROOM, "no_room", ERROR, "{node}[ {name}] is left out: its random table needs {need} entries, has {has}") \
	X(GUESS, "guess", DEBUG, "taken for dead: {node}[ {name}]")                                             \
	X(HELD, "held", WARNING, "port {num} of {node}[ {name}] changes too often and counts as down")          \
	X(RELEASED, "released", NOTICE, "port {num} of {node}[ {name}] is in use again")                        \
	X(LID, "lid", DEBUG, "LID {lid} for port GUID {node}")                                                  \
	X(NAME, "name", DEBUG, "{node} is {name}")                                                              \
	X(STATE, "state", NOTICE, "SM state {from} -> {to}")                                                    \
	X(OTHER_SM, "other_sm", NOTICE, "another SM at port GUID {node}: {state}, priority {priority}")         \
	X(NOTE, "note", DEBUG, "{what} {a} {b}")
/* clang-format on */

enum log_kind {
#define LOG_ENUM(kind, name, level, text) LOG_##kind,
	LOG_RECORDS(LOG_ENUM)
#undef LOG_ENUM
		LOG_NKINDS
};

struct log_value {
	const char *key; /* NULL: the end */
	enum { LOG_TEXT, LOG_COUNT, LOG_GUID_VALUE, LOG_HEX, LOG_MICROSECONDS } type;
	const char *s; /* NULL: not there */
	uint64_t u;
};

#define LOG_T(k, v)    ((struct log_value){.key = k, .type = LOG_TEXT, .s = v})
#define LOG_U(k, v)    ((struct log_value){.key = k, .type = LOG_COUNT, .u = v})
#define LOG_G(k, v)    ((struct log_value){.key = k, .type = LOG_GUID_VALUE, .u = v})
#define LOG_X(k, v)    ((struct log_value){.key = k, .type = LOG_HEX, .u = v})
#define LOG_TIME(k, v) ((struct log_value){.key = k, .type = LOG_MICROSECONDS, .u = v})
#define LOG_NOT(k)     ((struct log_value){.key = k, .type = LOG_TEXT})

struct run_log {
	enum run_log_level level;
	enum run_log_format format;
	char path[256];
	int fd;
	struct nonblock_out out; /* to fd */
	uint64_t lost;		 /* lines that found no room, not told yet */
	bool journal; /* standard error is the journal's: it has the time, and wants the level as <n> */
	void (*tell)(void *ctx, const char *json); /* whoever else wants to know; NULL: nobody */
	void *tell_ctx;
	uint64_t second;
	uint32_t count[LOG_NKINDS], left_out[LOG_NKINDS];
};

extern const char *const log_level_names[]; /* "error", "warning", ...; ends with NULL */

/* path "": standard error. 0 or -errno with e filled. */
int log_open(struct run_log *l, const char *path, enum run_log_level level,
	     enum run_log_format format, struct err *e);
void log_reopen(struct run_log *l); /* the file was moved away */
/* Tells what was lost, if there is room again. */
void log_catch_up(struct run_log *l);
void log_close(struct run_log *l);
void log_in_child(struct run_log *l); /* a child that has nothing but fd goes on with it */

#define log_rec(l, kind, ...)                                                                      \
	log_values(l, kind, (const struct log_value[]){__VA_ARGS__ __VA_OPT__(, ){0}})
void log_values(struct run_log *l, enum log_kind k, const struct log_value *v);
/* What log_values() would write, without the time. */
void log_render(const struct run_log *l, enum log_kind k, const struct log_value *v,
		struct strbuf *out);

#endif
