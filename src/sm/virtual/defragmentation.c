/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defragmentation: copies of routes crowd some links, and VMs that run get other routes, LIDs and places as they are. The
 * worker computes these, as it does routes, while the manager goes on; then they are a batch of its own: blocks of tables
 * and nothing else. VMs that migrate meanwhile keep the routes that they get; if the subnet changes meanwhile, the worker
 * computes again. State: aside and defragmenting of struct sm_virtual. Chooses no routes itself: src/route/defragment.h
 * does.
 */
#include "sm/manager.h"

bool sm_is_defragment(const struct sm_job *j)
{
	return j->req.op == SM_VM_DEFRAGMENT;
}

/* ---- the request ---- */

static bool is_possible(const struct sm *sm, struct err *e)
{
	if (sm_batch_check(sm, e))
		return false;
	if (sm->routes.ranked && sm->routes.rank && !sm->routes.tables->lanes)
		return true;
	err_set(e, -ENOTSUP, "the routes in force are not up*/down* routes");
	return false;
}

static bool may_ask(const struct sm *sm)
{
	struct err e;

	return sm->election.state == IBA_SM_MASTER && sm->topo.fab && sm->routes.tables &&
	       sm->core.st.rounds && !sm->core.change_pending && !sm->core.incomplete &&
	       !sm_audit_open(sm) && is_possible(sm, &e);
}

/* A request to the worker replaces one that has not begun: no other is made while this one is open, nor this one before. */
bool sm_defragment_request(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	struct sm_defragmenting *d = &v->defragmenting;

	if (d->id)
		return true;
	if (!v->aside.n || d->to || !may_ask(sm))
		return false;
	if (sm_ahead_is_open(sm) || sm_balance_is_open(sm))
		return true;
	sm_defragment_drop(sm);
	d->id = ++sm->routes.request_id;
	sm->core.out->compute = (struct sm_compute){.epoch = d->id,
						    .fab = sm_data_fab(sm),
						    .old = sm->routes.tables,
						    .old_rank = sm->routes.rank,
						    .defragment = true,
						    .even = v->aside.at[0].req.even};
	return true;
}

/* ---- as a batch ---- */

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

/* Each LID has entries for itself: those of a VM that moved meanwhile are left out. */
static void leave_out(struct sm *sm, struct rt_defragment *d)
{
	enum { MOVED = 1, COUNTED };
	uint8_t *other = sm->virtual.defragmenting.other;
	size_t kept = 0;

	if (!other)
		return;
	d->moved = 0;
	for (size_t i = 0; i < d->entries.n; i++) {
		struct rt_move_entry e = d->entries.at[i];

		if (other[e.lid] == MOVED)
			continue;
		d->moved += !other[e.lid];
		other[e.lid] = COUNTED;
		d->entries.at[kept++] = e;
	}
	d->entries.n = kept;
	d->smps = rt_moves_blocks(&d->entries, &d->switches);
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

bool sm_defragment_due(const struct sm *sm)
{
	const struct sm_virtual *v = &sm->virtual;
	struct err e;

	return v->aside.n && sm->topo.fab && sm->routes.tables &&
	       (v->defragmenting.to || (!v->defragmenting.id && !is_possible(sm, &e)));
}

/* Requests that wait go first, a batch of them. */
static bool is_next(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	bool due = sm_defragment_due(sm), next = due && (v->aside_next || !v->queue.n);

	v->aside_next = due && !next;
	return next;
}

bool sm_defragment_begin(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	struct sm_defragmented none = {.rc = -ENOTSUP}, *x = v->defragmenting.to;
	struct sm_job j;

	if (!is_next(sm))
		return false;
	sm_batch_clear(sm);
	j = v->aside.at[0];
	memmove(v->aside.at, v->aside.at + 1, --v->aside.n * sizeof(j));
	if (!is_possible(sm, &none.err))
		x = &none;
	leave_out(sm, &x->found);
	report(&j.result.defragmentation, &x->found);
	if (x->rc)
		sm_job_refuse(sm, &j, x->rc, "%s", x->err.text);
	else if (j.req.dry_run || !x->found.entries.n)
		sm_job_done(sm, &j);
	else
		begin(sm, &j, &x->found);
	sm_defragment_drop(sm);
	return v->batch.jobs.n;
}
