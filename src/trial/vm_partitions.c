/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partitions in a trial of virtual machines: each VM has one of its own, and one with its neighbour. State: the policy of
 * struct vm_world. Where packets can reach a machine, its function and the switch in front of it have its keys; at rest the key
 * that only it has is nowhere else. Does not draw requests.
 */
#include "policy/policy.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/trial_common.h"
#include "trial/vm_world.h"

enum { OWN = 0x100, PAIR = 0x200, HOSTS = 0x300, KEYS = 32 };

static void member(struct pol *p, unsigned pkey, struct pol_member m)
{
	char name[16];

	snprintf(name, sizeof(name), "p%x", pkey);
	vec_push(&pol_partition(p, name, (uint16_t)pkey)->members, m);
}

/* Of VMs that were created before. Another time: with other keys for some of them. */
void vm_partitions_set(struct vm_world *t)
{
	bool all = rng_below(&t->rng, 2);
	struct sm_vm v;

	if (!lab_sm(t->lab))
		return;
	pol_free(t->policy);
	t->policy = pol_new();
	pol_partitions_begin(t->policy);
	member(t->policy, HOSTS, (struct pol_member){.who = POL_ALL_CAS, .as = POL_FULL});
	for (unsigned i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++) {
		struct pol_member m = {.who = POL_GUID, .as = POL_FULL, .guid = v.guid};

		member(t->policy, OWN + i, m);
		m.as = i & 1 ? POL_LIMITED : POL_FULL;
		if (all || i % 3)
			member(t->policy, PAIR + i / 2, m);
	}
	for (unsigned i = 0; i < t->out->managers; i++)
		lab_manager_policy(t->lab, i, t->policy);
}

static bool has(const struct vm_world *t, port_id p, uint16_t key)
{
	for (unsigned i = 0; i < KEYS; i++)
		if (sim_pkey(t->sim, p, i) == key)
			return true;
	return false;
}

/* The key of a GUID that the table does not have; 0: it has all. */
static uint16_t missing(const struct vm_world *t, port_id p, uint64_t guid)
{
	struct pol_port who = {.guid = guid, .type = IBA_NODE_CA, .num = 1, .description = ""};
	uint16_t keys[KEYS];
	size_t n = MIN(pol_pkeys(t->policy, &who, keys, KEYS), (size_t)KEYS);

	for (size_t i = 0; i < n; i++)
		if (!has(t, p, keys[i]))
			return keys[i];
	return 0;
}

static bool enforces(const struct vm_world *t, port_id leaf)
{
	return leaf != FAB_NONE && fab_is_switch(t->wire, t->wire->ports[leaf].node) &&
	       sim_node_on(t->sim, t->wire->ports[leaf].node) &&
	       sim_port_info(t->sim, leaf)->part_enf_in;
}

/* ---- at every moment ---- */

/* While a round configures devices, a function may lose its keys before the machine that it is to lose; hosts that the
 * manager does not reach have what they had. */
static bool belongs(const struct vm_world *t, node_id host, unsigned slot, uint64_t guid)
{
	const struct sm *sm = lab_sm(t->lab);
	struct sm_vm v;

	if (!sm || !sm_fabric(sm) ||
	    fab_node_by_guid(sm_fabric(sm), t->wire->nodes[host].guid) == FAB_NONE)
		return false;
	if (lab_status(t->lab)->phase == SM_MOVE)
		return true; /* it is there, or arrives */
	for (size_t i = 0; sm_vm_get(sm, i, &v); i++)
		if (v.guid == guid)
			return v.running && v.host == t->wire->nodes[host].guid && v.slot == slot;
	return false;
}

/* A switch that restarted during a round enforces again before that is noticed, and forwards nothing until then. */
static bool leads(const struct vm_world *t, port_id leaf, uint16_t lid)
{
	node_id sw = t->wire->ports[leaf].node;

	return lid <= sim_switch_info(t->sim, sw)->linear_top &&
	       sim_lft(t->sim, sw, lid) == t->wire->ports[leaf].num;
}

/* A function that is Active with the GUID of a machine. */
static void check_reachable(struct vm_world *t, node_id host, unsigned slot)
{
	port_id p = vm_function(t, host, slot),
		leaf = sim_port_peer(t->sim, fab_port_id(t->wire, host, 1));
	const struct iba_port_info *pi = sim_port_info(t->sim, p);
	uint64_t guid = sim_port_guid(t->sim, p);

	if (!sim_node_on(t->sim, t->wire->ports[p].node) || pi->state != IBA_PORT_ACTIVE ||
	    guid == fab_function_guid(t->wire->nodes[host].guid, slot) ||
	    !belongs(t, host, slot, guid))
		return;
	if (missing(t, p, guid))
		lab_fail(t->out->why, "VF %u of %s is Active without P_Key 0x%04x of its machine",
			 slot, fab_node_name(t->fab, host), missing(t, p, guid));
	if (enforces(t, leaf) && leads(t, leaf, pi->lid) && missing(t, leaf, guid))
		lab_fail(t->out->why, "the switch of %s has no P_Key 0x%04x of a machine there",
			 fab_node_name(t->fab, host), missing(t, leaf, guid));
}

/* Copies of Sets that come late undo later ones for a while, and a new policy takes some time. */
void vm_partitions_moment(struct vm_world *t)
{
	if (!t->policy || !t->policy_stands || t->out->loss || t->divided ||
	    lab_config(t->lab)->sim.faults.dup_q32)
		return;
	for (node_id n = 0; n < t->fab->nnodes; n++)
		for (unsigned s = 1;
		     t->fab->nodes[n].sriov == FAB_SRIOV_VSWITCH && s <= t->fab->nodes[n].vfs; s++)
			check_reachable(t, n, s);
}

/* ---- at rest ---- */

/* The key that only this machine has: at its function, or the port that it shares, and the switch, of all that are there. */
static void check_own(struct vm_world *t, const struct sm_vm *v, uint16_t key, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));

	for (node_id n = 0; n < t->fab->nnodes; n++) {
		const struct fab_node *x = &t->fab->nodes[n];
		port_id up = fab_port_id(t->wire, n, 1), leaf = sim_port_peer(t->sim, up);
		bool here = v->running && v->host == x->guid;

		if (!x->vfs || fab_node_by_guid(f, x->guid) == FAB_NONE)
			continue;
		if (enforces(t, leaf) && has(t, leaf, key) != here)
			lab_fail(t->out->why, "%s: P_Key 0x%04x of %s at the switch of %s", when,
				 key, v->name, fab_node_name(t->fab, n));
		if (x->sriov == FAB_SRIOV_SHARED && has(t, up, key) != here)
			lab_fail(t->out->why, "%s: P_Key 0x%04x of %s at the port of %s", when, key,
				 v->name, fab_node_name(t->fab, n));
		for (unsigned s = 1; x->sriov == FAB_SRIOV_VSWITCH && s <= x->vfs; s++)
			if (sim_port_info(t->sim, vm_function(t, n, s))->lid &&
			    has(t, vm_function(t, n, s), key) != (here && s == v->slot))
				lab_fail(t->out->why, "%s: P_Key 0x%04x of %s at VF %u of %s", when,
					 key, v->name, s, fab_node_name(t->fab, n));
	}
}

static void check_all(struct vm_world *t, const char *when)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++) {
		struct pol_port who = {.guid = v.guid, .type = IBA_NODE_CA, .description = ""};

		for (unsigned k = 0; k < VM_NAMES; k++) {
			const struct pol_partition *own = pol_partition_find(t->policy, OWN + k);

			if (own && pol_membership(t->policy, own, &who))
				check_own(t, &v, (OWN + k) | POL_FULL_BIT, when);
		}
	}
}

/* A copy of an earlier Set undoes a later one until its response tells the manager of it. */
static void check_after_copies(struct vm_world *t, const char *when)
{
	t->out->why[0] = 0;
	trial_run_for(t->lab, 2 * lab_config(t->lab)->sim.faults.delay_max_ps + PS_PER_MS);
	lab_run_settled(t->lab, sim_now(t->sim), sim_now(t->sim) + 600 * PS_PER_S);
	check_all(t, when);
}

void vm_partitions_check(struct vm_world *t, const char *when)
{
	bool failed = t->out->why[0];

	if (!t->policy)
		return;
	t->policy_stands = true;
	check_all(t, when);
	if (!failed && t->out->why[0] && lab_config(t->lab)->sim.faults.dup_q32)
		check_after_copies(t, when);
	vm_partitions_moment(t);
}
