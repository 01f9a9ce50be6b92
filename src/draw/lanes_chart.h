/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chart of states over time: one lane for each subject, coloured by its state, and marks above for what happened.
 * Integers only, as in plot.h.
 */
#ifndef WEFT_LANES_CHART_H
#define WEFT_LANES_CHART_H

#include "draw/plot.h"

struct lanes_span {
	unsigned lane, state;
	uint64_t from, to;
};

enum lanes_mark_kind { LANES_FAULT, LANES_END, LANES_NOTE, LANES_NKINDS };

struct lanes_mark {
	uint64_t at;
	int lane; /* -1: of all lanes */
	enum lanes_mark_kind kind;
	const char *text; /* a long one is cut; the whole one is its tooltip */
};

struct lanes_chart {
	const char *title, *subtitle,
		*note; /* subtitle, note: small text above and below, or NULL */
	const char *x_label;
	uint64_t x_unit, to; /* the axis goes from 0 to here */
	const char *const *lanes;
	unsigned nlanes;
	const char *const *states; /* names, at most 8 */
	const char *const *colours;
	unsigned nstates;
	const struct lanes_span *spans;
	size_t nspans;
	const char *mark_names[LANES_NKINDS]; /* for the key; NULL: not in it */
	const struct lanes_mark *marks;	      /* in the order of time */
	size_t nmarks;
};

void lanes_chart_svg(const struct lanes_chart *c, struct strbuf *out);

#endif
