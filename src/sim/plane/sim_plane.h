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

#include "sim/stats/sim_stats.h"

struct sim_smp;

/* Called for every packet as it begins to leave a port, for captures. smp is NULL for data. */
struct sim_tap {
	void (*sent)(void *ctx, port_id port, unsigned vl, const struct sim_smp *smp, uint16_t slid,
		     uint16_t dlid, uint8_t sl, uint16_t pkey, uint16_t wire_bytes);
	void *ctx;
};
void sim_tap(struct sim *s, struct sim_tap tap);

/* Called for every data packet that is discarded. */
struct sim_discard_watch {
	void (*discarded)(void *ctx, node_id n, unsigned port, enum sim_discard why, uint16_t slid,
			  uint16_t dlid);
	void *ctx;
};
void sim_watch_discards(struct sim *s, struct sim_discard_watch w);

/* Packets that wait for each other in a cycle now: the output ports of one cycle, in order; 0 when
 * there is none. The caller frees *ring. */
size_t sim_deadlock(struct sim *s, port_id **ring);
/* Whether the network is drained: no data packet in flight, and every sender has credits for the
 * whole buffer at the far end. false: the reason is in why. Credits return some time after the last
 * packet was delivered. */
bool sim_plane_drained(const struct sim *s, char *why, size_t size);

#endif
