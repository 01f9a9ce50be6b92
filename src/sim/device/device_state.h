/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The devices' member of struct sim: SMPs in the fabric, programs at ports, counters of express
 * mode. Only src/sim/device writes it; nodes and ports themselves are in device_priv.h.
 */
#ifndef WEFT_DEVICE_STATE_H
#define WEFT_DEVICE_STATE_H

#include "base/rng.h"
#include "base/vec.h"
#include "sim/device/sim_device.h"

#define PKT_NONE UINT32_MAX

/* An SMP or GMP in the fabric. */
struct pkt {
	struct sim_smp smp;
	uint32_t next;	    /* in an SMI queue or the free list */
	node_id node;	    /* where it is */
	uint8_t in_port;    /* where it arrived; 0: from the node's own SM or SMA */
	uint8_t from_local; /* injected here and not yet handled by this node's SMI */
	uint16_t hops;	    /* links crossed, in express mode */
};

/* The program attached to a port. */
struct port_client {
	node_id node;
	uint8_t port;
	void (*recv)(void *ctx, const struct sim_smp *smp);
	void *ctx;
};

struct port_counters; /* device_priv.h */

struct devices {
	uint16_t *random_only; /* by node: see sim_config; NULL: none */
	VEC(struct pkt) pkts;
	uint32_t pkt_free;
	VEC(struct port_client) clients;
	uint32_t *client_of; /* by port: 1 + place in clients, 0: none. A switch's is at port 0 */
	struct rng fault_rng;
	struct sim_tamper tamper;
	struct sim_stats stats;
	/* express mode only */
	uint32_t walk_head, walk_tail; /* packets that have not been moved yet */
	uint64_t walk_copies;	       /* that multicast made since the walk began */
	bool walking;
	struct port_counters *counters;
	struct sim_link_fault *faults; /* by port, once one was set */
	uint8_t *agents;	       /* by node, once one was set: enum sim_agent */
};

#endif
