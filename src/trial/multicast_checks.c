/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold in a trial of multicast. State: struct multicast_world. Way in: multicast_check(). Reads devices, not the
 * manager: tables, masks, links and LIDs as they are, in the part of the subnet that the manager reaches.
 */
#include "route/multicast_trees.h"
#include "sim/device/sim_device.h"
#include "trial/multicast_world.h"

/* The devices' state over a snapshot of them. */
struct view {
	struct fab *f;
	bool *in; /* by port: the manager reaches it */
	struct rt_tables *t;
	rt_mtrees trees;
	VEC(struct rt_group) groups;
	VEC(struct rt_member) members;
};

static node_id device_of(const struct multicast_world *t, const struct view *v, uint32_t sw)
{
	return fab_node_by_guid(t->fab, v->f->nodes[v->f->switches[sw]].guid);
}

static bool is_in(const struct view *v, uint32_t sw)
{
	return v->in[fab_port_id(v->f, v->f->switches[sw], 0)];
}

static void read_tables(const struct multicast_world *t, struct view *v)
{
	v->t = rt_tables_new(v->f->nswitches, fab_top_lid(v->f));
	for (uint32_t s = 0; s < v->f->nswitches; s++)
		for (uint32_t lid = 1; is_in(v, s) && lid <= v->t->top_lid; lid++)
			rt_row(v->t, s)[lid] = (uint8_t)MIN(
				sim_route(t->sim, device_of(t, v, s), (uint16_t)lid), 255u);
}

static void read_trees(const struct multicast_world *t, struct view *v)
{
	uint32_t used = 0;

	for (uint32_t s = 0; s < v->f->nswitches; s++)
		used = MAX(used, sim_mlids_used(t->sim, device_of(t, v, s)));
	for (uint32_t i = 0; i < used; i++) {
		struct rt_mtree x = {.mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i)};

		for (uint32_t s = 0; s < v->f->nswitches; s++) {
			struct rt_branch b = {.sw = s};

			if (is_in(v, s) && sim_mft(t->sim, device_of(t, v, s), x.mlid, b.ports.w))
				vec_push(&x.at, b);
		}
		vec_push(&v->trees, x);
	}
}

static void place_groups(const struct multicast_world *t, struct view *v)
{
	struct map64 by = {0};
	uint32_t at = 0;

	for (port_id p = 0; p < v->f->nports; p++)
		if (v->in[p] && v->f->ports[p].guid &&
		    (v->f->ports[p].peer != FAB_NONE || !v->f->ports[p].num))
			map64_put(&by, v->f->ports[p].guid, p);
	for (uint32_t i = 0; i < v->trees.n || i < t->nparties; i++) {
		uint32_t first = (uint32_t)v->members.n;

		for (unsigned k = 0; i < t->nparties && k < t->parties[i].n; k++) {
			const struct sm_group_member *m = &t->parties[i].members[k];
			uint32_t p = map64_get(&by, m->port_guid);

			if (p != MAP_NONE)
				vec_push(&v->members, (struct rt_member){p, m->receives});
		}
		vec_push(&v->groups, (struct rt_group){.mlid = (uint16_t)(IBA_LID_MCAST_FIRST + i),
						       .nmembers = (uint32_t)v->members.n - first});
	}
	for (size_t i = 0; i < v->groups.n; i++) {
		v->groups.at[i].members = v->members.at + at;
		at += v->groups.at[i].nmembers;
	}
	map64_free(&by);
}

/* A tree of no group, or of one whose members are all gone, has no branch. */
static void no_more(struct multicast_world *t, const struct view *v, const char *when)
{
	for (size_t i = 0; i < v->trees.n; i++)
		if (!v->groups.at[i].nmembers && v->trees.at[i].at.n)
			lab_fail(t->out->why,
				 "%s: MLID 0x%04x has no members, and %zu switches hold masks",
				 when, v->trees.at[i].mlid, v->trees.at[i].at.n);
}

static void view_free(struct view *v)
{
	rt_tables_free(v->t);
	rt_mtrees_free(&v->trees);
	vec_free(&v->groups);
	vec_free(&v->members);
	free(v->in);
	fab_free(v->f);
}

static void view_make(const struct multicast_world *t, struct view *v)
{
	const struct fab_node *own = &t->fab->nodes[lab_sm_node(t->lab)];
	node_id n;

	*v = (struct view){.f = sim_snapshot(t->sim)};
	n = fab_node_by_guid(v->f, own->guid);
	v->in = mem_zarray(v->f->nports + 1u, sizeof(*v->in));
	fab_subnet(v->f, fab_port_id(v->f, n, lab_config(t->lab)->sm.port), v->in);
	read_tables(t, v);
	read_trees(t, v);
	place_groups(t, v);
}

bool multicast_lanes(const struct multicast_world *t)
{
	const struct rt_engine *g = lab_config(t->lab)->sm.mechanism.routes->engine;

	return g && g->lanes;
}

/* With lanes the watch alone tells cycles, by SL-to-VL tables. Groups may lack members where the lane of SL 0, which all groups
 * have here, is so full of routes that no tree over all switches fits. */
static bool is_right(const struct multicast_world *t, const struct rt_mreport *r)
{
	return r->ok || (multicast_lanes(t) && !(sm_multicast_sls(lab_sm(t->lab)) & 1) &&
			 !r->doubled && !r->strangers && !r->loops && !r->dead && !r->cyclic);
}

void multicast_check(struct multicast_world *t, const char *when)
{
	struct rt_mreport r;
	struct view v;

	t->out->checks++;
	view_make(t, &v);
	rt_multicast_verify(v.f, multicast_lanes(t) ? NULL : v.t, NULL, v.groups.at,
			    (uint32_t)v.groups.n, &v.trees, &r);
	if (!is_right(t, &r))
		lab_fail(t->out->why, "%s: %s", when, r.problem[0]);
	no_more(t, &v, when);
	view_free(&v);
	if (t->watch.unsafe_at != TIME_NEVER)
		lab_fail(t->out->why, "%s: a cycle of %zu links at %.3f ms", when, t->watch.ncycle,
			 (double)t->watch.unsafe_at / PS_PER_MS);
}
