/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans the forwarding state after changes and searches for deadlocks. State: struct lab_watch. Way in:
 * lab_watch_start(). Does not influence the run, except for its number of events.
 */
#include "lab/watch.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"

#define DEADLOCK_PERIOD PS_PER_MS
#define FIRST_GAP	(100 * PS_PER_US)

/* Table entries, read in about a second, after which scans become less frequent. */
enum { BUDGET = 200000000 };

static void add_point(struct lab_watch *w, time_ps now)
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

/* Counted in table entries, not in time, so that all machines scan at the same moments. */
static void limit_scans(struct lab_watch *w, uint64_t steps)
{
	if (steps < w->budget) {
		w->budget -= steps;
		return;
	}
	w->gap = MAX(2 * w->gap, FIRST_GAP);
	w->budget = BUDGET;
}

static void scan(struct lab_watch *w)
{
	time_ps now = sim_now(w->lab->sim);
	uint64_t before = lab_scan_steps(w->scan);

	if (w->looks++ && w->now.connected < w->now.pairs)
		w->below += now - w->last;
	w->last = now;
	if (w->masks_only)
		lab_scan_masks(w->scan, &w->now);
	else
		lab_scan_run(w->scan, &w->now);
	w->masks_only = true;
	limit_scans(w, lab_scan_steps(w->scan) - before);
	add_point(w, now);
	if (w->now.waiting && w->circle_at == TIME_NEVER) {
		w->circle_at = now;
		w->ncircle = w->now.waiting;
	}
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
		scan(w);
}

/* Scan after all events of this moment, so that simultaneous changes count as one. */
static void on_change(void *ctx, node_id n, enum sim_change what)
{
	struct lab_watch *w = ctx;

	if (w->also)
		w->also(w->also_ctx, n, what);
	w->changes++;
	w->masks_only &= what == SIM_CHANGED_MASKS;
	if (w->due)
		return;
	w->due = true;
	sim_call(w->lab->sim, MAX(sim_now(w->lab->sim), w->gap ? w->last + w->gap : 0), on_due, w,
		 0);
}

/* A ring may dissolve when credits arrive; one that is still there a millisecond later is a deadlock. */
static void find_deadlock(struct lab_watch *w)
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
	find_deadlock(w);
	sim_call(w->lab->sim, sim_now(w->lab->sim) + DEADLOCK_PERIOD, on_time, w, 0);
}

void lab_watch_start(struct lab_watch *w, struct lab *l)
{
	memset(w, 0, sizeof(*w));
	w->lab = l;
	w->scan = lab_scan_new(l);
	w->running = true;
	w->budget = BUDGET;
	w->connectivity_min = 1000000;
	w->unsafe_at = w->circle_at = w->locked_at = TIME_NEVER;
	scan(w);
	sim_watch_changes(l->sim, (struct sim_change_watch){on_change, w});
	if (l->cfg.sim.plane.on)
		sim_call(l->sim, sim_now(l->sim) + DEADLOCK_PERIOD, on_time, w, 0);
}

void lab_watch_stop(struct lab_watch *w)
{
	if (!w->running)
		return;
	scan(w);
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
