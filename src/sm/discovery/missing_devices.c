/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partial discovery: devices that links and tables no longer lead to, other routes to them, and
 * devices that are gone. State: marks in the topology database. Does not decide when to look.
 */
#include "sm/manager.h"

/* ---- endports: port 0 of a switch, or a linked port of another node ---- */

static uint32_t endport_of(const struct sm *sm, uint32_t port)
{
	const struct sm_node *n = &sm->topo.nodes.at[sm->topo.ports.at[port].node];

	return n->type == IBA_NODE_SWITCH ? n->first_port : port;
}

/* SMPs of the SM pass this port: one of a switch, or the SM's own. */
static bool passes(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	if (n->gone || p->peer == NONE)
		return false;
	return sm_is_way_out(sm, p) &&
	       (p->node == 0 || sm->topo.ports.at[n->first_port].ask.mark == SM_REACHABLE);
}

/* ---- marks ---- */

bool sm_is_missing(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	return n->type == IBA_NODE_SWITCH &&
	       sm->topo.ports.at[n->first_port].ask.mark == SM_MISSING;
}

/* What was asked of a missing switch by its old route is not waited for any longer. */
static bool asked_missing(const struct sm *sm, const struct sm_txn *t)
{
	return sm_question_of_known(t->question) && sm_is_missing(sm, t->target.node);
}

/*
 * Devices that tables no longer lead to, there or back, are missing: those in the lists of
 * destination devices of the switches and links just lost (thesis 5.4.3). A missing switch makes
 * others missing whose routes cross it, so this repeats until nothing changes.
 */
void sm_mark_cut_off(struct sm *sm)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t p = 0; p < sm->topo.ports.n; p++) {
			struct sm_port *e = &sm->topo.ports.at[p];

			if (!e->by_lid || !sm_in_use(sm, p) || sm_is_own(sm, e) ||
			    sm_route_holds(sm, p))
				continue;
			sm_port_by_lid(sm, p, false);
			e->ask.mark = SM_MISSING;
			more |= sm->topo.nodes.at[e->node].type == IBA_NODE_SWITCH;
		}
	}
	sm_forget_some(sm, asked_missing);
}

void sm_mark_missing(struct sm *sm, uint32_t endport)
{
	struct sm_port *e = &sm->topo.ports.at[endport];

	if (sm_is_own(sm, e))
		return;
	e->ask.mark = SM_MISSING;
	sm_port_by_lid(sm, endport, false);
	sm_mark_cut_off(sm);
}

/* ---- links ---- */

void sm_port_forget(struct sm *sm, uint32_t port)
{
	sm->topo.ports.at[port].ask.asked = sm->topo.ports.at[port].ask.known = false;
	sm_port_has_lid(sm, port, false);
	sm_port_by_lid(sm, port, false);
}

/* A host behind it is asked again when it returns: it may have been off. */
static void end_lost(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];

	if (!sm_is_endport(sm, p))
		return;
	sm_port_forget(sm, port);
	p->ask.mark = sm_is_own(sm, p) ? SM_REACHABLE : SM_MISSING;
}

bool sm_unlink_port(struct sm *sm, uint32_t port)
{
	uint32_t peer = sm->topo.ports.at[port].peer;

	if (peer == NONE)
		return false;
	sm_unlink(sm, port);
	sm_discovery_found(sm, SM_FOUND_CHANGE);
	end_lost(sm, peer);
	if (!sm_is_own(sm, &sm->topo.ports.at[port])) /* what was just read of it is known */
		end_lost(sm, port);
	return true;
}

/* An endport known elsewhere is found here: what is known of it dates from before it moved. */
void sm_endport_moved(struct sm *sm, uint32_t endport)
{
	if (sm->topo.ports.at[endport].peer != NONE)
		sm_unlink_port(sm, sm->topo.ports.at[endport].peer);
	sm->topo.ports.at[endport].ask.asked = false;
	sm_mark_cut_off(sm);
}

void sm_link_lost(struct sm *sm, uint32_t port)
{
	uint32_t far = sm->topo.ports.at[port].peer;

	if (far == NONE)
		return;
	/* The far end says so through the manager's own link: that leads elsewhere now, and so do all paths. */
	if (sm_is_own(sm, &sm->topo.ports.at[far]))
		sm_discovery_doubt(sm);
	sm_damp_far_end_down(sm, far);
	if (sm->topo.nodes.at[sm->topo.ports.at[far].node].type == IBA_NODE_SWITCH)
		sm_port_state(sm, far, IBA_PORT_DOWN); /* both ends of a link are down together */
	sm_unlink_port(sm, port);
	sm_mark_cut_off(sm);
}

/* ---- devices that routes do not lead to any more ---- */

/* Whether another neighbour is being asked if its links are still there: that may serve this device as well. */
static bool is_sought(const struct sm *sm, const struct sm_node *far)
{
	for (unsigned p = 1; p <= far->nports; p++) {
		uint32_t peer = sm->topo.ports.at[far->first_port + p].peer;

		if (peer != NONE && sm->topo.nodes.at[sm->topo.ports.at[peer].node].ask.sought ==
					    sm->disc.reconnects)
			return true;
	}
	return false;
}

/* Is the link at this port still there? */
static void ask_near(struct sm *sm, uint32_t near, uint32_t port)
{
	struct sm_node *s = &sm->topo.nodes.at[near];

	s->ask.sought = sm->disc.reconnects;
	if (s->type == IBA_NODE_SWITCH) {
		sm_poll(sm, near);
	} else { /* no device reports that the SM's own cable moved, and SwitchInfo does not identify the switch */
		s->ask.polled = sm->topo.epoch;
		sm_ask_behind(sm, port);
	}
}

/*
 * A new route to a missing device: the route of a reachable neighbour, and the port between. The thrifty mechanism asks one
 * neighbour after the other.
 */
static bool reconnect_by(struct sm *sm, uint32_t near, uint32_t port)
{
	struct sm_node *s = &sm->topo.nodes.at[near];
	uint32_t far = endport_of(sm, sm->topo.ports.at[port].peer);
	struct sm_port *e = &sm->topo.ports.at[far];
	struct sm_node *d = &sm->topo.nodes.at[e->node];

	if (e->ask.mark != SM_MISSING || sm->topo.ports.at[port].pi.state == IBA_PORT_DOWN)
		return false;
	if (s->ask.polled != sm->topo.epoch) {
		if (!sm->cfg.mechanism.thrifty || !is_sought(sm, d))
			ask_near(sm, near, port);
		return true;
	}
	if (s->path.n == IBA_MAX_HOPS || d->ask.tries >= 2)
		return false;
	if (d->type != IBA_NODE_SWITCH) {
		sm_port_path(sm, far, sm_path_longer(sm, s->path, sm->topo.ports.at[port].num));
		e->ask.mark = SM_REACHABLE;
		return true;
	}
	sm_node_path(sm, e->node, sm_path_longer(sm, s->path, sm->topo.ports.at[port].num));
	d->ask.tries++;
	sm_poll(sm, e->node);
	return true;
}

bool sm_reconnect(struct sm *sm)
{
	bool any = false;

	sm->disc.reconnects++;
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++) {
		uint32_t first = sm->topo.nodes.at[n].first_port;

		for (unsigned p = 1; p <= sm->topo.nodes.at[n].nports; p++)
			if (passes(sm, first + p))
				any |= reconnect_by(sm, n, first + p);
	}
	return any;
}

/* ---- given up ---- */

static void drop_node(struct sm *sm, uint32_t node)
{
	struct sm_node *n = &sm->topo.nodes.at[node];

	for (unsigned p = 1; p <= n->nports; p++) {
		uint32_t port = n->first_port + p, peer = sm->topo.ports.at[port].peer;

		/*
		 * The link is up and the device does not answer: it is not gone, but cannot be
		 * managed.
		 */
		if (peer != NONE && sm->topo.ports.at[peer].pi.state != IBA_PORT_DOWN &&
		    sm->topo.ports.at[peer].ask.mark != SM_MISSING &&
		    !sm_is_missing(sm, sm->topo.ports.at[peer].node))
			sm_discovery_doubt(sm);
		sm_unlink_port(sm, port);
	}
	sm_node_gone(sm, node);
	sm_discovery_found(sm, SM_FOUND_CHANGE);
	if (n->row != NONE)
		sm_row_forget(sm, n->row);
	sm_name_ask_again(sm, n->guid);
}

static bool node_is_lost(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	if (n->gone || node == 0)
		return false;
	if (n->type == IBA_NODE_SWITCH)
		return sm_is_missing(sm, node);
	for (unsigned p = 1; p <= n->nports; p++)
		if (sm->topo.ports.at[n->first_port + p].ask.asked &&
		    sm->topo.ports.at[n->first_port + p].ask.mark != SM_MISSING)
			return false;
	return true;
}

/*
 * A switch that was new and left again: no table ever led there, so it was never marked missing,
 * but no link leads there.
 */
static void miss_unlinked(struct sm *sm)
{
	uint8_t *seen = sm_nodes_linked(sm);

	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		if (!seen[n] && sm->topo.nodes.at[n].type == IBA_NODE_SWITCH)
			sm->topo.ports.at[sm->topo.nodes.at[n].first_port].ask.mark = SM_MISSING;
	free(seen);
}

void sm_drop_missing(struct sm *sm)
{
	miss_unlinked(sm);
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		if (node_is_lost(sm, n))
			drop_node(sm, n);
}
