/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the topology database to an immutable snapshot: nodes that answered everything, in GUID order
 * so that the order of responses decides nothing, and the links between them. State: sm->topo.fab and the
 * way back from its nodes. Does not change the database but for each node's place in the snapshot.
 */
#include "sm/manager.h"

static bool node_complete(const struct sm *sm, const struct sm_node *n)
{
	const struct sm_port *p = &sm->topo.ports.at[n->first_port];
	bool any = false;

	if (n->gone || n->ask.ports_left || sm_is_excluded(sm, n->guid))
		return false;
	if (n->type == IBA_NODE_SWITCH)
		return n->ask.has_si && p[0].has_lid;
	for (unsigned i = 1; i <= n->nports; i++) {
		if (p[i].ask.asked && !p[i].has_lid)
			return false;
		any |= p[i].has_lid;
	}
	return any;
}

/*
 * Nodes reachable from the SM's over links between complete nodes. After a partial discovery,
 * which asks few, an incomplete node requires another discovery.
 */
static uint8_t *mark_reachable(struct sm *sm)
{
	uint8_t *in = mem_zarray(sm->topo.nodes.n, 1);
	VEC(uint32_t) todo = {0};

	if (sm->topo.nodes.n && node_complete(sm, &sm->topo.nodes.at[0])) {
		in[0] = 1;
		vec_push(&todo, 0);
	}
	for (size_t i = 0; i < todo.n; i++) {
		const struct sm_node *n = &sm->topo.nodes.at[todo.at[i]];

		for (unsigned p = 1; p <= n->nports; p++) {
			const struct sm_port *near = &sm->topo.ports.at[n->first_port + p];
			uint32_t far =
				near->peer == NONE ? NONE : sm->topo.ports.at[near->peer].node;

			if (far == NONE || in[far] || !sm_is_way_out(sm, near))
				continue;
			if (node_complete(sm, &sm->topo.nodes.at[far])) {
				in[far] = 1;
				vec_push(&todo, far);
			} else if (sm_is_partial(&sm->disc) &&
				   !sm_is_excluded(sm, sm->topo.nodes.at[far].guid)) {
				sm_discovery_doubt(sm);
			}
		}
	}
	vec_free(&todo);
	return in;
}

struct by_guid {
	uint64_t guid;
	uint32_t node;
};

static int cmp_guid(const void *a, const void *b)
{
	uint64_t x = ((const struct by_guid *)a)->guid, y = ((const struct by_guid *)b)->guid;

	return x < y ? -1 : x > y;
}

static void copy_node(struct sm *sm, struct fab_builder *b, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];

	n->fab = fab_add_node(b, n->type, n->guid, n->nports, "");
	struct fab_node *f = fab_builder_node(b, n->fab);

	f->sys_guid = n->sys_guid;
	f->vendor_id = n->vendor_id;
	f->device_id = n->device_id;
	f->flags = n->si.enhanced_port0 ? FAB_ENHANCED_PORT0 : 0;
	for (unsigned i = 0; i <= n->nports; i++) {
		const struct sm_port *p = &sm->topo.ports.at[n->first_port + i];
		struct fab_port *q = fab_builder_port(b, n->fab, i);

		q->guid = p->guid;
		if (p->has_lid) {
			q->lid = p->pi.lid;
			q->lmc = p->pi.lmc;
		}
	}
	sm_virtual_snapshot(sm, b, node);
}

static void copy_links(struct sm *sm, struct fab_builder *b)
{
	for (uint32_t i = 0; i < sm->topo.ports.n; i++) {
		const struct sm_port *p = &sm->topo.ports.at[i], *q;

		if (p->peer == NONE || p->peer < i || sm->topo.nodes.at[p->node].fab == FAB_NONE)
			continue;
		q = &sm->topo.ports.at[p->peer];
		if (sm->topo.nodes.at[q->node].fab != FAB_NONE && p->ask.known && q->ask.known &&
		    p->pi.state != IBA_PORT_DOWN && q->pi.state != IBA_PORT_DOWN)
			fab_add_link(b, sm->topo.nodes.at[p->node].fab, p->num,
				     sm->topo.nodes.at[q->node].fab, q->num);
	}
}

void sm_snapshot_free(struct sm *sm)
{
	sm_retire_fab(sm, sm->topo.fab);
	sm_data_fab_free(sm);
	free(sm->topo.node_of);
	sm->topo.fab = NULL;
	sm->topo.node_of = NULL;
}

/* ---- does it still stand? ---- */

/* LinearFDBTop as it should be: up to the last LID, or as many entries as are sent. */
uint16_t sm_linear_top(const struct sm *sm, const struct iba_switch_info *si)
{
	uint32_t top = sm->cfg.lft_entries ? MIN(sm->cfg.lft_entries, si->linear_cap) - 1u : 0;

	top = MAX(top, sm->topo.top_lid);
	/* Room for LIDs of VMs that start, so that not each of them takes another SMP to every switch. */
	if (sm->virtual.hosts.n && sm->cfg.scheme == SM_SCHEME_DYNAMIC)
		top = MIN(MIN(top | (IBA_LFT_BLOCK - 1), (uint32_t)IBA_LID_MAX_UNICAST),
			  MAX(si->linear_cap, top + 1u) - 1u);
	return (uint16_t)top;
}

/*
 * A larger LinearFDBTop does no harm where the tables that are sent cover it: up to the end of
 * the block of the last LID. Old entries for LIDs that are no longer assigned must not be used
 * beside new ones.
 */
bool sm_top_serves(const struct sm *sm, const struct iba_switch_info *si)
{
	if (!si->linear_cap && si->random_cap)
		return true; /* a random table has no top */
	if (!sm_is_partial(&sm->disc) && !sm->cfg.read_back)
		return si->linear_top == sm_linear_top(sm, si);
	if (sm->cfg.lft_entries)
		return si->linear_top >= sm_linear_top(sm, si);
	return si->linear_top >= sm->topo.top_lid &&
	       si->linear_top / IBA_LFT_BLOCK == sm->topo.top_lid / IBA_LFT_BLOCK;
}

static bool same_port(const struct sm *sm, uint32_t port, port_id was)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct fab_port *w = &sm->topo.fab->ports[was];

	if ((p->has_lid && p->pi.lid) != (w->lid != 0) ||
	    (w->lid && (p->pi.lid != w->lid || p->pi.lmc != w->lmc)))
		return false;
	if (p->peer == NONE || w->peer == FAB_NONE)
		return p->peer == NONE && w->peer == FAB_NONE;
	return (p->pi.state == IBA_PORT_ACTIVE || sm->cfg.observe) &&
	       sm->topo.ports.at[p->peer].num == sm->topo.fab->ports[w->peer].num &&
	       sm->topo.nodes.at[sm->topo.ports.at[p->peer].node].guid ==
		       sm->topo.fab->nodes[sm->topo.fab->ports[w->peer].node].guid;
}

static bool same_node(const struct sm *sm, uint32_t node, node_id was)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	const struct fab_node *w = &sm->topo.fab->nodes[was];

	if (n->type != w->type || n->nports != w->nports)
		return false;
	/*
	 * Only what a round would set counts: otherwise rounds would follow each other for ever.
	 */
	if (n->type == IBA_NODE_SWITCH && !sm->cfg.observe && !sm_top_serves(sm, &n->si))
		return false;
	for (unsigned p = 0; p <= n->nports; p++)
		if (!same_port(sm, n->first_port + p, w->first_port + p))
			return false;
	return true;
}

/*
 * After a full discovery: nothing differs from the snapshot in force, and all links are Active.
 */
bool sm_snapshot_stands(struct sm *sm)
{
	uint32_t *at;
	uint8_t *in;
	bool same;

	if (!sm->topo.fab || (!sm->routes.tables && !sm->cfg.observe) || sm->core.incomplete ||
	    !sm_virtual_stands(sm))
		return false;
	at = mem_array(sm->topo.fab->nnodes, sizeof(*at));
	in = mark_reachable(sm);
	same = sm->topo.fab->nnodes == sm->topo.nodes.n;
	for (node_id n = 0; same && n < sm->topo.fab->nnodes; n++) {
		at[n] = map64_get(&sm->topo.by_guid, sm->topo.fab->nodes[n].guid);
		same = at[n] != MAP_NONE && in[at[n]] && same_node(sm, at[n], n);
	}
	for (node_id n = 0; same && n < sm->topo.fab->nnodes; n++) {
		sm->topo.node_of[n] = at[n];
		sm->topo.nodes.at[at[n]].fab = n;
	}
	if (same)
		sm_topology_whole(sm);
	free(at);
	free(in);
	return same;
}

/* The tables in force lead to its devices, as before they were discovered again. */
void sm_snapshot_reach(struct sm *sm)
{
	for (uint32_t p = 0; p < sm->topo.ports.n; p++)
		sm_port_by_lid(sm, p,
			       sm_is_endport(sm, &sm->topo.ports.at[p]) &&
				       sm->topo.ports.at[p].has_lid);
	sm_paths_rebuild(sm);
}

void sm_snapshot_build(struct sm *sm)
{
	uint8_t *in = mark_reachable(sm);
	struct fab_builder *b = fab_builder_new();
	VEC(struct by_guid) order = {0};
	struct fab *f, *was = sm->topo.fab;
	uint32_t *node_of;

	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		if (in[n])
			vec_push(&order, (struct by_guid){sm->topo.nodes.at[n].guid, n});
	if (order.n)
		qsort(order.at, order.n, sizeof(*order.at), cmp_guid);
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		sm->topo.nodes.at[n].fab = FAB_NONE;
	node_of = mem_array(order.n, sizeof(*node_of));
	for (size_t i = 0; i < order.n; i++) {
		copy_node(sm, b, order.at[i].node);
		node_of[i] = order.at[i].node;
	}
	copy_links(sm, b);
	f = fab_build(b);
	if (was)
		sm_snapshot_diff_note(sm, was, f, node_of);
	sm->topo.fab = f;
	sm_silent_links_find(sm, was);
	sm->topo.fab = NULL;
	sm_routes_of_old(sm, was, !sm->core.incomplete);
	free(sm->topo.node_of);
	sm->topo.fab = f;
	sm->topo.snapshot++;
	sm->topo.node_of = node_of;
	sm->topo.top_lid = (uint16_t)fab_top_lid(f);
	sm_topology_whole(sm);
	vec_free(&order);
	free(in);
}

/* ---- VMs that moved ---- */

void sm_top_raise(struct sm *sm, uint16_t lid)
{
	sm->topo.top_lid = MAX(sm->topo.top_lid, lid);
}

static void vlids_set(struct fab *f, const struct fab_vlid *v, uint32_t n)
{
	if (!f)
		return;
	f->vlids = mem_resize(f->vlids, MAX(n, 1u), sizeof(*v));
	if (n)
		memcpy(f->vlids, v, n * sizeof(*v));
	f->nvlids = n;
}

/* A snapshot that a worker may read is replaced, not changed. */
static struct fab *fab_writable(struct sm *sm, struct fab *f)
{
	struct fab *copy;

	if (!f || !sm_worker_reads(sm) || sm->routes.own_fab == sm->routes.request_id)
		return f;
	copy = fab_build(fab_builder_from(f));
	sm_move_deps_drop(sm);
	sm_retire_fab(sm, f);
	return copy;
}

void sm_snapshot_vlids(struct sm *sm)
{
	VEC(struct fab_vlid) list = {0};

	for (node_id n = 0; n < sm->topo.fab->nnodes; n++) {
		uint32_t host = sm->topo.fab->nodes[n].sriov == FAB_SRIOV_VSWITCH
					? sm_vhost_find(sm, sm->topo.fab->nodes[n].guid)
					: NONE;

		for (unsigned s = 1; host != NONE && s <= sm->topo.fab->nodes[n].vfs; s++) {
			uint64_t guid;
			uint16_t lid = sm_slot_wants(sm, host, s, &guid);

			if (lid)
				vec_push(&list,
					 (struct fab_vlid){
						 guid ? guid : sm_slot_own_guid(sm, host, s),
						 fab_port_id(sm->topo.fab, n, 1), lid, (uint8_t)s});
		}
	}
	sm->topo.fab = fab_writable(sm, sm->topo.fab);
	sm->topo.data_fab = fab_writable(sm, sm->topo.data_fab);
	sm->topo.snapshot++;
	sm_snapshot_is_own(sm);
	vlids_set(sm->topo.fab, list.at, (uint32_t)list.n);
	vlids_set(sm->topo.data_fab, list.at, (uint32_t)list.n);
	vec_free(&list);
}
