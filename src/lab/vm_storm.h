/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A boot storm on a simulated subnet: many virtual machines start within a short time, each requested at a moment of its
 * own, and what that takes until each is connected.
 */
#ifndef WEFT_VM_STORM_H
#define WEFT_VM_STORM_H

#include "lab/lab.h"
#include "lab/verdict.h"

struct lab_storm_plan {
	const struct fab *fab; /* compact; the lab runs on fab_wire() of it */
	unsigned vms;
	time_ps within; /* requests come at random in this time; 0: all at once */
	uint64_t seed;
	time_ps limit; /* for the bring-up, and from the last request on */
};

struct lab_storm_vm {
	node_id host;
	time_ps asked; /* after the first request could come */
	struct sm_vm_result r;
};

struct lab_storm_result {
	bool up;			  /* the subnet came up and all requests were answered */
	char why[LAB_WHY];		  /* the first thing that is wrong; "": nothing */
	uint32_t hosts, switches, blocks; /* blocks: of the tables of one switch afterwards */
	VEC(struct lab_storm_vm) vms;	  /* by the time of their requests */
	uint32_t refused, rounds;
	time_ps from; /* when the first request could come */
	time_ps time; /* from then to the last answer */
	struct lab_verdict v;
	uint64_t hash;
};

/* The lab is new, on the wire view, and is powered on here. Free the result. */
void lab_storm_run(struct lab *l, const struct lab_storm_plan *p, struct lab_storm_result *r);
void lab_storm_free(struct lab_storm_result *r);

#endif
