/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of virtual machines: one seed draws a subnet of hypervisors, a scheme of LIDs, requests to start, stop and
 * migrate VMs, lost SMPs, links, switches and hosts that fail, and crashes of the manager. At every moment no LID is at two
 * virtual functions, and at rest each VM is at one, with its vGUID, and all switches lead there. Where no round came
 * between, tables are those that copies and swaps predict. The result depends on the arguments alone.
 */
#ifndef WEFT_VM_TRIAL_H
#define WEFT_VM_TRIAL_H

#include "trial/trial_common.h"

struct vm_trial {
	uint64_t seed;
	unsigned switches, hosts, vfs;		/* of the subnet */
	unsigned requests, done, refused, lost; /* lost: the manager crashed before it answered */
	unsigned restarts, changes, predicted;
	double loss; /* of SMPs; for printing only */
	const char *mechanism, *scheme;
	bool ok;
	char why[TRIAL_WHY]; /* the first thing that is wrong, or empty */
	uint64_t hash;	     /* of the trace */
	time_ps end;
};

/* A subnet of 2 to max_switches switches. mechanism NULL: drawn. */
void vm_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *mechanism,
		  struct vm_trial *t);

#endif
