/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of changes under load: one seed draws a subnet, traffic, the manager's settings, lost SMPs, and
 * switches and links that go and come: one, several at once, or one while the manager still handles another.
 * The fabric is watched throughout. At no time may the tables allow a deadlock; at the end every host
 * reaches every other, LIDs are unchanged and every packet is accounted for. The result depends on the
 * arguments alone.
 */
#ifndef WEFT_CHANGE_TRIAL_H
#define WEFT_CHANGE_TRIAL_H

#include "trial/trial_common.h"

struct change_trial {
	uint64_t seed;
	unsigned switches, hosts, links; /* of the subnet */
	unsigned changes;		 /* switches and links that went or came */
	unsigned load;			 /* per cent of a host's link */
	double loss;			 /* of SMPs; for printing only */
	char mechanism[96];
	bool ok;
	char why[LAB_WHY]; /* the first thing that is wrong, or empty */
	uint64_t hash, smps, sim_events;
	uint64_t packets, lost;
	uint64_t looks; /* how often the watch computed the levels */
	uint32_t
		circle; /* links on which packets were seen to wait in a circle for a moment; 0: never */
	uint32_t connectivity_min; /* millionths */
	time_ps end;
};

/*
 * A subnet of 4 to max_switches switches. m: the mechanism; NULL: drawn, either one that has a name or any
 * combination of techniques that is safe. At the end the tables must equal those that the mechanism's engine
 * computes from scratch; tables of an update may have 1/20 more hops in total and 1/4 (and two routes) more
 * on the busiest link.
 */
void change_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		      struct change_trial *t);

#endif
