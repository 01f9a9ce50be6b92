/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side: the plan from the tables in the switches to new ones, or the decision that the former stay. Keeps no state; the
 * ways in are sm_worker_plan_tables(), sm_worker_plan() and sm_worker_plan_alive(). Computes no tables but those between old and new.
 */
#include "sm/routes/worker.h"

/* More tolerant than the limits above: the next SM must not change what this one left. */
static const struct sm_worth may_stay = {SM_STAY_HOPS, SM_STAY_LOAD};

static void take_old(const struct sm_compute *c, struct sm_routes *out)
{
	memcpy(out->tables->lft, c->old->lft, (size_t)c->old->nswitches * c->old->stride);
	memcpy(out->rank, c->old_rank, c->fab->nswitches * sizeof(*out->rank));
	rt_plan_free(&out->plan);
	out->plan = (struct rt_plan){.kind = sm_worker_drop_stale(c, out) ? RT_PLAN_ANY_ORDER
									  : RT_PLAN_NOTHING};
}

/*
 * Takes the tables in the switches instead of the computed ones, except for unassigned LIDs:
 * those were not verified, and their entries may be a mixture of tables. Returns whether there
 * are any.
 */
static bool stay(const struct sm_compute *c, struct rt_tables *t)
{
	bool any = false;

	for (size_t i = 0; i < (size_t)t->nswitches * t->stride; i++) {
		if (t->lft[i] == IBA_PORT_NONE)
			any |= c->old->lft[i] != IBA_PORT_NONE;
		else
			t->lft[i] = c->old->lft[i];
	}
	return any;
}

/*
 * Tables found in the switches stay if they connect every pair without a deadlock, and not by
 * much longer routes; those that a manager like this one made for this subnet were judged then. Repairs need ranks; if these tables do not obey the ranks that the SM would
 * choose, there are no repairs until the next change.
 */
static bool keep_found(const struct sm_compute *c, unsigned threads, const struct rt_report *new,
		       struct sm_routes *out)
{
	struct rt_report old;
	bool ranked, keep;

	if (sm_worker_engine(c)->given) /* those of the file, no others */
		return false;
	keep = ranked = sm_worker_verify(c->fab, c->old, out->rank, threads, &old);
	if (!ranked) {
		rt_report_free(&old);
		keep = sm_worker_verify(c->fab, c->old, NULL, threads, &old);
	}
	keep = keep && (c->own || sm_worker_as_good(&old, new, may_stay));
	rt_report_free(&old);
	if (!keep)
		return false;
	if (!ranked || !sm_worker_is_found(c, out->tables))
		out->by = NULL;
	out->plan = (struct rt_plan){.kind = stay(c, out->tables) ? RT_PLAN_ANY_ORDER
								  : RT_PLAN_NOTHING};
	if (!ranked) {
		free(out->rank);
		out->rank = NULL;
	}
	return true;
}

/* ---- plans ---- */

bool sm_worker_plan(const struct sm_compute *c, unsigned threads, const struct rt_tables *t,
		    const uint64_t *rank, struct rt_plan *p)
{
	struct err e;

	/* t was verified with these ranks */
	if (c->before && c->ranked && rank && !c->data_fab && (!c->off || !c->off->n) &&
	    rt_plan_change(c->fab, c->old, t, rank, c->before, p))
		return true;
	return !rt_plan(c->data_fab ? c->data_fab : c->fab, c->old, t, rank, c->off, threads, p,
			&e);
}

/*
 * Turns must be disabled for new directions, and packets that take them are lost. Even routes over the directions
 * in use cost none: if they are nearly as good they are taken instead.
 */
static void take_kept_directions(const struct sm_compute *c, unsigned threads,
				 const struct rt_report *new, struct sm_routes *out)
{
	struct rt_tables *t = sm_worker_fera(c, threads, c->old_rank, NULL);
	struct rt_plan p = {0};
	struct rt_report r;
	bool take;

	if (!t)
		return;
	take = sm_worker_verify(c->fab, t, c->old_rank, threads, &r) &&
	       sm_worker_as_good(&r, new, sm_it_will_do) &&
	       sm_worker_plan(c, threads, t, c->old_rank, &p) && p.kind != RT_PLAN_TURNS;
	rt_report_free(&r);
	if (take) {
		struct rt_tables *other = out->tables;

		out->tables = t;
		t = other;
		memcpy(out->rank, c->old_rank, c->fab->nswitches * sizeof(*out->rank));
		rt_plan_free(&out->plan);
		out->plan = p;
		p = (struct rt_plan){0};
	}
	rt_tables_free(t);
	rt_plan_free(&p);
}

/* The tables between, one after another, instead of those asked for, which come last. */
static void legs_begin(struct sm_routes *out)
{
	struct rt_leg first = out->legs.at[0], *last = &out->legs.at[out->legs.n - 1];

	last->tables = out->tables;
	rt_plan_free(&out->plan);
	free(out->rank);
	out->tables = first.tables;
	out->rank = first.rank;
	out->plan = first.plan;
	memmove(out->legs.at, out->legs.at + 1, --out->legs.n * sizeof(first));
}

/* Whether no old entry leads over a link that only plans count: then nothing crosses it. */
static bool is_spared(const struct sm_compute *c)
{
	for (port_id p = 0; c->data_fab && p < c->fab->nports; p++) {
		const struct fab_port *x = &c->fab->ports[p];
		const uint8_t *row;

		if (x->peer != FAB_NONE || c->data_fab->ports[p].peer == FAB_NONE)
			continue;
		row = rt_row(c->old, c->fab->switch_index[x->node]);
		for (uint32_t lid = 1; lid <= c->old->top_lid; lid++)
			if (row[lid] == x->num)
				return false;
	}
	return true;
}

/*
 * Turns in use must be disabled for new directions, and packets that take them are lost. Over tables between
 * old and new ones none is.
 */
static void take_detour(const struct sm_compute *c, unsigned threads, struct sm_routes *out)
{
	const struct fab *f = is_spared(c) ? c->fab : c->data_fab;
	bool ok = c->detour && !c->off->n &&
		  rt_detour(f, c->old, c->old_rank, out->tables, out->rank, &out->legs);

	for (size_t i = 0; ok && i + 1 < out->legs.n; i++) {
		struct rt_report r;

		ok = sm_worker_verify(f, out->legs.at[i].tables, out->legs.at[i].rank, threads, &r);
		rt_report_free(&r);
	}
	if (ok)
		legs_begin(out);
	else
		rt_legs_free(&out->legs);
}

/* Whether old tables serve as long as links are in use that are isolated: then there is time for a detour. */
static bool serves(const struct sm_compute *c, unsigned threads)
{
	struct rt_report r;
	bool ok = c->detour && c->data_fab && c->old_rank && !c->old->lanes;

	for (uint32_t s = 0; ok && s < c->fab->nswitches; s++)
		ok = c->old_rank[s] != UINT64_MAX;
	if (!ok)
		return false;
	ok = sm_worker_verify(c->data_fab, c->old, c->old_rank, threads, &r);
	rt_report_free(&r);
	return ok;
}

/* The plan from old to new, or the decision to keep the old tables. */
void sm_worker_plan_tables(const struct sm_compute *c, unsigned threads,
			   const struct rt_report *new, struct sm_routes *out)
{
	struct rt_report old = {0};

	if (sm_lanes_plan(c, threads, new, out))
		return;
	if (c->found && keep_found(c, threads, new, out))
		return;
	if (sm_worker_may_keep(c))
		sm_worker_verify(c->fab, c->old, c->old_rank, threads, &old);
	if (sm_worker_as_good(&old, new, sm_as_it_should_be)) {
		take_old(c, out);
	} else if (c->plan && c->old) {
		out->verified = sm_worker_plan(c, threads, out->tables, out->rank, &out->plan);
		if (out->verified && out->plan.kind == RT_PLAN_TURNS) {
			if (sm_worker_as_good(&old, new, sm_it_will_do))
				take_old(c, out);
			else if (sm_worker_may_keep(c))
				take_kept_directions(c, threads, new, out);
			if (out->plan.turns_in_use && (old.ok || serves(c, threads)))
				take_detour(c, threads, out);
		}
	}
	rt_report_free(&old);
}

/* ---- a plan that does not rely on the failure ---- */

/* The new tables over the snapshot before the failure: switches that it takes away keep their rows. */
static struct rt_tables *tables_alive(const struct sm_compute *c, const struct sm_routes *out,
				      uint64_t *rank)
{
	const struct fab *f = c->before->f;
	struct rt_tables *t = rt_tables_carry(c->fab, out->tables, f);

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = fab_node_by_guid(c->fab, f->nodes[f->switches[s]].guid);

		rank[s] = n == FAB_NONE ? c->before->rank[s] : out->rank[c->fab->switch_index[n]];
		if (n == FAB_NONE)
			memcpy(rt_row(t, s), rt_row(c->before->t, s),
			       MIN(t->stride, c->before->t->stride));
	}
	return t;
}

/* Turns with the switch numbers of the request's fabric; false: one is at a switch that it has not. */
static bool turns_translate(const struct sm_compute *c, rt_turns *turns)
{
	const struct fab *f = c->before->f;

	for (size_t i = 0; i < turns->n; i++) {
		node_id n = fab_node_by_guid(c->fab, f->nodes[f->switches[turns->at[i].sw]].guid);

		if (n == FAB_NONE)
			return false;
		turns->at[i].sw = c->fab->switch_index[n];
	}
	return true;
}

void sm_worker_plan_alive(const struct sm_compute *c, unsigned threads, struct sm_routes *out)
{
	uint64_t *rank = mem_array(c->before->f->nswitches, sizeof(*rank));
	struct rt_tables *t = tables_alive(c, out, rank);
	struct err e;

	out->alive_holds =
		!rt_plan(c->before->f, c->before->t, t, rank, NULL, threads, &out->alive, &e) &&
		turns_translate(c, &out->alive.turns);
	rt_tables_free(t);
	free(rank);
}
