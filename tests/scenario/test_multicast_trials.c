/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of multicast, in TAP. Keeps the totals of a batch of seeds. Way in: main(), which runs seeds FIRST to FIRST+COUNT-1
 * of multicast_trial_run(), every tenth twice, and compares the two trace hashes. Does not judge a trial: src/trial does.
 * usage: test_multicast_trials FIRST COUNT [MAX_SWITCHES] [hash]
 * Covers: multicast_trial.c, multicast_checks.c, tree_updates.c, mft_rows.c, wanted_groups.c, mft_takeover.c, saved_trees.c
 */
#include "seeds.h"
#include "trial/multicast_trial.h"

static struct {
	unsigned groups, joins, leaves, changes, restarts, checks;
} total;

static void run(struct seed_run *r)
{
	struct multicast_trial t;

	multicast_trial_run(
		r->seed,
		&(struct multicast_trial_opts){.max_switches = r->max_switches, .groups = 60}, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.joins + t.leaves;
	snprintf(r->why, sizeof(r->why), "%s, %s, %u switches, loss %g: %s", t.fabric, t.mechanism,
		 t.switches, t.loss, t.why);
	if (r->again)
		return;
	total.groups += t.groups;
	total.joins += t.joins;
	total.leaves += t.leaves;
	total.changes += t.changes;
	total.restarts += t.restarts;
	total.checks += t.checks;
}

static void sums(char *text, size_t len)
{
	snprintf(text, len,
		 "%u groups, %u joins, %u leaves, %u failures, %u restarts; trees right %u times",
		 total.groups, total.joins, total.leaves, total.changes, total.restarts,
		 total.checks);
	memset(&total, 0, sizeof(total));
}

/* Seeds that failed once: a switch that was presumed dead lived and sent copies back. */
static bool found(void)
{
	static const uint64_t seeds[] = {111, 379, 100219, 100310, 100477, 101069, 101317, 101494};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		struct multicast_trial t;

		multicast_trial_run(
			seeds[i], &(struct multicast_trial_opts){.max_switches = 16, .groups = 60},
			&t);
		if (!t.ok)
			printf("# weft sim trial --multicast --seed %llu: %s\n",
			       (unsigned long long)seeds[i], t.why);
		ok &= t.ok;
	}
	return ok;
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_multicast_trials",
		.replay = "weft sim trial --multicast --seed",
		.batch = 40,
		.again = 10,
		.max_switches = 16,
		.before_name = "seeds that failed once",
		.before = found,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
