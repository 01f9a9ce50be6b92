/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold in a trial of virtual machines: no LID at two functions at any moment; at rest each VM at one slot, with
 * its vGUID, and all switches lead there; tables as copies and swaps predict. State: struct vm_world. Does not draw.
 */
#include "route/moves.h"
#include "sim/device/sim_device.h"
#include "trial/vm_checks.h"

/* ---- at every moment ---- */

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
			trial_fail(t->out->why, "LID %u is at two functions, one of them %s", lid,
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
	if (what == SIM_SEEN_SEND && iba_smp_attr_id(smp->mad) == IBA_ATTR_VF_INFO &&
	    iba_smp_method(smp->mad) == IBA_GET_RESP)
		check_lids(t);
}

void vm_checks_start(struct vm_world *t)
{
	sim_watch(t->sim, (struct sim_watch){on_seen, t});
	t->watched = !strcmp(t->out->mechanism, "weft");
	if (t->watched)
		lab_watch_start(&t->watch, t->lab);
}

/* ---- what copies and swaps predict ---- */

static void model_drop(struct vm_world *t)
{
	rt_tables_free(t->tables);
	fab_free(t->of);
	t->tables = NULL;
	t->of = NULL;
}

static void model_take(struct vm_world *t)
{
	const struct sm *sm = lab_sm(t->lab);

	model_drop(t);
	if (!sm || !sm_tables(sm) || !sm_fabric(sm))
		return;
	t->of = fab_build(fab_builder_from(sm_fabric(sm)));
	t->tables = rt_tables_carry(t->of, sm_tables(sm), t->of);
	t->rounds = lab_status(t->lab)->rounds;
	t->restarts = t->out->restarts;
}

static uint16_t pf_lid(const struct vm_world *t, uint64_t guid)
{
	node_id n = fab_node_by_guid(t->of, guid);

	return n == FAB_NONE ? 0 : t->of->ports[fab_port_id(t->of, n, 1)].lid;
}

static void model_move(struct vm_world *t, const struct rt_move *m, size_t n)
{
	rt_move_entries e = {0};

	rt_moves_effects(t->of, t->tables, m, n, &e);
	for (size_t i = 0; i < n; i++)
		rt_moves_reach(t->tables, m[i].lid);
	rt_moves_apply(t->tables, &e);
	vec_free(&e);
}

/* With prepopulated LIDs the slot that the VM got had the other one. */
static uint16_t lid_swapped(const struct vm_world *t, const struct sm_vm_result *r)
{
	node_id n = fab_node_by_guid(t->of, r->host);
	const struct fab_vlid *v;
	uint32_t k = n == FAB_NONE ? 0 : fab_vlids_of(t->of, fab_port_id(t->of, n, 1), &v);

	for (uint32_t i = 0; i < k; i++)
		if (v[i].slot == r->slot)
			return v[i].lid;
	return 0;
}

static void vlid_set(struct vm_world *t, uint64_t host, unsigned slot, uint16_t lid)
{
	for (uint32_t i = 0; i < t->of->nvlids; i++) {
		struct fab_vlid *v = &t->of->vlids[i];

		if (v->slot == slot && t->of->nodes[t->of->ports[v->port].node].guid == host)
			v->lid = lid;
	}
}

void vm_model_result(struct vm_world *t, const struct sm_vm_result *r)
{
	bool dynamic = lab_config(t->lab)->sm.scheme == SM_SCHEME_DYNAMIC;
	uint16_t other;

	if (r->rc || !t->tables || (!r->lid_before && !r->lid_after))
		return;
	if (r->host_before == r->host && r->lid_after) { /* tables lead to the same host */
		other = dynamic ? 0 : lid_swapped(t, r);
		vlid_set(t, r->host, r->slot, r->lid_after);
		vlid_set(t, r->host_before, r->slot_before, other);
	} else if (dynamic) {
		model_move(t,
			   &(struct rt_move){r->lid_after ? r->lid_after : r->lid_before,
					     r->lid_after ? pf_lid(t, r->host) : 0},
			   1);
	} else if (r->host_before && r->lid_after) {
		other = lid_swapped(t, r);
		model_move(t,
			   (const struct rt_move[]){{r->lid_after, other}, {other, r->lid_after}},
			   2);
		vlid_set(t, r->host, r->slot, r->lid_after);
		vlid_set(t, r->host_before, r->slot_before, other);
	}
}

static void check_model(struct vm_world *t, const char *when)
{
	const struct rt_tables *is = sm_tables(lab_sm(t->lab));

	if (!t->tables || !is || lab_status(t->lab)->rounds != t->rounds ||
	    t->restarts != t->out->restarts)
		return;
	t->out->predicted++;
	for (uint32_t s = 0; s < is->nswitches; s++)
		for (uint32_t lid = 1; lid <= MAX(is->top_lid, t->tables->top_lid); lid++) {
			uint8_t x = lid <= is->top_lid ? rt_row(is, s)[lid] : IBA_PORT_NONE;
			uint8_t y = lid <= t->tables->top_lid ? rt_row(t->tables, s)[lid]
							      : IBA_PORT_NONE;

			if (x != y)
				trial_fail(t->out->why,
					   "%s: switch %u has %u for LID %u, not %u as predicted",
					   when, s, x, lid, y);
		}
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
				trial_fail(t->out->why, "%s: %s holds %u for LID %u, not %u", when,
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

static void check_vm(struct vm_world *t, const struct sm_vm *v, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	node_id host = fab_node_by_guid(f, v->host), dev = fab_node_by_guid(t->wire, v->host);
	const struct iba_port_info *pi;
	port_id p;

	if (!v->running || host == FAB_NONE) /* its host is gone */
		return;
	p = t->wire->ports[fab_port_id(t->wire, dev, FAB_SLOT0_PORT + v->slot)].peer;
	pi = sim_port_info(t->sim, p);
	if (!v->lid || pi->lid != v->lid || sim_port_guid(t->sim, p) != v->guid ||
	    pi->state != IBA_PORT_ACTIVE)
		trial_fail(t->out->why, "%s: %s has LID %u, and its function %s LID %u in state %u",
			   when, v->name, v->lid, fab_node_name(t->wire, t->wire->ports[p].node),
			   pi->lid, pi->state);
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!leads(t, f, f->switches[s], v->lid, host))
			trial_fail(t->out->why, "%s: switch %u does not lead to LID %u of %s", when,
				   s, v->lid, v->name);
}

/* No function is attached but those with VMs, or with LIDs from the start. */
static void check_slots(struct vm_world *t, const char *when)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	unsigned vms = 0, functions = 0;
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++)
		vms += v.running && fab_node_by_guid(f, v.host) != FAB_NONE;
	for (port_id p = 0; p < t->wire->nports; p++) {
		node_id n = t->wire->ports[p].node;
		port_id up = is_vf(t->wire, p) ? t->wire->ports[p].peer : FAB_NONE;

		if (up == FAB_NONE || t->wire->ports[up].num == FAB_SLOT0_PORT ||
		    fab_node_by_guid(f, t->wire->nodes[t->wire->ports[up].node].guid) == FAB_NONE)
			continue;
		functions += sim_port_info(t->sim, p)->lid &&
			     sim_port_guid(t->sim, p) != sim_function_guid(t->sim, n);
	}
	if (vms != functions)
		trial_fail(t->out->why, "%s: %u VMs run, and %u functions have a vGUID", when, vms,
			   functions);
}

void vm_check(struct vm_world *t, const char *when)
{
	struct sm_vm v;

	if (!lab_sm(t->lab) || !sm_fabric(lab_sm(t->lab)))
		return;
	check_lids(t);
	check_tables(t, when);
	for (size_t i = 0; sm_vm_get(lab_sm(t->lab), i, &v); i++)
		check_vm(t, &v, when);
	check_slots(t, when);
	check_model(t, when);
	if (t->watched && t->watch.unsafe_at != TIME_NEVER)
		trial_fail(t->out->why, "%s: at %llu us the tables allowed a deadlock of %zu links",
			   when, (unsigned long long)(t->watch.unsafe_at / PS_PER_US),
			   t->watch.ncycle);
	model_take(t);
}

void vm_checks_free(struct vm_world *t)
{
	model_drop(t);
}
