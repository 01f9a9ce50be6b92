/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thesis's experiment (4.4.2): the same change for each switch, each in a run of its own, except for the
 * switch at the manager's port.
 */
#ifndef WEFT_EACH_SWITCH_H
#define WEFT_EACH_SWITCH_H

#include "lab/change_run.h"

struct lab_each_config {
	const struct fab *fab;
	const struct lab_config *lab;	    /* sm_node: a node of fab */
	const struct lab_change_plan *plan; /* change, about_to and period are ignored */
	unsigned sample;		    /* number of switches, evenly spread; 0: all */
	bool activation;		    /* the switch is added; false: it is removed */
	unsigned threads; /* simultaneous runs; 0: one for each core; changes no result */
	void (*done)(void *ctx, unsigned ended, unsigned of); /* never concurrently; may be NULL */
	void *ctx;
};

struct lab_each_run {
	node_id sw;
	bool ok; /* settled, the verdict is good, packets are conserved, no deadlock */
	struct lab_change_result r; /* series and points of the watch are not kept */
};

struct lab_each {
	VEC(struct lab_each_run) runs; /* in the order of fab's switches */
	uint32_t failed;
};

/* 0, or -EINVAL with e filled: no switch to change, or the traffic does not fit. Free in either case. */
int lab_each_switch(const struct lab_each_config *c, struct lab_each *out, struct err *e);
void lab_each_free(struct lab_each *a);

#endif
