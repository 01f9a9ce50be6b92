/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small experiments for tests: from text, with results written by hand.
 */
#ifndef WEFT_TEST_EXPERIMENT_FIXTURE_H
#define WEFT_TEST_EXPERIMENT_FIXTURE_H

#include "experiment/results.h"

/* Keys that each experiment has; a test adds its own. */
#define EXPERIMENT_HEAD "name: small\nsource: \"004\"\nitem: Table 1\nclaim: It works.\n"
#define EXPERIMENT_TAIL "run: sim up {net}\nresults: {smps: .smps}\n"

static inline struct experiment *fixture_experiment(const char *text)
{
	struct err e = {""};
	struct experiment *x = experiment_parse("x.yaml", text, strlen(text), &e);

	if (!x)
		print_error("%s\n", e.text);
	assert_non_null(x);
	return x;
}

/* A result of the experiment `small`, as a job would leave it. */
static inline void fixture_result(struct results *r, const char *key, const char *values)
{
	results_add(r, (struct result_row){.experiment = mem_strdup("small"),
					   .key = mem_strdup(key),
					   .hash = mem_strdup("0123456789abcdef"),
					   .command = mem_strdup("weft sim up net --json"),
					   .version = mem_strdup("0"),
					   .values = mem_strdup(values)});
}

static inline void fixture_sort(struct results *r)
{
	struct err e;

	assert_int_equal(results_sort(r, &e), 0);
}

/* A directory for the files of a test; its name ends with the test's. */
static inline char *fixture_dir(char *path)
{
	assert_non_null(mkdtemp(path));
	return path;
}

#endif
