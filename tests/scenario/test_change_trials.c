/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes under load as a test: seeds FIRST to FIRST+COUNT-1 of lab_change_trial(), in TAP. Every
 * tenth is run twice and must leave the same trace hash. A failure names the seed and the command
 * that replays it. usage: test_change_trials FIRST COUNT [hash]   ("hash": print each seed's hash
 * instead)
 */
#include <unistd.h>

#include "lab/change_trial.h"

enum { BATCH = 50, MAX_SWITCHES = 32, AGAIN = 10 };

struct totals {
	uint64_t packets, looks;
	unsigned changes;
};

static bool run_seed(uint64_t seed, struct totals *sum)
{
	struct lab_change_trial a, b;

	lab_change_trial(seed, MAX_SWITCHES, NULL, &a);
	sum->packets += a.packets;
	sum->looks += a.looks;
	sum->changes += a.changes;
	if (!a.ok)
		printf("# seed %llu: %s\n#   replay: weft sim trial --change --seed %llu\n",
		       (unsigned long long)seed, a.why, (unsigned long long)seed);
	if (seed % AGAIN)
		return a.ok;
	lab_change_trial(seed, MAX_SWITCHES, NULL, &b);
	if (a.hash != b.hash)
		printf("# seed %llu: trace hash %016llx, then %016llx\n", (unsigned long long)seed,
		       (unsigned long long)a.hash, (unsigned long long)b.hash);
	return a.ok && a.hash == b.hash;
}

static void print_hashes(uint64_t first, uint64_t count)
{
	struct lab_change_trial t;

	for (uint64_t s = first; s < first + count; s++) {
		lab_change_trial(s, MAX_SWITCHES, NULL, &t);
		printf("%llu %016llx %llu\n", (unsigned long long)s, (unsigned long long)t.hash,
		       (unsigned long long)t.packets);
	}
}

int main(int argc, char **argv)
{
	uint64_t first, count;
	unsigned failed = 0;

	if (argc < 3 || parse_u64(argv[1], &first) || parse_u64(argv[2], &count)) {
		fputs("usage: test_change_trials FIRST COUNT [hash]\n", stderr);
		return 2;
	}
	if (argc > 3) {
		print_hashes(first, count);
		return 0;
	}
	printf("1..%llu\n", (unsigned long long)((count + BATCH - 1) / BATCH));
	for (uint64_t s = first, n = 1; s < first + count; s += BATCH, n++) {
		uint64_t end = MIN(s + BATCH, first + count);
		struct totals sum = {0};
		unsigned bad = 0;

		for (uint64_t i = s; i < end; i++)
			bad += !run_seed(i, &sum);
		printf("%s %llu - seeds %llu to %llu: %u changes, %llu packets, %llu looks\n",
		       bad ? "not ok" : "ok", (unsigned long long)n, (unsigned long long)s,
		       (unsigned long long)end - 1, sum.changes, (unsigned long long)sum.packets,
		       (unsigned long long)sum.looks);
		fflush(stdout);
		failed += bad;
	}
	return failed ? 1 : 0;
}
