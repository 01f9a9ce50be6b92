/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches a running fabric. Each time a value in a device changes that affects data packets, the watch scans
 * the forwarding state (forwarding_scan.h): which physically connected pairs have a route, and whether tables
 * allow a deadlock. Every millisecond it searches for packets that are deadlocked. On large fabrics the number
 * of scans is limited: see `gap`.
 *
 * One watch for a lab at a time. Free it after lab_free().
 */
#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include "lab/forwarding_scan.h"
#include "sim/device/sim_device.h"

struct lab_watch_point {
	time_ps at;
	uint32_t connectivity, deadlock; /* millionths, until the next point */
};

struct lab_watch {
	struct lab *lab;
	struct lab_scan *scan;
	bool running, due;
	bool masks_only;	 /* no other change since the last scan */
	uint64_t changes, looks; /* in devices; scans */
	time_ps gap;		 /* least time between two scans; 0: every change was scanned */
	uint64_t budget;	 /* table entries that may be read until the gap grows */
	time_ps last;		 /* time of the last scan */
	struct lab_levels now;
	uint32_t connectivity_min, deadlock_max;
	time_ps below;	   /* time during which some physically connected pair had no route */
	time_ps unsafe_at; /* the first scan that found a cycle of dependencies; TIME_NEVER: none */
	port_id *cycle;	   /* that cycle */
	size_t ncycle;
	time_ps circle_at; /* the first scan that found packets waiting in a cycle; TIME_NEVER: none */
	uint32_t ncircle;  /* links of it; it dissolves unless all buffers on it are full */
	time_ps locked_at; /* when a deadlock was found; TIME_NEVER: none */
	port_id *ring;
	size_t nring;
	bool suspect; /* a ring was found a millisecond ago */
	VEC(struct lab_watch_point) points;
	void (*also)(void *ctx, node_id n,
		     enum sim_change what); /* called with each change; NULL */
	void *also_ctx;
};

void lab_watch_start(struct lab_watch *w, struct lab *l);
void lab_watch_stop(struct lab_watch *w); /* after one last scan; the results stay */
void lab_watch_free(struct lab_watch *w);

#endif
