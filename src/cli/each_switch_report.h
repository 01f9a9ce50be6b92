/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same change for each switch: mean and standard deviation, as text and JSON.
 */
#ifndef WEFT_EACH_SWITCH_REPORT_H
#define WEFT_EACH_SWITCH_REPORT_H

#include "base/json.h"
#include "lab/each_switch.h"

struct each_switch_report {
	const struct fab *fab;
	const struct lab_each *each;
	const char *how;  /* activation, deactivation */
	const char *what; /* the traffic in words, or empty */
	uint64_t seed;
	double wall_s;
};

void each_switch_report_text(const struct each_switch_report *r);
void each_switch_report_json(const struct each_switch_report *r, struct json *j);

#endif
