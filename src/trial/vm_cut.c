/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet of a trial of virtual machines is cut in two between its managers, each part goes on with a master of its own,
 * requests are made in both, and the parts are joined. State: divided of struct vm_world. Way in: vm_cut(). Does not judge:
 * whatever both masters did to a VM, the one that stays must have it once, before or after a request (vm_checks.c).
 */
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/vm_world.h"

enum { MOST = 6 }; /* requests in one part */

static node_id switch_of(const struct vm_world *t, node_id host)
{
	port_id far = t->fab->ports[fab_port_id(t->fab, host, 1)].peer;

	return far == FAB_NONE ? host : t->fab->ports[far].node;
}

/* Sides of all nodes, hosts with their switch. False: all managers are on one switch. */
static bool sides_draw(struct vm_world *t, uint8_t *side)
{
	const struct fab *f = t->fab;
	bool both = false;

	for (node_id n = 0; n < f->nnodes; n++)
		side[n] = (uint8_t)rng_below(&t->rng, 2);
	for (unsigned i = 1; i < t->out->managers && !both; i++)
		if (switch_of(t, t->seats[i]) != switch_of(t, t->seats[0])) {
			side[switch_of(t, t->seats[i])] = !side[switch_of(t, t->seats[0])];
			both = true;
		}
	for (node_id n = 0; n < f->nnodes; n++)
		if (!fab_is_switch(f, n) && f->nodes[n].nports == 1)
			side[n] = side[switch_of(t, n)];
	return both;
}

static void cut(struct vm_world *t, const uint8_t *side)
{
	for (port_id p = 0; p < t->wire->nports; p++) {
		port_id far = sim_port_peer(t->sim, p);

		if (far == FAB_NONE || t->wire->ports[p].node >= t->fab->nnodes ||
		    t->wire->ports[far].node >= t->fab->nnodes)
			continue; /* no cable, or inside an HCA */
		if (side[t->wire->ports[p].node] != side[t->wire->ports[far].node])
			sim_uncable(t->sim, p);
	}
}

/* VMs that exist: one that is created or destroyed in one part alone has no name, or one too many, in the other. */
static void ask(struct vm_world *t, unsigned manager)
{
	static const enum sm_vm_op ops[] = {SM_VM_START, SM_VM_STOP, SM_VM_MIGRATE, SM_VM_MIGRATE};
	unsigned n = rng_below(&t->rng, MOST + 1);

	for (; n; n--) {
		struct sm_vm_request q = {.token = ++t->token};

		q.op = ops[rng_below(&t->rng, ARRAY_LEN(ops))];
		q.host = t->fab->nodes[rng_below(&t->rng, t->fab->nnodes)].guid;
		snprintf(q.name, sizeof(q.name), "vm%u", rng_below(&t->rng, VM_NAMES));
		vec_push(&t->asked, q);
		if (lab_manager_vms(t->lab, manager, &q, 1))
			t->out->requests++;
		else
			t->asked.n--;
	}
}

/* A standby that lost its master takes over within some polls, and discovers its part. */
void vm_cut(struct vm_world *t)
{
	uint8_t *side = mem_zarray(t->fab->nnodes, 1);
	bool both = sides_draw(t, side);

	if (both) {
		t->divided = true;
		t->out->cuts++;
		cut(t, side);
		trial_run_for(t->lab, (50 + rng_below(&t->rng, 200)) * PS_PER_MS);
		for (unsigned i = 0; i < t->out->managers; i++)
			if (lab_manager_is_master(t->lab, i))
				ask(t, i);
		trial_run_for(t->lab, rng_u64(&t->rng) % (50 * PS_PER_MS));
	}
	free(side);
}
