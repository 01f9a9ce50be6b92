/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of managers that crash: one seed draws a subnet, a manager's settings, lost SMPs, and the moments
 * at which the manager crashes and another starts: during bring-up, during changes and at rest. The new
 * manager knows nothing, the LIDs, or the subnet state that the old one had at rest. The outcome must be the
 * same as with a manager that never crashed. The result depends on the arguments alone.
 */
#ifndef WEFT_RESTART_TRIAL_H
#define WEFT_RESTART_TRIAL_H

#include "trial/trial_common.h"

struct restart_trial {
	uint64_t seed;
	unsigned switches, hosts, links; /* of the subnet */
	unsigned restarts, changes;
	unsigned warm_gets,
		warm_sets; /* SMPs of the last start, on a fabric that needed no change */
	bool resumed;	   /* in the last start the subnet state was restored */
	double loss;	   /* of SMPs; for printing only */
	const char *mechanism;
	bool ok;
	char why[LAB_WHY]; /* the first thing that is wrong, or empty */
	uint64_t hash;	   /* of the trace */
	time_ps end;
};

/* A subnet of 2 to max_switches switches; the mechanism: NULL: drawn. */
void restart_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		       struct restart_trial *t);

#endif
