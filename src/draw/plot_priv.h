/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that plot.c and panels.c share: colours, the style sheet, text and lines. Lengths are tenths of a pixel.
 */
#ifndef WEFT_PLOT_PRIV_H
#define WEFT_PLOT_PRIV_H

#include "draw/plot.h"

enum { PLOT_COLOURS = 8 };

extern const char *const plot_colours[PLOT_COLOURS];
extern const char
	plot_style[]; /* classes: t title, m middle, e end, s small, g grid, a axis, l line */

uint64_t plot_round_above(uint64_t v); /* 1, 2, 5, 10, 20, ... */
void plot_value_text(uint64_t unit, uint64_t v,
		     char buf[48]);		       /* v / unit, without trailing zeros */
void plot_add_text(struct strbuf *out, const char *s); /* escaped */
void plot_add_px(struct strbuf *out, unsigned tenths);
void plot_add_label(struct strbuf *out, const char *class, unsigned x, unsigned y,
		    const char *text);
void plot_add_line(struct strbuf *out, const char *class, const unsigned at[4]); /* x1 y1 x2 y2 */

#endif
