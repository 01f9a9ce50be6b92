/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A schedule that is made while it runs: the caller says how far it runs and which faults happen now. Nothing is
 * checked and nothing ends by itself. The same fabric, the same schedule without its events, and the same faults at
 * the same times give the same run as schedule_run() of that schedule with these events and with `until` at the time
 * that was reached, up to that time.
 *
 * The caller owns fabric, schedule and story, which must outlive it.
 */
#ifndef WEFT_SCHEDULE_PLAY_H
#define WEFT_SCHEDULE_PLAY_H

#include "trial/schedule_run.h"

struct schedule_play;

/* Powered on, at time 0. The schedule's own events are ignored. NULL with e filled: managers do not fit the fabric.
 * story: only begin, note and say are called; may be NULL. */
struct schedule_play *schedule_play_new(const struct fab *f, const struct schedule *s,
					const struct schedule_story *story, struct err *e);
void schedule_play_free(struct schedule_play *p);
struct lab *schedule_play_lab(struct schedule_play *p);

/* Runs all events up to t; then the clock is at t. False: *budget events were run before that, and it can be called
 * again. *budget is reduced by what was run. */
bool schedule_play_to(struct schedule_play *p, time_ps t, uint64_t *budget);
/* Run so far; the same at the same time, however many calls led there. */
uint64_t schedule_play_events(const struct schedule_play *p);
/* Runs one event; false: none is left, or the next one is after t. */
bool schedule_play_step(struct schedule_play *p, time_ps t);
/* A fault now, after all events of this moment; after another fault of this moment, without events between them. Its
 * time is set. */
void schedule_play_event(struct schedule_play *p, struct schedule_event *ev);

#endif
