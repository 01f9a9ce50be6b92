/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of bring-up under faults, in TAP: seeds of fault_trial_run(), every fourth twice. Keeps no state.
 * Does not draw anything itself. usage: test_trials FIRST COUNT [MAX_SWITCHES] [hash]
 * Covers: fault_trial.c, lab.c, manager_host.c, verdict.c
 */
#include "trial/fault_trial.h"
#include "seeds.h"

static void run(struct seed_run *r)
{
	struct fault_trial t;

	fault_trial_run(r->seed, r->max_switches, NULL, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.smps;
	snprintf(r->why, sizeof(r->why), "%s", t.why);
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_trials",
		.replay = "weft sim trial --seed",
		.batch = 100,
		.again = 4,
		.max_switches = 128,
		.run = run,
	};

	return seeds_main(argc, argv, &trials);
}
