/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command that shows the partitions and multicast groups of one node, virtual function or virtual machine. State: none. Way
 * in: ctl_memberships(). Reads no list of all members in parts: a large subnet has tens of thousands of them.
 */
#include "iba/sa_wire.h"
#include "policy/policy.h"
#include "run/control_priv.h"

/* Whose memberships are asked for: all ports of a node, or one virtual function or machine at it. */
struct who {
	const struct fab *f;
	node_id node;
	uint64_t guid; /* of the function or machine; 0: the node */
};

static bool is_port_of(const struct fab *f, node_id n, uint64_t guid)
{
	for (unsigned i = 0; i <= f->nodes[n].nports; i++)
		if (guid && f->ports[fab_port_id(f, n, i)].guid == guid)
			return true;
	return false;
}

static bool is_who(const struct who *w, const struct sa_partition_member *m)
{
	return w->guid ? m->guid == w->guid
		       : w->f->ports[m->port].node == w->node && is_port_of(w->f, w->node, m->guid);
}

/* A port may be in it twice, by two functions that share its GUID: one row each. */
static void partition_rows(struct json *j, const struct ctl_ask *a, const struct who *w,
			   const struct pol_partition *t)
{
	struct sa_partition_member *list;
	size_t n = sa_partition_members(a->v->sa, a->v->sm, t->pkey, a->v->now, &list);

	for (size_t i = 0; i < n; i++) {
		if (!is_who(w, &list[i]))
			continue;
		json_open(j, NULL, '{');
		ctl_hex_member(j, "pkey", t->pkey, 4);
		json_str(j, "name", t->name);
		json_hex64(j, "guid", list[i].guid);
		json_str(j, "as", pol_membership_name((enum pol_membership)list[i].member));
		json_close(j);
	}
	free(list);
}

static int group_rows(struct json *j, const struct ctl_ask *a, uint64_t guid, struct err *e)
{
	struct iba_sa_member m = {0};
	uint8_t query[IBA_SA_DATA_SIZE] = {0};
	struct sa_records r;

	iba_be64_put(m.port_gid, SA_DEFAULT_PREFIX);
	iba_be64_put(m.port_gid + 8, guid);
	iba_sa_member_put(&m, query);
	if (ctl_records(a, IBA_SA_MEMBER, IBA_SA_BIT(member, port_gid), query, &r, e))
		return -EINVAL;
	for (uint32_t i = 0; i < r.n; i++) {
		iba_sa_member_get(&m, r.bytes + i * r.size, r.size);
		json_open(j, NULL, '{');
		ctl_gid_member(j, "mgid", m.mgid);
		ctl_hex_member(j, "mlid", m.mlid, 4);
		json_hex64(j, "guid", guid);
		json_close(j);
	}
	free(r.bytes);
	return 0;
}

static int groups_of(struct json *j, const struct ctl_ask *a, const struct who *w, struct err *e)
{
	const struct fab *f = w->f;
	int rc = 0;

	if (w->guid)
		return group_rows(j, a, w->guid, e);
	for (unsigned i = 0; !rc && i <= f->nodes[w->node].nports; i++) {
		uint64_t guid = f->ports[fab_port_id(f, w->node, i)].guid;

		if (guid && !(i && fab_is_switch(f, w->node)))
			rc = group_rows(j, a, guid, e);
	}
	return rc;
}

static bool is_stopped(const struct sm *sm, const char *name)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(sm, i, &v); i++)
		if (!v.running && !strcmp(v.name, name))
			return true;
	return false;
}

int ctl_memberships(const struct ctl_ask *a, struct json *j, struct err *e)
{
	const struct pol *policy;
	struct who w = {0};
	port_id at;
	int rc;

	if (ctl_subnet(a, &w.f, e))
		return -EINVAL;
	if (is_stopped(a->v->sm, a->text[0]))
		return err_set(e, -EINVAL, "virtual machine '%.80s' does not run", a->text[0]);
	if (view_find_end(a->v->sm, a->text[0], &at, &w.guid, e))
		return -EINVAL;
	if (!a->v->sa)
		return err_set(e, -EAGAIN, "subnet administration does not run yet");
	if (a->v->cfg->sm.observe)
		return err_set(e, -EINVAL, "partitions and groups are those of another manager");
	w.node = w.f->ports[at].node;
	json_hex64(j, "guid", w.guid);
	json_str(j, "name", view_end_name(a->v->sm, w.f, w.guid, w.node));
	json_hex64(j, "node", w.f->nodes[w.node].guid);
	if (is_port_of(w.f, w.node, w.guid))
		w.guid = 0;
	policy = sm_policy(a->v->sm);
	json_bool(j, "configured", policy->configured);
	json_open(j, "partitions", '[');
	for (size_t i = 0; i < policy->partitions.n; i++)
		partition_rows(j, a, &w, &policy->partitions.at[i]);
	json_close(j);
	json_open(j, "groups", '[');
	rc = groups_of(j, a, &w, e);
	json_close(j);
	return rc;
}
