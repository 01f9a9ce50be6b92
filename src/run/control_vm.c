/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands about virtual machines: lists, single requests and batches; and the members of an answer. State: none. Ways in:
 * the table of control_commands.c, ctl_vm_members(). Carries nothing out: requests go through struct run_orders.
 */
#include <jansson.h>

#include "base/map.h"
#include "base/rng.h"
#include "run/control_priv.h"

/* ---- names of hosts ---- */

static const char *host_name(const struct sm *sm, uint64_t guid)
{
	return sm && guid ? sm_node_desc(sm, guid) : "";
}

static void host_member(struct json *j, const char *key, const struct sm *sm, uint64_t guid,
			unsigned slot)
{
	if (!guid) {
		json_none(j, key);
		return;
	}
	json_open(j, key, '{');
	json_hex64(j, "guid", guid);
	json_str(j, "name", host_name(sm, guid));
	json_u64(j, "vf", slot);
	json_close(j);
}

/* ---- lists ---- */

int ctl_vm_list(const struct ctl_ask *a, struct json *j, struct err *e UNUSED)
{
	uint64_t first = a->number[0] == UINT64_MAX ? 0 : a->number[0];
	const struct sm *sm = a->v->sm;
	struct sm_vm v;

	json_open(j, "vms", '[');
	for (size_t i = first; sm && i - first < a->number[1] && sm_vm_get(sm, i, &v); i++) {
		json_open(j, NULL, '{');
		json_str(j, "vm", v.name);
		json_hex64(j, "guid", v.guid);
		json_bool(j, "running", v.running);
		json_u64(j, "lid", v.lid);
		host_member(j, "host", sm, v.running ? v.host : 0, v.slot);
		json_close(j);
	}
	json_close(j);
	return 0;
}

static const char *sriov_name(enum fab_sriov s)
{
	switch (s) {
	case FAB_SRIOV_VSWITCH:
		return "vswitch";
	case FAB_SRIOV_SHARED:
		return "shared";
	case FAB_SRIOV_NONE:
		break;
	}
	return "none";
}

int ctl_vm_hosts(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct sm_hypervisor h;

	if (!a->v->sm)
		return err_set(e, -EINVAL, "not connected to a fabric");
	json_open(j, "hosts", '[');
	for (size_t at = 0; sm_hypervisor_next(a->v->sm, &at, &h);) {
		json_open(j, NULL, '{');
		json_hex64(j, "guid", h.guid);
		json_str(j, "name", host_name(a->v->sm, h.guid));
		json_u64(j, "lid", h.lid);
		json_str(j, "sriov", sriov_name(h.sriov));
		json_u64(j, "vfs", h.vfs);
		json_u64(j, "used", h.used);
		json_u64(j, "free", h.vfs - MIN(h.used, h.vfs));
		json_close(j);
	}
	json_close(j);
	return 0;
}

/* ---- answers ---- */

static void balance_member(struct json *j, const char *key, const struct rt_balance *b)
{
	json_open(j, key, '{');
	json_u64(j, "busiest", b->busiest);
	json_fixed(j, "mean", b->mean, 3);
	json_fixed(j, "deviation", b->deviation, 3);
	json_close(j);
}

static void defragmentation_members(struct json *j, const struct sm_vm_request *q,
				    const struct sm_vm_result *r)
{
	const struct sm_defragmentation *d = &r->defragmentation;

	json_bool(j, "dry_run", q->dry_run);
	json_u64(j, "lids", d->lids);
	json_u64(j, "moved", d->moved);
	json_u64(j, "left", d->left);
	json_bool(j, "reached", d->reached);
	json_u64(j, "smps", d->smps);
	json_u64(j, "smps_sent", r->smps_tables);
	json_u64(j, "smps_fresh", d->smps_fresh);
	json_u64(j, "smps_all", d->smps_all);
	json_u64(j, "switches_touched", r->switches_touched);
	json_u64(j, "stages", r->stages);
	balance_member(j, "before", &d->before);
	balance_member(j, "after", &d->after);
	balance_member(j, "fresh", &d->fresh);
	json_seconds(j, "time_s", r->ended - MIN(r->ended, r->started));
}

static void done_members(struct json *j, const struct sm *sm, const struct sm_vm_request *q,
			 const struct sm_vm_result *r)
{
	bool stops = q->op == SM_VM_STOP;

	if (q->op == SM_VM_DEFRAGMENT) {
		defragmentation_members(j, q, r);
		return;
	}
	json_hex64(j, "guid", r->guid);
	if (q->op == SM_VM_CREATE || q->op == SM_VM_DESTROY)
		return;
	json_u64(j, "lid_before", r->lid_before);
	json_u64(j, "lid_after", r->lid_after);
	host_member(j, "from", sm, r->host_before, r->slot_before);
	host_member(j, "to", sm, stops ? 0 : r->host, r->slot);
	json_open(j, "smps", '{');
	json_u64(j, "hypervisors", r->smps_hypervisors);
	json_u64(j, "tables", r->smps_tables);
	json_u64(j, "total", (uint64_t)r->smps_hypervisors + r->smps_tables);
	json_close(j);
	json_u64(j, "switches_touched", r->switches_touched);
	json_u64(j, "stages", r->stages);
	json_seconds(j, "time_s", r->ended - MIN(r->ended, r->started));
}

void ctl_vm_members(struct json *j, const struct sm *sm, const struct sm_vm_request *q,
		    const struct sm_vm_result *r)
{
	json_bool(j, "ok", !r->rc);
	if (r->rc)
		json_str(j, "error", r->why);
	if (r->rc)
		json_bool(j, "refused", true);
	json_str(j, "op", sm_vm_op_name(q->op));
	if (q->op != SM_VM_DEFRAGMENT)
		json_str(j, "vm", q->name);
	if (!r->rc)
		done_members(j, sm, q, r);
}

/* ---- hosts by text ---- */

/* Nodes by name, made at the first name of a batch. */
struct names {
	const struct sm *sm;
	struct map64 by_hash; /* -> node; the last of those with this hash */
	bool made;
};

static uint64_t text_hash(const char *s)
{
	uint64_t h = 0;

	for (; *s; s++)
		h = hash64_add(h, (uint8_t)*s);
	return h;
}

static node_id node_named(struct names *x, const struct fab *f, const char *text)
{
	uint32_t n;

	for (node_id i = 0; !x->made && i < f->nnodes; i++)
		if (!fab_is_switch(f, i))
			map64_put(&x->by_hash, text_hash(view_name(x->sm, f, i)), i);
	x->made = true;
	n = map64_get(&x->by_hash, text_hash(text));
	return n == MAP_NONE || strcmp(view_name(x->sm, f, n), text) ? FAB_NONE : n;
}

/* The host that the text names; the GUID of a node needs no search. */
static int host_find(struct names *x, const char *text, uint64_t *guid, struct err *e)
{
	const struct fab *f = x->sm ? sm_fabric(x->sm) : NULL;
	struct iba_node_info ni;
	struct sm_status st;
	uint64_t v;
	port_id p;
	node_id n;

	sm_status(x->sm, &st);
	if (st.state != IBA_SM_MASTER) /* it does not know the subnet */
		return err_set(e, -EPERM, "this manager is not the master of the subnet");
	if (!f)
		return err_set(e, -EINVAL, "the subnet is not discovered yet");
	if (!parse_u64(text, &v) && sm_node_info(x->sm, v, &ni)) {
		*guid = v;
		return 0;
	}
	n = node_named(x, f, text);
	if (n == FAB_NONE && view_find(x->sm, text, &p, e))
		return -EINVAL;
	*guid = f->nodes[n == FAB_NONE ? f->ports[p].node : n].guid;
	return 0;
}

/* HOST[:VF]; a name may have a colon itself. */
static int place_read(struct names *x, const char *text, struct sm_vm_request *q, struct err *e)
{
	const char *colon = strrchr(text, ':');
	char host[256];
	uint64_t slot;

	if (!colon || parse_u64(colon + 1, &slot) || !slot || slot > IBA_MAX_VFS ||
	    (size_t)(colon - text) >= sizeof(host))
		return host_find(x, text, &q->host, e);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	q->slot = (unsigned)slot;
	if (!host_find(x, host, &q->host, e))
		return 0;
	q->slot = 0;
	return host_find(x, text, &q->host, e);
}

/* ---- requests ---- */

static int request_make(struct names *x, enum sm_vm_op op, const char *name, const char *more,
			struct run_vm_ask *a, struct err *e)
{
	bool placed = op == SM_VM_START || op == SM_VM_MIGRATE;

	*a = (struct run_vm_ask){.req = {.op = op}};
	snprintf(a->req.name, sizeof(a->req.name), "%s", name);
	if (strlen(name) >= sizeof(a->req.name) || !*name)
		return err_set(e, -EINVAL, "the name of a VM has 1 to %d characters, found %zu",
			       SM_VM_NAME - 1, strlen(name));
	if (placed && place_read(x, more, &a->req, e))
		return -EINVAL;
	if (op == SM_VM_CREATE && more && (parse_u64(more, &a->req.guid) || !a->req.guid))
		return err_set(e, -EINVAL,
			       "expected a GUID such as 0x0200000000000001, found '%.60s'", more);
	return 0;
}

static int check(const struct ctl_ask *a, struct err *e)
{
	if (!a->v->sm)
		return err_set(e, -EINVAL, "not connected to a fabric");
	return a->o->vms ? 0 : err_set(e, -EINVAL, "requests about VMs are not taken here");
}

static int one(const struct ctl_ask *a, enum sm_vm_op op, struct err *e)
{
	struct names x = {.sm = a->v->sm};
	struct run_vm_ask ask;
	struct err why;

	if (check(a, e))
		return -EINVAL;
	if (request_make(&x, op, a->text[0], a->text[1], &ask, &why))
		snprintf(ask.why, sizeof(ask.why), "VM %.40s: %.140s", a->text[0], why.text);
	map64_free(&x.by_hash);
	return a->o->vms(a->o->ctx, &ask, 1, false, e);
}

int ctl_vm_create(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	return one(a, SM_VM_CREATE, e);
}

int ctl_vm_start(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	return one(a, SM_VM_START, e);
}

int ctl_vm_stop(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	return one(a, SM_VM_STOP, e);
}

int ctl_vm_migrate(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	return one(a, SM_VM_MIGRATE, e);
}

int ctl_vm_destroy(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	return one(a, SM_VM_DESTROY, e);
}

int ctl_vm_defragment(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	const char *goal = a->text[0] ? a->text[0] : "fresh";
	struct run_vm_ask ask = {.req = {.op = SM_VM_DEFRAGMENT,
					 .even = !strcmp(goal, "even"),
					 .dry_run = a->number[1] && a->number[1] != UINT64_MAX}};

	if (check(a, e))
		return -EINVAL;
	if (!ask.req.even && strcmp(goal, "fresh") != 0)
		return err_set(e, -EINVAL, "'goal': expected fresh or even, found '%.40s'", goal);
	return a->o->vms(a->o->ctx, &ask, 1, false, e);
}

/* ---- batches ---- */

static bool op_read(const char *name, enum sm_vm_op *op)
{
	for (*op = SM_VM_CREATE; name && *op <= SM_VM_DESTROY; ++*op)
		if (!strcmp(sm_vm_op_name(*op), name))
			return true;
	return false;
}

/* Members of a request of a batch; a request that is none refuses the whole batch. */
static int batch_one(struct names *x, json_t *q, size_t i, struct run_vm_ask *ask, struct err *e)
{
	const char *vm = json_string_value(json_object_get(q, "vm")), *more;
	struct err why;
	enum sm_vm_op op;
	bool placed;

	if (!op_read(json_string_value(json_object_get(q, "op")), &op) || !vm)
		return err_set(e, -EINVAL,
			       "request %zu: expected {\"op\": \"create\", \"start\", \"stop\", "
			       "\"migrate\" or \"destroy\", \"vm\": \"...\"}",
			       i + 1);
	placed = op == SM_VM_START || op == SM_VM_MIGRATE;
	more = json_string_value(json_object_get(q, placed ? "host" : "guid"));
	if (placed && !more)
		return err_set(e, -EINVAL, "request %zu: %s needs 'host'", i + 1,
			       sm_vm_op_name(op));
	if (request_make(x, op, vm, more, ask, &why))
		snprintf(ask->why, sizeof(ask->why), "VM %.40s: %.140s", vm, why.text);
	return 0;
}

int ctl_vm_batch(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	size_t n = json_array_size(a->list);
	struct names x = {.sm = a->v->sm};
	struct run_vm_ask *asks;
	int rc = 0;

	if (!n)
		return err_set(e, -EINVAL, "'requests': expected one request at least");
	if (check(a, e))
		return -EINVAL;
	asks = mem_zarray(n, sizeof(*asks));
	for (size_t i = 0; !rc && i < n; i++)
		rc = batch_one(&x, json_array_get(a->list, i), i, &asks[i], e);
	if (!rc)
		rc = a->o->vms(a->o->ctx, asks, n, true, e);
	free(asks);
	map64_free(&x.by_hash);
	return rc;
}
