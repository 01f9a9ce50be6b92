/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMInfo: answers to other managers, and their orders. State: none of its own. Way in: sm_info_answer().
 * Does not act: election.c does.
 *
 * The SM_Key (IBA 14.2.5.13, 14.4.7): an order must carry the key of this manager. An answer shows the key
 * only to a requester that proves who it is: by the M_Key of this manager, or by the SM_Key itself. The key 1 is
 * OpenSM's published default and no secret: it is shown to anybody, since OpenSM ignores managers that do not
 * show its own key. OpenSM proves itself by the M_Key, so a secret SM_Key beside OpenSM needs an M_Key as well.
 * Versions of OpenSM before 3.3.21 order a Standby manager with key 0: a HANDOVER with key 0 counts if it comes
 * from the manager that is polled. Any HANDOVER is believed only when its sender is not Master any more.
 */
#include "sm/manager.h"

enum { PUBLIC_SM_KEY = 1 };

static uint64_t key_for(const struct sm *sm, const struct sm_event *ev)
{
	struct iba_sm_info asked;

	iba_sm_info_get(&asked, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
	if (sm->cfg.sm_key == PUBLIC_SM_KEY || asked.sm_key == sm->cfg.sm_key ||
	    (sm->cfg.m_key && iba_smp_m_key(ev->mad) == sm->cfg.m_key))
		return sm->cfg.sm_key;
	return 0;
}

static void respond(struct sm *sm, const struct sm_event *ev, unsigned status)
{
	struct iba_sm_info si;
	struct sm_send s;

	sm->election.responses++;
	sm_info_make(sm, &si);
	si.sm_key = key_for(sm, ev);
	memcpy(s.mad, ev->mad, IBA_MAD_SIZE);
	iba_smp_set_method(s.mad, IBA_GET_RESP);
	iba_smp_set_status(s.mad,
			   (uint16_t)(status | (iba_smp_is_dr(s.mad) ? IBA_STATUS_DR_RETURN : 0)));
	memset(iba_smp_data(s.mad), 0, IBA_SMP_DATA_SIZE);
	iba_sm_info_put(&si, iba_smp_data(s.mad));
	s.slid = sm_own_lid(sm);
	s.dlid = ev->slid;
	s.sl = 0;
	sm_respond(sm, &s);
}

/* ---- questions ---- */

static struct sm_other *known_at(struct sm *sm, const struct sm_contact *c)
{
	for (size_t i = 0; i < sm->election.others.n; i++) {
		const struct sm_contact *at = &sm->election.others.at[i].at;

		if (c->way.n ? at->way.n == c->way.n && !memcmp(at->way.hops, c->way.hops, c->way.n)
			     : at->lid && at->lid == c->lid)
			return &sm->election.others.at[i];
	}
	return NULL;
}

/* A manager that stands by may have ended and started again, with another priority. */
static bool is_due(const struct sm *sm, const struct sm_other *o)
{
	bool stands_by = o->state == IBA_SM_STANDBY && !o->silent;
	time_ps gap = sm->cfg.standby_poll_ps * (stands_by ? sm->cfg.standby_tries + 1u : 1u);

	return o->asked_back == TIME_NEVER || sm->core.now >= o->asked_back + gap;
}

/* False: it was asked already in this period of polls, or so many others were. */
static bool is_new_stranger(struct sm *sm, const struct sm_contact *c)
{
	struct sm_election *e = &sm->election;

	if (e->stranger_at == TIME_NEVER ||
	    sm->core.now >= e->stranger_at + sm->cfg.standby_poll_ps) {
		e->stranger_at = sm->core.now;
		e->nstrangers = 0;
	}
	for (unsigned i = 0; i < e->nstrangers; i++)
		if (sm_contact_same(&e->strangers[i], c))
			return false;
	if (e->nstrangers == SM_STRANGERS)
		return false;
	e->strangers[e->nstrangers++] = *c;
	return true;
}

/*
 * A manager asks this one, which is master or discovers: ask it back. It may be new, or a master that was stopped and
 * continues, or one that started after the discovery had passed it. Known managers each in their turn, of all others only
 * a few, so that this costs little: most are tools, which do not answer and must not keep managers from being asked. One
 * that cannot be asked back may hide changes from a discovery.
 */
static void ask_back(struct sm *sm, const struct sm_event *ev)
{
	bool discovers = sm->election.state == IBA_SM_DISCOVERING;
	struct sm_contact c = sm_contact_sender(sm, ev, 0);
	struct sm_other *o = known_at(sm, &c);

	/* A standby without a GUID is not recognised; so early, nothing was discovered. */
	if (!sm->cfg.contest || !sm_own_guid(sm) ||
	    (sm->election.state != IBA_SM_MASTER && !discovers))
		return;
	if (!sm_contact_usable(sm, &c)) {
		sm->election.rival |= discovers;
		return;
	}
	if (o ? !is_due(sm, o) : !is_new_stranger(sm, &c))
		return;
	if (o)
		o->asked_back = sm->core.now;
	sm_own_guid_keep(sm); /* the answer may come after the discovery has started again */
	sm_election_ask(sm, SM_ASK_INFO, o ? &o->at : &c);
}

/* ---- orders ---- */

static bool is_of_polled(const struct sm *sm, const struct iba_sm_info *si)
{
	return sm->election.poll_at != TIME_NEVER && sm->election.polled.guid == si->guid;
}

/* Whether the sender is who it says: it knows the key, or its word will be checked. */
static bool is_friend(const struct sm *sm, const struct iba_sm_info *si, unsigned order)
{
	if (si->sm_key == sm->cfg.sm_key || !sm->cfg.sm_key)
		return true;
	return !si->sm_key && order == IBA_SM_HANDOVER && is_of_polled(sm, si);
}

static enum sm_election_event event_of(const struct sm *sm, const struct sm_event *ev,
				       const struct iba_sm_info *si, const struct sm_contact *from)
{
	static const enum sm_election_event events[] = {
		[IBA_SM_HANDOVER] = SM_EVENT_ORDER_HANDOVER,
		[IBA_SM_ACKNOWLEDGE] = SM_EVENT_ORDER_ACKNOWLEDGE,
		[IBA_SM_DISABLE] = SM_EVENT_ORDER_DISABLE,
		[IBA_SM_STAND_BY] = SM_EVENT_ORDER_STAND_BY,
		[IBA_SM_DISCOVER] = SM_EVENT_ORDER_DISCOVER,
	};
	unsigned order = iba_smp_attr_mod(ev->mad);

	if (!sm->cfg.contest || sm->cfg.observe || sm->core.phase == SM_OFF ||
	    order < IBA_SM_HANDOVER || order > IBA_SM_DISCOVER)
		return SM_EVENT_ORDER_UNKNOWN;
	if (!is_friend(sm, si, order) || !si->guid || si->guid == sm_own_guid(sm) ||
	    !sm_contact_usable(sm, from))
		return SM_EVENT_ORDER_FORGED;
	if (order == IBA_SM_ACKNOWLEDGE && sm->election.heir.guid == si->guid)
		return SM_EVENT_ACCEPTED;
	return events[order];
}

/* One note a second: a flood of orders must not fill the log. */
static void note_refused(struct sm *sm, const struct sm_event *ev, const struct iba_sm_info *si,
			 const struct sm_contact *from)
{
	struct sm_election *e = &sm->election;

	if (e->noted_at != TIME_NEVER && sm->core.now < e->noted_at + PS_PER_S)
		return;
	e->noted_at = sm->core.now;
	sm_note(sm, .kind = SM_NOTE_ORDER, .about = sm_about_contact(sm, from),
		.election = {.from = si->guid, .order = iba_smp_attr_mod(ev->mad)});
}

static enum sm_outcome obey(struct sm *sm, const struct sm_event *ev)
{
	enum sm_election_event event;
	struct sm_contact from;
	struct iba_sm_info si;
	bool ok;

	iba_sm_info_get(&si, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
	from = sm_contact_sender(sm, ev, si.guid);
	event = event_of(sm, ev, &si, &from);
	ok = sm_election_row(sm->election.state, event)->action != SM_ACTION_REFUSE;
	respond(sm, ev, ok ? 0 : IBA_STATUS_BAD_FIELD);
	if (!ok)
		note_refused(sm, ev, &si, &from);
	return sm_election_event(sm, event, (struct sm_met){.at = &from});
}

/* It came over the own link, which is not down any more then. */
static bool is_from_afar(const struct sm *sm, const struct sm_event *ev)
{
	return iba_smp_is_dr(ev->mad) ? iba_smp_hop_cnt(ev->mad) > 0 : ev->slid != sm_own_lid(sm);
}

enum sm_outcome sm_info_answer(struct sm *sm, const struct sm_event *ev)
{
	if (is_from_afar(sm, ev))
		sm_phase_apply(sm, sm_election_relinked(sm));
	if (iba_smp_method(ev->mad) == IBA_SET)
		return obey(sm, ev);
	/* Its own port has not answered: OpenSM would take a manager without a GUID for a fault, and not hand over to it. */
	if (!sm_own_guid(sm))
		return SM_GOING_ON;
	respond(sm, ev, 0);
	ask_back(sm, ev);
	return SM_GOING_ON;
}
