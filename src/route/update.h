/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between two snapshots, seen from one destination after another: the room between
 * update.c, which deals ports, and delta.c, which knows what was before.
 */
#ifndef WEFT_ROUTE_UPDATE_H
#define WEFT_ROUTE_UPDATE_H

#include "route/fera.h"

struct delta;

/* A switch at which a link came, went or turned round. */
struct delta_switch {
	uint32_t sw;
	bool is_new, gained; /* gained: a port leads somewhere else now, not just nowhere */
	uint64_t ports[4];   /* bit by port: what it leads to, or how, is not what it was */
};

/* NULL when so much differs that looking closer is not worth it; -errno in *rc when before is bad.
 */
struct delta *delta_new(const struct fera *g, const struct rt_opts *o, int *rc, struct err *e);
void delta_free(struct delta *x);

const struct delta_switch *delta_switches(const struct delta *x, uint32_t *n); /* by index */
bool delta_had_lid(const struct delta *x, uint32_t lid);

/* Whether the distances to destination switch d are not what they were, or not known: then it must
 * be searched. */
bool delta_touches(struct delta *x, uint32_t d);

/* For a destination that is not touched and has LIDs, look at it from now on ... */
void delta_dest(struct delta *x, uint32_t d);
/* ... and give the equal best ports of switch s (one of delta_switches()) to it, by port. Returns
 * how many. */
unsigned delta_offers(struct delta *x, uint32_t s, uint8_t port[256]);

#endif
