/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A layout while it is made. layout_graph.c finds islands of switches; for each, one file recognises the shape and
 * places the switches around any origin; layout_hosts.c places hosts beside them, layout_pack.c the islands side by
 * side, with the rectangles of groups.
 */
#ifndef WEFT_DRAW_LAYOUT_PRIV_H
#define WEFT_DRAW_LAYOUT_PRIV_H

#include "draw/layout.h"

enum lay_style {
	LAY_ROWS,   /* hosts in rows below the switch */
	LAY_CORNER, /* the same, but right of a link that leads straight down */
	LAY_FAN,    /* on arcs in the direction of (ux, uy) */
};

struct lay_seat {
	uint8_t style;
	bool above; /* LAY_ROWS and LAY_CORNER: above the switch instead of below */
	double ux, uy;
};

struct lay_point {
	double x, y;
};

/* Switches have numbers of their own here, "spots": those of an island follow each other, in node order. */
struct lay {
	const struct fab *f;
	struct layout *out;
	uint32_t n;
	node_id *node;	/* spot -> node */
	uint32_t *spot; /* node -> spot of the switch that it is, or is placed beside; FAB_NONE */
	uint32_t *first, *adj; /* distinct neighbours, rising, as numbers inside the island */
	uint32_t *hosts;       /* hosts placed beside a switch */
	uint32_t *linked;      /* hosts linked to it that count for levels */
	double *x, *y;
	struct lay_point *at; /* of every node, before it is rounded */
	uint8_t *level;	      /* 0 is the lowest of switches */
	uint32_t *group;
	struct lay_seat *seat;
	uint32_t *start; /* part -> first spot; nparts + 1 entries */
	VEC(struct layout_group) groups;
};

/* One island: the same arrays from its first spot. */
struct lay_part {
	struct lay *l;
	struct layout_part *out;
	uint32_t n;
	const uint32_t *first, *adj, *hosts, *linked; /* first[] counts from the start of adj[] */
	double *x, *y;
	uint8_t *level;
	uint32_t *group;
	struct lay_seat *seat;
	uint32_t island; /* its group, FAB_NONE: none */
};

/* ---- layout_graph.c ---- */
void lay_graph(struct lay *l, const struct fab *f);
void lay_graph_free(struct lay *l);
bool lay_adjacent(const struct lay_part *p, uint32_t a, uint32_t b);
static inline uint32_t lay_degree(const struct lay_part *p, uint32_t s)
{
	return p->first[s + 1] - p->first[s];
}

/* ---- shapes: false, and nothing changed, when the island has another one ---- */
bool lay_line(struct lay_part *p); /* chains and rings */
bool lay_grid(struct lay_part *p);
bool lay_damaged_grid(struct lay_part *p);
bool lay_tree(struct lay_part *p);
bool lay_full_mesh(struct lay_part *p);
bool lay_dragonfly(struct lay_part *p);
void lay_free(struct lay_part *p); /* any island */

/* ---- layout_hosts.c ---- */
struct lay_extent {
	double left, right, up, down; /* of a switch with its hosts, from its position */
};
struct lay_extent lay_slot(uint32_t hosts, enum lay_style style);
double lay_disc(uint32_t hosts); /* radius of a switch with hosts in a fan */
void lay_hosts(struct lay *l);

/* ---- layout_pack.c ---- */
uint32_t lay_group_add(struct lay *l, enum layout_group_kind kind, uint32_t parent,
		       const char *name);
void lay_pack(struct lay *l);

/* ---- layout_turn.c: sine and cosine of a share of a whole turn, within 1e-9 ---- */
double lay_sin(double turns);
double lay_cos(double turns);
/* Radius of a circle for n discs of this radius, one at each n-th of a turn. */
double lay_circle(uint32_t n, double disc);

#endif
