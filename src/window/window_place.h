/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where nodes are drawn until src/draw has layouts: rows by distance from the hosts. Keeps nothing; the caller frees.
 */
#ifndef WEFT_WINDOW_PLACE_H
#define WEFT_WINDOW_PLACE_H

#include "fabric/fabric.h"

struct layout_group {
	float x0, y0, x1, y1;
	uint32_t parent; /* FAB_NONE: none */
	char name[27];
};

struct layout {
	uint32_t ngroups;
	float *x, *y;	 /* by node */
	uint8_t *level;	 /* 0: host or router; switches from 1 upwards */
	uint32_t *group; /* FAB_NONE: none */
	struct layout_group *groups;
};

struct layout *window_place(const struct fab *f);
void window_place_free(struct layout *p);

#endif
