/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's table of the election, as text, DOT or JSON.
 */
#ifndef WEFT_CLI_PRINT_ELECTION_H
#define WEFT_CLI_PRINT_ELECTION_H

#include <stdbool.h>

int print_election(bool dot); /* an exit status; JSON with --json */

#endif
