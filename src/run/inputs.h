/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What settings name for routes, read from files: roots, groups of hosts, tables of engine file. The manager is pure and gets
 * it as struct sm_inputs.
 */
#ifndef WEFT_RUN_INPUTS_H
#define WEFT_RUN_INPUTS_H

#include "settings/settings.h"

/* Into s->sm.inputs, NULL where nothing is named; freed by run_inputs_free(). -errno with a sentence in e: a file cannot be read, a
 * list holds something else than GUIDs. Tables are not parsed: that needs the subnet. */
int run_inputs_read(struct settings *s, struct err *e);
void run_inputs_free(const struct sm_inputs *in);
/* Directories of these files, for the sandbox; "" where there is none. */
enum { RUN_INPUT_DIRS = 12 };
void run_inputs_dirs(const struct settings *s, char dirs[RUN_INPUT_DIRS][256]);

#endif
