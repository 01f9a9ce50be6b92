/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VMs and standbys: what changed twice waits until the copy of the standby has the first change, so that one that takes
 * over knows the place that each VM leaves. Nothing waits without a standby, and not long for one that is dead.
 * Covers: vm_copies.c
 */
#include "vm_fixture.h"

static const char *const names[] = {"x", "y"};

/* VMs x and y on hosts 1 and 2, which have one VF each; the standby's copy has them. */
static void open_held(struct vm_world *w, enum sm_scheme scheme, bool second, bool hold)
{
	vm_draw(w, scheme, FAB_SRIOV_VSWITCH, 1);
	w->cfg.sm.hold_vms = hold;
	w->cfg.sm.contest = w->cfg.sm.mirror = w->cfg.sm.read_back = true;
	vm_up(w, second);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(vm_do(w, vm_ask(SM_VM_CREATE, names[i], 0, 0)).rc, 0);
		lab_manager_order(w->lab, 0, SM_EV_VMS_SAVED, 0);
		assert_int_equal(
			vm_do(w, vm_ask(SM_VM_START, names[i], vm_host_guid(w, 1 + i), 0)).rc, 0);
		lab_manager_order(w->lab, 0, SM_EV_VMS_SAVED, 0);
	}
	lab_run_to(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_S);
	w->results.n = 0;
}

static void open_two(struct vm_world *w, enum sm_scheme scheme, bool second)
{
	open_held(w, scheme, second, false);
}

/* x goes to host 3, y to the place that x had, x to host 4. */
static void ask_three(struct vm_world *w)
{
	struct sm_vm_request r[] = {
		vm_ask(SM_VM_MIGRATE, "x", vm_host_guid(w, 3), 0),
		vm_ask(SM_VM_MIGRATE, "y", vm_host_guid(w, 1), 0),
		vm_ask(SM_VM_MIGRATE, "x", vm_host_guid(w, 4), 0),
	};

	assert_true(lab_manager_vms(w->lab, 0, r, ARRAY_LEN(r)));
}

static struct sm_vm vm_of(const struct sm *sm, const char *name)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(sm, i, &v); i++)
		if (!strcmp(v.name, name))
			return v;
	return (struct sm_vm){0};
}

/* How long the three take. */
static time_ps duration(enum sm_scheme scheme, bool second)
{
	struct vm_world w;
	time_ps start, t;

	open_two(&w, scheme, second);
	start = sim_now(lab_sim(w.lab));
	ask_three(&w);
	lab_run_to(w.lab, start + 5 * PS_PER_S);
	assert_int_equal(w.results.n, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(w.results.at[i].rc, 0);
	t = w.results.at[2].ended - start;
	vm_close(&w);
	return t;
}

/* The master dies at this time after the requests; the standby has x and y where they were or go to. */
static void dies(enum sm_scheme scheme, time_ps at)
{
	struct vm_world w;
	struct sm_vm x, y, was;

	open_two(&w, scheme, true);
	was = vm_get(&w, "x");
	ask_three(&w);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + at);
	lab_manager_stop(w.lab, 0);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 3 * PS_PER_S);
	assert_true(lab_manager_is_master(w.lab, 1));
	x = vm_of(lab_manager_sm(w.lab, 1), "x");
	y = vm_of(lab_manager_sm(w.lab, 1), "y");
	assert_true(x.running && y.running);
	assert_true(x.host == vm_host_guid(&w, 3) || x.host == vm_host_guid(&w, 4));
	assert_int_equal(x.lid, was.lid);
	assert_int_equal(x.guid, was.guid);
	assert_true(y.host == vm_host_guid(&w, 1) || y.host == vm_host_guid(&w, 2));
	assert_int_equal(vm_places(&w, x.lid), 1);
	vm_close(&w);
}

TEST(the_master_dies_in_a_second_migration)
{
	for (int scheme = SM_SCHEME_DYNAMIC; scheme <= SM_SCHEME_PREPOPULATED; scheme++) {
		time_ps end = duration(scheme, true);

		for (unsigned us = 5; us < 120; us += 23)
			dies(scheme, end - us * PS_PER_US);
	}
}

TEST(without_a_standby_nothing_waits)
{
	assert_true(duration(SM_SCHEME_DYNAMIC, false) < 20 * PS_PER_MS);
	assert_true(duration(SM_SCHEME_DYNAMIC, true) > 50 * PS_PER_MS);
}

TEST(a_dead_standby_is_not_waited_for)
{
	struct vm_world w;
	time_ps start;

	open_two(&w, SM_SCHEME_DYNAMIC, true);
	lab_manager_stop(w.lab, 1);
	start = sim_now(lab_sim(w.lab));
	ask_three(&w);
	lab_run_to(w.lab, start + 2 * PS_PER_S);
	assert_int_equal(w.results.n, 3);
	assert_true(w.results.at[2].ended - start < 1100 * PS_PER_MS);
	vm_close(&w);
}

/* A program that saves results before the next requests are carried out: it gets them when the standby has its copy. */
TEST(results_are_saved_and_copied)
{
	struct vm_world w;
	time_ps start;
	size_t saved = 0;

	open_held(&w, SM_SCHEME_DYNAMIC, true, true);
	start = sim_now(lab_sim(w.lab));
	ask_three(&w);
	while (w.results.n < 3 && sim_now(lab_sim(w.lab)) < start + 5 * PS_PER_S) {
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_MS);
		if (w.results.n > saved)
			lab_manager_order(w.lab, 0, SM_EV_VMS_SAVED, 0);
		saved = w.results.n;
	}
	assert_int_equal(w.results.n, 3);
	assert_true(w.results.at[2].ended - start < PS_PER_S);
	vm_close(&w);
}

/* What no VF shows is answered when the standby has it. */
TEST(answers_wait_for_the_copy)
{
	struct sm_vm_request r = vm_ask(SM_VM_CREATE, "z", 0, 0), s = vm_ask(SM_VM_STOP, "y", 0, 0);
	struct vm_world w;

	open_two(&w, SM_SCHEME_DYNAMIC, true);
	assert_true(lab_manager_vms(w.lab, 0, &r, 1));
	assert_true(lab_manager_vms(w.lab, 0, &s, 1));
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_MS);
	assert_int_equal(w.results.n, 0);
	while (w.results.n < 2)
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_MS);
	lab_manager_stop(w.lab, 0);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 3 * PS_PER_S);
	assert_string_equal(vm_of(lab_manager_sm(w.lab, 1), "z").name, "z");
	assert_false(vm_of(lab_manager_sm(w.lab, 1), "y").running);
	vm_close(&w);
}

/* A LID that a VM gave up is given to another one when the standby knows that. */
TEST(a_lid_that_is_free_again)
{
	struct sm_vm_request r[] = {vm_ask(SM_VM_STOP, "y", 0, 0), vm_ask(SM_VM_START, "z", 0, 0)};
	struct vm_world w;
	time_ps known;

	open_two(&w, SM_SCHEME_DYNAMIC, true);
	vm_do(&w, vm_ask(SM_VM_CREATE, "z", 0, 0));
	w.results.n = 0;
	r[1].host = vm_host_guid(&w, 5);
	assert_true(lab_manager_vms(w.lab, 0, &r[0], 1));
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_MS);
	assert_true(lab_manager_vms(w.lab, 0, &r[1], 1));
	while (!w.results.n)
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_US);
	known = sim_now(lab_sim(w.lab));
	while (w.results.n < 2)
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_MS);
	assert_int_equal(w.results.at[0].lid_before, w.results.at[1].lid_after);
	assert_true(w.results.at[1].ended + PS_PER_US > known);
	vm_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_master_dies_in_a_second_migration),
		cmocka_unit_test(without_a_standby_nothing_waits),
		cmocka_unit_test(a_dead_standby_is_not_waited_for),
		cmocka_unit_test(results_are_saved_and_copied),
		cmocka_unit_test(answers_wait_for_the_copy),
		cmocka_unit_test(a_lid_that_is_free_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
