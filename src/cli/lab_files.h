/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands of `weft lab` share: where experiments and their results are, which of them a command is
 * about. Functions print a message and return CLI_BAD after a fault.
 */
#ifndef WEFT_LAB_FILES_H
#define WEFT_LAB_FILES_H

#include "cli/cli.h"
#include "experiment/results.h"

extern const struct cli_opt lab_experiment_opts[]; /* --experiments */
extern const struct cli_opt lab_result_opts[];	   /* --db */

/* All experiments there are; with names, only these, in this order. */
int lab_experiments(char **names, unsigned n, experiment_list *out);
/* Results of --db, or else those kept as text with the experiments. *from: free it. */
int lab_results(struct results *out, char **from);
char *lab_results_path(void);	       /* where that is; free it */
const char *lab_experiments_dir(void); /* as --experiments names it, or else found */
const char *lab_program(void);	       /* the path of this program */

/* ---- checks (lab_check.c) ---- */

/* Jobs of the experiments, with every command parsed and every fabric made once. */
int lab_jobs(const experiment_list *l, const struct experiment_scope *scope,
	     const char *const *only, size_t nonly, experiment_jobs *jobs);

#endif
