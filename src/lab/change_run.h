/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change from beginning to end, alone or under load: bring-up, a quiet sweep, traffic, the
 * change, the manager's work, a while of the recovered state; what it took and what the application
 * saw.
 */
#ifndef WEFT_CHANGE_RUN_H
#define WEFT_CHANGE_RUN_H

#include "lab/series.h"
#include "lab/watch.h"
#include "sim/traffic/traffic.h"

struct lab_change_plan {
	const struct lab_change *change;
	const struct traffic_config
		*traffic; /* NULL: none; start and stop are lab_change_run()'s */
	time_ps quiet;	  /* at rest before that, so that the manager has time to think */
	time_ps warmup;	  /* traffic before the change */
	time_ps tail;	  /* and after the manager has settled */
	time_ps limit;	  /* for the bring-up, and for the change */
	time_ps period; /* of the series, with traffic; 0: none; TIME_NEVER: 200 between two sweeps */
	void (*about_to)(void *ctx); /* the fabric changes now; may be NULL */
	void *ctx;
};

struct lab_change_result {
	bool settled;	    /* all the way */
	time_ps traffic_at; /* 0: there was none */
	time_ps changed_at; /* 0: it did not come so far */
	time_ps settled_at, ended_at;
	struct lab_sum up, sum; /* the bring-up, the change */
	uint32_t lids_moved;	/* ports that had a LID before and have another now */
	struct lab_verdict v;	/* when it had settled */
	/* with traffic, from the moment of the change on */
	uint64_t sent, received, in_flight_before, in_flight;
	uint64_t discarded[SIM_NDISCARDS], lost; /* by cause; all causes */
	uint64_t
		futile; /* of them, where no cables lead to the destination any more: nobody could deliver them */
	bool conserved;
	uint64_t hash; /* of the whole run */
	struct lab_watch watch;
	struct lab_series series; /* from the start of the traffic on */
};

/* The lab must be new: this switches it on. 0, or -EINVAL with e filled when the traffic does not
 * fit the fabric. Free the result in either case, after the lab. */
int lab_change_run(struct lab *l, const struct lab_change_plan *p, struct lab_change_result *r,
		   struct err *e);
void lab_change_result_free(struct lab_change_result *r);

#endif
