/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages about experiments: what the source claims, how it was run, its tables with our values beside, plots,
 * trends, and the reasons of what deviates. As Markdown with drawings in files of their own, and as one HTML page
 * that needs nothing else.
 */
#ifndef WEFT_REPORT_H
#define WEFT_REPORT_H

#include "experiment/compare.h"
#include "experiment/costs.h"

struct report_page {
	const experiment_list *experiments;
	const struct results *results;
	const char *from;	   /* where the results are from */
	const char *command;	   /* that made the page */
	const char *date;	   /* or NULL */
	const struct costs *costs; /* or NULL */
};

/* One HTML page about all experiments of the list, with several a table of them first. 0, or -errno with e. */
int report_html(const struct report_page *p, struct strbuf *out, struct err *e);
/* Markdown; drawings are written to dir/NAME-K.svg. About several experiments: only the table, with links to NAME.md. */
int report_markdown(const struct report_page *p, const char *dir, struct strbuf *out,
		    struct err *e);

/* The k-th plot of an experiment as SVG, with the source's values where a table has them. False: no results. */
bool report_plot(const struct experiment *x, size_t k, const struct results *r,
		 const struct comparison *c, struct strbuf *out);
/* All results as CSV: a column for each parameter, seed, and result; lists are left out. */
void report_csv(const struct experiment *x, const struct results *r, struct strbuf *out);
/* The k-th plot as a gnuplot script with its data in it. False: no results. */
bool report_gnuplot(const struct experiment *x, size_t k, const struct results *r,
		    const struct comparison *c, struct strbuf *out);

#endif
