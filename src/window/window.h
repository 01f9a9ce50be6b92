/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine behind the page of `weft ui`: one fabric, its managers, and one run that can be stepped, broken and
 * looked at. Commands are JSON text; frames are binary, little endian (docs/window-protocol.md lists both). Pure: no
 * file, socket, clock or thread. The run is a function of the fabric, the setup and the journal, which is the list of
 * all faults with their times: the text that the command `script` returns gives the same run with
 * `weft sim trial --replay`.
 *
 * Input is not trusted: sizes and numbers are bounded, and what is wrong is answered by an error.
 */
#ifndef WEFT_WINDOW_H
#define WEFT_WINDOW_H

#include "base/base.h"

struct window;

enum {
	WINDOW_COMMAND_MAX = 64 << 20, /* bytes of a command */
	WINDOW_NODES_MAX = 200000,     /* nodes of a fabric */
	WINDOW_FLIGHTS = 4096,	       /* SMPs, or data packets, in a frame */
	WINDOW_KEPT = 100000,	       /* messages whose MADs are kept */
	WINDOW_SAMPLES = 20000,	       /* of the series that are kept */
	WINDOW_JOURNAL_MAX = 10000,    /* faults of a run */
};

/* The kind of a frame: byte 4, after its length. */
enum window_frame {
	WINDOW_JSON = 1,
	WINDOW_FABRIC,
	WINDOW_STATE,
	WINDOW_SMPS,
	WINDOW_PACKETS,
	WINDOW_LOG,
	WINDOW_SERIES,
	WINDOW_LOADS,
};

/* emit() gets each frame whole, and only while one of the functions below runs. */
struct window *window_new(void (*emit)(void *ctx, const uint8_t *frame, size_t len), void *ctx);
void window_free(struct window *w);

/* One command. It is answered by one JSON frame {"re": id, "ok": true, ...} or {"re": id, "error": "..."}; frames
 * that show its effect come before or after it. */
void window_command(struct window *w, const char *json, size_t len);

/*
 * Lets the run go on for as much simulated time as `wall_us` of real time is worth at the chosen speed, and at most
 * `events` events. False: there is no run, or it is paused; nothing is to be done until the next command.
 */
bool window_work(struct window *w, uint64_t wall_us, uint64_t events);

/* The time of the run and how many events it had; 0 without a run. */
time_ps window_now(const struct window *w, uint64_t *events);
/* It goes to a moment, as fast as it can. */
bool window_is_going(const struct window *w);
/* How many runs there were: a command may begin another one, or make the run again on a larger fabric. */
unsigned window_runs(const struct window *w);
/* Calls each() for all faults of the journal, those to come last. Returns how many have happened. */
size_t window_journal(const struct window *w, void (*each)(void *ctx, time_ps at, const char *text),
		      void *ctx);
time_ps window_next_fault(const struct window *w); /* the next one to come; TIME_NEVER: none */

#endif
