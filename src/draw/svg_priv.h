/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawing between layout and text. pic_layout() computes all positions, in whole pixels and with integers
 * only, so that the same snapshot gives the same bytes on every machine.
 */
#ifndef WEFT_DRAW_SVG_PRIV_H
#define WEFT_DRAW_SVG_PRIV_H

#include "fabric/fabric.h"

enum {
	PIC_CELL = 10,	/* size of a host with its margin */
	PIC_BOX_H = 16, /* height of a switch */
	PIC_HEAD = 64,	/* height of title and legend */
	PIC_MARGIN = 24,
	PIC_LABEL = 12, /* longest label in a box */
};

struct pic {
	const struct fab *f;
	bool layered;
	int width, height;
	int *x, *y; /* centre of every node */
	int *half;  /* half the width of a switch's box */
	uint32_t *
		home; /* host or router -> the switch (node id) it is drawn below; FAB_NONE: none */
	uint32_t *nhosts; /* switch -> number of hosts drawn below it */
	uint32_t *level;  /* switch -> layer, 0 next to the hosts */
	uint32_t nlevels;
	uint32_t *first; /* switch index -> start in adj[] */
	uint32_t *adj;	 /* switch indexes, one entry a link */
};

void pic_layout(struct pic *p, const struct fab *f);
void pic_free(struct pic *p);

/* For fabrics that are not trees: x and y of the switches from their distances in hops. */
void pic_spread(struct pic *p);

/* svg_geometry.c: columns in which that many hosts are drawn; the square root, rounded down */
unsigned pic_host_cols(unsigned nhosts);
uint32_t pic_isqrt(uint64_t v);

#endif
