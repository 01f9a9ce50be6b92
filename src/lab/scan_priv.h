/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between forwarding_scan.c, which follows packets over links, lane_scan.c, which follows them over lanes, and copy_scan.c, which
 * follows copies of multicast packets.
 */
#ifndef WEFT_SCAN_PRIV_H
#define WEFT_SCAN_PRIV_H

#include "lab/forwarding_scan.h"
#include "lab/lab_priv.h"

struct lane_scan;
struct copy_scan;

enum { WALK_OPEN, WALK_ON_PATH, WALK_ARRIVES, WALK_FAILS };

struct lab_scan {
	const struct lab *lab;
	const struct fab *f;
	VEC(port_id) hosts; /* ports of CAs and routers */
	port_id *to;	    /* by port: the port at which its packets arrive, or FAB_NONE */
	port_id *part;	    /* union-find over ports that cables connect */
	uint32_t *mark;	    /* by port of a switch: walk * 4 + WALK_* */
	uint32_t walk;
	uint64_t (*next)[4];   /* by input port of a switch: output ports of its packets */
	uint64_t (*routes)[4]; /* the same without multicast, of the last scan */
	bool again;	       /* there was one, of links, and `last` is what it found */
	struct lab_levels last;
	port_id *path, *stack;
	uint32_t *index, *low, order;
	bool *stacked, *cyclic;
	bool *channel; /* by receiving port: a link between switches, in this direction */
	uint32_t *at;  /* by port: the output port that visit() has reached */
	uint32_t *count;
	uint64_t nbuffered;   /* packets in buffers */
	bool machines;	      /* VFs without one are no hosts */
	VEC(port_id) senders; /* hosts, without such VFs */
	uint64_t most_pairs;  /* 0: all, and cycles are searched */
	uint64_t steps, cost;
	struct lane_scan *lanes; /* NULL: not used yet */
	struct copy_scan *masks; /* by port; NULL: not used yet */
};

/* Every n-th host is a destination. */
static inline size_t scan_stride(const struct lab_scan *s)
{
	uint64_t pairs = (uint64_t)s->senders.n * s->senders.n;

	return s->most_pairs && pairs > s->most_pairs
		       ? (size_t)((pairs + s->most_pairs - 1) / s->most_pairs)
		       : 1;
}

/* Pairs with a route to one destination after another. */
static inline uint64_t scan_connected(struct lab_scan *s,
				      uint64_t (*reach_one)(struct lab_scan *, port_id))
{
	size_t stride = scan_stride(s);
	uint64_t sum = 0;

	for (size_t h = 0; h < s->senders.n; h += stride) {
		s->cost += sim_port_info(s->lab->sim, s->senders.at[h])->lid ? s->senders.n / 2 : 1;
		sum += reach_one(s, s->senders.at[h]);
	}
	return sum;
}

/* Dependencies of copies between links, for each port in `next`. */
void copy_scan_links(struct lab_scan *s);
void copy_scan_free(struct lab_scan *s);
/* Copies of packets for each multicast LID, as masks lead them: from input port `in` of a switch to port `out` of it, both
 * with a link to another switch. */
typedef void (*scan_copy)(struct lab_scan *s, port_id in, unsigned out, uint16_t mlid);
void scan_copies(struct lab_scan *s, scan_copy copy);
/* Connectivity and cycles of (link, VL) channels, with the service levels that hosts have. */
void lane_scan_run(struct lab_scan *s, struct lab_levels *v);
size_t lane_scan_cycle(struct lab_scan *s, port_id **ring);
void lane_scan_free(struct lab_scan *s);

#endif
