/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes under load as a test: seeds of change_trial_run(), in TAP, every tenth twice. State: sums
 * over a batch. Does not draw anything itself. usage: test_change_trials FIRST COUNT [MAX_SWITCHES]
 * [hash]
 */
#include "trial/change_trial.h"
#include "seeds.h"

static struct {
	uint64_t packets, looks;
	unsigned changes;
} total;

static void run(struct seed_run *r)
{
	struct change_trial t;

	change_trial_run(r->seed, r->max_switches, NULL, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.packets;
	snprintf(r->why, sizeof(r->why), "%s", t.why);
	if (r->again)
		return;
	total.packets += t.packets;
	total.looks += t.looks;
	total.changes += t.changes;
}

static void sums(char *text, size_t len)
{
	snprintf(text, len, "%u changes, %llu packets, %llu looks", total.changes,
		 (unsigned long long)total.packets, (unsigned long long)total.looks);
	memset(&total, 0, sizeof(total));
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_change_trials",
		.replay = "weft sim trial --change --seed",
		.batch = 50,
		.again = 10,
		.max_switches = 32,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
