/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several charts above each other over one axis of time, with coloured bands behind them that say
 * what went on. Integers only, as in plot.h: the same numbers give the same bytes everywhere.
 */
#ifndef WEFT_PANELS_H
#define WEFT_PANELS_H

#include "draw/plot.h"

struct panels_line {
	const char *name;
	const struct plot_point *at; /* by x */
	size_t n;
	bool steps; /* a value holds until the next point */
};

struct panels_panel {
	const char *label;
	uint64_t unit; /* labels show values divided by it, a power of ten; 0: 1 */
	uint64_t max;  /* where the axis ends at least; 0: from the points */
	const struct panels_line *lines;
	size_t n;
};

struct panels_band {
	uint64_t from, to;
	const char *name; /* bands of one name have one colour */
	unsigned tint; /* which, from 1: the same in every picture; 0: by the order of the names */
};

struct panels {
	const char *title, *note; /* note: small print below, or NULL */
	const char *x_label;
	uint64_t x_unit;       /* a power of ten; 0: 1 */
	uint64_t from, to;     /* what is shown */
	uint64_t zero;	       /* the ticks count from here; a line marks it */
	const char *zero_name; /* what happened then */
	const struct panels_band *bands;
	size_t nbands;
	const struct panels_panel *panels;
	size_t n;
};

void panels_svg(const struct panels *p, struct strbuf *out);

#endif
