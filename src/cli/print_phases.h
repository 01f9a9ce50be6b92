/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's table of phases, as text, DOT or JSON.
 */
#ifndef WEFT_CLI_PRINT_PHASES_H
#define WEFT_CLI_PRINT_PHASES_H

#include <stdbool.h>

int print_phases(bool dot); /* an exit status; JSON with --json */

#endif
