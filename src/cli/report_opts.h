/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options about the length of a simulated run and about what it prints, for commands whose report is
 * a struct sim_report; and the beginning and end of such a run.
 */
#ifndef WEFT_REPORT_OPTS_H
#define WEFT_REPORT_OPTS_H

#include "cli/cli.h"
#include "cli/sim_report.h"
#include "lab/lab.h"

struct report_opts {
	bool timeline, smps, messages;
	time_ps limit; /* TIME_NEVER: not given */
};

extern struct report_opts report_o;	   /* of the one command that runs */
extern const struct cli_opt report_opts[]; /* ends with name == NULL */

/* A laboratory that fills r while it runs. NULL after a message. */
struct lab *report_lab_new(const struct fab *f, const struct lab_config *c, struct sim_report *r);
/* Prints the report, frees it and its laboratory; returns the exit status. */
int report_conclude(struct sim_report *r);

#endif
