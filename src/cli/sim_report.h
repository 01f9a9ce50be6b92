/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a simulated run looks like: a timeline while it goes on, then a table of phases or one JSON
 * object. The caller fills in `settled` and `changed_at`; the rest is taken from the laboratory.
 */
#ifndef WEFT_SIM_REPORT_H
#define WEFT_SIM_REPORT_H

#include "base/json.h"
#include "lab/lab.h"

struct sim_report {
	const struct fab *fab;
	struct lab *lab;
	bool timeline;
	const char *stops;     /* what happens before tables change, in words */
	double wall_start;
	bool settled;          /* the run came to its end */
	time_ps changed_at;    /* 0: nothing changed */
	time_ps sweep_gap;     /* between sweeps, while nothing happens */
	struct lab_sum up, change;
	VEC(uint16_t) lids_before; /* by port of fab */
	uint32_t lids_moved;
	struct lab_verdict v;
	uint64_t smps_noted;   /* sent when the last line of the timeline was written */
};

/* What every simulating command asks of the manager: defaults, then where it sits, the root of its
 * routes and its engine, each NULL for the usual. CLI_OK, or CLI_BAD after a message. */
int sim_manager_config(const struct fab *f, const char *sm, const char *root, const char *engine,
		       struct lab_config *c);

void sim_report_init(struct sim_report *r, const struct fab *f, struct lab *l, bool timeline, bool smps);
void sim_report_up(struct sim_report *r);     /* the bring-up is over and so is the run */
void sim_report_before(struct sim_report *r); /* the bring-up is over, a change will come */
void sim_report_after(struct sim_report *r);  /* the run is over */
void sim_report_say(struct sim_report *r, const char *text); /* a line of the timeline */
void sim_report_text(struct sim_report *r);
void sim_report_json(struct sim_report *r, struct json *j, uint64_t seed);
void sim_report_free(struct sim_report *r);

#endif
