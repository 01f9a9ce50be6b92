/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane's member of struct shard: what a shard owns of it. Only src/sim/plane writes it.
 */
#ifndef WEFT_PLANE_STATE_H
#define WEFT_PLANE_STATE_H

#include "base/vec.h"
#include "sim/plane/sim_plane.h"

/* A copy that multicast made. Serial numbers identify packets, since places are reused. */
struct lineage {
	uint32_t pkt, parent;
	uint16_t serial, parent_serial;
	time_ps made, whole; /* until then it depends on its parent; 0: marked as broken */
};

struct plane_own {
	uint32_t dpkt_free, cell_free; /* free places of the pools */
	VEC(struct lineage) lineage;   /* plane_truncate.c */
	size_t lineage_full;	       /* then it is time to remove what no longer counts */
	struct sim_plane_stats stats;
};

#endif
