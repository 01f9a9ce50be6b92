/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a simulated manager that are not settings: where it is, how SMPs travel, what its work
 * costs. Together with the settings they make a configuration of the laboratory.
 */
#ifndef WEFT_MANAGER_OPTS_H
#define WEFT_MANAGER_OPTS_H

#include "cli/cli.h"
#include "lab/lab.h"

struct manager_opts {
	cli_strings sm;
	const char *root, *cpu;
	uint64_t seed;
	double loss, delay, dup;
};

extern struct manager_opts manager_o;	    /* of the one command that runs */
extern const struct cli_opt manager_opts[]; /* ends with name == NULL */

/* All that manager_o, the settings and --rft say. CLI_OK, or CLI_BAD after a message. */
int manager_config(const struct fab *f, struct lab_config *c);

#endif
