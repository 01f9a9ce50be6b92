/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What weft route quality measured, as text and as JSON.
 */
#ifndef WEFT_CLI_QUALITY_REPORT_H
#define WEFT_CLI_QUALITY_REPORT_H

#include "cli/route_report.h"
#include "route/quality.h"

enum { QUALITY_WORST_LINKS = 10 };

struct quality {
	struct fab *f; /* with the LIDs of the tables */
	struct rt_tables *t;
	const char *engine;	 /* NULL: tables of a file */
	struct rt_choice choice; /* of auto, without its tables; no engine: one was named */
	const char *tables;	 /* its name, or NULL */
	uint64_t seed;
	struct rt_quality q;
	struct rt_report verdict;
	bool against;
	struct rt_changes changes;
	uint32_t lids_changed; /* ports that have another LID there */
	double wall_s;
};

void quality_print(const struct quality *x);
int quality_json(const struct quality *x);

#endif
