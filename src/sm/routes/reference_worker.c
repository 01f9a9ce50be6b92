/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side of the reference: routes after a change that differ from it as little as possible, and their
 * comparison with routes from scratch. Keeps no state; the ways in are sm_reroute() and sm_compare_reference().
 */
#include "route/choose.h"
#include "sm/routes/worker.h"

/*
 * LIDs that no port has keep what the switches hold: the reference may have routes of a VM that was stopped since. Without
 * ranks nothing tells which of these are free of deadlock together with new routes: they go, as from scratch.
 */
static void leave_unassigned(const struct sm_compute *c, struct rt_tables *t, bool ranked)
{
	port_id *lids;
	uint32_t top;
	struct err e;

	if (!c->old || fab_lid_table(c->fab, &lids, &top, &e))
		return;
	for (uint32_t lid = 1; lid < t->stride; lid++)
		for (uint32_t s = 0; (lid > top || lids[lid] == FAB_NONE) && s < t->nswitches; s++)
			rt_row(t, s)[lid] = ranked && lid < c->old->stride ? rt_row(c->old, s)[lid]
									   : IBA_PORT_NONE;
	free(lids);
}

/* Whether the fabric is that of the reference again, and the tables are its tables. */
static bool is_reference(const struct sm_compute *c, const struct rt_update_stats *st)
{
	return !st->changed && !st->new_links && !st->gone_links &&
	       c->fab->nnodes == c->ref->f->nnodes && c->fab->nlinks == c->ref->f->nlinks &&
	       c->fab->nvlids == c->ref->f->nvlids && fab_top_lid(c->fab) == c->ref->t->top_lid;
}

static bool is_right(const struct sm_compute *c, unsigned threads, const struct sm_routes *out)
{
	struct rt_verify_opts o = {.threads = threads, .rank = out->rank};
	struct rt_report r = {0};
	bool ok;

	if (out->rank && rt_verify_change(c->fab, out->tables, out->rank, c->ref))
		return true;
	if (rt_nvls(out->tables) > MAX(c->lanes, 1u))
		return false;
	ok = !rt_verify(c->fab, out->tables, &o, &r, NULL) && r.ok;
	rt_report_free(&r);
	return ok;
}

/* Links that the reference has not are hardly used: routes from scratch follow, or come at once. */
bool sm_reroute(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		struct sm_work_done *done)
{
	struct rt_update_stats st;
	struct err e;

	if (!c->ref)
		return false;
	if (c->ref_engine->updown || c->ref->rank)
		out->rank = mem_array((size_t)c->fab->nswitches + 1, sizeof(*out->rank));
	if (!c->ref_engine->update(c->fab, c->ref, &out->tables, out->rank, &st, &e) &&
	    !(c->stage == SM_FINAL && st.new_links)) {
		rt_tables_cut(&out->tables, c->fab);
		leave_unassigned(c, out->tables, out->rank);
		out->verified = is_right(c, threads, out);
	}
	if (!out->verified) {
		sm_routes_free(out);
		out->epoch = c->epoch;
		return false;
	}
	*done = (struct sm_work_done){&rt_update_cost, MIN(st.searched, c->fab->nswitches),
				      st.changed};
	out->settled = !st.new_links;
	out->by = is_reference(c, &st) ? c->ref_engine : NULL;
	return true;
}

/* ---- at rest ---- */

/* Another request waits: this one is outdated. */
static bool is_stopped(const struct sm_compute *c)
{
	return c->stop && c->stop(c->stop_ctx);
}

static bool is_worse(const struct sm_compute *c, unsigned threads, const struct rt_tables *t)
{
	struct rt_try fresh = {0};
	uint64_t bisection, shifts;
	struct err e;

	return !is_stopped(c) &&
	       !rt_quick_quality(c->fab, t, threads, &fresh.bisection, &fresh.shifts, &e) &&
	       !is_stopped(c) &&
	       !rt_quick_quality(c->fab, c->old, threads, &bisection, &shifts, &e) &&
	       rt_clearly_worse(bisection, shifts, &fresh);
}

/* Ranks and a plan for tables from scratch; without ranks as for any tables with lanes. False: they are not right. */
static bool scratch_plan(const struct sm_compute *c, unsigned threads, const struct rt_engine *g,
			 const struct rt_opts *o, struct sm_routes *out)
{
	struct rt_verify_opts v = {.threads = threads};
	struct sm_compute plain = *c;
	struct rt_report r = {0};
	struct err e;
	bool ok = true;

	v.rank = out->rank = rt_tables_ranks(g, c->fab, o, out->tables);
	ok = out->rank || !g->updown;
	ok = ok && !rt_verify(c->fab, out->tables, &v, &r, &e) && r.ok;
	plain.found = false; /* what is in the switches is to be replaced */
	if (ok && c->plan && !sm_lanes_plan(&plain, threads, &r, out))
		ok = sm_worker_plan(c, threads, out->tables, out->rank, &out->plan);
	rt_report_free(&r);
	return ok;
}

/* FERa serves where the engine does not, as without a reference. */
void sm_compare_reference(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
			  struct sm_work_done *done)
{
	const struct rt_engine *g = c->ref_engine;
	struct rt_opts o = sm_worker_opts(c, threads);
	struct err e;

	o.directions = c->directions;
	o.ties = c->ties;
	o.lanes = c->lanes;
	o.steady = c->choose;
	if (!c->old || is_stopped(c))
		return;
	if (rt_compute(g, c->fab, &o, &out->tables, &e)) {
		snprintf(out->why, sizeof(out->why), "%.150s", e.text);
		out->instead = &rt_fera;
		g = &rt_fera;
		if (rt_compute(g, c->fab, &o, &out->tables, &e))
			return;
	}
	*done = (struct sm_work_done){&g->cost, c->fab->nswitches, out->tables->entries};
	rt_tables_fill(out->tables);
	out->verified = is_worse(c, threads, out->tables) && scratch_plan(c, threads, g, &o, out);
	out->by = out->instead ? NULL : g;
	if (!out->verified)
		sm_routes_free(out);
}
