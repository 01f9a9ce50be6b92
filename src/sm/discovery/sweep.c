/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * At rest, and sweeps: every period one Get(SwitchInfo) to every switch, LID-routed;
 * PortStateChange shows a change (thesis 3.2.2). The bit of the first switch that reports one is
 * cleared, and discovery begins. State: when the next sweep is due. Does not find out what
 * changed.
 */
#include "sm/tables/random_tables.h"

/* ---- ready ---- */

static void round_end(struct sm *sm)
{
	if (sm_is_doubtful(&sm->disc))
		sm->disc.earlier = SM_VIEW_DOUBTFUL;
	sm_round_end(sm, sm->disc.earlier == SM_VIEW_TRUE && !sm->disc.excluded.n &&
				 !sm->disc.far_ports.n);
}

static time_ps sweep_period(const struct sm *sm)
{
	/* Before the first sweep its duration is estimated: a timeout covers the longest path. */
	time_ps d = sm->sweep.duration ? sm->sweep.duration : sm_timeout(sm);

	if (!sm->cfg.sweep_factor)
		return sm->cfg.sweep_period_ps;
	/* A device may report a response time of hours: the product must not overflow. */
	return MIN(d, TIME_NEVER / 4 / sm->cfg.sweep_factor) * sm->cfg.sweep_factor;
}

void sm_sweep_plan(struct sm *sm)
{
	time_ps period = sweep_period(sm);

	if (sm->core.phase == SM_READY)
		sm->sweep.next = period ? sm->core.now + period : TIME_NEVER;
}

/* Devices beyond 63 hops can be asked now that tables lead to the last switches found. */
static void look_further(struct sm *sm)
{
	uint32_t known = sm->topo.fab ? sm->topo.fab->nnodes : 0;
	bool far = sm->disc.far_ports.n > 0;

	if (far && known > sm->disc.far_nodes) {
		sm_change_later(sm, SM_CAUSE_FAR, SM_ABOUT_NOTHING);
		sm->disc.far_told = false;
	} else if (far && !sm->disc.far_told) {
		sm_note(sm, .kind = SM_NOTE_OUT_OF_REACH,
			.about = sm_about_port(sm, sm->disc.far_ports.at[0]));
		sm->disc.far_told = true;
	}
	sm->disc.far_nodes = far ? known : 0;
}

/*
 * A device did not answer, or was excluded because it refused: retry, less and less often. A
 * retry of a device that refuses stops the traffic of others, so it is rare. A round in vain changes nothing of that:
 * a device that is not known repeats its traps.
 */
static void plan_retry(struct sm *sm, bool in_vain)
{
	time_ps most = sm->disc.excluded.n ? 600 * PS_PER_S : 10 * PS_PER_S;
	time_ps was = sm->sweep.retry_was;

	sm->sweep.retry_at = sm->sweep.retry_was = TIME_NEVER;
	if (sm_election_had_rival(sm) && sm_any_unclaimed(sm))
		sm->disc.look_again = true;
	if (sm->disc.look_again) { /* both discovered at the same time: discover again when it has stopped */
		sm->sweep.retry_at = sm->core.now + sm_timeout(sm);
		return;
	}
	if (sm->disc.earlier == SM_VIEW_TRUE && !sm->disc.excluded.n) {
		sm->sweep.backoff_ps = 0;
		return;
	}
	if (in_vain && was != TIME_NEVER && was > sm->core.now) {
		sm->sweep.retry_at = was;
		return;
	}
	sm->sweep.backoff_ps =
		sm->sweep.backoff_ps ? MIN(2 * sm->sweep.backoff_ps, most) : sm_timeout(sm);
	if (sm->disc.excluded.n)
		sm->sweep.backoff_ps = MAX(sm->sweep.backoff_ps, 10 * PS_PER_S);
	sm->sweep.retry_at = sm->core.now + sm->sweep.backoff_ps;
}

/* A late trap of a change dealt with long ago counts as a sweep, unless it mends what the last round left. */
static bool is_no_round(const struct sm *sm, bool in_vain)
{
	if (sm->cfg.observe)
		return in_vain;
	return in_vain && !(sm->disc.findings & SM_FOUND_PORTS_TO_READ) &&
	       sm->core.round.cause == SM_CAUSE_TRAP && sm->core.st.last.clean && !sm->core.worked;
}

static void arrive_at_rest(struct sm *sm, bool in_vain)
{
	sm->disc.end = SM_END_COMPLETE;
	sm->disc.arrival = SM_SETTLED;
	sm->disc.distrust = false;
	sm_election_round_ended(sm);
	if (!sm->core.round.end) {
		if (is_no_round(sm, in_vain))
			sm_round_drop(sm);
		else
			round_end(sm);
		plan_retry(sm, in_vain);
	}
	sm_virtual_ended(sm);
	look_further(sm);
	sm_qos_check(sm);
	sm_pkeys_at_rest(sm);
	sm_names_begin(sm);
}

/* ---- the SM's own port ---- */

/*
 * While the switch restarts that the SM's host is cabled to, no trap arrives: all of them have to pass it.
 * The host itself knows at once, and asking it costs no SMP on a link. Where other managers are known they are asked as
 * well, as often as a standby asks its master: two masters do not wait for a sweep to find each other.
 */
static void own_port_plan(struct sm *sm)
{
	time_ps period = sm->cfg.own_port_ps;

	if (sm->cfg.contest && sm->election.others.n)
		period = MIN(period, sm->cfg.standby_poll_ps);
	sm->sweep.own_next = period ? sm->core.now + period : TIME_NEVER;
}

static bool is_on_switch(const struct sm *sm)
{
	return !sm->topo.nodes.n || sm->topo.nodes.at[0].type == IBA_NODE_SWITCH;
}

/* The request waits for room in the window; when the next look is due does not depend on it. */
void sm_own_port_due(struct sm *sm)
{
	own_port_plan(sm);
	sm_election_look(sm);
	sm->sweep.own_due = !is_on_switch(sm);
}

static void own_port_make(struct sm *sm, struct sm_req *r)
{
	r->method = IBA_GET;
	r->attr_id = IBA_ATTR_PORT_INFO;
	r->attr_mod = sm->cfg.port;
	r->purpose = SM_FOR_SWEEP;
	r->question = Q_SWEEP_OWN_PORT;
	r->target = sm_target_node(0);
}

static enum sm_outcome own_port_recv(struct sm *sm, enum sm_cause cause, const uint8_t *data)
{
	const struct sm_node *own = &sm->topo.nodes.at[0];
	enum sm_outcome o = SM_GOING_ON;
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (pi.state != IBA_PORT_DOWN)
		o = sm_election_relinked(sm);
	if (o != SM_GOING_ON)
		return o;
	if (sm->cfg.port > own->nports ||
	    pi.state == sm->topo.ports.at[own->first_port + sm->cfg.port].pi.state)
		return sm_election_own_port_looked(sm, &pi);
	sm_suspect(sm, 0);
	return sm_changed(sm, cause, sm_about_node(sm, 0));
}

/* ---- ready, continued ---- */

static enum sm_outcome ready_begin(struct sm *sm)
{
	bool swept = sm->sweep.start != TIME_NEVER && sm->core.round.end;
	bool in_vain = sm->disc.end == SM_END_IN_VAIN, moved, rested;
	time_ps period = sweep_period(sm);

	arrive_at_rest(sm, in_vain);
	moved = sm_moved(sm); /* VMs that move postpone no sweep, nor do groups */
	rested = sm_trees_rested(sm);
	if (moved || rested)
		return SM_GOING_ON;
	own_port_plan(sm);
	/* Spurious traps must not postpone the sweep. */
	if (in_vain && sm->sweep.next != TIME_NEVER && !sm->cfg.observe)
		return SM_GOING_ON;
	/*
	 * Factor 1 means one sweep right after the other: periods count from start to start. But the manager is at rest
	 * in between, however short: others wait for that.
	 */
	sm->sweep.next = !period ? TIME_NEVER
			 : swept ? MAX(sm->core.now + 1, sm->sweep.start + period)
				 : sm->core.now + period;
	return SM_GOING_ON;
}

/*
 * All neighbours of a device that fails send traps. One that came during a round may be about the change that the round
 * was for: a full discovery clears PortStateChange before it reads ports, so a sweep shows whether there was another one.
 */
static bool sweep_shows(const struct sm *sm)
{
	return sm->core.pending.cause == SM_CAUSE_TRAP && !sm->cfg.observe &&
	       !sm->cfg.mechanism.discovery->partial && sm->core.st.last.clean && sm->topo.fab &&
	       sm->topo.fab->nswitches;
}

/* An audit reads what a round left. One that was refused left it unfinished, and is repeated less and less often. */
static bool may_audit(const struct sm *sm)
{
	return sm_audit_open(sm) && sm->audit.due == TIME_NEVER && sm->topo.fab &&
	       (!sm->core.incomplete || sm->sweep.retry_at == TIME_NEVER);
}

/* A sweep that is due asks all switches, those that reported a change among them. */
static enum sm_outcome ready_due(struct sm *sm)
{
	enum sm_outcome o = sm_handover_due(sm);

	if (o != SM_GOING_ON)
		return o;
	if (sm_election_reread_due(sm))
		return sm_changed(sm, SM_CAUSE_HANDOVER, SM_ABOUT_NOTHING);
	if (sm_is_partial(&sm->disc) && sm->core.now >= sm_sweep_at(sm))
		return SM_DUE;
	if (sm->core.change_pending && sweep_shows(sm))
		return sm_sweep_first(sm);
	if (sm->core.change_pending)
		return sm_changed(sm, sm->core.pending.cause, sm->core.pending.about);
	if (may_audit(sm))
		return SM_DOUBTFUL;
	if (sm->virtual.stray && sm->topo.fab) {
		sm_unfinished(sm);
		return sm_changed(sm, SM_CAUSE_SILENCE, SM_ABOUT_NOTHING);
	}
	if (sm_trees_due(sm))
		return SM_GROUPS;
	return sm_vms_due(sm) ? SM_ASKED : SM_GOING_ON;
}

static bool ready_next(struct sm *sm, struct sm_req *r)
{
	if (!sm_defragment_request(sm))
		sm_ahead_request(sm);
	if (sm->sweep.own_due) {
		sm->sweep.own_due = false;
		own_port_make(sm, r);
		return true;
	}
	if (sm->core.now < sm->sweep.next && sm_pkeys_next(sm, r))
		return true;
	return !sm_pkeys_busy(sm) && sm_names_next(sm, r);
}

static enum sm_outcome ready_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (t->question == Q_SWEEP_OWN_PORT)
		return own_port_recv(sm, SM_CAUSE_OWN_PORT, data);
	if (!sm_pkeys_recv(sm, t, data))
		sm_names_recv(sm, t, data);
	return SM_GOING_ON;
}

static enum sm_outcome ready_fail(struct sm *sm, const struct sm_txn *t)
{
	if (t->question != Q_SWEEP_OWN_PORT && !sm_pkeys_fail(sm, t))
		sm_names_fail(sm, t);
	return SM_GOING_ON;
}

const struct sm_part sm_part_ready = {
	.begin = ready_begin,
	.due = ready_due,
	.next = ready_next,
	.recv = ready_recv,
	.fail = ready_fail,
};

/* ---- a sweep ---- */

static enum sm_outcome sweep_begin(struct sm *sm)
{
	sm->disc.kind = SM_DISCOVERY_FULL;
	sm_sweep_start(sm);
	sm->sweep.at = 0;
	sm->sweep.clear = NONE;
	sm->sweep.si.port_state_change = 0;
	return SM_GOING_ON;
}

static bool own_port_next(struct sm *sm, struct sm_req *r)
{
	if (sm->sweep.at++ || !sm->topo.nodes.n)
		return false;
	own_port_make(sm, r);
	return true;
}

static void make_sweep(struct sm *sm, uint32_t node, enum sm_question q, struct sm_req *r)
{
	sm_req_node(sm, r, q == Q_SWEEP ? IBA_GET : IBA_SET, SM_FOR_SWEEP, node,
		    IBA_ATTR_SWITCH_INFO, 0);
	r->lid = sm->topo.ports.at[sm->topo.nodes.at[node].first_port].pi.lid;
	r->question = q;
}

static bool sweep_next(struct sm *sm, struct sm_req *r)
{
	const struct fab *f = sm->topo.fab;

	if (sm->sweep.clear != NONE) {
		make_sweep(sm, sm->sweep.clear, Q_SWEEP_CLEAR, r);
		iba_switch_info_put(&sm->sweep.si, r->data);
		sm->sweep.clear = NONE;
		sm->sweep.at = f->nswitches; /* no more questions: there was a change */
		return true;
	}
	if (!f || !f->nswitches)
		return own_port_next(sm, r);
	if (sm->sweep.at >= f->nswitches)
		return false;
	make_sweep(sm, sm->topo.node_of[f->switches[sm->sweep.at++]], Q_SWEEP, r);
	return true;
}

static enum sm_outcome switch_recv(struct sm *sm, uint32_t node, const uint8_t *data)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (sm_rft_restarted(sm, node, &si))
		return sm_changed(sm, SM_CAUSE_SWEEP, sm_about_node(sm, node));
	if (!si.port_state_change || sm->sweep.si.port_state_change)
		return SM_GOING_ON;
	sm->sweep.si = si; /* with PortStateChange set: writing one clears */
	sm->sweep.clear = node;
	sm_forget_outstanding(sm);
	return SM_GOING_ON;
}

static enum sm_outcome sweep_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (t->question == Q_SWEEP_OWN_PORT)
		return own_port_recv(sm, SM_CAUSE_SWEEP, data);
	if (t->question == Q_SWEEP)
		return switch_recv(sm, t->target.node, data);
	sm->sweep.si.port_state_change = 0;
	return sm_changed(sm, SM_CAUSE_SWEEP, sm_about_target(sm, &t->target));
}

static enum sm_outcome sweep_fail(struct sm *sm, const struct sm_txn *t)
{
	sm->sweep.si.port_state_change = 0;
	return sm_changed(sm, SM_CAUSE_SILENCE, sm_about_target(sm, &t->target));
}

/* All switches were asked, those that sent traps among them: with suspects left, the manager would not be at rest. */
static enum sm_outcome sweep_done(struct sm *sm)
{
	if (!sm->core.change_pending)
		sm->disc.suspects.n = 0;
	sm_sweep_clean(sm);
	return SM_UNCHANGED;
}

const struct sm_part sm_part_sweep = {
	.begin = sweep_begin,
	.next = sweep_next,
	.recv = sweep_recv,
	.fail = sweep_fail,
	.done = sweep_done,
};
