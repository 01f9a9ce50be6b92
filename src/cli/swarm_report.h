/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Swarm trials and replays of schedules, with their reports. Used by weft sim trial.
 */
#ifndef WEFT_SWARM_REPORT_H
#define WEFT_SWARM_REPORT_H

#include "trial/swarm_trial.h"

struct swarm_opts {
	uint64_t seed;
	unsigned count;
	struct swarm_managers managers;
	const char *save; /* directory for schedules of failing seeds */
	const char *replay, *svg;
	bool timeline;
};

int swarm_trials(const struct swarm_opts *o);
int swarm_replay(const struct swarm_opts *o);

#endif
