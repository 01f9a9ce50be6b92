/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks of switches whose turns are disabled, as switches show them: a bit in SubnetTimeOut of port 0. No state. Sets
 * nothing: takeover.c makes the requests.
 */
#include "sm/manager.h"

static unsigned plain_bit(const struct sm *sm)
{
	return sm->cfg.subnet_timeout & 1;
}

/* Port 0 of a switch. */
bool sm_is_marked(const struct sm *sm, const struct sm_port *p)
{
	return (p->pi.subnet_timeout & 1) != plain_bit(sm);
}

/* A later SM would find every turn that is disabled now. */
bool sm_turns_marked(const struct sm *sm)
{
	for (size_t i = 0; i < sm->dev.off.n; i++)
		if (!sm->dev.off.at[i].sure)
			return false;
	for (uint32_t i = 0; i < sm->dev.rows.n; i++) {
		const struct sm_row *r = &sm->dev.rows.at[i];
		uint32_t node = map64_get(&sm->topo.by_guid, r->guid);

		if (r->noff &&
		    (node == MAP_NONE || sm->topo.nodes.at[node].gone ||
		     sm->topo.nodes.at[node].markless ||
		     !sm_is_marked(sm, &sm->topo.ports.at[sm->topo.nodes.at[node].first_port])))
			return false;
	}
	return true;
}
