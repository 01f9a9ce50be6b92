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
	pi->gid_prefix = 0xfe80000000000000ull;
	pi->sm_lid = sm->lids.own;
	pi->sm_sl = 0;
}

/* What depends on both ends of the link (thesis Table 7), for any Set(PortInfo) from now on. */
void sm_link_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	const struct iba_port_info *far = &sm->topo.ports.at[p->peer].pi;

	sm_port_fill(sm, p, pi);
	pi->neighbor_mtu = MIN(p->pi.mtu_cap, far->mtu_cap);
	pi->oper_vls = MIN(p->pi.vl_cap, far->vl_cap);
	pi->vl_high_limit = (uint8_t)sm->cfg.vl_high_limit;
	if (sm_is_endport(sm, p))
		pi->subnet_timeout = sm->topo.subnet_timeout;
}
