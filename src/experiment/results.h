/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of jobs: in memory, in one SQLite file while jobs run, and as text that is kept with the sources.
 *
 * The SQLite file has one row a job and is complete after every job, so that kill -9 loses running jobs only. When
 * all jobs are done results_db_finish() writes it again in the order of its keys: the same results give the same
 * bytes, on one machine, by MPI and by Slurm. What differs from run to run (times, hosts) is in FILE.costs.
 */
#ifndef WEFT_RESULTS_H
#define WEFT_RESULTS_H

#include "experiment/experiment.h"
#include "experiment/job.h"

#include <jansson.h>

struct result_row {
	char *experiment, *key, *hash, *command, *version;
	char *values;  /* JSON; NULL: the job failed */
	char *message; /* why; NULL: it did not fail */
	json_t *parsed;
	size_t order; /* in which it was added */
};

struct results {
	VEC(struct result_row) rows; /* sorted by experiment and key, once results_sort() ran */
};

void results_add(struct results *r, struct result_row row); /* takes ownership of the texts */
int results_sort(struct results *r, struct err *e);	    /* -EEXIST: a job twice */
/* The same for results of several runs: a job may be there several times if its results are equal, or with `last`, then
 * the one added last is kept. */
int results_unite(struct results *r, bool last, struct err *e);
const struct result_row *results_find(const struct results *r, const char *experiment,
				      const char *key);
void results_free(struct results *r);

/* ---- one number from several seeds ---- */

struct result_stat {
	unsigned n;	 /* jobs with this result; 0: none, the rest is undefined */
	double mean, sd; /* over seeds */
	double half;	 /* half of the 95 % confidence interval of the mean; 0 with one job */
};
struct result_stat results_stat(const struct results *r, const struct experiment *x,
				const struct experiment_point *p, unsigned result);
/* A list, its elements averaged over the seeds; those of the first seed if lengths differ. */
void results_curve(const struct results *r, const struct experiment *x,
		   const struct experiment_point *p, unsigned result, expr_numbers *out);

/* The list of objects that a result with a table is; NULL: there is none. Of the first seed. */
const json_t *results_table(const struct results *r, const struct experiment *x,
			    const struct experiment_point *p, unsigned result);

/* ---- the SQLite file ---- */

struct results_db;
/* Creates it unless it exists. One writer at a time. NULL with e. */
struct results_db *results_db_open(const char *path, struct err *e);
int results_db_put(struct results_db *db, const struct job_result *r, struct err *e);
int results_db_put_row(struct results_db *db, const struct result_row *row, struct err *e);
int results_db_finish(struct results_db *db, struct err *e); /* in order; then close */
void results_db_close(struct results_db *db);
/* Reads all rows of a file that may be in use. 0 or -errno with e. */
int results_db_load(const char *path, struct results *out, struct err *e);

/* ---- text ---- */

/* NAME.jsonl, or all of these in a directory, one for each experiment. Names with _ in front are other files. */
int results_text_load(const char *path, struct results *out, struct err *e);
/* The lines of one experiment's file; false: it has no results. */
bool results_text_print(const struct results *r, const char *experiment, struct strbuf *out);

/* Either: text if the path is a directory or ends with .jsonl. */
int results_load(const char *path, struct results *out, struct err *e);

#endif
