/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials as a test: seeds FIRST to FIRST+COUNT-1 of lab_trial(), in TAP. Each is run twice
 * and must leave the same trace hash. A failure names the seed and the command that replays it.
 * usage: test_trials FIRST COUNT MAX_SWITCHES [hash]   ("hash": print each seed's hash instead)
 */
#include <unistd.h>

#include "lab/lab.h"

enum { BATCH = 100 };

static bool run_seed(uint64_t seed, unsigned max)
{
	struct lab_trial a, b;

	lab_trial(seed, max, NULL, &a);
	if (!a.ok)
		printf("# seed %llu: %s\n#   replay: weft sim trial --seed %llu --max-switches %u\n",
		       (unsigned long long)seed, a.why, (unsigned long long)seed, max);
	lab_trial(seed, max, NULL, &b);
	if (a.hash != b.hash)
		printf("# seed %llu: trace hash %016llx, then %016llx\n", (unsigned long long)seed,
		       (unsigned long long)a.hash, (unsigned long long)b.hash);
	return a.ok && a.hash == b.hash;
}

static void print_hashes(uint64_t first, unsigned count, unsigned max)
{
	struct lab_trial t;

	for (uint64_t s = first; s < first + count; s++) {
		lab_trial(s, max, NULL, &t);
		printf("%llu %016llx %llu\n", (unsigned long long)s, (unsigned long long)t.hash,
		       (unsigned long long)t.smps);
	}
}

int main(int argc, char **argv)
{
	uint64_t first, count, max;
	unsigned failed = 0;

	if (argc < 4 || parse_u64(argv[1], &first) || parse_u64(argv[2], &count) || parse_u64(argv[3], &max)) {
		fputs("usage: test_trials FIRST COUNT MAX_SWITCHES [hash]\n", stderr);
		return 2;
	}
	if (argc > 4) {
		print_hashes(first, (unsigned)count, (unsigned)max);
		return 0;
	}
	printf("1..%llu\n", (unsigned long long)((count + BATCH - 1) / BATCH));
	for (uint64_t s = first, n = 1; s < first + count; s += BATCH, n++) {
		uint64_t end = MIN(s + BATCH, first + count);
		unsigned bad = 0;

		for (uint64_t i = s; i < end; i++)
			bad += !run_seed(i, (unsigned)max);
		printf("%s %llu - seeds %llu to %llu, up to %llu switches\n", bad ? "not ok" : "ok",
		       (unsigned long long)n, (unsigned long long)s, (unsigned long long)end - 1,
		       (unsigned long long)max);
		fflush(stdout);
		failed += bad;
	}
	return failed ? 1 : 0;
}
