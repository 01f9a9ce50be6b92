/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defragmentations by the manager: VMs of one host share its routes, then links share them evenly; VMs, LIDs and other
 * entries are as before; refusals, a dry run, and a switch that fails meanwhile. State: struct vm_world.
 * Covers: defragment_result.c
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

static void expect_right(struct vm_world *w)
{
	struct lab_verdict v;

	lab_judge(w->lab, &v);
	assert_true(v.verified && v.lids_unique);
	rt_report_free(&v.report);
}

static node_id last_leaf(const struct vm_world *w)
{
	return w->fab->ports[w->fab->ports[fab_port_id(w->fab, vm_host(w, HOSTS - 1), 1)].peer]
		.node;
}

/* A leaf switch fails while blocks are on their way: the request is answered, and routes to all others are right. */
TEST(a_switch_fails_meanwhile)
{
	struct vm_world w;
	struct sm_vm_request q = {.op = SM_VM_DEFRAGMENT};

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, VFS);
	crowd(&w);
	w.results.n = 0;
	assert_true(lab_manager_vms(w.lab, 0, &q, 1));
	while (lab_sm(w.lab)->core.phase != SM_MOVE)
		sim_step(lab_sim(w.lab));
	sim_node_power(lab_sim(w.lab), last_leaf(&w), false);
	assert_int_equal(w.results.n, 0); /* it is under way */
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 10 * PS_PER_S);
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + 10 * PS_PER_S));
	assert_int_equal(w.results.n, 1);
	assert_int_equal(w.results.at[0].rc, -EINTR);
	assert_non_null(strstr(w.results.at[0].why, "changed meanwhile"));
	expect_right(&w);
	assert_int_equal(defragment(&w, false, false).rc, 0);
	vm_close(&w);
}

/* ---- while the worker computes, which takes two seconds here ---- */

enum { LONG_S = 2 };

static time_ps long_ps(const struct fab *f, const struct sm_work_done *w)
{
	return w->entries == (uint64_t)f->nswitches * f->nvlids ? LONG_S * PS_PER_S : PS_PER_US;
}

static void open_long(struct vm_world *w)
{
	static struct lab_cpu cpu;

	vm_draw(w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, VFS);
	cpu = *w->cfg.cpu;
	cpu.route_ps = long_ps;
	w->cfg.cpu = &cpu;
	vm_up(w, false);
	crowd(w);
	lab_run_to(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_S); /* repairs are computed ahead */
	w->results.n = 0;
}

/* How long the reaction to a failed link takes; computing: a defragmentation is. */
static time_ps reaction(bool computing, bool trunk)
{
	struct vm_world w;
	struct sm_vm_request q = {.op = SM_VM_DEFRAGMENT};
	node_id leaf;
	time_ps start, took;
	uint32_t rounds;

	open_long(&w);
	leaf = last_leaf(&w);
	if (computing)
		assert_true(lab_manager_vms(w.lab, 0, &q, 1));
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S / 2);
	assert_int_equal(lab_sm(w.lab)->virtual.defragmenting.id != 0, computing);
	rounds = lab_manager_status(w.lab, 0)->rounds;
	start = sim_now(lab_sim(w.lab));
	for (unsigned p = 1; p <= w.fab->nodes[leaf].nports; p++) {
		port_id at = fab_port_id(w.fab, leaf, p), peer = w.fab->ports[at].peer;

		if (peer != FAB_NONE && trunk == fab_is_switch(w.fab, w.fab->ports[peer].node)) {
			sim_uncable(lab_sim(w.lab), at);
			break;
		}
	}
	while (lab_manager_status(w.lab, 0)->rounds == rounds)
		sim_step(lab_sim(w.lab));
	took = lab_manager_status(w.lab, 0)->last.end - start;
	assert_int_equal(w.results.n, 0);
	lab_run_to(w.lab, start + 10 * PS_PER_S);
	assert_int_equal(w.results.n, computing); /* computed again for what is there now */
	assert_true(!computing || !w.results.at[0].rc);
	expect_right(&w);
	vm_close(&w);
	return took;
}

TEST(a_failure_does_not_wait_for_the_computation)
{
	assert_int_equal(reaction(true, true), reaction(false, true));
	assert_int_equal(reaction(true, false), reaction(false, false));
}

/* VMs migrate, stop and start while the worker computes: they are answered at once, and have the routes that they got. */
TEST(vms_move_while_it_is_computed)
{
	struct vm_world w;
	struct sm_vm_request q[] = {
		{.op = SM_VM_DEFRAGMENT, .token = 9},
		{.op = SM_VM_MIGRATE, .name = "vm0-1", .token = 1},
		{.op = SM_VM_STOP, .name = "vm2-1", .token = 2},
		{.op = SM_VM_START, .name = "vm2-1", .token = 3},
		{.op = SM_VM_MIGRATE, .name = "vm4-0", .token = 4},
	};
	time_ps start;

	open_long(&w);
	q[1].host = vm_host_guid(&w, 3);
	q[3].host = vm_host_guid(&w, 7);
	q[4].host = vm_host_guid(&w, 5); /* on the same leaf switch */
	start = sim_now(lab_sim(w.lab));
	assert_true(lab_manager_vms(w.lab, 0, q, 1));
	lab_run_to(w.lab, start + PS_PER_S / 2);
	assert_true(lab_manager_vms(w.lab, 0, q + 1, 4));
	lab_run_to(w.lab, start + LONG_S * PS_PER_S - PS_PER_MS);
	assert_int_equal(w.results.n, 4);
	lab_run_to(w.lab, start + 3 * LONG_S * PS_PER_S);
	assert_int_equal(w.results.n, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(w.results.at[i].rc, 0);
	assert_int_equal(w.results.at[4].token, 9);
	assert_int_equal(w.results.at[4].smps_tables, w.results.at[4].defragmentation.smps);
	all_reached(&w);
	vm_close(&w);
}

/* The manager ends, or stands by, while the worker computes for it. */
TEST(the_manager_ends_while_it_is_computed)
{
	struct vm_world w;
	struct sm_vm_request q = {.op = SM_VM_DEFRAGMENT};

	open_long(&w);
	assert_true(lab_manager_vms(w.lab, 0, &q, 1));
	assert_true(lab_manager_vms(w.lab, 0, &q, 1)); /* a second one waits for the first */
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S);
	lab_manager_stop(w.lab, 0);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 3 * LONG_S * PS_PER_S);
	assert_int_equal(w.results.n, 0);
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
		cmocka_unit_test(a_failure_does_not_wait_for_the_computation),
		cmocka_unit_test(vms_move_while_it_is_computed),
		cmocka_unit_test(the_manager_ends_while_it_is_computed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
