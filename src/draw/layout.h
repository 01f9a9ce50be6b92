/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the nodes of a fabric are drawn: a position and a level for each node, and groups (pods, planes, rows) with
 * their rectangles. Shapes are recognised from the links alone, not from names or port numbers.
 *
 * Units: a switch has a box of LAYOUT_SWITCH_W x LAYOUT_SWITCH_H around its position, a host or router one of
 * LAYOUT_HOST x LAYOUT_HOST. No two boxes overlap, so that no two positions are closer than LAYOUT_HOST. x grows to
 * the right, y downwards; no box or group begins left of or above 0.
 *
 * Pure, and the same bytes on every machine: double with + - * / and sqrt only, no function of libm besides, no fused
 * operations (meson.build has -ffp-contract=off), positions rounded to 1/64.
 */
#ifndef WEFT_DRAW_LAYOUT_H
#define WEFT_DRAW_LAYOUT_H

#include "fabric/fabric.h"

#define LAYOUT_SWITCH_W 5
#define LAYOUT_SWITCH_H 2
#define LAYOUT_HOST	1

enum layout_shape {
	LAYOUT_SINGLE,	  /* one switch */
	LAYOUT_CHAIN,	  /* switches in a row */
	LAYOUT_RING,	  /* on a circle */
	LAYOUT_GRID,	  /* meshes, tori and hypercubes, see dims */
	LAYOUT_TREE,	  /* in levels, with pods */
	LAYOUT_FULL_MESH, /* on a circle */
	LAYOUT_DRAGONFLY, /* groups on a circle: full meshes, or leaves and spines (Dragonfly+) */
	LAYOUT_FREE,	  /* none of these: distances follow those in hops */
	LAYOUT_NO_SWITCH, /* all nodes that are linked to no switch */
	LAYOUT_NSHAPES
};

enum layout_group_kind {
	LAYOUT_ISLAND, /* switches joined by links, with their hosts; only where there are several */
	LAYOUT_POD,    /* a part of a tree that is connected without the levels above */
	LAYOUT_PLANE, /* of a grid; in a tree the top switches that are joined by the level below */
	LAYOUT_ROW,   /* of a grid of two dimensions */
	LAYOUT_GROUP, /* of a dragonfly */
	LAYOUT_NKINDS
};

struct layout_group {
	float x0, y0, x1,
		y1;	 /* around all that belongs to it; groups of one parent do not overlap */
	uint32_t parent; /* FAB_NONE: none. Parents come before their children */
	uint32_t nswitches, nhosts; /* with those of its own groups */
	uint8_t kind;
	char name[27]; /* "pod 3", "pod 3.1", "plane 2"; of siblings each has another one */
};

/* An island. */
struct layout_part {
	float x0, y0, x1, y1;
	enum layout_shape shape;
	uint32_t nswitches, nhosts;
	uint32_t nlevels; /* of switches in a tree, 2 in a Dragonfly+, otherwise 1 */
	uint32_t
		ndims; /* of a grid, with sizes in falling order; a bit of wrap for each that is a ring */
	uint32_t dims[16], wrap;
};

struct layout {
	uint32_t nnodes, nparts, ngroups;
	float width, height;
	float *x, *y;	 /* by node: the middle of its box */
	uint8_t *level;	 /* 0: host or router; switches from 1 upwards */
	uint32_t *group; /* the innermost group, FAB_NONE: none */
	uint32_t *part;
	struct layout_part *parts;
	struct layout_group *groups;
};

struct layout *layout_make(const struct fab *f);
void layout_free(struct layout *l);
const char *layout_shape_name(enum layout_shape shape); /* "tree", "full mesh" */

#endif
