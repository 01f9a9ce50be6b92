/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HCAs with SR-IOV, by GUID, and their slots: what each should hold and what its VF is known to hold. State: hosts of
 * struct sm_virtual, for the manager's whole life. Does not send anything.
 */
#include "sm/manager.h"

/* ---- hypervisors ---- */

uint32_t sm_vhost_find(const struct sm *sm, uint64_t guid)
{
	uint32_t h = map64_get(&sm->virtual.host_by_guid, guid);

	return h == MAP_NONE ? NONE : h;
}

static void sort_in(struct sm *sm, uint32_t host)
{
	struct sm_virtual *v = &sm->virtual;
	size_t i = v->hosts_sorted.n;

	vec_push(&v->hosts_sorted, host);
	for (; i && v->hosts.at[v->hosts_sorted.at[i - 1]].guid > v->hosts.at[host].guid; i--)
		v->hosts_sorted.at[i] = v->hosts_sorted.at[i - 1];
	v->hosts_sorted.at[i] = host;
}

/* Another number of VFs: VMs beyond are stopped. */
static void resize(struct sm *sm, uint32_t host, unsigned vfs)
{
	struct sm_vhost *h = &sm->virtual.hosts.at[host];

	for (unsigned s = vfs + 1; s <= h->vfs; s++) {
		if (h->slots[s - 1].vm != NONE)
			sm_vm_place(sm, h->slots[s - 1].vm, NONE, 0);
		sm_slot_has(sm, &h->slots[s - 1], (struct sm_vf){0});
	}
	h->slots = mem_resize(h->slots, vfs, sizeof(*h->slots));
	for (unsigned s = h->vfs + 1; s <= vfs; s++) {
		h->slots[s - 1] = (struct sm_slot){.vm = NONE, .vm_later = NONE, .arrives = NONE};
		map64_put(&sm->virtual.function_guids, fab_function_guid(h->guid, s), host);
	}
	h->vfs = vfs;
	sm->virtual.replan = true;
}

uint32_t sm_vhost_add(struct sm *sm, uint64_t guid, enum fab_sriov sriov, unsigned vfs)
{
	struct sm_virtual *v = &sm->virtual;
	uint32_t host = sm_vhost_find(sm, guid);

	if (host == NONE) {
		host = (uint32_t)v->hosts.n;
		vec_push(&v->hosts, (struct sm_vhost){.guid = guid});
		map64_put(&v->host_by_guid, guid, host);
		sort_in(sm, host);
	}
	if (v->hosts.at[host].vfs != vfs)
		resize(sm, host, vfs);
	v->hosts.at[host].sriov = sriov;
	return host;
}

uint32_t sm_vhost_node(const struct sm *sm, uint32_t host)
{
	uint32_t n = map64_get(&sm->topo.by_guid, sm->virtual.hosts.at[host].guid);

	return n == MAP_NONE || sm->topo.nodes.at[n].gone ||
			       sm->topo.nodes.at[n].type == IBA_NODE_SWITCH
		       ? NONE
		       : n;
}

bool sm_vhost_is_there(const struct sm *sm, uint32_t host)
{
	uint32_t n = sm_vhost_node(sm, host);

	return n != NONE && sm->topo.fab && sm->topo.nodes.at[n].fab != FAB_NONE;
}

uint16_t sm_vhost_lid(const struct sm *sm, uint32_t host)
{
	uint32_t n = sm_vhost_node(sm, host);

	return n == NONE ? 0 : sm->topo.ports.at[sm->topo.nodes.at[n].first_port + 1].pi.lid;
}

bool sm_hypervisor_next(const struct sm *sm, size_t *at, struct sm_hypervisor *h)
{
	const struct sm_virtual *v = &sm->virtual;

	while (*at < v->hosts_sorted.n) {
		uint32_t host = v->hosts_sorted.at[(*at)++];
		const struct sm_vhost *x = &v->hosts.at[host];

		if (!sm_vhost_is_there(sm, host))
			continue;
		*h = (struct sm_hypervisor){.guid = x->guid,
					    .lid = sm_vhost_lid(sm, host),
					    .vfs = x->vfs,
					    .sriov = x->sriov};
		for (unsigned s = 0; s < x->vfs; s++)
			h->used += x->slots[s].vm != NONE;
		return true;
	}
	return false;
}

/* ---- slots ---- */

struct sm_slot *sm_slot_of(const struct sm *sm, uint32_t host, unsigned slot)
{
	return &sm->virtual.hosts.at[host].slots[slot - 1];
}

uint64_t sm_slot_own_guid(const struct sm *sm, uint32_t host, unsigned slot)
{
	return fab_function_guid(sm->virtual.hosts.at[host].guid, slot);
}

uint16_t sm_slot_wants(const struct sm *sm, uint32_t host, unsigned slot, uint64_t *guid)
{
	const struct sm_slot *s = sm_slot_of(sm, host, slot);

	*guid = s->vm == NONE ? 0 : sm->virtual.vms.at[s->vm].v.guid;
	return s->lid;
}

/* A shared port has one LID; only the GUID of a VM is set, and that of an empty slot left as it is. */
bool sm_slot_is_right(const struct sm *sm, uint32_t host, unsigned slot)
{
	const struct sm_slot *s = sm_slot_of(sm, host, slot);
	uint64_t guid;
	uint16_t lid = sm_slot_wants(sm, host, slot, &guid);

	if (sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED)
		return s->known ? s->has_guid == guid : s->vm == NONE;
	/* A VF without a VM has time: another one, which does not respond, may hold its LID. */
	if (s->known && !s->has_lid && s->vm == NONE && lid && sm->virtual.held[lid])
		return true;
	return s->known && s->has_lid == lid && (!lid || s->has_guid == guid);
}

uint32_t sm_slot_vm_after(const struct sm *sm, uint32_t host, unsigned slot)
{
	const struct sm_slot *s = sm_slot_of(sm, host, slot);

	return s->arrives != NONE ? s->arrives : s->leaves ? NONE : s->vm;
}

bool sm_slots_known(const struct sm *sm, uint32_t host)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];

	for (unsigned s = 0; s < h->vfs; s++)
		if (!h->slots[s].known)
			return false;
	return true;
}

void sm_slots_unknown(struct sm *sm, uint32_t host)
{
	struct sm_vhost *h = &sm->virtual.hosts.at[host];

	for (unsigned s = 0; s < h->vfs; s++)
		h->slots[s].known = false;
}

void sm_slot_has(struct sm *sm, struct sm_slot *s, struct sm_vf v)
{
	if (s->has_lid && s->has_lid <= IBA_LID_MAX_UNICAST)
		sm->virtual.held[s->has_lid]--;
	s->has_lid = v.lid;
	s->has_guid = v.guid;
	s->known = true;
	if (v.lid && v.lid <= IBA_LID_MAX_UNICAST)
		sm->virtual.held[v.lid]++;
}

void sm_slots_blank(struct sm *sm, uint32_t host)
{
	struct sm_vhost *h = &sm->virtual.hosts.at[host];

	for (unsigned s = 0; s < h->vfs; s++) {
		sm_slot_has(sm, &h->slots[s], (struct sm_vf){0});
	}
}

/* ---- the snapshot ---- */

uint32_t sm_vhost_of(const struct sm *sm, const struct sm_node *n)
{
	if (sm->cfg.scheme == SM_SCHEME_NONE || n->type != IBA_NODE_CA || n->nports != 1 ||
	    (n->device_id != IBA_DEVICE_VSWITCH && n->device_id != IBA_DEVICE_SHARED))
		return NONE;
	return sm_vhost_find(sm, n->guid);
}

void sm_virtual_snapshot(struct sm *sm, struct fab_builder *b, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint32_t host = sm_vhost_of(sm, n);
	const struct sm_vhost *h;

	if (host == NONE)
		return;
	h = &sm->virtual.hosts.at[host];
	fab_builder_node(b, n->fab)->sriov = (uint8_t)h->sriov;
	fab_builder_node(b, n->fab)->vfs = (uint8_t)h->vfs;
	for (unsigned s = 1; h->sriov == FAB_SRIOV_VSWITCH && s <= h->vfs; s++) {
		uint64_t guid;
		uint16_t lid = sm_slot_wants(sm, host, s, &guid);

		if (lid)
			fab_add_vlid(b, n->fab, s, lid, guid);
	}
}

bool sm_virtual_stands(const struct sm *sm)
{
	for (uint32_t h = 0; h < sm->virtual.hosts.n; h++)
		for (unsigned s = 1; s <= sm->virtual.hosts.at[h].vfs; s++)
			if (sm_vhost_node(sm, h) != NONE && !sm_slot_is_right(sm, h, s))
				return false;
	return true;
}
