/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run as series over time: what happened in each interval, sampled from outside. Sampling changes
 * nothing in the simulation but its count of events. Shares are millionths.
 */
#ifndef WEFT_SERIES_H
#define WEFT_SERIES_H

#include "lab/lab.h"

struct lab_sample {
	time_ps at, span; /* the end of the interval, its length */
	/* in the interval */
	uint64_t generated, delivered, discarded, smps;
	uint64_t discarded_by[SIM_NDISCARDS], smps_by[SM_NPURPOSES];
	uint64_t bytes;			    /* delivered, with headers */
	time_ps latency_ps, latency_p99_ps; /* of the packets delivered in it; 0: none */
	time_ps header_ps, header_p99_ps;   /* of the headers that arrived in it */
	uint32_t link_use, link_use_max;    /* of the time links sent; busiest of them */
	uint32_t no_credit, no_credit_max;  /* of the time lanes waited for credit; worst of them */
	/* at its end */
	uint64_t in_flight;
	uint32_t buffer_use, buffer_use_max; /* of the switches' input buffers; fullest of them */
	uint32_t connectivity, deadlock;     /* only with levels */
};

/* One host or switch in one interval. */
struct lab_node_sample {
	time_ps at;
	node_id node;
	uint64_t generated, sent, received; /* a switch: packets sent on */
	uint64_t discarded;		    /* in this node */
	time_ps latency_ps;		    /* mean of what was received */
	uint64_t queue;			    /* packets in its output queues, at the end */
	uint32_t buffer_use;		    /* its input buffers, at the end */
};

/* One direction of a link in one interval. */
struct lab_link_sample {
	time_ps at;
	port_id port;
	uint64_t packets, bytes;
	uint32_t use, wait, no_credit; /* no_credit: mean of its lanes */
	uint32_t buffer_use;	       /* the input buffers it leads to, at the end */
};

/* Who wants series by node or link hears of each sample and keeps what it likes. */
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
	struct lab_node_sample *nodes; /* with a sink for them; latency_ps is a sum */
};

/* From now on, every period; with levels also the connectivity and the deadlock level. */
void lab_series_start(struct lab_series *s, struct lab *l, time_ps period, bool levels);
void lab_series_sink(struct lab_series *s, struct lab_series_sink sink); /* right after the start */
void lab_series_stop(struct lab_series *s); /* one more sample for what is left; then no more */
void lab_series_free(struct lab_series *s); /* not before the lab is */

#endif
