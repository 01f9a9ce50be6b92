/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several charts above each other over one time axis, with coloured bands behind them for the phases of a run.
 * Integers only, as in plot.h: the same numbers give the same bytes on every machine.
 */
#ifndef WEFT_PANELS_H
#define WEFT_PANELS_H

#include "draw/plot.h"

struct panels_line {
	const char *name;
	const struct plot_point *at; /* sorted by x */
	size_t n;
	bool steps; /* a value holds until the next point */
};

struct panels_panel {
	const char *label;
	uint64_t unit; /* labels show values divided by it, a power of ten; 0: 1 */
	uint64_t max;  /* least end of the axis; 0: from the points */
	const struct panels_line *lines;
	size_t n;
};

struct panels_band {
	uint64_t from, to;
	const char *name; /* bands of the same name have the same colour */
	unsigned tint;	  /* colour, from 1: the same in every chart; 0: by the order of names */
};

struct panels {
	const char *title, *note; /* note: small text below, or NULL */
	const char *x_label;
	uint64_t x_unit;       /* a power of ten; 0: 1 */
	uint64_t from, to;     /* range that is shown */
	uint64_t zero;	       /* ticks count from here; a line marks it */
	const char *zero_name; /* label of that line */
	const struct panels_band *bands;
	size_t nbands;
	const struct panels_panel *panels;
	size_t n;
};

void panels_svg(const struct panels *p, struct strbuf *out);

#endif
