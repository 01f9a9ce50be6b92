/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of managers that crash, in TAP. Keeps the totals of a batch of seeds. Way in: main(), which
 * runs seeds FIRST to FIRST+COUNT-1 of restart_trial_run(), every tenth twice, and compares the two
 * trace hashes. Does not judge a trial: src/trial does. usage: test_restart_trials FIRST COUNT
 * [MAX_SWITCHES] [hash]
 * Covers: restart_trial.c, manager_host.c
 */
#include "seeds.h"
#include "trial/restart_trial.h"

static struct {
	unsigned restarts, changes, resumed, gets, sets;
} total;

static void run(struct seed_run *r)
{
	struct restart_trial t;

	restart_trial_run(r->seed, r->max_switches, NULL, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.restarts;
	snprintf(r->why, sizeof(r->why), "%s, %u switches, loss %g: %s", t.mechanism, t.switches,
		 t.loss, t.why);
	if (r->again)
		return;
	total.restarts += t.restarts;
	total.changes += t.changes;
	total.resumed += t.resumed;
	total.gets += t.warm_gets;
	total.sets += t.warm_sets;
}

static void sums(char *text, size_t len)
{
	snprintf(text, len,
		 "%u managers crashed, %u changes; %u restored; warm starts took %u Gets, %u Sets",
		 total.restarts, total.changes, total.resumed, total.gets, total.sets);
	memset(&total, 0, sizeof(total));
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_restart_trials",
		.batch = 100,
		.again = 10,
		.max_switches = 16,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
