/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defragmentation: copies of routes crowd some links, and VMs that run get other routes, LIDs and places as they are. It
 * is a batch of its own: blocks of tables stage by stage, and nothing else. State: aside of struct sm_virtual. Chooses no
 * routes itself: src/route/defragment.h does.
 */
#include "route/defragment.h"
#include "sm/manager.h"

bool sm_is_defragment(const struct sm_job *j)
{
	return j->req.op == SM_VM_DEFRAGMENT;
}

static void report(struct sm_defragmentation *r, const struct rt_defragment *d)
{
	*r = (struct sm_defragmentation){.lids = d->lids,
					 .moved = d->moved,
					 .left = d->left,
					 .smps = d->smps,
					 .smps_fresh = d->smps_fresh,
					 .smps_all = d->smps_all,
					 .reached = d->reached,
					 .before = d->before,
					 .after = d->after,
					 .fresh = d->fresh};
}

static int plan(struct sm *sm, struct sm_job *j, struct rt_defragment *d, struct err *e)
{
	const struct rt_tables *t = sm->routes.tables;
	struct rt_defragment_opts o = {.rank = sm->routes.rank, .even = j->req.even, .threads = 1};

	*d = (struct rt_defragment){0};
	if (sm_batch_check(sm, e))
		return -ENOTSUP;
	if (!sm->routes.ranked || !sm->routes.rank || t->lanes)
		return err_set(e, -ENOTSUP, "the routes in force are not up*/down* routes");
	return rt_defragment(sm_data_fab(sm), t, &o, d, e);
}

/* Its entries become those of the batch. */
static void begin(struct sm *sm, struct sm_job *j, struct rt_defragment *d)
{
	struct sm_batch *b = &sm->virtual.batch;
	uint16_t *job_of = sm_batch_job_of(b);

	vec_free(&b->entries);
	vec_push(&b->jobs, *j);
	b->entries = d->entries;
	b->plan = d->plan;
	d->entries = (rt_move_entries){0};
	for (size_t i = 0; i < b->entries.n; i++)
		job_of[b->entries.at[i].lid] = 0;
	sm_batch_count(sm);
}

/* Requests that wait go first, a batch of them. */
static bool is_next(struct sm_virtual *v)
{
	bool next = v->aside.n && (v->aside_next || !v->queue.n);

	v->aside_next = v->aside.n && !next;
	return next;
}

bool sm_defragment_begin(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	struct rt_defragment d;
	struct sm_job j;
	struct err e;
	int rc;

	if (!is_next(v))
		return false;
	sm_batch_clear(sm);
	j = v->aside.at[0];
	memmove(v->aside.at, v->aside.at + 1, --v->aside.n * sizeof(j));
	rc = plan(sm, &j, &d, &e);
	report(&j.result.defragmentation, &d);
	if (rc)
		sm_job_refuse(sm, &j, rc, "%s", e.text);
	else if (j.req.dry_run || !d.entries.n)
		sm_job_done(sm, &j);
	else
		begin(sm, &j, &d);
	rt_defragment_free(&d);
	return v->batch.jobs.n;
}
