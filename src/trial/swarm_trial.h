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

/* The schedule of a seed. The caller frees it. */
void swarm_draw(uint64_t seed, unsigned max_managers, struct schedule *s);

/* Its run. */
void swarm_trial_run(uint64_t seed, unsigned max_managers, struct schedule_result *out);

/*
 * The smallest schedule found that fails as s does; s is replaced by it. Returns the number of runs it took. tick, if
 * not NULL, is called before each run.
 */
unsigned swarm_shrink(struct schedule *s, enum schedule_fault fault, void (*tick)(void *ctx),
		      void *ctx);

#endif
