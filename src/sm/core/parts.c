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
	return sm->cfg.mechanism.discovery->partial && !sm->cfg.observe && sm->topo.fab &&
	       sm->topo.fab->nswitches && sm->disc.allowed == SM_DISCOVERY_PARTIAL &&
	       !sm->disc.unfinished;
}

/* What the technique of the mechanism does in this phase; NULL: nothing of its own. */
static const struct sm_part *part_of_technique(const struct sm *sm)
{
	const struct sm_technique *t = sm_technique_now(sm);

	if (sm->core.phase == SM_DEACTIVATE)
		return t->before;
	if (sm->core.phase == SM_JOIN)
		return t->plan		    ? &sm_part_join
		       : sm_links_first(sm) ? &sm_part_links_first
					    : &sm_part_maps;
	return t->tables;
}

const struct sm_part *sm_part_now(const struct sm *sm)
{
	enum sm_phase p = sm->core.phase;
	const struct sm_part *part = NULL;

	if (p == SM_OFF)
		return NULL;
	/* A discovery stays what it began as. */
	if ((p == SM_DISCOVER || p == SM_SWEEP) &&
	    (sm->core.entered ? can_be_partial(sm) : sm_is_partial(&sm->disc)))
		part = &sm_part_partial;
	else if (p == SM_DEACTIVATE || p == SM_JOIN || p == SM_TABLES)
		part = part_of_technique(sm);
	return part ? part : parts[p];
}
