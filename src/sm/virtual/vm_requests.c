/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about VMs: checked when they arrive, against what is there once all earlier requests are carried out; queued,
 * or refused with a sentence. State: queue of struct sm_virtual, and the places that VMs and slots have later. Sends
 * nothing: see vm_batch.c.
 */
#include "sm/manager.h"

#include <stdarg.h>

const char *sm_vm_op_name(enum sm_vm_op op)
{
	static const char *const names[] = {
		[SM_VM_CREATE] = "create",   [SM_VM_START] = "start",
		[SM_VM_STOP] = "stop",	     [SM_VM_MIGRATE] = "migrate",
		[SM_VM_DESTROY] = "destroy", [SM_VM_DEFRAGMENT] = "defragment",
	};

	return op < ARRAY_LEN(names) ? names[op] : "?";
}

size_t sm_vms_waiting(const struct sm *sm)
{
	return sm->virtual.queue.n + sm->virtual.aside.n + sm->virtual.batch.jobs.n +
	       sm->virtual.copies.held.n;
}

/* ---- answers ---- */

const char *sm_vhost_name(const struct sm *sm, uint64_t guid, char buf[24])
{
	const char *name = sm_node_desc(sm, guid);

	if (*name)
		return name;
	snprintf(buf, 24, "0x%016llx", (unsigned long long)guid);
	return buf;
}

void sm_job_answer(struct sm *sm, struct sm_job *j)
{
	struct sm_vm_result *r = &j->result;

	r->token = j->req.token;
	sm->virtual.unsaved |= sm->cfg.hold_vms && !r->rc;
	if (sm->core.out)
		vec_push(&sm->core.out->vms, *r);
}

void sm_vms_saved(struct sm *sm)
{
	sm->virtual.unsaved = false;
}

void sm_job_done(struct sm *sm, struct sm_job *j)
{
	const struct sm_vm *v = j->vm == NONE ? NULL : &sm->virtual.vms.at[j->vm].v;

	j->result.rc = 0;
	if (v) {
		j->result.guid = v->guid;
		j->result.host = v->host;
		j->result.slot = v->slot;
	}
	j->result.ended = sm->core.now;
	if (!sm_answer_hold(sm, j))
		sm_job_answer(sm, j);
}

void sm_job_refuse(struct sm *sm, struct sm_job *j, int rc, const char *fmt, ...)
{
	va_list ap;

	j->result.rc = rc;
	j->result.guid = j->req.guid;
	j->result.host = j->req.host;
	j->result.slot = j->req.slot;
	j->result.ended = sm->core.now;
	va_start(ap, fmt);
	vsnprintf(j->result.why, sizeof(j->result.why), fmt, ap);
	va_end(ap);
	sm_job_answer(sm, j);
}

void sm_vms_refuse_all(struct sm *sm, int rc, const char *why)
{
	struct sm_virtual *v = &sm->virtual;

	for (size_t i = 0; i < v->queue.n; i++)
		sm_job_refuse(sm, &v->queue.at[i], rc, "%s", why);
	for (size_t i = 0; i < v->aside.n; i++)
		sm_job_refuse(sm, &v->aside.at[i], rc, "%s", why);
	v->queue.n = v->aside.n = 0;
	v->replan = true;
}

/* ---- checks: false, after a refusal ---- */

static bool check_name(struct sm *sm, struct sm_job *j)
{
	size_t n = strnlen(j->req.name, SM_VM_NAME);

	if (!n || n == SM_VM_NAME) {
		sm_job_refuse(sm, j, -EINVAL, "the name of a VM has 1 to %d characters",
			      SM_VM_NAME - 1);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if ((uint8_t)j->req.name[i] <= ' ' || j->req.name[i] == 0x7f) {
			sm_job_refuse(sm, j, -EINVAL,
				      "the name of a VM has no spaces and no control characters");
			return false;
		}
	return true;
}

static bool check_vm(struct sm *sm, struct sm_job *j)
{
	j->vm = sm_vm_find(sm, j->req.name);
	if (j->vm != NONE && !sm->virtual.vms.at[j->vm].doomed)
		return true;
	sm_job_refuse(sm, j, -ENOENT, "there is no VM %s", j->req.name);
	return false;
}

static bool is_ca_known(const struct sm *sm, uint64_t guid)
{
	return map64_get(&sm->topo.by_guid, guid) != MAP_NONE;
}

static bool check_host(struct sm *sm, struct sm_job *j)
{
	char buf[24];

	j->to = sm_vhost_find(sm, j->req.host);
	if (j->to != NONE && j->req.slot <= sm->virtual.hosts.at[j->to].vfs)
		return true;
	if (j->to != NONE)
		sm_job_refuse(sm, j, -EINVAL, "VM %s: host %s has no VF %u, it has %u of them",
			      j->req.name, sm_vhost_name(sm, j->req.host, buf), j->req.slot,
			      sm->virtual.hosts.at[j->to].vfs);
	else if (is_ca_known(sm, j->req.host))
		sm_job_refuse(sm, j, -ENOTSUP, "VM %s: %s has no SR-IOV", j->req.name,
			      sm_vhost_name(sm, j->req.host, buf));
	else
		sm_job_refuse(sm, j, -ENODEV, "VM %s: there is no host %s", j->req.name,
			      sm_vhost_name(sm, j->req.host, buf));
	return false;
}

/* The slot that the VM gets: the one that was asked for, or the first that is free by then. */
static bool check_slot(struct sm *sm, struct sm_job *j)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[j->to];
	char buf[24];
	unsigned slot = j->req.slot;

	if (slot && h->slots[slot - 1].vm_later != NONE) {
		sm_job_refuse(sm, j, -EBUSY, "VM %s: VF %u of host %s has VM %s", j->req.name, slot,
			      sm_vhost_name(sm, h->guid, buf),
			      sm->virtual.vms.at[h->slots[slot - 1].vm_later].v.name);
		return false;
	}
	for (unsigned s = 1; !slot && s <= h->vfs; s++)
		if (h->slots[s - 1].vm_later == NONE)
			slot = s;
	if (!slot) {
		sm_job_refuse(sm, j, -ENOSPC, "VM %s: host %s is full, all its %u VFs have VMs",
			      j->req.name, sm_vhost_name(sm, h->guid, buf), h->vfs);
		return false;
	}
	j->to_slot = slot;
	return true;
}

static bool check_start(struct sm *sm, struct sm_job *j)
{
	const struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];
	char buf[24];

	if (x->host_later != NONE) {
		sm_job_refuse(sm, j, -EALREADY, "VM %s runs already, on host %s", j->req.name,
			      sm_vhost_name(sm, sm->virtual.hosts.at[x->host_later].guid, buf));
		return false;
	}
	return check_host(sm, j) && check_slot(sm, j);
}

static bool check_running(struct sm *sm, struct sm_job *j)
{
	const struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];

	if (x->host_later == NONE) {
		sm_job_refuse(sm, j, -ESRCH, "VM %s is not running", j->req.name);
		return false;
	}
	j->from = x->host_later;
	j->from_slot = x->slot_later;
	return true;
}

static bool check_migrate(struct sm *sm, struct sm_job *j)
{
	char buf[24], other[24];

	if (!check_running(sm, j) || !check_host(sm, j))
		return false;
	if (j->to == j->from && (!j->req.slot || j->req.slot == j->from_slot)) {
		sm_job_refuse(sm, j, -EALREADY, "VM %s is on host %s already", j->req.name,
			      sm_vhost_name(sm, j->req.host, buf));
		return false;
	}
	if (sm->virtual.hosts.at[j->to].sriov != sm->virtual.hosts.at[j->from].sriov) {
		sm_job_refuse(
			sm, j, -EINVAL, "VM %s: host %s and host %s have different kinds of SR-IOV",
			j->req.name, sm_vhost_name(sm, sm->virtual.hosts.at[j->from].guid, buf),
			sm_vhost_name(sm, j->req.host, other));
		return false;
	}
	return check_slot(sm, j);
}

static bool check_destroy(struct sm *sm, struct sm_job *j)
{
	const struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];
	char buf[24];

	if (x->host_later == NONE)
		return true;
	sm_job_refuse(sm, j, -EBUSY, "VM %s runs on host %s: stop it first", j->req.name,
		      sm_vhost_name(sm, sm->virtual.hosts.at[x->host_later].guid, buf));
	return false;
}

static bool check(struct sm *sm, struct sm_job *j)
{
	j->from = j->to = NONE;
	if (!check_vm(sm, j))
		return false;
	switch (j->req.op) {
	case SM_VM_START:
		return check_start(sm, j);
	case SM_VM_STOP:
		return check_running(sm, j);
	case SM_VM_MIGRATE:
		return check_migrate(sm, j);
	case SM_VM_DESTROY:
		return check_destroy(sm, j);
	case SM_VM_CREATE:
	case SM_VM_DEFRAGMENT:
	case SM_VM_NOPS:
		break;
	}
	return false;
}

/* ---- what is there later ---- */

static void expect(struct sm *sm, struct sm_job *j)
{
	struct sm_vm_record *x = &sm->virtual.vms.at[j->vm];

	j->checked = true;
	x->requests++;
	x->doomed = j->req.op == SM_VM_DESTROY;
	if (x->doomed)
		return;
	if (j->from != NONE)
		sm_slot_of(sm, j->from, j->from_slot)->vm_later = NONE;
	if (j->to != NONE)
		sm_slot_of(sm, j->to, j->to_slot)->vm_later = j->vm;
	x->host_later = j->to;
	x->slot_later = j->to_slot;
}

static void expect_nothing(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;

	for (size_t h = 0; h < v->hosts.n; h++)
		for (unsigned s = 0; s < v->hosts.at[h].vfs; s++)
			v->hosts.at[h].slots[s].vm_later = v->hosts.at[h].slots[s].vm;
	for (size_t i = 0; i < v->vms.n; i++) {
		struct sm_vm_record *x = &v->vms.at[i];

		x->host_later = x->host;
		x->slot_later = x->v.slot;
		x->requests = 0;
		x->doomed = false;
	}
}

/* Whether requests can be checked: which hosts there are is known. */
static bool can_check(const struct sm *sm)
{
	return sm->topo.fab && sm->core.st.rounds && !sm->virtual.batch.broken;
}

void sm_vms_check(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	size_t kept = 0;

	if (!v->replan || !can_check(sm) || v->batch.jobs.n)
		return;
	v->replan = false;
	expect_nothing(sm);
	for (size_t i = 0; i < v->queue.n; i++) {
		struct sm_job j = v->queue.at[i];

		if (!check(sm, &j))
			continue;
		expect(sm, &j);
		v->queue.at[kept++] = j;
	}
	v->queue.n = kept;
}

/* ---- requests ---- */

static bool may_request(struct sm *sm, struct sm_job *j)
{
	if (sm->cfg.scheme == SM_SCHEME_NONE)
		sm_job_refuse(sm, j, -ENOTSUP, "virtual.scheme is none: this manager has no VMs");
	else if (sm->election.state != IBA_SM_MASTER)
		sm_job_refuse(sm, j, -EPERM, "this manager is not the master of the subnet");
	else if (j->req.op >= SM_VM_NOPS)
		sm_job_refuse(sm, j, -EINVAL, "there is no such request");
	else
		return j->req.op == SM_VM_DEFRAGMENT || check_name(sm, j);
	return false;
}

static void create(struct sm *sm, struct sm_job *j)
{
	if (sm_vm_find(sm, j->req.name) != NONE) {
		sm_job_refuse(sm, j, -EEXIST, "there is a VM %s already", j->req.name);
		return;
	}
	if (j->req.guid && sm_guid_taken(sm, j->req.guid)) {
		sm_job_refuse(sm, j, -EEXIST, "VM %s: GUID 0x%016llx is in use", j->req.name,
			      (unsigned long long)j->req.guid);
		return;
	}
	j->vm = sm_vm_add(sm, j->req.name,
			  j->req.guid ? j->req.guid : sm_guid_choose(sm, j->req.name));
	sm_vm_note(sm, j->vm);
	sm_job_done(sm, j);
}

static void destroy(struct sm *sm, struct sm_job *j)
{
	sm_vm_remove(sm, j->vm);
	sm_job_done(sm, j);
}

static void defragment(struct sm *sm, struct sm_job *j)
{
	if (sm->cfg.scheme != SM_SCHEME_DYNAMIC) {
		sm_job_refuse(sm, j, -ENOTSUP,
			      "virtual.scheme is prepopulated: VMs that migrate swap routes, which "
			      "keeps these even");
		return;
	}
	j->detached = j->checked = true; /* no VF changes */
	vec_push(&sm->virtual.aside, *j);
}

static void take(struct sm *sm, const struct sm_vm_request *req)
{
	struct sm_job j = {.req = *req, .from = NONE, .to = NONE, .vm = NONE};

	j.result.started = sm->core.now;
	if (!may_request(sm, &j))
		return;
	if (req->op == SM_VM_CREATE) {
		create(sm, &j);
		return;
	}
	if (req->op == SM_VM_DEFRAGMENT) {
		defragment(sm, &j);
		return;
	}
	if (sm->virtual.replan || !can_check(sm)) { /* checked before it is carried out */
		sm->virtual.replan = true;
		vec_push(&sm->virtual.queue, j);
		return;
	}
	if (!check(sm, &j))
		return;
	if (req->op == SM_VM_DESTROY && !sm->virtual.vms.at[j.vm].requests) {
		destroy(sm, &j);
		return;
	}
	expect(sm, &j);
	vec_push(&sm->virtual.queue, j);
}

void sm_vms_in(struct sm *sm, const struct sm_event *ev)
{
	sm_vms_check(sm);
	for (size_t i = 0; i < ev->nvms; i++)
		take(sm, &ev->vms[i]);
}
