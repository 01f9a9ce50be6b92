/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side of the reference: routes after a change that differ from it as little as possible, and their
 * comparison with routes from scratch. Keeps no state; the ways in are sm_reroute() and sm_compare_reference().
 */
#include "route/choose.h"
#include "sm/routes/worker.h"

/* Tables end with the last LID that is in use, as those of engines do. */
static void cut(struct rt_tables **t, const struct fab *f)
{
	struct rt_tables *was = *t, *cut;

	if (was->top_lid == fab_top_lid(f))
		return;
	cut = rt_tables_new(was->nswitches, fab_top_lid(f));
	for (uint32_t s = 0; s < was->nswitches; s++)
		memcpy(rt_row(cut, s), rt_row(was, s), MIN(was->stride, cut->stride));
	cut->entries = was->entries;
	*t = cut;
	rt_tables_free(was);
}

/* LIDs that no port has keep what the switches hold: the reference may have routes of a VM that was stopped since. */
static void leave_unassigned(const struct sm_compute *c, struct rt_tables *t)
{
	port_id *lids;
	uint32_t top;
	struct err e;

	if (!c->old || fab_lid_table(c->fab, &lids, &top, &e))
		return;
	for (uint32_t lid = 1; lid < t->stride; lid++)
		for (uint32_t s = 0; (lid > top || lids[lid] == FAB_NONE) && s < t->nswitches; s++)
			rt_row(t, s)[lid] =
				lid < c->old->stride ? rt_row(c->old, s)[lid] : IBA_PORT_NONE;
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

	if (rt_verify_change(c->fab, out->tables, out->rank, c->ref))
		return true;
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
	out->rank = mem_array((size_t)c->fab->nswitches + 1, sizeof(*out->rank));
	if (!c->ref_engine->update(c->fab, c->ref, &out->tables, out->rank, &st, &e) &&
	    !(c->stage == SM_FINAL && st.new_links)) {
		cut(&out->tables, c->fab);
		leave_unassigned(c, out->tables);
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

void sm_compare_reference(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
			  struct sm_work_done *done)
{
	const struct rt_engine *g = c->ref_engine;
	struct rt_opts o = {.root = c->root, .threads = threads};
	struct rt_verify_opts v = {.threads = threads};
	struct rt_report r = {0};
	struct err e;

	if (!c->old || is_stopped(c) || rt_compute(g, c->fab, &o, &out->tables, &e))
		return;
	*done = (struct sm_work_done){&g->cost, c->fab->nswitches, out->tables->entries};
	rt_tables_fill(out->tables);
	v.rank = out->rank = mem_array((size_t)c->fab->nswitches + 1, sizeof(*out->rank));
	out->verified =
		is_worse(c, threads, out->tables) &&
		!rt_engine_ranks(g, c->fab, &o, out->rank, &e) &&
		!rt_verify(c->fab, out->tables, &v, &r, &e) && r.ok &&
		(!c->plan || sm_worker_plan(c, threads, out->tables, out->rank, &out->plan));
	out->by = g;
	rt_report_free(&r);
	if (!out->verified)
		sm_routes_free(out);
}
