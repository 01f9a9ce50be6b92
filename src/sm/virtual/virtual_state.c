/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms report about VMs: the manager goes from phase to phase, its clock is set back, it ends. State: the
 * running batch, when it is interrupted. Does not decide where its VMs are: see vf_settle.c.
 */
#include "sm/manager.h"

void sm_move_deps_drop(struct sm *sm)
{
	rt_move_deps_free(sm->virtual.deps);
	sm->virtual.deps = NULL;
}

void sm_batch_mark(struct sm *sm, bool on)
{
	const struct sm_batch *b = &sm->virtual.batch;

	for (size_t i = 0; i < b->jobs.n; i++) {
		const struct sm_job *j = &b->jobs.at[i];

		if (j->from != NONE)
			sm_slot_of(sm, j->from, j->from_slot)->leaves = on;
		if (j->to != NONE)
			sm_slot_of(sm, j->to, j->to_slot)->arrives = on ? j->vm : NONE;
	}
}

void sm_batch_clear(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;

	b->jobs.n = b->entries.n = b->blocks.n = 0;
	b->broken = false;
	b->top = 0;
	b->stage = 0;
	b->plan = (struct rt_moves_plan){0};
}

void sm_virtual_free(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;

	for (size_t i = 0; i < v->hosts.n; i++)
		free(v->hosts.at[i].slots);
	vec_free(&v->hosts);
	map64_free(&v->host_by_guid);
	map64_free(&v->function_guids);
	vec_free(&v->hosts_sorted);
	vec_free(&v->vms);
	vec_free(&v->sorted);
	vec_free(&v->vms_free);
	map64_free(&v->vm_by_guid);
	vec_free(&v->queue);
	vec_free(&v->left);
	vec_free(&v->copies.held);
	vec_free(&v->aside);
	sm_defragment_drop(sm);
	sm_batch_clear(sm);
	vec_free(&v->batch.jobs);
	vec_free(&v->batch.entries);
	vec_free(&v->batch.blocks);
	free(v->batch.job_of);
	sm_move_deps_drop(sm);
}

static void slot_back(struct sm_slot *s, time_ps by)
{
	sm_time_shift(&s->quiet_at, by);
	sm_time_shift(&s->set_at, by);
}

void sm_virtual_time_back(struct sm *sm, time_ps by)
{
	struct sm_virtual *v = &sm->virtual;

	sm_time_shift(&v->next_at, by);
	sm_time_shift(&v->left_at, by);
	sm_time_shift(&v->copies.until, by);
	sm_time_shift(&v->wait_until, by);
	for (size_t h = 0; h < v->hosts.n; h++)
		for (unsigned s = 0; s < v->hosts.at[h].vfs; s++)
			slot_back(&v->hosts.at[h].slots[s], by);
	for (size_t i = 0; i < v->queue.n; i++)
		sm_time_shift(&v->queue.at[i].result.started, by);
	for (size_t i = 0; i < v->aside.n; i++)
		sm_time_shift(&v->aside.at[i].result.started, by);
	for (size_t i = 0; i < v->batch.jobs.n; i++)
		sm_time_shift(&v->batch.jobs.at[i].result.started, by);
}

/* ---- interruptions ---- */

void sm_virtual_phase(struct sm *sm, enum sm_phase from, enum sm_phase to)
{
	struct sm_virtual *v = &sm->virtual;

	v->copies_ps = sm_timeout(sm);
	if (to != SM_READY && to != SM_SWEEP && to != SM_MOVE && to != SM_AUDIT)
		sm_defragment_drop(sm); /* the subnet may be another one */
	if (to == SM_DISCOVER && v->stray)
		sm_unfinished(sm); /* links may be as before: what slots hold counts as well */
	if (to == SM_DISCOVER || to == SM_STANDBY) {
		sm_move_deps_drop(sm);
		v->stray = false; /* slots that are not known are read */
	}
	if (from == SM_MOVE && v->batch.jobs.n) {
		sm_batch_mark(sm, false); /* the next discovery decides where its VMs are */
		v->batch.broken = true;
		v->wait_until = sm_copies_until(sm);
		sm_unfinished(sm);
	}
	if (to == SM_STANDBY) {
		static const char why[] = "another manager is the master of the subnet now";

		sm_vms_refuse_all(sm, -EPERM, why);
		sm_vms_copies_refuse(sm, -EPERM, why);
		for (size_t i = 0; i < v->batch.jobs.n; i++)
			sm_job_refuse(sm, &v->batch.jobs.at[i], -EPERM, "%s", why);
		sm_batch_clear(sm);
		v->left.n = 0;
		sm_vms_forget(sm); /* that one starts and stops them; a mirror knows them */
	}
}

bool sm_moved(struct sm *sm)
{
	bool moved = sm->virtual.moved && sm->sweep.next != TIME_NEVER;

	sm->virtual.moved = false;
	return moved;
}
