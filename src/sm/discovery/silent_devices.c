/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that stop to respond while they are asked: what else was to be asked of them is dropped, instead of
 * waiting for every single question in vain. State: disc.silent, of the running discovery, and each device's
 * answers and strikes. Ways in: sm_answered(), sm_unanswered(), sm_is_silent_work(). Does not decide whether a
 * device is gone: the discovery is in doubt and looks again.
 */
#include "sm/manager.h"

/* Questions given up while the device answered no other: one may be unlucky, or not known to the device. */
enum { STRIKES = 3 };

void sm_silent_begin(struct sm *sm)
{
	for (size_t i = 0; i < sm->disc.silent.n; i++)
		sm->topo.nodes.at[sm->disc.silent.at[i].node].ask.strikes = 0;
	sm->disc.silent.n = 0;
}

/* The device that answers, as far as it is known: behind a port it is not. */
static uint32_t asked_node(const struct sm_target *t)
{
	return t->kind == SM_TARGET_BEHIND || t->kind == SM_TARGET_NONE ? NONE : t->node;
}

uint32_t sm_answers_of(const struct sm *sm, const struct sm_target *t)
{
	uint32_t node = asked_node(t);

	return node == NONE ? 0 : sm->topo.nodes.at[node].ask.answers;
}

/* ---- questions that cross a silent switch ---- */

static struct sm_path path_of(const struct sm *sm, const struct sm_target *t)
{
	if (t->kind == SM_TARGET_BEHIND)
		return sm_path_through(sm, &sm->topo.ports.at[t->port]);
	return t->kind == SM_TARGET_PORT ? sm_path_to(sm, &sm->topo.ports.at[t->port])
					 : sm->topo.nodes.at[t->node].path;
}

/* A directed path that crosses a switch begins with the switch's own. Paths by LID do not show it. */
bool sm_crosses(const struct sm *sm, const struct sm_target *t, uint32_t node)
{
	const struct sm_path *s = &sm->topo.nodes.at[node].path;
	struct sm_path p;

	if (t->node == NONE || t->kind == SM_TARGET_NONE || !s->n)
		return false;
	p = path_of(sm, t);
	return p.via == s->via && p.n + (t->kind == SM_TARGET_BEHIND) > s->n && p.n >= s->n &&
	       !memcmp(sm->topo.hops.at + p.at, sm->topo.hops.at + s->at, s->n);
}

/* ---- what is not asked any more ---- */

static bool is_futile(const struct sm *sm, const struct sm_target *t)
{
	for (size_t i = 0; i < sm->disc.silent.n; i++) {
		const struct sm_silent *s = &sm->disc.silent.at[i];

		if (asked_node(t) == s->node || (s->blocks && sm_crosses(sm, t, s->node)))
			return true;
	}
	return false;
}

bool sm_is_silent_work(const struct sm *sm, struct sm_work w)
{
	return is_futile(sm, &w.target);
}

static bool asked_in_vain(const struct sm *sm, const struct sm_txn *t)
{
	return is_futile(sm, &t->target);
}

/* ---- what shows it ---- */

/* An answer through a switch shows that it forwards, even if it does not answer itself. */
void sm_answered(struct sm *sm, const struct sm_target *t)
{
	uint32_t node = asked_node(t);

	for (size_t i = 0; i < sm->disc.silent.n; i++)
		if (sm_crosses(sm, t, sm->disc.silent.at[i].node))
			sm->disc.silent.at[i].forwards = true;
	sm_work_answered(sm, t->node);
	if (node == NONE)
		return;
	sm->topo.nodes.at[node].ask.answers++;
	sm->topo.nodes.at[node].ask.strikes = 0;
}

/* Once a device is silent, the first question through it that fails too tells that it does not forward. */
static void find_blocked(struct sm *sm, const struct sm_target *t)
{
	for (size_t i = 0; i < sm->disc.silent.n; i++) {
		struct sm_silent *s = &sm->disc.silent.at[i];

		s->blocks |= !s->forwards && sm_crosses(sm, t, s->node);
	}
}

/* The manager's own node is part of every path; a bad status is an answer. */
void sm_unanswered(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = asked_node(&t->target);

	if (t->status)
		return;
	find_blocked(sm, &t->target);
	if (node != NONE && node != 0 && sm->topo.nodes.at[node].ask.answers == t->answers &&
	    sm->topo.nodes.at[node].ask.strikes < STRIKES &&
	    ++sm->topo.nodes.at[node].ask.strikes == STRIKES)
		vec_push(&sm->disc.silent, (struct sm_silent){.node = node});
	if (sm->disc.silent.n)
		sm_forget_some(sm, asked_in_vain);
}
