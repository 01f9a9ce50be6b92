/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric under constant watch. From lab_watch_start() on, each time a device changes in a way
 * that data packets feel, the levels are looked at: connectivity of what cables connect, and that
 * no tables, port states and mappings together could ever lock up. Every millisecond packets that
 * really wait for each other are looked for. On large fabrics looks are rationed: see `gap`.
 *
 * One watch a lab at a time. It outlives the lab: free it after lab_free().
 */
#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include "lab/levels.h"

struct lab_watch_point {
	time_ps at;
	uint32_t connectivity, deadlock; /* millionths, from here to the next point */
};

struct lab_watch {
	struct lab *lab;
	struct lab_scan *scan;
	bool running, due;
	uint64_t changes, looks; /* in devices; at them */
	time_ps gap;		 /* at least so long between two looks; 0: none was left out */
	uint64_t budget;	 /* steps left until the gap grows */
	time_ps last;		 /* when it was looked last */
	struct lab_levels now;
	uint32_t connectivity_min, deadlock_max;
	time_ps below;	   /* how long not all pairs were connected */
	time_ps unsafe_at; /* the first look that found a cycle of dependencies; TIME_NEVER: none */
	port_id *cycle;	   /* that cycle */
	size_t ncycle;
	time_ps locked_at; /* packets waited for each other from here on; TIME_NEVER: never */
	port_id *ring;
	size_t nring;
	bool suspect; /* there was a ring a millisecond ago */
	VEC(struct lab_watch_point) points;
};

void lab_watch_start(struct lab_watch *w, struct lab *l);
void lab_watch_stop(struct lab_watch *w); /* one last look; what it found stays */
void lab_watch_free(struct lab_watch *w);

#endif
