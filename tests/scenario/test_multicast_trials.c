/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of multicast, in TAP. Keeps the totals of a batch of seeds. Way in: main(), which runs seeds FIRST to FIRST+COUNT-1
 * of multicast_trial_run(), every tenth twice, and compares the two trace hashes. Does not judge a trial: src/trial does.
 * usage: test_multicast_trials FIRST COUNT [MAX_SWITCHES] [hash]
 * Covers: multicast_trial.c, multicast_checks.c, tree_updates.c, mft_rows.c, wanted_groups.c, mft_takeover.c, saved_trees.c,
 * copy_scan.c
 */
#include "seeds.h"
#include "trial/multicast_trial.h"

static struct {
	unsigned groups, joins, leaves, changes, restarts, checks;
	uint64_t some;
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
	total.some += t.some;
}

static void sums(char *text, size_t len)
{
	snprintf(text, len,
		 "%u groups, %u joins, %u leaves, %u failures, %u restarts; trees right %u times, "
		 "computed %llu times for some groups alone",
		 total.groups, total.joins, total.leaves, total.changes, total.restarts,
		 total.checks, (unsigned long long)total.some);
	memset(&total, 0, sizeof(total));
}

static bool is_ok(uint64_t seed, bool engines)
{
	struct multicast_trial t;
	struct trial_engine drawn;

	trial_draw_engine(seed, &drawn);
	multicast_trial_run(
		seed,
		&(struct multicast_trial_opts){.max_switches = 16,
					       .groups = 60,
					       .mechanism = engines ? &drawn.mechanism : NULL},
		&t);
	if (!t.ok)
		printf("# weft sim trial --multicast%s --seed %llu: %s\n",
		       engines ? " --engines random" : "", (unsigned long long)seed, t.why);
	return t.ok;
}

/*
 * Seeds that failed once: a switch that was presumed dead lived and sent copies back; with engines, one got masks after a restart
 * that was noticed later (645, 1021), and old trees had taken the room of new ones. From 7000165 on: entries of hosts that were
 * gone, behind the last LID in use, closed cycles with trees.
 */
static bool found(void)
{
	static const uint64_t seeds[] = {111, 379, 100219, 100310, 100477, 101069, 101317, 101494};
	static const uint64_t engines[] = {645,	    1021,    151,     457,     840,
					   1293,    7000165, 7012828, 7013075, 7017510,
					   7022563, 7205673, 7212353};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++)
		ok &= is_ok(seeds[i], false);
	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		ok &= is_ok(engines[i], true);
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
