/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a schedule and checks it. At every moment:
 *
 *   - two managers with one SM_Key are not both master for longer than SCHEDULE_MASTERS_BOUND, counted from when
 *     both run, links connect them, no SMP is lost or delayed on purpose, and no fault has just happened; without
 *     traps, where neither knows the other, from the next sweep of one of them;
 *   - where all managers use the mechanism weft, and no agent lies about the fabric, the tables have no cycle of
 *     dependencies;
 *   - packets do not wait for each other in a ring; as long as only managers fail, and the fabric is one subnet, no packet
 *     is discarded.
 *
 * After the last fault losses, lies and pauses end, the rogue program goes, and if no manager runs, one is
 * started. Then, within SCHEDULE_REST_BOUND, each connected part with a manager has exactly one master, which is at
 * rest and whose last sweep found no change; its view equals the devices, LIDs are unique, ports Active, tables as
 * it believes them and verified, within SCHEDULE_RIGHT_BOUND. All of this still holds SCHEDULE_HOLD later.
 *
 * The result depends on the schedule alone.
 */
#ifndef WEFT_SCHEDULE_RUN_H
#define WEFT_SCHEDULE_RUN_H

#include "trial/schedule.h"
#include "trial/trial_common.h"

#define SCHEDULE_MASTERS_BOUND (500 * PS_PER_MS)
#define SCHEDULE_REST_BOUND                                                                        \
	(15 * PS_PER_S) /* devices that were silent are tried again after 10 s */
#define SCHEDULE_RIGHT_BOUND (500 * PS_PER_MS)
#define SCHEDULE_HOLD	     (100 * PS_PER_MS)

enum schedule_fault {
	SCHEDULE_FINE,
	SCHEDULE_NO_FABRIC,
	SCHEDULE_TWO_MASTERS,
	SCHEDULE_NO_REST,
	SCHEDULE_WRONG_SUBNET,
	SCHEDULE_CYCLE,
	SCHEDULE_DEADLOCK,
	SCHEDULE_PACKETS_LOST,
	SCHEDULE_NFAULTS
};
const char *schedule_fault_name(enum schedule_fault f); /* a word for JSON */

/* What happens during a run; each function may be NULL. */
struct schedule_story {
	void *ctx;
	void (*begin)(void *ctx, struct lab *l); /* before power-on */
	void (*note)(void *ctx, struct lab *l, unsigned manager, const struct sm_note *n);
	void (*event)(void *ctx, struct lab *l, const struct schedule_event *ev); /* before it */
	void (*changed)(void *ctx, struct lab *l); /* after an event */
	void (*say)(void *ctx, struct lab *l, const char *text);
};

struct schedule_result {
	enum schedule_fault fault;
	char why[LAB_WHY];
	unsigned switches, hosts, links;
	uint64_t hash, smps, sim_events;
	uint64_t trace;		       /* sim_trace_hash() when the faults ended */
	uint64_t phases;	       /* bit p: phase p was entered by some manager */
	uint64_t pairs[SM_NSM_STATES]; /* bit e: event e of the election was met in this state */
	time_ps end;
	time_ps rest;	 /* from the last fault until all were at rest */
	time_ps masters; /* the longest time that two masters reached each other */
};

void schedule_run(const struct schedule *s, const struct schedule_story *story,
		  struct schedule_result *out);

#endif
