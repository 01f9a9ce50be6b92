/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which technique of the mechanism applies now. Keeps no state. Does not know any technique by name.
 */
#include "sm/manager.h"

const struct sm_technique *sm_technique_now(const struct sm *sm)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	if ((sm->disc.arrival ==
	     SM_ADOPTING)) /* tables of another manager: stop only what has to stop */
		return m->adopt;
	return sm->routes.stage == SM_FINAL && sm->routes.staged ? m->second : m->first;
}

bool sm_differences_only(const struct sm *sm)
{
	return sm->cfg.mechanism.partial_tables || sm->audit.mending ||
	       (sm->disc.arrival == SM_ADOPTING);
}
