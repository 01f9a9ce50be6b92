/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distributor, full deactivation (thesis 7.2.1): every port to Initialize, all table blocks by
 * directed route, then every port Armed and, when all are, Active. State: a cursor. Does not decide
 * what is in the tables.
 */
#include "sm/sm_priv.h"

static void cursor_begin(struct sm *sm)
{
	sm->cur_node = sm->cur_step = 0;
}

/* The next port at the end of a link of the snapshot, as an sm port; NONE after the last. */
static uint32_t next_link_port(struct sm *sm)
{
	for (; sm->cur_node < sm->fab->nnodes; sm->cur_node++, sm->cur_step = 0) {
		const struct fab_node *f = &sm->fab->nodes[sm->cur_node];

		while (sm->cur_step <= f->nports) {
			uint32_t num = sm->cur_step++;

			if (num && sm->fab->ports[f->first_port + num].peer != FAB_NONE)
				return sm->nodes.at[sm->node_of[sm->cur_node]].first_port + num;
		}
	}
	return NONE;
}

/* What is settled by both ends of the link (thesis Table 7), for any Set(PortInfo) from now on. */
static void fill_from_link(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi)
{
	const struct iba_port_info *far = &sm->ports.at[p->peer].pi;

	sm_port_fill(sm, p, pi);
	pi->neighbor_mtu = MIN(p->pi.mtu_cap, far->mtu_cap);
	pi->oper_vls = MIN(p->pi.vl_cap, far->vl_cap);
	pi->vl_high_limit = (uint8_t)sm->cfg.vl_high_limit;
	if (sm_is_endport(sm, p))
		pi->subnet_timeout = sm->subnet_timeout;
}

/* The LID by which a port's SMA is reached: the node's port 0, or the endport itself. */
static uint16_t lid_of_port(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_node *n = &sm->nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH ? sm->ports.at[n->first_port].pi.lid : p->pi.lid;
}

static void order_state(struct sm *sm, uint32_t port, enum iba_port_state st, enum sm_purpose purpose,
			struct sm_req *r)
{
	const struct sm_port *p = &sm->ports.at[port];
	struct iba_port_info pi;

	sm_req_port(sm, r, IBA_SET, purpose, port);
	if (purpose == SM_FOR_ACTIVATION)
		fill_from_link(sm, p, &pi);
	else
		sm_port_fill(sm, p, &pi);
	pi.state = (uint8_t)st;
	iba_port_info_put(&pi, r->data);
	if (purpose == SM_FOR_ACTIVATION && sm->cfg.activate_by_lid)
		r->lid = lid_of_port(sm, p);
}

static void take_port_info(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	sm->ports.at[t->ref].pi = pi;
}

/* ---- 1: every port to Initialize ---- */

static bool deactivate_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	while ((port = next_link_port(sm)) != NONE) {
		if (sm->ports.at[port].pi.state < IBA_PORT_ARMED)
			continue;
		order_state(sm, port, IBA_PORT_DOWN, SM_FOR_DISTRIBUTION, r);
		return true;
	}
	return false;
}

static void deactivate_done(struct sm *sm)
{
	sm_phase_set(sm, SM_TABLES);
}

/* ---- 2: the tables, block by block over all switches, so that no switch is a bottleneck ---- */

static bool tables_next(struct sm *sm, struct sm_req *r)
{
	uint32_t blocks = sm->tables->stride / IBA_LFT_BLOCK, node;

	if (sm->cur_node == sm->fab->nswitches) {
		sm->cur_node = 0;
		sm->cur_step++;
	}
	if (sm->cur_step >= blocks || !sm->fab->nswitches)
		return false;
	node = sm->node_of[sm->fab->switches[sm->cur_node]];
	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, sm->cur_step);
	memcpy(r->data, rt_row(sm->tables, sm->cur_node) + (size_t)sm->cur_step * IBA_LFT_BLOCK,
	       IBA_LFT_BLOCK);
	sm->cur_node++;
	return true;
}

static void tables_done(struct sm *sm)
{
	memset(sm->lid_routed, 0, sizeof(sm->lid_routed));
	for (uint32_t i = 0; i < sm->fab->nswitches; i++)
		sm->lid_routed[sm->fab->ports[fab_port_id(sm->fab, sm->fab->switches[i], 0)].lid] = 1;
	sm_phase_set(sm, SM_ARM);
}

/* ---- 3: Armed, then Active ---- */

static bool arm_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port = next_link_port(sm);

	if (port == NONE)
		return false;
	order_state(sm, port, IBA_PORT_ARMED, SM_FOR_ACTIVATION, r);
	return true;
}

static void arm_done(struct sm *sm)
{
	sm_phase_set(sm, SM_ACTIVATE);
}

static bool activate_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port = next_link_port(sm);

	if (port == NONE)
		return false;
	order_state(sm, port, IBA_PORT_ACTIVE, SM_FOR_ACTIVATION, r);
	return true;
}

static void activate_done(struct sm *sm)
{
	sm_phase_set(sm, sm->trouble ? SM_AUDIT : SM_READY);
}

const struct sm_part sm_part_deactivate = {cursor_begin, deactivate_next, take_port_info, sm_failed,
					   deactivate_done};
const struct sm_part sm_part_tables = {cursor_begin, tables_next, NULL, sm_failed, tables_done};
const struct sm_part sm_part_arm = {cursor_begin, arm_next, take_port_info, sm_failed, arm_done};
const struct sm_part sm_part_activate = {cursor_begin, activate_next, take_port_info, sm_failed,
					 activate_done};

/*
 * ---- 4: the audit ----
 * SMPs are datagrams: one that was lost is sent again, and its first copy may still arrive and undo
 * what came later (a port taken down again, an old table block). So if a Set was repeated or doubled
 * in this round, what was set is read back, at once and again when a time-out has passed and no copy
 * can be on its way; what is wrong is a change like any other.
 */
enum { AUDIT_PORT, AUDIT_BLOCK };

static void audit_begin(struct sm *sm)
{
	cursor_begin(sm);
	sm->cur_in = AUDIT_PORT;
	sm->audit_at = sm->trouble ? sm->now + sm_timeout(sm) : TIME_NEVER;
	sm->trouble = false;
}

static bool audit_next(struct sm *sm, struct sm_req *r)
{
	if (sm->cur_in == AUDIT_PORT) {
		uint32_t port = next_link_port(sm);

		if (port != NONE) {
			sm_req_port(sm, r, IBA_GET, SM_FOR_AUDIT, port);
			r->kind = AUDIT_PORT;
			return true;
		}
		cursor_begin(sm);
		sm->cur_in = AUDIT_BLOCK;
	}
	if (!tables_next(sm, r))
		return false;
	r->method = IBA_GET;
	r->purpose = SM_FOR_AUDIT;
	r->kind = AUDIT_BLOCK;
	r->ref = (sm->cur_node - 1) * (sm->tables->stride / IBA_LFT_BLOCK) + sm->cur_step;
	return true;
}

static bool port_as_set(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	return pi.state == IBA_PORT_ACTIVE &&
	       (!sm_is_endport(sm, &sm->ports.at[port]) || pi.lid == sm->ports.at[port].pi.lid);
}

static void audit_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint64_t guid = 0;
	bool ok;

	if (t->kind == AUDIT_PORT) {
		ok = port_as_set(sm, t->ref, data);
		guid = sm->nodes.at[sm->ports.at[t->ref].node].guid;
	} else {
		/* Rows are whole blocks, so block numbers run on from row to row. */
		ok = !memcmp(sm->tables->lft + (size_t)t->ref * IBA_LFT_BLOCK, data, IBA_LFT_BLOCK);
	}
	if (ok)
		return;
	sm_note(sm, SM_NOTE_MISMATCH, guid, t->attr_id);
	sm->round.restarts++;
	sm_change(sm, SM_CAUSE_SILENCE, guid);
}

static void audit_done(struct sm *sm)
{
	sm_phase_set(sm, SM_READY);
}

const struct sm_part sm_part_audit = {audit_begin, audit_next, audit_recv, sm_failed, audit_done};
