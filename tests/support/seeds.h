/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a trial for each seed from FIRST to FIRST+COUNT-1, in batches with one line of TAP each. Some seeds run
 * twice and must give the same hash. A failure is reported with its seed and the command that replays it.
 */
#ifndef WEFT_SEEDS_H
#define WEFT_SEEDS_H

#include "base/base.h"

struct seed_run {
	uint64_t seed;
	unsigned max_switches;
	bool again; /* the second run: only the hash counts */

	/* filled in by run() */
	bool ok;
	char why[512];
	uint64_t hash, size; /* of the trace; its size in packets or SMPs */
};

struct seeds {
	const char *name; /* of the program */
	const char *
		replay; /* the command that replays a seed, up to the seed; NULL: this program does */
	unsigned batch;	       /* seeds for each line */
	unsigned again;	       /* every n-th seed runs twice; 0: none */
	unsigned max_switches; /* default of the command line; 0: not an option */
	void (*run)(struct seed_run *r);
	/* Print the totals of the batch as text and reset them; may be NULL. */
	void (*sums)(char *text, size_t len);
	/* An additional test before all seeds: its name, and whether it passes; may be NULL. */
	const char *before_name;
	bool (*before)(void);
};

/* FIRST COUNT [MAX_SWITCHES] [hash]: the exit status. "hash": print each seed's hash instead. */
int seeds_main(int argc, char **argv, const struct seeds *s);

#endif
