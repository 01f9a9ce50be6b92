/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What standbys know of VMs. A standby that takes over finds VMs by what VFs hold, from the places in its copy on. So a VM
 * or a slot that changed after the copy changes again only when the copies of all standbys that ask for them have it, and
 * requests are answered only then: no VF shows that a VM was created or stopped, nor does one whose host fails with the
 * master. State: copies of struct sm_virtual. Does not make copies: see mirror/mirror_master.c. Without standbys nothing
 * waits.
 */
#include "sm/manager.h"

/* After which a copy that makes no progress is not waited for: some subnets never come to rest. */
#define PATIENCE (2 * PS_PER_S)

static uint32_t copied(const struct sm *sm)
{
	return MAX(sm_mirror_holds_vms(sm), sm->virtual.copies.waived);
}

static bool any_waits(const struct sm *sm)
{
	return sm->virtual.copies.held.n || sm->virtual.copies.needs;
}

uint32_t sm_vms_changed(struct sm *sm)
{
	sm_mirror_outdated(sm);
	return ++sm->virtual.changes;
}

bool sm_vms_are_copied(struct sm *sm, uint32_t change)
{
	if (change <= copied(sm))
		return true;
	sm->virtual.copies.needs = MAX(sm->virtual.copies.needs, change);
	return false;
}

bool sm_answer_hold(struct sm *sm, const struct sm_job *j)
{
	if (sm->virtual.changes <= copied(sm))
		return false;
	vec_push(&sm->virtual.copies.held, (struct sm_held_answer){*j, sm->virtual.changes});
	return true;
}

/* These are given first: with cfg.hold_vms the next requests wait until they are saved. */
bool sm_answers_due(const struct sm *sm)
{
	const struct sm_vm_copies *c = &sm->virtual.copies;

	return c->held.n && c->held.at[0].change <= copied(sm);
}

static void release(struct sm *sm)
{
	struct sm_vm_copies *c = &sm->virtual.copies;
	size_t kept = 0;

	for (size_t i = 0; i < c->held.n; i++)
		if (c->held.at[i].change <= copied(sm))
			sm_job_answer(sm, &c->held.at[i].job);
		else
			c->held.at[kept++] = c->held.at[i];
	c->held.n = kept;
	if (c->needs <= copied(sm))
		c->needs = 0;
}

void sm_vms_copies_step(struct sm *sm)
{
	struct sm_vm_copies *c = &sm->virtual.copies;
	uint32_t now = sm_mirror_holds_vms(sm);

	if (!any_waits(sm)) {
		c->until = 0;
		return;
	}
	if (!c->until || now > c->best)
		c->until = sm->core.now + PATIENCE;
	c->best = now;
	if (sm->core.now >= c->until) {
		c->waived = sm->virtual.changes;
		c->until = 0;
	}
	release(sm);
}

time_ps sm_vms_copies_wake(const struct sm *sm)
{
	time_ps t = sm->virtual.copies.until;

	if (!any_waits(sm))
		return TIME_NEVER;
	return MIN(t ? t : sm->core.now, sm_mirror_silent_at(sm));
}

void sm_vms_copies_refuse(struct sm *sm, int rc, const char *why)
{
	struct sm_vm_copies *c = &sm->virtual.copies;

	for (size_t i = 0; i < c->held.n; i++)
		sm_job_refuse(sm, &c->held.at[i].job, rc, "%s", why);
	c->held.n = 0;
	c->needs = 0;
	c->until = 0;
}
