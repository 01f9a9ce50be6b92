/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of bring-up under faults: one seed draws a subnet, the manager's settings, SMPs that are lost,
 * delayed and duplicated, and links and switches that fail and return while the manager works. At the end
 * the devices must be configured as lab_judge() demands. The result depends on the arguments alone.
 */
#ifndef WEFT_FAULT_TRIAL_H
#define WEFT_FAULT_TRIAL_H

#include "trial/trial_common.h"

struct fault_trial {
	uint64_t seed;
	unsigned switches, hosts, links; /* of the subnet */
	unsigned random_tables;		 /* switches without a linear forwarding table */
	unsigned events;		 /* links and switches that went down or up */
	double loss;			 /* for printing only */
	const char *mechanism;
	bool ok;
	char why[LAB_WHY]; /* the first thing that is wrong, or empty */
	uint64_t hash;	   /* of the trace */
	uint64_t smps, sim_events;
	time_ps end;
};

/* A subnet of 2 to max_switches switches. m NULL: the mechanism is drawn as well. */
void fault_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		     struct fault_trial *t);

#endif
