/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other routes for VMs as the worker finds them: computed there, taken over, dropped when they do not fit any more. State:
 * defragmenting of struct sm_virtual. Does not request them: see defragmentation.c.
 */
#include "sm/manager.h"

/* ---- the worker ---- */

struct sm_defragmented *sm_defragment_run(const struct sm_compute *c, struct sm_work_done *done)
{
	struct rt_defragment_opts o = {.rank = c->old_rank,
				       .even = c->even,
				       .threads = 1,
				       .stop = c->stop,
				       .ctx = c->stop_ctx};
	struct sm_defragmented *x = mem_zalloc(sizeof(*x));

	x->rc = rt_defragment(c->fab, c->old, &o, &x->found, &x->err);
	*done = (struct sm_work_done){&rt_fera.cost, c->fab->nswitches,
				      (uint64_t)c->fab->nswitches * c->fab->nvlids};
	if (x->rc != -ECANCELED)
		return x;
	sm_defragmented_free(x);
	return NULL;
}

void sm_defragmented_free(struct sm_defragmented *x)
{
	if (x)
		rt_defragment_free(&x->found);
	free(x);
}

/* ---- the answer ---- */

bool sm_defragment_answer(struct sm *sm, struct sm_routes *r)
{
	struct sm_defragmenting *d = &sm->virtual.defragmenting;

	if (!d->id || r->epoch != d->id)
		return false;
	d->id = 0;
	d->to = r->vms;
	return true;
}

void sm_defragment_drop(struct sm *sm)
{
	struct sm_defragmenting *d = &sm->virtual.defragmenting;

	sm_defragmented_free(d->to);
	free(d->other);
	*d = (struct sm_defragmenting){0};
}

void sm_defragment_moved(struct sm *sm, const rt_move_entries *e)
{
	struct sm_defragmenting *d = &sm->virtual.defragmenting;

	if (!d->id && !d->to)
		return;
	if (!d->other)
		d->other = mem_zarray(IBA_LID_MAX_UNICAST + 1u, 1);
	for (size_t i = 0; i < e->n; i++)
		d->other[e->at[i].lid] = 1;
}
