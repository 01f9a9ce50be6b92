/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The difference between two snapshots, destination by destination: between update.c, which chooses
 * ports, and update_delta.c, which knows the previous snapshot.
 */
#ifndef WEFT_ROUTE_UPDATE_H
#define WEFT_ROUTE_UPDATE_H

#include "route/fera.h"

struct delta;

/* A switch at which a link came, went or changed direction. */
struct delta_switch {
	uint32_t sw;
	bool is_new, gained; /* gained: a port leads to another place than before */
	uint64_t ports[4];   /* bit by port: its link or the direction of it changed */
};

/* NULL when too much differs for a comparison to save time; -errno in *rc when o->before is not
 * valid. */
struct delta *delta_new(const struct fera *g, const struct rt_opts *o, int *rc, struct err *e);
void delta_free(struct delta *x);

const struct delta_switch *delta_switches(const struct delta *x, uint32_t *n); /* by index */
bool delta_had_lid(const struct delta *x, uint32_t lid);

/* Whether the distances to destination switch d changed or are not known: then it must be
 * searched. */
bool delta_touches(struct delta *x, uint32_t d);

/* Select a destination that is not touched and has LIDs; delta_offers() is about it then. */
void delta_dest(struct delta *x, uint32_t d);
/* The equal best ports of switch s (one of delta_switches()) to the selected destination, in the
 * order of their numbers. Returns how many. */
unsigned delta_offers(struct delta *x, uint32_t s, uint8_t port[256]);

#endif
