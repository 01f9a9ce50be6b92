/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The option that says which simulated switches have a random forwarding table instead of a linear
 * one, for every command that simulates a manager.
 */
#ifndef WEFT_RFT_OPTS_H
#define WEFT_RFT_OPTS_H

#include "cli/cli.h"
#include "sim/sim_config.h"

extern cli_strings rft_switches; /* of the one command that runs */

/* clang-format off */
#define RFT_OPT \
	{"rft", 0, CLI_LIST, &rft_switches, "NODE[:N]", "this switch, or all, has a random forwarding table with N entries (default 1024) and no linear one", NULL, 0, 0}
/* clang-format on */

/* CLI_OK, or CLI_BAD after a message. What c then points to stays until the next call. */
int rft_apply(const struct fab *f, struct sim_config *c);

#endif
