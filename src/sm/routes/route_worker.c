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

struct rt_opts sm_worker_opts(const struct sm_compute *c, unsigned threads)
{
	return (struct rt_opts){.root = c->root,
				.roots = c->roots,
				.nroots = c->nroots,
				.group = c->group,
				.given = c->given,
				.threads = threads};
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

/* The engine that a supply stands for: an update continues the routes of the final one. */
static const struct rt_engine *engine_of(const struct sm_compute *c)
{
	const struct rt_engine *g = c->supply->engine ? c->supply->engine : c->engine;

	return g ? g : &rt_fera;
}

/* Ranks as the engine has them, and as the root gives them where it has none or cannot route this fabric. */
static bool own_ranks(const struct sm_compute *c, uint64_t *rank)
{
	const struct rt_engine *g = engine_of(c);
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
	const struct rt_engine *g = engine_of(c);
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

static bool verify(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		   unsigned threads, struct rt_report *r)
{
	struct rt_verify_opts o = {.threads = threads, .rank = rank};

	memset(r, 0, sizeof(*r));
	return rt_verify(f, t, &o, r, NULL) == 0 && r->ok;
}

/*
 * Link directions carried over a change are seldom those of a fresh start, but the routes can be
 * as short and as even; then no table need change. In twentieths: how many hops there may be in
 * all and how much load a link may carry, where a change of tables costs nothing, and where it
 * would cost packets.
 */
struct worth {
	unsigned hops, load;
};

static const struct worth as_it_should_be = {20, 21}, it_will_do = {21, 25};
/* More tolerant than the limits above: the next SM must not change what this one left. */
static const struct worth may_stay = {SM_STAY_HOPS, SM_STAY_LOAD};

static bool may_keep(const struct sm_compute *c)
{
	if (c->stage != SM_FINAL || !c->supply->update || !c->old || !c->old_rank || c->old->lanes)
		return false;
	for (uint32_t s = 0; s < c->fab->nswitches; s++)
		if (c->old_rank[s] == UINT64_MAX)
			return false;
	return true;
}

static bool as_good(const struct rt_report *old, const struct rt_report *new, struct worth w)
{
	return old->ok && 20 * old->hops_sum <= w.hops * new->hops_sum &&
	       20 * old->link_load_max <= w.load *new->link_load_max;
}

/* Links that carry data count, as in a plan. */
static uint32_t drop_stale(const struct sm_compute *c, struct sm_routes *out)
{
	return rt_drop_stale(c->data_fab ? c->data_fab : c->fab, out->tables, out->rank);
}

static void take_old(const struct sm_compute *c, struct sm_routes *out)
{
	memcpy(out->tables->lft, c->old->lft, (size_t)c->old->nswitches * c->old->stride);
	memcpy(out->rank, c->old_rank, c->fab->nswitches * sizeof(*out->rank));
	rt_plan_free(&out->plan);
	out->plan =
		(struct rt_plan){.kind = drop_stale(c, out) ? RT_PLAN_ANY_ORDER : RT_PLAN_NOTHING};
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

/* Whether all entries of assigned LIDs are in the switches. */
static bool is_found(const struct sm_compute *c, const struct rt_tables *t)
{
	for (size_t i = 0; i < (size_t)t->nswitches * t->stride; i++)
		if (t->lft[i] != IBA_PORT_NONE && t->lft[i] != c->old->lft[i])
			return false;
	return true;
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

	if (engine_of(c)->given) /* those of the file, no others */
		return false;
	keep = ranked = verify(c->fab, c->old, out->rank, threads, &old);
	if (!ranked) {
		rt_report_free(&old);
		keep = verify(c->fab, c->old, NULL, threads, &old);
	}
	keep = keep && (c->own || as_good(&old, new, may_stay));
	rt_report_free(&old);
	if (!keep)
		return false;
	if (!ranked || !is_found(c, out->tables))
		out->by = NULL;
	out->plan = (struct rt_plan){.kind = stay(c, out->tables) ? RT_PLAN_ANY_ORDER
								  : RT_PLAN_NOTHING};
	if (!ranked) {
		free(out->rank);
		out->rank = NULL;
	}
	return true;
}

/* ---- as even as from scratch ---- */

/* FERa's tables over these ranks, from scratch; NULL: there are none. */
static struct rt_tables *fera_over(const struct sm_compute *c, unsigned threads,
				   const uint64_t *rank, struct sm_work_done *done)
{
	struct rt_opts o = {.root = c->root, .threads = threads, .rank = rank};
	struct rt_tables *t = NULL;
	struct err e;

	if (rt_compute(&rt_fera, c->fab, &o, &t, &e))
		return NULL;
	if (done)
		*done = (struct sm_work_done){&rt_fera.cost, c->fab->nswitches, t->entries};
	rt_tables_fill(t);
	return t;
}

static bool is_final_update(const struct sm_compute *c)
{
	return c->stage == SM_FINAL && c->supply->update && c->old && !c->found;
}

/*
 * An update keeps what is still among the best, and each of many updates can leave links a little less even.
 * So final routes are measured by those that a computation from scratch gives over the same ranks, and
 * replaced by them where they fall behind. `new` becomes the report on the latter.
 */
static void compare_fresh(const struct sm_compute *c, unsigned threads, struct rt_report *new,
			  struct sm_routes *out, struct sm_work_done *done)
{
	struct rt_tables *t = fera_over(c, threads, out->rank, done);
	struct rt_report fresh;

	if (!t)
		return;
	if (!verify(c->fab, t, out->rank, threads, &fresh)) {
		rt_report_free(&fresh);
		rt_tables_free(t);
		return;
	}
	if (!as_good(new, &fresh, as_it_should_be)) {
		struct rt_tables *uneven = out->tables;

		out->tables = t;
		t = uneven;
	}
	rt_tables_free(t);
	rt_report_free(new);
	*new = fresh;
}

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
	struct rt_tables *t = fera_over(c, threads, c->old_rank, NULL);
	struct rt_plan p = {0};
	struct rt_report r;
	bool take;

	if (!t)
		return;
	take = verify(c->fab, t, c->old_rank, threads, &r) && as_good(&r, new, it_will_do) &&
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

/*
 * Turns in use must be disabled for new directions, and packets that take them are lost. Over tables between
 * old and new ones none is.
 */
static void take_detour(const struct sm_compute *c, unsigned threads, struct sm_routes *out)
{
	bool ok = c->detour && !c->off->n &&
		  rt_detour(c->fab, c->old, c->old_rank, out->tables, out->rank, &out->legs);

	for (size_t i = 0; ok && i + 1 < out->legs.n; i++) {
		struct rt_report r;

		ok = verify(c->fab, out->legs.at[i].tables, out->legs.at[i].rank, threads, &r);
		rt_report_free(&r);
	}
	if (ok)
		legs_begin(out);
	else
		rt_legs_free(&out->legs);
}

/* The plan from old to new, or the decision to keep the old tables. */
static void plan(const struct sm_compute *c, unsigned threads, const struct rt_report *new,
		 struct sm_routes *out)
{
	struct rt_report old = {0};

	if (sm_lanes_plan(c, threads, new, out))
		return;
	if (c->found && keep_found(c, threads, new, out))
		return;
	if (may_keep(c))
		verify(c->fab, c->old, c->old_rank, threads, &old);
	if (as_good(&old, new, as_it_should_be)) {
		take_old(c, out);
	} else if (c->plan && c->old) {
		out->verified = sm_worker_plan(c, threads, out->tables, out->rank, &out->plan);
		if (out->verified && out->plan.kind == RT_PLAN_TURNS) {
			if (as_good(&old, new, it_will_do))
				take_old(c, out);
			else if (may_keep(c))
				take_kept_directions(c, threads, new, out);
			if (old.ok && out->plan.turns_in_use)
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

static void plan_alive(const struct sm_compute *c, unsigned threads, struct sm_routes *out)
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

/* Provisional routes are urgent, and their quality does not matter. */
static bool verify_stage(const struct sm_compute *c, const struct sm_routes *out, unsigned threads,
			 struct rt_report *r)
{
	memset(r, 0, sizeof(*r));
	if (c->stage == SM_PROVISIONAL && c->before && c->ranked && out->rank &&
	    rt_verify_change(c->fab, out->tables, out->rank, c->before))
		return true;
	return verify(c->fab, out->tables, out->rank, threads, r);
}

/* ---- a repair that stays ---- */

/*
 * Repaired routes over the directions of a fresh start are compared with routes from scratch. Those come only if the
 * repair is clearly worse: tables cost SMPs, and each repair is compared.
 */
static void compare(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		    struct sm_work_done *done)
{
	struct rt_report old = {0}, fresh = {0};

	out->tables = may_keep(c) ? fera_over(c, threads, c->old_rank, done) : NULL;
	if (!out->tables)
		return;
	out->rank = mem_array(c->fab->nswitches, sizeof(*out->rank));
	memcpy(out->rank, c->old_rank, c->fab->nswitches * sizeof(*out->rank));
	verify(c->fab, c->old, c->old_rank, threads, &old);
	out->verified = verify(c->fab, out->tables, out->rank, threads, &fresh) &&
			!as_good(&old, &fresh, it_will_do);
	if (out->verified && c->plan)
		out->verified = sm_worker_plan(c, threads, out->tables, out->rank, &out->plan);
	rt_report_free(&old);
	rt_report_free(&fresh);
	if (!out->verified)
		sm_routes_free(out);
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
		plan(c, threads, &r, out);
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
		t = fera_over(c, threads, out->rank, done);
	if (!t)
		return false;
	rt_tables_free(out->tables);
	out->tables = t;
	rt_report_free(r);
	return verify(c->fab, t, out->rank, threads, r);
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
	       c->old->stride == t->stride && is_found(c, t);
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
				   : compare)(c, threads, out, done);
		out->epoch = c->epoch;
		return;
	}
	if (sm_reroute(c, threads, out, done))
		r = (struct rt_report){0};
	else if (!compute(c, threads, out, done, &r))
		return;
	replace_unverified(c, threads, &r, out, done);
	if (out->verified && out->rank && is_final_update(c))
		compare_fresh(c, threads, &r, out, done);
	if (out->verified && out->rank)
		drop_stale(c, out);
	if (out->verified)
		plan(c, threads, &r, out);
	if (out->verified && c->alive && c->before && out->rank)
		plan_alive(c, threads, out);
	if (out->verified && c->wished && is_in_force(c, out))
		drop_tables(out);
	else if (out->verified && c->trees)
		trees(c, out);
	rt_report_free(&r);
}
