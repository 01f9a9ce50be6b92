/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths in particular: traces, several paths at once, virtual machines, partitions, levels of service. What paths there are in general is compared in test_attributes.c.
 *
 * Covers: paths.c paths_multi.c trace_records.c path_keys.c path_levels.c path_groups.c
 */
#include "sa_fixture.h"
#include "vm_fixture.h"

#include "policy/policy.h"

static void gid_of(uint64_t guid, uint8_t gid[16])
{
	iba_be64_put(gid, 0xfe80000000000000);
	iba_be64_put(gid + 8, guid);
}

/* Between the n-th and the m-th host of the fabric. */
static port_id host(const struct fab *f, unsigned n)
{
	for (node_id i = 0; i < f->nnodes; i++)
		if (f->nodes[i].type == IBA_NODE_CA && !n--)
			return fab_port_id(f, i, 1);
	fail();
	return 0;
}

static struct sa_ask path_ask(uint64_t from, uint64_t to, unsigned method)
{
	struct sa_ask a = {.attr_id = IBA_SA_PATH,
			   .method = (uint8_t)method,
			   .mask = IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, dgid)};
	struct iba_sa_path q = {0};

	gid_of(from, q.sgid);
	gid_of(to, q.dgid);
	iba_sa_path_put(&q, a.query);
	return a;
}

static uint64_t guid_at(const struct sa_rig *g, unsigned n)
{
	return sim_port_guid(lab_sim(g->lab), host(g->fab, n));
}

static uint16_t lid_at(const struct sa_rig *g, unsigned n)
{
	return sim_port_info(lab_sim(g->lab), host(g->fab, n))->lid;
}

/* ---- traces ---- */

TEST(a_trace_names_each_node_of_the_way)
{
	struct sa_rig g;
	struct sa_ask a;
	struct sa_reply r;
	struct iba_sa_trace t, before = {0};

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	a = path_ask(guid_at(&g, 0), guid_at(&g, 7), IBA_SA_GET_TRACE_TABLE);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.attr_id, IBA_SA_TRACE);
	assert_int_equal(r.method, IBA_SA_GET_TABLE_RESP);
	assert_int_equal(r.n, 5); /* host, leaf, root, leaf, host */
	for (unsigned i = 0; i < r.n; i++) {
		node_id n;

		iba_sa_trace_get(&t, r.records + i * r.size, r.size);
		n = fab_node_by_guid(g.fab, t.node_id);
		assert_int_not_equal(n, FAB_NONE);
		assert_int_equal(t.node_type, g.fab->nodes[n].type);
		if (i) { /* the link is there */
			node_id last = fab_node_by_guid(g.fab, before.node_id);
			port_id p = fab_port_id(g.fab, last, before.exit_port);

			assert_int_equal(g.fab->ports[p].peer, fab_port_id(g.fab, n, t.entry_port));
		}
		before = t;
	}
	assert_int_equal(t.exit_port, 0);
	sa_reply_free(&r);
	a = path_ask(guid_at(&g, 0), 0x1234, IBA_SA_GET_TRACE_TABLE);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_BAD_GID);
	sa_reply_free(&r);
	a.mask = IBA_SA_BIT(path, sgid);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_FEW_COMPONENTS);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

/* ---- too many ---- */

TEST(a_table_of_too_many_pairs_is_refused_at_once)
{
	struct sa_rig g;
	struct sa_reply r;
	struct iba_sa_path q = {.sl = 5}; /* no path has it: each pair would be looked at in vain */
	struct sa_ask a = {
		.attr_id = IBA_SA_PATH, .method = IBA_SA_GET_TABLE, .mask = IBA_SA_BIT(path, sl)};

	sa_rig_open(&g, fabric_make(GEN("mtree", 16, 3)), 0, "fera");
	iba_sa_path_put(&q, a.query);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_NO_RESOURCES);
	sa_reply_free(&r);
	gid_of(guid_at(&g, 1), q.sgid);
	iba_sa_path_put(&q, a.query);
	a.mask |= IBA_SA_BIT(path, sgid);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.n, 0);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

/* ---- several at once ---- */

static struct sa_ask multi_ask(const uint64_t *guids, unsigned sources, unsigned targets,
			       unsigned paths, unsigned independence)
{
	struct sa_ask a = {
		.attr_id = IBA_SA_MULTIPATH,
		.method = IBA_SA_GET_MULTI,
		.mask = IBA_SA_BIT(multipath, sgid_count) | IBA_SA_BIT(multipath, dgid_count) |
			IBA_SA_BIT(multipath, num_paths) | IBA_SA_BIT(multipath, independence)};
	struct iba_sa_multipath q = {.sgid_count = (uint8_t)sources,
				     .dgid_count = (uint8_t)targets,
				     .num_paths = (uint8_t)paths,
				     .independence = (uint8_t)independence};

	iba_sa_multipath_put(&q, a.query);
	for (unsigned i = 0; i < sources + targets; i++)
		gid_of(guids[i], a.query + 24 + i * 16);
	return a;
}

TEST(several_paths_are_independent_where_that_is_asked)
{
	struct sa_rig g;
	struct sa_reply r;
	struct sa_ask a;
	struct iba_sa_path p, x;
	uint64_t guids[4];

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 2, NULL);
	for (unsigned i = 0; i < 4; i++)
		guids[i] = guid_at(&g, i * 2 + i / 2);
	a = multi_ask(guids, 2, 2, 127, 0);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.method, IBA_SA_GET_MULTI_RESP);
	assert_int_equal(r.size, 64);
	assert_int_equal(r.n, 4 * 16); /* pairs of ends, pairs of LIDs */
	sa_reply_free(&r);
	a = multi_ask(guids, 2, 2, 2, 1);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.n, 2);
	iba_sa_path_get(&p, r.records, 64);
	iba_sa_path_get(&x, r.records + 64, 64);
	assert_memory_not_equal(p.sgid, x.sgid, 16); /* no link in common, at either end */
	assert_memory_not_equal(p.dgid, x.dgid, 16);
	sa_reply_free(&r);
	guids[3] = 0x1234;
	a = multi_ask(guids, 2, 2, 2, 1);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_BAD_GID);
	sa_reply_free(&r);
	a = multi_ask(guids, 0, 2, 2, 1);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_INVALID);
	sa_reply_free(&r);
	a.mask = 0;
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_FEW_COMPONENTS);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

/* IBA has no MTU 63 and no rate 0 or 63; who asks for the largest one names none. */
TEST(an_mtu_or_rate_that_is_none_is_refused)
{
	static const struct {
		uint8_t mtu_selector, mtu, rate_selector, rate;
		uint16_t status;
	} rows[] = {
		{IBA_SA_GREATER, 63, IBA_SA_LARGEST, 0, IBA_SA_INVALID},
		{IBA_SA_LESS, 0, IBA_SA_LARGEST, 0, IBA_SA_INVALID},
		{IBA_SA_LARGEST, 0, IBA_SA_EXACTLY, 0, IBA_SA_INVALID},
		{IBA_SA_LARGEST, 0, IBA_SA_GREATER, 63, IBA_SA_INVALID},
		{IBA_SA_LARGEST, 0, IBA_SA_LARGEST, 0, 0},
	};
	struct sa_rig g;
	struct sa_reply r;
	struct sa_ask a;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct iba_sa_path q = {.mtu_selector = rows[i].mtu_selector & 3,
					.mtu = rows[i].mtu & 63,
					.rate_selector = rows[i].rate_selector & 3,
					.rate = rows[i].rate & 63};

		a = path_ask(0, 0, IBA_SA_GET_TABLE);
		gid_of(guid_at(&g, 0), q.sgid);
		gid_of(guid_at(&g, 7), q.dgid);
		a.mask |= IBA_SA_BIT(path, mtu_selector) | IBA_SA_BIT(path, mtu) |
			  IBA_SA_BIT(path, rate_selector) | IBA_SA_BIT(path, rate);
		iba_sa_path_put(&q, a.query);
		r = sa_rig_ask(&g, &a);
		assert_int_equal(r.status, rows[i].status);
		assert_int_equal(r.n, !rows[i].status);
		sa_reply_free(&r);
	}
	sa_rig_close(&g);
}

/* More GIDs than the MAD has room for. */
TEST(a_list_that_is_not_there_is_refused)
{
	uint64_t guids[4] = {0};
	struct sa_rig g;
	struct sa_reply r;
	struct sa_ask a;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	a = multi_ask(guids, 2, 2, 2, 0);
	a.query[15] = 200;
	a.query[16] = 200;
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_INVALID);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

/* ---- virtual machines ---- */

static void vm_path(enum sm_scheme scheme, enum fab_sriov sriov)
{
	struct vm_world w;
	struct sa_rig g = {0};
	struct sa_config c;
	struct sa_reply r;
	struct sa_ask a;
	struct iba_sa_path p;
	struct sm_vm vm;
	uint64_t from;

	vm_open(&w, scheme, sriov, 4);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_CREATE, "a", 0, 0)).rc, 0);
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_START, "a", vm_host_guid(&w, 3), 2)).rc, 0);
	g = (struct sa_rig){.fab = w.fab, .lab = w.lab};
	sa_config_default(&c);
	g.sa = sa_new(&c);
	from = vm_own_guid(&w, 0);
	for (unsigned moved = 0; moved < 2; moved++) {
		vm = vm_get(&w, "a");
		assert_true(vm.running && vm.lid);
		a = path_ask(from, vm.guid, IBA_GET);
		r = sa_rig_ask(&g, &a);
		assert_int_equal(r.status, 0);
		iba_sa_path_get(&p, r.records, 64);
		assert_int_equal(p.dlid, vm.lid);
		assert_int_equal(iba_be64(p.dgid + 8), vm.guid);
		sa_reply_free(&r);
		if (!moved)
			assert_int_equal(
				vm_do(&w, vm_ask(SM_VM_MIGRATE, "a", vm_host_guid(&w, 6), 1)).rc,
				0);
	}
	assert_int_equal(vm_do(&w, vm_ask(SM_VM_STOP, "a", 0, 0)).rc, 0);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, IBA_SA_BAD_GID);
	sa_reply_free(&r);
	sa_free(g.sa);
	vm_close(&w);
}

TEST(a_machine_is_found_by_its_vguid)
{
	vm_path(SM_SCHEME_DYNAMIC, FAB_SRIOV_VSWITCH);
}

TEST(a_machine_that_shares_a_port_is_found_by_its_vguid)
{
	vm_path(SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED);
}

/* ---- partitions and levels ---- */

static void policy(struct sa_rig *g, const char *partitions, const char *qos)
{
	struct pol *p = pol_new();
	struct err e = {""};

	if (partitions) {
		pol_partitions_begin(p);
		if (pol_read_partitions(p, "partitions.conf", partitions, strlen(partitions), &e))
			fail_msg("%s", e.text);
		p->configured = true;
	}
	if (qos) {
		p->qos = true;
		if (pol_read_qos(p, "qos.conf", qos, strlen(qos), &e))
			fail_msg("%s", e.text);
	}
	lab_manager_policy(g->lab, 0, p);
	pol_free(p);
	sa_rig_settle(g);
}

static struct sa_reply between(struct sa_rig *g, unsigned a, unsigned b, uint16_t pkey)
{
	struct sa_ask ask = path_ask(guid_at(g, a), guid_at(g, b), IBA_GET);
	struct iba_sa_path q;

	iba_sa_path_get(&q, ask.query, IBA_SA_DATA_SIZE);
	q.pkey = pkey;
	iba_sa_path_put(&q, ask.query);
	ask.lid = lid_at(g, a);
	if (pkey)
		ask.mask |= IBA_SA_BIT(path, pkey);
	return sa_rig_ask(g, &ask);
}

static void is_path(struct sa_reply r, unsigned pkey, unsigned sl)
{
	struct iba_sa_path p;

	assert_int_equal(r.status, 0);
	iba_sa_path_get(&p, r.records, 64);
	assert_int_equal(p.pkey, pkey);
	assert_int_equal(p.sl, sl);
	sa_reply_free(&r);
}

static void is_none(struct sa_reply r)
{
	assert_int_equal(r.status, IBA_SA_NO_RECORDS);
	sa_reply_free(&r);
}

/* Hosts 1 and 2 are in partition 1, all are limited members of the default one, where the manager is a full one. */
TEST(paths_are_within_partitions)
{
	struct sa_rig g;
	struct sa_ask a = {.attr_id = IBA_SA_NODE, .method = IBA_SA_GET_TABLE};
	struct sa_reply r;
	char text[256];

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	snprintf(text, sizeof(text),
		 "Default=0x7fff: ALL, SELF=full;\none=0x1: 0x%llx=full, 0x%llx=limited;\n",
		 (unsigned long long)guid_at(&g, 1), (unsigned long long)guid_at(&g, 2));
	policy(&g, text, NULL);
	is_path(between(&g, 1, 2, 0), 0x8001, 0);
	is_path(between(&g, 2, 1, 0), 0x0001, 0);
	is_path(between(&g, 1, 2, 0x8001), 0x8001, 0);
	is_none(between(&g, 1, 2, 0x7fff)); /* limited both */
	is_none(between(&g, 1, 3, 0));
	is_path(between(&g, 3, 0, 0), 0x7fff, 0);
	a.lid = lid_at(&g, 2); /* it sees itself, host 1 and the manager's host */
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.n, 3);
	sa_reply_free(&r);
	a.trusted = true;
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.n, g.fab->nnodes);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

TEST(levels_of_service)
{
	struct sa_rig g;
	struct sa_ask a;
	struct sa_reply r;
	struct iba_sa_path p;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	policy(&g, NULL,
	       "qos-levels\n"
	       "  qos-level\n    name: DEFAULT\n    sl: 1\n  end-qos-level\n"
	       "  qos-level\n    name: slow\n    sl: 3\n    mtu-limit: 2\n    rate-limit: 3\n"
	       "    packet-life: 12\n  end-qos-level\n"
	       "end-qos-levels\n"
	       "qos-match-rules\n"
	       "  qos-match-rule\n    service-id: 0x100-0x1ff\n    qos-level-name: slow\n"
	       "  end-qos-match-rule\n"
	       "end-qos-match-rules\n");
	is_path(between(&g, 1, 2, 0), 0xffff, 1);
	a = path_ask(guid_at(&g, 1), guid_at(&g, 2), IBA_GET);
	iba_sa_path_get(&p, a.query, IBA_SA_DATA_SIZE);
	p.service_id_low = 0x123;
	iba_sa_path_put(&p, a.query);
	a.mask |= IBA_SA_BIT(path, service_id_high) | IBA_SA_BIT(path, service_id_low);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, 0);
	iba_sa_path_get(&p, r.records, 64);
	assert_int_equal(p.sl, 3);
	assert_int_equal(p.mtu, 2);
	assert_int_equal(p.rate, 3);
	assert_int_equal(p.life, 12);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

/* A path has the P_Key of its level; where the request names one, it is that with its bit of membership. */
TEST(a_level_with_a_key)
{
	struct sa_rig g;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	policy(&g, NULL,
	       "qos-levels\n"
	       "  qos-level\n    name: DEFAULT\n    sl: 1\n    pkey: 0x7fff\n  end-qos-level\n"
	       "end-qos-levels\n");
	is_path(between(&g, 1, 2, 0), 0x7fff, 1);
	is_path(between(&g, 1, 2, 0xffff), 0xffff, 1);
	is_path(between(&g, 1, 2, 0x7fff), 0x7fff, 1);
	sa_rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_names_each_node_of_the_way),
		cmocka_unit_test(a_table_of_too_many_pairs_is_refused_at_once),
		cmocka_unit_test(several_paths_are_independent_where_that_is_asked),
		cmocka_unit_test(an_mtu_or_rate_that_is_none_is_refused),
		cmocka_unit_test(a_list_that_is_not_there_is_refused),
		cmocka_unit_test(a_machine_is_found_by_its_vguid),
		cmocka_unit_test(a_machine_that_shares_a_port_is_found_by_its_vguid),
		cmocka_unit_test(paths_are_within_partitions),
		cmocka_unit_test(levels_of_service),
		cmocka_unit_test(a_level_with_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
