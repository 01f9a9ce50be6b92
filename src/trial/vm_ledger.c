/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each VM must be: by the answers to requests, and, where a manager crashed before it answered, before or after each of
 * those requests. State: vms, asked and lost of struct vm_world. Does not look at devices: vm_checks.c does.
 */
#include "trial/vm_world.h"

struct vm_entry *vm_entry_of(struct vm_world *t, const char *name)
{
	unsigned i;
	char end;

	return sscanf(name, "vm%u%c", &i, &end) == 1 && i < VM_NAMES ? &t->vms[i] : NULL;
}

/* ---- requests without an answer ---- */

static bool is_lost(const struct vm_world *t, const char *name, enum sm_vm_op op)
{
	for (size_t i = 0; i < t->lost.n; i++)
		if (t->lost.at[i].op == op && !strcmp(t->lost.at[i].name, name))
			return true;
	return false;
}

static bool in_doubt(const struct vm_world *t, const char *name)
{
	for (size_t i = 0; i < t->lost.n; i++)
		if (!strcmp(t->lost.at[i].name, name))
			return true;
	return false;
}

static bool may_be_at(const struct vm_world *t, const char *name, const struct sm_vm *v)
{
	for (size_t i = 0; i < t->lost.n; i++) {
		const struct sm_vm_request *q = &t->lost.at[i];

		if ((q->op == SM_VM_START || q->op == SM_VM_MIGRATE) && !strcmp(q->name, name) &&
		    q->host == v->host && (!q->slot || q->slot == v->slot))
			return true;
	}
	return false;
}

enum { ABSENT = 1 }; /* in place of the GUID: its host did not respond at the last check */

/* A host that does not respond shows later what it holds. */
static void settled(struct vm_world *t, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->lost.n; i++)
		if (t->lost.at[i].guid == ABSENT || strcmp(t->lost.at[i].name, name))
			t->lost.at[kept++] = t->lost.at[i];
	t->lost.n = kept;
}

void vm_ledger_crash(struct vm_world *t)
{
	for (size_t i = 0; i < t->asked.n; i++)
		vec_push(&t->lost, t->asked.at[i]);
	t->out->lost += (unsigned)t->asked.n;
	t->asked.n = 0;
}

/* ---- answers ---- */

static bool is_shared(const struct vm_world *t, uint64_t host)
{
	node_id n = fab_node_by_guid(t->fab, host);

	return n != FAB_NONE && t->fab->nodes[n].sriov == FAB_SRIOV_SHARED;
}

static void check_place(struct vm_world *t, const struct sm_vm_request *q,
			const struct sm_vm_result *r)
{
	if (r->host != q->host || (q->slot && r->slot != q->slot) || !r->slot || !r->lid_after)
		lab_fail(t->out->why, "%s of %s to VF %u: the answer is VF %u, LID %u",
			 sm_vm_op_name(q->op), q->name, q->slot, r->slot, r->lid_after);
	for (unsigned i = 0; i < VM_NAMES; i++) {
		const struct vm_entry *x = &t->vms[i];
		char name[SM_VM_NAME];

		snprintf(name, sizeof(name), "vm%u", i);
		if (!x->running || !strcmp(name, q->name) || in_doubt(t, name))
			continue;
		if (x->host == r->host && x->slot == r->slot)
			lab_fail(t->out->why, "%s and %s have VF %u of one host", q->name, name,
				 r->slot);
		if (x->lid == r->lid_after && !is_shared(t, r->host))
			lab_fail(t->out->why, "%s and %s have LID %u", q->name, name, x->lid);
	}
}

/* What the answer says of the VM before. */
static void check_before(struct vm_world *t, const struct sm_vm_request *q,
			 const struct sm_vm_result *r, const struct vm_entry *x)
{
	bool runs = q->op == SM_VM_MIGRATE || q->op == SM_VM_STOP;

	if (x->exists == (q->op == SM_VM_CREATE) || x->running != runs)
		lab_fail(t->out->why, "%s of %s was carried out, which %s", sm_vm_op_name(q->op),
			 q->name,
			 !x->exists   ? "does not exist"
			 : x->running ? "runs"
				      : "exists and does not run");
	if (x->exists && r->guid != x->guid)
		lab_fail(t->out->why, "%s has another vGUID after %s", q->name,
			 sm_vm_op_name(q->op));
	if (runs &&
	    (r->lid_before != x->lid || r->host_before != x->host || r->slot_before != x->slot))
		lab_fail(t->out->why, "%s of %s with LID %u: it had LID %u before",
			 sm_vm_op_name(q->op), q->name, x->lid, r->lid_before);
	if (q->op == SM_VM_MIGRATE && r->lid_after != x->lid && !is_shared(t, r->host))
		lab_fail(t->out->why, "%s had LID %u and has %u after a migration", q->name, x->lid,
			 r->lid_after);
}

static void carried_out(struct vm_world *t, const struct sm_vm_request *q,
			const struct sm_vm_result *r)
{
	struct vm_entry *x = vm_entry_of(t, q->name), before = *x;
	bool placed = q->op == SM_VM_START || q->op == SM_VM_MIGRATE;

	if (!in_doubt(t, q->name))
		check_before(t, q, r, x);
	if (placed)
		check_place(t, q, r);
	settled(t, q->name);
	x->exists = q->op != SM_VM_DESTROY;
	x->running = placed;
	x->guid = r->guid;
	x->host = placed ? r->host : 0;
	x->slot = placed ? r->slot : 0;
	x->lid = placed ? r->lid_after : 0;
	t->out->migrations += q->op == SM_VM_MIGRATE;
	vm_predict_result(t, q, r, &before);
}

void vm_ledger_answer(struct vm_world *t, const struct sm_vm_result *r)
{
	struct sm_vm_request q;
	size_t i = 0;

	while (i < t->asked.n && t->asked.at[i].token != r->token)
		i++;
	if (i == t->asked.n) {
		lab_fail(t->out->why, "an answer to request %u, which has one already", r->token);
		return;
	}
	q = t->asked.at[i];
	memmove(&t->asked.at[i], &t->asked.at[i + 1], (t->asked.n - i - 1) * sizeof(q));
	t->asked.n--;
	t->out->done += !r->rc;
	t->out->refused += r->rc != 0;
	if (r->rc == -EPERM || (t->divided && !r->rc)) /* the next master decides */
		vec_push(&t->lost, q);
	else if (!r->rc)
		carried_out(t, &q, r);
}

/* ---- at rest ---- */

static void is_wrong(struct vm_world *t, const char *when, const char *name, const char *what)
{
	lab_fail(t->out->why, "%s: %s %s", when, name, what);
}

static void check_doubtful(struct vm_world *t, const char *when, const char *name,
			   struct vm_entry *x, const struct sm_vm *v)
{
	bool stop = is_lost(t, name, SM_VM_STOP), destroy = is_lost(t, name, SM_VM_DESTROY);

	if (!v && x->exists && !destroy)
		is_wrong(t, when, name, "is lost");
	if (v && !x->exists && !is_lost(t, name, SM_VM_CREATE))
		is_wrong(t, when, name, "exists again");
	if (v && x->exists && v->guid != x->guid && !destroy)
		is_wrong(t, when, name, "has another vGUID");
	if (v && !v->running && x->running && !stop)
		is_wrong(t, when, name, "was stopped, which was not requested");
	/* Another master may have started one at its VF: it has another VF of the host then. */
	if (v && v->running &&
	    !(x->running && v->host == x->host && (v->slot == x->slot || t->divided)) &&
	    !may_be_at(t, name, v))
		is_wrong(t, when, name, "runs neither before nor after the request");
	if (v && v->running && x->running && !stop && v->lid != x->lid && !is_shared(t, v->host))
		lab_fail(t->out->why,
			 "%s: %s had LID %u and has %u after requests without an answer", when,
			 name, x->lid, v->lid);
	*x = (struct vm_entry){0};
	if (v)
		*x = (struct vm_entry){true,
				       true && v->running,
				       v->guid,
				       v->running ? v->host : 0,
				       v->running ? v->slot : 0,
				       v->running ? v->lid : 0};
}

static void check_certain(struct vm_world *t, const char *when, const char *name,
			  struct vm_entry *x, const struct sm_vm *v)
{
	if (x->exists != (v != NULL))
		is_wrong(t, when, name, v ? "exists again" : "is lost");
	if (!v || !x->exists)
		return;
	if (v->guid != x->guid)
		is_wrong(t, when, name, "has another vGUID");
	if (v->running != x->running)
		is_wrong(t, when, name, v->running ? "runs again" : "does not run any more");
	if (!v->running || !x->running)
		return;
	if (v->host != x->host || v->slot != x->slot)
		is_wrong(t, when, name, "is at another VF than the answers say");
	/* A host that was gone when another manager took over is new to that one. */
	if (is_shared(t, v->host) && t->out->managers > 1)
		x->lid = v->lid;
	if (v->lid != x->lid)
		lab_fail(t->out->why, "%s: %s had LID %u and has %u", when, name, x->lid, v->lid);
}

static void keep_absent(struct vm_world *t)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	size_t kept = 0;

	for (size_t i = 0; i < t->lost.n; i++) {
		struct sm_vm_request *q = &t->lost.at[i];
		bool goes = q->op == SM_VM_START || q->op == SM_VM_MIGRATE;

		if (!goes || fab_node_by_guid(f, q->host) != FAB_NONE)
			continue;
		q->guid = ABSENT;
		t->lost.at[kept++] = *q;
	}
	t->lost.n = kept;
}

void vm_ledger_check(struct vm_world *t, const char *when)
{
	struct sm_vm v, *of[VM_NAMES] = {0}, all[VM_NAMES];
	char name[SM_VM_NAME];

	for (size_t i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++) {
		struct vm_entry *x = vm_entry_of(t, v.name);

		if (!x) {
			is_wrong(t, when, v.name, "is a VM that was never created");
			continue;
		}
		all[x - t->vms] = v;
		of[x - t->vms] = &all[x - t->vms];
	}
	for (unsigned i = 0; i < VM_NAMES; i++) {
		snprintf(name, sizeof(name), "vm%u", i);
		if (in_doubt(t, name))
			check_doubtful(t, when, name, &t->vms[i], of[i]);
		else
			check_certain(t, when, name, &t->vms[i], of[i]);
	}
	keep_absent(t);
}
