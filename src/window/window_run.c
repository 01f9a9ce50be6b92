/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The run: how far it goes with each call of window_work(), and the faults on its way. State: struct window_run. Way
 * in: window_run_new(), window_work(). Does not know what a fault does: src/trial does.
 */
#include "window/window_priv.h"

#define END (86400 * PS_PER_S) /* a script cannot name a later time */

/* ---- begin and end ---- */

static void on_note(void *ctx, struct lab *l, unsigned manager, const struct sm_note *n)
{
	struct window *w = ctx;

	(void)l;
	if (n->kind == SM_NOTE_PHASE)
		w->run->phases++;
	if (n->kind == SM_NOTE_OTHER_ENGINE)
		w->run->other_engine |= 1u << manager;
	else if (n->kind == SM_NOTE_PHASE && n->phase.to == SM_COMPUTE)
		w->run->other_engine &= ~(1u << manager);
	window_lanes_look(w->run);
	window_log_note(w, manager, n);
}

/* Before power-on. */
static void on_begin(void *ctx, struct lab *l)
{
	struct window *w = ctx;
	struct window_run *r = w->run;

	r->lab = l;
	r->sim = lab_sim(l);
	window_flights_begin(w);
	window_log_begin(w);
	window_series_begin(r);
}

int window_run_new(struct window *w, const struct schedule *s, struct err *e)
{
	struct window_run *r;

	window_run_free(w);
	r = w->run = mem_zalloc(sizeof(*r));
	schedule_copy(&r->schedule, s);
	while (r->schedule.events.n)
		schedule_event_remove(&r->schedule, r->schedule.events.n - 1);
	w->runs++;
	r->busy = mem_zarray(w->fabric.fab->nports, sizeof(*r->busy));
	r->speed = w->speed;
	r->story = (struct schedule_story){.ctx = w, .begin = on_begin, .note = on_note};
	window_log_default(&r->log);
	window_log_filter(w);
	r->play = schedule_play_new(w->fabric.fab, &r->schedule, &r->story, e);
	if (r->play)
		return 0;
	window_run_free(w);
	return -EINVAL;
}

void window_to_come_free(struct window_run *r)
{
	for (size_t i = r->next; i < r->to_come.n; i++)
		vec_free(&r->to_come.at[i].nodes);
	vec_free(&r->to_come);
	r->next = 0;
}

void window_run_free(struct window *w)
{
	struct window_run *r = w->run;

	if (!r)
		return;
	window_series_free(r);
	schedule_play_free(r->play);
	schedule_free(&r->schedule);
	window_to_come_free(r);
	window_flights_free(r);
	window_log_free(&r->log);
	vec_free(&r->lanes.steps);
	free(r->busy);
	free(r);
	w->run = NULL;
}

void window_run_pause(struct window *w, const char *why)
{
	struct json j = {.line = true};
	char at[24];

	w->run->mode = WINDOW_PAUSED;
	snprintf(at, sizeof(at), "%llu", (unsigned long long)sim_now(w->run->sim));
	json_open(&j, NULL, '{');
	json_open(&j, "paused", '{');
	json_str(&j, "at", at);
	json_str(&j, "why", why);
	json_close(&j);
	json_close(&j);
	window_emit_json(w, &j);
}

/* ---- faults ---- */

static bool moves_cables(enum schedule_kind k)
{
	return k == SCHEDULE_MOVE || k == SCHEDULE_PLUG || k == SCHEDULE_RELINK ||
	       k == SCHEDULE_LINK;
}

void window_run_event(struct window *w, struct schedule_event *ev)
{
	struct window_run *r = w->run;

	schedule_play_event(r->play, ev);
	vec_push(&r->schedule.events, *ev);
	window_lanes_look(r);
	window_log_fault(w, ev);
	if (moves_cables(ev->kind) && window_links_follow(w))
		window_emit_fabric(w);
}

static time_ps next_fault(const struct window_run *r)
{
	return r->next < r->to_come.n ? r->to_come.at[r->next].at : TIME_NEVER;
}

static time_ps last_fault(const struct window_run *r)
{
	return r->schedule.events.n ? r->schedule.events.at[r->schedule.events.n - 1].at
				    : TIME_NEVER;
}

/* Faults of one moment follow each other without events between them, as in a schedule. */
static bool is_next_at_once(const struct window_run *r)
{
	return r->next < r->to_come.n && next_fault(r) == last_fault(r);
}

/* False: the budget was spent before t. */
static bool run_to(struct window *w, time_ps t, uint64_t *budget)
{
	struct window_run *r = w->run;

	while (next_fault(r) <= t) {
		if (!is_next_at_once(r) && !schedule_play_to(r->play, next_fault(r), budget))
			return false;
		window_run_event(w, &r->to_come.at[r->next++]);
	}
	return schedule_play_to(r->play, t, budget);
}

void window_run_finish_moment(struct window *w)
{
	uint64_t all = UINT64_MAX;

	run_to(w, sim_now(w->run->sim), &all);
	while (last_fault(w->run) == sim_now(w->run->sim))
		run_to(w, sim_now(w->run->sim) + 1, &all);
}

/* ---- one slice ---- */

static void run_on(struct window *w, uint64_t wall_us, uint64_t budget)
{
	struct window_run *r = w->run;
	time_ps now = sim_now(r->sim), span;

	if (r->speed < 0) {
		run_to(w, END, &budget);
		return;
	}
	r->credit += r->speed * (double)MIN(wall_us, (uint64_t)10000000);
	span = (time_ps)MIN(r->credit, (double)END);
	r->credit -= (double)span;
	if (!run_to(w, MIN(now + span, END), &budget))
		r->credit = 0; /* what this machine cannot do in time is not done later */
}

/* One event of the simulation, or one fault; false: there is none before the end. */
static bool step_one(struct window *w)
{
	struct window_run *r = w->run;
	uint64_t all = UINT64_MAX;

	if (!is_next_at_once(r) && schedule_play_step(r->play, MIN(next_fault(r), END)))
		return true;
	if (next_fault(r) > END)
		return false;
	run_to(w, next_fault(r), &all);
	return true;
}

static bool stepped(const struct window_run *r, uint64_t smps, uint64_t phases)
{
	return r->mode == WINDOW_STEP_EVENT || (r->mode == WINDOW_STEP_SMP && r->smps != smps) ||
	       (r->mode == WINDOW_STEP_PHASE && r->phases != phases);
}

static void run_step(struct window *w, uint64_t budget)
{
	struct window_run *r = w->run;
	uint64_t smps = r->smps, phases = r->phases;

	for (; budget; budget--) {
		if (!step_one(w) || stepped(r, smps, phases)) {
			window_run_pause(w, "step");
			return;
		}
	}
}

static void run_slice(struct window *w, uint64_t wall_us, uint64_t budget)
{
	struct window_run *r = w->run;

	switch (r->mode) {
	case WINDOW_PAUSED:
		return;
	case WINDOW_RUNNING:
		run_on(w, wall_us, budget);
		break;
	case WINDOW_STEP_EVENT:
	case WINDOW_STEP_SMP:
	case WINDOW_STEP_PHASE:
		run_step(w, budget);
		break;
	case WINDOW_GOING:
		if (!run_to(w, r->target, &budget))
			break;
		if (r->goes_on)
			r->mode = WINDOW_RUNNING;
		else
			window_run_pause(w, "arrived");
		break;
	}
	if (r->mode != WINDOW_PAUSED && sim_now(r->sim) >= END)
		window_run_pause(w, "a run lasts at most a day");
}

void window_emit_slice(struct window *w)
{
	window_emit_state(w);
	if (!w->run)
		return;
	window_flights_emit(w, &w->run->flights[0], WINDOW_SMPS);
	window_flights_emit(w, &w->run->flights[1], WINDOW_PACKETS);
	window_log_emit(w);
	window_series_emit(w);
}

bool window_work(struct window *w, uint64_t wall_us, uint64_t events)
{
	struct window_run *r = w->run;

	if (!r || r->mode == WINDOW_PAUSED)
		return false;
	run_slice(w, wall_us, events);
	if (r->mode != WINDOW_GOING)
		window_emit_slice(w);
	return r->mode != WINDOW_PAUSED;
}

bool window_is_going(const struct window *w)
{
	return w->run && w->run->mode == WINDOW_GOING;
}

unsigned window_runs(const struct window *w)
{
	return w->runs;
}

time_ps window_now(const struct window *w, uint64_t *events)
{
	*events = w->run ? schedule_play_events(w->run->play) : 0;
	return w->run ? sim_now(w->run->sim) : 0;
}
