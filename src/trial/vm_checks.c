/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold in a trial of virtual machines: no LID at two functions at any moment; at rest each VM at one slot, with
 * its vGUID, and all switches lead there; tables as copies and swaps predict. State: struct vm_world. Does not draw.
 */
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "trial/vm_world.h"

/* ---- at every moment ---- */

port_id vm_function(const struct vm_world *t, node_id host, unsigned slot)
{
	return t->wire->ports[fab_port_id(t->wire, host, FAB_SLOT0_PORT + slot)].peer;
}

static bool is_vf(const struct fab *wire, port_id p)
{
	return wire->ports[p].num && wire->nodes[wire->ports[p].node].flags & FAB_FUNCTION;
}

/* A host that is cut off keeps what it held; its functions are Active again only after a manager has configured it. */
static uint16_t lid_in_use(const struct vm_world *t, port_id p)
{
	const struct iba_port_info *pi = sim_port_info(t->sim, p);

	return sim_node_on(t->sim, t->wire->ports[p].node) && pi->state == IBA_PORT_ACTIVE ? pi->lid
											   : 0;
}

static void check_lids(struct vm_world *t)
{
	static uint8_t seen[IBA_LID_MAX_UNICAST + 1];

	for (port_id p = 0; p < t->wire->nports; p++) {
		uint16_t lid = is_vf(t->wire, p) ? lid_in_use(t, p) : 0;

		if (lid && lid <= IBA_LID_MAX_UNICAST && seen[lid]++)
			lab_fail(t->out->why, "LID %u is at two functions, one of them %s", lid,
				 fab_node_name(t->wire, t->wire->ports[p].node));
	}
	for (port_id p = 0; p < t->wire->nports; p++)
		if (is_vf(t->wire, p))
			seen[sim_port_info(t->sim, p)->lid] = 0;
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct vm_world *t = ctx;

	(void)n;
	(void)port;
	(void)detail;
	if (!t->divided && what == SIM_SEEN_SEND && iba_smp_attr_id(smp->mad) == IBA_ATTR_VF_INFO &&
	    iba_smp_method(smp->mad) == IBA_GET_RESP) {
		check_lids(t);
		vm_partitions_moment(t);
	}
}

void vm_checks_start(struct vm_world *t)
{
	sim_watch(t->sim, (struct sim_watch){on_seen, t});
	/* A copy of an earlier Set may bring old entries back, until the manager reads the block. */
	if (!lab_config(t->lab)->sim.faults.dup_q32)
		lab_watch_start(&t->watch, t->lab);
}

/* ---- at rest ---- */

/* The devices hold the tables that the manager takes for those in force. */
static void check_tables(struct vm_world *t, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	const struct rt_tables *x = sm_tables(lab_sm(t->lab));

	for (uint32_t s = 0; x && s < f->nswitches; s++) {
		node_id n = fab_node_by_guid(t->wire, f->nodes[f->switches[s]].guid);

		for (uint32_t lid = 1; lid <= x->top_lid; lid++)
			if (sim_lft(t->sim, n, lid) != rt_row(x, s)[lid])
				lab_fail(t->out->why, "%s: %s holds %u for LID %u, not %u", when,
					 fab_node_name(t->wire, n), sim_lft(t->sim, n, lid), lid,
					 rt_row(x, s)[lid]);
	}
}

static bool leads(const struct vm_world *t, const struct fab *f, node_id from, uint16_t lid,
		  node_id to)
{
	node_id at = from;

	for (uint32_t hops = 0; hops <= f->nswitches && fab_is_switch(f, at); hops++) {
		node_id dev = fab_node_by_guid(t->wire, f->nodes[at].guid);
		uint8_t out = sim_lft(t->sim, dev, lid);
		port_id peer = out && out <= f->nodes[at].nports
				       ? f->ports[fab_port_id(f, at, out)].peer
				       : FAB_NONE;

		if (peer == FAB_NONE)
			return false;
		at = f->ports[peer].node;
	}
	return at == to;
}

/* A shared port has the GUIDs of all its VFs. */
static void check_function(struct vm_world *t, const struct sm_vm *v, const char *when)
{
	node_id dev = fab_node_by_guid(t->wire, v->host);
	bool shared = t->wire->nodes[dev].sriov == FAB_SRIOV_SHARED;
	port_id p = shared ? fab_port_id(t->wire, dev, 1) : vm_function(t, dev, v->slot);
	const struct iba_port_info *pi = sim_port_info(t->sim, p);
	uint64_t guid = shared ? sim_alias_guid(t->sim, p, v->slot) : sim_port_guid(t->sim, p);

	if (!v->lid || pi->lid != v->lid || guid != v->guid || pi->state != IBA_PORT_ACTIVE)
		lab_fail(t->out->why,
			 "%s: %s has LID %u, and VF %u of %s LID %u in state %u, GUID %016llx",
			 when, v->name, v->lid, v->slot, fab_node_name(t->wire, dev), pi->lid,
			 pi->state, (unsigned long long)guid);
	if (pi->gid_prefix != sim_port_info(t->sim, fab_port_id(t->wire, dev, 0))->gid_prefix)
		lab_fail(t->out->why, "%s: the GID of %s has prefix %016llx", when, v->name,
			 (unsigned long long)pi->gid_prefix);
}

static void check_vm(struct vm_world *t, const struct sm_vm *v, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	node_id host = fab_node_by_guid(f, v->host);

	if (!v->running || host == FAB_NONE) /* its host is gone */
		return;
	check_function(t, v, when);
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!leads(t, f, f->switches[s], v->lid, host))
			lab_fail(t->out->why, "%s: switch %u does not lead to LID %u of %s", when,
				 s, v->lid, v->name);
}

static unsigned count_functions(const struct vm_world *t, node_id n)
{
	const struct fab_node *x = &t->fab->nodes[n];
	unsigned count = 0;

	for (unsigned i = 1; i <= x->vfs; i++) {
		port_id p = x->sriov == FAB_SRIOV_SHARED ? fab_port_id(t->wire, n, 1)
							 : vm_function(t, n, i);
		uint64_t own = fab_function_guid(x->guid, i), guid;

		if (x->sriov == FAB_SRIOV_SHARED)
			guid = sim_alias_guid(t->sim, p, i);
		else
			guid = sim_port_info(t->sim, p)->lid ? sim_port_guid(t->sim, p) : 0;
		count += guid && guid != own;
	}
	return count;
}

/* No function has a vGUID but those with VMs. */
static void check_slots(struct vm_world *t, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	unsigned vms = 0, functions = 0;
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++)
		vms += v.running && fab_node_by_guid(f, v.host) != FAB_NONE;
	for (node_id n = 0; n < t->fab->nnodes; n++)
		if (fab_node_by_guid(f, t->fab->nodes[n].guid) != FAB_NONE)
			functions += count_functions(t, n);
	if (vms != functions)
		lab_fail(t->out->why, "%s: %u VMs run, and %u functions have a vGUID", when, vms,
			 functions);
}

/* Prepopulated: each VF has a LID, with a VM or without. Another one, which does not respond, may hold that of an empty VF. */
static void check_prepopulated(struct vm_world *t, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));

	if (lab_config(t->lab)->sm.scheme != SM_SCHEME_PREPOPULATED || f->nnodes < t->fab->nnodes)
		return;
	for (node_id n = 0; n < t->fab->nnodes; n++)
		for (unsigned i = 1;
		     t->fab->nodes[n].sriov == FAB_SRIOV_VSWITCH && i <= t->fab->nodes[n].vfs; i++)
			if (!sim_port_info(t->sim, vm_function(t, n, i))->lid)
				lab_fail(t->out->why, "%s: VF %u of %s has no LID", when, i,
					 fab_node_name(t->fab, n));
}

static void check_verdict(struct vm_world *t, const char *when)
{
	struct lab_verdict v;

	lab_judge(t->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		lab_fail(t->out->why, "%s: %.200s", when, v.why);
	rt_report_free(&v.report);
}

void vm_check(struct vm_world *t, const char *when)
{
	struct sm_vm v;

	if (!lab_sm(t->lab) || !sm_fabric(lab_sm(t->lab)))
		return;
	t->out->checks++;
	check_lids(t);
	check_tables(t, when);
	vm_ledger_check(t, when);
	for (size_t i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++)
		check_vm(t, &v, when);
	check_slots(t, when);
	check_prepopulated(t, when);
	check_verdict(t, when);
	vm_partitions_check(t, when);
	if (t->watch.running && t->watch.unsafe_at != TIME_NEVER)
		lab_fail(t->out->why, "%s: at %llu us the tables allowed a deadlock of %zu links",
			 when, (unsigned long long)(t->watch.unsafe_at / PS_PER_US),
			 t->watch.ncycle);
	vm_predict_check(t, when);
}
