/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between forwarding_scan.c, which follows packets over links, and lane_scan.c, which follows them over lanes.
 */
#ifndef WEFT_SCAN_PRIV_H
#define WEFT_SCAN_PRIV_H

#include "lab/forwarding_scan.h"
#include "lab/lab_priv.h"

struct lane_scan;

enum { WALK_OPEN, WALK_ON_PATH, WALK_ARRIVES, WALK_FAILS };

struct lab_scan {
	const struct lab *lab;
	const struct fab *f;
	VEC(port_id) hosts; /* ports of CAs and routers */
	port_id *to;	    /* by port: the port at which its packets arrive, or FAB_NONE */
	port_id *part;	    /* union-find over ports that cables connect */
	uint32_t *mark;	    /* by port of a switch: walk * 4 + WALK_* */
	uint32_t walk;
	uint64_t (*next)[4]; /* by input port of a switch: output ports of its packets */
	port_id *path, *stack;
	uint32_t *index, *low, order;
	bool *stacked, *cyclic;
	uint32_t *at; /* by port: the output port that visit() has reached */
	uint32_t *count;
	uint64_t nbuffered;   /* packets in buffers */
	bool machines;	      /* VFs without one are no hosts */
	VEC(port_id) senders; /* hosts, without such VFs */
	uint64_t steps;
	struct lane_scan *lanes; /* NULL: not used yet */
};

/* Connectivity and cycles of (link, VL) channels, with the service levels that hosts have. */
void lane_scan_run(struct lab_scan *s, struct lab_levels *v);
size_t lane_scan_cycle(struct lab_scan *s, port_id **ring);
void lane_scan_free(struct lab_scan *s);

#endif
