/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of virtual machines: one seed draws a subnet of hypervisors, a scheme of LIDs, one to three managers, requests to
 * start, stop and migrate VMs, lost SMPs, links, switches and hosts that fail and restart, crashes of managers, and cuts
 * between managers, which then are masters of a part each. At every
 * moment no LID is at two virtual functions, and no cycle of dependencies is in the tables. At rest each VM is where the
 * answers say, with its LID, vGUID and GID, and all switches lead there. Where no round came between, tables are those that
 * copies and swaps predict. The result depends on the arguments alone.
 */
#ifndef WEFT_VM_TRIAL_H
#define WEFT_VM_TRIAL_H

#include "trial/trial_common.h"

struct vm_trial_opts {
	unsigned max_switches;		      /* of a subnet that is drawn: 2 or more */
	const char *fabric;		      /* of vm_fabrics; NULL: drawn */
	unsigned migrations;		      /* until so many were carried out; 0: a few turns */
	const struct sm_mechanism *mechanism; /* NULL: drawn */
	bool cuts;  /* two managers or more, and the subnet is cut in two between them */
	bool at_pf; /* managers at PFs, as in real time */
	bool partitions; /* each VM has P_Keys of its own, which its function has before packets reach it, and no other */
};

struct vm_trial {
	uint64_t seed;
	const char *fabric;
	unsigned switches, hosts, vfs, managers; /* of the subnet */
	unsigned requests, done, refused, lost;	 /* lost: the manager crashed before it answered */
	unsigned migrations, restarts, changes, cuts;
	unsigned checks, predicted; /* times at rest, and those whose tables were predicted */
	double loss;		    /* of SMPs; for printing only */
	const char *mechanism, *scheme;
	bool ok;
	char why[LAB_WHY]; /* the first thing that is wrong, or empty */
	uint64_t hash;	   /* of the trace */
	time_ps end;
};

extern const char *const vm_fabrics[]; /* names; ends with NULL */

void vm_trial_run(uint64_t seed, const struct vm_trial_opts *o, struct vm_trial *t);

#endif
