/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side: tables that are judged, and what its other files share for that. Keeps no state; the ways in are those of
 * worker.h. Decides nothing.
 */
#include "sm/routes/worker.h"

struct rt_opts sm_worker_opts(const struct sm_compute *c, unsigned threads)
{
	return (struct rt_opts){.root = c->root,
				.roots = c->roots,
				.nroots = c->nroots,
				.group = c->group,
				.given = c->given,
				.threads = threads};
}

const struct rt_engine *sm_worker_engine(const struct sm_compute *c)
{
	const struct rt_engine *g = c->supply->engine ? c->supply->engine : c->engine;

	return g ? g : &rt_fera;
}

bool sm_worker_verify(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		      unsigned threads, struct rt_report *r)
{
	struct rt_verify_opts o = {.threads = threads, .rank = rank};

	memset(r, 0, sizeof(*r));
	return rt_verify(f, t, &o, r, NULL) == 0 && r->ok;
}

struct rt_tables *sm_worker_fera(const struct sm_compute *c, unsigned threads, const uint64_t *rank,
				 struct sm_work_done *done)
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

/*
 * Link directions carried over a change are seldom those of a fresh start, but the routes can be
 * as short and as even; then no table need change. In twentieths: how many hops there may be in
 * all and how much load a link may carry, where a change of tables costs nothing, and where it
 * would cost packets.
 */
const struct sm_worth sm_as_it_should_be = {20, 21}, sm_it_will_do = {21, 25};

bool sm_worker_may_keep(const struct sm_compute *c)
{
	if (c->stage != SM_FINAL || !c->supply->update || !c->old || !c->old_rank || c->old->lanes)
		return false;
	for (uint32_t s = 0; s < c->fab->nswitches; s++)
		if (c->old_rank[s] == UINT64_MAX)
			return false;
	return true;
}

bool sm_worker_as_good(const struct rt_report *old, const struct rt_report *new, struct sm_worth w)
{
	return old->ok && 20 * old->hops_sum <= w.hops * new->hops_sum &&
	       20 * old->link_load_max <= w.load *new->link_load_max;
}

/* Links that carry data count, as in a plan. */
uint32_t sm_worker_drop_stale(const struct sm_compute *c, struct sm_routes *out)
{
	return rt_drop_stale(c->data_fab ? c->data_fab : c->fab, out->tables, out->rank);
}

/* Whether all entries of assigned LIDs are in the switches. */
bool sm_worker_is_found(const struct sm_compute *c, const struct rt_tables *t)
{
	for (size_t i = 0; i < (size_t)t->nswitches * t->stride; i++)
		if (t->lft[i] != IBA_PORT_NONE && t->lft[i] != c->old->lft[i])
			return false;
	return true;
}
