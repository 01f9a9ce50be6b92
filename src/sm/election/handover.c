/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handing over, and waiting for another master to hand over: the phase `settle`. State: election.heir,
 * election.settle_until. Ways in: sm_handover_begin(), sm_settle_await(). Does not rank managers.
 */
#include "sm/manager.h"

static enum sm_outcome enter(struct sm *sm)
{
	sm->election.settle_until = sm->core.now + sm->cfg.settle_ps;
	return sm->core.phase == SM_SETTLE ? SM_GOING_ON : SM_RIVAL;
}

static void later_none(struct sm *sm)
{
	sm->election.later = (struct sm_contact){.port = NONE};
	sm->election.later_from = TIME_NEVER;
}

void sm_settle_end(struct sm *sm)
{
	sm->election.settle_until = TIME_NEVER;
	sm->election.heir = (struct sm_contact){.port = NONE};
	later_none(sm);
}

/* Back to what was under way. An interrupted round starts again: it may know half of the subnet only. */
static enum sm_outcome go_on(struct sm *sm)
{
	sm_settle_end(sm);
	sm_poll_stop(sm);
	if (sm->core.phase != SM_SETTLE)
		return SM_GOING_ON;
	if (sm->core.round.end)
		return SM_UNCHANGED;
	sm_full_discovery_needed(sm);
	return sm_changed(sm, SM_CAUSE_BROKEN, SM_ABOUT_NOTHING);
}

/* ---- handing over ---- */

enum {
	SWEEPS_BETWEEN = 2, /* two attempts to hand over: one sweep ends in between */
	RESTLESS = 4,	    /* times copy_ps that rounds may add to it */
};

/* Tables are half written; or a sweep may find out why the heir cannot be reached. */
static bool is_busy(const struct sm *sm)
{
	return sm->core.phase != SM_READY && sm->core.phase != SM_DISCOVER &&
	       sm->core.phase != SM_SETTLE;
}

/*
 * How long the heir is waited for. There is no copy while a round is under way, so only time at rest counts; a subnet that
 * does not come to rest must not keep the heir away for ever.
 */
static time_ps wait_until(const struct sm *sm)
{
	const struct sm_election *e = &sm->election;
	time_ps rest = sm->core.round.end ? MAX(sm->core.round.end, e->later_from) : sm->core.now;

	return MIN(rest, e->later_from + RESTLESS * sm->cfg.copy_ps) + sm->cfg.copy_ps;
}

/*
 * With a copy of what this master knows, the heir takes over without reading the subnet. One that asks for it is
 * waited for until its copy is complete; a newcomer that has not asked yet has the time of one poll to do so, or as long
 * as the others if there are VMs: no device knows their names, nor those that do not run.
 */
static time_ps copy_until(const struct sm *sm, const struct sm_contact *to)
{
	const struct sm_election *e = &sm->election;
	time_ps end = wait_until(sm),
		rest = sm->core.phase == SM_READY ? sm->core.phase_since : sm->core.now;

	if (e->meek || !sm_mirror_is_on(sm))
		return 0;
	switch (sm_mirror_copy(sm, sm_lid_of(sm, to->guid, NULL))) {
	case SM_COPY_NONE:
		return sm->virtual.sorted.n
			       ? end
			       : MIN(end, MAX(rest, e->later_from) + sm->cfg.standby_poll_ps);
	case SM_COPY_PART:
		return end;
	case SM_COPY_WHOLE:
		break;
	}
	return 0;
}

/*
 * A copy of one of its own Sets may be under way, and the heir would not know what it undoes. So the last one was sent a
 * timeout ago, and what is in doubt is read back.
 */
static time_ps quiet_until(const struct sm *sm)
{
	const struct sm_election *e = &sm->election;
	time_ps end = wait_until(sm),
		due = sm->audit.due == TIME_NEVER ? sm->core.now : sm->audit.due;

	if (e->meek || sm->core.phase != SM_READY)
		return 0;
	due = sm_audit_open(sm) ? due + 1 : 0;
	return MIN(MAX(due, sm->txn.set_at + sm_timeout(sm)), end);
}

static time_ps ready_until(const struct sm *sm, const struct sm_contact *to)
{
	return MAX(copy_until(sm, to), quiet_until(sm));
}

time_ps sm_handover_wake(const struct sm *sm)
{
	time_ps t = sm->election.later.guid && sm->core.phase == SM_READY
			    ? ready_until(sm, &sm->election.later)
			    : 0;

	return t > sm->core.now ? t : TIME_NEVER;
}

/* Of several the best gets the subnet: false: this is another one. */
static bool later_set(struct sm *sm, const struct sm_contact *to)
{
	struct sm_election *e = &sm->election;
	const struct sm_other *o = sm_other_find(sm, to->guid),
			      *was = sm_other_find(sm, e->later.guid);

	if (e->later.guid == to->guid)
		return true;
	if (!e->meek && was && o && !was->silent && sm_other_is_better(was, o))
		return false;
	e->later = *to;
	e->later_from = sm->core.now;
	return true;
}

/* To a standby when the tables are whole, and it has its copy; to a master at once: two must not write. */
enum sm_outcome sm_handover_begin(struct sm *sm, const struct sm_contact *to)
{
	struct sm_other *o = sm_other_find(sm, to->guid);
	struct sm_contact heir = *to;

	if (sm->election.heir.guid || (o && o->defiant))
		return SM_GOING_ON;
	if (!(o && o->state == IBA_SM_MASTER) &&
	    (!later_set(sm, &heir) || is_busy(sm) || sm->core.now < ready_until(sm, &heir)))
		return SM_GOING_ON;
	sm_poll_stop(sm);
	sm_settle_end(sm);
	sm->election.heir = heir;
	sm_election_ask(sm, SM_ASK_HANDOVER, &heir);
	return enter(sm);
}

/* The manager did not run for a while, and has forgotten what it had sent. */
void sm_handover_resume(struct sm *sm)
{
	struct sm_election *e = &sm->election;

	if (e->settle_until != TIME_NEVER)
		e->settle_until += sm->core.pause;
	if (e->heir.guid)
		sm_election_ask(sm, SM_ASK_HANDOVER, &e->heir);
}

enum sm_outcome sm_handover_due(struct sm *sm)
{
	struct sm_contact to = sm->election.later;
	const struct sm_other *o = sm_other_find(sm, to.guid);

	if (!to.guid || sm->core.now < ready_until(sm, &to))
		return SM_GOING_ON;
	if (!o || (!sm->election.meek && sm_other_event(sm, o) != SM_EVENT_SAW_STANDBY_HIGHER)) {
		later_none(sm); /* meanwhile it became another state or priority */
		return SM_GOING_ON;
	}
	return sm_handover_begin(sm, &to);
}

/* A master of higher rank that refuses stays master all the same: one of the two must stop. */
enum sm_outcome sm_handover_failed(struct sm *sm, const struct sm_contact *to, bool refused)
{
	struct sm_other *o = sm_other_find(sm, to->guid);

	if (sm->election.heir.guid != to->guid)
		return SM_GOING_ON;
	if (refused && o && sm_other_event(sm, o) == SM_EVENT_SAW_MASTER_ABOVE)
		return sm_election_event(sm, SM_EVENT_ACCEPTED, (struct sm_met){.at = to});
	if (o)
		o->defiant = SWEEPS_BETWEEN;
	return go_on(sm);
}

enum sm_outcome sm_user_handover(struct sm *sm, uint64_t guid)
{
	const struct sm_other *o = sm_other_heir(sm, guid);
	struct sm_contact to;

	if (!o)
		return SM_GOING_ON;
	to = o->at;
	sm_other_find(sm, to.guid)->defiant = 0;
	/* Else the heir would hand the subnet back at once to the higher priority. */
	sm->election.meek = true;
	sm->election.meek_priority = o->priority;
	return sm_election_event(sm, SM_EVENT_USER_HANDOVER, (struct sm_met){.at = &to});
}

int sm_handover_check(const struct sm *sm, uint64_t guid, struct err *e)
{
	if (sm->election.state != IBA_SM_MASTER)
		return err_set(e, -EINVAL, "this manager is %s; only a master can hand over",
			       iba_format_word(IBA_FMT_SM_STATE, sm->election.state));
	if (sm_other_heir(sm, guid))
		return 0;
	if (guid)
		return err_set(e, -EINVAL,
			       "no standby manager with port GUID 0x%016llx is known; 'weft ctl "
			       "status' lists them",
			       (unsigned long long)guid);
	return err_set(e, -EINVAL, "no standby manager is known to hand over to");
}

/* ---- taking over ---- */

enum sm_outcome sm_settle_await(struct sm *sm, const struct sm_contact *rival)
{
	const struct sm_other *o = sm_other_find(sm, rival->guid);
	struct sm_contact c = *rival;

	if (sm->election.heir.guid || sm->election.poll_at != TIME_NEVER || (o && o->defiant))
		return SM_GOING_ON; /* one after another */
	sm_poll_start(sm, &c, sm->core.now + sm->cfg.standby_poll_ps);
	return enter(sm);
}

void sm_handover_forged(struct sm *sm)
{
	sm->election.refused++;
}

/*
 * The sender of a HANDOVER was asked. If it is Master still, the order was not its own. It may have been Master only
 * while it could not be seen, such as in a part of the subnet that was cut off: then its port names it as the master.
 */
enum sm_outcome sm_handover_verified(struct sm *sm, const struct sm_other *o, bool was_master)
{
	struct sm_contact at = o->at;

	if (o->state != IBA_SM_MASTER && !was_master && sm->election.state == IBA_SM_MASTER) {
		sm_election_ask(sm, SM_ASK_PORT, &at);
		return SM_GOING_ON;
	}
	if (o->state == IBA_SM_MASTER || !was_master) {
		sm_handover_forged(sm);
		return SM_GOING_ON;
	}
	return sm_election_event(sm, SM_EVENT_YIELDED, (struct sm_met){.at = &at});
}

/* Whether the sender was Master cannot be known: a master looks, at most once a sweep. */
static enum sm_outcome doubt(struct sm *sm)
{
	if (sm->election.believed) {
		sm_handover_forged(sm);
		return SM_GOING_ON;
	}
	sm->election.believed = true;
	return sm_election_event(sm, SM_EVENT_FOREIGN, (struct sm_met){.cause = SM_CAUSE_HANDOVER});
}

/*
 * The sender does not answer, or no manager is there any more. The master that is polled may have ended after it handed
 * over. To a master the sender may be in a part of the subnet to which the way is new.
 */
enum sm_outcome sm_handover_unconfirmed(struct sm *sm, const struct sm_contact *c, bool refused)
{
	struct sm_election *e = &sm->election;
	struct sm_contact from = *c;

	if (e->state == IBA_SM_STANDBY && e->poll_at != TIME_NEVER && e->polled.guid == from.guid)
		return sm_election_event(sm, SM_EVENT_YIELDED, (struct sm_met){.at = &from});
	if (e->state == IBA_SM_MASTER && !refused)
		return doubt(sm);
	sm_handover_forged(sm);
	return SM_GOING_ON;
}

/* A port that names this master proves little: its manager may have been Master for a moment, long enough to clear
 * PortStateChange of a switch. */
enum sm_outcome sm_handover_claimed(struct sm *sm, const struct sm_contact *c, const uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (sm->lids.own && pi.sm_lid == sm->lids.own)
		return doubt(sm);
	return sm_election_event(sm, SM_EVENT_YIELDED, (struct sm_met){.at = c});
}

enum sm_outcome sm_settle_overdue(struct sm *sm)
{
	struct sm_contact heir = sm->election.heir, rival = sm->election.polled;
	struct sm_other *o = sm_other_find(sm, rival.guid);

	if (heir.guid)
		return sm_handover_failed(sm, &heir, false);
	if (o)
		o->defiant = 1;
	return sm_election_event(sm, SM_EVENT_DEFIED, (struct sm_met){.at = &rival});
}

const struct sm_part sm_part_settle = {0};
