/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The election: from an event to the action and the next state, by election_table.h. State: struct
 * sm_election. Way in: sm_election_event(). Does not send anything: asks.c does.
 *
 * While the master is not known (sm_contest_open()) a discovery sets nothing that another manager may have
 * set. A master opens that contest again when it sees signs of another master: see GUARD.
 */
#include "sm/manager.h"

static void state_set(struct sm *sm, enum iba_sm_state to)
{
	if (sm->election.state == to)
		return;
	sm_note(sm, .kind = SM_NOTE_STATE, .state = {sm->election.state, to});
	sm->election.state = to;
}

/* ---- what other rooms ask ---- */

bool sm_contest_open(const struct sm *sm)
{
	return sm->cfg.contest &&
	       (sm->election.state == IBA_SM_DISCOVERING || sm->election.guarded);
}

/*
 * It has a LID and the LID of its SM. If that is the LID of this SM's port, an earlier SM at this port may have set it,
 * or the SM of another subnet that has the same LID: two subnets may just have been joined.
 */
bool sm_is_managed(const struct iba_port_info *pi)
{
	return pi->lid && pi->sm_lid;
}

bool sm_election_had_rival(struct sm *sm)
{
	bool rival = sm->election.rival;

	sm->election.rival = false;
	return rival;
}

bool sm_election_keeps_lids(const struct sm *sm)
{
	return sm->election.keep_lids;
}

void sm_election_round_ended(struct sm *sm)
{
	sm->election.keep_lids = false;
}

/* ---- actions ---- */

/* Another manager configures the devices, or has configured them: nothing that is known of them lasts. */
static void forget_devices(struct sm *sm)
{
	sm_tables_forget(sm);
	sm_saved_lost(sm);
	sm_routes_forget(sm);
	sm_ahead_reset(sm);
	sm_lids_unrouted(sm);
	sm_arrive(sm);
	sm_unfinished(sm);
	sm_retry_never(sm);
	sm_audit_never(sm);
}

static enum sm_outcome rest(struct sm *sm)
{
	struct sm_election *e = &sm->election;

	sm_forget_outstanding(sm);
	sm_round_abandon(sm);
	sm_election_ask_none(sm);
	sm_poll_stop(sm);
	sm_settle_end(sm);
	e->rival = e->guarded = e->keep_lids = e->reread = false;
	e->check_until = TIME_NEVER;
	return sm->core.phase == SM_STANDBY ? SM_GOING_ON : SM_OUTRANKED;
}

/* The first poll tells the master at once that there is a standby; an heir needs a moment to take over. */
static enum sm_outcome stand_by(struct sm *sm, const struct sm_contact *master)
{
	bool handed = sm->election.state == IBA_SM_MASTER;
	struct sm_contact c = *master;
	enum sm_outcome o;

	if (sm->election.state == IBA_SM_DISCOVERING) /* it set nothing since it took over */
		sm_mirror_return(sm);
	sm_saved_drop(sm);
	sm_saved_end(sm);
	forget_devices(sm);
	o = rest(sm);
	sm_poll_start(sm, &c, sm->core.now + (handed ? sm->cfg.standby_poll_ps : 0));
	return o;
}

static void note_taking_over(struct sm *sm, const struct sm_contact *from)
{
	sm_note(sm, .kind = SM_NOTE_TAKING_OVER, .about = sm_about_contact(sm, from),
		.election = {.from = from->guid, .to = sm_own_guid(sm)});
}

static enum sm_outcome take_over(struct sm *sm, enum sm_cause cause)
{
	struct sm_subject master = sm_about_contact(sm, &sm->election.polled);

	note_taking_over(sm, &sm->election.polled);
	sm_poll_stop(sm);
	sm_arrive(sm);
	return sm_changed(sm, cause, master);
}

/* At rest, in discovery and while it settles a master may leave its work; else tables are half written. */
static bool may_leave(const struct sm *sm)
{
	return sm->core.phase == SM_READY || sm->core.phase == SM_SWEEP ||
	       sm->core.phase == SM_DISCOVER || sm->core.phase == SM_SETTLE;
}

/* Discovers all and repairs what another manager changed. LIDs that a sitting master assigned stay. */
static enum sm_outcome read_back(struct sm *sm, const struct sm_met *m)
{
	struct sm_subject about = m->at ? sm_about_contact(sm, m->at) : SM_ABOUT_NOTHING;

	if (sm->election.state == IBA_SM_MASTER && !may_leave(sm)) {
		sm_poll_stop(sm);
		sm_settle_end(sm); /* what it waited for is over */
		sm->election.reread = true;
		return SM_GOING_ON;
	}
	if (m->at)
		note_taking_over(sm, m->at);
	sm->election.guarded = true;
	sm->election.keep_lids = sm->election.state == IBA_SM_MASTER;
	sm->election.reread = sm->election.meek = false;
	sm_poll_stop(sm);
	sm_settle_end(sm);
	forget_devices(sm);
	return sm_changed(sm, m->cause ? m->cause : SM_CAUSE_HANDOVER, about);
}

static enum sm_outcome guard(struct sm *sm, const struct sm_met *m)
{
	sm->election.guarded = true;
	sm->election.keep_lids = true;
	forget_devices(sm);
	return sm_changed(sm, m->cause ? m->cause : SM_CAUSE_SWEEP, SM_ABOUT_NOTHING);
}

static enum sm_outcome discover(struct sm *sm, const struct sm_met *m)
{
	if (m->late)
		sm_arrive(sm);
	return sm_changed(sm, m->cause, SM_ABOUT_NOTHING);
}

static enum sm_outcome lead(struct sm *sm)
{
	sm->election.guarded = false;
	sm->election.meek = false;
	return SM_GOING_ON;
}

static enum sm_outcome check(struct sm *sm, const struct sm_met *m)
{
	sm_note(sm, .kind = SM_NOTE_STALLED, .election = {.ms = m->late / PS_PER_MS});
	sm->election.absent = m->late >= sm->cfg.standby_poll_ps * sm->cfg.standby_tries;
	sm_check_start(sm);
	if (sm->election.absent) { /* another one may have been master, and gone since */
		sm_claims_doubt(sm);
		sm_look_for_hidden(sm);
	}
	return SM_GOING_ON;
}

/* As after a start: other managers may have elected a master, and nothing that is known of devices lasts. */
static enum sm_outcome come_back(struct sm *sm)
{
	sm_election_ask_none(sm);
	sm_poll_stop(sm);
	sm_settle_end(sm);
	sm->election.guarded = sm->election.keep_lids = sm->election.reread = false;
	sm->election.returns = true;
	forget_devices(sm);
	sm_full_discovery_needed(sm);
	return sm_changed(sm, SM_CAUSE_OWN_PORT, sm_about_node(sm, 0));
}

void sm_look_for_hidden(struct sm *sm)
{
	if (sm_changes_hidden(sm))
		sm_change_later(sm, SM_CAUSE_HIDDEN, SM_ABOUT_NOTHING);
}

/*
 * The Sets of another manager that discovers may hide a change from a discovery that runs. So may those of one that
 * stands by, if it was not known to: it may have discovered until now. A master looks once more, not for as long as
 * the other one discovers.
 */
static void again_later(struct sm *sm, const struct sm_contact *at)
{
	const struct sm_other *o = sm_other_find(sm, at->guid);

	if (o && o->state == IBA_SM_STANDBY && !o->fresh)
		return;
	if (sm->core.phase != SM_DISCOVER)
		sm_look_for_hidden(sm);
	else if (sm->election.state != IBA_SM_MASTER || (sm->core.round.cause != SM_CAUSE_RETRY &&
							 sm->core.round.cause != SM_CAUSE_HIDDEN))
		sm->election.rival = true;
}

static enum sm_outcome act(struct sm *sm, enum sm_election_action a, const struct sm_met *m)
{
	switch (a) {
	case SM_ACTION_IGNORE:
		break;
	case SM_ACTION_REFUSE:
		sm->election.refused++;
		break;
	case SM_ACTION_DISCOVER:
		return discover(sm, m);
	case SM_ACTION_LEAD:
		return lead(sm);
	case SM_ACTION_STAND_BY:
		return stand_by(sm, m->at);
	case SM_ACTION_TAKE_OVER:
		return take_over(sm, m->cause ? m->cause : SM_CAUSE_HANDOVER);
	case SM_ACTION_ALIVE:
		sm->election.misses = 0;
		break;
	case SM_ACTION_MISS:
		return sm_poll_missed(sm);
	case SM_ACTION_FORGIVE:
		sm_election_ask_none(sm);
		sm->election.misses = 0;
		sm->election.poll_at = sm->core.now;
		break;
	case SM_ACTION_REST:
		return rest(sm);
	case SM_ACTION_AGAIN_LATER:
		again_later(sm, m->at);
		break;
	case SM_ACTION_VERIFY:
		sm_election_ask(sm, SM_ASK_ACKNOWLEDGE, m->at);
		sm_election_ask(sm, SM_ASK_VERIFY, m->at);
		break;
	case SM_ACTION_HAND_OVER:
		return sm_handover_begin(sm, m->at);
	case SM_ACTION_AWAIT:
		return sm_settle_await(sm, m->at);
	case SM_ACTION_READ_BACK:
		return read_back(sm, m);
	case SM_ACTION_GUARD:
		return guard(sm, m);
	case SM_ACTION_CHECK:
		return check(sm, m);
	case SM_ACTION_RETURN:
		return come_back(sm);
	case SM_NELECTION_ACTIONS:
		break;
	}
	return SM_GOING_ON;
}

enum sm_outcome sm_election_event(struct sm *sm, enum sm_election_event ev, struct sm_met m)
{
	const struct sm_election_row *row = sm_election_row(sm->election.state, ev);
	enum sm_outcome o;

	sm->election.taken[row->state][ev]++;
	if (ev == SM_EVENT_ACCEPTED && row->action == SM_ACTION_STAND_BY)
		sm_note(sm, .kind = SM_NOTE_HANDING_OVER, .about = sm_about_contact(sm, m.at),
			.election = {.from = sm_own_guid(sm), .to = m.at->guid});
	o = act(sm, row->action, &m);
	if (row->next != row->state) /* an action that reports events of its own leaves the state */
		state_set(sm, row->next);
	return o;
}

enum sm_outcome sm_election_start(struct sm *sm)
{
	if (sm->cfg.observe) /* it stays NotActive */
		return sm_changed(sm, SM_CAUSE_START, SM_ABOUT_NOTHING);
	return sm_election_event(sm, SM_EVENT_START, (struct sm_met){.cause = SM_CAUSE_START});
}

/* ---- signs of another master ---- */

/* A manager's host that was cut off, and was master of itself meanwhile: it brings no other device, and is asked. */
static bool is_lone_manager(const struct sm *sm, const struct sm_port *p,
			    const struct iba_port_info *pi)
{
	return sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH && pi->state == IBA_PORT_INIT &&
	       pi->sm_lid == pi->lid;
}

/* Devices of this master have its LID as MasterSMLID, and the LID that it assigned. */
enum sm_outcome sm_election_port_seen(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_election *e = &sm->election;
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	sm_own_guid_keep(sm);
	if (!sm->cfg.contest || e->state != IBA_SM_MASTER || sm->disc.arrival != SM_SETTLED ||
	    !sm->lids.own || !sm_is_endport(sm, p) || sm_is_own(sm, p) || e->foreign == p->guid)
		return SM_GOING_ON;
	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (!pi.lid || !pi.sm_lid || is_lone_manager(sm, p, &pi) ||
	    (pi.sm_lid == sm->lids.own && pi.lid == sm_lid_of(sm, p->guid, NULL)))
		return SM_GOING_ON;
	e->foreign = p->guid;
	return sm_election_event(sm, SM_EVENT_FOREIGN, (struct sm_met){.cause = SM_CAUSE_SWEEP});
}

/*
 * A manager that starts where there is a master only stands by: that needs no discovery. If no master answers there, it
 * discovers, and meets the others then. One that comes back asks those that it knows as well.
 */
void sm_election_own_port_read(struct sm *sm, const struct iba_port_info *pi)
{
	struct sm_election *e = &sm->election;
	struct sm_contact c = {.port = NONE, .lid = pi->sm_lid};
	bool returns = e->returns && pi->state != IBA_PORT_DOWN;

	if (!sm->cfg.contest || e->state != IBA_SM_DISCOVERING)
		return;
	if (returns) {
		e->returns = false;
		sm_check_start(sm);
	}
	if (!sm_is_managed(pi) || !(returns || sm->core.round.cause == SM_CAUSE_START) ||
	    pi->sm_lid == pi->lid || pi->sm_lid > IBA_LID_MAX_UNICAST || pi->sm_lid == e->named)
		return;
	e->named = pi->sm_lid;
	e->check_until = sm->core.now + 4 * sm_timeout(sm);
	sm_election_ask(sm, SM_ASK_MASTER, &c);
}

bool sm_election_cut_off(const struct sm *sm)
{
	return sm->topo.nodes.n && sm->topo.nodes.at[0].type != IBA_NODE_SWITCH &&
	       sm->topo.ports.at[sm_own_port(sm)].ask.known &&
	       sm->topo.ports.at[sm_own_port(sm)].pi.state == IBA_PORT_DOWN;
}

/* A manager that knows no other one goes on: what it knows of devices is true. */
enum sm_outcome sm_election_relinked(struct sm *sm)
{
	if (!sm->cfg.contest || !sm->election.others.n || !sm_election_cut_off(sm))
		return SM_GOING_ON;
	return sm_election_event(sm, SM_EVENT_RELINKED, (struct sm_met){0});
}

bool sm_election_reads_port0_first(const struct sm *sm)
{
	return sm_contest_open(sm) || (sm->cfg.contest && sm->election.state == IBA_SM_MASTER);
}

/* The cable may lead elsewhere now, and so do all paths: a discovery that runs cannot be trusted either. */
static enum sm_outcome own_link_trained(struct sm *sm)
{
	sm_full_discovery_needed(sm);
	if (may_leave(sm) && sm->core.phase != SM_SETTLE)
		return sm_changed(sm, SM_CAUSE_OWN_PORT, sm_about_node(sm, 0));
	sm_change_later(sm, SM_CAUSE_OWN_PORT, sm_about_node(sm, 0));
	return SM_GOING_ON;
}

/* Whether the port still names this master. */
enum sm_outcome sm_election_own_port_looked(struct sm *sm, const struct iba_port_info *pi)
{
	if (!sm->cfg.contest || !sm->lids.own || sm->disc.arrival != SM_SETTLED ||
	    ((!pi->sm_lid || pi->sm_lid == sm->lids.own) && (!pi->lid || pi->lid == sm->lids.own)))
		return SM_GOING_ON;
	return sm_election_event(sm, SM_EVENT_CLAIMED, (struct sm_met){.cause = SM_CAUSE_SWEEP});
}

/* A discovery that has just begun knows no device, and reads the port itself. */
static bool own_port_was_active(const struct sm *sm)
{
	return sm->topo.nodes.n && sm->topo.ports.at[sm_own_port(sm)].pi.state == IBA_PORT_ACTIVE;
}

enum sm_outcome sm_own_port_answered(struct sm *sm, const uint8_t *data)
{
	enum sm_outcome o = SM_GOING_ON, claimed;
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (pi.state != IBA_PORT_DOWN && (o = sm_election_relinked(sm)) != SM_GOING_ON)
		return o;
	if (own_port_was_active(sm) && pi.state != IBA_PORT_ACTIVE)
		o = own_link_trained(sm);
	claimed = sm_election_own_port_looked(sm, &pi);
	return claimed == SM_GOING_ON ? o : claimed;
}

bool sm_election_reread_due(struct sm *sm)
{
	bool due = sm->election.reread;

	if (!due)
		return false;
	sm->election.reread = false;
	sm->election.guarded = sm->election.keep_lids = true;
	forget_devices(sm);
	return true;
}

enum sm_outcome sm_election_resync(struct sm *sm)
{
	if (sm->election.state != IBA_SM_MASTER)
		return SM_GOING_ON;
	sm->election.keep_lids = true;
	forget_devices(sm);
	sm_distrust(sm);
	return sm_changed(sm, SM_CAUSE_ORDER, SM_ABOUT_NOTHING);
}

/* ---- life ---- */

void sm_election_init(struct sm *sm)
{
	struct sm_election *e = &sm->election;

	e->poll_at = e->settle_until = e->check_until = TIME_NEVER;
	e->noted_at = e->stranger_at = e->later_from = TIME_NEVER;
}

void sm_election_time_back(struct sm *sm, time_ps by)
{
	struct sm_election *e = &sm->election;

	sm_time_shift(&e->poll_at, by);
	sm_time_shift(&e->settle_until, by);
	sm_time_shift(&e->later_from, by);
	sm_time_shift(&e->check_until, by);
	sm_time_shift(&e->noted_at, by);
	sm_time_shift(&e->stranger_at, by);
	sm_time_shift(&e->looked_at, by);
	for (size_t i = 0; i < e->others.n; i++)
		sm_time_shift(&e->others.at[i].asked_back, by);
	sm_flights_time_back(sm, by);
}

void sm_election_free(struct sm *sm)
{
	vec_free(&sm->election.others);
	vec_free(&sm->election.asks);
}
