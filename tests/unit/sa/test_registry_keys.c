/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts registered, and partitions that change under it: memberships, services, and who is told of ports and groups.
 */
#include "sa_fixture.h"

#include "policy/policy.h"

enum { RED = 0x7001, FULL_KEY = 0x8000 };

static const uint8_t GROUP[16] = {0xff, 0x12, 0x40, 0x1b, 0xf0, 0x01, [14] = 0x12, [15] = 0x34};

static const struct fab_port *host(const struct sa_rig *g, unsigned k)
{
	const struct fab *f = sm_fabric(lab_sm(g->lab));

	for (node_id n = 0; n < f->nnodes; n++)
		if (f->nodes[n].type == IBA_NODE_CA && !k--)
			return &f->ports[fab_port_id(f, n, 1)];
	fail();
	return NULL;
}

static void gid_of(const struct sa_rig *g, unsigned k, uint8_t gid[16])
{
	iba_be64_put(gid, SA_DEFAULT_PREFIX);
	iba_be64_put(gid + 8, host(g, k)->guid);
}

/* The first n hosts are in the red partition, and all in the default one, where only the manager is a full member. */
static void red_hosts(struct sa_rig *g, unsigned n)
{
	char text[512];
	struct pol *p = pol_new();
	struct err e = {""};
	int len = snprintf(text, sizeof(text),
			   "Default=0x7fff: ALL=limited, SELF=full;\nred=0x7001:");

	for (unsigned i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s 0x%llx=full",
				i ? "," : "", (unsigned long long)host(g, i)->guid);
	snprintf(text + len, sizeof(text) - (size_t)len, ";\n");
	pol_partitions_begin(p);
	if (pol_read_partitions(p, "partitions.conf", text, strlen(text), &e))
		fail_msg("%s", e.text);
	p->configured = true;
	lab_manager_policy(g->lab, 0, p);
	pol_free(p);
	sa_rig_settle(g);
	sa_manager(g->sa, lab_sm(g->lab), sa_rig_now(g));
}

static uint16_t status_of(struct sa_rig *g, struct sa_ask *a)
{
	struct sa_reply r = sa_rig_ask(g, a);
	uint16_t status = r.status;

	sa_reply_free(&r);
	return status;
}

static struct sa_ask join_of(struct sa_rig *g, unsigned k)
{
	struct sa_ask a = {.attr_id = IBA_SA_MEMBER,
			   .lid = host(g, k)->lid,
			   .method = IBA_SET,
			   .mask = IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) |
				   IBA_SA_BIT(member, qkey) | IBA_SA_BIT(member, traffic_class) |
				   IBA_SA_BIT(member, pkey) | IBA_SA_BIT(member, sl) |
				   IBA_SA_BIT(member, flow_label) | IBA_SA_BIT(member, join_state)};
	struct iba_sa_member m = {.qkey = 1, .pkey = RED | FULL_KEY, .join_state = 1};

	memcpy(m.mgid, GROUP, 16);
	gid_of(g, k, m.port_gid);
	iba_sa_member_put(&m, a.query);
	return a;
}

static uint16_t join(struct sa_rig *g, unsigned k)
{
	struct sa_ask a = join_of(g, k);

	return status_of(g, &a);
}

static uint16_t serve(struct sa_rig *g, unsigned k)
{
	struct sa_ask a = {.attr_id = IBA_SA_SERVICE,
			   .lid = host(g, k)->lid,
			   .method = IBA_SET,
			   .mask = IBA_SA_BIT(service, id) | IBA_SA_BIT(service, gid)};
	struct iba_sa_service s = {.id = k, .pkey = RED | FULL_KEY, .lease = UINT32_MAX};

	gid_of(g, k, s.gid);
	iba_sa_service_put(&s, a.query);
	return status_of(g, &a);
}

/* To all notices of the manager. */
static void subscribe(struct sa_rig *g, unsigned k)
{
	struct sa_ask a = {.attr_id = IBA_SA_INFORM, .lid = host(g, k)->lid, .method = IBA_SET};
	struct iba_sa_inform f = {.lid_first = 0xffff,
				  .is_generic = 1,
				  .subscribe = 1,
				  .type = 0xffff,
				  .trap_number = 0xffff,
				  .producer_type = 0xffffff};

	iba_sa_inform_put(&f, a.query);
	assert_int_equal(status_of(g, &a), 0);
}

enum { HOSTS = 8 };

/* Who gets reports of this notice; all others are dropped. */
static void reports(struct sa_rig *g, unsigned trap, const uint16_t lids[HOSTS], bool to[HOSTS])
{
	struct sa_mad m;

	memset(to, 0, HOSTS * sizeof(*to));
	while (sa_next(g->sa, &m, sa_rig_now(g))) {
		struct iba_notice n;

		iba_notice_get(&n, m.mad + IBA_SA_DATA_OFF, IBA_SMP_DATA_SIZE);
		for (unsigned k = 0; k < HOSTS; k++)
			to[k] |= iba_smp_method(m.mad) == IBA_REPORT && n.trap_number == trap &&
				 m.lid == lids[k];
	}
}

static struct sa_status status(const struct sa_rig *g)
{
	struct sa_status st;

	sa_status(g->sa, &st);
	return st;
}

TEST(who_leaves_a_partition_loses_what_it_registered_there)
{
	struct sa_rig g;
	uint32_t usual;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	red_hosts(&g, 3);
	usual = status(&g).groups;
	assert_int_equal(join(&g, 1), 0);
	assert_int_equal(join(&g, 2), 0);
	assert_int_equal(serve(&g, 1), 0);
	assert_int_equal(serve(&g, 2), 0);
	assert_int_equal(join(&g, 3), IBA_SA_INVALID);
	red_hosts(&g, 2);
	assert_int_equal(status(&g).members, 1);
	assert_int_equal(status(&g).services, 1);
	assert_int_equal(status(&g).groups, usual + 1);
	assert_int_equal(join(&g, 2), IBA_SA_INVALID);
	red_hosts(&g, 1);
	assert_int_equal(status(&g).members, 0);
	assert_int_equal(status(&g).services, 0);
	assert_int_equal(status(&g).groups, usual); /* its last member */
	red_hosts(&g, 3);
	assert_int_equal(join(&g, 2), 0);
	sa_rig_close(&g);
}

TEST(notices_are_for_those_who_share_a_partition)
{
	struct sa_rig g;
	uint16_t lids[HOSTS];
	bool to[HOSTS];
	port_id port, leaf;
	struct sa_ask a;
	struct sa_mad m;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	red_hosts(&g, 3);
	for (unsigned k = 0; k < HOSTS; k++)
		lids[k] = host(&g, k)->lid;
	subscribe(&g, 1);
	subscribe(&g, 4); /* a limited member of the default partition, and of no other one */
	a = join_of(&g, 2);
	sa_ask_mad(&g, &a, &m);
	sa_take(g.sa, lab_sm(g.lab), &m, sa_rig_now(&g));
	reports(&g, 66, lids, to);
	assert_true(to[1]);
	assert_false(to[4]);
	port = fab_port_id(g.fab, fab_node_by_guid(g.fab, host(&g, 2)->guid - 1), 1);
	leaf = g.fab->ports[port].peer;
	sim_uncable(lab_sim(g.lab), port);
	sa_rig_settle(&g);
	sa_manager(g.sa, lab_sm(g.lab), sa_rig_now(&g));
	reports(&g, 67, lids, to);
	assert_true(to[1]);
	assert_false(to[4]);
	sim_cable(lab_sim(g.lab), port, leaf);
	sa_rig_settle(&g);
	sa_manager(g.sa, lab_sm(g.lab), sa_rig_now(&g));
	reports(&g, 64, lids, to);
	assert_true(to[1]);
	assert_false(to[4]); /* both are limited members of what they share */
	sa_rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_leaves_a_partition_loses_what_it_registered_there),
		cmocka_unit_test(notices_are_for_those_who_share_a_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
