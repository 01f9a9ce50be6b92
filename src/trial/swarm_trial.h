/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Swarm trials: each seed draws a fabric, up to so many managers and a schedule of faults, and leaves out a random
 * half of the kinds of faults and of the mechanisms. So each seed uses what is left more often, and kinds that hide
 * each other's effects do not always come together. schedule_run.h says what is checked. A failing schedule is
 * shrunk: to fewer events, managers and nodes and to default settings, as long as it fails in the same way.
 */
#ifndef WEFT_SWARM_TRIAL_H
#define WEFT_SWARM_TRIAL_H

#include "trial/schedule_run.h"

enum { SWARM_MANAGERS = 4 }; /* at most, unless the caller says otherwise */

enum swarm_where { SWARM_ANY, SWARM_HOST, SWARM_SWITCH };

/* A manager that every seed has. The seed draws its node, among those of a kind as far as there are any, and all that
 * is not given here. */
struct swarm_seat {
	enum swarm_where where;
	bool has_priority, has_start;
	unsigned priority;
	time_ps start;
	const struct sm_mechanism *mechanism; /* NULL: drawn */
};

/* Managers of a trial: these, as far as the fabric has nodes; nseats 0: 1 to `most`, all drawn. */
struct swarm_managers {
	unsigned most;
	const struct swarm_seat *seats;
	unsigned nseats;
};

/* The schedule of a seed. The caller frees it. */
void swarm_draw(uint64_t seed, const struct swarm_managers *m, struct schedule *s);

/* Its run. */
void swarm_trial_run(uint64_t seed, const struct swarm_managers *m, struct schedule_result *out);

/*
 * The smallest schedule found that fails as s does; s is replaced by it. Returns the number of runs it took. tick, if
 * not NULL, is called before each run.
 */
unsigned swarm_shrink(struct schedule *s, enum schedule_fault fault, void (*tick)(void *ctx),
		      void *ctx);

#endif
