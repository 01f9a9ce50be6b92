/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about virtual machines: what is refused and in which words, several at once, and what waits for what.
 * Covers: vm_requests.c, vms.c
 */
#include "vm_fixture.h"

static void refused(struct vm_world *w, struct sm_vm_request q, int rc, const char *why)
{
	struct sm_vm_result r = vm_do(w, q);

	assert_string_equal(r.why, why);
	assert_int_equal(r.rc, rc);
}

TEST(refusals_name_vm_and_host)
{
	struct sm_vm_request q = vm_ask(SM_VM_CREATE, "b", 0, 0);
	struct vm_world w;
	uint64_t sw;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 1);
	sw = w.fab->nodes[w.fab->switches[0]].guid;
	refused(&w, vm_ask(SM_VM_START, "a", vm_host_guid(&w, 1), 0), -ENOENT, "there is no VM a");
	refused(&w, vm_ask(SM_VM_CREATE, "", 0, 0), -EINVAL,
		"the name of a VM has 1 to 63 characters");
	refused(&w, vm_ask(SM_VM_CREATE, "a b", 0, 0), -EINVAL,
		"the name of a VM has no spaces and no control characters");
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_CREATE, "a", 0, 0)).rc, 0);
	refused(&w, vm_ask(SM_VM_CREATE, "a", 0, 0), -EEXIST, "there is a VM a already");
	q.guid = vm_get(&w, "a").guid;
	assert_int_equal(vm_do(&w, q).rc, -EEXIST);
	q.guid = vm_host_guid(&w, 2);
	assert_int_equal(vm_do(&w, q).rc, -EEXIST);
	q.guid = fab_function_guid(vm_host_guid(&w, 2), 1);
	assert_int_equal(vm_do(&w, q).rc, -EEXIST);
	q.guid = 0;
	assert_int_equal(vm_do(&w, q).rc, 0);
	refused(&w, vm_ask(SM_VM_STOP, "a", 0, 0), -ESRCH, "VM a is not running");
	refused(&w, vm_ask(SM_VM_START, "a", 0x99, 0), -ENODEV,
		"VM a: there is no host 0x0000000000000099");
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "a", sw, 0)).rc, -ENOTSUP);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "a", vm_host_guid(&w, 1), 2)).rc, -EINVAL);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "a", vm_host_guid(&w, 1), 0)).rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "a", vm_host_guid(&w, 2), 0)).rc, -EALREADY);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 1), 0)).rc,
			 -EALREADY);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "b", vm_host_guid(&w, 1), 0)).rc, -ENOSPC);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "b", vm_host_guid(&w, 1), 1)).rc, -EBUSY);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_DESTROY, "a", 0, 0)).rc, -EBUSY);
	vm_close(&w);
}

/* Two VMs change places: the second gets the slot that the first leaves, when it has left. */
TEST(requests_of_one_event)
{
	struct vm_world w;
	struct sm_vm_request r[5];

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 1);
	vm_do(&w, vm_ask(SM_VM_CREATE, "a", 0, 0));
	vm_do(&w, vm_ask(SM_VM_CREATE, "b", 0, 0));
	w.results.n = 0;
	r[0] = vm_ask(SM_VM_START, "a", vm_host_guid(&w, 1), 0);
	r[1] = vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 2), 0);
	r[2] = vm_ask(SM_VM_START, "b", vm_host_guid(&w, 1), 0);
	r[3] = vm_ask(SM_VM_STOP, "a", 0, 0);
	r[4] = vm_ask(SM_VM_DESTROY, "a", 0, 0);
	assert_true(lab_manager_vms(w.lab, 0, r, 5));
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S));
	assert_int_equal(w.results.n, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(w.results.at[i].rc, 0);
	assert_int_equal(vm_get(&w, "a").guid, 0);
	assert_int_equal(vm_get(&w, "b").host, vm_host_guid(&w, 1));
	assert_int_equal(sm_vms_waiting(lab_sm(w.lab)), 0);
	vm_close(&w);
}

TEST(no_vms_where_there_are_none)
{
	struct vm_world w;

	vm_open(&w, SM_SCHEME_NONE, FAB_SRIOV_VSWITCH, 1);
	refused(&w, vm_ask(SM_VM_CREATE, "a", 0, 0), -ENOTSUP,
		"virtual.scheme is none: this manager has no VMs");
	vm_close(&w);
}

TEST(vms_in_the_order_of_names)
{
	static const char *const names[] = {"m", "c", "z", "a", "d"};
	struct vm_world w;
	struct sm_vm v, last = {.name = ""};
	size_t n = 0;

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 1);
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		vm_do(&w, vm_ask(SM_VM_CREATE, names[i], 0, 0));
	vm_do(&w, vm_ask(SM_VM_DESTROY, "d", 0, 0));
	for (; sm_vm_get(lab_sm(w.lab), n, &v); n++) {
		assert_true(strcmp(last.name, v.name) < 0);
		last = v;
	}
	assert_int_equal(n, 4);
	assert_string_equal(sm_vm_op_name(SM_VM_MIGRATE), "migrate");
	vm_close(&w);
}

/* A daemon saves where VMs are before the next ones move. */
TEST(the_next_batch_waits_until_results_are_saved)
{
	struct sm_vm_request r;
	struct vm_world w;

	vm_draw(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 1);
	w.cfg.sm.hold_vms = true;
	vm_up(&w, false);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_CREATE, "a", 0, 0)).rc, 0);
	r = vm_ask(SM_VM_START, "a", vm_host_guid(&w, 1), 0);
	assert_true(lab_manager_vms(w.lab, 0, &r, 1));
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S);
	assert_int_equal(w.results.n, 1);
	lab_manager_order(w.lab, 0, SM_EV_VMS_SAVED, 0);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S);
	assert_int_equal(w.results.n, 2);
	assert_int_equal(w.results.at[1].rc, 0);
	assert_true(vm_get(&w, "a").running);
	vm_close(&w);
}

/* All that devices hold: tables, and LIDs and GUIDs of functions. */
static uint64_t devices(const struct vm_world *w)
{
	uint64_t h = 0;

	for (uint32_t s = 0; s < w->fab->nswitches; s++)
		for (uint32_t lid = 0; lid < 256; lid++)
			h = h * 31 + sim_lft(lab_sim(w->lab), w->fab->switches[s], lid);
	for (port_id p = 0; p < w->wire->nports; p++)
		if (w->wire->nodes[w->wire->ports[p].node].flags & FAB_FUNCTION)
			h = h * 31 + sim_port_info(lab_sim(w->lab), p)->lid +
			    sim_port_guid(lab_sim(w->lab), p);
	return h;
}

/* Refused, and nothing is different afterwards. */
static void changes_nothing(struct vm_world *w, struct sm_vm_request q, int rc, const char *why)
{
	struct sm_vm a = vm_get(w, "a"), b = vm_get(w, "b"), now;
	uint64_t before = devices(w);
	struct sm_vm_result r = vm_do(w, q);

	assert_int_equal(r.rc, rc);
	assert_non_null(strstr(r.why, why));
	assert_int_equal(devices(w), before);
	now = vm_get(w, "a");
	assert_memory_equal(&now, &a, sizeof(a));
	now = vm_get(w, "b");
	assert_memory_equal(&now, &b, sizeof(b));
}

/* VM a runs on host 1, which has one VF, b does not run; the last host has no SR-IOV. */
static void open_a_and_b(struct vm_world *w, enum sm_scheme scheme)
{
	struct fab_builder *f;
	struct err e;

	vm_draw(w, scheme, FAB_SRIOV_VSWITCH, 1);
	f = fab_builder_from(w->fab);
	fab_builder_node(f, vm_host(w, 7))->sriov = FAB_SRIOV_NONE;
	fab_builder_node(f, vm_host(w, 7))->vfs = 0;
	fab_free(w->wire);
	fab_free(w->fab);
	w->fab = fab_build(f);
	w->wire = fab_wire(w->fab, &e);
	vm_up(w, false);
	vm_do(w, vm_ask(SM_VM_CREATE, "a", 0, 0));
	vm_do(w, vm_ask(SM_VM_CREATE, "b", 0, 0));
	assert_int_equal(vm_do(w, vm_ask(SM_VM_START, "a", vm_host_guid(w, 1), 0)).rc, 0);
}

static void refused_migrations(enum sm_scheme scheme)
{
	struct vm_world w;

	open_a_and_b(&w, scheme);
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "c", vm_host_guid(&w, 2), 0), -ENOENT,
			"there is no VM c");
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "b", vm_host_guid(&w, 2), 0), -ESRCH,
			"VM b is not running");
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 1), 0), -EALREADY,
			"VM a is on host");
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 7), 0), -ENOTSUP,
			"has no SR-IOV");
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "a", 0x99, 0), -ENODEV, "there is no host");
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 2), 2), -EINVAL,
			"has no VF 2, it has 1");
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "b", vm_host_guid(&w, 2), 0)).rc, 0);
	changes_nothing(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 2), 0), -ENOSPC,
			"is full, all its 1 VFs have VMs");
	vm_close(&w);
}

TEST(a_refused_migration_changes_nothing)
{
	refused_migrations(SM_SCHEME_DYNAMIC);
	refused_migrations(SM_SCHEME_PREPOPULATED);
}

/* A request while the link or the host that it is about fails: it waits for the end of the round, and is refused. */
static void during_a_failure(enum sm_scheme scheme, unsigned host, bool power)
{
	struct vm_world w;
	struct sm_vm was, is;
	struct sm_vm_result r;
	node_id n;

	open_a_and_b(&w, scheme);
	n = vm_host(&w, host);
	was = vm_get(&w, "a");
	if (power)
		sim_node_power(lab_sim(w.lab), n, false);
	else
		sim_uncable(lab_sim(w.lab), fab_port_id(w.wire, n, 1));
	r = vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 6), 0));
	assert_int_equal(r.rc, -EHOSTUNREACH);
	assert_non_null(strstr(r.why, "VM a: host"));
	is = vm_get(&w, "a");
	assert_memory_equal(&is, &was, sizeof(was));
	assert_int_equal(vm_places(&w, was.lid), power && host == 1 ? 0 : 1);
	if (power)
		sim_node_power(lab_sim(w.lab), n, true);
	else
		sim_cable(lab_sim(w.lab), fab_port_id(w.wire, n, 1),
			  w.wire->ports[fab_port_id(w.wire, n, 1)].peer);
	lab_run_settled(w.lab, sim_now(lab_sim(w.lab)), sim_now(lab_sim(w.lab)) + PS_PER_S);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 6), 0)).rc, 0);
	assert_int_equal(vm_get(&w, "a").lid, was.lid);
	vm_close(&w);
}

TEST(a_request_during_a_failure)
{
	for (int scheme = SM_SCHEME_DYNAMIC; scheme <= SM_SCHEME_PREPOPULATED; scheme++)
		for (unsigned i = 0; i < 4; i++)
			during_a_failure(scheme, i & 1 ? 1 : 6, i & 2);
}

/* Others have all LIDs but those in use. */
TEST(no_lid_is_left)
{
	struct vm_world w;
	struct sm *sm;

	open_a_and_b(&w, SM_SCHEME_DYNAMIC);
	sm = (struct sm *)lab_sm(w.lab);
	for (uint32_t lid = 1; lid <= IBA_LID_MAX_UNICAST; lid++)
		sm_seed_lid(sm, 0x7700000000000000ull + lid, (uint16_t)lid, 0);
	changes_nothing(
		&w, vm_ask(SM_VM_START, "b", vm_host_guid(&w, 2), 0), -ENOSPC,
		"VM b: no LID is left, 49151 of 49151 are assigned: 1 to VMs, 49150 to others");
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 2), 0)).rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_STOP, "a", 0, 0)).rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "b", vm_host_guid(&w, 2), 0)).rc, 0);
	vm_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_name_vm_and_host),
		cmocka_unit_test(requests_of_one_event),
		cmocka_unit_test(no_vms_where_there_are_none),
		cmocka_unit_test(vms_in_the_order_of_names),
		cmocka_unit_test(the_next_batch_waits_until_results_are_saved),
		cmocka_unit_test(a_refused_migration_changes_nothing),
		cmocka_unit_test(a_request_during_a_failure),
		cmocka_unit_test(no_lid_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
