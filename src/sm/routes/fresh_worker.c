/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side: updated and repaired routes beside FERa's from scratch. Keeps no state; the ways in are
 * sm_worker_compare_fresh(), sm_worker_compare() and sm_worker_fera(). Makes no plan.
 */
#include "sm/routes/worker.h"

bool sm_worker_is_final_update(const struct sm_compute *c)
{
	return c->stage == SM_FINAL && c->supply->update && c->old && !c->found;
}

/*
 * An update keeps what is still among the best, and each of many updates can leave links a little less even.
 * So final routes are measured by those that a computation from scratch gives over the same ranks, and
 * replaced by them where they fall behind. `new` becomes the report on the latter.
 */
void sm_worker_compare_fresh(const struct sm_compute *c, unsigned threads, struct rt_report *new,
			     struct sm_routes *out, struct sm_work_done *done)
{
	struct rt_tables *t = sm_worker_fera(c, threads, out->rank, done);
	struct rt_report fresh;

	if (!t)
		return;
	if (!sm_worker_verify(c->fab, t, out->rank, threads, &fresh)) {
		rt_report_free(&fresh);
		rt_tables_free(t);
		return;
	}
	if (!sm_worker_as_good(new, &fresh, sm_as_it_should_be)) {
		struct rt_tables *uneven = out->tables;

		out->tables = t;
		t = uneven;
	}
	rt_tables_free(t);
	rt_report_free(new);
	*new = fresh;
}

/* ---- a repair that stays ---- */

/*
 * Repaired routes over the directions of a fresh start are compared with routes from scratch. Those come only if the
 * repair is clearly worse: tables cost SMPs, and each repair is compared.
 */
void sm_worker_compare(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		       struct sm_work_done *done)
{
	struct rt_report old = {0}, fresh = {0};

	out->tables = sm_worker_may_keep(c) ? sm_worker_fera(c, threads, c->old_rank, done) : NULL;
	if (!out->tables)
		return;
	out->rank = mem_array(c->fab->nswitches, sizeof(*out->rank));
	memcpy(out->rank, c->old_rank, c->fab->nswitches * sizeof(*out->rank));
	sm_worker_verify(c->fab, c->old, c->old_rank, threads, &old);
	out->verified = sm_worker_verify(c->fab, out->tables, out->rank, threads, &fresh) &&
			!sm_worker_as_good(&old, &fresh, sm_it_will_do);
	if (out->verified && c->plan)
		out->verified = sm_worker_plan(c, threads, out->tables, out->rank, &out->plan);
	rt_report_free(&old);
	rt_report_free(&fresh);
	if (!out->verified)
		sm_routes_free(out);
}
