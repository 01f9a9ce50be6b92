/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions that wait: where the window is full and a device did not respond twice, its questions are asked after all
 * others. Two masters that both wait for one dead switch would meet late otherwise. State: disc.slow, disc.late and
 * disc.again, of the running discovery. Ways in: sm_work_postpone(), sm_work_waits(), sm_work_resume(). Does not give up
 * a question: silent_devices.c does.
 */
#include "sm/manager.h"

/* How often what waits is asked with two tries; then each question is repeated as often as usual, and given up. */
enum { PASSES = 4 };

void sm_postponed_clear(struct sm *sm)
{
	sm->disc.slow.n = sm->disc.late.n = sm->disc.again.n = 0;
	sm->disc.resumed.n = sm->disc.resumed_head = 0;
	sm->disc.passes = 0;
}

/* The device asked, the switch before it, or a switch on the way there. */
static bool is_slow(const struct sm *sm, const struct sm_target *t)
{
	for (size_t i = 0; i < sm->disc.slow.n; i++)
		if (t->node == sm->disc.slow.at[i] || sm_crosses(sm, t, sm->disc.slow.at[i]))
			return true;
	return false;
}

/* A switch that answers may have one dead device behind it; with two, the switch is the more likely one. */
static bool looks_slow(const struct sm *sm, const struct sm_target *t)
{
	if (t->kind != SM_TARGET_BEHIND)
		return true;
	for (size_t i = 0; i < sm->disc.again.n; i++)
		if (sm->disc.again.at[i].target.kind == SM_TARGET_BEHIND &&
		    sm->disc.again.at[i].target.node == t->node)
			return true;
	return false;
}

/*
 * Sets stay in the order in which they were decided. Without cfg.contest no other manager waits, and the order of questions is
 * what is measured.
 */
bool sm_work_postpone(struct sm *sm, const struct sm_txn *t)
{
	if (!sm->cfg.contest || sm->disc.passes >= PASSES ||
	    !(sm_work_left(sm) || sm->disc.late.n) || t->method != IBA_GET ||
	    t->tries < 2 * sm_key_count(sm) || t->target.kind == SM_TARGET_NONE ||
	    t->target.node == NONE || t->target.node == 0)
		return false;
	if (looks_slow(sm, &t->target) && !is_slow(sm, &t->target))
		vec_push(&sm->disc.slow, t->target.node);
	vec_push(&sm->disc.again, (struct sm_work){t->question, t->target});
	sm_discovery_disturbed(sm);
	return true;
}

bool sm_work_waits(struct sm *sm, struct sm_work w)
{
	if (!sm->disc.slow.n || !is_slow(sm, &w.target))
		return false;
	vec_push(&sm->disc.late, w);
	return true;
}

void sm_work_answered(struct sm *sm, uint32_t node)
{
	for (size_t i = 0; i < sm->disc.slow.n; i++)
		if (sm->disc.slow.at[i] == node) {
			sm->disc.slow.at[i] = sm->disc.slow.at[--sm->disc.slow.n];
			return;
		}
}

/* ---- asked again ---- */

static void resume(struct sm *sm, const struct sm_work *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&sm->disc.resumed, at[i]);
}

/* All others were asked and have answered. First what was never asked. */
void sm_work_resume(struct sm *sm)
{
	struct sm_discovering *d = &sm->disc;

	if (sm_work_left(sm) || sm->txn.outstanding || !(d->late.n + d->again.n))
		return;
	d->passes++;
	d->resumed.n = d->resumed_head = d->slow.n = 0;
	resume(sm, d->late.at, d->late.n);
	resume(sm, d->again.at, d->again.n);
	d->late.n = d->again.n = 0;
}

bool sm_resumed_left(const struct sm *sm)
{
	return sm->disc.resumed_head < sm->disc.resumed.n;
}

struct sm_work sm_resumed_take(struct sm *sm)
{
	return sm->disc.resumed.at[sm->disc.resumed_head++];
}
