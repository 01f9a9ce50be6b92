/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hypervisors and VMs in the saved subnet state: written, read, restored, and VFInfo answered from it. State: slots and
 * vms of struct sm_saved. Does not decide where a VM is: see virtual/vf_settle.c. Format: behind each node its number of
 * VFs, and for each slot what it should have, what it holds and the VM there; in the head VMs that are at none of them.
 */
#include "sm/restore/saved_state.h"

enum { IS_KNOWN = 1, IS_RUNNING = 2, IS_SHARED = 4 };

bool sm_saved_is_virtual(const struct sm *sm)
{
	return sm->virtual.hosts.n || sm->virtual.sorted.n;
}

/* ---- writing ---- */

static void save_name(const char *name, struct sm_bytes *s)
{
	sm_bytes_put_n(s, strlen(name), 1);
	sm_bytes_put(s, name, strlen(name));
}

static void save_slot(const struct sm *sm, const struct sm_slot *x, struct sm_bytes *s)
{
	const struct sm_vm *v = x->vm == NONE ? NULL : &sm->virtual.vms.at[x->vm].v;

	sm_bytes_put_n(s, x->known ? IS_KNOWN : 0, 1);
	sm_bytes_put_n(s, v && v->shared ? v->lid : x->lid, 2);
	sm_bytes_put_n(s, x->has_lid, 2);
	sm_bytes_put_n(s, x->has_guid, 8);
	save_name(v ? v->name : "", s);
	if (v)
		sm_bytes_put_n(s, v->guid, 8);
}

void sm_save_host(const struct sm *sm, uint64_t guid, struct sm_bytes *s)
{
	uint32_t host = sm_vhost_find(sm, guid);
	const struct sm_vhost *h = host == NONE || sm_vhost_node(sm, host) == NONE
					   ? NULL
					   : &sm->virtual.hosts.at[host];

	sm_bytes_put_n(s, h ? h->vfs : 0, 1);
	if (!h)
		return;
	sm_bytes_put_n(s, h->sriov, 1);
	for (unsigned i = 0; i < h->vfs; i++)
		save_slot(sm, &h->slots[i], s);
}

static bool is_apart(const struct sm *sm, const struct sm_vm_record *x)
{
	return x->host == NONE || sm_vhost_node(sm, x->host) == NONE;
}

void sm_save_vms(const struct sm *sm, struct sm_bytes *s)
{
	const struct sm_virtual *v = &sm->virtual;
	uint32_t n = 0;

	for (size_t i = 0; i < v->sorted.n; i++)
		n += is_apart(sm, &v->vms.at[v->sorted.at[i]]);
	sm_bytes_put_n(s, n, 4);
	for (size_t i = 0; i < v->sorted.n; i++) {
		const struct sm_vm_record *x = &v->vms.at[v->sorted.at[i]];

		if (!is_apart(sm, x))
			continue;
		save_name(x->v.name, s);
		sm_bytes_put_n(s, x->v.guid, 8);
		sm_bytes_put_n(s, (x->v.running ? IS_RUNNING : 0) | (x->v.shared ? IS_SHARED : 0),
			       1);
		sm_bytes_put_n(s, x->v.host, 8);
		sm_bytes_put_n(s, x->v.slot, 1);
		sm_bytes_put_n(s, x->v.lid, 2);
	}
}

/* ---- reading ---- */

static bool load_name(struct sm_source *s, char name[SM_VM_NAME])
{
	size_t n = sm_source_take_n(s, 1);
	const uint8_t *p;

	s->bad |= n >= SM_VM_NAME;
	p = s->bad ? NULL : sm_source_take(s, n);
	memset(name, 0, SM_VM_NAME);
	if (p && n)
		memcpy(name, p, n);
	return p && n;
}

void sm_load_vms(struct sm_source *s, struct sm_saved *m)
{
	for (uint64_t n = sm_source_take_n(s, 4), flags; n && !s->bad; n--) {
		struct sm_vm v = {0};

		s->bad |= !load_name(s, v.name);
		v.guid = sm_source_take_n(s, 8);
		flags = sm_source_take_n(s, 1);
		v.running = flags & IS_RUNNING;
		v.shared = flags & IS_SHARED;
		v.host = sm_source_take_n(s, 8);
		v.slot = (unsigned)sm_source_take_n(s, 1);
		v.lid = (uint16_t)sm_source_take_n(s, 2);
		if (!s->bad)
			vec_push(&m->vms, v);
	}
}

static void load_slot(struct sm_source *s, struct sm_saved *m, uint64_t host, unsigned slot)
{
	struct sm_saved_slot x = {.known = sm_source_take_n(s, 1) == IS_KNOWN};
	struct sm_vm v = {.host = host, .slot = slot, .running = true};

	x.lid = v.lid = (uint16_t)sm_source_take_n(s, 2);
	x.has_lid = (uint16_t)sm_source_take_n(s, 2);
	x.has_guid = sm_source_take_n(s, 8);
	if (load_name(s, v.name)) {
		v.guid = sm_source_take_n(s, 8);
		vec_push(&m->vms, v);
	}
	vec_push(&m->slots, x);
}

void sm_load_host(struct sm_source *s, struct sm_saved *m, struct sm_saved_node *n)
{
	n->vfs = (uint8_t)sm_source_take_n(s, 1);
	n->first_slot = (uint32_t)m->slots.n;
	if (!n->vfs)
		return;
	n->sriov = (uint8_t)sm_source_take_n(s, 1);
	s->bad |= n->vfs > IBA_MAX_VFS || n->nports != 1 || n->type != IBA_NODE_CA ||
		  (n->sriov != FAB_SRIOV_VSWITCH && n->sriov != FAB_SRIOV_SHARED);
	for (unsigned i = 1; i <= n->vfs && !s->bad; i++)
		load_slot(s, m, n->guid, i);
}

/* ---- used ---- */

/* A copy of the master is newer than what this manager remembers of the time when it was master itself. */
static void restore_vf_lid(struct sm *sm, const struct sm_saved *m, uint64_t guid, uint16_t lid)
{
	if (m->mirrored)
		sm_lid_exchange(sm, guid, lid);
	else
		sm_seed_lid(sm, guid, lid, 0);
}

/* LIDs of VFs that hold none yet; what others hold is read, or answered below. */
static void restore_lids(struct sm *sm, const struct sm_saved *m)
{
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct sm_saved_node *n = &m->nodes.at[i];

		for (unsigned s = 1; n->sriov == FAB_SRIOV_VSWITCH && s <= n->vfs; s++)
			if (sm->cfg.scheme == SM_SCHEME_PREPOPULATED)
				restore_vf_lid(sm, m, fab_function_guid(n->guid, s),
					       m->slots.at[n->first_slot + s - 1].lid);
	}
}

void sm_saved_restore_vms(struct sm *sm, const struct sm_saved *m)
{
	if (sm->cfg.scheme == SM_SCHEME_NONE)
		return;
	sm_vms_forget(sm);
	for (size_t i = 0; i < m->nodes.n; i++)
		if (m->nodes.at[i].vfs)
			sm_vhost_add(sm, m->nodes.at[i].guid, m->nodes.at[i].sriov,
				     m->nodes.at[i].vfs);
	restore_lids(sm, m);
	for (size_t i = 0; i < m->vms.n; i++)
		sm_vm_restore(sm, &m->vms.at[i]);
}

bool sm_saved_recall_vfs(const struct sm *sm, const struct sm_saved_node *n, uint32_t modifier,
			 uint8_t *data)
{
	struct iba_vf_info vi = {.vfs = n->vfs};

	if (n->sriov != FAB_SRIOV_VSWITCH || !modifier)
		return false;
	for (unsigned i = 0; i < IBA_VF_SLOTS && modifier + i <= n->vfs; i++) {
		const struct sm_saved_slot *x =
			&sm->restored.saved->slots.at[n->first_slot + modifier + i - 1];

		if (!x->known)
			return false;
		vi.lid[i] = x->has_lid;
		vi.guid[i] = x->has_guid;
		vi.count++;
	}
	iba_vf_info_put(&vi, data);
	return true;
}
