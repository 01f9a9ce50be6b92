/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches: requests that are carried out together. No two of a batch are about one VM or one slot, so each ends before
 * or after for itself, whatever interrupts the batch. State: batch of struct sm_virtual. Sends nothing: see move.c.
 */
#include "sm/manager.h"

enum { MOST = 1024 }; /* requests in a batch */

/* ---- when ---- */

static bool left_is_due(const struct sm *sm)
{
	return sm->virtual.left.n && sm->core.now >= sm->virtual.left_at;
}

/* Requests wait for the end of a round, and until nothing that was set before is in doubt. */
bool sm_vms_due(const struct sm *sm)
{
	return (sm->virtual.queue.n || sm_defragment_due(sm) || left_is_due(sm)) &&
	       sm->election.state == IBA_SM_MASTER && sm->topo.fab && sm->routes.tables &&
	       sm->core.st.rounds && !sm->core.incomplete && !sm_audit_open(sm) &&
	       !sm->virtual.unsaved && !sm->virtual.copies.needs && !sm_answers_due(sm) &&
	       sm->core.now >= sm->virtual.next_at;
}

time_ps sm_vms_wake(const struct sm *sm)
{
	const struct sm_virtual *v = &sm->virtual;
	time_ps t = v->queue.n && v->next_at > sm->core.now ? v->next_at : TIME_NEVER;

	t = MIN(t, sm_vms_copies_wake(sm));
	return v->left.n && v->left_at > sm->core.now ? MIN(t, v->left_at) : t;
}

/* ---- which ---- */

static bool host_is_gone(struct sm *sm, struct sm_job *j, uint32_t host)
{
	char buf[24];

	if (host == NONE || sm_vhost_is_there(sm, host))
		return false;
	sm_job_refuse(sm, j, -EHOSTUNREACH, "VM %s: host %s does not respond", j->req.name,
		      sm_vhost_name(sm, sm->virtual.hosts.at[host].guid, buf));
	return true;
}

/* Marks VM and slots: later requests about these wait, whether this one is carried out now or not. */
static bool is_first(struct sm *sm, const struct sm_job *j)
{
	struct sm_virtual *v = &sm->virtual;
	struct sm_slot *from = j->from == NONE ? NULL : sm_slot_of(sm, j->from, j->from_slot),
		       *to = j->to == NONE ? NULL : sm_slot_of(sm, j->to, j->to_slot);
	bool first = v->vms.at[j->vm].mark != v->mark && (!from || from->mark != v->mark) &&
		     (!to || to->mark != v->mark);

	v->vms.at[j->vm].mark = v->mark;
	if (from)
		from->mark = v->mark;
	if (to)
		to->mark = v->mark;
	return first;
}

/* Copies of an earlier Set to a slot must not arrive after what is set now. */
static bool is_quiet(struct sm *sm, uint32_t host, unsigned slot)
{
	time_ps at = host == NONE ? 0 : sm_slot_of(sm, host, slot)->quiet_at;

	if (at <= sm->core.now)
		return true;
	sm->virtual.next_at = sm->virtual.next_at ? MIN(sm->virtual.next_at, at) : at;
	return false;
}

/* A standby that takes over must know the places that VMs leave. */
static bool is_copied(struct sm *sm, const struct sm_job *j)
{
	uint32_t change = sm->virtual.vms.at[j->vm].changed;

	if (j->from != NONE)
		change = MAX(change, sm_slot_of(sm, j->from, j->from_slot)->changed);
	if (j->to != NONE)
		change = MAX(change, sm_slot_of(sm, j->to, j->to_slot)->changed);
	if (j->from == NONE) /* it may get the LID of a VM that was stopped */
		change = MAX(change, sm->virtual.released);
	return sm_vms_are_copied(sm, change);
}

static bool has_place(struct sm *sm, const struct sm_job *j)
{
	return j->to == NONE || sm_slot_of(sm, j->to, j->to_slot)->vm == NONE;
}

/* ---- LIDs ---- */

static void refuse_lid(struct sm *sm, struct sm_job *j)
{
	uint32_t vms = 0;

	for (size_t i = 0; i < sm->virtual.vms.n; i++)
		vms += sm->virtual.vms.at[i].used && sm->virtual.vms.at[i].v.lid;
	sm_job_refuse(sm, j, -ENOSPC,
		      "VM %s: no LID is left, %u of %u are assigned: %u to VMs, %u to others",
		      j->req.name, sm->core.st.lids, (unsigned)IBA_LID_MAX_UNICAST, vms,
		      sm->core.st.lids - MIN(vms, sm->core.st.lids));
}

/* A VF whose LID another one got by a swap, and may not have lost: its host does not respond. */
static bool lid_is_here(struct sm *sm, struct sm_job *j)
{
	const struct sm_slot *s = sm_slot_of(sm, j->to, j->to_slot);

	if (j->from != NONE || s->has_lid == j->lid || !sm->virtual.held[j->lid])
		return true;
	sm_job_refuse(sm, j, -EBUSY,
		      "VM %s: LID %u of VF %u may be in use at a host that does not respond",
		      j->req.name, j->lid, j->to_slot);
	return false;
}

/* The LID that the VM has afterwards, and that of the slot it leaves. */
static bool choose_lids(struct sm *sm, struct sm_job *j)
{
	struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];
	bool dynamic = sm->cfg.scheme == SM_SCHEME_DYNAMIC;

	j->result.lid_before = x->v.lid;
	j->result.host_before = j->from == NONE ? 0 : x->v.host;
	j->result.slot_before = j->from == NONE ? 0 : x->v.slot;
	j->lid = j->lid_left = 0;
	if (j->to == NONE) {
		if (!dynamic)
			j->lid_left = sm_slot_of(sm, j->from, j->from_slot)->lid;
		return true;
	}
	if (sm->virtual.hosts.at[j->to].sriov == FAB_SRIOV_SHARED) {
		j->lid = sm_vhost_lid(sm, j->to);
		return true;
	}
	if (j->from != NONE) {
		j->lid = x->v.lid;
		if (!dynamic)
			j->lid_left = sm_slot_of(sm, j->to, j->to_slot)->lid;
	} else {
		j->lid = dynamic ? sm_lid_give(sm, x->v.guid, 0, 0)
				 : sm_slot_of(sm, j->to, j->to_slot)->lid;
	}
	if (!j->lid)
		refuse_lid(sm, j);
	return j->lid && lid_is_here(sm, j);
}

static bool begin(struct sm *sm, struct sm_job *j)
{
	if (j->req.op == SM_VM_DESTROY) {
		sm_vm_remove(sm, j->vm);
		sm_job_done(sm, j);
		return false;
	}
	if (host_is_gone(sm, j, j->to) || host_is_gone(sm, j, j->from) || !choose_lids(sm, j)) {
		sm->virtual.replan = true;
		return false;
	}
	j->detached = j->from == NONE;
	vec_push(&sm->virtual.batch.jobs, *j);
	return true;
}

/* ---- of many ---- */

enum { BLOCKS = IBA_LID_MAX_UNICAST / IBA_LFT_BLOCK + 1 };

/* The table block of the VM's LID; those without a LID get one after another. */
static unsigned block_of(const struct sm *sm, const struct sm_job *j)
{
	return sm->virtual.vms.at[j->vm].v.lid / IBA_LFT_BLOCK;
}

/* Which of the requests that wait can begin. */
static bool *can_begin(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	bool *can = mem_array(v->queue.n, sizeof(*can));

	v->mark++;
	v->next_at = 0;
	for (size_t i = 0; i < v->queue.n; i++) {
		const struct sm_job *j = &v->queue.at[i];

		can[i] = is_first(sm, j) && has_place(sm, j) &&
			 is_quiet(sm, j->from, j->from_slot) && is_quiet(sm, j->to, j->to_slot) &&
			 is_copied(sm, j);
	}
	return can;
}

/*
 * Where more requests wait than a batch has, LIDs of the same blocks go together: an SMP sets a whole block. The block of
 * the request that waits longest comes first, so each one's turn comes.
 */
static void choose_blocks(const struct sm *sm, bool *can)
{
	const struct sm_virtual *v = &sm->virtual;
	uint32_t count[BLOCKS] = {0}, sum = 0;
	bool in[BLOCKS] = {false};

	for (size_t i = 0; i < v->queue.n; i++)
		count[block_of(sm, &v->queue.at[i])] += can[i];
	for (size_t i = 0; i < v->queue.n; i++) {
		unsigned block = block_of(sm, &v->queue.at[i]);

		if (can[i] && !in[block] && (!sum || sum + count[block] <= MOST)) {
			in[block] = true;
			sum += count[block];
		}
		can[i] &= in[block];
	}
}

static void choose(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	bool *can = can_begin(sm);
	size_t kept = 0;

	if (v->queue.n > MOST)
		choose_blocks(sm, can);
	for (size_t i = 0; i < v->queue.n; i++) {
		struct sm_job *j = &v->queue.at[i];

		if (v->batch.jobs.n < MOST && can[i])
			begin(sm, j);
		else
			v->queue.at[kept++] = *j;
	}
	v->queue.n = kept;
	if (v->batch.jobs.n)
		v->next_at = 0;
	free(can);
}

/* ---- one after another, where no plan holds for all ---- */

static void put_back(struct sm *sm, size_t from)
{
	struct sm_virtual *v = &sm->virtual;
	size_t n = v->batch.jobs.n - from;

	vec_room(&v->queue, v->queue.n + n);
	memmove(v->queue.at + n, v->queue.at, v->queue.n * sizeof(*v->queue.at));
	memcpy(v->queue.at, v->batch.jobs.at + from, n * sizeof(*v->queue.at));
	v->queue.n += n;
	v->batch.jobs.n = from;
}

/* A plan for all that was chosen, or for the first of it; false: that one is refused. */
static bool plan(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;
	struct err e;

	if (!sm_batch_plan(sm, &e))
		return true;
	if (b->jobs.n > 1) {
		put_back(sm, 1);
		if (!sm_batch_plan(sm, &e))
			return true;
	}
	sm_job_refuse(sm, &b->jobs.at[0], -EDEADLK, "VM %s: %s", b->jobs.at[0].req.name, e.text);
	sm_job_back(sm, &b->jobs.at[0]);
	return false;
}

bool sm_batch_begin(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	size_t before;

	if (sm_defragment_begin(sm))
		return true;
	do {
		sm_batch_clear(sm);
		sm_vms_check(sm);
		before = v->queue.n;
		choose(sm);
		if (v->batch.jobs.n && plan(sm))
			return true;
	} while (v->queue.n && v->queue.n < before); /* refusals let others go on */
	sm_batch_clear(sm);
	if (v->queue.n && !v->next_at && !v->copies.needs)
		v->next_at = sm_copies_until(sm);
	return false;
}

/* ---- ends ---- */

static void lids_after(struct sm *sm, const struct sm_job *j)
{
	struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];
	bool dynamic = sm->cfg.scheme == SM_SCHEME_DYNAMIC;
	struct sm_slot *from = j->from == NONE ? NULL : sm_slot_of(sm, j->from, j->from_slot),
		       *to = j->to == NONE ? NULL : sm_slot_of(sm, j->to, j->to_slot);

	if (sm->virtual.hosts.at[from ? j->from : j->to].sriov == FAB_SRIOV_SHARED)
		return;
	if (from)
		from->lid = j->lid_left;
	if (to)
		to->lid = j->lid;
	if (dynamic && !to)
		sm_lid_release(sm, x->v.guid);
	if (!dynamic && from && to) {
		sm_lid_exchange(sm, sm_slot_own_guid(sm, j->to, j->to_slot), j->lid);
		vec_push(&sm->virtual.left, (struct sm_place){j->from, j->from_slot});
	}
}

void sm_job_place(struct sm *sm, struct sm_job *j)
{
	struct sm_vm_record *x;
	bool replan = sm->virtual.replan;

	if (sm_is_defragment(j))
		return;
	x = &sm->virtual.vms.at[j->vm];
	lids_after(sm, j);
	sm_vm_place(sm, j->vm, j->to, j->to_slot);
	sm_vm_lid(sm, j->vm, j->lid);
	if (j->to == NONE)
		sm->virtual.released = x->changed;
	sm->virtual.replan = replan; /* it was expected */
	if (x->requests)
		x->requests--;
	j->result.lid_after = j->lid;
	sm_vm_note(sm, j->vm);
}

void sm_job_back(struct sm *sm, struct sm_job *j)
{
	const struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];

	if (sm->cfg.scheme == SM_SCHEME_DYNAMIC && j->from == NONE &&
	    sm->virtual.hosts.at[j->to].sriov == FAB_SRIOV_VSWITCH)
		sm_lid_release(sm, x->v.guid);
	j->result.lid_after = x->v.lid;
	sm->virtual.replan = true;
}

void sm_batch_end(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;

	sm_batch_mark(sm, false);
	for (size_t i = 0; i < b->jobs.n; i++)
		sm_job_place(sm, &b->jobs.at[i]);
	sm_batch_apply(sm);
	for (size_t i = 0; i < b->jobs.n; i++)
		sm_job_done(sm, &b->jobs.at[i]);
	sm_batch_clear(sm);
}
