/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An experiment with one change, with or without traffic: bring-up, sweeps that find nothing, traffic, the
 * change, the manager's reaction, some time of the recovered state. Measures what the manager did and which
 * packets were lost.
 */
#ifndef WEFT_CHANGE_RUN_H
#define WEFT_CHANGE_RUN_H

#include "lab/change.h"
#include "lab/group_traffic.h"
#include "lab/series.h"
#include "lab/thesis_terms.h"
#include "lab/verdict.h"
#include "lab/watch.h"
#include "sim/traffic/traffic.h"

struct lab_change_plan {
	const struct lab_change *change;
	const struct traffic_config *traffic; /* NULL: none; lab_change_run() sets start and stop */
	/* Moments of the run, as in the thesis (4.4.4); 0: as quiet and warmup say, half-way between two sweeps. */
	time_ps traffic_at, change_at;
	time_ps quiet; /* at rest before the traffic, for work that the manager does in spare time */
	time_ps warmup; /* traffic before the change */
	time_ps tail;	/* traffic after the manager has settled */
	time_ps limit;	/* for the bring-up, and for the change */
	time_ps period; /* of the series; needs traffic; 0: none; TIME_NEVER: 1/200 of the time between sweeps */
	const struct lab_groups_config
		*groups;	     /* with traffic: to multicast groups as well; NULL: none */
	bool silent_new;	     /* hosts that come never send */
	void (*about_to)(void *ctx); /* called right before the change; may be NULL */
	void *ctx;
};

struct lab_change_result {
	bool settled;	    /* the manager came to rest after the change */
	time_ps traffic_at; /* 0: there was none */
	time_ps changed_at; /* 0: the bring-up did not end */
	time_ps settled_at, ended_at;
	struct lab_sum up, sum; /* the bring-up, the change */
	struct lab_thesis thesis;
	time_ps sweep;		 /* duration of a sweep that found nothing, before the change */
	uint64_t events;	 /* of the simulation */
	uint32_t switches, lids; /* of the subnet when the manager had settled */
	uint32_t table_room;	 /* entries of each linear table, as far as they can be sent */
	uint32_t lids_moved;	 /* ports whose LID changed */
	uint64_t
		entries_changed; /* of the tables in the devices, from before the change to its end */
	struct lab_verdict v;	 /* when the manager had settled */
	/* with traffic, from the change on */
	uint64_t sent, received, in_flight_before, in_flight;
	uint64_t discarded[SIM_NDISCARDS], lost; /* by reason; total */
	uint64_t
		futile; /* of those, packets whose destination was no longer physically connected */
	uint64_t copies; /* that switches made of packets to groups */
	struct lab_groups_count multicast;
	bool conserved;
	uint64_t hash; /* of the whole run */
	struct lab_watch watch;
	struct lab_series series; /* from the start of the traffic on */
};

/* The lab must be new: this powers it on. 0, or -EINVAL with e filled when the traffic does not fit the
 * fabric. Free the result in either case, after lab_free(). */
int lab_change_run(struct lab *l, const struct lab_change_plan *p, struct lab_change_result *r,
		   struct err *e);
void lab_change_result_free(struct lab_change_result *r);

#endif
