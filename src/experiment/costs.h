/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What jobs cost: times and simulated events, one line of JSON for each job that ran. They are apart from results,
 * because they differ from run to run: beside the SQLite file in FILE.costs, among results kept as text in
 * _costs.jsonl.
 */
#ifndef WEFT_COSTS_H
#define WEFT_COSTS_H

#include "base/vec.h"

struct cost {
	char *experiment, *key;
	double wall_s, cpu_s;
	uint64_t events; /* simulated; 0: the job does not state them */
	int64_t time;	 /* when it ended, in seconds since 1970 */
	size_t order;	 /* in which it was added */
};

struct costs {
	VEC(struct cost) jobs; /* sorted by experiment and key, once costs_sort() ran */
};

struct cost_sum {
	size_t jobs;
	double wall_s, cpu_s, stated_cpu_s; /* the last: of jobs that state their events */
	uint64_t events;
};

void costs_add(struct costs *c, const struct cost *job); /* copies its texts */
void costs_sort(struct costs *c); /* of a job that ran several times, the last run is kept */
const struct cost *costs_find(const struct costs *c, const char *experiment, const char *key);
struct cost_sum costs_sum(const struct costs *c, const char *experiment); /* NULL: of all */
double cost_events_per_s(const struct cost_sum *s); /* of processor time; 0: not known */
void costs_free(struct costs *c);

/* Where the costs of these results are, a file or a directory; free it. */
char *costs_file(const char *results);
/* Appends what a file has; nothing if there is none. 0, or -EINVAL with e. */
int costs_load(const char *file, struct costs *out, struct err *e);
void cost_print(const struct cost *job, struct strbuf *out); /* a line */

#endif
