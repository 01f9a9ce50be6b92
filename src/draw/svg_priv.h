/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawing between layout and text: the layout in whole pixels, below title and legend.
 */
#ifndef WEFT_DRAW_SVG_PRIV_H
#define WEFT_DRAW_SVG_PRIV_H

#include "draw/layout.h"

enum {
	PIC_CELL = 10,	/* least size of a host with its margin */
	PIC_BOX_H = 16, /* height of a switch */
	PIC_HEAD = 64,	/* height of title and legend */
	PIC_MARGIN = 24,
	PIC_LABEL = 12, /* longest label in a box */
	PIC_HEAT_LEVELS = 8,
	PIC_BINS_H = 170, /* height of a histogram */
};

struct draw_heat;

struct pic {
	const struct fab *f;
	struct layout *layout;
	int scale; /* pixels of a unit of the layout */
	int width, height;
	int *x, *y;		      /* centre of every node */
	int *half;		      /* half the width of a switch's box */
	const struct draw_heat *heat; /* NULL: links are coloured by rate */
	uint64_t heat_end;	      /* of the scale */
	int heat_top;		      /* of the histogram */
};

void pic_layout(struct pic *p, const struct fab *f);
void pic_free(struct pic *p);
int pic_px(const struct pic *p, float v);
/* Whether two switches belong to one tree, where links leave at the top and the bottom of a box. */
bool pic_in_levels(const struct pic *p, node_id a, node_id b);

/* svg_heat.c: the scale and the room for the histogram; the level of a link; the group of a level; text of a link's title;
 * legend; histogram */
void heat_begin(struct pic *p);
unsigned heat_level(const struct pic *p, port_id port);
void heat_group(struct strbuf *out, unsigned level, unsigned base);
void heat_title(struct strbuf *out, const struct pic *p, port_id port);
void heat_legend(struct strbuf *out, const struct pic *p);
void heat_bins(struct strbuf *out, const struct pic *p);

/* svg_geometry.c: the square root, rounded down */
uint32_t pic_isqrt(uint64_t v);

#endif
