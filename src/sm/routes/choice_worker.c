/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side of a choice among engines: tables of the best one, with the verifier's report on them. Keeps no state;
 * the way in is sm_choice_compute(). Does not touch the SM.
 */
#include "route/choose.h"
#include "route/node_groups.h"
#include "sm/routes/worker.h"

enum { GROUP_PATTERNS = 64 };

/* What an engine costs that computes tables for all LIDs. */
static time_ps cost_of(const struct fab *f, const struct rt_cost *c)
{
	uint64_t links = 2ull * f->nlinks, cells = (uint64_t)f->nswitches * fab_top_lid(f);

	return links * f->nswitches * c->search_ps + cells * c->cell_ps + cells * c->entry_ps;
}

static time_ps cost_of_others(const struct fab *f, const struct rt_choice *x)
{
	time_ps sum = 0;

	for (unsigned i = 0; i < x->ntried; i++)
		if (x->tried[i].routed && x->tried[i].engine != x->engine)
			sum += cost_of(f, &x->tried[i].engine->cost);
	return sum;
}

bool sm_choice_compute(const struct sm_compute *c, unsigned threads, struct rt_report *r,
		       struct sm_routes *out, struct sm_work_done *done)
{
	struct rt_opts o = sm_worker_opts(c, threads);
	struct rt_choice x;
	struct err e;

	o.directions = c->directions;
	o.ties = c->ties;
	o.lanes = c->lanes;
	o.directed = c->directed;
	o.steady = true;
	if (rt_choose(c->fab, &o, &x, &e)) {
		snprintf(out->why, sizeof(out->why), "%.150s", e.text);
		return false;
	}
	*done = (struct sm_work_done){&x.engine->cost, c->fab->nswitches, x.tables->entries};
	out->tried_ps = cost_of_others(c->fab, &x);
	free(out->rank);
	out->tables = x.tables;
	out->rank = x.rank;
	out->engine = x.engine;
	out->by = x.engine->update ? x.engine : NULL;
	out->instead = NULL;
	out->settled = false;
	out->verified = x.report.ok;
	snprintf(out->why, sizeof(out->why), "%.150s", x.why);
	*r = x.report;
	return true;
}

bool sm_choice_replace(const struct sm_compute *c, unsigned threads, struct rt_report *r,
		       struct sm_routes *out, struct sm_work_done *done)
{
	struct sm_compute other = *c;
	char why[SM_WHY];

	snprintf(why, sizeof(why), "%s", out->why);
	other.lanes = c->auto_lanes ? MIN(c->auto_lanes, MAX(c->lanes, 1u)) : c->lanes;
	if (!sm_choice_compute(&other, threads, r, out, done))
		return false;
	out->instead = out->engine;
	out->engine = NULL; /* nothing was to be chosen */
	out->by = NULL;
	snprintf(out->why, sizeof(out->why), "%s", why);
	return true;
}

static const struct rt_try *try_of(const struct rt_choice *x)
{
	for (unsigned i = 0; i < x->ntried; i++)
		if (x->tried[i].engine == x->engine)
			return &x->tried[i];
	return NULL;
}

/* As the choice does: where there are groups, inside these. */
static bool measure(const struct sm_compute *c, unsigned threads, const struct rt_tables *t,
		    uint64_t *bisection, uint64_t *shifts)
{
	struct rt_opts o = sm_worker_opts(c, threads);
	struct err e;

	return c->group ? !rt_group_quality(c->fab, t, &o, GROUP_PATTERNS, bisection, shifts, &e)
			: !rt_quick_quality(c->fab, t, threads, bisection, shifts, &e);
}

/* Routes of the named engine over roots that are found. False: they cannot be computed or measured, or it was stopped. */
static bool found_roots(const struct sm_compute *c, unsigned threads, struct sm_advice *out)
{
	const struct rt_engine *g = c->engine ? c->engine : &rt_fera;
	struct rt_opts o = sm_worker_opts(c, threads);
	struct rt_tables *t;
	struct err e;
	bool ok;

	o.root = rt_root_centre(c->fab);
	o.roots = NULL;
	o.nroots = 0;
	o.lanes = c->lanes;
	if ((c->stop && c->stop(c->stop_ctx)) || rt_compute(g, c->fab, &o, &t, &e))
		return false;
	rt_tables_fill(t);
	ok = measure(c, threads, t, &out->best_bisection, &out->best_shifts);
	rt_tables_free(t);
	out->engine = g;
	return ok;
}

/* Whether the roots alone make routes clearly worse. */
static bool roots_are_worse(const struct sm_compute *c, unsigned threads, struct sm_advice *out)
{
	struct rt_try best = {0};

	if (!c->nroots || c->choose || !found_roots(c, threads, out))
		return false;
	best.bisection = out->best_bisection;
	best.shifts = out->best_shifts;
	return rt_clearly_worse(out->bisection, out->shifts, &best);
}

void sm_advise(const struct sm_compute *c, unsigned threads, struct sm_advice *out)
{
	struct rt_opts o = {.root = rt_root_centre(c->fab),
			    .group = c->group,
			    .threads = threads,
			    .lanes = c->lanes,
			    .directed = c->directed,
			    .steady = true,
			    .stop = c->stop,
			    .stop_ctx = c->stop_ctx};
	const struct rt_try *best;
	struct rt_choice x;
	struct err e;

	if (!c->old || !measure(c, threads, c->old, &out->bisection, &out->shifts))
		return;
	if (roots_are_worse(c, threads, out)) {
		out->worse = out->roots = true;
		return;
	}
	out->engine = NULL;
	if (rt_choose(c->fab, &o, &x, &e))
		return;
	best = try_of(&x);
	out->engine = x.engine;
	out->best_bisection = best->bisection;
	out->best_shifts = best->shifts;
	out->worse = rt_clearly_worse(out->bisection, out->shifts, best);
	out->roots = c->choose; /* nothing else was named */
	rt_choice_free(&x);
}
