/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines as hosts see them through subnet administration: notices when one starts, stops or gets another LID, paths
 * by its GID, registrations and multicast trees that go with it. One subnet of hypervisors for each test.
 *
 * Covers: registry.c view.c reports.c wanted_groups.c moved_members.c
 */
#include "sa_fixture.h"
#include "vm_fixture.h"

enum { SEEN = 16, MLID = IBA_LID_MCAST_FIRST + 3 };

struct machines {
	struct vm_world w;
	struct sa_rig rig;
	struct {
		unsigned trap;
		uint64_t guid;
	} seen[SEEN]; /* reports to the second host since the last look, in their order */
	unsigned n;
};

static void drain(struct machines *m)
{
	struct sa_mad mad;

	sa_manager(m->rig.sa, lab_sm(m->rig.lab), sa_rig_now(&m->rig));
	m->n = 0;
	while (sa_next(m->rig.sa, &mad, sa_rig_now(&m->rig))) {
		struct sa_mad answer = mad;

		if (iba_smp_method(mad.mad) != IBA_REPORT)
			continue;
		assert_true(m->n < SEEN);
		m->seen[m->n].trap = iba_be16(mad.mad + IBA_SA_DATA_OFF + 4);
		m->seen[m->n++].guid = iba_be64(mad.mad + IBA_SA_DATA_OFF + 24);
		iba_smp_set_method(answer.mad, IBA_REPORT_RESP);
		sa_take(m->rig.sa, lab_sm(m->rig.lab), &answer, sa_rig_now(&m->rig));
	}
}

static unsigned count(const struct machines *m, unsigned trap, uint64_t guid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n; i++)
		n += m->seen[i].trap == trap && m->seen[i].guid == guid;
	return n;
}

static uint16_t host_lid(const struct machines *m, unsigned k)
{
	struct sm_hypervisor h;

	for (size_t at = 0; sm_hypervisor_next(lab_sm(m->rig.lab), &at, &h);)
		if (h.guid == vm_host_guid(&m->w, k))
			return h.lid;
	return 0;
}

static void subscribe(struct machines *m, uint16_t lid)
{
	struct iba_sa_inform f = {.lid_first = 0xffff,
				  .is_generic = 1,
				  .subscribe = 1,
				  .type = 0xffff,
				  .trap_number = 0xffff,
				  .qpn = 1,
				  .producer_type = 0xffffff};
	struct sa_ask a = {.attr_id = IBA_SA_INFORM, .lid = lid, .method = IBA_SET};
	struct sa_reply r;

	iba_sa_inform_put(&f, a.query);
	r = sa_rig_ask(&m->rig, &a);
	assert_int_equal(r.status, 0);
	sa_reply_free(&r);
}

static void open(struct machines *m, enum sm_scheme scheme, enum fab_sriov sriov)
{
	struct sa_config c;

	vm_open(&m->w, scheme, sriov, 3);
	sa_config_default(&c);
	c.sm_key = SA_TEST_KEY;
	m->n = 0;
	m->rig = (struct sa_rig){.lab = m->w.lab, .sa = sa_new(&c)};
	subscribe(m, host_lid(m, 1));
	vm_do(&m->w, vm_ask(SM_VM_CREATE, "web", 0, 0));
	drain(m);
	assert_int_equal(m->n, 0); /* a VM that does not run is nowhere */
}

static void close(struct machines *m)
{
	sa_free(m->rig.sa);
	vm_close(&m->w);
}

static void gid_of(uint64_t guid, uint8_t gid[16])
{
	iba_be64_put(gid, SA_DEFAULT_PREFIX);
	iba_be64_put(gid + 8, guid);
}

/* The LID to which a path from the second host leads; 0: there is none. */
static uint16_t path_to(struct machines *m, uint64_t guid)
{
	struct iba_sa_path p = {.num_paths = 1}, found = {0};
	struct sa_ask a = {.attr_id = IBA_SA_PATH,
			   .lid = host_lid(m, 1),
			   .method = IBA_GET,
			   .mask = IBA_SA_BIT(path, dgid) | IBA_SA_BIT(path, sgid)};
	struct sa_reply r;

	gid_of(guid, p.dgid);
	gid_of(vm_own_guid(&m->w, 1), p.sgid);
	iba_sa_path_put(&p, a.query);
	r = sa_rig_ask(&m->rig, &a);
	if (!r.status)
		iba_sa_path_get(&found, r.records, IBA_SA_DATA_SIZE);
	sa_reply_free(&r);
	return found.dlid;
}

static uint64_t start(struct machines *m, unsigned host)
{
	uint64_t guid = vm_get(&m->w, "web").guid;

	assert_int_equal(vm_do(&m->w, vm_ask(SM_VM_START, "web", vm_host_guid(&m->w, host), 1)).rc,
			 0);
	drain(m);
	assert_int_equal(count(m, 64, guid), 1);
	assert_int_equal(count(m, 65, guid), 0);
	return guid;
}

static void migrate(struct machines *m, unsigned host, unsigned slot)
{
	assert_int_equal(
		vm_do(&m->w, vm_ask(SM_VM_MIGRATE, "web", vm_host_guid(&m->w, host), slot)).rc, 0);
	drain(m);
}

static void stop(struct machines *m, uint64_t guid)
{
	assert_int_equal(vm_do(&m->w, vm_ask(SM_VM_STOP, "web", 0, 0)).rc, 0);
	drain(m);
	assert_int_equal(count(m, 65, guid), 1);
	assert_int_equal(count(m, 64, guid), 0);
	assert_int_equal(path_to(m, guid), 0);
}

/* Its LID is another one: peers learn that the GID left one place and is at another, in this order. */
static void a_shared_port_is_left_with_notices(void **state UNUSED)
{
	struct machines m;
	uint64_t guid;

	open(&m, SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED);
	guid = start(&m, 2);
	assert_int_equal(path_to(&m, guid), host_lid(&m, 2));
	migrate(&m, 5, 2);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.seen[0].trap, 65);
	assert_int_equal(m.seen[1].trap, 64);
	assert_int_equal(m.seen[0].guid, guid);
	assert_int_equal(m.seen[1].guid, guid);
	assert_int_equal(path_to(&m, guid), host_lid(&m, 5));
	migrate(&m, 5, 3); /* another function of the same port: nothing changes for others */
	assert_int_equal(m.n, 0);
	stop(&m, guid);
	close(&m);
}

static void a_vswitch_moves_without_notices(void **state UNUSED)
{
	static const enum sm_scheme schemes[] = {SM_SCHEME_DYNAMIC, SM_SCHEME_PREPOPULATED};
	struct machines m;

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		uint64_t guid, own;
		uint16_t lid;

		open(&m, schemes[i], FAB_SRIOV_VSWITCH);
		own = fab_function_guid(vm_host_guid(&m.w, 2), 1);
		guid = start(&m, 2);
		/* A VF that had a LID without a VM shows the GUID of the VM now. */
		assert_int_equal(count(&m, 65, own), schemes[i] == SM_SCHEME_PREPOPULATED);
		lid = path_to(&m, guid);
		assert_int_equal(lid, vm_get(&m.w, "web").lid);
		assert_int_equal(path_to(&m, vm_own_guid(&m.w, 3)), host_lid(&m, 3));
		migrate(&m, 6, 2);
		assert_int_equal(count(&m, 64, guid) + count(&m, 65, guid), 0);
		assert_int_equal(count(&m, 64, own), schemes[i] == SM_SCHEME_PREPOPULATED);
		assert_int_equal(path_to(&m, guid), lid);
		stop(&m, guid);
		assert_int_equal(path_to(&m, own), schemes[i] == SM_SCHEME_PREPOPULATED
							   ? sm_lid_of(lab_sm(m.w.lab), own, NULL)
							   : 0);
		close(&m);
	}
}

/* ---- what it registered ---- */

static struct sa_status status(const struct machines *m)
{
	struct sa_status st;

	sa_status(m->rig.sa, &st);
	return st;
}

static void join(struct machines *m, uint16_t lid, uint64_t guid)
{
	static const uint8_t GROUP[16] = {0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, [15] = 0x34};
	struct iba_sa_member j = {.qkey = 0xb1b, .pkey = 0xffff, .join_state = 1};
	struct sa_ask a = {.attr_id = IBA_SA_MEMBER,
			   .lid = lid,
			   .method = IBA_SET,
			   .mask = IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) |
				   IBA_SA_BIT(member, qkey) | IBA_SA_BIT(member, traffic_class) |
				   IBA_SA_BIT(member, pkey) | IBA_SA_BIT(member, sl) |
				   IBA_SA_BIT(member, flow_label) | IBA_SA_BIT(member, join_state)};
	struct sa_mad mad;

	memcpy(j.mgid, GROUP, 16);
	gid_of(guid, j.port_gid);
	iba_sa_member_put(&j, a.query);
	sa_ask_mad(&m->rig, &a, &mad);
	sa_take(m->rig.sa, lab_sm(m->rig.lab), &mad, sa_rig_now(&m->rig));
	assert_true(sa_next(m->rig.sa, &mad, sa_rig_now(&m->rig)));
	drain(m);
}

/* The manager gets groups as the program gives them. */
static void groups_to_manager(struct machines *m)
{
	struct sm_group_member list[8];
	struct sm_group g = {MLID, 0, list, 0};
	struct sa_tree_member *members;
	struct sa_tree *trees;
	uint32_t ntrees, n;

	sa_trees(m->rig.sa, true, &trees, &ntrees, &members, &n);
	assert_in_range(n, 1, 8);
	for (uint32_t i = 0; i < n; i++)
		list[g.nmembers++] = (struct sm_group_member){members[i].guid, members[i].receives,
							      members[i].sends};
	free(trees);
	free(members);
	assert_true(lab_manager_groups(m->w.lab, 0, &g, 1));
	assert_true(lab_run_ready(m->w.lab, sim_now(lab_sim(m->w.lab)) + PS_PER_S));
}

/* Whether the leaf switch of a host sends copies there. */
static bool gets_copies(const struct machines *m, unsigned host)
{
	const struct fab *f = m->w.fab;
	port_id leaf = f->ports[fab_port_id(f, vm_host(&m->w, host), 1)].peer;
	uint64_t mask[4];

	sim_mft(lab_sim(m->w.lab), f->ports[leaf].node, MLID, mask);
	return mask[0] >> f->ports[leaf].num & 1;
}

static void registrations_and_trees_go_with_a_machine(void **state UNUSED)
{
	static const struct {
		enum sm_scheme scheme;
		enum fab_sriov sriov;
	} kinds[] = {{SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED},
		     {SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH},
		     {SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH}};
	struct machines m;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct sa_status before;
		uint64_t guid;

		open(&m, kinds[i].scheme, kinds[i].sriov);
		guid = start(&m, 2);
		join(&m, vm_get(&m.w, "web").lid, guid);
		join(&m, host_lid(&m, 1), vm_own_guid(&m.w, 1));
		before = status(&m);
		assert_int_equal(before.members, 2);
		groups_to_manager(&m);
		assert_true(gets_copies(&m, 2) && gets_copies(&m, 1) && !gets_copies(&m, 6));
		migrate(&m, 6, 1);
		assert_int_equal(status(&m).members, 2);
		assert_int_equal(status(&m).subscriptions, before.subscriptions);
		assert_true(gets_copies(&m, 6) && gets_copies(&m, 1) && !gets_copies(&m, 2));
		stop(&m, guid);
		assert_int_equal(status(&m).members, 1);
		assert_false(gets_copies(&m, 6));
		close(&m);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_shared_port_is_left_with_notices),
	cmocka_unit_test(a_vswitch_moves_without_notices),
	cmocka_unit_test(registrations_and_trees_go_with_a_machine),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
