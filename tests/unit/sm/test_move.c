/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines on simulated hypervisors: brought up, started, migrated and stopped with each scheme, with what devices
 * hold before and after.
 * Covers: move.c, vf_state.c, virtual_state.c, batch_tables.c, vm_batch.c, vf_config.c, vf_discovery.c, vf_requests.c, hypervisors.c
 */
#include "vm_fixture.h"

TEST(hypervisors_are_folded)
{
	struct vm_world w;
	struct sm_hypervisor h;
	const struct fab *f;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 4);
	f = sm_fabric(lab_sm(w.lab));
	assert_int_equal(f->nnodes, w.fab->nnodes);
	assert_int_equal(f->nswitches, w.fab->nswitches);
	assert_int_equal(f->nvlids, 0);
	for (unsigned i = 0; i < w.fab->nhosts; i++) {
		assert_true(vm_hypervisor(&w, i, &h));
		assert_int_equal(h.vfs, 4);
		assert_int_equal(h.used, 0);
		assert_true(h.lid);
	}
	assert_false(vm_hypervisor(&w, w.fab->nhosts, &h));
	vm_close(&w);
}

TEST(prepopulated_lids)
{
	struct vm_world w;
	const struct fab *f;

	vm_open(&w, SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH, 7);
	f = sm_fabric(lab_sm(w.lab));
	assert_int_equal(f->nvlids, 7 * w.fab->nhosts);
	for (uint32_t i = 0; i < f->nvlids; i++) {
		node_id host =
			fab_node_by_guid(w.fab, f->nodes[f->ports[f->vlids[i].port].node].guid);
		port_id p = vm_port(&w, host, f->vlids[i].slot);

		assert_int_equal(sim_port_info(lab_sim(w.lab), p)->lid, f->vlids[i].lid);
		assert_int_equal(sim_port_info(lab_sim(w.lab), p)->state, IBA_PORT_ACTIVE);
		assert_true(vm_routed(&w, f->vlids[i].lid, host));
	}
	vm_close(&w);
}

TEST(vswitch_as_a_switch)
{
	struct vm_world w;

	vm_open(&w, SM_SCHEME_NONE, FAB_SRIOV_VSWITCH, 2);
	assert_int_equal(sm_fabric(lab_sm(w.lab))->nswitches, w.wire->nswitches);
	vm_close(&w);
}

static void life(enum sm_scheme scheme)
{
	struct vm_world w;
	struct sm_vm_result r;
	uint16_t lid;

	vm_open(&w, scheme, FAB_SRIOV_VSWITCH, 3);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_CREATE, "web", 0, 0)).rc, 0);
	r = vm_do(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 1), 0));
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.slot, 1);
	assert_int_equal(r.smps_hypervisors, 1);
	assert_int_equal(r.smps_tables, scheme == SM_SCHEME_DYNAMIC ? w.fab->nswitches : 0);
	lid = r.lid_after;
	assert_true(lid && vm_routed(&w, lid, vm_host(&w, 1)));
	assert_int_equal(sim_port_info(lab_sim(w.lab), vm_port(&w, vm_host(&w, 1), 1))->lid, lid);
	r = vm_do(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 6), 2));
	assert_string_equal(r.why, "");
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.smps_hypervisors, 2);
	assert_true(r.smps_tables && r.switches_touched);
	assert_int_equal(r.lid_before, lid);
	assert_int_equal(r.lid_after, lid);
	assert_int_equal(vm_places(&w, lid), 1);
	assert_int_equal(sim_port_info(lab_sim(w.lab), vm_port(&w, vm_host(&w, 6), 2))->lid, lid);
	assert_int_equal(sim_port_guid(lab_sim(w.lab), vm_port(&w, vm_host(&w, 6), 2)),
			 vm_get(&w, "web").guid);
	assert_true(vm_routed(&w, lid, vm_host(&w, 6)));
	r = vm_do(&w, vm_ask(SM_VM_STOP, "web", 0, 0));
	assert_int_equal(r.rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_DESTROY, "web", 0, 0)).rc, 0);
	assert_int_equal(vm_places(&w, lid), scheme == SM_SCHEME_PREPOPULATED);
	assert_int_equal(lab_status(w.lab)->rounds, 1);
	vm_close(&w);
}

TEST(life_dynamic)
{
	life(SM_SCHEME_DYNAMIC);
}

TEST(life_prepopulated)
{
	life(SM_SCHEME_PREPOPULATED);
}

static bool has_guid(struct vm_world *w, unsigned host, unsigned slot, uint64_t guid)
{
	const struct sm *sm = lab_sm(w->lab);
	uint32_t h = sm_vhost_find(sm, vm_host_guid(w, host));

	return sm_slot_of(sm, h, slot)->known && sm_slot_of(sm, h, slot)->has_guid == guid;
}

/* VFs of a shared port have GUIDs; a VM that migrates gets the LID of its new host. */
TEST(life_shared)
{
	struct vm_world w;
	struct sm_vm_result r;
	struct sm_hypervisor h1, h5;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, 9);
	vm_do(&w, vm_ask(SM_VM_CREATE, "web", 0, 0));
	assert_true(vm_hypervisor(&w, 1, &h1));
	assert_true(vm_hypervisor(&w, 5, &h5));
	assert_int_equal(h1.sriov, FAB_SRIOV_SHARED);
	assert_int_equal(h1.vfs, 9);
	r = vm_do(&w, vm_ask(SM_VM_START, "web", h1.guid, 0));
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.lid_after, h1.lid);
	assert_int_equal(r.smps_tables, 0);
	assert_true(has_guid(&w, 1, 1, vm_get(&w, "web").guid));
	r = vm_do(&w, vm_ask(SM_VM_MIGRATE, "web", h5.guid, 9));
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.lid_before, h1.lid);
	assert_int_equal(r.lid_after, h5.lid);
	assert_int_equal(r.smps_hypervisors, 2);
	assert_int_equal(r.smps_tables, 0);
	assert_true(has_guid(&w, 1, 1, 0));
	assert_true(has_guid(&w, 5, 9, vm_get(&w, "web").guid));
	vm_close(&w);
}

/* ---- more requests than a batch has ---- */

enum { MANY = 1152, HALF = 9 }; /* VMs; hosts that have them, the other half has none */

static struct sm_vm_request many_ask(const struct vm_world *w, enum sm_vm_op op, unsigned i,
				     unsigned host)
{
	char name[16];

	snprintf(name, sizeof(name), "v%u", i);
	return vm_ask(op, name, vm_host_guid(w, host), 0);
}

static void many_do(struct vm_world *w, const struct sm_vm_request *r, size_t n)
{
	w->results.n = 0;
	assert_true(lab_manager_vms(w->lab, 0, r, n));
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + 10 * PS_PER_S));
	assert_int_equal(w->results.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(w->results.at[i].rc, 0);
}

static void many_start(struct vm_world *w)
{
	struct fab_gen g = {.kind = "mtree", .dims = {6, 2}, .ndims = 2};
	struct sm_vm_request *r = mem_array(2 * MANY, sizeof(*r));
	struct err e;

	vm_draw(w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 1);
	fab_free(w->fab);
	fab_free(w->wire);
	w->fab = vm_fabric(&g, FAB_SRIOV_VSWITCH, MANY / HALF);
	w->wire = fab_wire(w->fab, &e);
	w->cfg.sm_node = vm_host(w, 0);
	vm_up(w, false);
	for (unsigned i = 0; i < MANY; i++) {
		r[2 * i] = many_ask(w, SM_VM_CREATE, i, 0);
		r[2 * i + 1] = many_ask(w, SM_VM_START, i, i % HALF);
	}
	many_do(w, r, 2 * MANY);
	free(r);
}

/* An SMP sets 64 LIDs: those of one block migrate in one batch. */
TEST(blocks_together)
{
	struct vm_world w;
	struct sm_vm_request *r = mem_array(MANY, sizeof(*r));
	unsigned batches[IBA_LID_MAX_UNICAST / IBA_LFT_BLOCK + 1] = {0}, shared = 0;

	many_start(&w);
	for (unsigned i = 0; i < MANY; i++) { /* neighbours are far from each other */
		unsigned vm = i * 65 % MANY;

		r[i] = many_ask(&w, SM_VM_MIGRATE, vm, HALF + vm % HALF);
	}
	many_do(&w, r, MANY);
	for (size_t i = 0; i < MANY; i++)
		batches[w.results.at[i].lid_after / IBA_LFT_BLOCK] |=
			w.results.at[i].ended == w.results.at[0].ended ? 1 : 2;
	for (size_t i = 0; i < ARRAY_LEN(batches); i++)
		shared += batches[i] == 3;
	assert_true(w.results.at[0].ended < w.results.at[MANY - 1].ended);
	assert_int_equal(shared, 0);
	free(r);
	vm_close(&w);
}

/* The request by which a VF got its LID, as it was sent. */
struct caught {
	struct sim_smp smp;
	node_id from;
	unsigned port, n;
};

static void catch_set(void *ctx, enum sim_seen what, node_id n, unsigned port,
		      const struct sim_smp *smp, unsigned detail)
{
	struct caught *c = ctx;

	(void)detail;
	if (what != SIM_SEEN_SEND || iba_smp_attr_id(smp->mad) != IBA_ATTR_VF_INFO ||
	    iba_smp_method(smp->mad) != IBA_SET || c->n++)
		return;
	c->smp = *smp;
	c->from = n;
	c->port = port;
}

/*
 * The first SMP that a network doubles, long on its way: it attaches a VF again that a VM has left. Its response tells the
 * manager, which detaches that VF; the LID is at two VFs for less than a millisecond.
 */
static void late_copy(enum sm_scheme scheme)
{
	struct vm_world w;
	struct caught c = {0};
	uint16_t lid;
	time_ps at;

	vm_open(&w, scheme, FAB_SRIOV_VSWITCH, 1);
	vm_do(&w, vm_ask(SM_VM_CREATE, "web", 0, 0));
	sim_watch(lab_sim(w.lab), (struct sim_watch){catch_set, &c});
	lid = vm_do(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 1), 0)).lid_after;
	assert_int_equal(c.n, 1);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 6), 0)).rc, 0);
	assert_int_equal(vm_places(&w, lid), 1);
	at = sim_now(lab_sim(w.lab));
	sim_send(lab_sim(w.lab), c.from, c.port, &c.smp);
	while (vm_places(&w, lid) == 1 && sim_now(lab_sim(w.lab)) < at + PS_PER_MS)
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_US);
	assert_int_equal(vm_places(&w, lid), 2);
	at = sim_now(lab_sim(w.lab));
	while (vm_places(&w, lid) == 2)
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_US);
	assert_true(sim_now(lab_sim(w.lab)) - at < PS_PER_MS);
	assert_int_equal(sim_port_info(lab_sim(w.lab), vm_port(&w, vm_host(&w, 6), 1))->lid, lid);
	lab_run_settled(w.lab, sim_now(lab_sim(w.lab)), sim_now(lab_sim(w.lab)) + PS_PER_S);
	assert_int_equal(vm_places(&w, lid), 1);
	assert_true(vm_routed(&w, lid, vm_host(&w, 6)));
	vm_close(&w);
}

TEST(a_copy_of_a_set_arrives_late)
{
	late_copy(SM_SCHEME_DYNAMIC);
	late_copy(SM_SCHEME_PREPOPULATED);
}

/* Prepopulated: the VF that a VM left gets the other LID of the swap, by an SMP that is none of the migration's. */
TEST(an_empty_vf_has_a_lid)
{
	struct vm_world w;
	struct sm_vm_result r;
	uint16_t other;

	vm_open(&w, SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH, 2);
	vm_do(&w, vm_ask(SM_VM_CREATE, "web", 0, 0));
	vm_do(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 1), 2));
	other = sim_port_info(lab_sim(w.lab), vm_port(&w, vm_host(&w, 6), 1))->lid;
	r = vm_do(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 6), 1));
	assert_int_equal(r.smps_hypervisors, 2);
	assert_int_equal(sim_port_info(lab_sim(w.lab), vm_port(&w, vm_host(&w, 1), 2))->lid, other);
	assert_int_equal(vm_places(&w, other), 1);
	assert_true(vm_routed(&w, other, vm_host(&w, 1)));
	assert_int_equal(lab_status(w.lab)->rounds, 1);
	vm_close(&w);
}

/* Several VMs of one shared port at once: GUIDs of a block are set together. */
TEST(vms_of_a_shared_port_at_once)
{
	struct sm_vm_request q[9];
	struct vm_world w;
	unsigned n = 0;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, 4);
	for (unsigned i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%u", i);
		q[n++] = vm_ask(SM_VM_CREATE, name, 0, 0);
		q[n++] = vm_ask(SM_VM_START, name, vm_host_guid(&w, 1), 1 + i);
	}
	assert_true(lab_manager_vms(w.lab, 0, q, n));
	lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sim_alias_guid(lab_sim(w.lab),
						fab_port_id(w.wire, vm_host(&w, 1), 1), 1 + i),
				 vm_get(&w, (const char *[]){"vm0", "vm1", "vm2"}[i]).guid);
	vm_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hypervisors_are_folded),
		cmocka_unit_test(prepopulated_lids),
		cmocka_unit_test(vswitch_as_a_switch),
		cmocka_unit_test(life_dynamic),
		cmocka_unit_test(life_prepopulated),
		cmocka_unit_test(life_shared),
		cmocka_unit_test(a_copy_of_a_set_arrives_late),
		cmocka_unit_test(an_empty_vf_has_a_lid),
		cmocka_unit_test(vms_of_a_shared_port_at_once),
		cmocka_unit_test(blocks_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
