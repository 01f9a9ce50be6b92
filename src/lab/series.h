/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run as series over time: what happened in each interval, sampled from outside. Sampling changes
 * nothing in the simulation but its count of events.
 */
#ifndef WEFT_SERIES_H
#define WEFT_SERIES_H

#include "lab/lab.h"

struct lab_sample {
	time_ps at; /* the end of the interval */
	/* in the interval */
	uint64_t generated, delivered, discarded, smps;
	uint64_t latency_ps;       /* mean of the packets delivered in it; 0: none */
	uint32_t link_use, link_use_max; /* millionths of the time links sent; busiest of them */
	/* at its end */
	uint64_t in_flight;
	uint32_t buffer_use, buffer_use_max; /* millionths of the switches' input buffers; fullest of them */
	uint32_t connectivity, deadlock;     /* millionths; only with levels */
};

struct lab_series {
	struct lab *lab;
	time_ps period;
	bool levels;
	VEC(struct lab_sample) samples;
	bool running;
	struct lab_sample sum; /* counters at the last sample */
	uint64_t latency_n;
	unsigned __int128 latency_sum;
	uint64_t *tx_bytes;    /* by port, at the last sample */
};

/* From now on, every period; with levels also the connectivity and the deadlock level. */
void lab_series_start(struct lab_series *s, struct lab *l, time_ps period, bool levels);
void lab_series_stop(struct lab_series *s); /* takes no more; samples stay */
void lab_series_free(struct lab_series *s); /* not before the lab is */

#endif
