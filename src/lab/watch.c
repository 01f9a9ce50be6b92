/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The watch: a look at the levels at every change, a look for real deadlocks every millisecond.
 * State: struct lab_watch. Way in: lab_watch_start(). Does not influence the run but for its count
 * of events.
 */
#include "lab/watch.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"

#define LOCK_LOOK PS_PER_MS
#define FIRST_GAP (100 * PS_PER_US)

/* Table look-ups, about a second of them, after which looks become rarer. */
enum { BUDGET = 200000000 };

static void note(struct lab_watch *w, time_ps now)
{
	const struct lab_watch_point *last = w->points.n ? &w->points.at[w->points.n - 1] : NULL;

	w->connectivity_min = MIN(w->connectivity_min, w->now.connectivity);
	w->deadlock_max = MAX(w->deadlock_max, w->now.deadlock);
	if (last && last->connectivity == w->now.connectivity && last->deadlock == w->now.deadlock)
		return;
	if (last && last->at == now)
		w->points.n--;
	vec_push(&w->points, (struct lab_watch_point){now, w->now.connectivity, w->now.deadlock});
}

/* Levels cost by the step, so that the ration is the same on every machine. */
static void ration(struct lab_watch *w, uint64_t steps)
{
	if (steps < w->budget) {
		w->budget -= steps;
		return;
	}
	w->gap = MAX(2 * w->gap, FIRST_GAP);
	w->budget = BUDGET;
}

static void look(struct lab_watch *w)
{
	time_ps now = sim_now(w->lab->sim);
	uint64_t before = lab_scan_steps(w->scan);

	if (w->looks++ && w->now.connected < w->now.pairs)
		w->below += now - w->last;
	w->last = now;
	lab_scan_run(w->scan, &w->now);
	ration(w, lab_scan_steps(w->scan) - before);
	note(w, now);
	if (w->now.cyclic && w->unsafe_at == TIME_NEVER) {
		w->unsafe_at = now;
		w->ncycle = lab_scan_cycle(w->scan, &w->cycle);
	}
}

static void on_due(void *ctx, uint64_t cookie)
{
	struct lab_watch *w = ctx;

	(void)cookie;
	w->due = false;
	if (w->running)
		look(w);
}

/* At the end of this moment: what happens at once is one change. */
static void on_change(void *ctx, node_id n, enum sim_change what)
{
	struct lab_watch *w = ctx;

	(void)n;
	(void)what;
	w->changes++;
	if (w->due)
		return;
	w->due = true;
	sim_call(w->lab->sim, MAX(sim_now(w->lab->sim), w->gap ? w->last + w->gap : 0), on_due, w,
		 0);
}

/* A ring may dissolve when credits on their way arrive: one that is there a millisecond later
 * stays. */
static void look_for_lock(struct lab_watch *w)
{
	port_id *ring = NULL;
	size_t n;

	if (w->locked_at != TIME_NEVER)
		return;
	n = sim_deadlock(w->lab->sim, &ring);
	if (n && w->suspect) {
		w->locked_at = sim_now(w->lab->sim);
		w->ring = ring;
		w->nring = n;
	} else if (n) {
		free(ring);
	}
	w->suspect = n > 0;
}

static void on_time(void *ctx, uint64_t cookie)
{
	struct lab_watch *w = ctx;

	(void)cookie;
	if (!w->running)
		return;
	look_for_lock(w);
	sim_call(w->lab->sim, sim_now(w->lab->sim) + LOCK_LOOK, on_time, w, 0);
}

void lab_watch_start(struct lab_watch *w, struct lab *l)
{
	memset(w, 0, sizeof(*w));
	w->lab = l;
	w->scan = lab_scan_new(l);
	w->running = true;
	w->budget = BUDGET;
	w->connectivity_min = 1000000;
	w->unsafe_at = w->locked_at = TIME_NEVER;
	look(w);
	sim_watch_changes(l->sim, (struct sim_change_watch){on_change, w});
	if (l->cfg.sim.plane.on)
		sim_call(l->sim, sim_now(l->sim) + LOCK_LOOK, on_time, w, 0);
}

void lab_watch_stop(struct lab_watch *w)
{
	if (!w->running)
		return;
	look(w);
	w->running = false;
	sim_watch_changes(w->lab->sim, (struct sim_change_watch){0});
}

void lab_watch_free(struct lab_watch *w)
{
	lab_scan_free(w->scan);
	free(w->cycle);
	free(w->ring);
	vec_free(&w->points);
	*w = (struct lab_watch){0};
}
