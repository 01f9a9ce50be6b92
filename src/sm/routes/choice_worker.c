/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side of a choice among engines: tables of the best one, with the verifier's report on them. Keeps no state;
 * the way in is sm_choice_compute(). Does not touch the SM.
 */
#include "route/choose.h"
#include "sm/routes/worker.h"

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
	struct rt_opts o = {.root = c->root,
			    .directions = c->directions,
			    .ties = c->ties,
			    .threads = threads,
			    .lanes = c->lanes,
			    .directed = c->directed,
			    .steady = true};
	struct rt_choice x;
	struct err e;

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
	out->instead = false;
	out->settled = false;
	out->verified = x.report.ok;
	snprintf(out->why, sizeof(out->why), "%.150s", x.why);
	*r = x.report;
	return true;
}

static const struct rt_try *try_of(const struct rt_choice *x)
{
	for (unsigned i = 0; i < x->ntried; i++)
		if (x->tried[i].engine == x->engine)
			return &x->tried[i];
	return NULL;
}

void sm_advise(const struct sm_compute *c, unsigned threads, struct sm_advice *out)
{
	struct rt_opts o = {.root = rt_root_centre(c->fab),
			    .threads = threads,
			    .lanes = c->lanes,
			    .directed = c->directed,
			    .steady = true,
			    .stop = c->stop,
			    .stop_ctx = c->stop_ctx};
	const struct rt_try *best;
	struct rt_choice x;
	struct err e;

	if (!c->old || rt_choose(c->fab, &o, &x, &e))
		return;
	best = try_of(&x);
	if (!rt_quick_quality(c->fab, c->old, threads, &out->bisection, &out->shifts, &e)) {
		out->engine = x.engine;
		out->best_bisection = best->bisection;
		out->best_shifts = best->shifts;
		out->worse = rt_clearly_worse(out->bisection, out->shifts, best);
	}
	rt_choice_free(&x);
}
