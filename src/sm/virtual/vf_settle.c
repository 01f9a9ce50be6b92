/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * At the end of a discovery: where the VMs of a broken batch are, VMs that an earlier manager had attached, and LIDs of
 * slots. State: places of VMs. Does not set anything in a device: see vf_config.c.
 */
#include "sm/manager.h"

/* ---- a batch that was interrupted ---- */

static bool answers(const struct sm *sm, uint32_t host)
{
	uint32_t n = host == NONE ? NONE : sm_vhost_node(sm, host);

	return n != NONE && !sm->topo.nodes.at[n].ask.ports_left &&
	       !sm_is_excluded(sm, sm->topo.nodes.at[n].guid);
}

/*
 * The switch that its cable leads to shows that the link is down. Whatever its VFs hold, they are not Active, and the round in
 * which the host returns sets them before they are.
 */
static bool is_unplugged(const struct sm *sm, uint32_t host)
{
	const struct fab *f = sm->topo.fab; /* before this round */
	node_id n = f ? fab_node_by_guid(f, sm->virtual.hosts.at[host].guid) : FAB_NONE;
	port_id far = n == FAB_NONE ? FAB_NONE : f->ports[fab_port_id(f, n, 1)].peer;
	uint32_t sw = far == FAB_NONE
			      ? MAP_NONE
			      : map64_get(&sm->topo.by_guid, f->nodes[f->ports[far].node].guid);
	const struct sm_port *p;

	if (sm_vhost_node(sm, host) != NONE || sw == MAP_NONE || sm->topo.nodes.at[sw].gone ||
	    f->ports[far].num > sm->topo.nodes.at[sw].nports)
		return false;
	p = &sm->topo.ports.at[sm->topo.nodes.at[sw].first_port + f->ports[far].num];
	return p->ask.known && p->pi.state == IBA_PORT_DOWN;
}

/*
 * Whether the request is completed. Once an attach was sent it may have been carried out, and a VM that did not
 * acknowledge its detach may still be there: neither is undone elsewhere, unless the host that the VM goes to has lost its
 * link. In between, a destination that answers gets the VM.
 */
static bool goes_on(const struct sm *sm, const struct sm_job *j)
{
	if (j->attach_sent)
		return !is_unplugged(sm, j->to) || (j->from != NONE && !answers(sm, j->from));
	if (j->to == NONE)
		return j->detached || answers(sm, j->from);
	return j->detached && answers(sm, j->to);
}

static void settle_batch(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;

	for (size_t i = 0; i < v->batch.jobs.n; i++) {
		struct sm_job *j = &v->batch.jobs.at[i];

		if (j->result.rc || j->checked == false)
			continue;
		if (sm_is_defragment(j)) {
			j->result.rc = -EINTR;
		} else if (goes_on(sm, j)) {
			sm_job_place(sm, j);
		} else {
			sm_job_back(sm, j);
			j->result.rc = -EHOSTUNREACH;
		}
		j->checked = false; /* it is decided */
	}
}

void sm_virtual_ended(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	char buf[24];

	if (!v->batch.broken)
		return;
	for (size_t i = 0; i < v->batch.jobs.n; i++) {
		struct sm_job *j = &v->batch.jobs.at[i];
		uint32_t host = j->to == NONE ? j->from : j->to;

		if (sm_is_defragment(j))
			sm_job_refuse(sm, j, -EINTR,
				      "the subnet has changed meanwhile: some routes may be new, "
				      "others as before");
		else if (j->result.rc)
			sm_job_refuse(sm, j, j->result.rc, "VM %s: host %s stopped to respond",
				      j->req.name, sm_vhost_name(sm, v->hosts.at[host].guid, buf));
		else
			sm_job_done(sm, j);
	}
	sm_batch_clear(sm);
	v->replan = true;
}

/* ---- VMs that devices hold, after another manager ---- */

static bool holds(const struct sm *sm, uint32_t host, unsigned slot, uint64_t guid)
{
	const struct sm_slot *s = sm_slot_of(sm, host, slot);

	return sm_vhost_node(sm, host) != NONE && s->known && s->has_guid == guid &&
	       (s->has_lid || sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED);
}

static void found(struct sm *sm, uint32_t host, unsigned slot)
{
	struct sm_slot *s = sm_slot_of(sm, host, slot);
	uint32_t vm = map64_get(&sm->virtual.vm_by_guid, s->has_guid);
	struct sm_vm_record *x;
	char name[SM_VM_NAME];

	if (vm == MAP_NONE && sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED)
		return; /* ports have GUIDs for other uses, too */
	if (vm == MAP_NONE) {
		snprintf(name, sizeof(name), "0x%016llx", (unsigned long long)s->has_guid);
		if (sm_vm_find(sm, name) != NONE)
			return;
		vm = sm_vm_add(sm, name, s->has_guid);
	}
	x = &sm->virtual.vms.at[vm];
	if (x->seen || (x->host != NONE && (x->host != host || x->v.slot != slot) &&
			holds(sm, x->host, x->v.slot, x->v.guid)))
		return; /* it is where it is known to be */
	x->seen = true;
	if (x->host == host && x->v.slot == slot)
		return;
	if (s->vm != NONE)
		sm_vm_place(sm, s->vm, NONE, 0); /* for now: see find_places() */
	sm_vm_place(sm, vm, host, slot);
	sm_vm_note(sm, vm);
}

/* VMs whose place another one has: a free slot of the same host, or none. */
static void find_place(struct sm *sm, uint32_t vm, uint32_t host)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];

	for (unsigned s = 1; s <= h->vfs; s++)
		if (h->slots[s - 1].vm == NONE) {
			sm_vm_place(sm, vm, host, s);
			break;
		}
	sm_vm_note(sm, vm);
}

static void find_vms(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;
	VEC(uint32_t) was = {0};

	for (uint32_t i = 0; i < v->vms.n; i++) {
		v->vms.at[i].seen = false;
		vec_push(&was, v->vms.at[i].used ? v->vms.at[i].host : NONE);
	}
	for (size_t i = 0; i < v->hosts_sorted.n; i++) {
		uint32_t host = v->hosts_sorted.at[i];

		if (sm_vhost_node(sm, host) == NONE)
			continue;
		for (unsigned s = 1; s <= v->hosts.at[host].vfs; s++)
			if (v->hosts.at[host].slots[s - 1].has_guid &&
			    holds(sm, host, s, v->hosts.at[host].slots[s - 1].has_guid))
				found(sm, host, s);
	}
	for (uint32_t i = 0; i < was.n; i++)
		if (was.at[i] != NONE && v->vms.at[i].host == NONE)
			find_place(sm, i, was.at[i]);
	vec_free(&was);
}

/* ---- LIDs ---- */

static void no_lid(struct sm *sm, uint32_t host, uint32_t vfs)
{
	struct sm_virtual *v = &sm->virtual;

	if (!vfs || sm_vhost_node(sm, host) == NONE)
		return;
	if (!v->without.hosts++)
		v->without.first = host;
	v->without.vfs += vfs;
}

/* One record for all of them, since there may be thousands. */
static void note_without(struct sm *sm)
{
	const struct sm_virtual *v = &sm->virtual;
	uint32_t n;

	sm->core.st.vfs_without_lid = v->without.vfs;
	if (!v->without.vfs)
		return;
	n = sm_vhost_node(sm, v->without.first);
	sm_note(sm, .kind = SM_NOTE_VFS_WITHOUT_LID,
		.about = sm_about_port(sm, sm->topo.nodes.at[n].first_port + 1),
		.without = {v->without.vfs, v->without.hosts});
}

/* Each VF of a host that is there has one. */
static void lids_prepopulated(struct sm *sm, uint32_t host)
{
	struct sm_vhost *h = &sm->virtual.hosts.at[host];
	bool there = sm_vhost_node(sm, host) != NONE;
	uint32_t none = 0;

	for (unsigned s = 1; s <= h->vfs; s++) {
		struct sm_slot *x = &h->slots[s - 1];

		if (there)
			x->lid = sm_lid_give(sm, sm_slot_own_guid(sm, host, s), 0,
					     x->known ? x->has_lid : 0);
		else if (x->vm != NONE) {
			sm_lid_keep(sm, sm_slot_own_guid(sm, host, s));
			x->lid = sm_lid_of(sm, sm_slot_own_guid(sm, host, s), NULL);
		}
		none += there && !x->lid;
		if (x->vm != NONE)
			sm_vm_lid(sm, x->vm, x->lid);
	}
	no_lid(sm, host, none);
}

static void lids_dynamic(struct sm *sm, uint32_t host)
{
	struct sm_vhost *h = &sm->virtual.hosts.at[host];
	uint32_t none = 0;

	for (unsigned s = 1; s <= h->vfs; s++) {
		struct sm_slot *x = &h->slots[s - 1];
		struct sm_vm *v = x->vm == NONE ? NULL : &sm->virtual.vms.at[x->vm].v;

		x->lid = v ? sm_lid_give(sm, v->guid, 0, v->lid) : 0;
		none += v && !x->lid;
		if (v)
			sm_vm_lid(sm, x->vm, x->lid);
	}
	no_lid(sm, host, none);
}

static void lids_shared(struct sm *sm, uint32_t host)
{
	struct sm_vhost *h = &sm->virtual.hosts.at[host];
	uint16_t lid = sm_vhost_lid(sm, host);

	for (unsigned s = 1; lid && s <= h->vfs; s++)
		if (h->slots[s - 1].vm != NONE)
			sm_vm_lid(sm, h->slots[s - 1].vm, lid);
}

void sm_virtual_settle(struct sm *sm)
{
	struct sm_virtual *v = &sm->virtual;

	if (v->batch.broken)
		settle_batch(sm);
	if (v->arriving && v->hosts.n)
		find_vms(sm);
	v->arriving = false;
	v->without.vfs = v->without.hosts = 0;
	for (size_t i = 0; i < v->hosts_sorted.n; i++) {
		uint32_t host = v->hosts_sorted.at[i];

		if (v->hosts.at[host].sriov == FAB_SRIOV_SHARED)
			lids_shared(sm, host);
		else if (sm->cfg.scheme == SM_SCHEME_PREPOPULATED)
			lids_prepopulated(sm, host);
		else
			lids_dynamic(sm, host);
	}
	note_without(sm);
	v->replan = true;
}
