/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VMs through failures: a host that restarts, one that goes while a VM moves, managers that restart with and without
 * what the one before knew. Each VM is at one slot, and its LID leads there.
 * Covers: vf_settle.c
 */
#include "vm_fixture.h"

#include "sim/stats/sim_stats.h"

/* Each running VM is where the manager says, and nowhere else. */
static void check_vms(struct vm_world *w)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(lab_sm(w->lab), i, &v); i++) {
		node_id host = fab_node_by_guid(w->fab, v.host);
		port_id p;

		if (!v.running)
			continue;
		p = vm_port(w, host, v.slot);
		assert_true(v.lid);
		assert_int_equal(vm_places(w, v.lid), 1);
		assert_int_equal(sim_port_info(lab_sim(w->lab), p)->lid, v.lid);
		assert_int_equal(sim_port_guid(lab_sim(w->lab), p), v.guid);
		assert_true(vm_routed(w, v.lid, host));
	}
}

static void start_three(struct vm_world *w, enum sm_scheme scheme)
{
	vm_open(w, scheme, FAB_SRIOV_VSWITCH, 3);
	for (unsigned i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%u", i);
		vm_do(w, vm_ask(SM_VM_CREATE, name, 0, 0));
		assert_int_equal(vm_do(w, vm_ask(SM_VM_START, name, vm_host_guid(w, 1 + i), 0)).rc,
				 0);
	}
	check_vms(w);
}

static void settle(struct vm_world *w)
{
	time_ps now = sim_now(lab_sim(w->lab));

	assert_true(lab_run_settled(w->lab, now, now + 10 * PS_PER_S));
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_S));
}

static void host_restarts(enum sm_scheme scheme)
{
	struct vm_world w;
	struct sm_vm before, after;

	start_three(&w, scheme);
	before = vm_get(&w, "vm1");
	sim_node_power(lab_sim(w.lab), vm_host(&w, 2), false);
	settle(&w);
	assert_int_equal(sm_fabric(lab_sm(w.lab))->nhosts, w.fab->nhosts - 1);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_STOP, "vm1", 0, 0)).rc, -EHOSTUNREACH);
	sim_node_power(lab_sim(w.lab), vm_host(&w, 2), true);
	settle(&w);
	after = vm_get(&w, "vm1");
	assert_memory_equal(&before, &after, sizeof(before));
	check_vms(&w);
	vm_close(&w);
}

TEST(a_host_restarts)
{
	host_restarts(SM_SCHEME_DYNAMIC);
	host_restarts(SM_SCHEME_PREPOPULATED);
}

static void manager_restarts(enum sm_scheme scheme, bool read_back)
{
	struct vm_world w;
	struct sm_vm before[3], after;

	start_three(&w, scheme);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "vm0", vm_host_guid(&w, 5), 3)).rc, 0);
	for (unsigned i = 0; i < 3; i++)
		sm_vm_get(lab_sm(w.lab), i, &before[i]);
	w.cfg.sm.read_back = read_back;
	lab_manager_config(w.lab, 0, &w.cfg.sm);
	lab_manager_stop(w.lab, 0);
	lab_manager_start(w.lab, 0, true);
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S));
	for (unsigned i = 0; i < 3; i++) {
		assert_true(sm_vm_get(lab_sm(w.lab), i, &after));
		assert_memory_equal(&before[i], &after, sizeof(after));
	}
	check_vms(&w);
	vm_close(&w);
}

TEST(a_manager_restarts)
{
	manager_restarts(SM_SCHEME_DYNAMIC, true);
	manager_restarts(SM_SCHEME_DYNAMIC, false);
	manager_restarts(SM_SCHEME_PREPOPULATED, true);
	manager_restarts(SM_SCHEME_PREPOPULATED, false);
}

/* Nothing is known: names are lost, but not what VMs have. */
TEST(a_manager_finds_vms)
{
	struct vm_world w;
	struct sm_vm was, v;
	char name[32];

	start_three(&w, SM_SCHEME_DYNAMIC);
	was = vm_get(&w, "vm2");
	w.cfg.sm.read_back = true;
	lab_manager_config(w.lab, 0, &w.cfg.sm);
	lab_manager_stop(w.lab, 0);
	lab_manager_start(w.lab, 0, false);
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S));
	snprintf(name, sizeof(name), "0x%016llx", (unsigned long long)was.guid);
	v = vm_get(&w, name);
	assert_int_equal(v.lid, was.lid);
	assert_int_equal(v.host, was.host);
	assert_int_equal(v.slot, was.slot);
	check_vms(&w);
	vm_close(&w);
}

/* The destination, the source or a switch fails so many microseconds after the request. */
static void interrupted(enum sm_scheme scheme, unsigned us, node_id fails)
{
	struct vm_world w;
	struct sm_vm_request r;
	time_ps now;

	start_three(&w, scheme);
	r = vm_ask(SM_VM_MIGRATE, "vm0", vm_host_guid(&w, 6), 2);
	now = sim_now(lab_sim(w.lab));
	w.results.n = 0;
	assert_true(lab_manager_vms(w.lab, 0, &r, 1));
	lab_run_to(w.lab, now + us * PS_PER_US);
	sim_node_power(lab_sim(w.lab), fails, false);
	lab_run_to(w.lab, now + 200 * PS_PER_MS);
	settle(&w);
	assert_int_equal(w.results.n, 1);
	sim_node_power(lab_sim(w.lab), fails, true);
	settle(&w);
	assert_int_equal(vm_get(&w, "vm0").host,
			 w.results.at[0].rc ? vm_host_guid(&w, 1) : vm_host_guid(&w, 6));
	check_vms(&w);
	vm_close(&w);
}

TEST(a_migration_is_interrupted)
{
	struct vm_world w;
	node_id fails[3];

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 3);
	fails[0] = vm_host(&w, 1);
	fails[1] = vm_host(&w, 6);
	fails[2] = w.fab->switches[w.fab->nswitches - 1];
	vm_close(&w);
	for (unsigned us = 1; us < 200; us += 13)
		for (unsigned i = 0; i < ARRAY_LEN(fails); i++) {
			interrupted(SM_SCHEME_DYNAMIC, us, fails[i]);
			interrupted(SM_SCHEME_PREPOPULATED, us, fails[i]);
		}
}

/* Another manager has what the master knew of VMs. */
static void standby_takes_over(enum sm_scheme scheme)
{
	struct vm_world w;
	struct sm_vm before[3], after;

	memset(&w, 0, sizeof(w));
	vm_draw(&w, scheme, FAB_SRIOV_VSWITCH, 3);
	w.cfg.sm.contest = w.cfg.sm.mirror = w.cfg.sm.read_back = true;
	vm_up(&w, true);
	for (unsigned i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%u", i);
		vm_do(&w, vm_ask(SM_VM_CREATE, name, 0, 0));
		if (i)
			vm_do(&w, vm_ask(SM_VM_START, name, vm_host_guid(&w, 1 + i), 0));
	}
	vm_do(&w, vm_ask(SM_VM_MIGRATE, "vm1", vm_host_guid(&w, 6), 2));
	for (unsigned i = 0; i < 3; i++)
		sm_vm_get(lab_sm(w.lab), i, &before[i]);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 5 * PS_PER_S);
	lab_manager_stop(w.lab, 0);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 5 * PS_PER_S);
	assert_true(lab_manager_is_master(w.lab, 1));
	for (unsigned i = 0; i < 3; i++) {
		assert_true(sm_vm_get(lab_manager_sm(w.lab, 1), i, &after));
		assert_memory_equal(&before[i], &after, sizeof(after));
	}
	lab_manager_lead(w.lab, 1);
	check_vms(&w);
	vm_close(&w);
}

/* The master dies so many microseconds after a request; the copy that the standby has is from before. */
static void dies_in_a_batch(enum sm_scheme scheme, unsigned us)
{
	struct sm_vm_request r[12];
	struct sm_vm before[3], after;
	struct vm_world w;

	memset(&w, 0, sizeof(w));
	vm_draw(&w, scheme, FAB_SRIOV_VSWITCH, 1);
	w.cfg.sm.contest = w.cfg.sm.mirror = w.cfg.sm.read_back = true;
	vm_up(&w, true);
	for (unsigned i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "vm%u", i);
		vm_do(&w, vm_ask(SM_VM_CREATE, name, 0, 0));
		vm_do(&w, vm_ask(SM_VM_START, name, vm_host_guid(&w, 1 + i), 0));
		for (unsigned k = 0; k < 4; k++)
			r[3 * k + i] = vm_ask(SM_VM_MIGRATE, name,
					      vm_host_guid(&w, 1 + (i + 3 * (k + 1)) % 7), 0);
	}
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 5 * PS_PER_S);
	for (unsigned i = 0; i < 3; i++)
		sm_vm_get(lab_sm(w.lab), i, &before[i]);
	assert_true(lab_manager_vms(w.lab, 0, r, 12));
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + us * PS_PER_US);
	lab_manager_stop(w.lab, 0);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 5 * PS_PER_S);
	assert_true(lab_manager_is_master(w.lab, 1));
	for (unsigned i = 0; i < 3; i++) {
		assert_true(sm_vm_get(lab_manager_sm(w.lab, 1), i, &after));
		assert_true(after.running);
		assert_int_equal(after.lid, before[i].lid);
		assert_int_equal(after.guid, before[i].guid);
	}
	lab_manager_lead(w.lab, 1);
	check_vms(&w);
	vm_close(&w);
}

TEST(the_master_dies_in_a_batch)
{
	for (unsigned us = 1; us < 1500; us += 67) {
		dies_in_a_batch(SM_SCHEME_DYNAMIC, us);
		dies_in_a_batch(SM_SCHEME_PREPOPULATED, us);
	}
}

TEST(a_standby_takes_over)
{
	standby_takes_over(SM_SCHEME_DYNAMIC);
	standby_takes_over(SM_SCHEME_PREPOPULATED);
}

/* A program of a hypervisor is at its PF: its vSwitch is the manager's own node, and VMs run there as well. */
TEST(a_manager_at_a_pf)
{
	struct vm_world w;
	struct sm_vm_result r;

	vm_draw(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 3);
	w.cfg.sm_node = w.wire->ports[vm_port(&w, vm_host(&w, 0), 0)].node;
	vm_up(&w, false);
	assert_int_equal(sm_fabric(lab_sm(w.lab))->nnodes, w.fab->nnodes);
	vm_do(&w, vm_ask(SM_VM_CREATE, "a", 0, 0));
	r = vm_do(&w, vm_ask(SM_VM_START, "a", vm_host_guid(&w, 0), 0));
	assert_string_equal(r.why, "");
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 5), 0)).rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 0), 2)).rc, 0);
	check_vms(&w);
	settle(&w);
	sim_node_power(lab_sim(w.lab), w.fab->switches[w.fab->nswitches - 1], false);
	settle(&w);
	sim_node_power(lab_sim(w.lab), w.fab->switches[w.fab->nswitches - 1], true);
	settle(&w);
	check_vms(&w);
	vm_close(&w);
}

static bool knows(struct vm_world *w, unsigned i, enum iba_sm_state state)
{
	struct sm_manager m;

	return sm_manager_get(lab_manager_sm(w->lab, i), 1, &m) && !m.silent && m.state == state;
}

/* Both on hosts with VFs: one is master, each knows the other one, and the standby has a copy and takes over. */
static void two_at_pfs(unsigned priority_0, unsigned priority_1)
{
	unsigned master = priority_1 > priority_0;
	struct sm_config second;
	struct vm_world w;
	struct err e;

	vm_draw(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 3);
	w.cfg.sm.contest = w.cfg.sm.mirror = w.cfg.sm.read_back = true;
	w.cfg.sm_node = w.wire->ports[vm_port(&w, vm_host(&w, 0), 0)].node;
	second = w.cfg.sm;
	w.cfg.sm.priority = priority_0;
	second.priority = priority_1;
	w.lab = lab_new(w.wire, &w.cfg, &e);
	assert_non_null(w.lab);
	lab_manager_add(w.lab, w.wire->ports[vm_port(&w, vm_host(&w, 5), 0)].node, &second);
	lab_power_on(w.lab, NULL);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 5 * PS_PER_S);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(lab_manager_is_master(w.lab, i), i == master);
		assert_true(knows(&w, i, i == master ? IBA_SM_STANDBY : IBA_SM_MASTER));
	}
	assert_int_equal(sim_stats(lab_sim(w.lab))->dropped[SIM_DROP_BAD_PATH], 0);
	lab_manager_stop(w.lab, master);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 5 * PS_PER_S);
	assert_true(lab_manager_is_master(w.lab, !master));
	lab_manager_start(w.lab, master, true);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 60 * PS_PER_S);
	assert_int_not_equal(lab_manager_is_master(w.lab, 0), lab_manager_is_master(w.lab, 1));
	vm_close(&w);
}

TEST(two_managers_at_pfs)
{
	two_at_pfs(5, 1);
	two_at_pfs(1, 5);
	two_at_pfs(3, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_restarts),
		cmocka_unit_test(a_manager_restarts),
		cmocka_unit_test(a_manager_finds_vms),
		cmocka_unit_test(a_migration_is_interrupted),
		cmocka_unit_test(a_standby_takes_over),
		cmocka_unit_test(the_master_dies_in_a_batch),
		cmocka_unit_test(a_manager_at_a_pf),
		cmocka_unit_test(two_managers_at_pfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
