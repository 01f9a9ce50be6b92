/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics contract: what happened to SMPs and data packets, in total and by port. Keeps
 * counters that the kernel, the devices and the data plane increment. Promises that they add up:
 * what was sent was delivered, dropped or is in flight. Reading them changes nothing.
 *
 * Called by the laboratory and the reports of the command line. sim_detail.h has the same by host,
 * port and virtual lane.
 */
#ifndef WEFT_SIM_STATS_H
#define WEFT_SIM_STATS_H

#include "base/hist.h"
#include "fabric/fabric.h"

struct sim;

/* Why an SMP or GMP was dropped. */
enum sim_drop {
	SIM_DROP_FAULT,	      /* by the fault model */
	SIM_DROP_LINK,	      /* on, or bound for, a link that went down */
	SIM_DROP_NODE,	      /* inside a node that was powered off */
	SIM_DROP_UNROUTABLE,  /* no entry for its DLID */
	SIM_DROP_TURNED_BACK, /* routed to the port it arrived at */
	SIM_DROP_BAD_PATH,    /* invalid hop pointer, hop count or port of a directed route */
	SIM_DROP_NOT_FOR_US,  /* LID-routed to a port that does not have that LID */
	SIM_DROP_MKEY,	      /* M_Key check */
	SIM_DROP_BAD_MAD,     /* version, class or method that no SMI accepts */
	SIM_DROP_NO_SM,	      /* a response or trap for a port without an SM */
	SIM_DROP_BUFFER,      /* no room on VL15; with the data plane only */
	SIM_DROP_LIFETIME,    /* in a forwarding loop; in express mode only */
	SIM_DROP_NO_AGENT,    /* a GMP without an agent at its port; in express mode only */
	SIM_NDROPS
};
const char *sim_drop_name(enum sim_drop d);

struct sim_stats {
	uint64_t events;
	uint64_t sent;	    /* SMPs injected: requests, responses and traps */
	uint64_t delivered; /* to an SMA or an SM */
	uint64_t hops;	    /* links crossed */
	uint64_t duplicated, delayed;
	uint64_t traps; /* trap SMPs sent, repetitions included */
	uint64_t dropped[SIM_NDROPS];
	uint64_t in_flight; /* in queues or on links now */
};
const struct sim_stats *sim_stats(const struct sim *s);

/* Why a data packet was discarded (thesis Table 10, and what IBA adds). */
enum sim_discard {
	SIM_DISCARD_INACTIVE_PORT,    /* at a port that is Down, or on a link that was cut */
	SIM_DISCARD_DEACTIVATED_PORT, /* at a port in Initialize or Armed */
	SIM_DISCARD_BUFFER,	      /* no room: VL15 only, unless credits went wrong */
	SIM_DISCARD_TURNED_BACK,      /* routed to the port it arrived at */
	SIM_DISCARD_UNROUTABLE,
	SIM_DISCARD_CLEARED,	/* in a node that was powered off */
	SIM_DISCARD_UNMAPPABLE, /* its SL maps to VL15 or to a VL that does not exist */
	SIM_DISCARD_MTU,
	SIM_DISCARD_PKEY,
	SIM_DISCARD_LIFETIME,	/* head of a queue for too long */
	SIM_DISCARD_WRONG_HOST, /* arrived at a host that does not have its LID */
	SIM_DISCARD_ERROR,	/* damaged on a link */
	SIM_DISCARD_RETRAINING, /* on a link that began to recover from errors */
	SIM_DISCARD_STALLED, /* on a VL that is stalled because too many packets waited too long */
	SIM_NDISCARDS
};
const char *sim_discard_name(enum sim_discard d);

struct sim_plane_stats {
	uint64_t generated, delivered, in_flight; /* data packets */
	uint64_t copies;	  /* made by multicast; generated + copies are conserved */
	uint64_t delivered_bytes; /* payload */
	uint64_t hops;		  /* links crossed by data packets */
	uint64_t discarded[SIM_NDISCARDS];
	uint64_t fc_packets;
	uint64_t recoveries, downed;	     /* link error recoveries that succeeded; that failed */
	struct hist latency, header_latency; /* from generation, picoseconds, in the window */
	uint64_t window_delivered, window_bytes, window_generated;
	time_ps window_start, window_end; /* what counts for latency and throughput */
};
const struct sim_plane_stats *sim_plane_stats(const struct sim *s); /* NULL: no data plane */
void sim_window(struct sim *s, time_ps start, time_ps end); /* clears the windowed statistics */

struct sim_port_counters {
	uint64_t tx_bytes, rx_bytes, tx_packets, rx_packets;
	uint64_t errors;    /* packets that arrived damaged, flow control included */
	uint64_t discarded; /* data packets, for any reason */
	uint64_t recoveries,
		downed; /* LinkErrorRecoveryCounter, LinkDownedCounter: training after errors */
};
const struct sim_port_counters *sim_port_counters(const struct sim *s, port_id p);
/* Fill level of the switches' data input buffers, in millionths: of all, and of the fullest. */
void sim_buffer_use(const struct sim *s, uint32_t *mean, uint32_t *max);

#endif
