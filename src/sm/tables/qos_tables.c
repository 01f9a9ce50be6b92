/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quality of service by kind of port: VL arbitration and SL-to-VL tables of the policy, for the VLs that a link has.
 * State: none. Ways in: sm_qos_host_map(), sm_qos_vlarb(), sm_qos_check(). Routes with several lanes have SL-to-VL
 * tables of their own, which win: lane_maps.c.
 */
#include "sm/manager.h"

/* A host's own table: one for each port. */
bool sm_qos_host_map(struct sm *sm, uint32_t port, struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_slvl_table t;

	if (p->peer == NONE || !sm_qos_map(sm, p->node, p->num, sm_port_vls(sm, port), t.vl))
		return false;
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
	r->attr_id = IBA_ATTR_SLVL_TABLE;
	r->attr_mod = 0;
	iba_slvl_table_put(&t, r->data);
	return true;
}

/* Block 1 and 2 are of low priority, 3 and 4 of high priority (IBA 14.2.5.9). */
static bool vlarb_block(struct sm *sm, uint32_t port, unsigned block, const struct pol_vls *v,
			struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	bool high = block > 2;
	const struct pol_vlarb *from = high ? v->high : v->low;
	unsigned n = high ? v->nhigh : v->nlow, first = block & 1 ? 0 : 32,
		 vls = sm_port_vls(sm, port);
	unsigned room = high ? p->pi.vl_arb_high_cap : p->pi.vl_arb_low_cap;
	struct iba_vlarb_table t = {0};

	if (!(v->has & (high ? POL_HAS_HIGH : POL_HAS_LOW)) || first >= MIN(n, room))
		return false;
	for (unsigned i = 0; i < 32 && first + i < MIN(n, room); i++) {
		t.vl[i] = (uint8_t)(from[first + i].vl % vls);
		t.weight[i] = from[first + i].weight;
	}
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
	r->attr_id = IBA_ATTR_VLARB_TABLE;
	r->attr_mod = block << 16 | p->num;
	iba_vlarb_table_put(&t, r->data);
	return true;
}

bool sm_qos_vlarb(struct sm *sm, uint32_t port, unsigned block, struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct pol_vls v;

	sm_port_class_vls(sm, &sm->topo.nodes.at[p->node], p->num, &v);
	if (block == 1 && !(v.has & POL_HAS_LOW)) { /* VLs in turn */
		sm_vlarb_make(sm, port, SM_FOR_CONFIGURATION, r);
		return true;
	}
	return vlarb_block(sm, port, block, &v, r);
}

/* An engine that can use several lanes may have needed one: the tables in force tell, or those before this round. If new ones
 * need several, their maps follow. */
bool sm_qos_maps_serve(const struct sm *sm)
{
	if (!sm->cfg.qos || sm->routes.tables)
		return sm->cfg.qos && !sm->routes.tables->lanes;
	return sm->routes.lanes_before == SM_LANES_ONE ||
	       (sm->routes.lanes_before == SM_LANES_UNKNOWN && !sm_lanes_wanted(sm));
}

/* Only tables tell: before there are any, an engine that can use several lanes may need one. */
void sm_qos_check(struct sm *sm)
{
	bool unused = sm->cfg.qos && sm->routes.tables && sm->routes.tables->lanes &&
		      pol_has_sl2vl(sm_policy(sm));

	if (!sm->routes.tables)
		return;
	if (sm->dev.qos_unset && sm_qos_maps_serve(sm)) { /* the engine needed one lane */
		sm->dev.qos_unset = false;
		sm_unfinished(sm);
		sm_change_later(sm, SM_CAUSE_ORDER, SM_ABOUT_NOTHING);
	}
	if (unused && !sm->dev.qos_unused)
		sm_note(sm, .kind = SM_NOTE_QOS_UNUSED);
	sm->dev.qos_unused = unused;
}
