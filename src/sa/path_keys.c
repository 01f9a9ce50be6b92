/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may talk to whom: partitions as requests ask for them. State: the P_Keys of all ends in the view, made once for each
 * snapshot and policy, and only where partitions are configured: else all ports are full members of the default one.
 * Keys are those that ports shall hold; the manager sets them.
 */
#include "policy/policy.h"
#include "sa/paths.h"

enum { DEFAULT_KEY = POL_DEFAULT_KEY | POL_FULL_BIT, BASE = POL_FULL_BIT - 1 };

struct keys {
	const uint16_t *at;
	size_t n;
};

/* A machine has the name that it was given, a VF without one has none; an alias is one of its port. */
void sa_policy_port(const struct sa *sa, const struct sa_end *e, struct pol_port *p)
{
	const struct sa_view *v = &sa->view;
	const struct fab_port *x = &v->fab->ports[e->port];
	const char *vm = e->guid == x->guid ? "" : sm_vm_name(v->sm, e->guid);
	bool port = !e->slot && !*vm;
	struct sm_manager own;

	*p = (struct pol_port){
		.guid = port ? x->guid : e->guid,
		.node_guid = v->fab->nodes[x->node].guid,
		.type = (enum iba_node_type)v->fab->nodes[x->node].type,
		.num = x->num,
		.description = port ? sm_node_desc(v->sm, v->fab->nodes[x->node].guid) : vm};
	p->is_sm = port && sm_manager_get(v->sm, 0, &own) && own.guid == x->guid;
}

static void keys_make(struct sa *sa)
{
	struct sa_view *v = &sa->view;
	const struct pol *policy = sm_policy(v->sm);

	v->key_first = mem_resize(v->key_first, v->ends.n + 1, sizeof(*v->key_first));
	v->keys.n = 0;
	for (size_t i = 0; i < v->ends.n; i++) {
		struct pol_port p;
		size_t n;

		sa_policy_port(sa, &v->ends.at[i], &p);
		v->key_first[i] = (uint32_t)v->keys.n;
		vec_room(&v->keys, v->keys.n + POL_MOST_KEYS);
		n = pol_pkeys(policy, &p, v->keys.at + v->keys.n, POL_MOST_KEYS);
		v->keys.n += MIN(n, (size_t)POL_MOST_KEYS);
	}
	v->key_first[v->ends.n] = (uint32_t)v->keys.n;
	v->policy = sm_policy_number(v->sm);
}

/* Of an end that is not in the view, a machine that shares a port: made each time, in room. */
static struct keys keys_of(struct sa *sa, const struct sa_end *e, uint16_t room[POL_MOST_KEYS])
{
	struct sa_view *v = &sa->view;
	size_t i = (size_t)(e - v->ends.at), n;
	struct pol_port p;

	if (!v->key_first || v->policy != sm_policy_number(v->sm))
		keys_make(sa);
	if (e >= v->ends.at && e < v->ends.at + v->ends.n)
		return (struct keys){v->keys.at + v->key_first[i],
				     v->key_first[i + 1] - v->key_first[i]};
	sa_policy_port(sa, e, &p);
	n = pol_pkeys(sm_policy(v->sm), &p, room, POL_MOST_KEYS);
	return (struct keys){room, MIN(n, (size_t)POL_MOST_KEYS)};
}

/* The key of the first with which both may talk; 0: there is none. */
static uint16_t common(struct keys a, struct keys b, uint16_t pkey)
{
	for (size_t i = 0; i < a.n; i++)
		for (size_t k = 0; k < b.n; k++)
			if ((a.at[i] & BASE) == (b.at[k] & BASE) &&
			    (!pkey || (a.at[i] & BASE) == (pkey & BASE)) &&
			    (a.at[i] | b.at[k]) & POL_FULL_BIT)
				return a.at[i];
	return 0;
}

bool sa_ends_share(struct sa *sa, const struct sa_end *a, const struct sa_end *b, uint16_t pkey,
		   uint16_t *found)
{
	uint16_t room_a[POL_MOST_KEYS], room_b[POL_MOST_KEYS], key = DEFAULT_KEY;

	if (sm_policy(sa->view.sm)->configured)
		key = common(keys_of(sa, a, room_a), keys_of(sa, b, room_b), pkey);
	else if (pkey && (pkey & BASE) != POL_DEFAULT_KEY)
		key = 0;
	*found = pkey ? pkey : key;
	return key;
}

/* ---- who asks ---- */

const struct sa_end *sa_asker(const struct sa *sa, uint16_t lid, unsigned *k,
			      struct sa_end *machine)
{
	const struct sa_view *v = &sa->view;
	const struct sa_end *e = sa_end_by_lid(v, lid);
	const struct fab_node *n = e ? &v->fab->nodes[v->fab->ports[e->port].node] : NULL;

	if (!e || !(*k)++)
		return e;
	for (unsigned s = *k - 1; n->sriov == FAB_SRIOV_SHARED && s <= n->vfs; s++) {
		*machine = *e;
		machine->guid = sm_shared_guid(v->sm, n->guid, s);
		*k = s + 1;
		if (machine->guid)
			return machine;
	}
	return NULL;
}

/* A port may always ask about itself. */
bool sa_may_ask_of(struct sa *sa, const struct sa_request *q, const struct sa_end *e)
{
	struct sa_end machine;
	const struct sa_end *r;
	unsigned k = 0;
	uint16_t any;

	if (q->trusted || !sm_policy(sa->view.sm)->configured)
		return true;
	while (e && (r = sa_asker(sa, q->lid, &k, &machine)))
		if (r->lid == e->lid || sa_ends_share(sa, r, e, 0, &any))
			return true;
	return false;
}

bool sa_asker_has_key(struct sa *sa, const struct sa_request *q, uint16_t pkey)
{
	struct sa_end machine;
	const struct sa_end *r;
	unsigned k = 0;

	if (q->trusted || !sm_policy(sa->view.sm)->configured)
		return true;
	while ((r = sa_asker(sa, q->lid, &k, &machine)))
		if (sa_end_has_key(sa, r, pkey))
			return true;
	return false;
}

bool sa_may_see(struct sa *sa, const struct sa_request *q, port_id p)
{
	return sa_may_ask_of(sa, q, sa_end_by_lid(&sa->view, sa_lid_of(&sa->view, p)));
}

static unsigned membership(struct keys k, uint16_t pkey)
{
	unsigned m = 0;

	for (size_t i = 0; i < k.n; i++)
		if ((k.at[i] & BASE) == (pkey & BASE))
			m |= k.at[i] & POL_FULL_BIT ? POL_FULL : POL_LIMITED;
	return m;
}

unsigned sa_end_membership(struct sa *sa, const struct sa_end *e, uint16_t pkey)
{
	uint16_t room[POL_MOST_KEYS];

	if (!sm_policy(sa->view.sm)->configured)
		return (pkey & BASE) == POL_DEFAULT_KEY ? POL_FULL : 0;
	return membership(keys_of(sa, e, room), pkey);
}

bool sa_end_has_key(struct sa *sa, const struct sa_end *e, uint16_t pkey)
{
	uint16_t room[POL_MOST_KEYS];

	return !sm_policy(sa->view.sm)->configured || !(pkey & BASE) ||
	       membership(keys_of(sa, e, room), pkey);
}

/* Where names decide about members, a device whose name is not read yet is in all partitions that it was in. */
bool sa_guid_lost_key(struct sa *sa, uint64_t guid, uint16_t pkey)
{
	struct sa_end shared;
	const struct sa_end *e = sa_end_by_guid(&sa->view, guid, &shared);
	struct pol_port p;

	if (!e || sa_end_has_key(sa, e, pkey))
		return false;
	sa_policy_port(sa, e, &p);
	return !pol_names_used(sm_policy(sa->view.sm)) || *p.description;
}
