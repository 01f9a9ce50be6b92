/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For whom P_Key tables are: a port, its VF, or a port with all machines behind it. State: partitions.who, for one
 * computation. Way in: sm_pkey_holders(). Does not decide who is a member of what: src/policy does.
 */
#include "sm/manager.h"

struct pol_port sm_pol_port(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return (struct pol_port){
		.guid = p->guid,
		.node_guid = n->guid,
		.type = (enum iba_node_type)n->type,
		.num = p->num,
		.description = sm_node_desc(sm, n->guid),
		.is_sm = sm_is_own(sm, p),
	};
}

/* A machine has the name that it was given, wherever it is; a VF without one has none. */
static struct pol_port of_slot(const struct sm *sm, uint32_t host, unsigned slot, uint32_t vm)
{
	const struct sm_vm *v = vm == NONE ? NULL : &sm->virtual.vms.at[vm].v;

	return (struct pol_port){
		.guid = v ? v->guid : sm_slot_own_guid(sm, host, slot),
		.node_guid = sm_slot_own_guid(sm, host, slot),
		.type = IBA_NODE_CA,
		.num = 1,
		.description = v ? v->name : "",
	};
}

static uint32_t host_at(const struct sm *sm, uint32_t port)
{
	return sm_vhost_of(sm, &sm->topo.nodes.at[sm->topo.ports.at[port].node]);
}

unsigned sm_pkey_slots(const struct sm *sm, const struct sm_node *n)
{
	uint32_t host = sm_vhost_of(sm, n);

	return host == NONE || sm->virtual.hosts.at[host].sriov != FAB_SRIOV_VSWITCH
		       ? 0
		       : sm->virtual.hosts.at[host].vfs;
}

bool sm_pkey_slot_serves(struct sm *sm, struct sm_pkey_place at)
{
	return sm_slot_of(sm, host_at(sm, at.port), at.slot)->lid || sm_pkey_table(sm, at)->set_at;
}

/* Machines behind a port, and VFs that have a LID without one. */
static void add_machines(struct sm *sm, uint32_t host, bool adding)
{
	for (unsigned s = 1; s <= sm->virtual.hosts.at[host].vfs; s++) {
		const struct sm_slot *x = sm_slot_of(sm, host, s);
		uint32_t after = sm_slot_vm_after(sm, host, s);

		if (after != NONE || x->lid)
			vec_push(&sm->partitions.who, of_slot(sm, host, s, after));
		if (adding && x->vm != NONE && x->vm != after)
			vec_push(&sm->partitions.who, of_slot(sm, host, s, x->vm));
	}
}

void sm_pkey_holders(struct sm *sm, struct sm_pkey_place at, bool adding)
{
	uint32_t of = sm_pkeys_of(sm, at.port), host = host_at(sm, of);

	sm->partitions.who.n = 0;
	if (at.slot) {
		vec_push(&sm->partitions.who,
			 of_slot(sm, host, at.slot, sm_slot_vm_after(sm, host, at.slot)));
		return;
	}
	vec_push(&sm->partitions.who, sm_pol_port(sm, of));
	if (host != NONE && (of != at.port || sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED))
		add_machines(sm, host, adding);
}
