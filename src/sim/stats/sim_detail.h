/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of each host, switch, link and virtual lane, part of the statistics contract
 * (sim_stats.h). Nothing is counted before sim_detail_start(): it takes memory and time, and
 * changes nothing else. Called by the laboratory.
 *
 * "In the window" is what sim_window() says; shares are millionths of the part of it that has
 * passed.
 */
#ifndef WEFT_SIM_DETAIL_H
#define WEFT_SIM_DETAIL_H

#include "sim/stats/sim_stats.h"

struct sim_host_detail { /* a linked port of a CA; by number, as sim_traffic() counts */
	port_id port;
	uint64_t generated, delivered; /* data packets generated here; delivered here */
	uint64_t lost;		       /* generated here, or copies of those, discarded anywhere */
	uint64_t latency_sum;	       /* of all that arrived here, picoseconds */
	uint64_t window_generated, window_delivered,
		window_bytes;		   /* bytes: delivered, with headers */
	struct hist_small latency, header; /* in the window, of what arrived here */
};

struct sim_port_detail {
	time_ps busy, wait;	  /* sending; waiting with a packet queued, as PortXmitWait */
	uint32_t use, wait_share; /* the same in the window, as shares */
	uint32_t smp_share;	  /* of the window: sending SMPs */
	uint64_t queue_milli;	  /* mean length of all output queues in the window, thousandths */
	uint32_t queue_max;	  /* a host's are its injection queue */
};

struct sim_lane_detail {	 /* one data VL of one port */
	uint64_t packets, bytes; /* sent */
	time_ps no_credit;	 /* the head waited for credits */
	/* in the window */
	uint32_t no_credit_share;
	uint32_t credits; /* mean, as a share of the buffer at the far end */
	uint32_t buffer,
		buffer_max;   /* fill level of the input buffer: mean and maximum, as shares */
	uint64_t queue_milli; /* mean length of the output queue, thousandths of packets */
	uint32_t queue_max;
};

void sim_detail_start(struct sim *s);	    /* a second call has no effect */
unsigned sim_vl_count(const struct sim *s); /* data VLs */

const struct sim_host_detail *sim_host_detail(const struct sim *s, uint32_t host);
const uint64_t *sim_port_discards(const struct sim *s, port_id p); /* at this port, by reason */
void sim_port_detail(const struct sim *s, port_id p, struct sim_port_detail *d);
void sim_lane_detail(const struct sim *s, port_id p, unsigned vl, struct sim_lane_detail *d);
uint32_t sim_lane_buffer(const struct sim *s, port_id p,
			 unsigned vl); /* present fill level, as a share */
uint32_t sim_lane_queue(const struct sim *s, port_id p, unsigned vl); /* packets queued now */

/* Latency of packets and headers that arrived since the last call, also outside the window. */
void sim_detail_latency(struct sim *s, struct hist *packet, struct hist *header);

#endif
