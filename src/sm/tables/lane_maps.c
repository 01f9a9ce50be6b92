/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SL-to-VL tables for routes with several lanes: which a device should hold, and Sets of those that differ. Routes with
 * one lane need none: what devices hold stays, as long as each VL in it exists. State: cursors in run. Does not wait
 * for anything: a plan holds whichever tables, old or new, a packet meets.
 */
#include "sm/manager.h"

bool sm_maps_serve(const struct sm *sm)
{
	return sm->routes.tables && (sm->routes.tables->lanes || sm->dev.maps.n);
}

/* ---- how many lanes there are ---- */

/* How many data VLs both ends have; one, if a device reports a reserved code. */
unsigned sm_port_vls(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	unsigned code = p->peer == NONE ? p->pi.vl_cap
					: MIN(p->pi.vl_cap, sm->topo.ports.at[p->peer].pi.vl_cap);

	return MAX(iba_vl_count(MIN(code, sm->cfg.max_op_vls)), 1u);
}

/* What a link has that is up, else what both ends can have. */
static unsigned vls_of_link(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	unsigned vls = sm_port_vls(sm, port);

	if (p->pi.state >= IBA_PORT_ARMED && iba_vl_count(p->pi.oper_vls))
		vls = MIN(vls, iba_vl_count(p->pi.oper_vls));
	return vls;
}

enum { LANES_MOST = 8 }; /* that engines use */

unsigned sm_lanes_most(const struct sm *sm, uint32_t *port)
{
	const struct fab *f = sm->topo.fab;
	unsigned most = LANES_MOST;

	*port = NONE;
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];
		uint32_t at;

		if (x->peer == FAB_NONE || !fab_is_switch(f, x->node) ||
		    !fab_is_switch(f, f->ports[x->peer].node))
			continue;
		at = sm->topo.nodes.at[sm->topo.node_of[x->node]].first_port + x->num;
		if (vls_of_link(sm, at) < most) {
			most = vls_of_link(sm, at);
			*port = at;
		}
	}
	return most;
}

unsigned sm_lanes(const struct sm *sm, unsigned *most)
{
	uint32_t port;

	*most = sm->topo.fab ? sm_lanes_most(sm, &port) : 0;
	return sm->routes.tables ? rt_nvls(sm->routes.tables) : 0;
}

/* ---- what a device should hold ---- */

static bool to_switch(const struct sm *sm, uint32_t port)
{
	uint32_t peer = sm->topo.ports.at[port].peer;

	return peer != NONE &&
	       sm->topo.nodes.at[sm->topo.ports.at[peer].node].type == IBA_NODE_SWITCH;
}

/* The VLs of a link to or from a host are in no cycle: there may be fewer of them. */
static uint8_t fewer(unsigned vl, unsigned vls)
{
	return (uint8_t)(vl == RT_VL_NONE ? vl : vl % vls);
}

void sm_map_wanted(struct sm *sm, uint32_t node, unsigned in, unsigned out, uint8_t vl[RT_SLS])
{
	const struct rt_tables *t = sm->routes.tables;
	const struct sm_node *n = &sm->topo.nodes.at[node];
	unsigned vls = sm_port_vls(sm, n->first_port + out);
	bool lanes = t && t->lanes && n->fab != FAB_NONE;

	if (!lanes && sm_qos_map(sm, node, out, vls, vl))
		return;
	for (unsigned sl = 0; sl < RT_SLS; sl++) {
		if (!lanes) /* in turn over the VLs both ends have (thesis 4.4.2) */
			vl[sl] = (uint8_t)(sl % vls);
		else if (n->type != IBA_NODE_SWITCH)
			vl[sl] = fewer(sl % t->lanes->nvls, vls);
		else if (to_switch(sm, n->first_port + out))
			vl[sl] = (uint8_t)rt_vl(t, sm->topo.fab->switch_index[n->fab], in, out, sl);
		else
			vl[sl] = fewer(rt_vl(t, sm->topo.fab->switch_index[n->fab], in, out, sl),
				       vls);
	}
}

static bool fits(uint64_t map, unsigned vls)
{
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		if ((map >> 4 * sl & 15) >= vls)
			return false;
	return true;
}

/* As it does with forwarding tables: a switch may have restarted while it was discovered. */
static bool rewrites(const struct sm *sm)
{
	return sm_technique_now(sm)->stops_all;
}

static bool differs(struct sm *sm, uint32_t node, unsigned in, unsigned out)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint8_t vl[RT_SLS];
	uint64_t map;
	bool known = sm_map_known(sm, n->guid, in, out, &map);

	if (sm_disabled_find(sm, n->guid, in, out) != SIZE_MAX)
		return false;
	if (!sm->routes.tables->lanes)
		return known && !fits(map, sm_port_vls(sm, n->first_port + out));
	sm_map_wanted(sm, node, in, out, vl);
	return rewrites(sm) || !known || map != sm_map_pack(vl);
}

/* ---- Sets ---- */

static bool is_linked(const struct sm *sm, uint32_t node, unsigned num)
{
	const struct fab_node *f = &sm->topo.fab->nodes[sm->topo.nodes.at[node].fab];

	return num && sm->topo.fab->ports[f->first_port + num].peer != FAB_NONE;
}

static void map_make(struct sm *sm, uint32_t node, unsigned in, unsigned out, struct sm_req *r)
{
	struct iba_slvl_table t;

	sm_map_wanted(sm, node, in, out, t.vl);
	if (sm->topo.nodes.at[node].type == IBA_NODE_SWITCH) {
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_SLVL_TABLE,
			    in << 8 | out);
		r->target = sm_target_turn(node, in, out);
	} else {
		sm_req_port(sm, r, IBA_SET, SM_FOR_DISTRIBUTION,
			    sm->topo.nodes.at[node].first_port + out);
		r->attr_id = IBA_ATTR_SLVL_TABLE;
		r->attr_mod = 0;
	}
	iba_slvl_table_put(&t, r->data);
}

void sm_vlarb_fill(const struct sm *sm, uint32_t port, struct iba_vlarb_table *t)
{
	unsigned vls = sm_port_vls(sm, port);

	*t = (struct iba_vlarb_table){0};
	for (unsigned i = 0; i < vls; i++) {
		t->vl[i] = (uint8_t)i;
		t->weight[i] = 4; /* 256 bytes each in turn */
	}
}

void sm_slvl_make(struct sm *sm, uint32_t node, unsigned in, unsigned out, enum sm_purpose purpose,
		  struct sm_req *r)
{
	struct iba_slvl_table t;

	sm_map_wanted(sm, node, in, out, t.vl);
	sm_req_node(sm, r, IBA_SET, purpose, node, IBA_ATTR_SLVL_TABLE, in << 8 | out);
	iba_slvl_table_put(&t, r->data);
}

void sm_vlarb_make(struct sm *sm, uint32_t port, enum sm_purpose purpose, struct sm_req *r)
{
	struct iba_vlarb_table t;

	sm_vlarb_fill(sm, port, &t);
	sm_req_port(sm, r, IBA_SET, purpose, port);
	r->attr_id = IBA_ATTR_VLARB_TABLE;
	r->attr_mod = 1u << 16 | sm->topo.ports.at[port].num; /* low priority, first half */
	iba_vlarb_table_put(&t, r->data);
}

/* Lanes that are used must be served: VLs in turn. A device without such a table serves all alike. */
static bool vlarb_next(struct sm *sm, uint32_t node, unsigned num, struct sm_req *r)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	const struct sm_port *p = &sm->topo.ports.at[n->first_port + num];
	const struct sm_maps *m = sm_maps_find(sm, n->guid);

	if (!sm->routes.tables->lanes || !is_linked(sm, node, num) || !p->pi.vl_arb_low_cap ||
	    (m && !rewrites(sm) && m->shared[num / 8] >> num % 8 & 1))
		return false;
	sm_vlarb_make(sm, n->first_port + num, SM_FOR_DISTRIBUTION, r);
	return true;
}

static bool device_next(struct sm *sm, uint32_t node, uint32_t *step, struct sm_req *r)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint32_t width = n->nports + 1u, inputs = n->type == IBA_NODE_SWITCH ? width : 1;

	while (*step < inputs * width) {
		uint32_t in = *step / width, out = *step % width;

		++*step;
		if (!is_linked(sm, node, out) || (in && !is_linked(sm, node, in)) ||
		    !differs(sm, node, in, out))
			continue;
		map_make(sm, node, in, out, r);
		return true;
	}
	while (*step < (inputs + 1) * width)
		if (vlarb_next(sm, node, (*step)++ % width, r))
			return true;
	return false;
}

bool sm_map_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	if (!sm_maps_serve(sm))
		return false;
	for (; at->node < sm->topo.fab->nnodes; at->node++, at->step = 0)
		if (device_next(sm, sm->topo.node_of[at->node], &at->step, r))
			return true;
	return false;
}

/* ---- the part: before tables change, with techniques that do nothing else then ---- */

static enum sm_outcome maps_begin(struct sm *sm)
{
	sm->run.maps.at = (struct sm_cursor){0};
	if (sm_maps_serve(sm) && !sm_technique_now(sm)->stops_all)
		sm_drain_wait(sm);
	return SM_GOING_ON;
}

static bool maps_next(struct sm *sm, struct sm_req *r)
{
	return sm_map_next(sm, &sm->run.maps.at, r);
}

static enum sm_outcome maps_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	(void)data;
	sm_map_acknowledged(sm, t);
	if (!sm_technique_now(sm)->stops_all)
		sm_drain_rerouted(sm);
	return SM_GOING_ON;
}

static enum sm_outcome maps_done(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

const struct sm_part sm_part_maps = {
	.begin = maps_begin,
	.next = maps_next,
	.recv = maps_recv,
	.fail = sm_failed,
	.done = maps_done,
};

/* ---- for requests ---- */

static bool carries(const struct sm *sm, const struct sm_node *n, unsigned port)
{
	const struct sm_port *p = &sm->topo.ports.at[n->first_port + port];

	return !port || p->pi.state >= IBA_PORT_ARMED || (p->order.pending && !p->order.stopped);
}

static bool switch_in_doubt(const struct sm *sm, const struct sm_node *n)
{
	uint64_t map;

	for (unsigned in = 0; in <= n->nports; in++)
		for (unsigned out = 1; carries(sm, n, in) && out <= n->nports; out++)
			if (carries(sm, n, out) && !sm_map_known(sm, n->guid, in, out, &map) &&
			    sm_disabled_find(sm, n->guid, in, out) == SIZE_MAX)
				return true;
	return false;
}

bool sm_maps_in_doubt(const struct sm *sm)
{
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++)
		if (switch_in_doubt(
			    sm, &sm->topo.nodes.at[sm->topo.node_of[sm->topo.fab->switches[s]]]))
			return true;
	return false;
}
