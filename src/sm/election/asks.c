/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the election: a few at a time, beside the requests of the running phase. State: election.asks
 * and election.flights. Ways in: sm_election_ask(), sm_election_send(). Does not read answers: answers.c
 * does.
 */
#include "sm/manager.h"

/* TIDs that no transaction of a phase has: generation, this bit, slot. */
enum { TID_ELECTION = 0x2000, TID_SLOTS = 0xfff };

enum { LOOKS_BETWEEN = 8 }; /* two managers that are asked in turn */

/* ---- what is to be sent ---- */

static bool is_asked(const struct sm *sm, enum sm_ask_kind kind, const struct sm_contact *to)
{
	const struct sm_election *e = &sm->election;

	for (size_t i = 0; i < e->asks.n; i++)
		if (e->asks.at[i].kind == kind && sm_contact_same(&e->asks.at[i].to, to))
			return true;
	for (unsigned i = 0; i < SM_FLIGHTS; i++)
		if (e->flights[i].used && e->flights[i].ask.kind == kind &&
		    sm_contact_same(&e->flights[i].ask.to, to))
			return true;
	return false;
}

void sm_election_ask(struct sm *sm, enum sm_ask_kind kind, const struct sm_contact *to)
{
	if (sm->election.asks.n < SM_ASKS && !is_asked(sm, kind, to))
		vec_push(&sm->election.asks, (struct sm_ask){kind, *to});
}

void sm_election_ask_port(struct sm *sm, uint32_t port)
{
	struct sm_contact c = sm_contact_port(sm, port);

	sm_election_ask(sm, SM_ASK_INFO, &c);
}

void sm_election_ask_none(struct sm *sm)
{
	sm->election.asks.n = 0;
	for (unsigned i = 0; i < SM_FLIGHTS; i++) {
		sm->election.flights[i].used = false;
		sm->election.flights[i].gen++;
	}
}

void sm_election_sweep(struct sm *sm)
{
	struct sm_contact own = {.port = NONE};

	if (!sm->cfg.contest || sm->election.state != IBA_SM_MASTER)
		return;
	sm->election.believed = false;
	sm_election_ask(sm, SM_ASK_OWN_PORT, &own);
	for (size_t i = 0; i < sm->election.others.n; i++) {
		struct sm_other *o = &sm->election.others.at[i];

		/* One that ranks above is to get the subnet, Master or not: a HANDOVER that was lost is sent again. */
		if (o->defiant && sm_other_event(sm, o) != SM_EVENT_SAW_MASTER_BELOW)
			o->defiant--;
		sm_election_ask(sm, SM_ASK_INFO, &o->at);
	}
}

/* By each look of a master, or by each poll of a standby. */
static bool is_asked_often(const struct sm *sm, const struct sm_other *o)
{
	return sm->election.state == IBA_SM_MASTER ? !o->silent
						   : o->at.guid == sm->election.polled.guid;
}

/*
 * Two masters that were cut off from each other know each other as silent: without this they would meet in a sweep only.
 * A standby knows by this which of the managers run that it does not poll. One manager at a time, so that this costs
 * little where many have gone for good.
 */
void sm_election_ask_in_turn(struct sm *sm)
{
	struct sm_election *e = &sm->election;

	if (++e->looks % LOOKS_BETWEEN)
		return;
	for (size_t i = 0; i < e->others.n; i++) {
		const struct sm_other *o = &e->others.at[++e->turn % e->others.n];

		if (is_asked_often(sm, o))
			continue;
		sm_election_ask(sm, SM_ASK_INFO, &o->at);
		return;
	}
}

void sm_election_look(struct sm *sm)
{
	if (!sm->cfg.contest || sm->election.state != IBA_SM_MASTER)
		return;
	for (size_t i = 0; i < sm->election.others.n; i++)
		if (!sm->election.others.at[i].silent)
			sm_election_ask(sm, SM_ASK_INFO, &sm->election.others.at[i].at);
	sm_election_ask_in_turn(sm);
}

time_ps sm_election_look_at(const struct sm *sm)
{
	const struct sm_election *e = &sm->election;

	if (!sm->cfg.contest || e->state != IBA_SM_MASTER || !e->others.n ||
	    sm->core.phase == SM_READY || sm->core.phase == SM_SETTLE ||
	    e->check_until != TIME_NEVER)
		return TIME_NEVER;
	return MAX(sm->core.phase_since, e->looked_at) + MAX(sm->cfg.standby_poll_ps, (time_ps)1);
}

void sm_election_look_due(struct sm *sm)
{
	if (sm->core.now < sm_election_look_at(sm))
		return;
	sm->election.looked_at = sm->core.now;
	sm_election_look(sm);
}

/* ---- requests ---- */

void sm_info_make(const struct sm *sm, struct iba_sm_info *si)
{
	uint64_t acts = sm->election.responses;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		acts += sm->core.st.smps[i];
	*si = (struct iba_sm_info){.guid = sm_own_guid(sm),
				   .act_count = (uint32_t)acts,
				   .priority = (uint8_t)sm_election_priority(sm),
				   .state = (uint8_t)sm->election.state};
}

uint32_t sm_act_count(const struct sm *sm)
{
	struct iba_sm_info si;

	sm_info_make(sm, &si);
	return si.act_count;
}

static void make_order(struct sm *sm, struct sm_req *r, enum iba_sm_order order)
{
	struct iba_sm_info si;

	sm_info_make(sm, &si);
	si.sm_key = sm->cfg.sm_key; /* it proves that the order comes from a friend */
	iba_sm_info_put(&si, r->data);
	r->attr_mod = order;
}

static bool make(struct sm *sm, const struct sm_ask *a, unsigned tries, struct sm_req *r)
{
	bool order = a->kind == SM_ASK_HANDOVER || a->kind == SM_ASK_ACKNOWLEDGE;

	memset(r, 0, sizeof(*r));
	r->method = order ? IBA_SET : IBA_GET;
	r->purpose = SM_FOR_SWEEP;
	if (a->kind == SM_ASK_OWN_PORT) {
		if (!sm->topo.nodes.n)
			return false;
		sm_req_port(sm, r, IBA_GET, SM_FOR_SWEEP, sm_own_port(sm));
		return true;
	}
	if (!sm_contact_usable(sm, &a->to))
		return false;
	sm_contact_address(sm, &a->to, tries, r);
	r->attr_id = a->kind == SM_ASK_PORT ? IBA_ATTR_PORT_INFO : IBA_ATTR_SM_INFO;
	r->attr_mod = 0; /* of PortInfo: the port at which the request arrives */
	if (order)
		make_order(sm, r,
			   a->kind == SM_ASK_HANDOVER ? IBA_SM_HANDOVER : IBA_SM_ACKNOWLEDGE);
	return true;
}

static uint64_t flight_tid(const struct sm_flight *f, unsigned slot)
{
	return (uint32_t)f->gen << 16 | TID_ELECTION | slot;
}

/* No longer than a master waits for another one to hand over, whatever response times devices report. */
static time_ps patience(const struct sm *sm, const struct sm_flight *f)
{
	time_ps t = sm_timeout(sm) << MIN(f->tries, 4);

	if (f->ask.kind == SM_ASK_POLL)
		return sm->cfg.standby_poll_ps;
	return sm->cfg.settle_ps ? MIN(t, sm->cfg.settle_ps) : t;
}

/* False: it cannot be sent. */
static bool put_on_wire(struct sm *sm, struct sm_flight *f)
{
	struct sm_req r;

	if (!make(sm, &f->ask, f->tries, &r))
		return false;
	f->deadline = sm->core.now + patience(sm, f);
	f->tries++;
	if (!PROVOKE(sm, LOSE_ASK))
		sm_send_now(sm, &r, flight_tid(f, (unsigned)(f - sm->election.flights)));
	return true;
}

static struct sm_flight *free_flight(struct sm *sm)
{
	for (unsigned i = 0; i < SM_FLIGHTS; i++)
		if (!sm->election.flights[i].used)
			return &sm->election.flights[i];
	return NULL;
}

void sm_flight_land(struct sm_flight *f)
{
	f->used = false;
	f->gen++;
}

void sm_election_send(struct sm *sm)
{
	struct sm_election *e = &sm->election;
	struct sm_flight *f;
	size_t at = 0;

	while (at < e->asks.n && (f = free_flight(sm))) {
		f->used = true;
		f->tries = 0;
		f->ask = e->asks.at[at++];
		if (!put_on_wire(sm, f))
			sm_flight_land(f);
	}
	if (at) {
		memmove(e->asks.at, e->asks.at + at, (e->asks.n - at) * sizeof(*e->asks.at));
		e->asks.n -= at;
	}
}

/* ---- requests under way ---- */

static uint16_t attribute_of(const struct sm_ask *a)
{
	return a->kind == SM_ASK_OWN_PORT || a->kind == SM_ASK_PORT ? IBA_ATTR_PORT_INFO
								    : IBA_ATTR_SM_INFO;
}

struct sm_flight *sm_flight_of(struct sm *sm, const uint8_t *mad)
{
	uint64_t tid = iba_smp_tid(mad) & 0xffffffff;
	unsigned slot = tid & TID_SLOTS;
	struct sm_flight *f = slot < SM_FLIGHTS ? &sm->election.flights[slot] : NULL;

	return f && f->used && flight_tid(f, slot) == tid &&
			       iba_smp_attr_id(mad) == attribute_of(&f->ask)
		       ? f
		       : NULL;
}

/* A stranger that is a manager polls again, and is asked again. */
static unsigned most_tries(const struct sm_ask *a)
{
	bool stranger = a->kind == SM_ASK_INFO && !a->to.guid;

	return a->kind == SM_ASK_POLL || stranger ? 1 : a->kind == SM_ASK_HANDOVER ? 4 : 2;
}

/* Sends it once more; false: it was repeated often enough. */
bool sm_flight_repeat(struct sm *sm, struct sm_flight *f)
{
	sm_contact_in_vain(sm, &f->ask.to);
	return f->tries < most_tries(&f->ask) && put_on_wire(sm, f);
}

/* ---- when ---- */

static bool decides(const struct sm_ask *a)
{
	return a->kind == SM_ASK_VERIFY || a->kind == SM_ASK_PORT || a->kind == SM_ASK_HANDOVER;
}

/* A master that is about to hand over, or to read back what another one left, is not at rest. */
bool sm_election_busy(const struct sm *sm)
{
	const struct sm_election *e = &sm->election;

	if (e->state != IBA_SM_MASTER)
		return false;
	for (size_t i = 0; i < e->asks.n; i++)
		if (decides(&e->asks.at[i]))
			return true;
	for (unsigned i = 0; i < SM_FLIGHTS; i++)
		if (e->flights[i].used && decides(&e->flights[i].ask))
			return true;
	return e->reread || e->guarded || e->later.guid || e->check_until != TIME_NEVER;
}

time_ps sm_election_deadline(const struct sm *sm)
{
	time_ps t = TIME_NEVER;

	for (unsigned i = 0; i < SM_FLIGHTS; i++)
		if (sm->election.flights[i].used)
			t = MIN(t, sm->election.flights[i].deadline);
	return t;
}

void sm_flights_time_back(struct sm *sm, time_ps by)
{
	for (unsigned i = 0; i < SM_FLIGHTS; i++)
		sm_time_shift(&sm->election.flights[i].deadline, by);
}
