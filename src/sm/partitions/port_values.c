/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What PortInfo of a port holds beyond what the manager needs: enforcement of partitions at switches, and values of the
 * settings. State: none of its own. Way in: sm_port_values_next(), the last stage of pkey_updates.c. Does not set P_Keys.
 */
#include "sm/manager.h"

static void enforcement(struct sm *sm, uint32_t port, uint8_t *in, uint8_t *out)
{
	const struct sm_pkey_table *t =
		sm_pkeys_of(sm, port) == NONE ? NULL
					      : sm_pkey_table(sm, (struct sm_pkey_place){port, 0});
	bool on = t && sm_policy(sm)->configured && t->nblocks && !t->given_up && !t->short_of;

	*in = on &&
	      (sm->cfg.part_enforce == SM_ENFORCE_BOTH || sm->cfg.part_enforce == SM_ENFORCE_IN);
	*out = on &&
	       (sm->cfg.part_enforce == SM_ENFORCE_BOTH || sm->cfg.part_enforce == SM_ENFORCE_OUT);
}

static bool values_differ(const struct iba_port_info *is, const struct iba_port_info *to)
{
	return is->part_enf_in != to->part_enf_in || is->part_enf_out != to->part_enf_out ||
	       is->hoq_life != to->hoq_life || is->vl_stall_count != to->vl_stall_count ||
	       is->local_phy_errors != to->local_phy_errors ||
	       is->overrun_errors != to->overrun_errors || is->vl_high_limit != to->vl_high_limit ||
	       to->speed_enabled || to->speed_ext_enabled || to->width_enabled;
}

/* The Set that arms a port carries all of it where the port is not Armed yet. */
bool sm_port_values_next(struct sm *sm, uint32_t port, struct sm_req *r)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];
	struct iba_port_info pi;
	uint8_t in, out;

	if (!p->num || p->peer == NONE)
		return false;
	sm_link_fill(sm, p, &pi);
	if (sm->partitions.serving && n->type == IBA_NODE_SWITCH && n->si.partition_enf_cap) {
		enforcement(sm, port, &in, &out);
		pi.part_enf_in = in;
		pi.part_enf_out = out;
	}
	if (!values_differ(&p->pi, &pi))
		return false;
	if (p->pi.state < IBA_PORT_ARMED) {
		sm_port_enforce(sm, port, pi.part_enf_in, pi.part_enf_out);
		return false;
	}
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
	r->question = Q_PKEYS;
	iba_port_info_put(&pi, r->data);
	sm->partitions.asked++;
	sm->partitions.written++;
	return true;
}
