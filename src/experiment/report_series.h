/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The series of a plot, as numbers: what report_plot.c draws and report_export.c writes.
 */
#ifndef WEFT_REPORT_SERIES_H
#define WEFT_REPORT_SERIES_H

#include "experiment/report.h"

struct report_point {
	double x, y, half;
};

struct report_series {
	char *name;
	VEC(struct report_point) at;
	bool theirs;	/* the source's values */
	unsigned style; /* the same for ours and theirs */
};
typedef VEC(struct report_series) report_series_list;

/* Of the panel's choice; -1: the plot has no panels. */
void report_series_make(const struct experiment *x, const struct experiment_plot *p, int panel,
			const struct results *r, const struct comparison *c,
			report_series_list *out);
void report_series_free(report_series_list *l);

#endif
