/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What discovery learns of hypervisors: NodeInfo of a vSwitch folded into that of a CA, what VFs hold, and the snapshot's
 * part of it. State: hosts and slots of struct sm_virtual. Does not decide where a VM is: see vf_settle.c.
 */
#include "sm/manager.h"

/* ---- NodeInfo ---- */

/* From its uplink, or by the manager at its PF. */
static bool is_vswitch(const struct sm *sm, const struct iba_node_info *ni)
{
	return ni->device_id == IBA_DEVICE_VSWITCH && ni->node_type == IBA_NODE_SWITCH &&
	       ni->num_ports > 2 && ni->num_ports - 2 <= IBA_MAX_VFS &&
	       (ni->local_port <= FAB_UPLINK ||
		(sm->virtual.seat == SM_SEAT_PF && ni->local_port == FAB_SLOT0_PORT));
}

/*
 * The port of this CA is that of the PF: programs of the host know its GUID, SMInfo names it, and their GID has it. The GUID
 * that the vSwitch has for its own port 0 is in use as well.
 */
void sm_node_info_take(struct sm *sm, const uint8_t *data, struct iba_node_info *ni)
{
	uint32_t host;

	iba_node_info_get(ni, data, IBA_SMP_DATA_SIZE);
	if (sm->cfg.scheme == SM_SCHEME_NONE || !ni->node_guid || !is_vswitch(sm, ni))
		return;
	host = sm_vhost_add(sm, ni->node_guid, FAB_SRIOV_VSWITCH, ni->num_ports - 2u);
	map64_put(&sm->virtual.function_guids, ni->port_guid, host);
	ni->port_guid = fab_function_guid(ni->node_guid, 0);
	ni->node_type = IBA_NODE_CA;
	ni->num_ports = 1;
	ni->local_port = FAB_UPLINK;
}

/*
 * A manager at the PF of a vSwitch takes the vSwitch for its own node, and all its directed routes begin with that hop:
 * see core/transactions.c. Behind any other device a function is a CA like others.
 */
bool sm_seat_moves(struct sm *sm, const struct iba_node_info *ni)
{
	if (sm->virtual.seat == SM_SEAT_UNKNOWN) {
		bool pf = sm->cfg.scheme != SM_SCHEME_NONE &&
			  ni->device_id == IBA_DEVICE_FUNCTION && ni->node_type == IBA_NODE_CA;

		sm->virtual.seat = pf ? SM_SEAT_PF : SM_SEAT_OWN;
		return pf;
	}
	if (sm->virtual.seat != SM_SEAT_PF || ni->device_id == IBA_DEVICE_VSWITCH)
		return false;
	sm->virtual.seat = SM_SEAT_OWN;
	return true;
}

/* ---- what VFs hold ---- */

static void ask_all(struct sm *sm, uint32_t host)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];
	uint32_t port = sm->topo.nodes.at[sm_vhost_node(sm, host)].first_port + 1;

	if (h->sriov == FAB_SRIOV_SHARED)
		for (unsigned b = 0; b <= h->vfs / SM_GUIDS; b++)
			sm_ask_vf(sm, port, b);
	else
		for (unsigned s = 1; s <= h->vfs; s += IBA_VF_SLOTS)
			sm_ask_vf(sm, port, s);
}

static bool may_hold_vms(const struct sm *sm, uint32_t host)
{
	return sm->virtual.hosts.at[host].sriov == FAB_SRIOV_VSWITCH || sm->virtual.sorted.n;
}

/*
 * An HCA without a LID has restarted: its VFs hold nothing, unless a manager that knows only switches made it Active, or a VM
 * was being attached and the SMP arrived after the restart. Any other may have restarted before the last round set its port,
 * LID included. So where there are VMs, what VFs hold is read. GUIDs of shared ports are read only then.
 */
void sm_virtual_port(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];
	uint32_t host;

	if (sm->cfg.scheme != SM_SCHEME_NONE && n->device_id == IBA_DEVICE_SHARED &&
	    n->type == IBA_NODE_CA && n->nports == 1 && p->pi.guid_cap > 1)
		sm_vhost_add(sm, n->guid, FAB_SRIOV_SHARED, p->pi.guid_cap - 1u);
	host = sm_vhost_of(sm, n);
	if (host == NONE)
		return;
	if (!p->pi.lid && p->pi.state < IBA_PORT_ARMED && !sm->virtual.sorted.n)
		sm_slots_blank(sm, host);
	else if (may_hold_vms(sm, host))
		ask_all(sm, host);
}

/* Whose LID a VF has: the VM's that is there, or the VF's own. */
static uint64_t owner_of(const struct sm *sm, uint32_t host, unsigned slot)
{
	uint64_t guid = sm_slot_of(sm, host, slot)->has_guid;

	return sm->cfg.scheme == SM_SCHEME_DYNAMIC && guid ? guid
							   : sm_slot_own_guid(sm, host, slot);
}

/* A VM is to be there and none is: the VF gets the LID of the VM, and keeps none that it has. */
static bool is_awaited(const struct sm_slot *x)
{
	return x->vm != NONE && !x->has_guid;
}

/* Until discovery completes, LIDs that VFs have are in use. */
static void claim(struct sm *sm, uint32_t host)
{
	const struct sm_vhost *h = &sm->virtual.hosts.at[host];

	for (unsigned s = 1; s <= h->vfs; s++)
		if (h->slots[s - 1].known && h->slots[s - 1].has_lid &&
		    !is_awaited(&h->slots[s - 1]))
			sm_lid_found(sm, owner_of(sm, host, s), h->slots[s - 1].has_lid);
}

static bool is_right(const struct sm *sm, uint32_t host)
{
	for (unsigned s = 1; s <= sm->virtual.hosts.at[host].vfs; s++)
		if (sm_slot_of(sm, host, s)->known && !sm_slot_is_right(sm, host, s))
			return false;
	return true;
}

void sm_virtual_read(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	const struct sm_node *n = &sm->topo.nodes.at[t->target.node];
	uint32_t host = sm_vhost_of(sm, n);

	sm_vf_learn(sm, t, data);
	if (host != NONE && sm_is_partial(&sm->disc) &&
	    !is_right(sm, host)) /* no link may have changed */
		sm_discovery_found(sm, SM_FOUND_CHANGE);
	if (host != NONE && sm->virtual.arriving &&
	    sm->virtual.hosts.at[host].sriov == FAB_SRIOV_VSWITCH)
		claim(sm, host);
}

void sm_virtual_discover(struct sm *sm)
{
	for (uint32_t h = 0; h < sm->virtual.hosts.n; h++)
		if (sm_vhost_is_there(sm, h) && !sm_slots_known(sm, h) && may_hold_vms(sm, h))
			ask_all(sm, h);
}

void sm_virtual_restarted(struct sm *sm, uint32_t node)
{
	uint32_t host = sm_vhost_of(sm, &sm->topo.nodes.at[node]);

	if (host == NONE || !sm->virtual.sorted.n)
		return;
	sm_slots_unknown(sm, host);
	ask_all(sm, host);
}

void sm_virtual_arrive(struct sm *sm)
{
	sm->virtual.arriving = true;
	for (uint32_t h = 0; h < sm->virtual.hosts.n; h++)
		sm_slots_unknown(sm, h);
}
