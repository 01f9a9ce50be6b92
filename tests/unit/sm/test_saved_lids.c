/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs of hosts that are off when a standby takes over: no other port gets them, and the hosts have them again when they
 * return, with their VFs and VMs. Covers: saved_lids.c
 */
#include "vm_fixture.h"

#include "sm/restore/saved_state.h"

enum {
	OLD = 3,
	NEW = 5,
	HOSTS = 8,
	VFS = 2
}; /* hosts: one that goes and returns, one that is new */

struct lids {
	uint16_t host[HOSTS], vf[HOSTS][VFS + 1];
};

static void pass(struct vm_world *w, time_ps t)
{
	lab_run_to(w->lab, sim_now(lab_sim(w->lab)) + t);
}

/* As devices show them. */
static void lids_read(const struct vm_world *w, struct lids *l)
{
	bool virtual = w->wire->nnodes > w->fab->nnodes;

	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < HOSTS; i++) {
		node_id n = vm_host(w, i);

		l->host[i] = sim_port_info(lab_sim(w->lab),
					   virtual ? vm_port(w, n, 0) : fab_port_id(w->wire, n, 1))
				     ->lid;
		for (unsigned s = 1; virtual && s <= VFS; s++)
			l->vf[i][s] = sim_port_info(lab_sim(w->lab), vm_port(w, n, s))->lid;
	}
}

/* Both managers run, the second one has its copy, and host NEW was never there. */
static void open_pair(struct vm_world *w, enum sm_scheme scheme, enum fab_sriov sriov)
{
	bool *on;
	struct err e;

	vm_draw(w, scheme, sriov, sriov == FAB_SRIOV_NONE ? 0 : VFS);
	w->cfg.sm.contest = w->cfg.sm.mirror = w->cfg.sm.read_back = true;
	w->lab = lab_new(w->wire, &w->cfg, &e);
	assert_non_null(w->lab);
	lab_manager_add(w->lab, vm_host(w, HOSTS - 1), &w->cfg.sm);
	lab_on_vm(w->lab, vm_note, w);
	on = mem_array(w->wire->nnodes, sizeof(*on));
	for (node_id n = 0; n < w->wire->nnodes; n++)
		on[n] = n != vm_host(w, NEW);
	lab_power_on(w->lab, on);
	free(on);
	assert_true(lab_run_ready(w->lab, 10 * PS_PER_S));
	pass(w, PS_PER_S);
}

static void power(struct vm_world *w, unsigned host, bool on)
{
	sim_node_power(lab_sim(w->lab), vm_host(w, host), on);
	pass(w, PS_PER_S);
}

static void take_over(struct vm_world *w)
{
	lab_manager_stop(w->lab, 0);
	pass(w, 3 * PS_PER_S);
	assert_true(lab_manager_is_master(w->lab, 1));
}

static void start(struct vm_world *w, unsigned manager, const char *name, unsigned host)
{
	struct sm_vm_request r[] = {
		vm_ask(SM_VM_CREATE, name, 0, 0),
		vm_ask(SM_VM_START, name, vm_host_guid(w, host), 0),
	};

	w->results.n = 0;
	assert_true(lab_manager_vms(w->lab, manager, r, ARRAY_LEN(r)));
	pass(w, PS_PER_S);
	assert_int_equal(w->results.n, 2);
	assert_int_equal(w->results.at[1].rc, 0);
}

/* Host OLD is off when the standby takes over, host NEW comes, then OLD. */
static void returns(enum sm_scheme scheme, enum fab_sriov sriov)
{
	bool virtual = sriov == FAB_SRIOV_VSWITCH;
	struct vm_world w;
	struct lids was, is;

	open_pair(&w, scheme, sriov);
	if (virtual)
		start(&w, 0, "x", OLD);
	lids_read(&w, &was);
	power(&w, OLD, false);
	take_over(&w);
	power(&w, NEW, true);
	if (virtual)
		start(&w, 1, "y", 2);
	power(&w, OLD, true);
	lids_read(&w, &is);
	assert_int_not_equal(is.host[NEW], 0);
	for (unsigned i = 0; i < HOSTS; i++) {
		assert_true(i == NEW || is.host[i] == was.host[i]);
		assert_true(i == OLD || is.host[i] != was.host[OLD]);
		for (unsigned s = 1; i != NEW && s <= VFS; s++)
			assert_true(is.vf[i][s] == was.vf[i][s] || (i == 2 && !was.vf[i][s]));
	}
	vm_close(&w);
}

TEST(a_host_that_was_off_has_its_lid_again)
{
	returns(SM_SCHEME_NONE, FAB_SRIOV_NONE);
}

TEST(and_its_vm_as_well)
{
	returns(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH);
}

TEST(and_all_its_vfs)
{
	returns(SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH);
}

/* The host goes at the same moment as the master: the copy has it as one that is there. */
TEST(a_host_that_goes_together_with_the_master)
{
	struct vm_world w;
	struct lids was, is;

	open_pair(&w, SM_SCHEME_NONE, FAB_SRIOV_NONE);
	lids_read(&w, &was);
	sim_node_power(lab_sim(w.lab), vm_host(&w, OLD), false);
	take_over(&w);
	power(&w, NEW, true);
	power(&w, OLD, true);
	lids_read(&w, &is);
	assert_int_equal(is.host[OLD], was.host[OLD]);
	assert_int_not_equal(is.host[NEW], was.host[OLD]);
	vm_close(&w);
}

/* The second take-over: what the first one took over goes on to the next standby. */
TEST(lids_pass_through_two_managers)
{
	struct vm_world w;
	struct lids was, is;

	open_pair(&w, SM_SCHEME_NONE, FAB_SRIOV_NONE);
	lids_read(&w, &was);
	power(&w, OLD, false);
	take_over(&w);
	lab_manager_start(w.lab, 0, false);
	pass(&w, 2 * PS_PER_S);
	assert_true(lab_manager_is_master(w.lab, 1));
	lab_manager_stop(w.lab, 1);
	pass(&w, 3 * PS_PER_S);
	assert_true(lab_manager_is_master(w.lab, 0));
	power(&w, NEW, true);
	power(&w, OLD, true);
	lids_read(&w, &is);
	assert_int_equal(is.host[OLD], was.host[OLD]);
	vm_close(&w);
}

/* What this manager remembers of the time when it was master itself is older than the copy. */
TEST(a_copy_replaces_what_was_remembered)
{
	struct vm_world w;
	struct sm *sm;

	vm_open(&w, SM_SCHEME_NONE, FAB_SRIOV_NONE, 0);
	sm = (struct sm *)lab_sm(w.lab);
	sm_lid_recall(sm, 0xa, 1000, 0);
	sm_lid_recall(sm, 0xb, 1001, 0);
	sm_lid_recall(sm, 0xb, 1000, 0);
	assert_int_equal(sm_lid_of(sm, 0xa, NULL), 0);
	assert_int_equal(sm_lid_of(sm, 0xb, NULL), 1000);
	assert_true(sm_lid_free(sm, 1001, 0));
	sm_lid_recall(sm, 0xc, 1000, 2); /* four LIDs; and numbers that cannot be */
	sm_lid_recall(sm, 0xd, 1005, 2);
	sm_lid_recall(sm, 0xd, IBA_LID_MAX_UNICAST, 1);
	sm_lid_recall(sm, 0, 1004, 0);
	assert_int_equal(sm_lid_of(sm, 0xb, NULL), 0);
	assert_false(sm_lid_free(sm, 1003, 0));
	assert_true(sm_lid_free(sm, 1004, 2));
	vm_close(&w);
}

/* As many as there can be, and records that are cut off. */
TEST(all_lids_may_be_absent)
{
	struct sm_saved *m = mem_zalloc(sizeof(*m));
	struct sm_bytes s = {.b = {0}};
	struct sm_source from;
	struct vm_world w;
	struct sm *sm;

	vm_open(&w, SM_SCHEME_NONE, FAB_SRIOV_NONE, 0);
	sm = (struct sm *)lab_sm(w.lab);
	assert_false(sm_save_absent(sm, &s));
	for (uint32_t lid = 1; lid <= IBA_LID_MAX_UNICAST; lid++)
		if (sm_lid_free(sm, lid, 0))
			sm_lid_recall(sm, 0xabc0000 + lid, (uint16_t)lid, 0);
	assert_true(sm_save_absent(sm, &s));
	assert_true(s.b.n <= 4 + 11 * IBA_LID_MAX_UNICAST);
	from = (struct sm_source){.p = s.b.at, .left = s.b.n};
	sm_load_absent(&from, m);
	assert_false(from.bad);
	assert_int_equal(from.left, 0);
	assert_int_equal(m->absent.n, (s.b.n - 4) / 11);
	from = (struct sm_source){.p = s.b.at, .left = s.b.n - 1};
	sm_load_absent(&from, m);
	assert_true(from.bad);
	sm_saved_free(m);
	vec_free(&s.b);
	vm_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_was_off_has_its_lid_again),
		cmocka_unit_test(and_its_vm_as_well),
		cmocka_unit_test(and_all_its_vfs),
		cmocka_unit_test(a_host_that_goes_together_with_the_master),
		cmocka_unit_test(lids_pass_through_two_managers),
		cmocka_unit_test(a_copy_replaces_what_was_remembered),
		cmocka_unit_test(all_lids_may_be_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
