/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command that shows partitions: keys, flags, members, multicast groups. State: none. Way in: ctl_partitions(). Members
 * are those that the policy names: what ports hold follows, see `weft ctl wait`.
 */
#include "policy/policy.h"
#include "run/control_priv.h"

struct part { /* of the list of all members of all partitions that this answer has */
	uint64_t at, first, end;
	bool alone; /* without members: then the list is of partitions */
};

static void group_row(struct json *j, const struct ctl_ask *a, const struct pol_group *g)
{
	json_open(j, NULL, '{');
	ctl_gid_member(j, "mgid", g->mgid);
	ctl_hex_member(j, "mlid", sa_group_mlid(a->v->sa, g->mgid), 4);
	json_bool(j, "ipoib", g->broadcast);
	json_close(j);
}

static void flags(struct json *j, const struct pol *policy, const struct pol_partition *t)
{
	ctl_hex_member(j, "pkey", t->pkey, 4);
	json_str(j, "name", t->name);
	json_bool(j, "ipoib", t->ipoib);
	json_bool(j, "indx0", t->indx0);
	json_u64(j, "sl", policy->qos ? t->flags.sl : 0);
	json_u64(j, "mtu", 128u << t->flags.mtu);
	json_fixed(j, "rate", sa_rate_value(t->flags.rate), 1);
}

static void member_row(struct json *j, const struct ctl_ask *a, const struct fab *f,
		       const struct sa_partition_member *m)
{
	json_open(j, NULL, '{');
	ctl_hex_member(j, "guid", m->guid, 16);
	json_str(j, "name", view_end_name(a->v->sm, f, m->guid, f->ports[m->port].node));
	json_hex64(j, "node", f->nodes[f->ports[m->port].node].guid);
	json_u64(j, "port", f->ports[m->port].num);
	json_str(j, "as", pol_membership_name((enum pol_membership)m->member));
	json_close(j);
}

static void partition_row(struct json *j, const struct ctl_ask *a, const struct fab *f,
			  const struct pol *policy, const struct pol_partition *t, struct part *p)
{
	struct sa_partition_member *list;
	size_t n = sa_partition_members(a->v->sa, a->v->sm, t->pkey, a->v->now, &list), full = 0;
	/* A partition without members takes a place, too: each is in the list. */
	uint64_t begin = p->at, end = begin + (p->alone ? 1 : MAX(n, (size_t)1));
	uint64_t first = MAX(begin, p->first), last = MIN(end, p->end);

	p->at = end;
	for (size_t i = 0; i < n; i++)
		full += (list[i].member & POL_FULL) != 0;
	if (first < last) {
		json_open(j, NULL, '{');
		flags(j, policy, t);
		json_u64(j, "full", full);
		json_u64(j, "limited", n - full);
		json_open(j, "groups", '[');
		for (size_t i = 0; i < t->groups.n; i++)
			group_row(j, a, &t->groups.at[i]);
		json_close(j);
		json_open(j, "members", '[');
		for (uint64_t i = first; n && !p->alone && i < last; i++)
			member_row(j, a, f, &list[i - begin]);
		json_close(j);
		json_close(j);
	}
	free(list);
}

/* A list in parts begins again with a partition that it has begun, as that of groups does. */
int ctl_partitions(const struct ctl_ask *a, struct json *j, struct err *e)
{
	uint64_t count = MIN(a->number[1], (uint64_t)CTL_PART_RECORDS);
	struct part p = {.first = a->number[0] == UINT64_MAX ? 0 : a->number[0],
			 .alone = a->number[3] == 0};
	const struct pol *policy;
	const struct fab *f;
	uint64_t pkey = 0;

	if (ctl_subnet(a, &f, e))
		return -EINVAL;
	if (a->text[2] && (parse_u64(a->text[2], &pkey) || pkey > 0xffff))
		return err_set(e, -EINVAL, "'pkey': expected a P_Key such as 0x8001; found '%.60s'",
			       a->text[2]);
	if (ctl_busy(a, a->number[4], j))
		return 0;
	if (!a->v->sa)
		return err_set(e, -EAGAIN, "subnet administration does not run yet");
	policy = sm_policy(a->v->sm);
	p.end = p.first + count < p.first ? UINT64_MAX : p.first + count;
	json_bool(j, "configured", policy->configured);
	json_open(j, "partitions", '[');
	for (size_t i = 0; i < policy->partitions.n; i++)
		if (!a->text[2] || !((policy->partitions.at[i].pkey ^ pkey) & 0x7fff))
			partition_row(j, a, f, policy, &policy->partitions.at[i], &p);
	json_close(j);
	json_u64(j, "records", p.at);
	json_u64(j, "next", MIN(p.at, p.end));
	return 0;
}
