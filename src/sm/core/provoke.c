/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches for rare branches in builds with -Dprovoke=true. State: core.provoked, a count. Way in: PROVOKE(). Does not
 * use a random source: the seed comes with the configuration.
 */
#include "base/rng.h"
#include "sm/manager.h"

#ifdef WEFT_PROVOKE
bool sm_provoked(struct sm *sm, enum sm_provocation what)
{
	static const unsigned odds[] = {
#define SM_PROVOKE_ODDS(name, n) [SM_PROVOKE_##name] = n,
		SM_PROVOCATIONS(SM_PROVOKE_ODDS)
#undef SM_PROVOKE_ODDS
	};
	/* Each seed leaves out half of the switches, as swarms do. */
	bool used = hash64_add(sm->cfg.provoke, 1000u + what) & 1;

	if (!sm->cfg.provoke || !used)
		return false;
	return hash64_add(sm->cfg.provoke, ++sm->core.provoked * SM_NPROVOCATIONS + what) %
		       odds[what] ==
	       0;
}
#endif

bool sm_can_provoke(void)
{
#ifdef WEFT_PROVOKE
	return true;
#else
	return false;
#endif
}
