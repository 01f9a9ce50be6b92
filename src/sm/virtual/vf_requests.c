/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VFs as devices hold them: VFInfo of an HCA in vSwitch mode, six slots in an SMP; GUIDInfo of a shared port, where
 * slot s is GUID s of eight in a block. Keeps no state. Does not decide what a slot should hold, nor see answers.
 */
#include "sm/manager.h"

static uint32_t port_of(const struct sm *sm, uint32_t host)
{
	return sm->topo.nodes.at[sm_vhost_node(sm, host)].first_port + 1;
}

/* ---- requests ---- */

/* The vGUID of a slot when this step of the batch is done: requests about other slots of a block are under way with it. */
static uint64_t guid_in_batch(const struct sm *sm, uint32_t host, unsigned slot)
{
	const struct sm_batch *b = &sm->virtual.batch;
	uint64_t guid;

	sm_slot_wants(sm, host, slot, &guid);
	for (size_t i = 0; i < b->jobs.n; i++) {
		const struct sm_job *j = &b->jobs.at[i];

		if (j->from == host && j->from_slot == slot)
			guid = 0;
		if (b->step == SM_MOVE_ATTACH && j->to == host && j->to_slot == slot)
			guid = sm->virtual.vms.at[j->vm].v.guid;
	}
	return guid;
}

static void guids_make(struct sm *sm, uint32_t host, unsigned slot, bool batch, struct sm_req *r)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];
	uint32_t port = port_of(sm, host), first = slot / SM_GUIDS * SM_GUIDS;
	struct iba_guid_info gi = {0};

	for (unsigned i = 0; i < SM_GUIDS && first + i <= h->vfs; i++)
		if (!(first + i))
			gi.guid[i] = sm->topo.ports.at[port].guid;
		else if (batch)
			gi.guid[i] = guid_in_batch(sm, host, first + i);
		else
			sm_slot_wants(sm, host, first + i, &gi.guid[i]);
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
	r->attr_id = IBA_ATTR_GUID_INFO;
	r->attr_mod = slot / SM_GUIDS;
	iba_guid_info_put(&gi, r->data);
}

static void vfs_make(struct sm *sm, uint32_t host, unsigned slot, const struct iba_vf_info *vi,
		     struct sm_req *r)
{
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port_of(sm, host));
	r->attr_id = IBA_ATTR_VF_INFO;
	r->attr_mod = slot;
	iba_vf_info_put(vi, r->data);
}

void sm_vf_set(struct sm *sm, uint32_t host, unsigned slot, struct sm_vf v, struct sm_req *r)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];
	struct iba_vf_info vi = {.vfs = (uint8_t)h->vfs, .count = 1};

	if (h->sriov == FAB_SRIOV_SHARED) {
		guids_make(sm, host, slot, true, r);
		return;
	}
	vi.lid[0] = v.lid;
	vi.guid[0] = v.guid;
	vfs_make(sm, host, slot, &vi, r);
}

unsigned sm_vf_set_run(struct sm *sm, uint32_t host, unsigned slot, struct sm_req *r)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];
	struct iba_vf_info vi = {.vfs = (uint8_t)h->vfs};
	unsigned n = 0;

	if (h->sriov == FAB_SRIOV_SHARED) {
		guids_make(sm, host, slot, false, r);
		return SM_GUIDS - slot % SM_GUIDS;
	}
	for (; n < IBA_VF_SLOTS && slot + n <= h->vfs; n++) {
		vi.lid[n] = sm_slot_wants(sm, host, slot + n, &vi.guid[n]);
		if (!sm_slot_is_right(sm, host, slot + n))
			vi.count = (uint8_t)(n + 1);
	}
	for (n = vi.count; n < IBA_VF_SLOTS; n++)
		vi.lid[n] = 0, vi.guid[n] = 0;
	vfs_make(sm, host, slot, &vi, r);
	return vi.count;
}

void sm_vf_get(struct sm *sm, uint32_t port, uint32_t modifier, struct sm_req *r)
{
	uint32_t host = sm_vhost_find(sm, sm->topo.nodes.at[sm->topo.ports.at[port].node].guid);

	sm_req_port(sm, r, IBA_GET, SM_FOR_DISCOVERY, port);
	r->attr_id = sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED ? IBA_ATTR_GUID_INFO
									  : IBA_ATTR_VF_INFO;
	r->attr_mod = modifier;
}
