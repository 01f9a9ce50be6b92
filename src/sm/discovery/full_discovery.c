/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The discoverer, full discovery (thesis 5.3): forget everything, ask the local node, then follow
 * every live port as answers come, directed routes throughout. State: the topology database and a
 * queue of what to ask next. Does not use what an earlier discovery learnt, but for LIDs.
 */
#include "sm/tables/random_tables.h"

/* ---- the queue of questions ---- */

static void discover_begin(struct sm *sm)
{
	sm->topo.epoch++;
	sm_damp_remember(sm);
	sm->topo.nodes.n = 0;
	sm->topo.ports.n = 0;
	sm->topo.hops.n = 0;
	sm->disc.work.n = sm->disc.work_head = 0;
	sm->lids.waiting.n = 0;
	map64_clear(&sm->topo.by_guid);
	sm->disc.suspects.n = 0; /* everybody is asked anyway */
	sm->disc.dirty = sm->disc.far = sm->disc.partial = sm->disc.full_needed = sm->disc.unseen =
		false;
	sm->disc.changed = true;
	sm->topo.max_hops = 0;
	sm->sweep.retry_at = sm->audit.due = TIME_NEVER;
	vec_room(&sm->topo.hops, 64); /* an empty path points somewhere */
	sm_ask(sm, W_NODE_INFO, NONE);
	sm_found_begin(sm);
}

static void follow(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	if (p->pi.state == IBA_PORT_DOWN || p->num == 0 ||
	    sm_work_spared(sm, (struct sm_work){W_NODE_INFO, port, 0}))
		return;
	if (n->type != IBA_NODE_SWITCH && (p->node != 0 || p->num != sm->cfg.port))
		return; /* endports do not forward; only the SM's own is looked through */
	if (sm_path_through(sm, p).n == IBA_MAX_HOPS) {
		sm->disc.far = true;
		sm_note(sm, SM_NOTE_TOO_FAR, n->guid, p->num);
		return;
	}
	sm_ask(sm, W_NODE_INFO, port);
}

/* Nothing to ask and nothing to wait for: who was held back for that moment? */
static void all_asked(struct sm *sm)
{
	uint32_t port = sm_damp_relent(sm);

	if (port != NONE)
		follow(sm, port);
	else if (!sm->disc.all_met && sm->topo.nodes.n)
		sm_all_met(sm);
}

static bool discover_next(struct sm *sm, struct sm_req *r)
{
	for (;;) {
		struct sm_work w;

		if (sm->disc.work_head == sm->disc.work.n && !sm->txn.outstanding)
			all_asked(sm);
		if (sm->disc.work_head == sm->disc.work.n)
			return false;
		w = sm->disc.work.at[sm->disc.work_head++];
		if (!sm_work_spared(sm, w) && !sm_recall(sm, w))
			return sm_work_make(sm, w, r);
	}
}

/* ---- answers ---- */

static uint32_t node_add(struct sm *sm, const struct iba_node_info *ni, struct sm_path path)
{
	uint32_t n = map64_get(&sm->topo.by_guid, ni->node_guid),
		 first = (uint32_t)sm->topo.ports.n;

	if (n == MAP_NONE) {
		n = (uint32_t)sm->topo.nodes.n;
		vec_room(&sm->topo.nodes, sm->topo.nodes.n + 1);
		vec_room(&sm->topo.ports, sm->topo.ports.n + ni->num_ports + 1u);
		sm->topo.nodes.n++;
		sm->topo.ports.n += ni->num_ports + 1u;
		map64_put(&sm->topo.by_guid, ni->node_guid, n);
	} else {
		first = sm->topo.nodes.at[n].first_port; /* it is back: in its old place */
	}
	sm->topo.nodes.at[n] =
		(struct sm_node){.guid = ni->node_guid,
				 .sys_guid = ni->sys_guid,
				 .first_port = first,
				 .vendor_id = ni->vendor_id,
				 .device_id = ni->device_id,
				 .type = ni->node_type,
				 .nports = ni->num_ports,
				 .path = path,
				 .polled = sm->topo.epoch, /* all of it is asked now */
				 .row = NONE,
				 .fab = FAB_NONE};
	for (unsigned p = 0; p <= ni->num_ports; p++)
		sm->topo.ports.at[first + p] =
			(struct sm_port){.node = n, .peer = NONE, .num = (uint8_t)p};
	if (ni->node_type == IBA_NODE_SWITCH)
		sm->topo.nodes.at[n].row = sm_row_find(sm, ni->node_guid);
	sm->disc.changed = true;
	return n;
}

static void port_ask(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];

	if (p->asked)
		return;
	p->asked = true;
	p->mark = SM_REACHABLE;
	sm->topo.nodes.at[p->node].ports_left++;
	sm_ask(sm, W_PORT_INFO, port);
}

/* Both ends of a link now know each other. If one knew another before, the cables moved meanwhile. */
static void link_note(struct sm *sm, uint32_t a, uint32_t b)
{
	struct sm_port *x = &sm->topo.ports.at[a], *y = &sm->topo.ports.at[b];

	sm->disc.changed |= x->peer != b;
	if ((x->peer != NONE && x->peer != b) || (y->peer != NONE && y->peer != a)) {
		sm->disc.dirty |=
			!sm->disc.partial; /* of what was known from before they may move */
		if (x->peer != NONE)
			sm->topo.ports.at[x->peer].peer = NONE;
		if (y->peer != NONE)
			sm->topo.ports.at[y->peer].peer = NONE;
	}
	x->peer = b;
	y->peer = a;
	x->met = y->met = sm->topo.epoch;
	sm_damp_linked(sm, a, b);
}

/*
 * An endport that looks further than the switch's port before it: the link was down after the endport
 * was read and before the switch's PortStateChange was cleared, so nobody would tell. That can be the
 * SM's own port, the only one that is read before its switch.
 */
static bool looks_stale(const struct sm *sm, uint32_t near, uint32_t endport)
{
	const struct sm_port *x = &sm->topo.ports.at[near], *y = &sm->topo.ports.at[endport];

	return sm_is_endport(sm, y) && x->known && y->known && x->pi.state < IBA_PORT_ARMED &&
	       y->pi.state >= IBA_PORT_ARMED;
}

static bool node_info_sane(const struct iba_node_info *ni)
{
	return ni->node_type >= IBA_NODE_CA && ni->node_type <= IBA_NODE_ROUTER && ni->num_ports &&
	       ni->num_ports < IBA_PORT_NONE && ni->local_port <= ni->num_ports &&
	       (ni->node_type == IBA_NODE_SWITCH || ni->local_port) && ni->node_guid;
}

/* The local node is entered by the SM's own port, any other by one that has a cable. */
static bool entered_well(const struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	if (near != NONE)
		return ni->local_port != 0;
	return ni->node_type == IBA_NODE_SWITCH || ni->local_port == sm->cfg.port;
}

static void on_node_info(struct sm *sm, uint32_t near, const uint8_t *data)
{
	struct iba_node_info ni;
	struct sm_path path = {0};
	uint32_t n, port;

	iba_node_info_get(&ni, data, IBA_SMP_DATA_SIZE);
	if (!node_info_sane(&ni) || !entered_well(sm, near, &ni)) {
		sm->disc.dirty = true;
		return;
	}
	if (near != NONE &&
	    (sm_damp_holds(sm, near) || sm_damp_holds_end(sm, ni.node_guid, ni.local_port)))
		return; /* as if Down */
	if (near != NONE)
		path = sm_path_longer(sm, sm_path_through(sm, &sm->topo.ports.at[near]),
				      sm->topo.ports.at[near].num);
	if (sm->cfg.m_keys[0])
		sm_key_learnt(sm, ni.port_guid, sm->keys.hint);
	n = map64_get(&sm->topo.by_guid, ni.node_guid);
	if (n != MAP_NONE && (sm->topo.nodes.at[n].type != ni.node_type ||
			      sm->topo.nodes.at[n].nports != ni.num_ports)) {
		sm->disc.dirty = true; /* one GUID, two devices */
		return;
	}
	if (n == MAP_NONE || sm->topo.nodes.at[n].gone) {
		n = node_add(sm, &ni, path);
		if (ni.node_type == IBA_NODE_SWITCH)
			sm_ask(sm, W_SWITCH_INFO, n);
	} else if (sm->disc.partial && ni.node_type == IBA_NODE_SWITCH) {
		sm_partial_met(sm, n, path);
	}
	port = sm->topo.nodes.at[n].first_port + ni.local_port;
	if (sm->disc.partial && near != NONE && ni.node_type != IBA_NODE_SWITCH &&
	    sm->topo.ports.at[port].asked && sm->topo.ports.at[port].peer != near)
		sm_partial_moved(sm, port);
	if (ni.node_type != IBA_NODE_SWITCH && !sm->topo.ports.at[port].asked) {
		sm->topo.ports.at[port].path =
			n ? path : (struct sm_path){0}; /* the SM's own is at hand */
		sm->topo.ports.at[port].guid = ni.port_guid;
		port_ask(sm, port);
	} else if (ni.node_type == IBA_NODE_SWITCH &&
		   !sm->topo.ports.at[sm->topo.nodes.at[n].first_port].guid) {
		sm->topo.ports.at[sm->topo.nodes.at[n].first_port].guid = ni.port_guid;
	}
	if (near == NONE)
		return;
	link_note(sm, near, port);
	if (!sm->disc.partial && looks_stale(sm, near, port))
		sm_ask(sm, W_PORT_AGAIN, port);
	/* Partial: what is known of the other end may be from before the link came up. */
	if (sm->disc.partial && ni.node_type == IBA_NODE_SWITCH && sm->topo.ports.at[port].known &&
	    sm->topo.ports.at[port].pi.state == IBA_PORT_DOWN)
		sm_ask(sm, W_PORT_AGAIN, port);
}

/* As after power-on: whatever it held is lost. */
static bool has_restarted(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	if (sm->dev.rows.at[n->row].rft)
		return sm_rft_restarted(sm, node, &n->si);
	/* A random table may be full, and nothing here tells; the LID will. */
	return !n->si.linear_top && (n->si.linear_cap || !sm->disc.taking_over);
}

static void clear_and_read(struct sm *sm, uint32_t n)
{
	struct sm_node *node = &sm->topo.nodes.at[n];
	bool told = node->si.port_state_change && !node->has_si;

	node->has_si = true;
	node->uncleared = told && sm_contest_open(sm) &&
			  sm_is_managed(sm, &sm->topo.ports.at[node->first_port].pi);
	if (told && !node->uncleared) {
		sm_ask(sm, W_CLEAR_CHANGE, n);
		return;
	}
	node->ports_asked = true;
	for (unsigned p = 0; p <= node->nports; p++)
		port_ask(sm, node->first_port + p);
}

/*
 * PortStateChange is cleared before the ports are read: a port that changes afterwards sets it again,
 * so no change can slip between discovery and the first sweep.
 */
static void on_switch_info(struct sm *sm, uint32_t n, const uint8_t *data)
{
	struct sm_node *node = &sm->topo.nodes.at[n];

	iba_switch_info_get(&node->si, data, IBA_SMP_DATA_SIZE);
	if (has_restarted(sm, n))
		sm_row_restarted(sm, node->row);
	/* Whose it is can be seen by its port 0: that comes first while it matters. */
	node->waits = sm_contest_open(sm) && !sm->topo.ports.at[node->first_port].asked;
	if (node->waits)
		port_ask(sm, node->first_port);
	else
		clear_and_read(sm, n);
}

/* The contest is won: changes that were left to another SM are told to this one from now on. */
static void on_cleared_late(struct sm *sm, uint32_t n)
{
	struct sm_node *node = &sm->topo.nodes.at[n];

	node->uncleared = false;
	for (unsigned p = 1; p <= node->nports; p++)
		sm_ask(sm, W_PORT_CHECK, node->first_port + p);
}

/* A port that is Active now and was then has been so all the time; of others nobody knows. */
static void on_port_check(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (pi.state != p->pi.state) {
		sm->disc.dirty = true;
	} else if (pi.state != IBA_PORT_DOWN && pi.state != IBA_PORT_ACTIVE) {
		p->met = 0;
		follow(sm, port);
	}
}

static void switch_read(struct sm *sm, uint32_t node)
{
	sm_found_ports(sm, node);
	sm_address_give(sm, sm->topo.nodes.at[node].first_port);
}

static void on_port_info(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct sm_node *n = &sm->topo.nodes.at[p->node];

	iba_port_info_get(&p->pi, data, IBA_SMP_DATA_SIZE);
	p->known = true;
	sm_key_seen(sm, port);
	/* Without the LID it was given it was off since, whatever LinearFDBTop says: see partial.c. */
	if (n->type == IBA_NODE_SWITCH && p->num == 0 && !sm->disc.taking_over &&
	    p->pi.lid != sm_lid_of(sm, p->guid, NULL))
		sm_row_forget(sm, n->row);
	if (sm_is_endport(sm, p))
		sm->topo.max_resp = MAX(sm->topo.max_resp, p->pi.resp_time);
	if (sm_is_own(sm, p))
		sm_address_own(sm, p);
	if (p->num == 0 && n->row != NONE && !p->pi.lid) /* nor a table */
		sm_row_restarted(sm, n->row);
	else if (p->num == 0 && n->row != NONE)
		sm_found_switch(sm, p->node);
	if (!sm_damp_found(sm, port))
		follow(sm, port);
	if (sm->cfg.mechanism.thrifty && !sm->disc.partial && p->peer != NONE &&
	    looks_stale(sm, port, p->peer))
		sm_ask(sm, W_PORT_AGAIN, p->peer);
	if (sm->cfg.contest && sm_is_endport(sm, p) && !sm_is_own(sm, p) &&
	    p->pi.cap_mask & IBA_CAP_IS_SM)
		sm_ask(sm, W_SM_INFO, port);
	if (n->waits && p->num == 0) {
		n->waits = false;
		clear_and_read(sm, p->node);
	}
	n->ports_left--;
	if (n->type != IBA_NODE_SWITCH)
		sm_address_give(sm, port);
	else if (n->ports_left == 0 && n->ports_asked)
		switch_read(sm, p->node);
}

/* Of full discovery: the state alone, what is to be set was decided by the first answer. */
static void on_port_again(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	sm->topo.ports.at[port].pi.state = pi.state;
}

void sm_discover_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (sm_recall_misleads(sm, t, data)) {
		sm_recall_lost(sm);
		sm_forget_outstanding(sm);
		sm_discover_again(sm);
		return;
	}
	switch ((enum sm_work_kind)t->kind) {
	case W_NODE_INFO:
		on_node_info(sm, t->ref, data);
		break;
	case W_SWITCH_INFO:
		on_switch_info(sm, t->ref, data);
		break;
	case W_CLEAR_CHANGE:
		if (sm->topo.nodes.at[t->ref].uncleared)
			on_cleared_late(sm, t->ref);
		else
			on_switch_info(sm, t->ref, data);
		break;
	case W_SM_INFO:
		sm_other_heard(sm, t->ref, data);
		break;
	case W_PORT_CHECK:
		on_port_check(sm, t->ref, data);
		break;
	case W_PORT_INFO:
		on_port_info(sm, t->ref, data);
		break;
	case W_SET_LID:
		sm_address_set(sm, t->ref, data);
		break;
	case W_TABLE:
		sm_found_block(sm, t->ref, iba_smp_attr_mod(t->send.mad), data);
		break;
	case W_TURN:
		sm_found_turn(sm, t->ref, iba_smp_attr_mod(t->send.mad), data);
		break;
	case W_PORT_AGAIN:
		on_port_again(sm, t->ref, data);
		break;
	case W_POLL:
	case W_CLEAR_KNOWN:
	case W_PORT_STATE:
	case W_PORT_PEEK:
		break; /* of partial discovery, which takes them itself */
	}
}

void sm_discover_fail(struct sm *sm, const struct sm_txn *t)
{
	uint64_t guid = 0;

	if (t->kind == W_SM_INFO)
		return; /* it says that it is there, but is not */
	if (t->attr_id == IBA_ATTR_SWITCH_INFO || t->kind == W_TABLE || t->kind == W_TURN)
		guid = sm->topo.nodes.at[t->ref].guid;
	else if (t->ref != NONE)
		guid = sm->topo.nodes.at[sm->topo.ports.at[t->ref].node].guid;
	sm_note(sm, SM_NOTE_UNREACHABLE, guid, t->attr_id);
	sm->disc.dirty = true;
	if (t->send.dlid != IBA_LID_PERMISSIVE) /* perhaps the tables no longer lead there */
		memset(sm->lids.routed, 0, sizeof(sm->lids.routed));
}

/* ---- the end: begin again, or go on with what is there ---- */

void sm_discover_again(struct sm *sm)
{
	sm->disc.restarts++;
	sm->core.round.restarts++;
	sm->disc.full_needed = true;
	sm_note(sm, SM_NOTE_RESTART, sm->disc.restarts, 0);
	sm_phase_set(sm, SM_DISCOVER);
}

static void discover_done(struct sm *sm)
{
	if (sm->disc.dirty)
		sm_recall_lost(sm);
	if (sm->disc.dirty && sm->disc.restarts < sm->cfg.restarts) {
		sm_discover_again(sm);
		return;
	}
	sm_recall_end(sm);
	sm->disc.restarts = 0;
	sm_damp_tell(sm);
	/* Only where it can happen that a change is none: to begin anew with everything is what the
	 * basic mechanism does, and what is measured. */
	if ((sm->damp.held.n || sm->cfg.settle) &&
	    sm->cfg.mechanism.discovery->part == &sm_part_discover && !sm->disc.dirty &&
	    sm_snapshot_stands(sm)) {
		sm_phase_set(sm, SM_READY);
		return;
	}
	sm_snapshot_build(sm);
	sm_phase_set(sm, sm->topo.fab->nnodes ? SM_CONFIGURE : SM_READY);
}

const struct sm_part sm_part_discover = {
	.begin = discover_begin,
	.next = discover_next,
	.recv = sm_discover_recv,
	.fail = sm_discover_fail,
	.done = discover_done,
};
