/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the policy says of VLs, by kind of port. State: none. Ways in: sm_qos_map(), sm_vl_high_limit(). Sends nothing: see
 * tables/qos_tables.c.
 */
#include "sm/manager.h"

void sm_port_class_vls(const struct sm *sm, const struct sm_node *n, unsigned num,
		       struct pol_vls *v)
{
	enum pol_class c = n->type == IBA_NODE_ROUTER	? POL_ROUTER_PORT
			   : n->type != IBA_NODE_SWITCH ? POL_CA_PORT
			   : num			? POL_SWITCH_PORT
							: POL_SWITCH_PORT0;

	*v = (struct pol_vls){0};
	if (sm->cfg.qos)
		pol_vls_of(sm->partitions.policy, c, v);
}

uint8_t sm_vl_high_limit(const struct sm *sm, const struct sm_port *p)
{
	struct pol_vls v;

	sm_port_class_vls(sm, &sm->topo.nodes.at[p->node], p->num, &v);
	return v.has & POL_HAS_HIGH_LIMIT ? v.high_limit : (uint8_t)sm->cfg.vl_high_limit;
}

bool sm_qos_map(const struct sm *sm, uint32_t node, unsigned out, unsigned vls, uint8_t vl[RT_SLS])
{
	struct pol_vls v;

	sm_port_class_vls(sm, &sm->topo.nodes.at[node], out, &v);
	if (!(v.has & POL_HAS_SL2VL))
		return false;
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		vl[sl] = (uint8_t)(v.sl2vl[sl] == RT_VL_NONE ? RT_VL_NONE : v.sl2vl[sl] % vls);
	return true;
}
