/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about the topology database: what a port is, where a LID is, how SMPs get to it. Keeps no
 * state; paths are appended to topo.hops. Does not send anything.
 */
#include "sm/manager.h"

void sm_topology_free(struct sm *sm)
{
	vec_free(&sm->topo.nodes);
	vec_free(&sm->topo.ports);
	vec_free(&sm->topo.hops);
	vec_free(&sm->topo.silent);
	map64_free(&sm->topo.by_guid);
	map64_free(&sm->topo.by_port_guid);
	vec_free(&sm->topo.before.nodes);
	vec_free(&sm->topo.before.ports);
	map64_free(&sm->topo.before.by_guid);
}

void sm_epoch_begin(struct sm *sm)
{
	sm->topo.epoch++;
}

/* Nodes, ports and their map change places with those of before, which are empty. */
static void keep_before(struct sm_topology *t)
{
	struct sm_topology_before now = {.by_guid = t->by_guid};

	memcpy(&now.nodes, &t->nodes, sizeof(now.nodes));
	memcpy(&now.ports, &t->ports, sizeof(now.ports));
	memcpy(&t->nodes, &t->before.nodes, sizeof(t->nodes));
	memcpy(&t->ports, &t->before.ports, sizeof(t->ports));
	t->by_guid = t->before.by_guid;
	t->before = now;
}

const struct sm_node *sm_node_of(const struct sm *sm, node_id n)
{
	uint32_t at = sm->topo.node_of[n];

	return sm->topo.before.nodes.n ? &sm->topo.before.nodes.at[at] : &sm->topo.nodes.at[at];
}

void sm_topology_whole(struct sm *sm)
{
	sm->topo.before.nodes.n = sm->topo.before.ports.n = 0;
	map64_clear(&sm->topo.before.by_guid);
}

void sm_topology_clear(struct sm *sm)
{
	sm_epoch_begin(sm);
	if (sm->topo.fab && !sm->topo.before.nodes.n) /* a discovery that restarts knows less */
		keep_before(&sm->topo);
	sm->topo.nodes.n = 0;
	sm->topo.ports.n = 0;
	sm->topo.hops.n = 0;
	sm->topo.max_hops = 0;
	map64_clear(&sm->topo.by_guid);
	map64_clear(&sm->topo.by_port_guid);
	vec_room(&sm->topo.hops, 64); /* an empty path needs a valid address */
}

void sm_subnet_timeout_set(struct sm *sm, uint8_t value)
{
	sm->topo.subnet_timeout = value;
}

bool sm_is_endport(const struct sm *sm, const struct sm_port *p)
{
	return sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH || p->num == 0;
}

bool sm_in_use(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return !sm->topo.nodes.at[p->node].gone && sm_is_endport(sm, p) && p->ask.asked;
}

bool sm_is_own(const struct sm *sm, const struct sm_port *p)
{
	/* The SM's own node is the first that answers. */
	return p->node == 0 &&
	       (sm->topo.nodes.at[0].type == IBA_NODE_SWITCH ? p->num == 0
							     : p->num == sm->cfg.port);
}

bool sm_is_way_out(const struct sm *sm, const struct sm_port *p)
{
	return p->num && (sm->topo.nodes.at[p->node].type == IBA_NODE_SWITCH || sm_is_own(sm, p));
}

/* A manager that has assigned none yet sends from the LID that its port holds. */
uint16_t sm_own_lid(const struct sm *sm)
{
	if (sm->lids.own || !sm->topo.nodes.n)
		return sm->lids.own;
	return sm->topo.ports.at[sm_own_port(sm)].pi.lid;
}

uint32_t sm_own_port(const struct sm *sm)
{
	const struct sm_node *own = &sm->topo.nodes.at[0];

	return own->type == IBA_NODE_SWITCH ? own->first_port : own->first_port + sm->cfg.port;
}

uint32_t sm_port_by_guid(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->topo.by_port_guid, guid);
	const struct sm_port *p = at == MAP_NONE ? NULL : &sm->topo.ports.at[at];

	if (!p || p->guid != guid || sm->topo.nodes.at[p->node].gone)
		return NONE;
	return !p->num || p->ask.asked ? at : NONE;
}

uint32_t sm_node_by_lid(const struct sm *sm, uint16_t lid)
{
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++) {
		const struct sm_node *x = &sm->topo.nodes.at[n];

		if (!x->gone && x->type == IBA_NODE_SWITCH &&
		    sm->topo.ports.at[x->first_port].pi.lid == lid)
			return n;
	}
	return NONE;
}

/* ---- targets ---- */

struct sm_target sm_target_node(uint32_t node)
{
	return (struct sm_target){.kind = SM_TARGET_NODE, .node = node, .port = NONE};
}

struct sm_target sm_target_port(const struct sm *sm, uint32_t port)
{
	return (struct sm_target){
		.kind = SM_TARGET_PORT, .node = sm->topo.ports.at[port].node, .port = port};
}

struct sm_target sm_target_behind(const struct sm *sm, uint32_t port)
{
	if (port == NONE)
		return (struct sm_target){.kind = SM_TARGET_NONE, .node = NONE, .port = NONE};
	return (struct sm_target){
		.kind = SM_TARGET_BEHIND, .node = sm->topo.ports.at[port].node, .port = port};
}

struct sm_target sm_target_block(uint32_t node, uint32_t block)
{
	return (struct sm_target){
		.kind = SM_TARGET_BLOCK, .node = node, .port = NONE, .item = block};
}

struct sm_target sm_target_turn(uint32_t node, unsigned in, unsigned out)
{
	return (struct sm_target){
		.kind = SM_TARGET_TURN, .node = node, .port = NONE, .item = in << 8 | out};
}

/* ---- paths ---- */

struct sm_path sm_path_to(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH ? n->path : p->path;
}

/*
 * The path that requests through a port start from. A directed route has room for 63 hops; beyond
 * them it starts again at the switch it ended at, which is reached by LID once tables lead there.
 */
struct sm_path sm_path_through(const struct sm *sm, const struct sm_port *p)
{
	struct sm_path q = sm_path_to(sm, p);
	uint16_t lid = q.n == IBA_MAX_HOPS
			       ? sm->topo.ports.at[sm->topo.nodes.at[p->node].first_port].pi.lid
			       : 0;

	if (lid && lid <= IBA_LID_MAX_UNICAST && sm->lids.routed[lid])
		q = (struct sm_path){.at = q.at, .via = lid, .distance = q.distance};
	return q;
}

struct sm_path sm_path_longer(struct sm *sm, struct sm_path p, uint8_t port)
{
	struct sm_path q = {.at = (uint32_t)sm->topo.hops.n,
			    .n = (uint8_t)(p.n + 1),
			    .via = p.via,
			    .distance = (uint16_t)(p.distance + 1)};

	vec_room(&sm->topo.hops, sm->topo.hops.n + q.n);
	memcpy(sm->topo.hops.at + q.at, sm->topo.hops.at + p.at, p.n);
	sm->topo.hops.at[q.at + p.n] = port;
	sm->topo.hops.n += q.n;
	sm->topo.max_hops = MAX(sm->topo.max_hops, q.distance);
	return q;
}
