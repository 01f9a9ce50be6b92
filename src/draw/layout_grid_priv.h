/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A grid between recognition (layout_grid.c) and placing (layout_grid_place.c).
 */
#ifndef WEFT_DRAW_LAYOUT_GRID_PRIV_H
#define WEFT_DRAW_LAYOUT_GRID_PRIV_H

#include "draw/layout_priv.h"

enum {
	GRID_DIMS = 16, /* at most; also the sizes in struct layout_part */
};

struct grid_dim {
	uint32_t size;
	bool ring;
};

struct grid {
	struct lay_part *p;
	uint32_t ndims;
	struct grid_dim dim[GRID_DIMS];
	uint32_t *coord; /* GRID_DIMS a switch */
};

void grid_place(struct grid *g);

#endif
