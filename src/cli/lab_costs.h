/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What experiments cost, for people and programs: jobs, processor time, simulated events by experiment.
 */
#ifndef WEFT_LAB_COSTS_H
#define WEFT_LAB_COSTS_H

#include "base/json.h"
#include "experiment/costs.h"
#include "experiment/experiment.h"

/* Adds those of the results that --db names, or else of those kept as text; sorts. CLI_BAD after a message. */
int lab_costs(struct costs *out);

/* Members of an open object: jobs, cpu_s, wall_s, events, events_per_s. */
void lab_cost_json(struct json *j, const struct cost_sum *s);
/* A list of such objects, each with its experiment's name. */
void lab_costs_json(struct json *j, const char *key, const experiment_list *l,
		    const struct costs *c);
/* A table with a last row of all; experiments without costs are left out. */
void lab_costs_print(const experiment_list *l, const struct costs *c);

#endif
