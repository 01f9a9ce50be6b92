/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each failure would cost: one bring-up, and from that moment one run for each switch and each link between
 * switches that fails. The runs are processes that start as copies of the first one, so that the bring-up, the
 * longest part, is done once. No run depends on another, and none on the number of processes.
 */
#ifndef WEFT_FAILURES_H
#define WEFT_FAILURES_H

#include "lab/change_run.h"

enum lab_failure_kind { LAB_FAILS_SWITCH, LAB_FAILS_LINK };

/* Of fixed size, without pointers: it passes through a pipe. */
struct lab_failure {
	enum lab_failure_kind kind;
	node_id node; /* the switch */
	port_id port; /* one end of the link, as in the fabric */
	bool ended, ok;
	char why[256];	   /* what is wrong, or empty */
	time_ps detection; /* until the manager noticed */
	time_ps routes;	   /* until final routes were in the switches */
	time_ps total;	   /* until rest */
	uint64_t smps, entries, blocks;
	uint32_t lids_moved;
	uint64_t pairs_before,
		pairs_cut; /* ordered pairs of hosts; without any cable between them afterwards */
	uint64_t
		pairs_broken; /* connected by cables, but without a route until routes are repaired */
	uint64_t busiest_before, busiest_after; /* routes on the busiest link */
	uint64_t sent, lost, futile;		/* packets, with traffic */
	uint64_t events;
};

struct lab_routes_by { /* the engine of the routes before any failure */
	char engine[16];
	char why[SM_WHY]; /* why it serves; empty: it was named, or belongs to the mechanism */
};

struct lab_failures_config {
	const struct fab *fab;
	const struct lab_config *lab;	    /* its threads are set to 1 */
	const struct lab_change_plan *plan; /* change, about_to and period are ignored */
	unsigned switches, links;	    /* how many of each: failure_sample.h; UINT_MAX: all */
	unsigned jobs;			    /* processes at once; 0: one for each core */
	struct lab_routes_by *by;	    /* is filled in; may be NULL */
	void (*done)(void *ctx, unsigned ended, unsigned of); /* may be NULL */
	void *ctx;
};

typedef VEC(struct lab_failure) lab_failures;

/* 0, or negative with e: the bring-up failed, or a process could not be started. */
int lab_failures_run(const struct lab_failures_config *c, lab_failures *out, struct err *e);

#endif
