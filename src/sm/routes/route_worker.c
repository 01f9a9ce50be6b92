/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side: tables for a request, by the engine it names or from the tables in the
 * switches, verified, and with a plan where one is requested. Keeps no state; the way in is
 * sm_compute_run(). Does not touch the SM: it may run while the SM goes on.
 */
#include "sm/routes/worker.h"

void sm_routes_free(struct sm_routes *r)
{
	rt_tables_free(r->tables);
	free(r->rank);
	rt_plan_free(&r->plan);
	rt_plan_free(&r->alive);
	rt_legs_free(&r->legs);
	sm_defragmented_free(r->vms);
	sm_trees_free(r->trees);
	*r = (struct sm_routes){0};
}

/* Do two sets of ranks give every link the same direction? */
static bool same_directions(const struct fab *f, const uint64_t *a, const uint64_t *b)
{
	for (port_id p = 0; p < f->nports; p++) {
		port_id q = f->ports[p].peer;
		uint32_t s, t;

		if (q == FAB_NONE || q < p)
			continue;
		s = f->switch_index[f->ports[p].node];
		t = f->switch_index[f->ports[q].node];
		if (s != FAB_NONE && t != FAB_NONE && (a[s] < a[t]) != (b[s] < b[t]))
			return false;
	}
	return true;
}

/* Ranks as the engine has them, and as the root gives them where it has none or cannot route this fabric. */
static bool own_ranks(const struct sm_compute *c, uint64_t *rank)
{
	const struct rt_engine *g = sm_worker_engine(c);
	struct rt_opts o = sm_worker_opts(c, 0);
	struct err e;

	if (g->ranks && !g->ranks(c->fab, &o, rank, &e))
		return true;
	rt_updown_rank_by(c->fab, c->root, c->directions, rank);
	return false;
}

/* The switch of the smallest rank before a change. */
static node_id old_root(const struct sm_compute *c)
{
	uint32_t best = 0;

	for (uint32_t s = 0; s < c->fab->nswitches; s++)
		best = c->old_rank[s] < c->old_rank[best] ? s : best;
	return c->fab->nswitches && c->old_rank[best] != UINT64_MAX ? c->fab->switches[best]
								    : c->root;
}

static uint64_t *rank_for(const struct sm_compute *c, bool *settled)
{
	uint64_t *rank = mem_array(c->fab->nswitches, sizeof(*rank)), *kept;
	bool own = own_ranks(c, rank);

	*settled = c->supply->update;
	if (!c->supply->keep || !c->old_rank)
		return rank;
	kept = mem_array(c->fab->nswitches, sizeof(*kept));
	rt_updown_rank_keep(c->fab, own ? old_root(c) : c->root, c->old_rank, kept);
	*settled = same_directions(c->fab, rank, kept);
	free(rank);
	return kept;
}

/* FERa serves where the engine does not: a subnet is never without routes for that. */
static struct rt_tables *tables_fresh(const struct sm_compute *c, const struct rt_opts *o,
				      struct sm_routes *out, struct sm_work_done *done)
{
	const struct rt_engine *g = sm_worker_engine(c);
	struct rt_tables *t = NULL;
	struct err e;
	int rc = rt_compute(g, c->fab, o, &t, &e);

	if (rc) {
		out->few_lanes = rc == -ENOSPC;
		out->instead = !c->choose && (g->ranks || g->lanes) ? &rt_fera : NULL;
		snprintf(out->why, sizeof(out->why), "%.150s", e.text);
		if (g->given || !out->instead || rt_compute(&rt_fera, c->fab, o, &t, &e))
			return NULL;
		g = &rt_fera;
	}
	*done = (struct sm_work_done){&g->cost, c->fab->nswitches, t->entries};
	rt_tables_fill(t);
	return t;
}

static struct rt_tables *tables_for(const struct sm_compute *c, unsigned threads,
				    struct sm_routes *out, struct sm_work_done *done)
{
	struct rt_opts o = sm_worker_opts(c, threads);
	struct rt_update_stats st;
	struct rt_tables *t;
	struct err e;

	o.rank = out->rank;
	o.ties = c->ties;
	o.lanes = c->lanes;
	o.steady = c->choose;
	o.before = c->ranked && !c->ref ? c->before
					: NULL; /* of FERa only, over ranks that they obey */
	o.even = true;
	if (!c->supply->update || !c->old)
		return tables_fresh(c, &o, out, done);
	t = rt_tables_new(c->fab->nswitches, fab_top_lid(c->fab));
	if (rt_update(c->fab, &o, c->old, t, &st, &e)) {
		rt_tables_free(t);
		return NULL;
	}
	*done = (struct sm_work_done){&rt_update_cost, st.searched, st.changed};
	return t;
}

/* Provisional routes are urgent, and their quality does not matter. */
static bool verify_stage(const struct sm_compute *c, const struct sm_routes *out, unsigned threads,
			 struct rt_report *r)
{
	memset(r, 0, sizeof(*r));
	if (c->stage == SM_PROVISIONAL && c->before && c->ranked && out->rank &&
	    rt_verify_change(c->fab, out->tables, out->rank, c->before))
		return true;
	return sm_worker_verify(c->fab, out->tables, out->rank, threads, r);
}

/* An engine is chosen again: other tables come only if it is another one. */
static void compare_engines(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
			    struct sm_work_done *done)
{
	struct rt_report r = {0};

	if (!sm_choice_compute(c, threads, &r, out, done))
		return;
	if (out->engine == (c->engine ? c->engine : &rt_fera)) {
		rt_tables_free(out->tables);
		out->tables = NULL;
	} else if (out->verified) {
		sm_worker_plan_tables(c, threads, &r, out);
	}
	rt_report_free(&r);
}

/*
 * Switches can hold a mixture of tables, after managers that ended in the middle of a change, and an update of it need not lead to
 * routes: then they come from scratch, over the same ranks.
 */
static bool update_fresh(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
			 struct sm_work_done *done, struct rt_report *r)
{
	struct rt_tables *t = NULL;

	if (c->supply->update && c->old && out->rank)
		t = sm_worker_fera(c, threads, out->rank, done);
	if (!t)
		return false;
	rt_tables_free(out->tables);
	out->tables = t;
	rt_report_free(r);
	return sm_worker_verify(c->fab, t, out->rank, threads, r);
}

/* Tables by the supply, or of the best engine. False: there are none. */
static bool compute(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		    struct sm_work_done *done, struct rt_report *r)
{
	const struct rt_engine *g = c->supply->engine;

	memset(r, 0, sizeof(*r));
	if (!c->supply->choose) {
		out->rank = rank_for(c, &out->settled);
		out->settled &= !c->engine;
		out->tables = tables_for(c, threads, out, done);
	}
	if (!out->tables && g && g->given)
		return sm_choice_replace(c, threads, r, out, done);
	if (!out->tables)
		return c->choose && sm_choice_compute(c, threads, r, out, done);
	if (g && !g->updown && !out->instead) {
		struct rt_opts o = sm_worker_opts(c, threads);

		free(out->rank);
		out->rank = rt_tables_ranks(g, c->fab, &o, out->tables);
	}
	out->verified = verify_stage(c, out, threads, r) || update_fresh(c, threads, out, done, r);
	if (g && g->update && !out->instead && c->stage == SM_FINAL)
		out->by = g;
	return true;
}

/* Default ports are not written into the tables yet. */
static void trees(const struct sm_compute *c, struct sm_routes *out)
{
	struct rt_mchange change = {.f = c->fab,
				    .was = c->old,
				    .t = out->tables,
				    .rank = out->tables->lanes ? NULL : out->rank,
				    .plan = c->plan && !out->unplanned ? &out->plan : NULL,
				    .off = c->off};

	if (!out->tables->dflt)
		out->trees = sm_trees_run(c->trees, c->data_fab, &change);
}

/* Routes of an engine that failed verification: another one serves. */
static void replace_unverified(const struct sm_compute *c, unsigned threads, struct rt_report *r,
			       struct sm_routes *out, struct sm_work_done *done)
{
	const struct rt_engine *g = c->supply->engine;

	if (out->verified || !g || !g->lanes || out->instead)
		return;
	if (!g->given) {
		out->verified = sm_lanes_replace(c, threads, r, out);
		return;
	}
	snprintf(out->why, sizeof(out->why), "its tables failed verification: %.110s",
		 r->nproblems ? r->problem[0] : "?");
	rt_report_free(r);
	rt_tables_free(out->tables);
	out->tables = NULL;
	out->verified = sm_choice_replace(c, threads, r, out, done) && out->verified;
}

/* Other settings that lead to the tables which are there. */
static bool is_in_force(const struct sm_compute *c, const struct sm_routes *out)
{
	const struct rt_tables *t = out->tables;

	return c->old && !c->old->lanes && !t->lanes && !out->legs.n &&
	       c->old->stride == t->stride && sm_worker_is_found(c, t);
}

static void drop_tables(struct sm_routes *out)
{
	rt_tables_free(out->tables);
	out->tables = NULL;
	free(out->rank);
	out->rank = NULL;
	rt_plan_free(&out->plan);
	out->plan = (struct rt_plan){0};
}

void sm_compute_run(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		    struct sm_work_done *done)
{
	struct rt_report r;

	*out = (struct sm_routes){.epoch = c->epoch};
	*done = (struct sm_work_done){0};
	if (c->defragment) {
		out->vms = sm_defragment_run(c, done);
		return;
	}
	if (c->advise) {
		sm_advise(c, threads, &out->advice);
		return;
	}
	if (c->compare) {
		(c->supply->choose ? compare_engines
		 : c->ref	   ? sm_compare_reference
				   : sm_worker_compare)(c, threads, out, done);
		out->epoch = c->epoch;
		return;
	}
	if (sm_reroute(c, threads, out, done))
		r = (struct rt_report){0};
	else if (!compute(c, threads, out, done, &r))
		return;
	replace_unverified(c, threads, &r, out, done);
	if (out->verified && out->rank && sm_worker_is_final_update(c))
		sm_worker_compare_fresh(c, threads, &r, out, done);
	if (out->verified && out->rank)
		sm_worker_drop_stale(c, out);
	if (out->verified)
		sm_worker_plan_tables(c, threads, &r, out);
	if (out->verified && c->alive && c->before && out->rank)
		sm_worker_plan_alive(c, threads, out);
	if (out->verified && c->wished && is_in_force(c, out))
		drop_tables(out);
	else if (out->verified && c->trees)
		trees(c, out);
	rt_report_free(&r);
}
