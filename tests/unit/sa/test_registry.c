/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts register: groups by the rules of MCMemberRecord, services with leases, subscriptions and the reports that
 * follow, and all of it saved and given back.
 *
 * Covers: registry.c items.c groups.c members.c services.c subscriptions.c reports.c permanent_groups.c
 */
#include "sa_fixture.h"

#include <stdlib.h>

#include "sa/registry.h"
#include "sm/manager.h"

enum { FULL = 1, NON = 2, SEND = 4, SEND_FULL = 8 };

static struct sa_rig rig;

static int open_rig(void **state UNUSED)
{
	sa_rig_open(&rig,
		    fabric_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}, .ndims = 2}), 0,
		    NULL);
	return 0;
}

static int close_rig(void **state UNUSED)
{
	sa_rig_close(&rig);
	return 0;
}

/* The k-th host: its LID and GID. */
static uint16_t host(unsigned k, uint8_t gid[16])
{
	const struct fab *f = sm_fabric(lab_sm(rig.lab));

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_port *p = &f->ports[fab_port_id(f, n, 1)];

		if (f->nodes[n].type != IBA_NODE_CA || k--)
			continue;
		iba_be64_put(gid, SA_DEFAULT_PREFIX);
		iba_be64_put(gid + 8, p->guid);
		return p->lid;
	}
	fail();
	return 0;
}

/* ---- groups ---- */

static const uint8_t GROUP[16] = {0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, [14] = 0x12, [15] = 0x34};
#define ALL                                                                                        \
	(IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) | IBA_SA_BIT(member, qkey) |      \
	 IBA_SA_BIT(member, traffic_class) | IBA_SA_BIT(member, pkey) | IBA_SA_BIT(member, sl) |   \
	 IBA_SA_BIT(member, flow_label) | IBA_SA_BIT(member, join_state))
#define JOIN                                                                                       \
	(IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) | IBA_SA_BIT(member, join_state))

static struct iba_sa_member join_of(unsigned k, unsigned state)
{
	struct iba_sa_member m = {.qkey = 0xb1b, .pkey = 0xffff, .join_state = (uint8_t)state};

	memcpy(m.mgid, GROUP, 16);
	host(k, m.port_gid);
	return m;
}

/* The status, and the record of the response. */
static uint16_t ask(uint8_t method, unsigned requester, uint64_t mask,
		    const struct iba_sa_member *m, struct iba_sa_member *out)
{
	uint8_t gid[16];
	struct sa_ask a = {.attr_id = IBA_SA_MEMBER,
			   .lid = host(requester, gid),
			   .method = method,
			   .mask = mask};
	struct sa_reply r;
	uint16_t status;

	iba_sa_member_put(m, a.query);
	r = sa_rig_ask(&rig, &a);
	status = r.status;
	if (out)
		iba_sa_member_get(out, r.records, IBA_SA_DATA_SIZE);
	sa_reply_free(&r);
	return status;
}

static uint16_t change(uint8_t method, unsigned k, unsigned state, uint64_t mask,
		       struct iba_sa_member *out)
{
	struct iba_sa_member m = join_of(k, state);

	return ask(method, k, mask, &m, out);
}

static uint32_t groups(void)
{
	struct sa_status st;

	sa_status(rig.sa, &st);
	return st.groups;
}

static void a_group_lives_as_long_as_its_full_members(void **state UNUSED)
{
	uint32_t usual;
	struct iba_sa_member m;

	assert_int_equal(change(IBA_SET, 0, FULL, JOIN, NULL),
			 IBA_SA_FEW_COMPONENTS); /* to create it takes more */
	usual = groups();
	assert_int_equal(change(IBA_SET, 0, SEND, ALL, NULL),
			 IBA_SA_INVALID); /* only a full member creates */
	assert_int_equal(change(IBA_SET, 0, FULL, ALL, &m), 0);
	assert_int_equal(groups(), usual + 1);
	assert_true(m.mlid >= 0xc000);
	assert_int_equal(m.join_state, FULL);
	assert_int_equal(m.mtu_selector, IBA_SA_EXACTLY);
	assert_int_equal(change(IBA_SET, 1, SEND, JOIN, &m), 0);
	assert_int_equal(change(IBA_SET, 1, NON, JOIN, &m), 0);
	assert_int_equal(m.join_state, NON | SEND);
	assert_int_equal(change(IBA_SA_DELETE, 1, FULL, JOIN, NULL),
			 IBA_SA_INVALID); /* it is none */
	assert_int_equal(change(IBA_SA_DELETE, 1, NON, JOIN, &m), 0);
	assert_int_equal(m.join_state, SEND);
	assert_int_equal(change(IBA_SA_DELETE, 0, FULL, JOIN, &m), 0);
	assert_int_equal(groups(), usual);
	/* It ended: what is missing does not count before it is clear who may create one. */
	assert_int_equal(change(IBA_SET, 1, NON, JOIN, NULL), IBA_SA_INVALID);
	assert_int_equal(change(IBA_SET, 1, SEND, JOIN, NULL), IBA_SA_INVALID);
}

/* Linux joins so to send to a group, whether or not a receiver is there. */
static void one_who_only_sends_can_be_a_full_member(void **state UNUSED)
{
	uint32_t usual = groups(), ntrees, nmembers;
	struct sa_tree_member *members;
	struct sa_tree *trees;
	struct iba_sa_member m;

	assert_int_equal(change(IBA_SET, 0, SEND_FULL, JOIN, NULL), IBA_SA_FEW_COMPONENTS);
	assert_int_equal(change(IBA_SET, 0, SEND_FULL, ALL, &m), 0);
	assert_int_equal(m.join_state, SEND_FULL);
	sa_trees(rig.sa, true, &trees, &ntrees, &members, &nmembers);
	assert_int_equal(nmembers, 1);
	assert_true(members[0].sends && !members[0].receives);
	free(trees);
	free(members);
	assert_int_equal(change(IBA_SET, 1, FULL, JOIN, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 1, FULL, JOIN, NULL), 0);
	assert_int_equal(groups(), usual + 1); /* the sender keeps it */
	assert_int_equal(change(IBA_SA_DELETE, 0, SEND_FULL, JOIN, NULL), 0);
	assert_int_equal(groups(), usual);
}

static void what_a_member_names_must_be_what_the_group_has(void **state UNUSED)
{
	static const struct {
		uint64_t bit;
		struct iba_sa_member m;
	} wrong[] = {
		{IBA_SA_BIT(member, qkey), {.qkey = 1}},
		{IBA_SA_BIT(member, pkey), {.pkey = 0x8005}},
		{IBA_SA_BIT(member, sl), {.sl = 3}},
		{IBA_SA_BIT(member, traffic_class), {.traffic_class = 9}},
		{IBA_SA_BIT(member, flow_label), {.flow_label = 5}},
		{IBA_SA_BIT(member, scope), {.scope = 5}},
		{IBA_SA_BIT(member, mtu) | IBA_SA_BIT(member, mtu_selector),
		 {.mtu_selector = IBA_SA_EXACTLY, .mtu = 1}},
		{IBA_SA_BIT(member, rate) | IBA_SA_BIT(member, rate_selector),
		 {.rate_selector = IBA_SA_LESS, .rate = 2}},
	};

	assert_int_equal(change(IBA_SET, 0, FULL, ALL, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct iba_sa_member m = wrong[i].m, right = join_of(1, FULL);

		memcpy(m.mgid, right.mgid, 16);
		memcpy(m.port_gid, right.port_gid, 16);
		m.join_state = FULL;
		assert_int_equal(ask(IBA_SET, 1, JOIN | wrong[i].bit, &m, NULL), IBA_SA_INVALID);
	}
	assert_int_equal(change(IBA_SET, 1, FULL, ALL, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 0, FULL, JOIN, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 1, FULL, JOIN, NULL), 0);
}

static void another_port_removes_only_who_it_joined(void **state UNUSED)
{
	struct iba_sa_member m = join_of(2, FULL);

	assert_int_equal(change(IBA_SET, 0, FULL, ALL, NULL), 0);
	assert_int_equal(change(IBA_SET, 1, FULL, JOIN, NULL), 0);
	m = join_of(1, FULL);
	assert_int_equal(ask(IBA_SA_DELETE, 0, JOIN, &m, NULL), IBA_SA_INVALID);
	m = join_of(2, FULL); /* host 0 joins for host 2 */
	assert_int_equal(ask(IBA_SET, 0, JOIN, &m, &m), 0);
	assert_int_equal(m.proxy_join, 1);
	m = join_of(2, FULL);
	assert_int_equal(ask(IBA_SA_DELETE, 3, JOIN, &m, NULL), 0);
	m = join_of(2, FULL);
	m.port_gid[15] ^= 0x55; /* no such port */
	assert_int_equal(ask(IBA_SET, 0, JOIN, &m, NULL), IBA_SA_INVALID);
	assert_int_equal(change(IBA_SA_DELETE, 0, FULL, JOIN, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 1, FULL, JOIN, NULL), 0);
}

/* A limited member finds the group of its partition, whose key has the bit of full members. */
static void groups_are_found_by_partition(void **state UNUSED)
{
	const uint64_t by = IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, pkey);
	struct iba_sa_member m = join_of(0, FULL), out;

	assert_int_equal(change(IBA_SET, 0, FULL, ALL, NULL), 0);
	m.pkey = 0x7fff;
	assert_int_equal(ask(IBA_GET, 1, by, &m, &out), 0);
	assert_int_equal(out.pkey, 0xffff);
	m.pkey = 0x8005;
	assert_int_equal(ask(IBA_GET, 1, by, &m, NULL), IBA_SA_NO_RECORDS);
	assert_int_equal(change(IBA_SA_DELETE, 0, FULL, JOIN, NULL), 0);
}

static void mgids_of_the_sa_are_not_for_requesters(void **state UNUSED)
{
	struct iba_sa_member m = join_of(0, FULL), out;
	uint32_t usual = groups();

	m.mgid[2] = 0xa0;
	assert_int_equal(ask(IBA_SET, 0, ALL, &m, NULL), IBA_SA_INVALID);
	m.mgid[0] = 0xfe;
	assert_int_equal(ask(IBA_SET, 0, ALL, &m, NULL), IBA_SA_INVALID);
	memset(m.mgid, 0, 16); /* the SA chooses */
	assert_int_equal(ask(IBA_SET, 0, ALL, &m, &out), 0);
	assert_int_equal(iba_be16(out.mgid + 2), 0xa01b);
	assert_int_equal(groups(), usual + 1);
	memcpy(m.mgid, out.mgid, 16);
	assert_int_equal(ask(IBA_SA_DELETE, 0, JOIN, &m, NULL), 0);
}

/* Trees that the manager gets: each member once, senders apart from receivers. */
static void trees_follow_members(void **state UNUSED)
{
	uint32_t number = sa_trees_number(rig.sa), ntrees, nmembers, receive = 0;
	struct sa_tree_member *members;
	struct sa_tree *trees;

	assert_int_equal(change(IBA_SET, 0, FULL, ALL, NULL), 0);
	assert_int_equal(change(IBA_SET, 1, SEND, JOIN, NULL), 0);
	assert_true(sa_trees_number(rig.sa) != number);
	sa_trees(rig.sa, true, &trees, &ntrees, &members, &nmembers);
	assert_int_equal(ntrees, 1);
	assert_int_equal(nmembers, 2);
	for (uint32_t i = 0; i < nmembers; i++)
		receive += members[i].receives;
	assert_int_equal(receive, 1);
	free(trees);
	free(members);
	number = sa_trees_number(rig.sa);
	assert_int_equal(change(IBA_SET, 0, FULL, JOIN, NULL), 0); /* again: nothing is new */
	assert_int_equal(sa_trees_number(rig.sa), number);
	assert_int_equal(change(IBA_SA_DELETE, 0, FULL, JOIN, NULL), 0);
}

static uint8_t level_of(const uint8_t mgid[16])
{
	return sa_group_find(rig.sa, mgid)->r.sl;
}

/* Groups of the policy have an SL that trees fit on; those with members keep theirs. */
static void levels_of_permanent_groups(void **state UNUSED)
{
	static const uint8_t v4[16] = {0xff, 0x12,	  0x40, 0x1b, 0xff,
				       0xff, [12] = 0xff, 0xff, 0xff, 0xff},
			     v6[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [15] = 1};
	struct iba_sa_member m = join_of(2, FULL);

	memcpy(m.mgid, v6, 16);
	assert_int_equal(ask(IBA_SET, 2, JOIN, &m, NULL), 0);
	sa_permanent_levels(rig.sa, 0xffff);
	assert_int_equal(level_of(v4), 0);
	sa_permanent_levels(rig.sa, 0x0c);
	assert_int_equal(level_of(v4), 2);
	assert_int_equal(level_of(v6), 0);
	sa_permanent_levels(rig.sa, 0x08);
	assert_int_equal(level_of(v4), 3);
	sa_permanent_levels(rig.sa, 0); /* no SL is better than another */
	assert_int_equal(level_of(v4), 3);
	sa_permanent_levels(rig.sa, 0x01);
	assert_int_equal(level_of(v4), 0);
	assert_int_equal(ask(IBA_SA_DELETE, 2, JOIN, &m, NULL), 0);
}

/* What changed, or all of it, to a manager that only listens. */
static void tell(struct sm *sm, bool all)
{
	struct sm_actions out = {0};
	struct sa_tree_member *members;
	struct sm_group_member m[400];
	struct sm_group g[100];
	uint32_t ntrees, nmembers;
	struct sa_tree *trees;

	sa_trees(rig.sa, all, &trees, &ntrees, &members, &nmembers);
	assert_true(ntrees < ARRAY_LEN(g) && nmembers < ARRAY_LEN(m));
	for (uint32_t i = 0; i < nmembers; i++)
		m[i] = (struct sm_group_member){members[i].guid, members[i].receives,
						members[i].sends};
	for (uint32_t i = 0; i < ntrees; i++)
		g[i] = (struct sm_group){trees[i].mlid, trees[i].sl, m + trees[i].first,
					 trees[i].n};
	assert_int_equal(
		sm_step(sm,
			&(struct sm_event){
				.kind = SM_EV_GROUPS, .groups = g, .ngroups = ntrees, .some = !all},
			&out),
		0);
	sm_actions_free(&out);
	free(trees);
	free(members);
}

static void assert_same_groups(const struct sm *a, const struct sm *b)
{
	const struct sm_multicast *x = &a->multicast, *y = &b->multicast;

	assert_int_equal(x->groups.n, y->groups.n);
	for (size_t i = 0; i < x->groups.n; i++) {
		const struct sm_group *g = &x->groups.at[i], *h = &y->groups.at[i];

		assert_int_equal(g->mlid, h->mlid);
		assert_int_equal(g->sl, h->sl);
		assert_int_equal(g->nmembers, h->nmembers);
		for (size_t k = 0; k < g->nmembers; k++) {
			assert_int_equal(g->members[k].port_guid, h->members[k].port_guid);
			assert_int_equal(g->members[k].receives, h->members[k].receives);
		}
	}
}

static void remove_all(void)
{
	for (size_t i = rig.sa->groups.list.n; i-- > 0;)
		if (!rig.sa->groups.list.at[i].permanent)
			sa_group_remove(rig.sa, &rig.sa->groups.list.at[i]);
}

/* A manager that is told what changes knows the same as one that is told everything, also where groups share LIDs. */
static void changes_are_enough(void **state UNUSED)
{
	struct sm_config c;
	struct sm *told_some, *told_all;
	struct rng r;

	sm_config_default(&c);
	told_some = sm_new(&c);
	told_all = sm_new(&c);
	rng_seed(&r, 7, 0);
	tell(told_some, true);
	rig.sa->groups.mlids = 6;
	for (unsigned i = 0; i < 600; i++) {
		unsigned k = rng_below(&r, 8), full = rng_below(&r, 2);
		struct iba_sa_member m = join_of(k, full ? FULL : SEND);
		bool leaves = rng_below(&r, 3) == 0;

		m.mgid[15] = (uint8_t)rng_below(&r, 12);
		ask(leaves ? IBA_SA_DELETE : IBA_SET, k, leaves ? JOIN : ALL, &m, NULL);
		if (rng_below(&r, 4))
			continue;
		if (rng_below(&r, 50) == 0)
			remove_all();
		tell(told_some, false);
		tell(told_all, true);
		assert_same_groups(told_some, told_all);
	}
	assert_true(told_all->multicast.groups.n > 2);
	remove_all();
	tell(told_some, false);
	assert_int_equal(told_some->multicast.groups.n, 0);
	rig.sa->groups.mlids = 0;
	sm_free(told_some);
	sm_free(told_all);
}

/* ---- services ---- */

static struct sa_reply service(uint8_t method, unsigned requester, bool trusted, uint64_t mask,
			       const struct iba_sa_service *s)
{
	uint8_t gid[16];
	struct sa_ask a = {.attr_id = IBA_SA_SERVICE,
			   .lid = host(requester, gid),
			   .method = method,
			   .trusted = trusted,
			   .mask = mask};

	iba_sa_service_put(s, a.query);
	return sa_rig_ask(&rig, &a);
}

static uint16_t service_status(uint8_t method, unsigned requester, uint64_t mask,
			       const struct iba_sa_service *s)
{
	struct sa_reply r = service(method, requester, false, mask, s);
	uint16_t status = r.status;

	sa_reply_free(&r);
	return status;
}

static void services_end_with_their_lease(void **state UNUSED)
{
	const uint64_t id =
		IBA_SA_BIT(service, id) | IBA_SA_BIT(service, gid) | IBA_SA_BIT(service, pkey);
	struct iba_sa_service s = {.id = 77, .pkey = 0xffff, .lease = 10, .key = {9, 9}}, found;
	time_ps now = sa_rig_now(&rig);
	struct sa_reply r;

	host(0, s.gid);
	memcpy(s.name, "storage", 7);
	assert_int_equal(service_status(IBA_SET, 1, id, &s), IBA_SA_INVALID); /* of another port */
	assert_int_equal(service_status(IBA_SET, 0, IBA_SA_BIT(service, id), &s),
			 IBA_SA_FEW_COMPONENTS);
	assert_int_equal(service_status(IBA_SET, 0, id | IBA_SA_BIT(service, lease), &s), 0);
	r = service(IBA_GET, 2, false, IBA_SA_BIT(service, name), &s);
	assert_int_equal(r.status, 0);
	iba_sa_service_get(&found, r.records, IBA_SA_DATA_SIZE);
	assert_int_equal(found.id, 77);
	assert_int_equal(found.key[0], 0); /* who is not trusted does not see the key */
	sa_reply_free(&r);
	r = service(IBA_GET, 2, true, IBA_SA_BIT(service, name), &s);
	iba_sa_service_get(&found, r.records, IBA_SA_DATA_SIZE);
	assert_int_equal(found.key[0], 9);
	sa_reply_free(&r);
	assert_true(sa_due(rig.sa) <= now + 10 * PS_PER_S);
	sa_wake(rig.sa, now + 9 * PS_PER_S);
	assert_int_equal(service_status(IBA_GET, 2, IBA_SA_BIT(service, name), &s), 0);
	sa_wake(rig.sa, now + 11 * PS_PER_S);
	assert_int_equal(service_status(IBA_GET, 2, IBA_SA_BIT(service, name), &s),
			 IBA_SA_NO_RECORDS);
	/* Without a lease in the mask it has no end, whatever is there. */
	r = service(IBA_SET, 0, false, id, &s);
	iba_sa_service_get(&found, r.records, IBA_SA_DATA_SIZE);
	assert_int_equal(found.lease, UINT32_MAX);
	sa_reply_free(&r);
	sa_wake(rig.sa, now + 1000 * PS_PER_S);
	host(1, s.gid); /* a request without the GID in its mask is about the same record */
	assert_int_equal(service_status(IBA_SA_DELETE, 1, IBA_SA_BIT(service, id), &s),
			 IBA_SA_INVALID);
	host(0, s.gid);
	assert_int_equal(service_status(IBA_SA_DELETE, 0, id, &s), 0);
	assert_int_equal(service_status(IBA_SA_DELETE, 0, id, &s), IBA_SA_NO_RECORDS);
}

static void one_port_cannot_fill_the_table(void **state UNUSED)
{
	const uint64_t id =
		IBA_SA_BIT(service, id) | IBA_SA_BIT(service, gid) | IBA_SA_BIT(service, pkey);
	struct iba_sa_service s = {.pkey = 0xffff, .lease = UINT32_MAX};
	unsigned taken = 0;

	host(0, s.gid);
	for (s.id = 1000; s.id < 1000 + SA_SERVICES_OF_ONE + 50; s.id++)
		taken += !service_status(IBA_SET, 0, id, &s);
	assert_int_equal(taken, SA_SERVICES_OF_ONE);
	host(1, s.gid);
	assert_int_equal(service_status(IBA_SET, 1, id, &s), 0);
}

/* A client that creates groups without end gets so many, and others are served. */
static void one_port_cannot_take_all_groups(void **state UNUSED)
{
	struct iba_sa_member m = join_of(0, FULL), other = join_of(1, FULL);
	unsigned taken = 0, refused = 0;
	uint16_t status;

	for (unsigned i = 0; i < 10000; i++) {
		iba_be16_put(m.mgid + 10, (uint16_t)i);
		status = ask(IBA_SET, 0, ALL, &m, NULL);
		taken += !status;
		refused += status == IBA_SA_NO_RESOURCES;
	}
	assert_int_equal(taken, SA_GROUPS_OF_ONE);
	assert_int_equal(taken + refused, 10000);
	other.mgid[9] = 1;
	assert_int_equal(ask(IBA_SET, 1, ALL, &other, NULL), 0);
	assert_int_equal(ask(IBA_SA_DELETE, 1, JOIN, &other, NULL), 0);
	for (unsigned i = 0; i < SA_GROUPS_OF_ONE; i++) {
		iba_be16_put(m.mgid + 10, (uint16_t)i);
		assert_int_equal(ask(IBA_SA_DELETE, 0, JOIN, &m, NULL), 0);
	}
}

/* ---- subscriptions ---- */

static uint16_t subscribe(unsigned k, unsigned trap, bool on)
{
	struct iba_sa_inform f = {.lid_first = 0xffff,
				  .is_generic = 1,
				  .subscribe = on,
				  .type = 0xffff,
				  .trap_number = (uint16_t)trap,
				  .qpn = 1,
				  .producer_type = 0xffffff};
	uint8_t gid[16];
	struct sa_ask a = {.attr_id = IBA_SA_INFORM, .lid = host(k, gid), .method = IBA_SET};
	struct sa_reply r;
	uint16_t status;

	iba_sa_inform_put(&f, a.query);
	r = sa_rig_ask(&rig, &a);
	status = r.status;
	sa_reply_free(&r);
	return status;
}

/* The reports that wait to be sent. */
static unsigned reports(unsigned trap, struct sa_mad *last)
{
	unsigned n = 0;
	struct sa_mad m;

	while (sa_next(rig.sa, &m, sa_rig_now(&rig))) {
		assert_int_equal(iba_smp_method(m.mad), IBA_REPORT);
		assert_int_equal(iba_smp_attr_id(m.mad), IBA_SA_NOTICE);
		n += iba_be16(m.mad + IBA_SA_DATA_OFF + 4) == trap;
		*last = m;
	}
	return n;
}

static void a_report_is_repeated_until_it_is_answered(void **state UNUSED)
{
	struct sa_mad m = {0}, response;
	struct sa_status st;
	time_ps now = sa_rig_now(&rig);

	assert_int_equal(subscribe(0, 66, false), IBA_SA_INVALID); /* there is none to end */
	assert_int_equal(subscribe(0, 66, true), 0);
	assert_int_equal(subscribe(0, 66, true), 0); /* the same one */
	assert_int_equal(subscribe(1, 67, true), 0);
	sa_status(rig.sa, &st);
	assert_int_equal(st.subscriptions, 2);
	/* A group begins: a report goes to host 0. */
	{
		struct iba_sa_member j = join_of(2, FULL);
		uint8_t gid[16];
		struct sa_ask a = {.attr_id = IBA_SA_MEMBER,
				   .lid = host(2, gid),
				   .method = IBA_SET,
				   .mask = ALL};
		struct sa_mad in;

		iba_sa_member_put(&j, a.query);
		sa_ask_mad(&rig, &a, &in);
		sa_take(rig.sa, lab_sm(rig.lab), &in, now);
		while (sa_next(rig.sa, &in, now))
			if (iba_smp_method(in.mad) == IBA_REPORT)
				m = in;
	}
	assert_int_equal(iba_smp_method(m.mad), IBA_REPORT);
	assert_memory_equal(m.mad + IBA_SA_DATA_OFF + 16, GROUP, 16);
	response = m;
	reports(66, &m);
	sa_wake(rig.sa, now + PS_PER_S);
	assert_int_equal(reports(66, &m), 1);
	iba_smp_set_method(response.mad, IBA_REPORT_RESP);
	sa_take(rig.sa, lab_sm(rig.lab), &response, now + PS_PER_S);
	sa_wake(rig.sa, now + 10 * PS_PER_S);
	assert_int_equal(reports(66, &m), 0);
	sa_status(rig.sa, &st);
	assert_int_equal(st.reports_waiting, 0);
	assert_int_equal(subscribe(0, 66, false), 0);
	assert_int_equal(subscribe(1, 67, false), 0);
	assert_int_equal(change(IBA_SA_DELETE, 2, FULL, JOIN, NULL), 0);
}

static void a_report_without_an_answer_is_given_up(void **state UNUSED)
{
	struct iba_sa_member j = join_of(2, FULL);
	struct sa_status st;
	struct sa_mad m;
	uint8_t gid[16];
	time_ps now = sa_rig_now(&rig);
	struct sa_ask a = {
		.attr_id = IBA_SA_MEMBER, .lid = host(2, gid), .method = IBA_SET, .mask = ALL};
	unsigned sent = 0;

	assert_int_equal(subscribe(0, 0xffff, true), 0);
	iba_sa_member_put(&j, a.query);
	sa_ask_mad(&rig, &a, &m);
	sa_take(rig.sa, lab_sm(rig.lab), &m, now);
	for (unsigned s = 0; s < 200; s++) {
		while (sa_next(rig.sa, &m, now))
			sent += iba_smp_method(m.mad) == IBA_REPORT;
		now += PS_PER_S;
		sa_wake(rig.sa, now);
	}
	sa_status(rig.sa, &st);
	assert_int_equal(st.reports_waiting, 0);
	assert_int_equal(st.reports_unanswered, 1);
	assert_in_range(sent, 3, 10);
	assert_int_equal(subscribe(0, 0xffff, false), 0);
}

/* ---- saved and given back ---- */

struct sa_items {
	VEC(struct sa_item) list;
};

static void collect(struct sa *sa, struct sa_items *out)
{
	struct sa_item it;

	while (sa_changed(sa, &it))
		vec_push(&out->list, it);
}

static uint32_t total(const struct sa *sa)
{
	struct sa_status st;

	sa_status(sa, &st);
	return st.groups * 1000000 + st.members * 10000 + st.services * 100 + st.subscriptions;
}

static void items_give_back_what_was_registered(void **state UNUSED)
{
	const uint64_t id = IBA_SA_BIT(service, id) | IBA_SA_BIT(service, gid);
	struct iba_sa_service s = {.id = 5, .lease = 100};
	struct sa_items items = {0};
	struct sa_config c;
	struct sa *other;

	host(3, s.gid);
	assert_int_equal(change(IBA_SET, 0, FULL, ALL, NULL), 0);
	assert_int_equal(change(IBA_SET, 1, SEND, JOIN, NULL), 0);
	assert_int_equal(change(IBA_SET, 2, FULL, JOIN, NULL), 0);
	assert_int_equal(change(IBA_SA_DELETE, 2, FULL, JOIN, NULL), 0);
	assert_int_equal(service_status(IBA_SET, 3, id, &s), 0);
	assert_int_equal(subscribe(1, 64, true), 0);
	collect(rig.sa, &items);
	sa_config_default(&c);
	other = sa_new(&c);
	/* A program keeps the last of each key; groups come before members. */
	for (unsigned kind = 0; kind < SA_NKINDS; kind++)
		for (size_t i = 0; i < items.list.n; i++) {
			const struct sa_item *it = &items.list.at[i];
			bool last = it->kind == (enum sa_kind)kind;

			for (size_t k = i + 1; k < items.list.n && last; k++)
				last = items.list.at[k].kind != it->kind ||
				       items.list.at[k].key_len != it->key_len ||
				       memcmp(items.list.at[k].key, it->key, it->key_len);
			if (last && !it->gone)
				assert_true(sa_seed(other, it, 0));
		}
	assert_int_equal(total(other), total(rig.sa));
	assert_false(sa_changed(other, &(struct sa_item){0})); /* what is given back is not new */
	sa_free(other);
	vec_free(&items.list);
}

/* Notices come as reports: there is nothing to be read. The other attributes are read by table. */
static void methods_that_an_attribute_has_not(void **state UNUSED)
{
	static const struct {
		uint16_t attr_id;
		uint8_t method;
	} odd[] = {{IBA_SA_NOTICE, IBA_GET},	    {IBA_SA_NOTICE, IBA_SA_GET_TABLE},
		   {IBA_SA_NOTICE, IBA_SET},	    {IBA_SA_NODE, IBA_SET},
		   {IBA_SA_PORT, IBA_SA_DELETE},    {IBA_SA_INFORM, IBA_GET},
		   {IBA_SA_MULTIPATH, IBA_GET},	    {IBA_SA_SERVICE, IBA_SA_GET_MULTI},
		   {IBA_SA_TRACE, IBA_SA_GET_TABLE}};

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct sa_ask a = {.attr_id = odd[i].attr_id, .method = odd[i].method};
		struct sa_reply r = sa_rig_ask(&rig, &a);

		assert_int_equal(r.status, IBA_STATUS_BAD_METHOD_ATTR);
		sa_reply_free(&r);
	}
}

/* Begins or ends a group; reports of that are drained, those to host k are counted. */
static unsigned reports_of_change(uint8_t method, unsigned k)
{
	struct iba_sa_member j = join_of(2, FULL);
	struct sa_ask a = {
		.attr_id = IBA_SA_MEMBER, .method = method, .mask = method == IBA_SET ? ALL : JOIN};
	uint8_t gid[16];
	uint16_t lid = host(k, gid);
	unsigned n = 0;
	struct sa_mad m;

	a.lid = host(2, gid);
	j.mgid[9] = 0x77; /* a group of its own */
	iba_sa_member_put(&j, a.query);
	sa_ask_mad(&rig, &a, &m);
	sa_take(rig.sa, lab_sm(rig.lab), &m, sa_rig_now(&rig));
	while (sa_next(rig.sa, &m, sa_rig_now(&rig)))
		n += iba_smp_method(m.mad) == IBA_REPORT && m.lid == lid;
	return n;
}

/* It has as many subscriptions as it may have, and answers no report. */
static void one_port_cannot_take_all_reports(void **state UNUSED)
{
	struct sa_status st;
	uint8_t gid[16];
	time_ps now = sa_rig_now(&rig);

	for (unsigned i = 0; i < SA_SUBSCRIPTIONS_OF_ONE; i++) {
		struct iba_sa_inform f = {.lid_first = 1,
					  .lid_last = (uint16_t)(0x1000 + i),
					  .is_generic = 1,
					  .subscribe = 1,
					  .type = 0xffff,
					  .trap_number = 0xffff,
					  .producer_type = 0xffffff};
		struct sa_ask a = {
			.attr_id = IBA_SA_INFORM, .lid = host(0, gid), .method = IBA_SET};
		struct sa_reply r;

		iba_sa_inform_put(&f, a.query);
		r = sa_rig_ask(&rig, &a);
		assert_int_equal(r.status, 0);
		sa_reply_free(&r);
	}
	assert_int_equal(subscribe(1, 66, true), 0);
	for (unsigned i = 0; i < SA_REPORTS_OF_ONE / SA_SUBSCRIPTIONS_OF_ONE; i++) {
		assert_int_equal(reports_of_change(IBA_SET, 1), 1);
		reports_of_change(IBA_SA_DELETE, 1);
	}
	assert_int_equal(reports_of_change(IBA_SET, 0), 0);
	assert_int_equal(reports_of_change(IBA_SA_DELETE, 0), 0);
	sa_status(rig.sa, &st);
	assert_true(st.reports_dropped > 0);
	assert_true(st.reports_waiting < SA_REPORTS);
	for (unsigned i = 0; i < 20; i++)
		sa_wake(rig.sa, now += 30 * PS_PER_S);
	while (reports(0, &(struct sa_mad){0}))
		;
	sa_status(rig.sa, &st);
	assert_int_equal(st.reports_waiting, 0);
}

/* Whatever bytes a file has: an item that makes no sense is refused. */
static void items_of_any_bytes_do_no_harm(void **state UNUSED)
{
	struct sa_config c;
	struct sa *sa;
	struct rng r;

	sa_config_default(&c);
	sa = sa_new(&c);
	rng_seed(&r, 4711, 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct sa_item it = {.kind = (enum sa_kind)rng_below(&r, SA_NKINDS + 1),
				     .key_len = (uint16_t)rng_below(&r, SA_KEY + 2),
				     .len = (uint16_t)rng_below(&r, SA_VALUE + 2)};

		for (size_t k = 0; k < SA_KEY; k++)
			it.key[k] = (uint8_t)rng_below(&r, 256);
		for (size_t k = 0; k < SA_VALUE; k++)
			it.value[k] = (uint8_t)rng_below(&r, 4);
		sa_seed(sa, &it, i);
	}
	sa_free(sa);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_group_lives_as_long_as_its_full_members),
	cmocka_unit_test(one_who_only_sends_can_be_a_full_member),
	cmocka_unit_test(what_a_member_names_must_be_what_the_group_has),
	cmocka_unit_test(another_port_removes_only_who_it_joined),
	cmocka_unit_test(mgids_of_the_sa_are_not_for_requesters),
	cmocka_unit_test(groups_are_found_by_partition),
	cmocka_unit_test(trees_follow_members),
	cmocka_unit_test(levels_of_permanent_groups),
	cmocka_unit_test(changes_are_enough),
	cmocka_unit_test(services_end_with_their_lease),
	cmocka_unit_test(one_port_cannot_fill_the_table),
	cmocka_unit_test(one_port_cannot_take_all_groups),
	cmocka_unit_test(a_report_is_repeated_until_it_is_answered),
	cmocka_unit_test(a_report_without_an_answer_is_given_up),
	cmocka_unit_test(items_give_back_what_was_registered),
	cmocka_unit_test(items_of_any_bytes_do_no_harm),
	cmocka_unit_test(methods_that_an_attribute_has_not),
	cmocka_unit_test(one_port_cannot_take_all_reports), /* it leaves its subscriptions */
};

int main(void)
{
	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
