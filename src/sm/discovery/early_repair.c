/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repair before all is known: while repairs thought out ahead are at hand, the first dead port and the
 * traps of other switches tell well enough which link or switch failed. The repair for just that goes
 * out at once; what was believed meanwhile is looked at right after it. State: sm->disc.guessed. Does not
 * act on less: one dead port, and the word of everybody else who must have seen it too.
 */
#include "sm/manager.h"

bool sm_guess_possible(const struct sm *sm)
{
	return sm->cfg.mechanism.ahead && sm->routes.ahead && !sm->core.incomplete &&
	       sm->core.phase == SM_DISCOVER && sm->disc.end != SM_END_EARLY &&
	       !(sm->disc.findings &
		 SM_FOUND_SOMETHING_UP); /* what came up must be explored to the end */
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
 * If it is dead, all around it have sent traps, and those whose way here does not lead through it have
 * been heard. Is it so, and is there one besides `near`?
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

/* Whoever links lead to is there, whether tables lead there or not; nobody else is. */
static void believe_links(struct sm *sm)
{
	uint8_t *seen = sm_nodes_linked(sm);

	for (uint32_t p = 0; p < sm->topo.ports.n; p++) {
		uint32_t peer = sm->topo.ports.at[p].peer,
			 m = peer == NONE ? NONE : sm->topo.ports.at[peer].node;

		if (m == NONE || !seen[sm->topo.ports.at[p].node])
			continue;
		sm->topo.ports.at[peer].ask.mark = SM_REACHABLE; /* of endports it counts */
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

/* Whoever has a link to it: one whose word was not waited for may know better. */
static void look_later(struct sm *sm, uint32_t node)
{
	if (sm->topo.nodes.at[node].type != IBA_NODE_SWITCH)
		return;
	sm_switch_unread(sm, node);
}

static void take_for_dead(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (unsigned p = 1; p <= n->nports; p++) {
		uint32_t peer = sm->topo.ports.at[n->first_port + p].peer;

		if (peer == NONE)
			continue;
		sm_port_state(sm, peer, IBA_PORT_DOWN); /* if not, that is news then */
		look_later(sm, sm->topo.ports.at[peer].node);
		sm_partial_lost(sm, peer);
	}
	act(sm, sm_about_node(sm, node));
}

/* A port that a link between switches is known at turns out to be Down. */
void sm_guess(struct sm *sm, uint32_t port)
{
	uint32_t near = sm->topo.ports.at[port].node, far = switch_behind(sm, port);
	struct sm_subject link = sm_about_link(sm, port);

	if (far == NONE || near == 0 || !sm_guess_possible(sm) || !told(sm, near))
		return;
	if (told(sm, far)) { /* it lives: the link */
		sm_partial_lost(sm, port);
		act(sm, link);
	} else if (far != 0 && all_others_told(sm, far, near)) {
		take_for_dead(sm, far);
	}
}

/* The same where ports are read anyway: of a link little is left to read, of a switch's neighbours much. */
bool sm_guess_switch(struct sm *sm, uint32_t port)
{
	uint32_t near = sm->topo.ports.at[port].node, far = switch_behind(sm, port);

	if (far == NONE || far == 0 || near == 0 || !sm_guess_possible(sm) || !told(sm, near) ||
	    told(sm, far) || !all_others_told(sm, far, near))
		return false;
	take_for_dead(sm, far);
	return true;
}

/* The repair was made: now look at what everybody said. */
void sm_guess_check(struct sm *sm)
{
	if (sm->disc.end != SM_END_EARLY)
		return;
	sm->disc.end = SM_END_COMPLETE;
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++)
		if (told(sm, n) && !sm->topo.nodes.at[n].gone)
			look_later(sm, n);
	sm_change_later(sm, SM_CAUSE_TRAP);
}
