/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that flap: after so many changes within a while both ends are held, that is, treated as
 * Down, until they have been quiet. Links that an order isolates: held until an order releases them; their
 * ports stay as they are, so that packets on former routes still pass. State: struct sm_damp, kept by GUID and port through every
 * discovery. Does not send anything. A held link is in no snapshot, so no route uses it, and its
 * ports are not armed: they stay in Initialize and pass no data. A host behind a held link is cut
 * off: better one host off than routes for all changed every second. The SM's own link is never
 * held, and a switch is never cut off: when a discovery ends without a switch that a held link
 * leads to, that link is released, one at a time.
 */
#include "sm/manager.h"

/* ---- what is known of each end ---- */

/* The first of a switch's ends, by port number; NONE when there are none and they are not wanted.
 */
static uint32_t ends_of(struct sm *sm, const struct sm_node *n, bool make)
{
	struct sm_damp *d = &sm->damp;
	uint32_t first = map64_get(&d->by_guid, n->guid);

	if (first != MAP_NONE && d->ends.at[first].nports == n->nports)
		return first;
	if (!make)
		return NONE;
	first = (uint32_t)d->ends.n; /* a GUID that has other ports than before is another device */
	for (unsigned p = 0; p <= n->nports; p++)
		vec_push(&d->ends, (struct sm_end){.guid = n->guid,
						   .far = NONE,
						   .num = (uint8_t)p,
						   .nports = n->nports});
	map64_put(&d->by_guid, n->guid, first);
	return first;
}

/* NONE: not damped. Only ports of switches are; a host's link is damped at its switch. */
static uint32_t end_at(struct sm *sm, uint32_t port, bool make)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];
	uint32_t first;

	if (!(sm->cfg.flaps || sm->damp.ordering) || !p->num || n->type != IBA_NODE_SWITCH)
		return NONE;
	first = ends_of(sm, n, make);
	return first == NONE ? NONE : first + p->num;
}

/* Its port in the topology database; NONE: its switch is not there. */
static uint32_t port_of(const struct sm *sm, const struct sm_end *e)
{
	uint32_t node = map64_get(&sm->topo.by_guid, e->guid);

	if (node == MAP_NONE || sm->topo.nodes.at[node].gone ||
	    sm->topo.nodes.at[node].nports != e->nports)
		return NONE;
	return sm->topo.nodes.at[node].first_port + e->num;
}

void sm_damp_linked(struct sm *sm, uint32_t a, uint32_t b)
{
	uint32_t x = end_at(sm, a, true), y = end_at(sm, b, true);

	if (x != NONE) {
		sm->damp.ends.at[x].peer = sm->topo.nodes.at[sm->topo.ports.at[b].node].guid;
		sm->damp.ends.at[x].far = y;
	}
	if (y != NONE) {
		sm->damp.ends.at[y].peer = sm->topo.nodes.at[sm->topo.ports.at[a].node].guid;
		sm->damp.ends.at[y].far = x;
	}
}

/* Full discovery clears the database, but must recognise a change. */
void sm_damp_keep_states(struct sm *sm)
{
	for (uint32_t i = 0; (sm->cfg.flaps || sm->damp.ordering) && i < sm->topo.ports.n; i++) {
		const struct sm_port *p = &sm->topo.ports.at[i];
		uint32_t at = p->ask.known && !sm->topo.nodes.at[p->node].gone ? end_at(sm, i, true)
									       : NONE;

		/* A Set without a response: whether it was carried out is not known. */
		if (at != NONE)
			sm->damp.ends.at[at].state =
				p->order.pending ? IBA_PORT_NO_CHANGE : p->pi.state;
	}
}

/* ---- held ---- */

bool sm_damp_holds(struct sm *sm, uint32_t port)
{
	uint32_t at = sm->damp.held.n ? end_at(sm, port, false) : NONE;

	return at != NONE && sm->damp.ends.at[at].held;
}

/* NULL: it is not held. */
static const struct sm_end *held_end(const struct sm *sm, uint64_t guid, unsigned num)
{
	uint32_t first = sm->damp.held.n ? map64_get(&sm->damp.by_guid, guid) : MAP_NONE;

	return first != MAP_NONE && num <= sm->damp.ends.at[first].nports &&
			       sm->damp.ends.at[first + num].held
		       ? &sm->damp.ends.at[first + num]
		       : NULL;
}

bool sm_damp_holds_end(const struct sm *sm, uint64_t guid, unsigned num)
{
	return held_end(sm, guid, num);
}

bool sm_damp_isolates_end(const struct sm *sm, uint64_t guid, unsigned num)
{
	const struct sm_end *e = held_end(sm, guid, num);

	return e && e->ordered;
}

uint32_t sm_damp_count(const struct sm *sm)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sm->damp.held.n; i++)
		n += !sm->damp.ends.at[sm->damp.held.at[i]].ordered;
	return n;
}

bool sm_port_held(const struct sm *sm, uint64_t node_guid, unsigned port)
{
	const struct sm_end *e = held_end(sm, node_guid, port);

	return e && !e->ordered;
}

bool sm_port_isolated(const struct sm *sm, uint64_t node_guid, unsigned port)
{
	return sm_damp_isolates_end(sm, node_guid, port);
}

/* The other end of the link, if both ends agree: a cable may have moved. */
static uint32_t other(const struct sm_damp *d, uint32_t at)
{
	uint32_t far = d->ends.at[at].far;

	return far != NONE && d->ends.at[far].far == at ? far : NONE;
}

static void hold_one(struct sm_damp *d, uint32_t at)
{
	if (at == NONE || d->ends.at[at].held)
		return;
	d->ends.at[at].held = true;
	d->ends.at[at].noted = false;
	vec_push(&d->held, at);
}

static void let_go_one(struct sm_damp *d, uint32_t at)
{
	if (at == NONE || !d->ends.at[at].held)
		return;
	d->ends.at[at].held = d->ends.at[at].ordered = false;
	for (size_t i = 0; i < d->held.n; i++)
		if (d->held.at[i] == at) {
			memmove(&d->held.at[i], &d->held.at[i + 1],
				(--d->held.n - i) * sizeof(d->held.at[0]));
			return;
		}
}

/* The other end of a host's link has no number here: 0. */
static struct sm_subject about(const struct sm_damp *d, uint32_t at)
{
	const struct sm_end *e = &d->ends.at[at];
	uint32_t far = other(d, at);

	return (struct sm_subject){
		.kind = e->peer ? SM_ABOUT_LINK : SM_ABOUT_PORT,
		.a = {e->guid, e->num},
		.b = {e->peer, far == NONE ? 0 : d->ends.at[far].num},
	};
}

static void let_go(struct sm *sm, uint32_t at)
{
	const struct sm_end e = sm->damp.ends.at[at];
	struct sm_subject link = about(&sm->damp, at);

	let_go_one(&sm->damp, at);
	let_go_one(&sm->damp, other(&sm->damp, at));
	if (e.noted)
		sm_note(sm, .kind = SM_NOTE_RELEASED, .about = link);
}

static void hold(struct sm *sm, uint32_t at, uint32_t port)
{
	const struct sm_end *e = &sm->damp.ends.at[at];

	if (e->peer == sm->topo.nodes.at[0].guid && sm->topo.nodes.at[0].type != IBA_NODE_SWITCH)
		return; /* the SM's own link */
	if (!sm_is_partial(&sm->disc) && sm->topo.ports.at[port].peer != NONE)
		return; /* its other end was explored already: it is held when it changes again */
	hold_one(&sm->damp, at);
	hold_one(&sm->damp, other(&sm->damp, at));
}

/*
 * Records a change; the time of the oldest of the last so many shows whether they are too many.
 */
static void count(struct sm *sm, uint32_t at, uint32_t port)
{
	struct sm_end *e = &sm->damp.ends.at[at];
	unsigned n = sm->cfg.flaps;

	if (!n)
		return;
	if (!e->when) {
		e->when = mem_array(n, sizeof(*e->when));
		for (unsigned i = 0; i < n; i++)
			e->when[i] = TIME_NEVER;
	}
	e->last = sm->core.now;
	e->when[e->next] = sm->core.now;
	e->next = (uint8_t)((e->next + 1u) % n);
	if (e->when[e->next] != TIME_NEVER && sm->core.now - e->when[e->next] <= sm->cfg.flap_ps)
		hold(sm, at, port);
}

/* ---- what discovery sees ---- */

/* Went down, came up, or is in a lower state than it was left in: it did both. */
static bool is_change(unsigned was, unsigned is, bool ordered)
{
	if (was == IBA_PORT_NO_CHANGE)
		return false;
	if ((was == IBA_PORT_DOWN) != (is == IBA_PORT_DOWN))
		return true;
	return is < was && was >= IBA_PORT_ARMED && !ordered;
}

bool sm_damp_port_read(struct sm *sm, uint32_t port, unsigned was)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	uint32_t at = end_at(sm, port, true);

	if (at == NONE)
		return false;
	if (is_change(was, p->pi.state, p->order.pending))
		count(sm, at, port);
	return sm->damp.ends.at[at].held;
}

bool sm_damp_port_discovered(struct sm *sm, uint32_t port)
{
	uint32_t at = end_at(sm, port, true);

	/*
	 * For a switch that partial discovery treats as new, the ports at the other ends are
	 * counted.
	 */
	return at != NONE &&
	       sm_damp_port_read(sm, port,
				 sm_is_partial(&sm->disc) ? IBA_PORT_NO_CHANGE
							  : sm->damp.ends.at[at].state);
}

void sm_damp_far_end_down(struct sm *sm, uint32_t far)
{
	uint32_t at = end_at(sm, far, true);

	if (at != NONE && sm->topo.ports.at[far].pi.state != IBA_PORT_DOWN)
		count(sm, at, far);
}

/*
 * A switch reported a change, and none of its ports shows one: a port in Initialize that went
 * down and came up looks as before. Those are the held ones.
 */
void sm_damp_unseen_change(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (size_t i = 0; i < sm->damp.held.n; i++) {
		struct sm_end *e = &sm->damp.ends.at[sm->damp.held.at[i]];

		if (e->guid == n->guid &&
		    sm->topo.ports.at[n->first_port + e->num].pi.state != IBA_PORT_DOWN)
			e->last = sm->core.now;
	}
}

/* ---- a switch is not to be lost for it ---- */

static bool is_reached(const struct sm *sm, uint64_t guid)
{
	uint32_t n = map64_get(&sm->topo.by_guid, guid);

	return n != MAP_NONE && !sm->topo.nodes.at[n].gone &&
	       sm->topo.ports.at[sm->topo.nodes.at[n].first_port].ask.mark != SM_MISSING;
}

uint32_t sm_damp_release_only_way(struct sm *sm)
{
	for (size_t i = 0; i < sm->damp.held.n; i++) {
		const struct sm_end *e = &sm->damp.ends.at[sm->damp.held.at[i]];
		uint32_t port = port_of(sm, e);

		if (e->far == NONE || port == NONE || !sm->topo.ports.at[port].ask.known ||
		    sm->topo.ports.at[port].pi.state == IBA_PORT_DOWN || is_reached(sm, e->peer) ||
		    !is_reached(sm, e->guid))
			continue;
		let_go(sm, sm->damp.held.at[i]);
		return port;
	}
	return NONE;
}

void sm_damp_note_held(struct sm *sm)
{
	struct sm_damp *d = &sm->damp;

	for (size_t i = 0; i < d->held.n; i++) {
		struct sm_end *e = &d->ends.at[d->held.at[i]];
		uint32_t far = other(d, d->held.at[i]);

		if (!e->noted)
			sm_note(sm, .kind = SM_NOTE_HELD, .about = about(d, d->held.at[i]));
		e->noted = true;
		if (far != NONE)
			d->ends.at[far].noted = true; /* one line for one link */
	}
}

/* ---- quiet again ---- */

static time_ps quiet_at(const struct sm *sm, uint32_t at)
{
	uint32_t far = other(&sm->damp, at);
	time_ps last = sm->damp.ends.at[at].last;

	if (sm->damp.ends.at[at].ordered || (far != NONE && sm->damp.ends.at[far].ordered))
		return TIME_NEVER;
	if (!sm->cfg.flaps) /* no more damping: at once */
		return 0;
	if (far != NONE)
		last = MAX(last, sm->damp.ends.at[far].last);
	return last + MIN(sm->cfg.hold_ps, TIME_NEVER / 2);
}

time_ps sm_damp_due(const struct sm *sm)
{
	time_ps t = TIME_NEVER;

	for (size_t i = 0; i < sm->damp.held.n; i++)
		t = MIN(t, quiet_at(sm, sm->damp.held.at[i]));
	return t;
}

/* The switch is read again, whether or not it reports a change. */
static bool look_at(struct sm *sm, const struct sm_end *e)
{
	uint32_t port = port_of(sm, e);

	if (port == NONE || (sm->topo.ports.at[port].ask.known &&
			     sm->topo.ports.at[port].pi.state == IBA_PORT_DOWN))
		return false;
	sm_switch_unread(sm, sm->topo.ports.at[port].node);
	return true;
}

/* Both ends of a link, whatever the first says. */
static bool look_at_both(struct sm *sm, uint32_t at, uint32_t far)
{
	bool near = look_at(sm, &sm->damp.ends.at[at]);

	return (far != NONE && look_at(sm, &sm->damp.ends.at[far])) || near;
}

enum sm_outcome sm_damp_release(struct sm *sm)
{
	struct sm_subject first = SM_ABOUT_NOTHING;

	for (size_t i = 0; i < sm->damp.held.n;) {
		uint32_t at = sm->damp.held.at[i], far = other(&sm->damp, at);
		const struct sm_end *e = &sm->damp.ends.at[at];
		struct sm_subject link = about(&sm->damp, at);

		if (quiet_at(sm, at) > sm->core.now) {
			i++;
			continue;
		}
		let_go(sm, at);
		i = 0;
		if (look_at(sm, e) || (far != NONE && look_at(sm, &sm->damp.ends.at[far])))
			first = first.kind == SM_ABOUT_NONE ? link : first;
	}
	/* A link that is Down is released without a discovery. */
	return first.kind == SM_ABOUT_NONE ? SM_GOING_ON : sm_changed(sm, SM_CAUSE_RELEASE, first);
}

/* ---- orders ---- */

int sm_damp_order(struct sm *sm, uint64_t guid, unsigned port, bool isolate)
{
	uint32_t node = map64_get(&sm->topo.by_guid, guid);

	if (node == MAP_NONE || sm->topo.nodes.at[node].type != IBA_NODE_SWITCH || !port ||
	    port > sm->topo.nodes.at[node].nports)
		return -EINVAL;
	for (size_t i = 0; i < sm->damp.orders.n; i++)
		if (sm->damp.orders.at[i].guid == guid && sm->damp.orders.at[i].port == port) {
			sm->damp.orders.at[i].isolate = isolate;
			return 0;
		}
	sm->damp.ordering = true;
	vec_push(&sm->damp.orders, (struct sm_damp_order){guid, (uint8_t)port, isolate});
	return 0;
}

bool sm_damp_ordered(const struct sm *sm)
{
	return sm->damp.orders.n > 0;
}

/* False: there is nothing to do. The port stays as it is: only routes change. */
static bool isolate_one(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	uint32_t at, far;

	if (p->peer != NONE)
		sm_damp_linked(sm, port, p->peer);
	at = end_at(sm, port, true);
	if (sm->damp.ends.at[at].ordered)
		return false;
	if (sm->damp.ends.at[at].peer == sm->topo.nodes.at[0].guid &&
	    sm->topo.nodes.at[0].type != IBA_NODE_SWITCH)
		return false; /* the SM's own link */
	far = other(&sm->damp, at);
	hold_one(&sm->damp, at);
	hold_one(&sm->damp, far);
	sm->damp.ends.at[at].ordered = true;
	sm->damp.ends.at[at].noted = true; /* who ordered it says so */
	if (far != NONE)
		sm->damp.ends.at[far].ordered = sm->damp.ends.at[far].noted = true;
	return look_at_both(sm, at, far);
}

static bool reinstate_one(struct sm *sm, uint32_t port)
{
	uint32_t at = end_at(sm, port, false), far;

	if (at == NONE || !sm->damp.ends.at[at].ordered)
		return false;
	far = other(&sm->damp, at);
	sm->damp.ends.at[at].noted = false;
	let_go(sm, at);
	return look_at_both(sm, at, far);
}

enum sm_outcome sm_damp_carry_out(struct sm *sm)
{
	struct sm_subject first = SM_ABOUT_NOTHING;
	enum sm_cause cause = SM_CAUSE_ISOLATE;

	for (size_t i = 0; i < sm->damp.orders.n; i++) {
		const struct sm_damp_order *o = &sm->damp.orders.at[i];
		uint32_t node = map64_get(&sm->topo.by_guid, o->guid), port;

		if (node == MAP_NONE || sm->topo.nodes.at[node].gone ||
		    o->port > sm->topo.nodes.at[node].nports)
			continue;
		port = sm->topo.nodes.at[node].first_port + o->port;
		if (!(o->isolate ? isolate_one(sm, port) : reinstate_one(sm, port)) ||
		    first.kind != SM_ABOUT_NONE)
			continue;
		first = about(&sm->damp, end_at(sm, port, true));
		cause = o->isolate ? SM_CAUSE_ISOLATE : SM_CAUSE_RELEASE;
	}
	sm->damp.orders.n = 0;
	return first.kind == SM_ABOUT_NONE ? SM_GOING_ON : sm_changed(sm, cause, first);
}

void sm_damp_reset(struct sm *sm)
{
	for (size_t i = 0; i < sm->damp.ends.n; i++) {
		free(sm->damp.ends.at[i].when);
		sm->damp.ends.at[i].when = NULL;
		sm->damp.ends.at[i].next = 0;
	}
}

/* Changes from before the new clock's beginning are forgotten. */
void sm_damp_time_back(struct sm *sm, time_ps by)
{
	for (size_t i = 0; i < sm->damp.ends.n; i++) {
		struct sm_end *e = &sm->damp.ends.at[i];

		e->last = e->last > by ? e->last - by : 0;
		for (unsigned k = 0; e->when && k < sm->cfg.flaps; k++)
			if (e->when[k] != TIME_NEVER)
				e->when[k] = e->when[k] >= by ? e->when[k] - by : TIME_NEVER;
	}
}

void sm_damp_free(struct sm *sm)
{
	for (size_t i = 0; i < sm->damp.ends.n; i++)
		free(sm->damp.ends.at[i].when);
	vec_free(&sm->damp.ends);
	vec_free(&sm->damp.held);
	vec_free(&sm->damp.orders);
	map64_free(&sm->damp.by_guid);
}
