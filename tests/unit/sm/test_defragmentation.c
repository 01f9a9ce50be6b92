/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defragmentations by the manager: VMs of one host share its routes, then links share them evenly; VMs, LIDs and other
 * entries are as before; refusals, a dry run, and a switch that fails meanwhile. State: struct vm_world.
 */
#include "vm_fixture.h"

/* Hosts of the fixture: 8, two on each of 4 leaf switches; two spines. */
enum { HOSTS = 8, VFS = 4 };

static void start(struct vm_world *w, const char *name, unsigned host)
{
	struct sm_vm_result r = vm_do(w, vm_ask(SM_VM_CREATE, name, 0, 0));

	assert_int_equal(r.rc, 0);
	r = vm_do(w, vm_ask(SM_VM_START, name, vm_host_guid(w, host), 0));
	if (r.rc)
		fail_msg("%s", r.why);
}

/* All VFs of one host of each leaf switch have a VM, so each leaf's VMs come over one spine. */
static void crowd(struct vm_world *w)
{
	char name[16];

	for (unsigned h = 0; h < HOSTS; h += 2)
		for (unsigned s = 0; s < VFS; s++) {
			snprintf(name, sizeof(name), "vm%u-%u", h, s);
			start(w, name, h);
		}
}

static struct sm_vm_result defragment(struct vm_world *w, bool even, bool dry_run)
{
	struct sm_vm_request q = {.op = SM_VM_DEFRAGMENT, .even = even, .dry_run = dry_run};

	return vm_do(w, q);
}

/* Entries of all switches, for comparison. */
static uint8_t *tables_of(struct vm_world *w, uint32_t lids)
{
	uint8_t *t = mem_array((size_t)w->fab->nswitches * lids, 1);

	for (uint32_t s = 0; s < w->fab->nswitches; s++)
		for (uint32_t lid = 0; lid < lids; lid++)
			t[s * lids + lid] =
				sim_lft(lab_sim(w->lab), w->fab->switches[s], (uint16_t)lid);
	return t;
}

static uint32_t differing(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	uint32_t d = 0;

	for (uint32_t i = 0; i < n; i++)
		d += a[i] != b[i];
	return d;
}

static void all_reached(struct vm_world *w)
{
	struct lab_verdict v;
	struct sm_vm x;
	size_t n = 0;

	for (; sm_vm_get(lab_sm(w->lab), n, &x); n++) {
		node_id host = fab_node_by_guid(w->fab, x.host);

		assert_true(x.running && x.lid);
		assert_int_equal(vm_places(w, x.lid), 1);
		assert_true(vm_routed(w, x.lid, host));
		assert_int_equal(sim_port_info(lab_sim(w->lab), vm_port(w, host, x.slot))->lid,
				 x.lid);
	}
	assert_int_equal(n, HOSTS / 2 * VFS);
	lab_judge(w->lab, &v);
	assert_true(v.verified && v.lids_unique);
	rt_report_free(&v.report);
}

TEST(balance_is_restored_and_vms_stay)
{
	struct vm_world w;
	struct sm_vm_result r, again;
	const struct sm_defragmentation *d = &r.defragmentation;
	uint8_t *before, *after;
	enum { LIDS = 64 };

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, VFS);
	crowd(&w);
	before = tables_of(&w, LIDS);
	r = defragment(&w, false, true);
	assert_int_equal(r.rc, 0);
	assert_true(d->smps && !r.smps_tables);
	after = tables_of(&w, LIDS);
	assert_int_equal(differing(before, after, w.fab->nswitches * LIDS), 0);
	free(after);
	r = defragment(&w, false, false);
	assert_int_equal(r.rc, 0);
	assert_true(d->reached && d->moved && d->moved <= d->lids);
	assert_int_equal(d->lids, HOSTS / 2 * VFS);
	assert_true(d->after.busiest < d->before.busiest);
	assert_int_equal(r.smps_tables, d->smps);
	assert_int_equal(r.smps_hypervisors, 0);
	assert_true(d->smps <= d->smps_fresh);
	assert_true(r.stages && r.switches_touched);
	after = tables_of(&w, LIDS);
	for (uint32_t i = 0; i < w.fab->nswitches * LIDS; i++) /* of VMs alone: they are the last */
		assert_true(before[i] == after[i] || i % LIDS > w.fab->nnodes);
	assert_true(differing(before, after, w.fab->nswitches * LIDS) >= d->moved);
	all_reached(&w);
	again = defragment(&w, false, false);
	assert_int_equal(again.rc, 0);
	assert_int_equal(again.defragmentation.smps, 0);
	assert_int_equal(again.defragmentation.before.busiest, d->after.busiest);
	free(before);
	free(after);
	vm_close(&w);
}

/* What the manager believes is what devices hold: a VM that migrates afterwards is reached. */
TEST(vms_migrate_afterwards)
{
	struct vm_world w;
	struct sm_vm_result r;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, VFS);
	crowd(&w);
	assert_int_equal(defragment(&w, true, false).rc, 0);
	r = vm_do(&w, vm_ask(SM_VM_MIGRATE, "vm0-1", vm_host_guid(&w, 5), 0));
	assert_int_equal(r.rc, 0);
	r = vm_do(&w, vm_ask(SM_VM_MIGRATE, "vm4-2", vm_host_guid(&w, 5), 0)); /* same leaf */
	assert_int_equal(r.rc, 0);
	all_reached(&w);
	vm_close(&w);
}

/* Requests that wait go first, and all are answered. */
TEST(among_other_requests)
{
	struct vm_world w;
	struct sm_vm_request q[3];

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, VFS);
	crowd(&w);
	w.results.n = 0;
	q[0] = (struct sm_vm_request){.op = SM_VM_DEFRAGMENT, .token = 1};
	q[1] = vm_ask(SM_VM_MIGRATE, "vm0-1", vm_host_guid(&w, 3), 0);
	q[2] = (struct sm_vm_request){.op = SM_VM_DEFRAGMENT, .token = 3};
	assert_true(lab_manager_vms(w.lab, 0, q, 3));
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S));
	assert_int_equal(w.results.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(w.results.at[i].rc, 0);
	assert_int_equal(w.results.at[1].token, 1);
	assert_int_equal(w.results.at[2].token, 3);
	assert_true(w.results.at[1].smps_tables && !w.results.at[2].smps_tables);
	all_reached(&w);
	vm_close(&w);
}

TEST(refusals)
{
	struct vm_world w;

	vm_open(&w, SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH, VFS);
	assert_int_equal(defragment(&w, false, false).rc, -ENOTSUP);
	vm_close(&w);
	vm_open(&w, SM_SCHEME_NONE, FAB_SRIOV_VSWITCH, VFS);
	assert_int_equal(defragment(&w, false, false).rc, -ENOTSUP);
	vm_close(&w);
	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, VFS);
	crowd(&w); /* these have the LIDs of their hosts */
	assert_int_equal(defragment(&w, false, false).defragmentation.lids, 0);
	vm_close(&w);
}

/* A leaf switch fails while blocks are on their way: the request is answered, and routes to all others are right. */
TEST(a_switch_fails_meanwhile)
{
	struct vm_world w;
	struct sm_vm_request q = {.op = SM_VM_DEFRAGMENT};
	struct lab_verdict v;
	port_id up;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, VFS);
	crowd(&w);
	up = w.fab->ports[fab_port_id(w.fab, vm_host(&w, HOSTS - 1), 1)].peer;
	w.results.n = 0;
	assert_true(lab_manager_vms(w.lab, 0, &q, 1));
	sim_node_power(lab_sim(w.lab), w.fab->ports[up].node, false);
	assert_int_equal(w.results.n, 0); /* it is under way */
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 10 * PS_PER_S);
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + 10 * PS_PER_S));
	assert_int_equal(w.results.n, 1);
	assert_int_equal(w.results.at[0].rc, -EINTR);
	assert_non_null(strstr(w.results.at[0].why, "changed meanwhile"));
	lab_judge(w.lab, &v);
	assert_true(v.verified && v.lids_unique);
	rt_report_free(&v.report);
	assert_int_equal(defragment(&w, false, false).rc, 0);
	vm_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(balance_is_restored_and_vms_stay),
		cmocka_unit_test(vms_migrate_afterwards),
		cmocka_unit_test(among_other_requests),
		cmocka_unit_test(refusals),
		cmocka_unit_test(a_switch_fails_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
