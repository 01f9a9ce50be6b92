/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of multicast: one seed draws a subnet, groups of hosts and switches, joins and leaves, lost SMPs, links and switches
 * that fail and return, and restarts of the manager. At every moment no cycle of dependencies is in the unicast and multicast
 * tables of the devices, and so no packet gets back to a switch. At rest every member gets one copy of what another one sends,
 * and no other port does, by the tables of the devices and a verifier that shares no code with the manager. The result depends on
 * the arguments alone.
 */
#ifndef WEFT_MULTICAST_TRIAL_H
#define WEFT_MULTICAST_TRIAL_H

#include "trial/trial_common.h"

struct multicast_trial_opts {
	unsigned
		max_switches; /* of a subnet that is drawn: 4 or more; from 80 on also the 8-port 3-tree */
	unsigned groups;		      /* at most; on a fabric with a name, so many */
	const char *fabric;		      /* of multicast_fabrics; NULL: drawn */
	const struct sm_mechanism *mechanism; /* NULL: drawn */
};

struct multicast_trial {
	uint64_t seed;
	char fabric[32];
	unsigned switches, hosts, groups;
	unsigned joins, leaves, changes, restarts, checks;
	uint64_t blocks; /* of multicast tables, written by the last manager */
	uint64_t some;	 /* its computations for some of the groups alone */
	double loss;	 /* of SMPs; for printing only */
	const char *mechanism;
	bool ok;
	char why[LAB_WHY]; /* the first thing that is wrong, or empty */
	uint64_t hash;	   /* of the trace */
	time_ps end;
};

extern const char *const multicast_fabrics[]; /* ends with NULL */

void multicast_trial_run(uint64_t seed, const struct multicast_trial_opts *o,
			 struct multicast_trial *t);

#endif
