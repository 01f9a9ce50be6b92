/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference: the last tables that an engine computed from scratch, with their snapshot and ranks. Routes after a
 * failure are made from it, so that few entries change, and when the failure is gone the tables are those of the reference
 * again. State: struct sm_reference. Computes nothing: reference_worker.c does.
 *
 * Tables in force that are those of the reference are the same memory. deferred_free.c frees nothing that the reference
 * holds; what it holds alone is freed when another one replaces it.
 */
#include "sm/manager.h"

bool sm_reference_holds(const struct sm *sm, const void *p)
{
	const struct sm_reference *r = &sm->routes.ref;

	return p && (p == r->fab || p == r->tables || p == r->rank);
}

/* Whether another owner has it as well, who frees it. */
static bool is_shared(const struct sm *sm, const void *p)
{
	const struct sm_routing *x = &sm->routes;

	return p == sm->topo.fab || p == x->prev_fab || p == x->tables || p == x->prev_tables ||
	       p == x->rank || p == x->prev_rank;
}

void sm_reference_drop(struct sm *sm)
{
	struct sm_reference was = sm->routes.ref;

	sm->routes.ref = (struct sm_reference){0};
	if (!is_shared(sm, was.fab))
		sm_retire_fab(sm, was.fab);
	if (!is_shared(sm, was.tables))
		sm_retire_tables(sm, was.tables);
	if (!is_shared(sm, was.rank))
		sm_retire_memory(sm, was.rank);
}

void sm_reference_take(struct sm *sm, const struct rt_engine *by)
{
	sm_reference_drop(sm);
	sm->routes.ref =
		(struct sm_reference){by, sm->topo.fab, sm->routes.tables, sm->routes.rank};
}

const struct rt_engine *sm_reference_in_force(struct sm *sm)
{
	const struct sm_reference *r = &sm->routes.ref;

	if (r->engine && r->fab == sm->topo.fab && r->tables == sm->routes.tables)
		return r->engine;
	if (sm_reference_holds(sm, sm->topo.fab) || sm_reference_holds(sm, sm->routes.tables))
		sm_reference_drop(sm);
	return NULL;
}

bool sm_reference_tell(const struct sm *sm, struct sm_task *j, struct sm_compute *c)
{
	const struct sm_reference *r = &sm->routes.ref;

	if (!r->engine || !sm->cfg.mechanism.provisional->keep ||
	    sm_final_routes(sm)->engine != r->engine)
		return false;
	j->ref = (struct rt_before){r->fab, r->rank, r->tables};
	c->ref = &j->ref;
	c->ref_engine = r->engine;
	return true;
}

void sm_reference_reconfigured(struct sm *sm, const struct sm_config *old)
{
	uint64_t now = sm->cfg.inputs ? sm->cfg.inputs->number : 0;

	if (sm->cfg.mechanism.routes != old->mechanism.routes ||
	    now != (old->inputs ? old->inputs->number : 0))
		sm_reference_drop(sm);
}
