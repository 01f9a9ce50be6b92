/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Swarm trials, in TAP: several managers and faults of all kinds. Keeps the totals of a batch of seeds. Way in: main(),
 * which runs seeds FIRST to FIRST+COUNT-1 of swarm_trial_run(), every twentieth twice, and compares the two trace
 * hashes. Does not judge a trial: src/trial does. usage: test_swarm_trials FIRST COUNT [hash]
 * Covers: swarm_trial.c, swarm_draw.c, schedule_run.c
 */
#include "seeds.h"
#include "trial/swarm_trial.h"

static struct {
	uint64_t pairs[SM_NSM_STATES];
	uint64_t phases;
	time_ps time, rest, masters;
} total;

static void run(struct seed_run *r)
{
	struct schedule_result t;

	swarm_trial_run(r->seed, &(struct swarm_managers){.most = SWARM_MANAGERS}, &t);
	r->ok = !t.fault;
	r->hash = t.hash;
	r->size = t.smps;
	snprintf(r->why, sizeof(r->why), "%u switches: %s", t.switches, t.why);
	if (r->again)
		return;
	for (unsigned i = 0; i < SM_NSM_STATES; i++)
		total.pairs[i] |= t.pairs[i];
	total.phases |= t.phases;
	total.time += t.end;
	total.rest = MAX(total.rest, t.rest);
	total.masters = MAX(total.masters, t.masters);
}

static void sums(char *text, size_t len)
{
	unsigned pairs = 0;

	for (unsigned i = 0; i < SM_NSM_STATES; i++)
		pairs += (unsigned)__builtin_popcountll(total.pairs[i]);
	snprintf(text, len,
		 "%llu s simulated; at rest after %llu ms, two masters for %llu ms at most; "
		 "%u pairs of state and event, %u phases",
		 (unsigned long long)(total.time / PS_PER_S),
		 (unsigned long long)(total.rest / PS_PER_MS),
		 (unsigned long long)(total.masters / PS_PER_MS), pairs,
		 (unsigned)__builtin_popcountll(total.phases));
	memset(&total, 0, sizeof(total));
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_swarm_trials",
		.replay = "weft sim trial --swarm --seed",
		.batch = 100,
		.again = 20,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
