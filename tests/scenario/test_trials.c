/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials as a test: seeds of lab_trial(), in TAP, every fourth twice. Keeps no state. Does
 * not draw anything itself. usage: test_trials FIRST COUNT [MAX_SWITCHES] [hash]
 */
#include "lab/lab.h"
#include "seeds.h"

static void run(struct seed_run *r)
{
	struct lab_trial t;

	lab_trial(r->seed, r->max_switches, NULL, &t);
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
