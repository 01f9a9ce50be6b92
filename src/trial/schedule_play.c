/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a schedule that is made while it runs. State: struct schedule_play. Way in: schedule_play_to(),
 * schedule_play_event(). Does not know what a fault does (faults.c) and checks nothing.
 */
#include "trial/schedule_play.h"
#include "trial/run_priv.h"

struct schedule_play {
	struct run run;
	struct schedule_result out;
	bool sends;	/* traffic has started, or there is none */
	time_ps look;	/* when the next check is due whether traffic can start */
	time_ps stop;	/* the last time for which the clock was asked to stop */
	uint64_t stops; /* events that did nothing else */
	time_ps fault;	/* when the last one was */
};

static int check(const struct fab *f, const struct schedule *s, struct err *e)
{
	if (!s->managers.n || s->managers.n > RUN_MANAGERS)
		return err_set(e, -EINVAL, "expected 1 to %d managers, found %zu", RUN_MANAGERS,
			       s->managers.n);
	for (size_t i = 0; i < s->managers.n; i++)
		if (fab_node_by_guid(f, s->managers.at[i].guid) == FAB_NONE)
			return err_set(e, -EINVAL, "manager %zu: its node is not in the fabric", i);
	return 0;
}

struct schedule_play *schedule_play_new(const struct fab *f, const struct schedule *s,
					const struct schedule_story *story, struct err *e)
{
	struct schedule_play *p;

	if (check(f, s, e))
		return NULL;
	p = mem_zalloc(sizeof(*p));
	p->run = (struct run){.s = s, .story = story, .out = &p->out, .fab = (struct fab *)f};
	p->sends = !s->traffic;
	p->fault = TIME_NEVER;
	run_make_lab(&p->run);
	p->run.checks.part = mem_zarray(f->nports, sizeof(*p->run.checks.part));
	if (story && story->begin)
		story->begin(story->ctx, p->run.lab);
	run_power_on(&p->run);
	return p;
}

void schedule_play_free(struct schedule_play *p)
{
	if (!p)
		return;
	run_faults_free(&p->run);
	lab_free(p->run.lab);
	run_checks_end(&p->run);
	free(p);
}

struct lab *schedule_play_lab(struct schedule_play *p)
{
	return p->run.lab;
}

/* ---- time ---- */

static void on_time(void *ctx, uint64_t cookie)
{
	struct schedule_play *p = ctx;

	(void)cookie;
	p->stops++;
}

/* The clock stops at the last event, so there must be one at t. */
static void stop_at(struct schedule_play *p, time_ps t)
{
	if (p->stop == t)
		return;
	sim_call(p->run.sim, t, on_time, p, 0);
	p->stop = t;
}

static void start_traffic(struct schedule_play *p)
{
	p->sends = true;
	run_start_traffic(&p->run);
}

/* At the same moments as run_up() of schedule_run.c. */
static void look(struct schedule_play *p)
{
	if (run_at_rest(&p->run, 0) || p->look >= SCHEDULE_REST_BOUND)
		start_traffic(p);
	p->look += RUN_LOOK;
}

static bool run_events(struct schedule_play *p, time_ps t, uint64_t *budget)
{
	stop_at(p, t);
	while (sim_next(p->run.sim) <= t) {
		if (!*budget)
			return false;
		sim_step(p->run.sim);
		--*budget;
	}
	return true;
}

bool schedule_play_to(struct schedule_play *p, time_ps t, uint64_t *budget)
{
	while (!p->sends && p->look <= t) {
		if (!run_events(p, p->look, budget))
			return false;
		look(p);
	}
	return run_events(p, t, budget);
}

uint64_t schedule_play_events(const struct schedule_play *p)
{
	return sim_events(p->run.sim) - p->stops;
}

bool schedule_play_step(struct schedule_play *p, time_ps t)
{
	if (!p->sends && sim_now(p->run.sim) == p->look && sim_next(p->run.sim) > p->look)
		look(p);
	if (!p->sends)
		stop_at(p, p->look);
	return sim_next(p->run.sim) <= t && sim_step(p->run.sim);
}

/* ---- faults ---- */

void schedule_play_event(struct schedule_play *p, struct schedule_event *ev)
{
	uint64_t all = UINT64_MAX;

	ev->at = sim_now(p->run.sim);
	if (p->fault != ev->at)
		schedule_play_to(p, ev->at, &all);
	p->fault = ev->at;
	if (!p->sends)
		start_traffic(p);
	run_fault(&p->run, ev);
	run_forgive(&p->run);
}
