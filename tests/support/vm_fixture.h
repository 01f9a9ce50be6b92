/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subnet of hypervisors with a manager, for tests of virtual machines: a generated fabric whose hosts all have VFs, in
 * the devices' view. State: struct vm_world, with the answers to all requests. Include first.
 */
#ifndef WEFT_TEST_VM_FIXTURE_H
#define WEFT_TEST_VM_FIXTURE_H

#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/manager.h"

struct vm_world {
	struct fab *fab, *wire; /* compact, and what devices show */
	struct lab *lab;
	struct lab_config cfg;
	const struct pol *policy; /* of all managers; NULL: none */
	VEC(struct sm_vm_result) results;
};

static inline void vm_note(void *ctx, const struct sm_vm_result *r)
{
	struct vm_world *w = ctx;

	vec_push(&w->results, *r);
}

static inline struct fab *vm_fabric(const struct fab_gen *g, enum fab_sriov sriov, unsigned vfs)
{
	struct err e;
	struct fab *plain = fab_generate(g, &e), *f;
	struct fab_builder *b = fab_builder_from(plain);

	for (node_id n = 0; n < plain->nnodes; n++)
		if (!fab_is_switch(plain, n)) {
			fab_builder_node(b, n)->sriov = (uint8_t)sriov;
			fab_builder_node(b, n)->vfs = (uint8_t)vfs;
		}
	f = fab_build(b);
	fab_free(plain);
	return f;
}

static inline void vm_draw(struct vm_world *w, enum sm_scheme scheme, enum fab_sriov sriov,
			   unsigned vfs)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct err e;

	memset(w, 0, sizeof(*w));
	w->fab = vm_fabric(&g, sriov, vfs);
	w->wire = fab_wire(w->fab, &e);
	assert_non_null(w->wire);
	lab_config_default(&w->cfg);
	w->cfg.sm.scheme = scheme;
	w->cfg.sm_node = FAB_NONE;
	for (node_id n = 0; w->cfg.sm_node == FAB_NONE; n++)
		if (!fab_is_switch(w->fab, n))
			w->cfg.sm_node = n;
}

/* second: with another manager, on the last host. */
static inline void vm_up(struct vm_world *w, bool second)
{
	struct err e;

	w->lab = lab_new(w->wire, &w->cfg, &e);
	assert_non_null(w->lab);
	if (second)
		lab_manager_add(w->lab, w->fab->nnodes - 1, &w->cfg.sm);
	lab_on_vm(w->lab, vm_note, w);
	for (unsigned i = 0; w->policy && i <= second; i++)
		lab_manager_policy(w->lab, i, w->policy);
	lab_power_on(w->lab, NULL);
	assert_true(lab_run_ready(w->lab, 10 * PS_PER_S));
}

static inline void vm_open(struct vm_world *w, enum sm_scheme scheme, enum fab_sriov sriov,
			   unsigned vfs)
{
	vm_draw(w, scheme, sriov, vfs);
	vm_up(w, false);
}

static inline void vm_close(struct vm_world *w)
{
	lab_free(w->lab);
	fab_free(w->wire);
	fab_free(w->fab);
	vec_free(&w->results);
}

/* The n-th host, as a node of either view. */
static inline node_id vm_host(const struct vm_world *w, unsigned n)
{
	for (node_id i = 0; i < w->fab->nnodes; i++)
		if (!fab_is_switch(w->fab, i) && !n--)
			return i;
	return FAB_NONE;
}

static inline uint64_t vm_host_guid(const struct vm_world *w, unsigned n)
{
	return w->fab->nodes[vm_host(w, n)].guid;
}

/* Of the port of a program on host n, as the device says: behind a vSwitch that of the PF. */
static inline uint64_t vm_own_guid(const struct vm_world *w, unsigned n)
{
	const struct fab *f = w->wire;
	node_id host = vm_host(w, n);
	port_id p = fab_port_id(f, host, 1);

	if (f->nodes[host].flags & FAB_VSWITCH)
		p = f->ports[fab_port_id(f, host, FAB_SLOT0_PORT)].peer;
	return sim_port_guid(lab_sim(w->lab), p);
}

static inline struct sm_vm_request vm_ask(enum sm_vm_op op, const char *name, uint64_t host,
					  unsigned slot)
{
	struct sm_vm_request r = {.op = op, .host = host, .slot = slot};

	snprintf(r.name, sizeof(r.name), "%s", name);
	return r;
}

/* One request, carried out; its answer. */
static inline struct sm_vm_result vm_do(struct vm_world *w, struct sm_vm_request r)
{
	size_t n = w->results.n;

	assert_true(lab_manager_vms(w->lab, 0, &r, 1));
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_S));
	assert_int_equal(w->results.n, n + 1);
	return w->results.at[n];
}

static inline struct sm_vm vm_get(struct vm_world *w, const char *name)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(lab_sm(w->lab), i, &v); i++)
		if (!strcmp(v.name, name))
			return v;
	return (struct sm_vm){0};
}

/* The n-th hypervisor that the manager has. */
static inline bool vm_hypervisor(struct vm_world *w, size_t n, struct sm_hypervisor *h)
{
	size_t at = 0;
	bool is = true;

	for (size_t i = 0; is && i <= n; i++)
		is = sm_hypervisor_next(lab_sm(w->lab), &at, h);
	return is;
}

/* The port of the function in a slot, in the devices' view. */
static inline port_id vm_port(const struct vm_world *w, node_id host, unsigned slot)
{
	return w->wire->ports[fab_port_id(w->wire, host, FAB_SLOT0_PORT + slot)].peer;
}

/* How many VFs of all hosts hold this LID. */
static inline unsigned vm_places(const struct vm_world *w, uint16_t lid)
{
	unsigned n = 0;

	for (port_id p = 0; p < w->wire->nports; p++)
		if (w->wire->nodes[w->wire->ports[p].node].flags & FAB_FUNCTION)
			n += sim_port_info(lab_sim(w->lab), p)->lid == lid;
	return n;
}

/* Whether each switch leads packets for the LID to the host. */
static inline bool vm_routed(const struct vm_world *w, uint16_t lid, node_id host)
{
	const struct fab *f = w->fab;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id at = f->switches[s];

		for (unsigned hops = 0; hops < f->nswitches + 1 && fab_is_switch(f, at); hops++) {
			uint8_t out = sim_lft(lab_sim(w->lab), at, lid);
			port_id peer = out && out <= f->nodes[at].nports
					       ? f->ports[fab_port_id(f, at, out)].peer
					       : FAB_NONE;

			if (peer == FAB_NONE)
				return false;
			at = f->ports[peer].node;
		}
		if (at != host)
			return false;
	}
	return true;
}

#endif
