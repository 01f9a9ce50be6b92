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

	switch (sm->core.phase) {
	case SM_OFF:
		return NULL;
	case SM_DISCOVER:
	case SM_SWEEP:
		/* A discovery stays what it began as. */
		if (sm->core.entered ? can_be_partial(sm) : sm_is_partial(&sm->disc))
			return &sm_part_partial;
		break;
	case SM_DEACTIVATE:
		return t->before ? t->before : &sm_part_skip;
	case SM_JOIN:
		return t->plan ? &sm_part_join : &sm_part_skip;
	case SM_TABLES:
		return t->tables;
	case SM_CONFIGURE:
	case SM_COMPUTE:
	case SM_RESTORE:
	case SM_ARM:
	case SM_ACTIVATE:
	case SM_AUDIT:
	case SM_READY:
	case SM_STANDBY:
	case SM_NPHASES:
		break;
	}
	return parts[sm->core.phase];
}
