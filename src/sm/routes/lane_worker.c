/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans for routes with several lanes: to such tables, and from them to others. Keeps no state; the way in is
 * sm_lanes_plan(). Such routes obey no link directions, so turns that a plan could disable are not known. Where old
 * and new tables may deadlock together in every order, the answer says so, and the manager disables all turns of some
 * up/down graph while tables change: what is left of any mixture has no cycle, on any VL.
 */
#include "sm/routes/worker.h"

/* Every entry of an assigned LID, and every SL-to-VL table between two linked switch ports. */
static bool same_entries(const struct rt_tables *old, const struct rt_tables *t)
{
	if (old->stride != t->stride)
		return false;
	for (size_t i = 0; i < (size_t)t->nswitches * t->stride; i++)
		if (t->lft[i] != IBA_PORT_NONE && t->lft[i] != old->lft[i])
			return false;
	return true;
}

static bool is_linked(const struct fab *f, node_id n, unsigned port)
{
	return f->ports[fab_port_id(f, n, port)].peer != FAB_NONE;
}

static bool same_maps(const struct fab *f, const struct rt_tables *old, const struct rt_tables *t,
		      uint32_t sw)
{
	node_id n = f->switches[sw];

	for (unsigned in = 0; in <= f->nodes[n].nports; in++)
		for (unsigned out = 1; out <= f->nodes[n].nports; out++) {
			port_id peer = f->ports[fab_port_id(f, n, out)].peer;

			if (peer == FAB_NONE || !fab_is_switch(f, f->ports[peer].node) ||
			    (in && !is_linked(f, n, in)))
				continue;
			for (unsigned sl = 0; sl < RT_SLS; sl++)
				if (rt_vl(old, sw, in, out, sl) != rt_vl(t, sw, in, out, sl))
					return false;
		}
	return true;
}

/* The switches hold these very tables: a manager like this one computed them, and hosts have its service levels. */
static bool is_in_place(const struct sm_compute *c, const struct rt_tables *t)
{
	if (!c->old->lanes || !t->lanes || !same_entries(c->old, t))
		return false;
	for (uint32_t s = 0; s < c->fab->nswitches; s++)
		if (!same_maps(c->fab, c->old, t, s))
			return false;
	return true;
}

static bool same_sls(const struct fab *f, const struct rt_tables *old, const struct rt_tables *t,
		     uint32_t sw)
{
	node_id n = f->switches[sw];

	for (unsigned in = 1; in <= f->nodes[n].nports; in++) {
		port_id peer = f->ports[fab_port_id(f, n, in)].peer;

		if (peer == FAB_NONE || fab_is_switch(f, f->ports[peer].node))
			continue;
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			if (rt_row(t, sw)[lid] != IBA_PORT_NONE &&
			    rt_sl(old, sw, in, lid) != rt_sl(t, sw, in, lid))
				return false;
	}
	return true;
}

/* What the switches hold and the hosts use are these very tables: they may be the reference. */
static bool is_known(const struct sm_compute *c, const struct rt_tables *old,
		     const struct rt_tables *t)
{
	if (!old->lanes != !t->lanes || !same_entries(old, t))
		return false;
	for (uint32_t s = 0; t->lanes && s < c->fab->nswitches; s++)
		if (!same_maps(c->fab, old, t, s) || !same_sls(c->fab, old, t, s))
			return false;
	return true;
}

/* Entries of unassigned LIDs go: they may be a mixture of tables. */
static bool drop_unassigned(const struct rt_tables *t, struct rt_tables *kept)
{
	bool any = false;

	for (size_t i = 0; i < (size_t)t->nswitches * t->stride; i++)
		if (t->lft[i] == IBA_PORT_NONE && kept->lft[i] != IBA_PORT_NONE) {
			kept->lft[i] = IBA_PORT_NONE;
			any = true;
		}
	return any;
}

static bool has_sls(const struct rt_tables *t)
{
	return t->lanes && t->lanes->nrows > 1;
}

static bool may_stay(const struct rt_report *old, const struct rt_report *new)
{
	return 20 * old->hops_sum <= SM_STAY_HOPS * new->hops_sum &&
	       20 * old->link_load_max <= SM_STAY_LOAD *new->link_load_max;
}

/*
 * What is in the switches stays if it is right and either a manager like this one made it for this very subnet, or it is
 * not much worse than new tables.
 */
static bool keep_known(const struct sm_compute *c, unsigned threads, const struct rt_report *new,
		       struct sm_routes *out)
{
	struct rt_verify_opts o = {.threads = threads};
	struct rt_tables old = *c->old, *kept;
	struct rt_report r = {0};
	bool ok;

	if (!has_sls(c->old)) /* SL 0 for all, whatever its VL */
		old.lanes = NULL;
	if ((c->supply->engine && c->supply->engine->given && !out->instead) || !c->sls_known ||
	    (old.lanes && c->maps_in_doubt) || old.stride != out->tables->stride ||
	    rt_nvls(&old) > MAX(c->lanes, 1u))
		return false;
	ok = !rt_verify(c->fab, &old, &o, &r, NULL) && r.ok && (c->own || may_stay(&r, new));
	rt_report_free(&r);
	if (!ok)
		return false;
	if (!is_known(c, &old, out->tables))
		out->by = NULL;
	kept = rt_tables_carry(c->fab, &old, c->fab);
	if (kept->lanes)
		rt_lanes_pack(kept);
	out->plan.kind = drop_unassigned(out->tables, kept) ? RT_PLAN_ANY_ORDER : RT_PLAN_NOTHING;
	rt_tables_free(out->tables);
	out->tables = kept;
	free(out->rank);
	out->rank = NULL;
	return true;
}

/* Whether the plan disables more than half as many turns as an up/down graph forbids, which suffice for any tables at once. */
static bool costs_too_much(const struct sm_compute *c, const struct rt_plan *p)
{
	uint64_t *rank;
	rt_turns all = {0};
	bool more;

	if (!p->turns.n)
		return false;
	rank = mem_array(c->fab->nswitches, sizeof(*rank));
	rt_updown_rank_by(c->fab, c->root, c->directions, rank);
	rt_forbidden_turns(c->fab, rank, &all);
	more = 2 * p->turns.n > all.n;
	vec_free(&all);
	free(rank);
	return more;
}

/* From tables that this manager knows in every respect. */
static bool plan_known(const struct sm_compute *c, unsigned threads, struct sm_routes *out)
{
	struct sm_compute plain = *c;
	struct rt_tables old = *c->old;
	struct err e;

	if (!out->tables->lanes && !has_sls(c->old)) { /* no lane matters */
		old.lanes = NULL;
		plain.old = &old;
		return sm_worker_plan(&plain, threads, out->tables, out->rank, &out->plan);
	}
	return (!c->maps_in_doubt || !has_sls(c->old)) && (c->sls_known || !c->found) &&
	       !rt_plan_cut(c->data_fab ? c->data_fab : c->fab, c->old, out->tables, out->rank,
			    c->off, threads, &out->plan, &e) &&
	       !costs_too_much(c, &out->plan);
}

bool sm_lanes_plan(const struct sm_compute *c, unsigned threads, const struct rt_report *new,
		   struct sm_routes *out)
{
	if (out->rank && !out->tables->lanes && (!c->old || !has_sls(c->old)))
		return false;
	if (!c->plan || !c->old)
		return true;
	if (c->found && !c->sls_known && is_in_place(c, out->tables))
		return true;
	if (c->found && keep_known(c, threads, new, out))
		return true;
	if (plan_known(c, threads, out))
		return true;
	rt_plan_free(&out->plan);
	out->plan = (struct rt_plan){.kind = RT_PLAN_ANY_ORDER};
	out->unplanned = true;
	return true;
}

bool sm_lanes_replace(const struct sm_compute *c, unsigned threads, struct rt_report *r,
		      struct sm_routes *out)
{
	struct rt_opts o = {
		.root = c->root, .directions = c->directions, .ties = c->ties, .threads = threads};
	struct rt_verify_opts v = {.threads = threads};
	struct err e;

	snprintf(out->why, sizeof(out->why), "its routes failed verification: %.100s",
		 r->nproblems ? r->problem[0] : "?");
	rt_report_free(r);
	rt_tables_free(out->tables);
	out->tables = NULL;
	out->instead = &rt_fera;
	*r = (struct rt_report){0};
	if (rt_compute(&rt_fera, c->fab, &o, &out->tables, &e))
		return false;
	rt_tables_fill(out->tables);
	free(out->rank);
	out->rank = mem_array(c->fab->nswitches, sizeof(*out->rank));
	rt_updown_rank_by(c->fab, c->root, c->directions, out->rank);
	v.rank = out->rank;
	return !rt_verify(c->fab, out->tables, &v, r, &e) && r->ok;
}
