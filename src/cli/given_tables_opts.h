/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --tables, --sls and --sl2vl of commands that simulate: tables of a dump that the manager programs instead of computing
 * some, and what the verifier says of them.
 */
#ifndef WEFT_GIVEN_TABLES_OPTS_H
#define WEFT_GIVEN_TABLES_OPTS_H

#include "cli/cli.h"
#include "base/json.h"
#include "lab/given_tables.h"

extern const struct cli_opt given_opts[]; /* ends with name == NULL */

bool given_wanted(void);
/* Reads the files, verifies the tables and makes them part of c. CLI_BAD after a message. */
int given_load(const struct fab *f, struct lab_config *c);
void given_free(void);
void given_text(void);		 /* what they are, and the verdict; nothing without --tables */
void given_json(struct json *j); /* the same as key .tables */

#endif
