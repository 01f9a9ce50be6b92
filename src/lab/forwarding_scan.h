/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where data packets can go at this moment, from the forwarding tables, port states and SL-to-VL tables in
 * the devices: two of the levels that the thesis defines (Table 10). Nothing in the simulation changes.
 *
 * A packet in a buffer may have come there by an entry that no table holds any more, and what it waits for is
 * a dependency all the same. So packets in buffers are looked at as well: packets that are deadlocked are
 * always a cycle of dependencies that a scan finds, whatever the tables say by then (`waiting`).
 */
#ifndef WEFT_FORWARDING_SCAN_H
#define WEFT_FORWARDING_SCAN_H

#include "lab/lab.h"

struct lab_levels {
	uint32_t connectivity; /* millionths of the pairs that can reach each other */
	uint32_t deadlock;     /* millionths of the links that are part of a potential deadlock */
	uint64_t pairs;	       /* ordered pairs of host ports that are physically connected */
	uint64_t connected;    /* of them, pairs that have a route */
	uint32_t links;	       /* directed links between switches that carry data */
	uint32_t cyclic;       /* of them, links in a cycle of channel dependencies */
	uint32_t waiting; /* links in a cycle of packets in buffers, each bound for the next link */
};

/* One scan. */
void lab_levels(const struct lab *l, struct lab_levels *v);

/* Many scans of one lab, which allocate memory only once. */
struct lab_scan;

struct lab_scan *lab_scan_new(const struct lab *l);
void lab_scan_free(struct lab_scan *s);
void lab_scan_run(struct lab_scan *s, struct lab_levels *v);
/* The same where nothing but multicast masks has changed since the last scan. */
void lab_scan_masks(struct lab_scan *s, struct lab_levels *v);
/* From now on VFs on which no machine runs do not count as hosts. */
void lab_scan_machines(struct lab_scan *s);
/* From now on scans measure connectivity only, and at most about so many pairs of it: in a larger fabric from all hosts to
 * every n-th one. The fields about cycles stay 0. */
void lab_scan_connectivity(struct lab_scan *s, uint64_t pairs);
/* A cycle that the last scan found, as output ports in order; 0: none. The caller frees *ring. */
size_t lab_scan_cycle(struct lab_scan *s, port_id **ring);
uint64_t
lab_scan_steps(const struct lab_scan *s); /* table entries read so far: the cost of scanning */
/* The same with ports and pairs that were looked at without reading an entry. */
uint64_t lab_scan_cost(const struct lab_scan *s);

#endif
