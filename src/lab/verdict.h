/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict on a subnet, from the devices themselves: port states, LIDs and forwarding tables of all nodes
 * that the leading manager's node is connected to. What the manager knows is only compared with them.
 */
#ifndef WEFT_VERDICT_H
#define WEFT_VERDICT_H

#include "lab/lab.h"

enum { LAB_WHY = 256 }; /* bytes of the reason why a run failed; empty: it did not so far */

/* Keep the first reason; later ones are ignored. */
void lab_fail(char why[LAB_WHY], const char *fmt, ...) PRINTF(2, 3);

struct lab_verdict {
	bool active;   /* every port at the end of a link is Active */
	bool verified; /* the tables in the switches connect every pair without deadlock */
	bool lids_unique;
	bool complete; /* the manager knows exactly the nodes, links and LIDs that exist */
	uint32_t nodes, lids, ports_inactive;
	uint32_t unreached; /* nodes that are on but not connected to the manager's */
	struct rt_report
		report;	   /* filled when the tables in the devices had to be verified again */
	char why[LAB_WHY]; /* the first thing that is wrong, or empty */
};

/* Free v->report with rt_report_free(). */
void lab_judge(struct lab *l, struct lab_verdict *v);

#endif
