/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first discovery of an SM with saved subnet state: questions are answered from it as far as
 * it still holds. State: restored.saved, until that discovery ends. Does not send anything. Each
 * switch is asked for SwitchInfo, port 0 and one block of its table. If PortStateChange is clear,
 * no port of it changed, so its ports and neighbours are as saved; else it is read like any
 * other. If a LID, the SM's LID, LinearFDBTop or that block differs, another SM managed the
 * subnet meanwhile: the saved state is dropped, and everything is discovered. Of a mirror one switch is asked
 * for its stamp instead of each for a block.
 */
#include "base/rng.h"
#include "sm/restore/saved_state.h"

enum { SUBNET_TIMEOUT_MAX = 31 }; /* as ibsim's devices report, whatever was set */

static const struct sm_saved_node *node_known(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->restored.saved->by_guid, guid);

	return at == MAP_NONE ? NULL : &sm->restored.saved->nodes.at[at];
}

static const struct sm_saved_port *port_known(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *now = &sm->topo.nodes.at[p->node];
	const struct sm_saved_node *n = node_known(sm, now->guid);

	return n && n->type == now->type && n->nports == now->nports
		       ? &sm->restored.saved->ports.at[n->first_port + p->num]
		       : NULL;
}

/* ---- does it still hold? ---- */

static bool switch_misleads(struct sm *sm, uint32_t node, const uint8_t *data)
{
	const struct sm_node *now = &sm->topo.nodes.at[node];
	const struct sm_saved_node *n = node_known(sm, now->guid);
	struct iba_switch_info si, was;
	bool unchanged;

	if (!n || n->type != IBA_NODE_SWITCH || n->nports != now->nports) {
		sm->restored.saved->changed = true;
		return false;
	}
	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	iba_switch_info_get(&was, n->si, IBA_SMP_DATA_SIZE);
	unchanged = !si.port_state_change && si.linear_top == was.linear_top &&
		    si.linear_cap == was.linear_cap && !PROVOKE(sm, FORGET_SAVED);
	sm_node_unchanged(sm, node, unchanged);
	sm->restored.saved->changed |= !unchanged;
	return !si.port_state_change && !unchanged;
}

/* Port 0 of a switch, and the SM's own. */
static bool port_misleads(struct sm *sm, uint32_t port, const uint8_t *data)
{
	const struct sm_saved_port *p = port_known(sm, port);
	struct iba_port_info pi, was;

	if (!p || !p->pi || !sm_is_endport(sm, &sm->topo.ports.at[port]))
		return false;
	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	iba_port_info_get(&was, p->pi, IBA_SMP_DATA_SIZE);
	/* It does not keep the value that was set: it would not keep a mark either. */
	if (pi.subnet_timeout == SUBNET_TIMEOUT_MAX && was.subnet_timeout != SUBNET_TIMEOUT_MAX)
		sm_node_markless(sm, sm->topo.ports.at[port].node);
	return pi.lid && /* without a LID it restarted; its neighbour reports it */
	       (pi.lid != was.lid || pi.lmc != was.lmc || pi.sm_lid != was.sm_lid ||
		(pi.subnet_timeout != was.subnet_timeout &&
		 pi.subnet_timeout != SUBNET_TIMEOUT_MAX));
}

static bool table_misleads(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data)
{
	const struct sm_saved_node *n = node_known(sm, sm->topo.nodes.at[node].guid);

	return n && block < n->nblocks &&
	       memcmp(n->lft + (size_t)block * IBA_LFT_BLOCK, data, IBA_LFT_BLOCK) != 0;
}

/* ---- the proof of a mirror ---- */

bool sm_saved_stamp(const struct sm *sm, uint32_t node, uint32_t *block)
{
	const struct sm_saved *m = sm->restored.saved;

	if (!m || !m->mirrored || m->proven || sm->topo.nodes.at[node].guid != m->guid)
		return false;
	*block = m->stamp_block;
	return true;
}

bool sm_saved_unproven(const struct sm *sm)
{
	const struct sm_saved *m = sm->restored.saved;

	return m && m->mirrored && !m->proven;
}

static bool stamp_proves(struct sm *sm, const uint8_t *data)
{
	struct sm_saved *m = sm->restored.saved;

	m->proven = sm_stamp_is(data, m->stamp);
	return m->proven;
}

/* Checks a response against the saved state; true: another SM managed the subnet since. */
bool sm_saved_misleads(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (!sm->restored.saved || sm_is_partial(&sm->disc) || !t->tries)
		return false;
	if (t->question == Q_SWITCH_INFO)
		return switch_misleads(sm, t->target.node, data);
	if (t->question == Q_PORT_INFO)
		return port_misleads(sm, t->target.port, data);
	if (t->question == Q_TABLE)
		return table_misleads(sm, t->target.node, t->target.item, data);
	if (t->question == Q_STAMP)
		return !stamp_proves(sm, data);
	return false;
}

/* ---- answers ---- */

/* Its ports are as saved. */
static bool is_unchanged(const struct sm *sm, uint32_t port)
{
	return port != NONE && sm->topo.nodes.at[sm->topo.ports.at[port].node].unchanged;
}

/* NodeInfo of the device behind this port of a switch. */
static bool recall_node(struct sm *sm, uint32_t near, uint8_t *data)
{
	const struct sm_saved_port *p = is_unchanged(sm, near) ? port_known(sm, near) : NULL;
	const struct sm_saved_node *n = p && p->peer ? node_known(sm, p->peer) : NULL;
	struct iba_node_info ni;

	if (!n || p->peer_num > n->nports)
		return false;
	ni = (struct iba_node_info){.base_version = 1,
				    .class_version = 1,
				    .node_type = n->type,
				    .num_ports = n->nports,
				    .sys_guid = n->sys_guid,
				    .node_guid = n->guid,
				    .vendor_id = n->vendor_id,
				    .device_id = n->device_id,
				    .revision = n->revision,
				    .partition_cap = n->partition_cap,
				    .local_port = p->peer_num};
	ni.port_guid = sm->restored.saved->ports
			       .at[n->first_port + (n->type == IBA_NODE_SWITCH ? 0u : p->peer_num)]
			       .guid;
	if (n->vfs && n->sriov == FAB_SRIOV_VSWITCH) { /* as the device answers */
		ni.node_type = IBA_NODE_SWITCH;
		ni.num_ports = (uint8_t)(n->vfs + FAB_SLOT0_PORT);
	}
	iba_node_info_put(&ni, data);
	sm_name_recall(sm, n->guid, n->name, n->name_len);
	return true;
}

/* A mirror says whether a port had the master's key: this SM has the same, or nothing will fit. */
static void put_key(const struct sm *sm, uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	pi.m_key = pi.m_key ? ~sm->cfg.m_key : sm->cfg.m_key;
	iba_port_info_put(&pi, data);
}

/*
 * Port 0 is always asked: it shows which SM manages the switch. So is a device that was reached
 * by asking.
 */
static bool recall_port(struct sm *sm, uint32_t port, uint8_t *data)
{
	const struct sm_port *now = &sm->topo.ports.at[port];
	bool of_switch = sm->topo.nodes.at[now->node].type == IBA_NODE_SWITCH;
	const struct sm_saved_port *p;

	if (of_switch ? !now->num || !is_unchanged(sm, port)
		      : now->node == 0 || !is_unchanged(sm, now->peer))
		return false;
	p = port_known(sm, port);
	if (!p || !p->pi)
		return false;
	memcpy(data, p->pi, IBA_SMP_DATA_SIZE);
	if (sm->restored.saved->mirrored)
		put_key(sm, data);
	return true;
}

/* All but one block; of a mirror, which the stamp proves, all. */
static bool recall_block(struct sm *sm, uint32_t node, uint32_t block, uint8_t *data)
{
	const struct sm_saved_node *n = node_known(sm, sm->topo.nodes.at[node].guid);

	if (!n || n->type != IBA_NODE_SWITCH || block >= n->nblocks ||
	    (!sm->restored.saved->mirrored && block == hash64(n->guid) % n->nblocks))
		return false;
	memcpy(data, n->lft + (size_t)block * IBA_LFT_BLOCK, IBA_LFT_BLOCK);
	return true;
}

static bool recall_vfs(struct sm *sm, struct sm_target t, uint8_t *data)
{
	const struct sm_port *now = &sm->topo.ports.at[t.port];
	const struct sm_saved_node *n = node_known(sm, sm->topo.nodes.at[now->node].guid);

	return now->node && is_unchanged(sm, now->peer) && n &&
	       sm_saved_recall_vfs(sm, n, t.item, data);
}

static bool recall_mft(const struct sm *sm, struct sm_target t, uint8_t *data)
{
	const struct sm_saved_node *n = node_known(sm, sm->topo.nodes.at[t.node].guid);

	return sm->restored.saved->trees && n && n->type == IBA_NODE_SWITCH &&
	       sm_saved_recall_mft(n, t.item, data);
}

bool sm_saved_answer(struct sm *sm, struct sm_work w, uint8_t *data)
{
	if (!sm->restored.saved)
		return false;
	if (w.question == Q_NODE_INFO)
		return recall_node(sm, w.target.port, data);
	if (w.question == Q_PORT_INFO)
		return recall_port(sm, w.target.port, data);
	if (w.question == Q_VF_INFO)
		return recall_vfs(sm, w.target, data);
	if (w.question == Q_MFT)
		return recall_mft(sm, w.target, data);
	return w.question == Q_TABLE && recall_block(sm, w.target.node, w.target.item, data);
}

/*
 * The state is saved only while turns of marked switches alone are disabled; reading all SL-to-VL tables takes more
 * SMPs than all the rest.
 */
bool sm_saved_turns(const struct sm *sm, uint32_t node)
{
	const struct sm_saved *m = sm->restored.saved;

	return m && node_known(sm, sm->topo.nodes.at[node].guid) &&
	       !(m->turns &&
		 sm_is_marked(sm, &sm->topo.ports.at[sm->topo.nodes.at[node].first_port]));
}

void sm_saved_lost(struct sm *sm)
{
	if (!sm->restored.saved)
		return;
	if (sm->restored.saved->mirrored)
		sm_note(sm, .kind = SM_NOTE_MIRROR_LOST);
	sm_saved_drop(sm);
}

void sm_saved_drop(struct sm *sm)
{
	if (!sm->restored.saved)
		return;
	sm_rows_unknown(sm);
	sm_virtual_arrive(sm);
	sm_names_forget(sm);
	sm->restored.same = false;
	sm->restored.dropped = sm->restored.saved;
	sm->restored.saved = NULL;
}

struct sm_saved *sm_saved_return(struct sm *sm)
{
	struct sm_saved *m;

	sm_saved_drop(sm);
	m = sm->restored.dropped;
	if (!m || !m->mirrored)
		return NULL;
	sm->restored.dropped = NULL;
	m->changed = m->proven = false;
	return m;
}

void sm_saved_end(struct sm *sm)
{
	sm->restored.same = sm->restored.saved && !sm->restored.saved->changed;
	sm_saved_free(sm->restored.saved);
	sm_saved_free(sm->restored.dropped);
	sm->restored.saved = sm->restored.dropped = NULL;
}
