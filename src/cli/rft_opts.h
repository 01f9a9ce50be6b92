/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The option that says which simulated switches have a random forwarding table instead of a linear
 * one, for every command that simulates a manager.
 */
#ifndef WEFT_RFT_OPTS_H
#define WEFT_RFT_OPTS_H

#include "cli/cli.h"
#include "sim/sim_config.h"

extern const struct cli_opt rft_opts[]; /* ends with name == NULL */

/* CLI_OK, or CLI_BAD after a message. What c then points to stays until the next call. */
int rft_apply(const struct fab *f, struct sim_config *c);

#endif
