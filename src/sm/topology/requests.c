/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests to devices of the topology database: how each is addressed, and what a Set(PortInfo) says.
 * Keeps no state. Does not decide what is asked.
 */
#include "sm/manager.h"

/* ---- addressing ---- */

void sm_req_port(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	r->method = method;
	r->attr_id = IBA_ATTR_PORT_INFO;
	r->attr_mod = p->num;
	r->purpose = purpose;
	r->path = sm_path_to(sm, p);
	r->target = sm_target_port(sm, port);
	r->keyed = true;
	r->m_key = sm_key_of(sm, port);
}

void sm_req_node(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t node, uint16_t attr_id, uint32_t attr_mod)
{
	r->method = method;
	r->attr_id = attr_id;
	r->attr_mod = attr_mod;
	r->purpose = purpose;
	r->path = sm->topo.nodes.at[node].path;
	r->target = sm_target_node(node);
	r->keyed = true;
	r->m_key = sm_key_of(sm, sm->topo.nodes.at[node].first_port);
}

/* ---- PortInfo ---- */

/* What discovery itself sets: the LID, the SM's LID, the key (thesis 3.2.1). */
void sm_port_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	*pi = p->pi;
	pi->state = IBA_PORT_NO_CHANGE;
	pi->phys_state = IBA_PHYS_NO_CHANGE;
	pi->width_enabled = pi->speed_enabled = pi->speed_ext_enabled = pi->down_default = 0;
	pi->client_reregister = 0;
	if (!sm_is_endport(sm, p))
		return;
	pi->m_key = sm->cfg.m_key;
	pi->m_key_protect = (uint8_t)sm->cfg.m_key_protect;
	pi->m_key_lease = (uint16_t)sm->cfg.m_key_lease_s;
	pi->gid_prefix = sm->cfg.gid_prefix;
	pi->sm_lid = sm->lids.own;
	pi->sm_sl = (uint8_t)sm->cfg.sm_sl;
}

/* What is enabled, by a setting of which the largest value means all that is supported; 0: no change. */
static uint8_t enabled(unsigned wanted, unsigned all, uint8_t supported, uint8_t is)
{
	uint8_t to = (uint8_t)(wanted == all ? supported : wanted);

	return to == is ? 0 : to;
}

/* Values of the settings; those of a switch's port depend on what is behind it. */
static void values_fill(const struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	const struct sm_config *c = &sm->cfg;
	bool leaf = sm->topo.nodes.at[sm->topo.ports.at[p->peer].node].type != IBA_NODE_SWITCH;
	unsigned hoq = leaf ? c->leaf_hoq_life : c->hoq_life,
		 stall = leaf ? c->leaf_vl_stall : c->vl_stall;

	if (c->phy_errors)
		pi->local_phy_errors = (uint8_t)c->phy_errors;
	if (c->overrun_errors)
		pi->overrun_errors = (uint8_t)c->overrun_errors;
	if (sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH)
		return;
	if (hoq)
		pi->hoq_life = (uint8_t)hoq;
	if (stall)
		pi->vl_stall_count = (uint8_t)stall;
	if (c->link_speed)
		pi->speed_enabled =
			enabled(c->link_speed, 15, p->pi.speed_supported, p->pi.speed_enabled);
	if (c->link_speed_ext && p->pi.speed_ext_supported)
		pi->speed_ext_enabled = enabled(c->link_speed_ext, 31, p->pi.speed_ext_supported,
						p->pi.speed_ext_enabled);
	if (c->link_width)
		pi->width_enabled =
			enabled(c->link_width, 255, p->pi.width_supported, p->pi.width_enabled);
}

/* What depends on both ends of the link (thesis Table 7), for any Set(PortInfo) from now on. */
void sm_link_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	const struct iba_port_info *far = &sm->topo.ports.at[p->peer].pi;

	sm_port_fill(sm, p, pi);
	pi->neighbor_mtu = MIN(p->pi.mtu_cap, far->mtu_cap);
	pi->oper_vls = (uint8_t)MIN(MIN(p->pi.vl_cap, far->vl_cap), sm->cfg.max_op_vls);
	pi->vl_high_limit = sm_vl_high_limit(sm, p);
	values_fill(sm, p, pi);
	if (sm_is_endport(sm, p))
		pi->subnet_timeout = sm->topo.subnet_timeout;
}
