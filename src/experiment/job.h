/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs as processes: several at once, each in a directory of its own that is removed afterwards. A job runs the
 * commands of its experiment with this program, and its results are expressions over the JSON that the last one
 * prints. The order in which jobs end is not defined; everything else about them is.
 */
#ifndef WEFT_JOB_H
#define WEFT_JOB_H

#include "experiment/experiment.h"

struct job_result {
	const struct experiment_job *job;
	bool ok;
	char *message; /* why it failed: "weft sim up ...: exit status 2: ..." */
	char *values; /* {"smps":107.4285714}: one key a result, in their order; NULL if it failed */
	double wall_s, cpu_s;
	uint64_t events; /* simulated, as .events of the output says; 0: not said */
};

struct job_queue {
	const char *weft;   /* the program */
	unsigned slots;	    /* jobs at once */
	bool keep;	    /* keep the directories */
	volatile int *stop; /* set by a signal handler: no further job begins, running ones end */
	void (*begun)(void *ctx, const struct experiment_job *j);
	void (*done)(void *ctx, const struct job_result *r); /* r is freed afterwards */
	void (*tick)(void *ctx, unsigned running);	     /* once a second */
	void *ctx;
};

/* Runs all; jobs that measure real time run last, one at a time. 0, or -errno with e: a job could not be begun. */
int job_queue_run(const struct job_queue *q, const struct experiment_job *jobs, size_t n,
		  struct err *e);

/* The words of a command: blanks separate, quotes keep together. Free with job_words_free(). NULL with e. */
char **job_words(const char *text, struct err *e);
void job_words_free(char **words);

/* The commands of a job: fabric, before, run, each with the program's name "weft" or "/bin/sh" first. */
typedef VEC(char **) job_commands;
int job_commands_make(const struct experiment_job *j, job_commands *out, struct err *e);
void job_commands_free(job_commands *c);

/* Results from the text that the last command printed. 0 with r->values and r->events, or -EINVAL with e. */
int job_values(const struct experiment *x, const char *text, size_t len, struct job_result *r,
	       struct err *e);

#endif
