/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials of managers that die: one seed draws a subnet, a manager's settings, lost SMPs, and the
 * moments at which the manager is gone and another one starts who knows nothing, LIDs alone, or all that was known: during
 * bring-up, during changes, and at rest. What is there in the end must be as if one had lived through it.
 */
#ifndef WEFT_RESTART_TRIAL_H
#define WEFT_RESTART_TRIAL_H

#include "base/rng.h"
#include "lab/lab.h"

struct lab_restart_trial {
	uint64_t seed;
	unsigned switches, hosts, links;
	unsigned restarts, changes;
	unsigned warm_gets,
		warm_sets; /* of the last start, on a fabric where nothing was to be done */
	bool resumed;	   /* that one had been given what its forerunner knew */
	double loss;	   /* for printing only */
	const char *mechanism;
	bool ok;
	char why[256];
	uint64_t hash;
	time_ps end;
};

void lab_restart_trial(uint64_t seed, unsigned max_switches, struct lab_restart_trial *t);

#endif
