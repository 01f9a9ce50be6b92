/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Line charts as SVG: axes with ticks and labels, several series, a legend. Integers only, so that the same
 * numbers give the same bytes on every machine. Values are whole numbers of a small unit (packets a second,
 * nanoseconds); labels show them divided by `unit`, a power of ten. Text is escaped. The arrays belong to the
 * caller; nothing is kept.
 */
#ifndef WEFT_PLOT_H
#define WEFT_PLOT_H

#include "base/base.h"

struct plot_point {
	uint64_t x, y;
	uint64_t half; /* half of a vertical interval around y; 0: none */
	bool hollow;   /* the marker is not filled */
};

struct plot_series {
	const char *name;
	const struct plot_point *at; /* in drawing order */
	size_t n;
	bool thin;	/* dashed, without weight: another's values, beside ours */
	unsigned style; /* colour and marker; 0: by its place in the plot, otherwise number + 1 */
};

struct plot_axis {
	const char *label;
	uint64_t unit; /* 0: 1 */
	uint64_t max;  /* the axis ends here or at the next tick; what is beyond is cut off. 0: from
			  the points */
	bool log;      /* logarithmic; points at 0 are left out */
};

struct plot {
	const char *title;
	const char *note; /* a line of small text below the chart, or NULL */
	struct plot_axis x, y;
	const struct plot_series *series;
	size_t n;
};

void plot_svg(const struct plot *p, struct strbuf *out);
void plot_svg_stack(const struct plot *p, size_t n,
		    struct strbuf *out); /* n charts, one above another, in one document */

#endif
