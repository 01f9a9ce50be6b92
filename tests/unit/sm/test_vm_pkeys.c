/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Keys of virtual machines: hypervisors in the laboratory, tables read from the devices. Each VF has the keys of its VM
 * before the VM is there, at the indexes that it knows, and not when it has left; so have ports that machines share, and
 * ports of switches that enforce partitions. Also with SMPs that get lost, managers that restart and take over.
 * Covers: vm_pkeys.c, pkey_holders.c
 */
#include "vm_fixture.h"

#include "policy/policy.h"

enum { KEYS = 32 };
#define WEB 0x0200000000000077ull
#define DB  0x0200000000000078ull

static const char three[] = "Default=0x7fff : ALL=limited, SELF=full;\n"
			    "web=0x20 : 0x0200000000000077=full;\n"
			    "db=0x21 : 0x0200000000000078=full, 0x0200000000000077=limited;\n"
			    "hosts=0x22 : ALL_CAS=full, 0x0200000000000077=limited;\n";
/* Keys that would come before those of 0x20 and 0x21 in a new table, and one less. */
static const char later[] = "Default=0x7fff : ALL=limited, SELF=full;\n"
			    "early=0x0100 : 0x0200000000000077=full, 0x0200000000000078=full;\n"
			    "web=0x20 : 0x0200000000000077=full;\n"
			    "db=0x21 : 0x0200000000000078=full, 0x0200000000000077=limited;\n";

static struct pol *policy(const char *text)
{
	struct pol *p = pol_new();
	struct err e = {""};

	if (pol_read_partitions(p, "p.conf", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return p;
}

/* ---- what devices hold ---- */

static bool has(const struct vm_world *w, port_id p, uint16_t key)
{
	for (unsigned i = 0; i < KEYS; i++)
		if (sim_pkey(lab_sim(w->lab), p, i) == key)
			return true;
	return false;
}

static port_id leaf(const struct vm_world *w, node_id host)
{
	return w->wire->ports[fab_port_id(w->wire, host, 1)].peer;
}

static bool enforces(const struct vm_world *w, node_id host)
{
	const struct iba_port_info *pi = sim_port_info(lab_sim(w->lab), leaf(w, host));

	return pi->part_enf_in && pi->part_enf_out;
}

/* The port whose table a machine in this slot uses. */
static port_id table_of(const struct vm_world *w, node_id host, unsigned slot)
{
	return w->wire->nodes[host].flags & FAB_VSWITCH ? vm_port(w, host, slot)
							: fab_port_id(w->wire, host, 1);
}

static struct pol_port machine(uint64_t guid, const char *name)
{
	return (struct pol_port){.guid = guid, .type = IBA_NODE_CA, .num = 1, .description = name};
}

/* Whether a table has all keys of a machine; exactly: and no others. */
static bool keyed(const struct vm_world *w, const struct pol *pol, port_id p, uint64_t guid,
		  bool exactly)
{
	struct pol_port who = machine(guid, "");
	uint16_t keys[KEYS];
	size_t n = pol_pkeys(pol, &who, keys, KEYS);
	unsigned there = 0;

	for (size_t i = 0; i < n; i++)
		if (!has(w, p, keys[i]))
			return false;
	for (unsigned i = 0; i < KEYS; i++)
		there += sim_pkey(lab_sim(w->lab), p, i) != 0;
	return !exactly || there == n;
}

/* Wherever a VF shows the GUID of a machine with a LID, packets reach it: table and switch have its keys. */
static void reachable_is_keyed(const struct vm_world *w, const struct pol *pol)
{
	for (node_id h = 0; h < w->fab->nnodes; h++)
		for (unsigned s = 1;
		     w->fab->nodes[h].sriov == FAB_SRIOV_VSWITCH && s <= w->fab->nodes[h].vfs;
		     s++) {
			port_id p = vm_port(w, h, s);
			uint64_t guid = sim_port_guid(lab_sim(w->lab), p);

			if ((guid != WEB && guid != DB) || !sim_port_info(lab_sim(w->lab), p)->lid)
				continue;
			assert_true(keyed(w, pol, p, guid, true));
			assert_true(!enforces(w, h) || keyed(w, pol, leaf(w, h), guid, false));
		}
}

/* ---- the world ---- */

static void ask(struct vm_world *w, struct sm_vm_request r, const struct pol *pol)
{
	size_t n = w->results.n;

	assert_true(lab_manager_vms(w->lab, 0, &r, 1));
	while (w->results.n == n) {
		lab_run_to(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_US);
		reachable_is_keyed(w, pol);
	}
	assert_string_equal(w->results.at[n].why, "");
	assert_int_equal(w->results.at[n].rc, 0);
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_S));
}

static struct sm_vm_request create(const char *name, uint64_t guid)
{
	struct sm_vm_request r = vm_ask(SM_VM_CREATE, name, 0, 0);

	r.guid = guid;
	return r;
}

static void begin(struct vm_world *w, enum sm_scheme scheme, enum fab_sriov sriov,
		  const struct pol *pol)
{
	vm_draw(w, scheme, sriov, 3);
	w->policy = pol;
	w->cfg.sm.part_enforce = SM_ENFORCE_BOTH;
	vm_up(w, false);
	assert_int_equal(vm_do(w, create("web", WEB)).rc, 0);
	assert_int_equal(vm_do(w, create("db", DB)).rc, 0);
}

static const struct kind {
	enum sm_scheme scheme;
	enum fab_sriov sriov;
} kinds[] = {{SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH},
	     {SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH},
	     {SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED}};

/* ---- the tests ---- */

/* The PF has the keys of its own GUID; VFs that have a LID without a machine those of theirs. */
TEST(functions_of_hosts)
{
	struct pol *pol = policy(three);
	struct vm_world w;

	begin(&w, SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH, pol);
	for (unsigned h = 1; h < w.fab->nhosts; h++)
		for (unsigned s = 0; s <= 3; s++) {
			uint64_t guid = fab_function_guid(vm_host_guid(&w, h), s);

			assert_true(keyed(&w, pol, vm_port(&w, vm_host(&w, h), s), guid, true));
		}
	vm_close(&w);
	pol_free(pol);
}

static void keys_go_with_a_machine(const struct kind *k)
{
	struct pol *pol = policy(three);
	struct vm_world w;
	node_id from, to;

	begin(&w, k->scheme, k->sriov, pol);
	from = vm_host(&w, 2);
	to = vm_host(&w, 6);
	ask(&w, vm_ask(SM_VM_START, "db", vm_host_guid(&w, 2), 1), pol);
	ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 2), 2), pol);
	assert_true(keyed(&w, pol, table_of(&w, from, 2), WEB, k->sriov == FAB_SRIOV_VSWITCH));
	assert_true(enforces(&w, from) && keyed(&w, pol, leaf(&w, from), WEB, false) &&
		    keyed(&w, pol, leaf(&w, from), DB, false));
	assert_false(has(&w, leaf(&w, to), 0x8020));
	ask(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 6), 3), pol);
	assert_true(keyed(&w, pol, table_of(&w, to, 3), WEB, k->sriov == FAB_SRIOV_VSWITCH));
	assert_true(keyed(&w, pol, leaf(&w, to), WEB, false));
	assert_true(keyed(&w, pol, table_of(&w, from, 1), DB, k->sriov == FAB_SRIOV_VSWITCH));
	assert_true(keyed(&w, pol, leaf(&w, from), DB, false));
	assert_false(has(&w, table_of(&w, from, 2), 0x8020));
	assert_false(has(&w, leaf(&w, from), 0x8020));
	ask(&w, vm_ask(SM_VM_STOP, "web", 0, 0), pol);
	assert_false(has(&w, table_of(&w, to, 3), 0x8020) || has(&w, leaf(&w, to), 0x8020));
	assert_int_equal(lab_status(w.lab)->rounds, 1);
	vm_close(&w);
	pol_free(pol);
}

TEST(keys_go_with_machines)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		keys_go_with_a_machine(&kinds[i]);
}

/* Applications in a machine know P_Keys by index. A new policy keeps them, and so does a migration. */
TEST(indexes_stay)
{
	struct pol *pol = policy(three), *other = policy(later);
	uint16_t keys[KEYS];
	struct vm_world w;
	port_id p;

	begin(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, pol);
	ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 2), 1), pol);
	lab_manager_policy(w.lab, 0, other);
	assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S));
	p = vm_port(&w, vm_host(&w, 2), 1);
	assert_true(keyed(&w, other, p, WEB, true));
	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = sim_pkey(lab_sim(w.lab), p, i);
	ask(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 5), 3), other);
	p = vm_port(&w, vm_host(&w, 5), 3);
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(sim_pkey(lab_sim(w.lab), p, i), keys[i]);
	vm_close(&w);
	pol_free(pol);
	pol_free(other);
}

/* A machine has the same keys on the manager's host as elsewhere, and by the name that it was given. */
TEST(members_by_name)
{
	struct pol *pol = policy("Default=0x7fff : ALL=limited, SELF=full;\na=0x30 : NONE;\n");
	struct pol_member m;
	struct vm_world w;
	struct err e;
	port_id p;

	assert_int_equal(pol_member_parse(&m, "we*", "full", &e), 0);
	vec_push(&pol->partitions.at[1].members, m);
	assert_int_equal(pol_member_parse(&m, "host*", "limited", &e), 0);
	vec_push(&pol->partitions.at[1].members, m);
	vm_draw(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, 3);
	w.policy = pol;
	w.cfg.sm.names = true;
	vm_up(&w, false);
	vm_do(&w, create("web", WEB));
	vm_do(&w, create("db", DB));
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 0), 1)).rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "db", vm_host_guid(&w, 0), 2)).rc, 0);
	p = vm_port(&w, vm_host(&w, 0), 1);
	assert_true(has(&w, p, 0x7fff) && has(&w, p, 0x8030) && !has(&w, p, 0xffff));
	p = vm_port(&w, vm_host(&w, 0), 2);
	assert_true(has(&w, p, 0x7fff) && !has(&w, p, 0x8030) && !has(&w, p, 0x0030));
	vm_close(&w);
	pol_free(pol);
}

/* More keys behind a port than its switch has room for: it does not enforce as long as they are there. */
TEST(a_switch_without_room)
{
	struct sm_vm_request both[2];
	struct strbuf text = {0};
	struct vm_world w;
	struct pol *pol;

	strbuf_add(&text, "Default=0x7fff : ALL=full;\n");
	for (unsigned i = 1; i <= 20; i++)
		strbuf_addf(
			&text,
			"w%u=0x%x : 0x0200000000000077=full;\nd%u=0x%x : 0x0200000000000078=full;\n",
			i, i, i, 0x100 + i);
	pol = policy(text.s);
	begin(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, pol);
	ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 2), 1), pol);
	assert_true(enforces(&w, vm_host(&w, 2)));
	ask(&w, vm_ask(SM_VM_START, "db", vm_host_guid(&w, 2), 2), pol);
	assert_false(enforces(&w, vm_host(&w, 2)));
	assert_true(keyed(&w, pol, vm_port(&w, vm_host(&w, 2), 1), WEB, true));
	assert_true(keyed(&w, pol, vm_port(&w, vm_host(&w, 2), 2), DB, true));
	ask(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 5), 1), pol);
	assert_true(enforces(&w, vm_host(&w, 2)) && enforces(&w, vm_host(&w, 5)));
	both[0] = vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 2), 1);
	both[1] = vm_ask(SM_VM_MIGRATE, "db", vm_host_guid(&w, 5), 2);
	assert_true(lab_manager_vms(w.lab, 0, both, 2)); /* they meet on their way */
	for (size_t n = w.results.n; w.results.n < n + 2;) {
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_US);
		reachable_is_keyed(&w, pol);
	}
	assert_true(enforces(&w, vm_host(&w, 2)) && enforces(&w, vm_host(&w, 5)));
	assert_true(has(&w, leaf(&w, vm_host(&w, 2)), 0x8001) &&
		    !has(&w, leaf(&w, vm_host(&w, 5)), 0x8001));
	vm_close(&w);
	pol_free(pol);
	strbuf_free(&text);
}

/* ---- the next manager ---- */

static void still_there(struct vm_world *w, const struct pol *pol, const struct kind *k)
{
	lab_run_to(w->lab, sim_now(lab_sim(w->lab)) + 10 * PS_PER_MS);
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + 100 * PS_PER_S));
	assert_true(
		keyed(w, pol, table_of(w, vm_host(w, 5), 2), WEB, k->sriov == FAB_SRIOV_VSWITCH));
	assert_true(enforces(w, vm_host(w, 5)) &&
		    keyed(w, pol, leaf(w, vm_host(w, 5)), WEB, false));
	assert_false(has(w, table_of(w, vm_host(w, 2), 1), 0x8020));
	assert_false(has(w, leaf(w, vm_host(w, 2)), 0x8020));
	reachable_is_keyed(w, pol);
}

TEST(restarts_and_restored_state)
{
	struct pol *pol = policy(three);

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct vm_world w;

		begin(&w, kinds[i].scheme, kinds[i].sriov, pol);
		ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 2), 1), pol);
		ask(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 5), 2), pol);
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 10 * PS_PER_MS);
		lab_manager_stop(w.lab, 0);
		assert_true(lab_manager_resume(w.lab, 0));
		still_there(&w, pol, &kinds[i]);
		ask(&w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 6), 1), pol);
		assert_false(has(&w, leaf(&w, vm_host(&w, 5)), 0x8020));
		vm_close(&w);
	}
	pol_free(pol);
}

/* A hypervisor that restarts has lost all keys: they come back before its machine does. */
TEST(a_host_restarts)
{
	struct pol *pol = policy(three);
	struct vm_world w;
	node_id host;

	begin(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, pol);
	host = vm_host(&w, 5);
	ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 5), 2), pol);
	sim_node_power(lab_sim(w.lab), host, false);
	lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 100 * PS_PER_MS);
	sim_node_power(lab_sim(w.lab), host, true);
	for (unsigned i = 0; i < 1000; i++) {
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 100 * PS_PER_US);
		if (sim_port_info(lab_sim(w.lab), vm_port(&w, host, 2))->state == IBA_PORT_ACTIVE)
			reachable_is_keyed(&w, pol);
	}
	still_there(&w, pol, &kinds[0]);
	assert_int_equal(sim_port_guid(lab_sim(w.lab), vm_port(&w, host, 2)), WEB);
	vm_close(&w);
	pol_free(pol);
}

/* A Set from the manager's host while no manager runs. */
static void set(struct vm_world *w, uint16_t dlid, uint16_t attr_id, uint32_t mod,
		const uint8_t data[IBA_SMP_DATA_SIZE])
{
	port_id own = fab_port_id(w->wire, w->cfg.sm_node, 0);
	struct sim_smp s = {.slid = sim_port_info(lab_sim(w->lab), own)->lid, .dlid = dlid};

	iba_smp_init(s.mad, IBA_CLASS_SUBN_LID, IBA_SET, attr_id, mod);
	memcpy(iba_smp_data(s.mad), data, IBA_SMP_DATA_SIZE);
	sim_send(lab_sim(w->lab), w->cfg.sm_node, FAB_UPLINK, &s);
	lab_run_to(w->lab, sim_now(lab_sim(w->lab)) + PS_PER_MS);
}

/* A manager that finds a VF detached attaches it while its host is Active: keys first. */
TEST(a_function_that_was_detached)
{
	uint8_t vf[IBA_SMP_DATA_SIZE], keys[IBA_SMP_DATA_SIZE];
	struct pol *pol = policy(three);
	struct vm_world w;
	uint16_t lid;
	port_id p;

	iba_vf_info_put(&(struct iba_vf_info){.count = 1}, vf);
	iba_pkey_table_put(&(struct iba_pkey_table){.pkey = {0xffff}}, keys);
	begin(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, pol);
	p = vm_port(&w, vm_host(&w, 5), 2);
	ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 5), 2), pol);
	lid = sim_port_info(lab_sim(w.lab), fab_port_id(w.wire, vm_host(&w, 5), 0))->lid;
	lab_manager_stop(w.lab, 0);
	set(&w, lid, IBA_ATTR_VF_INFO, 2, vf);
	set(&w, lid, IBA_ATTR_PKEY_TABLE, (FAB_SLOT0_PORT + 2) << 16, keys);
	assert_int_equal(sim_port_info(lab_sim(w.lab), p)->lid, 0);
	assert_true(has(&w, p, 0xffff) && !has(&w, p, 0x8020));
	lab_manager_start(w.lab, 0, true);
	for (unsigned i = 0; i < 20000 && !sim_port_info(lab_sim(w.lab), p)->lid; i++)
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_US);
	assert_true(sim_port_info(lab_sim(w.lab), p)->lid);
	assert_int_equal(sim_port_info(lab_sim(w.lab), p)->state, IBA_PORT_ACTIVE);
	reachable_is_keyed(&w, pol);
	still_there(&w, pol, &kinds[0]);
	vm_close(&w);
	pol_free(pol);
}

/* ---- faults ---- */

/* Where each machine is in the end, its keys are; nowhere else are those that only it has. */
static void all_right(struct vm_world *w, const struct pol *pol)
{
	struct sm_vm v = vm_get(w, "web");
	node_id at = fab_node_by_guid(w->fab, v.host);

	reachable_is_keyed(w, pol);
	for (node_id h = 0; h < w->fab->nnodes; h++) {
		if (!w->fab->nodes[h].sriov)
			continue;
		assert_int_equal(has(w, leaf(w, h), 0x8020), h == at && v.running);
		for (unsigned s = 1; s <= w->fab->nodes[h].vfs; s++)
			assert_int_equal(has(w, vm_port(w, h, s), 0x8020),
					 h == at && s == v.slot && v.running);
	}
}

TEST(lost_and_doubled_smps)
{
	struct pol *pol = policy(three);

	for (unsigned seed = 1; seed <= 6; seed++) {
		struct sm_vm_request r[8];
		struct vm_world w;

		vm_draw(&w, seed & 1 ? SM_SCHEME_DYNAMIC : SM_SCHEME_PREPOPULATED,
			FAB_SRIOV_VSWITCH, 2);
		w.policy = pol;
		w.cfg.sim.seed = seed;
		w.cfg.sim.faults.loss_q32 = (1ull << 32) / 40;
		w.cfg.sim.faults.delay_max_ps = PS_PER_MS;
		w.cfg.sm.read_back = true;
		w.cfg.sm.retries = 8;
		w.lab = NULL;
		vm_up(&w, false);
		vm_do(&w, create("web", WEB));
		r[0] = vm_ask(SM_VM_START, "web", vm_host_guid(&w, 1), 1);
		for (unsigned i = 1; i < 8; i++)
			r[i] = vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 1 + (i + seed) % 6),
				      1 + i % 2);
		assert_true(lab_manager_vms(w.lab, 0, r, 8));
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + PS_PER_S);
		assert_true(lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + 100 * PS_PER_S));
		all_right(&w, pol);
		vm_close(&w);
	}
	pol_free(pol);
}

/* The destination fails at some moment of a migration, and returns. */
TEST(the_destination_fails)
{
	struct pol *pol = policy(three);

	for (unsigned i = 0; i < 8; i++) {
		struct sm_vm_request r;
		struct vm_world w;
		node_id host;

		begin(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH, pol);
		w.cfg.sim.traps = true;
		host = vm_host(&w, 6);
		ask(&w, vm_ask(SM_VM_START, "web", vm_host_guid(&w, 2), 1), pol);
		r = vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&w, 6), 1);
		assert_true(lab_manager_vms(w.lab, 0, &r, 1));
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 8 * i * PS_PER_US);
		sim_node_power(lab_sim(w.lab), host, false);
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 2 * PS_PER_S);
		sim_node_power(lab_sim(w.lab), host, true);
		lab_run_to(w.lab, sim_now(lab_sim(w.lab)) + 2 * PS_PER_S);
		lab_manager_order(w.lab, 0, SM_EV_SWEEP, 0);
		assert_true(lab_run_settled(w.lab, sim_now(lab_sim(w.lab)),
					    sim_now(lab_sim(w.lab)) + 100 * PS_PER_S));
		all_right(&w, pol);
		vm_close(&w);
	}
	pol_free(pol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_hosts),
		cmocka_unit_test(keys_go_with_machines),
		cmocka_unit_test(indexes_stay),
		cmocka_unit_test(members_by_name),
		cmocka_unit_test(a_switch_without_room),
		cmocka_unit_test(restarts_and_restored_state),
		cmocka_unit_test(a_host_restarts),
		cmocka_unit_test(a_function_that_was_detached),
		cmocka_unit_test(lost_and_doubled_smps),
		cmocka_unit_test(the_destination_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
