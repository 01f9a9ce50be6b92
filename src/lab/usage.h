/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run by host, switch and link: what sim/detail.h counts, as it was at one moment. Shares are
 * millionths. Latency, rates, shares and queues are those of the window, counts of the time since
 * sim_detail_start().
 */
#ifndef WEFT_USAGE_H
#define WEFT_USAGE_H

#include "sim/stats/sim_detail.h"

struct lab_latency {
	uint64_t n;
	time_ps mean, p50, p99, max;
};

struct lab_host_use { /* a linked port of a CA */
	port_id port;
	uint64_t generated, sent,
		received; /* sent: on the wire; the rest of them waits or is discarded */
	uint64_t lost;	  /* generated here, discarded anywhere */
	uint64_t discarded[SIM_NDISCARDS], discarded_all; /* here, wherever they came from */
	uint64_t window_generated, window_received, window_bytes;
	struct lab_latency latency, header; /* of what arrived here */
	uint64_t queue_milli;		    /* the injection queue: mean, thousandths of packets */
	uint32_t queue_max;
};

struct lab_switch_use {
	node_id node;
	uint64_t forwarded; /* data packets sent */
	uint64_t discarded[SIM_NDISCARDS], discarded_all;
	uint32_t buffer,
		buffer_max;   /* input buffers of linked ports: all together, and the fullest */
	uint32_t no_credit;   /* the mean of its output lanes */
	uint64_t queue_milli; /* all its output queues together */
};

struct lab_link_use { /* one direction of a link: the port it leaves by */
	port_id port;
	struct sim_port_counters counters; /* since power-on */
	struct sim_port_detail use;
};

struct lab_usage {
	unsigned nvl;
	VEC(struct lab_host_use) hosts;
	VEC(struct lab_switch_use) switches;
	VEC(struct lab_link_use) links;
	VEC(struct sim_lane_detail)
	lanes; /* nvl for each of links; their buffers are those at the far end */
};

void lab_usage_take(struct lab_usage *u, const struct fab *f, const struct sim *s);
void lab_usage_free(struct lab_usage *u);

#endif
