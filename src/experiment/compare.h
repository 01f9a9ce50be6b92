/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our results beside a source's: cells of its tables, and trends that its text states.
 *
 * A trend holds if its expression is true for every combination of the parameters that it leaves open. Combinations
 * without results are not counted.
 */
#ifndef WEFT_COMPARE_H
#define WEFT_COMPARE_H

#include "experiment/results.h"

struct compare_cell {
	const struct experiment *experiment;
	const struct experiment_table *table;
	const struct experiment_column *column;
	size_t row;  /* of the table's CSV */
	bool placed; /* the experiment has this point */
	struct experiment_point point;
	double theirs;		 /* scaled to our unit */
	struct result_stat ours; /* n == 0: not run */
	double off;		 /* |ours / theirs - 1| */
	const char *why;	 /* the experiment's reason, or NULL */
	char *name;		 /* "8, none, activation_mean" */
};

struct compare_trend {
	const struct experiment *experiment;
	const struct experiment_trend *trend;
	unsigned checked, held; /* combinations */
	char *against;		/* the first combination that does not hold; or NULL */
};

struct comparison {
	VEC(struct compare_cell) cells;
	VEC(struct compare_trend) trends;
};

struct compare_counts {
	unsigned cells, run, within_10, within_25, within_50; /* of tables that are counted */
	unsigned trends, checked, held;
};

/* Appends the cells and trends of x. 0, or -EINVAL with e: a table's CSV has no number where one is expected. */
int compare_experiment(const struct experiment *x, const struct results *r, struct comparison *out,
		       struct err *e);
struct compare_counts compare_count(const struct comparison *c);
void comparison_free(struct comparison *c);

#endif
