/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which part serves which phase. Keeps no state. Way in: sm_part_now(). Does not decide what follows.
 */
#include "sm/manager.h"

/* For phases in which the mechanism has nothing to do. */
static enum sm_outcome skip(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

const struct sm_part sm_part_skip = {.done = skip}, sm_part_none = {0};

static const struct sm_part *const parts[SM_NPHASES] = {
#define PART(phase, name, part, text) [SM_##phase] = &sm_part_##part,
	SM_PHASES(PART)
#undef PART
};

/* Can a partial discovery build upon what is known? */
static bool can_be_partial(const struct sm *sm)
{
	return sm->cfg.mechanism.discovery->partial && sm->topo.fab && sm->topo.fab->nswitches &&
	       sm->disc.allowed == SM_DISCOVERY_PARTIAL;
}

const struct sm_part *sm_part_now(const struct sm *sm)
{
	const struct sm_technique *t = sm_technique_now(sm);
	enum sm_phase p = sm->core.phase;

	if (p == SM_OFF)
		return NULL;
	/* A discovery stays what it began as. */
	if ((p == SM_DISCOVER || p == SM_SWEEP) &&
	    (sm->core.entered ? can_be_partial(sm) : sm_is_partial(&sm->disc)))
		return &sm_part_partial;
	if (p == SM_DEACTIVATE && t->before)
		return t->before;
	if (p == SM_JOIN && t->plan)
		return &sm_part_join;
	if (p == SM_TABLES)
		return t->tables;
	return parts[sm->core.phase];
}
