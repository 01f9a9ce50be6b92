/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions that wait: where the window is full and a device did not respond twice, its questions are asked after all
 * others. Two masters that both wait for one dead switch would meet late otherwise. State: disc.slow, disc.late and
 * disc.again, of the running discovery. Ways in: sm_work_postpone(), sm_work_waits(), sm_work_resume(). Does not give up
 * a question: silent_devices.c does.
 */
#include "sm/manager.h"

/* How often what waits is asked again: switches that send traps answer without end, which is no progress. */
enum { PASSES = 4 };

void sm_postponed_clear(struct sm *sm)
{
	sm->disc.slow.n = sm->disc.late.n = sm->disc.again.n = 0;
	sm->disc.stuck = sm->disc.progress = false;
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

/*
 * As long as any device answers, and a few times: then all are repeated as often as usual. Sets stay in the order in which
 * they were decided. Without cfg.contest no other manager waits, and the order of questions is what is measured.
 */
bool sm_work_postpone(struct sm *sm, const struct sm_txn *t)
{
	if (!sm->cfg.contest || sm->disc.stuck || !sm_work_left(sm) || t->method != IBA_GET ||
	    t->tries < 2 * sm_key_count(sm) || t->target.kind == SM_TARGET_NONE ||
	    t->target.node == NONE || t->target.node == 0)
		return false;
	if (!is_slow(sm, &t->target))
		vec_push(&sm->disc.slow, t->target.node);
	vec_push(&sm->disc.again, (struct sm_work){t->question, t->target});
	sm_discovery_disturbed(sm);
	return true;
}

static void back(struct sm *sm, const struct sm_work *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&sm->disc.work, at[i]);
}

bool sm_work_waits(struct sm *sm, struct sm_work w)
{
	if (!sm->disc.slow.n || !is_slow(sm, &w.target))
		return false;
	vec_push(&sm->disc.late, w);
	return true;
}

/* If it was slow, its questions go on behind those that wait for their turn. */
void sm_work_answered(struct sm *sm, uint32_t node)
{
	sm->disc.progress = true;
	for (size_t i = 0; i < sm->disc.slow.n; i++)
		if (sm->disc.slow.at[i] == node) {
			sm->disc.slow.at[i] = sm->disc.slow.at[--sm->disc.slow.n];
			back(sm, sm->disc.late.at, sm->disc.late.n);
			sm->disc.late.n = 0;
			return;
		}
}

/* All others were asked and have answered. First what was never asked, then what had no response. */
void sm_work_resume(struct sm *sm)
{
	if (sm_work_left(sm) || sm->txn.outstanding || !(sm->disc.late.n + sm->disc.again.n))
		return;
	sm->disc.stuck |= !sm->disc.progress || ++sm->disc.passes == PASSES;
	sm->disc.progress = false;
	sm->disc.slow.n = 0;
	back(sm, sm->disc.late.at, sm->disc.late.n);
	back(sm, sm->disc.again.at, sm->disc.again.n);
	sm->disc.late.n = sm->disc.again.n = 0;
}
