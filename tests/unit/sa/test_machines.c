/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines as hosts see them through subnet administration: notices when one starts, stops or gets another LID, paths
 * by its GID, registrations and multicast trees that go with it; records of their functions, beside what devices say; their
 * partitions. One subnet of hypervisors for each test.
 *
 * Covers: registry.c view.c reports.c wanted_groups.c moved_members.c vf_records.c path_keys.c partition_members.c
 */
#include "sa_fixture.h"
#include "vm_fixture.h"

#include "policy/policy.h"

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

static void open_with(struct machines *m, enum sm_scheme scheme, enum fab_sriov sriov,
		      const struct pol *pol)
{
	struct sa_config c;

	vm_draw(&m->w, scheme, sriov, 3);
	m->w.policy = pol;
	m->w.cfg.sm.names = true;
	vm_up(&m->w, false);
	lab_run_to(m->w.lab,
		   sim_now(lab_sim(m->w.lab)) + PS_PER_S); /* names are read in spare time */
	sa_config_default(&c);
	c.sm_key = SA_TEST_KEY;
	m->n = 0;
	m->rig = (struct sa_rig){.lab = m->w.lab, .sa = sa_new(&c)};
	subscribe(m, host_lid(m, 1));
	vm_do(&m->w, vm_ask(SM_VM_CREATE, "web", 0, 0));
	drain(m);
	assert_int_equal(m->n, 0); /* a VM that does not run is nowhere */
}

static void open(struct machines *m, enum sm_scheme scheme, enum fab_sriov sriov)
{
	open_with(m, scheme, sriov, NULL);
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

/* ---- records of functions ---- */

static struct sa_reply ask_lid(struct machines *m, uint16_t attr_id, uint64_t mask, uint16_t lid,
			       uint8_t method)
{
	struct sa_ask a = {.attr_id = attr_id, .method = method, .mask = mask, .trusted = true};

	iba_be16_put(a.query, lid); /* the first component of each of these records */
	return sa_rig_ask(&m->rig, &a);
}

/* What the device of the machine answers. */
static void node_is(struct machines *m, const uint8_t *record, port_id p, uint16_t lid)
{
	const struct fab *f = m->w.wire;
	struct iba_sa_node r;

	iba_sa_node_get(&r, record, IBA_SA_DATA_SIZE);
	assert_int_equal(r.lid, lid);
	assert_int_equal(r.node_type, IBA_NODE_CA);
	assert_int_equal(r.num_ports, 1);
	assert_int_equal(r.local_port, 1);
	assert_int_equal(r.node_guid, f->nodes[f->ports[p].node].guid);
	assert_int_equal(r.sys_guid, f->nodes[f->ports[p].node].sys_guid);
	assert_int_equal(r.port_guid, sim_port_guid(lab_sim(m->w.lab), p));
	assert_int_equal(r.device_id, f->nodes[f->ports[p].node].device_id);
	assert_int_equal(r.vendor_id, f->nodes[f->ports[p].node].vendor_id);
	assert_string_equal((const char *)r.desc, fab_node_name(f, f->ports[p].node));
}

static void port_is(struct machines *m, const uint8_t *record, port_id p, uint16_t lid)
{
	struct iba_port_info is = *sim_port_info(lab_sim(m->w.lab), p);
	uint8_t bytes[IBA_SMP_DATA_SIZE];

	is.local_port = 1;
	iba_port_info_put(&is, bytes);
	assert_int_equal(iba_be16(record), lid);
	assert_int_equal(record[2], 1);
	assert_memory_equal(record + 4, bytes, sizeof(bytes));
}

static void keys_are(struct machines *m, const uint8_t *record, port_id p, uint16_t lid)
{
	struct iba_pkey_table t;
	struct iba_sa_pkey r;

	iba_sa_pkey_get(&r, record, IBA_SA_DATA_SIZE);
	iba_pkey_table_get(&t, r.pkeys, sizeof(r.pkeys));
	assert_int_equal(r.lid, lid);
	assert_int_equal(r.port, 1);
	for (unsigned i = 0; i < SM_PKEYS_A_BLOCK; i++)
		assert_int_equal(t.pkey[i], sim_pkey(lab_sim(m->w.lab), p, i));
}

/* All records of the function that has a LID, beside its device. */
static void records_are(struct machines *m, port_id p, uint16_t lid)
{
	struct iba_sa_guid g;
	struct sa_reply r;

	r = ask_lid(m, IBA_SA_NODE, IBA_SA_BIT(node, lid), lid, IBA_GET);
	assert_int_equal(r.status, 0);
	node_is(m, r.records, p, lid);
	sa_reply_free(&r);
	r = ask_lid(m, IBA_SA_PORT, IBA_SA_BIT(port, lid), lid, IBA_GET);
	assert_int_equal(r.status, 0);
	port_is(m, r.records, p, lid);
	sa_reply_free(&r);
	r = ask_lid(m, IBA_SA_PKEY, IBA_SA_BIT(pkey, lid), lid, IBA_GET);
	assert_int_equal(r.status, 0);
	keys_are(m, r.records, p, lid);
	sa_reply_free(&r);
	r = ask_lid(m, IBA_SA_GUID, IBA_SA_BIT(guid, lid), lid, IBA_GET);
	assert_int_equal(r.status, 0);
	iba_sa_guid_get(&g, r.records, IBA_SA_DATA_SIZE);
	assert_int_equal(g.guid0, sim_port_guid(lab_sim(m->w.lab), p));
	sa_reply_free(&r);
}

static uint32_t count_of(struct machines *m, uint16_t attr_id, uint64_t mask, const uint8_t *query)
{
	struct sa_ask a = {
		.attr_id = attr_id, .method = IBA_SA_GET_TABLE, .mask = mask, .trusted = true};
	struct sa_reply r;
	uint32_t n;

	if (query)
		memcpy(a.query, query, sizeof(a.query));
	r = sa_rig_ask(&m->rig, &a);
	n = r.status ? 0 : r.n;
	sa_reply_free(&r);
	return n;
}

static uint32_t nodes_with(struct machines *m, uint64_t mask, struct iba_sa_node ask)
{
	uint8_t query[IBA_SA_DATA_SIZE] = {0};

	iba_sa_node_put(&ask, query);
	return count_of(m, IBA_SA_NODE, mask, query);
}

static const char text[] = "Default=0x7fff : ALL=limited, SELF=full;\n"
			   "web=0x20, ipoib : 0x0200000000000077=full, 0x0200000000000078=full;\n"
			   "hosts=0x21, ipoib : ALL_CAS=full, 0x0200000000000077=limited;\n"
			   "alone=0x22 : 0x0200000000000079=full;\n";

static struct pol *policy(void)
{
	struct pol *p = pol_new();
	struct err e = {""};

	if (pol_read_partitions(p, "p.conf", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return p;
}

static void functions_have_records(void **state UNUSED)
{
	static const enum sm_scheme schemes[] = {SM_SCHEME_DYNAMIC, SM_SCHEME_PREPOPULATED};
	struct pol *pol = policy();

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		struct machines m;
		uint32_t nodes, ports;
		uint64_t guid;
		uint16_t lid;

		open_with(&m, schemes[i], FAB_SRIOV_VSWITCH, i ? pol : NULL);
		nodes = count_of(&m, IBA_SA_NODE, 0, NULL);
		ports = count_of(&m, IBA_SA_PORT, 0, NULL);
		assert_int_equal(nodes, m.w.fab->nnodes + (i ? 3 * m.w.fab->nhosts : 0));
		guid = start(&m, 2);
		lid = vm_get(&m.w, "web").lid;
		assert_int_equal(count_of(&m, IBA_SA_NODE, 0, NULL), nodes + !i);
		assert_int_equal(count_of(&m, IBA_SA_PORT, 0, NULL), ports + !i);
		records_are(&m, vm_port(&m.w, vm_host(&m.w, 2), 1), lid);
		migrate(&m, 6, 2);
		records_are(&m, vm_port(&m.w, vm_host(&m.w, 6), 2), lid);
		assert_int_equal(nodes_with(&m, IBA_SA_BIT(node, port_guid),
					    (struct iba_sa_node){.port_guid = guid}),
				 1);
		assert_int_equal(
			nodes_with(&m, IBA_SA_BIT(node, node_guid),
				   (struct iba_sa_node){.node_guid = fab_function_guid(
								vm_host_guid(&m.w, 6), 2)}),
			1);
		assert_int_equal(nodes_with(&m, IBA_SA_BIT(node, node_guid),
					    (struct iba_sa_node){.node_guid = 77}),
				 0);
		stop(&m, guid);
		assert_int_equal(count_of(&m, IBA_SA_NODE, 0, NULL), nodes);
		close(&m);
	}
	pol_free(pol);
}

/* ---- partitions ---- */

static void make(struct machines *m, const char *name, uint64_t guid, unsigned host, unsigned slot)
{
	struct sm_vm_request r = vm_ask(SM_VM_CREATE, name, 0, 0);

	r.guid = guid;
	assert_int_equal(vm_do(&m->w, r).rc, 0);
	assert_int_equal(
		vm_do(&m->w, vm_ask(SM_VM_START, name, vm_host_guid(&m->w, host), slot)).rc, 0);
	drain(m);
}

/* The P_Key of the path between two GUIDs, as the first of them gets it; 0: there is none. */
static uint16_t key_between(struct machines *m, uint16_t lid, uint64_t from, uint64_t to)
{
	struct iba_sa_path p = {.num_paths = 1}, found = {0};
	struct sa_ask a = {.attr_id = IBA_SA_PATH,
			   .lid = lid,
			   .method = IBA_GET,
			   .mask = IBA_SA_BIT(path, dgid) | IBA_SA_BIT(path, sgid)};
	struct sa_reply r;

	gid_of(from, p.sgid);
	gid_of(to, p.dgid);
	iba_sa_path_put(&p, a.query);
	r = sa_rig_ask(&m->rig, &a);
	if (!r.status)
		iba_sa_path_get(&found, r.records, IBA_SA_DATA_SIZE);
	sa_reply_free(&r);
	return found.pkey;
}

#define A 0x0200000000000077ull
#define B 0x0200000000000078ull
#define C 0x0200000000000079ull

static uint16_t lid_of(struct machines *m, const char *name)
{
	return vm_get(&m->w, name).lid;
}

/* The same at each place of the machines: they are members by their vGUIDs, not by their hosts. */
static void partitions_hold(struct machines *m)
{
	uint64_t host = vm_own_guid(&m->w, 1);

	assert_int_equal(key_between(m, lid_of(m, "a"), A, B), 0x8020);
	assert_int_equal(key_between(m, lid_of(m, "a"), A, host), 0x0021);
	assert_int_equal(key_between(m, lid_of(m, "b"), B, host), 0x8021);
	assert_int_equal(key_between(m, lid_of(m, "c"), C, A), 0x8021);
	assert_int_equal(key_between(m, host_lid(m, 1), host, C), 0x8021);
}

/* A join of the IPv4 broadcast group of a partition. */
static uint16_t joins(struct machines *m, uint16_t lid, uint64_t guid, uint16_t pkey)
{
	struct iba_sa_member j = {.join_state = 1};
	struct sa_ask a = {.attr_id = IBA_SA_MEMBER,
			   .lid = lid,
			   .method = IBA_SET,
			   .mask = IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) |
				   IBA_SA_BIT(member, join_state)};
	uint8_t mgid[16] = {0xff,	   0x12,	0x40, 0x1b, (uint8_t)(pkey >> 8),
			    (uint8_t)pkey, [12] = 0xff, 0xff, 0xff, 0xff};
	struct sa_reply r;
	uint16_t status;

	memcpy(j.mgid, mgid, 16);
	gid_of(guid, j.port_gid);
	iba_sa_member_put(&j, a.query);
	r = sa_rig_ask(&m->rig, &a);
	status = r.status;
	sa_reply_free(&r);
	return status;
}

static uint32_t members_of(struct machines *m, uint16_t pkey, uint64_t guid)
{
	struct sa_partition_member *list;
	uint32_t found = 0;
	size_t n =
		sa_partition_members(m->rig.sa, lab_sm(m->w.lab), pkey, sa_rig_now(&m->rig), &list);

	for (size_t i = 0; i < n; i++)
		found += list[i].guid == guid;
	free(list);
	return found;
}

static void machines_have_partitions(void **state UNUSED)
{
	static const struct {
		enum sm_scheme scheme;
		enum fab_sriov sriov;
	} kinds[] = {{SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED},
		     {SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH},
		     {SM_SCHEME_PREPOPULATED, FAB_SRIOV_VSWITCH}};
	struct pol *pol = policy();

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct machines m;

		open_with(&m, kinds[i].scheme, kinds[i].sriov, pol);
		make(&m, "a", A, 2, 1);
		make(&m, "b", B, 2, 2);
		make(&m, "c", C, 3, 1);
		partitions_hold(&m);
		assert_int_equal(members_of(&m, 0x8020, A) + members_of(&m, 0x8020, B), 2);
		assert_int_equal(members_of(&m, 0x8020, C), 0);
		assert_int_equal(joins(&m, lid_of(&m, "a"), A, 0x8020), 0);
		assert_int_equal(joins(&m, lid_of(&m, "c"), C, 0x8020), IBA_SA_INVALID);
		assert_int_equal(joins(&m, lid_of(&m, "c"), C, 0x8021), 0);
		assert_int_equal(
			vm_do(&m.w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&m.w, 0), 1)).rc, 0);
		assert_int_equal(
			vm_do(&m.w, vm_ask(SM_VM_MIGRATE, "c", vm_host_guid(&m.w, 2), 1)).rc, 0);
		drain(&m);
		partitions_hold(&m);
		assert_int_equal(members_of(&m, 0x8020, A) + members_of(&m, 0x8020, B), 2);
		assert_int_equal(joins(&m, lid_of(&m, "c"), C, 0x8020), IBA_SA_INVALID);
		close(&m);
	}
	pol_free(pol);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_shared_port_is_left_with_notices),
	cmocka_unit_test(a_vswitch_moves_without_notices),
	cmocka_unit_test(registrations_and_trees_go_with_a_machine),
	cmocka_unit_test(functions_have_records),
	cmocka_unit_test(machines_have_partitions),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
