/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partial discovery (thesis 5.4): keeps what is known, reads the ports of switches that report a
 * change, explores ports that came up, and finds new routes to devices that are cut off. State:
 * marks in the topology database. Does not forget a LID. One part serves two phases: a sweep
 * polls every switch, and turns into a discovery with the first one that reports a change, while
 * other responses are outstanding.
 */
#include "sm/tables/random_tables.h"

/* ---- questions ---- */

enum { PEEKS = 12 };

static bool leads_to_switch(const struct sm *sm, uint32_t port)
{
	uint32_t peer = sm->topo.ports.at[port].peer;

	return peer != NONE &&
	       sm->topo.nodes.at[sm->topo.ports.at[peer].node].type == IBA_NODE_SWITCH;
}

/* Few enough inter-switch links to probe them all. */
static bool has_few_links(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	unsigned links = 0;

	for (unsigned p = 1; p <= n->nports; p++)
		links += leads_to_switch(sm, n->first_port + p);
	return links <= PEEKS;
}

/*
 * What a switch that reported a change is asked at once, so that a dead link is known first. All
 * of it is read again once PortStateChange is cleared; a switch with many links is read only
 * then.
 */
static void peek(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (unsigned p = 1; p <= n->nports; p++)
		if (leads_to_switch(sm, n->first_port + p))
			sm_ask_port(sm, Q_PORT_PEEK, n->first_port + p);
}

void sm_switch_reported(struct sm *sm, uint32_t node)
{
	bool first = sm->topo.nodes.at[node].ask.told != sm->topo.epoch;

	sm->topo.nodes.at[node].ask.told = sm->topo.epoch;
	if (first && sm_early_repair_possible(sm) &&
	    sm->topo.nodes.at[node].type == IBA_NODE_SWITCH && has_few_links(sm, node))
		peek(sm, node);
	if (!sm->topo.nodes.at[node].gone && sm->topo.nodes.at[node].type == IBA_NODE_SWITCH &&
	    sm->topo.ports.at[sm->topo.nodes.at[node].first_port].ask.mark == SM_REACHABLE)
		sm_poll(sm, node);
}

/*
 * A known switch, found through a port that came up: if it was missing this is a route to it, and
 * if it was not polled yet it may report more. Either way this route just worked; the known one
 * may date from before the switch was off.
 */
void sm_switch_found_again(struct sm *sm, uint32_t node, struct sm_path path)
{
	struct sm_node *n = &sm->topo.nodes.at[node];

	if (sm->topo.ports.at[n->first_port].ask.mark == SM_MISSING ||
	    (n->ask.polled != sm->topo.epoch && node != 0)) {
		sm_node_path(sm, node, path);
		sm_poll(sm, node);
	}
}

static void endport_begin(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct sm_path lid = {.via = p->pi.lid};

	p->ask.mark = SM_REACHABLE;
	if (sm->core.incomplete)
		sm_port_by_lid(sm, port, sm_route_holds(sm, port));
	if (sm_is_own(sm, p) || !p->by_lid || sm->cfg.plain)
		return;
	if (sm->topo.nodes.at[p->node].type == IBA_NODE_SWITCH) {
		lid.distance = sm->topo.nodes.at[p->node].path.distance;
		sm_node_path(sm, p->node, lid);
	} else {
		lid.distance = p->path.distance;
		sm_port_path(sm, port, lid);
	}
}

static void suspects_begin(struct sm *sm)
{
	for (size_t i = 0; i < sm->disc.suspects.n; i++) {
		uint32_t node = sm->disc.suspects.at[i];

		sm_switch_reported(sm, node);
		if (node == 0 && sm->topo.nodes.at[0].type != IBA_NODE_SWITCH)
			sm_ask_port(sm, Q_PORT_AGAIN, sm_own_port(sm));
	}
	sm->disc.suspects.n = 0;
}

/* Ports that may have come up unseen: see sm_changes_hidden(). */
static void reread_begin(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->topo.nodes.n; i++) {
		struct sm_node *n = &sm->topo.nodes.at[i];

		for (unsigned p = 1; n->ask.reread && p <= n->nports; p++)
			if (sm->topo.ports.at[n->first_port + p].pi.state == IBA_PORT_DOWN)
				sm_ask_port(sm, Q_PORT_AGAIN, n->first_port + p);
		n->ask.reread = false;
	}
}

static enum sm_outcome partial_begin(struct sm *sm)
{
	sm_silent_begin(sm);
	sm_epoch_begin(sm);
	sm->disc.kind = SM_DISCOVERY_PARTIAL;
	sm->disc.view = SM_VIEW_TRUE;
	sm->disc.end = SM_END_COMPLETE;
	sm->disc.findings = 0;
	sm->disc.presumes = false;
	sm_work_clear(sm);
	if (sm->core.phase != SM_SWEEP) { /* a sweep does not postpone retries and audits */
		sm_retry_never(sm);
		sm_audit_never(sm);
	}
	for (uint32_t p = 0; p < sm->topo.ports.n; p++)
		if (sm_in_use(sm, p))
			endport_begin(sm, p);
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		sm->topo.nodes.at[n].ask.tries = 0;
	if (sm->core.phase == SM_SWEEP) {
		sm_sweep_start(sm);
		for (uint32_t i = 0; i < sm->topo.fab->nswitches; i++)
			sm_poll(sm, sm->topo.node_of[sm->topo.fab->switches[i]]);
	}
	suspects_begin(sm);
	if (sm->core.phase != SM_SWEEP)
		sm_virtual_discover(sm);
	if (sm->core.phase != SM_SWEEP)
		reread_begin(sm);
	if (sm->core.phase != SM_SWEEP && sm->core.round.cause == SM_CAUSE_FAR)
		sm_follow_far(sm);
	return SM_GOING_ON;
}

/* A held link that is the only way to a switch. Its port is read first: it may be down by now. */
static bool relent(struct sm *sm)
{
	uint32_t port = sm->core.phase == SM_DISCOVER ? sm_damp_release_only_way(sm) : NONE;

	if (port != NONE)
		sm_ask_port(sm, Q_PORT_AGAIN, port);
	return port != NONE;
}

/* What was found may be two devices with one GUID; a sweep that found nothing asks nothing. */
static bool judge_twins(struct sm *sm)
{
	return sm->core.phase == SM_DISCOVER && sm_twins_judge(sm);
}

static void ask_lid(struct sm *sm, uint32_t node);

/* Both ends of a link are trained together: this end seems not to have been. */
static bool seems_untrained(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port], *q;

	if (p->peer == NONE || !p->num || p->pi.state < IBA_PORT_ARMED)
		return false;
	q = &sm->topo.ports.at[p->peer];
	return q->num && q->pi.state == IBA_PORT_INIT && q->ask.known && p->ask.known &&
	       sm->topo.nodes.at[q->node].type == IBA_NODE_SWITCH;
}

/*
 * A switch at the other end of a link that was trained again did not report that: another manager has cleared its
 * PortStateChange, and may have been its master. Its ports are read, and which master it names. True: something is asked.
 */
static bool compare_ends(struct sm *sm)
{
	bool any = false;

	for (uint32_t i = 0; sm->core.phase == SM_DISCOVER && i < sm->topo.nodes.n; i++) {
		struct sm_node *n = &sm->topo.nodes.at[i];
		bool differs = false;

		if (n->gone || n->type != IBA_NODE_SWITCH || n->ask.compared == sm->topo.epoch)
			continue;
		for (unsigned p = 1; !differs && p <= n->nports; p++)
			differs = seems_untrained(sm, n->first_port + p);
		if (!differs)
			continue;
		n->ask.compared = sm->topo.epoch;
		n->ask.unread = true;
		sm_poll(sm, i);
		ask_lid(sm, i);
		any = true;
	}
	return any;
}

/* If this fails, PortStateChange stays set, and the next sweep finds it. */
static bool clear_deferred(struct sm *sm)
{
	return !sm_is_doubtful(&sm->disc) && sm_clear_deferred(sm);
}

/* ---- the part ---- */

/* A known switch that is missing is not asked by its old route. */
static bool is_moot(const struct sm *sm, struct sm_work w)
{
	return sm_work_spared(sm, w) || sm_is_silent_work(sm, w) ||
	       (sm_question_of_known(w.question) && sm_is_missing(sm, w.target.node));
}

static bool partial_next(struct sm *sm, struct sm_req *r)
{
	for (;;) {
		struct sm_work w;

		sm_work_resume(sm);
		if (!sm_work_left(sm)) {
			if (sm->txn.outstanding || sm->disc.end == SM_END_EARLY)
				return false;
			sm_reconnect(sm);
			if (!sm_work_left(sm) && !judge_twins(sm) && !relent(sm) &&
			    !compare_ends(sm) && !clear_deferred(sm))
				return false;
			continue;
		}
		w = sm_work_take(sm);
		if (is_moot(sm, w) || sm_work_waits(sm, w))
			continue;
		sm_work_make(sm, w, r);
		return true;
	}
}

/* It restarted: everything about it is asked and set again, as if it were new. */
static void switch_restarted(struct sm *sm, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];

	sm_row_restarted(sm, n->row);
	n->ask.has_si = false;
	sm_switch_restart(sm,
			  node); /* reported once, however often it is asked until all is done */
	n->ask.ports_left = 0;
	sm_discovery_found(sm, SM_FOUND_CHANGE);
	for (unsigned p = 0; p <= n->nports; p++) {
		sm_unlink_port(sm, n->first_port + p);
		sm_port_forget(sm, n->first_port + p);
	}
	sm_mark_cut_off(sm);
	sm_ask_node(sm, Q_SWITCH_INFO, node);
}

/*
 * PortStateChange has to be cleared before the ports are read. SMPs to one switch by one path
 * keep their order, so the reads follow the Set without waiting for its response; when that does
 * not arrive first and at the first try, the ports are read again.
 */
static void ask_ports(struct sm *sm, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];
	bool in_order =
		has_few_links(sm, node); /* else links to other switches first: they matter most */

	sm_discovery_found(sm, SM_FOUND_PORTS_TO_READ);
	n->ask.reads_left = n->nports;
	n->ask.armed = n->ask.explained = false;
	for (unsigned p = 1; p <= n->nports; p++)
		if (in_order || leads_to_switch(sm, n->first_port + p))
			sm_ask_port(sm, Q_PORT_STATE, n->first_port + p);
	for (unsigned p = 1; !in_order && p <= n->nports; p++)
		if (!leads_to_switch(sm, n->first_port + p))
			sm_ask_port(sm, Q_PORT_STATE, n->first_port + p);
}

/*
 * Does it still have its LID? The question may be dropped when the switch turns out to be missing: until it
 * is answered the switch is in doubt, and asked again when it is found.
 */
static void ask_lid(struct sm *sm, uint32_t node)
{
	sm_switch_doubt(sm, node);
	sm_ask_port(sm, Q_PORT_AGAIN, sm->topo.nodes.at[node].first_port);
}

static void on_poll(struct sm *sm, uint32_t node, const uint8_t *data)
{
	struct sm_node *n = &sm->topo.nodes.at[node];
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	sm->topo.ports.at[n->first_port].ask.mark = SM_REACHABLE;
	if ((!si.linear_top && n->si.linear_top) || sm_rft_restarted(sm, node, &si)) {
		sm_sweep_noticed(sm, SM_CAUSE_SWEEP, sm_about_node(sm, node));
		switch_restarted(sm, node);
		return;
	}
	sm_switch_learn(sm, node, &si);
	/*
	 * It did not answer by its LID: does it still have it? When a switch restarted and
	 * LinearFDBTop was written before the restart was noticed, only its LID shows it.
	 */
	if (n->ask.silent || n->ask.doubt)
		ask_lid(sm, node);
	n->ask.mute &= n->ask.silent;
	n->ask.silent = false;
	if (!si.port_state_change && !n->ask.unread) {
		sm_ports_risen(sm, node);
		return;
	}
	sm_sweep_noticed(sm, SM_CAUSE_SWEEP, sm_about_node(sm, node));
	n->ask.unread = true; /* until its ports are read */
	n->ask.found = !si.port_state_change;
	sm_ask_node(sm, Q_CLEAR_KNOWN, node);
	ask_ports(sm, node);
}

/*
 * A Set writes all of SwitchInfo, so a switch that had just restarted looks as if it had not.
 * When this Set was repeated, or another came while a change was reported, the LID of the switch
 * shows it.
 */
static void on_cleared(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_node *n = &sm->topo.nodes.at[t->target.node];
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	sm_switch_learn(sm, t->target.node, &si);
	if (t->tries > 1 || n->ask.doubt ||
	    sm->cfg.plain) /* without its LID it would not answer LID-routed SMPs; directed ones it answers */
		ask_lid(sm, t->target.node);
	if (t->tries > 1 || n->ask.reads_left != n->nports)
		ask_ports(sm, t->target.node);
}

/*
 * A port that is up and was not, or that is in a lower state than it was left in (the link was
 * down in between), is explored: another device may be behind it now.
 */
static void on_port_state(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct sm_node *n = &sm->topo.nodes.at[p->node];
	unsigned was = p->pi.state;

	sm_port_learn(sm, port, data);
	sm_port_rises(sm, port);
	n->ask.explained |=
		p->pi.state == IBA_PORT_DOWN ? was != IBA_PORT_DOWN : was == IBA_PORT_DOWN;
	n->ask.found |= p->pi.state != was;
	n->ask.armed |= p->pi.state >= IBA_PORT_ARMED;
	if (sm_damp_port_read(sm, port, was) && p->pi.state != IBA_PORT_DOWN) {
		if (sm_unlink_port(sm, port))
			sm_mark_cut_off(sm);
		return;
	}
	if (p->pi.state == IBA_PORT_DOWN) {
		sm_link_lost(sm, port);
		return;
	}
	if (p->peer != NONE && p->pi.state >= was && was != IBA_PORT_DOWN)
		return;
	sm_discovery_found(sm, SM_FOUND_CHANGE);
	n->ask.found = true;
	if (sm_unlink_port(sm, port))
		sm_mark_cut_off(sm);
	sm_follow(sm, port);
}

/*
 * A switch that restarted may have been armed again before it was asked: its ports look as they
 * should, but its LID is gone.
 */
static void on_port0(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	sm->topo.nodes.at[p->node].ask.doubt = false;
	if (p->has_lid && (pi.lid != p->pi.lid || pi.sm_lid != sm->lids.own))
		switch_restarted(sm, p->node);
}

/*
 * A host that restarted after it was configured and before its port was armed: the port looks as it should. Another port
 * may explain what the switch reported.
 */
static void hosts_restarted(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (unsigned i = 1; i <= n->nports; i++) {
		const struct sm_port *p = &sm->topo.ports.at[n->first_port + i];
		uint32_t host = p->peer == NONE ? NONE : sm->topo.ports.at[p->peer].node;

		if (host == NONE || sm->topo.nodes.at[host].type == IBA_NODE_SWITCH ||
		    (n->ask.found && !p->ask.rises))
			continue;
		sm_pkeys_restarted(sm, host);
		sm_virtual_restarted(sm, host);
	}
}

static void read_one(struct sm *sm, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];

	if (!n->ask.reads_left || --n->ask.reads_left)
		return;
	n->ask.unread = false;
	/*
	 * Nothing explains the change that it reported; or no port is Armed or Active, as after a restart: the
	 * Set that cleared PortStateChange has written LinearFDBTop again, so only its LID shows that.
	 */
	if (!n->ask.explained || !n->ask.armed)
		ask_lid(sm, node);
	hosts_restarted(sm, node);
	if (!n->ask.found)
		sm_damp_unseen_change(sm, node);
}

static bool is_down(const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	return pi.state == IBA_PORT_DOWN;
}

/* Answers may overtake each other: of two reads of a port, the one that was requested later counts. */
static bool is_outdated(struct sm *sm, const struct sm_txn *t)
{
	struct sm_port_inquiry *a = &sm->topo.ports.at[t->target.port].ask;

	if (t->number < a->read)
		return true;
	a->read = t->number;
	return false;
}

static void on_port_read(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t port = t->target.port;

	if (is_outdated(sm, t))
		return;
	if (sm->topo.ports.at[port].num)
		on_port_state(sm, port, data);
	else
		on_port0(sm, port, data);
}

static enum sm_outcome partial_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t node = t->target.node, port = t->target.port;
	enum sm_outcome o;

	sm_work_answered(sm, node);
	switch (t->question) {
	case Q_POLL:
		on_poll(sm, node, data);
		break;
	case Q_CLEAR_KNOWN:
		on_cleared(sm, t, data);
		break;
	case Q_PORT_STATE:
		if (is_down(data) && !has_few_links(sm, node) && sm_early_repair_switch(sm, port))
			break;
		on_port_read(sm, t, data);
		read_one(sm, node);
		break;
	case Q_PORT_AGAIN:
		o = sm_election_port_seen(sm, port, data);
		if (o != SM_GOING_ON)
			return o;
		on_port_read(sm, t, data);
		break;
	case Q_PORT_PEEK:
		if (is_down(data))
			sm_early_repair_link(sm, port);
		break;
	case Q_NODE_INFO:
	case Q_SWITCH_INFO:
	case Q_CLEAR_CHANGE:
	case Q_PORT_INFO:
	case Q_SET_LID:
	case Q_TABLE:
	case Q_MFT:
	case Q_STAMP:
	case Q_TURN:
	case Q_SM_INFO:
	case Q_TWIN:
	case Q_PORT_CHECK:
	case Q_VF_INFO:
		return sm_discover_recv(sm, t, data);
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
	return SM_GOING_ON;
}

/* A known switch that does not answer is missing: it may be reached another way. */
static enum sm_outcome partial_fail(struct sm *sm, const struct sm_txn *t)
{
	struct sm_node *n;

	if (t->question == Q_PORT_PEEK || t->question == Q_SM_INFO)
		return SM_GOING_ON; /* the port is read for certain later; no SM answers */
	if (!sm_question_of_known(t->question)) {
		sm_sweep_noticed(sm, SM_CAUSE_SILENCE, sm_about_target(sm, &t->target));
		return sm_discover_fail(sm, t);
	}
	n = &sm->topo.nodes.at[t->target.node];
	sm_note_failed(sm, t);
	sm_sweep_noticed(sm, SM_CAUSE_SILENCE, sm_about_target(sm, &t->target));
	n->ask.silent = true;
	n->ask.mute |= t->question == Q_POLL && !sm->cfg.plain;
	if (t->question != Q_POLL)
		sm_discovery_doubt(sm); /* its ports were not read: look again */
	sm_mark_missing(sm, n->first_port);
	return SM_GOING_ON;
}

/* ---- the end ---- */

/* LIDs of ports that are there are not for others, however long ago they were last set. */
static void keep_lids(struct sm *sm)
{
	for (uint32_t p = 0; p < sm->topo.ports.n; p++)
		if (sm_in_use(sm, p))
			sm_lid_keep(sm, sm->topo.ports.at[p].guid);
}

/*
 * A switch answers directed SMPs, but none by its LID, and no link changed: then its table is not what it is taken for, such
 * as after a master of another part whose LIDs were the same. It is written again.
 */
static void mute_switches(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->topo.nodes.n; i++) {
		struct sm_node *n = &sm->topo.nodes.at[i];

		if (!n->ask.mute || n->gone || n->row == NONE)
			continue;
		n->ask.mute = false;
		sm_row_forget(sm, n->row);
		sm_discovery_found(sm, SM_FOUND_CHANGE);
	}
}

static enum sm_outcome partial_done(struct sm *sm)
{
	sm_drop_missing(sm);
	keep_lids(sm);
	if (sm->core.phase == SM_SWEEP && !sm_is_doubtful(&sm->disc)) {
		sm_paths_rebuild(sm);
		sm_sweep_clean(sm);
		return SM_UNCHANGED;
	}
	/* A sweep that ends in doubt was more than one. */
	sm_sweep_noticed(sm, SM_CAUSE_SILENCE, SM_ABOUT_NOTHING);
	if (sm_is_doubtful(&sm->disc) && sm->disc.restarts < sm->cfg.restarts)
		return sm_discover_again(sm);
	sm->disc.restarts = 0;
	sm_early_repair_verify(sm);
	sm_damp_note_held(sm);
	sm_paths_rebuild(sm);
	if (!(sm->disc.findings & SM_FOUND_CHANGE))
		mute_switches(sm);
	if (!(sm->disc.findings & SM_FOUND_CHANGE) && !sm->core.incomplete) {
		sm->disc.end = SM_END_IN_VAIN;
		return SM_UNCHANGED;
	}
	sm_virtual_settle(sm);
	sm_snapshot_build(sm);
	return sm->topo.fab->nnodes ? SM_DONE : SM_UNCHANGED;
}

const struct sm_part sm_part_partial = {
	.begin = partial_begin,
	.next = partial_next,
	.recv = partial_recv,
	.fail = partial_fail,
	.postpone = sm_work_postpone,
	.done = partial_done,
};
