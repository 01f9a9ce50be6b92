/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a worker may still read: routes are computed while the SM goes on, and what a
 * request points to stays until it is answered. State: routes.retired. Does not know when a
 * worker is done: answers show it.
 */
#include "sm/manager.h"

static void retire(struct sm *sm, void (*fn)(void *), void *p)
{
	if (!p || sm_reference_holds(sm, p))
		return;
	if (sm->routes.request_id <= sm->routes.answered)
		fn(p);
	else
		vec_push(&sm->routes.retired, (struct sm_retired){sm->routes.request_id, fn, p});
}

static void free_fab(void *p)
{
	fab_free(p);
}

static void free_tables(void *p)
{
	rt_tables_free(p);
}

static void free_task(void *p)
{
	struct sm_task *j = p;

	fab_free(j->fab);
	if (j->old != j->before.t)
		rt_tables_free(j->old);
	free(j->old_rank);
	vec_free(&j->off);
	sm_trees_task_free(j->trees);
	free(j);
}

void sm_retire_fab(struct sm *sm, struct fab *f)
{
	retire(sm, free_fab, f);
}

void sm_retire_tables(struct sm *sm, struct rt_tables *t)
{
	retire(sm, free_tables, t);
}

void sm_retire_memory(struct sm *sm, void *p)
{
	retire(sm, free, p);
}

void sm_retire_task(struct sm *sm, struct sm_task *j)
{
	retire(sm, free_task, j);
}

void sm_retired_free(struct sm *sm, uint32_t answered)
{
	size_t kept = 0;

	sm->routes.answered = MAX(sm->routes.answered, MIN(answered, sm->routes.request_id));
	for (size_t i = 0; i < sm->routes.retired.n; i++) {
		struct sm_retired r = sm->routes.retired.at[i];

		if (r.until <= sm->routes.answered)
			r.free(r.p);
		else
			sm->routes.retired.at[kept++] = r;
	}
	sm->routes.retired.n = kept;
}

/* No worker computes for this SM any more. */
void sm_retired_all(struct sm *sm)
{
	sm->routes.answered = sm->routes.request_id;
	sm_retired_free(sm, sm->routes.request_id);
	vec_free(&sm->routes.retired);
}
