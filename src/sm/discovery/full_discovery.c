/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Full discovery (thesis 5.3): forgets everything, asks the local node, then follows every live
 * port as responses come, by directed routes throughout. State: the topology database and the
 * queue of questions. Does not use what an earlier discovery learnt, except LIDs.
 */
#include "sm/tables/random_tables.h"

/* ---- the queue of questions ---- */

static void forget_all(struct sm *sm)
{
	struct sm_discovering *d = &sm->disc;

	sm_work_clear(sm);
	d->suspects.n = 0; /* every device is asked */
	d->view = d->earlier = SM_VIEW_TRUE;
	d->kind = SM_DISCOVERY_FULL;
	d->allowed = SM_DISCOVERY_PARTIAL;
	d->unfinished = true;
	d->looks_again = d->look_again;
	d->look_again = false;
	d->far_ports.n = 0;
	d->presumes = false;
	d->disturbed = d->verified = false;
	sm_discovery_found(sm, SM_FOUND_CHANGE);
}

static enum sm_outcome discover_begin(struct sm *sm)
{
	sm_damp_keep_states(sm);
	sm_silent_begin(sm);
	sm_topology_clear(sm);
	sm_lids_waiting_clear(sm);
	if (sm->cfg.reassign)
		sm_lids_reassign(sm);
	forget_all(sm);
	sm_retry_never(sm);
	sm_audit_never(sm);
	sm_ask_behind(sm, NONE);
	sm_takeover_begin(sm);
	sm_twins_begin(sm);
	return SM_GOING_ON;
}

void sm_follow(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	if (p->pi.state == IBA_PORT_DOWN || p->num == 0 ||
	    sm_work_spared(sm, (struct sm_work){Q_NODE_INFO, sm_target_behind(sm, port)}))
		return;
	if (n->type != IBA_NODE_SWITCH && (p->node != 0 || p->num != sm->cfg.port))
		return; /* endports do not forward; only the SM's own is looked beyond */
	if (sm_path_through(sm, p).n == IBA_MAX_HOPS) {
		vec_push(&sm->disc.far_ports, port);
		sm_note(sm, .kind = SM_NOTE_TOO_FAR, .about = sm_about_port(sm, port));
		return;
	}
	sm_ask_behind(sm, port);
}

void sm_follow_far(struct sm *sm)
{
	size_t n = sm->disc.far_ports.n;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		uint32_t port = sm->disc.far_ports.at[i];

		if (sm->topo.ports.at[port].peer == NONE && sm->topo.ports.at[port].ask.known &&
		    !sm->topo.nodes.at[sm->topo.ports.at[port].node].gone)
			sm_follow(sm, port); /* those that are still too far are added again */
	}
	memmove(sm->disc.far_ports.at, sm->disc.far_ports.at + n,
		(sm->disc.far_ports.n - n) * sizeof(*sm->disc.far_ports.at));
	sm->disc.far_ports.n -= n;
}

/*
 * The manager's own cable may have moved to another switch while its port was in Initialize, before and after. All paths
 * lead elsewhere then, and answers of other devices were taken for those of the known ones. A port that was Active shows
 * it itself. Such a move loses the requests that are under way; where counts matter (without cfg.contest), a discovery
 * without a second try and without a wait asks nothing.
 */
static bool own_link_in_doubt(const struct sm *sm)
{
	const struct sm_port *own = &sm->topo.ports.at[sm_own_port(sm)];

	return own->peer != NONE && sm->topo.nodes.at[0].type != IBA_NODE_SWITCH &&
	       (sm->disc.disturbed || (sm->cfg.contest && own->pi.state < IBA_PORT_ACTIVE));
}

/* One NodeInfo, when all else was asked. A discovery in doubt is repeated anyway. */
static void verify_own_link(struct sm *sm)
{
	if (sm->disc.verified || !sm->topo.nodes.n || sm_is_doubtful(&sm->disc) ||
	    !own_link_in_doubt(sm))
		return;
	sm->disc.verified = true;
	sm_ask_twin(sm, sm_own_port(sm));
}

static void on_own_link(struct sm *sm, const uint8_t *data)
{
	const struct sm_port *far, *own = &sm->topo.ports.at[sm_own_port(sm)];
	struct iba_node_info ni;

	iba_node_info_get(&ni, data, IBA_SMP_DATA_SIZE);
	far = own->peer == NONE ? NULL : &sm->topo.ports.at[own->peer];
	if (!far || ni.node_guid != sm->topo.nodes.at[far->node].guid || ni.local_port != far->num)
		sm_discovery_doubt(sm);
}

/* Nothing to ask and nothing outstanding: decide what was deferred until now. */
static void all_asked(struct sm *sm)
{
	uint32_t port = sm_damp_release_only_way(sm);

	if (port != NONE) {
		sm_follow(sm, port);
		return;
	}
	while (!sm_work_left(sm) && sm_twins_judge(sm))
		;
	if (!sm_work_left(sm) && !sm->disc.all_met && sm->topo.nodes.n)
		sm_lid_assign_deferred(sm);
	if (!sm_work_left(sm))
		verify_own_link(sm);
}

static void recv_one(struct sm *sm, const struct sm_txn *t, const uint8_t *data);

/* Answered from saved state, as if the device had: nothing is sent. */
static bool answered_by_saved(struct sm *sm, struct sm_work w)
{
	struct sm_txn t;
	uint8_t data[IBA_SMP_DATA_SIZE] = {0};

	if (!sm_saved_answer(sm, w, data))
		return false;
	t = (struct sm_txn){.question = w.question, .target = w.target, .method = IBA_GET};
	recv_one(sm, &t, data);
	return true;
}

static bool discover_next(struct sm *sm, struct sm_req *r)
{
	for (;;) {
		struct sm_work w;

		sm_work_resume(sm);
		if (!sm_work_left(sm) && !sm->txn.outstanding)
			all_asked(sm);
		if (!sm_work_left(sm) || sm->core.now < sm->core.hold_until)
			return false;
		w = sm_work_take(sm);
		if (sm_work_spared(sm, w) || sm_is_silent_work(sm, w) ||
		    (sm->restored.saved && answered_by_saved(sm, w)) || sm_work_waits(sm, w))
			continue;
		sm_work_make(sm, w, r);
		return true;
	}
}

/* ---- answers ---- */

static void port_ask(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];

	if (p->ask.asked)
		return;
	p->ask.asked = true;
	p->ask.mark = SM_REACHABLE;
	sm->topo.nodes.at[p->node].ask.ports_left++;
	sm_ask_port(sm, Q_PORT_INFO, port);
}

/* Both ends of a link now know each other. If one knew another before, the cables moved meanwhile. */
static void link_note(struct sm *sm, uint32_t a, uint32_t b)
{
	struct sm_port *x = &sm->topo.ports.at[a], *y = &sm->topo.ports.at[b];
	bool moved = (x->peer != NONE && x->peer != b) || (y->peer != NONE && y->peer != a);

	if (x->peer != b)
		sm_discovery_found(sm, SM_FOUND_CHANGE);
	if (moved && !sm_is_partial(&sm->disc)) /* what was known from before may move */
		sm_discovery_doubt(sm);
	sm_link(sm, a, b);
	x->ask.met = y->ask.met = sm->topo.epoch;
	sm_damp_linked(sm, a, b);
}

/*
 * An endport in a higher state than the switch port before it: the link went down after the
 * endport was read and before the switch's PortStateChange was cleared, so no switch reports it.
 * That can happen to the SM's own port, the only one that is read before its switch.
 */
static bool looks_stale(const struct sm *sm, uint32_t near, uint32_t endport)
{
	const struct sm_port *x = &sm->topo.ports.at[near], *y = &sm->topo.ports.at[endport];

	return sm_is_endport(sm, y) && x->ask.known && y->ask.known &&
	       x->pi.state < IBA_PORT_ARMED && y->pi.state >= IBA_PORT_ARMED;
}

static bool node_info_sane(const struct iba_node_info *ni)
{
	return ni->node_type >= IBA_NODE_CA && ni->node_type <= IBA_NODE_ROUTER && ni->num_ports &&
	       ni->num_ports < IBA_PORT_NONE && ni->local_port <= ni->num_ports &&
	       (ni->node_type == IBA_NODE_SWITCH || ni->local_port) && ni->node_guid;
}

/* The local node is entered by the SM's own port, any other by a port with a cable. */
static bool entered_well(const struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	if (near != NONE)
		return ni->local_port != 0;
	return ni->node_type == IBA_NODE_SWITCH || ni->local_port == sm->cfg.port;
}

/* A host or router: the port it was met through. */
static void endport_met(struct sm *sm, uint32_t near, uint32_t port, struct sm_path path,
			uint64_t port_guid)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if (sm_is_partial(&sm->disc) && near != NONE && p->ask.asked && p->peer != near)
		sm_endport_moved(sm, port);
	if (p->ask.asked)
		return;
	/* The SM's own port is local; other ports of its host are reached as any other. */
	sm_port_path(sm, port, sm_is_own(sm, p) ? (struct sm_path){0} : path);
	sm_port_guid(sm, port, port_guid);
	port_ask(sm, port);
	if (sm->cfg.each_port && near != NONE)
		sm_ask_behind(sm, near);
}

static void link_met(struct sm *sm, uint32_t near, uint32_t port, bool to_switch)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	link_note(sm, near, port);
	if (!sm_is_partial(&sm->disc) && looks_stale(sm, near, port))
		sm_ask_port(sm, Q_PORT_AGAIN, port);
	/* What is known of the other end may date from before the link came up. */
	if (to_switch && p->ask.known && p->pi.state == IBA_PORT_DOWN)
		sm_ask_port(sm, Q_PORT_AGAIN, port);
}

void sm_node_met(struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	uint32_t n = map64_get(&sm->topo.by_guid, ni->node_guid), port;
	bool sw = ni->node_type == IBA_NODE_SWITCH;
	struct sm_path path = {0};

	if (near != NONE)
		path = sm_path_longer(sm, sm_path_through(sm, &sm->topo.ports.at[near]),
				      sm->topo.ports.at[near].num);
	if (n == MAP_NONE || sm->topo.nodes.at[n].gone) {
		n = sm_node_add(sm, ni, path);
		sm_discovery_found(sm, SM_FOUND_CHANGE);
		if (sw)
			sm_ask_node(sm, Q_SWITCH_INFO, n);
	} else if (sm_is_partial(&sm->disc) && sw) {
		sm_switch_found_again(sm, n, path);
	}
	port = sm->topo.nodes.at[n].first_port + ni->local_port;
	if (!sw)
		endport_met(sm, near, port, path, ni->port_guid);
	else if (!sm->topo.ports.at[sm->topo.nodes.at[n].first_port].guid)
		sm_port_guid(sm, sm->topo.nodes.at[n].first_port, ni->port_guid);
	if (near != NONE)
		link_met(sm, near, port, sw);
}

/* Another device than the one of this GUID that is known, in its place. */
static bool is_other_device(const struct sm *sm, const struct iba_node_info *ni)
{
	uint32_t n = map64_get(&sm->topo.by_guid, ni->node_guid);

	return n != MAP_NONE && (sm->topo.nodes.at[n].type != ni->node_type ||
				 sm->topo.nodes.at[n].nports != ni->num_ports);
}

static void on_node_info(struct sm *sm, uint32_t near, const uint8_t *data)
{
	struct iba_node_info ni;

	sm_node_info_take(sm, data, &ni);
	if (near == NONE && sm_seat_moves(sm, &ni)) {
		sm_ask_behind(sm, NONE);
		return;
	}
	if (!node_info_sane(&ni) || !entered_well(sm, near, &ni)) {
		sm_discovery_doubt(sm);
		return;
	}
	if (near != NONE &&
	    (sm_damp_holds(sm, near) || sm_damp_holds_end(sm, ni.node_guid, ni.local_port)))
		return; /* held: treated as Down */
	if (sm->cfg.m_keys[0])
		sm_key_learnt(sm, ni.port_guid, sm->keys.hint);
	if (near != NONE && sm_twin_met(sm, near, &ni))
		return;
	if (is_other_device(sm, &ni)) {
		sm_discovery_doubt(sm);
		return;
	}
	sm_node_met(sm, near, &ni);
}

/* As after power-on: all that the switch held is lost. */
static bool has_restarted(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	if (sm->dev.rows.at[n->row].rft)
		return sm_rft_restarted(sm, node, &n->si);
	/* A random table may hold entries, and SwitchInfo does not show it; the LID does. */
	return !n->si.linear_top && (n->si.linear_cap || !sm_is_taking_over(&sm->disc));
}

/*
 * Another manager may be the master of this switch, and waits for the changes that it reports. MasterSMLID does not tell:
 * masters of two subnets that have just been joined may have the same LID.
 */
static bool may_be_theirs(const struct sm *sm, const struct sm_node *n)
{
	const struct sm_port *p = &sm->topo.ports.at[n->first_port];

	if (sm->cfg.observe)
		return true;
	return sm->cfg.contest && sm_is_managed(&p->pi) &&
	       (sm_contest_open(sm) || !sm_lid_is_given(sm, p->guid));
}

static void clear_and_read(struct sm *sm, uint32_t n)
{
	struct sm_node *node = &sm->topo.nodes.at[n];
	bool told = node->si.port_state_change && !node->ask.has_si;

	node->ask.has_si = true;
	node->ask.uncleared = told && may_be_theirs(sm, node);
	if (told && !node->ask.uncleared) {
		sm_ask_node(sm, Q_CLEAR_CHANGE, n);
		return;
	}
	node->ask.ports_asked = true;
	for (unsigned p = 0; p <= node->nports; p++)
		port_ask(sm, node->first_port + p);
}

/*
 * PortStateChange is cleared before the ports are read: a port that changes afterwards sets it
 * again, so no change is lost between discovery and the first sweep.
 */
static void on_switch_info(struct sm *sm, uint32_t n, const uint8_t *data)
{
	struct sm_node *node = &sm->topo.nodes.at[n];
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	sm_switch_learn(sm, n, &si);
	if (has_restarted(sm, n))
		sm_row_restarted(sm, node->row);
	/* Port 0 shows which SM manages the switch: while that matters it is read first. */
	node->ask.waits =
		sm_election_reads_port0_first(sm) && !sm->topo.ports.at[node->first_port].ask.asked;
	if (node->ask.waits)
		port_ask(sm, node->first_port);
	else
		clear_and_read(sm, n);
}

/*
 * The Set that clears PortStateChange writes LinearFDBTop again, and a LID is set after it: a switch that restarted since it
 * was read would look as if it had not. So its LID is read before both.
 */
bool sm_clear_deferred(struct sm *sm)
{
	bool any = false;

	for (uint32_t n = 0; !sm->cfg.observe && n < sm->topo.nodes.n; n++)
		if (sm->topo.nodes.at[n].ask.uncleared && !sm->topo.nodes.at[n].gone) {
			sm_ask_port(sm, Q_PORT_CHECK, sm->topo.nodes.at[n].first_port);
			sm_ask_node(sm, Q_CLEAR_CHANGE, n);
			any = true;
		}
	return any;
}

/* The election is decided: this SM now takes the changes that were left to another SM. */
static void on_cleared_late(struct sm *sm, uint32_t n)
{
	struct sm_node *node = &sm->topo.nodes.at[n];

	node->ask.uncleared = false;
	for (unsigned p = 1; p <= node->nports; p++)
		sm_ask_port(sm, Q_PORT_CHECK, node->first_port + p);
}

static void switch_lost_all(struct sm *sm, uint32_t node)
{
	if (sm->topo.nodes.at[node].row != NONE)
		sm_row_restarted(sm, sm->topo.nodes.at[node].row);
	sm_discovery_doubt(sm);
}

/*
 * A port that is Active now and was Active then has been so throughout; of others that is not
 * known.
 */
static void on_port_check(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (!p->num) {
		if (!pi.lid)
			switch_lost_all(sm, p->node);
	} else if (pi.state != p->pi.state) {
		sm_discovery_doubt(sm);
	} else if (pi.state != IBA_PORT_DOWN && pi.state != IBA_PORT_ACTIVE) {
		p->ask.met = 0;
		sm_follow(sm, port);
	}
}

static bool is_armed(const struct sm *sm, const struct sm_node *n)
{
	for (unsigned p = 1; p <= n->nports; p++)
		if (sm->topo.ports.at[n->first_port + p].pi.state >= IBA_PORT_ARMED)
			return true;
	return false;
}

static void switch_read(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	if (n->row != NONE && !sm_is_taking_over(&sm->disc))
		sm_row_ports_read(sm, n->row, is_armed(sm, n));
	sm_takeover_ports(sm, node);
	sm_lid_assign(sm, sm->topo.nodes.at[node].first_port);
}

static void on_port_info(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct sm_node *n = &sm->topo.nodes.at[p->node];

	sm_port_learn(sm, port, data);
	sm_port_rises(sm, port);
	p->ask.known = true;
	sm_key_seen(sm, port);
	/*
	 * A switch without its LID has restarted since, whatever LinearFDBTop says: see
	 * partial_discovery.c. Where all LIDs are assigned again, no LID is its own.
	 */
	if (n->type == IBA_NODE_SWITCH && p->num == 0 && !sm_is_taking_over(&sm->disc) &&
	    !sm->cfg.reassign && p->pi.lid != sm_lid_of(sm, p->guid, NULL))
		sm_row_forget(sm, n->row);
	if (p->num == 0 && n->type == IBA_NODE_SWITCH)
		n->ask.unclaimed = sm->cfg.contest && !sm_is_managed(&p->pi);
	if (sm_is_endport(sm, p))
		sm_resp_time_seen(sm, p->pi.resp_time);
	if (sm_is_own(sm, p)) {
		sm_lid_assign_own(sm, p);
		sm_election_own_port_read(sm, &p->pi);
	}
	if (p->num == 0 && n->row != NONE && !p->pi.lid) /* it holds no table either */
		sm_row_restarted(sm, n->row);
	else if (p->num == 0 && n->row != NONE)
		sm_takeover_switch(sm, p->node);
	sm_twin_of_down_port(sm, port);
	if (!sm_is_partial(&sm->disc) && p->pi.state == IBA_PORT_DOWN && p->peer != NONE)
		sm_discovery_doubt(sm); /* a cable was moved since the other end was met */
	if (!sm_damp_port_discovered(sm, port))
		sm_follow(sm, port);
	if (sm->cfg.mechanism.thrifty && !sm_is_partial(&sm->disc) && p->peer != NONE &&
	    looks_stale(sm, port, p->peer))
		sm_ask_port(sm, Q_PORT_AGAIN, p->peer);
	if (sm->cfg.contest && sm_is_endport(sm, p) && !sm_is_own(sm, p) &&
	    p->pi.cap_mask & IBA_CAP_IS_SM)
		sm_ask_port(sm, Q_SM_INFO, port);
	if (n->type != IBA_NODE_SWITCH)
		sm_virtual_port(sm, port);
	if (n->ask.waits && p->num == 0) {
		n->ask.waits = false;
		clear_and_read(sm, p->node);
	}
	n->ask.ports_left--;
	if (n->type != IBA_NODE_SWITCH)
		sm_lid_assign(sm, port);
	else if (n->ask.ports_left == 0 && n->ask.ports_asked)
		switch_read(sm, p->node);
}

/* Since the port was read, a manager has started there. Its trap may be lost, and it may have learnt of no other manager. */
static void manager_appeared(struct sm *sm, uint32_t port, const uint8_t *data)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (sm->cfg.contest && !sm_is_own(sm, p) && pi.cap_mask & ~p->pi.cap_mask & IBA_CAP_IS_SM)
		sm_ask_port(sm, Q_SM_INFO, port);
}

/* Full discovery takes the state alone: what to set was decided by the first response. */
static void on_port_again(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	sm_port_state(sm, port, pi.state);
	sm_lid_appeared(sm, port, &pi);
}

static void recv_one(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t node = t->target.node, port = t->target.port;

	switch (t->question) {
	case Q_NODE_INFO:
		on_node_info(sm, port, data);
		break;
	case Q_SWITCH_INFO:
		on_switch_info(sm, node, data);
		break;
	case Q_CLEAR_CHANGE:
		if (sm->topo.nodes.at[node].ask.uncleared)
			on_cleared_late(sm, node);
		else
			on_switch_info(sm, node, data);
		break;
	case Q_TWIN:
		sm_twin_answered(sm, port, data);
		if (port == sm_own_port(sm))
			on_own_link(sm, data);
		break;
	case Q_PORT_CHECK:
		on_port_check(sm, port, data);
		break;
	case Q_PORT_INFO:
		on_port_info(sm, port, data);
		break;
	case Q_SET_LID:
		manager_appeared(sm, port, data);
		sm_lid_confirm(sm, port, data);
		break;
	case Q_TABLE:
		sm_takeover_block(sm, node, t->target.item, data);
		break;
	case Q_MFT:
		sm_mft_takeover_block(sm, node, t->target.item, data);
		break;
	case Q_TURN:
		sm_takeover_turn(sm, node, t->target.item, data);
		break;
	case Q_PORT_AGAIN:
		on_port_again(sm, port, data);
		break;
	case Q_VF_INFO:
		sm->topo.nodes.at[node].ask.ports_left--;
		sm_virtual_read(sm, t, data);
		break;
	case Q_SM_INFO: /* see sm_discover_recv() */
	case Q_STAMP:	/* see sm_saved_misleads() */
	case Q_POLL:	/* of partial discovery, which takes them itself */
	case Q_CLEAR_KNOWN:
	case Q_PORT_STATE:
	case Q_PORT_PEEK:
	case Q_NONE:
	case Q_SWEEP:
	case Q_SWEEP_CLEAR:
	case Q_SWEEP_OWN_PORT:
	case Q_PKEYS:
	case Q_WAVE:
	case Q_RANDOM:
	case Q_AUDIT_PORT:
	case Q_AUDIT_BLOCK:
	case Q_AUDIT_MFT:
	case Q_AUDIT_RANDOM:
	case Q_AUDIT_TURN:
	case Q_AUDIT_SWITCH:
		break;
	}
}

enum sm_outcome sm_discover_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (sm_saved_misleads(sm, t, data)) {
		sm_saved_lost(sm);
		sm_forget_outstanding(sm);
		return sm_discover_again(sm);
	}
	sm_answered(sm, &t->target);
	if (t->tries > 1 && sm->topo.nodes.n && sm->topo.ports.at[sm_own_port(sm)].peer != NONE)
		sm_discovery_disturbed(sm); /* since it was learnt what is behind the own port */
	if (t->question == Q_SM_INFO)
		return sm_other_manager(sm, t->target.port, data);
	if (t->question == Q_PORT_INFO) {
		enum sm_outcome o = sm_election_port_seen(sm, t->target.port, data);

		if (o != SM_GOING_ON)
			return o;
	}
	recv_one(sm, t, data);
	return SM_GOING_ON;
}

enum sm_outcome sm_discover_fail(struct sm *sm, const struct sm_txn *t)
{
	if (t->question == Q_SM_INFO)
		return SM_GOING_ON; /* the port says that there is an SM, but none answers */
	sm_note_failed(sm, t);
	sm_discovery_doubt(sm);
	sm_unanswered(sm, t);
	if (t->send.dlid != IBA_LID_PERMISSIVE) /* perhaps the tables no longer lead there */
		sm_lids_unrouted(sm);
	return SM_GOING_ON;
}

/* ---- the end: begin again, or go on with what is there ---- */

enum sm_outcome sm_discover_again(struct sm *sm)
{
	sm->disc.restarts++;
	sm_round_again(sm);
	sm_full_discovery_needed(sm);
	sm_note(sm, .kind = SM_NOTE_RESTART, .times = sm->disc.restarts);
	return SM_AGAIN;
}

/*
 * Only where a change may turn out to be none: the basic mechanism starts over with everything, and that is what is
 * measured. All neighbours of a device that fails send traps, and the first of these starts the round.
 */
static bool may_stand(const struct sm *sm)
{
	bool none = (sm->damp.held.n || sm->cfg.settle || sm->core.round.cause == SM_CAUSE_TRAP) &&
		    !sm->cfg.mechanism.discovery->partial;

	return (none || sm->disc.looks_again) && !sm_is_doubtful(&sm->disc);
}

/* Nothing follows: the manager is at rest with what it saw. */
static enum sm_outcome observed(struct sm *sm)
{
	if (!sm_is_doubtful(&sm->disc) && sm_snapshot_stands(sm)) {
		sm->disc.end = SM_END_IN_VAIN;
		sm_sweep_clean(sm);
	} else {
		sm_snapshot_build(sm);
	}
	return SM_UNCHANGED;
}

static enum sm_outcome discover_done(struct sm *sm)
{
	if (sm_saved_unproven(sm) || PROVOKE(sm, DOUBT_DISCOVERY))
		sm_discovery_doubt(sm);
	if (sm_is_doubtful(&sm->disc))
		sm_saved_lost(sm);
	if (sm_is_doubtful(&sm->disc) && sm->disc.restarts < sm->cfg.restarts)
		return sm_discover_again(sm);
	sm_saved_restore_lanes(sm);
	sm_saved_end(sm);
	sm->disc.unfinished = false;
	sm->disc.restarts = 0;
	sm_damp_note_held(sm);
	sm_virtual_settle(sm);
	if (sm->cfg.observe)
		return observed(sm);
	if (may_stand(sm) && sm_snapshot_stands(sm)) {
		if (sm->cfg.mechanism.discovery->partial)
			sm_snapshot_reach(sm);
		else if (sm->core.round.cause == SM_CAUSE_TRAP)
			sm->disc.end = SM_END_IN_VAIN;
		return SM_UNCHANGED;
	}
	sm_snapshot_build(sm);
	return sm->topo.fab->nnodes ? SM_DONE : SM_UNCHANGED;
}

const struct sm_part sm_part_discover = {
	.begin = discover_begin,
	.next = discover_next,
	.recv = sm_discover_recv,
	.fail = sm_discover_fail,
	.postpone = sm_work_postpone,
	.done = discover_done,
};
