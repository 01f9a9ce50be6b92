/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that copies and swaps predict: from what devices held at the last check on, each answer changes the column of one
 * LID or two; compared with what devices hold at the next check, if no round was between. Computed from the devices and the
 * answers alone, without code or data of a manager. State: predicted of struct vm_world.
 */
#include "sim/device/sim_device.h"
#include "trial/vm_world.h"

enum { LIDS = 4096, SLOTS = 256 }; /* more than trials use */

static uint8_t *row(const struct vm_world *t, uint32_t sw)
{
	return t->predicted.entries + (size_t)sw * LIDS;
}

static uint16_t *slot_lid(const struct vm_world *t, uint64_t host, unsigned slot)
{
	return &t->predicted.slots[fab_node_by_guid(t->fab, host) * SLOTS + slot];
}

static uint16_t pf_lid(const struct vm_world *t, uint64_t host)
{
	node_id n = fab_node_by_guid(t->wire, host);

	return sim_port_info(t->sim, fab_port_id(t->wire, n, 0))->lid;
}

/* In force: a switch may hold entries of former tables beyond LinearFDBTop. */
static uint8_t entry(const struct vm_world *t, uint32_t sw, uint32_t lid)
{
	node_id n = t->fab->switches[sw];

	return lid > sim_switch_info(t->sim, n)->linear_top ? IBA_PORT_NONE
							    : sim_lft(t->sim, n, lid);
}

/* ---- the base ---- */

static void take(struct vm_world *t)
{
	struct vm_prediction *x = &t->predicted;

	if (!x->entries) {
		x->entries = mem_array(t->fab->nswitches, LIDS);
		x->slots = mem_array(t->fab->nnodes, SLOTS * sizeof(*x->slots));
	}
	for (uint32_t s = 0; s < t->fab->nswitches; s++)
		for (uint32_t lid = 0; lid < LIDS; lid++)
			row(t, s)[lid] = entry(t, s, lid);
	memset(x->slots, 0, t->fab->nnodes * SLOTS * sizeof(*x->slots));
	for (node_id n = 0; n < t->fab->nnodes; n++)
		for (unsigned i = 1;
		     t->fab->nodes[n].sriov == FAB_SRIOV_VSWITCH && i <= t->fab->nodes[n].vfs; i++)
			x->slots[n * SLOTS + i] = sim_port_info(t->sim, vm_function(t, n, i))->lid;
	x->rounds = lab_status(t->lab)->rounds;
	x->restarts = t->out->restarts;
	x->by = lab_sm(t->lab);
	x->holds = true;
}

/* ---- one answer ---- */

static uint32_t leaf_of(const struct vm_world *t, uint64_t host)
{
	const struct fab *f = t->fab;
	port_id far = f->ports[fab_port_id(f, fab_node_by_guid(f, host), 1)].peer;

	return far == FAB_NONE ? FAB_NONE : f->ports[far].node;
}

/* The column of the LID becomes what that of `like` is; 0: it is emptied. Inside one leaf that switch alone changes. */
static void copy(struct vm_world *t, uint16_t lid, uint16_t like, uint64_t from, uint64_t to)
{
	node_id leaf = from && to && leaf_of(t, from) == leaf_of(t, to) ? leaf_of(t, to) : FAB_NONE;

	for (uint32_t s = 0; s < t->fab->nswitches; s++)
		if (leaf == FAB_NONE || t->fab->switches[s] == leaf)
			row(t, s)[lid] = like ? row(t, s)[like] : IBA_PORT_NONE;
}

static void swap(struct vm_world *t, uint16_t a, uint16_t b, uint64_t from, uint64_t to)
{
	node_id leaf = leaf_of(t, from) == leaf_of(t, to) ? leaf_of(t, to) : FAB_NONE;

	for (uint32_t s = 0; s < t->fab->nswitches; s++)
		if (leaf == FAB_NONE || t->fab->switches[s] == leaf) {
			uint8_t was = row(t, s)[a];

			row(t, s)[a] = row(t, s)[b];
			row(t, s)[b] = was;
		}
}

static void migrated(struct vm_world *t, const struct sm_vm_result *r,
		     const struct vm_entry *before)
{
	uint16_t *left = slot_lid(t, before->host, before->slot),
		 *got = slot_lid(t, r->host, r->slot), lid = r->lid_after, other = *got;

	if (lab_config(t->lab)->sm.scheme == SM_SCHEME_DYNAMIC) {
		if (before->host != r->host)
			copy(t, lid, pf_lid(t, r->host), before->host, r->host);
		other = 0;
	} else if (!other) {
		t->predicted.holds = false; /* that VF has none: the first one may not respond */
	} else if (before->host != r->host) {
		swap(t, lid, other, before->host, r->host);
	}
	*got = lid;
	*left = other;
}

void vm_predict_result(struct vm_world *t, const struct sm_vm_request *q,
		       const struct sm_vm_result *r, const struct vm_entry *before)
{
	bool dynamic = lab_config(t->lab)->sm.scheme == SM_SCHEME_DYNAMIC;
	uint64_t host = q->op == SM_VM_STOP ? before->host : r->host;
	node_id n = fab_node_by_guid(t->fab, host);

	if (!t->predicted.holds || q->op == SM_VM_CREATE || q->op == SM_VM_DESTROY)
		return;
	if (n == FAB_NONE || (q->op != SM_VM_START && !before->running))
		t->predicted.holds = false; /* it follows requests without an answer */
	else if (t->fab->nodes[n].sriov == FAB_SRIOV_SHARED)
		return;
	else if (q->op == SM_VM_MIGRATE)
		migrated(t, r, before);
	else if (dynamic && q->op == SM_VM_START)
		copy(t, r->lid_after, pf_lid(t, host), 0, host);
	else if (dynamic)
		copy(t, before->lid, 0, 0, 0);
	if (dynamic && q->op != SM_VM_MIGRATE && t->predicted.holds)
		*slot_lid(t, host, q->op == SM_VM_STOP ? before->slot : r->slot) =
			q->op == SM_VM_STOP ? 0 : r->lid_after;
}

/* ---- the comparison ---- */

static bool is_there(const struct vm_world *t, node_id n)
{
	return fab_node_by_guid(sm_fabric(lab_sm(t->lab)), t->fab->nodes[n].guid) != FAB_NONE;
}

static void compare(struct vm_world *t, const char *when)
{
	for (uint32_t s = 0; s < t->fab->nswitches; s++)
		for (uint32_t lid = 1; is_there(t, t->fab->switches[s]) && lid < LIDS; lid++) {
			uint8_t is = entry(t, s, lid);

			if (is != row(t, s)[lid])
				lab_fail(t->out->why,
					 "%s: %s has %u for LID %u, not %u as predicted", when,
					 fab_node_name(t->fab, t->fab->switches[s]), is, lid,
					 row(t, s)[lid]);
		}
}

/* Slots as well: with prepopulated LIDs an empty one has its LID. */
static void compare_slots(struct vm_world *t, const char *when)
{
	for (node_id n = 0; n < t->fab->nnodes; n++)
		for (unsigned i = 1; t->fab->nodes[n].sriov == FAB_SRIOV_VSWITCH &&
				     is_there(t, n) && i <= t->fab->nodes[n].vfs;
		     i++) {
			uint16_t is = sim_port_info(t->sim, vm_function(t, n, i))->lid,
				 want = t->predicted.slots[n * SLOTS + i];

			if (is != want)
				lab_fail(t->out->why,
					 "%s: VF %u of %s has LID %u, not %u as predicted", when, i,
					 fab_node_name(t->fab, n), is, want);
		}
}

void vm_predict_check(struct vm_world *t, const char *when)
{
	if (t->predicted.holds && lab_status(t->lab)->rounds == t->predicted.rounds &&
	    t->predicted.restarts == t->out->restarts && t->predicted.by == lab_sm(t->lab)) {
		t->out->predicted++;
		compare(t, when);
		compare_slots(t, when);
	}
	take(t);
}

void vm_predict_free(struct vm_world *t)
{
	free(t->predicted.entries);
	free(t->predicted.slots);
}
