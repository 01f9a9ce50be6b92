/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other managers answer, and what follows when they do not. State: none of its own. Ways in:
 * sm_election_response(), sm_election_due(). Does not act: election.c, polling.c and handover.c do.
 */
#include "sm/manager.h"

/* ---- answers ---- */

/* Where no manager runs any more, the agent of the host refuses Get(SMInfo). A manager that refuses an order runs. */
static bool means_silence(const struct sm_ask *a, bool refused)
{
	switch (a->kind) {
	case SM_ASK_INFO:
	case SM_ASK_MASTER:
	case SM_ASK_POLL:
	case SM_ASK_VERIFY:
		return true;
	case SM_ASK_PORT:
	case SM_ASK_OWN_PORT:
	case SM_ASK_HANDOVER:
		return !refused;
	case SM_ASK_ACKNOWLEDGE:
		break;
	}
	return false;
}

/* This manager did not run for as long as that one waits before it takes over: it may have been master, and died. */
static bool may_have_led(const struct sm *sm, const struct sm_other *o)
{
	return sm->election.state == IBA_SM_MASTER && sm->election.absent &&
	       sm_election_checking(sm) && o->state == IBA_SM_STANDBY;
}

/* It did not answer, or refused. */
static enum sm_outcome unanswered(struct sm *sm, const struct sm_ask *a, bool refused)
{
	struct sm_other *o = sm_other_find(sm, a->to.guid);

	if (o && means_silence(a, refused)) {
		if (!o->silent && o->state == IBA_SM_DISCOVERING) /* it ended while it discovered */
			sm_look_for_hidden(sm);
		sm->election.reread |= !o->silent && may_have_led(sm, o);
		o->silent = true;
	}
	switch (a->kind) {
	case SM_ASK_POLL:
		return sm_poll_missed(sm);
	case SM_ASK_HANDOVER:
		return sm_handover_failed(sm, &a->to, refused);
	case SM_ASK_PORT:
	case SM_ASK_VERIFY:
		return sm_handover_unconfirmed(sm, &a->to, refused);
	case SM_ASK_INFO:
	case SM_ASK_MASTER:
	case SM_ASK_OWN_PORT:
	case SM_ASK_ACKNOWLEDGE:
		break;
	}
	return SM_GOING_ON;
}

static enum sm_outcome on_info(struct sm *sm, const struct sm_ask *a, const uint8_t *data)
{
	const struct sm_other *known = sm_other_find(sm, a->to.guid);
	bool was_master = !known || known->state == IBA_SM_MASTER;
	struct iba_sm_info si;
	struct sm_other *o;

	iba_sm_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (a->to.guid && si.guid != a->to.guid && !(known && si.guid == known->said)) {
		/* another manager is there now */
		sm_contact_in_vain(sm, &a->to);
		if (a->kind == SM_ASK_VERIFY)
			sm_handover_forged(sm);
		return a->kind == SM_ASK_POLL ? sm_poll_missed(sm) : SM_GOING_ON;
	}
	if (!si.guid || si.guid == sm_own_guid(sm) || !sm_other_trusted(sm, &a->to, &si))
		return SM_GOING_ON;
	if (a->kind == SM_ASK_MASTER && si.state != IBA_SM_MASTER)
		return SM_GOING_ON; /* the discovery meets it, and the master */
	o = sm_other_learn(sm, &a->to, &si);
	sm->election.poll_answered |= a->kind == SM_ASK_POLL;
	if (a->kind == SM_ASK_VERIFY)
		return sm_handover_verified(sm, o, was_master);
	if (a->kind != SM_ASK_POLL && sm->election.state == IBA_SM_STANDBY)
		return SM_GOING_ON; /* of others a standby only keeps the list */
	return sm_poll_answered(sm, o);
}

/* By LID the order may have reached another manager: two subnets that were joined have equal LIDs. */
static enum sm_outcome on_acceptance(struct sm *sm, const struct sm_ask *a, const uint8_t *data)
{
	const struct sm_other *o = sm_other_find(sm, a->to.guid);
	struct iba_sm_info si;

	iba_sm_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (o && si.guid && si.guid != o->said && si.guid != o->at.guid) {
		sm_contact_in_vain(sm, &a->to);
		return sm_handover_failed(sm, &a->to, false);
	}
	return sm_election_event(sm, SM_EVENT_ACCEPTED, (struct sm_met){.at = &a->to});
}

/* It answered: the state of a manager, what the own port holds, or an order that it accepted. */
static enum sm_outcome answered(struct sm *sm, const struct sm_ask *a, const uint8_t *data)
{
	switch (a->kind) {
	case SM_ASK_INFO:
	case SM_ASK_MASTER:
	case SM_ASK_POLL:
	case SM_ASK_VERIFY:
		return on_info(sm, a, data);
	case SM_ASK_PORT:
		return sm_handover_claimed(sm, &a->to, data);
	case SM_ASK_OWN_PORT:
		return sm_own_port_answered(sm, data);
	case SM_ASK_HANDOVER:
		return on_acceptance(sm, a, data);
	case SM_ASK_ACKNOWLEDGE:
		break;
	}
	return SM_GOING_ON;
}

bool sm_election_response(struct sm *sm, const struct sm_event *ev, enum sm_outcome *o)
{
	struct sm_flight *f = sm_flight_of(sm, ev->mad);
	uint16_t status = iba_smp_status(ev->mad) & 0x7fff;
	struct sm_ask a;

	if (!f)
		return false;
	a = f->ask;
	sm_flight_land(f);
	if (status)
		sm_contact_in_vain(sm, &a.to);
	*o = status ? unanswered(sm, &a, true) : answered(sm, &a, iba_smp_data_const(ev->mad));
	sm_check_answered(sm);
	return true;
}

bool sm_election_lost(struct sm *sm, const struct sm_event *ev)
{
	struct sm_flight *f = sm_flight_of(sm, ev->mad);

	if (f && f->ask.kind != SM_ASK_POLL) /* the next poll is soon enough */
		f->deadline = sm->core.now;
	return f != NULL;
}

static enum sm_outcome overdue(struct sm *sm)
{
	for (unsigned i = 0; i < SM_FLIGHTS; i++) {
		struct sm_flight *f = &sm->election.flights[i];
		enum sm_outcome o;
		struct sm_ask a;

		if (!f->used || sm->core.now < f->deadline)
			continue;
		if (sm_flight_repeat(sm, f))
			continue;
		a = f->ask;
		sm_flight_land(f);
		o = unanswered(sm, &a, false);
		sm_check_answered(sm);
		if (o != SM_GOING_ON)
			return o;
	}
	return SM_GOING_ON;
}

/* ---- when ---- */

enum sm_outcome sm_election_due(struct sm *sm)
{
	struct sm_election *e = &sm->election;
	enum sm_outcome o = overdue(sm);

	if (o != SM_GOING_ON)
		return o;
	if (sm->core.now >= e->check_until)
		e->check_until = TIME_NEVER;
	if (sm->core.now >= e->settle_until)
		return sm_settle_overdue(sm);
	sm_election_look_due(sm);
	if (sm->core.now >= e->poll_at) {
		e->poll_at = sm->core.now + sm->cfg.standby_poll_ps;
		sm_election_ask(sm, SM_ASK_POLL, &e->polled);
		if (e->state == IBA_SM_STANDBY)
			sm_election_ask_in_turn(sm);
	}
	return SM_GOING_ON;
}

/* ---- in discovery ---- */

enum sm_outcome sm_other_manager(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_contact at = sm_contact_port(sm, port);
	struct iba_sm_info si;
	struct sm_other *o;

	iba_sm_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (!sm_other_trusted(sm, &at, &si))
		return SM_GOING_ON;
	o = sm_other_learn(sm, &at, &si);
	o->by = SM_BY_PORT;
	return sm_election_event(sm, sm_other_event(sm, o), (struct sm_met){.at = &o->at});
}
