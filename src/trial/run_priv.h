/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of one run of a schedule. schedule_run.c owns it; faults.c, rogue_sm.c and invariants.c have members of
 * their own.
 */
#ifndef WEFT_TRIAL_RUN_PRIV_H
#define WEFT_TRIAL_RUN_PRIV_H

#include "lab/watch.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/schedule_run.h"

enum { RUN_MANAGERS = SCHEDULE_MANAGERS };
#define RUN_LOOK (200 * PS_PER_US) /* between two checks whether all is at rest */

struct run_link {
	port_id a, b;
};

/* faults.c: what is wrong on purpose now. */
struct run_faults {
	struct sim_faults smps;
	bool slow;		    /* some link has loss or latency of its own */
	VEC(struct run_link) cut;   /* links that a cut took, for join */
	uint8_t *old[RUN_MANAGERS]; /* the first subnet state saved by each manager */
	size_t old_len[RUN_MANAGERS];
	bool lied;	   /* some agent lied: managers have to read everything again */
	uint64_t *lie_q32; /* by node; NULL: no lies yet */
	struct rng rng;
};

/* rogue_sm.c: a program that wants to be master. */
struct run_rogue {
	bool runs;
	node_id node;
	unsigned port;
	uint32_t generation;
	uint32_t count; /* SMPs sent */
};

/* invariants.c */
struct run_checks {
	time_ps near[RUN_MANAGERS][RUN_MANAGERS];  /* both master and connected; 0: they are not */
	time_ps since[RUN_MANAGERS][RUN_MANAGERS]; /* and one can learn of the other; 0: none can */
	time_ps swept[RUN_MANAGERS];		   /* when its last sweep began */
	time_ps copies_until; /* copies of Sets that the wire made may arrive */
	time_ps looked;	      /* when connections were last computed */
	uint32_t *part;	      /* by port */
	struct lab_watch watch;
	bool watched, traffic;
	uint64_t discarded; /* before the traffic counted */
};

struct run {
	const struct schedule *s;
	const struct schedule_story *story;
	struct schedule_result *out;
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	struct run_faults faults;
	struct run_rogue rogue;
	struct run_checks checks;
	bool healed; /* no more faults */
};

void run_fail(struct run *r, enum schedule_fault fault, const char *fmt, ...) PRINTF(3, 4);
void run_say(struct run *r, const char *text);
void run_make_lab(struct run *r);
void run_power_on(struct run *r);      /* all nodes but those that are added later */
void run_start_traffic(struct run *r); /* now, if the schedule has traffic */

void run_fault(struct run *r, const struct schedule_event *ev);
void run_heal(struct run *r);
void run_enable(
	struct run
		*r); /* restarts managers that were disabled: nothing but an order would do that */
bool run_resync(
	struct run *r); /* at rest; true: agents lied, and the managers read everything again */
void run_faults_free(struct run *r);

void run_rogue_toggle(struct run *r, node_id n);
void run_rogue_end(struct run *r);
void run_order(struct run *r, unsigned manager, enum schedule_order order); /* of another manager */

void run_checks_begin(struct run *r);
void run_sweep_begins(struct run *r, unsigned manager);
void run_check_masters(struct run *r);
void run_check_watch(struct run *r);
void run_forgive(struct run *r); /* a fault happened: times count from now */
bool run_at_rest(struct run *r, time_ps since);
bool run_is_one_subnet(struct run *r);	      /* every host can reach every other */
bool run_is_right(struct run *r, bool final); /* final: what is wrong is a fault */
void run_checks_end(struct run *r);
void run_see_pairs(struct run *r, unsigned manager);
/* What each manager does, for the reason why a run did not come to rest. */
void run_describe(struct run *r, char *text, size_t size);

#endif
