/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MCMemberRecord: who may create, join and leave a multicast group, and who may see what of it (IBA 15.2.5.17). State: a
 * counter for MGIDs that the SA assigns. Way in: sa_members(). Keeps no members: groups.c does.
 */
#include "sa/registry.h"

#define HAS(q, component) sa_asks(q, member, component)

enum { P_KEY_BASE = 0x7fff };

static uint64_t bits(bool all, uint64_t mask, uint64_t of)
{
	return all ? (mask & of) == of : mask & of;
}

/* ---- creating ---- */

/* An MGID that a requester may choose (IBA 4.1.1): not one of those that the SA assigns. Scope 15 is reserved; osmtest
 * uses it, and OpenSM takes it. */
static bool mgid_is_valid(const uint8_t mgid[16])
{
	unsigned flags = mgid[1] >> 4, scope = mgid[1] & 15, signature = iba_be16(mgid + 2);

	if (mgid[0] != 0xff || !scope)
		return false;
	if (signature == 0x401b || signature == 0x601b) /* IP over InfiniBand */
		return true;
	return flags <= 1 && signature != 0xa01b;
}

static void mgid_assign(struct sa *sa, unsigned scope, uint8_t mgid[16])
{
	do {
		memset(mgid, 0, 16);
		mgid[0] = 0xff;
		mgid[1] = (uint8_t)(0x10 | (scope ? scope : 2));
		iba_be16_put(mgid + 2, 0xa01b);
		iba_be64_put(mgid + 4, sa->cfg.prefix);
		iba_be16_put(mgid + 12, (uint16_t)(++sa->groups.assigned >> 16));
		iba_be16_put(mgid + 14, (uint16_t)sa->groups.assigned);
	} while (sa_group_find(sa, mgid));
}

/* What a group gets where a requester gave a selector and a value; 0: nothing satisfies it. most: of its port. */
static unsigned mtu_chosen(bool asked, unsigned selector, unsigned wanted, unsigned most)
{
	if (!asked || selector == IBA_SA_LARGEST)
		return most;
	if (selector == IBA_SA_GREATER)
		return wanted < most ? most : 0;
	if (selector == IBA_SA_LESS)
		return wanted > 1 ? MIN(wanted - 1, most) : 0;
	return wanted && wanted <= most ? wanted : 0;
}

static unsigned rate_chosen(bool asked, unsigned selector, unsigned wanted, unsigned most)
{
	if (!asked || selector == IBA_SA_LARGEST)
		return most;
	if (selector == IBA_SA_GREATER) /* 0 is below all */
		return sa_rate_compare(wanted, most) < 0 ? most : 0;
	if (!sa_rate_value(wanted))
		return 0;
	if (selector == IBA_SA_LESS)
		return sa_rate_compare(most, wanted) < 0 ? most : sa_rate_below(wanted);
	return sa_rate_compare(wanted, most) <= 0 ? wanted : 0;
}

static unsigned life_chosen(bool asked, unsigned selector, unsigned wanted, unsigned usual)
{
	if (!asked || selector == IBA_SA_LARGEST)
		return usual;
	if (selector == IBA_SA_GREATER)
		return wanted < 63 ? MAX(wanted + 1, usual) : 64;
	if (selector == IBA_SA_LESS)
		return wanted ? MIN(wanted - 1, usual) : 64;
	return wanted;
}

static bool limits(const struct sa *sa, port_id p, unsigned *mtu, unsigned *rate)
{
	const struct fab_port *port = &sa->view.fab->ports[p];
	struct iba_port_info pi;

	if (!sm_port_info(sa->view.sm, sa->view.fab->nodes[port->node].guid, port->num, &pi))
		return false;
	*mtu = port->num ? pi.neighbor_mtu : pi.mtu_cap;
	*rate = sa_rate_of(&pi);
	return true;
}

/* The parameters of a new group; 0 or a status. */
static uint16_t realise(const struct sa *sa, const struct sa_request *q, struct iba_sa_member *r,
			port_id p)
{
	unsigned mtu, rate, life;

	if (!limits(sa, p, &mtu, &rate))
		return IBA_SA_INVALID;
	mtu = mtu_chosen(HAS(q, mtu) && HAS(q, mtu_selector), r->mtu_selector, r->mtu, mtu);
	rate = rate_chosen(HAS(q, rate) && HAS(q, rate_selector), r->rate_selector, r->rate, rate);
	life = life_chosen(HAS(q, life) && HAS(q, life_selector), r->life_selector, r->life,
			   SA_PACKET_LIFE);
	if (!mtu || mtu > 5 || !rate || life > 63)
		return IBA_SA_INVALID;
	r->mtu = (uint8_t)mtu;
	r->rate = (uint8_t)rate;
	r->life = (uint8_t)life;
	r->mtu_selector = r->rate_selector = r->life_selector = IBA_SA_EXACTLY;
	return 0;
}

static bool creates_too_many(struct sa *sa, uint64_t guid)
{
	unsigned n = 0;

	if (sa->groups.list.n < SA_GROUPS_OF_ONE)
		return false;
	for (size_t i = 0; i < sa->groups.list.n; i++) {
		struct sa_group *g = &sa->groups.list.at[i];

		n += !g->permanent && g->members.n == 1 &&
		     sa_gid_guid(g->members.at[0].gid) == guid;
	}
	return n >= SA_GROUPS_OF_ONE;
}

/* A port sends and gets packets of its partitions alone; who asks for it must be in this one as well. */
static bool port_has_key(struct sa *sa, const struct sa_request *q, const struct iba_sa_member *ask,
			 uint16_t pkey)
{
	struct sa_end shared;
	const struct sa_end *e = sa_end_by_guid(&sa->view, sa_gid_guid(ask->port_gid), &shared);

	return e && sa_end_has_key(sa, e, pkey) && sa_asker_has_key(sa, q, pkey);
}

static uint16_t create(struct sa *sa, const struct sa_request *q, const struct iba_sa_member *ask,
		       port_id p, struct sa_group **g)
{
	const uint64_t needed = IBA_SA_BIT(member, qkey) | IBA_SA_BIT(member, traffic_class) |
				IBA_SA_BIT(member, pkey) | IBA_SA_BIT(member, sl) |
				IBA_SA_BIT(member, flow_label);
	static const uint8_t none[16];
	struct iba_sa_member r = *ask;
	uint16_t status;

	if (!(ask->join_state & SA_KEEPS))
		return IBA_SA_INVALID;
	if (!bits(true, q->hdr.mask, needed))
		return IBA_SA_FEW_COMPONENTS;
	if (!(ask->pkey & P_KEY_BASE) || !port_has_key(sa, q, ask, ask->pkey))
		return IBA_SA_INVALID;
	if (!HAS(q, mgid) || !memcmp(ask->mgid, none, 16))
		mgid_assign(sa, HAS(q, scope) ? ask->scope : 0, r.mgid);
	else if (!mgid_is_valid(ask->mgid))
		return IBA_SA_INVALID;
	if (creates_too_many(sa, sa_gid_guid(ask->port_gid)))
		return IBA_SA_NO_RESOURCES;
	status = realise(sa, q, &r, p);
	if (status)
		return status;
	r.mlid = 0;
	r.scope = r.mgid[1] & 15;
	if (!HAS(q, hop_limit))
		r.hop_limit = 0;
	memset(r.port_gid, 0, sizeof(r.port_gid));
	r.join_state = r.proxy_join = 0;
	status = sa_group_add(sa, &r, false, g);
	if (!status)
		sa_notice_gid(sa, 66, r.mgid);
	return status;
}

/* ---- joining ---- */

/* Whether what the requester named is what the group has. */
static bool agrees(const struct sa_request *q, const struct iba_sa_member *ask,
		   const struct iba_sa_member *g)
{
	if (HAS(q, mtu) && HAS(q, mtu_selector) &&
	    !iba_sa_selected(ask->mtu_selector, ask->mtu, g->mtu))
		return false;
	if (HAS(q, rate) && HAS(q, rate_selector) &&
	    !sa_rate_selected(ask->rate_selector, ask->rate, g->rate))
		return false;
	if (HAS(q, life) && HAS(q, life_selector) &&
	    !iba_sa_selected(ask->life_selector, ask->life, g->life))
		return false;
	return (!HAS(q, pkey) || !((ask->pkey ^ g->pkey) & P_KEY_BASE)) &&
	       (!HAS(q, qkey) || ask->qkey == g->qkey) &&
	       (!HAS(q, traffic_class) || ask->traffic_class == g->traffic_class) &&
	       (!HAS(q, sl) || ask->sl == g->sl) &&
	       (!HAS(q, flow_label) || ask->flow_label == g->flow_label) &&
	       (!HAS(q, hop_limit) || ask->hop_limit == g->hop_limit) &&
	       (!HAS(q, scope) || ask->scope == g->scope) &&
	       (!HAS(q, mlid) || !ask->mlid || ask->mlid == g->mlid);
}

/* Whether the port can carry what the group sends. */
static bool reaches(const struct sa *sa, const struct iba_sa_member *g, port_id p)
{
	unsigned mtu, rate;

	return limits(sa, p, &mtu, &rate) && mtu >= g->mtu && sa_rate_compare(rate, g->rate) >= 0;
}

static bool is_requester(const struct sa *sa, const struct sa_request *q, const uint8_t gid[16])
{
	uint8_t own[16];

	if (sa_gid_of_lid(sa, q->lid, own) && sa_gid_guid(own) == sa_gid_guid(gid))
		return true;
	return sa_gid_is_at(sa, gid, q->lid);
}

/*
 * Another port may join for it, which makes it a member by proxy, and only such a member may be removed by another port.
 * ProxyJoin need not be set: osmtest joins for other ports without it.
 */
static bool may_act(const struct sa *sa, const struct sa_request *q,
		    const struct iba_sa_member *ask, const struct sa_member *m)
{
	return is_requester(sa, q, ask->port_gid) || !m || m->proxy || q->trusted;
}

static void member_record(const struct sa_group *g, const uint8_t gid[16], unsigned join,
			  bool proxy, uint8_t *out)
{
	struct iba_sa_member r = g->r;

	memcpy(r.port_gid, gid, 16);
	r.join_state = (uint8_t)join;
	r.proxy_join = proxy;
	iba_sa_member_put(&r, out);
}

static void join(struct sa *sa, const struct sa_request *q, const struct iba_sa_member *ask,
		 struct sa_answer *a)
{
	port_id p = sa_gid_port(sa, ask->port_gid);
	struct sa_group *g = HAS(q, mgid) ? sa_group_find(sa, ask->mgid) : NULL;
	struct sa_member *m = g ? sa_member_find(g, ask->port_gid) : NULL;

	if (!HAS(q, port_gid) || !HAS(q, join_state))
		a->status = IBA_SA_FEW_COMPONENTS;
	else if (p == FAB_NONE || !ask->join_state)
		a->status = IBA_SA_INVALID;
	else if (!may_act(sa, q, ask, m) || (g && !port_has_key(sa, q, ask, g->r.pkey)))
		a->status = IBA_SA_INVALID;
	else if (!g)
		a->status = create(sa, q, ask, p, &g);
	else if (!agrees(q, ask, &g->r) || !reaches(sa, &g->r, p))
		a->status = IBA_SA_INVALID;
	if (!a->status)
		a->status = sa_member_join(sa, g, ask->port_gid, ask->join_state,
					   !is_requester(sa, q, ask->port_gid));
	if (a->status)
		return;
	m = sa_member_find(g, ask->port_gid);
	member_record(g, m->gid, m->join, m->proxy, sa_record(a));
}

static void leave(struct sa *sa, const struct sa_request *q, const struct iba_sa_member *ask,
		  struct sa_answer *a)
{
	struct sa_group *g = HAS(q, mgid) ? sa_group_find(sa, ask->mgid) : NULL;
	struct sa_member *m = g ? sa_member_find(g, ask->port_gid) : NULL;

	if (!HAS(q, mgid) || !HAS(q, port_gid) || !HAS(q, join_state))
		a->status = IBA_SA_FEW_COMPONENTS;
	else if (!m || !may_act(sa, q, ask, m) || !ask->join_state ||
		 (m->join & ask->join_state) != ask->join_state)
		a->status = IBA_SA_INVALID;
	if (a->status)
		return;
	/* What is left of its join state (o15-0.1.14). */
	member_record(g, m->gid, m->join & ~ask->join_state, m->proxy, sa_record(a));
	sa_member_leave(sa, g, m, ask->join_state);
}

/* ---- looking ---- */

/* Selectors are not values of the group: they say how a query is to be compared. A limited member names the same partition. */
#define NOT_AS_THEY_ARE                                                                            \
	(IBA_SA_BIT(member, mtu_selector) | IBA_SA_BIT(member, mtu) |                              \
	 IBA_SA_BIT(member, rate_selector) | IBA_SA_BIT(member, rate) |                            \
	 IBA_SA_BIT(member, life_selector) | IBA_SA_BIT(member, life) | IBA_SA_BIT(member, pkey))

static bool satisfies(const struct sa_request *q, const struct iba_sa_member *ask,
		      const struct iba_sa_member *g)
{
	struct sa_request named = *q;

	named.hdr.mask &= NOT_AS_THEY_ARE;
	return agrees(&named, ask, g);
}

static void look_at(struct sa *sa, const struct sa_request *q, const struct iba_sa_member *ask,
		    struct sa_group *g, struct sa_answer *a)
{
	static const uint8_t none[16];

	if (!satisfies(q, ask, &g->r) || !sa_asker_has_key(sa, q, g->r.pkey))
		return;
	if (q->trusted) {
		for (size_t i = 0; i < g->members.n; i++) {
			const struct sa_member *m = &g->members.at[i];

			member_record(g, m->gid, m->join, m->proxy, sa_record(a));
			sa_record_match(a, q, NOT_AS_THEY_ARE);
		}
		if (g->members.n)
			return;
	}
	/* Others see the group, and of members only themselves (15.4.1.1). */
	if (HAS(q, port_gid)) {
		struct sa_member *m = is_requester(sa, q, ask->port_gid)
					      ? sa_member_find(g, ask->port_gid)
					      : NULL;

		if (!m)
			return;
		member_record(g, m->gid, m->join, m->proxy, sa_record(a));
	} else {
		member_record(g, none, 0, false, sa_record(a));
	}
	sa_record_match(a, q, NOT_AS_THEY_ARE);
}

static void look(struct sa *sa, const struct sa_request *q, const struct iba_sa_member *ask,
		 struct sa_answer *a)
{
	struct sa_group *g = HAS(q, mgid) ? sa_group_find(sa, ask->mgid) : NULL;

	if (HAS(q, mgid)) {
		if (g)
			look_at(sa, q, ask, g, a);
		return;
	}
	for (size_t i = 0; i < sa->groups.list.n; i++)
		look_at(sa, q, ask, &sa->groups.list.at[i], a);
}

void sa_members(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct iba_sa_member ask;

	iba_sa_member_get(&ask, q->query, IBA_SA_DATA_SIZE);
	if (q->method == SA_SET)
		join(sa, q, &ask, a);
	else if (q->method == SA_DELETE)
		leave(sa, q, &ask, a);
	else
		look(sa, q, &ask, a);
}
