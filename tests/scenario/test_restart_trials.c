/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Managers that die, as a test: seeds FIRST to FIRST+COUNT-1 of lab_restart_trial(), in TAP. Every
 * tenth is run twice and must leave the same trace hash. A failure names the seed. usage:
 * test_restart_trials FIRST COUNT [MAX_SWITCHES]
 */
#include "lab/restart_trial.h"

enum { BATCH = 100, AGAIN = 10 };

struct totals {
	unsigned restarts, changes, resumed, gets, sets;
};

static bool run_seed(uint64_t seed, unsigned max, struct totals *sum)
{
	struct lab_restart_trial a, b;

	lab_restart_trial(seed, max, &a);
	sum->restarts += a.restarts;
	sum->changes += a.changes;
	sum->resumed += a.resumed;
	sum->gets += a.warm_gets;
	sum->sets += a.warm_sets;
	if (!a.ok)
		printf("# seed %llu (%s, %u switches, loss %g): %s\n", (unsigned long long)seed,
		       a.mechanism, a.switches, a.loss, a.why);
	if (seed % AGAIN)
		return a.ok;
	lab_restart_trial(seed, max, &b);
	if (a.hash != b.hash)
		printf("# seed %llu: trace hash %016llx, then %016llx\n", (unsigned long long)seed,
		       (unsigned long long)a.hash, (unsigned long long)b.hash);
	return a.ok && a.hash == b.hash;
}

int main(int argc, char **argv)
{
	uint64_t first, count, max = 16;
	unsigned failed = 0;

	if (argc < 3 || parse_u64(argv[1], &first) || parse_u64(argv[2], &count) ||
	    (argc > 3 && parse_u64(argv[3], &max))) {
		fputs("usage: test_restart_trials FIRST COUNT [MAX_SWITCHES]\n", stderr);
		return 2;
	}
	printf("1..%llu\n", (unsigned long long)((count + BATCH - 1) / BATCH));
	for (uint64_t s = first, n = 1; s < first + count; s += BATCH, n++) {
		uint64_t end = MIN(s + BATCH, first + count);
		struct totals sum = {0};
		unsigned bad = 0;

		for (uint64_t i = s; i < end; i++)
			bad += !run_seed(i, (unsigned)max, &sum);
		printf("%s %llu - seeds %llu to %llu: %u managers died, %u changes; warm starts, %u knew all: %u Gets, %u Sets\n",
		       bad ? "not ok" : "ok", (unsigned long long)n, (unsigned long long)s,
		       (unsigned long long)end - 1, sum.restarts, sum.changes, sum.resumed,
		       sum.gets, sum.sets);
		fflush(stdout);
		failed += bad;
	}
	return failed ? 1 : 0;
}
