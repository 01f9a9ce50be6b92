/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of every test that runs seeds: FIRST to FIRST+COUNT-1 in batches, a line of TAP each;
 * some run again and must leave the same hash. A failure names its seed and how to replay it.
 */
#ifndef WEFT_SEEDS_H
#define WEFT_SEEDS_H

#include "base/base.h"

struct seed_run {
	uint64_t seed;
	unsigned max_switches;
	bool again; /* the second time: only the hash is looked at */

	/* filled in by run() */
	bool ok;
	char why[512];
	uint64_t hash, size; /* of the trace, and how much there was of it: packets or SMPs */
};

struct seeds {
	const char *name; /* of the program */
	const char *
		replay; /* the command that replays a seed, up to the seed; NULL: this program does */
	unsigned batch;	       /* seeds a line */
	unsigned again;	       /* every so many is run twice; 0: none */
	unsigned max_switches; /* unless the command line says otherwise; 0: it may not */
	void (*run)(struct seed_run *r);
	/* What the batch saw in all, in words, and forget it; may be NULL. */
	void (*sums)(char *text, size_t len);
	/* One more line before all: how it is called, and whether it is well; may be NULL. */
	const char *before_name;
	bool (*before)(void);
};

/* FIRST COUNT [MAX_SWITCHES] [hash]: the exit status. "hash": print each seed's hash instead. */
int seeds_main(int argc, char **argv, const struct seeds *s);

#endif
