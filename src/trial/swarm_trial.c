/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One swarm trial: draws and runs a schedule. Keeps no state. Way in: swarm_trial_run(). Does not shrink: see
 * swarm_shrink.c.
 */
#include "trial/swarm_trial.h"

void swarm_trial_run(uint64_t seed, const struct swarm_managers *m, struct schedule_result *out)
{
	struct schedule s;

	swarm_draw(seed, m, &s);
	schedule_run(&s, NULL, out);
	schedule_free(&s);
}
