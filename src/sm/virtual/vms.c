/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines: a record for each, by name and by vGUID. State: vms of struct sm_virtual, and which VM is at a slot.
 * Does not send anything, nor decide where a VM goes.
 */
#include "sm/manager.h"

#include "base/rng.h"

static int compare(const struct sm *sm, size_t at, const char *name)
{
	return strcmp(sm->virtual.vms.at[sm->virtual.sorted.at[at]].v.name, name);
}

/* The first that is not before the name. */
static size_t place_of(const struct sm *sm, const char *name)
{
	size_t low = 0, high = sm->virtual.sorted.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(sm, mid, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t sm_vm_find(const struct sm *sm, const char *name)
{
	size_t at = place_of(sm, name);

	return at < sm->virtual.sorted.n && !compare(sm, at, name) ? sm->virtual.sorted.at[at]
								   : NONE;
}

bool sm_vm_get(const struct sm *sm, size_t n, struct sm_vm *v)
{
	if (n >= sm->virtual.sorted.n)
		return false;
	*v = sm->virtual.vms.at[sm->virtual.sorted.at[n]].v;
	return true;
}

/* ---- vGUIDs ---- */

uint64_t sm_shared_guid(const struct sm *sm, uint64_t host, unsigned slot)
{
	uint32_t h = sm_vhost_find(sm, host), vm;

	if (h == NONE || sm->virtual.hosts.at[h].sriov != FAB_SRIOV_SHARED || !slot ||
	    slot > sm->virtual.hosts.at[h].vfs)
		return 0;
	vm = sm_slot_of(sm, h, slot)->vm;
	return vm == NONE ? 0 : sm->virtual.vms.at[vm].v.guid;
}

uint32_t sm_vms_number(const struct sm *sm)
{
	return sm->virtual.changes;
}

uint64_t sm_shared_host(const struct sm *sm, uint64_t vguid)
{
	uint32_t vm = map64_get(&sm->virtual.vm_by_guid, vguid);
	uint32_t h = vm == MAP_NONE ? NONE : sm->virtual.vms.at[vm].host;

	return h == NONE || sm->virtual.hosts.at[h].sriov != FAB_SRIOV_SHARED
		       ? 0
		       : sm->virtual.hosts.at[h].guid;
}

const char *sm_vm_name(const struct sm *sm, uint64_t vguid)
{
	uint32_t vm = map64_get(&sm->virtual.vm_by_guid, vguid);

	return vm == MAP_NONE ? "" : sm->virtual.vms.at[vm].v.name;
}

bool sm_guid_known(const struct sm *sm, uint64_t guid)
{
	return map64_get(&sm->virtual.vm_by_guid, guid) != MAP_NONE ||
	       map64_get(&sm->virtual.function_guids, guid) != MAP_NONE ||
	       map64_get(&sm->topo.by_guid, guid) != MAP_NONE ||
	       map64_get(&sm->topo.by_port_guid, guid) != MAP_NONE || sm_lid_of(sm, guid, NULL);
}

bool sm_guid_taken(const struct sm *sm, uint64_t guid)
{
	return sm_guid_known(sm, guid) || sm_alias_is_taken(sm, guid);
}

/* From the name, so that a VM of this name gets the same again. */
uint64_t sm_guid_choose(const struct sm *sm, const char *name)
{
	enum { LOCAL = 2 }; /* EUI-64 of local administration */
	uint64_t h = 0, guid;

	for (const char *p = name; *p; p++)
		h = hash64_add(h, (uint8_t)*p);
	do {
		h = hash64(h);
		guid = (uint64_t)LOCAL << 56 | h >> 8;
	} while (sm_guid_taken(sm, guid));
	return guid;
}

/* ---- records ---- */

uint32_t sm_vm_add(struct sm *sm, const char *name, uint64_t guid)
{
	struct sm_virtual *v = &sm->virtual;
	size_t at = place_of(sm, name);
	uint32_t vm;

	if (v->vms_free.n) {
		vm = v->vms_free.at[--v->vms_free.n];
	} else {
		vm = (uint32_t)v->vms.n;
		vec_push(&v->vms, (struct sm_vm_record){0});
	}
	v->vms.at[vm] = (struct sm_vm_record){
		.v = {.guid = guid}, .host = NONE, .host_later = NONE, .used = true};
	snprintf(v->vms.at[vm].v.name, SM_VM_NAME, "%s", name);
	map64_put(&v->vm_by_guid, guid, vm);
	vec_push(&v->sorted, vm);
	memmove(v->sorted.at + at + 1, v->sorted.at + at,
		(v->sorted.n - 1 - at) * sizeof(*v->sorted.at));
	v->sorted.at[at] = vm;
	v->vms.at[vm].changed = sm_vms_changed(sm);
	return vm;
}

void sm_vm_note(struct sm *sm, uint32_t vm)
{
	const struct sm_vm *v = &sm->virtual.vms.at[vm].v;

	sm_note(sm, .kind = SM_NOTE_VM, .vm = *v,
		.about = {.kind = v->running ? SM_ABOUT_DEVICE : SM_ABOUT_NONE,
			  .a = {.guid = v->host}});
}

void sm_vm_remove(struct sm *sm, uint32_t vm)
{
	struct sm_virtual *v = &sm->virtual;
	size_t at = place_of(sm, v->vms.at[vm].v.name);

	sm_note(sm, .kind = SM_NOTE_VM_GONE, .vm = v->vms.at[vm].v);
	memmove(v->sorted.at + at, v->sorted.at + at + 1,
		(v->sorted.n - 1 - at) * sizeof(*v->sorted.at));
	v->sorted.n--;
	map64_del(&v->vm_by_guid, v->vms.at[vm].v.guid);
	v->vms.at[vm].used = false;
	vec_push(&v->vms_free, vm);
	sm_vms_changed(sm);
}

/* Trees follow a VM that is a member of groups, and a function that shows its own GUID without a VM. */
static void trees_follow(struct sm *sm, uint32_t vm, uint32_t host, unsigned slot)
{
	const struct sm_vm_record *x = &sm->virtual.vms.at[vm];

	sm_multicast_moved(sm, x->v.guid);
	if (x->host != NONE)
		sm_multicast_moved(sm, sm_slot_own_guid(sm, x->host, x->v.slot));
	if (host != NONE)
		sm_multicast_moved(sm, sm_slot_own_guid(sm, host, slot));
}

/* Requests that wait may want it elsewhere: unless one of them says so, they are checked again. */
void sm_vm_place(struct sm *sm, uint32_t vm, uint32_t host, unsigned slot)
{
	struct sm_vm_record *x = &sm->virtual.vms.at[vm];

	trees_follow(sm, vm, host, slot);
	x->changed = sm_vms_changed(sm);
	if (x->host != NONE && sm_slot_of(sm, x->host, x->v.slot)->vm == vm) {
		sm_slot_of(sm, x->host, x->v.slot)->vm = NONE;
		sm_slot_of(sm, x->host, x->v.slot)->changed = x->changed;
	}
	x->host = host;
	x->v.running = host != NONE;
	x->v.shared = host != NONE && sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED;
	if (host != NONE) {
		x->v.host = sm->virtual.hosts.at[host].guid;
		x->v.slot = slot;
		sm_slot_of(sm, host, slot)->vm = vm;
		sm_slot_of(sm, host, slot)->changed = x->changed;
	}
	sm->virtual.replan = true;
}

void sm_vm_lid(struct sm *sm, uint32_t vm, uint16_t lid)
{
	sm->virtual.vms.at[vm].v.lid = lid;
}

/* ---- handed over before the start ---- */

static bool name_is_valid(const char *name)
{
	size_t n = strnlen(name, SM_VM_NAME);

	return n && n < SM_VM_NAME;
}

/* The LID that it had stays its own: of the VF where it is, or of the VM. */
static void seed_lid(struct sm *sm, const struct sm_vm *v)
{
	bool dynamic = sm->cfg.scheme == SM_SCHEME_DYNAMIC;

	sm_seed_lid(sm, dynamic ? v->guid : fab_function_guid(v->host, v->slot), v->lid, 0);
	if (sm->core.phase !=
	    SM_OFF) /* a copy of the master: newer than what this manager remembers */
		sm_lid_exchange(sm, dynamic ? v->guid : fab_function_guid(v->host, v->slot),
				v->lid);
}

static bool makes_sense(const struct sm *sm, const struct sm_vm *v)
{
	return name_is_valid(v->name) && v->guid && sm_vm_find(sm, v->name) == NONE &&
	       map64_get(&sm->virtual.vm_by_guid, v->guid) == MAP_NONE &&
	       (!v->running || (v->host && v->slot && v->slot <= IBA_MAX_VFS));
}

/* Of a host that is not there: the LID of a VM on a shared port is that of another port. */
static enum fab_sriov kind_of_host(const struct sm *sm, const struct sm_vm *v)
{
	bool dynamic = sm->cfg.scheme == SM_SCHEME_DYNAMIC;
	uint64_t own = dynamic ? v->guid : fab_function_guid(v->host, v->slot);

	return v->shared || (v->lid && sm_lid_of(sm, own, NULL) != v->lid &&
			     !sm_lid_free(sm, v->lid, 0))
		       ? FAB_SRIOV_SHARED
		       : FAB_SRIOV_VSWITCH;
}

static bool restore(struct sm *sm, const struct sm_vm *v)
{
	uint32_t vm, host = v->running ? sm_vhost_find(sm, v->host) : NONE;

	if (!makes_sense(sm, v))
		return false;
	if (v->running && (host == NONE || sm->virtual.hosts.at[host].vfs < v->slot))
		host = sm_vhost_add(sm, v->host,
				    host == NONE ? kind_of_host(sm, v)
						 : sm->virtual.hosts.at[host].sriov,
				    v->slot);
	if (v->running && sm_slot_of(sm, host, v->slot)->vm != NONE)
		return false;
	vm = sm_vm_add(sm, v->name, v->guid);
	sm->virtual.vms.at[vm].v.host = v->host;
	sm->virtual.vms.at[vm].v.slot = v->slot;
	if (!v->running)
		return true;
	sm_vm_place(sm, vm, host, v->slot);
	sm_vm_lid(sm, vm, v->lid);
	if (sm->virtual.hosts.at[host].sriov == FAB_SRIOV_VSWITCH)
		seed_lid(sm, v);
	return true;
}

bool sm_seed_vm(struct sm *sm, const struct sm_vm *v)
{
	return sm->core.phase == SM_OFF && restore(sm, v);
}

void sm_vm_restore(struct sm *sm, const struct sm_vm *v)
{
	restore(sm, v);
}

void sm_vms_forget(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;

	for (size_t h = 0; h < v->hosts.n; h++)
		for (unsigned s = 0; s < v->hosts.at[h].vfs; s++)
			v->hosts.at[h].slots[s].vm = v->hosts.at[h].slots[s].vm_later = NONE;
	v->vms.n = v->vms_free.n = v->sorted.n = 0;
	map64_clear(&v->vm_by_guid);
	v->replan = true;
}
