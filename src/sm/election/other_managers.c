/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other managers: which are known, how they are reached, how they rank. State: election.others. Ways in:
 * sm_other_learn(), sm_contact_*(). Does not send anything, and does not decide what follows.
 */
#include "sm/manager.h"

static uint64_t discovered_guid(const struct sm *sm)
{
	return sm->topo.nodes.n ? sm->topo.ports.at[sm_own_port(sm)].guid : 0;
}

/* A discovery that begins has forgotten the own port, but others still ask who this manager is. */
uint64_t sm_own_guid(const struct sm *sm)
{
	uint64_t guid = discovered_guid(sm);

	return guid ? guid : sm->election.own_guid;
}

void sm_own_guid_keep(struct sm *sm)
{
	sm->election.own_guid = sm_own_guid(sm);
}

/* ---- how they are reached ---- */

/* A full discovery renumbers ports. */
static bool is_there(const struct sm *sm, const struct sm_contact *c)
{
	return c->port < sm->topo.ports.n && c->guid && sm->topo.ports.at[c->port].guid == c->guid;
}

static uint32_t port_of_guid(const struct sm *sm, uint64_t guid)
{
	for (uint32_t p = 0; guid && p < sm->topo.ports.n; p++)
		if (sm->topo.ports.at[p].guid == guid && sm_in_use(sm, p))
			return p;
	return NONE;
}

struct sm_contact sm_contact_port(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct sm_contact c = {.guid = p->guid, .port = port, .lid = p->pi.lid};
	struct sm_path path = sm_path_to(sm, p);

	for (unsigned i = 0; !path.via && i < path.n; i++)
		sm_way_add(&c.way, sm->topo.hops.at[path.at + i]);
	return c;
}

/* A request carries the way back: the ports at which it entered each device. The PF of a vSwitch is none of them. */
static void way_back(const struct sm *sm, const uint8_t *mad, struct sm_way *w)
{
	const uint8_t *entered = iba_smp_return_path((uint8_t *)mad);
	unsigned n = iba_smp_hop_cnt(mad), own = sm->virtual.seat == SM_SEAT_PF;

	if (!iba_smp_is_dr(mad) || iba_smp_dr_slid(mad) != IBA_LID_PERMISSIVE || !n ||
	    n > IBA_MAX_HOPS)
		return;
	for (unsigned i = n - own; i > 0; i--)
		sm_way_add(w, entered[i]);
}

static const struct sm_other *find(const struct sm *sm, uint64_t guid)
{
	for (size_t i = 0; i < sm->election.others.n; i++)
		if (sm->election.others.at[i].at.guid == guid)
			return &sm->election.others.at[i];
	return NULL;
}

struct sm_contact sm_contact_sender(const struct sm *sm, const struct sm_event *ev, uint64_t guid)
{
	const struct sm_other *o = guid ? find(sm, guid) : NULL;
	struct sm_contact c = {.guid = guid, .port = port_of_guid(sm, guid)};

	if (o) /* a manager that claims this GUID: the manager known by it is asked */
		return o->at;
	way_back(sm, ev->mad, &c.way);
	if (!iba_smp_is_dr(ev->mad) && ev->slid <= IBA_LID_MAX_UNICAST && sm_own_lid(sm))
		c.lid = ev->slid;
	return c;
}

/* Managers without a known GUID are told apart by how they are reached. */
bool sm_contact_same(const struct sm_contact *a, const struct sm_contact *b)
{
	if (a->guid || b->guid)
		return a->guid == b->guid && a->port == b->port;
	return a->port == b->port && a->lid == b->lid && a->way.n == b->way.n &&
	       !memcmp(a->way.hops, b->way.hops, a->way.n);
}

bool sm_contact_usable(const struct sm *sm, const struct sm_contact *c)
{
	return is_there(sm, c) || c->way.n || c->lid;
}

struct sm_subject sm_about_contact(const struct sm *sm, const struct sm_contact *c)
{
	if (is_there(sm, c))
		return sm_about_port(sm, c->port);
	return c->lid ? (struct sm_subject){.kind = SM_ABOUT_LID, .lid = c->lid} : SM_ABOUT_NOTHING;
}

static bool leads_by(const struct sm *sm, const struct sm_contact *c, enum sm_contact_by by)
{
	switch (by) {
	case SM_BY_PORT:
		return is_there(sm, c);
	case SM_BY_LID:
		return c->lid && (sm_own_lid(sm) || !c->way.n);
	case SM_BY_WAY:
		return c->way.n;
	case SM_BY_LAST:
		return c->last.n;
	case SM_NCONTACT_BY:
		break;
	}
	return false;
}

/* The first one from there on that there is. */
static enum sm_contact_by next_by(const struct sm *sm, const struct sm_contact *c, unsigned from)
{
	for (unsigned i = 0; i < SM_NCONTACT_BY; i++)
		if (leads_by(sm, c, (enum sm_contact_by)((from + i) % SM_NCONTACT_BY)))
			return (enum sm_contact_by)((from + i) % SM_NCONTACT_BY);
	return SM_BY_LID;
}

/*
 * What does not arrive by the path that is known, since the manager was moved, may arrive by LID; what does not arrive by
 * LID, since a device restarted or tables were computed without it, the way that its own SMPs came, or the way that led
 * there when it answered last.
 */
void sm_contact_address(struct sm *sm, const struct sm_contact *c, unsigned tries, struct sm_req *r)
{
	const struct sm_other *o = c->guid ? find(sm, c->guid) : NULL;
	enum sm_contact_by by = next_by(sm, c, o ? o->by : tries);

	if (by == SM_BY_PORT) {
		sm_req_port(sm, r, r->method, SM_FOR_SWEEP, c->port);
		return;
	}
	r->target = (struct sm_target){.kind = SM_TARGET_NONE, .node = NONE, .port = NONE};
	if (by == SM_BY_LID)
		r->lid = c->lid;
	else
		r->by = by == SM_BY_WAY ? &c->way : &c->last;
}

void sm_contact_in_vain(struct sm *sm, const struct sm_contact *c)
{
	struct sm_other *o = c->guid ? sm_other_find(sm, c->guid) : NULL;

	if (o)
		o->by = next_by(sm, &o->at, next_by(sm, &o->at, o->by) + 1u);
}

/* ---- which are known ---- */

struct sm_other *sm_other_find(struct sm *sm, uint64_t guid)
{
	return (struct sm_other *)find(sm, guid);
}

/* The list is bounded: a manager with a false GUID replaces one that does not answer, or is dropped. */
static struct sm_other *other_of(struct sm *sm, uint64_t guid)
{
	struct sm_other *o = sm_other_find(sm, guid);

	if (o)
		return o;
	for (size_t i = 0; sm->election.others.n >= SM_OTHERS && i < SM_OTHERS; i++)
		if (sm->election.others.at[i].silent)
			o = &sm->election.others.at[i];
	if (sm->election.others.n >= SM_OTHERS)
		o = o ? o : &sm->election.others.at[SM_OTHERS - 1];
	else
		vec_push(&sm->election.others, (struct sm_other){0});
	o = o ? o : &sm->election.others.at[sm->election.others.n - 1];
	*o = (struct sm_other){.at.guid = guid, .state = UINT8_MAX, .asked_back = TIME_NEVER};
	return o;
}

/*
 * A manager that shows another key than this one's is passed over, as OpenSM does. One that shows none is not, unless
 * this manager proved who it is by the M_Key: then a friend would have shown its key.
 */
bool sm_other_trusted(struct sm *sm, const struct sm_contact *at, const struct iba_sm_info *si)
{
	struct sm_election *e = &sm->election;

	if (!sm->cfg.sm_key || si->sm_key == sm->cfg.sm_key || (!si->sm_key && !sm->cfg.m_key))
		return true;
	if (e->noted_at == TIME_NEVER || sm->core.now >= e->noted_at + PS_PER_S) {
		e->noted_at = sm->core.now;
		sm_note(sm, .kind = SM_NOTE_OTHER_KEY, .about = sm_about_contact(sm, at),
			.election = {.from = si->guid});
	}
	return false;
}

/* The way to it is kept for the time when no table leads there any more. */
static void contact_renew(struct sm *sm, struct sm_contact *c, const struct sm_contact *at)
{
	struct sm_contact was = *c;
	struct sm_way last = c->last;

	*c = *at;
	c->guid = was.guid;
	c->last = last;
	c->lid = c->lid ? c->lid : was.lid;
	c->way = c->way.n ? c->way : was.way;
	if (!is_there(sm, c))
		c->port = port_of_guid(sm, c->guid);
	if (c->port != NONE && sm_way_by_tables(sm, sm->topo.ports.at[c->port].pi.lid, &last))
		c->last = last;
}

/* A contact without a GUID has one way only; with one, what was tried last led there. */
static enum sm_contact_by answered_by(const struct sm_other *o, const struct sm_contact *at)
{
	return at->guid ? o->by : at->way.n ? SM_BY_WAY : SM_BY_LID;
}

struct sm_other *sm_other_learn(struct sm *sm, const struct sm_contact *at,
				const struct iba_sm_info *si)
{
	struct sm_other *o = other_of(sm, at->guid ? at->guid : si->guid);
	uint64_t guid = o->at.guid;
	bool news = o->state != si->state || o->priority != si->priority, back = o->silent;
	uint8_t was = o->state;

	o->state = si->state < SM_NSM_STATES ? si->state : IBA_SM_NOT_ACTIVE;
	o->priority = si->priority;
	o->said = si->guid ? si->guid : guid;
	o->fresh = o->state != was || back;
	o->silent = false;
	o->by = answered_by(o, at);
	contact_renew(sm, &o->at, at);
	if (o->at.port != NONE && sm_port_has_manager(sm, o->at.port))
		sm_mirror_outdated(
			sm); /* a standby learns from its copy where other managers are */
	if (o->fresh)	     /* it may have been master meanwhile, or have restarted */
		sm_mirror_copies_unknown(sm);
	if (news || back) /* an order that was lost is worth another try */
		o->defiant = 0;
	if (!news)
		return o;
	sm_note(sm, .kind = SM_NOTE_OTHER_SM, .about = sm_about_contact(sm, &o->at),
		.other = {(enum iba_sm_state)o->state, o->priority});
	return o;
}

/* It did not answer its polls: the discovery of the manager that takes over does not wait long for it. */
bool sm_other_is_silent(struct sm *sm, uint32_t port)
{
	const struct sm_other *o = sm_other_find(sm, sm->topo.ports.at[port].guid);

	return o && o->silent && sm->election.state == IBA_SM_DISCOVERING;
}

/* ---- how they rank ---- */

unsigned sm_election_priority(const struct sm *sm)
{
	return sm->election.meek ? MIN(sm->cfg.priority, sm->election.meek_priority)
				 : sm->cfg.priority;
}

/* By priority; with equal priorities the lower GUID wins. */
static bool ranks_above(const struct sm *sm, const struct sm_other *o)
{
	unsigned own = sm_election_priority(sm);

	return o->priority != own ? o->priority > own : o->said < sm_own_guid(sm);
}

enum sm_election_event sm_other_event(const struct sm *sm, const struct sm_other *o)
{
	bool above = ranks_above(sm, o);

	switch ((enum iba_sm_state)o->state) {
	case IBA_SM_MASTER:
		return above ? SM_EVENT_SAW_MASTER_ABOVE : SM_EVENT_SAW_MASTER_BELOW;
	case IBA_SM_STANDBY:
		if (above && o->priority > sm_election_priority(sm))
			return SM_EVENT_SAW_STANDBY_HIGHER;
		return above ? SM_EVENT_SAW_STANDBY_ABOVE : SM_EVENT_SAW_STANDBY_BELOW;
	case IBA_SM_DISCOVERING:
		return above ? SM_EVENT_SAW_DISCOVERING_ABOVE : SM_EVENT_SAW_DISCOVERING_BELOW;
	case IBA_SM_NOT_ACTIVE:
		break;
	}
	return SM_EVENT_SAW_NOT_ACTIVE;
}

bool sm_other_is_better(const struct sm_other *a, const struct sm_other *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->said < b->said;
}

const struct sm_other *sm_other_heir(const struct sm *sm, uint64_t guid)
{
	const struct sm_other *best = NULL;

	for (size_t i = 0; i < sm->election.others.n; i++) {
		const struct sm_other *o = &sm->election.others.at[i];

		if (o->state != IBA_SM_STANDBY || o->silent || (guid && o->at.guid != guid))
			continue;
		if (!best || sm_other_is_better(o, best))
			best = o;
	}
	return best;
}

/* ---- for others ---- */

static uint64_t node_guid(const struct sm *sm, const struct sm_contact *c)
{
	return is_there(sm, c) ? sm->topo.nodes.at[sm->topo.ports.at[c->port].node].guid
			       : sm_mirror_manager_node(sm, c->guid);
}

bool sm_manager_get(const struct sm *sm, size_t n, struct sm_manager *m)
{
	const struct sm_election *e = &sm->election;
	const struct sm_other *o;

	*m = (struct sm_manager){.guid = sm_own_guid(sm),
				 .node_guid = sm->topo.nodes.n ? sm->topo.nodes.at[0].guid : 0,
				 .priority = (uint8_t)sm_election_priority(sm),
				 .state = e->state,
				 .own = true};
	if (!n)
		return true;
	if (n > e->others.n)
		return false;
	o = &e->others.at[n - 1];
	*m = (struct sm_manager){.guid = o->at.guid,
				 .node_guid = node_guid(sm, &o->at),
				 .priority = o->priority,
				 .state = o->state < SM_NSM_STATES ? (enum iba_sm_state)o->state
								   : IBA_SM_NOT_ACTIVE,
				 .silent = o->silent};
	return true;
}

unsigned sm_manager_way(const struct sm *sm, uint64_t guid, unsigned which, uint8_t *hops)
{
	const struct sm_other *o = find(sm, guid);
	struct sm_way way = {0};

	if (o && !which && is_there(sm, &o->at))
		way = sm_contact_port(sm, o->at.port).way;
	else if (o && which == 1)
		way = o->at.way;
	else if (o && which == 2)
		way = o->at.last;
	memcpy(hops, way.hops, MIN(way.n, IBA_MAX_HOPS));
	return MIN(way.n, IBA_MAX_HOPS);
}

/* The manager that a standby polls may have handed over to another one, and stand by as well. */
static uint64_t master_of_standby(const struct sm *sm)
{
	const struct sm_other *o = find(sm, sm->election.polled.guid), *best = NULL;

	if (!o || !sm->election.poll_answered || o->state == IBA_SM_MASTER)
		return sm->election.polled.guid;
	for (size_t i = 0; i < sm->election.others.n; i++) {
		o = &sm->election.others.at[i];
		if (o->state == IBA_SM_MASTER && !o->silent &&
		    (!best || sm_other_is_better(o, best)))
			best = o;
	}
	return best ? best->at.guid : 0;
}

uint64_t sm_master_guid(const struct sm *sm)
{
	if (sm->election.state == IBA_SM_MASTER)
		return sm_own_guid(sm);
	return sm->election.state == IBA_SM_STANDBY ? master_of_standby(sm) : 0;
}
