/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms report about routes: the tables in force, those before them, and which stage is in
 * place. State: struct sm_routing. Does not ask for any.
 */
#include "sm/manager.h"

void sm_routes_round(struct sm *sm)
{
	sm->routes.staged = sm->routes.settled = false;
	sm->routes.stage = SM_FINAL;
	rt_legs_free(&sm->routes.legs);
	sm->routes.leg = 0;
}

bool sm_routes_more(const struct sm *sm)
{
	return sm->routes.leg < sm->routes.legs.n;
}

void sm_routes_staged(struct sm *sm, bool staged)
{
	sm->routes.staged = staged;
}

void sm_routes_exit(struct sm *sm)
{
	struct sm_routing *x = &sm->routes;

	sm_retired_all(sm);
	sm_reference_drop(sm);
	sm_routes_forget(sm);
	sm_sls_forget(sm);
	sm_wishes_free(sm);
	sm_retire_task(sm, x->task);
	rt_tables_free(x->tables);
	rt_plan_free(&x->plan);
	rt_legs_free(&x->legs);
	free(x->rank);
}

/*
 * The snapshot is replaced. The next tables can be made from its tables, if they were all in
 * force.
 */
void sm_routes_of_old(struct sm *sm, struct fab *old, bool in_force)
{
	struct sm_routing *x = &sm->routes;

	sm_balance_reset(sm);
	if (x->tables)
		x->lanes_before = x->tables->lanes ? SM_LANES_SEVERAL : SM_LANES_ONE;
	if ((sm_final_routes(sm)->update || x->ref.engine) && in_force && old && x->tables &&
	    x->rank && !x->tables->lanes) {
		sm_routes_forget(sm);
		x->prev_fab = old;
		x->prev_tables = x->tables;
		x->prev_rank = x->rank;
		x->prev_ranked = x->ranked;
	} else {
		sm_retire_tables(sm, x->tables);
		sm_retire_memory(sm, x->rank);
		sm_retire_fab(sm, old);
	}
	x->tables = NULL;
	x->rank = NULL;
}

void sm_routes_forget(struct sm *sm)
{
	struct sm_routing *x = &sm->routes;

	sm_retire_fab(sm, x->prev_fab);
	sm_retire_tables(sm, x->prev_tables);
	sm_retire_memory(sm, x->prev_rank);
	x->prev_fab = NULL;
	x->prev_tables = NULL;
	x->prev_rank = NULL;
}

bool sm_worker_reads(const struct sm *sm)
{
	return sm->routes.answered < sm->routes.request_id;
}

bool sm_inputs_unused(const struct sm *sm, const struct sm_inputs *in)
{
	return sm->cfg.inputs != in && !(sm->core.has_wanted && sm->core.wanted.inputs == in) &&
	       !sm_worker_reads(sm);
}

void sm_snapshot_is_own(struct sm *sm)
{
	sm->routes.own_fab = sm->routes.request_id;
}

struct rt_tables *sm_tables_writable(struct sm *sm)
{
	struct sm_routing *x = &sm->routes;
	struct rt_tables *copy;

	if (!sm_worker_reads(sm) || x->own_tables == x->request_id)
		return x->tables;
	x->own_tables = x->request_id;
	copy = rt_tables_carry(sm->topo.fab, x->tables, sm->topo.fab);
	sm_retire_tables(sm, x->tables);
	x->tables = copy;
	return copy;
}
