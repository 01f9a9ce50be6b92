/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Election: which SM manages the subnet when there are several (IBA 14.4). State: struct
 * sm_election. Does not look for other SMs: discovery meets them. While discovering, an SM sets
 * nothing in a device that another SM manages, and no LIDs at all, until it has met every device:
 * see sm_contest_open(). The SM of highest rank goes on, the others stand by.
 */
#include "sm/manager.h"

/* What may follow what. */
static const uint8_t next_states[] = {
	[IBA_SM_NOT_ACTIVE] = 1 << IBA_SM_DISCOVERING | 1 << IBA_SM_STANDBY,
	[IBA_SM_DISCOVERING] = 1 << IBA_SM_STANDBY | 1 << IBA_SM_MASTER | 1 << IBA_SM_NOT_ACTIVE,
	[IBA_SM_STANDBY] = 1 << IBA_SM_DISCOVERING | 1 << IBA_SM_NOT_ACTIVE,
	[IBA_SM_MASTER] = 1 << IBA_SM_STANDBY,
};

void sm_state_set(struct sm *sm, enum iba_sm_state to)
{
	if (sm->election.state == to)
		return;
	assert(next_states[sm->election.state] & 1 << to);
	sm_note(sm, .kind = SM_NOTE_STATE, .state = {sm->election.state, to});
	sm->election.state = to;
}

bool sm_contest_open(const struct sm *sm)
{
	return sm->cfg.contest && sm->election.state == IBA_SM_DISCOVERING;
}

/*
 * It has a LID and the LID of its SM; if that is this SM's port, an earlier SM at this port set
 * it.
 */
bool sm_is_managed(const struct sm *sm, const struct iba_port_info *pi)
{
	const struct sm_port *own = &sm->topo.ports.at[sm_own_port(sm)];

	return pi->lid && pi->sm_lid && !(own->ask.known && own->pi.lid == pi->sm_lid);
}

/* ---- the others ---- */

static uint64_t own_guid(const struct sm *sm)
{
	return sm->topo.nodes.n ? sm->topo.ports.at[sm_own_port(sm)].guid : 0;
}

/* A full discovery renumbers ports, and an SM that it did not meet has none. */
static bool is_there(const struct sm *sm, const struct sm_other *o)
{
	return o->port < sm->topo.ports.n && sm->topo.ports.at[o->port].guid == o->guid;
}

/* By priority; with equal priorities the lower GUID wins. */
static bool ranks_above(const struct sm *sm, const struct sm_other *o)
{
	if (o->priority != sm->cfg.priority)
		return o->priority > sm->cfg.priority;
	return o->guid < own_guid(sm);
}

static struct sm_other *other_of(struct sm *sm, uint64_t guid)
{
	for (size_t i = 0; i < sm->election.others.n; i++)
		if (sm->election.others.at[i].guid == guid)
			return &sm->election.others.at[i];
	vec_push(&sm->election.others, (struct sm_other){.guid = guid, .state = UINT8_MAX});
	return &sm->election.others.at[sm->election.others.n - 1];
}

static struct sm_other *take(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_sm_info si;
	struct sm_other *o;
	bool news;

	iba_sm_info_get(&si, data, IBA_SMP_DATA_SIZE);
	o = other_of(sm, sm->topo.ports.at[port].guid);
	news = o->state != si.state || o->priority != si.priority;
	o->state = si.state;
	o->priority = si.priority;
	o->port = port;
	if (news)
		sm_note(sm, .kind = SM_NOTE_OTHER_SM, .about = sm_about_port(sm, port),
			.other = {(enum iba_sm_state)o->state, o->priority});
	return o;
}

/* ---- standing by ---- */

static enum sm_outcome rest(struct sm *sm)
{
	sm_forget_outstanding(sm);
	sm_round_abandon(sm);
	sm->election.rival = false;
	sm->election.yield_to = 0;
	sm->election.misses = 0;
	sm->election.poll_at = sm->core.now + sm->cfg.standby_poll_ps;
	return sm->core.phase == SM_STANDBY ? SM_GOING_ON : SM_OUTRANKED;
}

/* Another manager configures the devices from now on: nothing that is known of them will last. */
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

static enum sm_outcome stand_by(struct sm *sm, struct sm_polled master)
{
	enum sm_outcome o;

	forget_devices(sm);
	o = rest(sm);
	sm_state_set(sm, IBA_SM_STANDBY);
	sm->election.polled = master;
	return o;
}

/* The SM that a standby SM asks. */
static struct sm_subject about_polled(const struct sm *sm)
{
	const struct sm_polled *p = &sm->election.polled;

	return p->lid ? (struct sm_subject){.kind = SM_ABOUT_LID, .lid = p->lid}
	       : p->guid && p->port < sm->topo.ports.n ? sm_about_port(sm, p->port)
						       : SM_ABOUT_NOTHING;
}

static enum sm_outcome take_over(struct sm *sm, enum sm_cause cause)
{
	struct sm_subject master = about_polled(sm);

	sm_arrive(sm);
	sm_state_set(sm, IBA_SM_DISCOVERING);
	return sm_changed(sm, cause, master);
}

/*
 * A master yields to a master of higher rank, and to a standby of higher priority; with equal
 * priority it stays master.
 */
static bool must_yield(const struct sm *sm, const struct sm_other *o)
{
	if (o->state == IBA_SM_MASTER)
		return ranks_above(sm, o);
	return o->state == IBA_SM_STANDBY && o->priority > sm->cfg.priority;
}

enum sm_outcome sm_other_manager(struct sm *sm, uint32_t port, const uint8_t *data)
{
	const struct sm_other *o = take(sm, port, data);

	switch (sm->election.state) {
	case IBA_SM_DISCOVERING:
		if (o->state == IBA_SM_MASTER ||
		    (o->state != IBA_SM_NOT_ACTIVE && ranks_above(sm, o)))
			return stand_by(sm, (struct sm_polled){o->guid, port, 0});
		if (o->state == IBA_SM_DISCOVERING) /* its Sets may hide a change */
			sm->election.rival = true;
		break;
	case IBA_SM_MASTER:
		if (must_yield(sm, o))
			sm->election.yield_to = o->guid;
		break;
	case IBA_SM_STANDBY:
	case IBA_SM_NOT_ACTIVE:
		break;
	}
	return SM_GOING_ON;
}

/* ---- a standby polls the master ---- */

static bool standby_next(struct sm *sm, struct sm_req *r)
{
	if (sm->election.state != IBA_SM_STANDBY || sm->txn.outstanding ||
	    sm->core.now < sm->election.poll_at)
		return false;
	if (sm->election.polled.lid) {
		r->method = IBA_GET;
		r->lid = sm->election.polled.lid;
	} else {
		sm_req_port(sm, r, IBA_GET, SM_FOR_SWEEP, sm->election.polled.port);
	}
	r->attr_id = IBA_ATTR_SM_INFO;
	r->attr_mod = 0;
	r->purpose = SM_FOR_SWEEP;
	if (sm->election.polled.lid)
		r->target = sm_target_behind(sm, NONE);
	return true;
}

static enum sm_outcome missed(struct sm *sm)
{
	sm->election.poll_at = sm->core.now + sm->cfg.standby_poll_ps;
	if (++sm->election.misses >= MAX(sm->cfg.standby_tries, 1u))
		return take_over(sm, SM_CAUSE_SILENCE);
	return SM_GOING_ON;
}

static enum sm_outcome standby_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_sm_info si;

	iba_sm_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (t->target.port != NONE && si.guid == sm->election.polled.guid)
		take(sm, t->target.port, data);
	if (si.state == IBA_SM_NOT_ACTIVE ||
	    (sm->election.polled.guid && si.guid != sm->election.polled.guid))
		return missed(sm); /* it will not manage anything; or another SM is there now */
	/*
	 * It restarted, met this SM and expects the better one to manage: they would wait for
	 * each other.
	 */
	if (si.state == IBA_SM_STANDBY &&
	    !ranks_above(sm, &(struct sm_other){.guid = si.guid, .priority = si.priority}))
		return take_over(sm, SM_CAUSE_HANDOVER);
	sm->election.misses = 0;
	sm->election.poll_at = sm->core.now + sm->cfg.standby_poll_ps;
	return SM_GOING_ON;
}

static enum sm_outcome standby_fail(struct sm *sm, const struct sm_txn *t)
{
	(void)t;
	return missed(sm);
}

const struct sm_part sm_part_standby = {
	.next = standby_next, .recv = standby_recv, .fail = standby_fail};

/* ---- giving way, while the SM rests ---- */

static bool yield_next(struct sm *sm, struct sm_req *r)
{
	struct iba_sm_info si;
	struct sm_other *o;

	if (!sm->election.yield_to || sm->txn.outstanding)
		return false;
	o = other_of(sm, sm->election.yield_to);
	sm->election.yield_to = 0;
	if (!is_there(sm, o))
		return false;
	sm_req_port(sm, r, IBA_SET, SM_FOR_SWEEP, o->port);
	sm_info_make(sm, &si);
	iba_sm_info_put(&si, r->data);
	r->attr_id = IBA_ATTR_SM_INFO;
	r->attr_mod = IBA_SM_HANDOVER;
	return true;
}

/* A port reported that there is an SM now. */
static bool ask_sm_next(struct sm *sm, struct sm_req *r)
{
	if (!sm->election.sm_ports.n)
		return false;
	sm_req_port(sm, r, IBA_GET, SM_FOR_SWEEP,
		    sm->election.sm_ports.at[--sm->election.sm_ports.n]);
	r->attr_id = IBA_ATTR_SM_INFO;
	r->attr_mod = 0;
	return true;
}

bool sm_election_next(struct sm *sm, struct sm_req *r)
{
	return yield_next(sm, r) || ask_sm_next(sm, r);
}

/* It accepted the handover: from now on it is the master. */
enum sm_outcome sm_handover_accepted(struct sm *sm, const struct sm_txn *t)
{
	uint32_t port = t->target.port;

	return stand_by(sm, (struct sm_polled){sm->topo.ports.at[port].guid, port, 0});
}

void sm_election_ask(struct sm *sm, uint32_t port)
{
	vec_push(&sm->election.sm_ports, port);
}

void sm_election_ask_none(struct sm *sm)
{
	sm->election.sm_ports.n = 0;
}

bool sm_election_had_rival(struct sm *sm)
{
	bool rival = sm->election.rival;

	sm->election.rival = false;
	return rival;
}

void sm_election_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->election.poll_at, by);
}

void sm_election_free(struct sm *sm)
{
	vec_free(&sm->election.others);
	vec_free(&sm->election.sm_ports);
}

/* ---- SMInfo ---- */

void sm_info_make(const struct sm *sm, struct iba_sm_info *si)
{
	*si = (struct iba_sm_info){.guid = own_guid(sm),
				   .sm_key = sm->cfg.sm_key,
				   .act_count = (uint32_t)(sm->core.st.sweeps + sm->core.st.rounds),
				   .priority = (uint8_t)sm->cfg.priority,
				   .state = (uint8_t)sm->election.state};
}

static void respond(struct sm *sm, const struct sm_event *ev, unsigned status)
{
	struct iba_sm_info si;
	struct sm_send s;

	sm_info_make(sm, &si);
	memcpy(s.mad, ev->mad, IBA_MAD_SIZE);
	iba_smp_set_method(s.mad, IBA_GET_RESP);
	iba_smp_set_status(s.mad,
			   (uint16_t)(status | (iba_smp_is_dr(s.mad) ? IBA_STATUS_DR_RETURN : 0)));
	iba_sm_info_put(&si, iba_smp_data(s.mad));
	s.slid = sm->lids.own;
	s.dlid = ev->slid;
	s.sl = 0;
	sm_respond(sm, &s);
}

/* How the sender of an order can be polled: by its LID, or by the path it was met. */
static bool can_poll(struct sm *sm, const struct sm_event *ev, struct sm_polled *p)
{
	struct iba_sm_info si;

	iba_sm_info_get(&si, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
	*p = (struct sm_polled){si.guid, NONE, 0};
	for (size_t i = 0; i < sm->election.others.n; i++)
		if (sm->election.others.at[i].guid == si.guid &&
		    is_there(sm, &sm->election.others.at[i]))
			p->port = sm->election.others.at[i].port;
	if (p->port == NONE && ev->slid && ev->slid <= IBA_LID_MAX_UNICAST && sm->lids.own)
		p->lid = ev->slid;
	return p->port != NONE || p->lid;
}

/* The other half of a handover: an acknowledgement to the SM that handed over. */
static void acknowledge(struct sm *sm, const struct sm_event *ev)
{
	struct sm_req r = {.method = IBA_SET,
			   .attr_id = IBA_ATTR_SM_INFO,
			   .attr_mod = IBA_SM_ACKNOWLEDGE,
			   .purpose = SM_FOR_SWEEP,
			   .lid = ev->slid};
	struct iba_sm_info si;

	if (!ev->slid || ev->slid > IBA_LID_MAX_UNICAST)
		return; /* the response to its order tells it as well */
	sm_info_make(sm, &si);
	iba_sm_info_put(&si, r.data);
	sm_send_now(sm, &r, iba_smp_tid(ev->mad));
}

/*
 * Each order is valid in some states (IBA 14.4.1); in others, and without elections, it is
 * refused.
 */
static bool order_ok(const struct sm *sm, unsigned order)
{
	static const uint8_t in_states[] = {
		[IBA_SM_HANDOVER] = 1 << IBA_SM_STANDBY | 1 << IBA_SM_MASTER,
		[IBA_SM_ACKNOWLEDGE] = 1 << IBA_SM_STANDBY | 1 << IBA_SM_MASTER,
		[IBA_SM_DISABLE] = 1 << IBA_SM_STANDBY | 1 << IBA_SM_NOT_ACTIVE,
		[IBA_SM_STAND_BY] = 1 << IBA_SM_STANDBY | 1 << IBA_SM_NOT_ACTIVE,
		[IBA_SM_DISCOVER] = 1 << IBA_SM_STANDBY,
	};

	return sm->cfg.contest && sm->core.phase != SM_OFF && order >= IBA_SM_HANDOVER &&
	       order <= IBA_SM_DISCOVER && in_states[order] & 1 << sm->election.state;
}

static enum sm_outcome handed_over(struct sm *sm)
{
	enum sm_outcome o;

	if (sm->election.state == IBA_SM_STANDBY) {
		o = take_over(sm, SM_CAUSE_HANDOVER);
		sm_state_set(
			sm,
			IBA_SM_MASTER); /* the election is decided: the subnet was handed over */
		return o;
	}
	if (sm->core.phase != SM_READY)
		return SM_GOING_ON;
	sm_full_discovery_needed(sm); /* discover the other SM's part of the subnet */
	return sm_changed(sm, SM_CAUSE_HANDOVER, SM_ABOUT_NOTHING);
}

static enum sm_outcome obey(struct sm *sm, const struct sm_event *ev, enum iba_sm_order order)
{
	struct sm_polled p;
	enum sm_outcome o;

	switch (order) {
	case IBA_SM_HANDOVER:
		acknowledge(sm, ev);
		return handed_over(sm);
	case IBA_SM_ACKNOWLEDGE:
		return SM_GOING_ON; /* the response to the handover came first, or comes next */
	case IBA_SM_DISABLE:
		o = rest(sm);
		sm_state_set(sm, IBA_SM_NOT_ACTIVE);
		return o;
	case IBA_SM_STAND_BY:
		if (sm->election.state != IBA_SM_NOT_ACTIVE)
			return SM_GOING_ON;
		/* Else it will meet the master, and then stand by. */
		return can_poll(sm, ev, &p) ? stand_by(sm, p) : take_over(sm, SM_CAUSE_HANDOVER);
	case IBA_SM_DISCOVER:
		return take_over(sm, SM_CAUSE_HANDOVER);
	}
	return SM_GOING_ON;
}

enum sm_outcome sm_info_answer(struct sm *sm, const struct sm_event *ev)
{
	unsigned order = iba_smp_attr_mod(ev->mad);
	bool get = iba_smp_method(ev->mad) == IBA_GET, ok = get || order_ok(sm, order);

	respond(sm, ev, ok ? 0 : IBA_STATUS_BAD_FIELD);
	return ok && !get ? obey(sm, ev, (enum iba_sm_order)order) : SM_GOING_ON;
}
