/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms report to discovery, and what lasts from one discovery to the next. State: struct
 * sm_discovering. Does not ask any device.
 */
#include "sm/manager.h"

void sm_discovery_init(struct sm *sm)
{
	sm->disc.arrival = SM_ARRIVING;
	sm->disc.allowed = SM_DISCOVERY_PARTIAL;
}

void sm_discovery_free(struct sm *sm)
{
	vec_free(&sm->disc.suspects);
	vec_free(&sm->disc.work);
	vec_free(&sm->disc.slow);
	vec_free(&sm->disc.late);
	vec_free(&sm->disc.again);
	vec_free(&sm->disc.resumed);
	vec_free(&sm->disc.silent);
	vec_free(&sm->disc.excluded);
	vec_free(&sm->disc.far_ports);
	vec_free(&sm->disc.twins);
	map64_free(&sm->disc.owners);
}

bool sm_discovery_round(struct sm *sm)
{
	bool any = sm->disc.excluded.n > 0;

	sm->disc.restarts = 0;
	sm->disc.excluded.n = 0; /* perhaps it is the other device that changed */
	return any;
}

void sm_discovery_doubt(struct sm *sm)
{
	sm->disc.view = SM_VIEW_DOUBTFUL;
}

void sm_discovery_disturbed(struct sm *sm)
{
	sm->disc.disturbed = true;
}

void sm_discovery_found(struct sm *sm, enum sm_finding f)
{
	sm->disc.findings |= f;
}

void sm_full_discovery_needed(struct sm *sm)
{
	sm->disc.allowed = SM_DISCOVERY_FULL;
}

void sm_suspect(struct sm *sm, uint32_t node)
{
	vec_push(&sm->disc.suspects, node);
}

static bool is_rising(const struct sm_port *p)
{
	return p->num && (p->pi.state == IBA_PORT_INIT || p->pi.state == IBA_PORT_ARMED);
}

void sm_port_rises(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];

	if (!is_rising(p))
		return;
	p->ask.rises = true;
	sm->topo.nodes.at[p->node].ask.rises = true;
}

void sm_ports_risen(struct sm *sm, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];
	struct sm_port *p = &sm->topo.ports.at[n->first_port];
	bool any = false;

	for (unsigned i = 1; n->ask.rises && i <= n->nports; i++) {
		p[i].ask.rises &= is_rising(&p[i]);
		any |= p[i].ask.rises;
	}
	n->ask.rises = any;
}

void sm_exclude(struct sm *sm, uint64_t guid)
{
	vec_push(&sm->disc.excluded, guid);
}

bool sm_is_excluded(const struct sm *sm, uint64_t guid)
{
	for (size_t i = 0; i < sm->disc.excluded.n; i++)
		if (sm->disc.excluded.at[i] == guid)
			return true;
	return false;
}

void sm_arrive(struct sm *sm)
{
	sm->disc.arrival = MAX(sm->disc.arrival, SM_ARRIVING);
	sm_full_discovery_needed(sm);
}

void sm_adopt(struct sm *sm, bool found)
{
	if (sm_is_taking_over(&sm->disc))
		sm->disc.arrival = found ? SM_ADOPTING : SM_TAKING_OVER;
}

void sm_distrust(struct sm *sm)
{
	sm->disc.distrust = true;
}

bool sm_is_distrustful(const struct sm *sm)
{
	return sm->cfg.distrust || sm->disc.distrust;
}

void sm_all_devices_met(struct sm *sm)
{
	sm->disc.all_met = true;
}

void sm_switch_doubt(struct sm *sm, uint32_t node)
{
	sm->topo.nodes.at[node].ask.doubt = true;
}

static bool has_port_down(const struct sm *sm, const struct sm_node *n)
{
	for (unsigned p = 1; p <= n->nports; p++)
		if (sm->topo.ports.at[n->first_port + p].pi.state == IBA_PORT_DOWN)
			return true;
	return false;
}

void sm_claims_doubt(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->topo.nodes.n; i++)
		sm->topo.nodes.at[i].ask.unclaimed = sm->topo.nodes.at[i].type == IBA_NODE_SWITCH;
}

bool sm_any_unclaimed(const struct sm *sm)
{
	for (uint32_t i = 0; i < sm->topo.nodes.n; i++)
		if (sm->topo.nodes.at[i].ask.unclaimed && !sm->topo.nodes.at[i].gone)
			return true;
	return false;
}

/*
 * A manager that discovers clears PortStateChange of switches that no manager has configured yet. A port of
 * such a switch may have come up after this manager read it and before the other one cleared the bit; ports
 * with links were set since, and a Set shows a link that went down. So ports that were Down are read again.
 */
bool sm_changes_hidden(struct sm *sm)
{
	bool any = false;

	for (uint32_t i = 0; i < sm->topo.nodes.n; i++) {
		struct sm_node *n = &sm->topo.nodes.at[i];

		n->ask.reread |= n->ask.unclaimed && !n->gone && has_port_down(sm, n);
		n->ask.unclaimed = false;
		any |= n->ask.reread;
	}
	if (any &&
	    !sm->cfg.mechanism.discovery->partial) /* everything is read; what stands stays */
		sm->disc.look_again = true;
	return any;
}

void sm_switch_unread(struct sm *sm, uint32_t node)
{
	sm->topo.nodes.at[node].ask.unread = true;
	sm_suspect(sm, node);
}
