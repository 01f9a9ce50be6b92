/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths from the SM to every device: whether the tables in the switches still lead there, and
 * routes for SMPs over the known links. State: the paths in the topology database. Does not send
 * anything.
 */
#include "sm/manager.h"

/* ---- do the tables lead there? ---- */

/* Follows tables from a switch towards a LID; true when that ends at the port of the LID. */
static bool walk(const struct sm *sm, uint32_t node, uint16_t lid, uint32_t to)
{
	uint32_t left = (uint32_t)sm->topo.nodes.n;

	while (left--) {
		const struct sm_node *n = &sm->topo.nodes.at[node];
		const uint8_t *block = sm_row_block(sm, n->row, lid / IBA_LFT_BLOCK);
		const struct sm_port *p;
		uint8_t out = block ? block[lid % IBA_LFT_BLOCK] : IBA_PORT_NONE;

		if (out == 0)
			return to == n->first_port;
		if (out > n->nports)
			return false;
		p = &sm->topo.ports.at[n->first_port + out];
		if (p->peer == NONE || p->pi.state == IBA_PORT_DOWN)
			return false;
		if (p->peer == to)
			return true;
		node = sm->topo.ports.at[p->peer].node;
		n = &sm->topo.nodes.at[node];
		if (n->type != IBA_NODE_SWITCH ||
		    sm->topo.ports.at[n->first_port].ask.mark == SM_MISSING)
			return false;
	}
	return false;
}

/* The first switch on the way from an endport; NONE when it has no link. */
static uint32_t first_switch(const struct sm *sm, uint32_t endport)
{
	const struct sm_port *p = &sm->topo.ports.at[endport];
	uint32_t n = p->node;

	if (sm->topo.nodes.at[n].type == IBA_NODE_SWITCH)
		return n;
	n = p->peer == NONE || p->pi.state == IBA_PORT_DOWN ? NONE
							    : sm->topo.ports.at[p->peer].node;
	return n != NONE && sm->topo.nodes.at[n].type == IBA_NODE_SWITCH ? n : NONE;
}

/* Whether a directed route still works, hop by hop over the known links. */
static bool path_holds(const struct sm *sm, uint32_t endport)
{
	const struct sm_port *e = &sm->topo.ports.at[endport];
	const struct sm_path *path = sm->topo.nodes.at[e->node].type == IBA_NODE_SWITCH
					     ? &sm->topo.nodes.at[e->node].path
					     : &e->path;
	uint32_t node = 0;

	for (unsigned i = 0; i < path->n; i++) {
		const struct sm_node *n = &sm->topo.nodes.at[node];
		unsigned out = sm->topo.hops.at[path->at + i];
		const struct sm_port *p = &sm->topo.ports.at[n->first_port + out];

		if (out > n->nports || p->peer == NONE || p->pi.state == IBA_PORT_DOWN ||
		    (node && sm->topo.ports.at[n->first_port].ask.mark == SM_MISSING))
			return false;
		node = sm->topo.ports.at[p->peer].node;
	}
	return node == e->node;
}

static bool tables_lead(const struct sm *sm, uint32_t endport)
{
	uint32_t own = sm_own_port(sm), near = first_switch(sm, own),
		 far = first_switch(sm, endport);

	if (endport == own)
		return true;
	if (near == NONE || far == NONE || !sm->topo.ports.at[endport].has_lid)
		return false;
	return walk(sm, near, sm->topo.ports.at[endport].pi.lid, endport) &&
	       walk(sm, far, sm->lids.own, own);
}

bool sm_route_holds(const struct sm *sm, uint32_t endport)
{
	const struct sm_port *e = &sm->topo.ports.at[endport];
	bool sw = sm->topo.nodes.at[e->node].type == IBA_NODE_SWITCH;

	if (sm->cfg.plain && !(sw ? sm->topo.nodes.at[e->node].path.via : e->path.via))
		return path_holds(sm, endport);
	return tables_lead(sm, endport);
}

bool sm_route_home(const struct sm *sm, uint32_t node)
{
	return walk(sm, node, sm->lids.own, sm_own_port(sm));
}

void sm_way_add(struct sm_way *w, uint8_t port)
{
	if (w->n < IBA_MAX_HOPS)
		w->hops[w->n++] = port;
}

static uint32_t has_lid(const struct sm *sm, uint32_t endport, uint16_t lid)
{
	const struct iba_port_info *pi = &sm->topo.ports.at[endport].pi;

	return lid >= pi->lid && lid - pi->lid < 1 << pi->lmc ? endport : NONE;
}

/*
 * The path of a LID-routed SMP as a directed one, by known tables and links: the endport it ends
 * at, or NONE. Room is left for `more` hops.
 */
static uint32_t way_of(const struct sm *sm, uint16_t lid, unsigned more, struct sm_way *w)
{
	uint32_t at = sm_own_port(sm);
	const struct sm_node *n = &sm->topo.nodes.at[0];
	uint8_t out = n->type == IBA_NODE_SWITCH ? 0 : (uint8_t)sm->cfg.port;

	*w = (struct sm_way){.active = true};
	for (;;) {
		if (n->type == IBA_NODE_SWITCH) {
			const uint8_t *block = sm_row_block(sm, n->row, lid / IBA_LFT_BLOCK);

			out = block ? block[lid % IBA_LFT_BLOCK] : IBA_PORT_NONE;
			if (out == 0)
				return has_lid(sm, n->first_port, lid);
		}
		if (out > n->nports || w->n + more >= IBA_MAX_HOPS)
			return NONE;
		at = n->first_port + out;
		w->hops[w->n++] = out;
		w->active &= sm->topo.ports.at[at].pi.state == IBA_PORT_ACTIVE;
		at = sm->topo.ports.at[at].peer;
		if (at == NONE)
			return NONE;
		w->active &= sm->topo.ports.at[at].pi.state == IBA_PORT_ACTIVE;
		n = &sm->topo.nodes.at[sm->topo.ports.at[at].node];
		if (n->type != IBA_NODE_SWITCH)
			return has_lid(sm, at, lid);
	}
}

/* Whether all links are Active that a response takes from this endport. */
static bool active_home(const struct sm *sm, uint32_t endport)
{
	uint32_t own = sm_own_port(sm), node = first_switch(sm, endport),
		 left = (uint32_t)sm->topo.nodes.n;

	while (node != NONE && left--) {
		const struct sm_node *n = &sm->topo.nodes.at[node];
		const uint8_t *block = sm_row_block(sm, n->row, sm->lids.own / IBA_LFT_BLOCK);
		uint8_t out = block ? block[sm->lids.own % IBA_LFT_BLOCK] : IBA_PORT_NONE;
		const struct sm_port *p =
			&sm->topo.ports.at[n->first_port + (out <= n->nports ? out : 0)];

		if (out == 0)
			return n->first_port == own;
		if (out > n->nports || p->peer == NONE || p->pi.state != IBA_PORT_ACTIVE ||
		    sm->topo.ports.at[p->peer].pi.state != IBA_PORT_ACTIVE)
			return false;
		if (p->peer == own)
			return true;
		node = sm->topo.nodes.at[sm->topo.ports.at[p->peer].node].type == IBA_NODE_SWITCH
			       ? sm->topo.ports.at[p->peer].node
			       : NONE;
	}
	return false;
}

bool sm_way_instead(const struct sm *sm, uint16_t lid, unsigned more, struct sm_way *w)
{
	uint32_t to;

	if (!lid || lid == sm->lids.own || !sm->topo.nodes.n)
		return false;
	to = way_of(sm, lid, more, w);
	if (to == NONE || (!more && w->active && active_home(sm, to))) {
		*w = (struct sm_way){0};
		return false;
	}
	return true;
}

bool sm_way_by_tables(const struct sm *sm, uint16_t lid, struct sm_way *w)
{
	if (lid && lid != sm->lids.own && sm->topo.nodes.n && way_of(sm, lid, 0, w) != NONE)
		return true;
	*w = (struct sm_way){0};
	return false;
}

uint8_t *sm_nodes_linked(const struct sm *sm)
{
	uint32_t *queue = mem_array(sm->topo.nodes.n, sizeof(*queue)), head = 0, tail = 0;
	uint8_t *seen = mem_zarray(sm->topo.nodes.n, 1);

	seen[0] = 1;
	queue[tail++] = 0;
	while (head < tail) {
		const struct sm_node *n = &sm->topo.nodes.at[queue[head++]];

		for (unsigned p = 1; p <= n->nports; p++) {
			const struct sm_port *near = &sm->topo.ports.at[n->first_port + p];
			uint32_t m;

			if (near->peer == NONE || !sm_is_way_out(sm, near))
				continue;
			m = sm->topo.ports.at[near->peer].node;
			if (!seen[m])
				queue[tail++] = m;
			seen[m] = 1;
		}
	}
	free(queue);
	return seen;
}

/* ---- directed routes, the shortest over the links known ---- */

static struct sm_path by_lid(const struct sm_port *p, uint16_t distance)
{
	return (struct sm_path){.via = p->pi.lid, .distance = distance};
}

/* Where a longer path starts: behind a switch that SMPs reach by LID it starts again. */
static struct sm_path base_of(const struct sm *sm, const struct sm_node *n)
{
	const struct sm_port *p = &sm->topo.ports.at[n->first_port];
	struct sm_path path = n->path;

	if (n->type == IBA_NODE_SWITCH && path.n == IBA_MAX_HOPS &&
	    p->pi.lid <= IBA_LID_MAX_UNICAST && sm->lids.routed[p->pi.lid])
		path = by_lid(p, path.distance);
	return path;
}

/*
 * Only a plan guarantees what happens to packets while tables change. Without one, partly new
 * tables may lead SMPs in circles, among them those that change the tables.
 */
static bool may_go_by_lid(const struct sm *sm)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	return m->by_lid && m->first->plan && m->second->plan;
}

static void reach(struct sm *sm, uint32_t near, uint32_t far, uint8_t *seen, uint32_t *queue,
		  uint32_t *tail)
{
	struct sm_port *q = &sm->topo.ports.at[far];
	struct sm_node *m = &sm->topo.nodes.at[q->node],
		       *n = &sm->topo.nodes.at[sm->topo.ports.at[near].node];
	bool sw = m->type == IBA_NODE_SWITCH;
	struct sm_port *e = sw ? &sm->topo.ports.at[m->first_port] : q;
	struct sm_path base = base_of(sm, n), path;

	if (sw ? seen[q->node] : sm_is_own(sm, q))
		return;
	if (base.n == IBA_MAX_HOPS && !e->pi.lid)
		return; /* new, and beyond the reach of directed routes: it is asked later */
	path = base.n == IBA_MAX_HOPS ? by_lid(e, (uint16_t)(base.distance + 1))
				      : sm_path_longer(sm, base, sm->topo.ports.at[near].num);
	if (may_go_by_lid(sm) && !sm->cfg.plain && e->by_lid)
		path = by_lid(e, path.distance);
	if (!sw) {
		q->path = path;
		return;
	}
	m->path = path;
	seen[q->node] = 1;
	queue[(*tail)++] = q->node;
}

void sm_paths_rebuild(struct sm *sm)
{
	uint8_t *seen = mem_zarray(sm->topo.nodes.n, 1);
	uint32_t *queue = mem_array(sm->topo.nodes.n, sizeof(*queue)), head = 0, tail = 0;

	sm->topo.hops.n = 0;
	sm->topo.max_hops = 0;
	sm->topo.nodes.at[0].path = (struct sm_path){0};
	seen[0] = 1;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t at = queue[head++];
		const struct sm_node *n = &sm->topo.nodes.at[at];

		for (unsigned p = 1; p <= n->nports; p++) {
			uint32_t near = n->first_port + p;
			const struct sm_port *x = &sm->topo.ports.at[near];

			if (x->peer != NONE && x->pi.state != IBA_PORT_DOWN && sm_is_way_out(sm, x))
				reach(sm, near, x->peer, seen, queue, &tail);
		}
	}
	free(seen);
	free(queue);
}
