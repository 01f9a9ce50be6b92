/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two devices with one GUID: the first one keeps its place, the other one is left out until it changes or
 * the first one is gone. State: disc.twins, which outlives a discovery, so that the same one is left out
 * again. Ways in: see discovery.h. Does not compare LIDs: addresses/lids.c assigns those.
 */
#include "sm/manager.h"

static struct sm_port_ref ref(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	return (struct sm_port_ref){sm->topo.nodes.at[p->node].guid, p->num};
}

static uint32_t port_at(const struct sm *sm, const struct sm_port_ref *r)
{
	uint32_t n = map64_get(&sm->topo.by_guid, r->guid);

	if (n == MAP_NONE || sm->topo.nodes.at[n].gone || r->port > sm->topo.nodes.at[n].nports)
		return NONE;
	return sm->topo.nodes.at[n].first_port + r->port;
}

static bool is_switch(const struct sm *sm, uint32_t port)
{
	return sm->topo.nodes.at[sm->topo.ports.at[port].node].type == IBA_NODE_SWITCH;
}

static bool in_place(const struct sm *sm, uint32_t endport)
{
	const struct sm_port *p = &sm->topo.ports.at[endport];

	return !sm->topo.nodes.at[p->node].gone && sm_is_endport(sm, p) &&
	       (!p->num || p->ask.asked) && p->ask.mark != SM_MISSING;
}

/* ---- which device has the GUID already? ---- */

/* An endport in use of a node, other than one behind `near`. */
static uint32_t endport_elsewhere(const struct sm *sm, uint32_t node, uint32_t near)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (unsigned p = 0; p <= n->nports; p++)
		if (in_place(sm, n->first_port + p) &&
		    (!p || sm->topo.ports.at[n->first_port + p].peer != near))
			return n->first_port + p;
	return NONE;
}

/* The port of a known node that cannot be the one that answered behind `near`; NONE: it can. */
static uint32_t holder_of_node(const struct sm *sm, uint32_t node, uint32_t near,
			       const struct iba_node_info *ni)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint32_t port = n->first_port + ni->local_port;
	const struct sm_port *p;

	if (n->type != ni->node_type || n->nports != ni->num_ports)
		return endport_elsewhere(sm, node, near);
	p = &sm->topo.ports.at[port];
	if (n->type == IBA_NODE_SWITCH && !sm_is_partial(&sm->disc) && p->ask.known &&
	    p->pi.state == IBA_PORT_DOWN)
		return port;
	if (p->peer == near || (p->peer == NONE && !sm_is_own(sm, p)))
		return NONE;
	return n->type == IBA_NODE_SWITCH || in_place(sm, port) ? port : NONE;
}

/* The port that has the GUID of a device behind `near`, and is not that device's. */
static uint32_t holder(const struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	uint32_t n = map64_get(&sm->topo.by_guid, ni->node_guid), h = NONE, same = NONE;

	if (n != MAP_NONE && !sm->topo.nodes.at[n].gone) {
		h = holder_of_node(sm, n, near, ni);
		same = sm->topo.nodes.at[n].first_port +
		       (ni->node_type == IBA_NODE_SWITCH ? 0u : ni->local_port);
	}
	if (h != NONE)
		return h;
	h = sm_port_by_guid(sm, ni->port_guid);
	return h == NONE || h == same || !in_place(sm, h) || sm->topo.ports.at[h].peer == near
		       ? NONE
		       : h;
}

/* ---- the list ---- */

static struct sm_twin *twin_at(struct sm *sm, const struct sm_port_ref *at)
{
	for (size_t i = 0; i < sm->disc.twins.n; i++) {
		struct sm_twin *t = &sm->disc.twins.at[i];

		if (t->known.left_at.guid == at->guid && t->known.left_at.port == at->port)
			return t;
	}
	return NULL;
}

static void twin_drop(struct sm *sm, size_t i)
{
	sm->disc.twins.at[i] = sm->disc.twins.at[--sm->disc.twins.n];
}

static struct sm_twin *twin_add(struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	struct sm_port_ref at = ref(sm, near);
	struct sm_twin *t = twin_at(sm, &at);

	if (!t) {
		vec_push(&sm->disc.twins, (struct sm_twin){.known.left_at = at});
		t = &sm->disc.twins.at[sm->disc.twins.n - 1];
	}
	t->state = SM_TWIN_WAITING;
	t->ni = *ni;
	t->known.left = (struct sm_port_ref){ni->node_guid,
					     ni->node_type == IBA_NODE_SWITCH ? 0 : ni->local_port};
	return t;
}

/* Which device had which port GUID before everything was forgotten. */
static void owners_keep(struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	map64_clear(&sm->disc.owners);
	for (port_id p = 0; f && p < f->nports; p++)
		if (f->ports[p].guid && f->ports[p].lid)
			map64_put(&sm->disc.owners, f->ports[p].guid, p);
}

/* In the subnet as it was, another device had this GUID, or the same one in another place. */
static bool was_elsewhere(const struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	const struct fab *f = sm->topo.fab;
	port_id was = sm_is_partial(&sm->disc) || !f ? MAP_NONE
						     : map64_get(&sm->disc.owners, ni->port_guid);
	struct sm_port_ref at = ref(sm, near);
	const struct fab_port *p;

	if (was == MAP_NONE || was >= f->nports)
		return false;
	p = &f->ports[was];
	if (f->nodes[p->node].guid != ni->node_guid)
		return true;
	if (ni->node_type == IBA_NODE_SWITCH || p->peer == FAB_NONE || p->num != ni->local_port)
		return false;
	return f->nodes[f->ports[p->peer].node].guid != at.guid || f->ports[p->peer].num != at.port;
}

void sm_twins_begin(struct sm *sm)
{
	owners_keep(sm);
	for (size_t i = sm->disc.twins.n; i--;) {
		if (sm->disc.twins.at[i].state == SM_TWIN_LEFT_OUT ||
		    sm->disc.twins.at[i].state == SM_TWIN_FORMER)
			sm->disc.twins.at[i].state = SM_TWIN_FORMER;
		else
			twin_drop(sm, i);
	}
}

/* ---- met ---- */

static bool is_same(const struct iba_node_info *a, const struct iba_node_info *b)
{
	return a->port_guid == b->port_guid ||
	       (a->node_guid == b->node_guid && a->local_port == b->local_port);
}

static struct iba_node_info known_info(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];
	bool sw = n->type == IBA_NODE_SWITCH;

	return (struct iba_node_info){.node_type = n->type,
				      .num_ports = n->nports,
				      .sys_guid = n->sys_guid,
				      .node_guid = n->guid,
				      .port_guid =
					      sm->topo.ports.at[sw ? n->first_port : port].guid,
				      .device_id = n->device_id,
				      .vendor_id = n->vendor_id,
				      .local_port = p->num};
}

/*
 * A switch matters more than a host: many devices may be behind it. Where nothing runs yet, it takes the
 * place of a host that was met first.
 */
static bool displaces(const struct sm *sm, uint32_t host, const struct iba_node_info *ni)
{
	return ni->node_type == IBA_NODE_SWITCH && !sm_is_partial(&sm->disc) &&
	       !is_switch(sm, host) && !sm_is_own(sm, &sm->topo.ports.at[host]) &&
	       sm->topo.ports.at[host].peer != NONE;
}

/* A switch was asked what is behind its port: that counts for more than what a device elsewhere said, which
 * claims to be this switch. */
static void disown(struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	uint32_t other = sm->topo.ports.at[near].peer;
	struct sm_port_ref at;
	struct iba_node_info claim;

	if (other == NONE || sm_is_partial(&sm->disc) || !is_switch(sm, near) ||
	    !is_switch(sm, other))
		return;
	at = ref(sm, other);
	if (at.guid == ni->node_guid && at.port == ni->local_port)
		return;
	claim = known_info(sm, near);
	sm_unlink(sm, near);
	twin_add(sm, other, &claim);
}

bool sm_twin_met(struct sm *sm, uint32_t near, const struct iba_node_info *ni)
{
	struct sm_port_ref at = ref(sm, near);
	struct sm_twin *t;
	uint32_t h;

	disown(sm, near, ni);
	t = sm->disc.twins.n ? twin_at(sm, &at) : NULL;
	h = holder(sm, near, ni);
	if (h != NONE && displaces(sm, h, ni)) {
		struct iba_node_info host = known_info(sm, h);
		uint32_t place = sm->topo.ports.at[h].peer;

		sm_unlink_port(sm, place);
		twin_add(sm, place, &host);
		return false;
	}
	if (t && t->ni.port_guid != ni->port_guid && t->ni.node_guid != ni->node_guid) {
		twin_drop(sm, (size_t)(t - sm->disc.twins.at)); /* another device now */
		t = NULL;
	}
	if (h == NONE && !t && !was_elsewhere(sm, near, ni))
		return false;
	/* A judgement reads the port again, and so meets the device again: one judgement in each discovery. */
	if (!t || t->judged != sm->topo.epoch || !is_same(&t->ni, ni))
		twin_add(sm, near, ni);
	return true;
}

void sm_twin_of_down_port(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_node_info ni;
	uint32_t near = p->peer;

	if (sm_is_partial(&sm->disc) || p->pi.state != IBA_PORT_DOWN || near == NONE ||
	    !is_switch(sm, port) || !is_switch(sm, near))
		return;
	ni = known_info(sm, port);
	sm_unlink(sm, near);
	twin_add(sm, near, &ni);
}

/* ---- judged ---- */

static void leave_out(struct sm *sm, struct sm_twin *t, uint32_t h)
{
	const struct sm_port *p = &sm->topo.ports.at[h];
	const struct sm_port *met = is_switch(sm, h) && p->num ? p : NULL;
	uint32_t at = met ? met->peer : p->peer;

	t->state = SM_TWIN_LEFT_OUT;
	t->known.guid = sm->topo.nodes.at[p->node].guid == t->ni.node_guid ? t->ni.node_guid
									   : t->ni.port_guid;
	t->known.kept = ref(sm, h);
	if (is_switch(sm, h))
		t->known.kept.port = 0;
	t->known.kept_at = at == NONE ? (struct sm_port_ref){0} : ref(sm, at);
	if (!t->noted)
		sm_note(sm, .kind = SM_NOTE_DUPLICATE, .duplicate = t->known);
	t->noted = true;
}

/* True: the other device is asked; false: it is known to be there. */
static bool probe(struct sm *sm, struct sm_twin *t, uint32_t h)
{
	const struct sm_port *p = &sm->topo.ports.at[h];

	if (is_switch(sm, h) && p->num && p->pi.state == IBA_PORT_DOWN) {
		t->probe = NONE; /* perhaps the link went down, or came up, meanwhile */
		sm_ask_port(sm, Q_PORT_AGAIN, h);
		sm_ask_port(sm, Q_PORT_AGAIN, port_at(sm, &t->known.left_at));
	} else if (is_switch(sm, h) && p->num) { /* what does this port of it lead to? */
		t->probe = h;
		sm_ask_port(sm, Q_PORT_AGAIN, port_at(sm, &t->known.left_at));
		sm_ask_twin(sm, h);
	} else if (!is_switch(sm, h) && !sm_is_own(sm, p) && p->peer != NONE) {
		t->probe = p->peer;
		sm_ask_twin(sm, p->peer);
	} else {
		return false;
	}
	t->state = SM_TWIN_PROBED;
	t->judged = sm->topo.epoch;
	return true;
}

/* The one at `near` is no twin, or no longer. */
static void accept(struct sm *sm, size_t i, uint32_t near)
{
	struct sm_twin t = sm->disc.twins.at[i];

	twin_drop(sm, i);
	if (t.noted)
		sm_note(sm, .kind = SM_NOTE_NO_DUPLICATE,
			.about = {.kind = SM_ABOUT_BEHIND, .a = t.known.left_at});
	if (t.state == SM_TWIN_LEFT_OUT) /* its answer is old */
		sm_follow(sm, near);
	else
		sm_node_met(sm, near, &t.ni);
}

/* One that waits, was probed, or was left out before; true: something is asked, or was accepted. */
static bool judge_one(struct sm *sm, size_t i)
{
	struct sm_twin *t = &sm->disc.twins.at[i];
	uint32_t near = port_at(sm, &t->known.left_at), h;

	/* A probe without an answer makes the whole discovery doubtful. */
	if (t->state == SM_TWIN_FORMER || near == NONE || sm->topo.ports.at[near].peer != NONE ||
	    sm->topo.ports.at[near].pi.state == IBA_PORT_DOWN ||
	    (t->state == SM_TWIN_PROBED && t->probe != NONE)) {
		twin_drop(sm, i);
		return false;
	}
	h = holder(sm, near, &t->ni);
	if (h == NONE) {
		accept(sm, i, near);
		return true;
	}
	if (t->state == SM_TWIN_WAITING && probe(sm, t, h))
		return true;
	if (t->state != SM_TWIN_LEFT_OUT)
		leave_out(sm, t, h);
	return false;
}

bool sm_twins_judge(struct sm *sm)
{
	for (size_t i = sm->disc.twins.n; i--;)
		if (judge_one(sm, i))
			return true;
	return false;
}

/* A switch: this port of it leads back to the place where the twin seems to be. */
static bool leads_back(const struct sm_twin *t, const struct iba_node_info *ni)
{
	return ni->node_guid == t->known.left_at.guid && ni->local_port == t->known.left_at.port;
}

void sm_twin_answered(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct iba_node_info ni;

	sm_node_info_take(sm, data, &ni);
	for (size_t i = sm->disc.twins.n; i--;) {
		struct sm_twin *t = &sm->disc.twins.at[i];
		uint32_t near = port_at(sm, &t->known.left_at), h;

		if (t->state != SM_TWIN_PROBED || t->probe != port || near == NONE)
			continue;
		h = sm->topo.ports.at[near].pi.state == IBA_PORT_DOWN ? NONE
								      : holder(sm, near, &t->ni);
		if (h == port && leads_back(t, &ni)) { /* the link known before is the twin's */
			struct iba_node_info other = known_info(sm, h);
			uint32_t place = sm->topo.ports.at[h].peer;

			sm_unlink(sm, h);
			accept(sm, i, near);
			if (place != near)
				twin_add(sm, place, &other);
		} else if (h != NONE && (h == port || is_same(&t->ni, &ni))) {
			leave_out(sm, t, h);
		} else {
			sm_discovery_doubt(sm); /* it moved meanwhile */
		}
	}
}

bool sm_duplicate_at(const struct sm *sm, uint32_t i, struct sm_duplicate *d)
{
	for (size_t k = 0; k < sm->disc.twins.n; k++)
		if (sm->disc.twins.at[k].state == SM_TWIN_LEFT_OUT && !i--) {
			*d = sm->disc.twins.at[k].known;
			return true;
		}
	return false;
}
