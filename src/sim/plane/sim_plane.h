/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane's contract: packets through virtual lanes, buffers, credits and arbiters, when
 * sim_plane_config.on is set. Keeps every packet and buffer. Promises that packets are conserved:
 * generated and copied ones are delivered, discarded for a reason, or in flight.
 *
 * Called by the laboratory: it watches discards, captures packets, and asks whether the network is
 * deadlocked or drained. Traffic starts with sim_traffic.h, figures are in sim_stats.h.
 */
#ifndef WEFT_SIM_PLANE_H
#define WEFT_SIM_PLANE_H

#include "base/hist.h"
#include "fabric/fabric.h"

struct sim;
struct sim_smp;

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

/* The counters; sim_stats.h reads them. */
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

struct sim_port_counters {
	uint64_t tx_bytes, rx_bytes, tx_packets, rx_packets;
	uint64_t errors;    /* packets that arrived damaged, flow control included */
	uint64_t discarded; /* data packets, for any reason */
	uint64_t recoveries,
		downed; /* LinkErrorRecoveryCounter, LinkDownedCounter: training after errors */
};

/* Called for every packet as it begins to leave a port, for captures. smp is NULL for data. */
struct sim_tap {
	void (*sent)(void *ctx, port_id port, unsigned vl, const struct sim_smp *smp, uint16_t slid,
		     uint16_t dlid, uint8_t sl, uint16_t pkey, uint16_t wire_bytes);
	void *ctx;
};
void sim_tap(struct sim *s, struct sim_tap tap);

/*
 * Service levels that hosts have learnt: a host takes the SL of a packet, by its own port and the destination LID,
 * when it begins to send it. Without this the traffic says which. sl() must not change anything.
 */
struct sim_sl_source {
	unsigned (*sl)(const void *ctx, port_id host, uint16_t dlid);
	const void *ctx;
};
void sim_sls(struct sim *s, struct sim_sl_source src);

/* Called for every data packet that is discarded. */
struct sim_discard_watch {
	void (*discarded)(void *ctx, node_id n, unsigned port, enum sim_discard why, uint16_t slid,
			  uint16_t dlid);
	void *ctx;
};
void sim_watch_discards(struct sim *s, struct sim_discard_watch w);

/* Called for every data packet that a host receives; born: when it was sent. */
struct sim_delivery_watch {
	void (*delivered)(void *ctx, port_id port, uint16_t dlid, time_ps born);
	void *ctx;
};
void sim_watch_deliveries(struct sim *s, struct sim_delivery_watch w);

/* Packets that wait for each other in a cycle now: the output ports of one cycle, in order; 0 when
 * there is none. The caller frees *ring. */
size_t sim_deadlock(struct sim *s, port_id **ring);
/*
 * Calls fn for every unicast data packet in a buffer between switches: at the input port of the switch that
 * routes it next. out: the output port that this switch has chosen for it already, 0: none yet. A packet in
 * an output buffer counts at the far end of its link. Packets on the wire are left out.
 */
struct sim_buffered {
	port_id in;
	unsigned out;
	unsigned vl, out_vl; /* by which it came; with out, by which it leaves */
	uint16_t dlid;
	uint8_t sl;
};
void sim_plane_buffered(const struct sim *s, void (*fn)(void *ctx, const struct sim_buffered *b),
			void *ctx);
/* Whether the network is drained: no data packet in flight, and every sender has credits for the
 * whole buffer at the far end. false: the reason is in why. Credits return some time after the last
 * packet was delivered. */
bool sim_plane_drained(const struct sim *s, char *why, size_t size);

#endif
