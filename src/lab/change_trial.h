/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials of changes under load: one seed draws a subnet, traffic, the manager's settings,
 * lost SMPs, and switches and links that go and come, alone, at once or while the manager is still
 * at work. All the time the fabric is watched; in the end everything must be as if nothing had
 * been.
 */
#ifndef WEFT_CHANGE_TRIAL_H
#define WEFT_CHANGE_TRIAL_H

#include "base/rng.h"
#include "lab/lab.h"

struct lab_change_trial {
	uint64_t seed;
	unsigned switches, hosts, links; /* of the topology drawn */
	unsigned changes;		 /* switches and links that went or came */
	unsigned load;			 /* per cent of a host's link */
	double loss;			 /* for printing only */
	char mechanism[96];
	bool ok;
	char why[256];
	uint64_t hash, smps, sim_events;
	uint64_t packets, lost;
	uint64_t looks;		   /* of the watch */
	uint32_t connectivity_min; /* millionths */
	time_ps end;
};

/*
 * 4 to max_switches switches. m: the mechanism; NULL: drawn, one with a name or any combination of
 * techniques that is safe. In the end the tables must be what the mechanism's engine computes from
 * scratch, byte for byte; of tables that were updated, at most a twentieth more hops in all and
 * a quarter (and two routes) more on the busiest link.
 */
void lab_change_trial(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		      struct lab_change_trial *t);

#endif
