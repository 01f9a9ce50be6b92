/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drawings of a fabric, appended to a string. Both functions are pure: the same snapshot gives the same bytes on
 * every machine. Names are escaped; bytes that are not UTF-8 become "?".
 * Positions are in
 * layout.h, charts in plot.h and panels.h.
 */
#ifndef WEFT_DRAW_H
#define WEFT_DRAW_H

#include "fabric/fabric.h"

/* Graphviz: each node once, each link once with its port numbers; Graphviz computes the layout. */
void draw_fabric_dot(const struct fab *f, struct strbuf *out);

/* A complete SVG document: nodes and groups at the places of their layout, links coloured by rate, a legend. */
void draw_fabric_svg(const struct fab *f, struct strbuf *out);

/*
 * The same with links coloured by a value instead of their rate. value: by port, in thousandths, of the link that leaves
 * it; of the two directions of a link the larger value decides. The scale ends at the largest value, or at `least`. Texts
 * are not escaped.
 */
struct draw_heat {
	const uint64_t *value;
	uint64_t least;
	const char *title, *unit; /* what the values are: "flows over a link", "flows" */
	const uint64_t *bins; /* a histogram below the fabric: how many have the value 0, 1, ... */
	unsigned nbins;	      /* 0: none */
	const char *bins_title;
};

void draw_fabric_heat(const struct fab *f, const struct draw_heat *h, struct strbuf *out);

#endif
