/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs: Set and Delete of GUIDInfoRecord, what devices hold then, paths, groups and notices by them, ports that
 * leave, SMPs that get lost, virtual machines.
 *
 * Covers: aliases.c alias_requests.c alias_guids.c alias_state.c
 */
#include "sa_fixture.h"

#include "vm_fixture.h"

enum { BOTH = 3, GUIDS = 8, WANTED = 0x1234 };

static struct sa_rig rig;

static void open_rig(const struct lab_config *c)
{
	struct sa_config sc;
	struct err e;

	rig = (struct sa_rig){
		.fab = fabric_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}, .ndims = 2})};
	rig.lab = lab_new(rig.fab, c, &e);
	assert_non_null(rig.lab);
	lab_power_on(rig.lab, NULL);
	assert_true(lab_run_ready(rig.lab, 100 * PS_PER_S));
	sa_config_default(&sc);
	sc.sm_key = SA_TEST_KEY;
	rig.sa = sa_new(&sc);
}

static int open_plain(void **state UNUSED)
{
	struct lab_config c;

	lab_config_default(&c);
	c.threads = 1;
	c.sim.traps = true;
	open_rig(&c);
	return 0;
}

static int close_rig(void **state UNUSED)
{
	sa_rig_close(&rig);
	return 0;
}

/* The port of the k-th host, from the last one on. */
static const struct fab_port *host(unsigned k)
{
	const struct fab *f = sm_fabric(lab_sm(rig.lab));

	for (node_id n = f->nnodes; n-- > 0;)
		if (f->nodes[n].type == IBA_NODE_CA && !k--)
			return &f->ports[fab_port_id(f, n, 1)];
	fail();
	return NULL;
}

static uint64_t *guid_of(struct iba_sa_guid *r, unsigned i)
{
	uint64_t *at[GUIDS] = {&r->guid0, &r->guid1, &r->guid2, &r->guid3,
			       &r->guid4, &r->guid5, &r->guid6, &r->guid7};

	return at[i];
}

/* One GUID of block 0, by the port itself or with the key; place GUIDS: none. The status, and the block of the answer. */
static uint16_t change(uint8_t method, unsigned k, unsigned place, uint64_t guid,
		       struct iba_sa_guid *out)
{
	struct iba_sa_guid r = {.lid = host(k)->lid};
	struct sa_ask a = {.attr_id = IBA_SA_GUID, .lid = r.lid, .method = method, .mask = BOTH};
	struct sa_reply reply;
	uint16_t status;

	if (place < GUIDS) {
		*guid_of(&r, place) = guid;
		a.mask |= 16ull << place;
	}
	iba_sa_guid_put(&r, a.query);
	reply = sa_rig_ask(&rig, &a);
	status = reply.status;
	assert_int_equal(reply.method, (method == IBA_SA_DELETE ? IBA_SA_DELETE : IBA_GET) | 0x80);
	if (out)
		iba_sa_guid_get(out, reply.records, IBA_SA_DATA_SIZE);
	sa_reply_free(&reply);
	return status;
}

static void settle(void)
{
	struct sm_alias *list;
	size_t n = sa_aliases_list(rig.sa, &list);

	assert_true(lab_manager_aliases(rig.lab, 0, list, n));
	lab_run_to(rig.lab, sim_now(lab_sim(rig.lab)) + 50 * PS_PER_MS);
	assert_true(lab_run_ready(rig.lab, 1000 * PS_PER_S));
	free(list);
}

static uint64_t held(unsigned k, unsigned place)
{
	const struct fab *f = rig.fab;
	uint64_t node = sm_fabric(lab_sm(rig.lab))->nodes[host(k)->node].guid;

	return sim_alias_guid(lab_sim(rig.lab), fab_port_id(f, fab_node_by_guid(f, node), 1),
			      place);
}

/* ---- requests ---- */

static void the_requester_or_the_manager_chooses(void **state UNUSED)
{
	struct iba_sa_guid r;
	uint64_t chosen;

	assert_int_equal(change(IBA_SET, 0, 2, WANTED, &r), 0);
	assert_int_equal(r.guid0, host(0)->guid);
	assert_int_equal(r.guid2, WANTED);
	assert_int_equal(change(IBA_SET, 0, 1, 0, &r), 0);
	assert_true(r.guid1 && r.guid1 >> 56 == 2);
	assert_int_equal(r.guid2, WANTED);
	chosen = r.guid1;
	settle();
	assert_int_equal(held(0, 1), chosen);
	assert_int_equal(held(0, 2), WANTED);
	assert_int_equal(held(0, 0), host(0)->guid);
	assert_int_equal(held(1, 2), 0);
	assert_int_equal(change(IBA_SET, 0, 1, 0, &r), 0); /* once more: it stays */
	assert_int_equal(r.guid1, chosen);
	assert_int_equal(change(IBA_SA_DELETE, 0, 1, 0, &r), 0);
	assert_int_equal(r.guid1, 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, 1, 0, &r), 0); /* nothing is there */
	assert_int_equal(change(IBA_SET, 0, 1, 0, &r), 0);	 /* and the same comes back */
	assert_int_equal(r.guid1, chosen);
	assert_int_equal(change(IBA_SA_DELETE, 0, 1, 0, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, 2, 0, NULL), 0);
	settle();
	assert_int_equal(held(0, 1), 0);
	assert_int_equal(held(0, 2), 0);
}

/* A GUID that another has is declined: the entry stays as it was, and others of the request are set. */
static void a_guid_has_one_port(void **state UNUSED)
{
	struct iba_sa_guid r;

	assert_int_equal(change(IBA_SET, 0, 2, WANTED, NULL), 0);
	assert_int_equal(change(IBA_SET, 1, 3, WANTED, &r), 0);
	assert_int_equal(r.guid3, 0);
	assert_int_equal(change(IBA_SET, 0, 3, WANTED, &r), 0);
	assert_int_equal(r.guid3, 0);
	assert_int_equal(change(IBA_SET, 1, 3, host(2)->guid, &r), 0);
	assert_int_equal(r.guid3, 0);
	assert_int_equal(change(IBA_SET, 1, 3, host(2)->guid - 1, &r), 0); /* of its node */
	assert_int_equal(r.guid3, 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, 2, 0, NULL), 0);
	assert_int_equal(change(IBA_SET, 1, 3, WANTED, &r), 0);
	assert_int_equal(r.guid3, WANTED);
	assert_int_equal(change(IBA_SA_DELETE, 1, 3, 0, NULL), 0);
}

static uint16_t odd(uint64_t mask, uint16_t from, bool trusted, uint16_t lid, uint8_t block)
{
	struct iba_sa_guid r = {.lid = lid, .block = block, .guid2 = WANTED};
	struct sa_ask a = {.attr_id = IBA_SA_GUID,
			   .lid = from,
			   .trusted = trusted,
			   .method = IBA_SET,
			   .mask = mask};
	struct sa_reply reply;
	uint16_t status;

	iba_sa_guid_put(&r, a.query);
	reply = sa_rig_ask(&rig, &a);
	status = reply.status;
	sa_reply_free(&reply);
	return status;
}

static void requests_that_make_no_sense(void **state UNUSED)
{
	uint16_t own = host(0)->lid;

	assert_int_equal(odd(BOTH | 64, own, false, own, 0), 0);
	assert_int_equal(odd(1 | 64, own, false, own, 0), IBA_SA_FEW_COMPONENTS);
	assert_int_equal(odd(2 | 64, own, false, own, 0), IBA_SA_FEW_COMPONENTS);
	assert_int_equal(odd(BOTH | 16, own, false, own, 0), IBA_SA_INVALID); /* the port's own */
	assert_int_equal(odd(BOTH | 64, own, false, own, 1), IBA_SA_NO_RECORDS);
	assert_int_equal(odd(BOTH | 64, own, false, 999, 0), IBA_SA_NO_RECORDS);
	assert_int_equal(odd(BOTH | 64, host(1)->lid, false, own, 0), IBA_SA_INVALID);
	assert_int_equal(odd(BOTH | 64, host(1)->lid, true, own, 0), 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, 2, 0, NULL), 0);
	assert_int_equal(change(IBA_SET, 0, GUIDS, 0, NULL), 0); /* a mask without GUIDs reads */
}

/* ---- what others see ---- */

static uint16_t path_to(uint64_t guid)
{
	struct iba_sa_path p = {.num_paths = 1}, found = {0};
	struct sa_ask a = {.attr_id = IBA_SA_PATH,
			   .lid = host(3)->lid,
			   .method = IBA_GET,
			   .mask = IBA_SA_BIT(path, dgid) | IBA_SA_BIT(path, sgid) |
				   IBA_SA_BIT(path, num_paths)};
	struct sa_reply r;

	iba_be64_put(p.dgid, SA_DEFAULT_PREFIX);
	iba_be64_put(p.dgid + 8, guid);
	iba_be64_put(p.sgid, SA_DEFAULT_PREFIX);
	iba_be64_put(p.sgid + 8, host(3)->guid);
	iba_sa_path_put(&p, a.query);
	r = sa_rig_ask(&rig, &a);
	if (!r.status)
		iba_sa_path_get(&found, r.records, r.size);
	if (found.dlid)
		assert_memory_equal(found.dgid, p.dgid, 16);
	sa_reply_free(&r);
	return found.dlid;
}

static void join(uint64_t guid, uint16_t lid)
{
	struct iba_sa_member m = {.qkey = 0xb1b, .pkey = 0xffff, .join_state = 1};
	struct sa_ask a = {.attr_id = IBA_SA_MEMBER, .lid = lid, .method = IBA_SET};
	struct sa_reply r;

	a.mask = IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) |
		 IBA_SA_BIT(member, qkey) | IBA_SA_BIT(member, traffic_class) |
		 IBA_SA_BIT(member, pkey) | IBA_SA_BIT(member, sl) |
		 IBA_SA_BIT(member, flow_label) | IBA_SA_BIT(member, join_state);
	memcpy(m.mgid, (const uint8_t[16]){0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, [15] = 7}, 16);
	iba_be64_put(m.port_gid, SA_DEFAULT_PREFIX);
	iba_be64_put(m.port_gid + 8, guid);
	iba_sa_member_put(&m, a.query);
	r = sa_rig_ask(&rig, &a);
	assert_int_equal(r.status, 0);
	sa_reply_free(&r);
}

static uint32_t members(void)
{
	struct sa_status st;

	sa_status(rig.sa, &st);
	return st.members;
}

static void paths_and_groups_by_alias(void **state UNUSED)
{
	struct sa_tree_member *m;
	struct sa_tree *trees;
	uint32_t ntrees, n;

	assert_int_equal(path_to(WANTED), 0);
	assert_int_equal(change(IBA_SET, 0, 2, WANTED, NULL), 0);
	assert_int_equal(path_to(WANTED), host(0)->lid);
	join(WANTED, host(0)->lid);
	assert_int_equal(members(), 1);
	sa_trees(rig.sa, true, &trees, &ntrees, &m, &n);
	assert_int_equal(n, 1);
	assert_int_equal(m[0].guid, host(0)->guid); /* trees lead to ports */
	free(trees);
	free(m);
	assert_int_equal(change(IBA_SET, 0, 2, WANTED + 1, NULL), 0); /* another one in its place */
	assert_int_equal(path_to(WANTED), 0);
	assert_int_equal(path_to(WANTED + 1), host(0)->lid);
	assert_int_equal(members(), 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, 2, 0, NULL), 0);
	assert_int_equal(path_to(WANTED + 1), 0);
}

static void subscribe(uint16_t lid)
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
	r = sa_rig_ask(&rig, &a);
	assert_int_equal(r.status, 0);
	sa_reply_free(&r);
}

/* How many reports of this trap for this GUID go out now; all are answered. */
static unsigned told(unsigned trap, uint64_t guid)
{
	unsigned n = 0;
	struct sa_mad m;

	sa_manager(rig.sa, lab_sm(rig.lab), sa_rig_now(&rig));
	while (sa_next(rig.sa, &m, sa_rig_now(&rig))) {
		struct iba_notice x;

		if (iba_smp_method(m.mad) != IBA_REPORT)
			continue;
		iba_notice_get(&x, m.mad + IBA_SA_DATA_OFF, IBA_SA_DATA_SIZE);
		n += x.trap_number == trap && iba_be64(x.details + 14) == guid;
		iba_smp_set_method(m.mad, IBA_REPORT_RESP);
		sa_take(rig.sa, lab_sm(rig.lab), &m, sa_rig_now(&rig));
	}
	return n;
}

static void set_quietly(unsigned k, uint64_t guid)
{
	struct iba_sa_guid r = {.lid = host(k)->lid, .guid2 = guid};
	struct sa_ask a = {.attr_id = IBA_SA_GUID,
			   .lid = host(k)->lid,
			   .method = guid ? IBA_SET : IBA_SA_DELETE,
			   .mask = BOTH | 64};
	struct sa_mad m;

	iba_sa_guid_put(&r, a.query);
	sa_ask_mad(&rig, &a, &m);
	sa_take(rig.sa, lab_sm(rig.lab), &m, sa_rig_now(&rig));
}

static void power(uint64_t node_guid, bool on)
{
	sim_node_power(lab_sim(rig.lab), fab_node_by_guid(rig.fab, node_guid), on);
	lab_run_to(rig.lab, sim_now(lab_sim(rig.lab)) + 100 * PS_PER_MS);
	assert_true(lab_run_ready(rig.lab, 100 * PS_PER_S));
}

static void it_goes_with_its_port(void **state UNUSED)
{
	uint64_t node = sm_fabric(lab_sm(rig.lab))->nodes[host(0)->node].guid;
	struct sa_status st;

	subscribe(host(3)->lid);
	set_quietly(0, WANTED);
	assert_int_equal(told(64, WANTED), 1);
	settle();
	assert_int_equal(held(0, 2), WANTED);
	power(node, false);
	assert_int_equal(told(65, WANTED), 1);
	sa_status(rig.sa, &st);
	assert_int_equal(st.aliases, 0);
	power(node, true);
	assert_int_equal(told(64, WANTED), 0); /* the host registers again */
	settle();
	assert_int_equal(held(0, 2), 0);
	set_quietly(0, WANTED);
	assert_int_equal(told(64, WANTED), 1);
	set_quietly(0, 0);
	assert_int_equal(told(65, WANTED), 1);
}

/* ---- restored, lost, in the way ---- */

static void items_give_them_back(void **state UNUSED)
{
	struct sa_config c;
	struct sm_alias *list;
	struct sa_item it;
	struct sa *other;

	sa_config_default(&c);
	other = sa_new(&c);
	sa_manager(rig.sa, lab_sm(rig.lab), sa_rig_now(&rig)); /* groups of the configuration */
	while (sa_changed(rig.sa, &it))
		;
	assert_int_equal(change(IBA_SET, 0, 2, WANTED, NULL), 0);
	assert_int_equal(change(IBA_SET, 0, 7, WANTED + 1, NULL), 0);
	while (sa_changed(rig.sa, &it)) {
		assert_int_equal(it.kind, SA_ITEM_ALIAS);
		assert_true(sa_seed(other, &it, 0));
		assert_false(sa_seed(other, &it, 0));
	}
	assert_int_equal(sa_aliases_list(other, &list), 2);
	assert_int_equal(list[1].guid, WANTED + 1);
	assert_int_equal(list[1].place, 7);
	assert_int_equal(list[1].port_guid, host(0)->guid);
	free(list);
	sa_free(other);
	assert_int_equal(change(IBA_SA_DELETE, 0, 2, 0, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, 7, 0, NULL), 0);
	assert_true(sa_changed(rig.sa, &it) && it.gone);
}

/* Whatever is lost, doubled or delayed: in the end devices hold what was registered last. */
static void lost_smps(void **state UNUSED)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct lab_config c;
		struct rng r;

		rng_seed(&r, seed, 0);
		lab_config_default(&c);
		c.threads = 1;
		c.sim.seed = seed;
		c.sim.faults.loss_q32 = (1ull << 32) / 30;
		c.sim.faults.dup_q32 =
			(1ull << 32) / 4; /* copies of Sets arrive after later ones */
		c.sim.faults.delay_max_ps = 5 * PS_PER_MS;
		c.sm.retries = 8;
		open_rig(&c);
		for (unsigned i = 0; i < 20; i++) {
			struct sm_alias *list;
			size_t n;

			change(rng_below(&r, 3) ? IBA_SET : IBA_SA_DELETE, rng_below(&r, 4),
			       1 + rng_below(&r, 7), 1 + rng_below(&r, 20), NULL);
			n = sa_aliases_list(rig.sa, &list);
			assert_true(lab_manager_aliases(rig.lab, 0, list, n));
			free(list);
			lab_run_to(rig.lab,
				   sim_now(lab_sim(rig.lab)) + rng_below(&r, 500) * PS_PER_US);
		}
		settle();
		for (unsigned k = 0; k < 4; k++) {
			struct iba_sa_guid g;

			assert_int_equal(change(IBA_SET, k, GUIDS, 0, &g), 0);
			for (unsigned i = 1; i < GUIDS; i++)
				assert_int_equal(held(k, i), *guid_of(&g, i));
		}
		sa_rig_close(&rig);
	}
}

/* GUIDs of an HCA with virtual functions are those of machines, and a machine gets none that is an alias. */
static void machines_have_their_own(void **state UNUSED)
{
	struct vm_world w;
	struct sa_config c;
	struct sm_alias a = {.guid = WANTED, .place = 1};

	vm_open(&w, SM_SCHEME_DYNAMIC, FAB_SRIOV_SHARED, 3);
	sa_config_default(&c);
	c.sm_key = SA_TEST_KEY;
	rig = (struct sa_rig){.lab = w.lab, .sa = sa_new(&c)};
	assert_int_equal(change(IBA_SET, 0, 1, WANTED, NULL), IBA_SA_INVALID);
	a.port_guid = host(0)->guid;
	assert_true(lab_manager_aliases(w.lab, 0, &a, 1));
	assert_true(sm_guid_taken(lab_sm(w.lab), WANTED));
	assert_false(sm_guid_known(lab_sm(w.lab), WANTED));
	sa_free(rig.sa);
	vm_close(&w);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_plain, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(the_requester_or_the_manager_chooses),
		WITH_RIG(a_guid_has_one_port),
		WITH_RIG(requests_that_make_no_sense),
		WITH_RIG(paths_and_groups_by_alias),
		WITH_RIG(items_give_them_back),
		WITH_RIG(it_goes_with_its_port),
		cmocka_unit_test(lost_smps),
		cmocka_unit_test(machines_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
