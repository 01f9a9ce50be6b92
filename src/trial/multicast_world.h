/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of multicast while it runs: multicast_trial.c draws, multicast_checks.c judges.
 */
#ifndef WEFT_MULTICAST_WORLD_H
#define WEFT_MULTICAST_WORLD_H

#include "lab/watch.h"
#include "trial/multicast_trial.h"

enum { MOST_MEMBERS = 24 };

struct party {
	unsigned n;
	struct sm_group_member members[MOST_MEMBERS];
};

struct multicast_world {
	struct multicast_trial *out;
	struct multicast_trial_opts opts;
	struct rng rng;
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	struct lab_watch watch;
	struct party *parties; /* by MLID from 0xc000 on */
	unsigned nparties;
	uint64_t rewritten; /* how often a linear table changed */
};

/* The engine may use several lanes: SL-to-VL tables are not kept at a restart as linear tables are, and SL 0 may have no room
 * for a tree. */
bool multicast_lanes(const struct multicast_world *t);
/* At rest: the trees in the devices are right, and no cycle was there since the last check. */
void multicast_check(struct multicast_world *t, const char *when);

#endif
