/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration that thesis Table 7 lists beyond LIDs and forwarding tables, once distances and
 * both ends of each link are known: SwitchInfo, SubnetTimeOut of switches, and with QoS the SL-
 * to-VL and VL arbitration tables. MTU, VLs and limits of ports travel in the SMP that arms the
 * port. State: run.configure. Does not send what a device already has.
 */
#include "sm/manager.h"

enum step { STEP_SWITCH_INFO, STEP_PORT0, STEP_LINKS, STEP_SLVL, STEP_VLARB, STEP_VFS, STEP_END };

static uint8_t subnet_timeout(const struct sm *sm)
{
	time_ps t = MAX(sm->topo.max_hops, 1u) *
		    (sm->cfg.link_smp_ps + iba_time_from_exp(sm->topo.max_resp));

	/* Shorter would do when the fabric shrinks, but is not worth a Set to every device. */
	return (uint8_t)(sm->cfg.subnet_timeout
				 ? sm->cfg.subnet_timeout
				 : MAX(sm_is_partial(&sm->disc) ? sm->topo.subnet_timeout : 0u,
				       iba_time_to_exp(t)));
}

static enum sm_outcome configure_begin(struct sm *sm)
{
	sm_subnet_timeout_set(sm, sm_subnet_timeout_found(sm, subnet_timeout(sm)));
	sm_unfinished(sm);
	sm_routes_round(sm);
	sm_drain_measure(sm);
	sm->dev.turns.n = 0; /* their switches are those of the last snapshot */
	sm_maps_of_hosts(sm);
	sm->dev.qos_unset = sm->cfg.qos && !sm_qos_maps_serve(sm);
	sm_pkeys_round(sm);
	memset(&sm->run.configure, 0, sizeof(sm->run.configure));
	if (sm->virtual.batch.broken && sm->core.now < sm->virtual.wait_until)
		sm_phase_hold(sm, sm->virtual.wait_until);
	return SM_GOING_ON;
}

static bool want_switch_info(struct sm *sm, uint32_t node, struct sm_req *r)
{
	struct iba_switch_info si = sm->topo.nodes.at[node].si;

	if (sm_top_serves(sm, &si) && (!sm->cfg.packet_life || si.life_time == sm->cfg.packet_life))
		return false;
	if (sm->cfg.packet_life)
		si.life_time = (uint8_t)sm->cfg.packet_life;
	si.linear_top = sm_linear_top(sm, &si);
	si.port_state_change = 0;
	sm_switch_learn(sm, node, &si);
	sm_req_node(sm, r, IBA_SET, SM_FOR_CONFIGURATION, node, IBA_ATTR_SWITCH_INFO, 0);
	iba_switch_info_put(&si, r->data);
	return true;
}

static bool want_port0(struct sm *sm, uint32_t node, struct sm_req *r)
{
	uint32_t port = sm->topo.nodes.at[node].first_port;
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	if (p->pi.subnet_timeout == sm_subnet_timeout_of(sm, node) ||
	    sm->topo.nodes.at[node].markless)
		return false;
	sm_port_timeout(sm, port, sm_subnet_timeout_of(sm, node));
	sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
	sm_port_fill(sm, p, &pi);
	iba_port_info_put(&pi, r->data);
	return true;
}

static bool port_in_use(const struct sm *sm, uint32_t node, unsigned num)
{
	const struct fab_node *f = &sm->topo.fab->nodes[sm->topo.nodes.at[node].fab];

	return num && sm->topo.fab->ports[f->first_port + num].peer != FAB_NONE;
}

/* For every pair of input and output ports in use, except disabled turns. */
static bool want_slvl(struct sm *sm, uint32_t node, struct sm_req *r)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint32_t width = n->nports + 1u, in, out;

	for (; sm->run.configure.item < width * width; sm->run.configure.item++) {
		in = sm->run.configure.item / width;
		out = sm->run.configure.item % width;
		if (in == out || !port_in_use(sm, node, out) ||
		    (in && !port_in_use(sm, node, in)) ||
		    sm_disabled_find(sm, n->guid, in, out) != SIZE_MAX)
			continue;
		sm_slvl_make(sm, node, in, out, SM_FOR_CONFIGURATION, r);
		sm->run.configure.item++;
		return true;
	}
	return false;
}

static bool want_host_map(struct sm *sm, uint32_t node, struct sm_req *r)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (; sm->run.configure.item <= n->nports; sm->run.configure.item++)
		if (port_in_use(sm, node, sm->run.configure.item) &&
		    sm_qos_host_map(sm, n->first_port + sm->run.configure.item, r)) {
			sm->run.configure.item++;
			return true;
		}
	return false;
}

static bool want_vlarb(struct sm *sm, uint32_t node, struct sm_req *r)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (; sm->run.configure.item / 4 <= n->nports; sm->run.configure.item++) {
		uint32_t num = sm->run.configure.item / 4;

		if (port_in_use(sm, node, num) &&
		    sm_qos_vlarb(sm, n->first_port + num, 1 + sm->run.configure.item % 4, r)) {
			sm->run.configure.item++;
			return true;
		}
	}
	return false;
}

static bool want(struct sm *sm, uint32_t node, enum step step, struct sm_req *r)
{
	bool sw = sm->topo.nodes.at[node].type == IBA_NODE_SWITCH;

	switch (step) {
	case STEP_SWITCH_INFO:
		return sw && want_switch_info(sm, node, r);
	case STEP_PORT0:
		return sw && want_port0(sm, node, r);
	case STEP_LINKS:
		return sm_link_set_next(sm, node, &sm->run.configure.item, r);
	case STEP_SLVL:
		return sm_qos_maps_serve(sm) &&
		       (sw ? want_slvl(sm, node, r) : want_host_map(sm, node, r));
	case STEP_VLARB:
		return sm->cfg.qos && want_vlarb(sm, node, r);
	case STEP_VFS: /* with partitions: when they have their keys */
		return !sm->partitions.serving &&
		       sm_vf_config_next(sm, node, &sm->run.configure.item, r);
	case STEP_END:
		break;
	}
	return false;
}

/* ---- entries beyond LinearFDBTop ---- */

/* Whether the block has entries for LIDs above the switch's LinearFDBTop; data: without them. */
static bool block_without(const struct sm *sm, uint32_t node, uint32_t block, uint8_t *data)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	const uint8_t *has = sm_row_block(sm, n->row, block);
	bool any = false;

	for (uint32_t i = 0; has && i < IBA_LFT_BLOCK; i++) {
		bool beyond = block * IBA_LFT_BLOCK + i > n->si.linear_top;

		any |= beyond && has[i] != IBA_PORT_NONE;
		data[i] = beyond ? IBA_PORT_NONE : has[i];
	}
	return any;
}

/*
 * Entries that a lower LinearFDBTop has put out of force may date from tables long ago. They are removed before
 * it rises again: a plan has no part in what comes into force at once.
 */
static bool clear_next(struct sm *sm, struct sm_req *r)
{
	struct sm_cursor at = {sm->run.configure.node, sm->run.configure.item};

	for (; at.node < sm->topo.fab->nswitches; at.node++, at.step = 0) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[at.node]];
		const struct sm_node *n = &sm->topo.nodes.at[node];
		uint32_t first = n->si.linear_top / IBA_LFT_BLOCK;

		while (n->si.linear_top && n->si.linear_top < sm->topo.top_lid &&
		       !sm->dev.rows.at[n->row].rft &&
		       first + at.step <= sm->topo.top_lid / IBA_LFT_BLOCK) {
			uint32_t block = first + at.step++;

			if (!block_without(sm, node, block, r->data))
				continue;
			sm_req_node(sm, r, IBA_SET, SM_FOR_CONFIGURATION, node, IBA_ATTR_LFT,
				    block);
			r->target = sm_target_block(node, block);
			sm->run.configure.node = at.node;
			sm->run.configure.item = at.step;
			return true;
		}
	}
	sm->run.configure.node = at.node;
	return false;
}

static bool all_cleared(struct sm *sm)
{
	if (sm->run.configure.cleared)
		return true;
	if (sm->txn.outstanding)
		return false;
	memset(&sm->run.configure, 0, sizeof(sm->run.configure));
	return sm->run.configure.cleared = true;
}

/* VFs that lose a LID do so before others get it. */
static bool all_detached(struct sm *sm)
{
	if (sm->run.configure.detached)
		return true;
	if (sm->txn.outstanding)
		return false;
	sm->run.configure.node = sm->run.configure.item = 0;
	return sm->run.configure.detached = true;
}

static bool devices_next(struct sm *sm, struct sm_req *r)
{
	for (; sm->run.configure.node < sm->topo.fab->nnodes;
	     sm->run.configure.node++, sm->run.configure.step = 0) {
		for (; sm->run.configure.step < STEP_END;
		     sm->run.configure.step++, sm->run.configure.item = 0) {
			if (want(sm, sm->topo.node_of[sm->run.configure.node],
				 (enum step)sm->run.configure.step, r)) {
				if (sm->run.configure.step <= STEP_PORT0)
					sm->run.configure.step++;
				return true;
			}
		}
	}
	return false;
}

static bool all_keyed(struct sm *sm)
{
	if (sm->run.configure.keyed)
		return true;
	if (!sm->partitions.serving || sm->txn.outstanding)
		return false;
	sm->run.configure.node = sm->run.configure.item = 0;
	return sm->run.configure.keyed = true;
}

static bool vfs_next(struct sm *sm, struct sm_req *r)
{
	for (; sm->run.configure.node < sm->topo.fab->nnodes;
	     sm->run.configure.node++, sm->run.configure.item = 0)
		if (sm_vf_config_next(sm, sm->topo.node_of[sm->run.configure.node],
				      &sm->run.configure.item, r))
			return true;
	return false;
}

static bool configure_next(struct sm *sm, struct sm_req *r)
{
	if (!sm->run.configure.cleared && clear_next(sm, r))
		return true;
	if (!all_cleared(sm))
		return false;
	if (!sm->run.configure.detached &&
	    sm_vf_detach_next(sm, &sm->run.configure.node, &sm->run.configure.item, r))
		return true;
	if (!all_detached(sm))
		return false;
	if (!sm->run.configure.keyed && (devices_next(sm, r) || sm_pkeys_next(sm, r)))
		return true;
	return all_keyed(sm) && vfs_next(sm, r);
}

static void lid_repeated(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	uint32_t row = sm->topo.nodes.at[p->node].row;

	if (!p->num && row != NONE)
		sm->dev.rows.at[row].lid_repeated = true;
}

static enum sm_outcome configure_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_switch_info si;

	if (sm_pkeys_recv(sm, t, data))
		return SM_GOING_ON;
	if (t->attr_id == IBA_ATTR_LFT)
		return sm_blocks_recv(sm, t, data);
	if (sm_is_vf_attr(t->attr_id))
		sm_vf_learn(sm, t, data);
	sm_map_acknowledged(sm, t);
	if (t->attr_id == IBA_ATTR_PORT_INFO && t->tries > 1)
		lid_repeated(sm, t->target.port);
	if (t->attr_id == IBA_ATTR_PORT_INFO && sm->cfg.link_sets)
		sm_port_learn(sm, t->target.port, data);
	if (t->attr_id != IBA_ATTR_SWITCH_INFO)
		return SM_GOING_ON;
	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (si.port_state_change)
		sm_switch_doubt(sm, t->target.node);
	return SM_GOING_ON;
}

/*
 * A device that has no P_Key table, or a short one, serves as others do. One that does not respond is looked for, once in a
 * round: all behind it may be gone, and waiting for each of them would end in tables for a subnet of long ago.
 */
static enum sm_outcome configure_fail(struct sm *sm, const struct sm_txn *t)
{
	bool looks = !t->status && !sm->core.round.restarts;

	return !looks && sm_pkeys_fail(sm, t) ? SM_GOING_ON : sm_failed(sm, t);
}

static enum sm_outcome configure_done(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

const struct sm_part sm_part_configure = {
	.begin = configure_begin,
	.next = configure_next,
	.recv = configure_recv,
	.fail = configure_fail,
	.done = configure_done,
};
