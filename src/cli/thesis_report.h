/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change in the terms of the thesis (lab/thesis_terms.h), as keys and values in the order of reports.
 */
#ifndef WEFT_THESIS_REPORT_H
#define WEFT_THESIS_REPORT_H

#include "base/json.h"
#include "lab/change_run.h"

enum thesis_kind {
	THESIS_TIME,
	THESIS_COUNT,
	THESIS_SHARE
}; /* picoseconds, a number, millionths */

struct thesis_figure {
	const char *key;
	enum thesis_kind kind;
	bool traffic; /* only where there was traffic */
	uint64_t (*of)(const struct lab_change_result *r);
};

extern const struct thesis_figure thesis_figures[]; /* ends with key == NULL */
void thesis_report_json(const struct lab_change_result *r, struct json *j); /* as object "thesis" */

#endif
