/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What devices held before this SM (cfg.read_back): tables of switches, disabled turns, and LIDs
 * of devices not met yet. State: disc.arrival, in the first round. Does not decide whether tables
 * may stay: see route_worker.c. Disabled turns are not stored anywhere else, and reading all SL-
 * to-VL tables takes more SMPs than all the rest: so a switch is marked before its turns are
 * disabled, and unmarked when they are enabled again. The mark is the lowest bit of SubnetTimeOut
 * of its port 0, which is read anyway and does no harm. Where marks cannot be trusted
 * (sm_is_distrustful()) all tables are read.
 */
#include "sm/manager.h"

/* ---- marks ---- */

uint8_t sm_subnet_timeout_of(const struct sm *sm, uint32_t node)
{
	bool mark = sm->cfg.read_back && sm_disabled_any(sm, sm->topo.nodes.at[node].guid);

	return (uint8_t)(sm->topo.subnet_timeout ^ (mark ? 1 : 0));
}

/*
 * Values that differ in the mark alone count as equal. A value close to the wanted one stays: the
 * longest distance also depends on the order in which devices answered.
 */
uint8_t sm_subnet_timeout_found(const struct sm *sm, uint8_t wanted)
{
	unsigned most = 0;

	if (!sm->cfg.read_back || sm->cfg.subnet_timeout)
		return wanted;
	wanted = (uint8_t)MIN((wanted + 1u) & ~1u, 30u);
	for (uint32_t n = 0; sm_is_taking_over(&sm->disc) && n < sm->topo.nodes.n; n++)
		if (sm->topo.nodes.at[n].type == IBA_NODE_SWITCH)
			most = MAX(most, sm->topo.ports.at[sm->topo.nodes.at[n].first_port]
							 .pi.subnet_timeout &
						 ~1u);
	return (uint8_t)(most && most + 2 >= wanted && most <= wanted + 4u ? most : wanted);
}

bool sm_mark_make(struct sm *sm, uint32_t node, struct sm_req *r)
{
	struct sm_port *p = &sm->topo.ports.at[sm->topo.nodes.at[node].first_port];
	struct iba_port_info pi;

	if (!sm->cfg.read_back || sm->topo.nodes.at[node].markless ||
	    p->pi.subnet_timeout == sm_subnet_timeout_of(sm, node))
		return false;
	sm_port_timeout(sm, sm->topo.nodes.at[node].first_port, sm_subnet_timeout_of(sm, node));
	sm_req_port(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, sm->topo.nodes.at[node].first_port);
	sm_port_fill(sm, p, &pi);
	iba_port_info_put(&pi, r->data);
	return true;
}

/* ---- tables and turns ---- */

/* A switch with a LID that holds a table. */
void sm_takeover_switch(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint32_t block;

	if (!sm->cfg.read_back || !n->si.linear_top || n->si.linear_top > IBA_LID_MAX_UNICAST)
		return;
	if (sm_saved_stamp(sm, node, &block))
		sm_ask_stamp(sm, node, block);
	for (uint32_t b = 0; b <= n->si.linear_top / IBA_LFT_BLOCK; b++)
		if (!sm_row_block(sm, n->row, b))
			sm_ask_block(sm, node, b);
	sm_mft_takeover(sm, node);
}

void sm_takeover_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data)
{
	sm_row_read(sm, sm->topo.nodes.at[node].row, block, data);
}

/* All its ports are known. A marked switch may have disabled turns of ports that are Down now. */
void sm_takeover_ports(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	const struct sm_port *p = &sm->topo.ports.at[n->first_port];
	bool marked = sm_is_marked(sm, p),
	     all = (sm_is_distrustful(sm) || sm_lanes_wanted(sm)) && sm_is_taking_over(&sm->disc);

	if (!sm->cfg.read_back || !p->pi.lid || (!marked && !all) || sm_saved_turns(sm, node))
		return;
	for (unsigned in = all ? 0 : 1; in <= n->nports; in++)
		for (unsigned out = 1; out <= n->nports; out++)
			if (marked ||
			    (p[in].pi.state != IBA_PORT_DOWN && p[out].pi.state != IBA_PORT_DOWN))
				sm_ask_turn(sm, node, in, out);
}

void sm_takeover_turn(struct sm *sm, uint32_t node, uint32_t turn, const uint8_t *data)
{
	const struct sm_port *out =
		&sm->topo.ports.at[sm->topo.nodes.at[node].first_port + (turn & 0xff)];
	unsigned live = iba_vl_count(out->pi.oper_vls);
	struct iba_slvl_table is;

	if (sm_lanes_wanted(sm))
		sm_map_read(sm, node, turn >> 8 & 0xff, turn & 0xff, data);
	iba_slvl_table_get(&is, data, IBA_SMP_DATA_SIZE);
	/*
	 * Another SM may have written it: a VL that the port does not have drops packets as VL15
	 * does.
	 */
	if (sm_map_is_off(is.vl) || (sm_is_distrustful(sm) && live && is.vl[0] >= live))
		sm_disabled_add(sm, sm->topo.nodes.at[node].guid, turn >> 8 & 0xff, turn & 0xff,
				true);
}

/* ---- LIDs ---- */

/*
 * Until discovery completes, an apparently free LID may be in use. A port keeps its LID if no
 * other port was met with it; all others wait. Where devices are not trusted, and where two subnets
 * join, a known port keeps the LID it is known by, and an unknown port takes none that is assigned:
 * it may be that very device under a false GUID, or have the LID from another master.
 */
bool sm_lid_must_wait(struct sm *sm, const struct sm_port *p, unsigned lmc)
{
	bool ours = sm_is_distrustful(sm) || sm_election_keeps_lids(sm);
	unsigned had;

	if ((!sm_is_taking_over(&sm->disc) && !sm_contest_open(sm)) || sm->disc.all_met)
		return false;
	if (ours && sm_lid_of(sm, p->guid, &had) && had == lmc)
		return sm_contest_open(sm);
	if (ours && !sm_lid_free(sm, p->pi.lid, lmc))
		return true;
	return p->pi.lmc != lmc || !sm_lid_claim(sm, p->guid, lmc, p->pi.lid) ||
	       sm_contest_open(sm);
}

/* ---- the round ---- */

void sm_takeover_begin(struct sm *sm)
{
	bool arriving = sm->disc.arrival != SM_SETTLED, first = sm->disc.arrival == SM_ARRIVING;

	if (arriving)
		sm->disc.arrival =
			!sm->cfg.read_back ? SM_ARRIVING : MAX(sm->disc.arrival, SM_TAKING_OVER);
	if (first) {
		sm_lids_arrive(sm);
		sm_virtual_arrive(sm);
		sm->disc.waited = false;
	}
	sm->disc.all_met = false;
	if (arriving)
		sm_drain_found(sm);
	if (arriving && (sm->cfg.read_back || sm->cfg.contest))
		sm_lid_own_unknown(sm); /* another SM may have changed it */
	/*
	 * SMPs of another SM may still be under way, and must not arrive after what is read now. Saved state tells
	 * that there are none, unless it turns out to be wrong.
	 */
	if (!sm_is_taking_over(&sm->disc) || sm->restored.saved || sm->disc.waited)
		return;
	sm->disc.waited = true;
	sm_phase_hold(sm, sm_copies_until(sm));
}
