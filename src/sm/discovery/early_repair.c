/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repair before discovery completes: with repairs computed ahead, the first dead port and the
 * traps of other switches identify the link or switch that failed. The repair for just that
 * failure is sent at once, and the switches are read right after it. State: disc.end. Does not
 * act on less than one dead port and a trap of every other switch that must have seen the
 * failure, nor on a repair whose plan holds only if the switch is dead indeed.
 */
#include "sm/manager.h"

bool sm_early_repair_possible(const struct sm *sm)
{
	return sm->cfg.mechanism.ahead && sm->routes.ahead && !sm->core.incomplete &&
	       sm->core.phase == SM_DISCOVER && sm->disc.end != SM_END_EARLY &&
	       !(sm->disc.findings &
		 SM_FOUND_SOMETHING_UP); /* what came up must be explored completely */
}

static bool told(const struct sm *sm, uint32_t node)
{
	return sm->topo.nodes.at[node].ask.told == sm->topo.epoch;
}

static uint32_t switch_behind(const struct sm *sm, uint32_t port)
{
	uint32_t peer = sm->topo.ports.at[port].peer,
		 n = peer == NONE ? NONE : sm->topo.ports.at[peer].node;

	return n != NONE && sm->topo.nodes.at[n].type == IBA_NODE_SWITCH ? n : NONE;
}

/*
 * If the switch is dead, all its neighbours have sent traps, and the traps of those whose route
 * to the SM does not cross it have arrived. Is that so, with at least one neighbour besides
 * `near`?
 */
static bool all_others_told(struct sm *sm, uint32_t node, uint32_t near)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint8_t *mark = &sm->topo.ports.at[n->first_port].ask.mark, was = *mark;
	bool any = false, all = true;

	*mark = SM_MISSING;
	for (unsigned p = 1; p <= n->nports; p++) {
		uint32_t m = switch_behind(sm, n->first_port + p);

		if (m == NONE || m == near || !sm_route_home(sm, m))
			continue;
		any |= told(sm, m);
		all &= told(sm, m);
	}
	*mark = was;
	return any && all;
}

/*
 * Devices that links lead to are present, whether tables lead there or not; all others are not.
 */
static void believe_links(struct sm *sm)
{
	uint8_t *seen = sm_nodes_linked(sm);

	for (uint32_t p = 0; p < sm->topo.ports.n; p++) {
		uint32_t peer = sm->topo.ports.at[p].peer,
			 m = peer == NONE ? NONE : sm->topo.ports.at[peer].node;

		if (m == NONE || !seen[sm->topo.ports.at[p].node])
			continue;
		sm->topo.ports.at[peer].ask.mark =
			SM_REACHABLE; /* only endports have a mark that counts */
		sm->topo.ports.at[sm->topo.nodes.at[m].first_port].ask.mark = SM_REACHABLE;
	}
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		if (!seen[n] && sm->topo.nodes.at[n].type == IBA_NODE_SWITCH)
			sm->topo.ports.at[sm->topo.nodes.at[n].first_port].ask.mark = SM_MISSING;
	free(seen);
}

static void act(struct sm *sm, struct sm_subject dead)
{
	sm->disc.end = SM_END_EARLY;
	sm_work_clear(sm);
	sm_forget_outstanding(sm);
	believe_links(sm);
	sm_note(sm, .kind = SM_NOTE_GUESS, .about = dead);
}

/* Neighbours are read later: one that was not waited for may show that the guess was wrong. */
static void look_later(struct sm *sm, uint32_t node)
{
	if (sm->topo.nodes.at[node].type != IBA_NODE_SWITCH)
		return;
	sm_switch_unread(sm, node);
}

static void take_for_dead(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	sm->disc.presumes = true;
	for (unsigned p = 1; p <= n->nports; p++) {
		uint32_t peer = sm->topo.ports.at[n->first_port + p].peer;

		if (peer == NONE)
			continue;
		sm_port_state(sm, peer,
			      IBA_PORT_DOWN); /* if it is not, reading it shows a change */
		look_later(sm, sm->topo.ports.at[peer].node);
		sm_link_lost(sm, peer);
	}
	act(sm, sm_about_node(sm, node));
}

/* A port of an inter-switch link turned out to be Down. */
void sm_early_repair_link(struct sm *sm, uint32_t port)
{
	uint32_t near = sm->topo.ports.at[port].node, far = switch_behind(sm, port);
	struct sm_subject link = sm_about_link(sm, port);

	if (far == NONE || near == 0 || !sm_early_repair_possible(sm) || !told(sm, near))
		return;
	if (told(sm, far)) { /* the switch lives: the link is dead */
		sm_link_lost(sm, port);
		act(sm, link);
	} else if (far != 0 && all_others_told(sm, far, near) &&
		   sm_ahead_guess(sm, sm->topo.nodes.at[far].guid)) {
		take_for_dead(sm, far);
	}
}

/*
 * The same while ports are read: for a link little is left to read, for a switch's neighbours
 * much.
 */
bool sm_early_repair_switch(struct sm *sm, uint32_t port)
{
	uint32_t near = sm->topo.ports.at[port].node, far = switch_behind(sm, port);

	if (far == NONE || far == 0 || near == 0 || !sm_early_repair_possible(sm) ||
	    !told(sm, near) || told(sm, far) || !all_others_told(sm, far, near) ||
	    !sm_ahead_guess(sm, sm->topo.nodes.at[far].guid))
		return false;
	take_for_dead(sm, far);
	return true;
}

/* The repair is under way: read the switches that reported. */
void sm_early_repair_verify(struct sm *sm)
{
	uint32_t first = NONE; /* that told of a change */

	if (sm->disc.end != SM_END_EARLY)
		return;
	sm->disc.end = SM_END_COMPLETE;
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		if (told(sm, n) && !sm->topo.nodes.at[n].gone) {
			look_later(sm, n);
			first = first == NONE ? n : first;
		}
	sm_change_later(sm, SM_CAUSE_TRAP, sm_about_node(sm, first));
}

/* A repair was sent for a switch that is presumed dead; before anything else it is looked for. */
enum sm_outcome sm_look_first(struct sm *sm)
{
	return sm_changed(sm, sm->core.pending.cause, sm->core.pending.about);
}
