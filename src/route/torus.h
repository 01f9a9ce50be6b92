/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "torus" between its parts: coordinates of the switches (torus_shape.c), routes (torus_ways.c) and lanes
 * (torus_lanes.c).
 *
 * A dimension is a chain or a ring of places; a link is a step of one place in one dimension. A ring has three places or
 * more: two switches in a row are a chain, also with two cables. Places may be empty and links may be missing.
 */
#ifndef WEFT_ROUTE_TORUS_H
#define WEFT_ROUTE_TORUS_H

#include "route/switch_graph.h"

enum {
	TORUS_DIMS = 16,
	TORUS_BITS = 4, /* of a service level */
};

struct torus_dim {
	uint32_t size;
	bool ring;
};

struct torus_part { /* switches that are joined */
	uint32_t ndims;
	struct torus_dim dim[TORUS_DIMS];
};

struct torus {
	struct switch_graph g;
	uint32_t nparts;
	struct torus_part *parts;
	uint32_t *part;		   /* by switch */
	int32_t (*at)[TORUS_DIMS]; /* by switch: coordinates */
	uint8_t *dim;		   /* by arc */
	int8_t *sign;		   /* by arc: 1 or -1 */
};

static inline const struct torus_part *torus_part(const struct torus *t, uint32_t s)
{
	return &t->parts[t->part[s]];
}

/* In a shorter ring no path has two steps. Rings of four are two dimensions here. */
static inline bool torus_ring_is_long(const struct torus_dim *d)
{
	return d->ring && d->size >= 4;
}

/* Coordinates for all switches of t->g, or -EINVAL with a link or a switch that has none. */
int torus_shape(struct torus *t, struct err *e);
void torus_shape_free(struct torus *t);

/* Entries for all LIDs, without lanes. */
void torus_ways(const struct torus *t, struct rt_tables *tables);

/*
 * Lanes for these tables; they get them when more than one VL is needed and at most `most` (0: none in any case). Returns how
 * many VLs are needed, CHANNEL_VLS + 1: more than that.
 */
unsigned torus_lanes(const struct torus *t, struct rt_tables *tables, unsigned most);

#endif
