/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thesis's experiment (4.4.2): the same change for one switch after another, each in a run of
 * its own, all but the switch the manager depends on.
 */
#ifndef WEFT_EACH_SWITCH_H
#define WEFT_EACH_SWITCH_H

#include "lab/change_run.h"

struct lab_each_config {
	const struct fab *fab;
	const struct lab_config *lab;	    /* sm_node as in fab */
	const struct lab_change_plan *plan; /* but for the change itself and about_to */
	unsigned sample;		    /* so many of the switches, evenly spread; 0: all */
	bool activation;  /* the subnet starts without the switch, which comes; else it goes */
	unsigned threads; /* runs at once, 0: as many as the machine has; changes no result */
	void (*done)(void *ctx, unsigned ended, unsigned of); /* one at a time; may be NULL */
	void *ctx;
};

struct lab_each_run {
	node_id sw;
	bool ok; /* settled, and all that is left is active, verified and known; packets conserved,
		    no lock */
	struct lab_change_result r; /* series and points of the watch are not kept */
};

struct lab_each {
	VEC(struct lab_each_run) runs; /* in the order of fab's switches */
	uint32_t failed;
};

/* 0, or -EINVAL with e filled: no switch to take, or the traffic does not fit. Free in either case.
 */
int lab_each_switch(const struct lab_each_config *c, struct lab_each *out, struct err *e);
void lab_each_free(struct lab_each *a);

#endif
