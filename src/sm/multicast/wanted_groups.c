/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that are wanted, as the last event gave them, and the task that they become over a snapshot. State: groups of
 * struct sm_multicast. Ways in: sm_groups_in(), sm_trees_task_new(). Members that are not in the snapshot are left
 * out until they are.
 */
#include "sm/manager.h"

static int by_mlid(const void *a, const void *b)
{
	const struct sm_group *x = a, *y = b;

	return (x->mlid > y->mlid) - (x->mlid < y->mlid);
}

static bool make_sense(const struct sm_group *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (g[i].mlid < IBA_LID_MCAST_FIRST || g[i].mlid == IBA_LID_PERMISSIVE ||
		    g[i].sl >= RT_SLS || (i && g[i].mlid == g[i - 1].mlid))
			return false;
	return true;
}

static bool same_group(const struct sm_group *a, const struct sm_group *b)
{
	if (a->mlid != b->mlid || a->sl != b->sl || a->nmembers != b->nmembers)
		return false;
	for (size_t i = 0; i < a->nmembers; i++)
		if (a->members[i].port_guid != b->members[i].port_guid ||
		    a->members[i].receives != b->members[i].receives ||
		    a->members[i].sends != b->members[i].sends)
			return false;
	return true;
}

static bool same_groups(const struct sm_multicast *m, const struct sm_group *g, size_t n)
{
	if (!m->told || m->groups.n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!same_group(&m->groups.at[i], &g[i]))
			return false;
	return true;
}

static struct sm_group group_copy(const struct sm_group *g)
{
	struct sm_group_member *members = mem_array(MAX(g->nmembers, (size_t)1), sizeof(*members));
	struct sm_group c = *g;

	if (g->nmembers)
		memcpy(members, g->members, g->nmembers * sizeof(*members));
	c.members = members;
	return c;
}

static void groups_changed(struct sm *sm)
{
	struct sm_multicast *m = &sm->multicast;

	m->told = true;
	m->indexed = false;
	m->version++;
	m->st.groups = (uint32_t)m->groups.n;
	m->dirty = true;
}

/* Both are by MLID. */
static void groups_compare(struct sm *sm, const struct sm_group *g, size_t n)
{
	const struct sm_multicast *m = &sm->multicast;
	size_t was = 0, now = 0;

	while (was < m->groups.n || now < n) {
		uint32_t a = was < m->groups.n ? m->groups.at[was].mlid : UINT32_MAX,
			 b = now < n ? g[now].mlid : UINT32_MAX;

		if (a != b || !same_group(&m->groups.at[was], &g[now]))
			sm_groups_differ(sm, (uint16_t)MIN(a, b));
		was += a <= b;
		now += b <= a;
	}
}

static void groups_take(struct sm *sm, const struct sm_group *g, size_t n)
{
	struct sm_multicast *m = &sm->multicast;

	groups_compare(sm, g, n);
	sm_groups_free(sm);
	vec_room(&m->groups, n);
	for (size_t i = 0; i < n; i++)
		m->groups.at[m->groups.n++] = group_copy(&g[i]);
	groups_changed(sm);
}

/* ---- some of them ---- */

static size_t group_place_of(const struct sm_multicast *m, uint16_t mlid)
{
	size_t lo = 0, hi = m->groups.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->groups.at[mid].mlid < mlid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct sm_group *sm_group_find(const struct sm_multicast *m, uint16_t mlid)
{
	size_t at = group_place_of(m, mlid);

	return at < m->groups.n && m->groups.at[at].mlid == mlid ? &m->groups.at[at] : NULL;
}

/* One group is as given from now on. Whether it was another one. */
static bool group_change(struct sm_multicast *m, const struct sm_group *g)
{
	size_t at = group_place_of(m, g->mlid);
	bool found = at < m->groups.n && m->groups.at[at].mlid == g->mlid;
	struct sm_group c;

	if (found ? same_group(&m->groups.at[at], g) : !g->nmembers)
		return false;
	if (found)
		sm_group_free(&m->groups.at[at]);
	if (!g->nmembers) {
		memmove(&m->groups.at[at], &m->groups.at[at + 1],
			(m->groups.n - at - 1) * sizeof(m->groups.at[0]));
		m->groups.n--;
		return true;
	}
	c = group_copy(g);
	if (!found) {
		vec_push(&m->groups, c);
		memmove(&m->groups.at[at + 1], &m->groups.at[at],
			(m->groups.n - 1 - at) * sizeof(c));
	}
	m->groups.at[at] = c;
	return true;
}

static void groups_merge(struct sm *sm, const struct sm_group *g, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		if (group_change(&sm->multicast, &g[i])) {
			sm_groups_differ(sm, g[i].mlid);
			any = true;
		}
	if (any)
		groups_changed(sm);
}

int sm_groups_in(struct sm *sm, const struct sm_event *ev)
{
	struct sm_group *g = mem_array(ev->ngroups + 1, sizeof(*g));
	int rc = 0;

	if (ev->ngroups)
		memcpy(g, ev->groups, ev->ngroups * sizeof(*g));
	qsort(g, ev->ngroups, sizeof(*g), by_mlid);
	if (!make_sense(g, ev->ngroups) || (ev->some && !sm->multicast.told))
		rc = -EINVAL;
	else if (ev->some)
		groups_merge(sm, g, ev->ngroups);
	else if (!same_groups(&sm->multicast, g, ev->ngroups))
		groups_take(sm, g, ev->ngroups);
	free(g);
	return rc;
}

/* ---- over the snapshot ---- */

/* Machines behind ports that they share. */
static void shared_by_guid(const struct sm *sm, struct map64 *by)
{
	const struct fab *f = sm->topo.fab;

	for (node_id n = 0; n < f->nnodes; n++)
		for (unsigned s = 1; f->nodes[n].sriov == FAB_SRIOV_SHARED && s <= f->nodes[n].vfs;
		     s++) {
			uint64_t guid = sm_shared_guid(sm, f->nodes[n].guid, s);

			if (guid && map64_get(by, guid) == MAP_NONE)
				map64_put(by, guid, fab_port_id(f, n, 1));
		}
}

/* Endports and functions of HCAs by GUID; a virtual function stands for the port of its HCA. */
void sm_ports_by_guid(const struct sm *sm, struct map64 *by)
{
	const struct fab *f = sm->topo.fab;

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid && (!fab_is_switch(f, f->ports[p].node) || !f->ports[p].num))
			map64_put(by, f->ports[p].guid, p);
	for (uint32_t i = 0; i < f->nvlids; i++)
		if (f->vlids[i].guid && map64_get(by, f->vlids[i].guid) == MAP_NONE)
			map64_put(by, f->vlids[i].guid, f->vlids[i].port);
	shared_by_guid(sm, by);
}

bool sm_group_place(const struct sm_group *g, const struct map64 *by, struct sm_trees_task *t)
{
	uint32_t first = (uint32_t)t->members.n;
	bool all = true;

	for (size_t i = 0; i < g->nmembers; i++) {
		const struct sm_group_member *m = &g->members[i];
		uint32_t p = map64_get(by, m->port_guid);

		all &= p != MAP_NONE;
		if (p != MAP_NONE && (m->receives || m->sends))
			vec_push(&t->members, (struct rt_member){p, m->receives});
	}
	vec_push(&t->groups, (struct rt_group){.mlid = g->mlid,
					       .sl = g->sl,
					       .nmembers = (uint32_t)t->members.n - first});
	return all;
}

void sm_trees_task_link(struct sm_trees_task *t)
{
	uint32_t at = 0;

	for (size_t i = 0; i < t->groups.n; i++) {
		t->groups.at[i].members = t->members.at + at;
		at += t->groups.at[i].nmembers;
	}
}

/* Ports of switches behind which no device is known, though they may forward. A switch that is presumed dead counts. */
static void astray_find(const struct sm *sm, struct sm_trees_task *t)
{
	const struct fab *f = sm->topo.fab, *data = sm_data_fab(sm);

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct sm_node *x = &sm->topo.nodes.at[sm->topo.node_of[n]];

		for (unsigned p = 1; fab_is_switch(f, n) && p <= x->nports; p++) {
			port_id id = fab_port_id(f, n, p);

			t->astray[id] =
				data->ports[id].peer == FAB_NONE &&
				(sm->disc.presumes ||
				 sm->topo.ports.at[x->first_port + p].pi.state >= IBA_PORT_ARMED);
		}
	}
}

void sm_trees_task_switches(const struct sm *sm, struct sm_trees_task *t)
{
	const struct fab *f = sm->topo.fab;

	t->version = sm->multicast.version;
	t->cap = mem_zarray(f->nswitches + 1u, sizeof(*t->cap));
	for (uint32_t s = 0; s < f->nswitches; s++)
		t->cap[s] = sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].si.mcast_cap;
	t->astray = mem_zarray(f->nports + 1u, sizeof(*t->astray));
	astray_find(sm, t);
}

struct sm_trees_task *sm_trees_task_new(const struct sm *sm)
{
	const struct sm_multicast *m = &sm->multicast;
	struct sm_trees_task *t = mem_zalloc(sizeof(*t));
	struct map64 by = {0};

	sm_ports_by_guid(sm, &by);
	for (size_t i = 0; i < m->groups.n; i++)
		sm_group_place(&m->groups.at[i], &by, t);
	map64_free(&by);
	sm_trees_task_link(t);
	sm_trees_task_switches(sm, t);
	sm_mfts_trees(sm, &t->old);
	return t;
}

void sm_trees_task_free(struct sm_trees_task *t)
{
	if (!t)
		return;
	vec_free(&t->groups);
	vec_free(&t->members);
	free(t->cap);
	free(t->astray);
	rt_mtrees_free(&t->old);
	free(t);
}
