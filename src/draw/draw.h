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

#endif
