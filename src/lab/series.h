/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measurements over time: one sample for each interval of a run. Sampling changes nothing in the simulation
 * except its number of events. Shares are in millionths.
 */
#ifndef WEFT_SERIES_H
#define WEFT_SERIES_H

#include "lab/lab.h"

struct lab_sample {
	time_ps at, span; /* end and length of the interval */
	/* in the interval */
	uint64_t generated, delivered, discarded, smps;
	uint64_t discarded_by[SIM_NDISCARDS], smps_by[SM_NPURPOSES];
	uint64_t bytes;			    /* delivered, with headers */
	time_ps latency_ps, latency_p99_ps; /* of the packets delivered in it; 0: none */
	time_ps header_ps, header_p99_ps;   /* of the headers that arrived in it */
	uint32_t link_use, link_use_max;    /* share of time that links send: mean, busiest link */
	uint32_t no_credit,
		no_credit_max; /* share of time that VLs wait for credit: mean, worst VL */
	/* at its end */
	uint64_t in_flight;
	uint32_t buffer_use,
		buffer_use_max; /* share of input buffers of switches in use: mean, fullest */
	uint32_t connectivity, deadlock; /* only with levels */
};

/* One host or switch in one interval. */
struct lab_node_sample {
	time_ps at;
	node_id node;
	uint64_t generated, sent, received; /* sent by a switch: forwarded */
	uint64_t discarded;		    /* in this node */
	time_ps latency_ps;		    /* mean of received packets */
	uint64_t queue;			    /* packets in its output queues, at the end */
	uint32_t buffer_use;		    /* its input buffers, at the end */
};

/* One direction of a link in one interval. */
struct lab_link_sample {
	time_ps at;
	port_id port;
	uint64_t packets, bytes;
	uint32_t use, wait, no_credit; /* no_credit: mean over its VLs */
	uint32_t buffer_use; /* of the input buffers at its other end, at the end of the interval */
};

/* Called with each sample of a node or link, in order; series do not keep these. Either may be NULL. */
struct lab_series_sink {
	void (*node)(void *ctx, const struct lab_node_sample *x);
	void (*link)(void *ctx, const struct lab_link_sample *x);
	void *ctx;
};

struct lab_series_port { /* counters at the last sample */
	uint64_t tx_bytes, packets, bytes;
	time_ps busy, wait, no_credit;
};

struct lab_series {
	struct lab *lab;
	time_ps period;
	bool levels;
	VEC(struct lab_sample) samples;
	bool running;
	struct lab_series_sink sink;
	struct lab_sample sum; /* counters at the last sample */
	time_ps last;
	struct lab_series_port *ports;
	struct lab_node_sample
		*nodes; /* counters at the last sample, if there is a sink; latency_ps is a sum */
};

/* One sample each period from now on; with levels, also the connectivity and the deadlock level. */
void lab_series_start(struct lab_series *s, struct lab *l, time_ps period, bool levels);
void lab_series_sink(struct lab_series *s,
		     struct lab_series_sink sink); /* only right after lab_series_start() */
void lab_series_stop(struct lab_series *s);	   /* after one more sample for the rest */
void lab_series_free(struct lab_series *s);	   /* after lab_free() */

#endif
