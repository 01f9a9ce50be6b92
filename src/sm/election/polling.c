/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Polls and waits: a standby polls the master, a master polls a rival whose HANDOVER it waits for, and a
 * manager that did not run for a while asks before it goes on. State: election.polled, misses and times.
 * Ways in: sm_election_due(), sm_election_stalled(). Does not decide what an answer means.
 */
#include "sm/manager.h"

/* ---- polls ---- */

void sm_poll_start(struct sm *sm, const struct sm_contact *c, time_ps first)
{
	sm->election.polled = *c;
	sm->election.misses = 0;
	sm->election.poll_answered = false;
	sm->election.poll_at = first;
}

void sm_poll_stop(struct sm *sm)
{
	sm->election.poll_at = TIME_NEVER;
	sm->election.misses = 0;
}

enum sm_outcome sm_poll_missed(struct sm *sm)
{
	struct sm_contact polled = sm->election.polled;

	if (sm->election.poll_at == TIME_NEVER ||
	    ++sm->election.misses < MAX(sm->cfg.standby_tries, 1u))
		return SM_GOING_ON;
	return sm_election_event(sm, SM_EVENT_SILENT,
				 (struct sm_met){.at = &polled, .cause = SM_CAUSE_SILENCE});
}

/* A manager that is waited for has nothing to say but that it is no longer Master. */
static bool is_awaited(const struct sm *sm, const struct sm_other *o)
{
	return sm->election.state == IBA_SM_MASTER && sm->election.poll_at != TIME_NEVER &&
	       sm->election.polled.guid == o->at.guid;
}

/* A master that did not run answers what waited for it, and learns only then that it was replaced. */
static enum sm_outcome ask_twice(struct sm *sm, const struct sm_contact *at)
{
	sm_election_ask(sm, SM_ASK_INFO, at);
	return SM_GOING_ON;
}

enum sm_outcome sm_poll_answered(struct sm *sm, const struct sm_other *o)
{
	enum sm_election_event ev = sm_other_event(sm, o);
	struct sm_contact at = o->at;

	if (is_awaited(sm, o)) {
		sm->election.misses = 0;
		if (ev == SM_EVENT_SAW_MASTER_BELOW)
			return SM_GOING_ON;
		if (o->state != IBA_SM_MASTER)
			ev = SM_EVENT_YIELDED;
	}
	if (sm->election.state == IBA_SM_MASTER && o->state == IBA_SM_MASTER) {
		if (sm->election.absent && sm_election_checking(sm))
			ev = SM_EVENT_REPLACED;
		else if (ev == SM_EVENT_SAW_MASTER_ABOVE && o->fresh)
			return ask_twice(sm, &at);
	}
	return sm_election_event(sm, ev, (struct sm_met){.at = &at});
}

/* ---- pauses ---- */

bool sm_election_checking(const struct sm *sm)
{
	return sm->election.check_until != TIME_NEVER;
}

/* Requests under way are forgotten; a hand-over goes on, and has as much more time. */
void sm_check_start(struct sm *sm)
{
	sm_election_ask_none(sm);
	sm_handover_resume(sm);
	sm->election.check_until = sm->core.now + 4 * sm_timeout(sm);
	sm->election.check_port = true;
	for (size_t i = 0; i < sm->election.others.n; i++)
		sm_election_ask(sm, SM_ASK_INFO, &sm->election.others.at[i].at);
	sm_check_answered(sm);
}

/* The own port last: another master that answers says more than the LID that the port names. */
void sm_check_answered(struct sm *sm)
{
	struct sm_election *e = &sm->election;
	struct sm_contact own = {.port = NONE};

	if (!sm_election_checking(sm) || e->asks.n || sm_election_deadline(sm) != TIME_NEVER)
		return;
	if (e->check_port)
		sm_election_ask(sm, SM_ASK_OWN_PORT, &own);
	else
		e->check_until = TIME_NEVER;
	e->check_port = false;
}

enum sm_outcome sm_election_stalled(struct sm *sm)
{
	if (!sm->cfg.contest || !sm->cfg.stall_ps || sm->core.pause <= sm->cfg.stall_ps)
		return SM_GOING_ON;
	return sm_election_event(sm, SM_EVENT_STALLED,
				 (struct sm_met){.cause = SM_CAUSE_BROKEN, .late = sm->core.pause});
}

/* ---- when ---- */

/* A manager that takes part wakes up often enough to notice that it did not run. */
time_ps sm_election_wake(const struct sm *sm)
{
	const struct sm_election *e = &sm->election;
	bool takes_part = sm->cfg.contest && sm->cfg.stall_ps && e->state != IBA_SM_NOT_ACTIVE;
	time_ps t = takes_part ? sm->core.now + MAX(sm->cfg.stall_ps / 2, (time_ps)1) : TIME_NEVER;

	t = MIN(MIN(t, sm_handover_wake(sm)), MIN(e->poll_at, e->settle_until));
	t = MIN(t, sm_election_look_at(sm));
	return MIN(t, MIN(e->check_until, sm_election_deadline(sm)));
}

/* Requests of a standby manager are the election's. */
const struct sm_part sm_part_standby = {0};
